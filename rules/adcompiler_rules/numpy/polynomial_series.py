"""Rules of ``numpy.polynomial``: values, derivatives and integrals of series, and their roots.

What a function of coefficients does linearly is a matrix, which NumPy's function gives for the unit
vectors. A value has the derivative of the series in its argument, and the basis in coefficients.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from adcompiler.rulekit import (
    Call, Undecided, call, complexes, facts, non_differentiable, rrule,
)
from adcompiler.runtime import unbroadcast
from adcompiler_rules.kernels.polynomials import (
    basis_slopes, constants_of, derivative_of, integral_of, product_with_x,
)
from adcompiler.runtime.adjoints.shaping import like

REPEATED = "roots that coincide have no derivative"


def values(rng: np.random.Generator) -> list[Call]:
    """Return calls of a function that evaluates a series."""
    return [
        call(rng.uniform(-0.9, 0.9, 3), rng.normal(size=4)), call(0.3, rng.normal(size=3)),
        call(rng.uniform(-0.9, 0.9, (2, 3)), rng.normal(size=2)), call(0.4, rng.normal(size=1)),
        call(rng.uniform(-0.9, 0.9, 2), rng.normal(size=(3, 2))),
        call(rng.uniform(-0.9, 0.9, 2), rng.normal(size=(3, 2)), tensor=False),
        call(rng.uniform(-0.9, 0.9, 3), [1.0, 0.5, 0.25]),
        call(complexes(rng, 2), complexes(rng, 3)),
        call([0.1, 0.3], rng.normal(size=3)), call(np.zeros(0), rng.normal(size=3)),
    ]


def derived(rng: np.random.Generator) -> list[Call]:
    """Return calls of a function that differentiates a series."""
    return [
        call(rng.normal(size=4)), call(rng.normal(size=4), 2), call(rng.normal(size=4), 1, 0.5),
        call(rng.normal(size=5), 2, 1.5), call(rng.normal(size=(3, 2))),
        call(rng.normal(size=(2, 3)), axis=1),
        call(rng.normal(size=3), 3), call(rng.normal(size=1)), call(rng.normal(size=3), 0),
        call(complexes(rng, 3)),
    ]


def integrated(rng: np.random.Generator) -> list[Call]:
    """Return calls of a function that integrates a series."""
    return [
        call(rng.normal(size=3)), call(rng.normal(size=3), 2), call(rng.normal(size=3), 1, [0.5]),
        call(rng.normal(size=3), 2, [0.5, -0.3], 0.4, 0.5), call(rng.normal(size=(3, 2))),
        call(rng.normal(size=(2, 3)), 1, [], 0.5, axis=1), call(rng.normal(size=2), 0),
        call(rng.normal(size=3), 1, 0.7), call(complexes(rng, 2)),
    ]


def vandermondes(rng: np.random.Generator) -> list[Call]:
    """Return calls of a function that evaluates the first polynomials of a basis."""
    return [
        call(rng.uniform(-0.9, 0.9, 3), 3), call(rng.uniform(-0.9, 0.9, (2, 2)), 1), call(0.4, 2),
        call(rng.uniform(-0.9, 0.9, 2), 0), call(complexes(rng, 2), 2), call([0.1, 0.3], 2),
    ]


def polynomials_with_roots(rng: np.random.Generator) -> list[Call]:
    """Return coefficients of series with real and with complex roots."""
    return [
        call(np.array([-1.5, 0.5, 1.0, 0.3])), call(np.array([2.0, 0.3, 1.5])),
        call(np.array([0.5, 1.5])), call(complexes(rng, 4)), call(np.array([1.5])),
    ]


def register_value(val: Any, der: Any, vander: Any) -> None:
    """Register the rule of the function that evaluates a series."""

    @rrule(val, wrt=("x", "c"), domain=values)
    def value_rule(x, c, tensor=True):
        y = val(x, c, tensor)
        c_shape, x_shape, x_axes = np.shape(c), np.shape(x), np.ndim(x)

        def value_pullback(dy):
            def dx():
                slope = np.conj(val(x, der(c), tensor)) * dy
                if tensor:
                    return like(np.sum(slope, axis=tuple(range(len(c_shape) - 1))), x)
                return like(unbroadcast(slope, x_shape), x)

            def dc():
                basis = np.reshape(vander(x, c_shape[0] - 1), (*x_shape, c_shape[0]))
                basis = np.conj(np.moveaxis(basis, -1, 0))
                if not tensor:
                    return like(unbroadcast(basis * dy, c_shape), c)
                inner = tuple(range(1, x_axes + 1))
                last = tuple(range(len(c_shape) - 1, len(c_shape) - 1 + x_axes))
                return like(np.tensordot(basis, dy, axes=(inner, last)), c)

            return dx, dc

        return y, value_pullback


def register_linear(der: Any, integral: Any) -> None:
    """Register the rules of derivatives and integrals of a series, as series."""

    @rrule(der, wrt=("c", "scl"), domain=derived)
    def derivative_rule(c, m=1, scl=1, axis=0):
        n = np.shape(c)[axis]
        y = der(c, m, scl, axis)

        def derivative_pullback(dy):
            def dc():
                matrix = np.transpose(derivative_of(der, n, m, y)) * np.conj(scl) ** m
                g = np.tensordot(matrix, np.moveaxis(dy, axis, 0), 1)
                return like(np.moveaxis(g, 0, axis), c)

            def dscl():
                unscaled = np.sum(dy * np.conj(der(c, m, 1, axis)))
                return like(unscaled * m * np.conj(scl) ** max(m - 1, 0), scl)

            return dc, dscl

        return y, derivative_pullback

    @rrule(integral, wrt=("c", "k"), domain=integrated)
    def integral_rule(c, m=1, k=(), lbnd=0, scl=1, axis=0):
        n = np.shape(c)[axis]
        y = integral(c, m, k, lbnd, scl, axis)

        def integral_pullback(dy):
            first = np.moveaxis(dy, axis, 0)

            def dc():
                g = np.tensordot(np.transpose(integral_of(integral, n, m, lbnd, scl, y)), first, 1)
                return like(np.moveaxis(g, 0, axis), c)

            def dk():
                dk = np.transpose(constants_of(integral, first.shape[0], m, lbnd, scl, y)) @ first
                return like(np.reshape(dk[: np.size(k)], np.shape(k)), k)

            return dc, dk

        return y, integral_pullback


def register_product(mulx: Any) -> None:
    """Register the rule of the product of a series with its variable."""

    @rrule(mulx, wrt=("c",), domain=lambda rng: [
        call(rng.normal(size=4)), call(rng.normal(size=1)), call([0.5, 1.5]),
        call(complexes(rng, 3)),
    ])
    def mulx_rule(c):
        n, y = np.shape(c)[0], mulx(c)

        def mulx_pullback(dy):
            return like(np.transpose(product_with_x(mulx, n, y.shape[0], y)) @ dy, c)

        return y, mulx_pullback


def register_basis(vander: Any, der: Any) -> None:
    """Register the rule of the function that evaluates the first polynomials of a basis."""

    @rrule(vander, wrt=("x",), domain=vandermondes)
    def vander_rule(x, deg):
        y = vander(x, deg)

        def vander_pullback(dy):
            slopes = y @ basis_slopes(der, y.shape[-1], y)
            return like(np.sum(np.conj(slopes) * dy, axis=-1), x)

        return y, vander_pullback


def register_roots(roots: Any, der: Any, vander: Any) -> None:
    """Register the rule of the roots of a series."""

    @rrule(roots, wrt=("c",), domain=polynomials_with_roots, kink=REPEATED)
    def roots_rule(c):
        """``dr = -V(r) dc / p'(r)``; a coefficient of zero behind the last one is none."""
        r = roots(c)
        n = np.shape(c)[0]

        def roots_pullback(dr):
            basis = vander(r, n - 1)
            slopes = basis[:, : max(n - 1, 1)] @ der(c)
            return like(-np.sum(np.conj(basis / slopes[:, np.newaxis]) * dr[:, np.newaxis], 0), c)

        return r, roots_pullback


def roots_of(c: Any) -> Any:
    """Return roots; of real coefficients the values decide whether they are complex."""
    if not np.iscomplexobj(c):
        raise Undecided
    return np.empty(1, np.asarray(c).dtype)


def matrix_of(x: Any, deg: Any) -> Any:
    """Return what a function of a basis gives for numbers, of whatever degree: an axis more."""
    dtype = np.result_type(np.asarray(x).dtype, 0.0)
    return np.empty((1,) * (max(np.ndim(x), 1) + 1), dtype)


FAMILIES = (
    (polynomial, "poly"), (chebyshev, "cheb"), (legendre, "leg"), (hermite, "herm"),
    (hermite_e, "herme"), (laguerre, "lag"),
)
for _module, _name in FAMILIES:
    _val, _der, _int, _vander, _roots = (
        getattr(_module, f"{_name}{_part}") for _part in ("val", "der", "int", "vander", "roots")
    )
    register_linear(_der, _int)
    register_basis(_vander, _der)
    register_roots(_roots, _der, _vander)
    register_product(getattr(_module, f"{_name}mulx"))
    facts(getattr(_module, f"{_name}mulx"), pure=True, tried=True, writes=())
    if _module is not polynomial:  # of which the source is compiled: it is Horner's scheme
        register_value(_val, _der, _vander)
        facts(_val, pure=True, tried=True, shares="none", writes=())
    facts(_vander, pure=True, shares="none", writes=(), typed_as=matrix_of)
    facts(_der, _int, pure=True, tried=True, writes=())
    facts(_roots, pure=True, writes=(), shares="none", typed_as=roots_of)

non_differentiable(derivative_of, integral_of, constants_of, basis_slopes, product_with_x)
