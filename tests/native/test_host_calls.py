"""Calls that loops make in Python: their results, what raises, what they may not be."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
import scipy.special

from adcompiler import UnsupportedError, grad, jvp, value_and_grad, vjp
from adcompiler.runtime.native import answer_of
from tests.native.island_programs import PROGRAMS, X, filtered, in_order, systems
from tests.native.test_backends_agree import outcome, watched

named = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)


@named
@pytest.mark.usefixtures("plain_loops")
def test_values_and_gradients_are_those_of_python(program: Any) -> None:
    value, gradient = value_and_grad(program)(X)
    native = value_and_grad(program, backend="native")
    came = watched(native, X)
    found, slope = native(X)
    assert came == [True]
    assert type(found) is type(value)
    np.testing.assert_allclose(found, value, rtol=1e-13)
    np.testing.assert_allclose(slope, gradient, rtol=1e-11, atol=1e-13)


@named
@pytest.mark.usefixtures("plain_loops")
def test_pullbacks(program: Any) -> None:
    value, pullback = vjp(program, X)
    found, native = vjp(program, X, backend="native")
    np.testing.assert_allclose(found, value, rtol=1e-13)
    np.testing.assert_allclose(native(2.0)[0], pullback(2.0)[0], rtol=1e-11, atol=1e-13)


@named
@pytest.mark.usefixtures("plain_loops")
def test_pushforwards(program: Any) -> None:
    v = np.cos(np.arange(4.0))
    slope = jvp(program, (X,), (v,))[1]
    native = jvp(program, (X,), (v,), backend="native")[1]
    np.testing.assert_allclose(native, slope, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(grad(program)(X) @ v, slope, rtol=1e-10)


@pytest.mark.skipif(importlib.util.find_spec("llvmlite") is None, reason="llvmlite")
@pytest.mark.parametrize("program", [in_order, filtered], ids=lambda program: program.__name__)
def test_machine_code(program: Any) -> None:
    native = grad(program, backend="native")
    came = watched(native, X)
    np.testing.assert_allclose(native(X), grad(program)(X), rtol=1e-11)
    assert came == [True]


@pytest.mark.usefixtures("plain_loops")
def test_what_raises_in_python_raises_there() -> None:
    x = np.array([2.0, 0.5, -0.1, 1.0])

    def not_positive(x):
        total = 0.0
        for i in range(len(x)):
            total += np.linalg.cholesky(np.array([[x[i], 0.0], [0.0, 3.0]]))[0, 0]
        return total

    native = grad(not_positive, backend="native")
    came = watched(native, x)
    assert outcome(native, x) == outcome(grad(not_positive), x)
    assert outcome(native, x)[0] is np.linalg.LinAlgError
    assert came == [False, False]
    np.testing.assert_allclose(native(x + 5.0), grad(not_positive)(x + 5.0), rtol=1e-12)
    assert came[2:] == [True]


def unknown_effects(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * np.random.default_rng(i).random()
    return total


def no_loops(x):
    return scipy.special.gamma(x[0])


@pytest.mark.parametrize(("function", "reason"), [
    (unknown_effects, "default_rng"), (no_loops, "gamma"),
])
@pytest.mark.usefixtures("plain_loops")
def test_what_stays_in_python(function: Any, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        grad(function, backend="native")(X)


@pytest.mark.usefixtures("plain_loops")
def test_explain_tells_of_calls_in_python() -> None:
    said = grad(systems, backend="native").explain(X).backend
    assert "calls in Python: lu_factor (island_programs.py:" in said


def moded(x, mode):
    total = 0.0
    for i in range(len(x)):
        if mode == "squares":
            total += x[i] ** 2
        else:
            total -= x[i] * i
    return total


@pytest.mark.usefixtures("plain_loops")
def test_texts_are_told_apart() -> None:
    native = grad(moded, backend="native")
    for mode in ("squares", "others", "squares"):
        assert np.array_equal(native(X, mode), grad(moded)(X, mode))


def test_answers_share_no_storage() -> None:
    a = np.arange(6.0).reshape(2, 3)
    done, first, second = answer_of(
        lambda a: (a[0], a[0]), "float64[::1]; float64[::1]", True, a)
    assert done is True
    first[0], second[1] = 7.0, 8.0
    assert first.tolist() == [7.0, 1.0, 2.0]
    assert second.tolist() == [0.0, 8.0, 2.0]
    assert a[0].tolist() == [0.0, 1.0, 2.0]
    done, turned = answer_of(np.transpose, "float64[:, ::1]", False, a)
    assert done
    assert turned.flags.c_contiguous
    assert turned.tolist() == a.T.tolist()


@pytest.mark.parametrize(("value", "form"), [
    (1, "float64"), (1.0, "int64"), (True, "int64"), (2**63, "int64"), (1.0, "bool"),
    (np.zeros(2), "float64[:, ::1]"), (np.zeros(2, np.float32), "float64[::1]"),
    (np.ma.zeros(2), "float64[::1]"), ([1.0], "float64[::1]"), (np.float32(1.0), "float64"),
])
def test_other_answers_than_expected_are_none(value: Any, form: str) -> None:
    assert answer_of(lambda: value, form, False)[0] is False


@pytest.mark.parametrize(("value", "form"), [
    (1.0, "float64"), (np.float64(2.0), "float64"), (3, "int64"), (np.int64(4), "int64"),
    (np.True_, "bool"), (False, "bool"),
])
def test_numbers_are_handed_on(value: Any, form: str) -> None:
    assert answer_of(lambda: value, form, False) == (True, value)
