"""Lists and dicts of functions: as arguments, of a module, and made in loops."""

import functools
import warnings

import numpy as np
import pytest

from adcompiler import ADError, grad, jvp
from adcompiler.runtime import UnfitError
from tests.language.check import Cases

programs = Cases()
X = np.array([0.7, 1.3, 0.4])
FUNCTIONS = [np.sin, np.cos, lambda t: t * t]


class Dense:
    def __init__(self, w, activation):
        self.w = w
        self.activation = activation

    def __call__(self, x):
        return self.activation(self.w * x)


class Scale:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return self.k * x


class Net:
    def __init__(self, layers):
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


LAYERS = [Dense(0.5, np.tanh), Scale(2.0), Dense(1.5, np.sin)]


def power(x, k):
    return x**k


@programs(X, FUNCTIONS)
def one_after_the_other(x, fs):
    for f in fs:
        x = f(x)
    return np.sum(x)


@programs(X, FUNCTIONS)
def at_places(x, fs):
    total = fs[-1](x[0]) + len(fs)
    for i in range(len(fs)):
        total += fs[i](x[i]) * i
    return total


@programs(X, FUNCTIONS)
def with_numbers(x, fs):
    total = 0.0
    for i, f in enumerate(fs):
        total += (i + 1) * f(x[i])
    return total


@programs(X, FUNCTIONS)
def columns_of_a_basis(x, basis):
    return np.sum(np.column_stack([b(x) for b in basis]) @ np.array([1.0, 2.0, 3.0]))


@programs(X, FUNCTIONS)
def reduced(x, fs):
    return np.sum(functools.reduce(lambda v, f: f(v), fs, x))


@programs(X, [np.sin])
def a_longer_copy(x, fs):
    fs = [*fs, np.cos]
    fs.append(np.exp)
    for f in fs:
        x = f(x)
    return np.sum(x)


@programs(X, LAYERS, argnums=(0,))
def layers_of_several_classes(x, layers):
    for layer in layers:
        x = layer(x)
    return np.sum(x * x)


@programs(X, Net(LAYERS), argnums=(0,))
def a_net_of_them(x, net):
    return np.sum(net(x))


@programs(X, {"fs": FUNCTIONS})
def inside_a_dict(x, options):
    for f in options["fs"]:
        x = f(x)
    return np.sum(x)


@programs(X)
def powers(x):
    fs = [lambda t, k=k: t**k for k in range(4)]
    total = sum(f(v) for f in fs for v in x)
    for i in range(4):
        total += fs[i](x[0]) * x[1]
    return total


@programs(X)
def partials(x):
    fs = [functools.partial(power, k=k) for k in (1, 2, 3)]
    return sum(f(x[0]) * x[1] for f in fs)


@programs(X)
def appended(x):
    fs = []
    for k in range(3):
        fs.append(lambda t, k=k: t * x[k])
    total = 1.0
    for f in fs:
        total = f(total) + 1.0
    return total


@programs(X)
def made_by_a_maker(x):
    def scaled(k):
        return lambda t: t * k

    fs = []
    for k in range(3):
        fs.append(scaled(x[k]))
    return fs[0](x[0]) + fs[1](x[2]) ** 2


@programs(X)
def in_dicts(x):
    table = {}
    for k in range(3):
        table[k] = lambda t, k=k: t * x[k]
    more = {k: (lambda t, k=k: t**k) for k in (1, 2, 3)}
    return table[0](x[1]) * table[2](1.0) + sum(f(x[0]) for f in more.values())


@programs(X)
def nested_in_one_another(x):
    f = lambda t: t  # noqa: E731
    for k in range(3):
        f = (lambda f, k: lambda t: np.sin(f(t)) * x[k])(f, k)
    return f(x[0])


@programs(X)
def handed_on_by_a_short_loop(x):
    f, t = np.sin, x[0]
    for i in range(3):
        t = f(t)
        f = np.cos if i % 2 == 0 else np.exp
    return t * x[1]


@programs(X)
def beside_an_array(x):
    fs = [(lambda t, k=k: t ** (k + 1) * x[2]) for k in range(2)]
    return sum(f(v) for f, v in zip(fs, x)) + sum(f(v * w) for f, v, w in zip(FUNCTIONS, x, 2 * x))


@programs(X, [2.0, 3.0, 4.0, 5.0])
def beside_what_the_loop_writes(x, weights):
    x = x.copy()
    total = 0.0
    for weight, value, f in zip(weights, x, FUNCTIONS):
        x[1] = 2.0 * value
        total += f(value) * weight
    return total


@pytest.mark.parametrize("case", programs, ids=str)
def test_functions_in_lists(case):
    programs.check(case)


def test_lists_of_other_functions_have_code_of_their_own():
    df = grad(one_after_the_other)
    assert np.allclose(df(X, [np.sin]), np.cos(X))
    assert np.allclose(df(X, [np.exp]), np.exp(X))
    assert np.allclose(df(X, [np.sin]), np.cos(X))
    fs = [np.sin]
    assert np.allclose(df(X, fs), np.cos(X))
    fs[0] = np.exp
    assert np.allclose(df(X, fs), np.exp(X))
    fs.append(np.log)
    assert np.allclose(df(X, fs), np.ones(3))


def recursive(x, fs, n):
    return x if n == 0 else recursive(fs[n - 1](x), fs, n - 1)


def test_a_function_compiled_on_its_own_is_told_which():
    def f(x):
        return recursive(x, [np.sin, np.cos], 2) + recursive(x, [np.exp, np.exp], 2)

    wanted = np.cos(np.cos(0.3)) * -np.sin(0.3) + np.exp(np.exp(0.3)) * np.exp(0.3)
    assert abs(grad(f)(0.3) - wanted) < 1e-12

    def given(x, fs, gs):
        return recursive(x, fs, 2) + recursive(x, gs, 2)

    assert abs(grad(given)(0.3, [np.sin, np.cos], [np.exp, np.exp]) - wanted) < 1e-12


def test_second_order_and_forward_mode():
    assert np.allclose(jvp(lambda x: one_after_the_other(x, FUNCTIONS), (X,), (np.ones(3),))[1],
                       np.sum(grad(one_after_the_other)(X, FUNCTIONS)))
    second = grad(lambda t: grad(lambda u: at_places(u * X, FUNCTIONS))(t))(1.0)
    h = 1e-5
    wanted = (grad(lambda u: at_places(u * X, FUNCTIONS))(1.0 + h)
              - grad(lambda u: at_places(u * X, FUNCTIONS))(1.0 - h)) / (2.0 * h)
    assert abs(second - wanted) < 1e-6


def beside(x):
    return sum(f(v) for f, v in zip(FUNCTIONS, x))


def test_what_ends_before_the_functions_do_is_told():
    derivative = grad(beside)
    assert np.allclose(derivative(np.ones(4)), [np.cos(1.0), -np.sin(1.0), 2.0, 0.0])
    with pytest.raises(UnfitError, match="beside 3 functions has 2 items only"):
        derivative(np.ones(2))


def within_a_handler_of_all(x):
    try:
        return beside(x)
    except:  # noqa: E722
        return 0.0


def test_a_handler_of_all_does_not_take_it_for_its_own():
    with pytest.raises(ADError):
        grad(within_a_handler_of_all)(np.ones(2))


@pytest.mark.records
def test_what_ends_before_the_functions_do_is_recorded():
    derivative = grad(beside)
    for n in (4, 2, 4):
        wanted = [np.cos(1.0), -np.sin(1.0), 2.0, 0.0][:n]
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            assert np.allclose(derivative(np.ones(n)), wanted)
        assert len(told) == (n == 2)
