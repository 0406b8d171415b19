"""Sequence models and filters: hidden Markov models, Kalman filters, alignments."""

import numpy as np

from tests.corpus.program import Program


def logsumexp(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def hmm_forward(log_start, log_trans, log_emit, observations):
    n = len(log_start)
    T = len(observations)
    alpha = np.zeros((T, n))
    alpha[0] = log_start + log_emit[:, observations[0]]
    for t in range(1, T):
        for j in range(n):
            alpha[t, j] = logsumexp(alpha[t - 1] + log_trans[:, j]) + log_emit[j, observations[t]]
    return logsumexp(alpha[-1])


def hmm_posteriors(start, trans, emit, observations):
    """Scaled forward-backward recursion, with the scale factors in a list."""
    T, n = len(observations), len(start)
    alpha = np.zeros((T, n))
    scales = []
    for t, symbol in enumerate(observations):
        prior = start if t == 0 else alpha[t - 1] @ trans
        alpha[t] = prior * emit[:, symbol]
        scale = alpha[t].sum()
        alpha[t] /= scale
        scales.append(scale)
    beta = np.ones((T, n))
    for t in reversed(range(T - 1)):
        beta[t] = trans @ (emit[:, observations[t + 1]] * beta[t + 1]) / scales[t + 1]
    return alpha * beta


def baum_welch_step(start, trans, emit, observations):
    """One re-estimation of the transition matrix."""
    T, n = len(observations), len(start)
    alpha = [start * emit[:, observations[0]]]
    for t in range(1, T):
        alpha.append((alpha[-1] @ trans) * emit[:, observations[t]])
    beta = [np.ones(n)]
    for t in range(T - 1, 0, -1):
        beta.insert(0, trans @ (emit[:, observations[t]] * beta[0]))
    likelihood = np.sum(alpha[-1])
    xi = np.zeros((n, n))
    for t in range(T - 1):
        for i in range(n):
            for j in range(n):
                p = alpha[t][i] * trans[i, j] * emit[j, observations[t + 1]] * beta[t + 1][j]
                xi[i, j] += p / likelihood
    return xi / xi.sum(axis=1, keepdims=True)


def viterbi_score(log_trans, log_emit, observations):
    score = log_emit[:, observations[0]]
    back = []
    for symbol in observations[1:]:
        candidates = score[:, None] + log_trans
        back.append(np.argmax(candidates, axis=0))
        score = np.max(candidates, axis=0) + log_emit[:, symbol]
    state = int(np.argmax(score))
    path = [state]
    for pointers in reversed(back):
        state = int(pointers[state])
        path.append(state)
    path.reverse()
    total = score[path[-1]]
    for a, b in zip(path, path[1:]):
        total += 0.1 * log_trans[a, b] ** 2
    return total


def crf_negative_log_likelihood(emissions, transitions, tags):
    T, n = emissions.shape
    gold = emissions[0, tags[0]]
    for t in range(1, T):
        gold += transitions[tags[t - 1], tags[t]] + emissions[t, tags[t]]
    forward = emissions[0].copy()
    for t in range(1, T):
        updated = np.empty(n)
        for tag in range(n):
            updated[tag] = logsumexp(forward + transitions[:, tag]) + emissions[t, tag]
        forward = updated
    return logsumexp(forward) - gold


def ctc_loss(log_probs, labels, blank=0):
    """Connectionist temporal classification, on the sequence with blanks between labels."""
    extended = [blank]
    for label in labels:
        extended.extend([label, blank])
    T, S = len(log_probs), len(extended)
    probs = np.exp(log_probs - np.max(log_probs, axis=1, keepdims=True))
    probs = probs / probs.sum(axis=1, keepdims=True)
    alpha = np.zeros((T, S))
    alpha[0, 0] = probs[0, extended[0]]
    alpha[0, 1] = probs[0, extended[1]]
    for t in range(1, T):
        for s in range(S):
            total = alpha[t - 1, s]
            if s > 0:
                total += alpha[t - 1, s - 1]
            if s > 1 and extended[s] != blank and extended[s] != extended[s - 2]:
                total += alpha[t - 1, s - 2]
            alpha[t, s] = total * probs[t, extended[s]]
    return -np.log(alpha[-1, -1] + alpha[-1, -2])


def kalman_log_likelihood(A, C, Q, R, measurements):
    n = A.shape[0]
    x = np.zeros(n)
    P = np.eye(n)
    log_lik = 0.0
    for y in measurements:
        x = A @ x
        P = A @ P @ A.T + Q
        innovation = y - C @ x
        S = C @ P @ C.T + R
        K = P @ C.T @ np.linalg.inv(S)
        x = x + K @ innovation
        P = (np.eye(n) - K @ C) @ P
        log_lik += -0.5 * (
            innovation @ np.linalg.solve(S, innovation)
            + np.log(np.linalg.det(S))
            + len(y) * np.log(2 * np.pi)
        )
    return log_lik


def rts_smoother(a, q, r, ys):
    """Scalar Kalman filter into preallocated arrays, and the smoothing pass backwards."""
    n = len(ys)
    mean, var = np.zeros(n), np.zeros(n)
    pred_mean, pred_var = np.zeros(n), np.zeros(n)
    m, p = 0.0, 1.0
    for k in range(n):
        pred_mean[k] = a * m
        pred_var[k] = a * a * p + q
        gain = pred_var[k] / (pred_var[k] + r)
        m = pred_mean[k] + gain * (ys[k] - pred_mean[k])
        p = (1.0 - gain) * pred_var[k]
        mean[k], var[k] = m, p
    for k in range(n - 2, -1, -1):
        G = a * var[k] / pred_var[k + 1]
        mean[k] += G * (mean[k + 1] - pred_mean[k + 1])
        var[k] += G * G * (var[k + 1] - pred_var[k + 1])
    return mean


def extended_kalman(theta, q, r, ys, dt=0.1):
    x = np.array([theta, 0.0])
    P = 0.1 * np.eye(2)
    F = np.eye(2)
    cost = 0.0
    for y in ys:
        F[0, 1] = dt
        F[1, 0] = -dt * np.cos(x[0])
        x = np.array([x[0] + dt * x[1], x[1] - dt * np.sin(x[0])])
        P = F @ P @ F.T
        P[0, 0] += q
        P[1, 1] += q
        s = P[0, 0] + r
        K = P[:, 0] / s
        residual = y - x[0]
        x += K * residual
        P -= np.outer(K, P[0])
        cost += residual**2 / s + np.log(s)
    return cost


def particle_filter_likelihood(a, sigma, ys, n=8, seed=3):
    """Sequential importance weights, without resampling; the noise has a fixed seed."""
    rng = np.random.default_rng(seed)
    particles = rng.normal(size=n)
    weights = np.ones(n) / n
    log_lik = 0.0
    for y in ys:
        particles = a * particles + sigma * rng.normal(size=n)
        weights *= np.exp(-0.5 * (y - particles) ** 2)
        total = np.sum(weights)
        log_lik += np.log(total)
        weights /= total
    effective = 1.0 / np.sum(weights**2)
    return log_lik + 0.1 * effective


def alpha_beta_tracker(ys, alpha, beta, dt=0.5):
    x, v = ys[0], 0.0
    track = [x]
    for y in ys[1:]:
        x += dt * v
        error = y - x
        x += alpha * error
        v += beta * error / dt
        track.append(x)
    return np.array(track)


def dynamic_time_warping(a, b):
    n, m = len(a), len(b)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (a[i - 1] - b[j - 1]) ** 2
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


def soft_dtw(a, b, gamma):
    n, m = len(a), len(b)
    R = np.zeros((n + 1, m + 1)) + 1e6
    R[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            options = np.array([R[i, j], R[i, j + 1], R[i + 1, j]])
            top = np.min(options)
            soft = top - gamma * np.log(np.sum(np.exp(-(options - top) / gamma)))
            R[i + 1, j + 1] = (a[i] - b[j]) ** 2 + soft
    return R[n, m]


def weighted_edit_distance(source, target, gap, mismatch):
    """Needleman-Wunsch with costs to be fitted, in two rows that are swapped."""
    previous = [j * gap for j in range(len(target) + 1)]
    for i, a in enumerate(source, start=1):
        current = [i * gap]
        for j, b in enumerate(target, start=1):
            change = previous[j - 1] + (0.0 if a == b else mismatch)
            current.append(min(change, previous[j] + gap, current[j - 1] + gap))
        previous, current = current, previous
    return previous[-1]


def linear_chain_marginals(potentials, coupling):
    """Messages along an Ising chain, left to right and back."""
    n = len(potentials)
    left, right = np.zeros(n), np.zeros(n)
    for i in range(1, n):
        left[i] = np.arctanh(np.tanh(coupling) * np.tanh(potentials[i - 1] + left[i - 1]))
    for i in range(n - 2, -1, -1):
        right[i] = np.arctanh(np.tanh(coupling) * np.tanh(potentials[i + 1] + right[i + 1]))
    return np.tanh(potentials + left + right)


def pagerank_score(weights, damping, steps=12):
    n = len(weights)
    W = np.abs(weights)
    columns = W / W.sum(axis=0)
    rank = np.full(n, 1.0 / n)
    for _ in range(steps):
        rank = damping * columns @ rank + (1.0 - damping) / n
    return rank[0] - rank[-1]


def value_iteration(rewards, trans, discount, sweeps=6):
    """Bellman updates in place (Gauss-Seidel); actions are chosen by maximum."""
    states, actions = rewards.shape
    V = np.zeros(states)
    for _ in range(sweeps):
        for s in range(states):
            best = -np.inf
            for a in range(actions):
                q = rewards[s, a] + discount * (trans[a, s] @ V)
                if q > best:
                    best = q
            V[s] = best
    return V.sum()


def td_lambda(rewards, features, w, lr, trace, discount=0.9):
    w = w.copy()
    eligibility = np.zeros_like(w)
    for t in range(len(rewards)):
        delta = rewards[t] + discount * features[t + 1] @ w - features[t] @ w
        eligibility *= discount * trace
        eligibility += features[t]
        w += lr * delta * eligibility
    return w


def stochastic(rng, *shape):
    p = rng.uniform(0.2, 1.0, size=shape)
    return p / p.sum(axis=-1, keepdims=True)


PROGRAMS = (
    Program(
        hmm_forward,
        lambda rng: (
            np.log(stochastic(rng, 3)),
            np.log(stochastic(rng, 3, 3)),
            np.log(stochastic(rng, 3, 2)),
            [0, 1, 1, 0, 1],
        ),
        argnums=(0, 1, 2),
    ),
    Program(
        hmm_posteriors,
        lambda rng: (
            stochastic(rng, 2),
            stochastic(rng, 2, 2),
            stochastic(rng, 2, 3),
            [0, 2, 1, 1],
        ),
        argnums=(0, 1, 2),
    ),
    Program(
        baum_welch_step,
        lambda rng: (
            stochastic(rng, 2),
            stochastic(rng, 2, 2),
            stochastic(rng, 2, 2),
            np.array([0, 1, 1, 0]),
        ),
        argnums=(0, 1, 2),
    ),
    Program(
        viterbi_score,
        lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=(3, 2)), [0, 1, 1, 0]),
        argnums=(0, 1),
    ),
    Program(
        crf_negative_log_likelihood,
        lambda rng: (rng.normal(size=(4, 3)), rng.normal(size=(3, 3)), [2, 0, 0, 1]),
        argnums=(0, 1),
    ),
    Program(ctc_loss, lambda rng: (rng.normal(size=(5, 4)), [1, 3, 3]), argnums=(0,)),
    Program(
        kalman_log_likelihood,
        lambda rng: (
            np.array([[1.0, 0.3], [-0.1, 0.9]]),
            rng.normal(size=(2, 2)),
            0.2 * np.eye(2),
            0.5 * np.eye(2),
            rng.normal(size=(4, 2)),
        ),
        argnums=(0, 1, 2, 3, 4),
    ),
    Program(rts_smoother, lambda rng: (0.9, 0.3, 0.5, rng.normal(size=6)), argnums=(0, 1, 2, 3)),
    Program(extended_kalman, lambda rng: (0.5, 0.3, 0.4, rng.normal(size=5)), argnums=(0, 1, 2, 3)),
    Program(
        particle_filter_likelihood,
        lambda rng: (0.8, 0.6, rng.normal(size=5)),
        argnums=(0, 1, 2),
    ),
    Program(alpha_beta_tracker, lambda rng: (rng.normal(size=6), 0.6, 0.2), argnums=(0, 1, 2)),
    Program(
        dynamic_time_warping,
        lambda rng: (rng.normal(size=5), rng.normal(size=4)),
        argnums=(0, 1),
    ),
    Program(soft_dtw, lambda rng: (rng.normal(size=4), rng.normal(size=5), 0.7), argnums=(0, 1, 2)),
    Program(weighted_edit_distance, lambda rng: ("kitten", "sitting", 1.1, 1.45), argnums=(2, 3)),
    Program(linear_chain_marginals, lambda rng: (rng.normal(size=5), 0.6), argnums=(0, 1)),
    Program(
        pagerank_score,
        lambda rng: (rng.uniform(0.2, 1.0, size=(4, 4)), 0.85),
        argnums=(0, 1),
    ),
    Program(
        value_iteration,
        lambda rng: (rng.normal(size=(3, 2)), stochastic(rng, 2, 3, 3), 0.9),
        argnums=(0, 1, 2),
    ),
    Program(
        td_lambda,
        lambda rng: (rng.normal(size=4), rng.normal(size=(5, 2)), rng.normal(size=2), 0.1, 0.7),
        argnums=(0, 1, 2, 3, 4),
    ),
)
