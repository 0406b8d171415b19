"""Programs of whole arrays."""

from __future__ import annotations

import numpy as np

from benchmarks.program import Program, normal


def logistic_loss(w, b, X, y):
    """Return the mean cross-entropy of a logistic model."""
    p = 1.0 / (1.0 + np.exp(-(X @ w + b)))
    return -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))


def mlp(W1, b1, W2, b2, W3, b3, X, Y):
    """Return the mean squared error of a network with two hidden layers of tanh units."""
    h1 = np.tanh(X @ W1 + b1)
    h2 = np.tanh(h1 @ W2 + b2)
    error = h2 @ W3 + b3 - Y
    return np.mean(error * error)


def softmax_loss(W, b, X, labels):
    """Return the mean cross-entropy of a linear classifier."""
    logits = X @ W + b
    shift = np.max(logits, axis=1)
    total = shift + np.log(np.sum(np.exp(logits - shift[:, np.newaxis]), axis=1))
    return np.mean(total - logits[np.arange(len(labels)), labels])


def convolution(image, kernel):
    """Return the energy of an image behind a filter of 3 x 3 and a rectifier."""
    m, n = image.shape
    out = 0.0
    for i in range(3):
        for j in range(3):
            out = out + kernel[i, j] * image[i : m - 2 + i, j : n - 2 + j]
    return np.sum(np.maximum(out, 0.0) ** 2)


def mixture(weights, means, scales, points):
    """Return the log-likelihood of a mixture of Gaussians with diagonal covariances."""
    z = (points[:, None, :] - means[None, :, :]) / np.exp(scales)[None, :, :]
    logs = weights - np.sum(scales, axis=1) - 0.5 * np.sum(z * z, axis=2)
    top = np.max(logs, axis=1)
    inner = top + np.log(np.sum(np.exp(logs - top[:, None]), axis=1))
    return np.sum(inner) - len(points) * np.log(np.sum(np.exp(weights)))


def covariance(x):
    """Return the logarithm of the determinant of a sample's covariance matrix."""
    centred = x - np.mean(x, axis=0)
    sample = centred.T @ centred / len(x)
    return np.linalg.slogdet(sample + 0.1 * np.eye(x.shape[1]))[1]


def recurrent(W, U, b, inputs):
    """Return the energy of the last state of a recurrent network of tanh units."""
    h = np.zeros_like(b)
    for x in inputs:
        h = np.tanh(W @ h + U @ x + b)
    return np.sum(h * h)


def attention(Q, K, V):
    """Return the energy of what an attention head gives."""
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    weights = weights / np.sum(weights, axis=1, keepdims=True)
    out = weights @ V
    return np.sum(out * out)


def polynomial_chain(x, y):
    """Return a sum over a chain of elementwise work without functions."""
    a = x * y + 2.0 * x
    b = a * a - y
    c = b / (1.0 + x * x)
    return np.sum(c * a - 0.5 * b * y)


def function_chain(x, y):
    """Return a sum over a chain of elementwise functions."""
    a = np.sin(x) * np.exp(-y * y)
    b = np.tanh(a + x) + np.log(1.0 + a * a)
    return np.sum(b * np.sqrt(1.0 + y * y))


def normalisation(x, gain, bias):
    """Return the energy of rows that are brought to mean 0 and variance 1 (layer norm)."""
    mean = np.mean(x, axis=1, keepdims=True)
    variance = np.mean((x - mean) ** 2, axis=1, keepdims=True)
    y = gain * (x - mean) / np.sqrt(variance + 1e-5) + bias
    return np.sum(np.tanh(y) ** 2)


def batched_products(A, B, x):
    """Return the energy of what stacked matrices make of stacked vectors."""
    y = np.matmul(A, np.tanh(np.matmul(B, x)))
    return np.sum(y * y)


def distances(points, centres):
    """Return a smooth sum of the distances of points to centres."""
    d = points[:, None, :] - centres[None, :, :]
    return np.sum(np.log(1.0 + np.sqrt(np.sum(d * d, axis=2) + 1e-3)))


def network(r, n):
    """Return parameters and a batch for ``mlp``."""
    made = []
    for k, m in ((n, n), (n, n), (n, 10)):
        made += [r.normal(size=(k, m)) / k**0.5, r.normal(size=m)]
    return (*made, r.normal(size=(4 * n, n)), r.normal(size=(4 * n, 10)))


def sequence(r, n):
    """Return a recurrent network of ``n`` units, and 60 inputs of as many numbers."""
    weights = r.normal(size=(2, n, n)) / n**0.5
    return *weights, r.normal(size=n), r.normal(size=(60, n))


def gaussians(r, n):
    """Return a mixture of 8 Gaussians in 6 dimensions, and points."""
    scales = 0.1 * r.normal(size=(8, 6))
    return r.normal(size=8), r.normal(size=(8, 6)), scales, r.normal(size=(n, 6))


def observations(r, n):
    """Return a logistic model of 20 numbers, and observations."""
    return r.normal(size=20), 0.3, r.normal(size=(n, 20)), (r.random(n) > 0.5) * 1.0


def labelled(r, n):
    """Return a classifier of 10 classes, and observations."""
    weights = r.normal(size=(64, 10)) / 8.0
    return weights, r.normal(size=10), r.normal(size=(n, 64)), r.integers(0, 10, n)


def stacked(r, n):
    """Return stacked matrices and vectors."""
    return r.normal(size=(n, 8, 8)), r.normal(size=(n, 8, 8)), r.normal(size=(n, 8, 1))


def rows(r, n):
    """Return rows that are normalised, gains and biases."""
    return r.normal(size=(n, 64)), r.normal(size=64), r.normal(size=64)


def heads(r, n):
    """Return queries, keys and values."""
    return tuple(r.normal(size=(3, n, 32)))


LENGTHS = (100, 10_000, 1_000_000)
PROGRAMS = tuple(Program(*row, same_text=True) for row in (
    (logistic_loss, observations, (50, 1_000, 20_000), (0, 1)),
    (mlp, network, (8, 64, 200), (0, 1, 2, 3, 4, 5)),
    (softmax_loss, labelled, (16, 256, 4_000), (0, 1)),
    (convolution, lambda r, n: (r.normal(size=(n, n)), r.normal(size=(3, 3))), (16, 128, 800),
     (0, 1)),
    (mixture, gaussians, (50, 1_000, 10_000), (0, 1, 2)),
    (covariance, lambda r, n: (r.normal(size=(n, 12)),), (50, 1_000, 20_000), (0,)),
    (recurrent, sequence, (8, 64, 256), (0, 1, 2)),
    (attention, heads, (16, 100, 500), (0, 1, 2)),
    (polynomial_chain, normal(1.0, 1.0), LENGTHS, (0, 1)),
    (function_chain, normal(1.0, 1.0), LENGTHS, (0, 1)),
    (normalisation, rows, (8, 256, 8_000), (0, 1, 2)),
    (batched_products, stacked, (8, 256, 4_000), (0, 1, 2)),
    (distances, lambda r, n: (r.normal(size=(n, 3)), r.normal(size=(20, 3))), (20, 500, 10_000),
     (0, 1)),
))
