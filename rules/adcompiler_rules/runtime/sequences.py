"""Rules of the adjoints of functions of Python sequences: what derivatives of derivatives need.

Each is linear in the cotangent that it gets.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.rulekit import call, rrule
from adcompiler.runtime import as_tangent, project
from adcompiler.runtime.adjoints.sequences import like, share, spread, sum_repeats, unsort
from adcompiler_rules.kernels.sequences import (
    at_ranks, at_ranks_adjoint, deviations, other_products_along, repeats, scale,
    scale_other_products, scale_other_products_adjoint, share_adjoint, spread_adjoint,
)


@rrule(like, wrt=("items",), templates=("x",), linear=(0,), domain=lambda rng: [
    call([1.5, 0.5], [0.0, 0.0]), call([1.5, 0.5], (0.0, 0.0)), call([1.5, 0.5], np.zeros(2)),
    call([rng.normal(size=2), 0.5], [np.zeros(2), 0.0]), call([], []),
])
def like_rule(items: Any, x: Any) -> Any:
    """The items in a sequence as ``x`` is."""

    def like_pullback(dy: Any) -> Any:
        return as_tangent(dy, items)

    return like(items, x), like_pullback


@rrule(spread, wrt=("g",), templates=("x",), linear=(0,), domain=lambda rng: [
    call(1.5, [0.0, 0.0]), call(1.5, np.zeros(3)), call(rng.normal(size=2), (np.zeros(2), 0.0)),
    call(0.5, []),
])
def spread_rule(g: Any, x: Any) -> Any:
    """``g`` for every item of ``x``."""

    def spread_pullback(dy: Any) -> Any:
        return spread_adjoint(dy, g)

    return spread(g, x), spread_pullback


@rrule(spread_adjoint, wrt=("dy",), templates=("g",), linear=(0,), domain=lambda rng: [
    call([1.5, 0.5], 0.0), call(rng.normal(size=3), 0.0),
])
def spread_adjoint_rule(dy: Any, g: Any) -> Any:
    """The sum of the items."""

    def spread_adjoint_pullback(dz: Any) -> Any:
        return spread(dz, dy)

    return spread_adjoint(dy, g), spread_adjoint_pullback


@rrule(share, wrt=("g",), templates=("x", "y"), linear=(0,), domain=lambda rng: [
    call(1.5, [1, 3], 3), call(1.5, (3, 3), 3), call(1.5, np.array([1, 3]), 3),
])
def share_rule(g: Any, x: Any, y: Any) -> Any:
    """``g`` for the items that are ``y``."""

    def share_pullback(dy: Any) -> Any:
        return project(share_adjoint(dy, x, y), g)

    return share(g, x, y), share_pullback


@rrule(share_adjoint, wrt=("dy",), templates=("x", "y"), linear=(0,), domain=lambda rng: [
    call([1.5, 0.5], [1, 3], 3), call((1.5, 0.5), (3, 3), 3),
    call(rng.normal(size=2), np.array([1, 3]), 3),
])
def share_adjoint_rule(dy: Any, x: Any, y: Any) -> Any:
    """The mean of the items where ``x`` is ``y``."""

    def share_adjoint_pullback(dz: Any) -> Any:
        return project(share(dz, x, y), dy)

    return share_adjoint(dy, x, y), share_adjoint_pullback


@rrule(unsort, wrt=("g",), templates=("x",), linear=(0,), domain=lambda rng: [
    call([1.5, 0.5, 2.5], [2, 0, 1], [0.0, 0.0, 0.0]), call([1.5, 0.5], [1, 0], (0.0, 0.0)),
    call([1.5, 0.5], [1, 0], np.zeros(2)), call([], [], []),
])
def unsort_rule(g: Any, order: Any, x: Any) -> Any:
    """The items put back where they came from."""

    def unsort_pullback(dy: Any) -> Any:
        return project([dy[i] for i in order], g)

    return unsort(g, order, x), unsort_pullback


@rrule(at_ranks, wrt=("g",), templates=("data",), linear=(0,), domain=lambda rng: [
    call(1.5, [2.5, 0.5, 1.5], [0, 1]), call(1.5, (2.5, 0.5), [1]),
])
def at_ranks_rule(g: Any, data: Any, ranks: Any) -> Any:
    """``g`` for the items of some ranks."""

    def at_ranks_pullback(dy: Any) -> Any:
        return project(at_ranks_adjoint(dy, data, ranks), g)

    return at_ranks(g, data, ranks), at_ranks_pullback


@rrule(at_ranks_adjoint, wrt=("dy",), templates=("data",), linear=(0,), domain=lambda rng: [
    call([1.5, 0.5, 2.5], [2.5, 0.5, 1.5], [0, 1]), call((1.5, 2.5), (2.5, 0.5), [1]),
])
def at_ranks_adjoint_rule(dy: Any, data: Any, ranks: Any) -> Any:
    """The sum of the items of some ranks."""

    def at_ranks_adjoint_pullback(dz: Any) -> Any:
        return project(at_ranks(dz, data, ranks), dy)

    return at_ranks_adjoint(dy, data, ranks), at_ranks_adjoint_pullback


@rrule(as_tangent, wrt=("d",), templates=("x",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=3), np.zeros((2, 3))), call(1.5, np.zeros(3)), call(1.5, 0.5),
    call(rng.normal(size=3) + 1j, np.zeros(3)), call([1.5, 0.5], [0.0, 0.0]),
    call({"a": 1.5}, {"a": 0.0}),
])
def as_tangent_rule(d: Any, x: Any) -> Any:
    """``d`` stretched and cast to the form of ``x``."""

    def as_tangent_pullback(dy: Any) -> Any:
        return project(dy, d)

    return as_tangent(d, x), as_tangent_pullback


@rrule(scale, domain=lambda rng: [
    call(1.5, [0.5, 2.5]), call(1.5, (0.5, 2.5)), call(0.5, rng.normal(size=3)),
    call(1.5 + 1j, [0.5 - 2j, 2.5j]), call(1.5, []),
])
def scale_rule(factor: Any, x: Any) -> Any:
    """``y = factor conj(x)``, so ``dfactor = sum(x dy)`` and ``dx = conj(dy) factor``."""

    def scale_pullback(dy: Any) -> Any:
        total = 0.0
        for a, d in zip(x, dy, strict=True):
            total = total + a * d
        return project(total, factor), scale(factor, dy)

    return scale(factor, x), scale_pullback


@rrule(scale_other_products, domain=lambda rng: [
    call(1.5, [0.5, 2.5, -1.5]), call(1.5, (0.0, 2.5)), call(0.5, rng.normal(size=3)),
    call(1.5 + 1j, [0.5 - 2j, 2.5j]), call(1.5, [0.5]),
])
def scale_other_products_rule(factor: Any, x: Any) -> Any:
    """``y = factor conj(product of the others)``."""

    def scale_other_products_pullback(dy: Any) -> Any:
        along = other_products_along(dy, x)
        return project(along, factor), scale_other_products_adjoint(dy, factor, x)

    return scale_other_products(factor, x), scale_other_products_pullback


@rrule(deviations, domain=lambda rng: [
    call(1.5, [0.5, 2.5, -1.5]), call(1.5, (0.0, 2.5)), call(0.5, rng.normal(size=3)),
])
def deviations_rule(factor: Any, data: Any) -> Any:
    """``factor (x - mean)``; taking deviations is its own adjoint."""

    def deviations_pullback(dy: Any) -> Any:
        total = 0.0
        for a, d in zip(deviations(1.0, data), dy, strict=True):
            total = total + a * d
        return project(total, factor), like(deviations(factor, dy), data)

    return deviations(factor, data), deviations_pullback


@rrule(sum_repeats, wrt=("g",), templates=("x",), linear=(0,), domain=lambda rng: [
    call([1.5, 0.5, 2.5, -1.5], [0.0, 0.0]), call((1.5, 0.5), (0.0,)),
    call([1.5, rng.normal(size=2), 0.5, rng.normal(size=2)], [0.0, np.zeros(2)]),
])
def sum_repeats_rule(g: Any, x: Any) -> Any:
    """The sum of the repeats of each item."""

    def sum_repeats_pullback(dy: Any) -> Any:
        return repeats(dy, g)

    return sum_repeats(g, x), sum_repeats_pullback


@rrule(repeats, wrt=("dy",), templates=("g",), linear=(0,), domain=lambda rng: [
    call([1.5, 0.5], [0.0, 0.0, 0.0, 0.0]), call((1.5,), (0.0, 0.0)),
])
def repeats_rule(dy: Any, g: Any) -> Any:
    """The items again and again."""

    def repeats_pullback(dz: Any) -> Any:
        return sum_repeats(dz, dy)

    return repeats(dy, g), repeats_pullback
