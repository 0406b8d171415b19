"""Running the tests that reach a mutant, in a copy of the tree, until one fails."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

import pytest

from tests.mutation.reached import ROOT, Reached

MEMORY = 8 << 30
FIRST = 20.0
"""Seconds of tests in the first process, which kills most mutants."""
EARLY = ("tests/ir_cases/", "tests/evaluation/", "tests/golden/")
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.M)


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant."""

    status: str
    """``killed``, ``timeout``, ``survived``, or ``unreached`` when no test runs the place."""
    by: str = ""
    ran: int = 0
    left: int = 0
    seconds: float = 0.0


def spread(tests: list[str]) -> list[str]:
    """Tests in turns of one of each file, the earlier ones first."""
    files: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        files[test.partition("::")[0]].append(test)
    return [test for turn in zip_longest(*files.values()) for test in turn if test is not None]


def in_order(tests: list[str], path: str) -> list[str]:
    """The tests on IR and of the folder that mirrors a module's first, each from the fastest up."""
    mirror = f"tests/{Path(path).parts[1]}/"
    early = [test for test in tests if test.startswith((*EARLY, mirror))]
    chosen = set(early)
    return list(chain(spread(early), spread([test for test in tests if test not in chosen])))


def slices(
    tests: list[str], seconds: dict[str, float], budget: float
) -> tuple[list[str], list[str]]:
    """The tests of the first process, and those of the second; what does not fit is in neither."""
    first: list[str] = []
    second: list[str] = []
    spent = 0.0
    for test in tests:
        if spent + seconds[test] > budget:
            continue
        spent += seconds[test]
        (first if spent <= FIRST else second).append(test)
    return first, second


class Tree:
    """A copy of the repository, in which one file at a time is mutated."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        self.folder = folder
        shutil.rmtree(self.root, ignore_errors=True)
        names = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
            check=True, capture_output=True, text=True).stdout.split("\0")
        for name in filter(None, names):
            if (ROOT / name).exists():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.root / name)

    def environment(self, tests: list[str]) -> dict[str, str]:
        """What the tests' process is told: where the tree is, and which tests to run."""
        (self.folder / "chosen").write_text("\n".join(tests))
        paths = os.pathsep.join([str(self.root), str(self.root / "rules")])
        return {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1",
                "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
                "ADCOMPILER_CHOSEN": str(self.folder / "chosen"),
                "ADCOMPILER_CACHE_DIR": str(self.folder / "cache")}

    def run(self, tests: list[str], limit: float) -> str:
        """Run tests; the name of the one that failed, ``timeout``, or nothing."""
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider",
                   "-p", "tests.mutation.chosen", *files]
        process = subprocess.Popen(
            command, cwd=self.root, env=self.environment(tests), text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.returncode in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
            return ""
        if process.returncode == pytest.ExitCode.USAGE_ERROR:
            raise RuntimeError(output)
        found = FAILED.search(output)
        return found[1] if found else " ".join(output.split()[-40:])

    def verdict(self, path: str, mutated: str, tests: list[str], reached: Reached,
                budget: float) -> Verdict:
        """Run the tests that reach a mutant until one fails, as many as the budget allows.

        Tests of the map whose file is not there by now are left out.
        """
        tests = [test for test in tests if (self.root / test.partition("::")[0]).exists()]
        if not tests:
            return Verdict("unreached")
        began, before = time.monotonic(), (self.root / path).read_text()
        (self.root / path).write_text(mutated)
        ran = 0
        try:
            for part in slices(in_order(tests, path), reached.seconds, budget):
                expected = sum(reached.seconds[test] for test in part)
                failed = self.run(part, 60.0 + 4.0 * expected) if part else ""
                ran += len(part)
                if failed:
                    status = "timeout" if failed == "timeout" else "killed"
                    return Verdict(status, failed, ran, len(tests) - ran, time.monotonic() - began)
            return Verdict("survived", "", ran, len(tests) - ran, time.monotonic() - began)
        finally:
            (self.root / path).write_text(before)
