"""A run takes the first lane of the tests, and of the second what is asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.lanes import part_of, parts_of

ROOT = Path(__file__).resolve().parents[2]
CHOSEN = """
import pytest
from tests.lanes import one_in

@pytest.mark.parametrize("n", one_in(4, range(40)))
def test_n(n):
    assert n >= 0
"""


def collected(tmp_path: Path, *options: str) -> set[int]:
    """Return the numbers of the tests that a run without names would run."""
    (tmp_path / "test_chosen.py").write_text(CHOSEN, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "tests.conftest",
         "-c", str(ROOT / "pyproject.toml"), "-o", f"testpaths={tmp_path / 'test_chosen.py'}",
         *options], cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
    return {int(line.partition("[")[2].rstrip("]"))
            for line in run.stdout.splitlines() if "test_n[" in line}


def test_the_parts_of_the_second_lane_are_apart_and_all_of_it(tmp_path: Path) -> None:
    first = collected(tmp_path)
    assert first == set(range(0, 40, 4))
    one, two = (collected(tmp_path, "--lane=second", f"--slice={part}/2") for part in (1, 2))
    assert one and two and not one & two and not first & (one | two)
    assert first | one | two == set(range(40)) == collected(tmp_path, "--lane=both")


def test_names_choose_parts_that_are_about_as_large() -> None:
    names = [f"tests/rules/test_every_rule.py::test_rules[{n}]" for n in range(4000)]
    sizes = [sum(part_of(name, 4) == part for name in names) for part in range(5)]
    assert sizes[0] == 0 and all(800 < size < 1200 for size in sizes[1:])


@pytest.mark.parametrize("wrong", ["2", "0/3", "4/3", "a/b", "1/"])
def test_parts_that_there_are_not(wrong: str) -> None:
    with pytest.raises(pytest.UsageError, match="write the part"):
        parts_of(wrong)
