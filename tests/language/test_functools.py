"""functools, itertools, operator and statistics on differentiated values."""

import copy
import functools
import itertools
import math
import operator
import statistics
from functools import partial, reduce
from itertools import accumulate, chain

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0, 0.25])
M = np.array([[0.5, -1.5], [2.0, 0.25], [1.0, -0.75]])
TABLE = {"a": 0.5, "b": 1.5, "c": -2.0}
POINTS = [(0.5, 2.0), (-1.5, 0.25), (2.0, 1.0)]


# -- functools -------------------------------------------------------------------------------------


@programs([0.5, -1.5, 2.0])
def reduce_list(xs):
    return reduce(lambda a, b: a * b + b, xs) + functools.reduce(operator.mul, xs, 2.0)


@programs(V)
def reduce_array(x):
    return reduce(lambda a, b: a * 0.5 + b * b, x) + reduce(operator.add, x, x[0])


@programs([M.T, M @ np.eye(2), np.eye(2) * 0.5])
def reduce_matrices(ms):
    return np.sum(reduce(np.dot, ms) ** 2) + np.sum(reduce(np.matmul, ms))


@programs(V)
def reduce_generator(x):
    return reduce(lambda a, b: a * b, (v * v for v in x)) + reduce(operator.mul, map(math.exp, x))


@programs(TABLE)
def reduce_values(d):
    return reduce(lambda a, b: a * b, d.values()) + reduce(max, d.values())


@programs(1.5)
def reduce_range(x):
    return reduce(lambda total, n: total * x + n, range(4)) + reduce(lambda t, n: t * x, [1, 2], x)


@programs(1.5)
def compose_by_reduce(x):
    return reduce(lambda value, f: f(value), (math.sin, math.exp, math.cos), x)


@programs(1.5, 0.5)
def partial_positions_and_keywords(x, y):
    def f(a, b, c=1.0):
        return a * b * b * c

    return partial(f, x)(y) + partial(f, c=y)(x, y) * partial(f, x, c=x)(y, c=2.0)


@programs(V)
def partial_in_map(x):
    return sum(map(partial(operator.mul, x[0]), x)) + sum(map(partial(pow, 2.0), x))


@programs(V)
def partial_of_numpy(x):
    norm = partial(np.linalg.norm, ord=2)
    return norm(x) * partial(np.sum, axis=0)(x)


@programs(1.5)
def dict_of_functions(x):
    total = 0.0
    for name, f in {"sin": math.sin, "square": lambda v: v * v}.items():
        total = total * 0.5 + f(x) * len(name)
    for i, f in enumerate((math.exp, math.cos)):
        total = total + f(x) * (i + 1)
    return total + sum(f(x) for f in {"a": math.sin, "b": math.cos}.values())


@programs(1.5, [2.0, 3.0])
def functions_with_weights(x, weights):
    a, b = weights
    return sum(w * f(x) for w, f in zip((a, b), (math.sin, math.exp)))


# -- itertools -------------------------------------------------------------------------------------


@programs([0.5, -1.5, 2.0])
def accumulate_sum(xs):
    total = 0.0
    for s in accumulate(xs):
        total += s * s
    return total


@programs(V)
def accumulate_function(x):
    return sum(accumulate(x, lambda a, b: a * 0.5 + b * b)) + list(accumulate(x, operator.mul))[-1]


@programs(V, 1.5)
def accumulate_initial(x, start):
    return sum(v * v for v in accumulate(x, initial=start)) + max(accumulate(x, max, initial=start))


@programs([0.5, -1.5], V)
def chain_sequences(xs, x):
    total = 0.0
    for i, v in enumerate(chain(xs, x, (1.0, 2.0), [xs[0]])):
        total += i * v * v
    return total


@programs([[0.5, -1.5], [2.0]])
def chain_from_iterable(rows):
    return sum(v * v for v in chain.from_iterable(rows)) + sum(chain(*rows))


@programs(V)
def product_of_two(x):
    return sum(a * b * b for a, b in itertools.product(x, x[1:]))


@programs(V)
def product_of_ranges(x):
    total = 0.0
    for i, j in itertools.product(range(2), range(2)):
        total += x[2 * i + j] * (i + 2 * j + 1)
    for i, j, k in itertools.product(range(2), repeat=3):
        total += x[i] * x[j] * x[k]
    return total


@programs(V)
def combinations_of_two(x):
    return sum((a - b) ** 2 * a for a, b in itertools.combinations(x, 2))


@programs([0.5, -1.5, 2.0, 1.0])
def combinations_of_three(xs):
    total = 0.0
    for a, b, c in itertools.combinations(xs, 3):
        total += a * b * b * c
    return total


@programs(V)
def combinations_of_range(x):
    total = 0.0
    for i, j in itertools.combinations(range(len(x)), 2):
        total += (x[i] - x[j]) ** 2
    return total


@programs(M)
def combinations_of_rows(m):
    return sum(np.linalg.norm(a - b) for a, b in itertools.combinations(m, 2))


@programs(V)
def combinations_with_replacement(x):
    return sum(a * b for a, b in itertools.combinations_with_replacement(x, 2))


@programs([0.5, -1.5, 2.0])
def combinations_of_each_size(xs):
    total = sum(math.prod(c) for r in (1, 2, 3) for c in itertools.combinations(xs, r))
    return total + sum(a * b * b for a, b in itertools.product(xs, repeat=2))


@programs(V)
def slices_without_end(x):
    return sum(itertools.islice(itertools.cycle(x), 6)) ** 2 + sum(
        a * b for a, b in itertools.pairwise(itertools.accumulate(x))
    )


@programs([0.5, -1.5, 2.0])
def permutations_of_list(xs):
    total = 0.0
    for a, b in itertools.permutations(xs, 2):
        total += a * b * b
    for p in itertools.permutations(xs):
        total = total * 0.5 + p[0] * p[1]
    return total


@programs(V)
def permutations_of_range(x):
    return sum(x[i] * x[j] ** 2 for i, j in itertools.permutations(range(3), 2))


@programs(V)
def pairwise_of_array(x):
    return sum((b - a) ** 2 for a, b in itertools.pairwise(x))


@programs(V)
def islice_forms(x):
    return (
        sum(itertools.islice(x, 2)) ** 2 + sum(v * v for v in itertools.islice(x, 1, 3))
        + sum(itertools.islice(x, 0, None, 2))
    )


@programs([0.5, -1.5, 2.0])
def count_in_zip(xs):
    return sum(i * x for i, x in zip(itertools.count(), xs)) + sum(
        x**i for x, i in zip(xs, itertools.count(2, 3))
    )


@programs([0.5, -1.5, 2.0])
def count_with_break(xs):
    total = 0.0
    for i in itertools.count(1):
        if i >= len(xs):
            break
        total += xs[i] * i
    return total


@programs(V)
def cycle_in_zip(x):
    return sum(a * b for a, b in zip(x, itertools.cycle([1.0, -1.0])))


@programs(V, [0.5, 1.5])
def cycle_of_active(x, ys):
    return sum(a * b for a, b in zip(x, itertools.cycle(ys)))


@programs(V, 1.5)
def repeat_in_zip_and_alone(x, y):
    total = sum(a * b for a, b in zip(x, itertools.repeat(y)))
    for v in itertools.repeat(y, 3):
        total = total * 0.5 + v * v
    return total + sum(map(pow, x, itertools.repeat(2)))


@programs(V, [0.5, 1.5])
def zip_longest_filled(x, ys):
    return sum(a * a * b for a, b in itertools.zip_longest(x, ys, fillvalue=0.5))


@programs(POINTS)
def starmap_of_pairs(points):
    return sum(itertools.starmap(lambda a, b: a * b * b, points)) + sum(
        itertools.starmap(operator.mul, points)
    )


@programs([0.5, 1.0, 3.0, 0.25])
def takewhile_and_dropwhile(xs):
    return sum(itertools.takewhile(lambda v: v < 2.0, xs)) * sum(
        v * v for v in itertools.dropwhile(lambda v: v < 2.0, xs)
    )


@programs(V)
def compress_and_filterfalse(x):
    return sum(v * v for v in itertools.compress(x, [1, 0, True, 0])) + sum(
        itertools.filterfalse(lambda v: v > 0.0, x)
    )


@programs(POINTS)
def groupby_key(points):
    total = 0.0
    for key, group in itertools.groupby(points, key=lambda p: p[0] > 0.0):
        total = total * 0.5 + (2.0 if key else 3.0) * sum(a * b for a, b in group)
    return total


# -- operator --------------------------------------------------------------------------------------


@programs(POINTS)
def itemgetter_key(points):
    a, b = max(points, key=operator.itemgetter(1))
    return a * b + sum(map(operator.itemgetter(0), points))


SECOND = operator.itemgetter(1)
HALF = partial(operator.mul, 0.5)


@programs(POINTS)
def getters_of_the_module(points):
    return max(points, key=SECOND)[0] ** 2 * HALF(points[0][1]) + sum(map(SECOND, points))


@programs(TABLE)
def itemgetter_of_several(d):
    a, c = operator.itemgetter("a", "c")(d)
    return a * c * c


@programs(V)
def attrgetter_of_array(x):
    return np.sum(operator.attrgetter("T")(x.reshape(2, 2))[0] ** 2)


@programs(V)
def methodcaller_of_array(x):
    return operator.methodcaller("sum")(x * x) + operator.methodcaller("dot", x)(x)


@programs(1.5, 2.5)
def operators_as_functions(x, y):
    table = {"+": operator.add, "*": operator.mul, "/": operator.truediv}
    return table["+"](x, y) * table["*"](x, x) + table["/"](x, y) + operator.neg(x) ** 2


# -- statistics, copy ------------------------------------------------------------------------------


@programs([0.5, -1.5, 2.0, 0.25])
def means(xs):
    return statistics.mean(xs) * statistics.fmean(xs) + statistics.fmean(xs, [1.0, 2.0, 0.5, 0.0])


@programs(V)
def mean_of_array_and_generator(x):
    return statistics.fmean(x) * statistics.mean([v * v for v in x]) + statistics.fmean(
        v * v for v in x
    )


@programs([0.5, 1.5, 2.0, 0.25])
def spreads(xs):
    return (
        statistics.variance(xs) * statistics.pvariance(xs) + statistics.stdev(xs)
        + statistics.pstdev(xs) + statistics.median(xs) * statistics.median(xs[:3])
        + statistics.geometric_mean(xs) + statistics.harmonic_mean(xs)
    )


@programs([0.5, 1.5], {"a": 0.5, "b": [1.5, 2.0]}, V)
def copies(xs, d, x):
    ys, e = copy.copy(xs), copy.deepcopy(d)
    return ys[0] * e["b"][1] + np.sum(copy.copy(x) ** 2) * copy.deepcopy(x)[0] * xs.copy()[1]


@pytest.mark.parametrize("case", programs, ids=str)
def test_derivative(case):
    programs.check(case)


# -- iterators that Python empties -----------------------------------------------------------------


def twice(x):
    pairs = zip([x, x * x], [x, 2.0])
    total = sum(a * b for a, b in pairs)
    return total + sum(a for a, _ in pairs)


def map_twice(x):
    sines = map(math.sin, [x, 2.0 * x])
    return sum(sines) + sum(sines)


def zip_in_a_loop(x):
    total, pairs = 0.0, zip([x, x], [x, 2.0])
    for _ in range(2):
        for a, b in pairs:
            total += a * b
    return total


def next_and_the_rest(x):
    items = iter([x, x * x])
    first = next(items)
    return first + sum(items)


def helper(items):
    return max(items) - min(items)


def passed_on(x):
    return helper(v * x for v in (1.0, 2.0))


def chosen(x):
    items = map(math.sin, [x]) if x > 0.0 else filter(None, [x])
    return sum(items) + sum(items)


def captured(x):
    items = reversed([x, x * x])

    def total():
        return sum(items)

    return total() + total()


def in_a_tuple(x):
    parts = (map(math.sin, [x, x * x]), 2.0)
    return sum(parts[0]) * parts[1] + sum(parts[0])


def endless(x):
    return sum(x for _ in itertools.count())


def class_of_an_iterator(x):
    items = map(math.sin, [x, x])
    return x if isinstance(items, map) else x * x


def no_list(x):
    items = map(math.sin, [x, x])
    return x if isinstance(items, list) else x * x


def test_an_iterator_is_no_list():
    assert grad(no_list)(1.5) == 3.0


@pytest.mark.parametrize("function", [
    twice, map_twice, zip_in_a_loop, passed_on, chosen, captured, in_a_tuple,
    endless, class_of_an_iterator,
])
def test_refused(function):
    with pytest.raises(UnsupportedError, match="limitations.md#(iterators|generators)"):
        grad(function)(1.5)


@pytest.mark.records
def test_an_iterator_goes_on_behind_next():
    assert grad(next_and_the_rest)(1.5) == 4.0


def test_positions_of_islice_are_not_negative():
    with pytest.raises(ValueError, match="islice"):
        grad(lambda xs, n: sum(itertools.islice(xs, n)))([1.0, 2.0], -1)


def test_next_of_nothing():
    def first(xs):
        return next(x for x in xs if x > 9.0)

    with pytest.raises(StopIteration):
        grad(first)([1.0])


def test_lengths_differ_in_a_strict_zip():
    with pytest.raises(ValueError, match="shorter"):
        grad(lambda xs, ys: sum(a * b for a, b in zip(xs, ys, strict=True)))([1.0, 2.0], [1.0])
