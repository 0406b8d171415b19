"""Sums into elements that are named several times: the bits of ``np.add.at``, by any way."""

import numpy as np
import pytest
from adcompiler import grad, sparse_hessian, sparse_jacobian
from adcompiler.runtime import accumulate

ROOM = np.random.default_rng(3)
WHOLE = slice(None)


def subscripts(n, *shape, dtype=int, least=None):
    return ROOM.integers(-n if least is None else least, n, size=shape).astype(dtype)


CASES = {
    "one axis": ((9,), subscripts(9, 2000)),
    "two axes of subscripts": ((9,), subscripts(9, 500, 3)),
    "few": ((9,), subscripts(9, 2, 3)),
    "rows": ((9, 3), subscripts(9, 700)),
    "rows by two axes": ((9, 2), subscripts(9, 300, 4)),
    "planes": ((5, 2, 3), subscripts(5, 400)),
    "behind one axis": ((4, 9), (WHOLE, subscripts(9, 600))),
    "behind one axis, two of subscripts": ((4, 9), (WHOLE, subscripts(9, 200, 3))),
    "between axes": ((3, 9, 2), (WHOLE, subscripts(9, 300))),
    "behind two axes": ((2, 3, 9), (WHOLE, WHOLE, subscripts(9, 300))),
    "small unsigned": ((9, 3), subscripts(9, 700, dtype=np.uint8, least=0)),
    "small signed": ((9, 3), subscripts(9, 700, dtype=np.int8)),
    "small signed, of a long axis": ((300, 3), subscripts(128, 700, dtype=np.int8)),
    "pairs": ((9, 9), (subscripts(9, 1500), subscripts(9, 1500))),
    "a part of an axis": ((4, 9), (slice(1, None), subscripts(9, 600))),
    "a mask": ((2000,), ROOM.random(2000) > 0.3),
    "a list": ((9,), [1, 2, -1] * 500),
}


@pytest.mark.parametrize("dtype", [float, np.float32, complex, int])
@pytest.mark.parametrize("case", CASES)
def test_sums_are_those_of_numpy(case, dtype):
    shape, index = CASES[case]
    wanted = (10 * ROOM.normal(size=shape)).astype(dtype)
    values = (10 * ROOM.normal(size=wanted[index].shape)).astype(dtype)
    found = wanted.copy()
    np.add.at(wanted, index, values)
    assert accumulate(found, index, values) is None
    assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("lay", [
    lambda a: np.asfortranarray(a), lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    lambda a: a[::-1], lambda a: a.T.copy().T,
])
def test_arrays_of_any_layout(lay):
    index = subscripts(9, 400)
    wanted, values = ROOM.normal(size=(9, 4)), ROOM.normal(size=(4, 400)).T
    found = lay(wanted.copy())
    held = found.copy()
    np.add.at(held, index, values)
    accumulate(found, index, values)
    assert np.array_equal(found, held)


def test_values_are_stretched():
    index = subscripts(9, 500)
    for values in (ROOM.normal(size=(500, 1)), ROOM.normal(size=(1, 1000)), 2.0, np.float64(2.0)):
        found, wanted = np.zeros((9, 1000)), np.zeros((9, 1000))
        np.add.at(wanted, index, values)
        accumulate(found, index, values)
        assert np.array_equal(found, wanted)


def test_values_that_lie_in_the_array_itself():
    found = ROOM.normal(size=(1200, 2))
    wanted = found.copy()
    index = subscripts(1200, 1200)
    np.add.at(wanted, index, wanted[::-1].copy())
    accumulate(found, index, found[::-1])
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("shape, added", [((9,), 800), ((9, 3), (800, 3)), ((4, 9), (4, 800))])
def test_subscripts_that_are_too_large(shape, added):
    index = subscripts(9, 800)
    index[5] = 9
    whole = (WHOLE, index) if shape == (4, 9) else index
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        accumulate(np.zeros(shape), whole, np.ones(added))


def test_nothing_to_add():
    found = np.zeros((0, 3))
    accumulate(found, np.zeros(0, int), np.zeros((0, 3)))
    accumulate(found.T.copy(), (WHOLE, np.zeros(0, int)), np.zeros((1, 0)))
    assert found.shape == (0, 3)


def test_emitted_text_says_how_it_adds():
    def by_triangles(u, corners):
        return np.sum(np.sin(u[corners]) * u[corners])

    def by_points(u, places):
        return np.sum(np.sin(u[places]) * u[places])

    u = ROOM.normal(size=30)
    corners, places = subscripts(30, 400, 3), subscripts(30, 50)
    triangles, points = grad(by_triangles), grad(by_points)
    wanted = np.bincount(corners.ravel() % 30, minlength=30) * (np.cos(u) * u + np.sin(u))
    assert triangles(u, corners) == pytest.approx(wanted, rel=1e-12)
    wanted = np.bincount(places % 30, minlength=30) * (np.cos(u) * u + np.sin(u))
    assert points(u, places) == pytest.approx(wanted, rel=1e-12)
    assert "accumulate(" in triangles.source and "np.add.at(" not in triangles.source
    assert "np.add.at(" in points.source and "accumulate(" not in points.source


def test_assembly_of_elements():
    def residual(u, corners):
        at = u[corners]
        slope = at[:, 1] - at[:, 0]
        out = np.zeros(u.shape[0])
        np.add.at(out, corners, np.stack([-(slope**3), slope**3], axis=1))
        return out

    u = ROOM.normal(size=300)
    corners = np.stack([np.arange(299), np.arange(1, 300)], axis=1)
    found = sparse_jacobian(residual)(u, corners).toarray()
    k = 3.0 * np.diff(u) ** 2
    wanted = np.diag(np.append(k, 0.0) + np.append(0.0, k)) - np.diag(k, 1) - np.diag(k, -1)
    assert found == pytest.approx(wanted, rel=1e-13)


def test_hessians_compute_no_gradient_beside():
    def chained(x):
        return np.sum((1.0 - x[:-1]) ** 2 + 100.0 * (x[1:] - x[:-1] ** 2) ** 2)

    text = sparse_hessian(chained).source_for(np.linspace(0.0, 1.0, 5))
    along = text[text.index("def chained_grad__along") : text.index("def chained_grad__constants")]
    assert "x_bar_dot[:, 1:] +=" in along and "x_bar[" not in along
