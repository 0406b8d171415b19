"""Interleaved least-of-rounds timings, and the peak of memory in a call."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SLICE = 0.004
"""Seconds for which one engine runs before the next one's turn."""
SLOW = 1.0
"""Seconds of a call that is not repeated."""
PATIENCE = 3.0
"""Seconds that all rounds of one engine may take; the slow get fewer rounds."""


def measure(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the least time of each call, in seconds.

    They take turns, so that a busy spell of the machine hits all alike; the least turn of each
    counts. Each has been called before.
    """
    turns: dict[str, int] = {}
    least: dict[str, float] = {}
    for name, call in calls.items():
        taken = run(call, 1)
        least[name] = taken
        if taken > SLOW:
            continue
        turns[name] = max(1, int(SLICE / max(run(call, max(1, int(1e-4 / taken))) / max(
            1, int(1e-4 / taken)), 1e-8)))
    for turn in range(rounds):
        for name, call in calls.items():
            if name not in turns:
                continue
            if turn < 2 or turn * turns[name] * least[name] < PATIENCE:
                least[name] = min(least[name], run(call, turns[name]) / turns[name])
    return least


def run(call: Callable[[], Any], count: int) -> float:
    """Return the seconds that some calls take."""
    turns = range(count)
    start = time.perf_counter()
    for _ in turns:
        call()
    return time.perf_counter() - start


def peak(call: Callable[[], Any]) -> int | None:
    """Return by how many bytes the process grows in a call; None where no system tells."""
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        before = status("VmRSS")
    except OSError:
        return None
    call()
    return max(0, status("VmHWM") - before)


def status(row: str) -> int:
    """Return a row of what Linux tells of the process, in bytes."""
    text = Path("/proc/self/status").read_text()
    (found,) = (line for line in text.splitlines() if line.startswith(f"{row}:"))
    return 1024 * int(found.split()[1])
