"""Which tests run which lines: a plugin that records it, and the map that is read back.

``ADCOMPILER_REACHED=FOLDER python -m pytest -p tests.mutation.reached`` writes it; Python 3.12 or
newer. Each process of the run writes a file of its own, with one row for each test: its seconds and
the lines that it ran, as the bits of a number. A line reports once in each test, so that the run
takes little longer than one without the plugin.
"""

from __future__ import annotations

import base64
import difflib
import json
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("derive", "infer", "analyses", "optimise", "sparsity")
FOLDER = os.environ.get("ADCOMPILER_REACHED", "")


def sources(root: Path = ROOT) -> dict[str, str]:
    """The text of the files that are mutated, in a fixed order."""
    found = (p for name in FOLDERS for p in (root / "adcompiler" / name).rglob("*.py"))
    return {str(path.relative_to(root)): path.read_text() for path in sorted(found)}


def first_bits(texts: dict[str, str]) -> dict[str, int]:
    """The bit of each file's line 0: the lines of all files stand one behind the other."""
    bits, at = {}, 0
    for path, text in texts.items():
        bits[path] = at
        at += len(text.splitlines()) + 1
    return bits


def pack(data: bytes) -> str:
    """Bytes as a text that takes little room."""
    return base64.b64encode(zlib.compress(data)).decode()


def unpack(text: str) -> bytes:
    """The bytes of which a text was made."""
    return zlib.decompress(base64.b64decode(text))


class Recorder:
    """Writes down what each test of this process runs."""

    def __init__(self, folder: Path) -> None:
        texts = sources()
        self.bits = {str(ROOT / path): bit for path, bit in first_bits(texts).items()}
        self.seen: set[int] = set()
        folder.mkdir(parents=True, exist_ok=True)
        self.file = (folder / f"{os.getpid()}.jsonl").open("w")
        print(json.dumps(pack(json.dumps(texts).encode())), file=self.file, flush=True)
        monitor = sys.monitoring
        monitor.use_tool_id(monitor.PROFILER_ID, "reached")
        monitor.register_callback(monitor.PROFILER_ID, monitor.events.LINE, self.line)
        monitor.set_events(monitor.PROFILER_ID, monitor.events.LINE)

    def line(self, code: CodeType, line: int) -> Any:
        """Note a line; it does not report again in this test."""
        bit = self.bits.get(code.co_filename)
        if bit is not None:
            self.seen.add(bit + line)
        return sys.monitoring.DISABLE

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Write the row of one test, with its fixtures."""
        self.seen.clear()
        sys.monitoring.restart_events()
        began = sum(os.times()[:4])
        result = yield
        number = sum(1 << bit for bit in self.seen)
        ran = number.to_bytes(-(-number.bit_length() // 8), "little")
        row = {"test": item.nodeid, "seconds": round(sum(os.times()[:4]) - began, 3),
               "lines": pack(ran)}
        print(json.dumps(row), file=self.file, flush=True)
        return result

    def pytest_unconfigure(self) -> None:
        """End with the tests: what runs when Python ends finds no modules."""
        sys.monitoring.set_events(sys.monitoring.PROFILER_ID, 0)


def pytest_configure(config: pytest.Config) -> None:
    """Record in each process that runs tests."""
    if FOLDER and (hasattr(config, "workerinput") or not config.getoption("numprocesses", 0)):
        config.pluginmanager.register(Recorder(Path(FOLDER)))


@dataclass(frozen=True)
class Recorded:
    """What one process of a run has written: the texts as they were, and rows of tests."""

    texts: dict[str, str]
    bits: dict[str, int]
    ran: dict[str, int]

    def mask(self, path: str, text: str, lines: Iterable[int]) -> int:
        """The bits of some lines of a file, which may be another text by now."""
        before, bit = self.texts.get(path, ""), self.bits.get(path, 0)
        if before == text:
            return sum(1 << bit + line for line in set(lines))
        matcher = difflib.SequenceMatcher(None, before.splitlines(), text.splitlines(), False)
        moved = {b + k + 1: a + k + 1 for a, b, size in matcher.get_matching_blocks()
                 for k in range(size)}
        return sum(1 << bit + moved[line] for line in set(lines) & moved.keys())


@dataclass(frozen=True)
class Reached:
    """The tests that run each line, with what each takes."""

    runs: list[Recorded]
    seconds: dict[str, float]

    @staticmethod
    def read(folder: Path) -> Reached:
        """The map that runs have written; of a test that ran again, what is the later."""
        runs: list[Recorded] = []
        seconds: dict[str, float] = {}
        for path in sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime):
            head, *rows = map(json.loads, path.read_text().splitlines())
            texts = json.loads(unpack(head))
            run = Recorded(texts, first_bits(texts), {})
            for row in rows:
                for earlier in runs:
                    earlier.ran.pop(row["test"], None)
                run.ran[row["test"]] = int.from_bytes(unpack(row["lines"]), "little")
                seconds[row["test"]] = row["seconds"]
            runs.append(run)
        return Reached(runs, seconds)

    def tests(
        self, path: str, text: str, lines: Iterable[int], around: Iterable[int] = ()
    ) -> list[str]:
        """The tests that run one of some lines of a file.

        Those come first that run the most of the lines ``around``, and then the fastest.
        """
        found: dict[str, int] = {}
        for run in self.runs:
            mask, whole = run.mask(path, text, lines), run.mask(path, text, around)
            found.update({test: (ran & whole).bit_count() for test, ran in run.ran.items()
                          if ran & mask})
        return sorted(found, key=lambda test: (-found[test], self.seconds[test]))
