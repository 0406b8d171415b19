"""Rules of values at kinks, where the derivative of a norm is 0 by convention."""

from __future__ import annotations

import numpy as np

from adcompiler.rulekit import rrule
from adcompiler.runtime import project
from adcompiler.runtime.adjoints.kinks import (
    differentiated_as,
    first_derivative,
    logistic_of,
    square_of,
    square_of_norm,
)
from adcompiler_rules.kernels.sequences import scale
from adcompiler.runtime.adjoints.shaping import like


@rrule(square_of, wrt=("y", "*coordinates"))
def square_of_rule(y, *coordinates):
    """The gradient of a sum of squares is smooth where that of its root is not."""

    def square_of_pullback(dy):
        slope = 2.0 * dy
        if len(coordinates) == 1:
            return None, (project(slope * coordinates[0], coordinates[0]),)
        if len(coordinates) == 2:
            x, z = coordinates
            return None, (project(slope * x, x), project(slope * z, z))
        return None, scale(slope, coordinates)

    return y, square_of_pullback


@rrule(square_of_norm, wrt=("y", "x"))
def square_of_norm_rule(y, x, axis, keepdims):
    """The gradient of the sum of ``abs(x)**2`` is ``2 x``."""

    def square_of_norm_pullback(dy):
        slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
        elements = x if isinstance(x, np.ndarray) else np.asarray(x)
        return None, like(elements * (2.0 * slope), x)

    return y, square_of_norm_pullback


@rrule(differentiated_as, wrt=("y", "smooth"))
def differentiated_as_rule(y, smooth):
    """All goes to what is smooth."""

    def differentiated_as_pullback(dy):
        return None, dy

    return y, differentiated_as_pullback


@rrule(logistic_of, wrt=("y", "x"))
def logistic_of_rule(y, x):
    """``y * (y - 1)``, of the value alone: 0 at both ends."""

    def logistic_of_pullback(dy):
        return None, -(dy * y * (1.0 - y))

    return y, logistic_of_pullback


@rrule(first_derivative, wrt=("g", "dy", "size"))
def first_derivative_rule(g, dy, size):
    """``dy`` times a derivative whose own derivative in ``size`` does not exist at 0."""

    def first_derivative_pullback(v):
        def size_cotangent():
            if np.ndim(size) == 0 and np.ndim(dy) == 0:
                at_kink = size == 0.0 and dy != 0.0
            else:
                at_kink = np.any((size == 0.0) & (dy != 0.0))
            if at_kink:
                raise NotImplementedError(
                    "a norm has no second derivative at 0, where its first one is 0 by convention"
                )
            return None

        return first_derivative(v, v, size), None, size_cotangent

    return g, first_derivative_pullback
