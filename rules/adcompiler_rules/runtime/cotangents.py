"""Rules of the runtime functions that shape cotangents: what derivatives of derivatives need.

Each is linear in the cotangent ``g``; its adjoint gives a cotangent of the result its form.
"""

from __future__ import annotations

import numpy as np

from adcompiler.rulekit import Call, call, non_differentiable, rrule
from adcompiler.runtime import (
    add, as_cotangent, as_gradient, last_written, project, repack, scatter, seed, unbroadcast,
    unit_vectors, unpack, zeros_like,
)
from adcompiler.runtime.containers import dict_of, dict_of_adjoint
from adcompiler.runtime.adjoints.shaping import laid_out_as

non_differentiable(zeros_like)
non_differentiable(seed, pure=False)
non_differentiable(unit_vectors, pure=False)


def _forms(rng: np.random.Generator) -> list[Call]:
    """Return cotangents with values of other shapes, kinds and precisions."""
    x = rng.normal(size=(2, 3))
    return [
        call(x, np.zeros((2, 3))), call(x + 1j, np.zeros((2, 3))), call(1.5, 2.5),
        call(1.5 + 0.5j, 2.5), call([1.5, x], [0.5, np.zeros((2, 3))]),
        call((0.5, 1.5), (1.0, 2.0)), call({"a": 1.5, 0: x}, {"a": 0.5, 0: np.zeros((2, 3))}),
        call(np.empty((0, 2)), np.empty((0, 2))),
    ]


@rrule(project, wrt=("g",), templates=("x",), linear=(0,), domain=lambda rng: [
    *_forms(rng), call(rng.normal(size=(2, 3)), np.zeros((1, 3))),
    call(rng.normal(size=(2, 3)), np.zeros(3)), call(rng.normal(size=(2, 3)), 0.5),
    call(1.5, np.zeros(3)),
])
def project_rule(g, x):
    """``g`` summed and cast to the form of ``x``."""

    def project_pullback(dy):
        return project(dy, g)

    return project(g, x), project_pullback


@rrule(as_gradient, wrt=("g",), templates=("x",), linear=(0,), domain=lambda rng: [
    *_forms(rng), call(1.5, np.zeros(3)),
])
def as_gradient_rule(g, x):
    """``g`` in the form that the user gets."""

    def as_gradient_pullback(dy):
        return project(dy, g)

    return as_gradient(g, x), as_gradient_pullback


@rrule(as_cotangent, wrt=("g",), templates=("y",), linear=(0,), domain=_forms)
def as_cotangent_rule(g, y):
    """``g`` in the form that emitted code takes."""

    def as_cotangent_pullback(dy):
        return project(dy, g)

    return as_cotangent(g, y), as_cotangent_pullback


@rrule(unbroadcast, wrt=("g",), templates=("shape",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), (2, 3)), call(rng.normal(size=(2, 3)), (1, 3)),
    call(rng.normal(size=(2, 3)), (3,)), call(rng.normal(size=(2, 3)), ()),
    call(rng.normal(size=3), (2, 3)), call(1.5, (3,)), call(rng.normal(size=(2, 1, 3)), (4, 1)),
    call(rng.normal(size=(0, 3)), (3,)), call(rng.normal(size=(1, 3)), (0, 3)),
])
def unbroadcast_rule(g, shape):
    """``g`` summed to ``shape``."""
    g_shape = np.shape(g)

    def unbroadcast_pullback(dy):
        whole = np.broadcast_to(dy, np.broadcast_shapes(g_shape, shape))
        return project(whole, g)

    return unbroadcast(g, shape), unbroadcast_pullback


@rrule(add, wrt=("a", "b"), linear=(0, 1), domain=lambda rng: [
    call(1.5, 2.5), call(rng.normal(size=3), rng.normal(size=3)),
    call([1.5, rng.normal(size=2)], [0.5, rng.normal(size=2)]), call((0.5,), (1.5,)),
    call({"a": 1.5}, {"a": 0.5, "b": 2.5}),
])
def add_rule(a, b):
    """The sum of two cotangents."""

    def add_pullback(dy):
        return project(dy, a), project(dy, b)

    return add(a, b), add_pullback


@rrule(repack, wrt=("parts",), templates=("value",), linear=(0,), domain=lambda rng: [
    call((1.5, 2.5), (0.5, 0.5)), call((1.5, [0.5, 2.5]), [0.0, 0.0, 0.0], 1),
    call((1.5, 2.5, 0.5), np.zeros(3)), call(tuple(rng.normal(size=(2, 3))), np.zeros((2, 3))),
])
def repack_rule(parts, value, star=-1):
    """The cotangents of what ``value`` was unpacked to, as one of ``value``."""

    def repack_pullback(dy):
        return project(unpack(dy, len(parts), star), parts)

    return repack(parts, value, star), repack_pullback


@rrule(dict_of_adjoint, wrt=("g",), templates=("values",), linear=(0,), domain=lambda rng: [
    call({"a": 1.5, "b": rng.normal(size=2)}, ["a", "b"], [0.5, np.zeros(2)]),
    call({"a": 1.5}, ["a", "a"], [0.5, 0.5]),
])
def dict_of_adjoint_rule(g, keys, values):
    """Of equal keys the last has the value."""

    def dict_of_adjoint_pullback(dy):
        return dict_of(keys, dy)

    return dict_of_adjoint(g, keys, values), dict_of_adjoint_pullback


@rrule(last_written, wrt=("g",), templates=("index", "x"), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=3), np.array([0, 2, 0]), np.zeros(3)),
    call(rng.normal(size=(2, 3)), slice(None), np.zeros((2, 3))),
])
def last_written_rule(g, index, x):
    """``g`` without the elements that others take the place of: a choice, its own adjoint."""

    def last_written_pullback(dy):
        return project(last_written(dy, index, x), g)

    return last_written(g, index, x), last_written_pullback


@rrule(scatter, wrt=("g",), templates=("index", "x"), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=3), np.array([0, 2, 0]), np.zeros(3)), call(1.5, (1, 2), np.zeros((2, 3))),
    call(rng.normal(size=2), slice(1, 3), np.zeros(3)),
])
def scatter_rule(g, index, x):
    """Zeros with ``g`` added at ``index``."""

    def scatter_pullback(dy):
        return project(dy[index], g)

    return scatter(g, index, x), scatter_pullback


@rrule(laid_out_as, wrt=("g",), templates=("x",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), np.zeros((2, 3))), call(rng.normal(size=(2, 3)),
                                                         np.zeros((3, 2)).T),
])
def laid_out_as_rule(g, x):
    """``g`` in other places of memory."""

    def laid_out_as_pullback(dy):
        return laid_out_as(dy, g)

    return laid_out_as(g, x), laid_out_as_pullback
