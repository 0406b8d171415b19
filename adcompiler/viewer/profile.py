"""A run of a derivative, measured: time by source line, and bytes held through the run."""

from __future__ import annotations

import ast
import gc
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from types import FrameType, FunctionType
from typing import Any

import numpy as np

from adcompiler.frontend.sources.places import is_users
from adcompiler.plot import figure, html_table
from adcompiler.support.structs import dataclass
from adcompiler.viewer.listed import Listed
from adcompiler.viewer.page import View, size_text
from adcompiler.viewer.sources import Place, name_of

MOST = 2000
"""So many points of a timeline are kept: of more, the larger one of each two."""


@dataclass(frozen=True)
class LineTime:
    """Seconds that a line of the function takes: in the forward pass, and in the reverse sweep."""

    file: str
    line: int
    text: str
    forward: float
    reverse: float

    @property
    def seconds(self) -> float:
        """Both together."""
        return self.forward + self.reverse


class Timeline:
    """Bytes held before each line that is run, beside what was held before: see ``Profile``."""

    def __init__(self) -> None:
        # Room that is made beforehand: what is noted is not to show in what is measured.
        self.points = np.zeros((3, MOST), np.int64)
        self.spare = self.points.copy()
        self.size = 0
        self.count = 0
        self.every = 1
        self.peak = 0

    def add(self, held: int, reverse: bool) -> None:
        """Add a point; where there are too many, of each two the larger one is kept."""
        self.count += 1
        if self.size == MOST:
            self.every *= 2
            self.points, self.spare, self.size = self.spare, self.points, 0
            for point in self.spare.T:
                self.put(*point)
        self.put(self.count, held, reverse)

    def put(self, step: int, held: int, reverse: bool) -> None:
        """Add a point, or take it together with the last one if that is near."""
        steps, sizes, phases = self.points
        last = self.size - 1
        near = last >= 0 and step - steps[last] < self.every and phases[last] == reverse
        if near or self.size == MOST:
            sizes[last] = max(sizes[last], held)
        else:
            self.points[:, self.size] = step, held, reverse
            self.size += 1

    @property
    def steps(self) -> np.ndarray:
        """The number of lines run before each point."""
        return self.points[0, :self.size]

    @property
    def held(self) -> np.ndarray:
        """The bytes at each point."""
        return self.points[1, :self.size]

    @property
    def reverse(self) -> np.ndarray:
        """Whether each point is in the sweep."""
        return self.points[2, :self.size] > 0

    @property
    def at_sweep(self) -> int:
        """The bytes that are held when the sweep starts; 0 without one."""
        starts = self.held[self.reverse]
        return int(starts[0]) if starts.size else 0


@dataclass
class Profile:
    """A run of a derivative, measured line by line; ``Derivative.profile`` makes it.

    ``lines`` are those of the function that took time, the slowest first, ``seconds`` the whole
    run's, of which ``other`` are those of no line of the function: checks of arguments, what code
    shares. ``timeline`` has the bytes that Python holds beside what it held before: ``steps``
    (lines run before), ``held`` there, ``reverse`` (whether in the sweep) and the ``peak``.
    """

    listed: Listed
    emitted: list[float]
    seconds: float
    lines: list[LineTime]
    timeline: Timeline

    @property
    def other(self) -> float:
        """Seconds of no line of the function."""
        return max(self.seconds - sum(line.seconds for line in self.lines), 0.0)

    @property
    def title(self) -> str:
        """What was run, how long it took, and what it held at most."""
        return (f"{self.listed.title}: {time_text(self.seconds)}, "
                f"at most {size_text(self.timeline.peak)} held, "
                f"{size_text(self.timeline.at_sweep)} when the sweep starts")

    def rows(self) -> list[tuple[str, ...]]:
        """Return the rows of the table as texts."""
        whole = self.seconds or 1.0
        found = []
        for line in self.lines:
            name = name_of(line.file)
            found.append((
                f"{name}:{line.line}", time_text(line.forward), time_text(line.reverse),
                f"{100 * line.seconds / whole:.0f} %", line.text.strip()))
        share = f"{100 * self.other / whole:.0f} %"
        return [*found, ("other", time_text(self.other), "", share, "")]

    def __str__(self) -> str:
        rows = [HEAD, *self.rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        shown = [
            "  ".join([row[0].ljust(widths[0]), *(
                cell.rjust(width) for cell, width in zip(row[1:4], widths[1:], strict=True)),
                row[4]]).rstrip() for row in rows]
        return "\n".join([self.title, *shown])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self.title, HEAD, self.rows()) + timeline_svg(self.timeline)

    def view(self) -> View:
        """Return the page of function and code, with the share of each line and the timeline."""
        return View(self.listed, self.shares(), timeline_svg(self.timeline))

    def shares(self) -> tuple[dict[Place, float], dict[int, float]]:
        """Return what share of the run lines of the function, and of the code, take."""
        whole = self.seconds or 1.0
        return (
            {(line.file, line.line): line.seconds / whole for line in self.lines},
            {number: one / whole for number, one in enumerate(self.emitted) if number and one},
        )

    def plot(self, axes: Any = None) -> Any:
        """Draw times by line, and below the bytes held through the run; return both axes.

        ``axes`` are two of matplotlib's, by default of a new figure. Raises ImportError without
        matplotlib.
        """
        shown = self.lines[:20]
        if axes is None:
            axes = figure(8.0, 4.2 + 0.24 * len(shown)).subplots(
                2, 1, height_ratios=[1.0 + 0.24 * len(shown), 3.0])
        times, memory = axes
        names = [f"{line.line}  {line.text.strip()[:40]}" for line in shown]
        places = range(len(shown))
        times.barh(places, [1e3 * line.forward for line in shown], color=FORWARD, label="forward")
        times.barh(
            places, [1e3 * line.reverse for line in shown], color=REVERSE, label="reverse",
            left=[1e3 * line.forward for line in shown])
        times.set_yticks(places, names, family="monospace", fontsize=8)
        times.invert_yaxis()
        times.set_xlabel("milliseconds")
        times.legend()
        line = self.timeline
        for phase, color in ((False, FORWARD), (True, REVERSE)):
            memory.fill_between(
                line.steps, line.held, where=line.reverse == phase, color=color,
                step="post", alpha=0.7)
        memory.set_xlabel("lines run")
        memory.set_ylabel("bytes held")
        memory.set_ylim(bottom=0)
        return axes


HEAD = ("line", "forward", "reverse", "share", "")
FORWARD, REVERSE = "#1f6feb", "#c2410c"
WIDTH, HEIGHT = 600, 120


def time_text(seconds: float) -> str:
    """Return a time in milliseconds, or in seconds if it is long."""
    return f"{seconds:.2f} s" if seconds >= 1.0 else f"{1e3 * seconds:.3f} ms"


def timeline_svg(line: Timeline) -> str:
    """Return the bytes held through a run as a picture: forward pass, then sweep."""
    most, last = line.held.max(initial=1), max(line.count, 1)
    shapes = []
    ends = [*line.steps[1:], last]
    for phase, color in ((False, FORWARD), (True, REVERSE)):
        path = "".join(
            f"M{WIDTH * (start - 1) / last:.1f} {HEIGHT}V{HEIGHT * (1 - held / most):.1f}"
            f"H{WIDTH * end / last:.1f}V{HEIGHT}Z"
            for start, end, held, reverse in zip(
                line.steps, ends, line.held, line.reverse, strict=True)
            if reverse == phase and held > 0)
        shapes.append(f'<path d="{path}" fill="{color}"/>')
    text = f"bytes held, line by line: at most {size_text(most)}"
    return (
        f'<figure style="margin: 8px 0"><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{text}" preserveAspectRatio="none" style="width: 100%; max-width: 60em; '
        f'height: {HEIGHT}px">{"".join(shapes)}</svg><figcaption>{text}; forward pass blue, '
        f"reverse sweep orange</figcaption></figure>")


def profiled(found: Listed, entry: FunctionType, run: Callable[[], Any]) -> Profile:
    """Run twice what calls emitted code: for the times of its lines, and for its memory.

    ``entry`` is one of the functions of that.

    Raises ValueError if none of these lines is run, and what ``run`` raises.
    """
    count = len(found.listing.text.splitlines())
    places = Lines(entry, found.listing.text)
    clock = Clock(places, count)
    with traced(clock.at_call):
        clock.since = perf_counter()
        run()
        clock.charge()
    seconds = sum(clock.times)  # without what measuring takes
    if not any(clock.times[1:]):
        raise ValueError(
            f"{found.title} runs {found.backend}, which has no lines to measure: profile the "
            'derivative with backend="python"')
    times: dict[Place, list[float]] = {}
    for number, one in enumerate(clock.times):
        for place, share in shared(found, number).items():
            both = times.setdefault(place, [0.0, 0.0])
            both[found.is_reverse(number)] += one * share
    lines = [
        LineTime(file, line, found.files.text((file, line)), *both)
        for (file, line), both in times.items() if any(both)]
    lines.sort(key=lambda line: -line.seconds)
    timeline = held_through(run, places, [found.is_reverse(i) for i in range(count + 1)])
    return Profile(found, clock.times, seconds, lines, timeline)


def shared(found: Listed, number: int) -> dict[Place, float]:
    """Return the lines of the user's that a line of code is for, with equal shares of it."""
    origins = [origin if is_users(origin.file) else origin.via
               for origin in found.listing.origins.get(number, ())]
    places = dict.fromkeys(
        found.files.start((origin.file, origin.line)) for origin in origins if origin is not None)
    return {place: 1.0 / len(places) for place in places}


class Lines:
    """Tells lines of a listing by frames: a module's file has other lines above them."""

    def __init__(self, entry: FunctionType, text: str) -> None:
        code = entry.__code__
        self.file = code.co_filename
        (line,) = (node.lineno for node in ast.parse(text).body
                   if isinstance(node, ast.FunctionDef) and node.name == entry.__name__)
        self.above = code.co_firstlineno - line


class Clock:
    """Adds up the times of lines; index 0 is all the rest."""

    def __init__(self, lines: Lines, count: int) -> None:
        self.lines = lines
        self.times = [0.0] * (count + 1)
        self.line = 0
        self.callers: list[int] = []
        self.since = 0.0

    def at_call(self, frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != self.lines.file:
            return None
        self.charge()
        self.callers.append(self.line)
        self.since = perf_counter()
        return self.at_line

    def at_line(self, frame: FrameType, event: str, _: Any) -> Any:
        self.charge()
        if event == "line":
            self.line = frame.f_lineno - self.lines.above
        elif event == "return":
            self.line = self.callers.pop()
        self.since = perf_counter()  # the time of this method is nobody's
        return self.at_line

    def charge(self) -> None:
        """Add the time since the last event to its line; lines beyond are not the listing's."""
        known = 0 < self.line < len(self.times)
        self.times[self.line if known else 0] += perf_counter() - self.since


def held_through(run: Callable[[], Any], lines: Lines, is_reverse: list[bool]) -> Timeline:
    """Run what calls emitted code, and return what Python holds before each of its lines."""
    timeline = Timeline()
    gc.collect()  # which empties the lists of freed objects: those in them count as allocated
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start()
    base, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()

    def at_line(frame: FrameType, event: str, _: Any) -> Any:
        number = frame.f_lineno - lines.above
        if event == "line" and number < len(is_reverse):
            held = tracemalloc.get_traced_memory()[0] - base
            timeline.add(max(held, 0), is_reverse[number])
        return at_line

    def at_call(frame: FrameType, event: str, _: Any) -> Any:
        return at_line if frame.f_code.co_filename == lines.file else None

    try:
        with traced(at_call):
            run()
        timeline.peak = max(tracemalloc.get_traced_memory()[1] - base, 0)
    finally:
        if not was_tracing:
            tracemalloc.stop()
    return timeline


@contextmanager
def traced(at_call: Callable[[FrameType, str, Any], Any]) -> Iterator[None]:
    """Let the calls of this thread be told to ``at_call``, in place of a debugger, meanwhile."""
    before = sys.gettrace()
    sys.settrace(at_call)
    try:
        yield
    finally:
        sys.settrace(before)


__all__ = ["LineTime", "Profile", "Timeline", "profiled"]
