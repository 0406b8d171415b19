"""What a ``try`` raises and leaves behind, and what of it is refused."""

import contextlib
import math
import sys

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, value_and_grad, vjp

class OwnError(Exception):
    def __init__(self, message, level=0):
        super().__init__(message)
        self.level = level


def assigns(x):
    try:
        y = math.sqrt(x)
        z = y * x
    except ValueError:
        y = x
        z = y * y * y
    return y * z


def reraised(x):
    try:
        return math.sqrt(x)
    except ValueError:
        print("seen")
        raise


def replaced(x):
    try:
        y = math.sqrt(x)
    except ValueError as error:
        raise OwnError(f"no root of {x}") from error
    finally:
        print("finally")
    return y


def not_caught(x):
    try:
        return x * [1.0][int(x)]
    except KeyError:
        return x


def fails_in_handler(x):
    try:
        return math.sqrt(x)
    except ValueError:
        return 1.0 / (x - x)


def fails_in_else(x):
    try:
        y = x * 2.0
    except ValueError:
        y = x
    else:
        y = math.sqrt(-y)
    return y


@pytest.mark.parametrize(
    "function, x",
    [
        (reraised, -1.0), (replaced, -1.0), (not_caught, 3.0), (fails_in_handler, -1.0),
        (fails_in_else, 1.0),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_raised_is_what_python_raises(function, x, capsys):
    with pytest.raises(Exception) as wanted:
        function(x)
    printed = capsys.readouterr().out
    for derive in (grad(function), value_and_grad(function), lambda t: vjp(function, t)):
        with pytest.raises(type(wanted.value)) as caught:
            derive(x)
        assert str(caught.value) == str(wanted.value)
        assert type(caught.value.__cause__) is type(wanted.value.__cause__)
        assert type(caught.value.__context__) is type(wanted.value.__context__)
        assert capsys.readouterr().out == printed


def test_finally_runs_once(capsys):
    def counted(x):
        try:
            return math.sqrt(x)
        except ValueError:
            return x
        finally:
            print("finally")

    for x in (4.0, -4.0):
        value, pullback = vjp(counted, x)
        pullback(1.0)
        assert capsys.readouterr().out == "finally\n"
        assert value == counted(x)
        assert capsys.readouterr().out == "finally\n"


def test_the_source_reads_as_try():
    source = grad(assigns).source_for(2.0)
    assert "try:" in source
    assert "except ValueError:" in source
    assert "if completed:" in source


def test_an_unset_variable_raises_as_in_python():
    def unset(x):
        with contextlib.nullcontext():
            try:
                y = math.sqrt(x)
            except ValueError:
                pass
            return y * x

    assert abs(grad(unset)(4.0) - 3.0) < 1e-12
    with pytest.raises(UnboundLocalError, match="'y'"):
        grad(unset)(-4.0)


def test_checks_of_the_compiler_are_not_caught():
    def stretched(v, w):
        try:
            y = np.sum(v * w)
        except Exception:
            y = np.sum(v)
        return y

    v, w = np.ones((2, 3)), np.full((1, 3), 2.0)
    assert np.array_equal(grad(stretched)(v, w), np.full((2, 3), 2.0))
    with pytest.raises(ValueError, match="broadcast"):
        np.ones(2) + np.ones(3)
    assert np.array_equal(grad(stretched)(np.ones(2), np.ones(3)), np.ones(2))


def ambiguous(x):
    y = x
    try:
        with contextlib.nullcontext():
            y = x * x
            z = math.sqrt(x)
    except ValueError:
        z = y * 2.0
    return z


def state_after_an_exception(x):
    calls = 0

    def attempt(t):
        nonlocal calls
        calls += 1
        return math.sqrt(t)

    try:
        y = attempt(x)
    except ValueError:
        y = x * x
    return y * calls


def through_an_exception(x):
    try:
        if x > 0.0:
            raise OwnError("big", x * x)
        y = x
    except OwnError as error:
        y = error.level * x
    return y


def asked_of_the_interpreter(x):
    try:
        if x > 0.0:
            raise OwnError("big", x * x)
        y = x
    except OwnError:
        y = sys.exc_info()[1].level * x
    return y


def raise_level(t):
    if t > 1.0:
        raise OwnError("big", t * t)
    return t


def through_an_exception_of_a_call(x):
    try:
        y = raise_level(x)
    except OwnError as error:
        y = error.args[0] * x
    return y


@pytest.mark.parametrize(
    "function",
    [
        ambiguous, state_after_an_exception, through_an_exception, through_an_exception_of_a_call,
        asked_of_the_interpreter,
    ],
)
def test_what_would_lose_a_derivative_is_refused(function):
    with pytest.raises(UnsupportedError) as caught:
        grad(function)(2.0)
    assert "try" in {finding.anchor for finding in caught.value.findings}
