"""Complex decompositions, whose vectors have a free phase: derivatives of what does not feel it."""

import numpy as np
import pytest
import scipy.linalg

from adcompiler import grad, jvp

from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.testing import rule_function


def complex_normal(rng, *shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def assert_derivative(f, a, a_bar, rng):
    step = 1e-5
    v = complex_normal(rng, *a.shape)
    expected = (f(a + step * v) - f(a - step * v)) / (2.0 * step)
    assert np.sum(np.real(np.conj(a_bar) * v)) == pytest.approx(expected, rel=1e-7)


def test_complex_eigh():
    """The function is ``<c, v diag(sin(w)) v^H>``, whatever the phases of ``v``."""
    rng = np.random.default_rng(0)
    a, c = complex_normal(rng, 3, 3), complex_normal(rng, 3, 3)

    def f(a):
        w, v = np.linalg.eigh(a)
        return np.sum(np.real(np.conj(c) * ((v * np.sin(w)) @ np.conj(v.T))))

    (w, v), pullback = rule_function(REGISTRY.find(np.linalg.eigh))(a)
    dw = np.real(np.sum(np.conj(v) * (c @ v), 0)) * np.cos(w)
    dv = (c @ v + np.conj(c.T) @ v) * np.sin(w)
    assert_derivative(f, a, pullback((dw, dv)), rng)


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (2, 4)])
def test_complex_svd(shape):
    """The function is ``<c, u diag(sin(s)) v^H>``, whatever the phases of ``u`` and ``v``."""
    rng = np.random.default_rng(0)
    a, c = complex_normal(rng, *shape), complex_normal(rng, *shape)

    def f(a):
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(np.real(np.conj(c) * ((u * np.sin(s)) @ vh)))

    (u, s, vh), pullback = rule_function(REGISTRY.find(np.linalg.svd))(a, full_matrices=False)
    du = c @ np.conj(vh.T) * np.sin(s)
    ds = np.real(np.sum(np.conj(u) * (c @ np.conj(vh.T)), 0)) * np.cos(s)
    dvh = np.conj((u * np.sin(s)).T) @ c
    assert_derivative(f, a, pullback((du, ds, dvh)), rng)


def test_what_has_no_derivative_is_refused():
    with pytest.raises(NotImplementedError, match="mode='raw'"):
        rule_function(REGISTRY.find(np.linalg.qr))(np.ones((3, 2)), "raw")


def test_kaiser_windows_have_finite_derivatives_at_their_ends():
    _, along = jvp(lambda beta: np.kaiser(3, beta), (2.0,), (1.0,))
    step = 1e-6
    wanted = (np.kaiser(3, 2.0 + step) - np.kaiser(3, 2.0 - step)) / (2.0 * step)
    np.testing.assert_allclose(along, wanted, atol=1e-9)
    assert grad(lambda beta: np.sum(np.kaiser(4, beta)))(0.0) == 0.0


@pytest.mark.parametrize("split", [np.linalg.qr, scipy.linalg.qr], ids=["numpy", "scipy"])
@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3)])
def test_complete_factors_of_any_shape(split, shape):
    rng = np.random.default_rng(4)
    a, v = rng.normal(size=shape), rng.normal(size=shape)
    mode = "complete" if split is np.linalg.qr else "full"
    weights = [rng.normal(size=part.shape) for part in split(a, mode=mode)]

    def f(a):
        q, r = split(a, mode=mode)
        return np.sum(np.sin(q) * weights[0]) + np.sum(r**2 * weights[1])

    slope = (f(a + 1e-6 * v) - f(a - 1e-6 * v)) / 2e-6
    assert np.sum(grad(f)(a) * v) == pytest.approx(slope, rel=1e-6)
    assert jvp(f, (a,), (v,))[1] == pytest.approx(slope, rel=1e-6)
