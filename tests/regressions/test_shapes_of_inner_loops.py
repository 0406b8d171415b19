"""Arrays that an inner loop starts from are made in the outer one: no check in front reads them."""

from __future__ import annotations

import numpy as np

from tests.language.check import check


def joined_in_the_outer_loop(x, n):
    u = x * 2.0
    for _ in range(n):
        w = np.concatenate([u[:2], x[2:]])
        for _ in range(2):
            z = w * x
            w = z + w
        u = w * u
    return np.sum(u)


def test_an_array_that_an_outer_loop_makes() -> None:
    check(joined_in_the_outer_loop, np.array([0.3, 0.5, 0.7, 0.2]), 2, argnums=(0,))
    check(joined_in_the_outer_loop, np.array([0.3, 0.5, 0.7, 0.2]), 0, argnums=(0,))
