"""Try the functions of the packages: ``python -m tests.record.packages --log FILE``.

The packages are those of ``requirements.txt`` beside this file; those that are not there are
skipped. Each is tried in a process of its own, with nothing in the cache, and each function for a
limited time. ``--backend`` says which engine differentiates.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib.metadata
import json
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.real.packages.__main__ import SECONDS, summary, summary_of_rules
from tests.real.packages.cases import Case, Outcome, judge
from tests.record.packages import geometry, known, learning, physics, polynomials, solids, values

UNTRIED: dict[str, tuple[Case, ...]] = {
    **values.GROUPS, **polynomials.GROUPS, **geometry.GROUPS, **solids.GROUPS, **learning.GROUPS,
    **physics.GROUPS,
}
"""Of packages that were not tried before."""
GROUPS: dict[str, tuple[Case, ...]] = {**UNTRIED, **known.GROUPS}
LIMIT = 150
"""Seconds after which a function is given up."""


def late(*_: Any) -> None:
    """End what takes too long."""
    raise TimeoutError(f"more than {LIMIT} s")


def tried(package: str, only: str, backend: str, send: Any) -> None:
    """Send what comes of the cases of a package."""
    signal.signal(signal.SIGALRM, late)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        for one in GROUPS[package]:
            if only in f"{package} {one.label}":
                signal.alarm(LIMIT)
                send.send(judge(package, one, backend=backend))
                signal.alarm(0)
    send.send(None)


def outcomes(only: str, backend: str) -> Iterator[Outcome]:
    """Yield what comes of each case; packages that are not there are left out."""
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
        process = context.Process(target=tried, args=(package, only, backend, send))
        process.start()
        send.close()
        try:
            while (found := receive.recv()) is not None:
                yield found
        except EOFError:
            yield Outcome(package, package, "raw", 0.0, "the process ended")
        process.join()


def run(log: Path, only: str, backend: str) -> list[Outcome]:
    """Try the functions, and write the log as they are tried."""
    from adcompiler import grad

    os.environ.setdefault("ADCOMPILER_BUDGET", f"200000,{SECONDS}")
    found: list[Outcome] = []
    with tempfile.TemporaryDirectory() as cache, log.open("w") as out:
        os.environ["ADCOMPILER_CACHE_DIR"] = cache
        grad(summary_of_rules, backend=backend)(1.0)
        for one in outcomes(only, backend):
            found.append(one)
            out.write(json.dumps(dataclasses.asdict(one)) + "\n")
            out.flush()
            first = one.text.splitlines()[0] if one.text else ""
            print(f"{one.result:8} {one.package:16} {one.target:40} {one.seconds:5.1f} s  {first}",
                  flush=True)
    return found


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", type=Path, required=True, help="JSON, a line for each")
    parser.add_argument("--only", default="", help="a part of the package's or function's name")
    parser.add_argument("--backend", default="python", help="python, or record")
    options = parser.parse_args()
    print(summary(run(options.log, options.only, options.backend)), file=sys.stderr)


if __name__ == "__main__":
    main()
