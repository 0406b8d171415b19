"""Which values' layout in memory decides what the code computes.

A reshape that is taken for a view may be a copy, ``ravel("K")`` runs through elements as they lie,
``x.strides`` is read. The layout of such a value comes from those of the arrays that it was
computed of, so these matter as well. What is not among them may be laid out in any way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from adcompiler.analyses.storage import Definition, TypeOf, is_mutable
from adcompiler.ir import types as t
from adcompiler.ir.dataflow import Flow
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Closure, Const, Do, Function, Let, Region, Rhs, Star, Update, Var,
    operands, unstar,
)
from adcompiler.ir.visit import walk
from adcompiler.ops.facts import IN_C
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime.adjoints.shaping import reshape_view
from adcompiler.typed.callee import Callee

DESCRIBES = frozenset({"strides", "flags", "data", "ctypes", "__array_interface__"})
"""Attributes of arrays that tell how these lie in memory."""
AS_STORED = ("K", "A")
GIVEN = ("C", "F", None)
FLATTENS = frozenset({"ravel", "flatten", "reshape", "tobytes"})
"""Methods that may be given the order of elements by position."""


class LayoutFlow:
    """Finds the values whose layout is read, for the tables of one compilation."""

    def __init__(self, type_of: TypeOf, definition: Definition) -> None:
        self.type_of = type_of
        self.definition = definition
        self.flow = Flow()
        self.read: list[Atom] = []

    def sources(self, functions: Iterable[Function | Block]) -> frozenset[Var]:
        """Return the values that layouts which ``functions`` read come from."""
        for function in functions:
            block = function if isinstance(function, Block) else function.body
            for statement in walk(block):
                self.note(statement)
        if not self.read:
            return frozenset()
        found = self.flow.backward(filter(self.carries, self.read), self.carries)
        return frozenset(atom for atom in found if isinstance(atom, Var))

    def carries(self, atom: Atom) -> bool:
        """Say whether a value is, holds or belongs to an array that lies in memory somehow."""
        type_ = self.type_of(atom)
        return isinstance(atom, Var) and (
            is_mutable(type_) or isinstance(type_, (t.Method, t.FunctionType)))

    def note(self, statement: object) -> None:
        """Enter what a statement reads of layouts, and where those of its results come from."""
        match statement:
            case Let(target, rhs, _):
                self.read += self.read_by(rhs)
                self.flow.add(target, self.origins(target, rhs))
            case Do(rhs, _):
                self.read += self.read_by(rhs)
            case Region():
                self.flow.steps += [(edge.target, edge.source) for edge in statement.edges()]

    def origins(self, target: Var, rhs: Rhs) -> Iterator[Atom]:
        """Yield the values that the layout of a result may depend on."""
        match rhs:
            case Call(Const(Callee(function=Function() as function)), args):
                yield from function.body.yields
                for param, arg in zip(function.params, args, strict=False):
                    self.flow.add(param.var, (unstar(arg),))
            case _ if not self.carries(target):
                return
            case Call(_, _, kwargs) if "order" not in dict(kwargs) and (
                REGISTRY.facts(self.function_of(rhs)).order == IN_C
            ):
                return
        yield from operands(rhs)

    def function_of(self, rhs: Call) -> object:
        """Return the function that is called, None if that is not known."""
        return rhs.func.value if isinstance(rhs.func, Const) else None

    def read_by(self, rhs: Rhs) -> Iterator[Atom]:
        """Yield the values whose own layout decides what ``rhs`` is."""
        match rhs:
            case Attribute(obj, name) if name in DESCRIBES and isinstance(
                self.type_of(obj), (t.Array, t.Unknown)
            ):
                yield obj
            case Update(obj, steps) if any(
                REGISTRY.facts(step.function).reads_layout for step in steps
            ) and not self.only_splits(obj, steps[0].function, steps[0].args):
                yield obj
            case Call(Const(function), (obj, *args)) if self.only_splits(obj, function, args):
                return
            case Call() if self.reads(rhs):
                yield from operands(rhs)
            case Closure(function) if any(map(tells_order, walk(function.body))):
                yield from operands(rhs)

    def only_splits(
        self, obj: Atom | Star, function: Callable[..., Any] | Callee, args: Sequence[object]
    ) -> bool:
        """Say whether a reshape parts the axis of a vector, which gives a view in any case."""
        type_ = self.type_of(unstar(obj))
        return function is reshape_view and len(args) > 1 and (
            isinstance(type_, t.Array) and type_.ndim == 1)

    def reads(self, rhs: Call) -> bool:
        """Say whether a call runs through elements as they lie in memory, or tells how."""
        function = self.function_of(rhs)
        if REGISTRY.facts(function).reads_layout:
            return True
        order = dict(rhs.kwargs).get("order", Const(None))
        if not isinstance(order, Const) or order.value not in GIVEN:
            return True
        name = getattr(function, "__name__", None)
        if function is None and isinstance(made := self.definition(rhs.func), Attribute):
            name = made.name
        return name in FLATTENS and any(map(self.is_order, map(unstar, rhs.args)))

    def is_order(self, atom: Atom) -> bool:
        """Say whether an argument is ``"K"`` or ``"A"``, or a text that may be."""
        if isinstance(atom, Const):
            return isinstance(atom.value, str) and atom.value in AS_STORED
        return isinstance(self.type_of(atom), t.Text)


def tells_order(statement: object) -> bool:
    """Say whether a statement of a function that is not typed yet reads how arrays lie."""
    match statement:
        case Let(_, Attribute(_, name), _):
            return name in DESCRIBES
        case Let(_, Closure(function), _):
            return any(map(tells_order, walk(function.body)))
        case Let(_, rhs, _):
            return any(
                isinstance(atom, Const) and isinstance(atom.value, str) and atom.value in AS_STORED
                for atom in operands(rhs))
    return False
