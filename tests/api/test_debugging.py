"""What users are told: where numbers stop being finite, their own lines, what they meant."""

from __future__ import annotations

import re
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adcompiler
from adcompiler import (
    ADError, UnsupportedError, grad, hessian, jacobian, jvp, sparse_jacobian, value_and_grad, vjp,
)
from adcompiler.dispatch.guards import Namespace
from adcompiler.runtime.checking import NotFiniteWarning

X = np.array([1.0, 0.0, 2.0])


def masked(x, w):
    y = np.where(x > 0.0, np.log(x) * w, 0.0)
    return np.sum(y)


def rooted(x, w):
    return np.sum(np.sqrt(x * x) * w)


def distance(x, steps):
    for i in range(steps):
        x = x - i
        r = np.sqrt(x * x)
    return r


def line_of(function: Any, text: str) -> int:
    """Return the number of the line of a function that holds a text."""
    start = function.__code__.co_firstlineno
    lines = traceback.linecache.getlines(__file__)
    return next(n for n in range(start, start + 20) if text in lines[n - 1])


# --- numbers that are not finite --------------------------------------------------------------


def test_the_first_cotangent_that_is_not_finite_is_found_in_the_users_text() -> None:
    found = grad(rooted, debug=True)
    line = line_of(rooted, "np.sqrt")
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError) as caught:
        found(X, 2.0)
    assert str(caught.value) == (
        f"test_debugging.py:{line}:19: the rule of sqrt gives a cotangent that is not finite: inf "
        "at [1] (1 of 3 numbers), where the argument is 0.0\n    np.sqrt(x * x)")


def test_values_that_are_not_finite_are_told_of_and_zeros_before_them_stay_zeros() -> None:
    line = line_of(masked, "np.log")
    with np.errstate(all="ignore"), pytest.warns(NotFiniteWarning) as said:
        assert np.array_equal(grad(masked, debug=True)(X, 2.0), grad(masked)(X, 2.0))
    assert [str(one.message) for one in said] == [
        f"test_debugging.py:{line}:27: the value is not finite: -inf at [1] (1 of 3 numbers), "
        "where the first operand is 0.0\n    np.log(x)"]


def test_checks_change_no_number() -> None:
    x = np.array([1.0, 0.5, 2.0])
    for make in (grad, value_and_grad):
        plain, checked = make(masked, (0, 1))(x, 2.0), make(masked, (0, 1), debug=True)(x, 2.0)
        assert repr(plain) == repr(checked)
    _, pullback = vjp(masked, x, 2.0, debug=True)
    assert np.array_equal(pullback(1.0)[0], grad(masked)(x, 2.0))
    assert "check_cotangent" in pullback.source


def test_in_loops_at_numbers() -> None:
    with np.errstate(all="ignore"), pytest.raises(
        FloatingPointError, match=r"where the argument is 0\.0\n    np\.sqrt"
    ):
        grad(distance, debug=True)(1.0, 2)
    assert grad(distance, debug=True)(1.0, 1) == 1.0


def test_what_is_not_differentiated_is_not_checked() -> None:
    def powers(x, w):
        return np.sum(x**w)

    x, w = np.array([0.0, 2.0]), np.array([2.0, 3.0])
    assert np.array_equal(grad(powers, debug=True)(x, w), [0.0, 12.0])
    with np.errstate(all="ignore"):
        assert grad(powers, "w")(x, w)[0] == 0.0


def test_forward_mode_where_the_environment_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_DEBUG", "1")

    def root(x):
        return np.sqrt(x) * 2.0

    with np.errstate(all="ignore"), pytest.raises(
        FloatingPointError, match=r"the tangent is not finite: inf at \[0\] \(1 of 2 numbers\)"
    ):
        jvp(root, (np.array([0.0, 1.0]),), (np.ones(2),))
    value, tangent = jvp(root, (np.array([4.0, 1.0]),), (np.ones(2),))
    assert np.array_equal(value, [4.0, 2.0]) and np.array_equal(tangent, [0.5, 1.0])


def test_native_loops_are_not_checked() -> None:
    with pytest.raises(ValueError, match="debug=True"):
        grad(masked, debug=True, backend="native")


# --- exceptions of the function ---------------------------------------------------------------


def checked(x):
    for i in range(3):
        if x[i] < 0.0:
            raise ValueError("negative")
    return np.sum(solved(x))


def solved(x):
    return np.linalg.solve(np.zeros((3, 3)), x)


def residual(X, w):
    n, d = X.shape  # noqa: RUF059
    r = X @ w
    return np.sum(r * r) / n


def with_rows(X, y):
    n = len(X)
    total = np.zeros(3)
    for i in range(n):
        total = total + X[i] * y
    return np.sum(total)


def renamed(X, w):
    n = len(X)
    X = X[1:]
    return np.sum(X * w) / n


@pytest.mark.parametrize(("function", "args", "line", "told"), [
    (residual, (np.ones((5, 3)), np.ones(4)), "r = X @ w", "X: (n = 5, d = 3), w: (4,)"),
    (with_rows, (np.ones((5, 3)), np.ones(2)), "total = total + X[i] * y",
     "total: (3,), X: (n = 5, 3), y: (2,)"),
    (renamed, (np.ones(5), np.ones(3)), "return np.sum(X * w) / n", "w: (3,)"),
])
def test_shapes_that_do_not_fit_are_told_with_the_users_names(function, args, line, told):
    with pytest.raises(ValueError) as python:
        function(*args)
    with pytest.raises(ValueError, match=re.escape(str(python.value))) as caught:
        value_and_grad(function, (0, 1))(*args)
    (note,) = caught.value.__notes__
    assert f"line {line_of(function, line)}\n    {line}\n    where shapes are " in note
    assert told in note


@pytest.mark.parametrize(("x", "error", "text"), [
    (np.array([1.0, -1.0, 1.0]), ValueError, 'raise ValueError("negative")'),
    (np.ones(3), np.linalg.LinAlgError, "return np.sum(solved(x))"),
])
def test_exceptions_carry_the_users_line(
    x: np.ndarray, error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value_and_grad(checked)(x)
    line = line_of(checked, text)
    assert caught.value.__notes__ == [
        f'  in the derivative of what is at\n  File "{__file__}", line {line}\n    {text}']


def test_notes_come_once_through_derivatives_of_derivatives() -> None:
    with pytest.raises(ValueError, match="negative") as caught:
        grad(lambda x: np.sum(grad(checked)(x)))(-np.ones(3))
    assert len(caught.value.__notes__) == 1


def test_an_exception_of_other_code_has_no_note() -> None:
    with pytest.raises(TypeError) as caught:
        grad(checked)()
    assert not hasattr(caught.value, "__notes__")


# --- refusals ---------------------------------------------------------------------------------


def refused(x):
    return eval("x") * x


ASKED: dict[str, Callable[[], Any]] = {
    "grad": lambda: grad(refused)(2.0),
    "source": lambda: grad(refused).source,
    "jacobian": lambda: jacobian(refused)(2.0),
    "hessian": lambda: hessian(refused)(2.0),
    "vjp": lambda: vjp(refused, 2.0),
    "sparse_jacobian": lambda: sparse_jacobian(refused)(X),
}


@pytest.mark.parametrize("name", ASKED)
def test_refusals_show_no_frames_of_the_compiler(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnsupportedError, match="eval") as caught:
        ASKED[name]()
    files = {frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)}
    assert files == {__file__}
    monkeypatch.setenv("ADCOMPILER_TRACEBACK", "full")
    with pytest.raises(UnsupportedError, match="eval") as caught:
        ASKED[name]()
    files = {frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)}
    assert any(file.endswith("pipeline.py") for file in files)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: grad(masked, argnum=1), "'argnum'; argnums names the arguments"),
    (lambda: grad(masked, holomorphic=True), "'holomorphic'; jacobian(f, holomorphic=True) and"),
    (lambda: jacobian(masked, mod="forward"), "'mod'; did you mean 'mode'?"),
    (lambda: jacobian(masked, mode="backward"), "mode 'backward' is not one of auto, forward"),
    (lambda: hessian(masked, mode="fwd_ajd"), "; did you mean 'fwd_adj'?"),
    (lambda: adcompiler.source(masked, X, 2.0, mode="gard"), "; did you mean 'grad'?"),
    (lambda: grad(masked, backend="nativ"), "; did you mean 'native'?"),
])
def test_what_was_meant(call: Callable[[], Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        call()


def test_errors_inside_of_an_operator_stay_as_they_are() -> None:
    def wrong(x):
        return dict(x, argnum=1).pop(x, argnum=2)

    with pytest.raises((TypeError, ADError)) as caught:
        grad(wrong)(2.0)
    assert "argnums names" not in str(caught.value)


# --- what a call pays -------------------------------------------------------------------------


class Odd:
    """Something of which the compiler knows nothing."""


REGISTER = {f"name {i}": Odd() if i % 2 else i for i in range(2000)}


def registered(x):
    return x * x if "name 3" in REGISTER else x


def test_large_dicts_of_anything_are_not_looked_through_at_each_call() -> None:
    derivative = grad(registered)
    assert derivative(3.0) == 6.0
    tests = derivative.code(3.0).compiled.guard.expressions(Namespace())
    assert not any("type_of" in text or "is_of_type" in text for text in tests)
    assert len(tests) <= 3


def test_a_refusal_of_no_known_place_names_none():
    finding = adcompiler.errors.Finding("<unknown>", 0, 0, "", "no slope", "a rule")
    error = UnsupportedError([finding])
    assert str(error) == "no slope\n  instead: a rule"
