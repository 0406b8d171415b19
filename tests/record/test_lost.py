"""No derivative is lost: each program that may lose one is right when recorded, or refused."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from adcompiler import ADError, value_and_grad, vjp
from tests.record.lost import Program, leaves, programs


def outcome(program: Program, backend: str = "record") -> str:
    """Return what is wrong with the derivatives of a program, if anything; empty if not.

    An ADError is no fault. The value is that of Python, what the function leaves as Python leaves
    it, the gradient the stated one; so it is when the function is called again.
    """
    argnums: Any = tuple(range(len(program.args))) if len(program.args) > 1 else 0
    wanted = [leaves(list(program.wanted(second))) for second in (False, True)[:calls(program)]]
    values, left = plain(program)
    program.start()
    derivative = value_and_grad(program.function, argnums, backend=backend)
    try:
        for number in range(calls(program)):
            given = program.fresh()
            value, gradient = derivative(*given)
            found = fault(program, value, gradient, values[number], wanted[number])
            if not found and not same(given, program.args):
                found = f"the caller's arguments are {given}"
            if not found and program.state is not None and not same(program.state(), left[number]):
                found = f"state is {program.state()}, not {left[number]}"
            if found:
                return f"call {number + 1}: {found}"
        return pulled_back(program, backend, values[0], wanted[0])
    except ADError:
        return ""
    except Exception as error:
        return f"raw: {type(error).__name__}: {error}"


def pulled_back(program: Program, backend: str, plain: float, wanted: list[float]) -> str:
    """Return what is wrong with a pullback of a program that is called twice, if anything.

    Arguments are left as the function leaves them.
    """
    program.start()
    expected = program.fresh()
    program.function(*expected)
    program.start()
    given = program.fresh()
    value, pullback = vjp(program.function, *given, backend=backend)
    for which in ("vjp", "vjp, again"):
        found = pullback(1.0)
        text = fault(program, value, found if len(given) > 1 else found[0], plain, wanted)
        if text:
            return f"{which}: {text}"
    program.start()
    return "" if same(given, expected) else f"vjp: arguments are {given}, not {expected}"


def calls(program: Program) -> int:
    return 2 if program.twice else 1


def plain(program: Program) -> tuple[list[float], list[Any]]:
    """Return the values of the calls of a program as Python makes them, and what they leave."""
    program.start()
    values, left = [], []
    for _ in range(calls(program)):
        values.append(float(np.real(program.function(*program.fresh()))))
        left.append(None if program.state is None else program.state())
    return values, left


def fault(
    program: Program, value: Any, gradient: Any, plain: float, wanted: list[float]
) -> str:
    """Return how a value and a gradient differ from what they should be, if they do."""
    if not math.isclose(float(np.real(value)), plain, rel_tol=1e-9, abs_tol=1e-12):
        return f"value {value}, not {plain}"
    parts = gradient if len(program.args) > 1 else (gradient,)
    try:
        got = leaves(list(parts))
    except TypeError:
        return f"gradient {gradient}, not {wanted}"
    tolerance = 10.0 * max(program.tolerance, 1e-7)
    if len(got) != len(wanted) or not np.allclose(got, wanted, rtol=tolerance, atol=1e-6):
        return f"gradient {got}, not {wanted}"
    return ""


def same(left: Any, right: Any) -> bool:
    """Return whether two states are alike, to the types of numbers."""
    if isinstance(left, list | tuple):
        return type(left) is type(right) and len(left) == len(right) and all(
            map(same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.allclose(left, right, rtol=1e-9, atol=1e-12)
    if isinstance(left, float):
        return type(left) is type(right) and math.isclose(left, right, rel_tol=1e-9)
    return type(left) is type(right) and bool(left == right)


KINDS = sorted({kind for kind, _ in programs()})


@pytest.mark.parametrize("kind", KINDS)
def test_no_program_loses_a_derivative(kind: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = [f"{program.name}: {text}" for of, program in programs()
                 if of == kind and (text := outcome(program))]
    assert not wrong, "\n".join(wrong)
