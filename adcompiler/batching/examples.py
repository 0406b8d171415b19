"""Code of one example made code of many: any values with a leading axis, not only derivatives.

What is not linear in the examples may depend on them in other ways than a derivative on its seeds:
through comparisons, integers, subscripts. These are followed too; where such a value decides which
code runs, which element is meant or which shape there is, code for many examples is not written.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcompiler.analyses.purity import checks, is_destructive
from adcompiler.batching.arrays import Arrays
from adcompiler.batching.batcher import Batcher
from adcompiler.batching.calls import Calls
from adcompiler.batching.library import is_elementwise
from adcompiler.batching.subscripts import Subscripts
from adcompiler.batching.values import Values
from adcompiler.errors import NotBatchable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, Atom, Block, Call, Const, Do, Item, Let, Origin, Raise, Rhs, Star, Var,
    operands,
)
from adcompiler.ir.regions import Loop
from adcompiler.ir.visit import is_plain_region, walk
from adcompiler.ops.facts import NUMBERS as TOTAL
from adcompiler.ops.queries import meaning
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import add, add_at, as_cotangent, as_gradient, project
from adcompiler.runtime.batches import unbroadcast_each
from adcompiler.typed.builder import Builder

NUMBERS = ("bool", "int", "float", "complex")
OF_NUMBERS = ("math", "cmath")
"""Modules whose functions take no arrays."""
ROUNDS_BY_VALUE = np.lib.NumpyVersion(np.__version__) < "2.0.0"
"""Whether NumPy's numbers take part in the choice of a dtype by their values."""


class ExampleValues(Values):
    """Values that may be others for other examples: any numbers."""

    def carries(self, type_: t.Type) -> bool:
        numbers = isinstance(type_, (t.Scalar, t.Array)) and type_.kind in NUMBERS
        return numbers or super().carries(type_)

    def expanded(self, atom: Any, origin: Origin) -> Atom:
        """As of derivatives, by functions that have derivatives where that is known to do."""
        atom = self.atom(atom)
        type_ = self.s.unit.type(atom)
        if atom in self.batched or not isinstance(type_, (t.Scalar, t.Array)):
            return super().expanded(atom, origin)
        if not self.carries(type_):
            raise NotBatchable
        name = atom.name if isinstance(atom, Var) else "value"
        if isinstance(type_, t.Scalar) or type_.ndim == 0:
            return self.write(Call(Const(np.full), (self.count(), atom)), type_, name, origin)
        first = self.s.let(Item(atom, NONE), type_, name, origin)
        repeated = Call(Const(np.repeat), (first, self.count()), (("axis", Const(0)),))
        return self.write(repeated, type_, name, origin)


class ExampleCalls(Calls):
    """Right-hand sides of many examples."""

    def call(self, target: Var, function: Any, rhs: Call, origin: Origin) -> Rhs | Var:
        if any(isinstance(arg, Star) for arg in rhs.args) or any(
            isinstance(self.values.type(a), t.Unknown)
            for a in operands(rhs) if function in (add, add_at)
        ):
            raise NotBatchable
        args: list[Any] = list(rhs.args)
        if function in (float, complex):
            number = super().call(target, function, rhs, origin)
            # no NumPy number any more, whatever the array is like
            return Call(Const(np.asarray), (number,)) if isinstance(number, Var) else number
        if is_elementwise(function) or (
            REGISTRY.facts(function).elementwise
            and getattr(function, "__module__", "") not in OF_NUMBERS
        ):
            if meaning(rhs) == "where" and len(args) != 3:
                raise NotBatchable
            return self.of_elements(target, function, rhs, origin)
        if function in (project, as_gradient) and self.values.depends(args[1]):
            return self.as_of(args[0], args[1], function is as_gradient, origin)
        if function is as_cotangent and all(
            isinstance(self.values.type(a), (t.Scalar, t.Array)) for a in args
        ) and self.values.rank(args[0]) == self.values.rank(args[1]):
            return Call(rhs.func, tuple(self.values.expanded(a, origin) for a in args))
        found = None
        if not rhs.kwargs and len(args) == 2:
            found = self.of_matrices(meaning(rhs), args, origin)
        return super().call(target, function, rhs, origin) if found is None else found

    def as_of(self, g: Any, x: Atom, is_own: bool, origin: Origin) -> Rhs | Var:
        """Return cotangents as those of values of many examples, which are of the same type."""
        types = [self.values.type(a) for a in (g, x)]
        if not all(isinstance(one, (t.Scalar, t.Array)) for one in types) or (
            getattr(types[0], "dtype", None) != getattr(types[1], "dtype", None)
        ):
            raise NotBatchable
        if self.values.rank(x) == self.values.rank(g) == 0:
            return Call(Const(np.copy), (g,)) if is_own else g
        if not self.values.rank(x):
            raise NotBatchable
        shape = self.s.let(self.size_behind(x, "shape", origin), t.UNKNOWN, "shape", origin)
        found = Call(Const(unbroadcast_each), (g, shape))
        if not is_own:
            return found
        whole = self.values.write(found, types[1], "whole", origin)
        return Call(Const(np.copy), (whole,))

    def of_matrices(self, means: str | None, args: list[Atom], origin: Origin) -> Rhs | None:
        """Return a function of two matrices for all examples at once; None if it is none."""
        if means in ("matmul", "dot"):
            return self.product(args, origin)
        if means == "solve" and self.values.depends(args[0]):
            return self.solution(args, origin)
        return None

    def of_elements(
        self, target: Var, function: Callable[..., Any], rhs: Call, origin: Origin
    ) -> Rhs | Var:
        """Return a function of each element for all examples.

        Python's numbers and NumPy's are told apart by what they do: where they raise, one example
        after the other is computed, and where they have no part in the choice of a dtype, no code
        is written.
        """
        args: list[Any] = list(rhs.args)
        types = [self.values.type(a) for a in args]
        if rhs.kwargs or not all(isinstance(one, (t.Scalar, t.Array)) for one in types):
            raise NotBatchable
        plain = [isinstance(one, t.Scalar) and one.dtype is None for one in types]
        if all(plain) and not REGISTRY.facts(function).is_total_for(TOTAL):
            return self.one_by_one(target, rhs, origin)
        dtypes = {getattr(one, "dtype", None) for one, p in zip(types, plain, strict=True) if not p}
        if (any(p and self.values.depends(a) for p, a in zip(plain, args, strict=True)) and (
            dtypes & {"float16", "float32", "complex64"}
        )) or (ROUNDS_BY_VALUE and len(dtypes) > 1):
            raise NotBatchable
        return self.arrays.elementwise(target, function, args, origin)

    def product(self, args: Sequence[Any], origin: Origin) -> Rhs | None:
        """Return the products of matrices and vectors, both of many examples or one of them."""
        a, b = args
        if not all(isinstance(self.values.type(x), t.Array) for x in args):
            raise NotBatchable
        first, second = map(self.values.rank, args)
        if not {first, second} <= {1, 2}:
            raise NotBatchable
        if not (self.values.depends(a) and self.values.depends(b)):
            return self.arrays.matmul((a, b), origin)
        dtype = getattr(self.values.type(a), "dtype", "float64")
        if first == 1:
            row = Item(a, Const((slice(None), None)))
            a = self.values.write(row, t.Array(dtype, 2), "row", origin)
        if second == 1:
            column = Item(b, Const((Ellipsis, None)))
            b = self.values.write(column, t.Array(dtype, 2), "column", origin)
        whole = Call(Const(operator.matmul), (a, b))
        index = {(1, 1): (slice(None), 0, 0), (1, 2): (slice(None), 0), (2, 1): (Ellipsis, 0)}
        if (first, second) == (2, 2):
            return whole
        product = self.values.write(whole, t.Array(dtype, 2), "product", origin)
        return Item(product, Const(index[first, second]))

    def solution(self, args: Sequence[Any], origin: Origin) -> Rhs:
        """Return the solutions of systems of which each example has its own matrix."""
        matrix, right = args
        if self.values.rank(matrix) != 2 or self.values.rank(right) not in (1, 2):
            raise NotBatchable
        right = self.values.expanded(right, origin)
        if self.values.rank(right) == 2:
            return Call(Const(np.linalg.solve), (matrix, right))
        dtype = getattr(self.values.type(right), "dtype", "float64")
        standing = Item(right, Const((Ellipsis, None)))
        column = self.values.write(standing, t.Array(dtype, 2), "b", origin)
        whole = Call(Const(np.linalg.solve), (matrix, column))
        found = self.values.write(whole, t.Array(dtype, 2), "solved", origin)
        return Item(found, Const((Ellipsis, 0)))

    def one_by_one(self, target: Var, rhs: Call, origin: Origin) -> Rhs:
        """As of derivatives, of what gives a number: arrays may be of different shapes."""
        if not isinstance(self.logical[target], t.Scalar):
            raise NotBatchable
        return super().one_by_one(target, rhs, origin)

    def one_of(self, atom: Var, i: Var, origin: Origin) -> Atom:
        type_ = self.logical[atom]
        if not self.values.is_array(atom):
            raise NotBatchable
        found = super().one_of(atom, i, origin)
        if isinstance(type_, t.Scalar) and type_.dtype is None:
            made = Call(Const(complex if type_.kind == "complex" else float), (found,))
            return self.s.let(made, type_, atom.name, origin)
        return found


class ExampleBatcher(Batcher):
    """Rewrites one block for many examples."""

    def follows(self, type_: t.Type) -> bool:
        return True

    def mark(self, block: Block) -> None:
        self.refuse_effects(block)
        super().mark(block)
        for var in self.batched:
            self.check_type(self.s.unit.type(var))

    def refuse_effects(self, block: Block) -> None:
        """Raise NotBatchable for code that does anything but give its value."""
        for statement in walk(block):
            if isinstance(statement, (Let, Do)):
                pure = self.values.purity.is_pure(statement.rhs) or is_destructive(statement.rhs)
                if not pure and not checks(statement.rhs):
                    raise NotBatchable
            elif not isinstance(statement, Raise) and not is_plain_region(statement):
                raise NotBatchable  # exceptions of one example decide what runs

    def check_type(self, type_: t.Type) -> None:
        """Raise NotBatchable for values of a type that there are no arrays of."""
        match type_:
            case t.Scalar(kind, dtype):
                known = type_.exact and (dtype is not None or kind in ("float", "complex"))
                if known and kind in NUMBERS:
                    return
            case t.Array():
                if type_.kind in NUMBERS and type_.ndim is not None:
                    return
            case t.Tuple() | t.List() | t.Dict() | t.Unknown():
                return
        raise NotBatchable

    def loop(self, node: Loop) -> None:
        if node.stops and node.body.yields[-1] in self.batched:
            raise NotBatchable
        super().loop(node)


def example_block(
    s: Builder, block: Block, mapped: Sequence[Var], wanted: Sequence[int], origin: Origin
) -> Block:
    """Return code for many examples, which ``mapped`` hold along a leading axis.

    The yields at ``wanted`` have that axis for sure. Raises NotBatchable.
    """
    values = ExampleValues(s, mapped, origin)
    calls = ExampleCalls(values, Subscripts(values), Arrays(values))
    return ExampleBatcher(values, calls).run(block, wanted)


__all__ = ["example_block"]
