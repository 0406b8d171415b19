"""Rules of the reductions of ``scipy.special``: logarithms of sums of exponentials, and softmax."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc

from adcompiler.rulekit import Call, call, rrule
from adcompiler.runtime import project


def over_axes(rng: np.random.Generator) -> list[Call]:
    """Return samples reduced over every kind of axis."""
    a = rng.normal(size=(2, 3))
    return [
        call(a), call(a[0]), call(a, 0), call(a, axis=-1), call(rng.normal(size=(2, 3, 2)), (0, 2)),
        call(np.array([800.0, 801.0, -900.0])), call(a.T[::2], 1), call(0.7), call(np.float64(0.3)),
    ]


def expanded(value: Any, axis: Any, keepdims: bool) -> Any:
    """Return a reduced value, or its cotangent, in a shape that meets the unreduced one."""
    return value if keepdims or axis is None else np.expand_dims(value, axis)


SUM = np.exp(1j)
SIZE, SIGN = sc.logsumexp(np.array([1j]), return_sign=True)
SIGN_IS_PHASE = bool(np.isclose(SIGN, SUM))
"""Whether the sign of complex sums is their phase; with NumPy 1 it was that of the real part."""
SIGN_FITS = bool(np.isclose(SIGN * np.exp(SIZE), SUM))
"""Whether sign and logarithm are those of one sum; in SciPy 1.13 with NumPy 2 they are not."""


@rrule(sc.logsumexp, wrt=("a", "b"), domain=lambda rng: [
    *over_axes(rng), call(rng.normal(size=(2, 3)), 1, keepdims=True),
    call(rng.normal(size=(2, 3)), 1, rng.uniform(0.5, 1.5, (2, 3))),
    call(rng.normal(size=3), b=rng.uniform(0.5, 1.5, (2, 3))),
    call(np.array([0.3, 1.2]), b=np.array([-2.0, 0.5]), return_sign=True),
    call(rng.normal(size=(2, 3)), 0, rng.normal(size=(2, 3)), True, True),
    call(np.array([[-np.inf, 0.3], [1.2, 0.4]]), 1),
], kink="0 where all elements are -inf")
def logsumexp_rule(a, axis=None, b=None, keepdims=False, return_sign=False):
    """Differentiate ``log(abs(s))`` and ``s / abs(s)``, or ``log(s)``: ``s = sum(b * exp(a))``."""
    result = sc.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign)
    if return_sign and np.iscomplexobj(result[1]) and not SIGN_FITS:
        raise NotImplementedError(
            "scipy.special.logsumexp of complex numbers has a rule without return_sign="
        )

    def logsumexp_pullback(dy):
        if return_sign:
            y, sign = expanded(result[0], axis, keepdims), expanded(result[1], axis, keepdims)
            g = expanded(dy[0], axis, keepdims)
            if SIGN_IS_PHASE and np.iscomplexobj(sign):
                of_sign = np.real(np.conj(1j * sign) * expanded(dy[1], axis, keepdims))
                g = g + 1j * of_sign
            g = g / np.conj(sign + (sign == 0.0))
        else:
            y, g = expanded(result, axis, keepdims), expanded(dy, axis, keepdims)
        weights = np.conj(np.exp(a - np.where(y == -np.inf, 0.0, y))) * g
        if b is None:
            return project(weights, a), None
        return project(weights * np.conj(b), a), project(weights, b)

    return result, logsumexp_pullback


@rrule(sc.softmax, wrt=("x",), domain=over_axes)
def softmax_rule(x, axis=None):
    y = sc.softmax(x, axis)

    def softmax_pullback(dy):
        weighted = np.conj(y) * dy
        return project(weighted - np.conj(y) * np.sum(weighted, axis=axis, keepdims=True), x)

    return y, softmax_pullback


@rrule(sc.log_softmax, wrt=("x",), domain=over_axes)
def log_softmax_rule(x, axis=None):
    y = sc.log_softmax(x, axis)

    def log_softmax_pullback(dy):
        return project(dy - np.conj(np.exp(y)) * np.sum(dy, axis=axis, keepdims=True), x)

    return y, log_softmax_pullback
