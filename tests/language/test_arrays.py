"""ndarray attributes and methods, dtypes, odd shapes, broadcasting."""

import numpy as np
import pytest

from adcompiler import grad, vjp
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0])
M = np.arange(6.0).reshape(2, 3) / 7 - 0.3
F = V.astype(np.float32)


@programs(M)
def attributes(m):
    return np.sum(m.T @ m) * m.shape[0] + m.size + m.ndim + np.sum(m.real**2) + len(m)


@programs(M)
def methods(m):
    return (m.sum() + m.mean(axis=0).sum() * m.max() - m.min() + m.prod() + m.std() + m.var()
            + m.trace() + m.cumsum().sum())


@programs(M)
def shaping_methods(m):
    return np.sum(m.reshape(3, 2) @ m) + np.sum(m.ravel() ** 2) + m.flatten()[1] + (
        np.sum(m.transpose(1, 0) @ m) + np.sum(m.swapaxes(0, 1)[0]) + np.sum(m.squeeze() ** 3))


@programs(M)
def reductions_with_axes(m):
    return np.sum(m.sum(axis=1, keepdims=True) * m) + np.sum(m.max(axis=-1) ** 2) + np.sum(
        m.mean(0) ** 2)


@programs(V)
def other_methods(x):
    return x.dot(x) + x.copy().sum() ** 2 + x.clip(-1.0, 1.0).sum() + x.repeat(2).sum() ** 2 + (
        x.take([0, 0, 2]) ** 2).sum() + x.item(1) ** 2 + float(x[0]) ** 2


@programs(V)
def astype(x):
    return np.sum(x.astype(np.float64) ** 2) + np.sum(x.astype(complex).real ** 2)


@programs(V)
def method_chain(x):
    return ((x - x.mean()) ** 2).sum().item() ** 0.5


@programs(V)
def bound_method_in_variable(x):
    total = x.sum
    return total() * total()


@programs(V, np.array([[1.0], [2.0]]), 3.0)
def broadcasting(x, c, s):
    return np.sum((x + c) * s * c) + np.sum(x * s) ** 2


@programs(np.ones((1, 3)) * 0.3, np.ones((2, 1)) * 0.7, np.ones((1, 1)) * 1.5)
def size_one_axes(a, b, c):
    return np.sum(a * b * c) + np.sum(a + c) ** 2 + np.sum((b - c) ** 2)


@programs(np.array([[0.5]]))
def size_one_output(x):
    return x * x * 3.0


@programs(V)
def size_one_array_output(x):
    return np.sum(x * x, keepdims=True)


@programs(np.array(0.5))
def zero_dimensional(x):
    return np.sin(x) * x + x**2


@programs(np.array(0.5), V)
def zero_dimensional_with_array(s, x):
    return np.sum(s * x * x) + s


@programs(np.zeros(0))
def empty(x):
    return np.sum(x * x) + 1.0


@programs(np.zeros((0, 3)), V)
def empty_rows(m, v):
    return np.sum(m @ v) + np.sum(m * v) + np.sum(v * v)


@programs(np.float64(0.5), np.float64(-1.5))
def numpy_scalars(x, y):
    return x * y + np.exp(x) + x**2


@programs(np.float32(0.5), tol=1e-4)
def numpy_float32_scalar(x):
    return x * x


@programs(F, tol=1e-3)
def float32_array(x):
    return np.sum(x * x * 2.0 + np.exp(x))


@programs(F, V, tol=1e-3)
def float32_and_float64(x, y):
    return np.sum(x * y) + np.sum(x)


@programs(F, 2.0, tol=1e-3)
def float32_and_scalar(x, s):
    return np.sum(s * x) * s


@programs(V, 3)
def int_argument(x, n):
    return np.sum(x**n) * n


@programs(V, np.arange(3))
def int_array_argument(x, n):
    return np.sum(x * n) + np.sum(n)


@programs(V)
def unused_argument(x):
    return 3.0


@programs(V, 2.0, [1.0, V], argnums=(0, 1, 2))
def unused_arguments(x, s, xs):
    return x[0] * 2.0


@programs(M, V)
def vector_result(m, v):
    return m @ v


@programs(M)
def matrix_result(m):
    return np.exp(m).T * 2.0


@programs(V)
def tuple_result(x):
    return np.sum(x * x), x * 2.0, x[0]


@programs(V, 1.5)
def dict_result(x, s):
    return {"a": x * s, "b": [s * s, s]}


@programs(V)
def complex_inside(x):
    f = np.fft.fft(x) if False else np.exp(2j * x)
    return np.sum(np.abs(f * x) ** 2) + np.sum((f * f).real)


@programs(V)
def identity_of_views(x):
    y = x.reshape(3, 1)
    z = y.T
    return np.sum(z * x) + np.sum(np.asarray(x) * x) + np.sum(np.atleast_2d(x) ** 2)


@programs(M)
def rows_and_zeros(m):
    acc = np.zeros_like(m[0])
    for row in m:
        acc = acc + row * np.ones(3) * m[0]
    return np.sum(acc)


@programs(V)
def linspace_and_arange(x):
    t = np.linspace(0.0, 1.0, len(x))
    k = np.arange(x.shape[0])
    return np.sum(np.sin(x * t) * k) + np.sum(np.full(3, x[0]) * x)


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)


def test_the_gradient_of_an_identity_is_not_shared_memory():
    x = np.ones(3)
    g = grad(lambda x: np.sum(x), argnums=0)(x)
    g[0] = 7.0
    y, pullback = vjp(lambda x: x, x)
    seed = np.ones(3)
    (bar,) = pullback(seed)
    bar[0] = 5.0
    assert seed[0] == 1.0
    assert np.array_equal(grad(lambda x: np.sum(x))(x), np.ones(3))


@pytest.mark.parametrize("function, x", [
    (lambda x: x * 1j, 1.5), (lambda x: x > 0.0, 1.5), (lambda x: x * 2.0, np.ones(3)),
    (lambda x: x + 1j * x, np.ones(1)), (lambda x: (x, x), 1.5), (lambda x: None, 1.5),
    (lambda x: "text", 1.5), (lambda x: [x], 1.5),
])
def test_results_without_a_gradient_are_refused(function, x):
    with pytest.raises(TypeError):
        grad(function)(x)


def test_the_shape_is_named():
    with pytest.raises(TypeError, match=r"\(2, 3\)"):
        grad(lambda x: x * 2.0)(M)
