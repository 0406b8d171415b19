"""Which right-hand sides may be dropped, repeated or moved: those that only compute a value."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeGuard

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Closure, Const, Do, Format, Global, Let, Pack, Raise, Rhs,
    Slice, Star, Try, unstar, Update, With,
)
from adcompiler.ir.visit import walk
from adcompiler.ops.basics import CHECKS, EFFECTS, ITERTOOLS, WRITERS
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime import (
    add_at, append, drop_last, no_grad, own, put_entry, record, seed, stop_gradient, zeros_like,
)
from adcompiler.typed.derivatives import MAKERS

__all__ = ["CHECKS", "EFFECTS", "ITERTOOLS", "WRITERS", "Purity"]

DESTRUCTIVE: frozenset[Any] = frozenset({add_at, append, drop_last, put_entry})
"""What writes into its first argument, which the emitted code owns, and returns it: functions of
Python, which ``is_destructive`` relies on."""

assert all(isinstance(function, FunctionType) for function in DESTRUCTIVE)


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
            owner = self.type_of(made.obj)
            if isinstance(owner, t.Text):
                return True
            if isinstance(owner, (t.Array, t.Scalar)):
                descriptor = getattr(np.ndarray, made.name, None)
                return descriptor is not None and self.is_pure_function(descriptor)
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
            case Call(Const(function), args, ()) if hashable(function) and function in TOTAL:
                return not all(
                    isinstance(type_ := self.type_of(unstar(arg)), t.Scalar)
                    and type_.kind in ("bool", "int", "float") and type_.dtype is None
                    for arg in args
                )
        return True

    def has_no_effect(self, block: Block) -> bool:
        """Say whether running ``block`` does nothing but give its values."""
        for statement in walk(block):
            if isinstance(statement, Do) and checks(statement.rhs):
                continue
            if isinstance(statement, (Do, Raise, Try)) or (
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


TOTAL: frozenset[Any] = frozenset({
    operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.eq, operator.ne,
    operator.lt, operator.le, operator.gt, operator.ge, operator.is_, operator.is_not,
    operator.not_,
})
"""Functions that never raise for Python numbers."""

def checks(rhs: Rhs) -> bool:
    """Say whether ``rhs`` does no more than raise if a value is not what it must be."""
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value in CHECKS


def is_writer(rhs: Rhs) -> TypeGuard[Call]:
    """Say whether ``rhs`` is a call, made for its effect, that writes into its first argument."""
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and hashable(
        rhs.func.value) and rhs.func.value in WRITERS


def is_destructive(rhs: Rhs) -> bool:
    """Say whether ``rhs`` writes into its first argument."""
    if isinstance(rhs, Update):
        return True
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and isinstance(
        rhs.func.value, FunctionType) and rhs.func.value in DESTRUCTIVE


def makes_storage(rhs: Rhs) -> bool:
    """Say whether two evaluations of ``rhs`` must stay two objects, as one may be written into."""
    if isinstance(rhs, Pack):
        return rhs.kind != "tuple"
    if isinstance(rhs, (Closure, Format, Update)):
        return True
    return (
        isinstance(rhs, Call) and isinstance(rhs.func, Const) and hashable(rhs.func.value)
        and (rhs.func.value in ALLOCATORS or rhs.func.value in DESTRUCTIVE)
    )


ALLOCATORS: frozenset[Any] = frozenset({
    np.zeros, np.ones, np.empty, np.full, np.zeros_like, np.ones_like, np.empty_like, np.full_like,
    np.copy, np.array, np.ndarray.copy, own, seed, stop_gradient, no_grad, zeros_like, record,
    list, dict, iter, zip, enumerate, reversed, range, map, filter, np.ndindex, np.ndenumerate,
    np.errstate, *ITERTOOLS,
})
