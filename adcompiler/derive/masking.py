"""Derivative code in which a derivative that is 0 stays 0 through an infinite slope.

What depends on the seeds of derivative code is linear in them. Its products with slopes become
calls of ``adjoints.masked``. The factors of others, which have no derivative themselves, are masks:
where these are 0, so is the product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from adcompiler.analyses.activity import varied_variables
from adcompiler.derive.forward.transposing import dependents
from adcompiler.derive.slopes import is_gentle
from adcompiler.ir import types as t
from adcompiler.ir.dataflow import Flow
from adcompiler.ir.nodes import (
    NONE, Atom, Block, Call, Const, Let, Origin, Region, Statement, Var, operands, unstar,
)
from adcompiler.ir.visit import walk, with_blocks
from adcompiler.ops.qualified_names import KERNELS
from adcompiler.ops.queries import meaning
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import project
from adcompiler.runtime.adjoints.masked import masked_product, masked_quotient, zero_product
from adcompiler.runtime.series import COEFFICIENTS, still_where_still
from adcompiler.support.structs import dataclass
from adcompiler.typed.unit import Unit

PRODUCTS = frozenset({"multiply", "divide"})
"""What functions mean that are masked."""
ALIKE = frozenset({"broadcast_to", "expand_dims", "reshape", "negative"})
"""What functions mean that give the numbers of their first argument, or their negatives."""
MOVED = ALIKE | {"sum"}
"""What functions mean that numbers are moved out of."""
OF_NUMBERS = (f"{KERNELS}.series", f"{KERNELS}.scipy_series")
"""Modules of functions of coefficients that do the same for each element of arrays."""


def masked(
    unit: Unit, block: Block, seeds: Iterable[Var], inputs: Iterable[Var],
    is_optimised: bool = False, one: Var | None = None,
) -> Block:
    """Return derivative code, linear in its ``seeds``, with its products masked.

    ``inputs`` are what is differentiated with respect to, ``one`` is a seed that is known to be 1.
    Code that may run once more, should it give nan, is left as it is. Where it may not, products
    with slopes that may be infinite are masked from the start. What ``is_optimised`` has products
    of slopes that a number is multiplied by last.
    """
    if is_whole(unit):
        steep = None
    elif is_careful(unit):
        steep = steep_variables(block)
    else:
        return block
    seeds = list(seeds)
    linear = dependents(block, *seeds)
    varied = varied_variables(block, [*inputs, *seeds], unit.type)
    scaled = scaled_last(block, linear, unit.type) if is_optimised else set()
    return Masking(unit, linear, varied, steep, scaled, nowhere_zero(block, one)).block(block)


def nowhere_zero(block: Block, one: Var | None) -> set[Atom]:
    """Return the variables that hold nothing but a known number, like ``one``, which is not 0."""
    found: set[Atom] = set() if one is None else {one}
    for statement in walk(block):
        match statement:
            case Let(target, Call(_, (_, filling), ()) as rhs) if meaning(rhs) == "full_like" and (
                filling in found or is_plain(unstar(filling))
            ):
                found.add(target)
            case Let(target, Call(Const(function), (first, *_), ())) if (
                first in found and is_alike(function)
            ):
                found.add(target)
    return found


def is_alike(function: Callable[..., Any]) -> bool:
    """Say whether a function gives the numbers of its first argument, or their negatives."""
    return function is project or REGISTRY.facts(function).means in ALIKE


def scaled_last(block: Block, linear: set[Atom], type_of: Callable[[Atom], t.Type]) -> set[Atom]:
    """Return the products that stand for cotangents, which a number is multiplied by in the end.

    The optimiser makes ``c * (a * b)`` of ``(c * a) * b``, for a number ``c``, also through signs
    and sums: see ``optimise/algebra.py``.
    """
    wanted: set[Atom] = set()
    found: set[Atom] = set()
    for statement in reversed(list(walk(block))):
        match statement:
            case Let(target, Call(_, (first, *_)) as rhs, origin) if (
                target in wanted and target not in linear and origin.reverse
                and meaning(rhs) in MOVED
            ):
                wanted.add(unstar(first))
            case Let(target, Call(Const(function), (first, second), ()) as rhs, origin) if (
                is_known(function) or is_dot(rhs, type_of)
            ):
                a, b = unstar(first), unstar(second)
                if target in linear and a in linear and isinstance(type_of(a), t.Scalar):
                    wanted.add(b)
                elif target in wanted and target not in linear and origin.reverse:
                    wanted.add(a)
                    found.add(target)
    return found


def is_dot(rhs: Call, type_of: Callable[[Atom], t.Type]) -> bool:
    """Say whether a call is the product of two vectors: the sum of products of numbers."""
    types = [type_of(unstar(arg)) for arg in rhs.args]
    return meaning(rhs) == "matmul" and len(types) == 2 and not rhs.kwargs and all(
        isinstance(type_, t.Array) and type_.ndim == 1 for type_ in types)


def may_be_masked(unit: Unit) -> bool:
    """Say whether products may be masked, of code that is not written yet."""
    inside = unit.settings.runs_later and unit.derivatives.around > 0
    return inside or is_whole(unit) or is_careful(unit)


def is_whole(unit: Unit) -> bool:
    """Say whether all products are masked: in code that runs where other code has given nan.

    So are those of derivatives that a pullback, or a tangent, is taken of: it reads them later.
    """
    if unit.settings.runs_later and unit.derivatives.around:
        return unit.sweeps.steep
    return unit.settings.options.masked


def is_careful(unit: Unit) -> bool:
    """Say whether products with steep slopes are masked from the start.

    So are those of code that must not run once more, of code that nobody tests, and of code that
    raises at what is not finite.
    """
    options = unit.settings.options
    return options.careful or options.debug or (
        unit.sweeps.acts and not unit.settings.runs_later)


def steep_variables(block: Block) -> set[Atom]:
    """Return the variables that may be infinite where what the block reads is finite."""
    flow = Flow()
    starts = []
    for statement in walk(block):
        if isinstance(statement, Let):
            flow.add(statement.target, operands(statement.rhs))
            if isinstance(statement.rhs, Call) and not is_gentle(statement.rhs):
                starts.append(statement.target)
        elif isinstance(statement, Region):
            flow.steps += [edge[:2] for edge in statement.edges()]
    return flow.forward(starts, lambda atom: True)


@dataclass(frozen=True)
class Masking:
    """Rewrites the products of values that are ``linear`` in seeds; ``varied`` ones are no masks.

    Only ``steep`` factors may be infinite; None stands for all. Products that are ``scaled`` later
    count as linear in their first factor.
    """

    unit: Unit
    linear: set[Atom]
    varied: frozenset[Var]
    steep: set[Atom] | None
    scaled: set[Atom]
    nowhere_zero: set[Atom]

    def block(self, block: Block) -> Block:
        """Return a block with its products masked, and those of the blocks inside."""
        return replace(block, statements=tuple(
            made for statement in block.statements for made in self.statement(statement)))

    def statement(self, statement: Statement) -> Iterator[Statement]:
        """Yield a statement with its products masked."""
        match statement:
            case Let(target, Call(Const(function), (a, b), ()) as rhs, _) if is_known(function):
                made = self.product(function, a, b, target in self.scaled)
                if made is not None:
                    rhs = replace(rhs, func=Const(made[0]), args=made[1:])
                    self.unit.defs[target] = rhs
                yield replace(statement, rhs=rhs)
            case Let(target, Call(Const(function), (a, b), ()) as rhs, origin) if (
                is_dot(rhs, self.unit.type)
                and (made := self.product(function, a, b, target in self.scaled)) is not None
            ):
                parts = Var("product", True)
                products = Call(Const(made[0]), made[1:])
                self.unit.record(parts, products, self.unit.type(unstar(a)))
                yield Let(parts, products, origin)
                rhs = Call(Const(np.sum), (parts,))
                self.unit.defs[target] = rhs
                yield Let(target, rhs, origin)
            case Let(target, Call(Const(function), args) as rhs, origin) if is_series(function):
                moves = [args[i] for i in COEFFICIENTS[function]]
                yield from self.series(target, rhs, moves, origin)
            case _:
                yield with_blocks(statement, self.block)

    def series(self, target: Var, rhs: Call, moves: list[Any], origin: Origin) -> Iterator[Let]:
        """Yield the coefficients of a function of numbers, 0 where those of its arguments are."""
        whole = Var(target.name, True)
        self.unit.record(whole, rhs, self.unit.type(target))
        self.unit.shapes[whole] = self.unit.shape(target)
        yield Let(whole, rhs, origin)
        rhs = Call(Const(still_where_still), (whole, *moves, *(NONE,) * (2 - len(moves))))
        self.unit.defs[target] = rhs
        yield Let(target, rhs, origin)

    def product(
        self, function: Callable[..., Any], a: Any, b: Any, is_scaled: bool
    ) -> tuple[Any, Any, Any] | None:
        """Return the masked call in place of a product or quotient, None for none."""
        if not self.is_number(a) or not self.is_number(b) or self.nowhere_zero & {a, b}:
            return None
        first, second = is_scaled or a in self.linear, b in self.linear
        if REGISTRY.facts(function).means == "divide":
            return (masked_quotient, a, b) if first and not is_plain(b) else None
        if function is masked_product and second:
            return zero_product, a, b
        if function is masked_product or first == second or is_plain(a) or is_plain(b):
            return None
        d, factor = (a, b) if first else (b, a)
        if self.steep is not None and factor not in self.steep:
            return None
        return masked_product if factor in self.varied else zero_product, d, factor

    def is_number(self, atom: Any) -> bool:
        """Say whether an operand may be a number or array."""
        return isinstance(atom, (Var, Const)) and isinstance(
            self.unit.type(atom), (t.Scalar, t.Array, t.Unknown))


def is_series(function: Callable[..., Any]) -> bool:
    """Say whether a function gives the coefficients of a function of numbers: of one or two."""
    return getattr(function, "__module__", "") in OF_NUMBERS and (
        len(COEFFICIENTS.get(function, ())) in (1, 2))


def is_known(function: Callable[..., Any]) -> bool:
    """Say whether a function is a product or quotient."""
    return function is masked_product or REGISTRY.facts(function).means in PRODUCTS


def is_plain(atom: Atom) -> bool:
    """Say whether an atom is a finite number, which is not 0."""
    return isinstance(atom, Const) and type(atom.value) in (int, float) and (
        atom.value != 0 and math.isfinite(atom.value)
    )
