"""Tables of pandas and xarray among the operands of what is differentiated: refused, or checked.

What a table does with arrays goes by its index and leaves out NaN, which no rule knows of. Where
only a run tells whether an operand is a table, a check of it stands in front.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from adcompiler.derive.unsupported_at_run import place_of
from adcompiler.ir import types as t
from adcompiler.ir.dataflow import Flow
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Do, Let, Region, Rhs, Statement, Var, operands, unstar,
)
from adcompiler.ir.visit import bound_inside, defined, direct_uses, walk, with_blocks
from adcompiler.ops.basics import CHECKS
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime.tables import described_table, is_table, no_table
from adcompiler.infer.writer import Writer
from adcompiler.typed.callee import Callee

PLAIN = frozenset({
    "values", "to_numpy", "to_list", "tolist", "item", "shape", "size", "ndim", "dtype", "name",
})
"""Attributes and methods of tables that are, or give, no tables."""


def without_tables(s: Writer, body: Block, varied: Collection[Atom]) -> Block:
    """Return ``body`` with a check in front of each call that a derivative may meet a table in.

    Those of which it is known are reported.
    """
    tables = may_be_tables(s, body, varied)
    if not tables:
        return body

    def within(block: Block) -> Block:
        return Block(tuple(new for old in block.statements for new in checked(old)), block.yields)

    def checked(statement: Statement) -> Iterable[Statement]:
        if isinstance(statement, Region):
            return (with_blocks(statement, within),)
        if not isinstance(statement, (Let, Do)) or not meets(statement.rhs, varied):
            return (statement,)
        met = [x for x in given(s, statement.rhs) if x in tables and isinstance(x, Var)]
        apart = is_compiled_apart(statement.rhs)  # reports what it does with tables itself
        known = None if apart else report(s, statement, met)
        if known is not None:  # what else there is to say of the call would only confuse
            return (Do(Call(Const(no_table), (known, Const(""))), statement.origin),)
        place, at = Const(place_of(statement.origin)), statement.origin
        checks = (
            Do(Call(Const(no_table), (x, place)), at) for x in dict.fromkeys(met)
            if not is_table_type(s.unit.type(x))
        )
        return (*checks, statement)

    return within(body)


def report(s: Writer, statement: Let | Do, met: list[Var]) -> Var | None:
    """Report an operand that is known to be a table, and return it; None if there is none."""
    for x in met:
        type_ = s.unit.type(x)
        if isinstance(type_, t.Object):
            s.reject(
                statement.origin, f"an operand is {described_table(type_.cls)}, which goes by its "
                "index and passes over NaN",
                f"take its array first: `np.asarray({x.name})`", "array-classes",
            )
            return x
    return None


def may_be_tables(s: Writer, body: Block, varied: Collection[Atom]) -> set[Atom]:
    """Return the variables that are tables, and those of unknown type that may be one."""
    start = {atom for atom in read_or_defined(body) if is_table_type(s.unit.type(atom))}
    if not start:
        return set()
    flow = Flow()
    for statement in walk(body):
        if isinstance(statement, Region):
            flow.steps += [edge[:2] for edge in statement.edges()]
        elif isinstance(statement, Let) and not meets(statement.rhs, varied):
            flow.add(statement.target, given(s, statement.rhs))
    return flow.forward(start, lambda atom: is_open(s.unit.type(atom)))


def read_or_defined(body: Block) -> Iterable[Var]:
    """Yield the variables that a block reads, binds or defines, at any depth."""
    for statement in walk(body):
        for atom in (*direct_uses(statement), *defined(statement), *bound_inside(statement)):
            if isinstance(atom, Var):
                yield atom


def meets(rhs: Rhs, varied: Collection[Atom]) -> bool:
    """Say whether a call computes with values that carry a derivative."""
    if not isinstance(rhs, Call) or converts(rhs):
        return False
    if isinstance(rhs.func, Const) and hashable(rhs.func.value) and (
        rhs.func.value in CHECKS or REGISTRY.inactive(rhs.func.value) is not None
    ):
        return False
    return any(unstar(x) in varied for x in operands(rhs))


def converts(rhs: Call) -> bool:
    """Say whether a call makes arrays, or numbers, of the tables that it is given."""
    function = rhs.func.value if isinstance(rhs.func, Const) else None
    return hashable(function) and REGISTRY.facts(function).unwraps is True


def given(s: Writer, rhs: Rhs) -> list[Atom]:
    """Return what a right-hand side may hand on tables of; its owner, of a method's call."""
    if isinstance(rhs, Attribute) and rhs.name in PLAIN:
        return []
    if not isinstance(rhs, Call):
        return [*map(unstar, operands(rhs))]
    return [] if converts(rhs) or names_plain(rhs.func) else [*map(unstar, operands(rhs))]


def is_compiled_apart(rhs: Rhs) -> bool:
    """Say whether a call is that of a function which is compiled on its own."""
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and isinstance(
        rhs.func.value, Callee)


def names_plain(func: Atom) -> bool:
    """Say whether a function is a method of a table that gives none."""
    return isinstance(func, Const) and getattr(func.value, "__name__", "") in PLAIN


def is_table_type(type_: t.Type) -> bool:
    """Say whether values of a type are tables."""
    return isinstance(type_, t.Object) and is_table(type_.cls)


def is_open(type_: t.Type) -> bool:
    """Say whether a value of a type may be a table, or hold one."""
    match type_:
        case t.Unknown() | t.Method():
            return True
        case t.Tuple(items) | t.Dict(_, items):
            return any(map(is_open, items))
        case t.List(item):
            return is_open(item)
        case t.Object(cls):
            return is_table(cls)
    return False


