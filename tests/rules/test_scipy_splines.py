"""Images evaluated between their pixels: SciPy's values, and derivatives in image and places."""

import numpy as np
import pytest
import scipy.ndimage

from adcompiler import MissingRuleError, grad, hessian, jacobian_sparsity, jvp, value_and_grad
from adcompiler_rules.kernels.scipy_splines import raised, sampled, sampled_adjoint

MODES = ("reflect", "grid-mirror", "mirror", "nearest", "wrap", "constant", "grid-wrap",
         "grid-constant")
IMAGE = np.random.default_rng(0).normal(size=(5, 4))


def places_about(rng, ndim, order):
    """Return places in and around small images, some on pixels and some halfway between them."""
    places = rng.uniform(-9.0, 12.0, (ndim, 30))
    places[:, :8] = rng.integers(-4, 8, (ndim, 8)) + (0.5 if order == 0 else 0.0)
    places[:, 8:12] = rng.integers(-4, 8, (ndim, 4))
    return places


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(5,), (2,), (1,), (90,), (4, 3), (3, 1, 4)])
def test_spline_is_the_one_of_scipy_and_its_adjoint_the_transpose(shape, mode):
    rng = np.random.default_rng(1)
    x, g, ndim = rng.normal(size=shape), rng.normal(size=30), len(shape)
    none = (0,) * ndim
    for order in range(6):
        for prefilter in (True, False):
            at, how = places_about(rng, ndim, order), (order, mode)
            direct = scipy.ndimage.map_coordinates(
                x, at, order=order, mode=mode, cval=0.7, prefilter=prefilter
            )
            np.testing.assert_allclose(
                sampled(x, at, *how, 0.7, prefilter, none), direct, atol=1e-12
            )
            linear = sampled(x, at, *how, 0.0, prefilter, none)
            back = sampled_adjoint(g, at, shape, *how, prefilter, none)
            assert np.sum(back * x) == pytest.approx(np.sum(g * linear), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_slopes_of_the_spline(mode):
    rng = np.random.default_rng(2)
    at = rng.integers(-5, 9, (2, 30)) + rng.uniform(0.1, 0.4, (2, 30))
    for order in range(1, 6):
        for axis in range(2):
            step = 1e-6 * np.eye(2)[axis][:, None]
            slope = sampled(IMAGE, at, order, mode, 0.7, True, raised((0, 0), axis))
            above = sampled(IMAGE, at + step, order, mode, 0.7, True, (0, 0))
            below = sampled(IMAGE, at - step, order, mode, 0.7, True, (0, 0))
            np.testing.assert_allclose(slope, (above - below) / 2e-6, atol=2e-6)


def differences(f, x):
    """Return central differences of a function of one number or array."""
    x, found = np.asarray(x), np.zeros(np.shape(x))
    for i in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[i] = 1e-6
        found[i] = (f(x + step) - f(x - step)) / 2e-6
    return found


def turned(angle):
    return np.sum(scipy.ndimage.rotate(IMAGE, angle, reshape=False, mode="wrap") ** 2)


def moved(by):
    return np.sum(scipy.ndimage.shift(IMAGE, [by, 2.0 * by]) ** 2)


def bent(a):
    return np.sum(scipy.ndimage.geometric_transform(
        IMAGE, lambda o, t: (o[0] * a[0] + 0.1, o[1] + t), order=2, extra_arguments=(a[1],)
    ) ** 2)


def tilted(m):
    return np.sum(scipy.ndimage.affine_transform(IMAGE, m, [m[0, 0], 0.2], mode="nearest") ** 2)


def looked_up(t):
    return np.sum(scipy.ndimage.map_coordinates(IMAGE, [[t[0], t[1]], [t[2], 1.3]]) ** 2)


@pytest.mark.parametrize(("f", "x"), [
    (turned, 33.0), (moved, 0.3), (bent, np.array([0.9, 0.3])),
    (tilted, np.array([[1.113, 0.207], [-0.103, 0.917]])), (looked_up, np.array([0.3, 1.2, 2.3])),
], ids=["rotate", "shift", "geometric_transform", "affine_transform", "map_coordinates"])
def test_derivatives_in_where_the_image_is_evaluated(f, x):
    value, g = value_and_grad(f)(x)
    wanted = differences(f, x)
    assert value == f(x)
    np.testing.assert_allclose(g, wanted, rtol=1e-6, atol=1e-7)
    v = np.random.default_rng(3).normal(size=np.shape(x))
    _, along = jvp(f, (x,), (v if np.ndim(x) else float(v),))
    assert along == pytest.approx(np.sum(wanted * v), rel=1e-6)
    second = np.tensordot(hessian(f)(x), v, np.ndim(x)) if np.ndim(x) else hessian(f)(x) * v
    ahead, behind = grad(f)(x + 1e-5 * v), grad(f)(x - 1e-5 * v)
    np.testing.assert_allclose(second, (ahead - behind) / 2e-5, rtol=1e-4, atol=2e-4)


def test_pattern_of_a_moved_image_is_dense():
    assert np.all(jacobian_sparsity(lambda x: scipy.ndimage.shift(x, 0.3), np.ones(4)).toarray())


def test_precision_of_the_image_is_kept():
    x = IMAGE.astype(np.float32)
    g = grad(lambda x: np.sum(scipy.ndimage.zoom(x, 1.7) ** 2))(x)
    assert g.dtype == np.float32
    wide = grad(lambda x: np.sum(scipy.ndimage.zoom(x, 1.7) ** 2))(x.astype(float))
    np.testing.assert_allclose(g, wide, rtol=1e-5)


@pytest.mark.parametrize(("f", "x", "message"), [
    (lambda z: np.sum(scipy.ndimage.zoom(IMAGE, z)), 1.5, "argument `zoom`"),
    (lambda c: np.sum(scipy.ndimage.shift(IMAGE, 0.3, cval=c)), 0.5, "argument `cval`"),
])
def test_what_is_not_differentiable_is_refused_by_name(f, x, message):
    with pytest.raises(MissingRuleError, match=message):
        grad(f)(x)
