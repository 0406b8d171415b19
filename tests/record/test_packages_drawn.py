"""The functions drawn from packages: how many there are, and of which packages."""

from __future__ import annotations

import re
from pathlib import Path

from tests.real.packages.__main__ import GROUPS as TRIED
from tests.record.packages.__main__ import GROUPS, UNTRIED
from tests.record.packages.sampling import SOURCES

REQUIRED = Path(__file__).parent / "packages" / "requirements.txt"


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_functions_are_of_packages_that_were_not_tried() -> None:
    assert len(UNTRIED) >= 25 and sum(map(len, UNTRIED.values())) >= 200
    assert not {plain(name) for name in UNTRIED} & {plain(name) for name in TRIED}
    assert {plain(name) for name in UNTRIED} == {plain(name) for name in SOURCES}


def test_each_package_is_required_and_each_case_has_its_name() -> None:
    lines = [line for line in REQUIRED.read_text().splitlines() if not line.startswith("#")]
    required = {plain(line.partition("==")[0]) for line in lines}
    assert {plain(name) for name in GROUPS} == required
    for package, cases in GROUPS.items():
        labels = [one.label for one in cases]
        assert len(set(labels)) == len(labels), package
