"""How patterns are found: for all values or at a point, by compiling or by tracers."""

from __future__ import annotations

import builtins
import copy
import functools
import math
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from adcompiler.errors import ArgumentsError, not_one_of
from adcompiler.ops.classify import DECLARED
from adcompiler.ops.qualified_names import is_emitted_home
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime import stop_gradient
from adcompiler.runtime.records import is_record, record, state_of
from adcompiler.sparsity.dependences.values import DType
from adcompiler.sparsity.tracing.predicates import is_classified
from adcompiler.sparsity.tracing.tracer_arrays import TracerArray, each, for_numbers, made, unboxed
from adcompiler.sparsity.tracing.tracer_sets import SET_KINDS
from adcompiler.sparsity.tracing.tracers import (
    OVERLOADS, Dual, GradientTracer, HessianTracer, Space, Traced, Tracer, apply, blank, primal,
    tracer,
)
from adcompiler.support.structs import dataclass

if TYPE_CHECKING:
    from adcompiler.sparsity.dependences.index_sets import Array
    from adcompiler.sparsity.dependences.values import Dependent


@dataclass(frozen=True, slots=True)
class Global:
    """Patterns that hold for all values.

    Parameters:
        pattern (str): How tracers keep sets of columns: ``"bitset"``, ``"set"`` or ``"packed"``.
        shared (bool): All nonlinear operations count in a Hessian.
        tracers (bool): Whether the function is run on tracers: by default only if it cannot be
            compiled since source text is not available.

    Raises:
        ValueError: For another ``pattern``.

    Example:
        >>> import numpy as np
        >>> from adcompiler import Global, jacobian_sparsity
        >>> jacobian_sparsity(lambda x: np.maximum(x, 2.0), np.ones(2), detector=Global()).nnz
        2
    """

    pattern: str = "bitset"
    shared: bool = False
    tracers: bool | None = None
    mode = "global"

    def __post_init__(self) -> None:
        if self.pattern not in SET_KINDS:
            raise ValueError(not_one_of("pattern", self.pattern, SET_KINDS))


@dataclass(frozen=True, slots=True)
class Local(Global):
    """Patterns that hold at the given values.

    Parameters:
        pattern, shared, tracers: As for ``Global``.

    Raises:
        ValueError: For another ``pattern``.

    Example:
        >>> import numpy as np
        >>> from adcompiler import Local, jacobian_sparsity
        >>> jacobian_sparsity(lambda x: np.maximum(x, 2.0), np.ones(2), detector=Local()).nnz
        0
    """

    mode = "local"


class Tracing:
    """One run of a function on tracers."""

    def __init__(self, detector: Global, second: bool, columns: int) -> None:
        self.local = detector.mode == "local"
        self.second = second
        self.space = Space(SET_KINDS[detector.pattern](columns), detector.shared)
        self.columns = 0

    def number(self, value: Traced) -> Tracer:
        """Return one number of the input as a tracer with a column of its own."""
        self.space.saw((value,))
        first = self.space.sets.single(self.columns)
        self.columns += 1
        known = HessianTracer(self.space, first, {}) if self.second else (
            GradientTracer(self.space, first))
        return Dual(value, known) if self.local else known

    def traced(self, value: Traced) -> Any:
        """Return a value with the real numbers in it made tracers, in order."""
        if isinstance(value, (float, complex, np.inexact)):
            return self.number(value)
        if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
            found = np.empty(value.shape, object)
            for place in np.ndindex(value.shape):
                found[place] = self.number(value[place])
            return found.view(TracerArray)
        return mapped(self.traced, value)

    def jacobian(self, result: Traced) -> Any:
        """Return the pattern of results by inputs."""
        members = self.space.sets.members
        numbers = [tracer(number) for number in numbers_in(result)]
        rows = [[] if known is None else list(members(known.first)) for known in numbers]
        return matrix(enumerate(rows), (len(rows), self.columns))

    def hessian(self, result: Traced) -> Any:
        """Return the pattern of the second derivatives of a scalar result."""
        numbers = list(numbers_in(result))
        if len(numbers) != 1:
            raise ArgumentsError(
                "hessian_sparsity needs a function with a scalar result; reduce it, e.g. by "
                "np.sum, or use jacobian_sparsity")
        known = tracer(numbers[0])
        pairs = known.pairs if isinstance(known, HessianTracer) else {}
        if self.space.shared:
            pairs = self.space.pairs
        members = self.space.sets.members
        rows = ((i, list(members(row))) for i, row in pairs.items())
        return matrix(rows, (self.columns, self.columns))


def matrix(rows: Any, shape: tuple[int, int]) -> Any:
    """Return a boolean matrix with entries in the given columns of each row."""
    entries = [(i, j) for i, row in rows for j in row]
    r, c = np.array(entries, np.int64).reshape(-1, 2).T
    return sp.csr_array((np.ones(len(r), bool), (r, c)), shape=shape)


def mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """Return a container with the items in it changed; other values as they are."""
    if isinstance(value, (list, tuple)):
        items = [change(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: change(item) for key, item in value.items()}
    if is_record(value):
        return record(type(value), **{k: change(item) for k, item in state_of(value).items()})
    return value


def numbers_in(value: Traced) -> Iterator[Any]:
    """Yield the numbers in a result, in order."""
    if isinstance(value, np.ndarray):
        yield from map(unboxed, value.view(np.ndarray).flat)
    elif isinstance(value, (Tracer, np.generic, bool, int, float, complex)):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from numbers_in(item)
    elif isinstance(value, dict):
        yield from numbers_in(list(value.values()))
    elif is_record(value):
        yield from numbers_in(list(state_of(value).values()))


def columns_of(value: Traced) -> int:
    """Return how many numbers there are in a value."""
    return sum(1 for _ in numbers_in(value))


# -- what users preallocate -----------------------------------------------------------------------


def jacobian_eltype(x: Dependent, detector: Global | None = None) -> type:
    """Return the class of the numbers that a Jacobian pattern is found with."""
    return Dual if (detector or Global()).mode == "local" else GradientTracer


def hessian_eltype(x: Dependent, detector: Global | None = None) -> type:
    """Return the class of the numbers that a Hessian pattern is found with."""
    return Dual if (detector or Global()).mode == "local" else HessianTracer


def jacobian_buffer(x: Any, detector: Global | None = None) -> Any:
    """Return an array of the shape of ``x`` that tracers can be written into, filled with zeros."""
    return np.full(np.shape(x), 0.0, object).view(TracerArray)


hessian_buffer = jacobian_buffer


# -- running functions on tracers -----------------------------------------------------------------


def larger(*args: Any, **kwargs: Any) -> Any:
    """Return the maximum of numbers, tracers among them."""
    return _extreme(builtins.max, np.maximum, args, kwargs)


def smaller(*args: Any, **kwargs: Any) -> Any:
    """Return the minimum of numbers, tracers among them."""
    return _extreme(builtins.min, np.minimum, args, kwargs)


def _extreme(given: Any, ufunc: np.ufunc, args: Any, kwargs: dict[str, Traced]) -> Any:
    items = list(args[0]) if len(args) == 1 else list(args)
    if kwargs or not any(isinstance(item, Tracer) for item in items):
        return given(*args, **kwargs) if len(args) > 1 else given(items, **kwargs)
    return functools.reduce(lambda a, b: apply(ufunc, a, b), items)


def _allocating(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``np.zeros`` and the like for arrays that tracers may be written into."""

    def allocate(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        return found.astype(object).view(TracerArray) if found.dtype.kind in "fc" else found

    return allocate


def _converting(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``np.array`` and the like for numbers among which there are tracers."""

    def convert(value: Traced, dtype: DType | None = None, **kwargs: Any) -> Any:
        if isinstance(value, np.ndarray) or not any(
            isinstance(number, Tracer) for number in numbers_in(value)
        ):
            if isinstance(value, TracerArray):
                return value.copy() if REGISTRY.facts(function).means == "array" else value
            return function(value, dtype, **kwargs)
        return made(np.array(value, object))

    return convert


def stopped(value: Traced) -> Any:
    """Return a value that depends on nothing, for ``stop_gradient``."""
    if isinstance(value, TracerArray):
        return each(stopped, value)
    if isinstance(value, Tracer):
        known = tracer(value)
        return primal(value) if isinstance(value, Dual) or known is None else blank(known)
    return mapped(stopped, value)


REPLACED: dict[Any, Any] = {
    stop_gradient: stopped, max: larger, min: smaller,
}
MADE_ANEW: dict[str, Callable[[Any], Callable[..., Any]]] = {
    **dict.fromkeys(("array", "asarray"), _converting),
    **dict.fromkeys(("zeros", "ones", "empty", "full"), _allocating),
}
"""What makes a function know of tracers, by what it means."""


def replaced(function: Callable[..., Any]) -> Any:
    """Return what is called in place of a function that tracers cannot be given to, or that."""
    made = MADE_ANEW.get(REGISTRY.facts(function).means or "")
    return REPLACED.get(function, function) if made is None else made(function)


class Namespace:
    """A module whose functions know of tracers."""

    def __init__(self, module: types.ModuleType, known: dict[int, Traced]) -> None:
        self._module = module
        self._known = known

    def __getattr__(self, name: str) -> Any:
        return knowing(getattr(self._module, name), self._known)

    def __setattr__(self, name: str, value: Array) -> None:
        if name in ("_module", "_known"):
            object.__setattr__(self, name, value)
        else:
            setattr(self._module, name, value)


def knowing(value: Any, known: dict[int, Any]) -> Any:
    """Return a function, or a module, that knows of tracers; other values as they are.

    That is what the globals of a function are replaced with, and those of the functions it calls.
    """
    if isinstance(value, types.ModuleType):
        return Namespace(value, known) if is_looked_into(value) else value
    if type(value) in (tuple, list, dict):
        return knowing_items(value, known)
    if not callable(value) or not hashable(value):
        return value
    if value in OVERLOADS or (value in DECLARED and replaced(value) is value) or (
        isinstance(value, types.BuiltinFunctionType) and value.__module__ == "math"
        and (is_classified(value) or REGISTRY.has_rules(value))
    ):
        return value if isinstance(value, (type, np.ufunc)) else for_numbers(value)
    if isinstance(value, types.FunctionType) and not is_library(value):
        return retold(value, known)
    return replaced(value)


MANY = 1000
"""A container of more items is not searched for functions."""


def knowing_items(value: Array, known: dict[int, Traced]) -> Any:
    """Return a container whose functions know of tracers, itself if it holds none."""
    if id(value) not in known and len(value) <= MANY:
        known[id(value)] = value
        items = list(value.values() if isinstance(value, dict) else value)
        made = [knowing(item, known) for item in items]
        if any(new is not old for new, old in zip(made, items, strict=True)):
            keyed = zip(value, made, strict=True)
            known[id(value)] = dict(keyed) if isinstance(value, dict) else type(value)(made)
    return known.get(id(value), value)


def is_looked_into(module: types.ModuleType) -> bool:
    """Say whether functions of a module have to know of tracers.

    Those of Python's own modules need not, beside ``math`` and those with overloads.
    """
    root = module.__name__.partition(".")[0]
    return module is math or root not in sys.stdlib_module_names or any(
        callable(value) and hashable(value) and value in OVERLOADS
        for value in list(vars(module).values()))


def is_library(function: types.FunctionType) -> bool:
    """Say whether a function belongs to NumPy, SciPy or this package."""
    module = function.__module__ or ""
    return is_emitted_home(module) or module.partition(".")[0] in ("numpy", "scipy", "adcompiler")


def retold(function: types.FunctionType, known: dict[int, Any]) -> types.FunctionType:
    """Return a function with the globals that it names replaced by ones that know of tracers."""
    found = known.get(id(function))
    if found is None:
        def importing(*args: Any, **kwargs: Any) -> Any:
            return knowing(builtins.__import__(*args, **kwargs), known)

        names = dict(function.__globals__)
        names["__builtins__"] = {**vars(builtins), "__import__": importing}
        cells = function.__closure__ or ()
        own = tuple(types.CellType() if names_function(cell) else cell for cell in cells)
        found = types.FunctionType(
            function.__code__, names, function.__name__, function.__defaults__, own)
        known[id(function)] = found
        found.__defaults__ = knowing(function.__defaults__, known)
        found.__kwdefaults__ = knowing(function.__kwdefaults__, known)
        for cell, given in zip(own, cells, strict=True):
            if cell is not given:
                cell.cell_contents = knowing(given.cell_contents, known)
        for name in names_in(function.__code__):
            if name in names:
                names[name] = knowing(names[name], known)
            elif hasattr(builtins, name):
                names[name] = knowing(getattr(builtins, name), known)
    return found


def names_function(cell: types.CellType) -> bool:
    """Say whether a variable of an enclosing function is a function or module, or may hold some."""
    try:
        value = cell.cell_contents
    except ValueError:
        return False
    return callable(value) or isinstance(value, (types.ModuleType, tuple, list, dict))


def names_in(code: types.CodeType) -> set[str]:
    """Return the names that code, and the functions in it, may look up."""
    return set(code.co_names).union(
        *(names_in(c) for c in code.co_consts if isinstance(c, types.CodeType)))


def is_in_place(
    function: Callable[..., Any], args: Sequence[Traced], kwargs: dict[str, Traced],
) -> bool:
    """Say whether a function writes its result into its first argument: whether it returns None."""
    if len(args) < 2 or not isinstance(args[0], (np.ndarray, list)):
        return False
    return function(*copy.deepcopy(args), **copy.deepcopy(kwargs)) is None
