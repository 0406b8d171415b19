"""Numbers with a derivative as the bounds of slices, and as what spans a grid.

A slice is a subscript, and no derivative goes through subscripts of arrays. But an object may do
with the bounds what it likes, as ``np.mgrid`` and ``np.ogrid`` do; ``np.ix_`` takes any vectors.
"""

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, jacobian, jacobian_sparsity, jvp
from tests.lanes import one_in


class Doubling:
    """Its subscripts are twice the start of a slice."""

    def __getitem__(self, key):
        return 2.0 * key.start


doubling = Doubling()


def by_name(x):
    return slice(x[0], x[1]).start * x[0] + slice(x[1]).stop * x[2]


def by_subscript(x):
    return doubling[x[0] : x[1]] * x[1]


def by_method(x):
    return doubling.__getitem__(slice(x[0], 1)) * x[1]


def by_list(x):
    kept = [slice(x[0] * x[0], 3.0), slice(x[1], 3.0)]
    return kept[0].start * x[1] + kept[1].start


def by_function(x):
    def start(key):
        return key.start

    total = 0.0
    for k in range(2):
        total = total + start(slice(x[k], None)) * x[2]
    return total


def spaced(x):
    return np.mgrid[x[0] : x[1] : 5j] ** 2


def stepped(x):
    return np.mgrid[x[0] : 3.0 : 0.5 * x[1]] ** 2


def plane(x):
    rows, columns = np.mgrid[x[0] : 2.0 : 3j, 0 : x[1] : 2j]
    return rows * columns * columns


def stepped_plane(x):
    return np.mgrid[x[0] : x[0] + 2.0, 0:3:2] * x[2]


def one_point(x):
    return np.mgrid[x[0] : x[1] : 1j] * x[2]


def open_plane(x):
    rows, columns = np.ogrid[x[0] : 2.0 : 3j, 1 : x[1] : 2j]
    return rows**2 * columns


def open_line(x):
    return np.ogrid[0 : x[1] : 4j] ** 2


def crossed(x):
    rows, columns, rest = np.ix_(x[:2], x, [2.0, 3.0])
    return rows * columns**2 * rest


PROGRAMS = [
    by_name, by_subscript, by_method, by_list, by_function, spaced, stepped, plane, stepped_plane,
    one_point, open_plane, open_line, crossed,
]
X, V = np.array([0.5, 1.3, 0.8]), np.array([0.3, -0.7, 0.4])


def differences(f, x):
    h = 1e-6
    return np.moveaxis(
        np.array([(f(x + h * e) - f(x - h * e)) / (2.0 * h) for e in np.eye(len(x))]), 0, -1
    )


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f):
    expected = differences(f, X)
    assert np.allclose(jacobian(f)(X), expected, atol=1e-7)
    value, tangent = jvp(f, (X,), (V,))
    assert np.array_equal(value, f(X))
    assert np.allclose(tangent, expected @ V, atol=1e-7)
    assert np.allclose(grad(lambda x: np.sum(f(x)))(X), np.sum(np.reshape(expected, (-1, 3)), 0))


@pytest.mark.parametrize("f", one_in(3, PROGRAMS), ids=lambda f: f.__name__)
def test_second_order(f):
    def gradient(x):
        return grad(lambda x: np.sum(f(x) ** 2))(x)

    expected = differences(gradient, X)
    assert np.allclose(jacobian(gradient)(X), expected, rtol=1e-6, atol=1e-6)
    assert np.allclose(jvp(gradient, (X,), (V,))[1], expected @ V, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("f", [by_name, by_subscript, spaced, plane, open_plane, crossed])
def test_patterns(f):
    pattern = jacobian_sparsity(f, X).toarray()
    derivative = np.reshape(differences(f, X), pattern.shape)
    assert not np.any((np.abs(derivative) > 1e-6) & ~pattern.astype(bool))


def chosen(x, k):
    return [slice(x[0], 2.0), slice(x[1], 2.0)][k].start * x[1]


def test_what_a_run_shows_is_followed():
    assert np.array_equal(grad(chosen)(X, 0), [1.3, 0.5, 0.0])
    assert np.array_equal(grad(chosen)(X, 1), [0.0, 2.6, 0.0])


def compared(x):
    return float(max(slice(x[0], 1.0), slice(x[1], 1.0)).start) * x[1]


def carried(x):
    part = slice(x[1], 0.0)
    for i in range(2):
        part = slice(x[i] * x[0], 2.0)
    return part.start * x[1]


def in_a_dict(x):
    parts = {}
    for i in range(2):
        parts[i] = slice(x[i], 2.0)
    return parts[0].start * x[1]


@pytest.mark.parametrize("f", [compared, carried, in_a_dict])
def test_what_cannot_be_followed_is_refused(f):
    for derivative in (lambda: grad(f)(X), lambda: jvp(f, (X,), (V,))):
        with pytest.raises(UnsupportedError, match="of a slice whose bounds carry a derivative"):
            derivative()


def test_the_kind_of_a_grid_is_numpys():
    def both(x):
        return np.mgrid[0:2, 0:3], np.ogrid[0:2, 0 : x[0] : 3j], np.mgrid[0 : np.float32(2.0) : 3j]

    for found, expected in zip(jvp(both, (X,), (V,))[0], both(X), strict=True):
        assert type(found) is type(expected)
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == other.dtype and np.array_equal(one, other)


def test_bounds_of_integers_do_not_count():
    def cut(x, n):
        part = slice(0, n * 2)
        return np.sum(np.delete(x, part) ** 2) + np.sum(x[part])

    assert np.array_equal(grad(cut)(X, 1), [1.0, 1.0, 1.6])
