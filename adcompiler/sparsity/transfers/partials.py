"""Which arguments a partial derivative varies with: the pattern of its own derivative."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcompiler.errors import ADError
from adcompiler.frontend.functions import lower
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Block, Function, Param, Region
from adcompiler.ir.visit import walk
from adcompiler.products.specialised import specialise
from adcompiler.sparsity.dependences.index_sets import Array
from adcompiler.support.signatures import signature as signature_of
from adcompiler.sparsity.dependences import index_sets
from adcompiler.sparsity.dependences.sets import elements_of
from adcompiler.sparsity.dependences.values import (
    NOTHING, Dependent, Relation, whole,
)
from adcompiler.sparsity.interpreter.program import Program, program_of
from adcompiler.sparsity.interpreter.run import Run
from adcompiler.sparsity.interpreter.table import Refusal
from adcompiler.typed.unit import Unit

Runs = Callable[[Unit, bool, bool], Run]
"""What makes runs of programs: of a unit, at a point or not, and with second derivatives or not."""

ELEMENTS = 256
"""In so many elements at most a partial derivative with branches is looked at, one by one."""


@functools.lru_cache(maxsize=1024)
def program_for(partial: Callable[..., Any]) -> tuple[Unit, Program] | None:
    """Return the pattern program of a partial derivative of numbers, None if there is none."""
    function: Any = partial
    parameters = len(signature_of(partial).parameters)
    try:
        unit = Unit(root=partial)
        typed = specialise(
            unit, lower(function), partial, [t.FLOAT] * parameters, wrt=tuple(range(parameters))
        )
        if unit.findings or unit.relied.captured:
            return None
        params = tuple(Param(var, 1) for var in typed.params)
        body = Block(typed.statements, (typed.value,))
        return unit, program_of(Function("partial", params, body, typed.origin), unit)
    except (ADError, Refusal, TypeError, ValueError, ArithmeticError):
        return None


def sets_of(partial: Callable[..., Any], count: int) -> list[frozenset[int]]:
    """Return what each parameter varies with; the result, which may be the last, with all."""
    parameters = len(signature_of(partial).parameters)
    return [frozenset([i]) if i < count else frozenset(range(count)) for i in range(parameters)]


def inputs_of(runs: Runs, partial: Callable[..., Any], count: int) -> set[int] | None:
    """Return the arguments of which a partial derivative has a derivative; None if not known.

    The result of the function, which a partial derivative may take as well, varies with all of
    its arguments.
    """
    found = program_for(partial)
    if found is None:
        return None
    unit, program = found
    inputs = [Dependent((), float, Relation(one, None)) for one in sets_of(partial, count)]
    try:
        (result,) = program.entry(runs(unit, False, False), *inputs)
    except (ADError, Refusal, TypeError, ValueError, ArithmeticError):
        return None
    relation = result.first if isinstance(result, Dependent) else NOTHING
    return set(elements_of(whole(relation)).tolist())


def constant_at(
    runs: Runs, partial: Callable[..., Any], count: int, argument: int, values: tuple[Array, ...]
) -> Any:
    """Say where the derivative of a partial derivative in an argument is zero, at ``values``.

    ``values`` are those of the arguments, then of the result if the partial derivative takes it.
    """
    arrays = np.broadcast_arrays(*values)
    shape = arrays[0].shape
    nowhere = np.zeros(shape, bool)
    found = program_for(partial)
    if found is None or any(a.dtype.kind not in "fiu" for a in arrays):
        return nowhere
    unit, program = found
    flat = [np.asarray(a, float).ravel() for a in arrays]
    sets = sets_of(partial, count)
    failures = (ADError, Refusal, TypeError, ValueError, ArithmeticError)
    if flat[0].size > 1 and not decides(program):
        try:
            return zero_of(runs(unit, True, False), program, sets, argument, flat).reshape(shape)
        except failures:  # functions of numbers, which take no arrays
            pass
    if flat[0].size > ELEMENTS:
        return nowhere
    try:
        return np.array([
            zero_of(runs(unit, True, False), program, sets, argument, list(map(float, point)))
            for point in zip(*flat, strict=True)
        ], bool).reshape(shape)
    except failures:
        return nowhere


def decides(program: Program) -> bool:
    """Say whether a program goes different ways for different inputs."""
    return any(
        isinstance(s, Region) and not program.tainted.isdisjoint(s.decides())
        for s in walk(program.function.body))


def zero_of(
    run: Run, program: Program, sets: list[frozenset[int]], argument: int,
    values: Sequence[Array | float],
) -> Any:
    """Say where a pattern program at a point finds that its result varies not with an argument."""
    shape = np.shape(values[0])
    dtype: Any = np.dtype(float) if shape else float
    inputs = [
        Dependent(shape, dtype, Relation(one, None), NOTHING, value)
        for one, value in zip(sets, values, strict=True)
    ]
    with np.errstate(all="ignore"):
        (result,) = program.entry(run, *inputs)
    if not isinstance(result, Dependent):
        return np.isfinite(np.broadcast_to(result, shape))
    rows, columns = index_sets.pairs_of(result.first.own)
    zero = np.full(shape, argument not in elements_of(result.first.common).tolist())
    if shape:
        zero[rows[columns == argument]] = False
    return zero & np.isfinite(np.broadcast_to(result.value, shape))
