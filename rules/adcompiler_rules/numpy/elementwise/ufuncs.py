"""Rules of NumPy's ufuncs: tables of partial derivatives, and pullbacks where a table won't do.

A partial may take the result as one more parameter: ``y`` of a unary, ``out`` of a binary ufunc.
Constants: log(2) = 0.6931..., 1/log(2) = 1.4427..., 1/log(10) = 0.4343..., pi/180 = 0.01745...

The keywords ``out=`` and ``where=`` of ufuncs have no rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.rulekit import (
    Call,
    Domain,
    call,
    non_differentiable,
    rrule,
    scalar_rule,
)
from adcompiler.runtime import project
from adcompiler.runtime.adjoints.elementwise import is_known, log_of_base

ANY = (-2.0, 2.0)
POSITIVE = (0.1, 3.0)
UNIT = (-0.9, 0.9)
WIDE = (-40.0, 40.0)

TIES = "arguments that tie share the derivative evenly"


def pairs_with_ties(rng: np.random.Generator) -> list[Call]:
    """Return real pairs of broadcast shapes, some of them equal."""
    x = rng.choice(np.arange(-16, 16, 2), (2, 3)) / 8.0
    y = x + [[0.0, 0.5, -0.5], [-1.0, 0.0, 0.125]]
    return [
        call(x, y), call(x[0], y + 0.0625), call(x, y[:, 1:2] + 0.0625), call(x.T, 0.3),
        call(0.3, x), call(0.4, 0.7), call(0.5, 0.5), call(np.float64(0.1), y[::-1]),
        call(np.empty((0, 3)), y[0]), call(np.asarray(1.0), 1.0),
    ]


def with_missing(rng: np.random.Generator) -> list[Call]:
    """Return the pairs with ties, and one with NaN on either side."""
    x, y = rng.normal(size=(2, 4))
    x[0] = np.nan
    y[3] = np.nan
    return [*pairs_with_ties(rng), call(x, y)]


# --- arithmetic -----------------------------------------------------------------------------------

scalar_rule(np.add,        1.0,                  1.0,                        domain=(ANY, ANY))
scalar_rule(np.subtract,   1.0,                 -1.0,                        domain=(ANY, ANY))
scalar_rule(np.multiply,   lambda x, y: y,       lambda x, y: x,             domain=(ANY, ANY))
scalar_rule(np.divide,     lambda x, y: 1.0 / y, lambda x, y, out: -out / y, domain=(ANY, POSITIVE))
scalar_rule(np.nextafter,  1.0,                  0.0,                        domain=(ANY, ANY))
scalar_rule(np.positive,   1.0,                                              domain=ANY)
scalar_rule(np.negative,  -1.0,                                              domain=ANY)
scalar_rule(np.square,     lambda x: 2.0 * x,                                domain=ANY)
scalar_rule(np.reciprocal, lambda x, y: -y * y,                              domain=POSITIVE)

scalar_rule(
    (np.power, np.float_power),
    lambda x, y: y * np.power(x, y - 1 + ((x == 0) & (y == 0))),
    lambda x, y, out: out * log_of_base(x),
    domain=Domain(
        intervals=(POSITIVE, (-2.0, 3.0)),
        calls=lambda rng: [
            call(np.array([0.0, 1.5, 0.0]), 2), call(np.array([0.0, 1.5]), np.array([1, 0])),
            call(np.array([0.0, 0.7]), 1), call(0.0, 3), call(np.array([0.2, 1.5]), 0),
            call(np.array([0.3, 2.0]), -2), call(2, np.array([1.5, -0.5])),
            call(0.0, np.array([2, 3])),
        ],
    ),
    kink="d/dy of x**y is 0 where x == 0; d/dx of x**0 is 0",
)

# x - trunc(x / y) * y and x - floor(x / y) * y; at the jumps, the derivative from their right.
QUOTIENTS = ((2.2, 2.8), (1.5, 2.0))
scalar_rule(np.fmod,      1.0, lambda x, y, out: np.rint((out - x) / y), domain=QUOTIENTS,
            kink="the jumps do not count")
scalar_rule(np.remainder, 1.0, lambda x, y: -np.floor_divide(x, y),      domain=QUOTIENTS,
            kink="the jumps do not count")


@rrule(np.divmod, domain=lambda rng: [
    call(np.array([2.5, -2.5, 7.1]), 2.0), call(-2.3, np.array([0.7, -0.6])), call(2.6, 1.7),
    call(np.array([[2.5], [4.9]]), np.array([1.5, 1.8])),
], kink="the jumps do not count")
def divmod_rule(x, y):
    out = np.divmod(x, y)

    def divmod_pullback(dout):
        dremainder = dout[1]
        return project(dremainder, x), project(-out[0] * dremainder, y)

    return out, divmod_pullback


# --- exponentials and logarithms, powers and roots ------------------------------------------------

scalar_rule(np.exp,    lambda x, y: y,                         domain=ANY)
scalar_rule(np.exp2,   lambda x, y: 0.6931471805599453 * y,    domain=ANY)
scalar_rule(np.expm1,  lambda x, y: y + 1.0,                   domain=ANY)
scalar_rule(np.log,    lambda x: 1.0 / x,                      domain=POSITIVE)
scalar_rule(np.log2,   lambda x: 1.4426950408889634 / x,       domain=POSITIVE)
scalar_rule(np.log10,  lambda x: 0.4342944819032518 / x,       domain=POSITIVE)
scalar_rule(np.log1p,  lambda x: 1.0 / (1.0 + x),              domain=(-0.9, 3.0))
scalar_rule(np.sqrt,   lambda x, y: 0.5 / y,                   domain=POSITIVE,
            kink="sqrt'(0) = inf")
scalar_rule(np.cbrt,   lambda x, y: 1.0 / (3.0 * y * y),       domain=POSITIVE,
            kink="cbrt'(0) = inf")

# Where both logarithms are -inf so is the result, and -inf - -inf would be nan.
scalar_rule(np.logaddexp,  lambda x, y, out: np.exp(x - np.where(out == -np.inf, 0.0, out)),
                           lambda x, y, out: np.exp(y - np.where(out == -np.inf, 0.0, out)),
            domain=(WIDE, WIDE), kink="0 where both are -inf")
scalar_rule(np.logaddexp2, lambda x, y, out: np.exp2(x - np.where(out == -np.inf, 0.0, out)),
                           lambda x, y, out: np.exp2(y - np.where(out == -np.inf, 0.0, out)),
            domain=(WIDE, WIDE), kink="0 where both are -inf")

# --- trigonometric and hyperbolic functions -------------------------------------------------------

scalar_rule(np.sin,      lambda x: np.cos(x),                                domain=ANY)
scalar_rule(np.cos,      lambda x: -np.sin(x),                               domain=ANY)
scalar_rule(np.tan,      lambda x, y: 1.0 + y * y,                           domain=(-1.2, 1.2))
scalar_rule(np.arcsin,   lambda x: 1.0 / np.sqrt(1.0 - x * x),               domain=UNIT)
scalar_rule(np.arccos,   lambda x: -1.0 / np.sqrt(1.0 - x * x),              domain=UNIT)
scalar_rule(np.arctan,   lambda x: 1.0 / (1.0 + x * x),                      domain=ANY)
scalar_rule(np.sinh,     lambda x: np.cosh(x),                               domain=ANY)
scalar_rule(np.cosh,     lambda x: np.sinh(x),                               domain=ANY)
scalar_rule(np.tanh,     lambda x, y: 1.0 - y * y,                           domain=ANY)
scalar_rule(np.arcsinh,  lambda x: 1.0 / np.sqrt(x * x + 1.0),               domain=ANY)
scalar_rule(np.arccosh,  lambda x: 1.0 / (np.sqrt(x - 1.0) * np.sqrt(x + 1.0)), domain=(1.1, 3.0))
scalar_rule(np.arctanh,  lambda x: 1.0 / (1.0 - x * x),                      domain=UNIT)

scalar_rule((np.deg2rad, np.radians), 0.017453292519943295,                  domain=ANY)
scalar_rule((np.rad2deg, np.degrees), 57.29577951308232,                     domain=ANY)


def polar(a: Any, b: Any) -> Any:
    """Return ``a / (a**2 + b**2)``, and 0 where both are 0; ``a * a`` may under- or overflow."""
    size = np.hypot(a, b)
    size = size + (size == 0.0)
    return a / size / size


scalar_rule(np.arctan2,  lambda y, x: polar(x, y),
                         lambda y, x: -polar(y, x),
            domain=(ANY, POSITIVE), kink="0 at the origin")
scalar_rule(np.hypot,    lambda x, y, out: x / (out + (out == 0.0)),
                         lambda x, y, out: y / (out + (out == 0.0)),
            domain=Domain(intervals=(ANY, ANY),
                          calls=lambda rng: [call(np.zeros(2), np.array([0.0, 2.0]))]),
            kink="0 at the origin")

# --- order, sign and floating-point parts ---------------------------------------------------------


def exceeds(x: Any, y: Any) -> Any:
    """Return ``x > y`` in NumPy's order, which has complex numbers too: real parts come first."""
    return np.greater(x, y) if np.iscomplexobj(x) or np.iscomplexobj(y) else x > y


def chosen(first: Any, tie: Any, dz: Any) -> Any:
    """Return ``dz`` where ``first`` holds, half of it where ``tie`` does, and 0 elsewhere."""
    if np.ndim(dz) == 0:
        return dz if first else 0.5 * dz if tie else 0.0
    return np.where(first, dz, np.where(tie, 0.5 * dz, 0.0))


@rrule(np.maximum, domain=pairs_with_ties, kink=TIES)
def maximum_rule(x, y):
    def maximum_pullback(dz):
        dx = chosen(exceeds(x, y), x == y, dz)
        dy = chosen(exceeds(y, x), x == y, dz)
        return project(dx, x), project(dy, y)

    return np.maximum(x, y), maximum_pullback


@rrule(np.minimum, domain=pairs_with_ties, kink=TIES)
def minimum_rule(x, y):
    def minimum_pullback(dz):
        dx = chosen(exceeds(y, x), x == y, dz)
        dy = chosen(exceeds(x, y), x == y, dz)
        return project(dx, x), project(dy, y)

    return np.minimum(x, y), minimum_pullback


@rrule(np.fmax, domain=with_missing, kink=TIES)
def fmax_rule(x, y):
    def fmax_pullback(dz):
        dx = chosen(exceeds(x, y) | (y != y), x == y, dz)
        dy = chosen(exceeds(y, x) | (x != x), x == y, dz)
        return project(dx, x), project(dy, y)

    return np.fmax(x, y), fmax_pullback


@rrule(np.fmin, domain=with_missing, kink=TIES)
def fmin_rule(x, y):
    def fmin_pullback(dz):
        dx = chosen(exceeds(y, x) | (y != y), x == y, dz)
        dy = chosen(exceeds(x, y) | (x != x), x == y, dz)
        return project(dx, x), project(dy, y)

    return np.fmin(x, y), fmin_pullback


# |x| of a complex x = a + ib has the gradient x / |x|; its partial is the conjugate of that.
scalar_rule(np.absolute,
            lambda x, y: np.conj(x) / (y + (y == 0.0)) if np.iscomplexobj(x) else np.sign(x),
            domain=Domain(intervals=(ANY,),
                          calls=lambda rng: [call(np.array([0.0, -2.0])),
                                             call(np.array([0j, 1.0 - 2.0j]))]),
            kink="abs'(0) = 0")
scalar_rule(np.fabs,      lambda x: np.sign(x),                    domain=ANY, kink="fabs'(0) = 0")
scalar_rule(np.copysign,  lambda x, y: np.copysign(np.ones_like(x), y) * np.sign(x), 0.0,
            domain=((-2.0, -0.1), ANY), kink="0 where x == 0")

SIGN_IS_PHASE = bool(np.sign(1j) == 1j)  # NumPy 2: z / abs(z); before, the sign of the real part


@rrule(np.sign, domain=lambda rng: [
    call(1.5), call(np.array([-2.0, 0.5])), call(np.empty(0)), call(np.float64(-0.3)),
    call(complex_normal(rng, 2, 3)), call(0.3 - 1.2j), call(np.array([0j, 1.0 - 2.0j])[1:]),
], kink="sign'(x) = 0, also at 0")
def sign_rule(x):
    """A real sign is constant; of ``y = z / abs(z)`` moves what is at right angles to ``y``."""
    y = np.sign(x)

    def sign_pullback(dy):
        turns = SIGN_IS_PHASE and np.iscomplexobj(x)
        if turns:
            size = np.abs(x)
            across = dy - y * np.real(np.conj(y) * dy)
            return project(np.where(size == 0.0, 0.0, across / (size + (size == 0.0))), x)
        # where only the run tells, there is a cotangent in either case
        return None if is_known(turns) else project(np.zeros_like(dy), x)

    return y, sign_pullback


scalar_rule(np.heaviside, 0.0, lambda x, y, out: np.where(x == 0.0, np.ones_like(out), 0.0),
            domain=lambda rng: [call(np.array([-1, 0, 2]), 0.3), call(0, np.array([0.5, 0.2])),
                                call(rng.normal(size=(2, 3)), rng.normal(size=3)),
                                call(-0.7, 0.1)],
            kink="the jump at 0 does not count")
scalar_rule(np.ldexp,     lambda x, n: np.ldexp(np.ones_like(x), n), None,
            domain=lambda rng: [call(1.5, 3), call(rng.normal(size=(2, 3)), np.array([1, -2, 0])),
                                call(0.3, np.array([2, 5])), call(np.float64(2.5), -1)])

floating_samples = [0.3, np.float64(-7.3), np.array([2.6, -1.3]), np.array([[0.7], [12.3]]),
                    np.empty((0, 2)), np.arange(0.3, 6.0)[::2]]


@rrule(np.frexp, domain=lambda rng: [call(x) for x in floating_samples],
       kink="the jumps at powers of two do not count")
def frexp_rule(x):
    y = np.frexp(x)

    def frexp_pullback(dy):
        return project(np.ldexp(dy[0], -y[1]), x)

    return y, frexp_pullback


@rrule(np.modf, domain=lambda rng: [call(x) for x in floating_samples],
       kink="the jumps at whole numbers do not count")
def modf_rule(x):
    y = np.modf(x)

    def modf_pullback(dy):
        return project(dy[0], x)

    return y, modf_pullback


@rrule(np.conjugate, linear=(0,), domain=ANY)
def conjugate_rule(x):
    y = np.conjugate(x)

    def conjugate_pullback(dy):
        return project(np.conj(dy), x)

    return y, conjugate_pullback


# --- products of matrices -------------------------------------------------------------------------


def complex_normal(rng: np.random.Generator, *shape: int) -> Any:
    """Return complex samples of this shape."""
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def matmul_samples(rng: np.random.Generator) -> list[Call]:
    """Return products of every pair of dimensions, some stretched, empty, complex or strided."""
    def draw(*shape: int) -> Any:
        return rng.normal(size=shape)

    return [
        call(draw(3), draw(3)), call(draw(2, 3), draw(3)), call(draw(3), draw(3, 2)),
        call(draw(2, 3), draw(3, 4)), call(draw(5, 2, 3), draw(3)), call(draw(3), draw(5, 3, 2)),
        call(draw(5, 2, 3), draw(3, 4)), call(draw(2, 3), draw(5, 3, 4)),
        call(draw(5, 2, 3), draw(5, 3, 4)), call(draw(5, 1, 2, 3), draw(4, 3, 2)),
        call(draw(1, 2, 3), draw(4, 3, 2)), call(draw(3, 2).T, draw(6, 4)[::2]),
        call(draw(2, 0), draw(0, 3)), call(draw(0), draw(0)), call(draw(6, 5, 2, 3), draw(3)),
        call(complex_normal(rng, 2, 3), complex_normal(rng, 3, 2)),
        call(draw(2, 3), complex_normal(rng, 3)), call(complex_normal(rng, 3), draw(3)),
        call(complex_normal(rng, 3), draw(4, 3, 2)),
    ]


@rrule(np.matmul, bilinear=(0, 1), domain=matmul_samples)
def matmul_rule(a: np.ndarray, b: np.ndarray):
    y = np.matmul(a, b)

    def matmul_pullback(dy):
        if np.ndim(a) == 1 and np.ndim(b) == 1:
            da = dy * np.conj(b)
            db = dy * np.conj(a)
        elif np.ndim(a) == 1 and np.ndim(b) == 2:
            da = np.conj(b) @ dy
            db = np.outer(np.conj(a), dy)
        elif np.ndim(a) == 2 and np.ndim(b) == 1:
            da = np.outer(dy, np.conj(b))
            db = np.conj(a).T @ dy
        elif np.ndim(a) == 1:
            da = np.squeeze(np.conj(b) @ np.expand_dims(dy, -1), -1)
            db = np.expand_dims(np.conj(a), -1) * np.expand_dims(dy, -2)
        elif np.ndim(b) == 1:
            da = np.expand_dims(dy, -1) * np.conj(b)
            db = np.tensordot(dy, np.conj(a), np.ndim(dy))
        elif np.ndim(a) == 2 and np.ndim(b) == 2:
            da = dy @ np.conj(b).T
            db = np.conj(a).T @ dy
        else:
            da = dy @ np.swapaxes(np.conj(b), -1, -2)
            db = np.swapaxes(np.conj(a), -1, -2) @ dy
        return project(da, a), project(db, b)

    return y, matmul_pullback


def vector_samples(rng: np.random.Generator) -> list[Call]:
    """Return pairs of stacks of vectors of length 3, their stacks broadcast against each other."""
    return [
        call(rng.normal(size=3), rng.normal(size=3)),
        call(rng.normal(size=(2, 3)), rng.normal(size=3)),
        call(rng.normal(size=3), rng.normal(size=(2, 3))),
        call(rng.normal(size=(4, 1, 3)), rng.normal(size=(2, 3))),
        call(rng.normal(size=(0, 3)), rng.normal(size=3)),
        call(complex_normal(rng, 2, 3), complex_normal(rng, 3)),
        call(rng.normal(size=3), complex_normal(rng, 2, 3)),
        call(rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), axis=0),
        call(rng.normal(size=(2, 3, 4)), rng.normal(size=(3, 1)), axis=-2),
        call(complex_normal(rng, 3, 2), rng.normal(size=(3, 2)), axis=0),
    ]


if hasattr(np, "vecdot"):  # NumPy 2.0
    @rrule(np.vecdot, bilinear=(0, 1), domain=vector_samples)
    def vecdot_rule(x1: np.ndarray, x2: np.ndarray, *, axis=-1):
        """Differentiate ``sum(conj(x1) * x2, axis=axis)``: of each its own axis of that number."""
        y = np.vecdot(x1, x2, axis=axis)  # type: ignore[call-overload]

        def vecdot_pullback(dy):
            slope = np.expand_dims(dy, -1)
            if axis == -1:
                return project(np.conj(slope) * x2, x1), project(slope * x1, x2)
            a, b = np.moveaxis(x1, axis, -1), np.moveaxis(x2, axis, -1)
            da, db = project(np.conj(slope) * b, a), project(slope * a, b)
            return np.moveaxis(da, -1, axis), np.moveaxis(db, -1, axis)

        return y, vecdot_pullback


if hasattr(np, "matvec"):  # NumPy 2.2
    @rrule(np.matvec, bilinear=(0, 1), domain=lambda rng: [
        call(rng.normal(size=(2, 3)), rng.normal(size=3)),
        call(rng.normal(size=(5, 2, 3)), rng.normal(size=3)),
        call(rng.normal(size=(2, 3)), rng.normal(size=(5, 3))),
        call(rng.normal(size=(4, 1, 2, 3)), rng.normal(size=(5, 3))),
        call(complex_normal(rng, 2, 3), complex_normal(rng, 3)),
    ])
    def matvec_rule(x1: np.ndarray, x2: np.ndarray):
        """Differentiate ``sum(x1 * x2[..., None, :], axis=-1)``."""
        y = np.matvec(x1, x2)

        def matvec_pullback(dy):
            dx1 = np.expand_dims(dy, -1) * np.expand_dims(np.conj(x2), -2)
            dx2 = np.matvec(np.swapaxes(np.conj(x1), -1, -2), dy)
            return project(dx1, x1), project(dx2, x2)

        return y, matvec_pullback

    @rrule(np.vecmat, bilinear=(0, 1), domain=lambda rng: [
        call(rng.normal(size=2), rng.normal(size=(2, 3))),
        call(rng.normal(size=2), rng.normal(size=(5, 2, 3))),
        call(rng.normal(size=(5, 2)), rng.normal(size=(2, 3))),
        call(rng.normal(size=(4, 1, 2)), rng.normal(size=(5, 2, 3))),
        call(complex_normal(rng, 2), complex_normal(rng, 2, 3)),
    ])
    def vecmat_rule(x1: np.ndarray, x2: np.ndarray):
        """Differentiate ``sum(conj(x1)[..., :, None] * x2, axis=-2)``."""
        y = np.vecmat(x1, x2)

        def vecmat_pullback(dy):
            dx1 = np.matvec(x2, np.conj(dy))
            dx2 = np.expand_dims(x1, -1) * np.expand_dims(dy, -2)
            return project(dx1, x1), project(dx2, x2)

        return y, vecmat_pullback


# --- no derivative --------------------------------------------------------------------------------

non_differentiable(
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift,
    np.isfinite, np.isinf, np.isnan, np.isnat, np.signbit,
    np.floor, np.ceil, np.trunc, np.rint, np.floor_divide, np.spacing, np.gcd, np.lcm,
)
if hasattr(np, "bitwise_count"):  # NumPy 2.0
    non_differentiable(np.bitwise_count)
