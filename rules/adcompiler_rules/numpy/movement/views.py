"""Rules of views by strides and subscripts, and the types of those that derivatives write through.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from adcompiler.rulekit import call, facts, non_differentiable, rrule
from adcompiler_rules.kernels.gathering import strided_positions, take_adjoint
from adcompiler_rules.kernels.padding import windows_adjoint
from adcompiler.runtime.adjoints.shaping import (
    diagonal_view, in_place_of, laid_out_as, like, reshape_view,
)
from adcompiler_rules.kernels.shaping import diagonal_view_adjoint


non_differentiable(strided_positions, reads_layout=True)


@rrule(as_strided, wrt=("x",), domain=lambda rng: [  # strides count bytes: of floats of any size
    call(rng.normal(size=4)), call(rng.normal(size=4), (2,)), call(rng.normal(size=(3, 4)), (2, 3)),
    call(rng.normal(size=4), (3,), (0,)), call(rng.normal(size=4), shape=(0, 3), strides=(8, 8)),
    call(np.float64(1.5), (3,), (0,)), call(rng.normal(size=(2, 2)) + 1j, (2, 1)),
])
def as_strided_rule(x, shape=None, strides=None, subok=False, writeable=True):
    """Differentiate what only gathers elements: memory that is none of ``x`` has no derivative."""
    x_shape, positions = np.shape(x), strided_positions(x, shape, strides)

    def as_strided_pullback(dy):
        return like(take_adjoint(dy, x_shape, positions, None), x)

    return as_strided(x, shape, strides, subok, writeable), as_strided_pullback


@rrule(diagonal_view, wrt=("x",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 3)), "ii->i"), call(rng.normal(size=(2, 3)), "ij->ji"),
    call(rng.normal(size=(2, 3, 2, 3)), "ijij->ji"),
    call(rng.normal(size=(2, 2, 3)) + 1j, "iij->ij"),
])
def diagonal_view_rule(x, subscripts):
    x_shape = x.shape

    def diagonal_view_pullback(dy):
        return like(diagonal_view_adjoint(dy, x_shape, subscripts), x)

    return diagonal_view(x, subscripts), diagonal_view_pullback


@rrule(diagonal_view_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=3), (3, 3), "ii->i"), call(rng.normal(size=(3, 2)), (2, 3), "ij->ji"),
])
def diagonal_view_adjoint_rule(g, shape, subscripts):
    def diagonal_view_adjoint_pullback(dy):
        return like(diagonal_view(dy, subscripts), g)

    return diagonal_view_adjoint(g, shape, subscripts), diagonal_view_adjoint_pullback


# --- types ----------------------------------------------------------------------------------------


def of_view(x: Any, where: str, *shape: Any, order: str = "C") -> Any:
    """Return an array as ``reshape_view`` does: flat where no shape is given."""
    axes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    return np.empty((1,) * (len(axes) if shape else 1), np.asarray(x).dtype)


def of_argument(g: Any, shape: Any, *rest: Any, **more: Any) -> Any:
    """Return the cotangent of an array of ``shape``."""
    return np.empty((1,) * len(shape), np.asarray(g).dtype)


def laid_out(g: Any, x: Any) -> Any:
    """Return what is only laid out in another way."""
    return g


def of_positions(x: Any, shape: Any, strides: Any) -> Any:
    """Return the positions of elements in an array of that shape."""
    axes = np.ndim(x) if shape is None else len(shape) if isinstance(shape, tuple) else 1
    return np.empty((1,) * axes, np.intp)


facts(strided_positions, typed_as=of_positions)
facts(reshape_view, typed_as=of_view)
facts(laid_out_as, in_place_of, typed_as=laid_out)
facts(windows_adjoint, diagonal_view_adjoint, typed_as=of_argument)
facts(diagonal_view_adjoint, shares="none")
