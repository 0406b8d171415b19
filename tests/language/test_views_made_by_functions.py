"""Writes into views that functions make: parts of an array, diagonals, and windows over it."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from adcompiler import UnsupportedError, grad, jacobian, jacobian_sparsity, jvp
from adcompiler.errors import UncoveredError
from tests.language.check import Cases

programs = Cases()
X = np.array([0.3, -1.2, 2.1, 0.7, 1.4, -0.5])


@programs(X)
def halves(x):
    y = 2.0 * x
    a, b = np.split(y, 2)
    a += b
    b[1] = a[0] * x[5]
    return y


@programs(X)
def between_indices(x):
    y = 2.0 * x
    parts = np.split(y, [1, 4])
    parts[1][:] = x[:3] ** 2
    parts[2] *= parts[0]
    return y


@programs(X, 2)
def indices_of_the_data(x, n):
    y = 2.0 * x
    a, b, c = np.split(y, (n, 2 * n))
    a *= c
    y[3] = x[0] ** 2
    return y + np.sum(b)


@programs(X)
def all_parts_in_a_loop(x):
    y = x * x
    for k, part in enumerate(np.split(y, 3)):
        part *= x[k]
        part[0] = part[1] * 2.0
    return y


def mixed(a, b):
    a[:] = a * b
    b -= a


@programs(X)
def parts_given_away(x):
    y = np.sin(x)
    for _ in range(2):
        mixed(*np.split(y, 2))
    return y


@programs(X)
def unequal(x):
    y = 2.0 * x
    a, b, c, d = np.array_split(y, 4)
    a += b * c[0]
    d[0] = x[0]
    return y * y


@programs(X)
def columns(x):
    y = (2.0 * x).reshape(2, 3)
    a, b, c = np.split(y, 3, axis=-1)
    a += b * c
    d, e = np.hsplit(y[:, 1:], 2)
    d *= e
    return y


@programs(X)
def rows_and_layers(x):
    y = (2.0 * x).reshape(2, 3)
    a, b = np.vsplit(y, 2)
    a *= b
    z = (3.0 * x).reshape(1, 3, 2)
    c, d = np.dsplit(z, 2)
    d -= c * c
    return y * z[0].T


@programs(X)
def read_after_a_write(x):
    y = 2.0 * x
    a, b = np.array_split(y, [2])
    y[0] = x[1] * x[2]
    y *= x
    return np.concatenate([a * a, b])


@programs(X)
def diagonal(x):
    y = (2.0 * x[:4]).reshape(2, 2)
    np.einsum("ii->i", y)[:] = x[4:] ** 2
    d = np.einsum("ii -> i", y)
    d += x[0]
    return y @ y


@programs(X)
def turned(x):
    y = (2.0 * x).reshape(2, 3)
    z = np.einsum("ij->ji", y)
    z[0, 1] = x[4] ** 2
    y[1] *= x[0]
    return z * z


@programs(X)
def diagonals_of_blocks(x):
    y = np.outer(x, x[:4]).reshape(2, 3, 2, 2)
    np.einsum("ijik->kji", y)[0] *= 2.0
    return np.sum(y, axis=2)


@programs(X)
def windows_seen_later(x):
    y = 2.0 * x
    w = sliding_window_view(y, 3)
    y[2] = x[0] ** 2
    return np.sum(w, axis=1) ** 2


@programs(X)
def diagonal_seen_later(x):
    y = (2.0 * x[:4]).reshape(2, 2)
    d = np.diagonal(y)
    y[0, 0] = x[5] ** 2
    return d * d


@programs(X)
def gathered(x):
    w = as_strided(x, shape=(4, 3), strides=(8, 8))
    repeated = as_strided(x, (2, 6), (0, x.strides[0]))
    backwards = as_strided(x[::-1], (3,), (-16,))
    return 0.01 * np.sum(w, axis=1) ** 2 * np.sum(repeated**3) + np.sum(backwards**2)


@programs(X.reshape(2, 3))
def blocks(x):
    w = as_strided(x, (2, 2, 1, 2), x.strides + x.strides)
    return np.sum(w * w, axis=(2, 3)) + as_strided(x, (2, 2)) * as_strided(x.T, (2, 2))


@programs(X.astype(np.float32).astype(float))
def gathered_in_a_loop(x):
    total = 0.0
    for k in range(1, 4):
        y = np.sin(k * x)
        total = total + np.prod(as_strided(y, (2, 3), (8 * k, 8)), axis=0)
    return total


@pytest.mark.parametrize("case", programs, ids=str)
def test_programs(case):
    programs.check(case)


@pytest.mark.parametrize("case", programs, ids=str)
def test_other_modes(case):
    f, x, rest = case.function, case.args[0], case.args[1:]
    tangent = np.cos(np.arange(1.0, 7.0)).reshape(x.shape)
    value, d = jvp(lambda x: f(x, *rest), (x,), (tangent,))
    assert np.array_equal(value, f(x, *rest))
    rows = jacobian(f)(x, *rest).reshape((*value.shape, -1))
    assert np.allclose(rows @ tangent.ravel(), d)
    if f in (gathered, blocks):
        with pytest.raises(UnsupportedError, match="depends on how arrays lie in memory"):
            jacobian_sparsity(f, x)
        return
    pattern = jacobian_sparsity(lambda x: f(x, *rest), x, mode="local").toarray()
    assert not np.any((np.abs(rows.reshape(pattern.shape)) > 1e-9) & ~pattern.astype(bool))


def second(f, x, rest, tangent):
    def gradient(x):
        return grad(lambda x: np.sum(np.sin(f(x, *rest))))(x)

    h = 1e-5
    expected = (gradient(x + h * tangent) - gradient(x - h * tangent)) / (2.0 * h)
    return gradient, expected


@pytest.mark.parametrize("case", programs, ids=str)
def test_second_order(case):
    x, rest = case.args[0], case.args[1:]
    tangent = np.cos(np.arange(1.0, 7.0)).reshape(x.shape)
    gradient, expected = second(case.function, x, rest, tangent)
    forward = jvp(gradient, (x,), (tangent,))[1]
    assert np.allclose(forward, expected, rtol=1e-5, atol=1e-5)
    reverse = grad(lambda x: np.sum(gradient(x) * tangent))(x)
    assert np.allclose(reverse, forward)


def written_window(x):
    y = 2.0 * x
    w = sliding_window_view(y, 3, writeable=True)
    w[1, 1] = x[0] * x[1]
    return np.sum(w * w)


def written_strides(x):
    y = 2.0 * x
    w = as_strided(y, (5, 2), (8, 8))
    w[0] *= 3.0
    return np.sum(w * w)


def seen_through_strides(x):
    y = 2.0 * x
    w = as_strided(y, (4, 3), (8, 8))
    y[2] = x[0]
    return np.sum(w)


@pytest.mark.parametrize("f", [written_window, written_strides, seen_through_strides])
def test_writes_where_elements_overlap_are_refused(f):
    with pytest.raises(UnsupportedError, match="may lie in one|may share storage"):
        grad(f)(X)
    with pytest.raises(UnsupportedError, match="may lie in one|may share storage"):
        jacobian_sparsity(f, X)


def test_memory_outside_of_the_array_is_refused():
    def outside(x):
        return np.sum(as_strided(x, (3,), (16,)))

    with pytest.raises(UncoveredError, match="no element of the array"):
        grad(outside)(X[:3])
    with pytest.raises(UncoveredError, match="no element of the array"):
        grad(lambda x: np.sum(as_strided(x, (3,), (8,))))(X[::2])


@pytest.mark.parametrize("f", [
    lambda x: np.sum(np.split(x, 4)[0]), lambda x: np.sum(np.vsplit(x, 2)[0]),
    lambda x: np.sum(np.split(x, 2, axis=1)[0]),
])
def test_what_numpy_raises(f):
    with pytest.raises((ValueError, IndexError)) as expected:
        f(X)
    with pytest.raises(type(expected.value)):
        grad(f)(X)


def test_a_diagonal_cannot_be_written():
    def written(x):
        y = (2.0 * x[:4]).reshape(2, 2)
        np.diagonal(y)[0] = 1.0
        return np.sum(y)

    with pytest.raises(ValueError, match="read-only"):
        grad(written)(X)


def test_the_list_is_numpys():
    def parts(x):
        return np.split(x, 3), np.array_split(x, [1, 2]), np.split(x, 2)[1]

    found, tangents = jvp(parts, (X,), (X,))
    assert [type(part) for part in found] == [list, list, np.ndarray]
    assert [p.tolist() for p in found[1]] == [p.tolist() for p in parts(X)[1]]
    assert tangents[0][2].tolist() == X[4:].tolist()


def test_patterns_of_values_of_unknown_type():
    def rows_of_a_tuple(x):
        y = (2.0 * x).reshape(2, 3)
        a, b = tuple(y)
        a *= b
        return y

    with pytest.raises(UnsupportedError, match="may write into a value of which the type"):
        jacobian_sparsity(rows_of_a_tuple, X)
