import numpy as np


def cross_entropy(W, X, labels):
    logits = X @ W
    shift = np.max(logits, axis=1)
    total = shift + np.log(np.sum(np.exp(logits - shift[:, np.newaxis]), axis=1))
    return np.mean(total - logits[np.arange(labels.size), labels])


rng = np.random.default_rng(0)
call(cross_entropy, rng.normal(size=(4, 3)), rng.normal(size=(6, 4)), np.array([0, 1, 2, 0, 1, 2]))
# output
import numpy as np
from adcompiler.runtime import same_shape


def cross_entropy_grad(W, X, labels):
    """Return the gradient of `cross_entropy` with respect to W."""
    # softmax_cross_entropy.py:5  logits = X @ W
    logits = X @ W
    # softmax_cross_entropy.py:6  shift = np.max(logits, axis=1)
    shift = np.max(logits, axis=1)
    # softmax_cross_entropy.py:7  total = shift + np.log(np.sum(np.exp(logits - shift[:, np.newaxis]), axis=1))
    exp = np.exp(logits - shift[:, np.newaxis])
    # softmax_cross_entropy.py:8  return np.mean(total - logits[np.arange(labels.size), labels])
    arange = np.arange(labels.size)
    same_shape(shift.shape, arange.shape)

    # reverse of softmax_cross_entropy.py:8
    quotient = 1.0 / logits.shape[0]
    # reverse of softmax_cross_entropy.py:7
    logits_bar = (quotient / np.sum(exp, axis=1))[:, np.newaxis] * exp
    # reverse of softmax_cross_entropy.py:8
    logits_bar[arange, labels] -= quotient
    # reverse of softmax_cross_entropy.py:5
    W_bar = X.T @ logits_bar
    return W_bar
