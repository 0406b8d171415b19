"""Machine learning: factors, embeddings, kernels, components, labels, variational bounds."""

import math

import numpy as np

from tests.corpus.program import Program


def matrix_factorization(P, Q, ratings, lr, reg):
    """Stochastic gradient descent over known entries, row by row."""
    P, Q = P.copy(), Q.copy()
    for user, item, rating in ratings:
        error = rating - P[user] @ Q[item]
        p_old = P[user].copy()
        P[user] += lr * (error * Q[item] - reg * P[user])
        Q[item] += lr * (error * p_old - reg * Q[item])
    total = 0.0
    for user, item, rating in ratings:
        total += (rating - P[user].dot(Q[item])) ** 2
    return total / len(ratings)


def skipgram_negative_sampling(embeddings, contexts, pairs, negatives):
    loss = 0.0
    for (center, context), noise in zip(pairs, negatives):
        v = embeddings[center]
        loss -= np.log(1.0 / (1.0 + np.exp(-(v @ contexts[context]))))
        scores = contexts[noise] @ v
        loss += np.sum(np.log1p(np.exp(scores)))
    return loss / len(pairs)


def embedding_bag(table, offsets, words, w):
    """Averages of looked-up rows; the counts are scattered with ``np.add.at``."""
    bags = np.zeros((len(offsets), table.shape[1]))
    owner = np.zeros(len(words), dtype=int)
    for bag, start in enumerate(offsets):
        owner[start:] = bag
    np.add.at(bags, owner, table[words])
    counts = np.bincount(owner, minlength=len(offsets))
    bags /= counts[:, None]
    return np.tanh(bags @ w).sum()


def rbf_network(X, centers, gamma, weights):
    phi = np.empty((len(X), len(centers)))
    for i in range(len(X)):
        for j in range(len(centers)):
            phi[i, j] = np.exp(-gamma * np.sum((X[i] - centers[j]) ** 2))
    return phi @ weights


def kernel_ridge(X, y, length, penalty, x_new):
    def kernel(A, B):
        squared = np.sum(A**2, axis=1)[:, None] + np.sum(B**2, axis=1)[None, :] - 2.0 * A @ B.T
        return np.exp(-0.5 * squared / length**2)

    K = kernel(X, X)
    alpha = np.linalg.solve(K + penalty * np.eye(len(X)), y)
    return kernel(x_new, X) @ alpha


def gp_log_marginal(log_params, x, y):
    amplitude, length, noise = np.exp(log_params)
    distance = x[:, None] - x[None, :]
    K = amplitude**2 * np.exp(-0.5 * (distance / length) ** 2)
    K[np.diag_indices(len(x))] += noise**2 + 1e-8
    L = np.linalg.cholesky(K)
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    fit = -0.5 * y @ alpha
    complexity = -np.sum(np.log(np.diag(L)))
    return fit + complexity - 0.5 * len(x) * np.log(2 * np.pi)


def gp_expected_improvement(x_new, x, y, length):
    K = np.exp(-0.5 * ((x[:, None] - x[None, :]) / length) ** 2) + 0.05 * np.eye(len(x))
    k_star = np.exp(-0.5 * ((x_new - x) / length) ** 2)
    mean = k_star @ np.linalg.solve(K, y)
    variance = 1.0 - k_star @ np.linalg.solve(K, k_star)
    sigma = math.sqrt(variance)
    gain = np.min(y) - mean
    z = gain / sigma
    cdf = 0.5 * (1.0 + math.erf(z / math.sqrt(2.0)))
    pdf = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return gain * cdf + sigma * pdf


def coordinate_descent_lasso(X, y, penalty, sweeps=4):
    n, d = X.shape
    w = np.zeros(d)
    residual = y.copy()
    for _ in range(sweeps):
        for j in range(d):
            residual += X[:, j] * w[j]
            rho = X[:, j] @ residual
            norm = X[:, j] @ X[:, j]
            if rho > penalty:
                w[j] = (rho - penalty) / norm
            elif rho < -penalty:
                w[j] = (rho + penalty) / norm
            else:
                w[j] = 0.0
            residual -= X[:, j] * w[j]
    return 0.5 * residual @ residual + penalty * np.abs(w).sum()


def pca_power_iteration(X, v, components=2):
    """Explained variances, by power iteration and deflation."""
    X = X - X.mean(axis=0)
    C = X.T @ X / (len(X) - 1)
    explained = np.zeros(components)
    for k in range(components):
        u = v / np.linalg.norm(v)
        for _ in range(3):
            u = C @ u
            u /= np.linalg.norm(u)
        explained[k] = u @ C @ u
        C -= explained[k] * np.outer(u, u)
    return explained


def fast_ica_component(X, w):
    """Fixed-point steps of FastICA with the tanh contrast."""
    w = w / np.sqrt((w**2).sum())
    for _ in range(3):
        projection = w @ X
        g = np.tanh(projection)
        g_prime = 1.0 - g**2
        w_new = (X * g).mean(axis=1) - g_prime.mean() * w
        w = w_new / np.sqrt((w_new**2).sum())
    return np.mean(np.log(np.cosh(w @ X)))


def adaboost_weights(margins, rate):
    """Reweighting of the examples after each weak learner."""
    rounds, n = margins.shape
    D = np.ones(n) / n
    alphas = []
    for t in range(rounds):
        edge = np.sum(D * np.tanh(margins[t]))
        alpha = 0.5 * rate * np.log((1.0 + edge) / (1.0 - edge))
        alphas.append(alpha)
        D *= np.exp(-alpha * np.tanh(margins[t]))
        D /= D.sum()
    return sum(alphas) + np.max(D)


def fuzzy_cmeans_objective(X, centers, m):
    distance = np.zeros((len(centers), len(X)))
    for c, center in enumerate(centers):
        distance[c] = np.linalg.norm(X - center, axis=1)
    membership = np.zeros_like(distance)
    for i in range(len(centers)):
        for k in range(len(X)):
            ratio = 0.0
            for j in range(len(centers)):
                ratio += (distance[i, k] / distance[j, k]) ** (2.0 / (m - 1.0))
            membership[i, k] = 1.0 / ratio
    return np.sum(membership**m * distance**2)


def label_propagation(W, seeds, steps=5):
    """Scores spread over a graph; the seeded nodes are clamped again after every step."""
    S = W @ W.T
    np.fill_diagonal(S, 0.0)
    P = S / S.sum(axis=1, keepdims=True)
    F = np.zeros((len(W), seeds.shape[1]))
    n = len(seeds)
    F[:n] = seeds
    for _ in range(steps):
        F = P @ F
        F[:n] = seeds
    return np.sum(F[n:, 0] ** 2) + F[-1, 1]


def variational_bound(mu, log_sigma, y, eps):
    """Monte Carlo evidence bound of a normal mean, with the reparametrisation trick."""
    total = 0.0
    for e in eps:
        theta = mu + math.exp(log_sigma) * e
        log_prior = -0.5 * theta**2
        log_lik = 0.0
        for value in y:
            log_lik -= 0.5 * (value - theta) ** 2
        log_q = -0.5 * e**2 - log_sigma
        total += log_prior + log_lik - log_q
    return total / len(eps)


def positive_features(rng, *shape):
    return rng.uniform(0.3, 1.5, size=shape)


def clusters(rng):
    X = rng.normal(size=(9, 2)) * 0.3
    X[3:6] += [3.0, 0.5]
    X[6:] += [0.0, 3.0]
    return X


def known_ratings(rng):
    return [(u, i, float(rng.uniform(1, 5))) for u, i in [(0, 1), (1, 2), (2, 0), (0, 2), (1, 1)]]


PROGRAMS = (
    Program(
        matrix_factorization,
        lambda rng: (
            rng.normal(size=(3, 2)),
            rng.normal(size=(3, 2)),
            known_ratings(rng),
            0.1,
            0.02,
        ),
        argnums=(0, 1, 3, 4),
    ),
    Program(
        skipgram_negative_sampling,
        lambda rng: (
            rng.normal(size=(5, 3)),
            rng.normal(size=(5, 3)),
            [(0, 1), (1, 2), (0, 3)],
            [np.array([2, 4]), np.array([0, 0]), np.array([4, 1])],
        ),
        argnums=(0, 1),
    ),
    Program(
        embedding_bag,
        lambda rng: (
            rng.normal(size=(6, 2)),
            [0, 3, 5],
            np.array([1, 4, 1, 0, 5, 2, 2]),
            rng.normal(size=2),
        ),
        argnums=(0, 3),
    ),
    Program(
        rbf_network,
        lambda rng: (rng.normal(size=(4, 2)), rng.normal(size=(3, 2)), 0.6, rng.normal(size=3)),
        argnums=(0, 1, 2, 3),
    ),
    Program(
        kernel_ridge,
        lambda rng: (
            rng.normal(size=(5, 2)),
            rng.normal(size=5),
            0.9,
            0.2,
            rng.normal(size=(2, 2)),
        ),
        argnums=(0, 1, 2, 3, 4),
    ),
    Program(
        gp_log_marginal,
        lambda rng: (
            np.log([1.2, 0.8, 0.3]),
            np.linspace(0.0, 3.0, 6),
            rng.normal(size=6),
        ),
        argnums=(0, 2),
    ),
    Program(
        gp_expected_improvement,
        lambda rng: (0.45, np.array([-1.0, 0.0, 0.9, 2.0]), 0.3 * rng.normal(size=4), 0.6),
        argnums=(0, 2, 3),
    ),
    Program(
        coordinate_descent_lasso,
        lambda rng: (rng.normal(size=(8, 4)), rng.normal(size=8), 0.9),
        argnums=(0, 1, 2),
    ),
    Program(
        pca_power_iteration,
        lambda rng: (rng.normal(size=(7, 3)) * [2.0, 1.0, 0.4], np.array([1.0, 0.9, 0.8])),
        argnums=(0, 1),
    ),
    Program(
        fast_ica_component,
        lambda rng: (rng.uniform(-2.0, 2.0, size=(2, 9)), np.array([0.8, 0.5])),
        argnums=(0, 1),
    ),
    Program(adaboost_weights, lambda rng: (rng.normal(size=(3, 5)), 0.9), argnums=(0, 1)),
    Program(
        fuzzy_cmeans_objective,
        lambda rng: (clusters(rng)[::2], np.array([[0.4, 0.6], [2.0, 1.0]]), 2.2),
        argnums=(0, 1, 2),
    ),
    Program(
        label_propagation,
        lambda rng: (positive_features(rng, 5, 2), np.array([[1.0, 0.0], [0.0, 1.0]])),
        argnums=(0, 1),
    ),
    Program(
        variational_bound,
        lambda rng: (0.3, -0.5, rng.normal(size=4), rng.normal(size=5)),
        argnums=(0, 1, 2),
    ),
)
