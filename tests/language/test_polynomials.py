"""Polynomials as objects: of coefficients that are differentiated, or of the module."""

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Hermite, HermiteE, Laguerre, Legendre, Polynomial
from numpy.polynomial import chebyshev, hermite, laguerre, legendre, polynomial

from adcompiler import UnsupportedError, grad, hessian, jacobian, jacobian_sparsity, jvp
from tests.lanes import one_in
from tests.language.check import Cases

programs, fits = Cases(), Cases(records=True)
X = np.array([0.3, -1.2, 2.1, 0.7, 1.4, -0.5])
T = np.array([0.1, 0.4, 0.9])
CUBIC, LINE = Polynomial([1.0, 2.0, 0.5, -0.3]), np.poly1d([1.0, -2.0, 0.3])
MAPPED = Polynomial([1.0, 2.0, 0.5], domain=[0.0, 2.0], window=[-1.0, 3.0])


@programs(X)
def values(x):
    return np.poly1d(x)(T) + Polynomial(x)(T) * np.poly1d(x[:3])(x[3:]) - Polynomial(x)(0.5)


@programs(X)
def sums_and_products(x):
    p, q = np.poly1d(x[:3]), np.poly1d(x[2:])
    r = 2.0 * p * q - q / x[1] + 3.0 - p**2
    return (-r)(T) + (p * [1.0, 2.0])(0.3)


@programs(X)
def derivatives_and_integrals(x):
    p = np.poly1d(x)
    r = p.deriv() * p.integ(k=x[1]) - p.deriv(2)
    return r(T) * p.order + p[2] * p.c[0] + len(p)


@programs(X)
def quotients(x):
    quotient, rest = np.poly1d(x[:4]) / np.poly1d(x[4:])
    return quotient(T) * rest(T)


@programs(X)
def of_polynomials(x):
    return np.poly1d(x[:3])(np.poly1d(x[3:]))(T) + Polynomial(x[:3])(Polynomial(x[3:]))(T)


@programs(X)
def series(x):
    p, q = Polynomial(x[:3]), Polynomial(x[2:])
    r = 2.0 * p * q - q / 3.0 + x[0] - p**2
    return (-r)(T) + p.coef * p.degree() + r.cutdeg(2).coef


@programs(X)
def series_over_a_domain(x):
    p = Polynomial(x, domain=[0.0, 2.0])
    r = p.deriv() * p.integ(1, k=[x[2]], lbnd=0.5) + p.deriv(2)
    return r(T) + p.linspace(3)[1]


@programs(X)
def of_the_module(x):
    return CUBIC(x) * LINE(x) + CUBIC.deriv()(x) - LINE.deriv()(x) * MAPPED(x) + MAPPED.integ()(x)


@programs(X)
def with_those_of_the_module(x):
    r = CUBIC * Polynomial(x[:3]) + (2.0 - CUBIC) ** 2 + Polynomial(x[3:]) - CUBIC
    return r(T)


@programs(X)
def made_otherwise(x):
    t = Polynomial.identity()
    p = x[0] * t**2 + x[1] * t + x[2]
    q = Polynomial.fromroots(x[:3])
    return p(T) * q(T) + Polynomial.basis(2)(x[:3]) + np.poly1d(x[:2], r=True)(T)


@programs(X)
def in_a_loop(x):
    p, q = np.poly1d([1.0]), Polynomial([1.0])
    for i in range(3):
        p = p * np.poly1d([1.0, x[i]])
        q = q * Polynomial([x[i], 1.0]) + x[3]
    return p(T) + q(T)


@programs(X)
def chebyshev_series(x):
    p, q = Chebyshev(x[:4]), Chebyshev(x[2:], domain=[-1.0, 1.0])
    r = p * q - 2.0 * p + p.deriv() + q.integ(2)
    return r(T) + Chebyshev(x, domain=[0.0, 3.0])(T)


@programs(X)
def other_kinds(x):
    legendres = Legendre(x[:3]) * Legendre(x[3:]) + Legendre(x).integ()
    hermites = Hermite(x).deriv()(T) + HermiteE(x[:3])(x[3:]) * Hermite(x[:2])(T)
    return legendres(T) * hermites + Laguerre(x[:4]).integ()(T) - Laguerre(x).deriv()(T)


@programs(X)
def functions(x):
    y = chebyshev.chebval(T, x) + legendre.legval(x[:3], [1.0, 2.0, 3.0]) * hermite.hermval(0.3, x)
    z = polynomial.polyval(T, polynomial.polyder(x)) + laguerre.lagval(T, laguerre.lagint(x))
    return y * z + chebyshev.chebvander(x[:3], 2) @ x[3:] + polynomial.polyvander(x[:3], 2) @ T


@programs(X)
def roots(x):
    p = np.poly1d([1.0, x[1], -3.0]).roots + Polynomial([-2.0, x[2], 1.0]).roots()
    return np.real(p) + np.real(chebyshev.chebroots([x[0], x[1], x[2]]))


@pytest.mark.parametrize("case", programs, ids=str)
def test_programs(case):
    programs.check(case)


@pytest.mark.parametrize("case", one_in(3, programs), ids=str)
def test_forward(case):
    f, tangent = case.function, np.cos(np.arange(6.0))
    value, d = jvp(f, (X,), (tangent,))
    assert np.allclose(value, f(X), rtol=1e-13)
    assert np.allclose(np.reshape(jacobian(f)(X), (-1, 6)) @ tangent, np.ravel(d))


@fits(X)
def fitted(x):
    p = Polynomial.fit(np.arange(6.0), x, 2)
    return p(T) + np.poly1d(np.polyfit(np.arange(6.0), x, 2))(T)


@fits(X)
def fitted_and_converted(x):
    return Polynomial.fit(np.arange(6.0), x, 2).convert().coef ** 2


@fits(X)
def fitted_by_chebyshev(x):
    return Chebyshev.fit(np.arange(6.0), x, 3)(T)


@pytest.mark.records
@pytest.mark.parametrize("case", fits, ids=str)
def test_fits(case):
    """NumPy's code for fits has arrays of unknown dimensions: they are recorded."""
    programs.check(case)
    f, tangent = case.function, np.cos(np.arange(6.0))
    value, d = jvp(f, (X,), (tangent,))
    assert np.allclose(value, f(X), rtol=1e-13)
    assert np.allclose(jacobian(f)(X) @ tangent, d)


TWICE = (
    sums_and_products, quotients, series_over_a_domain, of_the_module,
    with_those_of_the_module, roots,
)


@pytest.mark.parametrize("f", one_in(2, TWICE), ids=lambda f: f.__name__)
def test_second_order(f):
    tangent, h = np.cos(np.arange(6.0)), 1e-5

    def gradient(x):
        return grad(lambda x: np.sum(f(x) ** 2))(x)

    expected = (gradient(X + h * tangent) - gradient(X - h * tangent)) / (2.0 * h)
    scale = 1.0 + np.max(np.abs(expected))
    forward = jvp(gradient, (X,), (tangent,))[1]
    assert np.allclose(forward / scale, expected / scale, atol=1e-7)


def test_hessians_of_polynomials_of_the_module():
    expected = np.diag(CUBIC.deriv(2)(X))
    assert np.allclose(hessian(lambda x: np.sum(CUBIC(x)))(X), expected)
    assert np.allclose(hessian(lambda x: np.sum(CUBIC.integ().deriv()(x)))(X), expected)


def test_patterns():
    assert np.array_equal(jacobian_sparsity(lambda x: CUBIC(x), X).toarray(), np.eye(6))
    pattern = jacobian_sparsity(lambda x: Chebyshev(x)(T), X).toarray()
    assert np.all(pattern.astype(bool) | (np.abs(jacobian(lambda x: Chebyshev(x)(T))(X)) < 1e-12))


@pytest.mark.parametrize(("f", "message"), [
    (lambda x: Polynomial(x), "is returned"), (lambda x: [np.poly1d(x)], "is returned"),
    (lambda x: float(str(np.poly1d(x))), "not compiled"),
])
def test_what_leaves_is_refused(f, message):
    with pytest.raises(UnsupportedError, match=message):
        jvp(f, (X,), (X,))


def test_different_kinds_and_domains_raise():
    with pytest.raises(TypeError, match="types differ"):
        grad(lambda x: (Polynomial(x) + Chebyshev(x))(0.5))(X)
    with pytest.raises(TypeError, match="omains differ"):
        grad(lambda x: (Polynomial(x) + MAPPED)(0.5))(X)


def test_a_chebyshev_of_a_series_is_refused():
    with pytest.raises(NotImplementedError):
        grad(lambda x: Chebyshev(x)(Chebyshev([0.0, 1.0]))(0.5))(X)
