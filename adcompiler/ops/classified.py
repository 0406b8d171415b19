"""Which derivatives of operators and of NumPy functions of numbers vanish, where no rule says."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from adcompiler.ops.basics import MEANT
from adcompiler.ops.classify import declare, of_letters


def never(*values: Any) -> Any:
    """Say that a derivative is nowhere known to be zero."""
    return np.zeros(np.broadcast_shapes(*map(np.shape, values)), bool)


def _smaller(x: Any, y: Any) -> Any:
    return np.less(x, y)


def _larger(x: Any, y: Any) -> Any:
    return np.greater(x, y)


def _first_is_zero(x: Any, y: Any) -> Any:
    return np.equal(x, 0)


def _second_is_zero(x: Any, y: Any) -> Any:
    return np.equal(y, 0)


def _flat_power(x: Any, y: Any) -> Any:
    return np.equal(x, 0) & (np.real(y) > 1)


def _straight_power(x: Any, y: Any) -> Any:
    return np.equal(y, 0) | np.equal(y, 1) | (np.equal(x, 0) & (np.real(y) > 2))


LINEAR, ZERO = of_letters("f"), of_letters("z")
CURVED = of_letters("s", never)
OF_MODULUS: frozenset[Any] = frozenset({abs, np.absolute, np.sign})
"""Functions that are made of straight pieces for real numbers only: complex ones have a modulus."""

declare((*MEANT["multiply"], np.multiply), of_letters("ffc", _second_is_zero, _first_is_zero))
declare(
    (*MEANT["divide"], np.divide),
    of_letters("fsc", never, _first_is_zero).refined((1, 1), _first_is_zero),
)
declare(
    (operator.pow, math.pow), of_letters("ssc", _flat_power).refined((0, 0), _straight_power))
declare((operator.add, np.add, operator.sub, np.subtract), of_letters("ffz"))
declare((np.maximum, np.fmax), of_letters("ffz", _smaller, _larger))
declare((np.minimum, np.fmin), of_letters("ffz", _larger, _smaller))
declare((operator.mod, np.remainder, np.fmod, math.fmod, math.remainder), of_letters("ffz"))
declare((np.copysign, math.copysign), of_letters("fzz", never))
declare((np.ldexp, math.ldexp, np.nextafter, math.nextafter), of_letters("fzz"))
declare((abs, np.absolute, np.fabs, math.fabs), of_letters("f", never))
declare((
    operator.neg, operator.pos, np.negative, np.positive, np.conjugate, float, complex.conjugate,
    float.conjugate, np.float64, np.float32, np.complex128, np.real, np.imag, np.nan_to_num,
    np.ndarray.conj, np.ndarray.conjugate,
), of_letters("f", never))
declare((np.sign,), ZERO)
declare((np.modf, math.modf), LINEAR, ZERO)
declare((np.frexp, math.frexp), LINEAR, ZERO)
declare((divmod, np.divmod), of_letters("zzz"), of_letters("ffz"))
