"""Jacobians in both modes: against closed forms, and each other."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from adcompiler import fmad, grad, jacfwd, jacobian, jacrev
from adcompiler.dispatch import trees


def rows(v):
    x, y, z, w = v
    return np.array([math.sin(x + y), math.sin(y + z), math.cos(z + w), math.cos(w + x)])


POINT = np.array([1.0, 1.5, 1.3, 1.2])
JACOBIAN = np.zeros((4, 4))
JACOBIAN[0, :2] = -0.8011436155469337
JACOBIAN[1, 1:3] = -0.9422223406686581
JACOBIAN[2, 2:] = -0.5984721441039565
JACOBIAN[3, [0, 3]] = -0.8084964038195901


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_known_matrix(mode):
    assert np.allclose(jacobian(rows, mode=mode)(POINT), JACOBIAN, rtol=1e-15, atol=1e-16)


def test_into_a_buffer():
    out = np.full((4, 4), np.nan)
    assert jacobian(rows, out=out)(POINT) is out
    assert np.allclose(out, JACOBIAN)
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        jacobian(rows, out=np.zeros((2, 2)))(POINT)


@pytest.mark.parametrize("made", [jacfwd, jacrev])
def test_shapes_are_those_of_the_result_then_of_the_argument(made):
    def f(x, s):
        return np.sin(x) * s, np.sum(x)

    x = np.linspace(0.0, 1.0, 6).reshape(2, 3)
    (first, by_s), (total, zero) = made(f, (0, 1))(x, 2.0)
    assert first.shape == (2, 3, 2, 3) and by_s.shape == (2, 3) and total.shape == (2, 3)
    assert np.allclose(first.reshape(6, 6), np.diag(2.0 * np.cos(x).ravel()))
    assert np.allclose(by_s, np.sin(x)) and np.allclose(total, 1.0) and zero == 0.0
    assert made(lambda x: x[:0])(np.ones(3)).shape == (0, 3)
    assert made(lambda x: np.append(x, 1.0))(np.ones(0)).shape == (1, 0)
    assert made(lambda t: t * t)(3.0) == 6.0


@pytest.mark.parametrize("made", [jacfwd, jacrev])
def test_structures_nest(made):
    def f(p):
        return {"a": p["w"] * 2.0, "b": p["w"][0] * p["c"][0]}

    found = made(f)({"w": np.array([1.0, 2.0]), "c": [3.0]})
    assert np.array_equal(found["a"]["w"], 2.0 * np.eye(2))
    assert np.array_equal(found["a"]["c"][0], [0.0, 0.0])
    assert np.array_equal(found["b"]["w"], [3.0, 0.0]) and found["b"]["c"] == [1.0]
    point = SimpleNamespace(x=2.0, y=5.0)
    assert made(lambda p: p.x * p.y)(point) == SimpleNamespace(x=5.0, y=2.0)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_complex_numbers_are_for_holomorphic_functions(mode):
    z = np.array([1.0 + 2.0j, 3.0j])
    found = jacobian(lambda z: np.exp(z) * z[0], mode=mode, holomorphic=True)(z)
    expected = np.diag(np.exp(z) * z[0])
    expected[:, 0] += np.exp(z)
    assert np.allclose(found, expected)
    with pytest.raises(TypeError, match="holomorphic"):
        jacobian(np.exp, mode=mode)(z)
    with pytest.raises(TypeError, match="holomorphic"):
        jacobian(lambda x: x * 1j, mode=mode)(np.ones(2))


def test_arguments_stay_as_they_were():
    def f(x):
        x *= 3.0
        return x

    x = np.array([1.0, 2.0])
    for made in (jacfwd, jacrev, jacobian):
        assert np.array_equal(made(f)(x), 3.0 * np.eye(2))
        assert np.array_equal(x, [1.0, 2.0])


def test_gradients_in_forward_mode():
    def f(x, s):
        return np.sum(np.sin(x) * s) + s

    x = np.linspace(0.0, 1.0, 4).astype(np.float32)
    found, expected = fmad(f, (0, 1))(x, 2.0), grad(f, (0, 1))(x, 2.0)
    assert np.allclose(found[0], expected[0], rtol=1e-6) and found[0].dtype == np.float32
    assert found[1] == pytest.approx(expected[1], rel=1e-6) and type(found[1]) is float
    with pytest.raises(TypeError, match="scalar"):
        fmad(lambda x: x)(np.ones(2))


def test_modes_have_names():
    with pytest.raises(ValueError, match="auto, forward, reverse"):
        jacobian(rows, mode="adjoint")


@pytest.mark.parametrize("made", [jacfwd, jacrev])
@pytest.mark.parametrize("numbers", [1, 10, 1000])
def test_seeds_are_taken_so_many_at_once(monkeypatch, made, numbers):
    monkeypatch.setattr(trees, "MAX_NUMBERS", numbers)

    def f(p, s):
        return (p["w"] * s, p["w"][0] * p["c"][0] + s, [p["c"][0] ** 2])

    point = {"w": np.array([1.0, 2.0, 4.0]), "c": [3.0]}
    (scaled, by_s), (product, one), [(square, none)] = made(f, (0, 1))(point, 5.0)
    assert np.array_equal(scaled["w"], 5.0 * np.eye(3)) and np.array_equal(by_s, point["w"])
    assert np.array_equal(scaled["c"][0], np.zeros(3))
    assert np.array_equal(product["w"], [3.0, 0.0, 0.0]) and product["c"] == [1.0] and one == 1.0
    assert np.array_equal(square["w"], np.zeros(3)) and square["c"] == [6.0] and none == 0.0


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_keyword_arguments_and_an_axis_more_in_the_result(mode):
    def f(x, *, power=2, shift):
        return np.stack([x**power, x + shift])

    found = jacobian(f, mode=mode)(np.array([1.0, 3.0]), shift=2.0, power=3)
    assert np.allclose(found, [np.diag([3.0, 27.0]), np.eye(2)])


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_trees_are_written_into_trees(mode):
    out = {"a": np.empty((2, 2)), "b": np.empty(2)}

    def f(x):
        return {"a": x * x, "b": x[0] * x[1]}

    assert jacobian(f, mode=mode, out=out)(np.array([2.0, 5.0])) is out
    assert np.array_equal(out["a"], np.diag([4.0, 10.0])) and np.array_equal(out["b"], [5.0, 2.0])


def test_the_blocks_have_storage_of_their_own():
    for made in (jacfwd, jacrev):
        first, second = made(lambda x, y: x + y, (0, 1))(np.ones(2), np.ones(2))
        first[:] = 7.0
        assert np.array_equal(second, np.eye(2))


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_jacobians_of_arrays_are_their_own(mode):
    """Of the identity they are the unit vectors, which are kept."""
    same = (lambda x: x, 1.0), (lambda x: x[::-1][::-1], 1.0), (lambda x: 2.0 * x, 2.0)
    for function, factor in same:
        derivative = jacobian(function, mode=mode)
        for x in (np.ones(3), np.ones((2, 2)), np.ones(3, np.float32)):
            for _ in range(2):
                found = derivative(x)
                assert found.dtype == x.dtype and found.shape == x.shape * 2
                assert np.array_equal(found.reshape(x.size, x.size), factor * np.eye(x.size))
                found[...] = 7.0


def test_results_that_change_their_kind():
    def chosen(x, kind):
        return x * 2.0 if kind == "array" else (x * 2.0, 3.0) if kind == "pair" else float(x[0])

    derivative = jacobian(chosen)
    x = np.array([1.0, 2.0])
    for kind in ("array", "pair", "number", "array"):
        found = derivative(x, kind)
        first = found[0] if kind == "pair" else found
        wanted = [2.0, 0.0] if kind != "number" else 1.0
        assert np.array_equal(first[0], wanted)
    assert np.array_equal(jacobian(chosen, mode="forward")(x, "pair")[1], [0.0, 0.0])


def test_attributes_that_carry_no_derivative_have_zeros_beside_the_others():
    class Point:
        def __init__(self, n, a, b):
            self.n, self.a, self.b = n, a, b

    def scaled(p):
        return np.array([p.a * 3.0, p.a * p.b])

    for mode in ("reverse", "forward"):
        for backend in ("python", "record"):
            found = jacobian(scaled, mode=mode, backend=backend)(Point(3, 2.0, 5.0))
            assert np.array_equal(found.n, [0.0, 0.0])
            assert np.array_equal(found.a, [3.0, 5.0])
            assert np.array_equal(found.b, [0.0, 2.0])
