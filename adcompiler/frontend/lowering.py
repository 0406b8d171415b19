"""Lowers a node of any kind: each by the method ``parse_<Node>`` of the part that has one."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.building import Builder, target_name
from adcompiler.frontend.interface import End
from adcompiler.frontend.names import assigned_names
from adcompiler.ir.nodes import NONE, UNDEF, Atom, Call, Const, Item, Let, Star, Var
from adcompiler.runtime import unpack


class Lowering:
    """Finds who lowers a node among ``parts``, and reports what nobody does.

    Methods for expressions return an atom. Those for statements return how these end, or nothing if
    they always fall through.
    """

    def __init__(self, out: Builder) -> None:
        self.out = out
        self.parts: tuple[object, ...] = ()
        self._methods: dict[str, Callable[[Any], Any] | None] = {}

    def _method(self, kind: str) -> Callable[[Any], Any] | None:
        if kind not in self._methods:
            found = (getattr(part, f"parse_{kind}", None) for part in self.parts)
            self._methods[kind] = next(filter(None, found), None)
        return self._methods[kind]

    def statement(self, node: gast.stmt) -> End:
        """Lower a statement; those that move control by themselves are none of this."""
        kind = type(node).__name__
        method = self._method(kind)
        if method is not None:
            return method(node) or End()
        self.out.reject(node, rejected.STATEMENTS.get(kind, rejected.OTHER_SYNTAX), name=kind)
        if kind in rejected.STATEMENTS:
            for name in assigned_names(node):
                self.out.env[name] = UNDEF
        return End()

    def expression(self, node: gast.expr) -> Atom:
        """Lower an expression; return its value."""
        outer, self.out.origin = self.out.origin, self.out.locate(node)
        try:
            kind = type(node).__name__
            method = self._method(kind)
            if method is not None:
                result: Atom = method(node)
                return result
            why = rejected.EXPRESSIONS.get(kind, rejected.OTHER_SYNTAX)
            return self.out.reject(node, why, name=kind)
        finally:
            self.out.origin = outer

    def optional(self, node: gast.expr | None) -> Atom:
        """Lower an expression that may be left out, which stands for None."""
        return NONE if node is None else self.expression(node)

    def element(self, node: gast.expr) -> Atom | Star:
        """Lower an element of a display or an argument, starred or not."""
        if isinstance(node, gast.Starred):
            return Star(self.expression(node.value))
        return self.expression(node)

    # -- targets -------------------------------------------------------------------------------

    def assign(self, target: gast.expr, value: Atom) -> Atom:
        """Assign ``value`` to a target; return the atom that now holds it."""
        match target:
            case gast.Name():
                return self.out.bind(target.id, value)
            case gast.Tuple() | gast.List():
                self._unpack(target.elts, value)
            case gast.Attribute():
                self.out.do(setattr, self.expression(target.value), Const(target.attr), value)
            case gast.Subscript():
                obj = self.expression(target.value)
                self.out.do(operator.setitem, obj, self.expression(target.slice), value)
        return value

    def _unpack(self, targets: Sequence[gast.expr], value: Atom) -> None:
        starred = [i for i, t in enumerate(targets) if isinstance(t, gast.Starred)]
        star = starred[0] if starred else -1
        parts = self.out.let(
            Call(Const(unpack), (value, Const(len(targets)), Const(star))), "parts"
        )
        for position, target in enumerate(targets):
            inner = target.value if isinstance(target, gast.Starred) else target
            part = Var(target_name(inner, "part"), True)
            self.out.statements.append(Let(part, Item(parts, Const(position)), self.out.origin))
            self.assign(inner, part)


class Part:
    """Lowers nodes of some kinds: writes to ``out``, and has ``lower`` lower what is in them."""

    def __init__(self, out: Builder, lower: Lowering) -> None:
        self.out, self.names, self.lower = out, out.names, lower
