"""Loops over a list of a dict's keys, whose body writes into the dict."""

from __future__ import annotations

import numpy as np
import pytest

from adcompiler import grad, vjp


def scaled(d):
    for k in list(d):
        d[k] *= 2.0
    return sum(np.sum(v) for v in d.values())


def scaled_in_order(d):
    for k in sorted(d):
        d[k] *= 2.0
    return sum(np.sum(v) for v in d.values())


def scaled_copies(d):
    held = dict(d)
    for k in tuple(d):
        d[k] *= 2.0
    return sum(np.sum(v) for v in held.values())


@pytest.mark.parametrize("f", [scaled, scaled_in_order, scaled_copies])
def test_keys_share_nothing_with_values(f):
    plain = {"a": np.array([1.0, 2.0]), "b": np.array([3.0])}
    ours = {"a": np.array([1.0, 2.0]), "b": np.array([3.0])}
    wanted = f(plain)
    value, pullback = vjp(f, ours)
    assert value == wanted == 12.0
    (bars,) = pullback(1.0)
    for key in plain:
        np.testing.assert_array_equal(ours[key], plain[key])
        np.testing.assert_array_equal(bars[key], np.full_like(plain[key], 2.0))


def test_an_entry_is_deleted_under_a_key_that_the_values_give():
    def f(x):
        ys = {i: v * v for i, v in enumerate(x)}
        del ys[int(x[2])]
        return sum(ys.values())

    for last, kept in ((2.0, [1.0, 1.0, 0.0]), (0.0, [0.0, 1.0, 1.0])):
        x = np.array([0.5, -1.5, last])
        np.testing.assert_array_equal(grad(f)(x), 2.0 * x * kept)
