"""Checks that powers typed as real are real; powers and products of arrays and lists."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Do, Origin, unstar
from adcompiler.ops.facts import FIRST_WINS, KEPT, LARGEST, NEVER_NEGATIVE
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime import stays_real
from adcompiler.infer.folds.table import folds
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.unit import Unit

DEPTH = 8


@folds(operator.matmul)
def with_arrays(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str,
    function: Callable[..., Any] | None = None
) -> Atom | None:
    """Write an operator of an array and a list or tuple as NumPy does it: of two arrays."""
    types = [s.unit.type(unstar(arg)) for arg in args]
    if len(types) != 2 or not any(isinstance(type_, t.Array) for type_ in types):
        return None
    if not any(isinstance(type_, t.List) or is_plain_tuple(type_) for type_ in types):
        return None
    arrays = [
        unstar(arg) if isinstance(type_, t.Array)
        else s.call(Const(np.asarray), [unstar(arg)], {}, origin, "array")
        for arg, type_ in zip(args, types, strict=True)
    ]
    if not all(isinstance(s.unit.type(array), t.Array) for array in arrays):
        return None
    return s.call(Const(function or operator.matmul), arrays, {}, origin, name)


def is_plain_tuple(type_: t.Type) -> bool:
    """Say whether values of a type are tuples of no class of their own."""
    return isinstance(type_, t.Tuple) and type_.cls is tuple


@folds(operator.pow, pow)
def check_power(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Write the check that the power of two real numbers is real, where it may be complex."""
    if s.in_rule or kwargs or len(args) != 2:
        return None
    x, y = map(unstar, args)
    if may_be_complex(s, x, y):
        s.out.append(Do(Call(Const(stays_real), (x, y)), origin))
    return with_arrays(s, args, kwargs, origin, name, operator.pow)


def may_be_complex(s: Writer, x: Atom, y: Atom) -> bool:
    """Say whether Python's ``x ** y`` of what is typed as two real numbers may be complex."""
    base, exponent = s.unit.type(x), s.unit.type(y)
    if not isinstance(base, t.Scalar) or not isinstance(exponent, t.Scalar):
        return False
    if base.kind not in ("int", "float") or exponent.kind != "float":
        return False
    if base.dtype not in (None, "float64") or exponent.dtype not in (None, "float64"):
        return False
    if isinstance(y, Const) and float(y.value).is_integer():
        return False
    if s.types.of_call(operator.pow, [x, y], {}) == t.COMPLEX:
        return False  # of a negative literal: its type is known to be complex
    return not never_negative(s.unit, x, DEPTH)


def never_negative(unit: Unit, x: Atom, depth: int) -> bool:
    """Say whether a real number is known not to be negative, from how it is computed."""
    if isinstance(x, Const):
        return bool(x.value >= 0)
    made = unit.definition(x)
    if not depth or not isinstance(made, Call) or not isinstance(made.func, Const):
        return False
    function, operands = made.func.value, [unstar(arg) for arg in made.args]
    if not hashable(function) or made.kwargs:
        return False
    known = REGISTRY.facts(function)
    sign = known.sign
    if sign == NEVER_NEGATIVE or (known.means == "multiply" and operands[0] is operands[1]):
        return True
    if function is operator.pow and is_even(operands[1]):
        return True
    if not all(isinstance(unit.type(a), t.Scalar) for a in operands):
        return False
    if sign == FIRST_WINS:
        operands = [a for a in operands if a is operands[0] or isinstance(a, Const)]
    signs = (never_negative(unit, a, depth - 1) for a in operands)
    if sign in (LARGEST, FIRST_WINS):
        return any(signs)
    return sign == KEPT and all(signs)


def is_even(exponent: Atom) -> bool:
    """Say whether an exponent is a known even number."""
    return isinstance(exponent, Const) and type(exponent.value) in (int, float) and (
        exponent.value % 2 == 0
    )
