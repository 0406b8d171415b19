"""Random programs of nested control flow: loops with ``else``, ``try``, early ends of all kinds.

    python -m tests.properties.control_flow 1000 --seed 0

The statements are simple, so that hundreds of programs take a minute. Value and exceptions are
compared with plain Python, derivatives with central differences where two steps agree.
"""

from __future__ import annotations

import argparse
import linecache
import sys
from collections.abc import Callable
from random import Random
from typing import Any

from adcompiler import ADError, InternalError, vjp

Rows = list[str]

CONDITIONS = (
    "x > 1.0", "x < 0.5", "y > x", "x * y > 0.7", "c % 2 == 0", "c > 3", "x > 0.2 and y < 1.5",
    "not c % 3",
)
STATEMENTS = (
    "x = x * 0.7 + y * 0.2", "y = np.sin(x) + y * 0.3", "x += 0.25", "y *= 0.9", "x, y = y, x",
    "a.append(x)", "z = x * y", "t[c % 3] += x * 0.1", "x = x + 0.05 * z", "y = t[0] + 0.1 * y",
)
START = ("c = 0", "z = 1.0", "a = []", "t = np.array([x, y, 0.5])")
END = "return x + 2.0 * y + z + np.sum(t) * 0.1 + sum(a)"
POINTS = ((0.3, 0.8), (1.4, 0.2), (0.6, 1.7))


class Writer:
    """Writes one function of two numbers."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.names = 0

    def function(self) -> str:
        body = [*START, *self.block(3, False), END]
        return "\n".join(["import numpy as np", "def f(x, y):", *inside(body), ""])

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def condition(self) -> str:
        return self.rng.choice(CONDITIONS)

    def counter(self) -> str:
        self.names += 1
        return f"k{self.names}"

    def block(self, depth: int, in_loop: bool) -> Rows:
        rows: Rows = ["c += 1"] if self.chance(0.5) else []
        for _ in range(self.rng.randrange(1, 4)):
            kind = self.rng.random() if depth else 0.0
            if kind < 0.35:
                rows.append(self.rng.choice(STATEMENTS))
            elif kind < 0.5:
                rows += [f"if {self.condition()}:", *inside(self.block(depth - 1, in_loop))]
                rows += self.otherwise(depth, in_loop)
            elif kind < 0.76:
                rows += self.loop(depth, is_for=kind < 0.66)
                rows += self.otherwise(depth, in_loop)
            elif kind < 0.86:
                rows += self.attempt(depth, in_loop)
            elif kind < 0.92 and in_loop:
                rows.append(f"if {self.condition()}: {self.rng.choice(['break', 'continue'])}")
            elif in_loop and self.chance(0.5):
                return [*rows, self.rng.choice(["break", "continue"])]
            else:
                rows.append(f"if {self.condition()}: return x * {self.rng.randrange(1, 5)} + y")
        return rows

    def otherwise(self, depth: int, in_loop: bool) -> Rows:
        return ["else:", *inside(self.block(depth - 1, in_loop))] if self.chance(0.5) else []

    def loop(self, depth: int, is_for: bool) -> Rows:
        name, times = self.counter(), self.rng.randrange(4)
        body = inside(self.block(depth - 1, True))
        if is_for:
            return [f"for {name} in range({times}):", *body]
        return [f"{name} = 0", f"while {name} < {times}:", f"    {name} += 1", *body]

    def attempt(self, depth: int, in_loop: bool) -> Rows:
        raising = [f"if {self.condition()}: raise ValueError('a')"] if self.chance(0.6) else []
        rows = ["try:", *inside([*self.block(depth - 1, in_loop), *raising])]
        final = ["finally:", *inside([self.rng.choice(STATEMENTS)])]
        if self.chance(0.4):
            return [*rows, *final]
        rows += ["except ValueError:", *inside(self.block(depth - 1, in_loop))]
        if self.chance(0.4):
            rows += ["else:", *inside(self.block(depth - 1, in_loop))]
        return [*rows, *final] if self.chance(0.4) else rows


def inside(rows: Rows) -> Rows:
    return [f"    {row}" for row in rows]


def function_of(seed: int) -> tuple[str, Callable[[float, float], Any]]:
    """Return the program of a seed, as text and as a function."""
    text, name, namespace = Writer(seed).function(), f"<control flow {seed}>", {}
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), namespace)
    return text, namespace["f"]  # type: ignore[return-value]


def ended(call: Callable[[], Any]) -> tuple[Any, type[BaseException] | None]:
    """Return what a call gives, and the class of the exception that it raises."""
    try:
        return call(), None
    except Exception as error:
        return None, type(error)


def check(seed: int) -> int:
    """Check one program; return at how many points it gave a value."""
    text, f = function_of(seed)
    count = 0
    for x, y in POINTS:
        wanted, error = ended(lambda x=x, y=y: f(x, y))
        found, ours = ended(lambda x=x, y=y: vjp(f, x, y))
        if ours is not None and issubclass(ours, ADError) and ours is not InternalError:
            return count  # refused
        assert ours is error, f"{ours} instead of {error} at {x, y}\n{text}"
        if error is not None:
            continue
        value, pullback = found
        assert abs(value - wanted) <= 1e-12 * max(1.0, abs(wanted)), (
            f"{value}, not {wanted}, at {x, y}\n{text}")
        bars, count = pullback(1.0), count + 1
        for bar, (dx, dy) in zip(bars, ((1.0, 0.0), (0.0, 1.0)), strict=True):
            slopes = [
                ended(lambda h=h, dx=dx, dy=dy, x=x, y=y: (
                    f(x + h * dx, y + h * dy) - f(x - h * dx, y - h * dy)) / (2 * h))[0]
                for h in (1e-6, 2e-7)
            ]
            if None not in slopes and abs(slopes[0] - slopes[1]) < 1e-6 * max(1, abs(slopes[0])):
                assert abs(bar - slopes[0]) <= 1e-5 * max(1.0, abs(slopes[0])), (
                    f"{bar}, differences {slopes[0]}, at {x, y}\n{text}")
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    failed, values = 0, 0
    for seed in range(options.seed, options.seed + options.count):
        try:
            values += check(seed)
        except AssertionError as error:
            failed += 1
            print(f"seed {seed}: {error}\n", flush=True)
    print(f"{options.count} programs, {values} values, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
