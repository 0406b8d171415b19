"""Both backends give the same: values, gradients, their classes, exceptions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import value_and_grad
from adcompiler.errors import InternalError, MissingRuleError, UnsupportedError
from tests.native.programs import PROGRAMS

named = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)

pytestmark = pytest.mark.usefixtures("plain_loops")


def watched(derivative: Any, *args: Any) -> list[Any]:
    """Return a list to which each later call adds whether loops came to their end, or an error."""
    found = derivative.compiled_for(*args).__globals__
    (name,) = (name for name in found if name.endswith("_loops"))
    run, came = found[name], []

    def watching(*given: Any) -> Any:
        try:
            results = run(*given)
        except Exception as error:
            came.append(error)
            raise
        came.append(results[0])
        return results

    found[name] = watching
    return came


def outcome(call: Callable[..., Any], *args: Any) -> Any:
    """Return what a call gives, or the exception that it raises."""
    try:
        with np.errstate(all="ignore"):
            return call(*args)
    except (InternalError, MissingRuleError, UnsupportedError):
        raise
    except Exception as error:
        return type(error), str(error)


def same(a: Any, b: Any) -> bool:
    """Say whether two outcomes are the same, bit by bit."""
    if isinstance(a, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and (
            a.tobytes() == b.tobytes())
    return type(a) is type(b) and (a == b or (a != a and b != b))


@named
def test_value_and_gradient_are_the_same(program: Any) -> None:
    args = PROGRAMS[program]
    expected = value_and_grad(program)(*args)
    native = value_and_grad(program, backend="native")
    came = watched(native, *args)
    assert same(native(*args), expected)
    assert came == [True]


@named
def test_arguments_with_other_strides_and_read_only_ones(program: Any) -> None:
    args = []
    for arg in PROGRAMS[program]:
        if isinstance(arg, np.ndarray):
            wide = np.zeros((*arg.shape, 2), arg.dtype)
            wide[..., 0] = arg
            arg = wide[..., 0]
            arg.flags.writeable = False
        args.append(arg)
    kept = [np.array(arg) for arg in args]
    native = value_and_grad(program, backend="native")
    assert same(native(*args), value_and_grad(program)(*args))
    assert all(np.array_equal(a, b) for a, b in zip(args, kept, strict=True))


@named
def test_empty_and_short_arrays(program: Any) -> None:
    native, python = value_and_grad(program, backend="native"), value_and_grad(program)
    for n in (0, 1, 2):
        args = [
            arg[tuple(slice(n) for _ in arg.shape)].copy() if isinstance(arg, np.ndarray) else arg
            for arg in PROGRAMS[program]
        ]
        got, expected = outcome(native, *args), outcome(python, *args)
        if isinstance(expected, tuple) and isinstance(expected[0], type):
            assert got == expected
        else:
            assert np.array_equal(got[0], expected[0])
            assert same(got[1:], expected[1:])


def divides(x, y):
    total = 1.0
    for i in range(len(x)):
        total = total / (x[i] - y)
    return total


def reads(x, k):
    total = 0.0
    for i in range(k):
        total += x[i] * 2.0
    return total


def roots(x):
    total = 0.0
    for i in range(len(x)):
        total += math.sqrt(x[i])
    return total


def refuses(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 2.0:
            raise ValueError("too large")
        total += x[i] ** 2
    return total


def grows(x, k):
    n, total = 1, 0.0
    for _ in range(k):
        n = n * 7
        total += x[0] * n
    return total


def unbound(x):
    for i in range(len(x)):
        if x[i] > 0:
            found = x[i] * 2.0
    return found * 3.0


def powers(x):
    total = 0.0
    for i in range(len(x)):
        total += float(x[i]) ** 0.5 + float(x[i]) ** 2
    return total


def exponentials(x):
    total = 0.0
    for i in range(len(x)):
        total += math.exp(x[i])
    return total


CASES = [
    (divides, (np.array([1.0, 2.0]), 2.0)), (divides, (np.array([1.0, 2.0]), 3.0)),
    (reads, (np.ones(3), 3)), (reads, (np.ones(3), 4)), (reads, (np.ones(3), 2**70)),
    (roots, (np.array([1.0, -1.0]),)), (roots, (np.array([1.0, 4.0]),)),
    (refuses, (np.array([1.0, 3.0]),)), (refuses, (np.array([1.0, 2.0]),)),
    (grows, (np.ones(1), 5)), (grows, (np.ones(1), 40)), (unbound, (np.array([-1.0, -2.0]),)),
    (unbound, (np.array([-1.0, 2.0, -1.0]),)), (powers, (np.array([4.0]),)),
    (powers, (np.array([1e200]),)), (exponentials, (np.array([1.0, 800.0]),)),
    (exponentials, (np.array([1.0, np.nan]),)), (reads, (np.array([np.inf, 1.0]), 2)),
]


@pytest.mark.parametrize(("program", "args"), CASES)
def test_what_goes_wrong_goes_wrong_as_in_python(program: Any, args: Any) -> None:
    expected = outcome(value_and_grad(program), *args)
    assert same(outcome(value_and_grad(program, backend="native"), *args), expected)


def both(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i] * y[i]
    return total


def test_one_array_given_twice() -> None:
    x = np.array([1.0, 2.0, 3.0])
    native = value_and_grad(both, argnums=(0, 1), backend="native")
    assert same(native(x, x), value_and_grad(both, argnums=(0, 1))(x, x))
    assert np.array_equal(x, [1.0, 2.0, 3.0])


def test_errors_that_numpy_is_to_raise_are_raised() -> None:
    x = np.array([1e200, 1e200])
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        value_and_grad(both, backend="native")(x, x)
