"""Runs the suite: ``python -m benchmarks [--only WORDS] [--json FILE] [--plot FILE] ...``."""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import others, report
from benchmarks.engines import ENGINES
from benchmarks.fresh import first_calls
from benchmarks.program import CLASSES, Program, agree, differs_from_differences
from benchmarks.timing import SLOW, measure, peak


def programs(only: Sequence[str]) -> Iterator[tuple[str, Program]]:
    """Yield classes and programs; those that a word of ``only`` names, if there are any."""
    for family in CLASSES:
        for program in importlib.import_module(f"benchmarks.programs.{family}").PROGRAMS:
            if not only or family in only or program.name in only:
                yield family, program


def timed(program: Program, size: int, engines: Sequence[str], rounds: int) -> dict[str, Any]:
    """Return the seconds, and the bytes, that each engine takes; all agree before that."""
    args = program.at(size)
    calls, found = {}, {}
    for name in engines:
        made = ENGINES[name].ready(program, args)
        if made is None:
            continue
        derivative, given = made
        found[name] = derivative(*given)
        calls[name] = functools.partial(derivative, *given)
    wanted = found["python"]
    for name, result in found.items():
        if not ENGINES[name].approximate and not agree(result, wanted):
            raise AssertionError(f"{program.name}, {size}: {name} differs from python")
    if program.derivative == "gradient" and size == program.sizes[0]:
        wrong = differs_from_differences(program, args, wanted)
        if wrong:
            raise AssertionError(f"{program.name}: {wrong}")
    return {
        "seconds": measure(calls, rounds),
        "bytes": {name: peak(call) for name, call in calls.items()},
    }


def save(data: dict[str, Any], path: str | None) -> None:
    """Write what there is so far as JSON."""
    if path:
        Path(path).write_text(json.dumps(data, indent=1), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what ``arguments`` ask for, and print it; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD",
                        help=f"programs or classes: {', '.join([*CLASSES, *others.TABLES])}")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), metavar="ENGINE")
    parser.add_argument("--sizes", nargs="+", type=int, default=[0, 1, 2], metavar="N",
                        help="which of the sizes: 0, 1, 2")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--fresh", action="store_true", help="also time first calls in processes")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--plot", metavar="FILE")
    parser.add_argument("--chart", metavar="FILE", help="draw the times of each program")
    parser.add_argument("--markdown", metavar="FILE", help="write the page of results")
    parser.add_argument("--read", nargs="+", default=[], metavar="FILE",
                        help="measure nothing: report the results in files of JSON")
    options = parser.parse_args(arguments)
    if options.read:
        return shown(report.together(options.read), options)
    known = {name for pair in programs(()) for name in (pair[0], pair[1].name)}
    if unknown := set(options.only) - known - set(others.TABLES):
        parser.error(f"there is nothing called {', '.join(sorted(unknown))}")
    engines = ["python", *(e for e in options.engines if e != "python")]

    data: dict[str, Any] = {"machine": report.machine(), "results": [], "others": {}}
    data["command"] = command(options)
    for family, program in programs(options.only):
        slow: set[str] = set()
        for place in options.sizes:
            if place >= len(program.sizes):
                continue
            size = program.sizes[place]
            row = {"class": family, "program": program.name, "size": size, "place": place,
                   "derivative": program.derivative}
            with np.errstate(all="ignore"):
                row |= timed(
                    program, size, [e for e in engines if e not in slow], options.rounds)
            slow |= {name for name, taken in row["seconds"].items() if taken > SLOW / 2}
            slow -= {"python", "native"}
            if options.fresh and place == min(options.sizes):
                row["fresh"] = {name: first_calls(family, program.name, name)
                                for name in engines if ENGINES[name].fresh}
            data["results"].append(row)
            print(report.line(row), flush=True)
            save(data, options.json)
    data["others"] |= {name: make() for name, make in others.TABLES.items() if name in options.only}
    save(data, options.json)
    return shown(data, options)


def command(options: argparse.Namespace) -> str:
    """Return the command that measures this."""
    words = ["python -m benchmarks"]
    words += ["--only", *options.only] if options.only else []
    words += ["--sizes", *map(str, options.sizes), "--rounds", str(options.rounds)]
    return " ".join([*words, *["--fresh"] * options.fresh])


def shown(data: dict[str, Any], options: argparse.Namespace) -> int:
    """Print results, and write the page and the plot that are asked for."""
    print(report.text(data))
    if options.markdown:
        report.write_page(data, options.markdown)
    if options.plot:
        report.plot(data, options.plot)
    if options.chart:
        report.chart(data, options.chart)
    return 0


if __name__ == "__main__":
    sys.exit(main())
