"""Assignment: names, tuple and starred unpacking, augmented assignment, walrus."""

import math

import numpy as np
import pytest

from tests.language.check import Cases

programs = Cases()
X = np.array([0.3, -1.2, 0.7, 2.1])


@programs(1.5)
def chained_assignment(x):
    a = b = x * x
    return a * b + a


@programs(1.5)
def annotated_assignment(x: float) -> float:
    y: float = x * 3.0
    z: float
    z = y * x
    return z


@programs(1.5, -0.5)
def swap(x, y):
    x, y = y, x
    return x * x * y


@programs(1.5, -0.5)
def nested_unpacking(x, y):
    (a, b), [c, d] = (x, y), [x * y, x + y]
    return a * b + c / d


@programs(1.5, -0.5, 2.0)
def starred_middle(x, y, z):
    first, *middle, last = x, y, z, x * y
    return first * last + middle[0] * middle[1]


@programs(1.5, -0.5)
def starred_empty(x, y):
    first, *rest, last = x, y
    return first * last + len(rest)


@programs(X)
def unpack_array(x):
    a, b, c, d = x
    return a * b + c * d * d


@programs(X)
def starred_array(x):
    first, *rest = x
    total = first * first
    for r in rest:
        total = total + r * first
    return total


@programs([0.5, 1.5, 2.5])
def starred_list(xs):
    *init, last = xs
    return sum(init) * last


@programs([0.5, 1.5, 2.5])
def star_in_the_middle_of_a_list(xs):
    a, *b, c = xs
    return a * b[0] + c


@programs(X.reshape(2, 2))
def unpack_rows(m):
    a, b = m
    return a @ b + np.sum(a)


@programs(1.3)
def augmented_all(x):
    y = x
    y += 2.0 * x
    y -= x * x
    y *= x
    y /= 1.0 + x
    y **= 2
    return y


@programs(7.3)
def augmented_floor_mod(x):
    y = x
    y %= 2.0
    z = x
    z //= 2.0
    return y * x + z


@programs(np.array([0.2, 0.4]), np.array([[1.0, 2.0], [0.5, -1.0]]))
def augmented_matmul(v, m):
    y = m
    y = y @ m
    w = v @ y
    return w @ v


@programs(2, 1.5)
def augmented_int_becomes_float(n, x):
    n += 1
    n *= x
    return n * n


@programs(0.7)
def walrus_in_expression(x):
    return (y := math.sin(x)) * y + y


@programs(0.7)
def walrus_in_if(x):
    if (y := x * x) > 0.3:
        return y * 2.0
    return y + x


@programs(40.0)
def walrus_in_while(x):
    total = 0.0
    while (x := x / 2.0) > 1.0:
        total += x * x
    return total + x


@programs([0.5, 1.5, 2.5])
def walrus_in_comprehension_test(xs):
    return sum([y * x for x in xs if (y := x * x) > 1.0])


@programs([0.5, 1.5, 2.5])
def walrus_leaves_comprehension(xs):
    ys = [(last := x * x) for x in xs]
    return sum(ys) * last


@programs(0.7)
def walrus_in_call(x):
    return max(y := x * 2.0, 0.1) + y * y


@programs(0.7)
def deleted_by_rebinding(x):
    y = x * x
    z = y
    y = math.exp(y)
    return y * z


@programs(1.5)
def underscore_names(x):
    _, __, y = x, 2.0, x * x
    return y * _ + __


@programs(1.5)
def names_like_the_compilers(x):
    x_bar = x * x
    residuals = x_bar * x
    pullback = residuals + x_bar
    np_ = pullback
    add_at = np_ * 2.0
    return add_at * x_bar


@programs(1.5)
def names_like_modules(x):
    np = x * 2.0
    math = np * x
    return np + math * math


@programs(1.5)
def keyword_like_names(x):
    lambda_ = x * x
    match = lambda_ + x
    type = match * 2.0
    return type * lambda_


@programs(1.5)
def subscripts_of_displays(x):
    return (x, x * x, 3.0)[1] * [x, 2.0][0]


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)
