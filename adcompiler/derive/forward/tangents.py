"""The tangents of one function while its pushforward is written: one for each active value.

A tangent has the structure, shape and dtype of its primal value, as a cotangent has. What is
written into has a *shadow*: a tangent with storage of its own, that receives the same writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

import numpy as np

from adcompiler.analyses.storage import Sharing, is_mutable
from adcompiler.analyses.versions import Versions
from adcompiler.derive.reverse.cotangents import cotangent_type, is_none, is_zero
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Block, Call, Const, Let, Origin, Rhs, Star, Var, substitute,
)
from adcompiler.runtime import as_tangent, own, zeros_like
from adcompiler.runtime.records import is_record_class
from adcompiler.infer.inference import Inference
from adcompiler.infer.objects import NAMESPACE, make_record


class Tangents:
    """A table of tangents by primal variable, None where the tangent is zero.

    ``active`` are the variables whose tangents are wanted. ``env`` maps primal variables to the
    atoms that hold their values, where a rule gave them others.
    """

    def __init__(
        self, s: Inference, active: frozenset[Var] = frozenset(),
        versions: Versions | None = None,
    ) -> None:
        self.s = s
        self.active = active
        self.versions = versions or Versions(Block(()))
        self.sharing = Sharing(s.unit.type, s.unit.definition)
        self.env: dict[Var, Atom] = {}
        self.table: dict[Var, Atom] = {}
        self.taken: set[Atom] = set()

    # -- values --------------------------------------------------------------------------------

    def value(self, atom: Atom) -> Atom:
        """Return the atom that holds a primal value."""
        return self.env.get(atom, atom) if isinstance(atom, Var) else atom

    def argument(self, argument: Atom | Star) -> Atom | Star:
        """Return what is written for an argument or element, starred or not."""
        if isinstance(argument, Star):
            return Star(self.value(argument.atom))
        return self.value(argument)

    def is_active(self, atom: Atom | Star) -> TypeGuard[Var]:
        """Say whether the tangent of ``atom`` is wanted."""
        return isinstance(atom, Var) and (atom in self.active or atom in self.table)

    # -- reading -------------------------------------------------------------------------------

    def get(self, atom: Atom) -> Atom | None:
        """Return the tangent of ``atom``, None if it is zero."""
        return self.table.get(atom) if isinstance(atom, Var) else None

    def full(self, atom: Atom, origin: Origin) -> Atom:
        """Return the tangent of ``atom``, written as zeros if it is zero."""
        if atom is UNDEF:
            return UNDEF
        found = self.get(atom)
        return self.zero_of(self.value(atom), origin) if found is None else found

    def zero_of(self, value: Atom, origin: Origin) -> Atom:
        """Write the zero tangent of a primal value; None for what carries no derivative.

        Containers that carry none may still come to hold what does.
        """
        type_ = self.s.unit.type(value)
        name = dot(value) if isinstance(value, Var) else "zero"
        match type_:
            case t.Bottom():
                return UNDEF
            case t.Scalar():
                return Const(0.0)
            case t.Tuple(items):
                parts = [self.s.item(value, Const(i), origin) for i in range(len(items))]
                zeros = tuple(self.zero_of(part, origin) for part in parts)
                return self.s.pack("tuple", zeros, name, origin)
            case t.Object(cls, fields) if is_record_class(cls) and value not in self.s.unit.unsure:
                return make_record(self.s, NAMESPACE, {
                    key: self.zero_of(self.s.attribute(value, key, origin), origin)
                    for key, _ in fields
                }, name, origin)
            case t.List() | t.Dict() | t.Array():
                pass
            case _ if not t.may_vary(type_):
                return NONE
        plain = isinstance(type_, t.Array) and type_.kind in ("float", "complex")
        function = np.zeros_like if plain and value not in self.s.unit.unsure else zeros_like
        zero = self.s.let(
            Call(Const(function), (value,)), tangent_type(type_), name, origin, False
        )
        self.s.unit.shapes[zero] = self.s.unit.shape(value)
        return zero

    # -- writing -------------------------------------------------------------------------------

    def put(self, target: Var, d: Atom | None, origin: Origin, fits: bool = False) -> None:
        """Enter ``d`` as the tangent of ``target``, in the form that this has.

        ``fits`` promises that it has the shape already.
        """
        if d is None or is_none(d):
            return
        value = self.value(target)
        d = self.fitted(d, target, value, origin, fits)
        if is_zero(d):
            return
        if isinstance(d, Var):
            hints = self.s.unit.naming.hints if target.temporary else self.s.unit.naming.names
            hints.setdefault(d, dot(target))
        self.table[target] = d
        if isinstance(value, Var):  # which methods that were looked up refer to
            self.table.setdefault(value, d)

    def fitted(self, d: Atom, target: Var, value: Atom, origin: Origin, fits: bool) -> Atom:
        """Return ``d`` with the shape, kind and precision of ``target``."""
        unit = self.s.unit
        wanted, found = tangent_type(unit.type(target)), unit.type(d)
        if isinstance(wanted, t.Array) and isinstance(found, t.Array):
            fits = fits or unit.shape(d) == unit.shape(value)
            if fits and found == wanted:
                unit.shapes[d] = unit.shape(value)  # type: ignore[index]
                return d
        elif isinstance(wanted, t.Scalar) and isinstance(found, t.Scalar):
            if precision(wanted) == precision(found):
                return d
        elif isinstance(found, t.Unknown) and fits and isinstance(d, Var):
            unit.types[d] = wanted
            return d
        elif isinstance(wanted, (t.Tuple, t.List, t.Dict, t.Object)) or (
            isinstance(wanted, t.Unknown) and fits
        ):
            return d
        new = self.s.let(
            Call(Const(as_tangent), (d, value)), wanted, dot(target), origin, target.temporary
        )
        if isinstance(wanted, t.Array):
            unit.shapes[new] = unit.shape(value)
        return new

    def plain(self, target: Var, rhs: Rhs, origin: Origin) -> None:
        """Write a definition as it is."""
        new = substitute(rhs, self.env)
        self.s.unit.record(target, new, self.s.unit.type(target))
        self.s.out.append(Let(target, new, origin))

    # -- shadows -------------------------------------------------------------------------------

    def keep_apart(self, target: Var, fresh: bool, origin: Origin) -> None:
        """Give the tangent of a new value storage of its own, where writes need that.

        ``fresh`` says that the primal value has storage of its own.
        """
        if not self.versions.destroyed or not is_mutable(self.s.unit.type(target)):
            return
        written = target in self.versions.all
        if not written and not fresh:
            return
        d = self.table.get(target)
        if d is None:
            return
        if d not in self.taken and self.has_storage(d):
            self.taken.add(d)
            return
        self.table[target] = self.copied(target, d, origin)

    def has_storage(self, d: Atom) -> bool:
        """Say whether a tangent shares storage with nothing else."""
        rhs = self.s.unit.definition(d)
        return isinstance(d, Var) and rhs is not None and not any(
            True for _ in self.sharing.of(d, rhs)
        )

    def copied(self, target: Var, d: Atom, origin: Origin) -> Var:
        """Write a copy of a tangent, and of all that it holds."""
        type_ = self.s.unit.type(d)
        function = np.copy if isinstance(type_, t.Array) else own
        copy = self.s.let(Call(Const(function), (d,)), type_, dot(target), origin, target.temporary)
        if isinstance(type_, t.Array):
            self.s.unit.shapes[copy] = self.s.unit.shape(d)
        self.taken.add(copy)
        return copy

    def bound(self, var: Var) -> Var:
        """Return the variable for the tangent of what a region gives or takes."""
        unit = self.s.unit
        d = Var(dot(var), var.temporary)
        unit.types[d] = tangent_type(unit.type(var))
        if isinstance(unit.types[d], t.Array):
            unit.shapes[d] = unit.shape(self.value(var))
        unit.merged.add(d)
        if var in unit.unsure:
            unit.unsure.add(d)
        if var in unit.naming.names:
            unit.naming.names[d] = f"{unit.naming.names[var]}_dot"
        self.table[var] = d
        self.taken.add(d)
        return d

    def of_argument(self, value: Atom, by_value: Mapping[Atom, Var], origin: Origin) -> Atom | None:
        """Return the tangent of an argument, made of those of its elements if it was packed."""
        atom = by_value.get(value, value)
        if self.get(atom) is not None or not isinstance(atom, Var):
            return self.get(atom)
        elements = self.s.unit.elements(atom) or ()
        parts = [self.of_argument(element, by_value, origin) for element in elements]
        if all(part is None for part in parts):
            return None
        return self.s.pack("tuple", tuple(
            self.zero_of(element, origin) if part is None else part
            for part, element in zip(parts, elements, strict=True)
        ), dot(atom), origin)


def dot(var: Var) -> str:
    """Return the name of the tangent of ``var``."""
    return var.name if var.name.endswith("_dot") else f"{var.name}_dot"


def precision(type_: t.Scalar) -> tuple[str, str]:
    """Return the kind and precision of a number; a Python float has that of ``float64``."""
    double = {"float": "float64", "complex": "complex128"}
    return type_.kind, type_.dtype or double.get(type_.kind, type_.kind)


def tangent_type(type_: t.Type) -> t.Type:
    """Return the type of the tangents of values of ``type_``: floats where those are floats.

    Containers in tuples have tangents even where they hold nothing that varies, as yet.
    """
    match type_:
        case t.Tuple(items):
            return t.Tuple(tuple(
                tangent_type(i) if t.may_vary(i) or isinstance(i, (t.List, t.Dict))
                else t.UNKNOWN for i in items
            ))
        case t.List(item):
            return t.List(tangent_type(item))
        case t.Dict(keys, items):
            return t.Dict(keys, tuple(map(tangent_type, items)))
        case t.Object(cls, fields) if fields and is_record_class(cls):
            return t.Object(NAMESPACE, tuple((name, tangent_type(f)) for name, f in fields))
    return cotangent_type(type_)
