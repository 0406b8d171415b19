import numpy as np


def sigmoid(t):
    return 1.0 / (1.0 + np.exp(-t))


def loss(w, b, X, y):
    p = sigmoid(X @ w + b)
    return -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))


X = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
call(loss, np.array([0.1, -0.2, 0.3]), 0.5, X, np.array([0.0, 1.0, 1.0, 0.0]), argnums=(0, 1))
# output
import numpy as np
from adcompiler.runtime import same_shape


def loss_grad(w, b, X, y):
    """Return the gradient of `loss` with respect to w, b."""
    # logistic.py:9  p = sigmoid(X @ w + b)
    product = X @ w
    p = 1.0 / (1.0 + np.exp(-(product + b)))
    # logistic.py:10  return -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))
    same_shape(y.shape, product.shape)
    difference = 1.0 - p

    # reverse of logistic.py:9
    product = -1.0 / y.size * ((y / p - (1.0 - y) / difference) * p * difference)
    b_bar = float(product.sum())
    w_bar = X.T @ product
    return w_bar, b_bar
