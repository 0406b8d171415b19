"""Try the functions of packages: ``python -m tests.real.packages --log FILE``.

The packages are those of ``tests/real/requirements.txt``; those that are not there are skipped.
Each is tried in a process of its own, with nothing in the cache. ``--table`` writes the table of
``docs/real-code.md`` from a log.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib.metadata
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.real.packages import earth, engineering, statistics as numbers_of
from tests.real.packages.cases import Case, Outcome, judge

GROUPS: dict[str, tuple[Case, ...]] = {
    **engineering.GROUPS, **earth.GROUPS, **numbers_of.GROUPS,
}
SECONDS = 15
"""Compiling one function may take no longer: it is refused then, unless ADCOMPILER_BUDGET says."""


def tried(package: str, only: str, send: Any) -> None:
    """Send what comes of the cases of a package."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        for one in GROUPS[package]:
            if only in f"{package} {one.label}":
                send.send(judge(package, one))
    send.send(None)


def outcomes(only: str) -> Iterator[Outcome]:
    """Yield what comes of each case, in the order of the table; packages not there are left out."""
    context = multiprocessing.get_context("fork")
    for package, cases in GROUPS.items():
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            print(f"{package} is not installed", file=sys.stderr)
            continue
        if not any(only in f"{package} {one.label}" for one in cases):
            continue
        receive, send = context.Pipe(duplex=False)
        process = context.Process(target=tried, args=(package, only, send))
        process.start()
        send.close()
        try:
            while (found := receive.recv()) is not None:
                yield found
        except EOFError:
            yield Outcome(package, package, "raw", 0.0, "the process ended")
        process.join()


def table(found: list[Outcome]) -> Iterator[str]:
    """Yield the lines of a table: a row for each package, and what of it is not right."""
    packages: dict[str, list[Outcome]] = {}
    for one in found:
        packages.setdefault(one.package, []).append(one)
    yield "| package | right | the others |"
    yield "|---|---|---|"
    for package, group in packages.items():
        right = sum(one.result == "right" for one in group)
        others = "; ".join(
            f"`{one.target.rpartition('.')[2]}`: {one.result}, {reason(one.text)}"
            for one in group if one.result != "right")
        version = importlib.metadata.version(package)
        yield f"| {package} {version} | {right} of {len(group)} | {others} |"


def reason(text: str) -> str:
    """Return the first line of a message, without the place."""
    first = text.splitlines()[0] if text else ""
    return first.partition(": ")[2].replace("|", "\\|") or first


def summary(found: list[Outcome]) -> str:
    """Return the figures of a run in one line."""
    tally = {kind: sum(one.result == kind for one in found)
             for kind in ("right", "refused", "infinite", "wrong", "raw", "broken")}
    seconds = [one.seconds for one in found] or [0.0]
    text = ", ".join(f"{count} {kind}" for kind, count in tally.items())
    return (f"{len(found)} functions of {len({one.package for one in found})} packages: {text}; "
            f"cold: {statistics.median(seconds):.2f} s median, {max(seconds):.1f} s longest")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", type=Path, required=True, help="JSON, a line for each")
    parser.add_argument("--only", default="", help="a part of the package's or function's name")
    parser.add_argument("--table", action="store_true", help="write the table of a log")
    options = parser.parse_args()
    if options.table:
        found = [Outcome(**json.loads(line)) for line in options.log.read_text().splitlines()]
        print("\n".join(table(found)))
    else:
        found = run(options.log, options.only)
    print(summary(found), file=sys.stderr)


def run(log: Path, only: str) -> list[Outcome]:
    """Try the functions, and write the log as they are tried."""
    from adcompiler import grad

    os.environ.setdefault("ADCOMPILER_BUDGET", f"200000,{SECONDS}")
    found: list[Outcome] = []
    with tempfile.TemporaryDirectory() as cache, log.open("w") as out:
        os.environ["ADCOMPILER_CACHE_DIR"] = cache
        grad(summary_of_rules)(1.0)
        for one in outcomes(only):
            found.append(one)
            out.write(json.dumps(dataclasses.asdict(one)) + "\n")
            out.flush()
            first = one.text.splitlines()[0] if one.text else ""
            print(f"{one.result:8} {one.target:60} {one.seconds:5.1f} s  {first}", flush=True)
    return found


def summary_of_rules(x: float) -> float:
    """Be compiled first, so that no function is charged for loading the rules."""
    return x * x


if __name__ == "__main__":
    main()
