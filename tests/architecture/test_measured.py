"""What a sample of the tests reaches is measured, and too little is a failure."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.measured import EVERY, is_sampled

ROOT = Path(__file__).resolve().parents[2]


def test_the_sample_is_a_share_that_names_choose() -> None:
    names = [f"tests/language/test_loops.py::test_values[{n}]" for n in range(4000)]
    assert abs(sum(map(is_sampled, names)) - 4000 / EVERY) < 150
    assert not any(is_sampled(f"tests/costs/test_budget.py::test_{n}") for n in range(100))


def test_less_than_the_bound_fails_a_run_in_which_all_tests_pass() -> None:
    pytest.importorskip("coverage")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--measured",
         "--measured-source=adcompiler.ir", "tests/ir/test_regions.py"],
        cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stdout + done.stderr
    assert " passed" in done.stdout and " failed" not in done.stdout
    assert "of lines and branches, which is less than" in done.stdout
