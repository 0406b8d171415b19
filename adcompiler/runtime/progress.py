"""What takes long, told on a terminal: what is done, how far it is, and since when."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from operator import length_hint
from time import perf_counter
from typing import Any, TypeVar

T = TypeVar("T")

EVERY = 0.1
"""Seconds between two states of the line."""
VARIABLE = "ADCOMPILER_QUIET"


class Progress:
    """A piece of work: ``what`` it is, the ``stage`` it is in, and ``done`` of ``total`` there."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.stage = ""
        self.done = 0.0
        self.total: float | None = None
        self.start = perf_counter()

    def at(self, stage: str, done: float = 0.0, total: float | None = None) -> None:
        """Say which stage the work is in."""
        self.stage, self.done, self.total = stage, done, total

    @property
    def share(self) -> float | None:
        """The share of the stage that is done; None where its length is not known."""
        return min(self.done / self.total, 1.0) if self.total else None

    @property
    def told(self) -> str:
        """What it is, and in which stage."""
        return f"{self.what}: {self.stage}" if self.stage else self.what

    @property
    def elapsed(self) -> str:
        """The time since the start, for people."""
        minutes, seconds = divmod(perf_counter() - self.start, 60.0)
        return f"{minutes:.0f} min {seconds:.0f} s" if minutes else f"{seconds:.1f} s"


_shown: ContextVar[Progress | None] = ContextVar("_shown", default=None)
"""The work of this thread, and of those that compile for it, that is shown."""
_screen = threading.Lock()
"""Held by who writes the line: there is one, and work inside of other work has none of its own."""


drawers: list[Callable[[], Callable[[Progress], None] | None]] = []
"""What makes functions that write the line, by more than a terminal's own means, if it can."""


def is_told() -> bool:
    """Say whether somebody looks: stderr is a terminal, and ADCOMPILER_QUIET is not set, or is 0.
    """
    return sys.stderr is not None and sys.stderr.isatty() and (
        os.environ.get(VARIABLE, "0") in ("", "0"))


@contextmanager
def showing(what: str, after: float = 0.0) -> Iterator[Progress]:
    """Show on a terminal what is done, once it takes longer than ``after`` seconds.

    What is inside of other work that is shown is a part of that.
    """
    around = _shown.get()
    if around is not None or not is_told() or not _screen.acquire(blocking=False):
        work = around or Progress(what)
        before = work.stage, work.done, work.total
        try:
            yield work
        finally:
            work.at(*before)
        return
    work = Progress(what)
    token = _shown.set(work)
    ended = threading.Event()
    teller = threading.Thread(target=tell, args=(work, after, ended), daemon=True)
    try:
        teller.start()
        yield work
    finally:
        _shown.reset(token)
        ended.set()
        if teller.ident is not None:
            teller.join()
        _screen.release()


def watching(wanted: bool, what: Any) -> AbstractContextManager[Any]:
    """Show on a terminal what is done, a text or a derivative, from the start, if wanted."""
    if not wanted:
        return nullcontext()
    return showing(what if isinstance(what, str) else repr(what)[1:-1])


def tell(work: Progress, after: float, ended: threading.Event) -> None:
    """Write the line again and again until the work has ended, then take it away."""
    if ended.wait(after):
        return
    draw = next((draw for make in drawers if (draw := make()) is not None), plain_line)
    while True:
        draw(work)
        if ended.wait(EVERY):
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            return


def plain_line(work: Progress) -> None:
    """Write the line with a terminal's means alone."""
    share = "" if work.share is None else f"{100 * work.share:3.0f} %, "
    text = f"adcompiler: {share}{work.elapsed}: {work.told}"
    print(f"\r\x1b[K{text[:columns() - 1]}", end="", file=sys.stderr, flush=True)


def columns() -> int:
    """Return how wide the terminal is."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def counted(items: Iterable[T], stage: str = "", total: float | None = None) -> Iterable[T]:
    """Return items that are counted as they are taken, where this thread's work is shown."""
    work = _shown.get()
    return items if work is None else counting(items, work, stage, total)


def counting(
    items: Iterable[T], work: Progress, stage: str, total: float | None
) -> Iterator[T]:
    """Yield items, and note how many of them are done."""
    before = work.stage, work.done, work.total
    iterator = iter(items)
    work.at(stage, 0.0, total or length_hint(iterator, 0) or None)
    for item in iterator:
        yield item
        work.done += 1.0
    work.at(*before)


__all__ = ["Progress", "counted", "showing", "watching"]
