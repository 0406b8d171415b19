"""Many small cases as one test: all of them run, and those that fail are told together, by name.

``each`` stands where ``pytest.mark.parametrize`` would, for checks of which there are hundreds that
take no time: to collect, set up and report each of them costs more than to run it.
``ADCOMPILER_CASE=text`` runs those alone whose names have the text in them.
"""

from __future__ import annotations

import functools
import inspect
import os
import traceback
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pytest

DETAILS = 10
"""How many failures are shown with their tracebacks; of the others there is one line each."""


class Case(NamedTuple):
    """The name of a case, and its values by the parameters of the test."""

    name: str
    values: dict[str, Any]


def each(
    names: str, values: Iterable[Any], ids: Callable[[Any], object] | None = None, parts: int = 1
) -> Callable[[Callable[..., None]], Any]:
    """Return a decorator that makes the test of one case a test of all, in so many parts.

    Cases that are marked as of the second lane are in tests of their own, of that lane.
    """
    parameters = [name.strip() for name in names.split(",")]
    lanes: dict[bool, list[Case]] = {False: [], True: []}
    for one in values:
        second = isinstance(one, type(pytest.param()))
        assert not second or [mark.name for mark in one.marks] == ["thorough"], one
        given = one.values if second else (one,) if len(parameters) == 1 else tuple(one)
        name = "-".join(map(str, map(ids or short, given)))
        lanes[second].append(Case(name, dict(zip(parameters, given, strict=True))))
    chosen = [
        pytest.param(cases[k::count], id=id_of(second, k, count),
                     marks=[pytest.mark.thorough] if second else [])
        for second, cases in lanes.items() if cases
        for count in [min(parts, len(cases))] for k in range(count)
    ]

    def decorated(test: Callable[..., None]) -> Any:
        @functools.wraps(test)
        def all_of_them(cases: list[Case], **fixtures: Any) -> None:
            run_all(test, cases, fixtures)

        signature = inspect.signature(test)
        kept = [p.replace(kind=p.KEYWORD_ONLY) for name, p in signature.parameters.items()
                if name not in parameters]
        first = inspect.Parameter("cases", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        all_of_them.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[first, *kept])
        return pytest.mark.parametrize("cases", chosen)(all_of_them)

    return decorated


def short(value: Any) -> str:
    """Return a short name of a value."""
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) else str(value)[:60]


def id_of(second: bool, part: int, parts: int) -> str:
    """Return what a test of a part of the cases is called."""
    lane = "further" if second else "all"
    return lane if parts == 1 else f"{lane}-{part + 1}-of-{parts}"


def run_all(test: Callable[..., None], cases: list[Case], fixtures: dict[str, Any]) -> None:
    """Run a test with each of its cases, and fail if one of them does."""
    failed: list[tuple[Case, BaseException]] = []
    skipped: list[pytest.skip.Exception] = []
    wanted = os.environ.get("ADCOMPILER_CASE", "")
    for case in cases:
        if wanted not in case.name:
            continue
        try:
            test(**case.values, **fixtures)
        except pytest.skip.Exception as skip:
            skipped.append(skip)
        except (Exception, pytest.fail.Exception) as error:
            if isinstance(error, pytest.exit.Exception):
                raise
            failed.append((case, error))
    if len(failed) == 1:
        (case, error), = failed
        error.add_note(f"in the case {case.name}, one of {len(cases)}")
        raise error
    if failed:
        pytest.fail(told(failed, len(cases)), pytrace=False)
    if cases and len(skipped) == len(cases):
        raise skipped[0]


def told(failed: list[tuple[Case, BaseException]], count: int) -> str:
    """Return the text about cases that have failed."""
    lines = [f"{len(failed)} of {count} cases failed: {', '.join(case.name for case, _ in failed)}"]
    for case, error in failed[:DETAILS]:
        lines += ["", f"---- {case.name} ----"]
        assert error.__traceback__ is not None
        lines += traceback.format_exception(type(error), error, error.__traceback__.tb_next)
    for case, error in failed[DETAILS:]:
        lines.append(f"{case.name}: {type(error).__name__}: {str(error).partition(chr(10))[0]}")
    return "\n".join(lines)
