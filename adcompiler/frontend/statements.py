"""Lowers statements that always fall through, and assignment to targets."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.building import Builder, target_name
from adcompiler.frontend.imports import imported_module
from adcompiler.frontend.interface import RAISES, End
from adcompiler.frontend.names import assigned_names
from adcompiler.frontend.rewriting.classes import class_made, is_same_at_each_call, taken_apart
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Attribute, Call, Const, Do, Free, Item, Let, Raise, Var,
)
from adcompiler.ir.operators import BINARY
from adcompiler.runtime import unpack

IN_PLACE = {one.node.__name__: one.in_place for one in BINARY}
"""In-place operators by the names of their classes of ``ast``."""


class Statements(Builder):
    """Lowers statements."""

    def statement(self, node: Any) -> None:
        kind = type(node).__name__
        method = getattr(self, f"parse_{kind}", None)
        if method is not None:
            method(node)
        elif kind in rejected.STATEMENTS:
            self.reject(node, rejected.STATEMENTS[kind])
            for name in assigned_names(node):
                self.env[name] = UNDEF
        else:
            self.reject(node, rejected.OTHER_SYNTAX, name=kind)

    def parse_Pass(self, node: gast.Pass) -> None:
        """``pass`` does nothing."""

    def parse_Expr(self, node: gast.Expr) -> None:
        if isinstance(node.value, gast.Constant):
            return
        value = self.expression(node.value)
        last = self.statements[-1] if self.statements else None
        if isinstance(last, Let) and last.target is value:
            self.statements[-1] = Do(last.rhs, last.origin)

    def parse_Delete(self, node: gast.Delete) -> None:
        for target in flat_targets(node.targets):
            if isinstance(target, gast.Name) and target.id in self.globals:
                self.reject(target, rejected.GLOBAL_DELETION)
            elif isinstance(target, gast.Name):
                self.load(target.id)
                self.bind(target.id, UNDEF)
            elif isinstance(target, gast.Subscript):
                obj = self.expression(target.value)
                self.do(operator.delitem, obj, self.expression(target.slice))
            else:
                self.reject(target, rejected.ATTRIBUTE_DELETION)

    def parse_If(self, node: gast.If) -> None:
        condition = self.expression(node.test)
        self.arms(
            condition,
            lambda: self.sequence(node.body, False), lambda: self.sequence(node.orelse, False),
        )

    def parse_Assert(self, node: gast.Assert) -> None:
        if not __debug__:  # python -O
            return
        condition = self.expression(node.test)

        def fail() -> End:
            args = () if node.msg is None else (self.expression(node.msg),)
            error = self.let(Call(Const(AssertionError), args), "error")
            self.statements.append(Raise(error, NONE, self.origin))
            return End(Const(RAISES), UNDEF, frozenset({RAISES}))

        self.arms(condition, End, fail)

    def parse_Global(self, node: gast.Global) -> None:
        """Assignments to the name store into the module's variable."""

    def parse_Nonlocal(self, node: gast.Nonlocal) -> None:
        missing = [n for n in node.names if self.parent is None or not self.parent.binds(n)]
        if missing:
            self.reject(node, rejected.OUTER_NONLOCAL, name=missing[0])

    def parse_FunctionDef(self, node: gast.FunctionDef) -> None:
        value = self.nested(node, node.name)
        for decorator in reversed(node.decorator_list):
            value = self.let(Call(self.expression(decorator), (value,)), node.name)
        self.bind(node.name, value)

    def parse_ClassDef(self, node: gast.ClassDef) -> None:
        """Lower a class to the making of it: see ``specialise/local_classes.py``."""
        decorators = [taken_apart(decorator) for decorator in node.decorator_list]
        if node.keywords or None in decorators or not is_same_at_each_call(node):
            self.reject(node, rejected.CLASS_WITH_EFFECTS, name=node.name)
            return
        known = [one for one in decorators if one is not None]
        read = {n.id for n in gast.walk(node) if isinstance(n, gast.Name)} - {node.name}
        captured = tuple(
            (name, self.env[name]) for name in sorted(read) if name in self.env
            and not self.is_unsure(self.env[name])
        )
        line = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        options = Const(tuple(given for _, given in known))
        parts = [self.expression(part) for part in (*node.bases, *(made for made, _ in known))]
        self.bind(node.name, self.let(Call(Const(class_made), (
            Const(node.name), Const(line), Const(len(node.bases)), options, *parts,
        ), captured), node.name))

    def parse_Import(self, node: gast.Import) -> None:
        for name in node.names:
            top = name.name if name.asname else name.name.partition(".")[0]
            module = self.let(Call(Const(imported_module), (Const(name.name), Const(top))), top)
            self.bind(name.asname or top, module)

    def parse_ImportFrom(self, node: gast.ImportFrom) -> None:
        start: tuple[Any, ...] = (self.let(Free("__package__"), "package"),) if node.level else ()
        path = Const("." * (node.level or 0) + (node.module or ""))
        for name in node.names:
            module = self.let(
                Call(Const(imported_module), (path, path, Const(name.name), *start)), "module"
            )
            found = self.let(Attribute(module, name.name), name.name)
            self.bind(name.asname or name.name, found)

    # -- assignments ---------------------------------------------------------------------------

    def parse_Assign(self, node: gast.Assign) -> None:
        if isinstance(node.value, gast.Lambda) and len(node.targets) == 1 and isinstance(
            node.targets[0], gast.Name
        ):
            self.bind(node.targets[0].id, self.nested(node.value, node.targets[0].id))
            return
        value = self.expression(node.value)
        for target in node.targets:
            value = self.assign(target, value)

    def parse_AnnAssign(self, node: gast.AST) -> None:
        """A declaration without a value (see ``forms``) says only that the name is local."""

    def parse_AugAssign(self, node: gast.AugAssign) -> None:
        function = IN_PLACE[type(node.op).__name__]
        match node.target:
            case gast.Subscript():
                obj = self.expression(node.target.value)
                index = self.expression(node.target.slice)
                old = self.let(Item(obj, index), "old")
                new = self.let(Call(Const(function), (old, self.expression(node.value))), "new")
                self.do(operator.setitem, obj, index, new)
                return
            case gast.Attribute():
                obj = self.expression(node.target.value)
                name = node.target.attr
                old = self.let(Attribute(obj, name), name)
                new = self.let(Call(Const(function), (old, self.expression(node.value))), name)
                self.do(setattr, obj, Const(name), new)
                return
        loaded = self.load(node.target.id)
        value = self.expression(node.value)
        self.bind(node.target.id, self.let(Call(Const(function), (loaded, value)), node.target.id))

    def assign(self, target: Any, value: Atom) -> Atom:
        """Assign ``value`` to a target; return the atom that now holds it."""
        match target:
            case gast.Name():
                return self.bind(target.id, value)
            case gast.Tuple() | gast.List():
                self.unpack(target.elts, value)
            case gast.Attribute():
                self.do(setattr, self.expression(target.value), Const(target.attr), value)
            case _:
                obj = self.expression(target.value)
                self.do(operator.setitem, obj, self.expression(target.slice), value)
        return value

    def do(self, function: Callable[..., Any], *args: Atom) -> None:
        """Write a call made for its effect."""
        self.statements.append(Do(Call(Const(function), args), self.origin))

    def unpack(self, targets: Sequence[gast.expr], value: Atom) -> None:
        starred = [i for i, t in enumerate(targets) if isinstance(t, gast.Starred)]
        star = starred[0] if starred else -1
        parts = self.let(
            Call(Const(unpack), (value, Const(len(targets)), Const(star))), "parts"
        )
        for position, target in enumerate(targets):
            inner = target.value if isinstance(target, gast.Starred) else target
            part = Var(target_name(inner, "part"), True)
            self.statements.append(Let(part, Item(parts, Const(position)), self.origin))
            self.assign(inner, part)


def flat_targets(targets: Sequence[Any]) -> list[Any]:
    """Return the targets of a ``del``, those in tuples and lists among them."""
    flat: list[Any] = []
    for target in targets:
        inner = isinstance(target, (gast.Tuple, gast.List))
        flat += flat_targets(target.elts) if inner else [target]
    return flat
