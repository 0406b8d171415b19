"""Compares all kinds of derivatives of a program with central differences."""

import numpy as np

from adcompiler import grad, jvp, value_and_grad

DIRECTIONS = 3


def agrees(f, x, tol=1e-6, order=2, h=1e-5):
    """Check value, gradient, tangent and, for ``order`` 2, second derivative of ``f`` at ``x``.

    ``f`` takes one array or float and returns a number; the value is that of plain Python up to
    rounding. The second derivative is compared with differences of the gradient.
    """
    rng = np.random.default_rng(5)
    value, gradient = value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-9, atol=1e-12)
    assert np.shape(gradient) == np.shape(x)
    for _ in range(DIRECTIONS):
        v = rng.normal(size=np.shape(x)) if np.ndim(x) else rng.normal()
        wanted = (f(x + h * v) - f(x - h * v)) / (2 * h)
        near(np.sum(gradient * v), wanted, tol, "gradient")
        near(jvp(f, (x,), (v,))[1], wanted, tol, "tangent")
        if order == 2:
            slope = grad(f)
            along = (np.sum(slope(x + h * v) * v) - np.sum(slope(x - h * v) * v)) / (2 * h)
            again = grad(lambda z, v=v: np.sum(grad(f)(z) * v))(x)
            near(np.sum(again * v), along, 10 * tol, "second derivative")


def near(found, wanted, tol, what):
    """Check a number against finite differences."""
    assert np.isfinite(found), what
    assert abs(found - wanted) <= tol * (1.0 + abs(wanted)), f"{what} {found!r}, not {wanted!r}"
