"""A chain of branches: each arm is followed by its own reverse, and the chain stays one."""

import math


def f(x, k):
    y = x * 1.5
    if k < 0:
        y = -y
    elif k == 1:
        y = y * y
    elif k == 2:
        y = math.sin(y)
        if y > 0.5:
            y = y * 2.0 + x
    else:
        y = y * k
    return y * x


call(f, 0.7, 2)
# output
import math


def f_grad(x, k):
    """Return the gradient of `f` with respect to x."""
    # branch_chain.py:7  y = x * 1.5
    y_1 = x * 1.5
    # branch_chain.py:8  if k < 0:
    if k < 0:
        # branch_chain.py:9  y = -y
        y = -y_1

        # reverse of branch_chain.py:9
        y_bar = -x
    # branch_chain.py:10  elif k == 1:
    elif k == 1:
        # branch_chain.py:11  y = y * y
        y = y_1 * y_1

        # reverse of branch_chain.py:11
        y_bar = 2.0 * (x * y_1)
    # branch_chain.py:12  elif k == 2:
    elif k == 2:
        # branch_chain.py:13  y = math.sin(y)
        y = math.sin(y_1)
        # branch_chain.py:14  if y > 0.5:
        if y > 0.5:
            # branch_chain.py:15  y = y * 2.0 + x
            y = y * 2.0 + x

            # reverse of branch_chain.py:15
            y = y + x
            x = x * 2.0

        # reverse of branch_chain.py:13
        y_bar = x * math.cos(y_1)
    else:
        # branch_chain.py:17  y = y * k
        y = y_1 * k

        # reverse of branch_chain.py:17
        y_bar = x * k

    # reverse of branch_chain.py:7
    x_bar = y + y_bar * 1.5
    return x_bar
