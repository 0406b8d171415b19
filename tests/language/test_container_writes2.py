"""Writes into lists and dicts whose keys, length and types are found when running."""

import bisect
import heapq

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0])
XS = [1.2, -0.3, 0.7, 2.0]


def descend(table, gradients, rate):
    for name, g in gradients.items():
        table[name] -= rate * g


@programs({"w": V, "b": V * 2.0}, V, 0.02)
def entries_are_put_back(table, x, rate):
    table = {key: value * 0.5 for key, value in table.items()}
    for _ in range(2):
        error = x @ table["w"] + table["b"]
        descend(table, {"w": x * np.sum(error), "b": error * table["b"]}, rate)
    return np.sum(table["w"] ** 2) + table["b"][0]


@programs(XS)
def entries_that_are_added(xs):
    table = {}
    for i, x in enumerate(xs):
        if i % 2 not in table:
            table[i % 2] = 1.0
        table[i % 2] += x * x
    squares = {key: value * xs[key] for key, value in table.items()}
    squares["last"] = sum(squares.values())
    return sum(v * v for v in squares.values())


@programs(0.7)
def memoised_recursion(x):
    known = {}

    def term(k):
        if k not in known:
            known[k] = 1.0 if k == 0 else term(k - 1) * x / (k + x)
        return known[k]

    return sum(term(k) for k in range(5))


@programs(XS)
def dict_from_keys(xs):
    table = dict.fromkeys(range(len(xs)), 0.0)
    for i in (0, 1, 3, 1):
        table[i] += 0.5 * xs[i]
    return sum(v * v for v in table.values())


@programs(V)
def entries_by_their_names(x):
    table = {"a": x.copy(), "b": x * x}
    for _ in range(2):
        for key in table:
            table[key] -= 0.1 * table[key] * x
    return np.sum(table["a"] * table["b"])


@programs(XS)
def heap_of_numbers(xs):
    heap = []
    for x in xs:
        heapq.heappush(heap, x * x)
    total, weight = 0.0, 1.0
    while heap:
        total += weight * heapq.heappop(heap)
        weight *= 0.5
    return total


@programs(XS)
def heap_of_pairs(xs):
    heap = [(0.0, 0)]
    for i, x in enumerate(xs):
        heapq.heappush(heap, (x * x, i))
    total = 0.0
    while heap:
        d, i = heapq.heappop(heap)
        total += (i + 1) * d * len(heap)
    return total


@programs(XS)
def other_functions_of_heaps(xs):
    heap = list(xs)
    heapq.heapify(heap)
    a = heapq.heapreplace(heap, 0.3 * xs[0])
    b = heapq.heappushpop(heap, xs[1] * 1.1)
    bisect.insort(heap, xs[2] * 0.7)
    bisect.insort_left(heap, xs[3] * 0.1)
    return a + 2 * b + heap[1] * heap[-1] + heap[2]


@programs(XS)
def deleted_items(xs):
    ys = [x * x for x in xs]
    while len(ys) > 1:
        ys[-2] *= ys[-1]
        del ys[-1]
    return ys[0]


@programs(1.3)
def numbers_from_text(x):
    stack = []
    for token in "x2*x+":
        if token == "x":
            stack.append(x)
        elif token.isdigit():
            stack.append(float(token))
        else:
            b, a = stack.pop(), stack.pop()
            stack.append(a * b if token == "*" else a + b)
    return stack.pop() ** 2


@programs(V)
def arrays_from_a_stack(x):
    rows, y = [], x
    for i in range(3):
        rows.append(y * (i + 1.0))
        y = np.tanh(y)
    while rows:
        row = rows.pop()
        y = y * np.sign(row) * np.abs(row)
    return np.sum(y)


@programs(V)
def last_item_before_another(x):
    rows = []
    for i in range(3):
        rows.append(x * (i + 1.0))
    last = rows[-1]
    rows.append(x * 10.0)
    return np.sum(last * rows[-1])


@programs(V)
def a_slot_of_which_the_old_array_has_a_name(x):
    rows = []
    for i in range(3):
        rows.append(x * (i + 1.0))
    old = rows[1]
    rows[1] = rows[1] + x * x
    return np.sum(old * rows[1])


@programs([[1.0, 2.0], [3.0, 1.5], [0.5, 0.2]], 0.1)
def pairs_of_rows(rows, rate):
    rows = [list(row) for row in rows]
    for i in range(len(rows)):
        one = rows[i]
        for other in rows[i + 1 :]:
            one[1] -= other[0] * rate
            other[1] += one[0] * one[1]
    return rows[0][1] * rows[2][1]


@programs(XS, [[], [(0, 1.5)], [(1, 0.5), (0, 2.0)]], argnums=(0,))
def sums_of_unknown_type(xs, rows):
    sums = [0.0, None]
    sums[1] = xs[0]
    keys = [row[0] for row in rows if row]
    for key, value in [*keys, *keys]:
        sums[key] += value * xs[key]
    return sums[0] * sums[1]


@pytest.mark.parametrize("case", programs, ids=str)
def test_derivative(case):
    programs.check(case)


def test_a_written_item_that_is_no_longer_last():
    def f(x):
        rows = []
        for i in range(3):
            rows.append(x * (i + 1.0))
        last = rows[-1]
        rows.append(x)
        last[0] += 5.0
        return np.sum(last * rows[-1])

    with pytest.raises(UnsupportedError) as caught:
        grad(f)(V)
    assert {finding.anchor for finding in caught.value.findings} == {"aliases"}
