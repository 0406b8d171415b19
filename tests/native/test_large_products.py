"""Products of vectors and matrices of more than 1,024 numbers are BLAS's in native loops."""

from typing import Any

import numpy as np
import pytest
from adcompiler import grad, jvp, value_and_grad, vjp
from adcompiler.backends.native.ops.arrays import FOR_BLAS

RNG = np.random.default_rng(3)


def recurrent(W: Any, xs: Any, h: Any) -> Any:
    for x in xs:
        h = np.tanh(W @ h + x)
    return np.sum(h * h)


def both_ways(W: Any, x: Any, n: int) -> Any:
    total = 0.0
    for _ in range(n):
        x = np.sin(W @ (W.T @ x)) / len(x)
        total += np.sum(x)
    return total


@pytest.mark.parametrize("n", [1, 31, 32, 33, 40, 96])
@pytest.mark.parametrize("kind", ["plain", "turned", "strided", "read only"])
def test_gradients(n: int, kind: str) -> None:
    W, xs, h = RNG.normal(size=(n, n)) / n, RNG.normal(size=(4, n)), RNG.normal(size=n)
    if kind == "turned":
        W = W.T
    elif kind == "strided":
        W = np.repeat(W, 2, axis=0)[::2]
        h = np.repeat(h, 3)[::3]
    elif kind == "read only":
        W.flags.writeable = False
    args = (W, xs, h)
    wanted = value_and_grad(recurrent, argnums=(0, 1, 2))(*args)
    found = value_and_grad(recurrent, argnums=(0, 1, 2), backend="native")(*args)
    assert found[0] == pytest.approx(wanted[0], rel=1e-13)
    for one, other in zip(found[1], wanted[1], strict=True):
        assert one == pytest.approx(other, rel=1e-11, abs=1e-14)


def test_rectangles_and_shapes_that_do_not_fit() -> None:
    W, x = RNG.normal(size=(50, 30)), RNG.normal(size=50)
    assert W.size > FOR_BLAS
    wanted, found = (grad(both_ways, argnums=(0, 1), backend=b)(W, x, 3)
                     for b in ("python", "native"))
    for one, other in zip(found, wanted, strict=True):
        # sums in another order differ by the size of what cancels in them
        assert one == pytest.approx(other, rel=1e-11, abs=1e-13 * np.abs(other).max())
    tangents = (RNG.normal(size=W.shape), RNG.normal(size=50), None)
    along = jvp(both_ways, (W, x, 3), tangents, backend="native")[1]
    by_gradients = np.sum(found[0] * tangents[0]) + found[1] @ tangents[1]
    assert along == pytest.approx(by_gradients, rel=1e-10)
    _, pull = vjp(both_ways, W, x, 3, backend="native")
    assert pull(1.0)[1] == pytest.approx(found[1], rel=1e-12)
    with pytest.raises(ValueError, match="matmul"):
        grad(recurrent, backend="native")(W, np.ones((2, 50)), np.ones(50))


def test_not_a_number_and_infinity() -> None:
    W, x = RNG.normal(size=(40, 40)), np.ones(40)
    for value in (np.nan, np.inf):
        W[3, 4] = value
        with np.errstate(all="ignore"):
            wanted = grad(both_ways, argnums=1)(W, x, 1)
            found = grad(both_ways, argnums=1, backend="native")(W, x, 1)
        assert np.array_equal(np.isnan(found), np.isnan(wanted))
