"""Patterns for all values of the floating arguments that are not differentiated.

The program is run with *generic* numbers in place of these, as at a generic point of algebra: what
is zero for them is zero for all values. Which arguments a value comes from is known from the
program's text (``Origins``). Where a value decides something (a branch, a subscript, a shape), or
goes into a function of which generic numbers do not show all that it may do, ``LookedError`` names
the arguments that it comes from; the program is then run with their own values, for which alone the
pattern holds. Zeros of arrays of two axes or more, unless all of it is zero, are kept: those of a
matrix are structure, those of multipliers are not.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.analyses.purity import CHECKS
from adcompiler.ir import types as t
from adcompiler.ir.dataflow import Flow
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Function, If, Item, Let, Loop, Region, Rhs, Star, Statement, Try,
    Update, Var, operands,
)
from adcompiler.ir.visit import walk
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime import choose, own, project, stop_gradient
from adcompiler.runtime.adjoints.shaping import copy_as_laid_out, like, reshape_view
from adcompiler.sparsity.dependences.structures import is_real, kept_zeros, mapped
from adcompiler.sparsity.dependences.values import Dependent, Value, has_dependents
from adcompiler.sparsity.interpreter.run import LookedError, Run
from adcompiler.sparsity.interpreter.table import ALWAYS, STRUCTURAL, transfer_of
from adcompiler.typed.callee import Callee
from adcompiler.typed.unit import Unit

if TYPE_CHECKING:
    from adcompiler.sparsity.dependences.index_sets import Array
    from adcompiler.sparsity.interpreter.lanes.lane_values import Lane, Sum

NONE: frozenset[int] = frozenset()
TINY = 1e-200
"""Numbers that are smaller come from generic ones by underflow."""

MOVES = frozenset((
    "moves", "moves all", "roll", "joins", "append", "array", "copy", "astype", "full", "full_like",
    "zeros_like", "pad", "insert", "take", "compress", "shape", "ndim", "size", "dtype", "len",
))
"""Words for what the transfer of a function does that reads no numbers, but moves them."""

ANALYTIC = frozenset((
    "sum", "mean", "prod", "trace", "trace of each", "cumsum", "cumprod", "diff", "gradient",
    "matmul", "dot", "inner", "vdot", "outer", "vecdot", "tensordot", "einsum", "kron", "convolve",
    "correlate", "cross", "polyval", "multi_dot", "solve", "solve_triangular", "inverse",
    "cholesky", "sum of items", "prod of items",
))
"""Words for functions whose results are zero for generic numbers only where they always are."""

PIECEWISE = frozenset((
    "where", "clip", "pow", "add", "mul", "compare", "equal", "max", "min", "ptp", "median", "var",
    "sort", "partition", "norm", "hypot", "dist", "log", "select", "max of items", "min of items",
))
"""Words for transfers that read nothing of operands that are known, beside one that is not."""

OF_CONTAINERS = ("add", "mul", "concat")
"""Words for operators that join and repeat lists and tuples."""


# -- numbers ---------------------------------------------------------------------------------------


def generic(value: Array, rng: np.random.Generator) -> Any:
    """Return generic numbers in the place of a value's own."""

    def change(one: Any) -> Any:
        numbers = rng.uniform(0.5, 1.0, np.shape(one))
        if not isinstance(one, np.ndarray):
            return type(one)(numbers)
        made = copy_as_laid_out(one)
        zeros = kept_zeros(one)
        made[...] = numbers if zeros is None else np.where(zeros, 0.0, numbers)
        return made

    return mapped(change, value)


# -- where values come from ------------------------------------------------------------------------


class Origins:
    """Which of the arguments, by position, variables may hold numbers of."""

    def __init__(self, unit: Unit, function: Function, positions: Iterable[int]) -> None:
        self.unit = unit
        self.found: dict[Var, frozenset[int]] = {}
        self.known: set[Atom] = set()
        flow = Flow()
        self.enter(function, flow, set())
        self.every = frozenset(positions)
        for i in self.every:
            for atom in flow.forward([function.params[i].var], self.carries):
                if isinstance(atom, Var):
                    self.found[atom] = self.found.get(atom, NONE) | {i}

    def carries(self, atom: Atom) -> bool:
        """Say whether a variable may hold floating numbers."""
        kind = self.unit.type(atom)
        return not (
            (isinstance(kind, (t.Scalar, t.Array)) and kind.kind in ("int", "bool"))
            or isinstance(kind, (t.Range, t.Static, t.Text)))

    def enter(self, function: Function, flow: Flow, seen: set[Function]) -> None:
        """Add the steps of a function, and of those it calls by name."""
        seen.add(function)
        self.known.update(param.var for param in function.params)
        self.known.update(function.captures)
        for statement in walk(function.body):
            match statement:
                case Let(target, rhs):
                    self.known.add(target)
                    flow.add(target, operands(rhs))
                    self.enter_callee(target, rhs, flow, seen)
                case Region():
                    self.known.update((*statement.binds(), *statement.defines()))
                    flow.steps += [edge[:2] for edge in statement.edges()]

    def enter_callee(self, target: Var, rhs: Rhs, flow: Flow, seen: set[Function]) -> None:
        """Add what flows into a function called by name, and out of it."""
        if not (isinstance(rhs, Call) and isinstance(rhs.func, Const)):
            return
        callee = rhs.func.value
        if not isinstance(callee, Callee) or callee.function is None:
            return
        inner = callee.function
        given = [arg.atom if isinstance(arg, Star) else arg for arg in rhs.args]
        exact = len(given) == len(inner.params) and not any(
            isinstance(arg, Star) for arg in rhs.args)
        for i, param in enumerate(inner.params):
            flow.add(param.var, given[i : i + 1] if exact else given)
        flow.add(target, inner.body.yields)
        if inner not in seen:
            self.enter(inner, flow, seen)

    def of(self, *atoms: Any) -> frozenset[int]:
        """Return the positions of the arguments that some atoms may hold numbers of."""
        found = NONE
        for atom in atoms:
            if isinstance(atom, Star):
                atom = atom.atom
            if isinstance(atom, Var):
                found |= self.found.get(atom, NONE) if atom in self.known else self.every
        return found

    def looked(self, statement: Statement) -> frozenset[int]:
        """Return the arguments whose values a statement looks at, whatever they are."""
        if isinstance(statement, If):
            return self.of(statement.condition)
        if isinstance(statement, Loop):
            return self.of_block(statement.condition, last=True) if statement.condition else NONE
        if isinstance(statement, Try):
            return self.of_block(statement.body, last=False)
        rhs = getattr(statement, "rhs", None)
        if rhs is None:
            return NONE
        match rhs:
            case Item(_, index):
                return self.of(index)
            case Update():
                return self.of(*(atom for step in rhs.steps for atom in step.atoms))
            case Call(func) if isinstance(func, Const):
                return NONE
            case Call():
                return self.of(*operands(rhs))
        return self.of(*operands(rhs)) if type(rhs).__name__ in (
            "Slice", "Format", "Closure") else NONE

    def of_block(self, block: Block, last: bool) -> frozenset[int]:
        """Return the arguments of what a block yields, or of all that it computes."""
        if last:
            return self.of(*block.yields)
        found = self.of(*block.yields)
        for statement in walk(block):
            if isinstance(statement, Let):
                found |= self.of(statement.target, *operands(statement.rhs))
        return found


# -- calls -----------------------------------------------------------------------------------------


ARRANGING = frozenset((
    own, copy_as_laid_out, copy.copy, copy.deepcopy, stop_gradient, project, like, choose,
    reshape_view, *CHECKS, *ALWAYS, *(STRUCTURAL - {map, filter}),
))
"""Functions that only arrange what they are given, beside those with a word in ``MOVES``."""


def is_elementwise(function: Callable[..., Any]) -> bool:
    """Say whether a function works element by element."""
    return REGISTRY.facts(function).elementwise is True or any(
        rule.elementwise for rule in REGISTRY.rules_of(REGISTRY.resolve(function)))


def called(
    run: Run, function: Callable[..., Any], args: tuple[Dependent | Lane | Sum, ...],
    kwargs: Mapping[str, Value], origins: frozenset[int],
) -> Any:
    """Return the result of a call of generic numbers that come from arguments at ``origins``.

    Raises LookedError where it may be another one, or have other zeros, for other numbers.
    """
    if not hashable(function):
        raise LookedError(origins)
    word = transfer_of(function)
    if function in ARRANGING or word in MOVES or (
        word in OF_CONTAINERS and any(isinstance(arg, (list, tuple)) for arg in args)
        and not any(isinstance(arg, np.ndarray) for arg in args)
    ):
        return run.call(function, args, kwargs)
    if has_dependents(args) or (kwargs and has_dependents(dict(kwargs))):
        if word in ANALYTIC or word in PIECEWISE or is_elementwise(function):
            return run.call(function, args, kwargs)
        raise LookedError(origins)
    by_elements = is_elementwise(function)
    known = REGISTRY.facts(function)
    if not (word in ANALYTIC or by_elements or (known.is_pure and not known.sized)):
        raise LookedError(origins)
    result = run.call(function, args, kwargs)
    return result if word in ANALYTIC else filled(
        result, args if by_elements and not kwargs else None, known.means, origins)


def filled(
    result: Any, args: Sequence[Any] | None, means: str | None, origins: frozenset[int]
) -> Any:
    """Return a result whose zeros are none by chance, underflow, or the side of a kink.

    A zero is always one where all ``args`` are zero, or a factor or dividend is; other zeros become
    numbers. Raises LookedError for a result that is more than floating numbers.
    """
    if isinstance(result, tuple) and not hasattr(result, "_fields"):
        return tuple(filled(item, None, means, origins) for item in result)
    if not is_real(result):
        raise LookedError(origins)
    with np.errstate(all="ignore"):
        small = np.abs(result) < TINY
        if not np.any(small):
            return result
        if args is not None and all(isinstance(a, (int, float, complex, np.generic, np.ndarray))
                                    for a in args):
            small = small & ~always_zero(args, means)
    if not np.any(small):
        return result
    if not isinstance(result, np.ndarray):
        return type(result)(0.75)
    return np.where(small, result.dtype.type(0.75), result)


def always_zero(args: Sequence[Value], means: str | None) -> Any:
    """Return where a result is zero whatever the numbers are in places that are not zero."""
    zeros = [np.asarray(a) == 0 for a in (args[:1] if means == "divide" else args)
             if means in ("multiply", "divide") or is_real(a)]
    every, whole = (np.logical_or, False) if means == "multiply" else (np.logical_and, True)
    found: Any = np.asarray(whole)
    for zero in zeros:
        found = every(found, zero)
    return found


