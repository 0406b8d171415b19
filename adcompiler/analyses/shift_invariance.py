"""Finds shifts that cancel: in ``z - max(z)`` of a softmax, the maximum carries no derivative.

For a candidate m every value is classified by how it depends on m: not at all, by an added
multiple of m, or by a factor exp(k m). If the result does not depend on m, its partial derivative
with respect to m is zero whatever m is, and m may be taken as a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any


from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Item, Let, Rhs, Star, Statement, Var, operands,
)
from adcompiler.ir.visit import defined, free_variables
from adcompiler.ops.registry import REGISTRY
from adcompiler.support.structs import dataclass

SUMS = frozenset({"sum", "mean"})


@dataclass(frozen=True)
class Dependence:
    """Dependence on m: ``base + factor * m``, or ``base * exp(factor * m)`` if ``scale``.

    ``kept`` says that m stands in it with the axis it was reduced over (of extent 1).
    """

    factor: float
    scale: bool = False
    kept: bool = False


INDEPENDENT = Dependence(0.0)
OTHER = Dependence(float("nan"))


def cancelled_shifts(
    block: Block, output: Atom, type_of: Callable[[Atom], t.Type]
) -> frozenset[Var]:
    """Return the maxima computed in ``block`` that ``output`` does not depend on."""
    found = set()
    for statement in block.statements:
        if isinstance(statement, Let) and called(statement.rhs)[0] == "max":
            check = _Check(statement.target, statement.rhs, type_of)
            if check.is_cancelled(block.statements, output):
                found.add(statement.target)
    return frozenset(found)


def called(rhs: Rhs) -> tuple[str | None, tuple[Any, ...]]:
    """Return what the function of a call means, "" if nothing is known of it, and the arguments.

    Where nothing is called, the first is None.
    """
    if not isinstance(rhs, Call) or not isinstance(rhs.func, Const):
        return None, ()
    known = REGISTRY.facts(rhs.func.value)
    largest = "max" if known.transfer == "max of items" else ""  # Python's own
    return known.means or largest, rhs.args


class _Check:
    """Classifies the values of a block by how they depend on one of them."""

    def __init__(
        self, target: Var, rhs: Rhs, type_of: Callable[[Atom], t.Type]
    ) -> None:
        self.target = target
        self.type_of = type_of
        args = called(rhs)[1]
        self.axis, keeps = reduction(rhs, args, type_of)
        ndim = getattr(type_of(args[0]), "ndim", 0) if args else 0
        self.ndims = {True: ndim, False: ndim - 1}
        self.state: dict[Var, Dependence] = {target: Dependence(1.0, False, keeps)}

    def is_cancelled(self, statements: tuple[Statement, ...], output: Atom) -> bool:
        if self.axis is UNCLEAR:
            return False
        for statement in statements:
            self.visit(statement)
        return (
            isinstance(output, Var) and output in self.state
            and self.state[output].factor == 0.0
        )

    def of(self, atom: Any) -> Dependence:
        return self.state.get(atom, INDEPENDENT) if isinstance(atom, Var) else INDEPENDENT

    def depends(self, atoms: Any) -> bool:
        return any(isinstance(a, Var) and a in self.state for a in atoms)

    def visit(self, statement: Statement) -> None:
        if isinstance(statement, Let):
            if statement.target is not self.target and self.depends(operands(statement.rhs)):
                self.state[statement.target] = self.rhs(statement.rhs)
                if not self.aligned(statement.target):
                    self.state[statement.target] = OTHER
            return
        if self.depends(free_variables(Block((statement,)))):
            for var in defined(statement):
                self.state[var] = OTHER

    def aligned(self, target: Var) -> bool:
        """Say whether the axes of a value are those of the array that m was reduced from."""
        state = self.state[target]
        if self.axis is None or state.factor == 0.0 or state == OTHER:
            return True
        return getattr(self.type_of(target), "ndim", None) == self.ndims[state.kept]

    def rhs(self, rhs: Rhs) -> Dependence:
        if isinstance(rhs, Item) and isinstance(rhs.obj, Var):
            return self.widened(self.of(rhs.obj), rhs.index)
        meaning, args = called(rhs)
        if meaning is None:
            return Dependence(0.0) if isinstance(rhs, Attribute) and rhs.name in (
                "shape", "size", "ndim", "dtype") else OTHER
        if any(isinstance(a, Star) for a in args):
            return OTHER
        states = [self.of(a) for a in args]
        if all(s.factor == 0.0 for s in states):
            return INDEPENDENT
        if len({s.kept for s in states if s.factor != 0.0}) > 1:
            return OTHER
        if any(s.factor != s.factor for s in states):
            return OTHER
        return self.combine(meaning, rhs, args, states)

    def widened(self, state: Dependence, index: Atom) -> Dependence:
        """Return the dependence of ``m[:, None]``: the reduced axis put back."""
        parts = index.value if isinstance(index, Const) else None
        if state.kept or self.axis is None or not isinstance(parts, tuple):
            return OTHER
        if parts.count(None) == 1 and parts.index(None) == self.axis and all(
            part is None or part == slice(None) for part in parts
        ):
            return replace(state, kept=True)
        return OTHER

    def combine(
        self, meaning: str, rhs: Any, args: tuple[Atom, ...], states: list[Dependence]
    ) -> Dependence:
        """Return how a result depends on m, by what the function means."""
        match meaning, states:
            case ("add", [_, _]):
                return self.sum(states, 1.0)
            case ("subtract", [_, _]):
                return self.sum(states, -1.0)
            case ("multiply", [_, _]):
                return self.product(args, states)
            case ("divide", [_, _]):
                return self.quotient(states)
            case ("negative", [a]):
                return a if a.scale else replace(a, factor=-a.factor)
            case ("exp", [a]) if not a.scale:
                return replace(a, scale=True)
            case ("log", [a]) if a.scale:
                return replace(a, scale=False)
        if meaning in SUMS and states[0].scale:
            return self.summed(states[0], rhs, args)
        return OTHER

    @staticmethod
    def sum(states: list[Dependence], sign: float) -> Dependence:
        a, b = states
        if not (a.scale or b.scale):
            return Dependence(a.factor + sign * b.factor, False, a.kept or b.kept)
        return a if a == b else OTHER

    @staticmethod
    def product(args: tuple[Atom, ...], states: list[Dependence]) -> Dependence:
        a, b = states
        if (a.scale or a.factor == 0.0) and (b.scale or b.factor == 0.0):
            return Dependence(a.factor + b.factor, True, a.kept or b.kept)
        for one, other in ((args[0], b), (args[1], a)):
            if isinstance(one, Const) and isinstance(one.value, (int, float)) and not other.scale:
                return replace(other, factor=other.factor * one.value)
        return OTHER

    @staticmethod
    def quotient(states: list[Dependence]) -> Dependence:
        a, b = states
        if (a.scale or a.factor == 0.0) and (b.scale or b.factor == 0.0):
            factor = a.factor - b.factor
            return INDEPENDENT if factor == 0.0 else Dependence(factor, True, a.kept or b.kept)
        return OTHER

    def summed(self, state: Dependence, rhs: Call, args: tuple[Atom, ...]) -> Dependence:
        """Return the dependence of a sum, if m is constant along the axes that it runs over."""
        axis, keeps = reduction(rhs, args, self.type_of)
        if axis is UNCLEAR:
            return OTHER
        if self.axis is None:  # m is one number
            return state
        return replace(state, kept=keeps) if state.kept and axis == self.axis else OTHER


UNCLEAR = object()


def reduction(
    rhs: Any, args: tuple[Atom, ...], type_of: Callable[[Atom], t.Type]
) -> tuple[Any, bool]:
    """Return the axis of a reduction (UNCLEAR if not one constant) and whether it is kept."""
    kwargs: Mapping[str, Atom] = dict(rhs.kwargs)
    axis, keeps = kwargs.get("axis", Const(None)), kwargs.get("keepdims", Const(False))
    if set(kwargs) - {"axis", "keepdims"} or len(args) != 1 or not (
        isinstance(axis, Const) and isinstance(keeps, Const)
    ):
        return UNCLEAR, False
    if axis.value is None:
        return (UNCLEAR if keeps.value else None), False
    if type(axis.value) is not int or not getattr(type_of(args[0]), "ndim", 0):
        return UNCLEAR, False
    return axis.value, keeps.value is True
