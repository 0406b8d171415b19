"""``for`` and ``while`` over everything, break, continue, else, returns in loops."""

import math

import numpy as np
import pytest

from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0, 0.25])
M = np.array([[0.5, -1.5, 2.0], [0.25, 1.0, -0.75]])


@programs(1.1, 0)
@programs(1.1, 1)
@programs(1.1, 5)
def over_range(x, n):
    y = 1.0
    for i in range(n):
        y = y * x + i
    return y * x


@programs(1.1)
def range_steps(x):
    y = x
    for i in range(10, 0, -3):
        y = math.sin(y) * i
    for j in range(2, 7, 2):
        y = y + x**j
    return y


@programs(V)
@programs(V[:1])
@programs(V[:0])
def over_array(x):
    total = 0.0
    for v in x:
        total += v * v * v
    return total


@programs(M)
def over_rows(m):
    total = np.zeros(3)
    for row in m:
        total = total * row + row
    return np.sum(total * total)


@programs(np.arange(24.0).reshape(2, 3, 4) / 10)
def over_planes(a):
    s = 0.0
    for plane in a:
        for row in plane:
            s = s + np.sum(row * row) * row[0]
    return s


@programs([0.5, 1.5, -2.0])
@programs([0.5])
def over_list(xs):
    p = 1.0
    for x in xs:
        p = p * (1.0 + x * x)
    return p


@programs([V, V * 2.0, V - 1.0])
def over_list_of_arrays(xs):
    h = np.zeros(4)
    for x in xs:
        h = np.tanh(h + x)
    return np.sum(h)


@programs((0.5, 1.5, -2.0))
def over_tuple(xs):
    p = 1.0
    for x in xs:
        p = p * x + x
    return p


@programs((0.5, V, M))
def over_mixed_tuple(xs):
    total = 0.0
    for x in xs:
        total = total + np.sum(x * x)
    return total


@programs(0.5)
def over_display(x):
    total = 0.0
    for k in (1, 2, 3):
        total += x**k
    for k in [0.5, 1.5]:
        total *= k * x
    return total


@programs(V, V[::-1].copy())
def over_zip(x, y):
    total = 0.0
    for a, b in zip(x, y):
        total += a * b * b
    return total


@programs(V, [1.0, 2.0])
def over_uneven_zip(x, y):
    total = 0.0
    for a, b in zip(x, y):
        total += a * b * b
    return total


@programs(V, [1.0, 2.0, 3.0, 4.0], M.T.reshape(3, 2)[:2] + 1.0)
def over_zip_of_three(x, y, m):
    total = 0.0
    for a, b, row in zip(x, y, m):
        total += a * b * np.sum(row * row)
    return total


@programs(V)
def over_enumerate(x):
    total = 0.0
    for i, v in enumerate(x):
        total += i * v * v
    return total


@programs(V)
def over_enumerate_start(x):
    total = 0.0
    for i, v in enumerate(x, start=2):
        total += v**i
    for i, v in enumerate(x, 1):
        total += v * i
    return total


@programs(V, V + 1.0)
def over_enumerate_zip(x, y):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, y)):
        total += a * b * i
    return total


@programs(V)
def over_zip_range(x):
    total = 0.0
    for i, v in zip(range(10), x):
        total += i * v * v
    return total


@programs(V)
@programs([0.5, 1.5])
def over_reversed(x):
    total = 1.0
    for v in reversed(x):
        total = total * v + v
    return total


@programs(1.1)
def over_reversed_range(x):
    y = 0.0
    for i in reversed(range(4)):
        y = y * x + i
    return y


@programs({"a": 0.5, "b": 1.5})
def over_dict_items(table):
    total = 0.0
    for key, value in table.items():
        total += value * value * (2.0 if key == "a" else 3.0)
    return total


@programs({"a": 0.5, "b": 1.5})
def over_dict_values(table):
    total = 1.0
    for value in table.values():
        total *= value + total
    return total


@programs({"a": 0.5, "b": 1.5})
def over_dict_keys(table):
    total = 0.0
    for key in table.keys():
        total += table[key] ** 2
    for key in table:
        total *= table[key]
    return total


@programs({"w": M, "u": M + 1.0})
def over_dict_of_arrays(table):
    total = 0.0
    for name, m in table.items():
        total += np.sum(m * m) * len(name)
    return total


@programs(0.5, "abc")
def over_text(x, text):
    for c in text:
        x = x * x + (1.0 if c == "b" else 0.0)
    return x


@programs(30.0)
@programs(0.5)
def while_loop(x):
    n = 0
    while x > 1.0:
        x = x / 2.0 + 0.1
        n += 1
    return x * x + n


@programs(2.0)
def newton(a):
    x = a
    while abs(x * x - a) > 1e-13:
        x = 0.5 * (x + a / x)
    return x


@programs(1.5)
def while_true_break(x):
    y = x
    n = 0
    while True:
        y = math.sqrt(y + x)
        n += 1
        if n >= 4:
            break
    return y


@programs(1.5)
def while_true_return(x):
    n = 0
    while True:
        x = x * 1.1
        n += 1
        if x > 3.0:
            return x * n


@programs(V)
def break_in_for(x):
    total = 0.0
    for v in x:
        if v < 0.0:
            break
        total += v * v
    return total


@programs(V)
def break_after_work(x):
    total = 0.0
    for v in x:
        total += v * v
        if v < 0.0:
            break
        total *= 2.0
    return total


@programs(V)
def continue_in_for(x):
    total = 0.0
    for v in x:
        if v < 0.0:
            continue
        total += v * v
    return total


@programs(V)
def break_and_continue(x):
    total = 1.0
    for i, v in enumerate(x):
        if i == 1:
            continue
        if i == 3:
            break
        total = total * v + i
    return total


@programs(V)
@programs(V + 5.0)
def for_else(x):
    total = 0.0
    for v in x:
        if v < 0.0:
            total += 10.0 * v
            break
        total += v
    else:
        total = total * total
    return total * x[0]


@programs(5.0)
@programs(0.5)
def while_else(x):
    n = 0
    while x > 1.0:
        x = x * 0.5
        n += 1
        if n > 10:
            break
    else:
        x = x * x
    return x


@programs(V)
@programs(V + 5.0)
def return_in_for(x):
    total = 0.0
    for v in x:
        total += v * v
        if v < 0.0:
            return total * v
    return total


@programs(M)
@programs(M + 9.0)
def return_in_nested_for(m):
    total = 1.0
    for row in m:
        for v in row:
            if v < 0.0:
                return total * v
            total = total * v + v
    return total


@programs(M)
def break_in_nested_for(m):
    total = 0.0
    for row in m:
        for v in row:
            if v < 0.0:
                break
            total += v * v
        else:
            total *= 3.0
        total += row[0]
    return total


@programs(M)
def continue_outer(m):
    total = 0.0
    for row in m:
        if row[0] < 0.3:
            continue
        for v in row:
            if v > 1.0:
                continue
            total += v**3
    return total


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)
