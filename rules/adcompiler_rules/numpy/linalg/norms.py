"""Rules of the norms of vectors and matrices, and of traces."""

from __future__ import annotations

import numpy as np

from adcompiler.rulekit import Call, alias, call, rrule
from adcompiler.runtime.adjoints.kinks import first_derivative
from adcompiler_rules.kernels.reductions import matrix_norm_adjoint, matrix_norm_curvature
from adcompiler.runtime.adjoints.shaping import like

TIES = "elements that tie share the derivative evenly"


def norm_samples(rng: np.random.Generator) -> list[Call]:
    """Return norms of vectors and matrices of every order, zero vectors among them."""
    x = rng.normal(size=(2, 3, 4))
    z = x[0] + 1j * x[1]
    zeros = np.array([[0.0, 0.0], [1.5, 0.0]])
    orders = (None, 1, 2, 3, 2.5, 0.5, 0, -1.5, np.inf, -np.inf)
    matrix_orders = ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
    return [
        call(x), call(x[0]), call(x[0, 0]), call(z), call(x, keepdims=True), call([0.5, 1.5]),
        call(x, axis=(0, 2)), call(zeros, axis=1), call(zeros[0]), call(zeros[1], 3),
        call(zeros[1], 1),
        call(x, None, 1, True), call(np.array([[0.0] * 3, [1.5, 0.0, 0.7]]), 1.5, axis=1),
        *[call(x[0, 0], order) for order in orders],
        *[call(z[0], order) for order in orders],
        *[call(x, order, axis=1) for order in orders],
        *[call(x, order, axis=-1, keepdims=True) for order in orders],
        *[call(x[0], order) for order in matrix_orders],
        *[call(z, order) for order in matrix_orders],
        *[call(x, order, axis=(2, 0)) for order in matrix_orders],
        *[call(x, order, axis=(0, 1), keepdims=True) for order in matrix_orders],
    ]


def slope_in_order(x, norm, ord, axis):
    """Return the derivative of norms in their order ``p``: ``norm / p * sum(r**p * log(r))``.

    ``r`` are the sizes of the elements, over the norm: of ``log(sum(s**p)) / p``, as ``sum(r**p)``
    is 1. It is 0 where the order is 0 or infinite.
    """
    size = np.abs(x)
    counted = (size > 0.0) & (norm > 0.0)
    ratio = np.where(counted, size, 1.0) / np.where(counted, norm, 1.0)
    if ord == 0 or abs(ord) == np.inf:
        return 0.0 * norm
    terms = np.where(counted, ratio**ord * np.log(ratio), 0.0)
    return norm * np.sum(terms, axis=axis, keepdims=True) / ord


def slope_in_elements(x, norm, slope, ord, axis):
    """Return the cotangent of the elements of vectors, of which ``slope`` is that of the norms."""
    size = np.abs(x)
    if ord == 0:
        return np.zeros_like(x)
    if abs(ord) == np.inf:
        tied = size == norm
        count = np.count_nonzero(tied, axis=axis, keepdims=True)
        return along(x, size, like(slope / count, slope) * tied)
    if ord >= 2:  # twice differentiable where an element is 0
        total = norm + (norm == 0.0)
        return first_derivative(slope * (x / total) * (size / total) ** (ord - 2), slope, norm)
    if isinstance(ord, int) and ord == 1:
        return along(x, size, slope)
    ratio = (size + (size == 0.0)) / (norm + (norm == 0.0))
    dx = along(x, size, slope * ratio ** (ord - 1))
    return dx if ord == 1 else first_derivative(dx, slope, size)


def along(x, size, slope):
    """Return ``slope`` times elements over their sizes: signs, which are constant, of real ones."""
    if np.iscomplexobj(x):
        return first_derivative(slope * (x / (size + (size == 0.0))), slope, size)
    return slope * np.sign(x)


@rrule(np.linalg.norm, wrt=("x", "ord"), domain=norm_samples,
       kink="0 at the origin, and in the elements that are 0; " + TIES)
def norm_rule(x, ord=None, axis=None, keepdims=False):
    y = np.linalg.norm(x, ord, axis, keepdims)
    if axis is not None and not isinstance(axis, tuple):
        axis = int(axis)  # as NumPy does: 1.5 is 1

    def norm_pullback(dy):
        elements = x if isinstance(x, np.ndarray) else np.asarray(x)
        vector = isinstance(axis, int) or (axis is None and np.ndim(x) == 1)
        fixed = ord is None or isinstance(ord, (str, int))  # others may be differentiated
        slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
        norm = y if keepdims or axis is None else np.expand_dims(y, axis)

        def x_cotangent():
            if ord is None or ord == "fro" or (vector and fixed and ord == 2):
                dx = elements * (slope / (norm + (norm == 0.0)))
                dx = first_derivative(dx, slope, norm)
            elif vector:
                dx = slope_in_elements(elements, norm, slope, ord, axis)
            else:
                dx = matrix_norm_adjoint(dy, x, ord, (0, 1) if axis is None else axis, keepdims)
            return like(dx, x)

        def ord_cotangent():
            if fixed:
                return None
            if not vector and abs(ord) != np.inf:
                raise NotImplementedError("norms of matrices have no derivative in their order")
            if not vector:
                return like(0.0, ord)
            return like(np.sum(slope * slope_in_order(elements, norm, ord, axis)), ord)

        return x_cotangent, ord_cotangent

    return y, norm_pullback


@rrule(matrix_norm_adjoint, wrt=("dy", "x"), linear=(0,), domain=lambda rng: [
    call(1.5, rng.normal(size=(2, 3)), 1, (0, 1), False),
    call(1.5, rng.normal(size=(2, 3)), -2, (1, 0), False),
    call(1.5, rng.normal(size=(3, 2)), 2, (0, 1), False),
    call(rng.normal(size=(2, 1, 1)), rng.normal(size=(2, 3, 3)), "nuc", (-2, -1), True),
    call(rng.normal(size=2), rng.normal(size=(2, 3, 3)) + 1j, 2, (-2, -1), False),
])
def matrix_norm_adjoint_rule(dy, x, ord, axis, keepdims):
    """A product of ``dy`` and what does not depend on it."""
    def matrix_norm_adjoint_pullback(v):
        slope = matrix_norm_adjoint(np.ones_like(dy), x, ord, axis, keepdims)
        rate = np.sum(np.conj(slope) * v, axis=axis, keepdims=keepdims)

        def x_cotangent():
            if np.iscomplexobj(x) and ord not in ("nuc", 2, -2):
                raise NotImplementedError(
                    "norms of complex matrices that are sums have no second derivative"
                )
            sizes = dy if keepdims else np.expand_dims(dy, axis)
            return like(matrix_norm_curvature(np.conj(sizes) * v, x, ord, axis), x)

        return like(rate, dy), x_cotangent

    return matrix_norm_adjoint(dy, x, ord, axis, keepdims), matrix_norm_adjoint_pullback


@rrule(matrix_norm_curvature, wrt=("v",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), 2, (0, 1)),
    call(rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), "nuc", (0, 1)),
    call(rng.normal(size=(2, 3, 3)), rng.normal(size=(2, 3, 3)), -2, (-1, -2)),
])
def matrix_norm_curvature_rule(v, x, ord, axis):
    """A second derivative is symmetric."""
    def matrix_norm_curvature_pullback(w):
        return like(matrix_norm_curvature(w, x, ord, axis), v)

    return matrix_norm_curvature(v, x, ord, axis), matrix_norm_curvature_pullback


if hasattr(np.linalg, "vector_norm"):  # NumPy 2.0
    @rrule(np.linalg.vector_norm, wrt=("x", "ord"), domain=lambda rng: [
        *[call(rng.normal(size=(2, 3)), ord=order) for order in (0, 1, 2, 3, 0.5, np.inf, -np.inf)],
        *[call(rng.normal(size=(2, 3)), axis=1, ord=order, keepdims=True)
          for order in (2, 3, np.inf)],
        call(rng.normal(size=(2, 3, 4)), axis=(0, 2)), call(np.zeros(2)),
        call(rng.normal(size=3) + 1j),
        call(rng.normal(size=(2, 3, 4)), axis=(0, -1), ord=1),
        call(rng.normal(size=(2, 3)), axis=-2),
    ], kink="0 at the origin, and in the elements that are 0; " + TIES)
    def vector_norm_rule(x, *, axis=None, keepdims=False, ord=2):
        y = np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)

        def vector_norm_pullback(dy):
            fixed = isinstance(ord, int)
            slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
            norm = y if keepdims or axis is None else np.expand_dims(y, axis)

            def x_cotangent():
                if fixed and ord == 2:
                    dx = x * (slope / (norm + (norm == 0.0)))
                    dx = first_derivative(dx, slope, norm)
                else:
                    dx = slope_in_elements(x, norm, slope, ord, axis)
                return like(dx, x)

            def ord_cotangent():
                if fixed:
                    return None
                return like(np.sum(slope * slope_in_order(x, norm, ord, axis)), ord)

            return x_cotangent, ord_cotangent

        return y, vector_norm_pullback

    @rrule(np.linalg.matrix_norm, domain=lambda rng: [
        *[call(rng.normal(size=(2, 3)), ord=order)
          for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)],
        call(rng.normal(size=(4, 2, 3))),
        call(rng.normal(size=(4, 2, 3)), ord="nuc", keepdims=True),
        call(rng.normal(size=(4, 2, 3)), keepdims=True), call(np.zeros((2, 2))),
    ], kink="the Frobenius norm is 0 at the origin")
    def matrix_norm_rule(x: np.ndarray, *, keepdims=False, ord="fro"):
        y = np.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)

        def matrix_norm_pullback(dy):
            if ord == "fro":
                slope = dy if keepdims else np.expand_dims(dy, (-2, -1))
                norm = y if keepdims else np.expand_dims(y, (-2, -1))
                dx = x * (slope / (norm + (norm == 0.0)))
                dx = first_derivative(dx, slope, norm)
            else:
                dx = matrix_norm_adjoint(dy, x, ord, (-2, -1), keepdims)
            return like(dx, x)

        return y, matrix_norm_pullback


@rrule(np.trace, wrt=("a",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 3))), call(rng.normal(size=(2, 4)), 1),
    call(rng.normal(size=(4, 2)), -1),
    call(rng.normal(size=(2, 3, 4))), call(rng.normal(size=(2, 3, 4)), 0, 1, 2),
    call(rng.normal(size=(2, 3, 4)), offset=1, axis1=-1, axis2=0),
    call(rng.normal(size=(2, 2)) + 1j),
    call(rng.normal(size=(2, 2)), 5), call(rng.normal(size=(3, 2, 2, 3)), axis1=3, axis2=0),
])
def trace_rule(a: np.ndarray, offset=0, axis1=0, axis2=1, dtype=None):
    y = np.trace(a, offset, axis1, axis2, dtype)

    def trace_pullback(dy):
        ones = np.eye(np.shape(a)[axis1], np.shape(a)[axis2], offset, dtype=np.asarray(a).dtype)
        if np.ndim(a) == 2 and axis1 == 0 and axis2 == 1:
            da = dy * ones
        else:
            da = np.moveaxis(np.expand_dims(dy, (-2, -1)) * ones, (-2, -1), (axis1, axis2))
        return like(da, a)

    return y, trace_pullback


if hasattr(np.linalg, "vector_norm"):  # NumPy 2.0
    @rrule(np.linalg.trace, linear=(0,), domain=lambda rng: [
        call(rng.normal(size=(3, 3))), call(rng.normal(size=(4, 2, 3)), offset=-1),
        call(rng.normal(size=(2, 3)), offset=1),
    ])
    def linalg_trace_rule(x: np.ndarray, *, offset=0, dtype=None):
        y = np.linalg.trace(x, offset=offset, dtype=dtype)

        def linalg_trace_pullback(dy):
            ones = np.eye(np.shape(x)[-2], np.shape(x)[-1], offset, dtype=np.asarray(x).dtype)
            return like(np.expand_dims(dy, (-2, -1)) * ones, x)

        return y, linalg_trace_pullback


alias(np.ndarray.trace, np.trace)
