"""Derivatives of programs that keep state cost as much per trip in long loops as in short ones.

Calls of functions are counted, those of copies by themselves, and the bytes held at once: of twice
the trips they may be twice as many.
"""

from __future__ import annotations

import sys
import tracemalloc

import numpy as np

from adcompiler import grad, hessian, hvp, jvp, vjp


def arrays_appended(x, n):
    kept = []
    for _ in range(n):
        x = np.sin(x) * x
        kept.append(x)
    return sum(np.sum(a * a) for a in kept)


def tuples_appended(x, n):
    kept = []
    for i in range(n):
        x = np.sin(x) * x
        kept.append((x, 1.0 * i))
    return sum(np.sum(a * a) * b for a, b in kept)


def dicts_appended(x, n):
    kept = []
    for i in range(n):
        x = np.sin(x) * x
        kept.append({"x": x, "i": 1.0 * i})
    return sum(np.sum(a["x"] * a["x"]) * a["i"] for a in kept)


def array_of_a_list(x, n):
    kept = []
    for _ in range(n):
        x = np.sin(x) * x
        kept.append(x)
    return np.sum(np.array(kept) ** 2)


def items_set(x, n):
    kept = [x] * n
    for i in range(n):
        x = np.sin(x) * x
        kept[i] = x
    return sum(np.sum(a * a) for a in kept)


def entries_set(x, n):
    kept = {}
    for i in range(n):
        x = np.sin(x) * x
        kept[i] = x
    return sum(np.sum(a * a) for a in kept.values())


def dict_rebuilt(x, n):
    d = {"a": x, "b": x}
    for _ in range(n):
        d = {"a": np.sin(d["b"]), "b": d["a"] * 0.5}
    return np.sum(d["a"] * d["b"])


def tuple_rebuilt(x, n):
    pair = (x, x)
    for _ in range(n):
        pair = (np.sin(pair[1]), pair[0] * 0.5)
    return np.sum(pair[0] * pair[1])


def array_carried(x, n):
    for _ in range(n):
        x = np.sin(x) * x
    return np.sum(x)


def matrix_carried(x, n):
    m = np.outer(x[:5], x[:5])
    for _ in range(n):
        m = np.sin(m) * m
    return np.sum(m)


def rows_written(x, n):
    rows = np.zeros((8, x.size))
    for i in range(n):
        rows[i % 8] = np.sin(x) * rows[(i + 1) % 8] + x
    return np.sum(rows)


def elements_written(x, n):
    y = x * 1.0
    for i in range(n):
        y[i % 4] = np.sin(y[(i + 1) % 4]) * x[i % 3]
    return np.sum(y * y)


def nested_loops(x, n):
    kept = []
    for _ in range(n):
        row = []
        for _ in range(2):
            x = np.sin(x) * x
            row.append(x)
        kept.append(row)
    return sum(np.sum(a * a) for row in kept for a in row)


def while_loop(x, n):
    kept, i = [], 0
    while i < n:
        x = np.sin(x) * x
        kept.append(x)
        i += 1
    return np.sum(kept[-1]) + np.sum(kept[0])


def halves(x, n):
    if n == 0:
        return np.sum(x * x)
    return np.sum(np.sin(x)) + halves(x * 0.5, n - 1)


def put(kept, x):
    kept.append(x)


def helper_that_writes(x, n):
    kept = []
    for _ in range(n):
        x = np.sin(x) * x
        put(kept, x)
    return np.sum(kept[-1]) + np.sum(kept[0])


PROGRAMS = (
    arrays_appended, tuples_appended, dicts_appended, array_of_a_list, items_set, entries_set,
    dict_rebuilt, tuple_rebuilt, array_carried, matrix_carried, rows_written, elements_written,
    nested_loops, while_loop, halves, helper_that_writes,
)
ONES = np.ones(40)
MODES = {
    "grad": lambda f, x, n: grad(f)(x, n),
    "vjp": lambda f, x, n: vjp(f, x, n)[1](1.0),
    "jvp": lambda f, x, n: jvp(f, (x, n), (ONES, None)),
    "hvp": lambda f, x, n: hvp(f, x, ONES, n),
    "hessian": lambda f, x, n: hessian(f)(x, n),
}
OF_ALL = ("grad", "hvp")  # of every program; the others are made of the same parts
COPIES = ("own", "copy", "deepcopy")


def counted(run):
    """Return how many functions a run calls, how many of these copy, and the bytes it holds."""
    calls, copies = 0, 0

    def seen(frame, event, called):
        nonlocal calls, copies
        if event in ("call", "c_call"):
            calls += 1
            name = frame.f_code.co_name if event == "call" else called.__name__
            copies += name in COPIES

    sys.setprofile(seen)
    try:
        run()
    finally:
        sys.setprofile(None)
    tracemalloc.start()
    try:
        run()
        return calls, copies, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_calls_copies_and_bytes_grow_with_the_trips():
    found = {}
    for k, function in enumerate(PROGRAMS):
        for mode, derivative in MODES.items():
            if mode not in OF_ALL and k % 4:
                continue
            few, many = (30, 60) if function is halves else (40, 80)

            def run(n, function=function, derivative=derivative):
                return derivative(function, 0.5 * ONES, n)

            run(few)
            short, long = counted(lambda: run(few)), counted(lambda: run(many))  # noqa: B023
            room = (60, 6, 20000)
            if any(b > 2.15 * a + more for a, b, more in zip(short, long, room, strict=True)):
                found[function.__name__, mode] = short, long
    assert found == {}
