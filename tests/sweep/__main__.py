"""``python -m tests.sweep --part 3/20``: run a slice of the sweep, and tell what came out."""

from __future__ import annotations

import argparse
import collections

from tests.sweep.cells import cells_of, functions
from tests.sweep.listed import reason
from tests.sweep.products import check


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sweep", description=__doc__)
    parser.add_argument("--part", default="1/1", help="which slice of how many: 3/20")
    parser.add_argument("--only", default="", help="functions whose name contains this")
    parser.add_argument("--show", default="wrong,raw", help="outcomes to print, or all")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    tally: collections.Counter[str] = collections.Counter()
    bad = 0
    for i, (module, name) in enumerate(functions()):
        if i % parts != part - 1 or options.only not in f"{module}.{name}":
            continue
        for cell in cells_of(module, name):
            outcome = check(cell)
            status = outcome.status
            if status in ("wrong", "raw", "slow") and reason(cell):
                status = "listed"
            tally[status] += 1
            bad += status in ("wrong", "raw")
            if status in options.show.split(",") or options.show == "all":
                print(f"{status:8}{cell.shown}  {outcome.detail}", flush=True)
    print(", ".join(f"{count} {status}" for status, count in sorted(tally.items())))
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
