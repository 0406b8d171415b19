"""Random small programs about lists, dicts and tuples that hold arrays, in branches and loops.

    python -m tests.properties.holders 2000 --seed 1

A slot is given another array in one arm, what a slot holds is written into by another name in the
other one or in a loop over the slots, and all is read behind. Of each program the value, what is
left in the arguments, the gradient and a directional derivative are compared with plain Python.
"""

from __future__ import annotations

import ast
import sys
import zlib
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

from adcompiler import jvp, vjp
from tests.properties.mutations import loaded
from tests.properties.running import Refusal, refusals, run

HOLDERS = (
    "[d, m]", "[d, d]", "[d, d, m]", "[d, m, d]", "[d[:2], m[1:]]", "{0: d, 1: m}", "(d, m)",
    "[d * 1.0, m]", "[[d], [m]]",
)
STARTS = ("", "", "d[1] = x", "d = d * 1.0", "m = d", "d, m = m, d", "e = list(e)")
CONDITIONS = ("x > 0.0", "x < 0.0", "n == 1", "d[0] > 0.5", "n")
LOOPS = ("for y in e:", "for k in range(n):", "for k, y in enumerate(e):", "while k < n:")
WRITES = (
    "d += x", "d[0] = m[1] * x", "e[0] += x", "e[1] *= 1.5", "y += x", "y[:1] = x * 0.5",
    "m *= x", "v += 0.25", "e[0][1] = x * x", "np.multiply(m, x, out=m)", "d.sort()",
)
SLOTS = (
    "e[1] = m", "e[0] = d * 2.0", "e[-1] = y", "e[0], e[1] = e[1], e[0]", "e = [m, d]",
    "e = [y, e[0]]", "e.append(d)", "e.reverse()", "e.insert(0, m)", "w = e.pop()",
)
NAMES = ("y = e[0]", "y = e[1]", "d = d * 0.5", "m = y", "v = d[:2]", "y = d", "y = v")
READS = ("s += np.sum(e[0] * 0.7)", "s += y[0]", "s += np.sum(e[1])")
POINT = (0.6, np.array([0.3, 0.9, 0.45]), np.array([1.2, 0.8, 0.65]))
COUNTS = (0, 1, 2)


def block(rng: Random, depth: int, indent: int) -> Iterator[str]:
    """Yield the lines of one to three statements, with up to ``depth`` levels of regions."""
    margin = "    " * indent
    for _ in range(rng.randint(1, 3)):
        if depth and rng.random() < 0.5:
            if rng.random() < 0.6:
                yield f"{margin}if {rng.choice(CONDITIONS)}:"
                yield from block(rng, depth - 1, indent + 1)
                if rng.random() < 0.5:
                    yield f"{margin}else:"
                    yield from block(rng, depth - 1, indent + 1)
            else:
                head = rng.choice(LOOPS)
                yield margin + head
                if head.startswith("while"):
                    yield f"{margin}    k += 1"
                yield from block(rng, depth - 1, indent + 1)
        else:
            kind = rng.choices((WRITES, SLOTS, NAMES, READS), (4, 2, 2, 1))[0]
            yield margin + rng.choice(kind)


def source_of(seed: int) -> str:
    """Return the source of the program of a seed."""
    rng = Random(seed)
    rows = [
        "def f(x, d, m, n):", "    s = 0.0", "    k = 0",
        f"    {rng.choice(STARTS[:-1]) or 'pass'}", "    y, v = d, m[1:]",
        f"    e = {rng.choice(HOLDERS)}", f"    {rng.choice(STARTS) or 'pass'}",
        *block(rng, 2, 1),
        "    return (s + 0.7 * np.sum(e[0]) + 1.3 * np.sum(e[1]) + d[0] * 0.3 + d[1] * d[2]",
        "            + m @ d + y[0] * 0.9 + v[1] * 0.11)",
    ]
    return "\n".join(rows)


def outcome(source: str) -> str:
    """Return "clean", "refused" or "discarded"; raises AssertionError for what is wrong."""
    tree = ast.parse(source).body[0]
    assert isinstance(tree, ast.FunctionDef)
    f = loaded(tree, {"np": np}, f"<holders {zlib.crc32(source.encode())}>")
    verdicts = {compared(f, count, source) for count in COUNTS}
    return next(word for word in ("refused", "clean", "discarded") if word in verdicts)


def compared(f: Any, count: int, source: str) -> str:
    """Compare one run of a program and its derivative with plain Python."""

    def at(step: float) -> Any:
        return f(*(a + step * b for a, b in zip(POINT, direction, strict=True)), count)

    rng = np.random.default_rng(count)
    direction = tuple(rng.uniform(0.5, 1.5, np.shape(a)) for a in POINT)
    plain, ours = fresh(), fresh()
    try:
        wanted = f(*plain, count)
        slope = (at(1e-6) - at(-1e-6)) / 2e-6
        again = (at(3e-6) - at(-3e-6)) / 6e-6
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, UnboundLocalError):
        return "discarded"
    if not np.isclose(slope, again, rtol=1e-5, atol=1e-7):
        return "discarded"
    try:
        with refusals():
            value, pullback = vjp(f, *ours, count, argnums=(0, 1, 2))
            tangent = jvp(lambda *a: f(*a, count), fresh(), direction)[1]
    except Refusal:
        return "refused"
    told, near = f"with n = {count}\n{source}", {"rtol": 1e-5, "atol": 1e-6}
    assert value == wanted, f"value {value}, not {wanted} {told}"
    for one, other in zip(ours, plain, strict=True):
        assert np.array_equal(one, other), f"left {one}, not {other} {told}"
    total = sum(np.vdot(g, b) for g, b in zip(pullback(1.0), direction, strict=True))
    for name, number in (("slope", total), ("tangent", tangent)):
        assert np.isclose(number, slope, **near), f"{name} {number}, not {slope} {told}"
    return "clean"


def fresh() -> tuple[Any, ...]:
    """Return the arguments anew."""
    x, d, m = POINT
    return x, d.copy(), m.copy()


if __name__ == "__main__":
    sys.exit(run(__doc__, lambda seed: outcome(source_of(seed))))
