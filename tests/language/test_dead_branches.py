"""Branches that types decide: tests in any order, imports that fail, arguments by ``*``."""

import bisect

import numpy as np
import pytest
import scipy.linalg

from adcompiler import UnsupportedError, grad, jvp
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, 1.5, 2.0])


class Medium:
    density = 2.0


def decorated(f):
    def wrapper(*args, **kwargs):
        args = [np.asarray(a) for a in args]
        return f(*args, **kwargs) * 2.0

    return wrapper


@decorated
def weighted(x, y, power=1):
    return np.sum(x * y**power)


def three(a, b, c):
    return a * b * b + c


def with_default(a, b=2.0):
    return a * b


def summed(first, *rest):
    return first * sum(rest)


@programs(1.3, None)
@programs(-1.3, None)
def none_behind_a_test(x, medium):
    if x > 0.0 and medium is not None:
        return medium.density * x
    return x * x


@programs(1.3, Medium())
@programs(-1.3, Medium())
def not_none_behind_a_test(x, medium):
    if x < 0.0 or medium is None:
        return x * x
    return medium.density * x


@programs(1.3, None)
def three_tests(x, medium):
    if x > 0.0 and medium is not None and medium.density > 1.0:
        return medium.density * x
    return x * x * x


@programs(1.3, None)
def either_decides(x, medium):
    if medium is None or medium.density > x:
        return x * x
    return medium.density * x


@programs(V)
def a_missing_module(x):
    try:
        import no_such_module as fast

        sine = fast.jit(np.sin)
    except ImportError:
        fast, sine = None, np.sin
    if fast is not None:
        return fast.sum(x)
    return np.sum(sine(x))


@programs(V)
def a_relative_import(x):
    from . import check  # noqa: TID252
    from .check import STEP  # noqa: TID252

    return np.sum(x * x) * STEP * len(check.__name__)


@programs(V, [2.0, 3.0, 4.0])
def as_many_as_there_are(x, items):
    return np.sum(three(*x)) * three(*items) + three(2.0, *x[1:]) + summed(*items) * items[0]


@programs(V)
def through_a_decorator(x):
    return weighted(x, x * 2.0) + weighted(x, x, power=3)


@programs(0.7, [0.0, 0.5, 1.0])
def in_sorted_knots(x, knots):
    i = bisect.bisect_left(knots, x)
    return (x - knots[i - 1]) / (knots[i] - knots[bisect.bisect(knots, x) - 1])


@pytest.mark.parametrize("case", programs, ids=str)
def test_derivative(case):
    programs.check(case)


def test_too_few_and_too_many_items_raise():
    for size in (2, 4):
        with pytest.raises(ValueError, match="values to unpack"):
            grad(lambda x: three(*x))(np.ones(size))


def test_a_default_leaves_the_number_open():
    np.testing.assert_array_equal(grad(lambda x: with_default(*x))(V[:2]), [1.5, 0.5])
    np.testing.assert_array_equal(grad(lambda x: with_default(*x))(V[:1]), [2.0])
    with pytest.raises(TypeError, match="more or fewer arguments"):
        grad(lambda x: with_default(*x))(V)


def test_a_rule_is_not_called_with_items_of_unknown_number():
    def blocks(x, n):
        return np.sum(scipy.linalg.block_diag(*[[[x, x * x], [x, 1.0]]] * n))

    with pytest.raises(UnsupportedError, match="block_diag"):
        grad(blocks)(2.0, 1)
    with pytest.raises(UnsupportedError, match="block_diag"):
        jvp(blocks, (2.0, 1), (1.0, None))


def test_what_a_branch_lacks_raises_where_it_is_reached():
    def far(x):
        if x > 5.0:
            return missing_function(x)  # noqa: F821
        if x > 3.0:
            x[0] = 1.0
        return x * x

    gradient = grad(far)
    assert gradient(2.0) == 4.0
    for x, error in ((6.0, NameError), (3.5, TypeError)):
        with pytest.raises(error):
            gradient(x)


def test_what_is_always_reached_is_refused():
    with pytest.raises(UnsupportedError, match="`missing_function` is not defined"):
        grad(lambda x: missing_function(x) * x)(2.0)  # noqa: F821


def test_numbers_come_back_from_no_text():
    def formatted(x):
        text = "{}".format(x)  # noqa: UP032
        return float(text) * x

    with pytest.raises(UnsupportedError):
        grad(formatted)(2.0)


class Damped:
    def __init__(self, rho):
        self.rho = rho


def loops_on_what_is_not_given(x, m):
    t, n = x[0], 0
    while t < 10.0 and m is not None:
        t = m.rho(t)
    while not (m is None or t > 3.0):
        t = m.rho(t)
    while n < 3 and m is None:
        t = t * x[1]
        n += 1
    return t


def test_tests_of_while_in_any_order():
    x = np.array([0.7, 1.3])
    wanted = [1.3**3, 3.0 * 0.7 * 1.3**2]
    np.testing.assert_allclose(grad(loops_on_what_is_not_given)(x, None), wanted, rtol=1e-13)
    np.testing.assert_allclose(
        grad(loops_on_what_is_not_given)(x, Damped(lambda t: t * 2.0)), [16.0, 0.0], rtol=1e-13)
