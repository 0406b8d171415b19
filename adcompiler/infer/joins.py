"""Variables for values that come from several places: the ends of branches, loops and ``try``."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from adcompiler.ir import types as t
from adcompiler.ir.nodes import UNDEF, Atom, Block, Call, Const, If, Let, Origin, Statement, Var
from adcompiler.infer.lost_types import holds_functions, is_lost
from adcompiler.typed.unit import Unit


def same(a: Atom, b: Atom) -> bool:
    """Say whether two constants are the same."""
    return a is b or (
        isinstance(a, Const) and isinstance(b, Const) and type(a.value) is type(b.value)
        and (t.same_static(a.value, b.value) or (
            type(a.value) in (int, float, bool, str) and repr(a.value) == repr(b.value)
        ))
    )


class Joins:
    """Makes the variables of what is one of several values, and notes in ``unit`` what is known.

    A variable that is bound to a known value or to none is carried as a *flag*: whether it is.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def joined(
        self, like: Var, type_: t.Type, unsure: bool, origin: Origin | None = None,
        arms: tuple[Atom, ...] = (),
    ) -> Var:
        """Return a new variable named as ``like`` for a value that comes from several places.

        ``arms`` are the values that it has there, as far as they are known, and ``origin`` is where
        they meet.
        """
        var = Var(like.name, like.temporary)
        self.unit.types[var] = type_
        if origin is not None:
            self.comes_from(var, origin, arms)
        self.unit.merged.add(var)
        if unsure:
            self.unit.unsure.add(var)
        return var

    def has_shape_of_arms(self, var: Var, values: Sequence[Atom]) -> None:
        """Note the shape of what is one of some values, if they all have it."""
        shapes = {self.unit.shape(value) for value in values}
        if isinstance(self.unit.type(var), t.Array) and len(shapes) == 1:
            self.unit.shapes[var] = shapes.pop()

    def comes_from(self, var: Var, origin: Origin, values: Sequence[Atom]) -> None:
        """Note where a variable gets its values, which are ``values``; messages tell of it."""
        if is_lost(self.unit, var) or holds_functions(self.unit, var):
            self.unit.places[var] = (*self.unit.calls.sites, origin)
            self.unit.arms[var] = tuple(values)

    def bound_flag(self, like: Var, atoms: Sequence[Atom]) -> Var | None:
        """Return a variable that tells whether ``like`` is bound, as one of ``atoms`` each way.

        None if its value is not known here, or if it is bound on all ways.
        """
        known = [self.unit.if_bound.get(atom, atom) for atom in atoms if atom is not UNDEF]
        types = [self.unit.type(atom) for atom in known]
        unsure = any(atom is UNDEF or atom in self.unit.if_bound for atom in atoms)
        if like.temporary or not unsure or not known or not isinstance(
            types[0], t.Static
        ) or any(type_ != types[0] for type_ in types):
            return None
        flag = self.joined(like, types[0], True)
        self.unit.if_bound[flag] = Const(types[0].value)
        return flag

    def is_unsure(self, atom: Atom) -> bool:
        """Say whether ``atom`` is a variable's that may have no value."""
        return atom in self.unit.unsure or atom in self.unit.if_bound

    def flagged(self, atom: Atom, flag: bool = True) -> Atom:
        """Return what the code carries of a variable that is bound to a known value or to none.

        That is the value if it is not taken for a ``flag``.
        """
        if flag:
            return atom if atom is UNDEF or atom in self.unit.if_bound else Const(True)
        return self.unit.if_bound.get(atom, atom)

    def unflagged(
        self, atom: Atom, variable: Var, out: list[Statement], origin: Origin | None
    ) -> Atom:
        """Return what ``variable`` gets of ``atom``: of a flag the known value, or none.

        A branch that tells is added to ``out``.
        """
        if atom not in self.unit.if_bound:
            return atom
        assert origin is not None
        found = self.joined(variable, self.unit.type(atom), True)
        known, none = Block((), (self.unit.if_bound[atom],)), Block((), (UNDEF,))
        test = Var("test", True)
        self.unit.types[test] = t.BOOL
        out.append(Let(test, Call(Const(operator.is_), (atom, Const(True))), origin))
        out.append(If(test, known, none, (found,), origin))
        return found
