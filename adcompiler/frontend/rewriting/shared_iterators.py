"""Iterators that a function asks in several places: ``it = iter(x)`` and ``next(it)``, twice.

Such an iterator becomes a sequence and a place in it (``frontend/cursors.py``) where it is known
when compiling what it runs over; so do ``a, b = tee(x)``, and a generator that ``next`` asks. A
loop over it, or over ``zip``, ``enumerate`` or ``islice`` of it, takes item by item then, so that
what else asks it, or a ``break``, finds it where it is.
"""

from __future__ import annotations

import copy
import itertools
from collections import Counter
from collections.abc import Iterable
from typing import Any

import gast

from adcompiler.frontend.cursors import (
    count_of, finish, goes_over, has_more, is_shared, shared, shared_generator, take, taken_by,
)
from adcompiler.frontend.names import COMPREHENSIONS, FUNCTIONS, assigned_names, pairs
from adcompiler.frontend.rewriting.placing import rewritten, unused_name
from adcompiler.frontend.rewriting.walking import walk

TOGETHER: dict[str, Any] = {"zip": zip, "enumerate": enumerate, "islice": itertools.islice}
"""Functions of iterators, by their names, a loop over which takes item by item."""
CONSUMERS = ("list", "tuple", "set", "dict", "sorted", "sum", "max", "min")
"""Names of functions that take all items of what they are given, and do nothing else meanwhile."""
MAKING = (gast.Call, gast.GeneratorExp)


def with_shared_iterators(node: Any) -> Any:
    """Return a function in which iterators that are asked in several places are written so."""
    if isinstance(node, gast.Lambda) or not made_in(node):
        return node
    names = shared_names(node)
    if not names:
        return node
    node = copy.deepcopy(node)
    writer = Writer(names, node)
    node.body = rewritten(writer, node.body)
    return node


def is_iter(value: Any) -> bool:
    """Say whether an expression is ``iter(items)``."""
    return (
        isinstance(value, gast.Call) and isinstance(value.func, gast.Name)
        and value.func.id == "iter" and len(value.args) == 1 and not value.keywords
        and not isinstance(value.args[0], gast.Starred)
    )


def is_tee(value: Any) -> bool:
    """Say whether an expression is a call of what may be ``itertools.tee``."""
    return isinstance(value, gast.Call) and "tee" in (
        getattr(value.func, "id", ""), getattr(value.func, "attr", ""))


def makings(node: Any, asked: frozenset[str] = frozenset()) -> list[tuple[str, Any]]:
    """Return the names that a statement gives to iterators, each with what makes that.

    ``asked`` are names that ``next`` is called with: what they are given may be a generator.
    """
    if not isinstance(node, gast.Assign) or len(node.targets) != 1:
        return []
    target = node.targets[0]
    if isinstance(target, gast.Tuple) and is_tee(node.value):
        return [(one.id, node.value) for one in target.elts if isinstance(one, gast.Name)]
    return [
        (one.id, value) for one, value in pairs(target, node.value)
        if isinstance(one, gast.Name) and (
            is_iter(value) or (one.id in asked and isinstance(value, MAKING)))
    ]


def asked_by_next(function: Any) -> frozenset[str]:
    """Return the names that ``next`` is called with."""
    return _asked_by_next(walk(function))


def _asked_by_next(nodes: Iterable[Any]) -> frozenset[str]:
    return frozenset(
        node.args[0].id for node in nodes
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Name)
        and node.func.id == "next" and node.args and isinstance(node.args[0], gast.Name)
    )


def made_in(node: Any, asked: frozenset[str] | None = None) -> Counter[str]:
    """Return how often a piece of source gives each name to an iterator."""
    nodes = list(walk(node))
    asked = _asked_by_next(nodes) if asked is None else asked
    return Counter(
        name for inner in nodes if isinstance(inner, gast.Assign)
        for name, _ in makings(inner, asked))


def shared_names(function: Any) -> frozenset[str]:
    """Return the names of iterators that are read in two places; none that others see or assign."""
    if {"iter", "next"} & set(assigned_names(function)):
        return frozenset()
    asked = asked_by_next(function)
    inner = [node for node in walk(function) if isinstance(node, FUNCTIONS)
             and node is not function]
    seen = {
        n.id for other in inner for n in walk(other)
        if isinstance(n, gast.Name) and n.id not in assigned_names(other)
    }
    stores, reads = Counter[str](), Counter[str]()
    hidden = {id(n) for other in inner for n in walk(other)}
    for node in walk(function):
        if isinstance(node, gast.Name) and id(node) not in hidden:
            (stores if isinstance(node.ctx, (gast.Store, gast.Del)) else reads)[node.id] += 1
    made = made_in(function, asked)
    for loop in walk(function):
        if isinstance(loop, (gast.For, gast.While, *COMPREHENSIONS)):
            again = {n.id for part in repeated(loop) for n in walk(part)
                     if isinstance(n, gast.Name)} - set(made_in(loop, asked))
            reads.update(again)  # more than once
    return frozenset(
        name for name, count in made.items()
        if count == stores[name] and reads[name] > 1 and name not in seen
    )


def repeated(loop: Any) -> list[Any]:
    """Return the parts of a loop or a comprehension that may run more than once."""
    if isinstance(loop, gast.For):
        return list(loop.body)
    if isinstance(loop, gast.While):
        return [loop.test, *loop.body]
    first = {id(n) for n in walk(loop.generators[0].iter)}
    return [n for n in walk(loop) if isinstance(n, gast.Name) and id(n) not in first]


class Writer(gast.NodeTransformer):  # type: ignore[misc]
    """Writes the makings of some iterators, and what runs over them, anew."""

    def __init__(self, names: frozenset[str], function: Any) -> None:
        self.names = names
        self.asked = asked_by_next(function)
        self.taken = {n.id for n in walk(function) if isinstance(n, gast.Name)}
        self.catches = any(isinstance(n, gast.Try) for n in walk(function))

    def visit_Assign(self, node: Any) -> Any:
        """``it = iter(x)``, ``it = values(x)``, ``a, b = islice(it, 2)``."""
        for name, call in makings(node, self.asked):
            if name not in self.names or is_tee(call):
                continue
            if is_iter(call):
                new = called(shared, call.func, *call.args)
                call.func, call.args = new.func, new.args
            else:
                node.value = replaced(node.value, call, called(shared_generator, call))
        if isinstance(node.targets[0], gast.Tuple) and not any(
            isinstance(one, gast.Starred) for one in node.targets[0].elts
        ):
            node.value = self.taken_at_once(node.value, gast.Constant(None, None))
        return self.generic_visit(node)

    def visit_Call(self, node: Any) -> Any:
        """``list(zip(it, it))``, and of a generator expression over it."""
        self.generic_visit(node)
        if isinstance(node.func, gast.Name) and node.func.id in CONSUMERS and len(node.args) == 1:
            (given,) = node.args
            if isinstance(given, gast.GeneratorExp):
                self.first_of(given, node.func)
            else:
                node.args = [self.taken_at_once(given, node.func)]
        return node

    def visit_ListComp(self, node: Any) -> Any:
        """``[... for ... in zip(it, it)]``."""
        self.generic_visit(node)
        self.first_of(node, gast.Constant(None, None))
        return node

    visit_SetComp = visit_DictComp = visit_ListComp

    def first_of(self, node: Any, consumer: Any) -> None:
        """Let a comprehension take at once what it runs over, if nothing else in it asks that."""
        first = node.generators[0]
        here = {id(n) for n in walk(first.iter)}
        if not any(
            isinstance(n, gast.Name) and n.id in self.names and id(n) not in here
            for n in walk(node)
        ):
            first.iter = self.taken_at_once(first.iter, consumer)

    def taken_at_once(self, node: Any, consumer: Any) -> Any:
        """Return ``zip``, ``enumerate`` or ``islice`` of an iterator as a list of all its items."""
        if self.catches or not self.is_together(node):
            return node
        return called(taken_by, copy.deepcopy(consumer), node.func, *node.args)

    def is_together(self, node: Any) -> bool:
        """Say whether ``zip``, ``enumerate`` or ``islice`` of a shared iterator is meant."""
        return (
            isinstance(node, gast.Call) and called_name(node) in TOGETHER and not node.keywords
            and not any(isinstance(arg, gast.Starred) for arg in node.args)
            and any(isinstance(arg, gast.Name) and arg.id in self.names for arg in node.args)
        )

    def visit_For(self, node: Any) -> Any:
        """``for v in it``: a ``while`` loop if it is known what the iterator runs over."""
        together = self.is_together(node.iter) and not node.orelse
        if not together:
            node.iter = self.visit(node.iter)
        node.body = rewritten(self, node.body)
        node.orelse = rewritten(self, node.orelse)
        if together:
            return self.item_by_item(node)
        if not isinstance(node.iter, gast.Name) or node.iter.id not in self.names:
            return node
        again: Any = copy.deepcopy(node)
        item = gast.Assign([again.target], called(take, again.iter), None)
        end = gast.Expr(called(finish, again.iter))
        loop = gast.While(called(has_more, again.iter), [item, *again.body], [end, *again.orelse])
        return gast.copy_location(
            gast.If(called(is_shared, node.iter), [loop], [node]), node)

    def item_by_item(self, node: Any) -> list[Any]:
        """Return a loop over ``zip``, ``enumerate`` or ``islice`` of iterators as a ``while``."""
        again: Any = copy.deepcopy(node)
        name, args = called_name(node.iter), node.iter.args
        front: list[Any] = []
        cursors: list[str] = []
        for k, arg in enumerate(args if name == "zip" else args[:1]):
            if isinstance(arg, gast.Name) and arg.id in self.names:
                cursors.append(arg.id)
                continue
            cursors.append(unused_name("items", self.taken))
            front.append(assigned(cursors[-1], called(shared, read("iter"), arg)))
            args[k] = read(cursors[-1])
        if (name == "islice" and len(args) != 2) or (name == "enumerate" and len(args) > 2):
            return [node]
        steps: list[Any] = []
        if name != "zip":
            count = unused_name("count", self.taken)
            of = args[1] if len(args) == 2 else gast.Constant(0, None)
            begun = called(count_of, of) if name == "islice" else of
            steps.append(assigned(count, begun))
        items = [unused_name("item", self.taken) for _ in cursors]
        body: list[Any] = []
        for cursor, item in zip(cursors, items, strict=True):
            end = [gast.Expr(called(finish, read(cursor))), gast.Break()]
            body.append(gast.If(gast.UnaryOp(gast.Not(), called(has_more, read(cursor))), end, []))
            body.append(assigned(item, called(take, read(cursor))))
        test: Any = gast.Constant(True, None)
        value: Any = gast.Tuple([read(item) for item in items], gast.Load())
        if name == "enumerate":
            value = gast.Tuple([read(count), read(items[0])], gast.Load())
            moved = gast.BinOp(read(count), gast.Add(), gast.Constant(1, None))
        elif name == "islice":
            value = read(items[0])
            test = gast.Compare(read(count), [gast.Gt()], [gast.Constant(0, None)])
            moved = gast.BinOp(read(count), gast.Sub(), gast.Constant(1, None))
        body.append(gast.Assign([again.target], value, None))
        if name != "zip":
            body.append(assigned(count, moved))
        wanted = gast.Constant(TOGETHER[name], None)
        meant = called(goes_over, copy.deepcopy(node.iter.func), wanted, *map(read, cursors))
        loop = gast.While(test, [*body, *again.body], [])
        return [*front, gast.If(meant, [*steps, loop], [node])]


def replaced(node: Any, old: Any, new: Any) -> Any:
    """Return an expression, or what is in a display, with ``new`` in place of ``old``."""
    if isinstance(node, (gast.Tuple, gast.List)):
        node.elts = [replaced(one, old, new) for one in node.elts]
    return new if node is old else node


def called_name(node: Any) -> str:
    """Return the name, or the last part of it, of what is called."""
    found = getattr(node.func, "id", None) or getattr(node.func, "attr", "")
    return str(found)


def called(function: Any, *args: Any) -> Any:
    """Return a call of a function of the compiler."""
    return gast.Call(gast.Constant(function, None), list(args), [])


def read(name: str) -> Any:
    """Return an expression that reads a variable."""
    return gast.Name(name, gast.Load(), None, None)


def assigned(name: str, value: Any) -> Any:
    """Return an assignment."""
    return gast.Assign([gast.Name(name, gast.Store(), None, None)], value, None)
