"""Values that are kept: memos by value, attributes of an earlier call, globals."""

from __future__ import annotations

import functools
import weakref

import numpy as np

from tests.record.lost import Program

MEMO: dict = {}
LAST: list = []
COUNTS = {"calls": 0, "hits": 0}


def clear():
    MEMO.clear()
    LAST.clear()
    COUNTS.update(calls=0, hits=0)
    for cached in (slow_square, slow_sine, table_of_powers):
        cached.cache_clear()
    Model.shared = 1.0
    Model.one.history.clear()
    Model.one.scale = None
    remembering.last = None
    WEAK.clear()


@functools.lru_cache
def slow_square(x):
    return x * x


@functools.cache
def slow_sine(x, k):
    return np.sin(x) * k


@functools.lru_cache(maxsize=None)
def table_of_powers(n):
    return [float(k) ** 2 for k in range(n)]


def lru_cache_of_the_argument(x):
    return slow_square(x) + slow_square(x) * slow_square(2.0 * x)


def cache_met_by_an_equal_constant(x):
    return slow_square(0.7) + slow_square(x)


def cache_of_two_arguments(x):
    return slow_sine(x, k=2) + slow_sine(x, k=3.0) * x


def cached_list_that_is_written(x):
    table = table_of_powers(3)
    table[1] = table[1] * x
    return table[1] + table[2]


def memo_by_value(x):
    if x not in MEMO:
        MEMO[x] = x ** 3
    else:
        COUNTS["hits"] += 1
    return MEMO[x] * 2.0


def memo_by_text(x):
    key = f"{x:.6f}"
    if key not in MEMO:
        MEMO[key] = x * x
    return MEMO[key]


def memo_by_rounded_value(x):
    return MEMO.setdefault(round(x, 3), 5.0 * x)


def memo_by_bytes(a):
    key = a.tobytes()
    if key not in MEMO:
        MEMO[key] = np.sum(a * a)
    return MEMO[key]


class Lazy:
    def __init__(self, x):
        self.x = x

    @functools.cached_property
    def squared(self):
        COUNTS["calls"] += 1
        return self.x * self.x

    @property
    def cubed(self):
        return self.squared * self.x


def cached_property(x):
    lazy = Lazy(x)
    first = lazy.squared + lazy.cubed
    lazy.x = 2.0 * x
    return first + lazy.squared + lazy.cubed


class Model:
    shared = 1.0

    def __init__(self):
        self.history = []
        self.scale = None

    def __call__(self, x):
        if self.scale is None:
            self.scale = x * 2.0
        self.history.append(float(x))
        return self.scale * x


Model.one = Model()


def attribute_of_an_earlier_call(x):
    return Model.one(x)


def state_of_the_model():
    return [len(Model.one.history), Model.one.scale]


def class_attribute_that_grows(x):
    Model.shared = Model.shared * x
    return Model.shared + Model.one.shared


def state_of_the_class():
    return [Model.shared]


def remembering(x):
    before = remembering.last
    remembering.last = x * x
    return x * 3.0 if before is None else before * x


remembering.last = None


def state_of_remembering():
    return [remembering.last]


def list_of_earlier_values(x):
    LAST.append(x * 2.0)
    return sum(LAST) * x


def state_of_the_list():
    return list(LAST)


def default_that_is_kept(x, kept=LAST):
    if not kept:
        kept.append(np.array([x, 1.0]))
    kept[0][1] += x
    return kept[0][1] * kept[0][0]


def state_of_the_arrays():
    return [one.tolist() for one in LAST]


def make_counter():
    total = 0.0

    def add(x):
        nonlocal total
        total += x * x
        return total

    def start():
        nonlocal total
        total = 0.0

    return add, start


add_to_total, start_total = make_counter()


def closure_that_accumulates(x):
    return add_to_total(x) + add_to_total(2.0 * x)


def normaliser(a):
    if "mean" not in MEMO:
        MEMO["mean"] = np.mean(a)
        MEMO["buffer"] = np.zeros_like(a)
    buffer = MEMO["buffer"]
    np.subtract(a, MEMO["mean"], out=buffer)
    return np.sum(buffer * buffer)


def state_of_the_memo():
    return [len(MEMO), COUNTS["hits"], COUNTS["calls"]]


class Node:
    def __init__(self, value):
        self.value = value


WEAK: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def weak_cache(x):
    node = Node(x)
    WEAK[node] = x * x
    node.value = WEAK[node] * x
    return WEAK.pop(node) + node.value


A = np.array([0.3, 0.5, 0.7])
X = 0.7
MEAN = float(np.mean(A))
KEPT = {"twice": True, "reset": clear, "state": state_of_the_memo}
PROGRAMS = [
    Program("lru_cache", lru_cache_of_the_argument, (X,), lambda x: 2.0 * x + 16.0 * x ** 3,
            **KEPT),
    Program("lru_cache met by an equal constant", cache_met_by_an_equal_constant, (X,),
            lambda x: 2.0 * x, no_derivative=True, **KEPT),
    Program("cache of two arguments", cache_of_two_arguments, (X,),
            lambda x: 2.0 * np.cos(x) + 3.0 * np.sin(x) + 3.0 * x * np.cos(x), **KEPT),
    Program("a cached list is written", cached_list_that_is_written, (X,), 1.0,
            again=X, twice=True, reset=clear),
    Program("a memo by value", memo_by_value, (X,), lambda x: 6.0 * x * x, no_derivative=True,
            **KEPT),
    Program("a memo by text", memo_by_text, (X,), lambda x: 2.0 * x, no_derivative=True, **KEPT),
    Program("a memo by rounded value", memo_by_rounded_value, (X,), 5.0, no_derivative=True,
            jumps=True, **KEPT),
    Program("a memo by bytes", memo_by_bytes, (A,), lambda a: 2.0 * a, no_derivative=True, **KEPT),
    Program("cached_property", cached_property, (X,), lambda x: 4.0 * x + 9.0 * x * x, **KEPT),
    Program("an attribute of an earlier call", attribute_of_an_earlier_call, (X,),
            lambda x: 4.0 * x, again=2.0 * X, twice=True, reset=clear,
            state=state_of_the_model),
    Program("a class attribute grows", class_attribute_that_grows, (X,), 2.0, again=2.0 * X,
            twice=True, reset=clear, state=state_of_the_class),
    Program("an attribute of the function", remembering, (X,), 3.0, again=X * X, twice=True,
            reset=clear, state=state_of_remembering),
    Program("a list of earlier values", list_of_earlier_values, (X,), lambda x: 4.0 * x,
            again=6.0 * X, twice=True, reset=clear, state=state_of_the_list),
    Program("an array kept in a default", default_that_is_kept, (X,), lambda x: 1.0 + 2.0 * x,
            again=X, twice=True, reset=clear, state=state_of_the_arrays),
    Program("a closure accumulates", closure_that_accumulates, (X,), lambda x: 12.0 * x,
            again=12.0 * X, twice=True, reset=start_total),
    Program("a buffer kept for the next call", normaliser, (A,),
            lambda a: 2.0 * (a - np.mean(a)), again=2.0 * (A - MEAN), twice=True, reset=clear,
            state=state_of_the_memo),
    Program("a weak cache", weak_cache, (X,), lambda x: 2.0 * x + 3.0 * x * x, **KEPT),
]
