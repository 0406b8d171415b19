"""Patterns of functions: inputs as columns, results as rows, the program run in between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from adcompiler.errors import ArgumentsError
from adcompiler.runtime.adjoints.shaping import copy_as_laid_out
from adcompiler.runtime.records import is_record, record, state_of
from adcompiler.sparsity.dependences import index_sets
from adcompiler.sparsity.dependences.index_sets import count
from adcompiler.sparsity.dependences.sets import Positions, elements_of
from adcompiler.sparsity.dependences.values import (
    NOTHING, DType, Dependent, Either, Relation, UnknownList, UnknownShape, Value, identity,
)
from adcompiler.sparsity.interpreter.fullness import bounded
from adcompiler.sparsity.interpreter.hessian import alive, pattern
from adcompiler.sparsity.interpreter.machine import Machine
from adcompiler.sparsity.interpreter.table import Refusal


class Inputs:
    """Turns the inputs into values that depend on columns of their own."""

    def __init__(self, local: bool, second: bool) -> None:
        self.local = local
        self.second = second
        self.columns = 0

    def dependent(self, value: Value) -> Any:
        """Return a value with the real numbers in it made dependent, in order."""
        if isinstance(value, (float, complex, np.inexact)):
            return self.leaf(value, (), value.dtype if isinstance(value, np.generic) else (
                type(value)))
        if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
            found = self.leaf(copy_as_laid_out(value), value.shape, value.dtype)
            found.in_c_order = value.flags.c_contiguous
            return found
        if isinstance(value, (list, tuple)):
            items = [self.dependent(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if isinstance(value, dict):
            return {key: self.dependent(item) for key, item in value.items()}
        if is_record(value):
            fields = {name: self.dependent(item) for name, item in state_of(value).items()}
            return record(type(value), **fields)
        return value

    def leaf(self, value: Value, shape: tuple[int, ...], dtype: DType) -> Dependent:
        """Return one number or array as a dependent value."""
        first = identity(self.columns, shape) if count(shape) else NOTHING
        self.columns += count(shape)
        return Dependent(shape, dtype, first, NOTHING, value if self.local else None)


def leaves(value: Value) -> Iterator[Any]:
    """Yield the numbers and arrays in a result, in order.

    Raises Refusal if it depends on the inputs which they are.
    """
    if isinstance(value, (Either, UnknownList, UnknownShape)):
        raise Refusal(
            "a result whose structure depends on the values of the inputs",
            'mode="local", or a result of one structure',
        )
    if isinstance(value, Dependent) and value.dtype is str:
        return
    if isinstance(value, (Dependent, np.ndarray, np.generic, bool, int, float, complex)):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        yield from leaves(list(value.values()))
    elif is_record(value):
        yield from leaves(list(state_of(value).values()))
    elif value is not None and not isinstance(value, (str, bytes, range, slice, set, frozenset)):
        raise Refusal(
            f"a result that is, or holds, a value of class {type(value).__name__}",
            "a result of numbers, arrays and containers of them",
        )


def pairs_of(relation: Relation, size: int) -> tuple[Positions, Positions]:
    """Return all pairs of an element and a column that it depends on."""
    rows, columns = index_sets.pairs_of(relation.own)
    if relation.common:
        common = elements_of(relation.common)
        bounded(len(common) * size)
        rows = np.concatenate([rows, np.repeat(np.arange(size), len(common))])
        columns = np.concatenate([columns, np.tile(common, size)])
    return rows, columns


def jacobian(outputs: Value, columns: int) -> Any:
    """Return the pattern of results by inputs."""
    all_rows, all_columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    start = 0
    for leaf in leaves(outputs):
        if not isinstance(leaf, Dependent):
            start += int(np.size(leaf))
            continue
        if leaf.shape is None:
            raise Refusal(
                "the shape of the result depends on the values of the inputs", 'mode="local"',
                anchor="sparsity-patterns",
            )
        size = count(leaf.shape)
        rows, own_columns = pairs_of(leaf.first, size)
        all_rows.append(rows + start)
        all_columns.append(own_columns)
        start += size
    r, c = np.concatenate(all_rows), np.concatenate(all_columns)
    found = sp.csr_array((np.ones(len(r), bool), (r, c)), shape=(start, columns))
    found.sum_duplicates()
    return found


def hessian(machine: Machine, output: Dependent, columns: int, shared: bool) -> Any:
    """Return the pattern of the second derivatives of a scalar result."""
    found = [leaf for leaf in leaves(output) if isinstance(leaf, Dependent)]
    if len(list(leaves(output))) != 1 or (found and count(found[0].shape or ()) != 1):
        raise ArgumentsError(
            "hessian_sparsity needs a function with a scalar result; reduce it, e.g. by "
            "np.sum, or use jacobian_sparsity")
    result = found[0].second if found else NOTHING
    live = np.ones(machine.numbers, bool) if shared else (
        alive(machine.records, machine.numbers, result))
    return pattern(machine.records, live, columns)


