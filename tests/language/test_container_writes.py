"""Lists, dicts and objects that change while the program runs."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, vjp
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0, 0.25])
XS = [0.5, -1.5, 2.0]
D = {"a": 1.5, "b": -0.5}


# -- lists -----------------------------------------------------------------------------------------


@programs(V)
def append(x):
    ys = []
    for v in x:
        ys.append(v * v)
    return sum(ys) * ys[-1]


@programs(V)
def dicts_merged_in_place(x):
    table = {"a": x * 1.0, "b": x[0]}
    other = table
    table |= {"a": other["a"] * x, "c": x[1]}
    table |= other
    other["a"][0] = 5.0
    return table["a"].sum() * sum([table["b"], table["c"]])


@programs(V)
def append_what_was_there(x):
    ys = [x[0]]
    for v in x[1:]:
        ys.append(ys[-1] * v + ys[0])
    return ys[-1]


@programs(V)
def append_arrays(x):
    rows = []
    y = x * 1.0
    for i in range(3):
        rows.append(y.copy())
        y[i] *= y[i + 1]
    return np.sum(np.array(rows) ** 2)


@programs(XS)
def store_an_item(xs):
    ys = [x * x for x in xs]
    ys[1] = ys[0] * xs[2]
    ys[-1] += 1.0
    return ys[0] * ys[1] * ys[2]


@programs(XS, 1)
def store_at_a_computed_index(xs, k):
    ys = [0.0] * 3
    for i in range(3):
        ys[(i + k) % 3] = xs[i] ** 2
    return ys[0] + 2.0 * ys[1] * ys[2]


@programs(V)
def the_first_equal_one_removed(x):
    product = x[0] * x[1]
    ys = [product, x[1], product]
    ys.remove(product)
    return ys[0] * ys[1]


@programs(V)
def the_least_removed(x):
    ys, total = [v * v for v in x], 0.0
    while len(ys) > 1:
        least = min(ys)
        ys.remove(least)
        total = total * 0.5 + least * ys[0]
    return total


@programs(V)
def removed_in_a_loop(x):
    ys = list(x)
    for v in x:
        if v > 1.0:
            ys.remove(v)
    try:
        ys.remove(99.0)
    except ValueError:
        return sum(ys) * len(ys)
    return ys[0]


@programs(XS)
def extend_insert_pop(xs):
    ys = [xs[0]]
    ys.extend([xs[1] * xs[0], xs[2]])
    ys.insert(1, xs[2] ** 2)
    last = ys.pop()
    ys += [last * ys[0]]
    first = ys.pop(0)
    return sum(ys) * last + first


@programs(XS)
def sort_and_reverse(xs):
    ys = [x * x for x in xs]
    ys.sort()
    ys.reverse()
    zs = sorted(ys, key=lambda y: -y)
    zs.sort(key=lambda y: abs(y - 1.0))
    return ys[0] * zs[1] + ys[2]


@programs(XS)
def slices_of_lists(xs):
    ys = [x * x for x in xs]
    ys[1:] = [xs[0], xs[1], xs[2]]
    ys[:1] = []
    del ys[0]
    return ys[0] * ys[1]


@programs(XS, -1, 1)
def deletions(xs, k, n):
    ys = [x * x for x in xs] + [x + 1.0 for x in xs]
    del ys[k]
    del ys[n]
    del ys[-2:]
    z = ys.pop(n)
    return ys[-1] * z


@programs(XS)
def swap(xs):
    ys = list(xs)
    ys[0], ys[2] = ys[2], ys[0] * ys[1]
    return ys[0] ** 2 * ys[2]


@programs(V)
def a_stack(x):
    stack = [x[0]]
    total = 0.0
    n = 0
    while stack and n < 20:
        v = stack.pop()
        n += 1
        total += v * v
        if n < 6:
            stack.append(v * x[1])
            stack.append(v + x[2])
    return total


@programs(V)
def lists_in_a_loop(x):
    state = [x[0], x[1]]
    for _ in range(4):
        state[0], state[1] = state[1] * 0.9, np.sin(state[0]) + x[2]
    return state[0] * state[1]


@programs(V)
def lists_of_arrays_that_are_written(x):
    ys = [x * x, x + 1.0]
    ys[0][1] = x[0]
    ys[1] *= ys[0]
    for y in ys:
        y[0] = 2.0 * y[1]
    return np.sum(ys[0] * ys[1])


@programs(XS)
def nested_lists(xs):
    table = [[0.0 for _ in range(3)] for _ in range(3)]
    for i in range(3):
        for j in range(3):
            table[i][j] = xs[i] * xs[j] + (table[i - 1][j] if i else 0.0)
    return table[2][1] * table[1][2]


@programs(XS)
def rows_are_the_same_list(xs):
    row = [0.0, 0.0]
    rows = [row, row]
    rows[0][0] = xs[0]
    rows[1][1] = xs[1] * row[0]
    return rows[0][1] * rows[1][0] + row[1]


# -- dicts -----------------------------------------------------------------------------------------


@programs(D)
def store_an_entry(d):
    e = {"a": d["a"] * d["b"]}
    e["b"] = d["a"] ** 2
    e["a"] *= e["b"]
    return e["a"] + e["b"]


@programs(V)
def computed_keys(x):
    table = {}
    for i in range(4):
        table[i] = x[i] * x[i]
    table[2] = table[1] * table[0]
    return sum(table.values()) * table[2]


@programs(D)
def methods_of_dicts(d):
    e = {"x": d["a"]}
    e.update({"y": d["b"], "x": d["a"] * 2.0})
    e.setdefault("x", 0.0)
    e.setdefault("z", d["a"] * d["b"])
    z = e.pop("z")
    del e["y"]
    return e["x"] * z + e.get("q", 1.0)


@programs({"w": V, "b": 0.5})
def a_step_of_descent(params):
    for _ in range(3):
        for name in ("w", "b"):
            params[name] = params[name] - 0.1 * np.sum(params["w"] ** 2)
    return np.sum(params["w"]) * params["b"]


@programs(D)
def arguments_that_change(d):
    d["a"] = d["a"] * d["b"]
    d["b"] += d["a"]
    return d["a"] * d["b"]


@programs(XS)
def a_list_argument_that_changes(xs):
    xs[0] = xs[1] * xs[2]
    xs.append(xs[0] ** 2)
    xs += [xs[1]]
    return sum(xs) * xs[3]


# -- objects ---------------------------------------------------------------------------------------


@dataclasses.dataclass
class Body:
    position: np.ndarray
    mass: float
    steps: int = 0

    def push(self, force):
        self.position = self.position + force / self.mass
        self.position[0] *= 0.5
        self.steps += 1


class Counter:
    def __init__(self, start):
        self.total = start
        self.values = []

    def add(self, value):
        self.total += value * self.total
        self.values.append(self.total)


@programs(V)
def a_new_instance(x):
    body = Body(x * 1.0, x[0] + 2.0)
    for i in range(3):
        body.push(x * i)
    return np.sum(body.position**2) + body.steps


@programs(V)
def a_class_with_a_list(x):
    counter = Counter(x[0])
    for v in x:
        counter.add(v)
    return sum(counter.values) * counter.total


@programs(SimpleNamespace(w=V, b=2.0))
def an_argument_whose_attributes_change(model):
    model.w[1] = model.b * model.w[0]
    model.b *= float(model.w[1])
    model.w = model.w * 2.0
    return np.sum(model.w) * model.b


@programs(V)
def an_object_under_two_names(x):
    a = SimpleNamespace(x=x[0], y=x[1])
    b = a
    b.x = a.y * 2.0
    a.y += b.x
    return a.x * b.y


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)


@programs([0.5, 2.0, 3.0])
def update_with_unknown_keys(xs):
    d = {i: x for i, x in enumerate(xs)}
    d.update({i + 1: x * x for i, x in enumerate(xs)})
    d.update({0: xs[1]}, extra=xs[2])
    return sum(d.values()) * d[2] * d["extra"]


@programs(V)
def dicts_inside_a_dict(x):
    rows = {}
    for i in range(4):
        if i % 2 not in rows:
            rows[i % 2] = {}
        row = rows[i % 2]
        if i not in row:
            row[i] = 0.5
        row[i] += x[i] * x[i]
    return rows[0][2] * rows[1][3] * rows[0][0]


@programs(V)
def a_set_that_grows(x):
    seen = {0}
    total = 0.0
    for i in range(4):
        total += x[i] if i in seen else x[i] * x[i]
        if i == 1:
            seen.add(3)
    return total


# -- what is refused -------------------------------------------------------------------------------


def longer_while_running(xs):
    for x in xs:
        if len(xs) < 5:
            xs.append(x)
    return sum(xs)


def an_extended_slice(xs):
    ys = [x * x for x in xs]
    ys[::2] = [1.0, 2.0]
    return sum(ys)


def an_entry_taken_by_an_unknown_key(xs):
    d = {i: [x] for i, x in enumerate(xs)}
    d.popitem()
    return sum(v[0] for v in d.values())


@pytest.mark.parametrize(
    "function", [longer_while_running, an_extended_slice, an_entry_taken_by_an_unknown_key]
)
def test_refused_before_it_runs(function):
    xs = list(XS)
    for derive in (lambda: grad(function)(xs), lambda: vjp(function, xs)):
        with pytest.raises(UnsupportedError) as caught:
            derive()
        assert {f.anchor for f in caught.value.findings} == {"in-place-containers"}
    assert xs == XS
