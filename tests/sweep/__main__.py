"""``python -m tests.sweep --log FILE --seconds 600``: run the sweep, or go on with it.

Functions are run in processes that may hang or die. What became of each cell is a row of the log;
functions that are finished there are not run again, but cells whose outcome ``--again`` names are.
The order gives each module its share early.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import resource
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.sweep.cells import Cell, cells_of, functions
from tests.sweep.listed import reason
from tests.sweep.products import SECONDS, check

LOST = ("died", "slow")
BAD = ("wrong", "raw", *LOST)
STALLED = 150.0
BATCH = 25
COSTLY = 1.0
MEMORY = 6 << 30
Row = dict[str, Any]
Cells = dict[tuple[str, int], Row]
Task = tuple[str, str, set[int] | None]
"""A function, and the numbers of the cells to run; None for all."""


def write(log: Path, **row: Any) -> None:
    """Add a row to the log."""
    with log.open("a") as file:
        print(json.dumps(row), file=file)


def run(task: Task, log: Path, seen: Cells, limit: int) -> None:
    """Check the cells of one function, or some of them; each is a row of the log.

    Those that this run has seen before it lost a process are left out, and so is what follows one
    that did not end. A process in which a cell did not end is given up. Once a refusal
    took long, the other cells of the function, which need the same, are skipped.
    """
    module, name, only = task
    costly = 0
    function = f"{module}.{name}"
    lost = [r for (f, _), r in seen.items() if f == function and r["status"] in LOST]
    about = {"function": function, "number": -1, "cell": f"{function}: its arguments"}
    if (function, -1) in seen:
        write(log, **about, status="skipped", detail="the library itself does not come back")
    elif not lost:
        write(log, **about, status="died", detail="")
    cells = list(cells_of(module, name)) if not lost else []
    if not lost:
        write(log, **about, status="begun")
    for number, cell in enumerate(cells):
        if (only is not None and number not in only) or (function, number) in seen:
            continue
        row = {"function": function, "number": number, "cell": cell.shown}
        if costly:
            write(log, **row, status="skipped", detail="refused before, at length")
            continue
        write(log, **row, status="died", detail="")
        begun = time.process_time()
        outcome = check(cell, limit)
        costly += outcome.status == "refused" and time.process_time() - begun > COSTLY
        listed = outcome.status in BAD and reason(cell)
        status = "listed" if listed else outcome.status
        detail = f"{outcome.detail} ({listed})" if listed else outcome.detail
        write(log, **row, status=status, detail=detail)
        if outcome.status == "slow":
            os._exit(1)
    write(log, function=function, status="done")


def in_processes(chosen: list[Task], log: Path, seconds: float, limit: int) -> None:
    """Run functions of the sweep, some of them in each process; go on behind one that ends it."""
    begun, left, start = time.monotonic(), chosen, log.stat().st_size
    seen: Cells = {}
    while left and time.monotonic() - begun < seconds:
        in_a_process(left[:BATCH], log, seen, limit)
        done, seen = read(log, start)
        left = [task for task in left if f"{task[0]}.{task[1]}" not in done]


def in_a_process(batch: list[Task], log: Path, seen: Cells, limit: int) -> None:
    """Run functions in a process, which is ended if it makes no progress."""
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        for task in batch:
            try:
                run(task, log, seen, limit)
            except BaseException as error:
                module, name, _ = task
                write(log, function=f"{module}.{name}", number=-1, cell=f"{module}.{name}",
                      status="raw", detail=f"the sweep: {error!r}")
                write(log, function=f"{module}.{name}", status="done")
                os._exit(1)
        os._exit(0)
    moved, size = time.monotonic(), -1
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        time.sleep(0.05)
        if log.stat().st_size != size:
            size, moved = log.stat().st_size, time.monotonic()
        elif time.monotonic() - moved > STALLED:
            os.kill(child, signal.SIGKILL)


def read(log: Path, start: int = 0) -> tuple[set[str], Cells]:
    """Return the functions that a log has finished, and the last row of each cell."""
    rows = [json.loads(text) for text in log.read_text()[start:].splitlines()]
    done = {row["function"] for row in rows if row["status"] == "done"}
    cells = {(r["function"], r["number"]): r for r in rows if r["status"] != "done"}
    return done, {key: row for key, row in cells.items() if row["status"] != "begun"}


def tally(log: Path, shown: str) -> int:
    """Print the cells of a log whose outcome is asked for, and how many came out how."""
    done, cells = read(log)
    for row in cells.values():
        if row["status"] in shown.split(","):
            print(f"{row['status']:8}{row['cell']}  {row['detail']}")
    counts = collections.Counter(row["status"] for row in cells.values())
    print(f"{len(done)} functions, {len(cells)} cells:", ", ".join(
        f"{count} {status}" for status, count in sorted(counts.items())))
    return int(any(counts[status] for status in BAD))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sweep", description=__doc__)
    parser.add_argument("--part", default="1/1", help="which slice of how many: 3/20")
    parser.add_argument("--only", default="", help="functions whose name contains this")
    parser.add_argument("--show", default=",".join(BAD), help="outcomes to print")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no more then")
    parser.add_argument("--log", type=Path, help="a file of what is done, which is not done again")
    parser.add_argument("--limit", type=int, default=SECONDS, help="seconds that a cell may take")
    parser.add_argument("--again", default="", help="run cells with these outcomes again")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    log = options.log or Path(tempfile.mkstemp(suffix=".jsonl")[1])
    log.touch()
    done, cells = read(log)
    again = collections.defaultdict(set)
    for (function, number), row in cells.items():
        if row["status"] in options.again.split(","):
            again[function].add(number)
    check(Cell("numpy", "hypot", (0.6, 0.3)))
    tasks: list[Task] = []
    for i, (module, name) in enumerate(functions()):
        function = f"{module}.{name}"
        wanted = function in again if options.again else function not in done
        if wanted and i % parts == part - 1 and options.only in function:
            tasks.append((module, name, again.get(function)))
    in_processes(tasks, log, options.seconds, options.limit)
    return tally(log, options.show)


if __name__ == "__main__":
    raise SystemExit(main())
