"""Which form of a product runs under ``backend="auto"``: Python first, loops once they pay.

Compiling loops takes seconds. They are compiled when Python has taken as long for the calls so far,
so that a program never takes much more than twice as long as the better choice. Then both run once
with the same arguments, and the faster one is kept, on disk too, beside the emitted module.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from adcompiler.errors import NotCompiledError

START, A_LINE = 0.1, 0.002
"""About what LLVM takes to compile, in seconds: at all, and for each line."""


class Tier:
    """Calls the Python product or the one that calls loops; ``said`` is what ``explain`` says."""

    def __init__(
        self, python: Callable[..., Any], native: Callable[..., Any], lines: int,
        path: Path | None,
    ) -> None:
        self.python, self.native = python, native
        self.cost = START + A_LINE * lines
        self.kept = None if path is None else path.parent / "__pycache__" / f"{path.stem}.backend"
        self.spent, self.calls = 0.0, 0
        self.chosen: Callable[..., Any] | None = None
        self.reason = ""
        self.recall()

    def __call__(self, *args: Any) -> Any:
        """Return what the product returns."""
        if self.chosen is not None:
            try:
                return self.chosen(*args)
            except NotCompiledError as error:
                return self.without_loops(error, *args)
        if self.spent >= self.cost:
            return self.choose(*args)
        start = perf_counter()
        try:
            return self.python(*args)
        finally:
            self.spent += perf_counter() - start
            self.calls += 1

    def choose(self, *args: Any) -> Any:
        """Return what the product returns, having found out which form is faster."""
        try:
            self.native(*args)  # compiles
        except NotCompiledError as error:
            return self.without_loops(error, *args)
        start = perf_counter()
        result = self.native(*args)
        middle = perf_counter()
        self.python(*args)
        loops, python = middle - start, perf_counter() - middle
        took = f"{loops:.2g} s where Python took {python:.2g} s"
        self.settle("native" if loops < python else "python", took)
        return result

    def without_loops(self, error: NotCompiledError, *args: Any) -> Any:
        """Return what Python returns, from now on: loops are not compiled in this process."""
        self.chosen = self.python
        _, _, why = error.findings[0].problem.partition(": ")
        self.reason = f"stays in Python: {why}"
        return self.python(*args)

    def settle(self, backend: str, took: str) -> None:
        """Keep a choice, here and on disk."""
        self.take(backend, took)
        if self.kept is not None:
            with contextlib.suppress(OSError):
                self.kept.parent.mkdir(exist_ok=True)
                self.kept.write_text(json.dumps({"backend": backend, "took": took}))

    def take(self, backend: str, took: str) -> None:
        """Call a backend from now on."""
        self.chosen = self.native if backend == "native" else self.python
        name = "native loops: they took" if backend == "native" else "Python: loops took"
        self.reason = f"{name} {took}"

    def recall(self) -> None:
        """Choose what another process has chosen."""
        if self.kept is None:
            return
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            found = json.loads(self.kept.read_text())
            backend, took = found["backend"], str(found["took"])
            if backend in ("native", "python"):
                self.take(backend, took)

    @property
    def said(self) -> str:
        """What ``explain`` says of the backend."""
        if self.chosen is not None:
            return self.reason
        return (f"Python so far: {self.spent:.2g} s in {self.calls} calls; "
                f"loops are compiled once it is {self.cost:.2g} s")
