"""Pushforwards out of pullbacks: a pullback is linear in its cotangent, so it can be transposed.

For ``x_bar = A y_bar`` the pushforward is ``y_dot = A^T x_dot``, and ``A^T`` is what the reverse of
the pullback with respect to ``y_bar`` applies to a cotangent of ``x_bar``. Both conventions use the
inner product ``Re(conj(a) b)``, so this holds for complex numbers too. The value of ``y_bar`` does
not matter; where its shape is read, the primal result, which has that shape, takes its place.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

from adcompiler.analyses.activity import active_variables, varied_variables
from adcompiler.analyses.storage import METADATA
from adcompiler.derive.primal_and_pullback import CalleePart
from adcompiler.derive.reverse.cotangents import cotangent_type
from adcompiler.derive.reverse.reverser import Reverser
from adcompiler.derive.rules import Applied, shapes_of, write_check
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Do, Item, Let, Origin, Pack, Raise, Region, Rhs, Star,
    Statement, Var, operands, unstar,
)
from adcompiler.ir.regions import COLLECTED, ITEM, LAST, SKIPS
from adcompiler.ir.visit import substitute_block, walk, with_blocks
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.ops.rules import Rule
from adcompiler.runtime import as_tangent, project, unbroadcast, zeros_like
from adcompiler.runtime.adjoints.shaping import read_order
from adcompiler.runtime.checking import check_shape
from adcompiler.infer.calls.binding import moved
from adcompiler.infer.inference import Inference
from adcompiler.support.signatures import signature as signature_of

TEMPLATES = {as_tangent: frozenset({1}), unbroadcast: frozenset({1}), project: frozenset({1})}
"""Positions of arguments of which only the form matters, for functions of the runtime."""


def transposed(
    s: Inference, rule: Rule, applied: Applied, tangent: Callable[[Atom], Atom | None],
    origin: Origin,
) -> Atom | None:
    """Write the pushforward of a call that follows a rule; return the tangent of its result.

    ``tangent`` returns the tangents of the arguments.
    """
    unit, result = s.unit, applied.result
    if not isinstance(result, Var):
        return None
    dy = Var("y_bar", True)
    unit.types[dy] = cotangent_type(unit.type(result))
    unit.shapes[dy] = unit.shape(result)
    found = len(unit.findings)
    with s.writing_to([]) as linear:
        pulled = applied.pull_back(s, dy, origin)
    checks = [statement for statement in linear if is_check(statement)]
    linear = [statement for statement in linear if not is_check(statement)]
    if checks:  # what is transposed says nothing about the shapes that the pullback gives
        zeros = Call(Const(zeros_like), (result,))
        applied.pull_back(s, s.let(zeros, unit.type(dy), "zeros", origin), origin)
    seeds = [
        (g, dx) for x, g in pulled if isinstance(g, Var) and (dx := tangent(x)) is not None
    ]
    statements, y_dot = reversed_along(s, linear, dy, seeds, origin)
    if len(unit.findings) > found:
        detail = unit.findings[found].problem
        del unit.findings[found:]
        refuse_pushforward(s, rule, origin, f"its pullback cannot be reversed: {detail}")
        return None
    if y_dot is None:
        keep_raises(s, statements, {dy: result}, origin)
        return None
    body = Block(tuple(statements), (y_dot,))
    if y_dot in dependents(body, dy):
        refuse_pushforward(s, rule, origin, "its pullback is not linear in the cotangent")
        return None
    body = substitute_block(body, {dy: result})
    for statement in walk(body):
        if isinstance(statement, Let):
            unit.defs[statement.target] = statement.rhs
            name = statement.target.name
            if name.endswith("_bar"):
                unit.naming.names.setdefault(statement.target, f"{name.removesuffix('_bar')}_dot")
    s.out.extend(placed(statement, origin) for statement in body.statements)
    for statement in checks[:1] if isinstance(unit.type(result), t.Array) else ():
        place, (shape,) = operands(statement.rhs)[-1], shapes_of(s, [result], origin).values()
        write_check(s, body.yields[0], shape, place, origin)
    return body.yields[0]


def keep_raises(
    s: Inference, statements: list[Statement], reading: dict[Var, Atom], origin: Origin
) -> None:
    """Write what a pullback raises, and where, though of a tangent it gives nothing but zero."""
    body = substitute_block(Block(tuple(statements)), reading)
    if any(isinstance(statement, Raise) for statement in walk(body)):
        s.out.extend(placed(statement, origin) for statement in body.statements)


def is_check(statement: Statement) -> TypeGuard[Do]:
    """Say whether a statement checks the shape of a cotangent: forward, that of the tangent is."""
    match statement:
        case Do(Call(Const(function))):
            return function is check_shape
    return False


def refuse_pushforward(s: Inference, rule: Rule, origin: Origin, why: str) -> None:
    """Report a rule that has no pushforward."""
    name = getattr(rule.function, "__name__", "the function")
    s.reject(
        origin, f"the pushforward of {name}() cannot be derived from its rule: {why}",
        "register one with frule", "missing-rule",
    )


def reversed_along(
    s: Inference, linear: list[Statement], dy: Var, seeds: Sequence[tuple[Var, Atom]],
    origin: Origin,
) -> tuple[list[Statement], Atom | None]:
    """Return the reverse of ``linear`` with respect to ``dy``, and the cotangent of ``dy``.

    ``seeds`` pairs what ``linear`` computes with cotangents of that.
    """
    unit = s.unit
    body = Block(tuple(linear))
    outputs = [g for g, _ in seeds]
    active = active_variables(body, [dy], outputs, unit.type)
    varied = varied_variables(body, [dy], unit.type)
    both = Reverser(s, body, active, varied, [dy], {}).halves(seeds, [dy], origin)
    return [*both.forward, *both.sweep], both.bars[0]


def dependents(body: Block, *starts: Atom) -> set[Atom]:
    """Return the variables whose values depend on those of ``starts``, not on their form only."""
    found = _Dependents(set(starts))
    size = -1
    while size != found.size:
        size = found.size
        found.block(body)
    return found.whole


class _Dependents:
    """The variables that depend on a value; of tuples that are taken apart, which items do."""

    def __init__(self, whole: set[Atom]) -> None:
        self.whole = whole
        self.items: dict[Atom, set[int]] = {}

    @property
    def size(self) -> int:
        return len(self.whole) + sum(map(len, self.items.values()))

    def touches(self, atom: Atom) -> bool:
        return atom in self.whole or bool(self.items.get(atom))

    def hand(self, target: Var, source: Atom) -> None:
        """Note that ``target`` may be what ``source`` is."""
        if source in self.whole:
            self.whole.add(target)
        if source in self.items:
            self.items.setdefault(target, set()).update(self.items[source])

    def block(self, body: Block) -> None:
        for statement in walk(body):
            match statement:
                case Let(target, Pack("tuple", items), _) if not any(
                    isinstance(item, Star) for item in items
                ):
                    which = {i for i, item in enumerate(items) if self.touches(unstar(item))}
                    if which:
                        self.items.setdefault(target, set()).update(which)
                case Let(target, Call(Const(CalleePart(role="pushforward"))), _):
                    if any(map(self.touches, operands(statement.rhs))):
                        self.items.setdefault(target, set()).add(1)  # beside the value
                case Let(target, Item(obj, Const(int() as index)), _) if obj in self.items:
                    if obj in self.whole or index in self.items[obj]:
                        self.whole.add(target)
                case Let(target, rhs, _):
                    if any(map(self.touches, sources_of(rhs))):
                        self.whole.add(target)
                case Region():
                    self.region(statement)

    def region(self, node: Region) -> None:
        """Follow values through a region; what decides about it decides about all it defines."""
        for target, atom, how in node.edges():
            if how in (ITEM, COLLECTED):
                if self.touches(atom):
                    self.whole.add(target)
            elif how not in (LAST, SKIPS):
                self.hand(target, atom)
        given = {edge.source for edge in node.edges() if edge.how == ITEM}
        if any(self.touches(atom) for atom in node.decides() if atom not in given):
            self.whole.update(node.defines())


def sources_of(rhs: Rhs) -> tuple[Atom, ...]:
    """Return the operands whose values, not only their form, make the value of ``rhs``."""
    match rhs:
        case Attribute(_, name) if name in METADATA:
            return ()
        case Call(Const(function), args) if hashable(function):
            if function is read_order or REGISTRY.facts(function).of_form:
                return ()
            forms = form_only(function)
            if forms and not any(isinstance(arg, Star) for arg in args):
                return tuple(unstar(arg) for i, arg in enumerate(args) if i not in forms)
    return operands(rhs)


def placed(statement: Statement, origin: Origin) -> Statement:
    """Return a statement, and those inside it, as of the line ``origin``.

    What is reversed stays so: loops over what other loops saved are told by that.
    """

    def within(block: Block) -> Block:
        return replace(block, statements=tuple(placed(inner, origin) for inner in block.statements))

    is_reverse = getattr(getattr(statement, "origin", None), "reverse", False)
    return with_blocks(moved(statement, replace(origin, reverse=is_reverse)), within)


def forward_only(block: Block) -> Block:
    """Return ``block`` with nothing in it marked as reversed."""

    def forward(statement: Statement) -> Statement:
        origin = getattr(statement, "origin", None)
        if origin is not None and origin.reverse:
            statement = moved(statement, replace(origin, reverse=False))
        return with_blocks(statement, forward_only)

    return replace(block, statements=tuple(map(forward, block.statements)))


@functools.lru_cache(maxsize=512)
def form_only(function: Callable[..., Any]) -> frozenset[int]:
    """Return the positions of arguments of which only the form matters: templates of its rule."""
    if function in TEMPLATES:
        return TEMPLATES[function]
    rule = REGISTRY.find(function)
    if rule is None or rule.definition is None:
        return frozenset()
    names = list(signature_of(rule.definition).parameters)
    return frozenset(names.index(name) for name in rule.templates)
