"""Eigenvalue problems of SciPy: what does not depend on phases, closed forms, refusals."""

import numpy as np
import pytest
import scipy.linalg

from adcompiler import MissingRuleError, grad, vjp


def inner(a, b):
    return float(np.sum(np.real(np.conj(a) * b)))


def complex_normal(rng, *shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def sizes(w, v, weights):
    """Return a number that does not depend on the phases of the vectors."""
    return np.sum(np.sin(np.real(w)) + np.cos(np.imag(w))) + np.sum(weights * np.abs(v) ** 2)


def assert_slope(f, x, rng, rel=1e-6):
    v = rng.normal(size=x.shape) + (1j * rng.normal(size=x.shape) if np.iscomplexobj(x) else 0.0)
    slope = (f(x + 1e-5 * v) - f(x - 1e-5 * v)) / 2e-5
    assert inner(grad(f)(x), v) == pytest.approx(slope, rel=rel)


@pytest.mark.parametrize("kind", ["eigh", "eigh of two", "eig", "eig_banded", "svd"])
@pytest.mark.parametrize("is_complex", [False, True])
def test_vectors_up_to_their_phases(kind, is_complex):
    rng = np.random.default_rng(5)
    a = complex_normal(rng, 4, 4) if is_complex else rng.normal(size=(4, 4))
    b = 0.2 * complex_normal(rng, 4, 4) + 4.0 * np.eye(4)
    b = b if is_complex else b.real
    weights = rng.normal(size=(4, 4))

    def by_eigh(a):
        w, v = scipy.linalg.eigh(a)
        return sizes(w, v, weights)

    def of_two(b):
        w, v = scipy.linalg.eigh(a, b)
        return sizes(w, v, weights)

    def by_eig(a):
        w, v = scipy.linalg.eig(a)
        return np.sum(np.abs(w) ** 2) + np.sum(np.real(w * np.sum(np.abs(v) ** 2 * weights[0], 0)))

    def by_bands(bands):
        w, v = scipy.linalg.eig_banded(bands, lower=True)
        return sizes(w, v, weights)

    def by_svd(a):
        u, s, vh = scipy.linalg.svd(a)
        return np.sum(np.sin(s)) + np.sum(weights * np.abs(u) ** 2) + np.sum(np.real(u @ vh))

    if kind == "eigh of two":
        assert_slope(of_two, b, rng)
    elif kind == "eig_banded":
        assert_slope(by_bands, a[:2], rng)
    else:
        assert_slope({"eigh": by_eigh, "eig": by_eig, "svd": by_svd}[kind], a, rng)


A = np.array([[2.0, 1.0], [1.0, 3.0]])


@pytest.mark.parametrize("eigvalsh", [np.linalg.eigvalsh, scipy.linalg.eigvalsh])
def test_eigenvalues_have_the_products_of_their_vectors(eigvalsh):
    lowest = grad(lambda a: eigvalsh(a)[0])(A)
    np.testing.assert_allclose(np.diag(lowest), [0.7236067977499788, 0.2763932022500209])
    # one triangle is read: it has the cotangents of both
    assert lowest[1, 0] == pytest.approx(2.0 * -0.4472135954999578)
    assert lowest[0, 1] == 0.0
    np.testing.assert_allclose(grad(lambda a: np.sum(eigvalsh(a)))(A), np.eye(2), atol=1e-15)


@pytest.mark.parametrize("eigvalsh", [np.linalg.eigvalsh, scipy.linalg.eigvalsh])
def test_explain_says_that_vectors_are_computed(eigvalsh):
    changed = grad(lambda a: np.sum(eigvalsh(a) ** 2)).explain(A).changed
    assert any("eigvalsh: computes" in line and "eigenvectors" in line for line in changed)


def test_vectors_of_equal_values_do_not_turn_into_one_another():
    def f(a):
        w, v = scipy.linalg.eigh(a)
        return np.sum(w**3) + np.sum(v @ np.diag(w) @ v.T)

    np.testing.assert_allclose(grad(f)(np.eye(3)), 4.0 * np.eye(3), atol=1e-12)


@pytest.mark.parametrize(("f", "message"), [
    (lambda a: scipy.linalg.eig(a, left=True)[0], "right vectors"),
    (lambda a: scipy.linalg.eigvals(a, A), "without b="),
    (lambda a: scipy.linalg.eigh(a, A, type=2)[0], "type=1"),
    (lambda a: scipy.linalg.solve(a, A[0], assume_a="upper"), "assume_a='upper'"),
    (lambda a: scipy.linalg.qr(a, mode="raw"), "mode='raw'"),
    (lambda a: scipy.linalg.pinv(a, return_rank=True)[0], "return_rank"),
])
def test_what_has_no_rule_is_refused_before_running(f, message):
    with pytest.raises(MissingRuleError, match=message) as caught:
        vjp(f, A)
    assert "test_scipy_eigenvalues.py:" in str(caught.value)


@pytest.mark.parametrize("eigvals", [np.linalg.eigvals, scipy.linalg.eigvals])
def test_eigenvalues_keep_the_order_of_the_function(eigvals):
    """LAPACK gives those of large matrices in another order where it computes vectors too."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=(150, 150))
    assert np.abs(eigvals(a) - np.linalg.eig(a)[0]).max() > 1.0

    def first(a):
        return np.real(eigvals(a)[0]) + 2.0 * np.imag(eigvals(a)[0])

    value, _ = vjp(first, a)
    assert value == first(a)
    assert_slope(first, a, rng, rel=1e-4)
