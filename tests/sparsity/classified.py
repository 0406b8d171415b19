"""Functions that the tests of classifications classify; they stand for those of a library."""

import math

import numpy as np


def relu(x):
    """Return the larger of x and zero."""
    return x if x > 0 else 0.0 * x


def softplus(x):
    """Return a smooth relu."""
    return math.log1p(math.exp(x))


def scaled(x, y):
    """Return a product, plainly."""
    return np.multiply(x, y)


def sincos(x):
    """Return sine and cosine at once."""
    return math.sin(x), math.cos(x)


def told(x):
    """Return a number of which an overload says that it depends on nothing."""
    return 2.0 * x


def helper(x):
    """Return a sine, by a module that the function names itself."""
    return math.sin(x)
