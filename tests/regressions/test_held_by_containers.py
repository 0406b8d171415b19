"""Arrays that a list, dict or instance holds and that are written into there.

What the sweep reads of them is what they were when it was computed; what the caller holds under
names of its own is written into as plain Python does.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, source, vjp
from adcompiler.runtime import AliasedError, apart

PROGRAMS: list[Callable[[Any], Any]] = []
"""Functions of a list of arrays, or of an array whose rows they run over."""

program = PROGRAMS.append


@dataclass
class Pair:
    a: Any
    b: Any


@program
def stored_in_a_list(v: Any) -> Any:
    s = [item.copy() for item in v]
    s[0] = np.tanh(v[0])
    s[0] += v[1]
    return np.sum(s)


@program
def stored_and_multiplied_in_a_loop(v: Any) -> Any:
    s = [item.copy() for item in v]
    for k in range(len(s)):
        s[k] = np.tanh(s[k])
        s[k] *= s[k - 1]
    return np.sum(s)


@program
def appended(v: Any) -> Any:
    w = []
    for q in v:
        t = np.tanh(q)
        w.append(t)
    for k in range(len(w)):
        w[k][0] *= 2.0
        w[k][1] += w[k][0]
    return sum([np.sum(z**2) for z in w])


@program
def appended_what_a_loop_carries(v: Any) -> Any:
    x = np.zeros(3)
    states = []
    for _ in range(3):
        x = np.tanh(x + v[0])
        states.append(x)
    for k in range(3):
        states[k] -= states[k - 1] * v[1]
    return np.sum(np.array(states))


@program
def appended_and_written_in_one_loop(v: Any) -> Any:
    s = [np.tanh(v[0]), np.exp(v[1])]
    for k in range(3):
        s.append(np.tanh(s[-1] * s[-2]))
        s[-1][0] *= 2.0
        s[k][1] *= s[-1][0]
    return np.sum(s[2] * s[1] * s[-1])


@program
def in_a_dict(v: Any) -> Any:
    w = {}
    for k in range(len(v)):
        w[k] = np.tanh(v[k])
    for k in range(len(v)):
        w[k][0] *= 2.0
    return sum([np.sum(z**2) for z in w.values()])


@program
def in_a_dict_twice(v: Any) -> Any:
    d = {}
    d["x"] = np.tanh(v[0])
    d["x"][0] *= 2
    for k in ("x", "y"):
        d[k] = np.exp(v[1] * v[0])
        d[k][0] *= 2
    return np.sum(d["x"] * d["y"])


@program
def in_a_display(v: Any) -> Any:
    t = np.tanh(v[0])
    e = np.exp(v[1])
    s = [t, e]
    for k in range(2):
        s[k][0] *= 2
        s[k - 1][1] *= s[k][0]
    return np.sum(s[0] * s[1])


@program
def in_a_comprehension(v: Any) -> Any:
    s = [np.tanh(q) for q in v]
    for k in range(2):
        s[k][0] *= 2
        s[1 - k][1] *= s[k][0]
    return np.sum(s[0] * s[1])


@program
def in_an_instance(v: Any) -> Any:
    p = Pair(np.tanh(v[0]), np.exp(v[1]))
    for _ in range(2):
        p.a[0] *= 2
        p.b[1] *= p.a[0]
        p.a = np.tanh(p.a)
        p.a[1] *= p.b[0]
    return np.sum(p.a * p.b)


@program
def in_instances_in_a_dict(v: Any) -> Any:
    table = {}
    for k in range(2):
        table[k] = Pair(np.tanh(v[0]), np.exp(v[1]))
        table[k].a[0] *= 2
    return np.sum(table[0].a * table[1].b)


@program
def in_lists_in_a_list(v: Any) -> Any:
    s = []
    for k in range(2):
        s.append([np.tanh(v[k]), np.exp(v[k])])
    for k in range(2):
        s[k][0][1] *= s[1 - k][1][0]
        s[k][1] *= s[1 - k][0]
    return np.sum(s[0][0] * s[1][1])


@program
def stored_in_lists_in_a_list(v: Any) -> Any:
    s = [[item.copy(), item * 2] for item in v]
    for k in range(len(s)):
        s[k][0] = np.tanh(s[k][1])
        s[k][0] *= s[k - 1][1]
        s[k].append(np.exp(s[k][0]))
        s[k][-1] += 1
    return np.sum(s[0][0]) + np.sum(s[1][2] ** 2)


def pair_of(q: Any) -> list[Any]:
    t = np.tanh(q)
    return [t, np.exp(q)]


@program
def made_by_a_function(v: Any) -> Any:
    s = pair_of(v[0])
    for k in range(2):
        s[k][0] *= s[1 - k][1]
    return np.sum(s[0] * s[1] * v[1])


@program
def rows_of_an_array(v: Any) -> Any:
    s = list(np.tanh(np.array(v)))
    s[0] = np.exp(s[1])
    s[0] += v[0]
    s[1] *= 2
    s.append(np.exp(s[0]))
    s[-1] *= s[1]
    return np.sum(s)


@program
def taken_off_the_end(m: Any) -> Any:
    s = 1.0
    for _ in range(2):
        r = m.pop()
        s = s * np.sin(r).sum()
    m[0][0] *= s
    return (m[0] ** 3).sum()


@program
def taken_off_the_front(m: Any) -> Any:
    s = (m[1] ** 2).sum()
    m.pop(0)
    m[0][1] *= 3.0
    return s * m[0].sum() + (m[0] ** 2).sum()


@program
def deleted_while_some_are_left(m: Any) -> Any:
    s = 1.0
    while len(m) > 1:
        s = s * (m[0] ** 2).sum()
        del m[0]
        m[0][1] *= s
    return (m[0] ** 3).sum()


@program
def reversed_list(m: Any) -> Any:
    s = (m[2] ** 2).sum()
    m.reverse()
    m[0][1] *= 3.0
    return s * m[0].sum() + (m[0] ** 2).sum()


@program
def sorted_list(m: Any) -> Any:
    s = (m[0] ** 2).sum()
    m.sort(key=lambda z: float(z.sum()))
    for k in range(3):
        m[k][1] *= s
    return s * m[0].sum() + (m[1] ** 2).sum() + (m[2] ** 2).sum()


@program
def inserted_and_taken_again(m: Any) -> Any:
    w = []
    for q in m:
        w.append(q * 2)
    s = (w[1] ** 2).sum()
    w.insert(0, w[0] * 3)
    w[2][0] = w[2][0] ** 2 * s
    w.reverse()
    w[1][0] = w[1][0] ** 2 * s
    w.pop()
    w[1][0] = w[1][0] ** 2 * s
    w.pop(0)
    w[0][2] = w[0][0] ** 2 * s
    return (w[0] ** 2).sum() * (w[1] ** 2).sum()


@program
def rotated(m: Any) -> Any:
    s = [q * 1.0 for q in m]
    for k in range(3):
        s.append(s.pop(0))
        s[k][0] *= 2.0
    return np.sum(s[0] ** 2) + np.sum(s[1]) + np.sum(s[2] ** 3)


@program
def orthogonalised(m: Any) -> Any:
    s = []
    for i in range(3):
        s.append(m[i].copy())
        s[i] /= np.sqrt(np.sum(s[i] ** 2))
        for j in range(i):
            s[i] -= (s[i] @ s[j]) * s[j]
    return np.sum(s[0] * s[1]) + np.sum(s[2] ** 3)


@program
def pairs_in_a_dict(m: Any) -> Any:
    d = {}
    for i in range(3):
        d[i] = [m[i] * 1.0, m[i] * 2.0]
    for i in range(3):
        d[i][0] *= d[(i + 1) % 3][1]
        d[i][1][0] = d[(i + 1) % 3][0][1]
    return np.sum(d[0][0] * d[1][1]) + np.sum(d[2][0] ** 3)


@program
def shortened_from_the_front(m: Any) -> Any:
    states = [m[0] * 1.0]
    for _ in range(4):
        states.append(np.sin(states[-1]))
        if len(states) > 2:
            states.pop(0)
        states[0][1] += states[-1][0]
    return np.sum(states[0] * states[1])


def moved(arrays: list[Any], by: float, directions: list[Any]) -> list[Any]:
    return [x + by * d for x, d in zip(arrays, directions, strict=True)]


@program
def reversed_and_then_sorted(v: Any) -> Any:
    s = [0.5 * item for item in v]
    s.reverse()
    s.sort(key=lambda item: np.sum(item))
    s.reverse()
    s.reverse()
    return sum([(i + 1) * np.sum(item**2) for i, item in enumerate(s)])


@program
def shortened_while_a_reversed_copy_is_run_over(v: Any) -> Any:
    s, total = [item * 2.0 for item in v], 0.0
    for i, item in enumerate(s[::-1]):
        total += (i + 1) * np.sum(item**2)
        s.pop(0)
    return total


@program
def lengthened_while_a_reversed_copy_is_run_over(v: Any) -> Any:
    s, total = [item * 2.0 for item in v], 0.0
    for i, item in enumerate(s[::-1]):
        total += (i + 1) * np.sum(item**2)
        s.insert(0, 3.0 * item)
    return total + np.sum(s[0])


@program
def reversed_while_a_part_is_run_over(v: Any) -> Any:
    s, total = [item * 2.0 for item in v], 0.0
    for i, item in enumerate(s[1:]):
        total += (i + 1) * np.sum(item**2)
        s.reverse()
    return total + np.sum(s[0])


@program
def given_other_items_while_a_part_is_run_over(v: Any) -> Any:
    s, total = [item * 2.0 for item in v], 0.0
    for i, item in enumerate(s[1:]):
        total += (i + 1) * np.sum(item**2)
        s[2] = item * (i + 9.0)
    return total + np.sum(s[2])


@program
def written_into_while_a_part_is_run_over(v: Any) -> Any:
    s, total = [item * 2.0 for item in v], 0.0
    for i, item in enumerate(s[1:]):
        total += (i + 1) * np.sum(item**2)
        s[2][0] = (i + 9.0) * item[1]
    return total + np.sum(s[2])


@program
def rows_that_are_collected_from_a_loop_over_them(v: Any) -> Any:
    held = [row for row in [[v[0] * 1.0, v[1] * k] for k in range(3)] if len(row) == 2]
    for row in held:
        row[0] *= v[2]
        row[1][0] = row[0][1] * 2.0
    return sum([np.sum(item**2) for row in held for item in row])


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_gradients_and_effects(function: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(3)
    start = [rng.normal(size=3) for _ in range(3)]
    directions = [rng.normal(size=3) for _ in range(3)]
    ends = [function(moved(start, h, directions)) for h in (1e-6, -1e-6)]
    slope = (ends[0] - ends[1]) / 2e-6
    plain, ours = copy.deepcopy(start), copy.deepcopy(start)
    inner, our_inner = list(plain), list(ours)
    wanted = function(plain)
    value, pullback = vjp(function, ours)
    assert value == pytest.approx(wanted, rel=1e-13)
    for bars in (*pullback(1.0), *pullback(1.0), grad(function)(start)):
        along = sum(float(bar @ d) for bar, d in zip(bars, directions, strict=True))
        assert along == pytest.approx(slope, rel=1e-6, abs=1e-7)
    # the arrays that the caller held before, and which of them the list holds now
    assert all(map(np.array_equal, our_inner, inner))
    assert len(ours) == len(plain)
    for one, other in zip(ours, plain, strict=True):
        assert np.array_equal(one, other)
        assert [one is x for x in our_inner] == [other is x for x in inner]


def test_lists_of_parts_of_an_argument_are_not_copied_in_each_iteration() -> None:
    def rows(A: Any) -> Any:
        kept = []
        for i in range(len(A)):
            kept.append(A[i])
        return sum([np.sum(row**2) for row in kept])

    A = np.arange(6.0).reshape(3, 2)
    assert np.array_equal(grad(rows)(A), 2.0 * A)
    assert "own(" not in source(rows, A)


# -- containers that hold what was written under another name --------------------------------------


def reordered(a: Any, b: Any) -> list[Any]:
    s = [b, a]
    s.append(s.pop(0))
    return s


def then_a_loop(m: Any) -> Any:
    a, b = m[0] * 1.0, m[1] * 2.0
    h, s = [a, b], reordered(a, b)
    s[0][0] += 5.0
    for i in range(2):
        h[i] -= 1.0
    return np.sum(h[0] * h[1])


def in_a_with(m: Any) -> Any:
    a, b = m[0] * 1.0, m[1] * 2.0
    h, s = [a, b], reordered(b, a)
    with np.errstate(all="ignore"):
        h[0] = h[0] - 1.0
        s[0][0] += 5.0
    return np.sum(h[0] * h[1])


def in_a_try(m: Any) -> Any:
    a, b = m[0] * 1.0, m[1] * 2.0
    h, s = [a, b], reordered(b, a)
    try:
        h[0] = h[0] - 1.0
        s[0][0] += 5.0
    finally:
        b = b * 2.0
    return np.sum(h[0] * h[1]) + np.sum(b)


def through_another_list(m: Any) -> Any:
    rows, held = [[m[0] * 1.0, m[1] * 3.0], [m[2] * 2.0, m[1] * 1.0]], []
    for row in rows:
        held.append(row)
    for row in held:
        for item in row:
            item *= m[2]
    return sum([np.sum(item) for row in rows for item in row])


@pytest.mark.parametrize("function", [then_a_loop, in_a_with, in_a_try, through_another_list],
                         ids=lambda function: function.__name__)
def test_what_is_not_known_to_be_up_to_date_is_not_read(function: Callable[[Any], Any]) -> None:
    with pytest.raises(UnsupportedError, match="may share storage"):
        grad(function)([np.full(3, 0.5), np.full(3, 0.25), np.full(3, 2.0)])


def test_what_holds_itself_is_looked_through_once():
    x = np.ones(2)
    table = {"weight": 2.0}
    table["self"] = table
    apart(("x", "table"), (0, 1), (0,), x, table)
    table["part"] = x[1:]
    with pytest.raises(AliasedError, match="`x` and `table` share memory"):
        apart(("x", "table"), (0, 1), (0,), x, table)
