"""Calls ``f(**table)`` of dicts whose keys are only known when the code runs."""

import numpy as np
import pytest

from adcompiler import grad, hessian
from tests.language.check import Cases

programs = Cases()
NAMES = ["scale", "shift"]


def moved(x, scale, *, shift=0.5):
    return x * scale + shift * x * x


class Model:
    def __init__(self, weight, bias=1.0):
        self.weight = weight
        self.bias = bias

    def value(self, x, power, factor=2.0):
        return self.weight * x * power + self.bias * factor


@programs(np.array([0.7, 1.1, 0.4]))
def filled_in_a_loop(x):
    table = {}
    for k, name in enumerate(("scale", "shift")):
        table[name] = x[k] ** 2
    return moved(x[2], **table)


@programs(np.array([0.7, 1.1, 0.4]))
def filled_by_a_list_of_the_module(x):
    table = {}
    for name in NAMES:
        table[name] = x[NAMES.index(name)] ** 2
    return moved(x[2], **table)


@programs(np.array([0.7, 1.1]))
def default_where_a_key_is_missing(x):
    table = {}
    for name in NAMES[: len(x) - 1]:
        table[name] = x[0] * x[1]
    return moved(x[0], **table)


@programs(np.array([0.7, 1.1, 0.4]))
def classes_and_methods(x):
    model = Model(**{name: value**2 for name, value in zip(("weight", "bias"), x, strict=False)})
    return model.value(x[2], **{name: x[1] for name in ("power", "factor")[: len(x) - 2]})


@programs(np.array([0.7, 1.1, 0.4]))
def inner_function(x):
    def inner(a, b=x[2]):
        return a * b

    return inner(**{name: x[0] ** 2 for name in ("a", "b")[: len(x) - 2]})


@pytest.mark.parametrize("case", programs, ids=str)
def test_tables_of_keywords(case):
    programs.check(case)


def test_second_derivatives():
    x = np.array([0.7, 1.1, 0.4])
    a, b, c = x
    want = [[2 * c, 0, 2 * a], [0, 2 * c * c, 4 * b * c], [2 * a, 4 * b * c, 2 * b * b]]
    assert np.allclose(hessian(filled_in_a_loop)(x), want)


@pytest.mark.parametrize("names, message", [
    (["scale", "shaft"], "unexpected keyword argument 'shaft'"),
    (["shift"], "missing 1 required argument: 'scale'"),
])
def test_keywords_that_do_not_fit_raise_as_in_python(names, message):
    def program(x, names):
        return moved(x, **{name: 2.0 * x for name in names})

    with pytest.raises(TypeError):
        program(3.0, names)
    with pytest.raises(TypeError, match=message):
        grad(program)(3.0, names)
    assert grad(program)(3.0, ["scale", "shift"]) == 12.0 + 54.0
