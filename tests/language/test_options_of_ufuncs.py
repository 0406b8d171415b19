"""``dtype=`` of ufuncs, and options that say no more than what holds without them."""

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, jacobian, jacobian_sparsity, jvp, vjp
from tests.language.check import Cases

programs = Cases()
X, Y = np.array([0.5, 1.5, 0.7, 2.0]), np.array([1.2, 0.4, 0.9, 0.3])
K = np.array([1, 2, 3, 4])


@programs(X, Y)
def sum_of_two(x, y):
    return np.sum(np.add(x, y * y, dtype=float) ** 2)


@programs(X, Y)
def names_of_dtypes(x, y):
    return np.multiply(x, y, dtype="float64") * np.sin(x, dtype="d") - np.subtract(y, 1, dtype="f8")


@programs(X)
def dtype_of_another(x):
    return np.power(x, K, dtype=x.dtype) + np.divide(K, x, dtype=x.dtype)


@programs(X)
def integers_in_floats(x):
    return np.add(K, 1, dtype=np.float64) * x + np.sqrt(K, dtype=float) * x * x


@programs(0.7)
def numbers(x):
    return np.multiply(x, 3, dtype=float) + np.exp(np.float64(2.0) * x, dtype=np.float64)


@programs(X)
def complex_inside(x):
    return np.real(np.sqrt(x - 1.0, dtype=complex) * (1.0 + 2.0j)) + np.abs(np.exp(x, dtype="D"))


@programs(X, Y)
def with_out(x, y):
    z = np.empty(4)
    np.multiply(x, y, out=z, dtype=np.float64)
    np.add(z, x, z, dtype=float)
    np.sin(y, out=z, where=K > 2, dtype=float)
    return z * z


@programs(X, Y)
def outer(x, y):
    return np.multiply.outer(x, y, dtype=float) + np.add.reduce(np.outer(x, y), axis=0, dtype=float)


@programs(X)
def products(x):
    return np.matmul(x.reshape(2, 2), x.reshape(2, 2), dtype=float) @ np.ones(2)


@programs(X)
def in_a_loop(x):
    y = x
    for _ in range(3):
        y = np.multiply(np.sin(y, dtype=float), x, dtype=None)
    return y


@programs(X, Y)
def implied(x, y):
    return np.add(x, y, casting="same_kind", order="K", subok=True) * np.exp(x, order="K")


@pytest.mark.parametrize("case", programs, ids=str)
def test_programs(case):
    programs.check(case)


@pytest.mark.parametrize("case", programs, ids=str)
def test_other_modes(case):
    f, args = case.function, case.args
    x, rest = args[0], args[1:]
    tangent = 0.3 * np.cos(np.arange(1.0, np.size(x) + 1)).reshape(np.shape(x))
    value, d = jvp(lambda x: f(x, *rest), (x,), (tangent[()],))
    assert np.array_equal(value, f(*args))
    rows = np.asarray(jacobian(f)(*args)).reshape((*np.shape(value), -1))
    assert np.allclose(rows @ np.ravel(tangent), d)
    h = 1e-5

    def gradient(x):
        return grad(lambda x: np.sum(f(x, *rest) ** 2))(x)

    expected = (gradient(x + h * tangent) - gradient(x - h * tangent)) / (2.0 * h)
    assert np.allclose(jvp(gradient, (x,), (tangent[()],))[1], expected, rtol=1e-6, atol=1e-6)


def single(x, y):
    return np.multiply(x, y, dtype=np.float32)


def test_the_dtype_is_numpys():
    y, pullback = vjp(single, X, Y, argnums=(0, 1))
    assert y.dtype == np.float32 and np.array_equal(y, single(X, Y))
    x_bar, y_bar = pullback(np.ones(4, np.float32))
    assert x_bar.dtype == y_bar.dtype == np.float64
    assert np.array_equal(x_bar, Y.astype(np.float32)) and np.array_equal(y_bar, X.astype("f4"))
    y, pullback = vjp(single, X.astype("f4"), K)
    assert y.dtype == np.float32 and pullback(y)[0].dtype == np.float32
    y, pullback = vjp(lambda x: np.add(x, np.float32(1.0), dtype=np.float64), X.astype("f4"))
    assert y.dtype == np.float64 and pullback(y)[0].dtype == np.float32


def test_patterns_are_as_without():
    pattern = jacobian_sparsity(lambda x: np.add(x, x * x, dtype=float), X)
    assert np.array_equal(pattern.toarray(), np.eye(4))


@pytest.mark.parametrize("f", [
    lambda x: np.sum(np.add(x, x, where=K > 2)), lambda x: np.sum(np.add(x, x, signature="dd->d")),
    lambda x: np.sum(np.divmod(x, 2.0, dtype=float)[1]),
])
def test_other_options_are_refused(f):
    with pytest.raises(UnsupportedError, match="not supported yet|no rule"):
        grad(f)(X)


def test_what_numpy_does_not_convert_raises():
    with pytest.raises((TypeError, UnsupportedError)):
        grad(lambda x: np.sum(np.abs(np.add(1j * x, x, dtype=float))))(X)
