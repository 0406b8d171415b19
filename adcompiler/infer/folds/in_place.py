"""Folds of in-place operators: ``x += y`` rebinds the name, or writes into the value."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from adcompiler.analyses.storage import is_mutable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Origin, Var
from adcompiler.ir.operators import IN_PLACE, SIGNS
from adcompiler.infer.folds.table import FOLDS, Fold
from adcompiler.infer.interface import Operations
from adcompiler.infer.storage.container_methods import call_dict_method, repeat
from adcompiler.infer.storage.operators_in_place import write_in_place
from adcompiler.infer.writer import Writer
from adcompiler.typed.unit import Unit

WRITTEN: dict[type, tuple[str, str]] = {
    t.Array: ("array", "array-writes"), t.List: ("list", "in-place-containers"),
    t.Dict: ("dict", "in-place-containers"),
}
"""What `op=` writes into, by type, and the section of docs/limitations.md about it."""


def _in_place(function: Callable[..., Any], plain: Callable[..., Any]) -> Fold:
    def fold(
        s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
    ) -> Any:
        """``x op= y`` of an immutable value rebinds the name; of others it writes into them."""
        type_ = s.unit.type(args[0])
        if isinstance(type_, (t.Scalar, t.Text, t.Tuple, t.Static, t.Range, t.Bottom)):
            return s.call(Const(plain), args, {}, origin, name)
        if isinstance(type_, t.List) and SIGNS[plain] == "+" and of_numpy(s.unit.type(args[1])):
            return s.call(Const(plain), args, {}, origin, name)  # arrays come before lists
        if isinstance(type_, t.List) and SIGNS[plain] == "+" and may_be_array(s.unit, args[1]):
            return refuse_write(s, type_, plain, origin)
        if s.heap is not None and isinstance(args[0], Var) and (
            isinstance(type_, t.Array) or (isinstance(type_, t.List) and plain is operator.add)
        ):
            return write_in_place(s, function, args, origin, name)
        if s.heap is not None and isinstance(args[0], Var) and isinstance(type_, t.Dict) and (
            plain is operator.or_
        ):
            call_dict_method(s, args[0], "update", args[1:], {}, origin, name)
            return s.heap.reading.current(args[0], origin)
        if s.heap is not None and isinstance(args[0], Var) and isinstance(type_, t.List) and (
            SIGNS[plain] == "*" and not is_mutable(type_.item)
        ):
            return repeat(s, args[0], args[1], origin)
        if isinstance(type_, (t.Dict, t.List)):
            return refuse_write(s, type_, plain, origin)
        found = s.types.of_call(plain, args, {})
        new = s.let(Call(Const(function), tuple(args)), found, name, origin)
        if s.heap is not None:  # it will be the operator that makes a new value, or be refused
            s.heap.forget(new)
            s.heap.references.pop(new, None)
        return new

    return fold


def of_numpy(type_: t.Type) -> bool:
    """Say whether a value is an array, or a number of NumPy for sure."""
    return isinstance(type_, t.Array) or (
        isinstance(type_, t.Scalar) and all(dtype is not None for _, dtype in type_.classes)
        and bool(type_.classes))


def may_be_array(unit: Unit, atom: Atom) -> bool:
    """Say whether it is not known that a value is no array."""
    iterators = unit.iterators
    return unit.type(atom) == t.UNKNOWN and not (
        isinstance(atom, Var) and (atom in iterators.one_shot or atom in iterators.generators))


def refuse_write(s: Writer, type_: t.Type, plain: Callable[..., Any], origin: Origin) -> Atom:
    """Report an in-place operator that is not the same as making a new value."""
    kind, anchor = WRITTEN.get(type(type_), ("value", "array-writes"))
    sign = SIGNS[plain]
    return s.reject(
        origin, f"`{sign}=` writes into the {kind}, which is not supported yet",
        f"write x = x {sign} y, which makes a new one", anchor,
    )


for _function, _plain in IN_PLACE.items():
    FOLDS[_function] = _in_place(_function, _plain)
