"""Which names of a function count references to storage, and which integers are not negative."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from adcompiler.backends.native.emit.types import (
    ArrayType, Inference, Type, dotted, gives_up, is_none,
)
from adcompiler.backends.native.loops import INT

VIEWS = ("ravel", "reshape")


def holds_arrays(type_: Type | None) -> bool:
    """Say whether a value of a type refers to storage."""
    return isinstance(type_, ArrayType) or (
        isinstance(type_, tuple) and any(map(holds_arrays, type_)))


class Storage:
    """Groups of names that may refer to one storage.

    A group counts references where storage is made in a loop, is returned, or goes to Python.
    Other storage is made at most once in a call, and freed at its end.
    """

    def __init__(self, of: Inference, hosts: Sequence[str], writes: Callable[[str], bool]) -> None:
        self.of, self.hosts, self.writes = of, hosts, writes
        self.parents: dict[str, str] = {}
        self.marked: set[str] = set()
        self.stored: set[str] = set()
        self.made: set[str] = set()
        self.read(of.node.body, False)
        self.counted = {name for name in of.names if self.root(name) in self.roots(self.marked)}

    def root(self, name: str) -> str:
        """Return the name that stands for the group of one."""
        while name in self.parents:
            name = self.parents[name]
        return name

    def roots(self, names: set[str]) -> set[str]:
        """Return the names that stand for the groups of several."""
        return set(map(self.root, names))

    def is_only_read(self, name: str) -> bool:
        """Say whether the storage of a parameter is nothing but read, under any name."""
        root = self.root(name)
        return root not in self.roots(self.stored) and root not in self.roots(self.made)

    def read(self, body: Sequence[ast.stmt], in_loop: bool) -> None:
        """Look through statements."""
        for row in body:
            match row:
                case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
                    for target, value in zip(targets, values, strict=True):
                        self.bind(target, value, in_loop)
                case ast.Assign([target], value):
                    self.bind(target, value, in_loop)
                case ast.AugAssign(target):
                    self.bind(target, None, in_loop)
                case ast.Return(value) if value is not None and not gives_up(row):
                    items = value.elts if isinstance(value, ast.Tuple) else [value]
                    self.marked |= {
                        name for one in items if holds_arrays(self.of.of(one))
                        for name in self.sources(one)[0]}
            self.calls(row)
            inner = in_loop or isinstance(row, (ast.For, ast.While))
            for field in ("body", "orelse"):
                self.read(getattr(row, field, ()), inner)

    def calls(self, row: ast.stmt) -> None:
        """Mark what a statement hands to Python, and what a function may write into."""
        for field in ("value", "test", "iter"):
            for node in ast.walk(getattr(row, field, None) or ast.Pass()):
                if not isinstance(node, ast.Call):
                    continue
                named = {one for arg in node.args for one in self.sources(arg)[0]}
                if dotted(node.func) in self.hosts:
                    self.marked |= named
                elif dotted(node.func) == "np.dot" and len(node.args) > 2:
                    self.stored |= self.sources(node.args[2])[0]
                elif self.writes(dotted(node.func)):
                    self.stored |= named

    def bind(self, target: ast.expr, value: ast.expr | None, in_loop: bool) -> None:
        """Look at an assignment."""
        while isinstance(target, ast.Subscript):
            target = target.value
            if isinstance(target, ast.Name):
                self.stored.add(target.id)
                return
        if not isinstance(target, ast.Name) or value is None or not holds_arrays(
            self.of.names.get(target.id)
        ):
            return
        aliases, is_new = self.sources(value)
        for alias in aliases:
            one, other = self.root(alias), self.root(target.id)
            if one != other:
                self.parents[one] = other
        if is_new:
            self.made.add(target.id)
        if is_new and in_loop:
            self.marked.add(target.id)

    def sources(self, node: ast.expr) -> tuple[set[str], bool]:
        """Return the names to whose storage a value may refer, and whether it may be new."""
        match node:
            case ast.Name(name):
                return ({name} if holds_arrays(self.of.names.get(name)) else set()), False
            case ast.Subscript(value) | ast.Attribute(value, "T"):
                return self.sources(value)
            case ast.Call(ast.Attribute(value, name)) if name in VIEWS:
                found = self.of.of(value)
                names, is_new = self.sources(value)
                if isinstance(found, ArrayType) and not found.in_order:
                    self.marked |= names
                    is_new = True
                return names, is_new
            case ast.Call(func, [value, *_]) if dotted(func) in (
                "np.transpose", "np.ascontiguousarray"
            ):
                names, is_new = self.sources(value)
                return names, is_new or dotted(func) == "np.ascontiguousarray"
            case ast.Call():
                return set(), holds_arrays(self.of.of(node))
            case ast.IfExp(_, then, orelse):
                (a, one), (b, other) = self.sources(then), self.sources(orelse)
                return a | b, one or other
        return set(), False


class Signs:
    """Which integers are never negative: found by taking all to be so, until one may be."""

    def __init__(self, of: Inference) -> None:
        params = {one.arg for one in of.node.args.args}
        self.of = of
        self.names = {name for name, type_ in of.names.items() if type_ == INT} - params
        bindings = list(self.bindings())
        before = None
        while before != len(self.names):
            before = len(self.names)
            for name, values in bindings:
                if not all(map(self.is_positive, values)):
                    self.names.discard(name)

    def bindings(self) -> Iterator[tuple[str, list[ast.expr]]]:
        """Yield each name that is assigned to, with values of which none is to be negative."""
        for row in self.of.rows:
            match row:
                case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
                    for target, value in zip(targets, values, strict=True):
                        if isinstance(target, ast.Name):
                            yield target.id, [value]
                case ast.Assign([ast.Name(name)], value):
                    yield name, [value]
                case ast.AugAssign(ast.Name(name), op, value):
                    yield name, [ast.BinOp(ast.Name(name), op, value)]
                case ast.For(ast.Name(name), ast.Call(args=args)):
                    yield name, self.ends(args)

    def ends(self, args: list[ast.expr]) -> list[ast.expr]:
        """Return the least value that a loop's variable takes, or numbers below that."""
        if len(args) < 3:
            return args[:-1]
        last = args[1]
        if isinstance(args[2], ast.UnaryOp):  # backwards, to before the second end
            return [ast.BinOp(last, ast.Add(), ast.Constant(1))]
        return args[:1]

    def is_positive(self, node: ast.expr) -> bool:
        """Say whether an integer is known not to be negative."""
        match node:
            case ast.Constant(value):
                return isinstance(value, int) and value >= 0
            case ast.Name(name):
                return name in self.names
            case ast.Attribute(attr="size") | ast.Subscript(ast.Attribute(attr="shape")):
                return True
            case ast.BinOp(ast.UnaryOp(ast.USub(), ast.Constant(1)), ast.Add(), ast.Constant(1)):
                return True
            case ast.BinOp(
                ast.BinOp(inner, ast.Sub(), ast.Constant(1)), ast.Add(), ast.Constant(1)
            ):
                return self.is_positive(inner)
            case ast.BinOp(left, ast.Add() | ast.Mult(), right):
                return self.is_positive(left) and self.is_positive(right)
            case ast.BinOp(left, ast.FloorDiv() | ast.Mod(), ast.Constant(by)):
                return isinstance(by, int) and by > 0 and (
                    isinstance(node.op, ast.Mod) or self.is_positive(left))
            case ast.IfExp(_, then, orelse):
                return self.is_positive(then) and self.is_positive(orelse)
            case ast.Call(ast.Name("max"), args):
                return any(map(self.is_positive, args))
            case ast.Call(ast.Name("min"), args):
                return all(map(self.is_positive, args))
        return is_none(node)
