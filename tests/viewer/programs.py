"""Programs that pages are written of."""

import numpy as np

from adcompiler import checkpoint_loop


def scaled(t):
    u = t * 2.0
    return np.exp(u) + u


def price(x, w, n):
    """Return a price.

    It is <none> & "nothing".
    """
    s = x
    for _ in range(n):
        a = np.sin(s) * w
        b = np.abs(a)
        s = a + b * s
    if n > 3:
        s = s * 2
    total = np.sum(
        scaled(s),
    )
    return total * np.max(w)


def product(x, w):
    return np.sum(x * w)


def text(x):
    label = "<script>alert(1)</script>"
    return x * len(label)


def early(x, flag):
    if flag:
        z = np.exp(x)
        w = z * x
        return np.sum(w * w)
    y = np.exp(x)
    y += y * x
    return np.sum(y)


def pairs(x):
    return x[1:] * x[:-1]


square = lambda x: x * x  # noqa: E731


def weighted(data):
    x, (w, scale) = data["x"], data["w"]
    return scale * np.sum(x * x * w)


def in_steps(x):
    return checkpoint_loop(lambda s: np.sin(s) * x, x, 10, slots=3).sum()


def of_a_pair(x):
    pair = np.sin(x), np.cos(x)
    total = 0.0
    for k in range(3):
        total = total + np.sum(pair[k % 2] * x)
    return total
