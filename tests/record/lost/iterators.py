"""Iterators and generators that C code consumes, that are shared, sent into and closed."""

from __future__ import annotations

import collections
import contextlib
import itertools
import math
import operator

import numpy as np

from tests.record.lost import Program


def powers(x, n):
    y = 1.0
    for _ in range(n):
        y = y * x
        yield y


def generator_into_sum(x):
    return sum(powers(x, 3)) + sum(v * x for v in powers(x, 2))


def generator_into_max_and_prod(x):
    return max(powers(x, 3)) + math.prod(powers(x, 2)) + min(v + 1.0 for v in powers(x, 2))


def generator_into_fsum(x):
    return math.fsum(powers(x, 3))


def generator_into_fromiter(x):
    return np.sum(np.fromiter(powers(x, 3), float, count=3) ** 2)


def generator_into_containers(x):
    row = list(powers(x, 2)) + [*powers(x, 1)]
    table = dict(enumerate(powers(x, 2)))
    both = set(powers(x, 2))
    return sum(row) + table[1] + sum(both) + collections.deque(powers(x, 3), maxlen=1)[0]


def generator_into_extend(x):
    row = [1.0]
    row.extend(powers(x, 2))
    row += powers(x, 1)
    row[1:1] = powers(x, 1)
    return math.prod(row)


def generator_as_star_arguments(x):
    return math.hypot(*powers(x, 2)) + (lambda *a, **k: a[1] * k["z"])(*powers(x, 2), z=x)


def sent_into(x):
    def running():
        total = 0.0
        while True:
            got = yield total * x
            total += got

    averager = running()
    next(averager)
    averager.send(x)
    return averager.send(2.0)


def thrown_into(x):
    def guarded():
        y = x
        while True:
            try:
                yield y
            except ValueError as error:
                y = y * error.args[0]

    gen = guarded()
    first = next(gen)
    second = gen.throw(ValueError(x * 2.0))
    return first + second


def closed(x):
    out = []

    def source():
        try:
            yield x * x
            yield 1.0
        finally:
            out.append(x * 3.0)

    gen = source()
    first = next(gen)
    gen.close()
    return first * out[0]


def returned_by_a_generator(x):
    def inner():
        yield x
        return x * x * x

    def outer():
        found = yield from inner()
        yield found * 2.0

    *_, last = outer()
    walked = inner()
    next(walked)
    try:
        next(walked)
    except StopIteration as stop:
        last += stop.value
    return last


def shared_iterator(a):
    values = iter(a * a)
    return sum(p * q for p, q in zip(values, values, strict=True))


def tee_and_islice(x):
    left, right = itertools.tee(powers(x, 4))
    return sum(itertools.islice(left, 1, 3)) + sum(itertools.islice(right, 2))


def chained(a):
    rows = itertools.chain.from_iterable([a[:1] * 2.0, a[1:].tolist(), powers(a[0], 2)])
    return sum(itertools.compress(rows, [1, 0, 1, 1, 1]))


def products_and_pairs(a):
    total = sum(p * q for p, q in itertools.combinations(a, 2))
    total += sum(p * q for p, q in itertools.product(a, repeat=2))
    return total + sum(p - q * q for p, q in itertools.pairwise(a))


def zipped_to_the_longest(x):
    return sum(p * q for p, q in itertools.zip_longest([x, x * x, 1.0], [2.0], fillvalue=x))


def counted_by_a_float(x):
    return sum(itertools.islice(itertools.count(x, x * x), 3))


def cycled(x):
    cycle = itertools.cycle([x, 2.0])
    return next(cycle) * next(cycle) + next(cycle)


def repeated_into_map(x):
    return sum(map(pow, [2.0, 3.0], itertools.repeat(x)))


def accumulated_sums(a):
    return sum(itertools.accumulate(a, initial=a[0] * 2.0)) + list(
        itertools.accumulate(a, operator.mul))[-1]


def reversed_and_enumerated(a):
    total = 0.0
    for k, v in enumerate(reversed(a), start=1):
        total += k * v * v
    return total


def iteration_over_rows(a):
    m = np.outer(a, a)
    for row in m:
        row *= row[0]
    return np.sum(m)


def flat_iterator(a):
    m = np.outer(a, [1.0, 2.0])
    total = sum(m.flat)
    for k, v in enumerate(m.flat):
        m.flat[k] = v * v
    return total + np.sum(m) + next(m.flat)


def nditer_that_writes(a):
    y = a * 1.0
    with np.nditer(y, op_flags=["readwrite"]) as it:
        for v in it:
            v[...] = v * v
    return np.sum(y)


def ndenumerate_and_ndindex(a):
    m = np.outer(a, a)
    total = sum((i + 2 * j) * v for (i, j), v in np.ndenumerate(m))
    return total + sum(m[k] for k in np.ndindex(2, 2))


def broadcast_object(a):
    return sum(p * q for p, q in np.broadcast(a, np.array([[1.0], [2.0]])))


def late_closures(x):
    steps = [lambda: y * x for y in [x, 2.0]]
    early = [lambda y=y: y * x for y in [x, 2.0]]
    return sum(f() for f in steps) + sum(f() for f in early)


def lazy_generator_sees_a_later_name(x):
    k = x
    late = (k * v for v in [1.0, x])
    k = 3.0
    return sum(late) + k


@contextlib.contextmanager
def scaled(box, x):
    box[0] *= x
    try:
        yield box[0]
    except ZeroDivisionError:
        box[0] *= 5.0
    finally:
        box[0] += x


def context_of_a_generator(x):
    box = [x]
    with scaled(box, 2.0) as y, scaled(box, x):
        y / 0.0
    return box[0] + y


def coroutine_driven_by_hand(x):
    class Wait:
        def __await__(self):
            got = yield x * 2.0
            return got * x

    async def work():
        return await Wait() + await Wait()

    task = work()
    first = task.send(None)
    second = task.send(first)
    try:
        task.send(second * 3.0)
    except StopIteration as stop:
        return stop.value
    return 0.0


def joined_text_with_effects(x):
    out = []

    def names():
        for k in range(3):
            out.append(x ** k)
            yield str(k)

    ",".join(names())
    found = any(v > 0.0 for v in map(out.append, [x, x]) if v)
    return sum(out) + found


A = np.array([0.3, 0.5, 0.7])
S = float(np.sum(A))
PROGRAMS = [
    Program("sum", generator_into_sum, (0.7,), lambda x: 1.0 + 2 * x + 3 * x * x + 2 * x + 3 * x * x),
    Program("max, prod and min", generator_into_max_and_prod, (0.7,),
            lambda x: 1.0 + 3.0 * x * x + 2.0 * x),
    Program("fsum", generator_into_fsum, (0.7,), lambda x: 1.0 + 2.0 * x + 3.0 * x * x),
    Program("np.fromiter", generator_into_fromiter, (0.7,),
            lambda x: 2.0 * x + 4.0 * x ** 3 + 6.0 * x ** 5),
    Program("containers", generator_into_containers, (0.7,),
            lambda x: 1 + 2 * x + 1 + 2 * x + 1 + 2 * x + 3 * x * x),
    Program("extend", generator_into_extend, (0.7,), lambda x: 5.0 * x ** 4),
    Program("star arguments", generator_as_star_arguments, (0.7,), None),
    Program("send", sent_into, (0.7,), lambda x: 2.0 * x + 2.0),
    Program("throw", thrown_into, (0.7,), lambda x: 1.0 + 4.0 * x),
    Program("close", closed, (0.7,), lambda x: 9.0 * x * x),
    Program("return and yield from", returned_by_a_generator, (0.7,), lambda x: 9.0 * x * x),
    Program("an iterator zipped with itself", shared_iterator, (np.array([0.3, 0.5, 0.7, 1.1]),),
            lambda a: 2.0 * a * a[[1, 0, 3, 2]] ** 2),
    Program("tee and islice", tee_and_islice, (0.7,),
            lambda x: 2 * x + 3 * x * x + 1.0 + 2.0 * x),
    Program("chain and compress", chained, (A,),
            lambda a: np.array([3.0 + 2.0 * a[0], 0.0, 1.0])),
    Program("combinations, product and pairwise", products_and_pairs, (A,),
            lambda a: (np.sum(a) - a) + 2.0 * np.sum(a) + [1, 1, 0] - 2.0 * a * [0, 1, 1]),
    Program("zip_longest", zipped_to_the_longest, (0.7,), lambda x: 2.0 + 3.0 * x * x + 1.0),
    Program("count from a float", counted_by_a_float, (0.7,), lambda x: 3.0 + 6.0 * x),
    Program("cycle", cycled, (0.7,), 3.0),
    Program("map of pow over repeat", repeated_into_map, (0.7,),
            lambda x: math.log(2.0) * 2.0 ** x + math.log(3.0) * 3.0 ** x),
    Program("accumulate", accumulated_sums, (A,),
            lambda a: np.array([11.0 + a[1] * a[2], 2.0 + a[0] * a[2], 1.0 + a[0] * a[1]])),
    Program("reversed and enumerate", reversed_and_enumerated, (A,), lambda a: 2.0 * a * [3, 2, 1]),
    Program("rows that are written", iteration_over_rows, (A,), None),
    Program("flat", flat_iterator, (A,), lambda a: 3.0 + 10.0 * a + [2.0 * a[0], 0.0, 0.0]),
    Program("nditer", nditer_that_writes, (A,), lambda a: 2.0 * a),
    Program("ndenumerate and ndindex", ndenumerate_and_ndindex, (A,), None),
    Program("np.broadcast", broadcast_object, (A,), np.full(3, 3.0)),
    Program("closures over a variable of a loop", late_closures, (0.7,),
            lambda x: 4.0 + 2.0 * x + 2.0),
    Program("a generator sees a later name", lazy_generator_sees_a_later_name, (0.7,), 3.0),
    Program("contextmanager", context_of_a_generator, (0.7,), None),
    Program("a coroutine", coroutine_driven_by_hand, (0.7,), lambda x: 4.0 * x + 12.0 * x),
    Program("join and any", joined_text_with_effects, (0.7,), lambda x: 3.0 + 2.0 * x),
]
