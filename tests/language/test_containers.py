"""Lists, tuples, dicts: displays, comprehensions, subscripts."""

import math

import numpy as np
import pytest

from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0, 0.25])


@programs(1.5)
def list_display(x):
    xs = [x, x * x, 3.0]
    return xs[0] * xs[-1] + xs[1]


@programs(1.5)
def tuple_display(x):
    t = (x, (x * x, 2.0), [x])
    return t[0] * t[1][0] + t[2][0] * t[1][1]


@programs(1.5)
def dict_display(x):
    d = {"a": x, "b": {"c": x * x}, 3: 2.0}
    return d["a"] * d["b"]["c"] + d[3]


@programs(1.5)
def dict_comprehension_of_equal_keys(x):
    d = {key: x * (i + 1) for i, key in enumerate("aab")}
    return d["a"] * d["b"]


@programs(1.5)
def dict_merge_display(x):
    d = {"a": x, "b": 1.0}
    e = {**d, "b": x * x, **{"c": 3.0}}
    return e["a"] * e["b"] * e["c"]


@programs(1.5)
def dict_call(x):
    d = dict(a=x, b=2.0)
    return d["a"] * d["a"] * d["b"]


@programs(1.5)
def dict_merge_operator(x):
    d = {"a": x, "b": 1.0} | {"b": x * x}
    return d["a"] * d["b"]


@programs(1.5, 2.5)
def star_displays(x, y):
    pair = (x, y)
    xs = [*pair, x * y, *[1.0, y]]
    t = (*xs, *pair)
    return sum(xs) * t[-1]


@programs([0.5, 1.5, 2.5])
def star_of_list_argument(xs):
    ys = [1.0, *xs, xs[0]]
    return sum(ys) * ys[2]


@programs(V)
def list_comprehension(x):
    return sum([v * v for v in x])


@programs(V)
def comprehension_with_if(x):
    return sum([v * v for v in x if v > 0.0 if v < 1.0])


@programs(V)
def nested_comprehension(x):
    return sum([a * b for a in x for b in x if b > a])


@programs(V)
def comprehension_of_comprehensions(x):
    rows = [[a * b for b in x] for a in x]
    return rows[0][1] * rows[2][3] + sum(rows[1])


@programs(V, [1.0, 2.0, 3.0, 4.0])
def comprehension_over_zip(x, y):
    return sum([a * b for a, b in zip(x, y)]) + sum([i * a for i, a in enumerate(x)])


@programs(V)
def comprehension_with_ternary(x):
    return sum([v * v if v > 0.0 else -v for v in x])


@programs(V)
def generator_arguments(x):
    return sum(v * v for v in x) + max(v * 2.0 for v in x) + math.fsum(v**3 for v in x)


@programs(V)
def dict_comprehension(x):
    d = {i: v * v for i, v in enumerate(x)}
    return d[0] * d[2]


@programs({"a": 0.5, "b": 1.5})
def dict_comprehension_over_items(table):
    squares = {k: v * v for k, v in table.items()}
    return squares["a"] * squares["b"] + sum(squares.values())


@programs(1.5)
def comprehension_over_display(x):
    return sum([k * x for k in (1.0, x, 3.0)]) + sum([f(x) for f in (math.sin, math.cos)])


@programs(1.5)
def comprehension_scope(x):
    v = 10.0
    ys = [v * x for v in (1.0, 2.0)]
    return ys[0] * ys[1] * v


@programs(V)
def comprehension_reads_outer(x):
    scale = np.sum(x)
    return sum([v * scale for v in x])


@programs(V)
def empty_comprehension(x):
    ys = [v for v in x if v > 100.0]
    return sum(ys) + x[0] * x[0]


@programs([0.5, 1.5, 2.5])
def list_slices(xs):
    return sum(xs[1:]) * sum(xs[:-1]) + sum(xs[::2]) * xs[::-1][0]


@programs((0.5, 1.5, 2.5), 1)
def tuple_dynamic_index(t, i):
    return t[i] * t[i + 1] + t[-i] + sum(t[1:])


@programs([0.5, 1.5, 2.5], 2)
def list_dynamic_index(xs, i):
    return xs[i] * xs[i - 1] * xs[-1]


@programs({"a": 0.5, "b": V}, "a")
def dict_dynamic_key(d, k):
    return d[k] * np.sum(d["b"]) * d[k]


@programs({"a": 0.5, "b": 2.5}, "b")
def dict_key_of_floats(d, k):
    return d[k] * d[k] * d["a"]


@programs([[0.5, 1.5], [2.5, 3.5]])
def lists_of_lists(m):
    return m[0][1] * m[1][0] + sum(m[1]) + m[-1][-1] ** 2


@programs({"w": V, "b": [0.5, 1.5]})
def dict_of_containers(p):
    return np.sum(p["w"] * p["b"][0]) + p["b"][1] ** 2


@programs(1.5)
def dict_get_and_in(x):
    d = {"a": x}
    extra = d.get("z", x * x)
    return d.get("a") * extra if "a" in d and "q" not in d else 0.0


@programs([0.5, 1.5])
def list_arithmetic(xs):
    ys = xs + [2.0] + xs
    zs = ys * 2
    return sum(zs) * zs[3] + len(zs)


@programs((0.5, 1.5))
def tuple_arithmetic(t):
    u = t + (t[0] * 2.0,) + t * 2
    return sum(u) * u[-1]


@programs([3.0, 1.0, 2.0])
def sorted_and_reversed(xs):
    ys = sorted(xs)
    zs = list(reversed(ys))
    return ys[0] * 2.0 + zs[0] * ys[1] + sorted(xs, reverse=True)[0]


@programs([3.0, 1.0, 2.0])
def builtins_on_lists(xs):
    return sum(xs, 1.0) * max(xs) - min(xs) + max(xs[0], 2.5) + len(xs) + sum(tuple(xs))


@programs([0.5, 1.5], [2.5, 3.5])
def list_of_zip(xs, ys):
    pairs = list(zip(xs, ys))
    return pairs[0][0] * pairs[1][1]


@programs([0.5, 1.5])
def map_and_filter(xs):
    return sum(map(lambda v: v * v, xs)) + sum(filter(lambda v: v > 1.0, xs))


@programs(V)
def array_from_list(x):
    y = np.array([x[0], x[1] * x[2], 3.0])
    z = np.array([[x[0], 1.0], [x[3], x[0]]])
    return np.sum(y * y) * np.sum(z @ z)


@programs(V)
def array_from_comprehension(x):
    return np.sum(np.array([v * v for v in x]) * x)


@programs(V)
def stack_of_list(x):
    return np.sum(np.stack([x, x * x, np.sin(x)]) ** 2) + np.sum(np.concatenate([x, x[:2]]) ** 3)


@programs([0.5, 1.5])
def array_of_list_argument(xs):
    a = np.array(xs)
    return np.sum(a * a) * a[0]


@programs(V)
def list_of_array(x):
    xs = list(x)
    return xs[0] * xs[1] + len(xs)


@programs(V)
def tolist(x):
    xs = x.tolist()
    return xs[0] * xs[1]


@programs(V)
def list_equality_and_truth(x):
    xs = [x[0]]
    if xs and not []:
        return x[1] * x[1]
    return x[0]


@programs(2.0)
def any_all(x):
    if any(v > x for v in (1.0, 3.0)) and all([x > 0.0, x < 5.0]):
        return x * x
    return x


@programs((0.5, 1.5), True)
@programs((0.5, 1.5), False)
def tuple_read_before_and_in_branch(p, flag):
    a = p[0] * p[0]
    if flag:
        a = a + p[1] * a * p[0]
    return a * p[0] + p[1]


@programs((0.5, 1.5))
def tuple_read_in_loop_and_after(p):
    a = p[0]
    for _ in range(3):
        a = a * p[1] + p[0]
    return a * p[0] * p[1]


@programs({"a": 0.5, "b": 1.5})
def dict_read_in_loop_and_branch(d):
    a = 1.0
    for i in range(3):
        if i > 0:
            a = a * d["a"] + d["b"]
        a = a + d["b"]
    return a * d["a"]


@programs([0.5, 1.5])
def aliased_containers(xs):
    ys = xs
    zs = [ys, xs]
    return zs[0][0] * zs[1][0] + ys[1]


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)
