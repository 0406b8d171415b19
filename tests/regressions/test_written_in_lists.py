"""Storage that a loop makes and writes into is restored in what was saved, and nowhere else.

The sweep wrote into it while a cotangent was another name for it.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from adcompiler.testing import check_grads
from tests.lanes import one_in


def ends(y, z, how):
    if how == "product":
        return np.sum(y * z)
    if how == "inner":
        return y @ z
    if how == "scaled":
        return 2.0 * np.sum(1.0 * y * z) - np.sum(-y)
    return np.sum(y[1:] * z[:-1]) + np.sum(y)


def one_element(x, n, how):
    y, z = x, np.zeros_like(x)
    for i in range(n):
        new = y / (1.0 + y * y)
        new[i] = new[i] * x[0]
        z, y = y, new
    return ends(y, z, how)


def a_part(x, n, how):
    y, z = np.sin(x), x
    for _ in range(n):
        new = y * z
        new[1:] *= y[:-1]
        new[:2] = new[:2] * new[1:3]
        y, z = new, y
    return ends(y, z, how)


def in_two_loops(x, n, how):
    y, z = x, 0.5 * x
    for i in range(n):
        for k in range(i + 1):
            new = np.cos(y) * z
            new[k] = new[k] ** 2
            y, z = new, y
    return ends(z, y, how)


def kept_in_a_list(x, n, how):
    states = [x, 0.5 * x]
    for i in range(n):
        new = states[-1] * states[-2]
        new[i] = new[i] * new[i + 1]
        states.append(new)
    return ends(states[-1], states[-2], how)


@pytest.mark.parametrize("function, how, n", one_in(3, itertools.product(
    [one_element, a_part, in_two_loops, kept_in_a_list], ["product", "inner", "scaled", "parts"],
    [0, 1, 2, 3])))
def test_a_cotangent_is_not_what_the_sweep_restores(function, n, how):
    x = np.linspace(0.4, 0.9, 5)
    check_grads(lambda x: function(x, n, how), (x,), order=1)
