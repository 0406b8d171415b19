"""Arrays and lists that are put into a list and written afterwards: each sees what the other becomes."""

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad
from tests.language.check import check
from tests.language.modes import Programs, agrees_in_every_mode, in_turn

X = np.array([0.7, 1.1, 0.4])
programs = Programs()


@programs
def written_and_copied_for_the_next(x):
    s, path = x * 1.0, []
    for v in x:
        s *= v
        path.append(s)
        s = s.copy()
    return sum(np.sum(p * p) for p in path)


@programs
def written_behind_the_append(x):
    s, path = x * 1.0, []
    for v in x:
        path.append(s)
        s *= v
        s = s.copy()
    return sum(np.sum(p * p) for p in path) + np.sum(s)


@programs
def rows_filled_in_place(x):
    rows = []
    for i in range(len(x)):
        row = np.zeros(3)
        rows.append(row)
        row[i] = x[i]
        row += x * x[0]
        rows[0][1] *= x[2]
    return sum(np.sum(row * row) for row in rows)


@programs
def view_of_a_row(x):
    rows = []
    for i in range(len(x)):
        row = x * x[i]
        rest = row[1:]
        rows.append(row)
        rest *= x[0]
        rows[-1][0] = x[1] ** 2
    return sum(np.sum(row * row) for row in rows)


@programs
def lists_gathered_in_groups(x):
    groups, group = [], []
    for i in range(len(x)):
        group.append(x[i] * x[i])
        if len(group) == 2:
            groups.append(group)
            group = []
    return sum(sum(group) * group[0] for group in groups)


@programs
def sums_gathered_in_groups(x):
    sums, running, count = [], np.zeros(3), 0
    for v in (*x, *x):
        running += x * v
        count += 1
        if count == 2:
            sums.append(running)
            running, count = np.zeros(3), 0
    return sum(np.sum(one * one) for one in sums) + np.sum(running)


@programs
def last_group_behind_the_loop(x):
    groups, group = [], [x[0]]
    for i in range(len(x)):
        group.append(x[i] ** 2)
        if i % 2 == 0:
            groups.append(group)
            group = []
    groups.append(group)
    return sum(sum(group) for group in groups)


@programs
def put_in_twice(x):
    s, path = x * 1.0, []
    for v in x:
        path.append(s)
        s = s * v
    path.append(s)
    path.append(s)
    return sum(np.sum(p * p) for p in path)


@pytest.mark.parametrize("function, modes", in_turn(programs, every=2))
def test_every_mode(function, modes):
    check(function, X)
    agrees_in_every_mode(function, X, modes)


def put_in_before_the_loop(x):
    y, path = x * 1.0, [x * 2.0]
    path.append(y)
    for _ in range(3):
        y += x
        path.append(y)
        y = y.copy()
    return sum(np.sum(p * p) for p in path)


def one_array_in_all_places(x):
    y, path = x * 1.0, []
    for v in x:
        y *= v
        path.append(y)
    return sum(np.sum(p) for p in path)


def put_in_twice_and_written(x):
    y, path = x * 1.0, []
    for v in x:
        path.append(y)
        path.append(y)
        y *= v
        y = y.copy()
    return sum(np.sum(p) for p in path)


@pytest.mark.parametrize("function", [
    put_in_before_the_loop, one_array_in_all_places, put_in_twice_and_written,
], ids=lambda f: f.__name__)
def test_what_is_in_two_places_is_refused_or_right(function):
    try:
        found = grad(function)(X)
    except (UnsupportedError, ValueError) as error:
        assert "may share storage" in str(error) or "in two places" in str(error)
        return
    step = 1e-6 * np.eye(3)
    wanted = [(function(X + e) - function(X - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(found, wanted, rtol=1e-7)
