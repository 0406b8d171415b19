"""Programs over arrays: both backends give the same, exceptions too; compiled loops as well."""

from __future__ import annotations

from typing import Any
from types import BuiltinFunctionType

import numpy as np
import pytest

from adcompiler import value_and_grad
from tests.lanes import one_in
from tests.native.array_programs import (
    EXACT, PROGRAMS, adds_once, gathers, gathers_of_rows, in_steps, masks, relax, rows_unpacked,
    scatters, squares_of_products, steps_by_name, unpacked,
)
from tests.native.test_backends_agree import outcome, same, watched

named = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)


def close(a: Any, b: Any) -> bool:
    """Say whether two outcomes are the same but for rounding."""
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(close, a, b))
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    scale = np.max(np.abs(b), initial=1e-3, where=np.isfinite(b))
    return np.allclose(a, b, rtol=1e-12, atol=1e-12 * scale, equal_nan=True)


@named
def test_value_and_gradient_are_the_same(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
    args = PROGRAMS[program]
    expected = value_and_grad(program)(*args)
    native = value_and_grad(program, backend="native")
    came = watched(native, *args)
    assert (same if program in EXACT else close)(native(*args), expected)
    assert came == [True]


@named
def test_other_layouts_and_empty_arrays(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
    native, python = value_and_grad(program, backend="native"), value_and_grad(program)
    for turn in (np.asfortranarray, lambda a: a[::-1], lambda a: a[:1], lambda a: a[:0]):
        args = [turn(a) if isinstance(a, np.ndarray) else a for a in PROGRAMS[program]]
        got, expected = outcome(native, *args), outcome(python, *args)
        if isinstance(expected, tuple) and isinstance(expected[0], type):
            assert got == expected
        else:
            assert close(got, expected)


@pytest.mark.parametrize(("program", "args"), [
    (gathers, (np.ones(3), np.array([0, 3]))), (gathers, (np.ones(3), np.array([-4]))),
    (gathers, (np.ones(3), np.zeros(0, int))), (scatters, (np.ones(3), np.array([5]))),
    (gathers_of_rows, (np.ones((2, 2)), np.array([0, -3]))),
    (steps_by_name, (np.ones(5), 0)), (steps_by_name, (np.ones(5), -1)),
    (steps_by_name, (np.ones(5), 2**70)), (masks, (np.zeros(0),)), (in_steps, (np.ones(1),)),
    (adds_once, (np.ones(4), np.array([1, 1, 2]))),
    (unpacked, (np.ones(2), 1)), (rows_unpacked, (np.ones((3, 2)),)),
    (squares_of_products, (np.ones((0, 3)),)), (squares_of_products, (np.ones((30, 40)),)),
])
def test_what_goes_wrong_goes_wrong_as_in_python(
    program: Any, args: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
    expected = outcome(value_and_grad(program), *args)
    assert same(outcome(value_and_grad(program, backend="native"), *args), expected)


def test_arguments_that_share_storage_with_one_that_is_written(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
    x = np.linspace(0.0, 1.0, 9)
    native = value_and_grad(relax, argnums=(0, 1), backend="native")
    python = value_and_grad(relax, argnums=(0, 1))
    for args in ((x[:5], x[3:8]), (x, x), (x[:4], x[5:])):
        assert same(outcome(native, *args), outcome(python, *args))
    assert np.array_equal(x, np.linspace(0.0, 1.0, 9))


@pytest.mark.parametrize(
    "program", one_in(2, [gathers_of_rows, squares_of_products]),
    ids=lambda program: program.__name__,
)
@pytest.mark.usefixtures("machine_code")
def test_compiled_loops_give_what_python_gives(program: Any) -> None:
    args = PROGRAMS[program]
    native = value_and_grad(program, backend="native")
    assert close(native(*args), value_and_grad(program)(*args))
    found = native.compiled_for(*args).__globals__[f"{program.__name__}_value_and_grad_loops"]
    assert isinstance(found, BuiltinFunctionType)
