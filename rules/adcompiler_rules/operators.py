"""Rules of Python's operators, keyed by the functions of ``operator``.

Each works for Python numbers, NumPy scalars and arrays broadcast against one another, real and
complex. Pullbacks multiply by the conjugate of the holomorphic derivative; on reals the compiler
folds ``np.conj`` away, and ``project`` where the operands are not broadcast. Indexing is the
compiler's own business.
"""

from __future__ import annotations

import math
import numbers
import operator
from typing import Any

import numpy as np

import adcompiler_rules.recurrences
import adcompiler_rules.slopes  # noqa: F401
from adcompiler.rulekit import (
    Call, Domain, alias, call, facts, non_differentiable, rrule, scalar_rule,
)
from adcompiler.runtime import project
from adcompiler.runtime.adjoints.elementwise import is_known, log_of_base
from adcompiler.runtime.adjoints.sequences import joined, sum_repeats
from adcompiler.runtime.adjoints.shaping import like

ANY = (-2.0, 2.0)
POSITIVE = (0.2, 3.0)

# --- arithmetic ----------------------------------------------------------------------------------

scalar_rule(operator.pos, 1, domain=ANY)
scalar_rule(operator.neg, -1, domain=ANY)
scalar_rule(operator.add, 1, 1, domain=(ANY, ANY))
scalar_rule(operator.sub, 1, -1, domain=(ANY, ANY))
alias(operator.abs, abs)


@rrule(operator.mul, bilinear=(0, 1), domain=(ANY, ANY))
def mul(x: Any, y: Any) -> Any:
    """``dx = dz y``, ``dy = dz x``."""

    def mul_pullback(dz: Any) -> Any:
        return project(dz * np.conj(y), x), project(dz * np.conj(x), y)

    return x * y, mul_pullback


@rrule(operator.truediv, linear=(0,), domain=(ANY, POSITIVE))
def truediv(x: Any, y: Any) -> Any:
    """``dx = dz / y``, ``dy = -dx z``."""
    z = x / y

    def truediv_pullback(dz: Any) -> Any:
        dx = dz / np.conj(y)
        return project(dx, x), project(-dx * np.conj(z), y)

    return z, truediv_pullback


def _mod_calls(rng: np.random.Generator) -> list[Call]:
    x, y = np.array([7.3, -7.3, 2.1, -0.4]), np.array([2.0, 2.0, -3.0, -3.0])
    return [call(7.3, 2.0), call(-7.3, 2.0), call(7.3, -2), call(x, y), call(x, 2.5),
            call(9.1, y), call(x[:, None], y), call(np.float64(-5.5), np.float64(1.5))]


scalar_rule(
    operator.mod, 1, lambda x, y: -(x // y), domain=_mod_calls,
    kink="at multiples of y the derivative of the continuous piece to the right",
)
non_differentiable(operator.floordiv)  # piecewise constant


# --- powers: later registrations win, so from the general to the special --------------------------


def _power_calls(rng: np.random.Generator) -> list[Call]:
    x = rng.uniform(0.3, 2.0, (2, 3))
    y = rng.uniform(-2.0, 3.0, (2, 3))
    z = x + 1j * rng.uniform(-1.0, 1.0, (2, 3))
    return [
        call(x, y), call(x[0], y), call(x, y[:, :1]), call(x[:, :1], y[0]), call(1.7, y),
        call(np.zeros(3), np.array([2.0, 3.0, 4.0])),
        call(np.array([-2.0, 0.0, 3.0]), np.array([3, 2, 0])),
        call(z, y), call(x, z), call(z, z[0]), call(z, 2.5), call(1.5 + 0.5j, 2.5),
        call(1.5, 0.5 - 1j), call(1.5 + 0.5j, -1.0 + 2.0j), call(x[:0], y[:0]),
    ]


@rrule(operator.pow, domain=_power_calls,
       kink="dx = 0 where y == 0; dy = 0 where x == 0, nan where a real x is negative")
def power(x: Any, y: Any) -> Any:
    """``dx = dz y x**(y-1)``, ``dy = dz z log(x)``."""
    z = x ** y

    def power_pullback(dz: Any) -> Any:
        dx = dz * np.conj(y * x ** np.where((x == 0) & (y == 0), 1, y - 1))
        dy = dz * np.conj(z * log_of_base(x))
        return project(dx, x), project(dy, y)

    return z, power_pullback


def _array_power_calls(rng: np.random.Generator) -> list[Call]:
    x = rng.uniform(0.3, 2.0, (2, 3))
    exponents = [2.0, 3.0, 0.5, -0.5, -1.0, 1.5, 0.0, 1.0, np.float64(2.5), np.int64(3)]
    return [call(x, y) for y in exponents] + [
        call(np.array([0.0, 1.0]), 1.0),
        call(np.array([-1.5, 2.0]), np.int64(3)), call(x + 0.5j, 0.5), call(x + 0.5j, -1.0),
        call(x[:0], 1.5), call(x[:, ::2].T, 0.7),
    ]


@rrule(operator.pow, types=(np.ndarray, numbers.Real), domain=_array_power_calls,
       kink="as for arrays to the power of arrays; dx = inf where x == 0 and 0 < y < 1")
def array_power(x: Any, y: Any) -> Any:
    """An array to the power of one real number: the common exponents save the second power.

    They do so where the exponent is written out; the slope by another one has a slope in it.
    """
    z = x ** y

    def array_power_pullback(dz: Any) -> Any:
        if is_known(y):
            slope = (
                2.0 * x if y == 2.0
                else 0.5 / z if y == 0.5
                else -z * z if y == -1.0
                else y * x ** (y - 1.0) if y != 0.0
                else np.zeros_like(z)
            )
        elif y != 0.0:
            slope = y * x ** (y - 1.0)
        else:
            slope = y * np.where(x == 0, 1.0, x) ** (y - 1.0)
        return project(dz * np.conj(slope), x), project(dz * np.conj(z * log_of_base(x)), y)

    return z, array_power_pullback


def _scalar_power_calls(rng: np.random.Generator) -> list[Call]:
    pairs = [(1.7, 2.5), (0.3, -1.5), (2.0, 0.0), (1.3, 1.0), (3, 0.5), (0.0, 3.0), (1.9, 2.0),
             (np.float64(1.7), 2.5), (np.float64(0.0), np.float64(4.0)), (2.5, np.float64(-1.0)),
             (np.float32(1.5), 2.5)]
    return [call(x, y) for x, y in pairs]


@rrule(operator.pow, types=(numbers.Real, numbers.Real), domain=_scalar_power_calls,
       kink="at x == 0: dx = 0 for y == 0, inf for 0 < y < 1, dy = 0; dy = nan for negative x")
def scalar_power(x: Any, y: Any) -> Any:
    """A real number to the power of another."""
    z = x ** y

    def scalar_power_pullback(dz: Any) -> Any:
        slope_x = y * x ** (y - 1.0) if y >= 1.0 or x else y * math.inf if y else 0.0
        slope_y = z * math.log(x) if x > 0.0 else 0.0 if x == 0.0 else math.nan
        return project(dz * slope_x, x), project(dz * slope_y, y)

    return z, scalar_power_pullback


def _integer_power_calls(rng: np.random.Generator) -> list[Call]:
    x = rng.normal(size=(2, 3))
    bases = [1.5, -1.5, np.float64(-0.7), x, x[:, ::2].T, x + 1j, 0.5 - 1j, x[:0]]
    return [call(base, n) for base in bases for n in (2, 3, 1, 0, -1, -2)] + [
        call(0.0, n) for n in (0, 1, 2, 5)] + [call(np.zeros(2), n) for n in (0, 1, 2, 5)]


@rrule(operator.pow, types=(None, int), wrt=("x",), domain=_integer_power_calls)
def integer_power(x: Any, n: Any) -> Any:
    """``dx = dy n x**(n-1)``, exact for every base, 0 and negative ones too."""

    def integer_power_pullback(dy: Any) -> Any:
        slope = 2 * x if n == 2 else n * x ** (n - 1) if n != 0 else 0.0
        return project(dy * np.conj(slope), x)

    return x ** n, integer_power_pullback


# --- matrix product ------------------------------------------------------------------------------


def _matmul_calls(rng: np.random.Generator) -> list[Call]:
    def draw(*shape: int) -> Any:
        return rng.normal(size=shape)

    shapes = [
        ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((1, 3), (3, 1)),
        ((5, 2, 3), (3,)), ((3,), (5, 3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
        ((5, 2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)), ((6, 1, 2, 3), (5, 3, 4)),
        ((0, 3), (3, 4)), ((2, 0), (0, 3)), ((0, 2, 3), (3, 1)), ((0,), (0,)),
    ]
    calls = [call(draw(*a), draw(*b)) for a, b in shapes]
    calls += [call(draw(*a) + 1j * draw(*a), draw(*b) - 1j * draw(*b)) for a, b in shapes[:12]]
    calls += [call(draw(*a), draw(*b) + 1j * draw(*b)) for a, b in shapes[:8]]
    calls += [call(draw(3, 2).T, draw(6, 4)[::2]), call(np.arange(6).reshape(2, 3), draw(3, 2))]
    return calls


@rrule(operator.matmul, bilinear=(0, 1), domain=_matmul_calls)
def matmul(x: Any, y: Any) -> Any:
    """``dX = dZ Y^H``, ``dY = X^H dZ``; vectors are rows on the left and columns on the right."""

    def matmul_pullback(dz: Any) -> Any:
        dx = (
            dz @ np.conj(y.T) if np.ndim(x) == 2 and np.ndim(y) == 2
            else dz[..., None] * np.conj(y) if np.ndim(x) > 1 and np.ndim(y) == 1
            else dz @ np.conj(np.swapaxes(y, -1, -2)) if np.ndim(x) > 1
            else dz * np.conj(y) if np.ndim(y) == 1
            else np.conj(y) @ dz if np.ndim(y) == 2
            else (np.conj(y) @ dz[..., None])[..., 0]
        )
        dy = (
            np.conj(x.T) @ dz if np.ndim(x) == 2 and np.ndim(y) < 3
            else (np.conj(np.swapaxes(x, -1, -2)) @ dz[..., None])[..., 0]
            if np.ndim(x) > 1 and np.ndim(y) == 1
            else np.conj(np.swapaxes(x, -1, -2)) @ dz if np.ndim(x) > 1
            else np.conj(x) * dz if np.ndim(y) == 1
            else np.conj(x)[:, None] * dz[..., None, :]
        )
        if np.ndim(x) <= 2 and np.ndim(y) <= 2:
            return like(dx, x), like(dy, y)
        return project(dx, x), project(dy, y)

    return x @ y, matmul_pullback


# --- lists and tuples ----------------------------------------------------------------------------


def _sequences(kind: type) -> Domain:
    def calls(rng: np.random.Generator) -> list[Call]:
        x, y = kind([1.0, 2.0]), kind([np.ones(2), 3.0, 4])
        return [call(x, y), call(y, x), call(x, kind([])), call(kind([]), kind([]))]

    return Domain(calls=calls)


def _repeats(kind: type, number: type = int) -> Domain:
    def calls(rng: np.random.Generator) -> list[Call]:
        x = kind([1.0, np.arange(2.0), kind([3.0])])
        return [call(x, number(n)) for n in (0, 1, 3)] + [call(kind([]), number(2))]

    return Domain(calls=calls)


def _swapped(domain: Domain) -> Domain:
    calls = domain.calls
    assert calls is not None
    return Domain(calls=lambda rng: [call(*reversed(c.args)) for c in calls(rng)])


@rrule(operator.add, operator.concat, types=(list, list), linear=(0, 1), domain=_sequences(list))
@rrule(operator.add, operator.concat, types=(tuple, tuple), linear=(0, 1),
       domain=_sequences(tuple))
@rrule(joined, linear=(0, 1), domain=_sequences(tuple))
def concatenate(x: Any, y: Any) -> Any:
    """``x + y`` of two lists or two tuples."""
    split = len(x)

    def concatenate_pullback(dz: Any) -> Any:
        return dz[:split], dz[split:]

    return x + y, concatenate_pullback


@rrule(operator.mul, types=(list, int), wrt=("x",), linear=(0,), domain=_repeats(list))
@rrule(operator.mul, types=(tuple, int), wrt=("x",), linear=(0,), domain=_repeats(tuple))
@rrule(operator.mul, types=(list, np.integer), wrt=("x",), linear=(0,),
       domain=_repeats(list, np.int64))
@rrule(operator.mul, types=(tuple, np.integer), wrt=("x",), linear=(0,),
       domain=_repeats(tuple, np.int64))
def repeat(x: Any, n: Any) -> Any:
    """``x * n`` of a list or tuple."""

    def repeat_pullback(dy: Any) -> Any:
        return sum_repeats(dy, x)

    return x * n, repeat_pullback


@rrule(operator.mul, types=(int, list), wrt=("x",), linear=(1,), domain=_swapped(_repeats(list)))
@rrule(operator.mul, types=(int, tuple), wrt=("x",), linear=(1,),
       domain=_swapped(_repeats(tuple)))
@rrule(operator.mul, types=(np.integer, list), wrt=("x",), linear=(1,),
       domain=_swapped(_repeats(list, np.int64)))
@rrule(operator.mul, types=(np.integer, tuple), wrt=("x",), linear=(1,),
       domain=_swapped(_repeats(tuple, np.int64)))
def repeat_from_left(n: Any, x: Any) -> Any:
    """``n * x`` of a list or tuple."""

    def repeat_from_left_pullback(dy: Any) -> Any:
        return sum_repeats(dy, x)

    return n * x, repeat_from_left_pullback


# --- integers, truth values, comparisons ---------------------------------------------------------

non_differentiable(
    operator.and_, operator.or_, operator.xor, operator.inv, operator.invert,
    operator.lshift, operator.rshift,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    operator.is_, operator.is_not, operator.not_, operator.truth, operator.contains,
    operator.index, operator.countOf, operator.indexOf, operator.length_hint,
)


# --- subscripts ----------------------------------------------------------------------------------


def get_item(a: Any, b: Any) -> Any:
    """Return ``a[b]``, as ``operator.getitem`` does."""
    return a[b]


facts(operator.getitem, written_as=get_item)
