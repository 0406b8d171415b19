"""Rules of Python's built-in functions.

Ties of ``max`` and ``min`` share the cotangent evenly; ``abs`` has the derivative 0 at 0. Left to
the compiler are comprehensions and the loops over ``enumerate``, ``zip``, ``map`` and ``filter``.
"""

from __future__ import annotations

import bisect
import numbers
import operator
from typing import Any

import numpy as np

import adcompiler_rules.recurrences
import adcompiler_rules.slopes  # noqa: F401
from adcompiler.rulekit import (
    Call, alias, call, facts, non_differentiable, rrule, scalar_rule,
)
from adcompiler.runtime import project, told
from adcompiler.runtime.adjoints.elementwise import phase
from adcompiler.runtime.adjoints.sequences import like, share, sort_order, spread, unsort

TIES = "ties share evenly"

# --- numbers -------------------------------------------------------------------------------------


def _abs_calls(rng: np.random.Generator) -> list[Call]:
    x = rng.normal(size=(2, 3))
    z = x + 1j * rng.normal(size=(2, 3))
    return [call(x), call(x[:, ::2].T), call(x[:0]), call(np.array([0.0, -1.0])),
            call(np.asarray(-0.5)), call(z), call(z[0, 0]), call(-0.5 + 2j), call(3 + 0j)]


@rrule(abs, domain=_abs_calls, kink="0 at 0")
def abs_of_array(x: Any) -> Any:
    """``dx = dy sign(x)``, with ``sign(z) = z / abs(z)`` for complex numbers."""

    def abs_pullback(dy: Any) -> Any:
        return project(dy * (phase(x) if np.iscomplexobj(x) else np.sign(x)), x)

    return abs(x), abs_pullback


scalar_rule(
    abs, lambda x: 1.0 if x > 0 else -1.0 if x < 0 else 0.0, types=(numbers.Real,),
    domain=lambda rng: [call(x) for x in (1.5, -2.5, 0.0, -0.0, 3, np.float64(-0.5))],
    kink="0 at 0",
)
alias(pow, operator.pow)
non_differentiable(round)  # piecewise constant


@rrule(float, linear=(0,), domain=lambda rng: [call(1.5), call(3), call(np.float64(-0.5))])
def float_of(x: Any) -> Any:
    """A number as a Python float."""

    def float_pullback(dy: Any) -> Any:
        return project(dy, x)

    return float(x), float_pullback


def _complex_calls(rng: np.random.Generator) -> list[Call]:
    return [call(1.5), call(1.5, -0.5), call(1.5 - 2j), call(2.0, 1.5 + 1j), call(1, 2.5),
            call(real=0.5, imag=2.0), call(np.float64(1.5), np.float64(2.0))]


@rrule(complex, wrt=("real", "imag"), linear=(0, 1), domain=_complex_calls)
def complex_of(real: Any, imag: Any = 0) -> Any:
    """``real + 1j * imag``, where either may be complex itself."""

    def complex_pullback(dz: Any) -> Any:
        return project(dz, real), project(-1j * dz, imag)

    return complex(real, imag), complex_pullback


@rrule(complex.conjugate, linear=(0,), domain=lambda rng: [call(1.5 - 2j)])
def conjugate(z: Any) -> Any:
    """``dz = conj(dy)``."""

    def conjugate_pullback(dy: Any) -> Any:
        return dy.conjugate()

    return z.conjugate(), conjugate_pullback


@rrule(float.conjugate, linear=(0,), domain=lambda rng: [call(1.5)])
def conjugate_real(x: Any) -> Any:
    """The number itself."""

    def conjugate_real_pullback(dy: Any) -> Any:
        return dy

    return x.conjugate(), conjugate_real_pullback


def _divmod_calls(rng: np.random.Generator) -> list[Call]:
    x, y = np.array([7.3, -7.3, 2.1]), np.array([2.0, -3.0, 0.5])
    return [call(7.3, 2.0), call(-7.3, 2.0), call(7.3, -2), call(x, y), call(x[:, None], y),
            call(9.1, y), call(np.float64(5.5), np.float64(1.5))]


@rrule(divmod, domain=_divmod_calls, kink="the steps of the quotient are ignored")
def divmod_of(x: Any, y: Any) -> Any:
    """The quotient is piecewise constant; the remainder is ``x - quotient * y``."""
    quotient, remainder = divmod(x, y)

    def divmod_pullback(dz: Any) -> Any:
        dremainder = dz[1]
        return project(dremainder, x), project(-dremainder * quotient, y)

    return (quotient, remainder), divmod_pullback


# --- the greatest and the least ------------------------------------------------------------------


def _extremum_calls(rng: np.random.Generator) -> list[Call]:
    return [call(1.5, 2.5), call(2.5, 1.5), call(1.5, 1.5), call(0.5, 1), call(2, 1.5),
            call(1.5, -2.0, 0.5), call(1.5, 0.5, -1.5, 2.5), call(2.0, 1.0, 2.0), call(0.5, 2, 0),
            call(np.float64(1.5), np.float64(0.5)), call(np.float64(1.5), 0.5)]


def _extremum_of_sequence_calls(kind: Any) -> Any:
    return lambda rng: [call(kind(rng.normal(size=5).tolist())), call(kind([1.0, 2.0, -3.0])),
                        call(kind([1.5])), call(kind([2.0, 2.0]))]


@rrule(max, domain=_extremum_calls, kink=TIES)
def max_of(*values: Any) -> Any:
    """The greatest value receives ``dy``: of two, the second if it is greater than the first.

    So Python takes the first where one is NaN.
    """
    y = max(*values)

    def max_pullback(dy: Any) -> Any:
        return (
            (
                project(0.0 if values[1] > values[0] else
                        0.5 * dy if values[0] == values[1] else dy, values[0]),
                project(dy if values[1] > values[0] else
                        0.5 * dy if values[0] == values[1] else 0.0, values[1]),
            )
            if len(values) == 2
            else share(dy, values, y)
        )

    return y, max_pullback


@rrule(min, domain=_extremum_calls, kink=TIES)
def min_of(*values: Any) -> Any:
    """The least value receives ``dy``: of two, the second if it is less than the first.

    So Python takes the first where one is NaN.
    """
    y = min(*values)

    def min_pullback(dy: Any) -> Any:
        return (
            (
                project(0.0 if values[1] < values[0] else
                        0.5 * dy if values[0] == values[1] else dy, values[0]),
                project(dy if values[1] < values[0] else
                        0.5 * dy if values[0] == values[1] else 0.0, values[1]),
            )
            if len(values) == 2
            else share(dy, values, y)
        )

    return y, min_pullback


@rrule(max, types=(list,), domain=_extremum_of_sequence_calls(list), kink=TIES)
@rrule(max, types=(tuple,), domain=_extremum_of_sequence_calls(tuple), kink=TIES)
@rrule(max, types=(np.ndarray,), domain=_extremum_of_sequence_calls(np.array), kink=TIES)
def max_of_sequence(x: Any) -> Any:
    """The greatest item of a list, tuple or one-dimensional array receives ``dy``."""
    y = max(x)

    def max_of_sequence_pullback(dy: Any) -> Any:
        return share(dy, x, y)

    return y, max_of_sequence_pullback


@rrule(min, types=(list,), domain=_extremum_of_sequence_calls(list), kink=TIES)
@rrule(min, types=(tuple,), domain=_extremum_of_sequence_calls(tuple), kink=TIES)
@rrule(min, types=(np.ndarray,), domain=_extremum_of_sequence_calls(np.array), kink=TIES)
def min_of_sequence(x: Any) -> Any:
    """The least item of a list, tuple or one-dimensional array receives ``dy``."""
    y = min(x)

    def min_of_sequence_pullback(dy: Any) -> Any:
        return share(dy, x, y)

    return y, min_of_sequence_pullback


# --- sums and copies of sequences ----------------------------------------------------------------


def _sum_calls(rng: np.random.Generator) -> list[Call]:
    x = rng.normal(size=(3, 2))
    return [call([1.5, 2.0, -1.0]), call((1.5, 2)), call([x[0], x[1], 2.0]), call([x, x[0]]),
            call([1.5], 2.0), call([], 2.5), call([]), call([x[0]], start=x[1]), call([1.5, 2j]),
            call(np.zeros((0, 3)), 1.5), call(np.ones((3, 2)), x[0])]


@rrule(sum, wrt=("x", "start"), linear=(0, 1), domain=_sum_calls)
def sum_of(x: Any, start: Any = 0) -> Any:
    """Every item receives ``dy``, summed to its shape; of no rows, the sum is ``start`` itself."""
    rows = isinstance(x, np.ndarray) and np.ndim(x) > 1 and np.ndim(start) == 0

    def sum_pullback(dy: Any) -> Any:
        dstart = np.sum(np.ravel(dy)) if rows else dy
        return spread(dy, x), project(dstart, start)

    return sum(x, start), sum_pullback


def _sum_of_array_calls(rng: np.random.Generator) -> list[Call]:
    x = rng.normal(size=(3, 2))
    return [call(x[0]), call(x), call(x[::2].T), call(x, x[0]), call(x[0], 1.5), call(x[:0], 1.5),
            call(x, 1.5), call(x[0, :0], 1.5)]


@rrule(sum, types=(np.ndarray,), wrt=("x", "start"), linear=(0, 1), domain=_sum_of_array_calls)
def sum_of_array(x: Any, start: Any = 0) -> Any:
    """The sum over the first axis."""

    def sum_of_array_pullback(dy: Any) -> Any:
        return project(np.broadcast_to(dy, x.shape), x), project(dy, start)

    return sum(x, start), sum_of_array_pullback


def _copy_calls(kind: Any) -> Any:
    return lambda rng: [call(kind([1.5, 2.0, -1.0])), call(kind([1.5])), call(kind([]))]


@rrule(list, types=(list,), linear=(0,), domain=_copy_calls(list))
@rrule(list, types=(tuple,), linear=(0,), domain=_copy_calls(tuple))
@rrule(list, types=(np.ndarray,), linear=(0,), domain=_copy_calls(np.array))
def list_of(x: Any) -> Any:
    """The items of a list, a tuple or an array."""

    def list_pullback(dy: Any) -> Any:
        return like(dy, x)

    return list(x), list_pullback


@rrule(tuple, types=(list,), linear=(0,), domain=_copy_calls(list))
@rrule(tuple, types=(tuple,), linear=(0,), domain=_copy_calls(tuple))
@rrule(tuple, types=(np.ndarray,), linear=(0,), domain=_copy_calls(np.array))
def tuple_of(x: Any) -> Any:
    """The items of a list, a tuple or an array."""

    def tuple_pullback(dy: Any) -> Any:
        return like(dy, x)

    return tuple(x), tuple_pullback


@rrule(dict, dict.copy, types=(dict,), linear=(0,),
       domain=lambda rng: [call({"a": 1.5, "b": np.ones(2)})])
def dict_of(x: Any) -> Any:
    """A copy of a dict."""

    def dict_pullback(dy: Any) -> Any:
        return dict(dy)

    return dict(x), dict_pullback


@rrule(list.copy, linear=(0,), domain=_copy_calls(list))
def list_copy(x: Any) -> Any:
    """A copy of a list."""

    def list_copy_pullback(dy: Any) -> Any:
        return list(dy)

    return x.copy(), list_copy_pullback


@rrule(reversed, types=(list,), linear=(0,), domain=_copy_calls(list),
       primal_note="a reversed list in place of an iterator")
def reversed_list(x: Any) -> Any:
    """The items of a list from last to first."""

    def reversed_list_pullback(dy: Any) -> Any:
        return dy[::-1]

    return x[::-1], reversed_list_pullback


@rrule(reversed, types=(tuple,), linear=(0,), domain=_copy_calls(tuple),
       primal_note="a reversed list in place of an iterator")
@rrule(reversed, types=(np.ndarray,), linear=(0,), domain=_copy_calls(np.array),
       primal_note="a reversed list in place of an iterator")
def reversed_sequence(x: Any) -> Any:
    """The items of a tuple or an array from last to first."""

    def reversed_sequence_pullback(dy: Any) -> Any:
        return like(dy[::-1], x)

    return list(x[::-1]), reversed_sequence_pullback


def _sorted_calls(kind: Any) -> Any:
    return lambda rng: [
        call(kind(rng.normal(size=5).tolist())), call(kind([3.0, -1.0, 2.0]), reverse=True),
        call(kind([1.5])), call(kind([])),
    ]


@rrule(sorted, types=(list,), domain=_sorted_calls(list), kink="ties keep their order")
@rrule(sorted, types=(tuple,), domain=_sorted_calls(tuple), kink="ties keep their order")
@rrule(sorted, types=(np.ndarray,), domain=_sorted_calls(np.array), kink="ties keep their order")
def sorted_of(x: Any, *, reverse: bool = False) -> Any:
    """The items in order; each cotangent returns to where its item came from."""
    order = sort_order(x, reverse)

    def sorted_pullback(dy: Any) -> Any:
        return unsort(dy, order, x)

    return sorted(x, reverse=reverse), sorted_pullback


# --- integers, truth values, text ----------------------------------------------------------------

non_differentiable(
    all, any, ascii, bin, bool, bytes, callable, chr, format, hasattr, hash, hex, int, isinstance,
    issubclass, len, oct, ord, range, repr, str, type,
    float.is_integer, list.index, list.count, tuple.index, tuple.count,
)
facts(slice, pure=True, writes=(), shares="holds")  # its bounds may be any numbers
non_differentiable(bisect.bisect_left, bisect.bisect_right)  # bisect.bisect is the latter
non_differentiable(print, told, input, id, pure=False)
