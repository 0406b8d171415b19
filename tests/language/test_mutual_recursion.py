"""Inner functions that call one another."""

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, hvp, jvp, vjp
from tests.language.check import Cases

programs = Cases()


@programs(0.7)
def two_with_a_default(x):
    def even(t, k=2):
        """Return x, or half of what `odd` makes of a sine."""
        return x if k <= 0 else 0.5 * odd(np.sin(t), k - 1)

    def odd(t, k):
        return t * 0.5 if k <= 0 else even(t, k - 1) + t

    return even(x) + odd(x, 3)


@programs(0.7, 5)
def three(x, n):
    def a(t, k):
        return b(t + x, k - 1) + c(t, k - 1) if k > 0 else t * x

    def b(t, k):
        return c(t * x, k - 1) if k > 0 else x

    def c(t, k):
        return a(t * 1.1, k - 1) * b(t, k - 2) if k > 0 else t

    return a(x, n)


@programs(0.7)
def captured_value_changes(x):
    scale = 2.0

    def up(t, k):
        return down(t * scale, k - 1) if k > 0 else t

    def down(t, k):
        return up(t * x, k - 1) + scale if k > 0 else t

    first = up(x, 3)
    scale = x * x
    return first + up(x, 4)


@programs(np.array([0.3, -0.8, 1.2, 0.5]))
def over_an_array(x):
    def left(lo, hi):
        return x[lo] if hi - lo == 1 else right(lo, (lo + hi) // 2) * left((lo + hi) // 2, hi)

    def right(lo, hi):
        return np.sin(x[lo]) if hi - lo == 1 else left(lo, hi - 1) + right(hi - 1, hi)

    return left(0, len(x))


@programs(0.4)
def a_local_of_one_has_a_global_name(x):
    def even(n, y):
        np_ = y * 2.0
        return np_ if n == 0 else odd(n - 1, np.cos(y))

    def odd(n, y):
        np_ = y + x
        return even(n - 1, np_)

    return even(4, x)


@programs(0.7)
def one_shadows(x):
    def even(n, x):
        return x if n == 0 else odd(n - 1)

    def odd(n):
        return even(n - 1, 2.0) * x

    return even(4, x)


@programs(0.7)
def one_has_a_default_of_a_value(x):
    def even(n):
        return x if n == 0 else odd(n - 1)

    def odd(n, y=x * x):
        return even(n - 1) * y

    return even(4)


@pytest.mark.parametrize("case", programs, ids=str)
def test_mutual_recursion(case):
    programs.check(case)


def test_each_mode():
    f, x = over_an_array, np.array([0.3, -0.8, 1.2, 0.5])
    gradient = grad(f)(x)
    v = np.array([1.0, 0.5, -2.0, 0.3])
    assert jvp(f, (x,), (v,))[1] == pytest.approx(gradient @ v)
    slope = (grad(f)(x + 1e-6 * v) - grad(f)(x - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(hvp(f, x, v), slope, atol=1e-7)


def both_shadow(x):
    def even(n, x):
        return x if n == 0 else odd(n - 1, 2.0) * np.sin(y)

    def odd(n, y):
        return even(n - 1, y) * x

    y = x + 1.0
    return even(4, x)


def used_between(x):
    def even(n):
        return x if n == 0 else odd(n - 1)

    y = even(0)

    def odd(n):
        return even(n - 1) * x

    return even(4) + y


def defaults_of_values(x):
    def even(n, z=x * x):
        return x if n == 0 else odd(n - 1) * z

    def odd(n, y=x * x):
        return even(n - 1) * y

    return even(4)


@pytest.mark.parametrize("f", [both_shadow, used_between, defaults_of_values])
def test_what_could_mean_another_thing_is_refused(f):
    with pytest.raises(UnsupportedError, match="calls a function made beside it"):
        vjp(f, 0.7)
