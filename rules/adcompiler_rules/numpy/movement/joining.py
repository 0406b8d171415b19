"""Rules for NumPy functions that join arrays into one, or split one into several."""

from collections.abc import Sequence
from typing import Any
import numpy as np

from adcompiler.rulekit import alias, call, rrule
from adcompiler.runtime.adjoints.joining import (
    column_stack_adjoint, concatenate_adjoint, dstack_adjoint, hstack_adjoint, stack_adjoint,
    vstack_adjoint,
)
from adcompiler_rules.kernels.shaping import block_adjoint, meshgrid_adjoint, split_adjoint
from adcompiler.runtime.adjoints.shaping import like

# --- joining --------------------------------------------------------------------------------------


@rrule(np.concatenate, wrt=("arrays",), linear=(0,), domain=lambda rng: [
    call([rng.normal(size=(2, 3)), rng.normal(size=(1, 3)), rng.normal(size=(0, 3))]),
    call((rng.normal(size=(2, 3)), rng.normal(size=(2, 1))), axis=1),
    call([rng.normal(size=(2, 3, 1)), rng.normal(size=(2, 2, 1))], -2),
    call([rng.normal(size=(2, 3)), rng.normal(size=2), 0.5], axis=None),
    call([rng.normal(size=3), np.array([0.5, 1.5], np.float32), rng.normal(size=2) + 1j]),
    call([[0.5, 1.5], (2.5,), rng.normal(size=2)]),
    call(rng.normal(size=(2, 3, 4)), axis=1),
    call([rng.normal(size=3), np.array([1, 2])]),
    call([rng.normal(size=3)]),
])
def concatenate(arrays: Sequence[Any], axis=0, *, dtype=None, casting="same_kind"):
    def concatenate_pullback(dy):
        return concatenate_adjoint(dy, arrays, axis)

    return np.concatenate(arrays, axis=axis, dtype=dtype, casting=casting), concatenate_pullback


@rrule(np.stack, wrt=("arrays",), linear=(0,), domain=lambda rng: [
    call([rng.normal(size=(2, 3)), rng.normal(size=(2, 3))]),
    call((rng.normal(size=(2, 3)), rng.normal(size=(2, 3))), axis=-1),
    call([rng.normal(size=(2, 0)), rng.normal(size=(2, 0))], axis=1),
    call([rng.normal(size=2), [0.5, 1.5], rng.normal(size=2) + 1j], 1),
    call([0.5, 1.5, np.array(2.5), 1]),
    call(rng.normal(size=(2, 3, 4)), axis=1),
])
def stack(arrays: Sequence[Any], axis=0, *, dtype=None, casting="same_kind"):
    def stack_pullback(dy):
        return stack_adjoint(dy, arrays, axis)

    return np.stack(arrays, axis=axis, dtype=dtype, casting=casting), stack_pullback


@rrule(np.vstack, wrt=("tup",), linear=(0,), domain=lambda rng: [
    call([rng.normal(size=3), rng.normal(size=(2, 3))]),
    call((rng.normal(size=3), [0.5, 1.5, 2.5])),
    call([rng.normal(size=(0, 3)), rng.normal(size=(2, 3))]),
    call([0.5, 1.5]),
    call(rng.normal(size=(2, 3))),
])
def vstack(tup: Sequence[Any], *, dtype=None, casting="same_kind"):
    def vstack_pullback(dy):
        return vstack_adjoint(dy, tup)

    return np.vstack(tup, dtype=dtype, casting=casting), vstack_pullback


@rrule(np.hstack, wrt=("tup",), linear=(0,), domain=lambda rng: [
    call([rng.normal(size=3), rng.normal(size=2), 0.5]),
    call((rng.normal(size=(2, 3)), rng.normal(size=(2, 1)))),
    call([[0.5, 1.5], (2.5,)]),
    call(rng.normal(size=(2, 3))),
    call([0.5, 1.5]),
])
def hstack(tup: Sequence[Any], *, dtype=None, casting="same_kind"):
    def hstack_pullback(dy):
        return hstack_adjoint(dy, tup)

    return np.hstack(tup, dtype=dtype, casting=casting), hstack_pullback


@rrule(np.dstack, wrt=("tup",), linear=(0,), domain=lambda rng: [
    call([rng.normal(size=3), rng.normal(size=3)]),
    call((rng.normal(size=(2, 3)), rng.normal(size=(2, 3, 2)))),
    call([0.5, 1.5]),
    call(rng.normal(size=(2, 3))),
])
def dstack(tup: Sequence[Any]):
    def dstack_pullback(dy):
        return dstack_adjoint(dy, tup)

    return np.dstack(tup), dstack_pullback


@rrule(np.column_stack, wrt=("tup",), linear=(0,), domain=lambda rng: [
    call([rng.normal(size=3), rng.normal(size=3)]),
    call((rng.normal(size=3), rng.normal(size=(3, 2)), [0.5, 1.5, 2.5])),
    call([0.5, 1.5]),
    call(rng.normal(size=(2, 3))),
])
def column_stack(tup: Sequence[Any]):
    def column_stack_pullback(dy):
        return column_stack_adjoint(dy, tup)

    return np.column_stack(tup), column_stack_pullback


@rrule(np.block, wrt=("arrays",), linear=(0,), domain=lambda rng: [
    call([[rng.normal(size=(2, 2)), rng.normal(size=(2, 1))],
          [rng.normal(size=(1, 2)), rng.normal(size=(1, 1))]]),
    call([[rng.normal(size=2), 0.5], [rng.normal(size=(2, 2)), np.array([[0.5], [1.5]])]]),
    call([rng.normal(size=3), rng.normal(size=2)]),
    call([[rng.normal(size=2)], [rng.normal(size=2)]]),
    call([[rng.normal(size=(2, 3, 2)), rng.normal(size=(2, 3, 1))]]),
    call([[0.5, 1.5], [2.5, 3.5]]),
    call(rng.normal(size=(2, 3))),
    call(0.5),
])
def block(arrays):
    def block_pullback(dy):
        return block_adjoint(dy, arrays)

    return np.block(arrays), block_pullback


@rrule(np.append, wrt=("arr", "values"), linear=(0, 1), domain=lambda rng: [
    call(rng.normal(size=3), 0.5),
    call(rng.normal(size=(2, 3)), rng.normal(size=2)),
    call(rng.normal(size=(2, 3)), rng.normal(size=(1, 3)), axis=0),
    call(rng.normal(size=(2, 3)), rng.normal(size=(2, 1)), axis=-1),
    call([], [0.5, 1.5]),
    call(0.5, rng.normal(size=2)),
])
def append(arr, values, axis=None):
    def append_pullback(dy):
        return concatenate_adjoint(dy, (arr, values), axis)

    return np.append(arr, values, axis=axis), append_pullback


@rrule(np.meshgrid, wrt=("xi",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=2), rng.normal(size=3)),
    call(rng.normal(size=2), rng.normal(size=3), rng.normal(size=4)),
    call(rng.normal(size=2), rng.normal(size=3), indexing="ij"),
    call(rng.normal(size=2), rng.normal(size=3), rng.normal(size=1), sparse=True),
    call(rng.normal(size=2), rng.normal(size=3), indexing="ij", sparse=True),
    call([0.5, 1.5], 0.5, rng.normal(size=0)),
    call(rng.normal(size=2)), call(rng.normal(size=2), rng.normal(size=3), copy=False),
])
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    def meshgrid_pullback(dy):
        return meshgrid_adjoint(dy, xi, indexing, sparse)

    return np.meshgrid(*xi, copy=copy, sparse=sparse, indexing=indexing), meshgrid_pullback


# --- splitting ------------------------------------------------------------------------------------


@rrule(np.split, wrt=("ary",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=6), 3),
    call(rng.normal(size=(2, 6)), 2, axis=-1),
    call(rng.normal(size=(5, 2)), [1, 3]),
    call(rng.normal(size=5), [2, 2, 7]),
    call(rng.normal(size=5), [-2]),
    call(rng.normal(size=5), [3, 1]),
    call(rng.normal(size=0), 1),
])
def split(ary: np.ndarray, indices_or_sections, axis=0):
    ary_shape = np.shape(ary)

    def split_pullback(dy):
        if isinstance(indices_or_sections, int):
            da = np.concatenate(dy, axis)
        else:
            da = split_adjoint(dy, ary_shape, indices_or_sections, axis)
        return da

    return np.split(ary, indices_or_sections, axis=axis), split_pullback


@rrule(np.array_split, wrt=("ary",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=5), 3),
    call(rng.normal(size=(2, 5)), 2, axis=1),
    call(rng.normal(size=2), 4),
    call(rng.normal(size=(5, 2)), np.array([1, 3]), axis=-2),
    call([0.5, 1.5, 2.5], 2),
])
def array_split(ary: np.ndarray, indices_or_sections, axis=0):
    ary_shape = np.shape(ary)

    def array_split_pullback(dy):
        return like(split_adjoint(dy, ary_shape, indices_or_sections, axis), ary)

    return np.array_split(ary, indices_or_sections, axis=axis), array_split_pullback


@rrule(np.hsplit, wrt=("ary",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=6), 2),
    call(rng.normal(size=(2, 6)), [1, 4]),
])
def hsplit(ary: np.ndarray, indices_or_sections):
    ary_shape = np.shape(ary)
    axis = 0 if np.ndim(ary) == 1 else 1

    def hsplit_pullback(dy):
        return split_adjoint(dy, ary_shape, indices_or_sections, axis)

    return np.hsplit(ary, indices_or_sections), hsplit_pullback


@rrule(np.vsplit, wrt=("ary",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(4, 3)), 2),
    call(rng.normal(size=(4, 3)), [1]),
])
def vsplit(ary: np.ndarray, indices_or_sections):
    ary_shape = np.shape(ary)

    def vsplit_pullback(dy):
        return split_adjoint(dy, ary_shape, indices_or_sections, 0)

    return np.vsplit(ary, indices_or_sections), vsplit_pullback


@rrule(np.dsplit, wrt=("ary",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3, 4)), 2),
    call(rng.normal(size=(2, 3, 4)), [1, 2]),
])
def dsplit(ary: np.ndarray, indices_or_sections):
    ary_shape = np.shape(ary)

    def dsplit_pullback(dy):
        return split_adjoint(dy, ary_shape, indices_or_sections, 2)

    return np.dsplit(ary, indices_or_sections), dsplit_pullback


if hasattr(np, "unstack"):  # NumPy 2.1

    @rrule(np.unstack, linear=(0,), domain=lambda rng: [
        call(rng.normal(size=3)),
        call(rng.normal(size=(2, 3, 4)), axis=1),
        call(rng.normal(size=(2, 1)), axis=-1),
    ])
    def unstack(x: np.ndarray, *, axis=0):
        def unstack_pullback(dy):
            return np.stack(dy, axis)

        return np.unstack(x, axis=axis), unstack_pullback


if getattr(np, "row_stack", np.vstack) is not np.vstack:  # NumPy 1.26 has one function of two names
    alias(np.row_stack, np.vstack)
