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


class Journal:
    def __init__(self, items):
        self.items, self.w = items, 2.0


def note_arrays(o, n):
    for _ in range(n):
        o.items.append(np.array([1.0, 2.0]) * o.w)
    return np.sum(o.items[-1])


def note_pairs(o, n):
    for i in range(n):
        o.items.append([o.w * i, o.w])
    return sum(a for a, _ in o.items)


def total(o):
    return sum(o.items) * o.w


def test_what_a_pullback_reads_of_an_instance_is_what_it_was_before_the_call():
    for function, items, bars in (
        (note_arrays, [], None), (note_arrays, [np.ones(2)], [np.zeros(2)]),
        (note_pairs, [], None), (note_pairs, [[1.0, 3.0]], [[1.0, 0.0]]),
    ):
        o = Journal(list(items))
        _, pullback = vjp(function, o, 3, argnums=(0,))
        assert len(o.items) == len(items) + 3
        (bar,) = pullback(1.0)
        assert bar.w == 3.0 and repr(bar.items) == repr(bars)


def test_instances_may_change_between_the_call_and_its_pullback():
    o = Journal([1.0, 3.0])
    value, pullback = vjp(total, o)
    o.items.append(5.0)
    o.items[0], o.w = 9.0, 7.0
    (bar,) = pullback(1.0)
    assert value == 8.0 and bar.items == [2.0, 2.0] and bar.w == 4.0
