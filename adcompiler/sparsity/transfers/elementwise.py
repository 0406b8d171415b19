"""Transfer of functions that work element by element, and of those without derivatives."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.sparsity.dependences.sets import Set
from adcompiler.support.budget import quiet
from adcompiler.ir.operators import BY_SIGN
from adcompiler.ops.classified import never
from adcompiler.ops.classify import Classification, of_letters
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.sparsity.dependences.index_sets import Array, Shape
from adcompiler.sparsity.dependences.values import (
    NOTHING, Dependent, Operand, Relation, UnknownList, Value, all_sets, dependents_in,
    dtype_of, is_complex, is_float, masked, stretched, unite,
)
from adcompiler.sparsity.interpreter.run import Run
from adcompiler.sparsity.interpreter.table import (
    DENSE, DTYPE, ELEMENTWISE, GROUPED, INACTIVE, KIND, LINEARLY, STATED, TRANSFERS,
    find_transfer, transfer, transfer_of,
)
from adcompiler.sparsity.interpreter.varying import unknown_like
from adcompiler.sparsity.transfers.stand_ins import of_one_form, unknown_number

if TYPE_CHECKING:
    from adcompiler.sparsity.interpreter.lanes.lane_values import Lane, Sum


@transfer(KIND)
def kind_of(run: Run, function: Callable[..., Any], count: int) -> Classification | None:
    """Return the classification of a function of ``count`` numbers with one result, else None."""
    if not hashable(function):
        return None
    if transfer_of(function) not in PLAIN and find_transfer(function) is not elementwise:
        return None
    outputs = run.classifications(function, count)
    if len(outputs) != 1 or len(outputs[0].der1_zero) != count:
        return None
    return outputs[0] if is_float(result_dtype(function, (float,) * count)) else None


OF_PARTS = ("matrix", "solve", "solve_triangular", "cholesky", "factor", "quantile", "numbers")
"""Transfers of functions whose results depend on parts of an argument: see ``grouped``."""

PLAIN = ("add", "mul")
"""Transfers of operators that containers have too."""


def broadcast(run: Run, args: tuple[Any, ...]) -> Shape | None:
    """Return the shape that arguments are broadcast to, None if it is not known."""
    shapes = []
    for arg in args:
        shape = arg.shape if isinstance(arg, Dependent) else np.shape(arg)
        if shape is None:
            return None
        if shape:
            shapes.append(shape)
    if len(set(shapes)) < 2:
        return shapes[0] if shapes else ()
    return np.broadcast_shapes(*shapes)


@transfer(DTYPE)
@functools.lru_cache(maxsize=4096)
def result_dtype(function: Callable[..., Any], dtypes: tuple[Value, ...]) -> Any:
    """Return the dtype (or Python class) of a function's result for those of its arguments."""
    ones = [dtype(1) if isinstance(dtype, type) else np.ones((), dtype)[()] for dtype in dtypes]
    try:
        with np.errstate(all="ignore"):
            found = function(*ones)
    except (TypeError, ValueError, ArithmeticError):
        return np.dtype(float)
    return dtype_of(found[0] if isinstance(found, tuple) else found)


def as_numbers(run: Run, args: tuple[Value, ...]) -> tuple[Any, ...]:
    """Return arguments with lists of numbers made arrays."""
    if any(isinstance(arg, (list, tuple, UnknownList)) for arg in args):
        return tuple(
            run.call(np.asarray, (a,), {}) if isinstance(a, (list, tuple, UnknownList)) else a
            for a in args
        )
    return args


def binary(run: Run, sign: str, a: Value, b: Value) -> Any:
    """Return the result of an operator."""
    return run.call(BY_SIGN[sign], (a, b), {})


@transfer(ELEMENTWISE)
def elementwise(run: Run, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A function whose rule gives its partial derivatives."""
    if kwargs.keys() - {"dtype", "casting"}:
        return dense(run, function, *args, **kwargs)
    args = as_numbers(run, args)
    real = not any(is_complex(dtype_of(arg)) for arg in args)
    outputs = run.classifications(function, len(args), real)
    if len(outputs) == 1:
        return applied(run, function, args, outputs[0], kwargs)
    values = run.value(function, args, kwargs) or [None] * len(outputs)
    return tuple(
        applied(run, output_of(function, k), args, each, kwargs, values[k])
        for k, each in enumerate(outputs)
    )


@functools.lru_cache(maxsize=64)
def output_of(function: Callable[..., Any], k: int) -> Any:
    """Return a function of which one of several outputs is left."""
    return lambda *args: function(*args)[k]


def applied(
    run: Run, function: Callable[..., Any], args: tuple[Any, ...], kind: Classification,
    kwargs: Mapping[str, Value] = {}, value: Any = None, by_constants: bool = False,
) -> Any:
    """Return the result of an elementwise function of one output.

    Where derivatives vanish is asked at a point, and always if it is told ``by_constants``: what is
    not known is None then.
    """
    at_values = run.local or by_constants
    if not run.local and (index := index_of_all(args)) is not None:
        return of_picked(run, function, args, kind, kwargs, by_constants, index)
    shape = broadcast(run, args)
    if run.local:
        value = run.value(function, args, kwargs) if value is None else value
        dtype = dtype_of(value)
    else:
        dtype = kwargs.get("dtype") or result_dtype(function, tuple(map(dtype_of, args)))
    there = [i for i, arg in enumerate(args) if isinstance(arg, Dependent) and arg.is_active]
    if not there or not is_float(dtype):
        return run.made(shape, dtype, value=value)
    firsts, seconds = {}, {}
    for i in there:
        arg = args[i]
        if shape is None:
            first, second = map(_alone, all_sets([arg]))
        else:
            first = stretched(arg.first, arg.shape, shape)
            second = stretched(arg.second, arg.shape, shape)
        firsts[i], seconds[i] = first, second
        if arg.shape != ():
            arg.shared = True
    blocked = zero_factors(function, args, shape) if shape else None
    if blocked is not None:
        for i in there:
            firsts[i], seconds[i] = (masked(r, ~blocked, shape) for r in (firsts[i], seconds[i]))
    values = tuple(map(_value, args))
    pairs = curvature(kind, firsts, values, shape, at_values) if run.second else []
    flowing = [i for i in there if not kind.der1_zero[i]]
    for i in list(flowing) if at_values else ():
        predicate = kind.local(i)
        zero = predicate(*values) if predicate is not None else False
        if np.any(zero):
            firsts[i] = masked(firsts[i], ~np.asarray(zero), shape)
            seconds[i] = masked(seconds[i], ~np.asarray(zero), shape)
    first = unite([firsts[i] for i in flowing], shape) if flowing else NOTHING
    second = NOTHING
    if run.second:
        children = [seconds[i] for i in flowing if seconds[i] != NOTHING]
        if pairs:
            second = run.note(shape, children, pairs)
        elif children:
            second = run.thinned(unite(children, shape))
    made = run.made(shape, dtype, first, second, value)
    if isinstance(made, Dependent) and shape and (
        blocked is not None or any(args[i].zeros is not None for i in there)
    ):
        made.zeros = zeros_left(function, args, shape)
    return made


def known_zeros(arg: Any) -> Any:
    """Return which elements of an argument are known to be zero."""
    if isinstance(arg, Dependent):
        return np.asarray(False) if arg.zeros is None else arg.zeros
    return np.asarray(arg) == 0


def of_picked(
    run: Run, function: Callable[..., Any], args: tuple[Dependent | Lane | Sum, ...],
    kind: Classification, kwargs: Mapping[str, Value], by_constants: bool, index: Dependent
) -> Any:
    """Return the result for elements that one index picked: what it is of those of whole arrays."""
    whole = tuple(
        arg.picked[1] if isinstance(arg, Dependent) and arg.picked else arg for arg in args)
    of_all = applied(run, function, whole, kind, kwargs, None, by_constants)
    first, second = map(_alone, all_sets([of_all]))
    made = run.made(broadcast(run, args), of_all.dtype, first, second)
    made.picked = index, of_all
    return made


def index_of_all(args: Sequence[Operand]) -> Any:
    """Return the index that picked the elements of all arguments that are arrays, else None."""
    found = shape = None
    for arg in args:
        if isinstance(arg, Dependent) and arg.picked is not None:
            if found is not None and (
                arg.picked[0] is not found or arg.picked[1].shape != shape
            ):
                return None
            found, shape = arg.picked[0], arg.picked[1].shape
        elif np.ndim(arg) if not isinstance(arg, Dependent) else arg.shape != ():
            return None
    return found


def zero_factors(function: Callable[..., Any], args: Sequence[Operand], shape: Shape) -> Any:
    """Return where a factor of a product is zero, if an array of them is known to be; else None."""
    if REGISTRY.facts(function).means != "multiply":
        return None
    known = [
        known_zeros(arg) for arg in args
        if (arg.zeros is not None if isinstance(arg, Dependent) else np.ndim(arg))
    ]
    zeros = np.any([np.broadcast_to(one, shape) for one in known], axis=0) if known else None
    return zeros if np.any(zeros) else None


SUMS = ("add", "subtract", "negative", "positive")


def zeros_left(
    function: Callable[..., Any], args: tuple[Dependent | Lane | Sum, ...], shape: Shape
) -> Any:
    """Return which elements of sums, products and quotients are zero; None if that is not known.

    A product is zero where a factor is, a quotient where the first operand is, a sum where all are.
    """
    means = REGISTRY.facts(function).means
    if means not in (*SUMS, "multiply", "divide"):
        return None
    known = [
        np.broadcast_to(known_zeros(arg), shape)
        for arg in (args[:1] if means == "divide" else args)
    ]
    zeros = np.all(known, 0) if means in SUMS else np.any(known, 0)
    return zeros if np.any(zeros) else None


def _alone(common: Set) -> Relation:
    return Relation(common, None)


def _value(arg: Operand) -> Any:
    return arg.value if isinstance(arg, Dependent) else arg


def curvature(
    kind: Classification, firsts: dict[int, Relation], values: tuple[Value, ...],
    shape: Shape | None, local: bool,
) -> list[tuple[Relation, Relation]]:
    """Return the pairs of relations between which second derivatives may be nonzero."""
    there = [i for i in firsts if firsts[i] != NOTHING]
    found = []
    for n, i in enumerate(there):
        for j in there[n:]:
            if kind.is_zero(i, j):
                continue
            left = firsts[i]
            predicate = kind.where_zero(i, j) if local else None
            if predicate is not None:
                left = masked(left, ~np.asarray(predicate(*values), bool), shape)
            if left != NOTHING:
                found.append((left, firsts[j]))
    return found


# -- powers, choices and bounds --------------------------------------------------------------------


@transfer("pow")
def power(
    run: Run, function: Callable[..., Any], x: Operand, y: Any, *rest: Any, **kwargs: Any
) -> Any:
    """``x ** y``: a constant exponent of 0 or 1 leaves nothing, or something linear."""
    if isinstance(x, (list, tuple)) or isinstance(y, (list, tuple)):
        x, y = as_numbers(run, (x, y))
    if isinstance(y, Dependent):
        base_zero = never if isinstance(x, Dependent) else None
        return applied(run, function, (x, y), of_letters("ssc", base_zero, None))
    if np.ndim(y):
        return powers(run, function, x, np.asarray(y))
    if y == 0:
        return applied(run, function, (x, y), of_letters("zzz"))
    if y == 1:
        return applied(run, function, (x, y), of_letters("fzz"))
    flat = (lambda x, y: np.equal(x, 0)) if _is_real(y) and y > 1 else None
    kind = of_letters("szz", flat)
    if flat is not None and y > 2:
        kind = kind.refined((0, 0), flat)
    return applied(run, function, (x, y), kind)


def powers(run: Run, function: Callable[..., Any], x: Value, y: np.ndarray) -> Any:
    """``x ** y`` for an array of constants: elements of exponent 0 and 1 as those of a number.

    At a point a base of 0 leaves nothing of exponents over 1, to second order over 2.
    """
    if y.dtype.kind not in "iufb":
        return applied(run, function, (x, y), of_letters("ssc", never))

    def flat(x: Array, y: Array) -> Any:
        return (y == 0) | (np.equal(x, 0) & (y > 1) if x is not None else False)

    def straight(x: Array, y: Array) -> Any:
        return (y == 0) | (y == 1) | (np.equal(x, 0) & (y > 2) if x is not None else False)

    kind = of_letters("szz", flat).refined((0, 0), straight)
    return applied(run, function, (x, y), kind, by_constants=True)


def _is_real(y: Operand) -> bool:
    return not isinstance(y, (complex, np.complexfloating))


@transfer("where")
def where(
    run: Run, function: Callable[..., Any], condition: Dependent | bool, *choices: Any
) -> Any:
    """``np.where``: both choices where the condition is not known, else the one that is taken."""
    if len(choices) != 2:
        return inactive(run, function, condition, *choices)
    condition, *choices = as_numbers(run, (condition, *choices))  # type: ignore[assignment]
    if isinstance(condition, Dependent) and condition.value is None:
        return applied(run, np.where, (condition, *choices), of_letters("zffz"))
    taken: Any = np.asarray(_value(condition)).astype(bool)
    return chosen(run, (condition, *choices), taken)


def chosen(run: Run, args: tuple[Operand, ...], taken: Array) -> Any:
    """Return ``np.where`` of a known condition: dependences are masked though values are not."""
    _, a, b = args
    shape = broadcast(run, args)
    if shape is None:
        return applied(run, np.where, args, of_letters("zffz"))
    parts = []
    for arg, mask in ((a, taken), (b, ~taken)):
        if isinstance(arg, Dependent):
            arg.shared = True
            assert arg.shape is not None
            parts.append([
                masked(stretched(r, arg.shape, shape), mask, shape) for r in (arg.first, arg.second)
            ])
    first, second = (unite([p[k] for p in parts] or [NOTHING], shape) for k in (0, 1))
    value = run.value(np.where, args, {})
    dtype = result_dtype(np.where, tuple(map(dtype_of, args)))
    return run.made(shape, dtype, first, second, value)


@transfer("clip")
def clip(
    run: Run, function: Callable[..., Any], a: Value, a_min: Value = None, a_max: Value = None,
    out: Array | None = None, **kwargs: Any,
) -> Any:
    """``np.clip``: the larger of a and the lower bound, then the smaller of that and the upper."""
    low, high = kwargs.get("min", a_min), kwargs.get("max", a_max)
    found = a if low is None else run.call(np.maximum, (a, low), {})
    return found if high is None else run.call(np.minimum, (found, high), {})


# -- no derivative -------------------------------------------------------------------------------


@transfer(INACTIVE)
def inactive(run: Run, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A function whose result carries no derivative: nothing is known of it but its shape."""
    if run.local:
        return run.value(function, args, kwargs)
    known = REGISTRY.facts(function)
    if known.sized:
        return unknown_shape(function)
    if known.elementwise and not kwargs and all(
        isinstance(a, (Dependent, np.ndarray, np.generic, int, float, complex)) for a in args
    ):
        dtype = result_dtype(function, tuple(map(dtype_of, args)))
        return Dependent(broadcast(run, args), dtype)
    if any(d.shape is None for d in dependents_in(args)):
        return unknown_shape(function)
    return unknown_like(of_one_form(function, args, kwargs))


def unknown_shape(function: Callable[..., Any]) -> Any:
    """Return what is known of a result whose shape depends on values."""
    if function is range:
        return UnknownList(Dependent((), int))
    shown = of_one(function)
    one = Dependent(None, dtype_of(shown[0] if isinstance(shown, tuple) else shown))
    return (one,) if isinstance(shown, tuple) else one


@functools.lru_cache(maxsize=64)
def of_one(function: Callable[..., Any]) -> Any:
    """Return the result of a function for an array of one number, zero if it takes none."""
    with quiet(), np.errstate(all="ignore"):
        try:
            return function(np.ones(1))
        except (TypeError, ValueError):
            return 0.0


@transfer(DENSE, *OF_PARTS)
def dense(run: Run, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A function with a rule but no transfer: all results depend on all that flows in."""
    first, second = all_sets(dependents_in([list(args), dict(kwargs)]))
    if not run.local and REGISTRY.facts(function).sized:
        raise unknown_number(function)
    value = run.value(function, args, kwargs)
    shown = value if run.local else of_one_form(function, args, kwargs)
    if first and all(d.shape is not None for d in dependents_in([list(args), dict(kwargs)])):
        for which, *rest in ((STATED,), (LINEARLY, True), (GROUPED,), (LINEARLY, False)):
            found = TRANSFERS[which](run, function, args, kwargs, shown, *rest)
            if found is not None:
                return found
    seconds = _alone(second)
    if run.second and first:
        rule = REGISTRY.find(function)
        named = any(d.is_active for d in dependents_in(dict(kwargs)))
        linear = rule is not None and not named and set(rule.linear) >= {
            i for i, arg in enumerate(args) if any(d.is_active for d in dependents_in(arg))
        }
        if not linear:
            seconds = run.note((), [seconds], [(_alone(first), _alone(first))])
    return everywhere(run, shown, _alone(first), seconds)


def everywhere(run: Run, shown: Value, first: Relation, second: Relation) -> Any:
    """Return a result of the structure ``shown`` all numbers of which have the same relations."""
    if isinstance(shown, (list, tuple)):
        items = [everywhere(run, item, first, second) for item in shown]
        return type(shown)(*items) if hasattr(shown, "_fields") else type(shown)(items)
    if not isinstance(shown, (np.ndarray, np.generic, bool, int, float, complex)):
        return shown
    dtype = dtype_of(shown)
    value = shown if run.local else None
    if not is_float(dtype):
        return run.made(np.shape(shown), dtype, value=value)
    return run.made(np.shape(shown), dtype, first, second, value)
