"""Rules for NumPy functions that make arrays of numbers and lists, copy them, or convert them."""

import numpy as np

from adcompiler.rulekit import call, non_differentiable, rrule
from adcompiler_rules.kernels.gathering import item_adjoint
from adcompiler_rules.kernels.shaping import tolist_adjoint
from adcompiler.runtime.adjoints.shaping import complex_viewed, like, parts_viewed


def _array_likes(rng):
    return [
        call(rng.normal(size=(2, 3))),
        call(rng.normal(size=(4, 6))[::2, ::3]),
        call(rng.normal(size=(2, 0))),
        call([0.5, 1.5, 2.5]),
        call((0.5, 2, 1.5)),
        call([[0.5, 1.5], (2.5, 3.5)]),
        call([rng.normal(size=2), rng.normal(size=2), [0.5, 1.5]]),
        call([np.float64(0.5), np.array(1.5)]),
        call([0.5, 1.5 + 2j]),
        call(0.5),
        call(np.float64(0.5)),
    ]


@rrule(np.array, wrt=("object",), linear=(0,), domain=lambda rng: [
    *_array_likes(rng),
    call([[], []]),
    call([0.5, 1.5], np.complex128),
    call(rng.normal(size=3), copy=True, order="F"),
    call([0.5, 1.5], ndmin=3),
])
def array(object, dtype=None, *, copy=True, order="K", ndmin=0):
    def array_pullback(dy):
        return like(dy if ndmin == 0 else np.reshape(dy, np.shape(object)), object)

    return np.array(object, dtype=dtype, copy=copy, order=order, ndmin=ndmin), array_pullback


@rrule(np.asarray, wrt=("a",), linear=(0,), domain=lambda rng: [
    *_array_likes(rng), call([0.5, 1.5], complex), call(rng.normal(size=(2, 3)), order="F"),
])
def asarray(a, dtype=None, order=None):
    def asarray_pullback(dy):
        return like(dy, a)

    return np.asarray(a, dtype=dtype, order=order), asarray_pullback


@rrule(np.asanyarray, wrt=("a",), linear=(0,), domain=_array_likes)
def asanyarray(a, dtype=None, order=None):
    def asanyarray_pullback(dy):
        return like(dy, a)

    return np.asanyarray(a, dtype=dtype, order=order), asanyarray_pullback


@rrule(np.asarray_chkfinite, wrt=("a",), linear=(0,), domain=_array_likes)
def asarray_chkfinite(a, dtype=None, order=None):
    def asarray_chkfinite_pullback(dy):
        return like(dy, a)

    return np.asarray_chkfinite(a, dtype=dtype, order=order), asarray_chkfinite_pullback


@rrule(np.ascontiguousarray, wrt=("a",), linear=(0,), domain=_array_likes)
def ascontiguousarray(a, dtype=None):
    a_shape = np.shape(a)

    def ascontiguousarray_pullback(dy):
        return like(np.reshape(dy, a_shape), a)

    return np.ascontiguousarray(a, dtype=dtype), ascontiguousarray_pullback


@rrule(np.require, wrt=("a",), linear=(0,), domain=lambda rng: [
    *_array_likes(rng), call(rng.normal(size=(2, 3)), float, "F"),
    call(rng.normal(size=(2, 3)), None, ["C", "O"]), call(rng.normal(size=3), complex, ["W", "A"]),
])
def require(a, dtype=None, requirements=None):
    def require_pullback(dy):
        return like(dy, a)

    return np.require(a, dtype=dtype, requirements=requirements), require_pullback


@rrule(np.asfortranarray, wrt=("a",), linear=(0,), domain=_array_likes)
def asfortranarray(a, dtype=None):
    a_shape = np.shape(a)

    def asfortranarray_pullback(dy):
        return like(np.reshape(dy, a_shape), a)

    return np.asfortranarray(a, dtype=dtype), asfortranarray_pullback


@rrule(np.copy, wrt=("a",), linear=(0,), domain=lambda rng: [
    *_array_likes(rng), call(rng.normal(size=(2, 3)), order="F"),
])
def copy(a, order="K"):
    def copy_pullback(dy):
        return like(dy, a)

    return np.copy(a, order=order), copy_pullback


@rrule(np.ndarray.copy, wrt=("x",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3))), call(rng.normal(size=(2, 3)), order="F"),
])
def copy_method(x: np.ndarray, order="C"):
    def copy_pullback(dy):
        return dy

    return x.copy(order=order), copy_pullback


def _casts(rng):
    return [
        call(rng.normal(size=(2, 3)), "float64"),
        call(rng.normal(size=3), complex),
        call(rng.normal(size=3), np.float64, copy=False),
        call(rng.normal(size=3), int),
    ]


@rrule(np.ndarray.astype, wrt=("x",), linear=(0,), domain=_casts)
def astype_method(x: np.ndarray, dtype, order="K", casting="unsafe", subok=True, copy=True):
    def astype_pullback(dy):
        return like(dy, x)

    return (
        x.astype(dtype, order=order, casting=casting, subok=subok, copy=copy), astype_pullback
    )


if hasattr(np, "astype"):  # NumPy 2.1

    @rrule(np.astype, wrt=("x",), linear=(0,), domain=_casts)
    def astype(x: np.ndarray, dtype, *, copy=True):
        def astype_pullback(dy):
            return like(dy, x)

        return np.astype(x, dtype, copy=copy), astype_pullback


@rrule(np.ndarray.item, wrt=("x",), linear=(0,), domain=lambda rng: [
    call(np.array([[0.5]])),
    call(rng.normal(size=3), -1),
    call(rng.normal(size=(2, 3)), -2),
    call(rng.normal(size=(2, 3)), 1, 2),
    call(rng.normal(size=(2, 3)), (1, -1)),
])
def item(x: np.ndarray, *index):
    def item_pullback(dy):
        return item_adjoint(dy, x, index)

    return x.item(*index), item_pullback


@rrule(np.ndarray.tolist, linear=(0,), domain=lambda rng: [
    call(rng.normal(size=3)),
    call(rng.normal(size=(2, 3))),
    call(rng.normal(size=(2, 0))),
    call(rng.normal(size=2) + 1j),
])
def tolist(x: np.ndarray):
    def tolist_pullback(dy):
        return tolist_adjoint(dy, x)

    return x.tolist(), tolist_pullback


# --- memory ---------------------------------------------------------------------------------------


@rrule(parts_viewed, linear=(0,), domain=lambda rng: [
    call(rng.normal(size=4) + 1j), call(rng.normal(size=(2, 2)) - 0.5j),
])
def parts_viewed_rule(z):
    def parts_viewed_pullback(dy):
        return like(complex_viewed(np.ascontiguousarray(dy)), z)

    return parts_viewed(z), parts_viewed_pullback


@rrule(complex_viewed, linear=(0,), domain=lambda rng: [
    call(rng.normal(size=4)), call(rng.normal(size=(3, 2))),
])
def complex_viewed_rule(x):
    def complex_viewed_pullback(dy):
        return like(parts_viewed(np.ascontiguousarray(dy)), x)

    return complex_viewed(x), complex_viewed_pullback


# --- scalar types as functions --------------------------------------------------------------------


def _numbers(rng):
    return [call(0.5), call(np.float64(1.5)), call(rng.normal(size=3)), call(np.float32(0.5))]


@rrule(np.float64, linear=(0,), domain=_numbers)
def float64(x):
    def float64_pullback(dy):
        return like(dy, x)

    return np.float64(x), float64_pullback


@rrule(np.float32, linear=(0,), domain=lambda rng: [call(np.empty(0)), call(np.empty((2, 0)))])
def float32(x):
    """The derivative of the identity; rounding hides it from differences, so samples are empty."""

    def float32_pullback(dy):
        return like(dy, x)

    return np.float32(x), float32_pullback


@rrule(np.complex128, linear=(0,), domain=lambda rng: [*_numbers(rng), call(0.5 - 2j)])
def complex128(x):
    def complex128_pullback(dy):
        return like(dy, x)

    return np.complex128(x), complex128_pullback


@rrule(np.complex64, linear=(0,), domain=lambda rng: [
    call(np.empty(0)), call(np.empty((2, 0), complex)),
])
def complex64(x):
    """As ``np.float32``."""

    def complex64_pullback(dy):
        return like(dy, x)

    return np.complex64(x), complex64_pullback


non_differentiable(np.bool_, *(np.dtype(code).type for code in np.typecodes["AllInteger"]))
