"""A test of many cases runs each of them, and tells all that fail by their names."""

from __future__ import annotations

import inspect

import pytest

from tests.lanes import one_in
from tests.together import DETAILS, Case, each, run_all

RUN: list[int] = []


def numbered(count: int) -> list[Case]:
    """Return cases of a test of one number."""
    return [Case(f"case {n}", {"n": n}) for n in range(count)]


def small(n: int) -> None:
    """Fail for what is not small."""
    RUN.append(n)
    assert n < 3, f"{n} is too large"


def test_all_cases_run_and_all_that_fail_are_named() -> None:
    RUN.clear()
    with pytest.raises(pytest.fail.Exception) as failure:
        run_all(small, numbered(6), {})
    assert list(range(6)) == RUN
    text = str(failure.value)
    assert text.startswith("3 of 6 cases failed: case 3, case 4, case 5\n")
    assert all(f"AssertionError: {n} is too large" in text for n in (3, 4, 5))
    assert "run_all" not in text


def test_many_failures_have_a_line_each() -> None:
    with pytest.raises(pytest.fail.Exception) as failure:
        run_all(small, numbered(3 + DETAILS + 40), {})
    text = str(failure.value)
    assert text.count("Traceback") == DETAILS
    assert f"case {DETAILS + 42}: AssertionError: {DETAILS + 42} is too large" in text


def test_a_single_failure_is_raised_as_it_is() -> None:
    with pytest.raises(AssertionError, match="3 is too large") as failure:
        run_all(small, numbered(4), {})
    assert failure.value.__notes__ == ["in the case case 3, one of 4"]


def test_failures_of_every_kind_count() -> None:
    def failing(n: int) -> None:
        if n == 0:
            pytest.fail("zero")
        if n == 1:
            raise ValueError("one")

    with pytest.raises(pytest.fail.Exception, match="2 of 3 cases failed: case 0, case 1"):
        run_all(failing, numbered(3), {})


def test_a_case_that_is_skipped_does_not_hide_one_that_fails() -> None:
    def skipping(n: int) -> None:
        if n < 2:
            pytest.skip("not here")
        assert n != 2

    with pytest.raises(AssertionError):
        run_all(skipping, numbered(4), {})
    with pytest.raises(pytest.skip.Exception, match="not here"):
        run_all(skipping, numbered(2), {})


def test_one_case_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    RUN.clear()
    monkeypatch.setenv("ADCOMPILER_CASE", "case 1")
    run_all(small, numbered(3), {})
    assert RUN == [1]


def test_cases_are_dealt_out_to_parts_and_lanes() -> None:
    @each("a, b", one_in(3, [(n, -n) for n in range(9)]), parts=2)
    def made(a: int, b: int, tmp_path: object) -> None:
        assert a == -b and tmp_path == 1

    assert list(inspect.signature(made).parameters) == ["cases", "tmp_path"]
    (mark,) = made.pytestmark
    ids = [one.id for one in mark.args[1]]
    assert ids == ["all-1-of-2", "all-2-of-2", "further-1-of-2", "further-2-of-2"]
    lanes = [[m.name for m in one.marks] for one in mark.args[1]]
    assert lanes == [[], [], ["thorough"], ["thorough"]]
    cases = [case for one in mark.args[1] for case in one.values[0]]
    assert sorted(case.values["a"] for case in cases) == list(range(9))
    assert cases[0].name == "0-0" and cases[1].name == "6--6"
    made(cases, tmp_path=1)
