"""Activity: the variables that depend on the inputs (varied) and reach the output (useful)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from adcompiler.analyses.storage import METADATA
from adcompiler.ir import types as t
from adcompiler.ir.dataflow import Flow
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Closure, Const, Do, Format, Item, Let, Pack, Region, Rhs, Slice,
    Update, Var, operands, unstar,
)
from adcompiler.ir.visit import used
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import note_value
from adcompiler.runtime.functionals import symmetric

TypeOf = Callable[[Atom], t.Type]
Carried = Callable[[Rhs, TypeOf], tuple[Atom, ...]]
"""Tells the operands whose derivatives a right-hand side may pass on."""


def differentiable_operands(rhs: Rhs, type_of: TypeOf) -> tuple[Atom, ...]:
    """Return the operands whose derivatives ``rhs`` may pass on."""
    match rhs:
        case Call(Const(function), args, kwargs):
            if REGISTRY.inactive(function) is not None:
                return ()
            if function is symmetric:
                args = args[1:]  # derivatives go by the arguments, not by the value
            return (*map(unstar, args), *(atom for _, atom in kwargs))
        case Item(obj, _):
            return (obj,)
        case Update(obj, _, value):
            return (obj, value)
        case Attribute(obj, name):
            return () if name in METADATA and not isinstance(type_of(obj), t.Object) else (obj,)
        case Format():
            return ()
        case Call() | Pack() | Closure() | Slice():
            return operands(rhs)
    return ()


def active_variables(
    block: Block, inputs: Iterable[Var], outputs: Iterable[Atom], type_of: TypeOf,
    constant: frozenset[Var] = frozenset(), carried: Carried = differentiable_operands,
) -> frozenset[Var]:
    """Return the variables that are both varied and useful; ``constant`` ones are never varied."""
    derivatives = _Derivatives(block, type_of, carried)
    varied = derivatives.varied(inputs, constant)
    useful = derivatives.flow.backward(
        (atom for atom in outputs if isinstance(atom, Var)), varied.__contains__
    )
    return frozenset(atom for atom in useful if isinstance(atom, Var) and atom in varied)


def varied_variables(
    block: Block, inputs: Iterable[Var], type_of: TypeOf, constant: frozenset[Var] = frozenset(),
    carried: Carried = differentiable_operands,
) -> frozenset[Var]:
    """Return the variables that depend on the inputs, whether or not they reach the output."""
    found = _Derivatives(block, type_of, carried).varied(inputs, constant)
    return frozenset(atom for atom in found if isinstance(atom, Var))


class _Derivatives:
    """The steps by which derivatives go through a block; ``notes`` those of ``note_value``."""

    def __init__(self, block: Block, type_of: TypeOf, carried: Carried) -> None:
        self.flow = Flow()
        self.notes: list[tuple[Atom, Atom]] = []
        self.type_of = type_of
        self.carried = carried
        self.block(block)

    def block(self, block: Block) -> None:
        for statement in block.statements:
            match statement:
                case Let(target, rhs, _):
                    self.flow.add(target, self.carried(rhs, self.type_of))
                case Do(Call(Const(function), (place, value))) if function is note_value:
                    self.notes.append((unstar(place), unstar(value)))
                case Region():
                    for inner in statement.bodies():
                        self.block(inner)
                    self.flow.steps += [edge[:2] for edge in statement.edges()]

    def varied(self, inputs: Iterable[Var], constant: frozenset[Var]) -> set[Atom]:
        """Return what depends on the inputs."""
        noted = {place for place, _ in self.notes}

        def may_vary(atom: Atom) -> bool:
            return atom not in constant and (atom in noted or self.can_carry(atom))

        return Flow([*self.flow.steps, *self.notes]).forward(inputs, may_vary)

    def can_carry(self, target: Atom) -> bool:
        """Say whether the values of a variable may have derivatives."""
        type_ = self.type_of(target)
        return t.may_vary(type_) or holds_slice(type_) or isinstance(
            type_, (t.Method, t.FunctionType, t.Bottom)
        )


def holds_slice(type_: t.Type) -> bool:
    """Say whether there are slices in values of a type: their bounds may be any numbers.

    As a subscript of an array a slice holds integers; ``np.mgrid[0.0:x:5j]`` is another matter.
    """
    match type_:
        case t.SliceType():
            return True
        case t.Tuple(items) | t.Dict(_, items):
            return any(map(holds_slice, items))
        case t.List(item):
            return holds_slice(item)
    return False


def reads(block: Block) -> frozenset[Var]:
    """Return the variables read anywhere in ``block``."""
    return frozenset(used(block))
