import numpy as np


def mlp(W1, b1, W2, b2, X, Y):
    hidden = np.tanh(X @ W1 + b1)
    error = hidden @ W2 + b2 - Y
    return np.mean(error * error)


rng = np.random.default_rng(0)
shapes = (4, 5), (5,), (5, 2), (2,), (7, 4), (7, 2)
call(mlp, *(rng.normal(size=shape) for shape in shapes), argnums=(0, 1, 2, 3))
# output
import numpy as np
from adcompiler.runtime import same_shape, same_trailing_shape


def mlp_grad(W1, b1, W2, b2, X, Y):
    """Return the gradient of `mlp` with respect to W1, b1, W2, b2."""
    # mlp.py:5  hidden = np.tanh(X @ W1 + b1)
    product = X @ W1
    same_trailing_shape(product.shape, b1.shape)
    hidden = np.tanh(product + b1)
    # mlp.py:6  error = hidden @ W2 + b2 - Y
    product = hidden @ W2
    shape = product.shape
    same_trailing_shape(shape, b2.shape)
    same_shape(shape, Y.shape)
    error = product + b2 - Y

    # reverse of mlp.py:7
    error_bar = 2.0 / product.size * error
    # reverse of mlp.py:6
    b2_bar = error_bar.sum(axis=0)
    hidden_bar = error_bar @ W2.T
    W2_bar = hidden.T @ error_bar
    # reverse of mlp.py:5
    total_bar = hidden_bar * (1.0 - hidden * hidden)
    b1_bar = total_bar.sum(axis=0)
    W1_bar = X.T @ total_bar
    return W1_bar, b1_bar, W2_bar, b2_bar
