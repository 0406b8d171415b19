"""``python -m tests.sweep --part 3/20 --seconds 600``: run a slice of the sweep; tell its outcome.

With ``--log FILE`` what was done is added to that file, function by function; what is in it is not
run again, so that a run that was stopped goes on where it was. A tally of the file is printed.
"""

from __future__ import annotations

import argparse
import collections
import time
from pathlib import Path

from tests.sweep.cells import cells_of, functions
from tests.sweep.listed import reason
from tests.sweep.products import check

Tally = collections.Counter[str]


def swept(module: str, name: str, show: str) -> Tally:
    """Check the cells of one function; print those whose outcome is asked for, and count them."""
    tally: Tally = collections.Counter()
    for cell in cells_of(module, name):
        outcome = check(cell)
        listed = outcome.status in ("wrong", "raw", "slow") and reason(cell)
        status = "listed" if listed else outcome.status
        tally[status] += 1
        if status in show.split(",") or show == "all":
            print(f"{status:8}{cell.shown}  {outcome.detail}", flush=True)
    return tally


def done_in(log: Path | None) -> dict[str, Tally]:
    """Return the tallies of the functions that a log tells of."""
    rows = log.read_text().splitlines() if log is not None and log.exists() else []
    found: dict[str, Tally] = {}
    for row in rows:
        name, *counts = row.split()
        pairs = (count.split("=") for count in counts)
        found[name] = collections.Counter({status: int(count) for status, count in pairs})
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sweep", description=__doc__)
    parser.add_argument("--part", default="1/1", help="which slice of how many: 3/20")
    parser.add_argument("--only", default="", help="functions whose name contains this")
    parser.add_argument("--show", default="wrong,raw", help="outcomes to print, or all")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no more then")
    parser.add_argument("--log", type=Path, help="a file of what is done, which is not done again")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    started, done = time.monotonic(), done_in(options.log)
    chosen = [
        (module, name) for i, (module, name) in enumerate(functions())
        if i % parts == part - 1 and options.only in f"{module}.{name}"
    ]
    left = [f for f in chosen if ".".join(f) not in done]
    for module, name in left:
        if time.monotonic() - started > options.seconds:
            break
        found = done[f"{module}.{name}"] = swept(module, name, options.show)
        if options.log is not None:
            with options.log.open("a") as file:
                counts = " ".join(f"{status}={count}" for status, count in found.items())
                print(f"{module}.{name} {counts}", file=file)
    tally: Tally = collections.Counter()
    for counts in done.values():
        tally += counts
    print(f"{len(done)} functions, {len(chosen)} in this part:", ", ".join(
        f"{count} {status}" for status, count in sorted(tally.items())))
    return int(bool(tally["wrong"] + tally["raw"]))


if __name__ == "__main__":
    raise SystemExit(main())
