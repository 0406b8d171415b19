"""Python's built-in functions of differentiated values: iteration, reduction, conversion."""

import math

import numpy as np
import pytest

from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0, 0.25])
M = np.array([[0.5, -1.5], [2.0, 0.25], [1.0, -0.75]])
TABLE = {"a": 0.5, "b": 1.5, "c": -2.0}
POINTS = [(0.5, 2.0), (-1.5, 0.25), (2.0, 1.0)]


# -- min, max, sum, any, all -----------------------------------------------------------------------


@programs(1.5, -2.0, 0.25)
def extremum_by_key(x, y, z):
    return max(x, y, z, key=abs) * min(x, y, z, key=lambda v: v * v)


@programs([0.5, -1.5, 2.0])
def extremum_of_list_by_key(xs):
    return max(xs, key=lambda v: -v) * min(xs, key=abs) + max(xs)


@programs(V)
def extremum_of_array_by_key(x):
    return max(x, key=lambda v: v * v) * min(x, key=lambda v: -v)


@programs(POINTS)
def extremum_of_pairs_by_key(points):
    first, second = max(points, key=lambda p: p[1])
    return first * second * min(points, key=lambda p: p[0])[1]


@programs([1.5], [])
def extremum_with_default(xs, ys):
    return max(xs, default=0.0) * min(ys, default=2.0)


@programs([0.5, 1.5], 3.0)
def extremum_with_active_default(xs, y):
    return max(xs, default=y) + max([v for v in xs if v > 9.0], default=y * y)


@programs(TABLE)
def extremum_of_dict_by_value(d):
    best = max(d, key=d.get)
    return d[best] * 3.0 + d[min(d, key=lambda k: d[k])]


@programs(TABLE)
def extremum_of_dict_views(d):
    return max(d.values()) * min(d.values()) + sum(d.values())


@programs(TABLE)
def extremum_of_items(d):
    key, value = max(d.items(), key=lambda entry: entry[1])
    return value * len(key)


@programs(V)
def extremum_of_generator(x):
    return max(v * v for v in x) * min((v for v in x), default=1.0)


@programs([0.5, -1.5, 2.0])
def extremum_of_map(xs):
    return max(map(abs, xs)) * min(map(math.exp, xs))


@programs([0.5, -1.5, 2.0])
def extremum_by_index(xs):
    best = max(range(len(xs)), key=lambda i: xs[i])
    return xs[best] * xs[best]


@programs(V)
def extremum_of_range_by_getitem(x):
    return x[max(range(4), key=x.__getitem__)] ** 2


@programs((1.5, 2.0, -1.0))
def sum_with_start(t):
    return sum(t, start=t[0] * t[1]) * sum(t[1:], 2.0)


@programs(V)
def sum_of_generators(x):
    return sum(v * w for v, w in zip(x, x[1:])) + sum(i * v for i, v in enumerate(x))


@programs(V, M[:2])
def sum_of_rows(x, m):
    return sum(row @ row for row in m) * sum(x)


@programs([V, V * 2.0])
def sum_of_arrays(xs):
    return np.sum(sum(xs) ** 2)


@programs(POINTS)
def sum_of_tuples(points):
    return sum(a * b for a, b in points) + sum(sum(p) ** 2 for p in points)


@programs([0.5, -1.5, 2.0])
def any_and_all(xs):
    factor = 2.0 if any(x > 1.0 for x in xs) else 3.0
    if all(x > -1.0 for x in xs) or all([]):
        factor = factor + 1.0
    return factor * xs[0] * (4.0 if any([x > 5.0 for x in xs]) else 1.0)


@programs(V)
def any_of_array_test(x):
    return np.sum(x * x) if any(x > 1.0) else np.sum(x)


@programs(V)
def any_of_map(x):
    return x[0] * 2.0 if any(map(lambda v: v > 1.0, x)) else x[1]


@programs(1.5, 2.0)
def extremum_of_ints_and_floats(x, y):
    return max(1, x) * min(x, 0, y * 3.0 - 7) + min(4, x * y) * max([1, x]) + max((y, 1))


@programs(-1.5)
def clipped_to_ints(x):
    return min(x, 0) * x + max(0, min(1, x)) + max(-3, x) ** 2


@programs([[0.5, -1.5], [2.0]])
def sum_of_lists(xs):
    ys = sum(xs, [])
    return sum(y * i for i, y in enumerate(ys)) * len(sum(([x] for x in ys), []))


@programs([0.5, -1.5, 2.0])
def without_a_key(xs):
    return max(xs, key=None) + sorted(xs, key=None)[0] * 3.0


# -- map, filter, zip, enumerate, reversed, sorted -------------------------------------------------


@programs(V)
def map_of_several(x):
    return sum(map(lambda a, b: a * b, x, x[1:]))


@programs(M)
def map_over_rows(m):
    return sum(map(np.linalg.norm, m))


@programs((0.5, 1.5))
def map_unpacked(t):
    a, b = map(math.sin, t)
    return a * b


@programs([0.5, -1.5, 2.0])
def map_in_loop(xs):
    total = 0.0
    for i, v in enumerate(map(lambda x: x * x, xs)):
        total = total + i * v
    return total


@programs(TABLE)
def map_over_values(d):
    return sum(map(lambda v: v * v, d.values()))


@programs([0.5, -1.5, 2.0])
def filter_by_lambda(xs):
    return sum(v * v for v in filter(lambda v: v > 0.0, xs))


@programs([0.5, -1.5, 2.0], [1, 0, 2])
def filter_of_none(xs, ns):
    return sum(list(filter(None, xs))) * sum(xs[n] for n in filter(None, ns))


@programs(V)
def filter_and_map(x):
    return math.prod(map(abs, filter(lambda v: abs(v) > 0.3, x)))


@programs(V)
def zip_of_three(x):
    total = 0.0
    for a, b, i in zip(x, reversed(x), range(3)):
        total += a * b * i
    return total


@programs(V, [1.0, 2.0, 3.0, 4.0])
def zip_strict(x, ys):
    return sum(a * b for a, b in zip(x, ys, strict=True))


@programs(POINTS)
def zip_transposed(points):
    xs, ys = zip(*points)
    return sum(xs) * max(ys)


@programs([0.5, 1.5], [2.0, 3.0])
def zip_transposed_pairs(xs, ys):
    pairs = list(zip(xs, ys))
    first, second = zip(*pairs)
    return sum(first) * sum(second) * pairs[1][0]


@programs([0.5, 1.5], [2.0, 3.0])
def dict_of_zip(xs, ys):
    d = dict(zip("ab", xs))
    e = dict(zip(("u", "v"), ys))
    return d["a"] * e["v"] + d["b"] * d["b"]


@programs(V)
def enumerate_with_start(x):
    total = 0.0
    for i, v in enumerate(x, start=1):
        total += v**i
    for i, v in enumerate(x, 2):
        total += i * v
    return total


@programs(TABLE)
def enumerate_items(d):
    total = 0.0
    for i, (key, value) in enumerate(d.items(), start=1):
        total += i * value * value * len(key)
    return total


@programs(V)
def enumerate_zip(x):
    return sum(i * a * b for i, (a, b) in enumerate(zip(x, x[1:])))


@programs(V)
def reversed_everything(x):
    total = 0.0
    for i in reversed(range(4)):
        total = total * 0.5 + x[i] * x[i]
    for v in reversed(list(x)):
        total = total * 0.5 + v
    for v in reversed((x[0], x[1])):
        total = total * 0.5 + v
    return total


@programs(TABLE)
def reversed_dict(d):
    total = 0.0
    for key in reversed(d):
        total = total * 0.5 + d[key] ** 2
    for value in reversed(d.values()):
        total = total * 0.5 + value
    return total


@programs(V)
def reversed_enumerate(x):
    total = 0.0
    for i, v in reversed(list(enumerate(x))):
        total = total * 0.5 + i * v
    return total


@programs([0.5, -1.5, 2.0])
def sorted_by_key(xs):
    a, b, c = sorted(xs, key=abs)
    return a + 2.0 * b + 3.0 * c * c


@programs(V)
def sorted_by_key_reversed(x):
    return sum(i * v * v for i, v in enumerate(sorted(x, key=lambda v: v * v, reverse=True)))


@programs(V)
def sorted_of_generator(x):
    return sum(i * v for i, v in enumerate(sorted((v * v for v in x), reverse=True)))


@programs(POINTS)
def sorted_pairs_by_key(points):
    total = 0.0
    for x, y in sorted(points, key=lambda p: p[1]):
        total = total * 0.5 + x * y
    return total


@programs(TABLE)
def sorted_dict(d):
    total = 0.0
    for key in sorted(d):
        total = total * 0.5 + d[key] ** 2
    for key, value in sorted(d.items(), key=lambda entry: -entry[1]):
        total = total * 0.5 + value * len(key)
    return total + sorted(d.values())[0]


@programs(TABLE)
def sorted_by_get(d):
    return d[sorted(d, key=d.get)[0]] ** 2 + sum(d[k] * i for i, k in enumerate(sorted(d.keys())))


@programs([0.5, -1.5, 2.0])
def sorted_order(xs):
    order = sorted(range(len(xs)), key=xs.__getitem__)
    return sum(i * xs[k] for i, k in enumerate(order))


@programs([0.5, -1.5, 2.0])
def list_and_tuple_of_iterators(xs):
    ys = list(map(math.exp, xs))
    zs = tuple(v * v for v in xs)
    return ys[0] * zs[-1] + len(ys) * sum(list(reversed(xs))[:2])


@programs(V)
def iterated_slices(x):
    total = 0.0
    for v in x[1:]:
        total += v * v
    for row in x.reshape(2, 2):
        for v in row:
            total = total * v
    return total


@programs((1.0, 2.0, 3.0))
def starred_map(t):
    return math.hypot(*map(math.sin, t)) + max(*[v * v for v in t])


# -- numbers ---------------------------------------------------------------------------------------


@programs(7.3, 2.0)
def divmod_unpacked(x, y):
    q, r = divmod(x, y)
    return q * r * r


@programs(1.7)
def rounded(x):
    return x * round(x) + x * round(x * 10.0, 1) + math.floor(x) * x + math.ceil(x) + math.trunc(x)


@programs(1.7)
def converted(x):
    return float(x) * int(x) + x * bool(x) + abs(-x) + float("2.5") * x


@programs(1.7, 0.5)
def complex_parts(x, y):
    z = complex(x, y) ** 2
    return z.real * abs(z) + z.imag


@programs(1.7, 2.5)
def power_of(x, y):
    return pow(x, y) + pow(x, 2) * pow(2, y)


@programs(V)
def math_of_sequences(x):
    xs = [v * v + 0.5 for v in x]
    return (
        math.fsum(xs) * math.prod(xs) + math.hypot(*xs) + math.dist(xs, [0.0, 1.0, 2.0, 3.0])
        + math.fsum(v * v for v in x) + math.prod(xs, start=x[0])
    )


@programs(V)
def sums_of_products(x):
    return math.prod(v + 3.0 for v in x) + math.fsum(map(math.sin, x)) + math.dist(x, x[::-1])


# -- iter and next ---------------------------------------------------------------------------------


@programs([0.5, -1.5, 2.0])
def loop_over_iter(xs):
    total = 0.0
    for v in iter(xs):
        total += v * v
    return total


@programs([0.5, -1.5, 2.0])
def next_of_generator(xs):
    return next(v * v for v in xs if v < 0.0) + next((v for v in xs if v > 9.0), 1.5 * xs[0])


@programs([0.5, -1.5, 2.0])
def next_of_iter(xs):
    return next(iter(xs)) ** 2


@programs(TABLE)
def next_of_dict(d):
    return next(iter(d.values())) * d[next(iter(d))]


@pytest.mark.parametrize("case", programs, ids=str)
def test_derivative(case):
    programs.check(case)
