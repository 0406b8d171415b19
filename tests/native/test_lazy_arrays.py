"""Loops over arrays: what is computed together, and what leaves them, and what is not kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import grad, vjp
from adcompiler.runtime.native import errors, errors_now
from tests.native.array_programs import chain, overwritten, stretched
from tests.native.programs import PROGRAMS, n_body, rosenbrock
from tests.native.test_backends_agree import outcome, same

pytestmark = pytest.mark.usefixtures("plain_loops")


def loops_of(function: Any, *args: Any, argnums: Any = 0) -> str:
    """Return the text of the loops of a gradient."""
    text = grad(function, argnums, backend="native").source_for(*args)
    return text.partition("_loops(")[2].partition("_native(")[0]


def test_a_chain_is_one_loop_without_other_arrays() -> None:
    text = loops_of(chain, np.ones(3), np.ones(3), argnums=(0, 1))
    assert text.count("for ") == 1
    assert text.count("np.empty(x.shape[0])") == 2  # the gradients


def test_a_loop_that_may_fail_leaves_behind_its_end() -> None:
    text = loops_of(chain, np.ones(3), np.ones(3))
    inside, _, behind = text.partition("for ")[2].partition("    if failed:")
    assert "failed = failed |" in inside
    assert "return" not in inside
    assert behind.lstrip().startswith("return False")


def test_what_is_stretched_is_computed_once() -> None:
    text = loops_of(stretched, np.ones((2, 2)), np.ones(2), argnums=(0, 1))
    assert "rows[" in text


def divided(x, y):
    a = x / y
    return np.sum(a * a + a)


@pytest.mark.parametrize("y", [np.array([1.0, 2.0]), np.array([1.0, 0.0]), np.array([0.0, np.nan])])
def test_division_by_zero_is_left_to_python(y: Any) -> None:
    x = np.array([1.0, 3.0])
    expected = outcome(grad(divided, (0, 1)), x, y)
    assert same(outcome(grad(divided, (0, 1), backend="native"), x, y), expected)
    assert np.array_equal(x, [1.0, 3.0])


def test_storage_that_is_written_is_read_before() -> None:
    text = loops_of(overwritten, np.ones(5), 2)
    forward = text.partition("# reverse of")[0]
    assert "flux" in forward  # read again behind a write into what it is made of


@pytest.mark.parametrize("program", [rosenbrock, n_body], ids=lambda program: program.__name__)
def test_elements_of_arguments_are_not_kept(program: Any) -> None:
    args = PROGRAMS[program]
    text = loops_of(program, *args)
    if program is rosenbrock:
        assert "tape" not in text
    assert "difference_tape" not in text
    expected = grad(program)(*args)
    assert same(grad(program, backend="native")(*args), expected)


def overwrites(x, k):
    total = 0.0
    for i in range(k, len(x)):
        total += x[i] * x[i - k] * total
        x[i] = total + x[i] ** 2
    return total


def test_elements_that_are_overwritten_are_kept() -> None:
    args = np.array([0.5, 1.5, -0.5, 2.0]), 1
    native = grad(overwrites, backend="native")
    assert same(native(args[0].copy(), 1), grad(overwrites)(args[0].copy(), 1))


def leaves() -> bool:
    """Say whether Python is to run because numbers may overflow, as emitted code asks."""
    return errors_now() is not errors.known and errors.need_python()


def test_errstate_is_asked_anew_where_it_changed() -> None:
    found = [leaves()]
    with np.errstate(over="raise"):
        found.append(leaves())
        with np.errstate(all="ignore"):
            found.append(leaves())
        found.append(leaves())
    assert [*found, leaves()] == [False, True, False, True, False]


def test_an_unchanged_errstate_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not leaves()
    monkeypatch.setattr(np, "geterr", None)
    assert not leaves()


def shrunk(x):
    y = x.copy()
    y[:] = y**3 / (y**2 + 1.0)
    return y


def test_what_a_sweep_reads_is_computed_before_its_storage_is_written() -> None:
    x = np.linspace(-1.0, 2.0, 5)
    (found,) = vjp(shrunk, x, backend="native")[1](np.ones(5))
    (expected,) = vjp(shrunk, x)[1](np.ones(5))
    assert np.allclose(found, expected, rtol=1e-14)
    assert np.allclose(found, (x**4 + 3.0 * x**2) / (x**2 + 1.0) ** 2, rtol=1e-13)
