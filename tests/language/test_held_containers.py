"""Containers that hold one another: slots of one are written, others are read afterwards.

A write into slots changes what is read through the container itself, and through what holds it; what
it holds, and others that hold the same, stay readable.
"""

import pytest

from adcompiler import UnsupportedError, grad, jvp


def slope(f, *args, h=1e-6):
    x, *rest = args
    return (f(x + h, *rest) - f(x - h, *rest)) / (2 * h)


def agrees(f, *args):
    expected = slope(f, *args)
    assert grad(f)(*args) == pytest.approx(expected, rel=1e-7, abs=1e-9)
    along = jvp(f, args, (1.0, *(None,) * (len(args) - 1)))[1]
    assert along == pytest.approx(expected, rel=1e-7, abs=1e-9)


def refused(f, *args):
    with pytest.raises(UnsupportedError) as caught:
        grad(f)(*args)
    assert "may share storage" in str(caught.value)


def nested_tables(x, n):
    table = [[0.0] * n for _ in range(n)]
    other = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            value = other[i][j - 1] + x * (i + j)
            table[i][j] += value * x
            other[i][j] = value
    return table[n - 1][n - 1] * other[0][n - 1]


def test_slots_of_another_container_are_written():
    agrees(nested_tables, 1.3, 4)


def grown_after_it_was_held(x, n):
    holder = []
    inner = [x]
    for i in range(n):
        holder.append(inner)
        inner.append(x * i)
    return sum(sum(row) for row in holder)


def grown_through_a_tuple(x, n):
    holder = []
    inner = [x]
    for i in range(n):
        holder.append((inner, i))
        inner[0] = inner[0] * x
    return sum(row[0] * i for row, i in holder)


def grown_in_a_chain(x, n):
    outer, middle, inner = [], [], []
    for i in range(n):
        middle.append(inner)
        outer.append(middle)
        inner.append(x * i)
    return sum(sum(sum(row) for row in rows) for rows in outer)


def element_chosen_by_max(x, n):
    rows = [[float(i), x * i] for i in range(n)]
    chosen = max(rows)
    chosen.append(x)
    return sum(rows[-1])


def element_that_comes_next(x, n):
    rows = [[float(i), x * i] for i in range(n)]
    chosen = next(iter(rows))
    chosen.append(x * x)
    return sum(sum(row) for row in rows)


def one_of_two(x, n):
    a, b = [x], [x * x]
    holder = []
    for i in range(n):
        chosen = a if i % 2 else b
        holder.append(chosen)
        chosen.append(x * i)
    return sum(a) * sum(b) + sum(sum(row) for row in holder)


def put_into_another_slot(x, n):
    a, b = [x], [x * x]
    pair = [a, b]
    holder = []
    for i in range(n):
        holder.append(pair)
        pair[0] = [x * i]
    return sum(holder[0][0]) + sum(holder[0][1])


@pytest.mark.parametrize("program", [
    grown_after_it_was_held, grown_through_a_tuple, grown_in_a_chain, element_chosen_by_max,
    element_that_comes_next, one_of_two, put_into_another_slot,
], ids=lambda f: f.__name__)
def test_the_container_held_is_written(program):
    try:
        agrees(program, 1.3, 4)
    except UnsupportedError as error:
        assert "storage" in str(error)


def test_written_and_read_elsewhere_is_refused():
    refused(grown_after_it_was_held, 1.3, 4)
    refused(grown_through_a_tuple, 1.3, 4)
    refused(grown_in_a_chain, 1.3, 4)


def test_nested_tapes_are_reversed_again():
    h = 1e-5
    first = grad(nested_tables)
    expected = (first(1.3 + h, 3) - first(1.3 - h, 3)) / (2 * h)
    assert grad(lambda x: jvp(nested_tables, (x, 3), (1.0, None))[1])(1.3) == pytest.approx(
        expected, rel=1e-7)
