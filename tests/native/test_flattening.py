"""One loop over all elements in place of loops over the axes of arrays."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

from adcompiler import grad
from tests.lanes import one_in
from tests.native.test_backends_agree import outcome

pytestmark = pytest.mark.usefixtures("plain_loops")
RNG = np.random.default_rng(17)


def points(x, y):
    return np.sum(np.tanh(x * y) / (1.0 + x * x) - np.exp(-y))


def windows(x, y):
    z = x[1:] * y[:-1]
    z[0] = x[0] * y[0]
    return np.sum(z * z * x[:-1])


def stretched(x, y):
    centred = x - np.mean(x, axis=0)
    return np.sum(centred * y * x[:, :1])


def turned(x, y):
    return np.sum(np.tanh(x.T) * y.T + (x * y).T)


def checked(x, y):
    z = np.log(x * x + 1.0)
    return np.sum(z / (y * y + 1.0)) + z[0, 0]


def loops_of(function: Any, *args: Any) -> str:
    text = grad(function, (0, 1), backend="native").source_for(*args)
    return text[text.rindex(f"def {function.__name__}_grad_loops"):]


@pytest.mark.parametrize("function, shape", one_in(5, itertools.product(
    [points, windows, stretched, turned, checked],
    [(4, 3), (1, 3), (5, 1), (2, 2), (0, 3), (3, 0)])))
def test_gradients_are_those_of_python(function: Any, shape: Any) -> None:
    x, y = RNG.normal(size=shape), RNG.normal(size=shape)
    wide = RNG.normal(size=(2 * shape[0], shape[1]))[::2]
    for a, b in [(x, y), (np.asfortranarray(x), y), (wide, y[::-1]), (x, x)]:
        wanted = outcome(grad(function, (0, 1)), a, b)
        found = outcome(grad(function, (0, 1), backend="native"), a, b)
        assert type(found[0]) is type(wanted[0])
        if isinstance(wanted[0], np.ndarray):
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
        else:
            assert found == wanted


def test_arrays_of_one_shape_are_visited_by_one_loop() -> None:
    text = loops_of(points, np.ones((4, 3)), np.ones((4, 3)))
    assert "x_flat = x.ravel()[0 : size" in text
    assert "range(x.shape[1])" not in text


def test_parts_and_turned_arrays_are_visited_axis_by_axis() -> None:
    x = np.ones((4, 3))
    assert "z_flat" not in loops_of(windows, x, x)
    text = loops_of(turned, x, x)
    for name in re.findall(r"(\w+) = \w+\.T$", text, re.M):
        assert f"{name}.ravel()" not in text
    assert re.search(r"= x\.T$", text, re.M)
