import numpy as np


def f(x):
    return np.sum(np.where(x > 0.0, np.sqrt(np.maximum(x, 0.0) + 1.0), np.exp(x)))


call(f, np.array([-1.0, 0.5, 2.0]))
# output
import numpy as np


def f_grad(x):
    """Return the gradient of `f` with respect to x."""
    # where_and_maximum.py:5  return np.sum(np.where(x > 0.0, np.sqrt(np.maximum(x, 0.0) + 1.0), np.exp(x)))
    test = x > 0.0

    # reverse of where_and_maximum.py:5
    where_bar = np.full_like(x, 1.0)
    x_bar = np.where(test, 0.0, where_bar) * np.exp(x)
    total_bar = np.where(test, where_bar, 0.0) * (0.5 / np.sqrt(np.maximum(x, 0.0) + 1.0))
    x_bar += np.where(test, total_bar, np.where(x == 0.0, 0.5 * total_bar, 0.0))
    return x_bar
