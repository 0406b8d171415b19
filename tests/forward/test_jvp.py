"""What ``jvp`` promises: values, tangents, kinds, effects and refusals."""

import copy
import math
from dataclasses import dataclass

import numpy as np
import pytest

from adcompiler import (
    MissingRuleError, UnsupportedError, derivative, elementwise_grad, jvp, linearize,
    source, vjp,
)
from adcompiler.api.emitted import EmittedDerivative
from adcompiler.dispatch import Options


def agree(function, primals, tangents, expected, value=None):
    found = jvp(function, primals, tangents)
    wanted = function(*copy.deepcopy(primals)) if value is None else value
    assert np.allclose(found[0], wanted, rtol=1e-14, atol=0.0)
    assert np.allclose(found[1], expected, rtol=1e-12, atol=1e-14)
    return found


def test_numbers():
    agree(lambda x: math.sin(x) * x, (0.7,), (2.0,), 2.0 * (math.cos(0.7) * 0.7 + math.sin(0.7)))
    agree(lambda x, y: x**y, (2.0, 3.0), (1.0, 0.5), 12.0 + 0.5 * 8.0 * math.log(2.0))


def test_none_is_zero_and_its_argument_is_not_differentiated():
    def power(x, n):
        for _ in range(n):
            x = x * x
        return x

    value, along = jvp(power, (1.5, 3), (1.0, None))
    assert value == 1.5**8
    assert abs(along - 8 * 1.5**7) < 1e-12
    assert jvp(power, (1.5, 3), (None, None)) == (1.5**8, 0.0)


def test_argnums_and_keywords():
    def f(x, scale=1.0, *, shift):
        return scale * x + shift

    assert jvp(f, (2.0, 3.0), (1.0,), argnums=(1,), shift=0.5) == (6.5, 2.0)
    assert jvp(f, (2.0, 3.0), 1.0, argnums=1, shift=0.5) == (6.5, 2.0)
    assert jvp(f, (2.0, 3.0), (1.0, 4.0), argnums=("x", "shift"), shift=0.5) == (6.5, 7.0)


def test_integers_count_as_floats():
    value, along = jvp(lambda x: x * x, (3,), (1,))
    assert (value, along) == (9.0, 6.0) and type(along) is float
    y = jvp(lambda x: np.sum(x * x), (np.array([1, 2]),), (np.array([1, 1]),))
    assert y == (5.0, 6.0)


@dataclass
class Params:
    w: np.ndarray
    b: float
    name: str = "layer"


def test_structures():
    def f(p, pair):
        return {"out": p.w * pair[0] + p.b, "norm": [np.sum(p.w), pair[1]["k"]]}

    p, tangent = Params(np.array([1.0, 2.0]), 0.5), Params(np.array([0.0, 1.0]), 2.0)
    value, along = jvp(f, (p, (3.0, {"k": 4.0})), (tangent, (1.0, {"k": None})))
    assert np.array_equal(value["out"], [3.5, 6.5])
    assert np.array_equal(along["out"], [1.0 + 2.0, 2.0 + 3.0 + 2.0])
    assert along["norm"] == [1.0, 0.0]


def test_tangents_have_to_fit():
    def f(x):
        return np.sum(x)

    with pytest.raises(ValueError, match=r"the tangent of x has shape \(2,\)"):
        jvp(f, (np.ones(3),), (np.ones(2),))
    with pytest.raises(TypeError, match="sequence of 1 tangents"):
        jvp(f, (np.ones(3),), (1.0, 2.0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_precision_stays(dtype):
    def f(x):
        y = np.sin(x) * 2.0 + x[::-1]
        y[0] = y[1] * 0.5
        return y, np.sum(y), y[1]

    x = np.linspace(0.1, 0.9, 4).astype(dtype)
    value, along = jvp(f, (x,), (np.ones(4, dtype),))
    for y, d in zip(value, along, strict=True):
        assert np.asarray(y).dtype == np.asarray(d).dtype == dtype and type(y) is type(d)
    exact = 2.0 * np.cos(x) + 1.0
    exact[0] = exact[1] * 0.5
    assert np.allclose(along[0], exact, rtol=1e-5)


def test_complex_derivatives_are_not_conjugated():
    z = np.array([0.3 + 0.4j, -1.0 + 0.2j])
    v = np.array([1.0 - 1.0j, 0.5j])
    agree(lambda z: np.exp(z) * z, (z,), (v,), np.exp(z) * (1.0 + z) * v)
    agree(np.abs, (z,), (v,), np.real(np.conj(z) * v) / np.abs(z))
    agree(lambda z: np.conj(z) * z.imag, (z,), (v,), np.conj(v) * z.imag + np.conj(z) * v.imag)
    agree(lambda x: x * (1.0 + 2.0j), (2.0,), (1.0,), 1.0 + 2.0j)


def test_broadcasting():
    x, b = np.arange(6.0).reshape(2, 3), np.ones(3)
    agree(lambda x, b: x + b, (x, b), (np.zeros((2, 3)), np.ones(3)), np.ones((2, 3)))
    agree(lambda b: b + np.ones((2, 3)), (b,), (np.arange(3.0),), np.tile(np.arange(3.0), (2, 1)))
    agree(lambda s: s - np.ones(3), (2.0,), (1.0,), np.ones(3))
    agree(lambda b: b + np.ones(4), (np.ones(1),), (np.ones(1),), np.ones(4))
    agree(lambda b: b + np.ones(0), (np.ones(1),), (np.ones(1),), np.ones(0))
    agree(lambda x: x * np.array(2.0), (np.array(3.0),), (np.array(1.0),), np.array(2.0))


def test_writes_go_to_the_shadow_too():
    def f(a):
        a *= 2.0
        b = a[1:]
        b[0] = 5.0
        a[2] += a[0] * a[1]
        return a

    a, d = np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0, 100.0])
    kept = d.copy()
    value, along = jvp(f, (a,), (d,))
    assert np.array_equal(value, [2.0, 5.0, 16.0])
    assert np.array_equal(along, [2.0, 0.0, 210.0])
    assert np.array_equal(a, value) and np.array_equal(d, kept)


def test_shadows_do_not_alias_tangents_of_other_values():
    def f(x):
        y = x + 1.0
        z = y - 3.0
        y[0] = 0.0
        return y, z, x

    x, d = np.array([1.0, 2.0]), np.array([1.0, 1.0])
    _, (y_dot, z_dot, x_dot) = jvp(f, (x,), (d,))
    assert np.array_equal(y_dot, [0.0, 1.0]) and np.array_equal(z_dot, [1.0, 1.0])
    for part in (y_dot, z_dot, x_dot):
        part[:] = 7.0
    assert np.array_equal(d, [1.0, 1.0]) and np.array_equal(x, [1.0, 2.0])


def test_the_result_shares_no_storage_with_tangents():
    def f(x, flag):
        return x if flag else 2.0 * x

    for flag in (True, False):
        d = np.ones(2)
        _, along = jvp(f, (np.zeros(2), flag), (d, None))
        assert not np.shares_memory(along, d)


def test_layouts_of_primal_and_tangent_may_differ():
    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    d = np.arange(6.0).reshape(2, 3) ** 2
    for order in ("C", "F", "A"):
        expected = x.ravel(order=order) ** 2
        agree(lambda x, order=order: np.ravel(x, order=order), (x,), (d,), expected)

    def written(x):
        y = x.copy(order="K")
        flat = y.T.reshape(-1)
        flat[0] = flat[1] * 2.0
        return y

    _, along = jvp(written, (x,), (d,))
    expected = d.copy()
    expected[0, 0] = 2.0 * d[1, 0]
    assert np.array_equal(along, expected)


def test_recursion_closures_and_exceptions():
    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

    agree(lambda x: power(x, 5), (1.3,), (1.0,), 5 * 1.3**4)
    scale = np.array([2.0, 3.0])
    agree(lambda x: (lambda y: y * scale)(x * x), (np.ones(2),), (np.ones(2),), 2.0 * scale)

    def guarded(x):
        try:
            if x > 1.0:
                raise ValueError("too large")
            y = x * x
        except ValueError:
            y = 3.0 * x
        return y

    assert jvp(guarded, (0.5,), (1.0,)) == (0.25, 1.0)
    assert jvp(guarded, (2.0,), (1.0,)) == (6.0, 3.0)
    with pytest.raises(ZeroDivisionError):
        jvp(lambda x: 1.0 / x, (0.0,), (1.0,))


def test_what_is_not_supported_is_refused_before_anything_runs():
    ran = []

    def opaque(x):
        ran.append(1)
        return {x, 2.0 * x}

    with pytest.raises(UnsupportedError):
        jvp(opaque, (1.0,), (1.0,))

    def lacking(x):
        ran.append(1)
        return np.lib.scimath.sqrt(np.asarray(x)) + np.unwrap(x, period=x[0])

    with pytest.raises((MissingRuleError, UnsupportedError)):
        jvp(lacking, (np.ones(3),), (np.ones(3),))
    assert ran == []


def test_emitted_pushforward_is_interleaved_and_compiled_once():
    def f(x):
        y = np.sin(x)
        return y * y

    text = source(f, np.ones(3), mode="forward")
    assert "def f_pushforward(x, x_dot):" in text
    assert "y_dot = x_dot * np.cos(x)" in text
    push = EmittedDerivative(f, Options("forward", (0,)))
    first = push.compiled_for(np.ones(3))
    assert push.compiled_for(np.zeros(5)) is first
    assert np.array_equal(push(np.zeros(2))(np.ones(2))[1], np.zeros(2))


def test_linearize_is_at_the_point_where_it_was_called():
    def f(x):
        return x * np.sum(x)

    x = np.array([1.0, 2.0])
    value, push = linearize(f, x)
    x[:] = 0.0
    v = np.array([1.0, -3.0])
    assert np.array_equal(value, [3.0, 6.0])
    assert np.array_equal(push(v), [3.0 - 2.0, -9.0 - 4.0])
    assert np.array_equal(push(v), push(v))
    with pytest.raises(TypeError, match="1 tangents"):
        push(v, v)


def test_derivatives_of_functions_of_one_number():
    assert derivative(lambda t: t**3)(2) == 12.0
    assert np.allclose(derivative(lambda t, a: np.sin(a * t))(0.5, np.ones(2)), np.cos(0.5))
    assert derivative(lambda a, t: a * t, "t")(3.0, 2.0) == 3.0
    with pytest.raises(TypeError, match="jacobian is for arrays"):
        derivative(np.sum)(np.ones(3))
    x = np.linspace(0.0, 1.0, 4)
    assert np.allclose(elementwise_grad(lambda x: np.tanh(x) * x)(x),
                       np.tanh(x) + x * (1.0 - np.tanh(x) ** 2))


def test_forward_over_a_kernel_that_returns_nothing():
    def smooth(u, f):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i])

    def smoothed(u, f):
        smooth(u, f)
        return u

    rng = np.random.default_rng(3)
    u, f, du, df, w = rng.normal(size=(5, 6))
    _, along = jvp(smoothed, (u.copy(), f), (du, df))
    _, pullback = vjp(smoothed, u.copy(), f)
    u_bar, f_bar = pullback(w)
    assert abs(w @ along - (u_bar @ du + f_bar @ df)) < 1e-12
