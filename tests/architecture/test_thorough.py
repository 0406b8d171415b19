"""The second lane runs in slices, of which an interrupted run does not repeat those that ran."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import thorough

PAGE = f"# Tests\n\n{thorough.BEGIN}none.\n\nMore.\n"


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Slices are noted, not run: the second fails."""
    numbers: list[int] = []

    def run_slice(number: int, slices: int, workers: str) -> dict[str, object]:
        numbers.append(number)
        if number == 3 and len(numbers) == 3:
            raise KeyboardInterrupt
        return {"status": int(number == 2), "failed": ["t::a"] * (number == 2), "passed": 1000}

    (tmp_path / "testing.md").write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(thorough, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(thorough, "PAGE", tmp_path / "testing.md")
    monkeypatch.setattr(thorough, "run_slice", run_slice)
    monkeypatch.setattr(thorough, "git", lambda *a: "" if a[0] == "status" else "abcdef0123")
    return numbers


def test_an_interrupted_run_goes_on_and_writes_the_outcome(
    ran: list[int], tmp_path: Path
) -> None:
    with pytest.raises(KeyboardInterrupt):
        thorough.main(["--slices", "4"])
    assert (tmp_path / "testing.md").read_text(encoding="utf-8") == PAGE
    assert thorough.main(["--slices", "4"]) == 1
    assert ran == [1, 2, 3, 3, 4]
    text = (tmp_path / "testing.md").read_text(encoding="utf-8")
    assert "4 slices: 4,000 passed, 1 failed (slices 2): t::a.\n\nMore.\n" in text
    assert text.startswith(f"# Tests\n\n{thorough.BEGIN}commit abcdef0123, 20")
    assert thorough.main(["--slices", "4", "--again"]) == 1
    assert ran[5:] == [2]
    (kept,) = (tmp_path / "kept").iterdir()
    assert set(json.loads(kept.read_text(encoding="utf-8"))) == {"1", "2", "3", "4"}


def test_a_tree_that_is_no_commit_has_no_outcome(
    ran: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thorough, "git", lambda *a: " M adcompiler/errors.py")
    assert thorough.main([]) == 2 and not ran


def test_what_is_read_of_the_output_of_a_slice() -> None:
    text = "..F\nFAILED tests/a.py::b[c d] - AssertionError\n2 failed, 1,0 x\n"
    assert thorough.told(1, text + "1 failed, 812 passed, 3 skipped in 9.12s (0:00:09)\n") == {
        "status": 1, "failed": ["tests/a.py::b[c d]"], "passed": 812, "skipped": 3}
    assert thorough.told(5, "no tests ran in 2.00s\n")["status"] == 0
