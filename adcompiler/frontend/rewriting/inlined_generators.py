"""Loops over generator functions, written as one loop: the body stands where the ``yield`` was.

``for v in halves(x): ...`` runs the two functions in turns, and so does the loop that is made of it
here. That is done where the generator has one ``yield``, in a loop that is its last statement, and
where it is known, or can be tested when compiling, that the name means that function.
"""

from __future__ import annotations

import copy
import itertools
import types
from collections import Counter
from collections.abc import Sequence
from typing import Any

import gast

from adcompiler.errors import ADError
from adcompiler.frontend.names import FUNCTIONS, FunctionNode, assigned_names, own_nodes
from adcompiler.frontend.rewriting.generator_functions import is_generator
from adcompiler.frontend.rewriting.source_map import assigned, called, read, rename, unused_name
from adcompiler.frontend.rewriting.private_names import write_private_names
from adcompiler.frontend.rewriting.walking import walk
from adcompiler.frontend.sources.source import parse_function


Opened = tuple[list[tuple[str, gast.expr]], gast.Call | None]
BLOCKS = ("body", "orelse", "finalbody")
"""The attributes of statements that are blocks of others."""


def is_this(value: gast.Constant, function: gast.AST) -> bool:
    """Say whether a value is a function that was found when the text was read."""
    return value is function


def with_inlined_generators(
    node: FunctionNode, function: types.FunctionType
) -> tuple[FunctionNode, dict[str, types.FunctionType]]:
    """Return a parsed function with loops over generator functions written as one loop.

    The second result has the generator functions of the module whose text is part of it.
    """
    if not isinstance(node, gast.FunctionDef):
        return node, {}
    calls = [inner.iter for inner in own_nodes(node)
             if isinstance(inner, gast.For) and isinstance(inner.iter, gast.Call)]
    writer = Writer(node, function) if calls else None
    if writer is None or not any(map(writer.may_open, calls)):
        return node, {}
    new = [row for statement in copy.deepcopy(node.body) for row in writer.rows(statement)]
    if not writer.done:
        return node, {}
    node = copy.copy(node)
    node.body = new
    return node, writer.used


class Writer(gast.NodeTransformer):
    """Writes the loops of one function anew."""

    def __init__(self, node: gast.FunctionDef, function: types.FunctionType) -> None:
        self.function = function
        self.done = False
        self.used: dict[str, types.FunctionType] = {}
        nodes = list(walk(node))
        names = [n for n in nodes if isinstance(n, gast.Name)]
        self.names = {n.id for n in names}
        self.assigned = set(assigned_names(node)) | {
            n.id for n in walk(node.args) if isinstance(n, gast.Name)
        }
        self.stored = {n.id for n in names if not isinstance(n.ctx, gast.Load)}
        self.made = Counter(n.name for n in nodes if isinstance(n, gast.FunctionDef))
        self.inner = self.generators_in(node)

    def generators_in(self, node: gast.AST) -> dict[str, gast.FunctionDef]:
        """Return the generator functions that a block of statements defines, and nobody else."""
        return {
            one.name: one for rows in (getattr(node, name, ()) for name in BLOCKS)
            for one in (rows if isinstance(rows, list) else ())
            if isinstance(one, gast.FunctionDef) and not one.decorator_list and is_generator(one)
            and self.made[one.name] == 1 and one.name not in self.stored
        }

    def generic_visit(self, node: gast.AST) -> gast.AST:
        """Visit what is inside of a statement, where its own functions are known."""
        before, self.inner = self.inner, {**self.inner, **self.generators_in(node)}
        new = super().generic_visit(node)
        self.inner = before
        return new

    def rows(self, statement: gast.stmt) -> list[gast.stmt]:
        """Return what stands for a statement."""
        new = self.visit(statement)
        return new if isinstance(new, list) else [new]

    def visit_FunctionDef(self, node: gast.AST) -> gast.AST:
        """Leave inner functions as they are."""
        return node

    visit_Lambda = visit_ClassDef = visit_AsyncFunctionDef = visit_FunctionDef

    def visit_For(self, node: Any) -> gast.stmt | list[gast.stmt]:
        """Return the loop that one over a generator function is, with tests of what it calls."""
        loop: gast.For = node  # ast's declaration means its own nodes
        before = copy.deepcopy(loop)
        self.generic_visit(loop)
        if not isinstance(loop.iter, gast.Call) or loop.orelse:
            return loop
        tests: list[gast.expr] = []
        around, call = self.opened(loop.iter, tests)
        if call is None or (found := self.generator(call, tests)) is None or (
            rows := self.inlined(loop, found, call, around)
        ) is None:
            return loop
        self.done = True
        rows = [placed(row, loop) for row in rows]
        if not tests:
            return rows
        test = tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)
        return placed(gast.If(test, rows, [before]), loop)

    def may_open(self, call: gast.Call) -> bool:
        """Say whether a loop over a call may be one over a generator: asked before any is copied.
        """
        _, inner = self.opened(call, [])
        return inner is not None and (
            (isinstance(inner.func, gast.Name) and inner.func.id in self.made)
            or isinstance(self.value(inner.func), types.FunctionType)
        )

    def opened(self, call: gast.Call, tests: list[gast.expr]) -> Opened:
        """Return ``enumerate`` and ``islice`` around a call, with their arguments, and the call."""
        around: list[tuple[str, gast.expr]] = []
        while call.args and isinstance(call.args[0], gast.Call):
            known = self.value(call.func)
            rest = call.args[1:]
            if call.keywords or any(isinstance(arg, gast.Starred) for arg in call.args):
                return around, None
            if known is enumerate and len(rest) <= 1:
                around.append(("enumerate", rest[0] if rest else gast.Constant(0, None)))
            elif known is itertools.islice and len(rest) == 1:
                around.append(("islice", rest[0]))
            else:
                break
            tests.append(called(is_this, copy.deepcopy(call.func), gast.Constant(known, None)))
            call = call.args[0]
        return around, call

    def value(self, func: gast.expr) -> Any:
        """Return what a name, or an attribute of a module, means outside of the function."""
        if isinstance(func, gast.Attribute) and isinstance(func.value, gast.Name):
            module = self.value(func.value)
            return getattr(module, func.attr, None) if isinstance(
                module, types.ModuleType) else None
        if not isinstance(func, gast.Name) or func.id in self.assigned:
            return None
        names = self.function.__globals__
        built_in = names.get("__builtins__", {})
        built_in = built_in if isinstance(built_in, dict) else vars(built_in)
        return names.get(func.id, built_in.get(func.id))

    def generator(self, call: gast.Call, tests: list[gast.expr]) -> gast.FunctionDef | None:
        """Return the parsed generator function that is called, with names that are free here."""
        if any(isinstance(arg, gast.Starred) for arg in call.args) or any(
            k.arg is None for k in call.keywords
        ):
            return None
        if isinstance(call.func, gast.Name) and call.func.id in self.inner:
            return self.inner[call.func.id]
        found = self.value(call.func)
        if not isinstance(found, types.FunctionType) or found.__closure__ or (
            found.__globals__ is not self.function.__globals__
        ):
            return None
        try:
            parsed = parse_function(found).node
        except ADError:
            return None
        write_private_names(parsed, found.__code__)
        own = {*assigned_names(parsed), *(n.id for n in walk(parsed.args)
                                          if isinstance(n, gast.Name))}
        free = {n.id for n in walk(parsed) if isinstance(n, gast.Name)} - own
        if not is_generator(parsed) or free & self.assigned:
            return None
        tests.append(called(is_this, copy.deepcopy(call.func), gast.Constant(found, None)))
        if isinstance(call.func, gast.Name):
            self.used[call.func.id] = found
        return parsed

    def inlined(
        self, node: gast.For, generator: gast.FunctionDef, call: gast.Call,
        around: list[tuple[str, gast.expr]]
    ) -> list[gast.stmt] | None:
        """Return one loop of a loop and of the generator that it runs over; None if there is none.
        """
        generator = copy.deepcopy(generator)
        place = place_of_yield(generator)
        given = given_to(generator.args, call)
        if place is None or given is None:
            return None
        loop, index, yielded = place
        rest = loop.body[index + 1 :]
        if rest and leaves(node.body, gast.Continue):
            return None
        own = {*assigned_names(generator), *given}
        new = {name: unused_name(name, self.names) for name in sorted(own)}
        item = yielded.value or gast.Constant(None, None)
        before: list[gast.stmt] = []
        start = [assigned(new[name], copy.deepcopy(value)) for name, value in given.items()]
        counts: list[gast.stmt] = []
        for kind, argument in reversed(around):
            count, end = unused_name("count", self.names), unused_name("end", self.names)
            zero = gast.Constant(0, None)
            start += [assigned(count, copy.deepcopy(argument) if kind == "enumerate" else zero)]
            if kind == "islice":
                start += [assigned(end, copy.deepcopy(argument))]
                test = gast.Compare(read(count), [gast.GtE()], [read(end)])
                before = [gast.If(test, [gast.Break()], []), *before]
            else:
                item = gast.Tuple([read(count), item], gast.Load())
            counts.append(assigned(
                count, gast.BinOp(read(count), gast.Add(), gast.Constant(1, None))))
        if before and not isinstance(loop, gast.While):
            return None
        rename(generator, new)
        item_target = gast.Assign([node.target], item, None)
        loop.body = [
            *before, *without_return(loop.body[:index]), item_target, *counts, *node.body,
            *without_return(rest),
        ]
        return [*start, *generator.body]


def place_of_yield(
    generator: gast.FunctionDef
) -> tuple[gast.For | gast.While, int, gast.Yield] | None:
    """Return the loop that ends a generator, where in it the yield stands, and the yield.

    None for generators of another form.
    """
    *first, loop = generator.body
    nodes = list(own_nodes(generator))
    yields = [n for n in nodes if isinstance(n, (gast.Yield, gast.YieldFrom))]
    if not isinstance(loop, (gast.While, gast.For)) or loop.orelse or len(yields) != 1 or any(
        isinstance(n, (gast.Global, gast.Nonlocal, *FUNCTIONS)) for n in nodes if n is not generator
    ) or any(isinstance(n, gast.Return) for one in first for n in walk(one)):
        return None
    places = [
        n for n, one in enumerate(loop.body)
        if isinstance(one, gast.Expr) and one.value is yields[0]
    ]
    inner = [
        n for one in loop.body for n in walk(one) if isinstance(n, (gast.For, gast.While))
    ]
    returns = [n for one in inner for n in walk(one) if isinstance(n, gast.Return)]
    (found,) = yields
    if len(places) != 1 or not isinstance(found, gast.Yield) or returns:
        return None
    return loop, places[0], found


def given_to(args: gast.arguments, call: gast.Call) -> dict[str, gast.expr] | None:
    """Return the expressions that parameters get; None where that takes more than names."""
    names = [arg.id for arg in (*args.posonlyargs, *args.args)]
    if args.vararg or args.kwarg or args.kwonlyargs or len(call.args) > len(names):
        return None
    found = dict(zip(names, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg not in names or keyword.arg in found:
            return None
        found[keyword.arg] = keyword.value
    for name, default in zip(names[len(names) - len(args.defaults) :], args.defaults, strict=True):
        if name not in found:
            if not isinstance(default, gast.Constant):
                return None
            found[name] = default
    return found if len(found) == len(names) else None


def leaves(body: Sequence[gast.stmt], kind: type[gast.stmt]) -> bool:
    """Say whether statements hold a ``break`` or ``continue`` of the loop around them."""
    waiting: list[gast.AST] = list(body)
    while waiting:
        one = waiting.pop()
        if isinstance(one, kind):
            return True
        if isinstance(one, (gast.For, gast.While)):
            waiting += one.orelse
        elif not isinstance(one, FUNCTIONS):
            waiting += list(gast.iter_child_nodes(one))
    return False


def without_return(body: Sequence[gast.stmt]) -> list[gast.stmt]:
    """Return statements with the end of the loop in place of ``return``."""

    class Ends(gast.NodeTransformer):
        def visit_Return(self, node: gast.AST) -> gast.stmt:
            return gast.Break()

    return [Ends().visit(statement) for statement in body]


def placed(node: gast.stmt, like: gast.For) -> gast.stmt:
    """Return a node with all that is in it at the place of another one, where it has none here."""
    body = {id(n) for one in like.body for n in walk(one)}
    body |= {id(n) for n in walk(like.target)}
    for inner in walk(node):
        if id(inner) not in body:
            gast.copy_location(inner, like)
    return node
