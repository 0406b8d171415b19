"""Arguments reach the user's function exactly as the caller wrote them."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from adcompiler import ADError, grad, hessian, jacobian, jvp, value_and_grad, vjp


def counting(f):
    @functools.wraps(f)
    def new(*args, **kwargs):
        return 10.0 * f(*args, **kwargs) if len(args) > 1 or kwargs else f(*args, **kwargs)

    return new


def naming(f):
    @functools.wraps(f)
    def new(*args, **kwargs):
        return (100.0 if "y" in kwargs else 1.0) * f(*args, **kwargs)

    return new


@counting
def g(x, y=2.0):
    return x * y


@naming
def k(x, y=2.0, *, z=1.0):
    return x * x * y * z


class Twice:
    """A decorator whose call is its own."""

    def __init__(self, f):
        functools.update_wrapper(self, f)
        self.f = f

    def __call__(self, *args, **kwargs):
        return 2.0 * self.f(*args, **kwargs)


@Twice
def doubled(x, y=1.0):
    return x * x * y


class Model:
    scale = 3.0

    @counting
    def method(self, x, y=2.0):
        return self.scale * x * y

    @staticmethod
    @naming
    def static(x, y=2.0):
        return x * y

    @classmethod
    def of_class(cls, x, *, power=2):
        return cls.scale * x**power

    def __call__(self, x, *rest, k=1.0):
        return x * k * len(rest)


CALLS = [
    (g, (3.0,), {}), (g, (3.0, 2.0), {}), (g, (3.0,), {"y": 2.0}), (g, (), {"x": 3.0}),
    (k, (3.0,), {}), (k, (3.0, 5.0), {}), (k, (3.0,), {"y": 5.0}), (k, (3.0,), {"z": 2.0}),
    (k, (3.0,), {"z": 2.0, "y": 4.0}), (doubled, (3.0,), {}), (doubled, (3.0, 2.0), {}),
    (Model().method, (3.0,), {}), (Model().method, (3.0,), {"y": 4.0}),
    (Model.static, (3.0,), {}), (Model().static, (3.0,), {"y": 2.0}),
    (Model.of_class, (3.0,), {}), (Model().of_class, (3.0,), {"power": 3}),
    (Model(), (3.0, 1, 2), {"k": 2.0}), (functools.partial(k, y=2.0), (3.0,), {}),
    (functools.partial(k, y=2.0), (3.0,), {"z": 2.0}), (functools.partial(g, 3.0), (2.0,), {}),
    (functools.cache(lambda x, y=2.0: x * x * y), (3.0,), {"y": 4.0}),
]


@pytest.mark.parametrize(("function", "args", "kwargs"), CALLS)
def test_what_is_passed_is_what_arrives(function, args, kwargs):
    argnums = 0 if args else "x"

    def at(t):
        return function(*(t, *args[1:]), **kwargs) if args else function(x=t)

    slope = (at(3.0 + 1e-6) - at(3.0 - 1e-6)) / 2e-6
    if isinstance(function, functools.partial) and function.args:
        slope = 10.0 * 3.0
    value, bar = value_and_grad(function, argnums)(*args, **kwargs)
    assert value == function(*args, **kwargs)
    np.testing.assert_allclose(bar, slope, rtol=1e-8)
    np.testing.assert_allclose(jacobian(function, argnums)(*args, **kwargs), slope, rtol=1e-8)


def test_other_operators():
    value, pullback = vjp(g, 3.0)
    assert (value, pullback(1.0)) == (6.0, (2.0,))
    value, pullback = vjp(g, 3.0, 2.0)
    assert (value, pullback(1.0)) == (60.0, (20.0, 30.0))
    assert jvp(g, (3.0,), (1.0,)) == (6.0, 2.0)
    for args, kwargs in [((3.0,), {}), ((3.0,), {"y": 5.0}), ((3.0, 5.0), {})]:
        wanted = k(1.0, *args[1:], **kwargs) * 2.0
        assert hessian(k)(*args, **kwargs) == wanted
        assert grad(grad(k))(*args, **kwargs) == wanted


def test_names_and_positions_of_what_is_differentiated():
    assert value_and_grad(g, "y")(3.0, y=2.0) == (60.0, 30.0)
    assert value_and_grad(g, 1)(3.0, 2.0) == (60.0, 30.0)
    assert value_and_grad(g, ("x", 1))(y=3.0, x=2.0) == (60.0, (30.0, 20.0))
    with pytest.raises(ADError, match="pass y"):
        grad(g, "y")(3.0)
    with pytest.raises(ValueError, match="no parameter 'w'"):
        grad(g, "w")(3.0)
    with pytest.raises(TypeError, match="unexpected keyword"):
        grad(g)(3.0, w=1.0)


def test_inside_of_compiled_code():
    def f(x):
        return g(x) * k(x, y=2.0) + g(x, 2.0) + doubled(x)

    def slope(x):
        return (f(x + 1e-6) - f(x - 1e-6)) / 2e-6

    np.testing.assert_allclose(grad(f)(3.0), slope(3.0), rtol=1e-8)


def test_the_source_is_that_of_the_last_call():
    derivative = grad(g)
    derivative(3.0)
    assert derivative.source == derivative.source_for(3.0)
    assert derivative.source != derivative.source_for(3.0, 2.0)
