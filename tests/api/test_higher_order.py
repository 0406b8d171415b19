"""Hessians, their products with vectors and higher derivatives, against closed forms."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.optimize

from adcompiler import (
    batched_jvp, compiled, grad, hessian, hvp, jet, jvp,
    nth_derivative, value_and_grad, vhp,
)
from adcompiler.dispatch import trees
from adcompiler.api.hessians import COMBINATIONS
from adcompiler.errors import RecordedWarning

POINT = (1.0, 1.5, 1.3, 1.2)
SECOND_POINT = np.array([1.0, 1.5, 1.3, 1.2])


def sample(x0, x1, x2, x3):
    a = math.sin(x0) * math.cos(x1)
    b = x2 * x3 - math.tan(x1 - x2)
    c = a + 2 * b
    return c * c


def waves(x):
    return (
        math.sin(x[0] * x[1]) - math.cos(x[1] * x[2])
        - math.sin(x[2] * x[3]) - math.cos(x[3] * x[0])
    )


WAVES = np.array([
    [-1.7225685534127124, -1.4255052782383788, 0.0, 1.3668683913392345],
    [-1.4255052782383788, -1.6231005915877297, 0.20710709386885928, 0.0],
    [0.0, 0.20710709386885928, 0.6070092065907555, 1.5491129665004801],
    [1.3668683913392345, 0.0, 1.5491129665004801, 2.052259261665317],
])


def test_the_sample_has_its_value_and_gradient():
    value, gradient = value_and_grad(sample, argnums=(0, 1, 2, 3))(*POINT)
    assert value == pytest.approx(7.6956487403088785, rel=1e-14)
    assert gradient == pytest.approx(
        (0.21204952808156374, -16.20933932255229, 24.86807512084561, 14.425336805009167), rel=1e-13)


@pytest.mark.parametrize("mode", COMBINATIONS)
def test_all_combinations_give_the_hessian_of_several_numbers(mode):
    blocks = hessian(sample, argnums=(0, 1, 2, 3), mode=mode)(*POINT)
    assert blocks[0] == pytest.approx(
        (-0.32732611678460644, -3.213519328160318, 0.34261332420563, 0.1987412604929414), rel=1e-12)
    assert all(isinstance(entry, float) for row in blocks for entry in row)
    assert np.allclose(blocks, np.transpose(blocks), rtol=1e-12)


@pytest.mark.parametrize("mode", COMBINATIONS)
def test_all_combinations_give_the_hessian_in_an_array(mode):
    assert np.allclose(hessian(waves, mode=mode)(SECOND_POINT), WAVES, rtol=1e-13, atol=1e-15)


def test_rows_are_written_into_out():
    H = np.full((4, 4), np.nan)
    found = hessian(waves, out=H)(SECOND_POINT)
    assert found is H
    assert np.allclose(H, WAVES, rtol=1e-13, atol=1e-15)
    with pytest.raises(ValueError, match="out has shape"):
        hessian(waves, out=np.zeros(4))(SECOND_POINT)


def mixed(a, b, c):
    return np.sum(a**2 * b) * c + np.sum(b) * c**3


@pytest.mark.parametrize("mode", COMBINATIONS)
def test_blocks_have_the_shapes_of_pairs_of_arguments(mode):
    a, b, c = np.array([1.0, 2.0]), np.array([0.5, -0.5]), 1.5
    H = hessian(mixed, argnums=(2, 0, 1), mode=mode)(a, b, c)
    assert H[0][0] == pytest.approx(6.0 * c * np.sum(b))
    assert np.allclose(H[0][1], 2.0 * a * b)
    assert np.allclose(H[2][0], a**2 + 3.0 * c**2)
    assert np.allclose(H[1][1], np.diag(2.0 * b * c))
    assert np.allclose(H[1][2], np.diag(2.0 * a * c))
    assert np.allclose(H[2][2], np.zeros((2, 2)))


@pytest.mark.parametrize("numbers", [1, 20, 10_000])
@pytest.mark.parametrize("mode", ["fwd_adj", "adj_adj"])
def test_rows_are_computed_so_many_at_once(monkeypatch, mode, numbers):
    monkeypatch.setattr(trees, "MAX_NUMBERS", numbers)
    a, b, c = np.arange(6.0).reshape(2, 3), np.array([0.5, -0.5, 2.0]), 1.5
    H = hessian(mixed, argnums=(2, 0, 1), mode=mode)(a, b, c)
    assert H[0][0] == pytest.approx(6.0 * c * np.sum(b))
    assert np.allclose(H[1][0], 2.0 * a * b) and np.allclose(H[0][1], 2.0 * a * b)
    assert np.allclose(H[1][1].reshape(6, 6), np.diag((2.0 * b * c + 0.0 * a).ravel()))
    crossed = np.einsum("ij,jk->ijk", 2.0 * a * c, np.eye(3))
    assert np.allclose(H[1][2], crossed) and np.allclose(H[2][1], np.moveaxis(crossed, -1, 0))
    out = np.full((6, 4), np.nan)[::2, ::2].T.reshape(2, 3)[:, :2]
    found = hessian(lambda x: x[0] ** 2 * x[1], mode=mode, out=out)(np.array([3.0, 5.0]))
    assert found is out and np.allclose(out, [[10.0, 6.0], [6.0, 0.0]])


def test_matrices_and_precision():
    A = np.arange(4, dtype=np.float32).reshape(2, 2)
    H = hessian(lambda A: np.sum(A @ A))(A)
    assert H.shape == (2, 2, 2, 2)
    assert H.dtype == np.float32
    expected = np.einsum("jk,il->ijkl", np.eye(2), np.ones((2, 2)))
    assert np.allclose(H, expected + expected.transpose(2, 3, 0, 1))
    assert hessian(lambda x: x**3)(2) == 12.0
    assert hessian(lambda x: np.sum(x))(np.zeros(0)).shape == (0, 0)


def test_what_has_no_hessian_is_refused():
    with pytest.raises(ValueError, match="mode 'forward'"):
        hessian(waves, mode="forward")
    with pytest.raises(TypeError, match="hvp takes tuples"):
        hessian(lambda x: x[0] * x[1])((1.0, 2.0))
    with pytest.raises(TypeError, match="hessian needs real"):
        hessian(lambda z: abs(z) ** 2)(1.0 + 2.0j)
    with pytest.raises(TypeError, match="scalar result"):
        hessian(lambda x: 2.0 * x)(np.ones(2))


def test_the_hessian_of_rosenbrocks_function_as_scipy_ships_it():
    rng = np.random.default_rng(0)
    rosen = scipy.optimize.rosen
    x, v = rng.normal(size=7), rng.normal(size=7)
    wanted = scipy.optimize.rosen_hess(x)
    for mode in ("fwd_adj", "adj_adj"):
        assert np.allclose(hessian(rosen, mode=mode)(x), wanted, rtol=1e-10, atol=1e-10)
        product = hvp(rosen, x, v, mode=mode)
        assert np.allclose(product, scipy.optimize.rosen_hess_prod(x, v), rtol=1e-10, atol=1e-10)
    assert np.allclose(vhp(rosen, x, v), v @ wanted, rtol=1e-10, atol=1e-10)


def test_products_with_vectors_of_any_structure():
    def energy(state, k):
        return k * state["a"] ** 2 * np.sum(state["b"][0] ** 2)

    state = {"a": 1.5, "b": (np.array([1.0, 2.0]),)}
    v = {"a": 0.5, "b": (np.array([1.0, -1.0]),)}
    for product in (hvp, vhp):
        found = product(energy, state, v, 3.0)
        assert found["a"] == pytest.approx(3.0 * (2 * 0.5 * 5.0 + 2 * 1.5 * 2 * (1.0 - 2.0)))
        assert np.allclose(
            found["b"][0], 3.0 * (4 * 1.5 * 0.5 * state["b"][0] + 2 * 1.5**2 * v["b"][0]))


@pytest.mark.parametrize("n", range(6))
def test_derivatives_of_any_order(n):
    x = 0.7
    assert nth_derivative(math.exp, n)(x) == pytest.approx(math.exp(x), rel=1e-12)
    assert nth_derivative(lambda t: t**4, n)(x) == pytest.approx(
        math.perm(4, n) * x ** max(4 - n, 0), rel=1e-12)


def test_jets():
    x = 0.3
    derivatives = jet(lambda t, k: k * math.sin(t), 4)(x, 2.0)
    s, c = 2.0 * math.sin(x), 2.0 * math.cos(x)
    assert derivatives == pytest.approx((s, c, -s, -c, s), rel=1e-13)


def projections(x, A):
    """Project onto the planes with the normals ``A``, twice round."""
    for _ in range(2):
        for i in range(len(A)):
            row = A[i]
            x = x + (1.0 - np.tanh(row @ x)) / (row @ row) * row
    return x @ x


def test_products_by_tapes_of_projections():
    rng = np.random.default_rng(3)
    x, v, A = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(4, 3))
    gradient = grad(projections)
    h = 1e-5
    wanted = (gradient(x + h * v, A) - gradient(x - h * v, A)) / (2.0 * h)
    for mode in (None, "fwd_adj", "adj_fwd"):
        assert np.allclose(hvp(projections, x, v, A, mode=mode), wanted, rtol=1e-7, atol=1e-8)
    assert np.allclose(hessian(projections)(x, A) @ v, wanted, rtol=1e-7, atol=1e-8)


def looped(x, n):
    y = x
    for _ in range(n):
        y = math.sin(y) * x
    return y


def test_forward_and_reverse_agree_on_third_derivatives_of_loops():
    third = grad(grad(grad(looped)))(0.8, 3)
    assert nth_derivative(looped, 3)(0.8, 3) == pytest.approx(third, rel=1e-11)
    h = 1e-3
    second = grad(grad(looped))
    assert third == pytest.approx((second(0.8 + h, 3) - second(0.8 - h, 3)) / (2 * h), rel=1e-4)


@dataclass
class Weights:
    a: float
    b: float


def test_a_gradient_that_is_an_instance_is_not_taken_for_constant():
    def loss(w):
        return w.a**2 * w.b + math.sin(w.b)

    def sensitivity(x):
        slopes = grad(loss)(Weights(x, x * x))
        return slopes.a + 3.0 * slopes.b

    assert sensitivity(0.7) == pytest.approx(2 * 0.7**3 + 3 * (0.49 + math.cos(0.49)))
    assert grad(sensitivity)(0.7) == pytest.approx(
        6 * 0.7**2 + 3 * (1.4 - 1.4 * math.sin(0.49)))


def test_second_derivatives_of_instances():
    found = nth_derivative(lambda x: Weights(x * x, math.sin(x)), 2)(0.7)
    assert found == Weights(2.0, pytest.approx(-math.sin(0.7)))


@pytest.mark.parametrize("mode", [None, "fwd_adj", "adj_adj", "adj_fwd", "fwd_fwd"])
def test_functions_that_are_linear_in_a_number(mode):
    options = {} if mode is None else {"mode": mode}
    assert hessian(lambda x: 3.0 * x, **options)(1.5) == 0.0
    assert hessian(lambda x, y: 3.0 * x + y * y, **options)(1.5, 2.0) == 0.0
    assert hessian(lambda x: 5.0, **options)(1.5) == 0.0


def test_tangents_of_results_that_are_literals():
    assert jvp(lambda x: (3.0, ("a", 2, None)), (1.0,), (1.0,))[1] == (0.0, (None, 0.0, None))
    value, along = batched_jvp(lambda x: (3.0, 2.0), (1.0,), (np.ones(2),))
    assert value == (3.0, 2.0)
    assert [list(part) for part in along] == [[0.0, 0.0], [0.0, 0.0]]


def test_hessians_of_functions_of_any_number_of_arguments():
    x, y = 3.0, 4.0
    wanted = np.array([[y * y, -x * y], [-x * y, x * x]]) / 125.0
    assert hessian(math.hypot)(x, y) == pytest.approx(wanted[0, 0], rel=1e-14)
    for mode in (None, "fwd_adj", "adj_fwd", "adj_adj", "fwd_fwd"):
        made = hessian(lambda *xs: math.hypot(*xs), argnums=(0, 1), mode=mode)
        assert np.allclose(made(x, y), wanted, rtol=1e-13)
        three = made(x, y, 0.0)
        assert np.allclose(three, wanted, rtol=1e-13)
        assert "hypot" in made.source_for(x, y)
    weighted = hessian(lambda a, *xs: a * sum(x**3 for x in xs), argnums=(0, 2))
    assert weighted(2.0, 5.0, 3.0) == ((0.0, 27.0), (27.0, 36.0))
    with pytest.raises(TypeError, match="by position"):
        hessian(lambda *xs, k=1.0: xs[0] ** 3 * k)(2.0, k=2.0)


def test_gradients_in_loops_are_those_of_functions_that_write_in_loops():
    def products(x, n):
        for i in range(1, n):
            x[i] = x[i - 1] * x[i]
        return np.sum(x)

    def total(X):
        found = 0.0
        for row in X:
            found += np.sum(grad(products)(row, 3) ** 2)
        return found

    X = np.array([[0.5, 2.0, -1.0], [1.5, -0.3, 0.7]])
    a, b, c = X.T
    slopes = np.stack([1 + b + b * c, a + a * c, a * b], axis=1)
    assert np.isclose(compiled(total, backend="python")(X), np.sum(slopes**2), rtol=1e-14)
    exact = 2 * np.stack([
        slopes[:, 1] * (1 + c) + slopes[:, 2] * b,
        slopes[:, 0] * (1 + c) + slopes[:, 2] * a, slopes[:, 0] * b + slopes[:, 1] * a,
    ], axis=1)
    assert np.allclose(grad(total)(X), exact, rtol=1e-13)


SEEN = []


@pytest.mark.records
def test_hessians_of_functions_that_write_into_a_variable_of_the_module():
    def noted(x):
        SEEN.append(float(x[0]))
        return np.sum(x**3)

    SEEN.clear()
    x = np.array([0.5, 1.0])
    with pytest.warns(RecordedWarning, match="writes into `SEEN`"):
        assert hessian(noted)(x).tolist() == [[3.0, 0.0], [0.0, 6.0]]
    assert hvp(noted, x, np.array([1.0, 2.0])).tolist() == [3.0, 12.0]
    assert SEEN == [0.5, 0.5]
