"""Rules for NumPy functions that repeat, pad, roll, mirror, insert or blank out elements."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from adcompiler.rulekit import alias, call, rrule
from adcompiler.runtime import unbroadcast
from adcompiler_rules.kernels.gathering import inserted_positions, kept_positions, take_adjoint
from adcompiler_rules.kernels.padding import pad_adjoint, pad_values_adjoint, windows_adjoint
from adcompiler.runtime.adjoints.shaping import diagonal_adjoint, like
from adcompiler_rules.kernels.shaping import repeat_adjoint, resize_adjoint, tile_adjoint

# --- repetition -----------------------------------------------------------------------------------


@rrule(np.repeat, wrt=("a",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), 2),
    call(rng.normal(size=(2, 3)), 2, axis=0),
    call(rng.normal(size=(2, 3)), [1, 0, 3], axis=-1),
    call(rng.normal(size=(2, 3)), [1, 0, 3, 2, 1, 1]),
    call(rng.normal(size=(2, 3)), [2], axis=1),
    call(rng.normal(size=(2, 3)), 0, axis=1),
    call(rng.normal(size=(0, 3)), 2, axis=0),
    call(0.5, 3),
    call([0.5, 1.5], 2),
])
def repeat(a, repeats, axis=None):
    a_shape = np.shape(a)

    def repeat_pullback(dy):
        return like(repeat_adjoint(dy, a_shape, repeats, axis), a)

    return np.repeat(a, repeats, axis=axis), repeat_pullback


@rrule(np.tile, wrt=("A",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), 2),
    call(rng.normal(size=(2, 3)), (2, 3)),
    call(rng.normal(size=3), (2, 2)),
    call(rng.normal(size=(2, 1, 3)), [2, 1]),
    call(rng.normal(size=3), 0),
    call(0.5, 3),
    call([0.5, 1.5], (2, 1)),
])
def tile(A, reps):
    A_shape = np.shape(A)

    def tile_pullback(dy):
        return like(tile_adjoint(dy, A_shape, reps), A)

    return np.tile(A, reps), tile_pullback


@rrule(np.resize, wrt=("a",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), (4, 2)),
    call(rng.normal(size=(2, 3)), 4),
    call(rng.normal(size=3), (2, 3)),
    call(rng.normal(size=3), 0),
    call(0.5, (2, 2)),
    call([0.5, 1.5], 3),
])
def resize(a, new_shape):
    a_shape = np.shape(a)

    def resize_pullback(dy):
        return like(resize_adjoint(dy, a_shape), a)

    return np.resize(a, new_shape), resize_pullback


@rrule(np.pad, wrt=("array", "constant_values", "end_values"), linear=(0, 3, 4),
       domain=lambda rng: [
    call(rng.normal(size=(2, 3)), 1),
    call(rng.normal(size=(2, 3)), ((1, 0), (2, 3))),
    call(rng.normal(size=(2, 3)), (1, 2), "constant", constant_values=5.0),
    call(rng.normal(size=(2, 3)), (1, 2), constant_values=((0.5, 1.5), (2.5, 3.5))),
    call(rng.normal(size=(2, 3)), (0, 2), constant_values=rng.normal(size=2)),
    call(rng.normal(size=(2, 3)), ((2, 1), (0, 2)), "edge"),
    call(rng.normal(size=(3, 4)), ((2, 1), (0, 2)), "reflect"),
    call(rng.normal(size=(3, 4)), 2, "reflect", reflect_type="odd"),
    call(rng.normal(size=3), (7, 6), "reflect", reflect_type="odd"),
    call(rng.normal(size=3), (7, 6), "reflect"),
    call(rng.normal(size=3), (2, 5), "symmetric"),
    call(rng.normal(size=4), (2, 4), "symmetric", reflect_type="odd"),
    call(rng.normal(size=1), (2, 1), "reflect", reflect_type="odd"),
    call(rng.normal(size=(2, 3)), ((3, 1), (1, 4)), "wrap"),
    call(rng.normal(size=(2, 3)), ((3, 1), (1, 0)), "linear_ramp"),
    call(rng.normal(size=3), 2, "linear_ramp", end_values=(0.5, 1.5)),
    call(rng.normal(size=(2, 3)), ((3, 1), (1, 2)), "linear_ramp", end_values=0.5),
    call(rng.normal(size=(2, 3)), ((3, 1), (1, 4)), "mean"),
    call(rng.normal(size=5), 2, "mean", stat_length=(2, 9)),
    call(rng.normal(size=(0, 3)), ((1, 1), (0, 2))),
    call([0.5, 1.5], 1),
])
def pad(
    array, pad_width, mode="constant", constant_values=0, end_values=0, reflect_type="even",
    stat_length=None,
):
    if mode == "constant":
        y = np.pad(array, pad_width, mode=mode, constant_values=constant_values)
    elif mode == "linear_ramp":
        y = np.pad(array, pad_width, mode=mode, end_values=end_values)
    elif mode == "reflect" or mode == "symmetric":
        y = np.pad(array, pad_width, mode=mode, reflect_type=reflect_type)
    elif mode == "mean":
        y = np.pad(array, pad_width, mode=mode, stat_length=stat_length)
    elif mode == "edge" or mode == "wrap":
        y = np.pad(array, pad_width, mode=mode)
    else:
        raise NotImplementedError(f"np.pad has no derivative rule for mode={mode!r}")
    array_shape = np.shape(array)

    def pad_pullback(dy):
        darray = pad_adjoint(dy, array_shape, pad_width, mode, reflect_type, stat_length)
        dconstant, dend = None, None
        if mode == "constant":
            dconstant = pad_values_adjoint(dy, array_shape, pad_width, mode, constant_values)
        elif mode == "linear_ramp":
            dend = pad_values_adjoint(dy, array_shape, pad_width, mode, end_values)
        return like(darray, array), dconstant, dend

    return y, pad_pullback


# --- order of elements ----------------------------------------------------------------------------


@rrule(np.roll, wrt=("a",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), 2),
    call(rng.normal(size=(2, 3)), -1, axis=1),
    call(rng.normal(size=(2, 3)), (1, 2), axis=(0, -1)),
    call(rng.normal(size=(2, 3)), 1, (0, 1)),
    call(rng.normal(size=(2, 0)), 1, axis=1),
    call(rng.normal(size=(4, 6))[::2, ::3], np.array([1, 1]), axis=(0, 1)),
    call([0.5, 1.5, 2.5], 1),
])
def roll(a, shift, axis=None):
    def roll_pullback(dy):
        back = -shift if isinstance(shift, int) else np.negative(shift)
        return like(np.roll(dy, back, axis), a)

    return np.roll(a, shift, axis=axis), roll_pullback


@rrule(np.flip, wrt=("m",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3))),
    call(rng.normal(size=(2, 3)), axis=-1),
    call(rng.normal(size=(2, 3, 4)), (0, 2)),
    call(rng.normal(size=(0, 3))),
    call([0.5, 1.5]),
])
def flip(m, axis=None):
    def flip_pullback(dy):
        return like(np.flip(dy, axis), m)

    return np.flip(m, axis=axis), flip_pullback


@rrule(np.fliplr, linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3))), call(rng.normal(size=(2, 3, 4))), call([[0.5, 1.5]]),
])
def fliplr(m: np.ndarray):
    def fliplr_pullback(dy):
        return like(np.fliplr(dy), m)

    return np.fliplr(m), fliplr_pullback


@rrule(np.flipud, linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3))), call(rng.normal(size=3)), call([0.5, 1.5]),
])
def flipud(m: np.ndarray):
    def flipud_pullback(dy):
        return like(np.flipud(dy), m)

    return np.flipud(m), flipud_pullback


@rrule(np.rot90, wrt=("m",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3))),
    call(rng.normal(size=(2, 3)), 2),
    call(rng.normal(size=(2, 3, 4)), k=-1, axes=(1, 2)),
    call([[0.5, 1.5]], 3),
])
def rot90(m: np.ndarray, k=1, axes=(0, 1)):
    def rot90_pullback(dy):
        return like(np.rot90(dy, -k, axes), m)

    return np.rot90(m, k=k, axes=axes), rot90_pullback


# --- elements put in or left out ------------------------------------------------------------------


@rrule(np.insert, wrt=("arr", "values"), linear=(0, 2), domain=lambda rng: [
    call(rng.normal(size=4), 1, 0.5),
    call(rng.normal(size=4), 1, rng.normal(size=3)),
    call(rng.normal(size=4), [3, 0, 0], rng.normal(size=3)),
    call(rng.normal(size=4), [1, -1], 0.5),
    call(rng.normal(size=4), slice(0, 3, 2), rng.normal(size=2)),
    call(rng.normal(size=(2, 3)), 1, 0.5),
    call(rng.normal(size=(2, 3)), -1, rng.normal(size=2), axis=1),
    call(rng.normal(size=(2, 3)), 1, rng.normal(size=(2, 2)), axis=1),
    call(rng.normal(size=(2, 3)), [1], rng.normal(size=(2, 1)), axis=1),
    call(rng.normal(size=(2, 3)), [0, 2], rng.normal(size=(2, 1)), axis=1),
    call(rng.normal(size=(2, 3)), [0, 2], rng.normal(size=2), axis=-1),
    call(rng.normal(size=(2, 3, 2)), 2, rng.normal(size=(2, 2)), axis=1),
    call([0.5, 1.5], 1, [2.5, 3.5]),
])
def insert(arr, obj, values, axis=None):
    y = np.insert(arr, obj, values, axis=axis)
    arr_shape = np.shape(arr)
    old, new = inserted_positions(arr_shape, obj, axis, y.shape)
    in_front = axis is not None and np.ndim(obj) == 0 and not isinstance(obj, slice)

    def insert_pullback(dy):
        darr = np.reshape(np.take(dy, old, axis), arr_shape)
        inserted = np.take(dy, new, axis)
        if in_front:  # values of a single place have their axis first
            inserted = np.moveaxis(inserted, axis, 0)
        return like(darr, arr), like(unbroadcast(inserted, np.shape(values)), values)

    return y, insert_pullback


@rrule(np.delete, wrt=("arr",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=4), 1),
    call(rng.normal(size=(2, 3)), [0, -1], axis=1),
    call(rng.normal(size=(2, 3)), [0, -1]),
    call(rng.normal(size=5), slice(None, None, 2)),
    call(rng.normal(size=3), np.array([True, False, True])),
    call(rng.normal(size=(2, 3)), [], axis=-2),
    call([0.5, 1.5, 2.5], 0),
])
def delete(arr, obj, axis=None):
    arr_shape = np.shape(arr)
    kept = kept_positions(arr_shape, obj, axis)

    def delete_pullback(dy):
        return like(take_adjoint(dy, arr_shape, kept, axis), arr)

    return np.delete(arr, obj, axis=axis), delete_pullback


# --- triangles and diagonals ----------------------------------------------------------------------


def _triangles(rng):
    return [
        call(rng.normal(size=(3, 4))),
        call(rng.normal(size=(4, 3)), 1),
        call(rng.normal(size=(2, 3, 3)), k=-1),
        call([[0.5, 1.5], [2.5, 3.5]]),
        call(rng.normal(size=(2, 0))),
        call(rng.normal(size=4)),
        call(rng.normal(size=4), k=1),
    ]


@rrule(np.triu, wrt=("m",), linear=(0,), domain=_triangles)
def triu(m: np.ndarray, k=0):
    def triu_pullback(dy):
        if np.ndim(m) == 1:  # is repeated as the rows of a matrix
            return like(np.sum(np.triu(dy, k), axis=0), m)
        return like(np.triu(dy, k), m)

    return np.triu(m, k=k), triu_pullback


@rrule(np.tril, wrt=("m",), linear=(0,), domain=_triangles)
def tril(m: np.ndarray, k=0):
    def tril_pullback(dy):
        if np.ndim(m) == 1:  # is repeated as the rows of a matrix
            return like(np.sum(np.tril(dy, k), axis=0), m)
        return like(np.tril(dy, k), m)

    return np.tril(m, k=k), tril_pullback


@rrule(np.diag, wrt=("v",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=3)),
    call(rng.normal(size=3), -2),
    call(rng.normal(size=(3, 3))),
    call(rng.normal(size=(3, 4)), k=1),
    call(rng.normal(size=(3, 2)), k=-2),
    call(rng.normal(size=0)),
    call([0.5, 1.5], 1),
    call([[0.5, 1.5], [2.5, 3.5]]),
])
def diag(v: np.ndarray, k=0):
    v_shape = np.shape(v)

    def diag_pullback(dy):
        dv = np.diagonal(dy, k) if np.ndim(v) == 1 else diagonal_adjoint(dy, v_shape, k)
        return like(dv, v)

    return np.diag(v, k=k), diag_pullback


@rrule(np.diagflat, wrt=("v",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=3)),
    call(rng.normal(size=(2, 2)), 1),
    call([[0.5, 1.5]], k=-1),
    call(0.5),
])
def diagflat(v, k=0):
    v_shape = np.shape(v)

    def diagflat_pullback(dy):
        return like(np.reshape(np.diagonal(dy, k), v_shape), v)

    return np.diagflat(v, k=k), diagflat_pullback


@rrule(np.diagonal, wrt=("a",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 4))),
    call(rng.normal(size=(3, 4)), offset=1),
    call(rng.normal(size=(3, 4)), -2),
    call(rng.normal(size=(2, 3, 3)), 1, 1, 2),
    call(rng.normal(size=(3, 2, 3)), axis1=-1, axis2=0),
    call(rng.normal(size=(3, 3)), 5),
    call([[0.5, 1.5], [2.5, 3.5]]),
])
def diagonal(a: np.ndarray, offset=0, axis1=0, axis2=1):
    a_shape = np.shape(a)

    def diagonal_pullback(dy):
        return like(diagonal_adjoint(dy, a_shape, offset, axis1, axis2), a)

    return np.diagonal(a, offset=offset, axis1=axis1, axis2=axis2), diagonal_pullback


if hasattr(np.linalg, "diagonal"):  # NumPy 2

    @rrule(np.linalg.diagonal, linear=(0,), domain=lambda rng: [
        call(rng.normal(size=(3, 4))),
        call(rng.normal(size=(2, 3, 3)), offset=-1),
    ])
    def matrix_diagonal(x: np.ndarray, *, offset=0):
        x_shape = np.shape(x)

        def matrix_diagonal_pullback(dy):
            return like(diagonal_adjoint(dy, x_shape, offset, -2, -1), x)

        return np.linalg.diagonal(x, offset=offset), matrix_diagonal_pullback


alias(np.ndarray.repeat, np.repeat)
alias(np.ndarray.diagonal, np.diagonal)


# --- windows --------------------------------------------------------------------------------------


@rrule(sliding_window_view, wrt=("x",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=6), 3),
    call(rng.normal(size=(4, 5)), (2, 3)),
    call(rng.normal(size=(4, 5)), 2, axis=0),
    call(rng.normal(size=(4, 5)), (2, 3), axis=(1, 0)),
    call(rng.normal(size=(4, 5)), (2, 2), axis=(-1, -1)),
    call(rng.normal(size=5), (5,)),
    call(rng.normal(size=4) + 1j, 2),
    call([0.5, 1.5, 2.5], 2),
])
def sliding_window_view_rule(
    x: np.ndarray, window_shape, axis=None, *, subok=False, writeable=False
):
    """Differentiate the view of windows, whose axes come last: what they share is added up."""
    x_shape = np.shape(x)

    def sliding_window_view_pullback(dy):
        return like(windows_adjoint(dy, x_shape, window_shape, axis), x)

    return sliding_window_view(x, window_shape, axis), sliding_window_view_pullback


@rrule(windows_adjoint, wrt=("dy",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(4, 3)), (6,), 3, None),
    call(rng.normal(size=(3, 3, 2, 3)), (4, 5), (2, 3), None),
    call(rng.normal(size=(3, 5, 2)), (4, 5), 2, 0),
])
def windows_adjoint_rule(dy, shape, window_shape, axis):
    dx = windows_adjoint(dy, shape, window_shape, axis)

    def windows_adjoint_pullback(v):
        return like(sliding_window_view(v, window_shape, axis), dy)

    return dx, windows_adjoint_pullback
