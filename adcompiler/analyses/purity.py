"""Which right-hand sides may be dropped, repeated or moved: those that only compute a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Closure, Const, Do, Format, Global, Let, Pack, Raise, Region, Rhs,
    Slice, Star, Update, With, unstar,
)
from adcompiler.ir.visit import walk
from adcompiler.ops.basics import CHECKS, EFFECTS, ITERTOOLS, READERS, WRITERS
from adcompiler.ops.counts import takes
from adcompiler.ops.facts import NUMBERS
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.typed.derivatives import MAKERS

__all__ = ["CHECKS", "EFFECTS", "ITERTOOLS", "READERS", "WRITERS", "Purity"]


class Purity:
    """Answers for one compilation, whose tables of types and definitions it reads."""

    def __init__(
        self, type_of: Callable[[Atom], t.Type], definition: Callable[[Atom], Rhs | None]
    ) -> None:
        self.type_of = type_of
        self.definition = definition
        self.callees: dict[Any, bool] = {}

    def is_pure(self, rhs: Rhs) -> bool:
        """Say whether evaluating ``rhs`` does nothing but give its value."""
        if not isinstance(rhs, Call):
            return True
        if isinstance(rhs.func, Const):
            return self.is_pure_function(rhs.func.value)
        made = self.definition(rhs.func)
        if isinstance(made, Attribute):
            return isinstance(self.type_of(made.obj), t.Text)
        return False

    def is_pure_function(self, function: Any) -> bool:
        """Say whether calling ``function`` does nothing but give its value."""
        callee = getattr(function, "callee", function)
        if hashable(callee) and callee in self.callees:
            return self.callees[callee]
        if getattr(callee, "function", None) is not None and hasattr(callee, "recursive"):
            self.callees[callee] = True
            self.callees[callee] = self.has_no_effect(callee.function.body)
            return self.callees[callee]
        if hashable(function) and function in MAKERS:
            return True
        if REGISTRY.has_methods(function):
            return True  # norm(loc, scale) only keeps its arguments
        return REGISTRY.facts(function).is_pure

    def may_raise(self, rhs: Rhs) -> bool:
        """Say whether evaluating ``rhs`` may raise, by all that is known of it."""
        match rhs:
            case Closure() | Global() | Slice():
                return False
            case Pack(kind, items):
                return kind in ("set", "dict") or any(isinstance(i, Star) for i in items)
            case Attribute(obj):
                return not isinstance(self.type_of(obj), (t.Array, t.Scalar))
            case Call(Const(function), args, ()):
                return not (
                    REGISTRY.facts(function).is_total_for(NUMBERS)
                    and all(is_number(self.type_of(unstar(arg))) for arg in args)
                    and takes(function, len(args))
                )
        return True

    def has_no_effect(self, block: Block) -> bool:
        """Say whether running ``block`` does nothing but give its values."""
        for statement in walk(block):
            if isinstance(statement, Do) and checks(statement.rhs):
                continue
            if isinstance(statement, (Do, Raise)) or (
                isinstance(statement, Region) and statement.watched()
            ) or (
                isinstance(statement, With) and not self.handles_errors(statement.context)
            ):
                return False
            if isinstance(statement, Let) and not self.is_pure(statement.rhs):
                return False
        return True

    def handles_errors(self, context: Atom) -> bool:
        """Say whether a context does no more than choose how NumPy handles errors."""
        made = self.definition(context)
        return isinstance(made, Call) and isinstance(made.func, Const) and (
            made.func.value is np.errstate
        )


def is_number(type_: t.Type) -> bool:
    """Say whether values of a type are real numbers of Python."""
    return isinstance(type_, t.Scalar) and all(
        dtype is None and kind in ("bool", "int", "float") for kind, dtype in type_.classes
    )


def checks(rhs: Rhs) -> bool:
    """Say whether ``rhs`` does no more than raise if a value is not what it must be."""
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value in CHECKS


def is_writer(rhs: Rhs) -> TypeGuard[Call]:
    """Say whether ``rhs`` is a call, made for its effect, that writes into its first argument."""
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and hashable(
        rhs.func.value) and rhs.func.value in WRITERS


def is_destructive(rhs: Rhs) -> bool:
    """Say whether ``rhs`` writes into its first argument."""
    if isinstance(rhs, Call):
        return isinstance(rhs.func, Const) and REGISTRY.facts(rhs.func.value).updates is True
    return isinstance(rhs, Update)


def makes_storage(rhs: Rhs, type_: t.Type) -> bool:
    """Say whether two evaluations of ``rhs`` must stay two objects, as one may be written into.

    Of a call of which nothing is known ``type_``, that of its value, tells: it is tracked what is
    written into arrays, and nothing is written into numbers.
    """
    if isinstance(rhs, Pack):
        return rhs.kind != "tuple"
    if isinstance(rhs, (Closure, Format, Update)):
        return True
    if not isinstance(rhs, Call) or not isinstance(rhs.func, Const):
        return False
    known = REGISTRY.facts(rhs.func.value)
    if known.fresh is None:
        return known.updates is True or not is_tracked(type_)
    return known.fresh


def is_tracked(type_: t.Type) -> bool:
    """Say whether values of a type cannot be written into unless the compiler knows."""
    match type_:
        case t.Tuple(items):
            return all(map(is_tracked, items))
        case t.List() | t.Dict() | t.Object() | t.Unknown():
            return False
    return True
