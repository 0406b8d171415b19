"""Loops over a list of a dict's keys, whose body writes into the dict."""

from __future__ import annotations

import numpy as np
import pytest

from adcompiler import vjp


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
