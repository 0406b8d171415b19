"""A gradient that equals an array of the module is a copy of it."""

import numpy as np
import pytest

from adcompiler import grad, jacobian, jvp, value_and_grad, vjp

WEIGHTS = np.array([0.3, 0.4])
TABLES = {"weights": [WEIGHTS]}


class Settings:
    weights = WEIGHTS


def closed_over(weights):
    return lambda x: np.sum(x * weights)


FORMS = {
    "a global": lambda x: np.sum(x * WEIGHTS),
    "a view of it": lambda x: np.sum(x * WEIGHTS[::-1]),
    "in a table": lambda x: np.sum(x * TABLES["weights"][0]),
    "of a class": lambda x: np.sum(x * Settings.weights),
    "of a closure": closed_over(WEIGHTS),
    "of a default": lambda x, w=WEIGHTS: np.sum(x * w),
}


@pytest.mark.parametrize("f", FORMS.values(), ids=FORMS)
def test_writing_into_a_gradient_leaves_what_the_function_reads(f):
    x = np.array([1.0, 2.0])
    found = [
        grad(f)(x), value_and_grad(f)(x)[1], vjp(f, x)[1](1.0)[0], jacobian(f)(x),
        jacobian(lambda x: x * WEIGHTS)(x), jvp(lambda x: x + WEIGHTS, (x,), (x,))[1],
    ]
    for g in found:
        assert np.any(g)
        assert not np.shares_memory(g, WEIGHTS)
        g *= 0
    assert WEIGHTS.tolist() == [0.3, 0.4]
