import math


def f(x):
    assert x > 0.0, f"x is {x:.3f}"
    y = math.log(x)
    if y > 100.0:
        raise ValueError("too large")
    return y * y


call(f, 2.0)
# output
import math


def f_grad(x):
    """Return the gradient of `f` with respect to x."""
    # assert_and_print.py:5  assert x > 0.0, f"x is {x:.3f}"
    if not x > 0.0:
        raise AssertionError(f"x is {x:.3f}")
    # assert_and_print.py:6  y = math.log(x)
    y = math.log(x)
    # assert_and_print.py:7  if y > 100.0:
    if y > 100.0:
        # assert_and_print.py:8  raise ValueError("too large")
        raise ValueError("too large")

    # reverse of assert_and_print.py:9
    y_bar = 2.0 * y
    # reverse of assert_and_print.py:6
    x_bar = y_bar / x
    return x_bar
