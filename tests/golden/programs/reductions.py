import numpy as np


def f(X):
    centred = X - np.mean(X, axis=0)
    scale = np.sqrt(np.sum(centred**2, axis=0, keepdims=True))
    return np.sum(centred / scale * np.arange(1.0, 4.0))


call(f, np.linspace(0.0, 2.0, 12).reshape(4, 3) ** 2)
# output
import numpy as np
from adcompiler.runtime import same_trailing_shape


def f_grad(X):
    """Return the gradient of `f` with respect to X."""
    # reductions.py:5  centred = X - np.mean(X, axis=0)
    centred = X - np.mean(X, axis=0)
    # reductions.py:6  scale = np.sqrt(np.sum(centred**2, axis=0, keepdims=True))
    scale = np.sqrt(np.sum(centred**2, axis=0, keepdims=True))
    # reductions.py:7  return np.sum(centred / scale * np.arange(1.0, 4.0))
    arange = np.arange(1.0, 4.0)
    shape = X.shape
    same_trailing_shape(shape, arange.shape)

    # reverse of reductions.py:7
    quotient_bar = np.full_like(X, 1.0) * arange
    centred_bar = quotient_bar / scale
    # reverse of reductions.py:6
    centred_bar -= (
        (quotient_bar * (centred / scale)).sum(axis=0, keepdims=True)
        / scale
        * (0.5 / scale)
        * (2 * centred)
    )
    # reverse of reductions.py:5
    X_bar = (
        centred_bar + (-(centred_bar.sum(axis=0) * (shape[1] / max(X.size, 1))))[np.newaxis, ...]
    )
    return X_bar
