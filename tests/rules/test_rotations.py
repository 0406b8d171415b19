"""Rotations that are made of what is differentiated."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from adcompiler import grad, vjp
from adcompiler.errors import UncoveredError
from tests.lanes import one_in
from tests.rules.agreement import agrees

V = np.array([0.3, -0.2, 0.5])
W = np.array([[0.3, -0.2, 0.5], [2.5, 0.4, -1.0]])
Q = np.array([0.1, -0.7, 0.3, 0.4])
M = Rotation.from_rotvec([2.0, 1.0, -1.5]).as_matrix()
POINT = np.array([1.0, 2.0, 3.0])
KEPT = Rotation.from_rotvec(W)

PROGRAMS = {
    "apply": (lambda v: Rotation.from_rotvec(v).apply(POINT), V),
    "apply to it": (lambda v: Rotation.from_rotvec(POINT).apply(v, inverse=True), V),
    "apply several": (lambda v: Rotation.from_rotvec(v).apply(POINT), W),
    "apply to several": (lambda v: Rotation.from_rotvec(V).apply(v), W),
    "matrix": (lambda v: Rotation.from_rotvec(v).as_matrix(), W),
    "quaternion": (lambda v: Rotation.from_rotvec(v, degrees=True).as_quat(), 50.0 * W),
    "vector": (lambda q: Rotation.from_quat(q).as_rotvec(), Q),
    "vector backwards": (lambda q: Rotation.from_quat(-q).as_rotvec(True), Q),
    "canonical": (lambda q: Rotation.from_quat(-q).as_quat(canonical=True), Q),
    "from a matrix": (lambda m: Rotation.from_matrix(m).as_quat(), M),
    "from matrices": (lambda m: Rotation.from_matrix(m).as_rotvec(), np.stack((M, M @ M))),
    "euler": (lambda v: Rotation.from_euler("xyz", v).as_rotvec(), V),
    "inner euler": (lambda v: Rotation.from_euler("ZXZ", v, degrees=True).as_matrix(), 40.0 * W),
    "about one axis": (lambda v: Rotation.from_euler("y", v[0]).as_matrix(), V),
    "angles": (lambda q: Rotation.from_quat(q).as_euler("xyz"), Q),
    "inner angles": (lambda q: Rotation.from_quat(q).as_euler("ZYX", degrees=True) / 50.0, Q),
    "symmetric angles": (lambda v: Rotation.from_rotvec(v).as_euler("zxz"), W),
    "inner symmetric angles": (lambda v: Rotation.from_rotvec(v).as_euler("YZY"), W),
    "product": (
        lambda v: (Rotation.from_euler("xyz", v) * Rotation.from_rotvec(2.0 * v).inv()).as_quat(),
        V),
    **({"power": (lambda v: (Rotation.from_rotvec(v) ** 0.4).as_quat(), V)}
       if hasattr(Rotation, "__pow__") else {}),  # not in early versions of SciPy
    "magnitude": (lambda v: Rotation.from_rotvec(v).magnitude(), W),
    "item": (lambda v: Rotation.from_rotvec(v)[1].apply(POINT), W),
    "kept": (lambda v: KEPT.apply(v), W),
}


@pytest.mark.parametrize("name", one_in(2, PROGRAMS))
def test_values_and_gradients(name):
    f, x = PROGRAMS[name]
    found, wanted = vjp(f, x)[0], f(x)
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
    weights = np.cos(np.arange(np.size(wanted))).reshape(np.shape(wanted))
    agrees(lambda x: np.sum(f(x) ** 2 * weights), x, order=1, h=1e-6, tol=1e-5)


@pytest.mark.parametrize("v", [V, np.zeros(3), np.array([1e-5, 0.0, 2e-5])])
def test_second_derivatives_at_small_angles_too(v):
    agrees(lambda v: np.sum(Rotation.from_rotvec(v).as_matrix()[0] * POINT), v, tol=1e-5)
    agrees(lambda v: np.sum((
        Rotation.from_rotvec(v) * Rotation.from_rotvec(V)).as_rotvec() * POINT), v, tol=1e-5)


def test_no_rotation():
    def f(v):
        return np.sum(Rotation.from_rotvec(v).as_rotvec() * POINT)

    np.testing.assert_allclose(grad(f)(np.zeros(3)), POINT)


def test_angles_that_are_not_unique():
    with pytest.raises(UncoveredError, match="gimbal"):
        grad(lambda v: Rotation.from_rotvec(v).as_euler("zxz")[0])(np.array([0.0, 0.0, 0.3]))
