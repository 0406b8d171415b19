"""C code that calls Python back: the derivative passes through what the callback computes."""

from __future__ import annotations

import bisect
import collections
import functools
import heapq
import itertools
import math
import operator
import re

import numpy as np
import scipy.integrate
import scipy.optimize
import scipy.sparse.linalg

from tests.record.lost import Program


def sorted_with_a_key_that_collects(x):
    seen = []

    def key(k):
        seen.append(x * k)
        return -k

    order = sorted([1.0, 2.0, 3.0], key=key)
    return sum(seen) * order[0]


def list_sort_with_a_key_that_writes(a):
    y = a * 1.0

    def key(k):
        y[k] = y[k] * y[k]
        return k

    [2, 0, 1].sort(key=key)
    order = [2, 0, 1]
    order.sort(key=key)
    return np.sum(y)


def sorted_by_cmp_to_key(x):
    met = []

    def compare(p, q):
        met.append(p * q * x)
        return (p > q) - (p < q)

    low, high = sorted([2.0, 1.0], key=functools.cmp_to_key(compare))
    return met[0] * high + low


def map_over_floats(x, y):
    return sum(map(lambda p, q: p * q + math.sin(p), [x, y], [y, 3.0]))


def reduce_with_a_closure(x):
    return functools.reduce(lambda total, k: total * x + k, [1.0, 2.0, 3.0], 0.0)


def key_of_max(x):
    return max([x, 2.0 * x, -x], key=lambda v: -v * v) * x


def key_of_min_with_memory(x):
    memory = {}

    def key(v):
        memory[v] = v * x
        return v

    low = min(1.0, 2.0, key=key)
    return memory[low] + memory[2.0]


def vectorised(a):
    return np.sum(np.vectorize(lambda v: math.exp(v) if v > 0.4 else v * v)(a))


def vectorised_over_a_constant(x):
    return np.sum(np.vectorize(lambda k: k * x * x)(np.arange(3.0)))


def frompyfunc_then_floats(a):
    squared = np.frompyfunc(lambda v: v * v, 1, 1)
    return np.sum(squared(a).astype(float))


def along_an_axis(a):
    rows = np.outer(a, np.array([1.0, 2.0]))
    return np.sum(np.apply_along_axis(lambda row: row * row[0], 0, rows))


def along_an_axis_that_captures(x):
    return np.sum(np.apply_along_axis(lambda row: row * x, 0, np.ones((2, 3))))


def over_axes(a):
    return np.sum(np.apply_over_axes(lambda v, axis: np.max(v * v, axis), np.outer(a, a), [0, 1]))


def fromfunction_that_captures(x):
    return np.sum(np.fromfunction(lambda i, j: x ** (i + j), (2, 2)))


def piecewise_callables(a):
    return np.sum(np.piecewise(a, [a < 0.4, a >= 0.4], [lambda v: v * v, lambda v: 3.0 * v]))


def substitution_in_text(x):
    products = []

    def found(match):
        products.append(x * len(match.group()))
        return ""

    re.sub("a+", found, "a aa aaa")
    return sum(products)


def iter_with_a_sentinel(x):
    state = [x, 0.0]

    def step():
        state[0] *= 0.5
        state[1] += state[0]
        return state[0] < 0.1

    for _ in iter(step, True):
        pass
    return state[1]


def default_factory(x):
    table = collections.defaultdict(lambda: x * x)
    table["a"] += 1.0
    return table["a"] * table["b"]


def filtered_by_what_it_keeps(x):
    total = [0.0]

    def keep(k):
        total[0] += k * x
        return k > 1

    kept = list(filter(keep, range(4)))
    return total[0] * len(kept)


def takewhile_and_dropwhile(x):
    low = list(itertools.takewhile(lambda v: v < 2.0, [x, 2.0 * x, 4.0 * x]))
    high = list(itertools.dropwhile(lambda v: v < 2.0, [x, 2.0 * x, 4.0 * x]))
    return math.prod(low) + sum(high)


def accumulated_by_a_function(x):
    return sum(itertools.accumulate([x, 1.0, 2.0], lambda p, q: p * x + q))


def starmapped(x):
    return sum(itertools.starmap(lambda p, q: p ** q, [(x, 2), (x, 3)]))


def groups_by_a_key(x):
    sums = []
    for _, group in itertools.groupby([x, x * x, 2.0, 3.0 * x], key=lambda v: v < 1.0):
        sums.append(sum(group))
    return math.prod(sums)


def nlargest_with_a_key(x):
    kept = []
    best = heapq.nlargest(1, [0.5, 2.0], key=lambda v: kept.append(v * x) or v)
    return best[0] * sum(kept)


def insort_with_a_key(x):
    row = [0.1, 5.0]
    bisect.insort(row, x, key=lambda v: v * v)
    return row[1] * row[2]


def root_of_a_captured_equation(x):
    return scipy.optimize.brentq(lambda t: t ** 3 - x, 0.0, 2.0, xtol=1e-14, rtol=1e-14)


def root_by_newton(x):
    return scipy.optimize.newton(lambda t: math.exp(t) - x, 0.1, tol=1e-14)


def integral_of_a_captured_integrand(x):
    return scipy.integrate.quad(lambda t: math.exp(-x * t), 0.0, 1.0)[0]


def integral_with_args(x):
    return scipy.integrate.quad(lambda t, k: k * k * t, 0.0, 2.0, args=(x,))[0]


def integral_whose_integrand_collects(x):
    seen = []
    scipy.integrate.fixed_quad(lambda t: seen.append(x * t[0]) or t, 0.0, 1.0, n=2)
    return seen[0] * 2.0


def solution_of_an_ode(x):
    found = scipy.integrate.solve_ivp(
        lambda t, y: -x * y, (0.0, 1.0), [1.0], rtol=1e-10, atol=1e-12)
    return found.y[0, -1]


def iterative_linear_solution(x):
    operator_ = scipy.sparse.linalg.LinearOperator(
        (2, 2), matvec=lambda v: np.array([x * v[0], 4.0 * v[1]]), dtype=float)
    return scipy.sparse.linalg.cg(operator_, np.array([1.0, 2.0]), rtol=1e-12)[0][0]


def fitted_minimum(x):
    found = scipy.optimize.minimize_scalar(lambda t: (t - x * x) ** 2, (0.0, 1.0), tol=1e-12)
    return found.x


def callback_of_a_minimiser(x):
    seen = []
    scipy.optimize.minimize(lambda t: (t[0] - 2.0) ** 2, np.array([0.0]),
                            callback=lambda xk: seen.append(x * x))
    return seen[-1]


def attribute_getters(x):
    class Point:
        pass

    p = Point()
    p.a, p.b = x * x, 3.0
    first, second = operator.attrgetter("a", "b")(p)
    return operator.mul(first, operator.itemgetter(1)([second, x]))


def method_caller(x):
    return operator.methodcaller("__mul__", 2.0)(x) + operator.methodcaller("__pow__", 2)(x)


def partial_of_partial(x):
    def f(a, b, *, c):
        return a * b + c

    g = functools.partial(functools.partial(f, x), c=x * x)
    return g(3.0) + next(map(g, [x]))


def decay(x):
    return -math.exp(-x)


LEVELS = np.array([0.3, 0.5, 0.7])
PROGRAMS = [
    Program("a key of sorted collects products", sorted_with_a_key_that_collects, (0.7,), 18.0),
    Program("a key of list.sort writes", list_sort_with_a_key_that_writes, (LEVELS,),
            lambda a: 4.0 * a ** 3),
    Program("cmp_to_key collects", sorted_by_cmp_to_key, (0.7,), 4.0),
    Program("map over two lists", map_over_floats, (0.7, 0.4),
            lambda x, y: (y + math.cos(x), x + 3.0 + math.cos(y))),
    Program("reduce with a closure", reduce_with_a_closure, (0.7,), lambda x: 2.0 * x + 2.0),
    Program("max with a key", key_of_max, (0.7,), lambda x: 2.0 * x),
    Program("min with a key that remembers", key_of_min_with_memory, (0.7,), 3.0),
    Program("np.vectorize", vectorised, (LEVELS,),
            lambda a: np.where(a > 0.4, np.exp(a), 2.0 * a)),
    Program("np.vectorize of a captured float", vectorised_over_a_constant, (0.7,),
            lambda x: 6.0 * x),
    Program("np.frompyfunc", frompyfunc_then_floats, (LEVELS,), lambda a: 2.0 * a),
    Program("apply_along_axis", along_an_axis, (LEVELS,)),
    Program("apply_along_axis of a captured float", along_an_axis_that_captures, (0.7,), 6.0),
    Program("apply_over_axes", over_axes, (LEVELS,), lambda a: np.array([0.0, 0.0, 8 * a[2] ** 7])),
    Program("fromfunction of a captured float", fromfunction_that_captures, (0.7,),
            lambda x: 2.0 + 2.0 * x),
    Program("piecewise with functions", piecewise_callables, (LEVELS,),
            lambda a: np.where(a < 0.4, 2.0 * a, 3.0)),
    Program("re.sub with a function", substitution_in_text, (0.7,), 6.0),
    Program("iter with a sentinel", iter_with_a_sentinel, (0.7,), 0.875),
    Program("a factory of a defaultdict", default_factory, (0.7,),
            lambda x: 4.0 * x ** 3 + 2.0 * x),
    Program("a predicate of filter adds", filtered_by_what_it_keeps, (0.7,), 12.0),
    Program("takewhile and dropwhile", takewhile_and_dropwhile, (0.7,),
            lambda x: 4.0 * x + 4.0),
    Program("accumulate with a function", accumulated_by_a_function, (0.7,),
            lambda x: 1.0 + 2.0 * x + 3.0 * x ** 2 + 1.0),
    Program("starmap", starmapped, (0.7,), lambda x: 2.0 * x + 3.0 * x * x),
    Program("groupby", groups_by_a_key, (0.7,),
            lambda x: (1.0 + 2.0 * x) * (2.0 + 3.0 * x) + 3.0 * (x + x * x)),
    Program("nlargest with a key", nlargest_with_a_key, (0.7,), 5.0),
    Program("insort with a key", insort_with_a_key, (0.7,), 5.0),
    Program("brentq of a captured equation", root_of_a_captured_equation, (0.7,),
            lambda x: x ** (-2.0 / 3.0) / 3.0),
    Program("newton of a captured equation", root_by_newton, (1.3,), lambda x: 1.0 / x),
    Program("quad of a captured integrand", integral_of_a_captured_integrand, (0.7,),
            lambda x: (math.exp(-x) * (x + 1.0) - 1.0) / x ** 2),
    Program("quad with args", integral_with_args, (0.7,), lambda x: 4.0 * x),
    Program("an integrand collects", integral_whose_integrand_collects, (0.7,),
            lambda x: 1.0 - 1.0 / math.sqrt(3.0)),
    Program("solve_ivp of a captured rate", solution_of_an_ode, (0.7,), decay, tolerance=1e-5,
            step=1e-2),
    Program("cg of a captured operator", iterative_linear_solution, (0.7,),
            lambda x: -1.0 / x ** 2),
    Program("minimize_scalar of a captured goal", fitted_minimum, (0.7,), lambda x: 2.0 * x,
            step=1e-2, tolerance=1e-5),
    Program("a callback of minimize", callback_of_a_minimiser, (0.7,), lambda x: 2.0 * x),
    Program("attrgetter and itemgetter", attribute_getters, (0.7,), lambda x: 3.0 * x * x),
    Program("methodcaller", method_caller, (0.7,), lambda x: 2.0 + 2.0 * x),
    Program("partial of partial", partial_of_partial, (0.7,), lambda x: 3.0 + 6.0 * x),
]
