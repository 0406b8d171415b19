"""Random loops over elements: reads and writes at computed places, branches and loops inside."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from random import Random
from typing import Any

PLACES = ("i", "(i + 1) % n", "(2 * i + 1) % n", "n - 1 - i", "i // 2", "k", "(k + i) % n",
          "min(i, 2)", "abs(i - 3) % n")
CONDITIONS = ("i % 2 == 0", "i > 2", "i < n - 1", "k < i", "i == k")
INNER = ("range(n)", "range(i)", "range(2)", "range(i, n)", "(i, (i + 1) % n)", "range(1, n, 2)")
OUTER = ("range(n)", "range(1, n)", "range(n - 1, -1, -1)")


def expression(rng: Random, depth: int = 0) -> str:
    """Return an expression of the variables of a loop."""
    chance = rng.random()
    if depth > 2 or chance < 0.35:
        return f"x[{rng.choice(PLACES)}]"
    if chance < 0.5:
        return f"y[{rng.choice(PLACES)}]"
    if chance < 0.6:
        return rng.choice(["s", "t", "1.5", "0.5 * i"])
    if chance < 0.85:
        left, right = expression(rng, depth + 1), expression(rng, depth + 1)
        return f"({left} {rng.choice('+-*')} {right})"
    return f"math.sin({expression(rng, depth + 1)})"


def statements(rng: Random, indent: int, depth: int) -> list[str]:
    """Return the lines of one statement."""
    pad, place = "    " * indent, rng.choice(PLACES)
    kind = rng.choices(
        ["y", "y +=", "s", "t", "z +=", "z", "if", "for"], [5, 4, 2, 1.5, 1, 1, 2, 3.5])[0]
    if kind in ("if", "for") and depth < 2:
        head = f"if {rng.choice(CONDITIONS)}:" if kind == "if" else f"for k in {rng.choice(INNER)}:"
        rows = [pad + head, *statements(rng, indent + 1, depth + 1)]
        if rng.random() < 0.5:
            rows += [f"{pad}else:"] * (kind == "if") + statements(rng, indent + 1, depth + 1)
        return rows
    target = {"s": "s +=", "t": "t =", "y +=": f"y[{place}] +=", "z +=": f"z[{place}] +=",
              "z": f"z[{place}] ="}.get(kind, f"y[{place}] =")
    return [f"{pad}{target} {expression(rng)}"]


def random_loop(seed: int) -> Callable[[Any], Any]:
    """Return a random function of an array, with source that tools can find."""
    rng = Random(seed)
    rows = ["import math", "import numpy as np", "def f(x):", "    n = len(x)", "    k = 0",
            "    y = np.zeros(n)", "    z = x * 1.0", "    s = 0.0", "    t = 1.0",
            f"    for i in {rng.choice(OUTER)}:"]
    for _ in range(rng.randint(1, 3)):
        rows += statements(rng, 2, 0)
    text = "\n".join([*rows, "    return np.concatenate([y, z, [s, t]])", ""])
    name = f"<random loop {seed} {len(linecache.cache)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"__name__": f"random_loop_{seed}"}
    exec(compile(text, name, "exec"), namespace)
    found: Callable[[Any], Any] = namespace["f"]
    return found
