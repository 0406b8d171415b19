"""Arguments of which it cannot be told when compiling what is written into them."""

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, vjp


def turns(u, work, k, steps=3):
    for _ in range(steps):
        work[1:-1] = u[1:-1] + k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        work[0], work[-1] = u[0], u[-1]
        u, work = work, u
    return np.sum(u**3)


def named(u, *, work, k=0.2):
    return turns(u, work, k, 2)


def noisy(u, work):
    print("ran")
    return turns(u, work, 0.1)


def slope(function, u, du, h=1e-6):
    return (function(u + h * du) - function(u - h * du)) / (2 * h)


def test_arrays_that_take_turns():
    rng = np.random.default_rng(0)
    u, work, du = rng.normal(size=6), rng.normal(size=6), rng.normal(size=6)
    expected = slope(lambda x: turns(x, work.copy(), 0.2), u, du)
    before = u.copy(), work.copy()
    assert np.dot(grad(turns)(u, work, 0.2), du) == pytest.approx(expected, rel=1e-7)
    np.testing.assert_array_equal(u, before[0])
    np.testing.assert_array_equal(work, before[1])
    mine, other = [a.copy() for a in before], [a.copy() for a in before]
    value, pullback = vjp(turns, *mine, 0.2)
    assert value == turns(*other, 0.2)
    np.testing.assert_array_equal(mine, other)
    for _ in range(2):
        assert np.dot(pullback(1.0)[0], du) == pytest.approx(expected, rel=1e-7)


def test_keyword_arguments():
    mine, other = np.arange(5.0) ** 2, np.arange(5.0) ** 2
    work, other_work = np.ones(5), np.ones(5)
    value, _ = vjp(named, mine, work=work)
    assert value == named(other, work=other_work)
    np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(work, other_work)


def test_functions_with_other_effects_are_refused(capsys):
    with pytest.raises(UnsupportedError, match="limitations.md#aliases"):
        vjp(noisy, np.ones(4), np.ones(4))
    assert capsys.readouterr().out == ""
    assert grad(noisy)(np.ones(4), np.ones(4)).shape == (4,)
