import numpy as np


def f(x, index):
    return np.sum(np.sin(x[index]) * x[::2].sum())


call(f, np.linspace(0.1, 0.9, 6), np.array([0, 2, 2, 5]))
# output
import numpy as np


def f_grad(x, index):
    """Return the gradient of `f` with respect to x."""
    # gather.py:5  return np.sum(np.sin(x[index]) * x[::2].sum())
    item = x[index]

    # reverse of gather.py:5
    x_bar = np.zeros_like(x)
    x_bar[::2] += np.sin(item).sum()
    np.add.at(x_bar, index, np.sum(x[::2]) * np.cos(item))
    return x_bar
