"""Many seeds at once, as the public functions give them."""

import numpy as np
import pytest

import adcompiler
from adcompiler import batched_jvp, batched_vjp, grad, jacobian, source, vjp


def cross_ratio(p):
    return np.stack([p[:, 0] * np.sin(p[:, 1]), p[:, 2] / p[:, 0]], axis=1)


def test_jacobians_of_each_observation_take_as_many_seeds_as_one_has_numbers():
    P = np.random.default_rng(1).normal(size=(6, 3)) + 3.0
    tangents = np.zeros((3, *P.shape))
    for j in range(3):
        tangents[j, :, j] = 1.0
    _, columns = batched_jvp(cross_ratio, (P,), (tangents,))
    found = np.moveaxis(columns, 0, -1)
    x, y, z = P.T
    zero = np.zeros(6)
    closed = np.stack([
        np.stack([np.sin(y), x * np.cos(y), zero], axis=1),
        np.stack([-z / x**2, zero, 1.0 / x], axis=1),
    ], axis=1)
    assert np.allclose(found, closed, rtol=1e-14)
    whole = jacobian(cross_ratio)(P)
    assert np.allclose(found, whole[np.arange(6), :, np.arange(6)])


def test_source_shows_code_for_many_seeds():
    def f(x, s):
        return x * s

    text = source(f, np.ones(3), 2.0, mode="vjp", argnums=(0, 1), batched=True)
    assert "return x_bar, value_bar @ x" in text  # a row of products for each seed
    with pytest.raises(ValueError, match="vjp and forward"):
        source(f, np.ones(3), 2.0, batched=True)


def test_names_are_public():
    assert {"batched_jvp", "batched_vjp"} <= set(adcompiler.__all__)


def test_a_matrix_that_was_turned_twice_is_read_where_it_is_there():
    A = np.array([[0.4, -1.1, 0.3], [0.9, 0.2, -0.7], [-0.2, 0.8, 1.2]])
    x, v, w = np.array([0.3, -0.8, 0.5]), np.array([0.5, 1.5, -2.0]), np.array([0.7, -0.4, 1.1])

    def product(a):
        return vjp(grad(lambda a: w @ np.sin(A @ a)), a)[1](v)[0]

    _, pullback = batched_vjp(product, x)
    rows = pullback(np.eye(3)[:2])[0]
    u = A @ x
    exact = np.einsum("i,ij,ik,i->jk", -w * np.cos(u), A, A, A @ v)
    assert np.allclose(rows, exact[:2], rtol=1e-12)


@pytest.mark.parametrize("join", [
    np.concatenate, lambda rows: np.concatenate(rows, axis=-1), np.stack,
    lambda rows: np.stack(rows, axis=-1),
])
def test_lists_of_arrays_that_grow_are_joined_for_all_seeds_at_once(join):
    def rows_of(x, n):
        rows = []
        for k in range(n):
            rows.append((np.sin(x[:, None] * k) @ np.ones((1, 2))).ravel())
        return join(rows)

    x = np.array([0.3, -0.7, 1.1])
    derivative = jacobian(rows_of)
    found = derivative(x, 4)
    slopes = np.zeros((4, 3, 2, 3))
    for k in range(4):
        for i in range(3):
            slopes[k, i, :, i] = k * np.cos(k * x[i])
    for i in range(3):
        exact = join(list(slopes[..., i].reshape(4, 6)))
        assert np.allclose(found[..., i], exact, rtol=1e-14)
    assert "stacked" not in derivative.source_for(x, 4)


def test_none_stands_for_the_tangents_of_a_constant_argument():
    x, many = np.array([1.0, 2.0]), np.arange(6.0).reshape(3, 2)
    for tangents, argnums in (((many, None), None), ((None, many), (1, 0)), ((many,), (0,))):
        value, found = batched_jvp(lambda a, b: a * b, (x, x), tangents, argnums=argnums)
        np.testing.assert_array_equal(value, x * x)
        np.testing.assert_array_equal(found, many * x)
    with pytest.raises(TypeError, match="all None"):
        batched_jvp(lambda a, b: a * b, (x, x), (None, None))
