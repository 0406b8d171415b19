"""Exceptions that carry values, handlers that leave, names that come and go."""

from __future__ import annotations

import contextlib
import math
import warnings

import numpy as np

from tests.record.lost import Program

LEVEL = 1.0
ROWS: list = []


class Carried(Exception):
    def __init__(self, value, **rest):
        super().__init__(value * 2.0)
        self.value = value
        self.rest = rest


def raised_value(x):
    try:
        raise ValueError(x * x, "text")
    except ValueError as error:
        value, _ = error.args
    return value * x


def raised_through_frames(x):
    def deep(n, v):
        if n == 0:
            raise Carried(v, factor=x)
        deep(n - 1, v * x)

    try:
        deep(3, 1.0)
    except Carried as error:
        return error.value * error.rest["factor"] + error.args[0]


def chain_of_causes(x):
    try:
        try:
            raise Carried(x)
        except Carried as low:
            raise KeyError(low.value * 3.0) from low
    except LookupError as high:
        return high.__cause__.value * high.args[0] + high.__context__.args[0]


def group_of_exceptions(x):
    total = 0.0
    try:
        raise ExceptionGroup("both", [Carried(x), ValueError(x * x), Carried(2.0 * x)])
    except* Carried as group:
        total += sum(one.value for one in group.exceptions)
    except* ValueError as group:
        total *= group.exceptions[0].args[0]
    return total


def finally_that_returns(x):
    def inner():
        y = x * x
        try:
            y *= 2.0
            return y * 100.0
        finally:
            return y + x

    return inner()


def finally_that_writes(a):
    y = a * a

    def inner():
        try:
            return np.sum(y)
        finally:
            y[0] = 5.0 * a[1]

    return inner() + y[0]


def loop_else_and_break(x):
    total = 0.0
    for k in range(5):
        for j in range(3):
            if j * x > k:
                break
            total += x * j
        else:
            total *= 1.1
            continue
        if total > 10.0:
            break
        total += x ** k
    else:
        total *= x
    while True:
        total *= 0.5
        if total < x:
            break
    return total


def exception_of_numpy(x):
    with np.errstate(all="raise"):
        try:
            return np.float64(x) / 0.0
        except FloatingPointError:
            y = x * 3.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(UserWarning(x * y), stacklevel=1)
    return y * x + caught[0].message.args[0]


def call_of_errstate(x):
    met = []
    with np.errstate(divide="call", call=lambda kind, flag: met.append(x * flag)):
        np.divide(1.0, np.zeros(1))
    return sum(met)


def suppressed(x):
    y = x
    with contextlib.suppress(ZeroDivisionError), contextlib.ExitStack() as stack:
        box = [y]
        stack.callback(lambda: box.append(box[0] * x))
        stack.push(lambda kind, error, trace: box.append(3.0 * x) or False)
        y = y * 4.0
        y = y / (box[0] - box[0])
        y = y * 100.0
    return y + sum(box)


def redirected_output(x):
    class Out:
        total = 0.0

        def write(self, text):
            self.total += len(text.strip()) * x

    out = Out()
    with contextlib.redirect_stdout(out):
        print("ab", "c", sep="")
    return out.total


def nonlocal_and_global(x):
    global LEVEL
    LEVEL = x * 2.0
    total = x

    def add(v):
        nonlocal total
        global LEVEL
        total += v * LEVEL
        LEVEL *= 2.0

    add(x)
    add(1.0)
    found = total * LEVEL
    LEVEL = float(round(LEVEL))
    return found


def start():
    global LEVEL
    LEVEL = 1.0
    ROWS.clear()


def level():
    return [LEVEL, *ROWS]


def deleted_names(x):
    y = x * x
    kept = [y]
    del y
    try:
        y
    except UnboundLocalError:
        y = kept.pop() * 2.0
    table = {"a": y, "b": x}
    del table["a"], kept
    return y * sum(table.values())


def walrus_everywhere(x):
    rows = [y := x, y := y * y, (z := y * x)]
    found = [w for k in (1.0, 2.0, 3.0) if (w := k * x) > 1.0]
    return sum(rows) + z * w + len(found) * y + (lambda v, u=(t := x * 2.0): v * u)(t)


def matched_structures(x):
    total = 0.0
    for shape in ({"kind": "disc", "r": x}, [x, x * x, 3.0], ("line", x), 2.0 * x, None):
        match shape:
            case {"kind": "disc", "r": r, **rest}:
                total += math.pi * r * r + len(rest)
            case [p, *others] if len(others) == 2:
                total += p * sum(others)
            case ("line" | "ray", v):
                total += v
            case float(v) as w:
                total += v * w
            case None:
                total *= x
    return total


def unpacked_in_many_ways(a):
    (p, q), *rest = [a[:2], a[2], 3.0]
    (r, *_), s = (a, a[1] * 2.0)
    rows = {**{"p": p}, "q": q}
    y = [0.0, 0.0]
    k, y[k] = 1, a[0]
    [y[0], (t, u)] = a[1], (y[1], rest[0])
    return rows["p"] * rows["q"] + r * s + y[0] * y[1] + t * u * rest[-1]


def order_of_evaluation(x):
    trace = []

    def note(v):
        trace.append(v * (len(trace) + 1))
        return v

    table = {}
    table[note(1.0)] = note(x) + note(2.0 * x) * note(x)
    note(x) < note(3.0 * x) < note(5.0)
    note(0.0) and note(x)
    return sum(trace) + table[1.0]


def augmented_targets(x):
    calls = []

    def place():
        calls.append(x)
        return 0

    rows = [[x], x]
    rows[place()][place()] += x * x
    rows[1] **= 2
    rows[0] *= 2
    rows[0] += (x,)
    return sum(rows[0]) * rows[1] + sum(calls)


def recursive_value(x, depth=4):
    return x if depth == 0 else recursive_value(x * x + 0.1, depth - 1) * (1.0 + 0.1 * depth)


def mutual_and_late(x):
    def even(v, n):
        return v if n == 0 else odd(v * x, n - 1)

    def odd(v, n):
        return v * 2.0 if n == 0 else even(v + x, n - 1)

    return even(1.0, 5)


def default_that_is_evaluated_once(x):
    def add(v, rows=[x]):
        rows.append(v * rows[-1])
        return rows

    add(2.0)
    return sum(add(x)) + add.__defaults__[0][0]


def assertion_with_effect(x):
    rows = []
    assert not rows.append(x * x)
    assert rows[0] > 0.0, rows.append(100.0)
    return rows.pop() * x


def search_for_a_root(x):
    low, high = 0.0, 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if middle * middle < x:
            low = middle
        else:
            high = middle
    step = (middle * middle - x) / (2.0 * middle)
    return middle - step


A = np.array([0.3, 0.5, 0.7])
PROGRAMS = [
    Program("a value raised", raised_value, (0.7,), lambda x: 3.0 * x * x),
    Program("a value raised through frames", raised_through_frames, (0.7,),
            lambda x: 4.0 * x ** 3 + 6.0 * x * x),
    Program("causes and contexts", chain_of_causes, (0.7,), lambda x: 6.0 * x + 2.0),
    Program("a group of exceptions", group_of_exceptions, (0.7,), lambda x: 9.0 * x * x),
    Program("finally returns", finally_that_returns, (0.7,), lambda x: 4.0 * x + 1.0),
    Program("finally writes", finally_that_writes, (A,), lambda a: 2.0 * a + [0.0, 5.0, 0.0]),
    Program("else, break and continue", loop_else_and_break, (0.7,)),
    Program("errors and warnings", exception_of_numpy, (0.7,), lambda x: 12.0 * x),
    Program("a call of errstate", call_of_errstate, (0.7,), 1.0),
    Program("suppress and ExitStack", suppressed, (0.7,), lambda x: 8.0 + 2.0 * x),
    Program("redirected output", redirected_output, (0.7,), 3.0),
    Program("nonlocal and global", nonlocal_and_global, (0.7,), None, state=level, reset=start),
    Program("deleted names", deleted_names, (0.7,), lambda x: 6.0 * x * x),
    Program("walrus", walrus_everywhere, (0.7,)),
    Program("match", matched_structures, (0.7,)),
    Program("unpacking", unpacked_in_many_ways, (A,)),
    Program("order of evaluation", order_of_evaluation, (0.7,)),
    Program("augmented targets", augmented_targets, (0.7,)),
    Program("recursion", recursive_value, (0.7,)),
    Program("mutual recursion", mutual_and_late, (0.7,)),
    Program("a default is evaluated once", default_that_is_evaluated_once, (0.7,)),
    Program("assertions with effects", assertion_with_effect, (0.7,), lambda x: 3.0 * x * x),
    Program("a search, then one step", search_for_a_root, (0.7,), lambda x: 0.5 / math.sqrt(x)),
]
