"""Sums of outer products that a loop adds up, as one product of matrices behind the loop.

``W_bar += outer(z_bar, h)``, the sweep of ``W @ h``, goes through a whole matrix in each iteration.
The loop collects the vectors instead: their sum of outer products is ``Z.T @ H``, with a row of
``Z`` and ``H`` from each iteration; without one these have no rows, and the product is zeros.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from adcompiler.analyses.purity import Purity, checks
from adcompiler.analyses.storage import Sharing, is_mutable, written_operand
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Do, Function, Item, Let, Loop, Region, Rhs,
    Statement, Var, unstar,
)
from adcompiler.ir.visit import count_uses, definitions, loops_in, used, walk, with_blocks
from adcompiler.ops.queries import meaning
from adcompiler.optimise.dead_code import dead_code
from adcompiler.runtime.tapes import as_rows
from adcompiler.support.structs import dataclass
from adcompiler.typed.unit import Unit

COLUMNS = ((Ellipsis, None), (slice(None), None))
ROWS = ((Ellipsis, None, slice(None)), (None, slice(None)), (None, Ellipsis))
"""Subscripts that make a column, or a row, of a vector."""


def with_outer_products_together(function: Function, unit: Unit) -> Function:
    """Return a function whose loops add up no outer products where they can do without."""
    if not any(loop.params for loop in loops_in(function.body)):
        return function
    together = OuterProducts(function, unit)
    body = together.block(function.body)
    return replace(function, body=dead_code(body, together.purity)) if together.found else function


@dataclass(frozen=True)
class Product:
    """An outer product that a loop makes as ``target``, or a vector, as which it has no ``row``."""

    target: Var
    column: Var
    row: Var | None = None


class OuterProducts:
    """Rewrites the loops of a function; ``found`` says whether one is another."""

    def __init__(self, function: Function, unit: Unit) -> None:
        self.unit = unit
        self.purity = Purity(unit.type, unit.definition)
        self.sharing = Sharing(unit.type, unit.definition)
        self.uses = count_uses(function.body)
        self.made = {one.target: one.rhs for one in walk(function.body) if isinstance(one, Let)}
        self.found = False

    def block(self, block: Block) -> Block:
        """Return a block with its loops rewritten, those inside of regions first."""
        statements: list[Statement] = []
        for statement in block.statements:
            inner = with_blocks(statement, self.block)
            statements += self.loop(inner) if isinstance(inner, Loop) else [inner]
        return replace(block, statements=tuple(statements))

    def loop(self, loop: Loop) -> list[Statement]:
        """Return a loop, and what sums up behind it."""
        sums = {} if loop.body.diverges or loop.stops else self.sums(loop)
        columns = {one.column for products in sums.values() for one in products if one.row}
        if not columns:
            return [loop]
        self.found = True
        stays = Stays(self, loop)
        sums = {place: products for place, products in sums.items() if all(
            one.row or (one.column in columns and stays(one.column)) for one in products)}
        kept: dict[tuple[Var, Var | None], Var] = {}
        lists: dict[tuple[Var, Var | None], Var] = {}
        copies: dict[Var, list[Statement]] = {}
        origins = {one.target: one.origin for one in loop.body.statements if isinstance(one, Let)}
        of_matrices = sorted(
            ((k, one) for k, products in sums.items() for one in products),
            key=lambda pair: pair[1].row is None)
        for place, product in of_matrices:
            for vector, part in ((product.column, "columns"), (product.row, "rows")):
                if vector is None or vector_key(stays, product, vector) in kept:
                    continue
                key, found = vector_key(stays, product, vector), vector
                lists[key] = self.list_of(vector, f"{loop.results[place].name}_{part}")
                if not stays(vector):
                    found = Var(vector.name, vector.temporary)
                    rhs = Call(Const(np.copy), (vector,))
                    self.unit.record(found, rhs, self.unit.type(vector))
                    copies.setdefault(product.target, []).append(
                        Let(found, rhs, origins[product.target]))
                kept[key] = found
        places = [k for k in range(len(loop.params)) if k not in sums]
        yields, carried = loop.body.yields, len(loop.params)
        statements = [one for statement in loop.body.statements for one in (
            *(copies.get(statement.target, ()) if isinstance(statement, Let) else ()), statement)]
        rest = replace(
            loop, params=tuple(loop.params[k] for k in places),
            inits=tuple(loop.inits[k] for k in places),
            results=tuple(loop.results[k] for k in places),
            collects=(*loop.collects, *lists.values()),
            body=replace(loop.body, statements=tuple(statements), yields=(
                *(yields[k] for k in places), *yields[carried:], *kept.values())),
        )
        out: list[Statement] = [rest]
        rows: dict[Var, Atom] = {}
        for place, products in sums.items():
            self.sum_up(out, loop, place, [
                [lists[vector_key(stays, one, vector)] for vector in (one.column, one.row)
                 if vector is not None] for one in products
            ], rows)
        return out

    def sum_up(
        self, out: list[Statement], loop: Loop, place: int, terms: list[list[Var]],
        rows: dict[Var, Atom],
    ) -> None:
        """Write a sum behind its loop; ``rows`` are the matrices that are written already."""
        start, result = loop.inits[place], loop.results[place]
        zeros = self.made.get(start) if isinstance(start, Var) else None
        like, type_ = start, self.unit.type(result)
        total: Atom | None = start
        if meaning(zeros) == "zeros_like" and isinstance(zeros, Call) and (
            len(zeros.args) == 1 and not zeros.kwargs
        ):
            like, total = unstar(zeros.args[0]), None
        for i, lists in enumerate(terms):
            for axis, vectors in enumerate(lists):
                if vectors not in rows:
                    rows[vectors] = self.rows_of(out, loop, vectors, like, axis)
            if len(lists) == 1:
                rhs: Rhs = Call(Const(np.sum), (rows[lists[0]],), (("axis", Const(0)),))
            else:
                turned = self.write(out, loop, "turned", Attribute(rows[lists[0]], "T"), type_)
                rhs = Call(Const(operator.matmul), (turned, rows[lists[1]]))
            if total is not None:
                product = self.write(out, loop, "product", rhs, type_)
                rhs = Call(Const(operator.add), (total, product))
            if i + 1 < len(terms):
                total = self.write(out, loop, "total", rhs, type_)
        self.unit.defs[result] = rhs
        out.append(Let(result, rhs, loop.origin))

    def rows_of(
        self, out: list[Statement], loop: Loop, vectors: Var, like: Atom, axis: int
    ) -> Var:
        """Write the matrix of which collected vectors are the rows, as long as an axis of an array.
        """
        of = self.unit.type(vectors)
        assert isinstance(of, t.List) and isinstance(of.item, t.Array)
        matrix = replace(of.item, ndim=2)
        dtype = () if matrix.dtype == "float64" else (Const(np.dtype(matrix.dtype).type),)
        shape = self.write(
            out, loop, "shape", Attribute(like, "shape"),
            t.Tuple((t.INT,) * (self.ndim(like) or 0)))
        length = self.write(out, loop, "length", Item(shape, Const(axis)), t.INT)
        rhs = Call(Const(as_rows), (vectors, length, *dtype))
        return self.write(out, loop, f"{vectors.name}_as_rows", rhs, matrix)

    def sums(self, loop: Loop) -> dict[int, list[Product]]:
        """Return by their places the sums of a loop that nothing reads before its end."""
        made = {one.target: one.rhs for one in loop.body.statements if isinstance(one, Let)}
        tested = () if loop.condition is None else used(loop.condition)
        found = {}
        for place, (param, total) in enumerate(zip(loop.params, loop.next_values(), strict=True)):
            products = None if param in tested or self.uses.get(param) != 1 or not self.alike(
                param, loop.inits[place]) else self.terms(made, param, total)
            if products:
                found[place] = products
        return found

    def terms(
        self, made: Mapping[Var, Rhs], param: Var, total: Atom
    ) -> list[Product] | None:
        """Return the products that are added to ``param`` one after the other, None if not all are.
        """
        if total is param or not isinstance(total, Var):
            return [] if total is param else None
        args = self.operands(made, total, "add")
        for before, added in (args, args[::-1]) if args is not None else ():
            if not isinstance(added, Var) or not self.alike(param, total, added) or (
                self.uses.get(total) != 1
            ):
                continue
            first, last = self.terms(made, param, before), self.addends(made, added)
            if first is not None and last is not None:
                return [*first, *last]
        return None

    def addends(self, made: Mapping[Var, Rhs], added: Var) -> list[Product] | None:
        """Return the outer products of which a matrix is the sum, or a vector; None for others."""
        if self.ndim(added) == 1:
            return [Product(added, added)]
        if self.uses.get(added) != 1:
            return None
        product = self.product(made, added)
        if product is not None:
            return [product]
        found: list[Product] = []
        for part in self.operands(made, added, "add") or (added,):
            alike = isinstance(part, Var) and part is not added and self.alike(part, added)
            parts = self.addends(made, part) if alike and isinstance(part, Var) else None
            if parts is None:
                return None
            found += parts
        return found

    def operands(
        self, made: Mapping[Var, Rhs], atom: Atom, word: str
    ) -> tuple[Atom, Atom] | None:
        """Return the operands of the arithmetic that makes an atom in the body."""
        rhs = made.get(atom) if isinstance(atom, Var) else None
        if isinstance(rhs, Call) and meaning(rhs) == word and len(rhs.args) == 2 and not rhs.kwargs:
            one, other = map(unstar, rhs.args)
            return None if one is other else (one, other)
        return None

    def product(self, made: Mapping[Var, Rhs], target: Var) -> Product | None:
        """Return the two vectors of which a matrix is the outer product."""
        args = self.operands(made, target, "multiply")
        for one, other in (args, args[::-1]) if args is not None else ():
            column = self.vector(made, one, COLUMNS)
            row = other if self.ndim(other) == 1 else self.vector(made, other, ROWS)
            if column is not None and isinstance(row, Var):
                return Product(target, column, row)
        return None

    def vector(
        self, made: Mapping[Var, Rhs], atom: Atom, subscripts: tuple[Any, ...]
    ) -> Var | None:
        """Return the vector of which an atom is a column or row, by one of some subscripts."""
        match made.get(atom) if isinstance(atom, Var) else None:
            case Item(Var() as vector, Const(tuple() as index)) if self.ndim(vector) == 1 and any(
                len(index) == len(form) and all(map(is_part, index, form)) for form in subscripts
            ):
                return vector
        return None

    def ndim(self, atom: Atom) -> int | None:
        """Return the number of axes of an array of floats that is there for sure."""
        type_ = self.unit.type(atom)
        if isinstance(type_, t.Array) and type_.kind in ("float", "complex") and (
            atom not in self.unit.unsure
        ):
            return type_.ndim
        return None

    def alike(self, param: Var, *others: Atom) -> bool:
        """Say whether arrays are of the type and shape of what a loop carries."""
        return self.ndim(param) is not None and all(
            self.unit.type(other) == self.unit.type(param)
            and self.unit.shape(other) == self.unit.shape(param) for other in others)

    def list_of(self, vector: Var, name: str) -> Var:
        """Return a variable for the list of all vectors that a loop makes as ``vector``.

        ``name`` is for those that have no name of the user's.
        """
        shown = self.unit.naming.names.get(vector, vector.name)
        found = Var(name if vector.temporary else f"{shown}s")
        self.unit.set_type(found, t.List(self.unit.type(vector)), True)
        return found

    def write(
        self, out: list[Statement], loop: Loop, name: str, rhs: Rhs, type_: t.Type
    ) -> Var:
        """Write the definition of a variable behind a loop."""
        var = Var(name, True)
        self.unit.record(var, rhs, type_)
        out.append(Let(var, rhs, loop.origin))
        return var


def is_part(one: Any, other: Any) -> bool:
    """Say whether parts of subscripts are the same: None, an ellipsis, or ``:``."""
    return one is other or (type(one) is type(other) is slice and all(
        end is None for end in (one.start, one.stop, one.step)))


def vector_key(stays: Stays, product: Product, vector: Var) -> tuple[Var, Var | None]:
    """Return what a list of vectors is known by: those that do not stay are one product's own."""
    return vector, None if stays(vector) else product.target


class Stays:
    """Says of a vector whether it stays as it is until a loop ends."""

    def __init__(self, products: OuterProducts, loop: Loop) -> None:
        self.near: dict[Var, list[Var]] = {}
        self.body = loop.body
        self.here = definitions(loop.body)
        self.writes: list[tuple[int, Atom]] = []
        self.follows = True
        self.known: dict[Var, bool] = {}
        unit = products.unit
        test = loop.condition.statements if loop.condition is not None else ()
        for place, statement in enumerate((*loop.body.statements, *test)):
            for one in walk(Block((statement,))):
                if isinstance(one, Region):
                    self.edges(one, unit)
                elif isinstance(one, Let):
                    written = written_operand(one.rhs)
                    if written is not None:
                        self.writes.append((place, written))
                        self.join(one.target, written)
                    elif not products.purity.is_pure(one.rhs):
                        self.follows = False
                    for operand, _ in products.sharing.of(one.target, one.rhs):
                        self.join(one.target, operand)
                elif not (isinstance(one, Do) and checks(one.rhs)):
                    self.follows = False
        self.edges(loop, unit)

    def edges(self, region: Region, unit: Unit) -> None:
        """Join what a region hands on."""
        for edge in region.edges():
            if is_mutable(unit.type(edge.target)):
                self.join(edge.target, edge.source)

    def join(self, one: Atom, other: Atom) -> None:
        """Note that two values may share storage; constants are not written into."""
        if isinstance(one, Var) and isinstance(other, Var):
            self.near.setdefault(one, []).append(other)
            self.near.setdefault(other, []).append(one)

    def __call__(self, vector: Var) -> bool:
        """Say whether no write follows that may reach the vector, in this iteration or later.

        An array that each iteration makes, and hands on to none, may be written into before.
        """
        if vector not in self.known:
            self.known[vector] = self.stays(vector)
        return self.known[vector]

    def stays(self, vector: Var) -> bool:
        """As ``__call__``, found now."""
        if not self.follows:
            return False
        alike = {vector}
        waiting = [vector]
        while waiting:
            for other in self.near.get(waiting.pop(), ()):
                if other not in alike:
                    alike.add(other)
                    waiting.append(other)
        made = next((place for place, one in enumerate(self.body.statements)
                     if isinstance(one, Let) and one.target is vector), -1)
        last = max((place for place, written in self.writes if written in alike), default=-1)
        return last == -1 or (last <= made and alike <= self.here)


__all__ = ["with_outer_products_together"]
