"""A jvp raises what the function raises, though nobody reads the value that was to be computed."""

import numpy as np
import pytest

from adcompiler import batched_jvp, jacfwd, jet, jvp, linearize, taylor


def item_unused(x, items):
    items[3]
    return x * x


def quotient_unused(x, items):
    y = x / (items[0] - 1.0)  # noqa: F841
    return x * x


@pytest.mark.parametrize(("function", "error"), [
    (item_unused, IndexError), (quotient_unused, ZeroDivisionError),
])
def test_unused_value_that_raises(function, error):
    with pytest.raises(error):
        function(1.5, [1.0])
    with pytest.raises(error):
        jvp(function, (1.5, [1.0]), (1.0, [0.0]))


def test_unused_value_that_does_not_raise():
    items = [2.0, 3.0, 4.0, 5.0]
    assert jvp(quotient_unused, (1.5, items), (1.0, [0.0] * 4)) == (2.25, 3.0)
    assert jvp(item_unused, (1.5, items), (1.0, [0.0] * 4)) == (2.25, 3.0)


@pytest.mark.parametrize("derivative", [
    lambda f: jet(f, 2)(1.5),
    lambda f: taylor(f, (1.5,), ((1.0, 0.0),)),
    lambda f: batched_jvp(f, (1.5,), (np.ones(2),)),
    lambda f: linearize(f, 1.5),
    lambda f: jacfwd(f)(1.5),
], ids=["jet", "taylor", "batched_jvp", "linearize", "jacfwd"])
@pytest.mark.parametrize(("function", "error"), [
    (lambda x: (x, x / (x - 1.5))[0], ZeroDivisionError),
    (lambda x: ([1.0][3], x * x)[1], IndexError),
    (lambda x: (np.zeros(3) + np.zeros(4), x * x)[1], ValueError),
    (lambda x: (int("3a"), x * x)[1], ValueError),
], ids=["quotient", "item", "shapes", "text"])
def test_all_that_give_the_value_raise(derivative, function, error):
    with pytest.raises(error):
        derivative(function)
