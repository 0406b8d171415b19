"""Iterators that a function asks in several places: ``it = iter(x)`` and ``next(it)``, twice.

Such an iterator becomes a sequence and a place in it (``runtime/substitutes.py``: Cursor) where it
is known when compiling what it runs over; a loop over it takes item by item then, so that what else
asks it, or a ``break``, finds it where it is.
"""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import gast

from adcompiler.frontend.names import COMPREHENSIONS, FUNCTIONS, assigned_names, pairs
from adcompiler.runtime.substitutes import Cursor


def shared(make: Any, items: Any) -> Any:
    """``make(items)``, which is ``iter`` or what goes by its name."""
    return make(items)


def is_shared(value: Any) -> bool:
    """Say whether a value is a sequence and a place in it."""
    return isinstance(value, Cursor)


def has_more(cursor: Cursor) -> bool:
    """Say whether a loop over an iterator goes on."""
    return cursor.position < len(cursor.items)


def take(cursor: Cursor) -> Any:
    """Return the next item, which is there."""
    cursor.position = cursor.position + 1
    return cursor.items[cursor.position - 1]


def next_or(cursor: Cursor, default: Any) -> Any:
    """``next(it, default)``."""
    return take(cursor) if has_more(cursor) else default


def finish(cursor: Cursor) -> None:
    """Let an iterator that has come to its end stay there."""
    cursor.close()


def with_shared_iterators(node: Any) -> Any:
    """Return a function in which iterators that are asked in several places are written so."""
    if isinstance(node, gast.Lambda) or not made_in(node):
        return node
    names = shared_names(node)
    if not names:
        return node
    node = copy.deepcopy(node)
    node.body = [new for statement in node.body for new in Writer(names).rows(statement)]
    return node


def makings(node: Any) -> list[tuple[str, Any]]:
    """Return the names that a statement gives to ``iter(items)``, each with that call."""
    if not isinstance(node, gast.Assign) or len(node.targets) != 1:
        return []
    return [
        (target.id, value) for target, value in pairs(node.targets[0], node.value)
        if isinstance(target, gast.Name) and isinstance(value, gast.Call)
        and isinstance(value.func, gast.Name) and value.func.id == "iter"
        and len(value.args) == 1 and not value.keywords
        and not isinstance(value.args[0], gast.Starred)
    ]


def made_in(node: Any) -> Counter[str]:
    """Return how often a piece of source gives each name to ``iter(items)``."""
    return Counter(name for inner in gast.walk(node) for name, _ in makings(inner))


def shared_names(function: Any) -> frozenset[str]:
    """Return the names of iterators that are read in two places; none that others see or assign."""
    if "iter" in assigned_names(function):
        return frozenset()
    inner = [node for node in gast.walk(function) if isinstance(node, FUNCTIONS)
             and node is not function]
    seen = {
        n.id for other in inner for n in gast.walk(other)
        if isinstance(n, gast.Name) and n.id not in assigned_names(other)
    }
    stores, reads = Counter[str](), Counter[str]()
    hidden = {id(n) for other in inner for n in gast.walk(other)}
    for node in gast.walk(function):
        if isinstance(node, gast.Name) and id(node) not in hidden:
            (stores if isinstance(node.ctx, (gast.Store, gast.Del)) else reads)[node.id] += 1
    made = made_in(function)
    for loop in gast.walk(function):
        if isinstance(loop, (gast.For, gast.While, *COMPREHENSIONS)):
            again = {n.id for part in repeated(loop) for n in gast.walk(part)
                     if isinstance(n, gast.Name)} - set(made_in(loop))
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
    first = {id(n) for n in gast.walk(loop.generators[0].iter)}
    return [n for n in gast.walk(loop) if isinstance(n, gast.Name) and id(n) not in first]


class Writer(gast.NodeTransformer):  # type: ignore[misc]
    """Writes the makings of some iterators, and the loops over them, anew."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def rows(self, statement: Any) -> list[Any]:
        """Return what stands for a statement; what is written anew has its place."""
        new = self.visit(statement)
        rows = new if isinstance(new, list) else [new]
        for row in rows:
            for inner in gast.walk(row):
                if getattr(inner, "lineno", None) is None:
                    gast.copy_location(inner, statement)
        return rows

    def visit_Assign(self, node: Any) -> Any:
        """``it = iter(x)``."""
        for name, call in makings(node):
            if name in self.names:
                new = called(shared, call.func, *call.args)
                call.func, call.args = new.func, new.args
        return node

    def visit_For(self, node: Any) -> Any:
        """``for v in it``: a ``while`` loop if it is known what the iterator runs over."""
        node.body = [new for statement in node.body for new in self.rows(statement)]
        node.orelse = [new for statement in node.orelse for new in self.rows(statement)]
        if not isinstance(node.iter, gast.Name) or node.iter.id not in self.names:
            return node
        again: Any = copy.deepcopy(node)
        item = gast.Assign([again.target], called(take, again.iter), None)
        end = gast.Expr(called(finish, again.iter))
        loop = gast.While(called(has_more, again.iter), [item, *again.body], [end, *again.orelse])
        return gast.copy_location(
            gast.If(called(is_shared, node.iter), [loop], [node]), node)


def called(function: Any, *args: Any) -> Any:
    """Return a call of a function of the compiler."""
    return gast.Call(gast.Constant(function, None), list(args), [])
