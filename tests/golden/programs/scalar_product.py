import math


def f(x, y):
    return x * y + math.sin(x)


call(f, 0.5, 1.5, argnums=(0, 1))
# output
import math


def f_grad(x, y):
    """Return the gradient of `f` with respect to x, y."""
    # reverse of scalar_product.py:5
    x_bar = math.cos(x) + y
    return x_bar, x
