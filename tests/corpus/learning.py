"""Machine learning: clustering, kernels, losses, training loops written out by hand."""

import numpy as np

from tests.corpus.program import Program


def kmeans_inertia(X, centroids, steps=3):
    centroids = centroids.copy()
    for _ in range(steps):
        sums = np.zeros_like(centroids)
        counts = np.zeros(len(centroids))
        for x in X:
            nearest = np.argmin(np.sum((centroids - x) ** 2, axis=1))
            sums[nearest] += x
            counts[nearest] += 1
        for k in range(len(centroids)):
            if counts[k] > 0:
                centroids[k] = sums[k] / counts[k]
    inertia = 0.0
    for x in X:
        inertia += np.min(np.sum((centroids - x) ** 2, axis=1))
    return inertia


def soft_kmeans(X, centroids, beta):
    for _ in range(4):
        distances = np.sum((X[:, None, :] - centroids[None, :, :]) ** 2, axis=2)
        logits = -beta * distances
        logits -= logits.max(axis=1, keepdims=True)
        weights = np.exp(logits)
        weights /= weights.sum(axis=1, keepdims=True)
        centroids = weights.T @ X / weights.sum(axis=0)[:, None]
    return centroids


def gaussian_mixture_em(X, means, variances, steps=3):
    """Fit spherical Gaussians by expectation maximisation, and return the log-likelihood."""
    n, d = X.shape
    k = len(means)
    means, variances = means.copy(), variances.copy()
    weights = np.full(k, 1.0 / k)
    log_likelihood = 0.0
    for _ in range(steps):
        log_p = np.empty((n, k))
        for j in range(k):
            diff = X - means[j]
            log_p[:, j] = (
                np.log(weights[j])
                - 0.5 * d * np.log(2 * np.pi * variances[j])
                - 0.5 * np.sum(diff**2, axis=1) / variances[j]
            )
        top = log_p.max(axis=1)
        norm = top + np.log(np.exp(log_p - top[:, None]).sum(axis=1))
        log_likelihood = norm.sum()
        resp = np.exp(log_p - norm[:, None])
        nk = resp.sum(axis=0)
        weights[:] = nk / n
        for j in range(k):
            means[j] = resp[:, j] @ X / nk[j]
            diff = X - means[j]
            variances[j] = np.sum(resp[:, j] * np.sum(diff**2, axis=1)) / (d * nk[j])
    return log_likelihood


def logistic_loss(w, b, X, y, penalty):
    z = X @ w + b
    loss = np.mean(np.logaddexp(0.0, z) - y * z)
    return loss + 0.5 * penalty * (w @ w)


def softmax_cross_entropy(W, X, labels):
    scores = X @ W
    scores = scores - np.max(scores, axis=1, keepdims=True)
    probs = np.exp(scores) / np.sum(np.exp(scores), axis=1, keepdims=True)
    return -np.log(probs[np.arange(len(labels)), labels]).mean()


def multiclass_hinge(W, X, labels, delta=1.0):
    """The support vector machine loss, with the two loops that everybody writes first."""
    loss = 0.0
    for i in range(X.shape[0]):
        scores = X[i].dot(W)
        correct = scores[labels[i]]
        for j in range(W.shape[1]):
            if j == labels[i]:
                continue
            margin = scores[j] - correct + delta
            if margin > 0:
                loss += margin
    loss /= X.shape[0]
    loss += 0.1 * np.sum(W * W)
    return loss


def huber_regression(w, X, y, delta):
    residual = X @ w - y
    small = np.abs(residual) <= delta
    losses = np.where(small, 0.5 * residual**2, delta * (np.abs(residual) - 0.5 * delta))
    return np.sum(losses)


def quantile_loss(w, X, y, tau):
    error = y - X @ w
    return np.mean(np.maximum(tau * error, (tau - 1.0) * error))


def momentum_descent(w, X, y, lr, momentum, steps=8):
    """Least squares by gradient descent with momentum, as a function of its settings."""
    w = w.copy()
    velocity = np.zeros_like(w)
    for _ in range(steps):
        g = X.T @ (X @ w - y) / len(y)
        velocity *= momentum
        velocity -= lr * g
        w += velocity
    residual = X @ w - y
    return 0.5 * np.mean(residual**2)


def adam_training(X, y, lr, steps=5):
    params = {"w": np.zeros(X.shape[1]), "b": np.zeros(1)}
    m = {k: np.zeros_like(v) for k, v in params.items()}
    v = {k: np.zeros_like(p) for k, p in params.items()}
    beta1, beta2, eps = 0.9, 0.999, 1e-8
    for t in range(1, steps + 1):
        p = 1.0 / (1.0 + np.exp(-(X @ params["w"] + params["b"])))
        error = p - y
        grads = {"w": X.T @ error / len(y), "b": np.array([error.mean()])}
        for k in params:
            m[k] = beta1 * m[k] + (1 - beta1) * grads[k]
            v[k] = beta2 * v[k] + (1 - beta2) * grads[k] ** 2
            m_hat = m[k] / (1 - beta1**t)
            v_hat = v[k] / (1 - beta2**t)
            params[k] -= lr * m_hat / (np.sqrt(v_hat) + eps)
    z = X @ params["w"] + params["b"]
    return np.mean(np.logaddexp(0.0, z) - y * z)


def two_layer_backprop(W1, W2, X, y, lr):
    """Some steps of training with a gradient derived by hand."""
    params = {"W1": W1.copy(), "W2": W2.copy()}
    losses = []
    for _ in range(3):
        hidden = np.tanh(X @ params["W1"])
        out = hidden @ params["W2"]
        error = out - y
        losses.append(np.mean(error**2))
        grads = {}
        grads["W2"] = 2.0 * hidden.T @ error / len(y)
        back = np.outer(error, params["W2"]) * (1.0 - hidden**2)
        grads["W1"] = 2.0 * X.T @ back / len(y)
        for k in grads:
            params[k] -= lr * grads[k]
    return losses[-1] + 0.1 * losses[0]


def clusters(rng):
    X = rng.normal(size=(9, 2)) * 0.3
    X[3:6] += [3.0, 0.5]
    X[6:] += [0.0, 3.0]
    return X


def binary_labels(rng, n):
    return (rng.random(n) > 0.5).astype(float)


PROGRAMS = (
    Program(
        kmeans_inertia,
        lambda rng: (clusters(rng), np.array([[0.5, 0.4], [2.5, 0.0], [0.3, 2.5]])),
        argnums=0,
    ),
    Program(
        soft_kmeans,
        lambda rng: (clusters(rng), rng.normal(size=(3, 2)), 0.7),
        argnums=(0, 1, 2),
    ),
    Program(
        gaussian_mixture_em,
        lambda rng: (clusters(rng), rng.normal(size=(2, 2)), rng.uniform(0.5, 2.0, size=2)),
        argnums=(0, 1, 2),
    ),
    Program(
        logistic_loss,
        lambda rng: (
            rng.normal(size=3),
            0.2,
            rng.normal(size=(6, 3)),
            binary_labels(rng, 6),
            0.1,
        ),
        argnums=(0, 1, 4),
    ),
    Program(
        softmax_cross_entropy,
        lambda rng: (rng.normal(size=(3, 4)), rng.normal(size=(5, 3)), rng.integers(0, 4, 5)),
        argnums=(0, 1),
    ),
    Program(
        multiclass_hinge,
        lambda rng: (rng.normal(size=(3, 4)), rng.normal(size=(5, 3)), rng.integers(0, 4, 5)),
        argnums=(0, 1),
    ),
    Program(
        huber_regression,
        lambda rng: (rng.normal(size=3), rng.normal(size=(7, 3)), rng.normal(size=7), 0.8),
        argnums=(0, 2, 3),
    ),
    Program(
        quantile_loss,
        lambda rng: (rng.normal(size=3), rng.normal(size=(7, 3)), rng.normal(size=7), 0.7),
        argnums=(0, 1, 3),
    ),
    Program(
        momentum_descent,
        lambda rng: (rng.normal(size=3), rng.normal(size=(6, 3)), rng.normal(size=6), 0.1, 0.8),
        argnums=(0, 2, 3, 4),
    ),
    Program(
        adam_training,
        lambda rng: (rng.normal(size=(6, 2)), binary_labels(rng, 6), 0.1),
        argnums=(0, 2),
    ),
    Program(
        two_layer_backprop,
        lambda rng: (
            rng.normal(size=(2, 3)),
            rng.normal(size=3),
            rng.normal(size=(5, 2)),
            rng.normal(size=5),
            0.05,
        ),
        argnums=(0, 1, 4),
    ),
)
