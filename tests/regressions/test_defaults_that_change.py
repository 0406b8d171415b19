"""Defaults are those that a function has when its derivative is called."""

from __future__ import annotations

import numpy as np
import pytest

from adcompiler import grad, jvp, value_and_grad, vjp


def test_defaults_of_the_function_itself():
    def f(x, k=2.0):
        return k * x * x

    derivative = grad(f)
    assert derivative(3.0) == 12.0
    f.__defaults__ = (5.0,)
    assert derivative(3.0) == 30.0
    assert "5" not in derivative.source_for(3.0)
    f.__defaults__ = (7,)
    assert derivative(3.0) == 42.0
    assert vjp(f, 3.0)[0] == 63.0


def test_defaults_by_keyword():
    def f(x, *, k=2.0):
        return k * x * x

    derivative = value_and_grad(f)
    assert derivative(3.0) == (18.0, 12.0)
    f.__kwdefaults__ = {"k": 5.0}
    assert derivative(3.0) == (45.0, 30.0)
    f.__kwdefaults__["k"] = 7.0
    assert derivative(3.0) == (63.0, 42.0)


def test_defaults_of_functions_that_are_called():
    def inner(x, k=2.0, *, m=1):
        return k * x**m

    def outer(x):
        return inner(x) * x

    derivative = grad(outer)
    assert derivative(3.0) == 12.0
    inner.__defaults__ = (10.0,)
    assert derivative(3.0) == 60.0
    inner.__kwdefaults__["m"] = 2
    assert derivative(3.0) == 270.0
    inner.__kwdefaults__ = {"m": 0}
    assert derivative(3.0) == 10.0


def test_a_default_that_is_written_into():
    def f(x, seen=[]):  # noqa: B006 (that is what is tested)
        seen.append(x)
        return x * len(seen)

    assert [f(1.0), f(1.0)] == [1.0, 2.0]
    derivative = value_and_grad(f)
    assert derivative(1.0) == (3.0, 3.0)  # what the next call of f gives
    assert derivative(1.0) == (4.0, 4.0)  # the default is the function's own: it is kept
    mine = [1.0]
    assert derivative(1.0, mine) == (2.0, 2.0)
    assert mine == [1.0]  # what a caller passes is left as it was
    assert vjp(f, 1.0)[0] == 5.0
    assert f.__defaults__ == ([1.0, 1.0, 1.0, 1.0, 1.0],)
    assert grad(f)(2.0) == 6.0
    assert f(1.0) == 7.0


def collecting():
    def f(x, seen=[]):  # noqa: B006 (that is what is tested)
        seen.append(x * x)
        return sum(seen)

    f.__defaults__ = ([],)
    return f


def counting():
    def f(x, *, table={}):  # noqa: B006 (that is what is tested)
        if "n" not in table:
            table["n"] = 0
        table["n"] += 1
        return x * table["n"]

    f.__kwdefaults__ = {"table": {}}
    return f


def summing():
    def f(x, total=np.zeros(2)):  # noqa: B008 (that is what is tested)
        total += x
        return np.sum(total) * x

    f.__defaults__ = (np.zeros(2),)
    return f


def noting():
    def note(x, seen):
        seen.append(x)

    def f(x, seen=[1.0]):  # noqa: B006 (that is what is tested)
        note(x, seen)
        return seen[-1] * len(seen) * seen[0]

    f.__defaults__ = ([1.0],)
    return f


def called(f):
    return lambda x: f(x) * x


def itself(f):
    return f


@pytest.mark.parametrize("outer", [itself, called])
@pytest.mark.parametrize("made", [collecting, counting, summing, noting])
def test_defaults_remember_what_python_keeps(made, outer):
    ours, pythons = made(), made()
    f, plain = outer(ours), outer(pythons)
    both = value_and_grad(f)
    for number, of in enumerate([
        both, both, lambda x: jvp(f, (x,), (1.0,)), lambda x: vjp(f, x), both, both,
    ]):
        x = 1.5 + number
        assert of(x)[0] == pytest.approx(plain(x), rel=1e-14)
        for kept, wanted in zip(
            (ours.__defaults__ or ours.__kwdefaults__["table"].values()),
            (pythons.__defaults__ or pythons.__kwdefaults__["table"].values()), strict=True,
        ):
            assert np.array_equal(kept, wanted)


class Counter:
    def scaled(self, x, seen=[]):  # noqa: B006 (that is what is tested)
        seen.append(x)
        return x * len(seen)


def test_defaults_of_methods():
    derivative = grad(Counter().scaled)
    assert [derivative(1.0), derivative(1.0), derivative(1.0)] == [1.0, 2.0, 3.0]


def test_a_default_that_is_differentiated():
    def f(x, w=[1.0, 2.0]):  # noqa: B006 (that is what is tested)
        return w[0] * x + w[1] * x * x

    assert grad(f, argnums=1)(3.0) == [3.0, 9.0]
    assert grad(f, argnums=(0, 1))(3.0) == (13.0, [3.0, 9.0])
    assert grad(f)(3.0) == 13.0
