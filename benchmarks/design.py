"""Measures behind two decisions of docs/design.md: ``python -m benchmarks.design``.

Tapes are lists, not arrays made beforehand; bodies of loops are specialised until a guess holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adcompiler.dispatch import Options, Specialisations
from adcompiler.infer.loops import Loops
from adcompiler.typed.values import type_of
from benchmarks.__main__ import programs


def best(run: Callable[[], object], rounds: int = 7) -> float:
    """Return the least seconds of several runs."""
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def tapes() -> Iterator[str]:
    """Yield rows: seconds of a tape made beforehand, by those of a list, for one size each."""
    for size, steps in ((1, 1000), (100, 1000), (1000, 1000), (10_000, 200), (100_000, 50)):
        start = np.random.default_rng(0).normal(size=size)

        def as_list(start: Any = start, steps: int = steps) -> None:
            u, tape = start, []
            for _ in range(steps):
                tape.append(u)
                u = u * 0.999
            for saved in reversed(tape):
                saved[0]

        def as_array(start: Any = start, steps: int = steps) -> None:
            u, tape = start, np.empty((steps, start.size))
            for k in range(steps):
                tape[k] = u
                u = u * 0.999
            for k in reversed(range(steps)):
                tape[k][0]

        yield f"{size:>7} numbers a step: {best(as_array) / best(as_list):.2f}"


def bodies() -> str:
    """Return how often bodies of loops are specialised for the suite, and their share of time."""
    counts, inside, depth = [0, 0], 0.0, 0
    iterate, iterations = Loops.iterate, Loops.iterations

    def counted(self: Loops, *args: Any) -> Any:
        nonlocal inside, depth
        start = time.perf_counter()
        depth += 1
        try:
            return iterate(self, *args)
        finally:
            depth -= 1
            counts[0] += 1
            inside += 0.0 if depth else time.perf_counter() - start

    def looked_at(self: Loops, *args: Any) -> Any:
        counts[1] += 1
        return iterations(self, *args)

    Loops.iterate, Loops.iterations = counted, looked_at  # type: ignore[method-assign]
    total = 0.0
    try:
        from adcompiler.compile.pipeline import compile_request

        for _, program in programs(()):
            s = Specialisations(program.function, Options("vjp", program.wrt))
            values = s.values(s.target.bound(program.at(program.sizes[0]), {}))
            start = time.perf_counter()
            compile_request(s.request(tuple(map(type_of, values))))
            total += time.perf_counter() - start
    finally:
        Loops.iterate, Loops.iterations = iterate, iterations  # type: ignore[method-assign]
    return (
        f"{counts[0] / counts[1]:.1f} bodies a loop, {inside / total:.0%} of the time of compiling")


if __name__ == "__main__":
    for row in tapes():
        print(row)
    print(bodies())
