"""Arrays that loops swap, share and write into; see ``buffers``."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.lanes import one_in
from tests.properties.buffers import outcome, source_of
from tests.properties.test_random_programs import PROGRAMS

from adcompiler import ADError, vjp


@pytest.mark.parametrize("first", one_in(6, range(0, max(PROGRAMS, 10), 10)))
def test_random_buffers(first: int) -> None:
    counts = Counter(outcome(source_of(seed)) for seed in range(first, first + 10))
    assert counts["clean"] >= 2


def test_names_of_one_array_where_a_loop_may_not_run() -> None:
    """What two names are after a loop depends on whether it runs: copies in it part them."""

    def f(x, n):
        y = x * 2.0
        z = y
        for _ in range(n):
            y = y.copy()
            z = z.copy()
        y[0] = 5.0 * x[0]
        return z.sum()

    def parted(x, n):
        y = x * 2.0
        z = y.copy()
        for _ in range(n):
            y = y.copy()
            z = z.copy()
        y[0] = 5.0 * x[0]
        return z.sum()

    x = np.array([0.3, 0.4])
    with pytest.raises(ADError, match="`z` may share storage with `y`"):
        vjp(f, x, 0, argnums=0)
    np.testing.assert_array_equal(vjp(parted, x, 0, argnums=0)[1](1.0), [2.0, 2.0])


def test_two_buffers_swapped_in_an_inner_loop() -> None:
    def f(x):
        u, v = x.copy(), np.zeros_like(x)
        for _ in range(2):
            for _ in range(3):
                for i in range(len(x)):
                    v[i] = u[i] * u[i - 1]
                u, v = v, u
            u[0] = u[0] + x[0]
        return np.sum(u)

    x = np.array([0.9, 1.1, 0.7])
    slopes = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    value, pullback = vjp(f, x)
    assert value == f(x)
    np.testing.assert_allclose(pullback(1.0)[0], slopes, rtol=1e-7)
