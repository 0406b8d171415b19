"""Makes cotangents gradients: zeros for None, exact types, arrays that nobody else holds."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

import numpy as np

from adcompiler.analyses.purity import Purity
from adcompiler.analyses.storage import Sharing
from adcompiler.batching.batcher import batched_block
from adcompiler.batching.taylor import series_block
from adcompiler.derive.reverse.reverser import Reversed
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, Atom, Attribute, Block, Call, Const, Do, Global, Item, Let, Origin, Pack, Rhs, Star,
    Statement, Var, operands, unstar,
)
from adcompiler.ir.visit import edges, walk
from adcompiler.ops.qualified_names import root_module
from adcompiler.ops.queries import meaning
from adcompiler.ops.registry import REGISTRY
from adcompiler.optimise.dead_code import dead_code
from adcompiler.runtime import (
    add_at, as_gradient, cell_value, give_back, read_global, store_global, unbroadcast,
)
from adcompiler.typed.builder import Builder
from adcompiler.typed.unit import Unit

KNOWN = ("numpy", "adcompiler", "adcompiler_rules", "builtins", "operator", "_operator")
"""Where functions come from of which it is said if views that they give cannot be written into."""


def finished_bars(
    s: Builder, both: Reversed, inputs: list[Var], origin: Origin
) -> list[Atom]:
    """Write what makes cotangents gradients: zeros for None, precision, arrays of their own."""
    given: set[Atom] = set()
    bars: list[Atom] = []
    for var, bar in zip(inputs, both.bars, strict=True):
        done = finished_bar(s, var, bar, given, both.owned, origin.reversed())
        if isinstance(done, Var):
            s.unit.naming.names.setdefault(done, f"{var.name}_bar")
        given.add(done)
        bars.append(done)
    return bars


def finished_bar(
    s: Builder, var: Var, bar: Atom | None, given: set[Atom], owned: set[Atom], at: Origin
) -> Atom:
    """Write the gradient of ``var`` from its cotangent ``bar``.

    ``given`` holds the arrays that other gradients are, or share storage with; ``owned`` the
    cotangents whose storage the sweep made.
    """
    unit = s.unit
    type_ = unit.type(var)
    if isinstance(type_, t.Scalar):
        bar = bar or Const(0.0)
        if type_.dtype is None and isinstance(unit.type(bar), t.Scalar):
            return python_number(s, bar, type_, at)
    elif isinstance(type_, t.Array) and type_.ndim and type_.kind in ("float", "complex"):
        if bar is None:
            return s.let(Call(Const(np.zeros_like), (var,)), type_, f"{var.name}_bar", at)
        root = storage_root(s, bar)
        if unit.type(bar) == type_ and root not in given and (
            bar in owned or owns_storage(s, root)
        ):
            given.add(root)
            return bar
        if unit.type(bar) == type_ and unit.shape(bar) == unit.shape(var):
            return s.let(Call(Const(np.copy), (bar,)), type_, f"{var.name}_bar", at)
    entries = own_entries(s, type_, bar, given, owned, at)
    if entries is not None:
        return s.let(entries, type_, f"{var.name}_bar", at)
    return s.let(Call(Const(as_gradient), (bar or NONE, var)), type_, f"{var.name}_bar", at)


def own_entries(
    s: Builder, type_: t.Type, bar: Atom | None, given: set[Atom], owned: set[Atom], at: Origin
) -> Pack | None:
    """Return a dict of arrays as a gradient, each an array of its own; None for anything else."""
    made = s.unit.definition(bar) if isinstance(bar, Var) else None
    if not isinstance(type_, t.Dict) or not isinstance(made, Pack) or made.kind != "dict" or (
        tuple(key.value for key in made.keys if isinstance(key, Const)) != type_.keys
    ):
        return None
    if not all(isinstance(want, t.Array) and want.ndim and want.kind in ("float", "complex")
               and isinstance(part, Var) and s.unit.type(part) == want
               for part, want in zip(made.items, type_.items, strict=True)):
        return None
    items: list[Atom] = []
    for part in made.items:
        assert isinstance(part, Var)
        root = storage_root(s, part)
        if root in given or not (part in owned or owns_storage(s, root)):
            part = s.let(Call(Const(np.copy), (part,)), s.unit.type(part), part.name, at)
        given.add(root)
        items.append(part)
    return replace(made, items=tuple(items))


def python_number(s: Builder, bar: Atom, type_: t.Type, at: Origin) -> Atom:
    """Write a cotangent as a Python number if it is a NumPy one and its value is not."""
    found = s.unit.type(bar)
    if not isinstance(type_, t.Scalar) or not isinstance(found, t.Scalar):
        return bar
    if type_.dtype is not None:
        return bar
    real = type_.kind != "complex"  # a cotangent of complex type may still be a float
    if real and found.dtype is None and is_python_number(s, bar):
        return bar
    kind = complex if type_.kind == "complex" else float
    return s.let(Call(Const(kind), (bar,)), t.Scalar(type_.kind), "bar", at)


def is_python_number(s: Builder, bar: Atom) -> bool:
    """Say whether a cotangent is a Python number for sure.

    What went through containers beside NumPy numbers may be one of these, whatever its type says.
    """
    waiting: list[Atom] = [bar]
    seen: set[Atom] = {bar}
    while waiting:
        atom = waiting.pop()
        rhs = s.unit.definition(atom)
        if isinstance(atom, Const):
            continue
        if not isinstance(rhs, Call) or not isinstance(rhs.func, Const) or rhs.func.value not in (
            float, complex, operator.add, operator.sub
        ):
            return not knows_numpy_values(s)
        if rhs.func.value in (operator.add, operator.sub):
            inner = {unstar(arg) for arg in rhs.args} - seen
            waiting += inner
            seen |= inner
    return True


def knows_numpy_values(s: Builder) -> bool:
    """Say whether anything in the function is an array or a number of NumPy."""
    return any(
        isinstance(type_, t.Array) or (isinstance(type_, t.Scalar) and type_.dtype is not None)
        for type_ in s.unit.types.values()
    )


def storage_root(s: Builder, bar: Atom) -> Atom:
    """Return the array that ``unbroadcast`` may have returned as it was given."""
    rhs = s.unit.definition(bar)
    while isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
        rhs.func.value is unbroadcast or meaning(rhs) == "reshape"
    ):
        bar = unstar(rhs.args[0])
        rhs = s.unit.definition(bar)
    return bar


def owns_storage(s: Builder, bar: Atom) -> bool:
    """Say whether an array was made by the sweep and nobody else refers to it."""
    rhs = s.unit.definition(bar)
    if not isinstance(rhs, Call) or not isinstance(rhs.func, Const):
        return False
    function = rhs.func.value
    return function is add_at or (
        REGISTRY.facts(function).gives_own_arrays and not getattr(function, "callee", None)
    )


# -- after optimisation ------------------------------------------------------------------------


def own_arrays(block: Block, unit: Unit, foreign: set[Var], origin: Origin) -> Block:
    """Return ``block`` with copies of arrays it yields that are not its own, or yielded twice.

    Optimisation may have found that a gradient equals an argument (``foreign``), a saved value or
    another gradient; the user, who may write into one, must get arrays that nobody else holds.
    """
    made = {st.target: st.rhs for st in walk(block) if isinstance(st, Let)}
    sharing = Sharing(unit.type, made.get)  # type: ignore[arg-type]
    handed: dict[Var, set[Var]] = {}
    for edge in edges(block):
        if isinstance(edge.source, Var):
            handed.setdefault(edge.target, set()).add(edge.source)
    given = {
        root for atom in put_outside(block, foreign, made, sharing, handed)
        for root in roots_of(atom, made, sharing, handed)
    }
    statements = list(block.statements)

    def write(name: str, rhs: Rhs, type_: t.Type) -> Var:
        var = Var(name, True)
        unit.record(var, rhs, type_)
        statements.append(Let(var, rhs, origin.reversed()))
        return var

    def own(atom: Atom) -> Atom:
        if not isinstance(atom, Var):
            return atom
        rhs, type_ = made.get(atom), unit.type(atom)
        if is_taken_apart(rhs):
            items = tuple(item if isinstance(item, Star) else own(item) for item in rhs.items)
            if all(a is b for a, b in zip(items, rhs.items, strict=True)):
                return atom
            statements[:] = [
                st for st in statements if not (isinstance(st, Let) and st.target is atom)
            ]
            return write(atom.name, replace(rhs, items=items), type_)
        if not isinstance(type_, t.Array) or type_.kind not in ("float", "complex"):
            return atom
        roots = roots_of(atom, made, sharing, handed)
        from_outside = any(is_global(made.get(root)) for root in roots)
        if roots & foreign or roots & given or from_outside or may_be_read_only(
            atom, made, sharing
        ):
            return write(atom.name, Call(Const(np.copy), (atom,)), type_)
        given.update(roots)
        return atom

    for atom in held_whole(block.yields, made, unit):
        given |= roots_of(atom, made, sharing, handed)
    yields = tuple(map(own, block.yields))
    return replace(block, statements=tuple(statements), yields=yields)


def held_whole(atoms: Iterable[Atom], made: Mapping[Var, Rhs], unit: Unit) -> Iterator[Var]:
    """Yield the lists and instances among values that are yielded, in tuples and dicts too."""
    for atom in atoms:
        rhs = made.get(atom) if isinstance(atom, Var) else None
        if is_taken_apart(rhs):
            yield from held_whole(map(unstar, rhs.items), made, unit)
        elif isinstance(atom, Var) and not isinstance(unit.type(atom), t.Array | t.Scalar):
            yield atom


def is_taken_apart(rhs: Rhs | None) -> TypeGuard[Pack]:
    """Say whether a right-hand side is a tuple or dict, of which all parts are known."""
    return isinstance(rhs, Pack) and (
        rhs.kind == "tuple" or (rhs.kind == "dict" and None not in rhs.keys))


def put_outside(
    block: Block, foreign: set[Var], made: Mapping[Var, Rhs], sharing: Sharing,
    handed: Mapping[Var, set[Var]],
) -> Iterator[Var]:
    """Yield what is put into a container that is not the function's own, or into a module."""
    for statement in walk(block):
        if not isinstance(statement, Let | Do):
            continue
        rhs = statement.rhs
        if isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
            rhs.func.value in (store_global, give_back)
        ):
            yield from (a for a in map(unstar, rhs.args) if isinstance(a, Var))
        for atom in sharing.entered(rhs):
            holder = unstar(operands(rhs)[0])
            if isinstance(atom, Var) and isinstance(holder, Var) and any(
                root in foreign or is_global(made.get(root))
                for root in roots_of(holder, made, sharing, handed)
            ):
                yield atom


def is_global(rhs: Rhs | None) -> bool:
    """Say whether a value is read from a module or another object that is there already."""
    match rhs:
        case Global() | Attribute(Const()) | Item(Const()):
            return True
        case Call(Const(function)):
            return function is read_global or function is cell_value
    return False


def roots_of(
    var: Var, made: Mapping[Var, Rhs], sharing: Sharing, handed: Mapping[Var, set[Var]]
) -> set[Var]:
    """Return the values, made elsewhere or by an allocation, whose storage ``var`` may share."""
    return {here for here, shared in storage_behind(var, made, sharing, handed) if not shared}


def may_be_read_only(var: Var, made: Mapping[Var, Rhs], sharing: Sharing) -> bool:
    """Say whether an array may be a view that cannot be written into, whoever owns the storage."""
    return any(
        isinstance(rhs := made.get(here), Call) and not gives_writable(rhs)
        for here, _ in storage_behind(var, made, sharing, {})
    )


def gives_writable(rhs: Call) -> bool:
    """Say whether a view that a call gives can be written into if its argument can."""
    if not isinstance(rhs.func, Const):
        return False
    known = REGISTRY.facts(rhs.func.value)
    return known.gives_own_arrays or (
        root_module(rhs.func.value) in KNOWN and not known.read_only)


def storage_behind(
    var: Var, made: Mapping[Var, Rhs], sharing: Sharing, handed: Mapping[Var, set[Var]]
) -> Iterator[tuple[Var, set[Var]]]:
    """Yield the values that an array is made from by sharing, each with those that it shares with.

    ``var`` is one of them, as are those that share with no other. ``handed`` tells what goes into,
    round and out of loops and branches.
    """
    seen: set[Var] = {var}
    waiting = [var]
    while waiting:
        here = waiting.pop()
        rhs = made.get(here)
        shared = set() if rhs is None else {
            operand for operand, _ in sharing.of(here, rhs) if isinstance(operand, Var)
        }
        shared |= handed.get(here, set())
        yield here, shared
        waiting += shared - seen
        seen |= shared


def of_many_seeds(
    s: Builder, block: Block, seeded: Sequence[Var], wanted: Sequence[int], origin: Origin,
    before: Sequence[Statement] = (),
) -> Block:
    """Return optimised derivative code for many seeds, which ``seeded`` hold, with nothing unused.

    The yields at ``wanted`` have the leading axis for sure. ``before`` is what runs before it.
    Raises NotBatchable.
    """
    new = batched_block(s, block, seeded, wanted, origin, before)
    return dead_code(new, Purity(s.unit.type, s.unit.definition))


def of_all_orders(
    s: Builder, block: Block, seeded: Sequence[Var], wanted: Sequence[int], origin: Origin,
    orders: Var | None = None,
) -> Block:
    """Return optimised code of coefficients for all orders of these, as ``series_block`` does."""
    new = series_block(s, block, seeded, wanted, origin, orders)
    return dead_code(new, Purity(s.unit.type, s.unit.definition))
