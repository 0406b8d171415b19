"""Random programs about names of arrays in nested loops: swapped, shared, copied and written into.

    python -m tests.properties.buffers 2000 --seed 1

Whether two names mean one array depends on how often each loop runs, none included. Of each program
the value, the gradient and a directional derivative are compared with plain Python.
"""

from __future__ import annotations

import ast
import sys
import zlib
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np

from adcompiler import jvp, vjp
from tests.properties.mutations import loaded
from tests.properties.running import Refusal, refusals, run

TRIPS = ("0", "1", "2", "n0", "n1", "n2", "len(x)")
STARTS = ("", "y = z", "w = y[1:]", "w = z", "l = [y, z]", "y = z = w")
SWAPS = (
    "y, z = z, y", "y, z, w = z, w, y", "y, w = w, y", "t = y\ny = z\nz = t",
    "if y[0] > 0.4:\n    y, z = z, y", "l[0], l[1] = l[1], l[0]",
)
NAMES = ("y = z", "w = z[:]", "if k % 2 == 0:\n    w = z", "y = l[k % 2]", "l = [z, w]")
COPIES = ("z = y.copy()", "y = y * 0.9", "w = np.sin(w)", "z = z + y[0]", "l[1] = z * 1.1")
WRITES = (
    "y[0] = z[1] * 1.1", "w[-1] += y[0] * z[1]", "y[:2] = z[:2] + x[0] * 0.3", "z *= 1.1",
    "y[0], z[0] = z[0], y[0]", "l[0][1] = y[0] * x[1]", "k = k + 1",
)
POINT = np.array([0.3, 0.5, 0.45])
COUNTS = (0, 1, 2)
DIRECTION = np.array([1.0, 0.5, -2.0])


def block(rng: Random, depth: int, indent: int) -> Iterator[str]:
    """Yield the lines of one to three statements, loops of up to ``depth`` levels among them."""
    margin = "    " * indent
    for _ in range(rng.randint(1, 3)):
        if depth and rng.random() < 0.55:
            yield f"{margin}for i{indent} in range({rng.choice(TRIPS)}):"
            yield from block(rng, depth - 1, indent + 1)
        else:
            kind = rng.choices((SWAPS, NAMES, COPIES, WRITES), (2, 1, 2, 3))[0]
            yield from (margin + line for line in rng.choice(kind).split("\n"))


def source_of(seed: int) -> str:
    """Return the source of the program of a seed."""
    rng = Random(seed)
    rows = [
        "def f(x, n0, n1, n2):", "    y = x.copy()", "    z = x * 2.0", "    w = np.sin(x)",
        "    l = [y, w]", "    k = 1", f"    {rng.choice(STARTS) or 'pass'}",
        *block(rng, rng.randint(1, 3), 1),
        "    return (y[0] + 2.0 * y[-1] + z @ z + w[0] * w[1] + l[0][0] - l[1][1] * 0.5)",
    ]
    return "\n".join(rows)


def outcome(source: str) -> str:
    """Return "clean", "refused" or "discarded"; raises AssertionError for what is wrong."""
    tree = ast.parse(source).body[0]
    assert isinstance(tree, ast.FunctionDef)
    f = loaded(tree, {"np": np}, f"<buffers {zlib.crc32(source.encode())}>")

    def of_x(x: Any) -> Any:
        return f(x, *COUNTS)

    try:
        wanted, slopes = of_x(POINT), differences(of_x)
    except (ValueError, IndexError):
        return "discarded"
    try:
        with refusals():
            value, pullback = vjp(f, POINT, *COUNTS, argnums=0)
            tangent = jvp(of_x, (POINT,), (DIRECTION,))[1]
    except Refusal:
        return "refused"
    gradient = np.asarray(pullback(1.0)).reshape(POINT.shape)
    assert value == wanted, f"value {value}, not {wanted}\n{source}"
    near = {"rtol": 1e-5, "atol": 1e-5 * max(1.0, float(np.abs(slopes).max()))}
    assert np.allclose(gradient, slopes, **near), f"gradient {gradient}, not {slopes}\n{source}"
    assert np.isclose(tangent, gradient @ DIRECTION), f"tangent {tangent}\n{source}"
    return "clean"


def differences(f: Callable[[Any], Any]) -> np.ndarray:
    """Return central differences of ``f`` at POINT."""
    return np.array([(f(POINT + h) - f(POINT - h)) / 2e-6 for h in 1e-6 * np.eye(len(POINT))])


if __name__ == "__main__":
    sys.exit(run(__doc__, lambda seed: outcome(source_of(seed))))
