"""Numbers that carry the columns they depend on: patterns of code by operator overloading.

A ``GradientTracer`` knows the columns that it depends on, a ``HessianTracer`` the pairs as well in
which it has second derivatives. They have no value, and hold for all. A ``Dual`` is one of
them beside a value, and holds there. What functions do to them is their classification.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.errors import MissingPrimalError
from adcompiler.ops.classify import Classification
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.sparsity.dependences.index_sets import Array
from adcompiler.sparsity.tracing.tracer_sets import Rows, SetKind, add_product, add_rows
from adcompiler.sparsity.interpreter.machine import classifications_of

if TYPE_CHECKING:
    from adcompiler.sparsity.dependences.values import Dependent
    from adcompiler.sparsity.interpreter.lanes.lane_values import Lane, Sum

IsZero = Callable[..., bool]
"""Says of one or two arguments whether the derivative in them is zero."""


COMPLEX = (complex, np.complexfloating)


class Space:
    """What the tracers of one run have in common: how they keep sets, and shared pairs."""

    def __init__(self, sets: SetKind, shared: bool = False) -> None:
        self.sets = sets
        self.shared = shared
        self.pairs: Rows = {}
        self.missing = ""
        """What needed a value that there was none of: code may not go on as if nothing was."""
        self.complex = False
        """Whether complex numbers have been seen: then every tracer may be one."""

    def saw(self, values: Any) -> None:
        """Note whether numbers are complex."""
        self.complex = self.complex or any(isinstance(v, COMPLEX) for v in values)


def missing_primal(value: Tracer, what: str) -> MissingPrimalError:
    """Return the error for a tracer that has no value, and make a note of it."""
    known = tracer(value)
    if known is not None:
        known.space.missing = what
    return MissingPrimalError(what)


class Tracer:
    """What all tracers have in common: operators, and the methods that NumPy calls on objects."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # equality is no test of identity
    __array_priority__ = 1000.0
    shape = ()
    ndim = 0
    size = 1

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Apply a ufunc; raises TypeError for its other methods."""
        if any(isinstance(value, (np.ndarray, list, tuple)) for value in inputs):
            return ARRAY_UFUNC[0](ufunc, method, inputs, kwargs)
        if method != "__call__" or kwargs.keys() - {"dtype", "casting"}:
            return NotImplemented
        return apply(ufunc, *inputs)

    def __array_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Sequence[Traced],
        kwargs: dict[str, Traced],
    ) -> Any:
        """Call a NumPy function."""
        return ARRAY_FUNCTION[0](func, args, kwargs)

    def __bool__(self) -> bool:
        raise missing_primal(self, "a branch")

    def __float__(self) -> float:
        raise missing_primal(self, "float(), or a function written in C,")

    def __complex__(self) -> complex:
        raise missing_primal(self, "complex(), or a function written in C,")

    def __int__(self) -> int:
        raise missing_primal(self, "int()")

    def __index__(self) -> int:
        raise missing_primal(self, "an index")

    def __round__(self, digits: int | None = None) -> Any:
        return apply(np.round, self)

    def __divmod__(self, other: Traced) -> Any:
        return apply(divmod, self, other)

    def __rdivmod__(self, other: Traced) -> Any:
        return apply(divmod, other, self)

    def __copy__(self) -> Tracer:
        return self

    def __deepcopy__(self, memo: dict[int, Traced]) -> Tracer:
        return self

    @property
    def real(self) -> Any:
        """The real part."""
        return apply(np.real, self)

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        return apply(np.imag, self)


class GradientTracer(Tracer):
    """A number of which the columns that it depends on are known."""

    __slots__ = ("first", "space")

    def __init__(self, space: Space, first: Dependent) -> None:
        self.space = space
        self.first = first

    def __repr__(self) -> str:
        return f"GradientTracer({columns_of(self)})"


class HessianTracer(Tracer):
    """A number of which the columns are known, and the pairs in which it has second derivatives."""

    __slots__ = ("first", "pairs", "space")

    def __init__(self, space: Space, first: Dependent, pairs: Rows) -> None:
        self.space = space
        self.first = first
        self.pairs = pairs

    def __repr__(self) -> str:
        members = self.space.sets.members
        pairs = [(i, j) for i in sorted(self.pairs) for j in members(self.pairs[i]) if i <= j]
        return f"HessianTracer({columns_of(self)}, {pairs})"


Plain = GradientTracer | HessianTracer


def columns_of(value: Plain) -> list[int]:
    """Return the columns that a tracer depends on, in their order."""
    return sorted(value.space.sets.members(value.first))


class Dual(Tracer):
    """A tracer beside the value of the number, so that branches can be followed."""

    __slots__ = ("primal", "tracer")

    def __init__(self, primal: Traced, tracer: Plain) -> None:
        self.primal: Any = primal
        self.tracer = tracer

    def __repr__(self) -> str:
        return f"Dual({self.primal!r}, {self.tracer!r})"

    def __bool__(self) -> bool:
        return bool(self.primal)

    def __int__(self) -> int:
        return int(self.primal)

    def __index__(self) -> int:
        return operator.index(self.primal)

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.primal) if digits is None else round(self.primal, digits)


Traced = (
    Tracer | Array | complex | str | slice | list[Any] | tuple[Any, ...] | dict[Any, Any] | None
)
"""What a variable of a program on tracers is, objects of the user's own apart."""


def primal(value: Traced) -> Any:
    """Return the value of a dual number; other values are themselves."""
    return value.primal if isinstance(value, Dual) else value


def tracer(value: Traced) -> Plain | None:
    """Return what a number depends on; None if it is no tracer."""
    if isinstance(value, Dual):
        return value.tracer
    return value if isinstance(value, (GradientTracer, HessianTracer)) else None


def combined(args: Sequence[Plain | None], is_zero: IsZero) -> Plain:
    """Return what a function of tracers and constants (None) depends on."""
    there = [(i, arg) for i, arg in enumerate(args) if arg is not None]
    space = there[0][1].space
    first = space.sets.empty
    for i, arg in there:
        if not is_zero(i):
            first = space.sets.union(first, arg.first)
    if isinstance(there[0][1], GradientTracer):
        return GradientTracer(space, first)
    pairs: Rows = {}
    into = space.pairs if space.shared else pairs
    for n, (i, a) in enumerate(there):
        if isinstance(a, HessianTracer) and not is_zero(i):
            add_rows(space.sets, pairs, a.pairs)
        for j, b in there[n:]:
            if not is_zero(i, j):
                add_product(space.sets, into, a.first, b.first)
    return HessianTracer(space, first, pairs)


def blank(like: Plain) -> Plain:
    """Return a tracer that depends on nothing."""
    return combined((like,), lambda *_: True)


# -- what generated code calls --------------------------------------------------------------------


def one_argument(first: bool, second: bool) -> IsZero:
    """Return what says which derivatives of a function of one number are zero."""
    return lambda *arguments: first if len(arguments) == 1 else second


def gradient_tracer_1_to_1(t: Plain, is_der1_zero: bool) -> Plain:
    """Return the tracer of a function of one number."""
    return combined((t,), one_argument(is_der1_zero, True))


def gradient_tracer_2_to_1(
    tx: Plain | None, ty: Plain | None, is_der1_arg1_zero: bool, is_der1_arg2_zero: bool
) -> Plain:
    """Return the tracer of a function of two numbers, one of which may be constant (None)."""
    zero = (is_der1_arg1_zero, is_der1_arg2_zero)
    return combined((tx, ty), lambda *arguments: len(arguments) == 2 or zero[arguments[0]])


def gradient_tracer_1_to_2(
    t: Plain, is_der1_out1_zero: bool, is_der1_out2_zero: bool
) -> tuple[Plain, Plain]:
    """Return the tracers of both results of a function of one number."""
    return (gradient_tracer_1_to_1(t, is_der1_out1_zero),
            gradient_tracer_1_to_1(t, is_der1_out2_zero))


def hessian_tracer_1_to_1(t: Plain, is_der1_zero: bool, is_der2_zero: bool) -> Plain:
    """Return the tracer of a function of one number, with second derivatives."""
    return combined((t,), one_argument(is_der1_zero, is_der2_zero))


def hessian_tracer_2_to_1(
    tx: Plain | None, ty: Plain | None, is_der1_arg1_zero: bool, is_der2_arg1_zero: bool,
    is_der1_arg2_zero: bool, is_der2_arg2_zero: bool, is_der_cross_zero: bool,
) -> Plain:
    """Return the tracer of a function of two numbers, with second derivatives."""
    zero = {
        (0,): is_der1_arg1_zero, (1,): is_der1_arg2_zero,
        (0, 0): is_der2_arg1_zero, (1, 1): is_der2_arg2_zero, (0, 1): is_der_cross_zero,
    }
    return combined((tx, ty), lambda *arguments: zero[arguments])


def hessian_tracer_1_to_2(
    t: Plain, is_der1_out1_zero: bool, is_der2_out1_zero: bool,
    is_der1_out2_zero: bool, is_der2_out2_zero: bool,
) -> tuple[Plain, Plain]:
    """Return the tracers of both results of a function of one number, with second derivatives."""
    return (hessian_tracer_1_to_1(t, is_der1_out1_zero, is_der2_out1_zero),
            hessian_tracer_1_to_1(t, is_der1_out2_zero, is_der2_out2_zero))


# -- calls ----------------------------------------------------------------------------------------

OVERLOADS: dict[Any, dict[tuple[bool, type, type], Callable[..., Any]]] = {}
"""Overloads of functions, by whether a value is known, the class of tracers, and of constants."""

ARRAY_UFUNC: list[Callable[..., Any]] = []
ARRAY_FUNCTION: list[Callable[..., Any]] = []
"""What applies ufuncs and functions to arrays of tracers, which ``tracer_arrays`` brings."""


def overload(
    function: Callable[..., Any], cls: type, dual: bool = False, other: type = object
) -> Callable[..., Any]:
    """Return a decorator that registers what ``function`` is for tracers of a class.

    With ``dual`` it is for these beside a value, and the arguments are ``Dual``. Arguments that are
    no tracers have to be of the class ``other``; of several overloads the last one counts.
    """

    def register(given: Callable[..., Any]) -> Callable[..., Any]:
        resolved = REGISTRY.resolve(function)
        OVERLOADS[resolved] = {(dual, cls, other): given, **OVERLOADS.get(resolved, {})}
        return given

    return register


def find_overload(
    function: Callable[..., Any], args: tuple[Dependent | Lane | Sum, ...], known: Plain,
    local: bool
) -> Any:
    """Return the overload for these arguments, None if there is none."""
    for (dual, cls, other), given in OVERLOADS.get(function, {}).items():
        if dual == local and isinstance(known, cls) and all(
            isinstance(arg, (Tracer, other)) for arg in args
        ):
            return given
    return None


def apply(function: Callable[..., Any], *args: Any) -> Any:
    """Return the result of an elementwise function of numbers, tracers among them.

    Where nothing is known of the function, all its derivatives count as nonzero.
    """
    tracers = [tracer(arg) for arg in args]
    there = next((t for t in tracers if t is not None), None)
    if there is None:
        return function(*args)
    local = any(isinstance(arg, Dual) for arg in args)
    resolved = REGISTRY.resolve(function)
    given = find_overload(resolved, args, there, local) if hashable(resolved) else None
    return given(*args) if given is not None else classified(function, args, tracers, there, local)


def classified(
    function: Callable[..., Any], args: tuple[Traced, ...], tracers: Sequence[Plain | None],
    there: Plain, local: bool
) -> Any:
    """Return the result of a function as its classification has it."""
    values = tuple(map(primal, args))
    value: Any = None
    if local:
        with np.errstate(all="ignore"):
            value = function(*values)
    if REGISTRY.inactive(function) is not None:
        return value if local else blank(there)
    there.space.saw(values)
    outputs = classifications_of(function, len(args), real=not there.space.complex)
    number = len(value) if isinstance(value, tuple) else getattr(function, "nout", len(outputs))
    if number > len(outputs):
        outputs = outputs * number
    found: list[Any] = [combined(tracers, zeros_of(kind, values, local)) for kind in outputs]
    if number == 1 and not isinstance(value, tuple):
        return Dual(value, found[0]) if local else found[0]
    return tuple(map(Dual, value, found)) if local else tuple(found)


def zeros_of(kind: Classification, values: tuple[Traced, ...], local: bool) -> IsZero:
    """Return what says which derivatives are zero, at ``values`` if these are known."""

    def is_zero(*arguments: int) -> bool:
        if kind.is_zero(*arguments):
            return True
        predicate = kind.where_zero(*arguments) if local else None
        return predicate is not None and bool(np.all(predicate(*values)))

    return is_zero


# -- operators and methods ------------------------------------------------------------------------

BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
UNARY = {"neg": operator.neg, "pos": operator.pos, "abs": abs, "invert": operator.invert,
         "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc}


def overloaded(function: Any) -> Callable[..., Any]:
    """Return the method of tracers that applies ``function``, the tracer being the first."""

    def method(self: Tracer, *others: Any) -> Any:
        if any(isinstance(other, (np.ndarray, list, tuple)) for other in others):
            return NotImplemented
        return apply(function, self, *others)

    return method


def reflected(function: Callable[..., Any]) -> Callable[[Tracer, Any], Any]:
    """Return the method of tracers that applies ``function``, the tracer being the second."""
    return lambda self, other: apply(function, other, self)


def give_operators() -> None:
    """Give tracers the operators of numbers, and the methods that NumPy calls on objects."""
    for name in (*BINARY, *COMPARISONS):
        function = getattr(operator, f"__{name}__")
        function = getattr(operator, function.__name__)
        setattr(Tracer, f"__{name}__", overloaded(function))
        if name in BINARY:
            setattr(Tracer, f"__r{name}__", reflected(function))
    for name, function in UNARY.items():
        setattr(Tracer, f"__{name}__", overloaded(function))
    for name, ufunc in vars(np).items():
        if isinstance(ufunc, np.ufunc) and ufunc.signature is None and not hasattr(Tracer, name):
            setattr(Tracer, name, overloaded(ufunc))


give_operators()
