import numpy as np


def first_above(xs, y):
    for i, x in enumerate(xs):
        if x > y:
            return x * y
    return y * y


call(first_above, np.array([0.1, 0.9, 2.0]), 0.3, argnums=(0, 1))
# output
import numpy as np


def first_above_grad(xs, y):
    """Return the gradient of `first_above` with respect to xs, y."""
    # search_loop.py:5  for i, x in enumerate(xs):
    exit_1 = 0
    tape = []
    for x in xs:
        # search_loop.py:6  if x > y:
        test = x > y
        tape.append((test, x))
        exit_1 = 2 if test else 0
        if exit_1:
            break

    # reverse of search_loop.py:5
    if exit_1 == 0:
        # reverse of search_loop.py:8
        y_bar = 2.0 * y
        value_bar = 0.0
    else:
        y_bar = 0.0
        value_bar = 1.0
    xs_bar = np.zeros_like(xs)
    for index, (test, x) in zip(reversed(range(len(tape))), reversed(tape)):
        # reverse of search_loop.py:6
        if test:
            # reverse of search_loop.py:7
            x_bar = value_bar * y
            y_bar = y_bar + float(value_bar * x)
        else:
            x_bar = 0.0
        # reverse of search_loop.py:5
        xs_bar[index] = x_bar
        value_bar = 0.0
    # reverse of search_loop.py:4
    y_bar = float(y_bar)
    return xs_bar, y_bar
