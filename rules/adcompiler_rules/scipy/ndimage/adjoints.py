"""Rules of the runtime's adjoints for ``scipy.ndimage``: for tangents and second derivatives.

An adjoint is linear in the cotangent, and its own adjoint is the filter, with zeros for ``cval``.
"""

import numpy as np
import scipy.ndimage

from adcompiler.rulekit import call, non_differentiable, rrule
from adcompiler_rules.kernels.scipy_ndimage import (
    along_axis_adjoint, along_one, correlate_adjoints, edge_adjoint, gaussian_adjoint,
    gaussian_laplace_adjoint, laplace_adjoint, rank_adjoint, rank_choices, rank_tangent,
    uniform_adjoint,
)
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.scipy.samples import complex_normal

non_differentiable(along_one, rank_choices)


@rrule(along_axis_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 4)), [1, -2, 3], 0, "mirror"),
    call(rng.normal(size=(3, 4)), [3, -1], 1, "constant", -1),
])
def along_axis_adjoint_rule(g, weights, axis, mode, origin=0):
    def along_axis_adjoint_pullback(dy):
        return like(
            scipy.ndimage.correlate1d(dy, weights, axis, None, mode, 0.0, origin), g
        )

    return along_axis_adjoint(g, weights, axis, mode, origin), along_axis_adjoint_pullback


@rrule(gaussian_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 4)), 0.7, 0, "reflect", 4.0, None, None),
    call(rng.normal(size=(3, 4)), [0.7, 1.1], [0, 1], "constant", 3.0, None, None),
])
def gaussian_adjoint_rule(g, sigma, order, mode, truncate, radius, axes):
    def gaussian_adjoint_pullback(dy):
        return like(scipy.ndimage.gaussian_filter(
            dy, sigma, order, None, mode, 0.0, truncate, radius=radius, axes=axes
        ), g)

    y = gaussian_adjoint(g, sigma, order, mode, truncate, radius, axes)
    return y, gaussian_adjoint_pullback


@rrule(uniform_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 4)), 3, "wrap", 0, None),
    call(rng.normal(size=(3, 4)), (2, 1), "constant", (-1, 0), None),
])
def uniform_adjoint_rule(g, size, mode, origin, axes):
    def uniform_adjoint_pullback(dy):
        return like(
            scipy.ndimage.uniform_filter(dy, size, None, mode, 0.0, origin, axes=axes), g
        )

    return uniform_adjoint(g, size, mode, origin, axes), uniform_adjoint_pullback


@rrule(edge_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 4)), 0, "nearest", (1, 2, 1)),
    call(rng.normal(size=(3, 4)), -1, "constant", (1, 1, 1)),
])
def edge_adjoint_rule(g, axis, mode, across):
    def edge_adjoint_pullback(dy):
        if across[1] == 2:
            return like(scipy.ndimage.sobel(dy, axis, None, mode, 0.0), g)
        return like(scipy.ndimage.prewitt(dy, axis, None, mode, 0.0), g)

    return edge_adjoint(g, axis, mode, across), edge_adjoint_pullback


@rrule(laplace_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 4)), "wrap", None), call(rng.normal(size=5), "constant", None),
])
def laplace_adjoint_rule(g, mode, axes):
    def laplace_adjoint_pullback(dy):
        return like(scipy.ndimage.laplace(dy, None, mode, 0.0), g)

    return laplace_adjoint(g, mode, axes), laplace_adjoint_pullback


@rrule(gaussian_laplace_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 4)), 0.6, "mirror", None, 4.0),
])
def gaussian_laplace_adjoint_rule(g, sigma, mode, axes, truncate):
    def gaussian_laplace_adjoint_pullback(dy):
        return like(scipy.ndimage.gaussian_laplace(dy, sigma, None, mode, 0.0), g)

    y = gaussian_laplace_adjoint(g, sigma, mode, axes, truncate)
    return y, gaussian_laplace_adjoint_pullback


@rrule(correlate_adjoints, wrt=("g", "x", "weights"), domain=lambda rng: [
    call(rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), rng.normal(size=(2, 3)), "mirror", 0.0,
         0),
    call(rng.normal(size=4), rng.normal(size=4), rng.normal(size=3), "constant", 0.5, 1),
    call(complex_normal(rng, 4), complex_normal(rng, 4), complex_normal(rng, 2), "wrap", 0.0, 0),
])
def correlate_adjoints_rule(g, x, weights, mode, cval, origin):
    """The cotangents of a product; ``cval`` stands beyond ``x``, and does not move."""
    def correlate_adjoints_pullback(dots):
        dx, dw = dots[0], dots[1]
        dg = scipy.ndimage.correlate(dx, np.conj(weights), None, mode, 0.0, origin)
        dg = dg + scipy.ndimage.correlate(x, np.conj(dw), None, mode, cval, origin)
        moved_x, _ = correlate_adjoints(g, x, dw, mode, cval, origin)
        _, moved_w = correlate_adjoints(g, dx, weights, mode, 0.0, origin)
        return like(dg, g), like(moved_x, x), like(moved_w, weights)

    return correlate_adjoints(g, x, weights, mode, cval, origin), correlate_adjoints_pullback


def choices(rng):
    """Return elements chosen of windows of three, some of them two that are equal."""
    x = np.array([1.0, 3.0, 2.0, 2.0, 0.0])
    chosen = rank_choices(x, scipy.ndimage.maximum_filter(x, 3), 3, None, "reflect", 0.0, 0)
    lowest = scipy.ndimage.minimum_filter(x, 3, mode="constant", cval=1.0, origin=1)
    outside = rank_choices(x, lowest, 3, None, "constant", 1.0, 1)
    return [
        call(rng.normal(size=5), chosen, 3, None, "reflect", 0),
        call(rng.normal(size=5), outside, 3, None, "constant", 1),
    ]


@rrule(rank_adjoint, wrt=("g",), linear=(0,), domain=choices)
def rank_adjoint_rule(g, chosen, size, footprint, mode, origin):
    def rank_adjoint_pullback(dx):
        return like(rank_tangent(dx, chosen, size, footprint, mode, origin), g)

    return rank_adjoint(g, chosen, size, footprint, mode, origin), rank_adjoint_pullback


@rrule(rank_tangent, wrt=("d",), linear=(0,), domain=choices)
def rank_tangent_rule(d, chosen, size, footprint, mode, origin):
    def rank_tangent_pullback(g):
        return like(rank_adjoint(g, chosen, size, footprint, mode, origin), d)

    return rank_tangent(d, chosen, size, footprint, mode, origin), rank_tangent_pullback
