"""Values that are kept for later calls: memos, `cached_property`, functions under `lru_cache`."""

import dataclasses
import functools
import random

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, jacobian_sparsity, jvp
from tests.language.check import Cases
from tests.language.modes import Programs

X = np.array([1.0, 2.0, 3.0])
MEMO, ITEMS = {}, []
refused, supported, told = Programs(), Programs(), Programs()
computed_once, cached = Cases(), Cases()


class Holder:
    memo, one = {}, None

    def __init__(self, a=2.0):
        self.a, self._c, self.table, self.x = a, None, {}, None

    @property
    def square(self):
        if self._c is None:
            self._c = self.a**2
        return self._c

    def get(self, x):
        if self._c is None:
            self._c = x * x
        return self._c

    def at(self, x, key):
        try:
            return self.table[key]
        except KeyError:
            self.table[key] = x * x
            return self.table[key]


H = Holder()


@refused
def asked_for_a_key(x):
    if "s" not in MEMO:
        MEMO["s"] = np.sum(x * x)
    return MEMO["s"]


@refused
def returns_early(x):
    if "s" in MEMO:
        return MEMO["s"]
    value = np.sum(x * x)
    MEMO["s"] = value
    return value


@refused
def asked_by_get(x):
    value = MEMO.get("s")
    if value is None:
        value = np.sum(x * x)
        MEMO["s"] = value
    return value


@refused
def asked_by_try(x):
    try:
        return MEMO["s"]
    except KeyError:
        MEMO["s"] = np.sum(x * x)
    return MEMO["s"]


@refused
def by_setdefault(x):
    return MEMO.setdefault("s", np.sum(x * x))


@refused
def where_it_is_empty(x):
    if len(MEMO) == 0:
        MEMO.update(s=np.sum(x * x))
    if not ITEMS:
        ITEMS.append(np.sum(x))
    return MEMO["s"] * ITEMS[0]


@refused
def in_an_attribute(x):
    return H.get(np.sum(x))


@refused
def in_a_dict_of_an_instance(x):
    return H.at(np.sum(x), "k")


@refused
def by_or(x):
    H._c = H._c or np.sum(x * x)
    return H._c


@refused
def by_a_conditional_expression(x):
    MEMO["s"] = MEMO["s"] if "s" in MEMO else np.sum(x * x)
    return MEMO["s"]


def fill(x):
    if H._c is None:
        H._c = np.sum(x * x)


@refused
def filled_by_another_function(x):
    fill(x)
    return H._c


@refused
def for_the_last_argument(x):
    if H._c is None or not np.array_equal(H.x, x):
        H.x, H._c = x.copy(), np.sum(x * x)
    return H._c


@refused
def in_a_loop(x):
    for i in range(3):
        if i not in MEMO:
            MEMO[i] = x[i] * x[i]
    return MEMO[0] + MEMO[1] + MEMO[2]


@refused
def in_its_own_attribute(x):
    if "s" not in in_its_own_attribute.memo:
        in_its_own_attribute.memo["s"] = np.sum(x * x)
    return in_its_own_attribute.memo["s"]


in_its_own_attribute.memo = {}


@refused
def in_a_default(x, memo={}):  # noqa: B006
    if "s" not in memo:
        memo["s"] = np.sum(x * x)
    return memo["s"]


@supported
def table_of_a_size(x):
    n = len(x)
    if n not in MEMO:
        MEMO[n] = np.linspace(0.0, 1.0, n)
    return np.sum(MEMO[n] * x)


@supported
def constant(x):
    if "w" not in MEMO:
        MEMO["w"] = 3.0
    return MEMO["w"] * np.sum(x) * H.square


def fill_up(a, x, i):
    if i == len(a):
        return x
    a[i] = x * x + i
    return fill_up(a, x * 0.9, i + 1) + a[i]


@supported
def array_that_calls_fill_up_to_its_length(x):
    a = np.zeros(3)
    return fill_up(a, x[0] * x[1], 0) + np.sum(a * x)


@supported
def memo_of_an_instance_made_here(x):
    h = Holder(np.sum(x))
    return h.square * h.square * h.at(x[0], "k") * h.at(x[1], "k")


@supported
def memo_made_here(x):
    memo = {}

    def value(n):
        if n in memo:
            return memo[n]
        memo[n] = x[0] if n < 2 else value(n - 1) * x[1] + value(n - 2)
        return memo[n]

    return value(6)


def shifted(x, out=None):
    if np.any(np.isnan(x)):
        x = x.copy()
    if out is None:
        out = np.empty_like(x)
    np.add(x, 1.0, out=out)
    return out


@supported
def function_of_a_module_that_is_named_as_a_method(x):
    out = np.empty(3)
    if np.any(x > 2.0):
        np.add(x, 1.0, out=out)
    shifted(x * x, out[1:]) if len(x) == 2 else shifted(x * x)
    return np.sum(shifted(x * 2.0, out) * x)


@supported
def record_of_the_best(x):
    loss = np.sum(x * x)
    if loss < H.a:
        H.a = loss
    MEMO["last"] = loss
    return loss


def reset():
    MEMO.clear()
    ITEMS.clear()
    H.__init__()
    in_its_own_attribute.memo.clear()
    in_a_default.__defaults__[0].clear()


def test_memos_of_what_is_differentiated_are_refused_whether_they_are_filled_or_not():
    for function in refused:
        for filled in (False, True):
            reset()
            if filled:
                function(X)
            for derivative in (
                lambda f=function: grad(f)(X), lambda f=function: jvp(f, (X,), (X,)),
                lambda f=function: jacobian_sparsity(f, X),
            ):
                with pytest.raises(UnsupportedError):
                    print(function.__name__, derivative())


def test_memos_of_constants_and_those_made_here():
    for function in supported:
        slopes = []
        for step in 1e-6 * np.eye(3):
            ends = []
            for point in (X + step, X - step):
                reset()
                ends.append(function(point))
            slopes.append((ends[0] - ends[1]) / 2e-6)
        reset()
        for _ in range(2):
            np.testing.assert_allclose(grad(function)(X), slopes, rtol=1e-6)


class Kept:
    def __init__(self, n):
        self.n, self.runs = n, 0.0

    @functools.cached_property
    def twice(self):
        self.runs += 1.0
        return 2 * self.n

    @functools.cached_property
    def array(self):
        return np.ones(2) * self.n

    @functools.cached_property
    def drawn(self):
        return random.random()

    @functools.cached_property
    def four(self):
        return self.twice * 2


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float

    @functools.cached_property
    def square(self):
        return self.a * self.a


@computed_once(1.5)
def older_than_an_attribute(x):
    k = Kept(x)
    first = k.twice
    k.n = 10.0
    return first * k.twice * k.four * k.runs


@computed_once(1.5)
def array_that_is_written(x):
    k = Kept(x)
    k.array[0] = 5.0 * x
    return np.sum(k.array) * x


@computed_once(1.5)
def drawn_once(x):
    k = Kept(x)
    return x * (k.drawn - k.drawn) + x * x


@computed_once(1.5)
def in_a_loop_and_assigned(x):
    k, total = Kept(x), 0.0
    for _ in range(3):
        total = total + k.twice * x
        k.n = k.n + 1.0
    other = Kept(x)
    first = other.twice
    other.twice = 7.0 * x
    return total * first * other.twice * Frozen(x).square


def computed_in_one_arm(x):
    k = Kept(x)
    if x > 0:
        first = k.twice  # noqa: F841
    k.n = 10.0
    return k.twice * x


def test_cached_properties_are_computed_once():
    for case in computed_once:
        computed_once.check(case)
    with pytest.raises(UnsupportedError):
        grad(computed_in_one_arm)(1.5)


@functools.cache
def square(x):
    return x * x


@functools.lru_cache(maxsize=None)
def table(n):
    made = np.zeros(n)
    for i in range(n):
        made[i] = i * i + 1.0
    return made


@functools.cache
def recurrence(n, x):
    return x if n < 2 else recurrence(n - 1, x) * x + recurrence(n - 2, x)


@cached(1.5)
def pure(x):
    return square(x) * square(2.0) + np.sum(table(4) * x) + recurrence(5, x)


@cached(1.5)
def writes_into_a_copy(x):
    mine = table(4).copy()
    mine[0] = x
    return np.sum(mine * table(4))


FACTOR = 2.0


@functools.cache
def reads_global_data(n):
    return n * FACTOR


@functools.cache
def draws(n):
    return np.random.rand() * n


@functools.cache
def prints(n):
    print(n)
    return 2.0 * n


class WithMethod:
    def __init__(self, n):
        self.n = n

    @functools.lru_cache  # noqa: B019
    def times(self, k):
        return self.n * k


@told
def of_global_data(x):
    return reads_global_data(3) * x


@told
def of_random_numbers(x):
    return draws(3) * x


@told
def of_effects(x):
    return prints(3) * x


@told
def of_an_instance(x):
    one = WithMethod(x)
    first = one.times(2)
    one.n = 5.0
    return first * one.times(2)


@told
def written_item(x):
    mine = table(4)
    mine[0] = x
    return np.sum(table(4))


@told
def written_in_place(x):
    mine = table(4)
    mine += x
    return np.sum(table(4))


@told
def written_view(x):
    view = table(4)[1:]
    view[0] = x
    return np.sum(table(4))


def test_functions_under_a_cache_run_again_where_nobody_can_tell():
    for case in cached:
        cached.check(case)
    for function in told:
        with pytest.raises(UnsupportedError, match=r"kept by a cache|function under a cache"):
            print(function.__name__, grad(function)(1.5))
