"""The value of a function for many examples at once: one function, of arrays with one axis more."""

from __future__ import annotations

import numpy as np

from adcompiler.analyses.purity import Purity
from adcompiler.batching.examples import example_block
from adcompiler.errors import NotBatchable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Block, Call, Const, Function, Pack, Rhs, Var, unstar
from adcompiler.ir.visit import direct_uses, walk
from adcompiler.ops.registry import REGISTRY
from adcompiler.optimise.dead_code import dead_code
from adcompiler.optimise.passes import optimise
from adcompiler.products.product import Product
from adcompiler.products.specialised import Typed, all_params
from adcompiler.runtime import batches
from adcompiler.typed.builder import Builder
from adcompiler.typed.unit import Unit

NUMBERS = ("bool", "int", "float", "complex")


def of_examples(unit: Unit, typed: Typed) -> Product:
    """Return a function of ``typed.inputs`` with a leading axis, which its results have, too.

    They are arrays that nobody else holds, in tuples. Raises NotBatchable where that cannot be
    written.
    """
    if typed.written or typed.lost:
        raise NotBatchable
    origin = typed.origin
    s = Builder(unit)
    body = Block((*typed.entry, *typed.statements), (typed.value,))
    body = optimise(dead_code(body, Purity(unit.type, unit.definition)), unit)
    block = example_block(s, body, typed.inputs, (0,), origin)
    with s.writing_to(list(block.statements)) as statements:
        value = owned(s, block.yields[0], typed, set())
    block = dead_code(
        Block(tuple(statements), (value,)), Purity(unit.type, unit.definition))
    if unit.derivatives.around > 1 or not unit.settings.as_it_is:
        refuse_underivable(block)
    name = f"{typed.function.name}_of_examples"
    main = Function(name, all_params(unit, typed), block, origin)
    names = ", ".join(var.name for var in typed.inputs)
    doc = f"Return the values of `{typed.function.name}` for many examples, in {names}."
    return Product([main], {name: doc}, together=(name,))


def owned(s: Builder, atom: Atom, typed: Typed, seen: set[Atom]) -> Atom:
    """Write a result so that no array in it is one that anybody else holds.

    Raises NotBatchable for what is no array of numbers, and no tuple of these.
    """
    made, type_ = s.unit.definition(atom), s.unit.type(atom)
    if isinstance(made, Pack) and made.kind == "tuple":
        items = tuple(owned(s, unstar(item), typed, seen) for item in made.items)
        types = t.Tuple(tuple(map(s.unit.type, items)))
        return s.let(Pack("tuple", items), types, "results", typed.origin)
    if not isinstance(atom, Var) or not isinstance(type_, t.Array) or type_.kind not in NUMBERS:
        raise NotBatchable
    if is_new(made) and atom not in seen:
        seen.add(atom)
        return atom
    return s.let(Call(Const(np.copy), (atom,)), type_, atom.name, typed.origin)


def is_new(made: Rhs | None) -> bool:
    """Say whether what is made is an array of its own: a function of elements, or one that says so.
    """
    if not isinstance(made, Call) or not isinstance(made.func, Const):
        return False
    function = made.func.value
    return bool(REGISTRY.facts(function).gives_own_arrays) or function is batches.stacked


def refuse_underivable(block: Block) -> None:
    """Raise NotBatchable for code that calls what has no derivative for many examples."""
    for statement in walk(block):
        for atom in direct_uses(statement):
            if isinstance(atom, Const) and not REGISTRY.has_rules(atom.value) and (
                getattr(atom.value, "__module__", "") == batches.__name__
            ):
                raise NotBatchable


__all__ = ["of_examples"]
