"""Runs the second lane of the tests, in slices: ``make thorough``, or ``python -m tests.thorough``.

What it has run of a commit is kept in ``build/thorough``: an interrupted run goes on with the rest
of the slices. When all have run, commit and outcome are written into docs/testing.md. The
verifier runs after each pass here, where the first lane verifies what all passes give.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "thorough"
PAGE = ROOT / "docs" / "testing.md"
BEGIN = "The last run of the second lane: "
"""How the line of the page begins that is replaced."""
COUNTED = ("passed", "skipped")


def main(arguments: list[str] | None = None) -> int:
    """Run the slices that have not run, and return how a process ends."""
    parser = argparse.ArgumentParser(prog="python -m tests.thorough", description=__doc__)
    parser.add_argument("--slices", type=int, default=24, help="how many there are")
    parser.add_argument("--workers", default="auto", help="in how many processes each runs")
    parser.add_argument("--again", action="store_true", help="run those again that have failed")
    options = parser.parse_args(arguments)
    if changed := git("status", "--porcelain", "--untracked-files=no"):
        print(f"commit first, the outcome is that of a commit:\n{changed}")
        return 2
    commit = git("rev-parse", "--short=10", "HEAD")
    record = KEPT / f"{commit}-{options.slices}.json"
    done = read(record)
    for number in range(1, options.slices + 1):
        before = done.get(str(number))
        if before is not None and (before["status"] == 0 or not options.again):
            continue
        done[str(number)] = run_slice(number, options.slices, options.workers)
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
    line = outcome(commit, done)
    print(line)
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), line), encoding="utf-8")
    return int(any(one["status"] for one in done.values()))


def git(*arguments: str) -> str:
    """Return what git says of the tree."""
    run = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return run.stdout.strip()


def read(record: Path) -> dict[str, dict[str, object]]:
    """Return what was kept of the slices that have run."""
    found: dict[str, dict[str, object]] = {}
    if record.exists():
        found = json.loads(record.read_text(encoding="utf-8"))
    return found


def run_slice(number: int, slices: int, workers: str) -> dict[str, object]:
    """Run one slice, showing what it says, and return how it ended."""
    environment = {**os.environ, "ADCOMPILER_VERIFY": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-n", workers, "--dist", "worksteal",
               "--lane=second", f"--slice={number}/{slices}"]
    print(f"slice {number} of {slices}", flush=True)
    lines = []
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            sys.stdout.write(line)
            lines.append(line)
    return told(process.returncode, "".join(lines))


def told(status: int, text: str) -> dict[str, object]:
    """Return how a slice ended: its status, the tests that failed, and how many there were."""
    summary = text.strip().rpartition("\n")[2]
    counts = {what: int(n) for n, what in re.findall(r"(\d+) (\w+)", summary) if what in COUNTED}
    failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", text, re.MULTILINE)
    nothing = status == 5  # no tests were collected
    return {"status": 0 if nothing else status, "failed": failed, **counts}


def outcome(commit: str, done: dict[str, dict[str, object]]) -> str:
    """Return a line about all slices of a commit."""
    passed = sum(int(str(one.get("passed", 0))) for one in done.values())
    wrong = sorted(str(n) for n, one in done.items() if one["status"])
    failed = [name for one in done.values() for name in one["failed"]]  # type: ignore[attr-defined]
    today = datetime.now(UTC).date().isoformat()
    end = "none failed"
    if wrong:
        end = f"{len(failed)} failed (slices {', '.join(wrong)}): {', '.join(failed)}"
    return f"commit {commit}, {today}, {len(done)} slices: {passed:,} passed, {end}."


def written(page: str, line: str) -> str:
    """Return the text of the page with a line in the place of the last one."""
    before, begin, rest = page.partition(f"\n{BEGIN}")
    if not begin:
        raise SystemExit(f"{PAGE.name} has no line for the outcome, {BEGIN!r}")
    return f"{before}{begin}{line}\n{rest.partition(chr(10))[2]}"


if __name__ == "__main__":
    sys.exit(main())
