"""Regions: control flow as statements that hold blocks, and what it does to values.

A region reads atoms from around it, binds variables for its blocks, and defines variables for what
follows. All of this is asked through ``Region``, so that an analysis names no kind of region: it
follows values along ``edges``. A new kind is a class of this module, a way to lower it, and a way
to reverse it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from adcompiler.ir.atoms import Atom, Origin, Var
from adcompiler.support.structs import dataclass

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from adcompiler.ir.nodes import Statement

LEAVES = "leaves"
ENTERS = "enters"
AGAIN = "again"
ENDS = "ends"
LAST = "last"
SKIPS = "skips"
ITEM = "item"
COLLECTED = "collected"


class Edge(NamedTuple):
    """A way for a value through control flow: ``target`` may get ``source``.

    ``how`` tells which way: a result *leaves* an arm. A carried value *enters* a loop and goes on
    *again* with the next iteration; a result is as that *ends*, which may also be told without it:
    a result is what the *last* iteration yields, or what *skips* the loop if there is none. In all
    these the target is the source itself. An *item* is one of those of an iterable, and a list
    holds what a loop *collected*.
    """

    target: Var
    source: Atom
    how: str

    @property
    def hands_on(self) -> bool:
        """Whether the target is the source, and not a part of it or made of several."""
        return self.how != ITEM and self.how != COLLECTED


Node = TypeVar("Node", bound="DataclassInstance")


def altered(node: Node, **new: Any) -> Node:
    """Return a node with other values of its fields; itself if they are those that it has."""
    if all(is_same(getattr(node, name), value) for name, value in new.items()):
        return node
    return replace(node, **new)


def is_same(old: Any, new: Any) -> bool:
    """Say whether the value of a field is the same, or a tuple of the same."""
    return old is new or (
        type(old) is type(new) is tuple and len(old) == len(new) and all(map(is_, old, new))
    )


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Statements, then the atoms yielded to the enclosing construct; ``diverges`` if it raises."""

    statements: tuple[Statement, ...]
    yields: tuple[Atom, ...] = ()
    diverges: bool = False


class Region:
    """A statement that holds blocks."""

    __slots__ = ()
    results: tuple[Var, ...]
    origin: Origin

    @abstractmethod
    def blocks(self) -> tuple[Block, ...]:
        """Return the blocks inside."""

    @abstractmethod
    def with_blocks(self, new: Callable[[Block], Block]) -> Self:
        """Return the region with ``new`` of each of its blocks."""

    @abstractmethod
    def reads(self) -> tuple[Atom, ...]:
        """Return the atoms that it reads outside its blocks."""

    @abstractmethod
    def with_reads(self, new: Callable[[Any], Any]) -> Self:
        """Return the region with atoms replaced that it reads outside its blocks."""

    @abstractmethod
    def decides(self) -> tuple[Atom, ...]:
        """Return the atoms that decide which of its blocks run, and how often."""

    @abstractmethod
    def renamed(self, new: Callable[[Var], Var]) -> Self:
        """Return the region with other variables defined by it, and bound for its blocks."""

    def arms(self) -> tuple[Block, ...]:
        """Return the blocks of which one, run once, gives the results; none for a loop."""
        return ()

    def bodies(self) -> tuple[Block, ...]:
        """Return the blocks that compute values: all but the test of a loop."""
        return self.blocks()

    def with_bodies(self, new: Callable[[Block], Block]) -> Self:
        """Return the region with ``new`` of each of its bodies."""
        return self.with_blocks(new)

    def may_follow(self) -> tuple[Block, ...]:
        """Return the blocks that may run when others of it, or they themselves, have been begun."""
        return ()

    def watched(self) -> tuple[Block, ...]:
        """Return the blocks of which other blocks catch exceptions."""
        return ()

    def may_catch(self) -> bool:
        """Say whether what is raised inside may end there, by a handler or a context."""
        return bool(self.watched())

    def slots(self) -> tuple[tuple[Var, ...], ...]:
        """Return the variables that each value goes through which it hands on."""
        return tuple((result,) for result in self.results)

    def with_handed(self, new: Callable[[int, Atom], Atom]) -> Self:
        """Return the region with others of the atoms that it hands on, by their slot."""
        return self.with_bodies(lambda body: replace(body, yields=tuple(
            new(i, atom) if i < len(self.results) else atom for i, atom in enumerate(body.yields)
        )))

    def defines(self) -> tuple[Var, ...]:
        """Return the variables that it defines for what follows."""
        return self.results

    def binds(self) -> tuple[Var, ...]:
        """Return the variables that it binds for its own blocks."""
        return ()

    def edges(self) -> Iterator[Edge]:
        """Yield how values get into it, round in it and out of it."""
        for arm in self.arms():
            if not arm.diverges:
                for result, atom in zip(self.results, arm.yields, strict=False):
                    yield Edge(result, atom, LEAVES)


@dataclass(frozen=True, slots=True, eq=False)
class If(Region):
    """``results`` are what the chosen arm yields."""

    condition: Atom
    then: Block
    orelse: Block
    results: tuple[Var, ...]
    origin: Origin

    def blocks(self) -> tuple[Block, ...]:
        return (self.then, self.orelse)

    def arms(self) -> tuple[Block, ...]:
        return (self.then, self.orelse)

    def with_blocks(self, new: Callable[[Block], Block]) -> If:
        return altered(self, then=new(self.then), orelse=new(self.orelse))

    def reads(self) -> tuple[Atom, ...]:
        return (self.condition,)

    def with_reads(self, new: Callable[[Any], Any]) -> If:
        return altered(self, condition=new(self.condition))

    def decides(self) -> tuple[Atom, ...]:
        return (self.condition,)

    def renamed(self, new: Callable[[Var], Var]) -> If:
        return replace(self, results=tuple(map(new, self.results)))


@dataclass(frozen=True, slots=True, eq=False)
class Loop(Region):
    """A ``for`` (``condition`` is None) or a ``while`` (no ``items``).

    ``items`` are bound to the elements of ``iterables``, in lockstep. ``params`` are the carried
    values, first ``inits``; ``body`` yields their next values, then one value for each of
    ``collects`` (lists of what every iteration yielded), then, if ``stops``, the atom that ends
    the loop when it is true. ``results`` are the carried values after the last iteration.
    """

    items: tuple[Var, ...]
    iterables: tuple[Atom, ...]
    condition: Block | None
    params: tuple[Var, ...]
    inits: tuple[Atom, ...]
    body: Block
    results: tuple[Var, ...]
    origin: Origin
    collects: tuple[Var, ...] = ()
    stops: bool = False

    def next_values(self) -> tuple[Atom, ...]:
        """Return the atoms that become the carried values of the next iteration."""
        return self.body.yields[: len(self.params)]

    def collected(self) -> tuple[Atom, ...]:
        """Return the atoms that are appended to ``collects``."""
        return self.body.yields[len(self.params) : len(self.params) + len(self.collects)]

    def stop(self) -> Atom | None:
        """Return the atom that ends the loop when true."""
        return self.body.yields[-1] if self.stops else None

    def blocks(self) -> tuple[Block, ...]:
        return (self.body,) if self.condition is None else (self.condition, self.body)

    def bodies(self) -> tuple[Block, ...]:
        return (self.body,)

    def with_bodies(self, new: Callable[[Block], Block]) -> Loop:
        return altered(self, body=new(self.body))

    def may_follow(self) -> tuple[Block, ...]:
        return self.blocks()

    def slots(self) -> tuple[tuple[Var, ...], ...]:
        return tuple(zip(self.params, self.results, strict=True))

    def with_handed(self, new: Callable[[int, Atom], Atom]) -> Loop:
        inits = tuple(new(i, atom) for i, atom in enumerate(self.inits))
        return replace(Region.with_handed(self, new), inits=inits)

    def with_blocks(self, new: Callable[[Block], Block]) -> Loop:
        test = None if self.condition is None else new(self.condition)
        return altered(self, condition=test, body=new(self.body))

    def defines(self) -> tuple[Var, ...]:
        return (*self.results, *self.collects)

    def binds(self) -> tuple[Var, ...]:
        return (*self.items, *self.params)

    def reads(self) -> tuple[Atom, ...]:
        return (*self.iterables, *self.inits)

    def with_reads(self, new: Callable[[Any], Any]) -> Loop:
        return altered(
            self, iterables=tuple(map(new, self.iterables)), inits=tuple(map(new, self.inits))
        )

    def decides(self) -> tuple[Atom, ...]:
        test = () if self.condition is None else self.condition.yields
        stop = self.stop()
        return (*self.iterables, *test, *(() if stop is None else (stop,)))

    def renamed(self, new: Callable[[Var], Var]) -> Loop:
        return replace(
            self, items=tuple(map(new, self.items)), params=tuple(map(new, self.params)),
            results=tuple(map(new, self.results)), collects=tuple(map(new, self.collects)),
        )

    def edges(self) -> Iterator[Edge]:
        following = () if self.body.diverges else self.next_values()
        collected = () if self.body.diverges else self.collected()
        for item, iterable in zip(self.items, self.iterables, strict=True):
            yield Edge(item, iterable, ITEM)
        for k, (param, init, result) in enumerate(
            zip(self.params, self.inits, self.results, strict=True)
        ):
            yield Edge(param, init, ENTERS)
            yield Edge(result, init, SKIPS)
            if k < len(following):
                yield Edge(param, following[k], AGAIN)
                yield Edge(result, following[k], LAST)
            yield Edge(result, param, ENDS)
        for collect, atom in zip(self.collects, collected, strict=False):
            yield Edge(collect, atom, COLLECTED)


@dataclass(frozen=True, slots=True, eq=False)
class With(Region):
    """``with context as target``; ``results`` are what the body yields."""

    context: Atom
    target: Var | None
    body: Block
    results: tuple[Var, ...]
    origin: Origin

    def blocks(self) -> tuple[Block, ...]:
        return (self.body,)

    def arms(self) -> tuple[Block, ...]:
        return (self.body,)

    def with_blocks(self, new: Callable[[Block], Block]) -> With:
        return altered(self, body=new(self.body))

    def may_catch(self) -> bool:
        return True

    def binds(self) -> tuple[Var, ...]:
        return () if self.target is None else (self.target,)

    def reads(self) -> tuple[Atom, ...]:
        return (self.context,)

    def with_reads(self, new: Callable[[Any], Any]) -> With:
        return altered(self, context=new(self.context))

    def decides(self) -> tuple[Atom, ...]:
        return (self.context,)

    def renamed(self, new: Callable[[Var], Var]) -> With:
        target = None if self.target is None else new(self.target)
        return replace(self, target=target, results=tuple(map(new, self.results)))


@dataclass(frozen=True, slots=True, eq=False)
class Handler:
    """``except exception as name`` of a Try: a class or a tuple of classes."""

    exception: Atom
    name: Var | None
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class Try(Region):
    """``results`` are what the body yields, or the handler that took over.

    A handler reads nothing that the body defines. ``else`` and ``finally`` are written by means of
    branches and of handlers that raise again.
    """

    body: Block
    handlers: tuple[Handler, ...]
    results: tuple[Var, ...]
    origin: Origin

    def blocks(self) -> tuple[Block, ...]:
        return (self.body, *(handler.body for handler in self.handlers))

    def arms(self) -> tuple[Block, ...]:
        return self.blocks()

    def may_follow(self) -> tuple[Block, ...]:
        return tuple(handler.body for handler in self.handlers)

    def watched(self) -> tuple[Block, ...]:
        return (self.body,)

    def with_blocks(self, new: Callable[[Block], Block]) -> Try:
        return altered(self, body=new(self.body), handlers=tuple(
            altered(handler, body=new(handler.body)) for handler in self.handlers
        ))

    def binds(self) -> tuple[Var, ...]:
        return tuple(handler.name for handler in self.handlers if handler.name is not None)

    def reads(self) -> tuple[Atom, ...]:
        return tuple(handler.exception for handler in self.handlers)

    def with_reads(self, new: Callable[[Any], Any]) -> Try:
        return altered(self, handlers=tuple(
            altered(handler, exception=new(handler.exception)) for handler in self.handlers
        ))

    def decides(self) -> tuple[Atom, ...]:
        return self.reads()

    def renamed(self, new: Callable[[Var], Var]) -> Try:
        handlers = tuple(
            replace(h, name=None if h.name is None else new(h.name)) for h in self.handlers
        )
        return replace(self, handlers=handlers, results=tuple(map(new, self.results)))
