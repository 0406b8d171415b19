"""``docs/design.md`` tells of every stage, and of files that are there."""

from __future__ import annotations

import re

from tests.architecture.test_import_order import ORDER
from tests.docs.test_code_blocks import ROOT

TEXT = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([\w/]+)` \|(?:[^|]*\|){4} `([\w/]+\.py)` \|$", re.M)
NO_STAGES = {
    "errors", "support", "runtime", "smooth", "ir", "ops", "prelude", "rulekit",
    "typed", "tracers", "plot", "viewer", "testing", "compile", "api", "interop", "parallel", "cli",
}
"""What stages are made of, and what runs them."""


def test_every_stage_has_a_row_with_a_file_to_read_first() -> None:
    rows = dict(ROW.findall(TEXT))
    assert {stage.partition("/")[0] for stage in rows} == set(ORDER) - NO_STAGES
    for stage, file in rows.items():
        assert file.startswith(f"{stage}/")
        assert (ROOT / "adcompiler" / file).is_file()


def test_files_that_are_named_are_there() -> None:
    named = set(re.findall(r"`((?:adcompiler/)?[a-z_]+/[\w/]+\.py)`", TEXT))
    assert len(named) > 20
    places = (ROOT, ROOT / "adcompiler")
    missing = {name for name in named if not any((place / name).is_file() for place in places)}
    assert missing == set()


def test_the_order_of_imports_is_the_one_that_holds() -> None:
    start = TEXT.index("`errors < ")
    listed = re.findall(r"\w+", TEXT[start : TEXT.index("`", start + 1)])
    assert tuple(listed) == ORDER
