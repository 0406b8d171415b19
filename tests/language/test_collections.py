"""Deques, dicts with defaults, ordered dicts and chains of dicts that are made in the function."""

from collections import ChainMap, OrderedDict, defaultdict, deque

import numpy as np
import pytest

from adcompiler import ADError, UnsupportedError, grad, hessian, vjp
from adcompiler.runtime.substitutes import SUBSTITUTES
from tests.language.modes import Programs, agrees_in_every_mode, agrees_to_first_order, in_turn

X = np.array([0.5, 1.5, 2.0, 0.7])
programs = Programs()


def scaled(a=1.0, b=2.0):
    return a * b * b


# -- deques ----------------------------------------------------------------------------------------


@programs
def ends_of_a_deque(x):
    line = deque([x[0]])
    line.append(x[1] * x[0])
    line.appendleft(x[2])
    line.extend([x[3], x[1]])
    line.extendleft(v * v for v in x[:2])
    first, last = line.popleft(), line.pop()
    total = 0.0
    for i, v in enumerate(line):
        total = total * 0.5 + v * i
    return first * last * line[0] * line[-1] + total + len(line)


@programs
def a_window_that_moves(x):
    window = deque(maxlen=2)
    out = np.zeros(4)
    for i in range(4):
        window.append(x[i] * x[i])
        out[i] = sum(window) / len(window)
    return np.sum(out * out) + (window.maxlen or 0) * x[0]


@programs
def a_queue_until_it_is_empty(x):
    line, total = deque([(0, x[0])]), 0.0
    while line:
        n, v = line.popleft()
        total += v * v
        if n < 3:
            line.append((n + 1, v * x[n + 1]))
    return total if not line else 0.0


@programs
def a_walk_through_a_graph(x):
    line, seen, total = deque([0]), {0}, 0.0
    neighbours = {0: [1, 2], 1: [2, 3], 2: [0], 3: []}
    while len(line) > 0:
        node = line.popleft()
        total = total * 0.5 + x[node] ** 2
        for other in neighbours[node]:
            if other not in seen:
                seen.add(other)
                line.append(other)
    return total


@programs
def deques_given_to_numpy(x):
    line = deque(x, 3)
    line.rotate(1)
    line[1] = line[1] * line[0]
    line.reverse()
    return np.sum(np.array(line) ** 2) + np.mean(line) * max(line) + sorted(line)[0] * np.dot(line, line)


@programs
def a_deque_under_two_names(x):
    def add(line, v):
        line.append(v * v)

    line = deque()
    same = line
    for v in x:
        add(line, v)
    same.append(x[0])
    copied = same.copy()
    copied.clear()
    return sum(line) * len(line) + len(copied)


@programs
def a_deque_of_arrays(x):
    line = deque(maxlen=2)
    for i in range(3):
        line.append(x * i)
    return np.sum(line[0] * line[1]) * x[0]


def written_in_a_deque(x):
    line = deque(maxlen=2)
    for i in range(3):
        line.append(x * i)
    line[0][1] = x[0] * x[0]
    return np.sum(line[0] * line[1])


def test_writes_into_arrays_that_a_loop_put_into_a_deque_are_followed_once():
    x = np.array([0.3, 0.7, 1.1])
    wanted = [4.0 * x[0] + 4.0 * x[0] * x[1], 2.0 * x[0] ** 2, 4.0 * x[2]]
    assert np.allclose(grad(written_in_a_deque)(x), wanted)
    with pytest.raises(UnsupportedError, match="a deque that is made here"):
        hessian(written_in_a_deque)(x)


@programs
def an_exception_of_an_empty_deque(x):
    line = deque()
    try:
        line.popleft()
    except IndexError:
        line.append(x[0] * x[1])
    others = line.copy()
    others.clear()
    for v in others:
        line.append(v)
    return line[0] ** 2 + len(line)


class Filter:
    def __init__(self, n):
        self.last = deque(maxlen=n)
        self.log = defaultdict(list)

    def step(self, v):
        self.last.append(v)
        self.log[len(self.last) % 2].append(v * v)
        return sum(self.last) / len(self.last)


@programs
def deques_in_attributes(x):
    filtering, total = Filter(3), 0.0
    for v in x:
        total += filtering.step(v) ** 2
    return total + sum(filtering.log[0]) * sum(filtering.log[1])


# -- dicts -----------------------------------------------------------------------------------------


@programs
def sums_by_key(x):
    sums = defaultdict(float)
    for i in range(4):
        sums[i % 2] += x[i] * x[i]
    return sums[0] * sums[1] + sums["none"] + sums.get("other", 2.0) * len(sums) * x[0]


@programs
def groups_by_key(x):
    groups = defaultdict(list)
    for name, v in zip("uvuw", x, strict=True):
        groups[name].append(v * x[0])
    return sum(np.mean(group) ** 2 for group in groups.values()) * len(groups)


def rows_of_rows(x):
    rows = defaultdict(lambda: defaultdict(float))
    for i in range(4):
        rows[i % 2][i] += x[i] ** 2
    return sum(v for row in rows.values() for v in row.values()) * rows[0][2]


@programs
def defaults_that_are_arrays(x):
    rows = defaultdict(lambda: np.zeros(4))
    for i in range(4):
        rows[i % 2][i] += x[i] ** 2
    return np.sum(rows[0] * rows[0]) * np.sum(rows[1])


@programs
def a_key_that_is_missing(x):
    table = defaultdict(None, a=x[0])
    try:
        return table["b"]
    except KeyError:
        return table["a"] * table.setdefault("c", x[1]) * table["c"]


@programs
def an_ordered_dict(x):
    table = OrderedDict(a=x[0], b=x[1])
    table["c"] = x[2] * x[3]
    table.update({"d": x[1]})
    table.move_to_end("a")
    total = 0.0
    for _, v in table.items():
        total = total * 0.5 + v * v
    others = {**table, "e": 2.0}
    return total * others["d"] + scaled(**OrderedDict(a=x[2], b=x[3])) + dict(table)["c"]


@programs
def what_class_it_is(x):
    table, line = OrderedDict(a=x[0]), deque([x[1]])
    kinds = [isinstance(table, dict), isinstance(table, OrderedDict), type(table) is OrderedDict,
             isinstance(line, deque), not isinstance(line, list), not isinstance(table, defaultdict)]
    return table["a"] * line[0] * sum(kinds)


def a_chain_of_dicts(x):
    chain = ChainMap({"a": x[0]}, {"a": 3.0, "b": x[1]})
    inner = chain.new_child({"c": x[2]})
    inner["d"] = x[3]
    known = inner["a"] * inner["b"] * inner["c"] * inner["d"] * inner.get("e", 2.0)
    return known if "e" not in inner and "b" in chain else 0.0


@pytest.mark.records
def test_chains_of_dicts_are_recorded():
    agrees_in_every_mode(a_chain_of_dicts, X, (), pattern=False)


@pytest.mark.parametrize("function, modes", in_turn(programs, every=2))
def test_every_mode(function, modes):
    agrees_in_every_mode(function, X, modes)


def test_dicts_with_defaults_in_dicts_with_defaults():
    agrees_to_first_order(rows_of_rows, X)


class Line:
    def __init__(self):
        self.items = [v for v in ()]  # noqa: C416
        self.taken = 0

    def first(self):
        if len(self.items) <= self.taken:
            raise IndexError("nothing there")
        item = self.items[self.taken]
        self.taken = self.taken + 1
        return item


def in_an_attribute(x):
    line = Line()
    try:
        line.first()
    except IndexError:
        line.items.append(x[0] * x[1])
    return line.items[0] ** 2


def in_a_tuple(x):
    pair = ([v for v in ()], 1)  # noqa: C416
    try:
        if x[0] > 0.0:
            raise ValueError
        pair = ([x[2]], 2)
    except ValueError:
        pair[0].append(x[0] * x[1])
    return pair[0][0] ** 2


def in_a_dict(x):
    table = {"items": [v for v in ()], "n": 1}  # noqa: C416
    if x[0] > 0.0:
        table["items"].append(x[0] * x[1])
    else:
        table["items"].append(x[1])
        table["n"] = 2
    return table["items"][0] ** 2


@pytest.mark.parametrize("function", [in_an_attribute, in_a_tuple, in_a_dict])
def test_an_empty_list_that_is_held_and_grows(function):
    """A container that is made anew is of the types that its parts have by then."""
    agrees_in_every_mode(function, X)


class Marks:
    def __init__(self, mark):
        self.mark = mark

    def keys(self):
        return ["once", "twice"]

    def __getitem__(self, key):
        return self.mark if key == "once" else 2.0 * self.mark


def test_the_dict_of_an_instance_with_keys():
    def product(x):
        table = dict(Marks(x[0]))
        return table["once"] * table["twice"]

    agrees_to_first_order(product, X)


# -- what is refused, or raised --------------------------------------------------------------------


def returned(x):
    return deque([x[0]])


def kept_by_the_argument(x, held):
    held.append(deque([x[0]]))
    return x[0]


def given_away(x, function=repr):
    line = deque([x[0]])
    return x[0] * len(function(line))


def in_a_text(x):
    line = deque([x[0]])
    return x[0] * len(f"{line}")


@pytest.mark.parametrize(("function", "more"), [
    (returned, ()), (kept_by_the_argument, ([],)), (given_away, ()), (in_a_text, ()),
])
def test_no_stand_in_leaves_the_code(function, more):
    with pytest.raises(ADError, match="deque that is made here"):
        vjp(function, X, *more)


def test_what_a_deque_has_not_is_told():
    def differing(x):
        return deque([x[0]]).differing()

    with pytest.raises(UnsupportedError, match="has no attribute `differing`"):
        grad(differing)(X)


@pytest.mark.parametrize("index", [1, -2])
def test_a_place_that_is_not_there(index):
    def outside(x, i):
        return deque([x[0]])[i] * x[0]

    with pytest.raises(IndexError, match="deque index out of range"):
        grad(outside)(X, index)


@pytest.mark.parametrize("cls", SUBSTITUTES, ids=lambda cls: cls.__name__)
def test_substitutes_have_no_method_that_the_class_has_not(cls):
    own = {name for name in vars(SUBSTITUTES[cls]) if not name.startswith("_")}
    assert own - set(dir(cls)) <= {"place_of"}
