"""Lowers statements that always fall through."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.building import Builder
from adcompiler.frontend.imports import imported_module
from adcompiler.frontend.interface import RAISED, End, Nested
from adcompiler.frontend.lowering import Lowering, Part
from adcompiler.frontend.rewriting.classes import class_made, is_same_at_each_call, taken_apart
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Attribute, Call, Const, Do, Free, Item, Let, Raise,
)
from adcompiler.ir.operators import BINARY

IN_PLACE = {one.node.__name__: one.in_place for one in BINARY}
"""In-place operators by the names of their classes of ``ast``."""


class Statements(Part):
    """Lowers statements."""

    def __init__(self, out: Builder, lower: Lowering, nested: Nested) -> None:
        super().__init__(out, lower)
        self.nested = nested

    def parse_Pass(self, node: gast.Pass) -> None:
        """``pass`` does nothing."""

    def parse_Expr(self, node: gast.Expr) -> None:
        if isinstance(node.value, gast.Constant):
            return
        value = self.lower.expression(node.value)
        last = self.out.statements[-1] if self.out.statements else None
        if isinstance(last, Let) and last.target is value:
            self.out.statements[-1] = Do(last.rhs, last.origin)

    def parse_Delete(self, node: gast.Delete) -> None:
        for target in flat_targets(node.targets):
            if isinstance(target, gast.Name) and target.id in self.names.globals:
                self.out.reject(target, rejected.GLOBAL_DELETION)
            elif isinstance(target, gast.Name):
                self.out.load(target.id)
                self.out.bind(target.id, UNDEF)
            elif isinstance(target, gast.Subscript):
                obj = self.lower.expression(target.value)
                self.out.do(operator.delitem, obj, self.lower.expression(target.slice))
            else:
                self.out.reject(target, rejected.ATTRIBUTE_DELETION)

    def parse_Assert(self, node: gast.Assert) -> None:
        if not __debug__:  # python -O
            return
        condition = self.lower.expression(node.test)

        def fail() -> End:
            args = () if node.msg is None else (self.lower.expression(node.msg),)
            error = self.out.let(Call(Const(AssertionError), args), "error")
            self.out.statements.append(Raise(error, NONE, self.out.origin))
            return RAISED

        self.out.arms(condition, End, fail)

    def parse_Global(self, node: gast.Global) -> None:
        """Assignments to the name store into the module's variable."""

    def parse_Nonlocal(self, node: gast.Nonlocal) -> None:
        around = self.names.around
        missing = [n for n in node.names if around is None or not around.binds(n)]
        if missing:
            self.out.reject(node, rejected.OUTER_NONLOCAL, name=missing[0])

    def parse_ClassDef(self, node: gast.ClassDef) -> None:
        """Lower a class to the making of it: see ``infer/local_classes.py``."""
        decorators = [taken_apart(decorator) for decorator in node.decorator_list]
        if node.keywords or None in decorators or not is_same_at_each_call(node):
            self.out.reject(node, rejected.CLASS_WITH_EFFECTS, name=node.name)
            return
        known = [one for one in decorators if one is not None]
        read = {n.id for n in gast.walk(node) if isinstance(n, gast.Name)} - {node.name}
        captured = tuple(
            (name, self.out.env[name]) for name in sorted(read) if name in self.out.env
            and not self.out.is_unsure(self.out.env[name])
        )
        line = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        options = Const(tuple(given for _, given in known))
        given = (*node.bases, *(made for made, _ in known))
        parts = [self.lower.expression(part) for part in given]
        self.out.bind(node.name, self.out.let(Call(Const(class_made), (
            Const(node.name), Const(line), Const(len(node.bases)), options, *parts,
        ), captured), node.name))

    def parse_Import(self, node: gast.Import) -> None:
        for name in node.names:
            top = name.name if name.asname else name.name.partition(".")[0]
            module = self.out.let(Call(Const(imported_module), (Const(name.name), Const(top))), top)
            self.out.bind(name.asname or top, module)

    def parse_ImportFrom(self, node: gast.ImportFrom) -> None:
        start = (self.out.let(Free("__package__"), "package"),) if node.level else ()
        path = Const("." * (node.level or 0) + (node.module or ""))
        for name in node.names:
            module = self.out.let(
                Call(Const(imported_module), (path, path, Const(name.name), *start)), "module"
            )
            found = self.out.let(Attribute(module, name.name), name.name)
            self.out.bind(name.asname or name.name, found)

    # -- assignments ---------------------------------------------------------------------------

    def parse_Assign(self, node: gast.Assign) -> None:
        if isinstance(node.value, gast.Lambda) and len(node.targets) == 1 and isinstance(
            node.targets[0], gast.Name
        ):
            self.out.bind(node.targets[0].id, self.nested(node.value, node.targets[0].id))
            return
        value = self.lower.expression(node.value)
        for target in node.targets:
            value = self.lower.assign(target, value)

    def parse_AnnAssign(self, node: gast.AST) -> None:
        """A declaration without a value (see ``forms``) says only that the name is local."""

    def parse_AugAssign(self, node: gast.AugAssign) -> None:
        function = IN_PLACE[type(node.op).__name__]

        def changed(old: Atom, name: str) -> Atom:
            by = self.lower.expression(node.value)
            return self.out.let(Call(Const(function), (old, by)), name)

        match node.target:
            case gast.Subscript():
                obj = self.lower.expression(node.target.value)
                index = self.lower.expression(node.target.slice)
                new = changed(self.out.let(Item(obj, index), "old"), "new")
                self.out.do(operator.setitem, obj, index, new)
            case gast.Attribute(attr=name):
                obj = self.lower.expression(node.target.value)
                new = changed(self.out.let(Attribute(obj, name), name), name)
                self.out.do(setattr, obj, Const(name), new)
            case gast.Name(id=name):
                self.out.bind(name, changed(self.out.load(name), name))

def flat_targets(targets: Sequence[gast.expr]) -> list[gast.expr]:
    """Return the targets of a ``del``, those in tuples and lists among them."""
    return [
        inner for target in targets for inner in (
            flat_targets(target.elts) if isinstance(target, (gast.Tuple, gast.List)) else [target])
    ]
