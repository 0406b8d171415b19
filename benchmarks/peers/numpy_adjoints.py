"""Gradients as someone writes them by hand who knows the mathematics, in Python and NumPy.

Every intermediate value is computed once, values that only the program itself needs are not, and
temporaries are reused in place where that costs no clarity.
"""

from __future__ import annotations

import math

import numpy as np


def black_scholes(spot, strike, volatility, rate, maturity):
    root = math.sqrt(maturity)
    deviation = volatility * root
    drift = math.log(spot / strike) + rate * maturity
    d1 = drift / deviation + 0.5 * deviation
    d2 = d1 - deviation
    n1 = 0.5 * (1.0 + math.erf(d1 / 1.4142135623730951))
    n2 = 0.5 * (1.0 + math.erf(d2 / 1.4142135623730951))
    discounted = strike * math.exp(-rate * maturity)
    d2_bar = -discounted * 0.3989422804014327 * math.exp(-0.5 * d2 * d2)
    d1_bar = d2_bar + spot * 0.3989422804014327 * math.exp(-0.5 * d1 * d1)
    drift_bar = d1_bar / deviation
    deviation_bar = d1_bar * 0.5 - d2_bar - drift_bar * drift / deviation
    exponent_bar = discounted * n2 + drift_bar
    maturity_bar = exponent_bar * rate + deviation_bar * volatility * 0.5 / root
    return (n1 + drift_bar / spot, -(discounted * n2 + drift_bar) / strike, deviation_bar * root,
            exponent_bar * maturity, maturity_bar)


def newton_root(a):
    x = a
    tape = []
    while abs(x * x - a) > 1e-12:
        tape.append(x)
        x = 0.5 * (x + a / x)
    x_bar = 1.0
    a_bar = 0.0
    for x in reversed(tape):
        q_bar = 0.5 * x_bar / x
        a_bar += q_bar
        x_bar = 0.5 * x_bar - q_bar * a / x
    return a_bar + x_bar


def logistic_map(x, r, steps):
    tape = []
    for _ in range(steps):
        tape.append(x)
        x = r * x * (1.0 - x)
    x_bar, r_bar = 1.0, 0.0
    for x in reversed(tape):
        r_bar += x_bar * x * (1.0 - x)
        x_bar = x_bar * r * (1.0 - 2.0 * x)
    return x_bar, r_bar


def lu(A, weights):
    A = A.copy()
    n = A.shape[0]
    tape = []
    for i in range(n):
        for j in range(i):
            tape.append(A[i, j])
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            tape.append(A[i, j])
            A[i, j] -= A[i, :i] @ A[:i, j]
    A_bar = weights.copy()
    for i in range(n - 1, -1, -1):
        for j in range(n - 1, i - 1, -1):
            A[i, j] = tape.pop()
            s_bar = -A_bar[i, j]
            A_bar[i, :i] += s_bar * A[:i, j]
            A_bar[:i, j] += s_bar * A[i, :i]
        for j in range(i - 1, -1, -1):
            q_bar = A_bar[i, j] / A[j, j]
            A_bar[j, j] -= q_bar * A[i, j]
            A_bar[i, j] = q_bar
            A[i, j] = tape.pop()
            A_bar[i, :j] -= q_bar * A[:j, j]
            A_bar[:j, j] -= q_bar * A[i, :j]
    return A_bar


def heat_1d(u, k, steps):
    u = u.copy()
    v = u.copy()
    tape = []
    for _ in range(steps):
        lap = u[2:] - 2.0 * u[1:-1] + u[:-2]
        tape.append(lap)
        v[1:-1] = u[1:-1] + k * lap
        u, v = v, u
    u_bar = 2.0 * u
    v_bar = np.zeros_like(v)
    k_bar = 0.0
    for lap in reversed(tape):
        u_bar, v_bar = v_bar, u_bar
        w_bar = v_bar[1:-1].copy()
        v_bar[1:-1] = 0.0
        k_bar += float(w_bar @ lap)
        l_bar = k * w_bar
        u_bar[1:-1] += w_bar - 2.0 * l_bar
        u_bar[2:] += l_bar
        u_bar[:-2] += l_bar
    return u_bar + v_bar, k_bar


def burgers(u, k, steps):
    tape = []
    for _ in range(steps):
        left, right = np.roll(u, 1), np.roll(u, -1)
        up = u > 0.0
        slope = np.where(up, u - left, right - u)
        spread = right - 2.0 * u + left
        tape.append((u, up, slope, spread))
        u = u - 0.1 * u * slope + k * spread
    u_bar = 2.0 * u
    k_bar = 0.0
    for u, up, slope, spread in reversed(tape):
        k_bar += float(u_bar @ spread)
        spread_bar = k * u_bar
        slope_bar = -0.1 * u_bar * u
        rise, fall = np.where(up, slope_bar, 0.0), np.where(up, 0.0, slope_bar)
        u_bar = u_bar - 0.1 * u_bar * slope - 2.0 * spread_bar + rise - fall
        u_bar += np.roll(spread_bar - rise, -1)
        u_bar += np.roll(spread_bar + fall, 1)
    return u_bar, k_bar


def logistic_loss(w, b, X, y):
    p = 1.0 / (1.0 + np.exp(-(X @ w + b)))
    q = 1.0 - p
    t_bar = y / p
    t_bar -= (1.0 - y) / q
    t_bar *= -1.0 / p.size
    t_bar *= p
    t_bar *= q
    return t_bar @ X, float(t_bar.sum())


def mlp(W1, b1, W2, b2, W3, b3, X, Y):
    h1 = np.tanh(X @ W1 + b1)
    h2 = np.tanh(h1 @ W2 + b2)
    out_bar = h2 @ W3
    out_bar += b3
    out_bar -= Y
    out_bar *= 2.0 / out_bar.size
    z2_bar = out_bar @ W3.T
    z2_bar *= 1.0 - h2 * h2
    z1_bar = z2_bar @ W2.T
    z1_bar *= 1.0 - h1 * h1
    return (X.T @ z1_bar, z1_bar.sum(axis=0), h1.T @ z2_bar, z2_bar.sum(axis=0), h2.T @ out_bar,
            out_bar.sum(axis=0))


def recurrent(W, U, b, inputs):
    states = np.zeros((len(inputs) + 1, len(b)))
    for t, x in enumerate(inputs):
        states[t + 1] = np.tanh(W @ states[t] + U @ x + b)
    slopes = 1.0 - states[1:] * states[1:]
    sums_bar = np.empty_like(slopes)
    h_bar = 2.0 * states[-1]
    for t in range(len(inputs) - 1, -1, -1):
        sums_bar[t] = h_bar * slopes[t]
        h_bar = sums_bar[t] @ W
    return sums_bar.T @ states[:-1], sums_bar.T @ inputs, sums_bar.sum(axis=0)


def softmax_loss(W, b, X, labels):
    logits_bar = X @ W + b
    logits_bar -= logits_bar.max(axis=1, keepdims=True)
    np.exp(logits_bar, logits_bar)
    logits_bar /= logits_bar.sum(axis=1, keepdims=True)
    logits_bar[np.arange(labels.size), labels] -= 1.0
    logits_bar *= 1.0 / labels.size
    return X.T @ logits_bar, logits_bar.sum(axis=0)


def mixture(weights, means, scales, points):
    inverse = np.exp(-scales)
    z = (points[:, None, :] - means) * inverse
    p = weights - scales.sum(axis=1) - 0.5 * np.einsum("nkd,nkd->nk", z, z)
    p -= p.max(axis=1, keepdims=True)
    np.exp(p, p)
    p /= p.sum(axis=1, keepdims=True)
    sums = p.sum(axis=0)
    prior = np.exp(weights - weights.max())
    weights_bar = sums - len(points) * prior / prior.sum()
    pz = p[:, :, None] * z
    scales_bar = np.einsum("nkd,nkd->kd", pz, z) - sums[:, None]
    return weights_bar, pz.sum(axis=0) * inverse, scales_bar


def polynomial_chain(x, y):
    a = x * y + 2.0 * x
    b = a * a - y
    d = 1.0 + x * x
    c = b / d
    b_bar = a / d - 0.5 * y
    a_bar = c + 2.0 * a * b_bar
    return a_bar * (y + 2.0) - 2.0 * x * a * c / d, a_bar * x - b_bar - 0.5 * b


def attention(Q, K, V):
    scale = 1.0 / math.sqrt(Q.shape[1])
    weights = Q @ K.T
    weights *= scale
    weights -= weights.max(axis=1, keepdims=True)
    np.exp(weights, weights)
    weights /= weights.sum(axis=1, keepdims=True)
    out_bar = 2.0 * (weights @ V)
    scores_bar = out_bar @ V.T
    scores_bar -= np.einsum("ij,ij->i", scores_bar, weights)[:, None]
    scores_bar *= weights
    scores_bar *= scale
    return scores_bar @ K, scores_bar.T @ Q, weights.T @ out_bar


def rosenbrock_hessian(x):
    n = len(x)
    H = np.zeros((n, n))
    i = np.arange(n - 1)
    H[i, i] = 1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0
    H[i + 1, i + 1] += 200.0
    H[i, i + 1] = H[i + 1, i] = -400.0 * x[:-1]
    return H


def layers(x, A, B):
    h = np.tanh(A @ x)
    y = np.tanh(B @ h)
    J = ((1.0 - y * y) * x)[:, None] * ((B * (1.0 - h * h)) @ A)
    J[np.arange(len(x)), np.arange(len(x))] += y
    return J
