import numpy as np


def rosenbrock(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


call(rosenbrock, np.linspace(0.5, 1.5, 5))
# output
import numpy as np


def rosenbrock_grad(x):
    """Return the gradient of `rosenbrock` with respect to x."""
    # rosenbrock_loop.py:6  for i in range(len(x) - 1):
    range_1 = range(len(x) - 1)
    tape = []
    for i in range_1:
        # rosenbrock_loop.py:7  total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
        item = x[i]
        tape.append((x[i + 1] - item**2, item))

    # reverse of rosenbrock_loop.py:6
    x_bar = np.zeros_like(x)
    for i, (difference_1, item) in zip(reversed(range_1), reversed(tape)):
        # reverse of rosenbrock_loop.py:7
        difference = 1.0 - item
        x_bar[i] -= 2 * difference
        difference_bar = 100.0 * (2 * difference_1)
        x_bar[i] -= difference_bar * (2 * item)
        x_bar[i + 1] += difference_bar
    return x_bar
