"""What a compile may cost: how many statements, how many seconds, and how deep a program may be.

``ADCOMPILER_BUDGET`` is ``statements,seconds``, each a number or ``inf``; the second may be left
out. The compiler's walks follow the nesting of a program, so that it runs on a thread with a stack
of its own: a sum of a thousand terms is nested a thousand deep.
"""

from __future__ import annotations

import contextvars
import gc
import math
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from adcompiler.errors import ADError, Finding, TooLargeError, TooLongError

T = TypeVar("T")

STATEMENTS, SECONDS = 40_000, 120.0
"""What decides is the number of statements, which takes ten seconds or so; seconds are a net.

They are many, so that machines that are slow, or busy, refuse the same programs as others do.
"""
LIBRARY = 0.15
"""The share of them that one call into an installed package may take: far more than is common."""
VARIABLE = "ADCOMPILER_BUDGET"
CHECKED_EVERY = 64
DEPTH = 60_000
COLLECTED_EVERY = 1_000_000
"""How many objects there may be more before cycles are looked for; of about 100 bytes each."""
STACKS = tuple(size << 20 for size in (256, 64, 16))
"""Sizes of the stack to try, largest first; memory is only taken as far as it is used."""


class Site(Protocol):
    """Where a call is: an origin in the user's source."""

    @property
    def call(self) -> str:
        """The call as errors show it."""

    def finding(self, problem: str, hint: str = "", anchor: str = "") -> Finding:
        """Return a finding at this place."""


class Clock:
    """How many seconds the threads that compile have computed; waiting for others is not counted.

    Which programs are compiled does not depend on what else the machine does, then.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.last = threading.local()

    def read(self) -> float:
        """Return the seconds, those of this thread since it last read among them."""
        now = time.thread_time()
        self.seconds += now - getattr(self.last, "time", now)
        self.last.time = now
        return self.seconds


_shared: contextvars.ContextVar[Clock | None] = contextvars.ContextVar("_shared", default=None)
"""The clock of several tries."""


class Budget:
    """What one compile may spend, and what it has spent for each call that it is inside of.

    ``relied`` has what each of its tries found and relied on, which decides what is spent.
    ``reached`` is told the stage that begins, and about what share of the time is over then.
    """

    def __init__(self, statements: float = STATEMENTS, seconds: float = SECONDS) -> None:
        self.statements = statements
        self.seconds = seconds
        self.spent = 0
        self.spent_for: dict[int, tuple[Site, int]] = {}
        self.clock = _shared.get() or Clock()
        self.relied: list[Any] = []
        self.reached: Callable[[str, float], None] = lambda stage, share: None

    @classmethod
    def from_environment(cls) -> Budget:
        """Return the budget that ADCOMPILER_BUDGET asks for; raises ADError if it is malformed."""
        return cls(*positive_numbers(VARIABLE, "statements", "seconds"))

    def spend(self, here: Site, sites: Sequence[Site], entered: Site | None = None) -> None:
        """Count one statement at ``here``, reached by the calls at ``sites``, outermost first.

        ``entered`` is the one of them that called an installed package, if it is of such. Raises
        TooLargeError, which names the call that most was spent for, when too much is spent.
        """
        self.spent += 1
        for site in sites:
            self.spent_for[id(site)] = site, self.spent_on(site) + 1
        if self.spent > self.statements or (
            entered is not None and self.spent_on(entered) > self.statements * LIBRARY
        ):
            raise TooLargeError([self.finding(here, sites, f"{self.spent:,} statements")])
        if self.spent % CHECKED_EVERY == 0:
            self.check(here, sites)

    def check(self, here: Site, sites: Sequence[Site] = ()) -> None:
        """Raise TooLargeError if the time is over, KeyboardInterrupt if nobody waits any longer."""
        stop = getattr(_worker, "stop", None)
        if stop is not None and stop.is_set():
            raise KeyboardInterrupt
        seconds = self.clock.read()
        if seconds > self.seconds:
            raise TooLongError([self.finding(here, sites, f"{seconds:.0f} seconds")])

    def finding(self, here: Site, sites: Sequence[Site], cost: str) -> Finding:
        """Return what names the innermost call which at least half was spent for."""
        known = list(sites) or [site for site, _ in self.spent_for.values()]
        large = [site for site in known if 2 * self.spent_on(site) >= self.spent]
        outer = known[: known.index(large[-1])] if large and sites else []
        what = "the call here is too large to compile" if large else (
            "the function is too large to compile")
        finding = (large[-1] if large else sites[0] if sites else here).finding(
            f"{what}: {cost} went into it",
            "write a rule for the function called (`@adcompiler.rrule`), or allow more: "
            f"{VARIABLE}=statements,seconds, of which the defaults are {STATEMENTS},{SECONDS:.0f}",
            "budget",
        )
        callers = tuple(dict.fromkeys(site.call for site in reversed(outer)))
        return replace(finding, callers=callers)

    def spent_on(self, site: Site) -> int:
        """Return how many statements the call at ``site`` has led to."""
        return self.spent_for.get(id(site), (site, 0))[1]


def positive_numbers(variable: str, first: str, second: str) -> list[float]:
    """Return the numbers that an environment variable holds: none, one or two.

    Raises ADError if they are not what is called ``first`` and ``second``.
    """
    text = os.environ.get(variable, "")
    try:
        numbers = [float(part) for part in text.split(",")] if text.strip() else []
    except ValueError:
        numbers = [math.nan]
    if len(numbers) > 2 or not all(number > 0 for number in numbers):
        raise ADError(
            f"{variable}={text!r} is not `{first}` or `{first},{second}`: positive numbers, or "
            "inf for no bound"
        )
    return numbers


@contextmanager
def together() -> Iterator[None]:
    """Let all that is compiled meanwhile take the seconds of one compile, not each of them."""
    clock = _shared.set(_shared.get() or Clock())
    try:
        yield
    finally:
        _shared.reset(clock)


# -- depth -----------------------------------------------------------------------------------------

_worker = threading.local()
_raised = threading.Lock()
_limits: list[int] = []
"""What the limit of recursion was when each of those came who have raised it."""
_raised_to: list[int] = []
"""The limit that was set last, by any of them."""
_thresholds: list[tuple[int, int, int]] = []


def _forget_threads() -> None:
    """In a child that was forked, no thread is compiling."""
    global _raised
    _raised = threading.Lock()
    _limits.clear()
    _collect_as_before()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def is_deep() -> bool:
    """Say whether this thread is one that compiles: whoever waits for it holds the lock."""
    return getattr(_worker, "stop", None) is not None


def deeply(work: Callable[[], T]) -> T:
    """Return ``work()``, called where functions may call one another ``DEPTH`` deep.

    Exceptions are those of ``work``. An interrupt of who waits ends the work too.
    """
    if is_deep():
        return work()
    results: list[T] = []
    errors: list[BaseException] = []
    stop = threading.Event()

    def run() -> None:
        _worker.stop = stop
        try:
            with recursion(DEPTH), few_collections():
                results.append(work())
        except BaseException as error:
            errors.append(error)

    context = contextvars.copy_context()
    thread = started(lambda: context.run(run))
    try:
        thread.join()
    except BaseException:
        stop.set()
        thread.join()
        raise
    if errors:
        try:
            raise errors[0]
        finally:
            errors.clear()  # else the error and this frame would keep one another
    return results[0]


def started(run: Callable[[], None]) -> threading.Thread:
    """Return a thread that runs ``run``, with the largest stack that there is room for."""
    before = threading.stack_size()
    for size in STACKS:
        thread = threading.Thread(target=run, name="adcompiler", daemon=True)
        try:
            threading.stack_size(size)
            thread.start()
        except (RuntimeError, ValueError):
            continue
        finally:
            threading.stack_size(before)
        return thread
    thread = threading.Thread(target=run, name="adcompiler", daemon=True)
    thread.start()
    return thread


@contextmanager
def recursion(limit: int) -> Iterator[None]:
    """Let functions call one another ``limit`` deep; the last to leave restores what was."""
    with _raised:
        _limits.append(sys.getrecursionlimit())
        _raised_to[:] = [max(limit, _limits[-1])]
        sys.setrecursionlimit(_raised_to[0])
    try:
        yield
    finally:
        with _raised:
            before = _limits[0] if len(_limits) == 1 else None
            _limits.pop()
            if before is not None and [sys.getrecursionlimit()] == _raised_to:
                sys.setrecursionlimit(before)  # unless somebody else has set it since


class _OfThread:
    """Matches the modules that one thread runs, as a filter of warnings asks for them."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()

    def match(self, module: str) -> bool:
        """Say whether this thread is the one."""
        return threading.get_ident() == self.thread


@contextmanager
def quiet(*categories: type[Warning]) -> Iterator[None]:
    """Ignore warnings of these categories, by default of all, in this thread alone.

    ``warnings.catch_warnings`` puts back all filters of the process as they were: where another
    thread does so meanwhile, filters would be lost, or stay for good.
    """
    thread: Any = _OfThread()
    entries = [("ignore", None, one, thread, 0) for one in categories or (Warning,)]
    filters: Any = warnings.filters
    filters[:0] = entries
    try:
        yield
    finally:
        for found in (filters, warnings.filters):
            found[:] = [one for one in found if one[3] is not thread]  # type: ignore[index]


@contextmanager
def few_collections() -> Iterator[None]:
    """Let the collector of cycles wait for ``COLLECTED_EVERY`` objects: it took a quarter of a
    long compile, looking at the program again and again. The last to leave restores what was.
    """
    with _raised:
        _thresholds.append(gc.get_threshold())
        first = _thresholds[0]
        if 0 < first[0] < COLLECTED_EVERY:
            gc.set_threshold(COLLECTED_EVERY, *first[1:])
    try:
        yield
    finally:
        with _raised:
            if len(_thresholds) == 1:
                _collect_as_before()
            else:
                _thresholds.pop()


def _collect_as_before() -> None:
    """Restore what was set before the first compile began, unless something else was set since."""
    if _thresholds and gc.get_threshold()[0] == COLLECTED_EVERY:
        gc.set_threshold(*_thresholds[0])
    _thresholds.clear()
