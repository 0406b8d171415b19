"""What a derivative leaves in globals, cells and what they hold is what Python leaves.

It is given back once, when the sweep has run: what the sweep puts back as it was is not what is
handed out, and the sweep reads what was there before.
"""

from types import SimpleNamespace

import numpy as np

from adcompiler import grad, linearize, vjp
from tests.language.reached import check_modes, check_refused

STATE = SimpleNamespace(u=np.zeros(3), d={}, h=[])
TABLE = {"u": np.zeros(3), "h": [], "n": 0.0}
ROWS = [[0.0, 0.0], [0.0, 0.0]]
WEIGHTS = np.ones(2) * 3
EMPTY = {}


class Recorder:
    def __init__(self):
        self.h, self.u = [], np.zeros(2)

    def step(self, x):
        self.u[0] = self.u[0] * 0.5 + x * x
        self.h.append(self.u.copy())


RECORDER = Recorder()


def of_namespace(x):
    for i in range(3):
        STATE.u[i] = STATE.u[i - 1] + x * x
        STATE.d[i] = x
    return np.sum(STATE.u * STATE.u)


def of_dict(x):
    for i in range(3):
        TABLE["u"][i] = x * x * i
        TABLE["n"] = TABLE["n"] + x
    return np.sum(TABLE["u"] * TABLE["u"]) * TABLE["n"]


def of_lists(x):
    for i in range(2):
        for j in range(2):
            ROWS[i][j] = x * x * (i + j)
    return sum(ROWS[1])


def of_recorder(x):
    for _ in range(3):
        RECORDER.step(x)
    return sum(np.sum(h * h) for h in RECORDER.h)


def made_with_cells():
    d = {"u": np.zeros(2), "n": 0.0}

    def f(x):
        for i in range(2):
            d["u"][i] = x * x + i
            d["n"] = d["n"] + x
        return np.sum(d["u"] * d["u"]) * d["n"]

    return f


of_cells = made_with_cells()


def in_branches(x):
    for i in range(4):
        if i % 2:
            TABLE["u"][0] = TABLE["u"][0] * x + x
        else:
            TABLE["u"] = TABLE["u"] + x
    return np.sum(TABLE["u"] ** 2)


def made_in_a_loop(x):
    for i in range(3):
        EMPTY[i] = {"u": np.ones(2) * x, "l": [x, i]}
        EMPTY[i]["u"][0] = x * x
        EMPTY[i]["l"].append(x)
    return np.sum(EMPTY[2]["u"]) * EMPTY[1]["l"][2]


def read_before(x):
    y = np.sum(np.sin(x * WEIGHTS) * WEIGHTS)
    WEIGHTS[:] = y
    return y * y * x + np.sum(WEIGHTS * x)


def stored_and_then_written(x):
    u = np.ones(2) * x
    EMPTY["u"] = u
    u[0] = u[0] * x
    return np.sum(u * u)


def view_stored_and_then_written(x):
    u = np.ones(4) * x
    EMPTY["u"] = u[:2]
    u[0] = u[0] * x
    return np.sum(u * u)


def written_in_a_loop_when_stored(x):
    y = np.zeros(3)
    EMPTY["y"] = y
    for i in range(3):
        y[i] = x * x * i
    return np.sum(y * y)


def test_state_is_left_as_python_leaves_it():
    for f in (
        of_namespace, of_dict, of_lists, of_recorder, of_cells, in_branches, made_in_a_loop,
        read_before, stored_and_then_written, view_stored_and_then_written,
        written_in_a_loop_when_stored,
    ):
        check_modes(f)


def argument_stored_and_then_written(x, a):
    EMPTY["a"] = a
    a[0] = x * x
    return np.sum(a * x)


def test_an_argument_that_is_stored_outside_and_written_is_refused_where_it_has_to_stay():
    check_refused(argument_stored_and_then_written, args=(np.ones(3),), modes=("grad",))


def aux_that_the_sweep_restores(x):
    d = {}
    y = np.zeros(3)
    d["y"] = y
    for i in range(3):
        y[i] = x * x * i
    return np.sum(y * y), d


def test_aux_holds_what_python_gives():
    _, aux = grad(aux_that_the_sweep_restores, has_aux=True)(0.7)
    np.testing.assert_allclose(aux["y"], aux_that_the_sweep_restores(0.7)[1]["y"])


def padded(h):
    h = h * 1.01 + np.sin(h) * 0.1 + np.cos(h) * 0.1 + np.sin(h) * 0.1 + np.cos(h) * 0.1
    h = h * 1.02 + np.sin(h) * 0.2 + np.cos(h) * 0.2 + np.sin(h) * 0.2 + np.cos(h) * 0.2
    h = h * 1.03 + np.sin(h) * 0.3 + np.cos(h) * 0.3 + np.sin(h) * 0.3 + np.cos(h) * 0.3
    h = h * 1.04 + np.sin(h) * 0.4 + np.cos(h) * 0.4 + np.sin(h) * 0.4 + np.cos(h) * 0.4
    return np.sum(h * WEIGHTS * np.sin(h * WEIGHTS)) + np.sum(np.sin(h * Kept.w) * Kept.w)


class Kept:
    w = np.ones(2) * 3


def reads_in_a_call(x):
    return padded(x) * np.sum(np.sin(Kept.w * x))


def written_after_a_call(x):
    y = padded(x)
    WEIGHTS[0] = y
    Kept.w[0] = y
    return y * y


def test_a_pullback_reads_what_was_there_when_its_function_ran():
    check_modes(written_after_a_call)
    right = grad(reads_in_a_call)(0.7)
    for made in (vjp, linearize):
        _, again = made(reads_in_a_call, 0.7)
        WEIGHTS[:], Kept.w[:] = 9.0, 4.0
        found = again(1.0)
        WEIGHTS[:], Kept.w[:] = 3.0, 3.0
        np.testing.assert_allclose(found[0] if isinstance(found, tuple) else found, right)


class Inner:
    def __init__(self):
        self.u, self.k = np.zeros(2), {"m": [0.0]}


class Outer:
    def __init__(self):
        self.a, self.n = Inner(), 0


SHARED = np.zeros(2)
OUTER = Outer()
HOLDER = {"u": SHARED, "rows": [np.ones(2)]}
ALSO = [OUTER.a.u, OUTER.a.k["m"], HOLDER["rows"][0], OUTER.a]


def parts_of_instance(x):
    for i in range(2):
        OUTER.a.u[i] = x * x * (i + 1)
        OUTER.a.k["m"][0] = OUTER.a.k["m"][0] + x
        OUTER.n += 1
    return np.sum(OUTER.a.u**2) * OUTER.a.k["m"][0]


def parts_of_dict(x):
    HOLDER["u"][0] = x * x
    HOLDER["rows"][0][1] = x
    HOLDER["new"] = np.ones(2) * x
    return HOLDER["u"][0] * x * HOLDER["rows"][0][1] + np.sum(HOLDER["new"])


def parts_exchanged(x):
    HOLDER["u"], HOLDER["w"] = HOLDER["rows"][0], HOLDER["u"]
    HOLDER["u"][0] = x
    return np.sum(HOLDER["u"]) * x


def cells_that_share():
    d = [SHARED]

    def f(x):
        for i in range(2):
            d[0][i] = x * x + i
        return np.sum(d[0] * d[0]) + 0.0 * len(ALSO)

    return f


part_of_a_cell = cells_that_share()


class Table:
    entries = {"u": SHARED}


def part_of_a_class(x):
    Table.entries["u"][0] = x * x
    return Table.entries["u"][0] * x + 0.0 * len(ALSO)


def test_parts_of_objects_outside_stay_the_objects_that_they_are():
    for f in (parts_of_instance, parts_of_dict, part_of_a_cell, part_of_a_class):
        check_modes(f, watched=(ALSO, SHARED))
    check_refused(parts_exchanged, match="one object in two places")
