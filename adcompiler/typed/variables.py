"""What is known of variables: their types, definitions and parts."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from adcompiler.ir import types as t
from adcompiler.ir.nodes import UNDEF, Atom, Call, Const, Origin, Pack, Rhs, Star, Var, unstar
from adcompiler.runtime import record
from adcompiler.support.structs import dataclass
from adcompiler.typed.values import type_of_static


@dataclass(eq=False)
class Variables:
    """Tables by variable; each is defined once in a whole unit.

    ``parts`` maps parameters to the variables that hold their attributes, entries or items.
    ``unsure`` holds what may have no value, ``merged`` what comes from several places, and
    ``of_many_types`` what is of several types; ``if_bound`` has variables of the program that hold
    one known value or none: the code carries True or nothing for them. ``noted`` has the types of
    values that are noted for later, ``lost`` what has no derivative, by a rule that is missing.
    ``lengths`` has the numbers of items that loops over tuples collect;
    ``truths`` has the results of branches that are true, or false, whichever arm was run;
    ``contents`` has the types of the items of lists of a module that hold functions.
    ``places`` tells where a variable was defined, the calls around included, outermost first, and
    ``arms`` what a variable of unknown type that comes from several places is there: messages do.
    """

    types: dict[Var, t.Type] = field(default_factory=dict)
    defs: dict[Var, Rhs] = field(default_factory=dict)
    parts: dict[Var, dict[Any, Atom]] = field(default_factory=dict)
    unsure: set[Atom] = field(default_factory=lambda: {UNDEF})
    merged: set[Var] = field(default_factory=set)
    of_many_types: set[Var] = field(default_factory=set)
    if_bound: dict[Atom, Const] = field(default_factory=dict)
    noted: dict[Var, t.Type] = field(default_factory=dict)
    lost: set[Atom] = field(default_factory=set)
    lengths: dict[Atom, int] = field(default_factory=dict)
    truths: dict[Atom, bool] = field(default_factory=dict)
    contents: dict[Atom, t.Tuple] = field(default_factory=dict)
    places: dict[Var, tuple[Origin, ...]] = field(default_factory=dict)
    arms: dict[Var, tuple[Atom, ...]] = field(default_factory=dict)

    def type(self, atom: Atom) -> t.Type:
        """Return what is known of the value of ``atom``."""
        if isinstance(atom, Const):
            return t.BOTTOM if atom is UNDEF else type_of_static(atom.value)
        return self.types.get(atom, t.UNKNOWN)

    def set_type(self, var: Var, type_: t.Type, is_given: bool) -> None:
        """Enter the type of a variable; of a list that is given, also what is in it."""
        if isinstance(type_, t.List) and type_.contents:
            if is_given:
                self.contents[var] = t.Tuple(type_.contents)
            type_ = t.List(type_.item)
        self.types[var] = type_

    def told_type(self, atom: Atom) -> t.Type:
        """Return the type of a value, with what is in a list if that is known."""
        type_ = self.type(atom)
        if isinstance(type_, t.List) and atom in self.contents:
            return t.List(type_.item, self.contents[atom].items)
        return type_

    def definition(self, atom: Atom) -> Rhs | None:
        """Return the right-hand side that defines ``atom``, if it is known."""
        return self.defs.get(atom) if isinstance(atom, Var) else None

    def elements(self, atom: Atom) -> tuple[Atom, ...] | None:
        """Return the atoms a tuple or list was made of, if they are known."""
        if atom in self.contents:
            items = self.contents[atom].items
            known = all(isinstance(item, t.Static) for item in items)
            return tuple(Const(getattr(item, "value", None)) for item in items) if known else None
        rhs = self.definition(atom)
        if isinstance(rhs, Pack) and rhs.kind in ("tuple", "list"):
            if not any(isinstance(item, Star) for item in rhs.items):
                return tuple(unstar(item) for item in rhs.items)
        elif isinstance(rhs, Call) and isinstance(rhs.func, Const) and isinstance(
            type_ := self.type(atom), t.Tuple
        ) and rhs.func.value is type_.cls and keeps_its_arguments(rhs, type_):
            return tuple(unstar(item) for item in rhs.args)
        elif isinstance(atom, Const) and type(atom.value) in (tuple, list):
            return tuple(Const(item) for item in atom.value)
        return None

    def part(self, var: Var, key: Any) -> Atom | None:
        """Return the entry of a dict, or the item of a tuple, that was read beforehand."""
        parts = self.parts.get(var)
        if parts is None or not isinstance(key, (str, int, float, tuple)):
            return None
        if isinstance(self.type(var), t.Tuple) and type(key) is int and key < 0:
            key += len(self.type(var).items)  # type: ignore[attr-defined]
        return parts.get(key)

    def fields(self, atom: Atom) -> dict[str, Atom] | None:
        """Return the atoms of the attributes that an instance was made with, if they are known."""
        if isinstance(atom, Var) and atom in self.parts:
            return self.parts[atom] if isinstance(self.type(atom), t.Object) else None
        rhs = self.definition(atom)
        if isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is record:
            return {key: value for key, value in rhs.kwargs if key is not None}
        return None


def keeps_its_arguments(rhs: Call, type_: t.Tuple) -> bool:
    """Say whether a call makes a namedtuple whose items are the arguments, one by one.

    ``tuple(x)`` has those of ``x``, and a class with a ``__new__`` of its own may change them.
    """
    made_by = getattr(type_.cls.__new__, "__module__", None) or ""
    return (
        made_by.startswith("namedtuple_") and not rhs.kwargs
        and len(rhs.args) == len(type_.items)
        and not any(isinstance(arg, Star) for arg in rhs.args)
    )
