"""A run takes the first lane of the tests, and of the second what is asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.lanes import leave_out, one_in, part_of, parts_of, some_of_each

ROOT = Path(__file__).resolve().parents[2]
CHOSEN = """
import pytest
from tests.lanes import one_in

@pytest.mark.parametrize("n", one_in(4, range(40)))
def test_n(n):
    assert n >= 0
"""


class Item:
    """A test as lanes see it: its name, and whether it is of the second lane."""

    def __init__(self, value: Any) -> None:
        self.second = isinstance(value, type(pytest.param()))
        (self.value,) = value.values if self.second else (value,)
        self.nodeid = f"test_chosen.py::test_n[{self.value}]"

    def get_closest_marker(self, name: str) -> str | None:
        return name if self.second else None


def kept(params: list[Any], lane: str, part: str = "") -> set[Any]:
    """Return the values of the tests that a run keeps."""
    items = [Item(one) for one in params]
    config = SimpleNamespace(
        option=SimpleNamespace(lane=lane, slice=part),
        hook=SimpleNamespace(pytest_deselected=lambda items: None))
    leave_out(config, items)  # type: ignore[arg-type]
    return {item.value for item in items}


def test_a_run_without_names_is_of_the_first_lane(tmp_path: Path) -> None:
    (tmp_path / "test_chosen.py").write_text(CHOSEN, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "tests.conftest",
         "-c", str(ROOT / "pyproject.toml"), "-o", f"testpaths={tmp_path / 'test_chosen.py'}"],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
    found = {int(line.partition("[")[2].rstrip("]"))
             for line in run.stdout.splitlines() if "test_n[" in line}
    assert found == set(range(0, 40, 4)) == kept(one_in(4, range(40)), "first")


def test_the_parts_of_the_second_lane_are_apart_and_all_of_it() -> None:
    params = one_in(4, range(40))
    first = kept(params, "first")
    one, two = (kept(params, "second", f"{part}/2") for part in (1, 2))
    assert one and two and not one & two and not first & (one | two)
    assert first | one | two == set(range(40)) == kept(params, "both")


def test_of_each_kind_some_are_in_the_first_lane() -> None:
    params = [(name, method) for name in range(12) for method in "abc"]
    first = kept(some_of_each(lambda one: (one[1], 4), params), "first")
    assert {method for _, method in first} == set("abc") and len(first) == 9
    assert len({name for name, _ in first}) == 9  # each with one of the methods


def test_names_choose_parts_that_are_about_as_large() -> None:
    names = [f"tests/rules/test_every_rule.py::test_rules[{n}]" for n in range(4000)]
    sizes = [sum(part_of(name, 4) == part for name in names) for part in range(5)]
    assert sizes[0] == 0 and all(800 < size < 1200 for size in sizes[1:])


@pytest.mark.parametrize("wrong", ["2", "0/3", "4/3", "a/b", "1/"])
def test_parts_that_there_are_not(wrong: str) -> None:
    with pytest.raises(pytest.UsageError, match="write the part"):
        parts_of(wrong)
