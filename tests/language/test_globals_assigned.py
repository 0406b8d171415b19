"""``global X; X = array``: what is assigned, and whether it is read or written again."""

import numpy as np

from tests.language.reached import check_modes, check_refused

WORK = np.zeros(2)
ITEMS = [1.0]
TABLE = {"a": 1.0}
LAST = np.zeros(2)
CACHE = None


class Held:
    def __init__(self, v):
        self.v = v


CURRENT = Held(1.0)


def read_before(x):
    global WORK
    y = np.sum(WORK) * x
    WORK = np.ones(2) * 7
    return y * y + x


def in_a_loop(x):
    global LAST
    y = np.ones(2) * x
    for _ in range(3):
        y = y * x
        LAST = y
    return np.sum(y)


def written_before(x):
    global LAST
    y = np.zeros(3)
    for i in range(3):
        y[i] = x * x * i
    LAST = y
    return np.sum(y * y)


def list_filled_before(x):
    global ITEMS
    h = []
    for i in range(3):
        h.append(x * i)
    ITEMS = h
    return sum(h) * x


def written_and_replaced(x):
    global WORK
    WORK[0] = x * x
    y = np.sum(WORK)
    WORK = np.ones(3)
    return y * x


def argument(x, a):
    global LAST
    LAST = a
    return np.sum(a) * x


def exchanged(x):
    global WORK, LAST
    WORK, LAST = LAST, WORK
    return x * x


def test_globals_that_are_assigned_hold_what_python_leaves():
    for f in (
        read_before, in_a_loop, written_before, list_filled_before, written_and_replaced, exchanged,
    ):
        check_modes(f)
    check_modes(argument, args=(np.ones(2),))


def array_read(x):
    global WORK
    WORK = np.ones(2)
    return x * np.sum(WORK)


def list_read(x):
    global ITEMS
    ITEMS = [x, x]
    return x * len(ITEMS)


def dict_read(x):
    global TABLE
    TABLE = {"a": 2.0}
    return TABLE["a"] * x


def instance_read(x):
    global CURRENT
    CURRENT = Held(5.0)
    return CURRENT.v * x


def assign(v):
    global WORK
    WORK = v


def read():
    return WORK


def assigned_in_a_call(x):
    assign(np.ones(2) * 5)
    return np.sum(WORK) * x


def read_in_a_call(x):
    global WORK
    WORK = np.ones(2) * 5
    return np.sum(read()) * x


def read_in_the_next_iteration(x):
    global WORK
    total = 0.0
    for i in range(3):
        total = total + np.sum(WORK) * x
        WORK = np.ones(2) * i
    return total


def in_a_branch(x):
    global WORK
    if x > 0.5:
        WORK = np.ones(2) * 4
    return np.sum(WORK) * x


def test_reading_an_object_again_that_a_global_is_assigned_is_refused():
    for f in (
        array_read, list_read, dict_read, instance_read, assigned_in_a_call, read_in_a_call,
        read_in_the_next_iteration, in_a_branch,
    ):
        check_refused(f, match="is assigned")


def written_after(x):
    global LAST
    y = np.zeros(3)
    LAST = y
    y[0] = x * x
    return np.sum(y * y)


def view_written_after(x):
    global LAST
    y = np.zeros(3)
    LAST = y[1:]
    y[1] = x * x
    return np.sum(y * y)


def list_filled_after(x):
    global ITEMS
    h = []
    ITEMS = h
    for i in range(3):
        h.append(x * i)
    return sum(h) * x


def argument_written(x, a):
    global LAST
    a[0] = x
    LAST = a
    return np.sum(a) * x


def test_writing_into_what_a_global_is_assigned_is_refused():
    for f in (written_after, view_written_after, list_filled_after):
        check_refused(f, match="is assigned at line")
    check_refused(argument_written, args=(np.ones(2),), match="is assigned at line")
