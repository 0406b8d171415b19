"""Floats that are one object in two places, and equal floats that are two."""

from __future__ import annotations

import copy
import math
import operator

import numpy as np

from tests.record.lost import Program

HALF = 0.7
TABLE = {"half": HALF, "other": 3.0}
ONE, ZERO = 1.0, 0.0


def one_object_twice(x, y):
    return x * x * y


def argument_that_is_a_global(x):
    return x * HALF + TABLE["half"]


def argument_that_is_a_default(x, k=HALF):
    return x * k * k


def argument_that_is_one(x):
    return x * ONE + 1.0 * ONE + math.pow(x, ONE)


def argument_that_is_zero(x):
    y = 0.0
    for k in (ZERO, 1.0):
        y += x * 3.0 + k * ZERO
    return y + ZERO


def plus_returns_the_object_itself(x):
    y = +x
    z = float(y)
    w = z.conjugate() + copy.copy(z.real)
    return y is x and z is x and w * z


def chosen_by_is(x, y):
    low = min(x, y)
    return 3.0 * low if low is x else 5.0 * low


def larger_than_a_constant(x):
    largest = max(x, HALF + 1.0)
    return largest * x + largest


def clipped_to_a_shared_bound(x):
    bound = 0.5
    y = min(x, bound)
    return y * bound + x


def or_and_and(x):
    y = 0.0 or x
    z = x and y * 2.0
    return (y and z) * y


def equal_floats_of_two_origins(x):
    y = 0.7 * 1.0
    kept = {x: "x"}
    return 2.0 * y + 3.0 * x if y in kept else x


def set_keeps_the_first_of_equals(x):
    unique = {0.35 * 2.0, x}
    return sum(unique) if len(unique) == 1 else x * 2.0


def dict_keeps_the_first_key(x):
    table = {x * 1.0: 1.0}
    table[0.7] = 5.0
    (key, value), = table.items()
    return key * value


def dict_found_by_an_equal_key(x):
    table = {0.7: x * x}
    return table[x]


def index_of_an_equal(x):
    row = [0.1, 0.7, x]
    return row[row.index(x)] + row[2] * 2.0


def removed_by_equality(x):
    row = [0.7, x, 2.0]
    row.remove(x)
    return row[0] * 3.0 + row[1]


def small_numbers(x):
    n = int(x * 10.0)
    total = 0.0
    for k in range(n):
        total += x * k
    return total + (x > 0) + True * x


def identity_of_a_result(x):
    y = x * 1.0
    return 2.0 * x if y is x else 3.0 * x


def memo_by_id(x):
    memo = {}

    def squared(v):
        if id(v) not in memo:
            memo[id(v)] = (v, v * v)
        return memo[id(v)][1]

    return squared(x) + squared(x * 2.0) + squared(x)


def temporaries_that_share_an_address(x):
    total = 0.0
    for k in range(50):
        total += float(k) * 0.5
        total += x * float(k)
        float(k) * 2.0
    return total


def arrays_that_share_an_address(a):
    total = 0.0
    for k in range(20):
        t = a * float(k)
        total += t[0]
        del t
        z = np.zeros(a.shape)
        z += 1.0
        total += np.sum(z * a)
        del z
    return total


def empty_arrays_between(a):
    y = a * a
    nothing = y[3:3] * 2.0
    also = np.empty(0) + np.sum(nothing)
    return np.sum(y) + np.sum(also) + np.sum(np.concatenate([nothing, y[:1], also]))


def swapped(x, y):
    x, y = y, x
    x, y = y * 2.0, x
    return x * y + y


def operators_as_functions(x):
    y = operator.add(x, x)
    y = operator.iadd(y, x)
    y = operator.pos(y)
    return operator.truediv(y, operator.neg(x)) + operator.pow(x, 3)


def dunder_calls(x):
    y = x.__mul__(2.0).__radd__(1.0)
    return float.__mul__(y, x) + x.__neg__() + float.__pow__(x, 2.0) + x.__abs__()


def parts_of_a_float(x):
    mantissa, exponent = math.frexp(x)
    part, whole = math.modf(x * 3.0)
    return math.ldexp(mantissa, exponent) + part + whole + math.copysign(x, -1.0)


def ratio_of_a_float(x):
    top, bottom = x.as_integer_ratio()
    return top / bottom


def unboxed_and_boxed(a):
    return float(a[0]) * a[1].item() + a.tolist()[2] * a.item(0) + a.item((1,))


def scalar_of_numpy(x):
    y = np.float64(x)
    z = np.asarray(y)
    return float(z) * y[()] + y.item() + float(y.T) + y[..., None][0]


def sum_of_one(x):
    return sum([x]) + math.fsum([x]) + math.prod([x]) + max([x]) + min((x,)) + sum([], x)


def one_list_in_two_places(v):
    rows = [v] * 3
    rows[0][0] = rows[1][0] * 2.0
    return rows[2][0] * rows[1][1]


PAIR = np.array([0.3, 0.5, 0.7])
PROGRAMS = [
    Program("one object as two arguments", one_object_twice, (HALF, HALF),
            lambda x, y: (2.0 * x * y, x * x)),
    Program("an argument that is a global", argument_that_is_a_global, (HALF,), HALF),
    Program("an argument that is a default", argument_that_is_a_default, (HALF,), HALF * HALF),
    Program("an argument that is the global 1.0", argument_that_is_one, (ONE,), 2.0),
    Program("an argument that is the global 0.0", argument_that_is_zero, (ZERO,), 6.0),
    Program("plus and float return the object", plus_returns_the_object_itself, (0.7,),
            lambda x: 4.0 * x),
    Program("is on a chosen float", chosen_by_is, (0.7, 0.9), (3.0, 0.0)),
    Program("max with a constant", larger_than_a_constant, (0.7,), HALF + 1.0),
    Program("min with a shared bound", clipped_to_a_shared_bound, (0.7,), 1.0),
    Program("or and and", or_and_and, (0.7,), lambda x: 4.0 * x),
    Program("equal floats of two origins", equal_floats_of_two_origins, (0.7,), 3.0,
            jumps=True),
    Program("a set of equal floats", set_keeps_the_first_of_equals, (0.7,), 0.0,
            jumps=True, no_derivative=True),
    Program("a dict keeps its first key", dict_keeps_the_first_key, (0.7,), 5.0,
            jumps=True, no_derivative=True),
    Program("a dict found by an equal key", dict_found_by_an_equal_key, (0.7,),
            lambda x: 2.0 * x, jumps=True, no_derivative=True),
    Program("list.index by equality", index_of_an_equal, (0.7,), 2.0, jumps=True, no_derivative=True),
    Program("list.remove by equality", removed_by_equality, (0.7,), 3.0, jumps=True, no_derivative=True),
    Program("small whole numbers", small_numbers, (0.75,), 22.0),
    Program("is on a product with 1", identity_of_a_result, (0.7,), 3.0),
    Program("a memo by id", memo_by_id, (0.7,), lambda x: 12.0 * x),
    Program("floats at one address", temporaries_that_share_an_address, (0.7,), 1225.0),
    Program("arrays at one address", arrays_that_share_an_address, (PAIR,),
            np.array([210.0, 20.0, 20.0])),
    Program("empty arrays", empty_arrays_between, (PAIR,), lambda a: a * [4.0, 2.0, 2.0]),
    Program("names that change places", swapped, (0.7, 0.3),
            lambda x, y: (2.0 * y, 2.0 * x + 1.0)),
    Program("operators as functions", operators_as_functions, (0.7,), lambda x: 3.0 * x * x),
    Program("methods of float called by name", dunder_calls, (0.7,), lambda x: 1.0 + 6.0 * x),
    Program("frexp, modf and copysign", parts_of_a_float, (0.7,), 3.0),
    Program("as_integer_ratio", ratio_of_a_float, (0.7,), 1.0, no_derivative=True),
    Program("items and lists of an array", unboxed_and_boxed, (PAIR,),
            lambda a: np.array([a[1] + a[2], a[0] + 1.0, a[0]])),
    Program("scalars of NumPy", scalar_of_numpy, (0.7,), lambda x: 2.0 * x + 3.0),
    Program("sums of one float", sum_of_one, (0.7,), 6.0),
    Program("one list in two places", one_list_in_two_places, ([0.7, 0.3],),
            ([0.6, 1.4],)),
]
