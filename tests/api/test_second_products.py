"""Diagonals of Hessians, Laplacians, Gauss-Newton products, transposes of linear functions."""

import numpy as np
import pytest

from adcompiler import (
    UnsupportedError, gnvp, grad, hessian, hessian_diagonal, jacobian, laplacian, linear_transpose,
)

RNG = np.random.default_rng(0)
X, V, A = RNG.normal(size=4), RNG.normal(size=4), RNG.normal(size=(4, 4))


def mirrored(x):
    return np.sum(np.sin(x) * x[::-1] ** 2)


def mixed(M, s):
    return np.sum(np.tanh(M @ M) * s)


def branched(x):
    total = 0.0
    for v in x:
        if v > 0:
            total += v**3
        else:
            total -= v**2 * x[0]
    return total


def test_diagonals_are_those_of_hessians():
    for f in (mirrored, branched):
        diagonal = np.diag(hessian(f)(X))
        assert np.allclose(hessian_diagonal(f)(X), diagonal, rtol=1e-12)
        assert np.isclose(laplacian(f)(X), diagonal.sum(), rtol=1e-12)
    whole = hessian(mixed)(A, 2.0).reshape(16, 16)
    assert np.allclose(hessian_diagonal(mixed)(A, 2.0), np.diag(whole).reshape(4, 4), rtol=1e-11)
    assert hessian_diagonal(lambda s, x: s**3 * x, 0)(2.0, 5.0) == 60.0
    assert laplacian(lambda x: x**3)(2) == 12.0
    assert hessian_diagonal(mirrored)(X.astype(np.float32)).dtype == np.float32


def test_the_code_of_a_diagonal_is_for_all_directions_at_once():
    diagonal = hessian_diagonal(mirrored)
    diagonal(X)
    assert "for " not in diagonal.source.partition('"""')[2].partition('"""')[2].replace("# ", "")
    assert "Return the diagonal of the Hessian of `mirrored`." in diagonal.source


def test_laplacians_are_differentiated():
    def quartic(x):
        return np.sum(x**2) ** 2

    # 4 (n + 2) |x|^2, with n = 4
    assert np.isclose(laplacian(quartic)(X), 24 * X @ X, rtol=1e-13)
    assert np.allclose(grad(laplacian(quartic))(X), 48 * X, rtol=1e-12)
    assert np.isclose(laplacian(laplacian(quartic))(X), 48 * 4, rtol=1e-12)
    penalty = grad(lambda x: laplacian(quartic)(x) ** 2)
    assert np.allclose(penalty(X), 2 * 24 * X @ X * 48 * X, rtol=1e-12)


def test_products_with_gauss_newton_matrices():
    def residuals(x, s):
        return np.sin(A @ x) * s

    def loss(y):
        return np.sum(y**4)

    J = jacobian(residuals)(X, 1.5)
    assert np.allclose(gnvp(residuals, X, V, 1.5), J.T @ J @ V, rtol=1e-12)
    H = np.diag(12 * residuals(X, 1.5) ** 2)
    assert np.allclose(gnvp(residuals, X, V, 1.5, loss=loss), J.T @ H @ J @ V, rtol=1e-12)
    inside = grad(lambda x: V @ gnvp(residuals, x, V, 1.5))
    assert np.allclose(inside(X), grad(lambda x: np.sum((jacobian(residuals)(x, 1.5) @ V) ** 2))(X))
    with pytest.raises(UnsupportedError, match="loss="):
        grad(lambda x: V @ gnvp(residuals, x, V, 1.5, loss=loss), fallback="refuse")(X)


def test_transposes_of_linear_functions():
    transpose = linear_transpose(lambda x, y: (A @ x + y["b"], x[0] * 2.0), X, {"b": X})
    x_bar, y_bar = transpose((V, 3.0))
    assert np.allclose(x_bar, A.T @ V + [6.0, 0.0, 0.0, 0.0])
    assert np.array_equal(y_bar["b"], V)
    assert linear_transpose(lambda x: 3.0 * x, 0.0)(2.0) == (6.0,)
    for f in (np.sin, lambda x: A @ x + 1.0, lambda x: x * x, lambda x: x * x[0]):
        with pytest.raises(ValueError, match="not linear"):
            linear_transpose(f, X)


def test_what_has_no_diagonal_is_refused():
    with pytest.raises(UnsupportedError, match="in an argument of type"):
        hessian_diagonal(lambda p: p[0] * p[1])((1.0, 2.0))
    with pytest.raises(UnsupportedError, match="complex"):
        laplacian(lambda z: abs(z) ** 2)(1.0 + 2.0j)
