"""Effects of iterators that are computed when they are made: refused unless that is their time.

Python evaluates an item of a generator, ``map`` or ``filter`` when it is asked for. What is
computed of it at once does the same as long as that has no effect, or a call asks for all items
before anything else is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from adcompiler.analyses.purity import Purity, checks
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Do, Let, Origin, Rhs, Star, Statement, Var, unstar,
)
from adcompiler.ir.visit import definitions, walk
from adcompiler.ops.registry import REGISTRY
from adcompiler.infer.writer import Writer
from adcompiler.typed.unit import Unit


def refuse_early(s: Writer, made: Atom, statements: Iterable[Statement], origin: Origin) -> None:
    """Record that an iterator cannot be compiled, if its ``statements`` have effects.

    ``at_once`` takes that back.
    """
    block = Block(tuple(statements), ())
    if not isinstance(made, Var) or not (writes_outside(s, block) or leaves_traces(s.unit, block)):
        return
    count = len(s.unit.findings)
    s.reject(
        origin, "an iterator whose items have effects when they are computed: they write, print "
        "or draw random numbers", "write a loop, or make a list of it where it is made: "
        "`list(...)`", "iterators",
    )
    for finding in s.unit.findings[count:]:
        s.unit.iterators.early[made] = (finding, len(s.out))


def at_once(s: Writer, function: Any, args: Sequence[Atom | Star], kwargs: dict[str, Atom]) -> None:
    """Take back what is recorded of iterators whose items are all asked for as they are made."""
    early = s.unit.iterators.early
    for arg in args:
        made = unstar(arg)
        if made in early and early[made][1] == len(s.out) and (
            isinstance(arg, Star) or exhausts(function, kwargs)
        ):
            finding, _ = early.pop(made)
            if finding in s.unit.findings:
                s.unit.findings.remove(finding)


def made_by_now(s: Writer, made: Atom) -> None:
    """Note that all that was written for an iterator stands behind what was written before."""
    early = s.unit.iterators.early
    if made in early:
        early[made] = early[made][0], len(s.out)


def exhausts(function: Callable[..., Any], kwargs: dict[str, Atom]) -> bool:
    """Say whether a call runs through what it is given and does nothing else meanwhile."""
    if isinstance(getattr(function, "__self__", None), str):
        function = getattr(str, function.__name__)
    return REGISTRY.facts(function).exhausts is True and "key" not in kwargs


def writes_outside(s: Writer, block: Block) -> bool:
    """Say whether storage was written into by ``block`` that was not made there."""
    made = definitions(block)
    return s.heap is not None and any(
        value in made and root not in made for root, value in s.heap.state.latest.items()
    )


def leaves_traces(unit: Unit, block: Block) -> bool:
    """Say whether ``block`` does more than give values and raise, writes apart."""
    purity = Purity(unit.type, unit.definition)
    seen: set[Any] = set()

    def traces(block: Block) -> bool:
        return any(
            not checks(statement.rhs) and has_trace(statement.rhs)
            for statement in walk(block) if isinstance(statement, Do | Let)
        )

    def has_trace(rhs: Rhs) -> bool:
        if not isinstance(rhs, Call) or purity.is_pure(rhs):
            return False
        function = rhs.func.value if isinstance(rhs.func, Const) else None
        callee = getattr(function, "callee", function)
        body = getattr(getattr(callee, "function", None), "body", None)
        if not isinstance(body, Block) or not hasattr(callee, "recursive"):
            return True
        if id(callee) in seen:
            return False
        seen.add(id(callee))
        return traces(body)

    return traces(block)
