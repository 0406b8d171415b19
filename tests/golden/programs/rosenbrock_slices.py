import numpy as np


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


call(rosenbrock, np.linspace(0.5, 1.5, 5))
# output
import numpy as np


def rosenbrock_grad(x):
    """Return the gradient of `rosenbrock` with respect to x."""
    # rosenbrock_slices.py:5  return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
    item = x[:-1]

    # reverse of rosenbrock_slices.py:5
    x_bar = np.zeros_like(x)
    x_bar[:-1] -= 2 * (1.0 - item)
    difference_bar = 100.0 * (2 * (x[1:] - item**2))
    x_bar[:-1] -= difference_bar * (2 * item)
    x_bar[1:] += difference_bar
    return x_bar
