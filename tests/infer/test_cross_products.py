"""``np.cross`` of arrays of vectors: taken to have three components, which is checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import grad, jacobian, jvp, sparse_jacobian
from adcompiler.api.grad import kept_derivative

pytestmark = pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")

FLAT = [((4, 2), (4, 2)), ((4, 3), (4, 2)), ((2,), (2,)), ((2,), (3,))]
"""Shapes of vectors in a plane, which NumPy takes up to 2.4."""
TAKES_FLAT = np.lib.NumpyVersion(np.__version__) < "2.5.0"
SHAPES = [
    ((4, 3), (4, 3)), ((4, 3), (3,)), ((3,), (3,)), ((5, 1, 3), (4, 3)),
    *(FLAT if TAKES_FLAT else ()),
]


def cubes(a, b):
    return np.sum(np.cross(a, b) ** 3)


def flat(a, b):
    return 2.0 * np.ravel(np.cross(a, b))


def by_columns(a, b):
    return np.sum(np.cross(a, b, axisa=0, axisb=0, axisc=0) ** 2)


def drawn(*shapes: tuple[int, ...]) -> list[Any]:
    """Return arrays of random numbers."""
    rng = np.random.default_rng(3)
    return [rng.normal(size=shape) for shape in shapes]


@pytest.mark.parametrize(("first", "second"), SHAPES)
def test_derivatives(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    a, b, da, db = drawn(first, second, first, second)
    h = 1e-6
    ahead, behind = (cubes(a + s * da, b + s * db) for s in (h, -h))
    a_bar, b_bar = grad(cubes, argnums=(0, 1))(a, b)
    along = (ahead - behind) / (2 * h)
    assert np.isclose(np.sum(a_bar * da) + np.sum(b_bar * db), along, rtol=1e-6, atol=1e-7)
    assert np.isclose(jvp(cubes, (a, b), (da, db))[1], along, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(("first", "second"), SHAPES)
def test_jacobians(first: tuple[int, ...], second: tuple[int, ...], mode: Any) -> None:
    a, b = drawn(first, second)
    wanted = np.stack([flat(unit.reshape(a.shape), b) for unit in np.eye(a.size)], -1)
    found = jacobian(flat, mode=mode)(a, b)
    assert np.allclose(found.reshape(-1, a.size), wanted, atol=1e-14)
    assert np.allclose(sparse_jacobian(flat)(a, b).toarray(), wanted, atol=1e-14)


def test_one_function_for_vectors_of_both_lengths() -> None:
    g = grad(cubes)
    for n in (3, 2, 3, 2) if TAKES_FLAT else (3, 3):
        a, b, da = drawn((4, n), (4, n), (4, n))
        along = (cubes(a + 1e-6 * da, b) - cubes(a - 1e-6 * da, b)) / 2e-6
        assert np.isclose(np.sum(g(a, b) * da), along, rtol=1e-6, atol=1e-7)


def test_other_axes() -> None:
    a, b, da = drawn((3, 4), (3, 4), (3, 4))
    along = (by_columns(a + 1e-6 * da, b) - by_columns(a - 1e-6 * da, b)) / 2e-6
    assert np.isclose(np.sum(grad(by_columns)(a, b) * da), along, rtol=1e-7)


def test_many_tangents_at_once() -> None:
    a, b = drawn((4, 3), (4, 3))
    push = kept_derivative(flat, "forward", (0,), batched=True)
    push(a, b)(np.eye(12).reshape(12, 4, 3))
    assert push.specialisations.latest.report["seeds"] == []


@pytest.mark.parametrize(
    ("first", "second"), [((2, 4), (2, 4)), *(() if TAKES_FLAT else FLAT)])
def test_wrong_lengths_raise_what_numpy_raises(
    first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    a, b = np.ones(first), np.ones(second)
    with pytest.raises(ValueError) as raised:
        np.cross(a, b)
    with pytest.raises(ValueError) as found:
        grad(cubes)(a, b)
    assert str(found.value).startswith(str(raised.value))
