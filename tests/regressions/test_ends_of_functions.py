"""How functions end: by a bare return, by an exception, with a name that has no value."""

import sys
from subprocess import run

import numpy as np
import pytest

from adcompiler import grad, value_and_grad, vjp


def outcome(f, *args):
    """Return what a call gives: the value, or the class and text of what it raises."""
    try:
        return f(*args)
    except Exception as error:
        return type(error), str(error)


def same_end(f, *args):
    """Check that ``vjp`` and ``value_and_grad`` end as plain Python does."""
    wanted = outcome(f, *args)
    got = outcome(lambda: vjp(f, *args, argnums=0)[0])
    assert type(got) is type(wanted)
    assert got == wanted
    if isinstance(wanted, tuple):
        assert outcome(lambda: value_and_grad(f)(*args)) == wanted


def bare_return(x):
    s = x
    for _ in range(3):
        s = s * x
        return
    return s


def returns_a_function(x):
    s = x
    for _ in range(3):
        s = s * x
        return abs
    return s


def bare_return_later(x, n):
    for i in range(n):
        if i == 2:
            return
        x = x * 1.5
    return x


def one_of_several(x, n):
    while n > 0:
        n -= 1
        if n == 2:
            return None
        if n == 5:
            return 2
        x = x * x
    return x


def through_finally(x, n):
    try:
        for i in range(n):
            if i == 2:
                return
            x = x * 1.5
    finally:
        x = 2.0
    return x


def test_bare_returns_in_loops():
    same_end(bare_return, 1.5)
    same_end(returns_a_function, 1.5)
    for n in (0, 2, 3, 6):
        same_end(bare_return_later, 1.5, n)
        same_end(one_of_several, 1.1, n)
        same_end(through_finally, 1.5, n)


def function_in_a_loop(x, n):
    for _ in range(n):
        f = np.sin
    return f(x)


def none_in_a_branch(x, n):
    if n:
        q = None
    return q


def function_in_a_branch(x, n):
    if n:
        f = np.sin
    for _ in range(2):
        x = f(x)
    return x


def deleted_again(x, n):
    for i in range(n):
        if i == 1:
            f = np.sin
        elif i == 3:
            del f
    return f(x)


def function_in_a_try(x, n):
    try:
        x = x / n
        f = np.cos
    except ZeroDivisionError:
        pass
    return f(x)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_names_that_hold_a_known_value_or_none(n):
    for f in (function_in_a_loop, function_in_a_branch, deleted_again, function_in_a_try):
        same_end(f, 1.5, n)
    wanted = outcome(none_in_a_branch, 1.5, n)
    assert outcome(lambda: vjp(none_in_a_branch, 1.5, n, argnums=0)[0]) == wanted


def item_that_is_missing(x):
    y = [x]
    y[3]
    return x * x


def number_of_a_word(x):
    int("a")
    return x * x


def unused_quotient(x, n):
    q = 1 / n  # noqa: F841
    return x * x


def shapes_that_do_not_fit(x, a, b):
    a + b
    return x * x


def entry_that_is_missing(x, d):
    for key in ("a", "b"):
        d[key]
    return x


def test_what_raises_is_not_dropped():
    same_end(item_that_is_missing, 1.5)
    same_end(number_of_a_word, 1.5)
    same_end(unused_quotient, 1.5, 0)
    same_end(unused_quotient, 1.5, 2)
    same_end(shapes_that_do_not_fit, 1.5, np.ones(3), np.ones(2))
    same_end(entry_that_is_missing, 1.5, {"a": 1.0})
    same_end(entry_that_is_missing, 1.5, {"a": 1.0, "b": 2.0})


def no_range(x):
    return x * len(range())


def no_length(x):
    return x * len()


def reversed_nothing(x):
    return x * len(list(reversed()))


def two_lengths(x):
    return x * len((1, 2), (3,))


def test_calls_with_a_wrong_number_of_arguments():
    for f in (no_range, no_length, reversed_nothing, two_lengths):
        same_end(f, 1.5)


def asks_debug(x):
    if __debug__:
        return x * x
    return x


def asserts(x):
    assert x > 5, "too small"
    return x * x


def test_debug():
    same_end(asks_debug, 1.5)
    same_end(asserts, 7.0)
    with pytest.raises(AssertionError, match="too small"):
        value_and_grad(asserts)(1.5)


def test_debug_of_an_optimised_run(tmp_path):
    (tmp_path / "optimised.py").write_text(
        "from adcompiler import value_and_grad\n"
        "def asks(x):\n    if __debug__:\n        return x * x\n    return 3.0 * x\n"
        "def asserts(x):\n    assert x > 5\n    return x * x\n"
        "print(value_and_grad(asks)(2.0), value_and_grad(asserts)(2.0))\n"
    )
    done = run([sys.executable, "-O", str(tmp_path / "optimised.py")], capture_output=True,
               text=True, check=True)
    assert done.stdout == "(6.0, 3.0) (4.0, 4.0)\n"


def raised_in_each_arm(x):
    if x > 0.0:
        raise ValueError("no")
    raise TypeError("neither")


def first_of_nothing(x):
    return raised_in_each_arm(x)[0] * x


def first_of_nothing_in_a_branch(x):
    return raised_in_each_arm(x)["a"] * x if x < 3.0 else x * x


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("function", [first_of_nothing, first_of_nothing_in_a_branch])
def test_nothing_is_written_behind_what_raises_in_each_arm(function):
    """``None[0]`` would be a SyntaxWarning."""
    same_end(function, 2.0)
    same_end(function, -2.0)
    with pytest.raises(ValueError, match="no"):
        grad(grad(function))(2.0)


def test_a_branch_that_does_not_raise_is_differentiated():
    assert grad(first_of_nothing_in_a_branch)(4.0) == 8.0
