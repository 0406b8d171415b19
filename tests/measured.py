"""What a sample of the tests reaches of the compiler, measured while all of them run.

``pytest --measured`` traces one test in ``EVERY``, chosen by its name, and fails below ``LEAST``
percent of lines and branches. To trace all of them takes half as long again, which is what ``make
coverage`` does; this an eighth. ``--measured-only`` leaves the other tests out.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import os
import pkgutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

EVERY = 8
LEAST = 80.0
"""The least share of lines and branches together, in percent, that the sample has to reach."""
APART = ("tests/costs/", "tests/mutation/")
"""Tests that count what is done, or trace it themselves."""
NOT_LOADED = ("adcompiler.interop.", "adcompiler.backends.native.standalone", "adcompiler.__main__")
"""Modules that import what need not be there, or run a command."""
PLACE = "ADCOMPILER_MEASURED"
"""The variable that tells processes where to leave what they have measured."""


def is_sampled(name: str) -> bool:
    """Say whether a test is one of the sample."""
    chosen = hashlib.md5(name.encode(), usedforsecurity=False).digest()[0] % EVERY == 0
    return chosen and not name.startswith(APART)


class Measured:
    """Traces the tests of the sample in one process; the one that starts all adds up."""

    def __init__(self, config: pytest.Config) -> None:
        import coverage

        self.is_worker = hasattr(config, "workerinput")
        if not self.is_worker:
            os.environ[PLACE] = tempfile.mkdtemp()
        self.place = Path(os.environ[PLACE])
        self.source = config.option.measured_source
        self.only = config.option.measured_only
        self.runs = self.is_worker or not config.getoption("numprocesses", None)
        self.coverage = self.made(coverage, f"data.{os.getpid()}")
        self.line = ""
        if self.runs:
            self.coverage.start()
            load_all(self.source)
            self.coverage.stop()

    def made(self, coverage: Any, name: str) -> Any:
        """Return what measures, and keeps what it has found under a name."""
        return coverage.Coverage(
            data_file=str(self.place / name), branch=True, source=[self.source], messages=False,
            config_file=str(Path(__file__).resolve().parents[1] / "pyproject.toml"))

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out what is not traced, where only the sample is asked for."""
        if self.only:
            config.hook.pytest_deselected(
                items=[item for item in items if not is_sampled(item.nodeid)])
            items[:] = [item for item in items if is_sampled(item.nodeid)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Trace one test."""
        if not is_sampled(item.nodeid):
            return (yield)
        self.coverage.start()
        try:
            return (yield)
        finally:
            self.coverage.stop()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keep what was found; add up, and fail where it is too little."""
        if self.runs:
            self.coverage.save()
        if self.is_worker:
            return
        import coverage

        total = self.made(coverage, "all")
        total.combine([str(path) for path in self.place.glob("data.*")])
        share = total.report(file=io.StringIO())
        self.line = f"one test in {EVERY} reaches {share:.1f} % of lines and branches"
        if share < LEAST:
            self.line += f", which is less than {LEAST:.0f} %"
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what was reached."""
        if self.line:
            terminalreporter.write_line(self.line)


def load_all(source: str) -> None:
    """Import the modules of the package that is measured, so that their own lines are traced."""
    package = importlib.import_module(source)
    for module in pkgutil.walk_packages(package.__path__, f"{source}."):
        if not module.name.startswith(NOT_LOADED):
            importlib.import_module(module.name)
