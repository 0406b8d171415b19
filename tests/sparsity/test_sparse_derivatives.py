"""Sparse Jacobians and Hessians equal dense ones, with a structure that stays."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from adcompiler import (
    ADError, Global, UnsupportedError, grad, hessian_sparsity, jacobian_sparsity, vjp,
)
from adcompiler.api.sparse.operators import sparse_hessian, sparse_jacobian
from scipy.optimize import rosen_hess


def dense(function, x, *others):
    y, pullback = vjp(function, x, *others, argnums=0)
    rows = np.eye(np.size(y)).reshape(-1, *np.shape(y))
    return np.array([np.ravel(pullback(row)) for row in rows])


def brusselator(u, n, a=10.0):
    x, y = u[: n * n].reshape(n, n), u[n * n :].reshape(n, n)

    def diffused(z):
        return a * (np.roll(z, 1, 0) + np.roll(z, -1, 0) + np.roll(z, 1, 1) + np.roll(z, -1, 1)
                    - 4.0 * z)

    dx = 1.0 + x * x * y - 4.4 * x + diffused(x)
    dy = 3.4 * x - x * x * y + diffused(y)
    return np.concatenate([dx.ravel(), dy.ravel()])


def brusselator_loop(u, n, a=10.0):
    out = np.zeros(2 * n * n)
    for i in range(n):
        for j in range(n):
            k, m = i * n + j, n * n
            around = [((i + 1) % n) * n + j, ((i - 1) % n) * n + j, i * n + (j + 1) % n,
                      i * n + (j - 1) % n]
            x, y = u[k], u[m + k]
            lx, ly = -4.0 * x, -4.0 * y
            for q in around:
                lx += u[q]
                ly += u[m + q]
            out[k] = 1.0 + x * x * y - 4.4 * x + a * lx
            out[m + k] = 3.4 * x - x * x * y + a * ly
    return out


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_loop(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def arrow(x):
    return np.concatenate([[np.sum(x * x)], x[1:] * x[0]])


rng = np.random.default_rng(0)


@pytest.mark.parametrize("kind", ["auto", "column", "row", "bidirectional"])
@pytest.mark.parametrize("function", [brusselator, brusselator_loop])
def test_brusselator(function, kind):
    u = rng.uniform(0.5, 1.5, 50)
    jacobian = sparse_jacobian(function, kind=kind)
    found = jacobian(u, 5)
    assert isinstance(found, sp.csr_array)
    assert np.allclose(found.toarray(), dense(function, u, 5), rtol=1e-13, atol=1e-13)
    assert found.nnz == 6 * 50


def test_one_structure_for_all_calls():
    jacobian = sparse_jacobian(brusselator).prepare(np.ones(50), 5)
    first = jacobian.structure(np.ones(50), 5)
    u = rng.uniform(0.5, 1.5, 50)
    found = jacobian(u, 5)
    assert jacobian.structure(u, 5) is first
    out = jacobian(np.zeros(50), 5)
    assert np.array_equal(out.indices, found.indices)
    assert np.array_equal(out.indptr, found.indptr)
    assert jacobian(u, 5, out=out) is out
    assert np.array_equal(out.data, found.data)
    with pytest.raises(ValueError, match="nonzeros"):
        jacobian(u, 5, out=sp.csr_array(np.eye(50)))
    assert jacobian.structure(rng.random(72), 6) is not first


@pytest.mark.parametrize("kind", ["star", "acyclic", "column"])
@pytest.mark.parametrize("function", [rosenbrock, rosenbrock_loop])
@pytest.mark.parametrize("n", [2, 3, 12])
def test_rosenbrock(function, kind, n):
    x = rng.normal(size=n)
    found = sparse_hessian(function, kind=kind)(x)
    assert np.allclose(found.toarray(), rosen_hess(x), rtol=1e-11, atol=1e-10)
    assert found.nnz == 3 * n - 2


def test_full_rows_and_columns():
    x = rng.normal(size=40)
    jacobian = sparse_jacobian(arrow)
    coloring = jacobian.structure(x).coloring
    assert (coloring.kind, coloring.column_count, coloring.row_count) == ("bidirectional", 2, 1)
    assert np.allclose(jacobian(x).toarray(), dense(arrow, x), rtol=1e-13)


def test_a_pattern_follows_the_values_of_other_arguments_and_captured_ones():
    picked = [0, 2]

    def gathered(x, index, weights):
        return x[index] * weights + x[picked[1]]

    jacobian = sparse_jacobian(gathered)
    x, ones = rng.normal(size=6), np.ones(3)
    for index in ([0, 1, 2], [3, 3, 5]):
        found = jacobian(x, np.array(index), ones)
        assert np.allclose(found.toarray(), dense(gathered, x, np.array(index), ones))
    assert np.allclose(
        jacobian(x, np.array([0, 1, 2]), np.array([1.0, 0.0, 2.0])).toarray(),
        dense(gathered, x, np.array([0, 1, 2]), np.array([1.0, 0.0, 2.0])),
    )
    picked[1] = 4
    found = jacobian(x, np.array([0, 1, 2]), ones)
    assert np.allclose(found.toarray(), dense(gathered, x, np.array([0, 1, 2]), ones))


def test_several_arguments_and_containers():
    def residual(points, shift):
        return [points["a"] * shift[0], np.sin(points["b"]) + shift[1], shift[0] * shift[1]]

    points = {"a": rng.normal(size=3), "b": rng.normal(size=2)}
    found = sparse_jacobian(residual, argnums=(0, 1))(points, (2.0, 3.0)).toarray()
    wanted = np.zeros((6, 7))
    wanted[:3, :3] = 2.0 * np.eye(3)
    wanted[:3, 5] = points["a"]
    wanted[3:5, 3:5] = np.diag(np.cos(points["b"]))
    wanted[3:5, 6] = 1.0
    wanted[5, 5:] = [3.0, 2.0]
    assert np.allclose(found, wanted, rtol=1e-14)


def test_hessian_of_several_arguments():
    def energy(x, k):
        return np.sum(k * x * x) + k**3

    x = np.array([1.0, 2.0])
    found = sparse_hessian(energy, argnums=(0, 1))(x, 0.5).toarray()
    assert np.allclose(found, [[1.0, 0.0, 2.0], [0.0, 1.0, 4.0], [2.0, 4.0, 3.0]])


def test_single_precision_and_numbers():
    x = np.linspace(0.0, 1.0, 4, dtype=np.float32)
    assert sparse_jacobian(lambda v: v * v)(x).dtype == np.float32
    assert sparse_jacobian(lambda t: np.array([t, t * t]))(3.0).toarray().tolist() == [[1.0], [6.0]]
    assert sparse_jacobian(lambda v: v @ v)(np.array([1.0, 2.0])).toarray().tolist() == [[2.0, 4.0]]


def test_many_sweeps_where_seeds_would_fill_the_memory(monkeypatch):
    from adcompiler.dispatch import trees

    monkeypatch.setattr(trees, "MAX_NUMBERS", 100)
    u = rng.uniform(0.5, 1.5, 50)
    found = sparse_jacobian(brusselator)(u, 5)
    assert np.allclose(found.toarray(), dense(brusselator, u, 5), rtol=1e-13)


def test_decorated():
    @sparse_hessian
    def potential(x):
        return np.sum(np.cos(x[1:] - x[:-1]))

    x = rng.normal(size=5)
    wanted = [grad(lambda v, i=i: grad(potential.primal)(v)[i])(x) for i in range(5)]
    assert np.allclose(potential(x).toarray(), wanted, rtol=1e-13)
    with pytest.raises(ValueError, match="star, acyclic, column"):
        sparse_hessian(rosenbrock, kind="row")


INDEX = np.array([0, 1])


class Settings:
    def __init__(self, index):
        self.index = index

    picked = (0, 1)


SETTINGS = Settings([0, 1])


def picked_globally(x):
    return x[INDEX] * 2.0


def picked_by_settings(x):
    return x[SETTINGS.index] * 2.0


def picked_by_class(x):
    return x[list(Settings.picked)] * 2.0


def picker(chosen):
    def inner(x):
        return x[chosen] * 2.0

    return lambda x: inner(x)


@pytest.mark.parametrize("where", ["global", "instance", "class", "cell"])
def test_a22_a_pattern_follows_what_called_functions_read(where, monkeypatch):
    chosen = [0, 1]
    function = {
        "global": lambda x: picked_globally(x), "instance": lambda x: picked_by_settings(x),
        "class": lambda x: picked_by_class(x), "cell": picker(chosen),
    }[where]
    jacobian = sparse_jacobian(function)
    x = np.ones(4)
    assert jacobian(x).toarray().tolist() == [[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]]
    first = jacobian.structure(x)
    assert jacobian.structure(x + 1.0) is first
    monkeypatch.setitem(globals(), "INDEX", np.array([3, 2]))
    monkeypatch.setattr(SETTINGS, "index", [3, 2])
    monkeypatch.setattr(Settings, "picked", (3, 2))
    chosen[:] = [3, 2]
    assert jacobian(x).toarray().tolist() == [[0.0, 0.0, 0.0, 2.0], [0.0, 0.0, 2.0, 0.0]]


def test_a22_a_pattern_follows_functions_that_are_replaced(monkeypatch):
    jacobian = sparse_jacobian(lambda x: picked_globally(x))
    x = np.ones(3)
    assert jacobian(x).nnz == 2
    monkeypatch.setitem(globals(), "picked_globally", lambda x: x * x[0])
    assert jacobian(x).toarray().tolist() == [[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]


def test_out_has_the_structure_of_the_matrix():
    jacobian = sparse_jacobian(lambda x: x * x)
    x = np.array([1.0, 2.0])
    for wrong in (sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]])), np.zeros((2, 2)),
                  sp.csc_array(np.eye(2))):
        with pytest.raises(ValueError, match="other nonzeros"):
            jacobian(x, out=wrong)
    with pytest.raises(TypeError, match="same_kind"):
        jacobian(x, out=sp.csr_array(np.eye(2, dtype=int)))


def test_a22_two_colours_for_a_bidiagonal_jacobian():
    jacobian = sparse_jacobian(np.diff)
    x = rng.normal(size=200)
    assert jacobian.structure(x).coloring.count == 2
    assert np.array_equal(jacobian(x).toarray(), np.diff(np.eye(200), axis=0))


def test_a22_three_colours_for_the_hessian_of_a_chain():
    def chain(x):
        return np.sum(np.diff(x) ** 4)

    hessian = sparse_hessian(chain)
    x = rng.normal(size=200)
    assert hessian.structure(x).coloring.count == 3
    d = np.diff(np.eye(200), axis=0)
    wanted = d.T @ np.diag(12.0 * np.diff(x) ** 2) @ d
    assert np.allclose(hessian(x).toarray(), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["auto", "column", "row", "bidirectional"])
def test_every_number_of_the_result_has_a_row_every_one_of_the_arguments_a_column(kind):
    def several(p):
        x = p["x"]
        return (x > 0.0, 3, np.array([1, 2]), None, [x[0] * x[1], x[1] * p["n"]], True, p["y"] * x)

    p = {"n": 3, "x": np.array([2.0, 5.0]), "y": 0.5}
    wanted = np.zeros((10, 4))
    wanted[5:7, :3] = [[0.0, 5.0, 2.0], [5.0, 0.0, 3.0]]
    wanted[8:, 1:] = [[0.5, 0.0, 2.0], [0.0, 0.5, 5.0]]
    assert np.allclose(sparse_jacobian(several, kind=kind)(p).toarray(), wanted, rtol=1e-14)


@pytest.mark.parametrize("kind", ["auto", "column", "row", "bidirectional"])
@pytest.mark.parametrize("function", [
    lambda x: np.zeros(3), lambda x: 1.0, lambda x: x[:0], lambda x: x > 0.0, np.floor,
])
def test_matrices_without_nonzeros(function, kind):
    x = np.ones(4, np.float32)
    found = sparse_jacobian(function, kind=kind)(x)
    assert found.shape == (np.size(function(x)), 4)
    assert (found.nnz, found.dtype) == (0, np.float32)


def test_no_columns():
    empty = np.zeros(0)
    assert sparse_jacobian(lambda x: 2.0 * x)(empty).shape == (0, 0)
    assert sparse_hessian(lambda x: np.sum(x * x))(empty).shape == (0, 0)
    assert sparse_hessian(lambda x: np.sum(x))(np.ones(3)).nnz == 0


@pytest.mark.parametrize("size", [4, 30])
def test_an_element_written_after_a_branch_leaves_the_others_what_both_arms_gave_them(size):
    def either(x):
        y = x * 1.0
        if y[0] > 1.0:
            y = y + x[3]
        else:
            y[1] = x[0]
        y[2] = x[2] ** 2
        return y

    jacobian = sparse_jacobian(either)
    for first in (0.5, 2.0):
        x = np.linspace(1.0, 2.0, size)
        x[0] = first
        wanted = np.eye(size)
        if first > 1.0:
            wanted[:, 3] += 1.0
        else:
            wanted[1, :2] = [1.0, 0.0]
        wanted[2] = 0.0
        wanted[2, 2] = 2.0 * x[2]
        assert np.array_equal(jacobian(x).toarray(), wanted)


def differences(y, x):
    for i in range(len(y)):
        y[i] = x[i + 1] - x[i]


def test_refusals():
    with pytest.raises(UnsupportedError, match="writes into its arguments"):
        sparse_jacobian(differences, argnums=1)(np.zeros(2), np.ones(3))
    with pytest.raises(TypeError, match="real functions of real numbers"):
        sparse_jacobian(lambda z: z * z)(np.ones(2) * 1j)
    with pytest.raises(TypeError, match="real functions of real numbers"):
        sparse_jacobian(lambda x: x * 1j)(np.ones(2))


@pytest.mark.parametrize("function", [
    lambda x: np.cumsum(x[:0]), lambda x: np.cumprod(np.outer(x, x[:0]), axis=1),
    lambda x: np.cumprod(np.outer(x, x[:0]), axis=0), lambda x: np.sort(x[:0]),
    lambda x: np.sort(np.outer(x, x[:0])), lambda x: np.sort(np.outer(x[:0], x)),
])
def test_patterns_of_scans_and_sorts_of_nothing(function):
    assert jacobian_sparsity(function, np.ones(3)).nnz == 0


def test_structures_are_pickled_without_what_they_hold_for():
    x = np.linspace(1.0, 2.0, 6)
    for derivative in (sparse_jacobian(lambda x: x[1:] * x[:-1], kind="row"),
                       sparse_hessian(lambda x: np.sum(x[1:] ** 2 * x[:-1]))):
        derivative(x)
        found = derivative.structure(x)
        other = pickle.loads(pickle.dumps(found))
        assert (found.pattern != other.pattern).nnz == 0
        assert found.coloring.count == other.coloring.count
        assert found.watched.holds()
        assert not other.watched.holds()
        at = derivative(x)
        seeds = found.seeds(derivative.mode == "sparse_jacobian", at.dtype, 0, 2)
        assert np.array_equal(seeds, other.seeds(
            derivative.mode == "sparse_jacobian", at.dtype, 0, 2))


def test_hessians_of_vectors_are_refused():
    x = np.ones(3)
    for detector in (None, Global(tracers=True)):
        for function in (lambda x: x * x, lambda x: (x[0], x[1]), lambda x: ()):
            with pytest.raises(ADError, match="a function with a scalar result"):
                hessian_sparsity(function, x, detector=detector)
    with pytest.raises(ADError, match="a function with a scalar result"):
        sparse_hessian(lambda x: x * x)(x)
