"""Which right-hand sides may be dropped, repeated or moved: those that only compute a value."""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from adcompiler.analyses.derivatives import MAKERS
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Closure, Const, Do, Format, Global, Let, Pack, Raise, Rhs,
    Slice, Star, Try, unstar, Update, With,
)
from adcompiler.ir.visit import walk
from adcompiler.rulekit.registry import REGISTRY, hashable
from adcompiler.runtime import (
    accumulate, add_at, apart, append, called, check_bound, check_count, check_items,
    check_position, check_rebinds, drop_last, evaluated, give_back, holds_once, keeps_shape,
    no_grad, note_value, own, passing_on, put_entry, read_global, record, same_kind,
    same_length, same_shape, same_trailing_shape, seed, stays_real, stop_gradient, store_global,
    zeros_like,
)
from adcompiler.runtime.regions import check_cotangent, check_shape, check_shape_each

DESTRUCTIVE: frozenset[Any] = frozenset({add_at, append, drop_last, put_entry})
"""Functions that write into their first argument, which the emitted code owns, and return it."""

RUNTIME = "adcompiler.runtime"
ITERTOOLS = tuple(value for value in vars(itertools).values() if isinstance(value, type))
CHECKS: frozenset[Any] = frozenset({
    apart, called, check_bound, check_cotangent, check_count, check_items, check_position,
    check_rebinds, check_shape, check_shape_each, evaluated, holds_once, keeps_shape, same_kind,
    same_length, same_shape, same_trailing_shape, seed, stays_real,
})
"""Functions of the runtime that raise where a value is not what it must be."""

WRITERS: frozenset[Any] = frozenset({give_back, accumulate})
"""Functions of the runtime that write into an argument."""
EFFECTS: frozenset[Any] = frozenset({
    store_global, read_global, note_value, passing_on,
})
"""Functions of the runtime whose calls keep their order: they write, or read what is written."""


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
        inactive = REGISTRY.inactive(function)
        if inactive is not None:
            return inactive.pure
        if REGISTRY.has_rules(function) or (hashable(function) and function in MAKERS):
            return True
        if REGISTRY.has_methods(function):
            return True  # norm(loc, scale) only keeps its arguments
        if function in CHECKS or function in EFFECTS or function in WRITERS:
            return False
        return str(getattr(function, "__module__", "")).startswith(RUNTIME) or function in PURE

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

PURE: frozenset[Any] = frozenset({
    contextlib.nullcontext, range, len, zip, enumerate, reversed, dict.items, AssertionError,
    ValueError, TypeError, slice, super, np.zeros_like, np.copy, iter, functools.partial,
    operator.itemgetter, operator.attrgetter, operator.methodcaller, np.ndenumerate, np.vectorize,
    np.errstate, *ITERTOOLS,
})


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
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and hashable(
        rhs.func.value) and rhs.func.value in DESTRUCTIVE


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
