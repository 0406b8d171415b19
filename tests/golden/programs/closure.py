import math


def f(x, a):
    def inner(t):
        return a * math.sin(t)

    return inner(x) + inner(2.0 * x)


call(f, 0.4, 1.5, argnums=(0, 1))
# output
import math


def f_grad(x, a):
    """Return the gradient of `f` with respect to x, a."""
    # closure.py:8  return inner(x) + inner(2.0 * x)
    product = 2.0 * x

    # reverse of closure.py:8
    x_bar = a * math.cos(product) * 2.0
    a_bar = math.sin(product) + math.sin(x)
    x_bar = x_bar + a * math.cos(x)
    return x_bar, a_bar
