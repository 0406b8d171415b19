"""Activity: the variables that depend on the inputs (varied) and reach the output (useful)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from adcompiler.analyses.storage import METADATA
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Closure, Const, Do, Format, If, Item, Let, Loop, operands, Pack,
    Rhs, Slice, Statement, Try, unstar, Update, Var, With,
)
from adcompiler.ir.visit import arms_of, used
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import note_value


TypeOf = Callable[[Atom], t.Type]
Carried = Callable[[Rhs, TypeOf], tuple[Atom, ...]]
"""Tells the operands whose derivatives a right-hand side may pass on."""


def differentiable_operands(rhs: Rhs, type_of: TypeOf) -> tuple[Atom, ...]:
    """Return the operands whose derivatives ``rhs`` may pass on."""
    match rhs:
        case Call(Const(function), args, kwargs):
            if REGISTRY.inactive(function) is not None:
                return ()
            return (*map(unstar, args), *(atom for _, atom in kwargs))
        case Item(obj, _):
            return (obj,)
        case Update(obj, _, value):
            return (obj, value)
        case Attribute(obj, name):
            return () if name in METADATA and not isinstance(type_of(obj), t.Object) else (obj,)
        case Slice() | Format():
            return ()
        case Call() | Pack() | Closure():
            return operands(rhs)
    return ()


def active_variables(
    block: Block, inputs: Iterable[Var], outputs: Iterable[Atom], type_of: TypeOf,
    constant: frozenset[Var] = frozenset(), carried: Carried = differentiable_operands,
) -> frozenset[Var]:
    """Return the variables that are both varied and useful; ``constant`` ones are never varied."""
    varied = set(inputs)
    _Varied(varied, type_of, constant, carried).block(block)
    useful = {atom for atom in outputs if isinstance(atom, Var)}
    _Useful(useful, varied, type_of, carried).block(block)
    return frozenset(varied & useful)


def varied_variables(
    block: Block, inputs: Iterable[Var], type_of: TypeOf, constant: frozenset[Var] = frozenset(),
    carried: Carried = differentiable_operands,
) -> frozenset[Var]:
    """Return the variables that depend on the inputs, whether or not they reach the output."""
    varied = set(inputs)
    _Varied(varied, type_of, constant, carried).block(block)
    return frozenset(varied)


class _Varied:
    """Adds to ``varied`` everything that depends on what is in it."""

    def __init__(
        self, varied: set[Var], type_of: TypeOf, constant: frozenset[Var], carried: Carried
    ) -> None:
        self.varied = varied
        self.type_of = type_of
        self.constant = constant
        self.carried = carried

    def block(self, block: Block) -> None:
        for statement in block.statements:
            self.statement(statement)

    def is_varied(self, atom: Atom) -> bool:
        return isinstance(atom, Var) and atom in self.varied

    def mark(self, target: Var, sources: Iterable[Atom]) -> None:
        if target in self.constant:
            return
        if any(map(self.is_varied, sources)) and self.can_carry(target):
            self.varied.add(target)

    def can_carry(self, target: Var) -> bool:
        type_ = self.type_of(target)
        return t.may_vary(type_) or isinstance(type_, (t.Method, t.FunctionType, t.Bottom))

    def statement(self, statement: Statement) -> None:
        match statement:
            case Do(Call(Const(function), (place, value))) if function is note_value:
                if self.is_varied(unstar(value)) and isinstance(place, Var):
                    self.varied.add(place)
            case Let(target, rhs, _):
                self.mark(target, self.carried(rhs, self.type_of))
            case If(_, then, orelse, results, _):
                self.block(then)
                self.block(orelse)
                for result, a, b in zip(results, then.yields, orelse.yields, strict=True):
                    self.mark(result, (a, b))
            case Loop():
                self.loop(statement)
            case With() | Try():
                for arm in arms_of(statement):
                    self.block(arm)
                    if not arm.diverges:
                        for result, value in zip(statement.results, arm.yields, strict=True):
                            self.mark(result, (value,))

    def loop(self, node: Loop) -> None:
        for item, iterable in zip(node.items, node.iterables, strict=True):
            self.mark(item, (iterable,))
        for param, init in zip(node.params, node.inits, strict=True):
            self.mark(param, (init,))
        while True:
            before = len(self.varied)
            self.block(node.body)
            for param, following in zip(node.params, node.next_values(), strict=True):
                self.mark(param, (following,))
            if len(self.varied) == before:
                break
        for result, param, init in zip(node.results, node.params, node.inits, strict=True):
            self.mark(result, (param, init))
        for collect, value in zip(node.collects, node.collected(), strict=True):
            self.mark(collect, (value,))


class _Useful:
    """Adds to ``useful`` the varied variables that what is in it is computed from."""

    def __init__(
        self, useful: set[Var], varied: set[Var], type_of: TypeOf, carried: Carried
    ) -> None:
        self.useful = useful
        self.varied = varied
        self.type_of = type_of
        self.carried = carried

    def need(self, atoms: Iterable[Atom]) -> None:
        for atom in atoms:
            if isinstance(atom, Var) and atom in self.varied:
                self.useful.add(atom)

    def block(self, block: Block) -> None:
        for statement in reversed(block.statements):
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Let(target, rhs, _):
                if target in self.useful:
                    self.need(self.carried(rhs, self.type_of))
            case If(_, then, orelse, results, _):
                for result, a, b in zip(results, then.yields, orelse.yields, strict=True):
                    if result in self.useful:
                        self.need((a, b))
                self.block(then)
                self.block(orelse)
            case Loop():
                self.loop(statement)
            case With() | Try():
                for arm in arms_of(statement):
                    if not arm.diverges:
                        for result, value in zip(statement.results, arm.yields, strict=True):
                            if result in self.useful:
                                self.need((value,))
                    self.block(arm)

    def loop(self, node: Loop) -> None:
        for collect, value in zip(node.collects, node.collected(), strict=True):
            if collect in self.useful:
                self.need((value,))
        wanted = {i for i, result in enumerate(node.results) if result in self.useful}
        while True:
            before = len(self.useful)
            for i in wanted:
                self.need((node.next_values()[i], node.inits[i], node.params[i]))
            self.block(node.body)
            wanted |= {i for i, param in enumerate(node.params) if param in self.useful}
            if len(self.useful) == before and all(
                not isinstance(a := node.next_values()[i], Var)
                or a not in self.varied or a in self.useful for i in wanted
            ):
                break
        for item, iterable in zip(node.items, node.iterables, strict=True):
            if item in self.useful:
                self.need((iterable,))


def reads(block: Block) -> frozenset[Var]:
    """Return the variables read anywhere in ``block``."""
    return frozenset(used(block))
