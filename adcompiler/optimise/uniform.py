"""Products of matrices whose cotangent is one number throughout, as that of their sum is.

``np.full_like(A @ x, s)`` times something is a sum of that, and `A @ x` need not be computed for
its shape. Python's own error of operands that do not fit then comes from the general form of the
code, to which a check leads. ``np.full_like(A, row)`` fills an array with one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Do, Item, Let, Origin, Pack, Rhs, Statement, Var,
)
from adcompiler.ir.visit import count_uses, free_variables, walk, with_blocks
from adcompiler.ops.queries import meaning
from adcompiler.optimise.broadcasts import Spreads
from adcompiler.optimise.values import Values, plain, times
from adcompiler.runtime import same_extent

PRODUCTS = ("matmul", "dot")
COLUMN, ROW = (Ellipsis, None), (Ellipsis, None, slice(None))


class Uniform:
    """The rewrites of products with uniform cotangents.

    ``dropped`` are the products not needed, of which checks are to say that their operands fit.
    """

    def __init__(self, values: Values, spreads: Spreads, last: bool) -> None:
        self.values, self.unit, self.spreads, self.last = values, values.unit, spreads, last
        self.dropped: dict[Var, tuple[Var, Var]] = {}

    def rewrite(self, call: Call) -> Rhs | Atom | None:
        """Return what replaces a product with uniform vectors or matrices, or an array filled."""
        match meaning(call), call.args:
            case ("matmul" | "dot", (x, y)) if self.values.sweep:
                return self.from_left(plain(x), plain(y)) or self.from_right(plain(x), plain(y))
            case ("full_like" | "zeros_like" | "ones_like", (_, *_)):
                return self.alike(call)
        return None

    def uniform(self, atom: Atom) -> tuple[Var, Var, Var, Atom] | None:
        """Return M, X, Y and s if ``atom`` is full_like(M, s), with M = X @ Y of floats."""
        found = self.values.filled(atom) if self.may_assume else None
        if found is None or not isinstance(found[0], Var):
            return None
        operands = self.operands(found[0])
        if operands is None or not self.values.keeps_dtype(found[1], self.unit.type(atom)):
            return None
        return found[0], *operands, found[1]

    @property
    def may_assume(self) -> bool:
        """Whether a check may lead to the general form: not after something has been done."""
        return self.unit.assume_equal_shapes and not self.unit.sweeps.acts

    def operands(self, product: Var) -> tuple[Var, Var] | None:
        """Return X and Y if a variable is X @ Y, matrices of floats, or one of them a vector."""
        call, type_ = self.values.calls.get(product), self.unit.type(product)
        if call is None or meaning(call) not in PRODUCTS or len(call.args) != 2 or call.kwargs or (
            not isinstance(type_, t.Array) or type_.kind != "float" or type_.ndim not in (1, 2)
        ):
            return None
        x, y = map(plain, call.args)
        if not isinstance(x, Var) or not isinstance(y, Var) or {x, y} & self.unit.unsure:
            return None
        kinds = self.unit.type(x), self.unit.type(y)
        if not all(isinstance(k, t.Array) and k.dtype == type_.dtype for k in kinds):
            return None
        axes = [k.ndim for k in kinds if isinstance(k, t.Array)]
        return (x, y) if max(axes) == 2 and sum(axes) == type_.ndim + 2 else None

    def from_left(self, x: Atom, y: Atom) -> Rhs | None:
        """full_like(M, s) @ Y.T -> full_like(X, s * Y.sum(axis=1)), g @ A -> s * A.sum(axis=0)."""
        found = self.uniform(x)
        if found is None:
            return None
        product, one, other, fill = found
        axes = self.values.ndim(x), self.values.ndim(y)
        if axes == (1, 2):
            return self.scaled_sum(product, y, 0, fill)
        if axes == (2, 2) and self.values.straight(y) is other:
            return self.rows(one, self.written_sum(product, other, 1, fill))
        return None

    def from_right(self, x: Atom, y: Atom) -> Rhs | None:
        """X.T @ full_like(M, s) -> full_like(Y, column of sums), A @ g -> s * A.sum(axis=1)."""
        found = self.uniform(y)
        if found is None or self.values.ndim(x) != 2:
            return None
        product, one, other, fill = found
        if self.values.ndim(y) == 1:
            return self.scaled_sum(product, x, 1, fill)
        if self.values.straight(x) is not one:
            return None
        sums = self.written_sum(product, one, 0, fill)
        column = Item(sums, Const((slice(None), None)))
        return self.rows(other, self.values.first("column", column, self.unit.type(other)))

    def outer(self, call: Call, x: Atom, y: Atom) -> Call | None:
        """full_like(X @ y, s)[:, None] * y -> full_like(X, s * y)."""
        is_product = self.values.sweep and meaning(call) == "multiply"
        for one, other in ((x, y), (y, x)) if is_product else ():
            made = self.unit.definition(one) if isinstance(one, Var) else None
            if not isinstance(made, Item) or not isinstance(made.index, Const):
                continue
            found = self.uniform(made.obj)
            if found is None:
                continue
            product, left, right, fill = found
            if is_index(made, COLUMN) and self.values.ndim(right) == 1 and other is right:
                self.dropped[product] = left, right
                return self.rows(left, self.scaled(fill, other))
            if is_index(made, ROW) and self.values.ndim(left) == 1 and self.is_column(other, left):
                self.dropped[product] = left, right
                return self.rows(right, self.scaled(fill, other))
        return None

    def is_column(self, atom: Atom, vector: Var) -> bool:
        """Say whether a value is a vector as a column."""
        made = self.unit.definition(atom) if isinstance(atom, Var) else None
        return isinstance(made, Item) and self.values.atom(made.obj) is vector and (
            is_index(made, (slice(None), None)))

    def rows(self, like: Var, fill: Atom) -> Call:
        """Return an array of the shape of another one with a row or column everywhere."""
        return Call(Const(np.full_like), (like, fill))

    def scaled_sum(self, product: Var, matrix: Atom, axis: int, fill: Atom) -> Rhs:
        """Return the sums of a matrix along an axis, times a number."""
        self.dropped[product] = self.operands(product)  # type: ignore[assignment]
        turned = self.values.straight(matrix)
        source, along = (matrix, axis) if turned is None else (turned, 1 - axis)
        total = Call(Const(np.sum), (source,), (("axis", Const(along)),))
        if isinstance(fill, Const) and fill.value == 1.0:
            return total
        type_ = self.unit.type(source)
        assert isinstance(type_, t.Array)
        return times(fill, self.values.first("total", total, replace(type_, ndim=1)))

    def written_sum(self, product: Var, matrix: Atom, axis: int, fill: Atom) -> Var:
        """Write the sums of a matrix along an axis, times a number."""
        type_ = self.unit.type(matrix)
        assert isinstance(type_, t.Array)
        rhs = self.scaled_sum(product, matrix, axis, fill)
        return self.values.first("total", rhs, replace(type_, ndim=1))

    def scaled(self, fill: Atom, vector: Atom) -> Atom:
        """Return a vector, or column, times a number, written first if that is not 1."""
        if isinstance(fill, Const) and fill.value == 1.0:
            return vector
        rhs = times(fill, vector)
        return self.values.first("product", rhs, self.unit.type(vector))

    # -- what is left of the products ----------------------------------------------------------

    @cached_property
    def measured(self) -> set[Var]:
        """Variables of which nothing but the shape is read."""
        uses = count_uses(self.values.original)
        for statement in walk(self.values.original):
            match statement:
                case Let(_, Attribute(Var() as obj, "shape" | "size")):
                    uses[obj] -= 1
                case Let(_, Call(_, (Var() as obj, _), ()) as call) if (
                    meaning(call) == "full_like" and self.given_like(obj) is not None
                ):
                    uses[obj] -= 1
        return {var for var, count in uses.items() if count == 0}

    @cached_property
    def given(self) -> Sequence[Var]:
        """The variables from outside, which are there for all of the code."""
        return [var for var in free_variables(self.values.original) if var not in self.unit.unsure]

    def alike(self, call: Call) -> Call | None:
        """As in Spreads; full_like(X @ Y, s) -> full_like(B, s) where B is given, of its shape."""
        found = self.spreads.alike(call)
        like = plain((found or call).args[0])
        given = self.given_like(like) if self.last and isinstance(like, Var) and (
            self.operands(like) is not None) else None
        return found if given is None else Call(call.func, (given, *call.args[1:]))

    def given_like(self, product: Var) -> Var | None:
        """Return an array from outside that has the shape of a product; None without one."""
        return next((
            other for other in self.given if self.may_assume
            and self.values.same_shape(other, product) and self.unit.type(other) == (
                self.unit.type(product))
        ), None)

    def measure(self, rhs: Attribute) -> Rhs | Atom | None:
        """(X @ Y).shape -> (X.shape[0], Y.shape[1]), where nothing else reads the product."""
        product = rhs.obj
        if self.last and rhs.name in ("shape", "size") and isinstance(product, Var) and (
            product in self.measured and self.may_assume
        ):
            operands = self.operands(product)
            if operands is not None:
                self.dropped[product] = operands
                sizes = [self.extent(one, axis) for one, axis in zip(operands, (0, 1), strict=True)
                         if self.values.ndim(one) == 2]
                if rhs.name == "shape":
                    return Pack("tuple", tuple(sizes))
                return times(*sizes) if len(sizes) == 2 else sizes[0]
        return None

    def extent(self, array: Var, axis: int) -> Var:
        """Write the reading of an extent, for a check if one is written."""
        axes = self.values.ndim(array)
        shape = self.values.first("shape", Attribute(array, "shape"), t.Tuple((t.INT,) * axes))
        extent = self.values.first("extent", Item(shape, Const(axis % axes)), t.INT)
        self.unit.writes.checks |= {shape, extent}
        return extent

    def with_checks(self, block: Block) -> Block:
        """Return a block with a check in front of each product that is not needed any more."""
        if not self.dropped:
            return block
        statements: list[Statement] = []
        for statement in block.statements:
            if isinstance(statement, Let) and statement.target in self.dropped and (
                statement.target not in self.unit.writes.checks
            ):
                self.unit.writes.checks.add(statement.target)
                x, y = self.dropped[statement.target]
                statements += self.check(x, y, statement.origin)
            statements.append(with_blocks(statement, self.with_checks))
        return replace(block, statements=tuple(statements))

    def check(self, x: Var, y: Var, origin: Origin) -> list[Statement]:
        """Return the check that two operands fit."""
        if self.unit.shape(x)[-1] == self.unit.shape(y)[0]:
            return []
        extents = self.extent(x, self.values.ndim(x) - 1), self.extent(y, 0)
        return [*self.values.written(origin), Do(Call(Const(same_extent), extents), origin)]


def is_index(made: Item, form: tuple[Any, ...]) -> bool:
    """Say whether a subscript is one of whole axes and new ones."""
    index = made.index.value if isinstance(made.index, Const) else None
    return isinstance(index, tuple) and len(index) == len(form) and all(
        one is two or (isinstance(one, slice) and one == two)
        for one, two in zip(index, form, strict=True))
