"""Writes that other names see: through views, and of storage that is read before and after."""

import numpy as np
import pytest

from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0, 0.25])
M = np.arange(12.0).reshape(3, 4) / 7 - 0.6
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]])


# -- views -----------------------------------------------------------------------------------------


@programs(V)
def a_view_sees_the_write(x):
    y = x * 2.0
    head = y[:2]
    y[0] = x[3] ** 2
    y += 1.0
    return np.sum(head * head)


@programs(V)
def a_write_through_a_view(x):
    y = x * 2.0
    tail = y[1:]
    tail[0] = x[0] * x[0]
    tail *= 3.0
    return np.sum(y * y)


@programs(M)
def a_view_of_a_view(m):
    y = m * m
    inner = y[1:, :][:, 1:3].T
    inner[0] = m[:2, 0]
    y[2, 2] += 1.0
    return np.sum(y * y) + np.sum(inner * inner)


@programs(M)
def transposes(m):
    y = m * m
    t = y.T
    t[0, 1] = m[2, 2]
    np.swapaxes(y, 0, 1)[3] = 1.0
    np.transpose(y)[1, 2] *= m[0, 1]
    return np.sum(t * t)


@programs(M)
def reshape_is_a_view(m):
    y = m * m
    flat = y.reshape(-1)
    flat[5] = m[0, 1]
    y[0] = 2.0
    return np.sum(flat * np.arange(12.0)) + np.sum(y)


@programs(M)
def rows_of_a_loop_are_views(m):
    y = m * m
    for row in y:
        row[1:] *= row[:-1]
        row /= np.sum(row)
    return np.sum(y * m)


@programs(M)
def flips_and_diagonals(m):
    y = m * m
    y[::-1, ::-1][0, 0] = m[1, 1]
    np.flip(y)[2, 1] *= 2.0
    y[:3, :3].diagonal()
    return np.sum(y * y)


@programs(V)
def real_part_is_a_view(x):
    z = x * (1.0 + 2.0j)
    z.real[1] = x[0] ** 2
    z.imag *= 0.5
    z.imag[2] += x[1]
    z.real = z.real * x
    return np.sum(np.abs(z) ** 2)


@programs(V, True)
def one_of_two_views(x, flag):
    y = x * x
    z = x + 1.0
    target = y[:2] if flag else z[2:]
    target[0] = x[3]
    return np.sum(target * target)


@programs(V)
def views_chosen_by_data(x):
    y = x * x
    z = x + 1.0
    if x[0] > 0.0:
        y[1] = z[0]
    else:
        z[1] = y[0]
    return np.sum(y * z)


# -- what is overwritten ---------------------------------------------------------------------------


@programs(V)
def overlapping(x):
    y = x * x
    y[1:] = y[:-1] * x[1:]
    y[:-1] += y[1:]
    return np.sum(y * y)


@programs(V)
def the_old_value_was_read(x):
    y = x * 2.0
    a = np.sin(y)
    b = y[1] * y[1]
    y[1] = b * a[0]
    c = y * y
    y[:] = c + a
    return np.sum(y * a) + b


@programs(V)
def recurrence(x):
    y = np.empty(8)
    y[:4] = x
    for i in range(4, 8):
        y[i] = np.tanh(y[i - 1]) + 0.3 * y[i - 4] * y[i - 2]
    return y[-1] * y[5]


@programs(V)
def the_same_place_again_and_again(x):
    y = np.zeros(1)
    for v in x:
        y[0] = y[0] * y[0] * 0.5 + v
    return y[0]


@programs(V)
def double_buffers(x):
    old, new = x * 1.0, np.empty(4)
    for _ in range(3):
        new[1:-1] = 0.5 * old[1:-1] * old[2:] + old[:-2]
        new[0], new[-1] = old[0], old[-1] ** 2
        old, new = new, old
    return np.sum(old * old)


@programs(S, V[:3])
def gaussian_elimination(m, b):
    a = m.copy()
    y = b.copy()
    for k in range(3):
        for i in range(k + 1, 3):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            y[i] -= factor * y[k]
    for k in range(2, -1, -1):
        y[k] = (y[k] - a[k, k + 1 :] @ y[k + 1 :]) / a[k, k]
    return np.sum(y * y)


@programs(V)
def while_with_writes(x):
    y = x * 1.0
    n = 0
    while np.sum(y * y) > 0.5 and n < 20:
        y *= 0.8
        y[n % 4] -= 0.1 * y[(n + 1) % 4]
        n += 1
    return np.sum(y * x)


@programs(V)
def break_continue_return(x):
    y = x * x
    for i in range(4):
        if y[i] > 3.0:
            y[i] = 1.0
            continue
        if i == 3:
            y[0] *= x[1]
            break
        y[i] *= x[i]
    if y[0] > 100.0:
        return y[0]
    y[1] = y[0] * y[1]
    return np.sum(y)


@programs(V)
def in_inner_functions(x):
    y = x * x

    def scale(i, factor):
        y[i] *= factor

    def total():
        return np.sum(y * y)

    scale(0, x[1])
    before = total()
    scale(2, x[3])
    return before * total()


@programs(V)
def in_comprehensions(x):
    y = x * x
    rows = [y * v for v in x]
    y[0] = 5.0
    rows[1][2] = x[0]
    return sum([np.sum(r * r) for r in rows]) * y[0] * y[1]


@programs(V)
def in_with_and_finally(x):
    y = x * x
    with np.errstate(all="ignore"):
        y[0] = x[1] * y[0]
    try:
        z = np.sum(y * y)
    finally:
        y[1] = x[0]
    return z * np.sum(y)


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)
