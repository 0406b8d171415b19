"""Interleaved best-of-many timings, and the table they are printed as."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

SLICE = 0.004  # seconds for which one function runs before the next one's turn
ROUNDS = 60


@dataclass(frozen=True)
class Measurement:
    """Times of one case in seconds per call, by contender, and what is asked of them.

    ``bars`` maps the name of a ratio, ``"adcompiler / hand-written"`` say, to ``("<", limit)`` or
    ``(">", limit)``; a bar whose contender was not measured is left out of the report.
    """

    case: str
    seconds: dict[str, float]
    bars: dict[str, tuple[str, float]] = field(default_factory=dict)

    def ratio(self, name: str) -> float | None:
        """Return the ratio called ``"a / b"``, or ``None`` if either was not measured."""
        above, below = (self.seconds.get(part) for part in name.split(" / "))
        return above / below if above is not None and below else None

    def results(self) -> list[tuple[str, float, str, bool]]:
        """Return ``(ratio's name, ratio, bar, met)`` for every bar that was measured."""
        found = []
        for name, (sense, limit) in self.bars.items():
            ratio = self.ratio(name)
            if ratio is not None:
                met = ratio < limit if sense == "<" else ratio > limit
                found.append((name, ratio, f"{sense} {limit:g}", met))
        return found


@dataclass(frozen=True)
class Difference:
    """The time that ``slow`` takes over ``fast``, in seconds per call, and its limit."""

    case: str
    slow: float
    fast: float
    limit: float

    @property
    def seconds(self) -> float:
        """Return the difference in seconds per call."""
        return self.slow - self.fast

    @property
    def met(self) -> bool:
        """Say whether the difference is below its limit."""
        return self.seconds < self.limit


@dataclass(frozen=True)
class Growth:
    """How the times of a case grow with its size, by contender: as which power of the size."""

    case: str
    exponents: dict[str, float]
    limits: dict[str, float] = field(default_factory=dict)

    def is_met(self, name: str) -> bool:
        """Say whether a contender's time grows no faster than its limit."""
        return self.exponents[name] < self.limits.get(name, math.inf)

    @property
    def met(self) -> bool:
        """Say whether no time grows faster than its limit."""
        return all(map(self.is_met, self.exponents))


def growth(
    case: str, sizes: Sequence[float], seconds: Sequence[dict[str, float]],
    limits: dict[str, float],
) -> Growth:
    """Return how times grew from the last size but one to the last one."""
    before, after = seconds[-2:]
    step = math.log(sizes[-1] / sizes[-2])
    return Growth(case, {
        name: math.log(after[name] / before[name]) / step for name in after if name in before
    }, limits)


def measure(
    contenders: dict[str, Callable[..., Any]],
    arguments: Sequence[Any],
    rounds: int = ROUNDS,
) -> dict[str, float]:
    """Return the best time per call of each contender, in seconds.

    The contenders take turns, each running for about ``SLICE`` seconds, so that a busy spell of the
    machine hits all of them alike; the best turn of each counts.
    """
    turns = {name: repeats(function, arguments) for name, function in contenders.items()}
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, function in contenders.items():
            best[name] = min(best[name], run(function, arguments, turns[name]) / turns[name])
    return best


def repeats(function: Callable[..., Any], arguments: Sequence[Any]) -> int:
    """Return how many calls of ``function`` fill a slice; at least one."""
    count = 1
    while (taken := run(function, arguments, count)) < SLICE / 4:
        count *= 4
    return max(1, int(count * SLICE / taken))


def run(function: Callable[..., Any], arguments: Sequence[Any], count: int) -> float:
    """Return the seconds that ``count`` calls take, the loop's own time included."""
    turns = range(count)
    start = time.perf_counter()
    for _ in turns:
        function(*arguments)
    return time.perf_counter() - start


def readable(seconds: float) -> str:
    """Return a time with three digits and a unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def table(measurements: Sequence[Measurement | Difference | Growth]) -> str:
    """Return the measurements as aligned rows: case, contender or ratio, figure, bar."""
    rows = [("case", "what", "figure", "bar", "")]
    for measurement in measurements:
        if isinstance(measurement, Difference):
            limit = f"< {readable(measurement.limit)}"
            difference = readable(max(measurement.seconds, 0.0))
            rows += [
                (measurement.case, "through the wrapper", readable(measurement.slow), "", ""),
                ("", "called directly", readable(measurement.fast), "", ""),
                ("", "difference", difference, limit, "met" if measurement.met else "MISSED"),
            ]
            continue
        if isinstance(measurement, Growth):
            for i, (name, exponent) in enumerate(measurement.exponents.items()):
                limit = measurement.limits.get(name)
                rows.append((
                    "" if i else measurement.case, name, f"n**{exponent:.2f}",
                    "" if limit is None else f"< n**{limit:g}",
                    "" if limit is None else "met" if measurement.is_met(name) else "MISSED",
                ))
            continue
        names = [measurement.case] + [""] * len(measurement.seconds)
        for name, (contender, seconds) in zip(names, measurement.seconds.items(), strict=False):
            rows.append((name, contender, readable(seconds), "", ""))
        for name, ratio, bar, met in measurement.results():
            rows.append(("", name, f"{ratio:.3g}", bar, "met" if met else "MISSED"))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    aligned = ["<", "<", ">", ">", "<"]
    return "\n".join(
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, aligned, widths, strict=True)
        ).rstrip()
        for row in rows
    )


def as_json(measurements: Sequence[Measurement | Difference | Growth]) -> list[dict[str, Any]]:
    """Return the measurements as plain data, seconds per call."""
    found = []
    for measurement in measurements:
        data = asdict(measurement)
        if isinstance(measurement, Difference):
            data |= {"seconds": measurement.seconds, "met": measurement.met}
        elif isinstance(measurement, Growth):
            data |= {"met": measurement.met}
        else:
            data["results"] = [
                {"name": name, "ratio": ratio, "bar": bar, "met": met}
                for name, ratio, bar, met in measurement.results()
            ]
        found.append(data)
    return found


def all_met(measurements: Sequence[Measurement | Difference | Growth]) -> bool:
    """Say whether every bar that was measured is met."""
    return all(
        measurement.met
        if isinstance(measurement, (Difference, Growth))
        else all(met for *_, met in measurement.results())
        for measurement in measurements
    )
