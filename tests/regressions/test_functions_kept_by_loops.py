"""Functions made in a loop that are kept, and read what the loop assigns again.

Python looks the variable up when the function is called: all of them see its last value. Written
out iteration by iteration each had that of its own: the gradients were wrong.
"""

import functools

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad

X = np.array([0.7, 1.3, 0.4])


def powers_of_mixed_kinds(x):
    fs = [lambda t: t**k for k in (1, 2.0, 3)]  # noqa: B023
    return sum(f(x[0]) for f in fs)


def functions_of_functions(x):
    fs = [lambda t: g(t) for g in (np.sin, np.cos)]  # noqa: B023
    return fs[0](x[0])


def in_pairs(x):
    fs = [(k, lambda t: t * k) for k in (1.0, 2, 3.0)]  # noqa: B023
    return sum(f(x[0]) * k for k, f in fs)


def over_a_range(x):
    fs = [lambda: k for k in range(1, 4)]  # noqa: B023
    return fs[0]() * x[1]


def appended(x):
    fs = []
    for k in range(3):
        y = x[k]
        fs.append(lambda t: t * y)  # noqa: B023 (that is the point)
    return fs[0](x[0])


def in_a_dict(x):
    fs = {}
    for k in range(3):
        fs[k] = lambda t: t * k  # noqa: B023
    return fs[0](x[0])


def in_a_partial(x):
    fs = []
    for k in range(3):
        fs.append(functools.partial(lambda a, t: a * t * k, x[1]))  # noqa: B023
    return fs[0](x[0])


def of_the_loop_around(x):
    fs = []
    for k in range(2):
        for j in range(2):
            fs.append(lambda t, j=j: t * j * k)  # noqa: B023
    return fs[1](x[0])


def handed_on(x):
    total = 0.0
    f = np.sin
    for k in (1.0, 2, 3.0):
        total += f(x[0])
        f = lambda v: v * k  # noqa: B023, E731
    return total


def by_name(x):
    fs = []
    for k in range(3):
        def f(v):
            return v * k  # noqa: B023
        fs.append(f)
    return fs[0](x[0])


@pytest.mark.parametrize("f", [
    powers_of_mixed_kinds, functions_of_functions, in_pairs, over_a_range, appended, in_a_dict,
    in_a_partial, of_the_loop_around, handed_on, by_name,
], ids=lambda f: f.__name__)
def test_they_are_refused(f):
    assert np.isfinite(f(X))
    with pytest.raises(UnsupportedError, match="the loop assigns again"):
        grad(f)(X)


def test_those_that_are_only_called_see_the_value_of_now():
    def f(x):
        total = 0.0
        for g in (np.sin, np.cos):
            h = lambda v: g(v) * 2.0  # noqa: B023, E731
            total += h(x) + sum(k(x) for k in [lambda v: g(v) ** 2])  # noqa: B023
        return total

    assert abs(grad(f)(0.7) - 2.0 * (np.cos(0.7) - np.sin(0.7))) < 1e-14
