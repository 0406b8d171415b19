import numpy as np


def sigmoid(t):
    return 1.0 / (1.0 + np.exp(-t))


def loss(w, b, X, y):
    p = sigmoid(X @ w + b)
    return -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))


X = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
call(loss, np.array([0.1, -0.2, 0.3]), 0.5, X, np.array([0.0, 1.0, 1.0, 0.0]), argnums=(0, 1), mode="vjp")
# output
import numpy as np
from adcompiler.runtime import same_shape


def loss_augmented(w, b, X, y):
    """Return the value of `loss` and what its pullback needs."""
    # logistic_pair.py:9  p = sigmoid(X @ w + b)
    product = X @ w
    p = 1.0 / (1.0 + np.exp(-(product + b)))
    # logistic_pair.py:10  return -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))
    same_shape(y.shape, product.shape)
    difference_1 = 1.0 - y
    difference = 1.0 - p
    # logistic_pair.py:8  def loss(w, b, X, y):
    y_1 = np.copy(y)
    X = np.copy(X)
    return (
        -np.mean(y * np.log(p) + difference_1 * np.log(difference)),
        (y.size, difference_1, difference, y_1, p, X),
    )


def loss_pullback(residuals, value_bar):
    """Pull a cotangent of the value of `loss` back to w, b."""
    # reverse of logistic_pair.py:8
    size, difference_1, difference, y, p, X = residuals
    # reverse of logistic_pair.py:9
    product = -value_bar / size * ((y / p - difference_1 / difference) * p * difference)
    b_bar = float(product.sum())
    w_bar = X.T @ product
    return w_bar, b_bar
