"""``docs/limitations.md`` says what the compiler does: each section shows its error, and each that
an error names exists."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from adcompiler.errors import (
    LocatedError, MissingPrimalError, NotFiniteError, SourceNotFoundError,
)
from adcompiler.runtime import AliasedError
from tests.docs.test_code_blocks import ROOT, Runner, blocks, error_class

LIMITATIONS = ROOT / "docs" / "limitations.md"
TEXT = LIMITATIONS.read_text(encoding="utf-8")
SECTIONS = re.findall(r'^<a id="([\w-]+)"></a>\n## ', TEXT, flags=re.M)
OF_TYPES = {"complex-output", "argument-types"}
OF_SOURCES = {"lambda-source", "missing-source"}
OF_VALUES = {"tracers", "not-finite"}


def section_of(line: int) -> str:
    """Return the anchor of the section that a line of the document belongs to."""
    above = "\n".join(TEXT.splitlines()[:line])
    return re.findall(r'^<a id="([\w-]+)"></a>$', above, flags=re.M)[-1]


def test_every_section_raises_the_error_that_it_is_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Runner("limitations", tmp_path)
    monkeypatch.setitem(sys.modules, "limitations", runner.module)
    shown = set()
    for block in blocks(TEXT):
        if block.kind != "raises":
            runner.run(block)
            continue
        with pytest.raises(error_class(block.detail)) as caught:
            runner.execute(block)
        section = section_of(block.line)
        shown.add(section)
        if isinstance(caught.value, LocatedError):
            assert section in {finding.anchor for finding in caught.value.findings}
        elif isinstance(caught.value, SourceNotFoundError):
            assert section in OF_SOURCES
        elif isinstance(caught.value, AliasedError):
            assert section == "aliases"
        elif isinstance(caught.value, (MissingPrimalError, NotFiniteError)):
            assert section in OF_VALUES and f"#{section}" in str(caught.value)
        else:
            assert section in OF_TYPES
    assert shown == set(SECTIONS)


def test_every_section_tells_what_why_and_what_instead() -> None:
    for section in re.split(r"^## ", TEXT, flags=re.M)[1:]:
        assert re.findall(r"^\*\*(\w+)\.\*\*", section, flags=re.M) == ["What", "Why", "Instead"]


def test_every_section_is_named_by_an_error_and_the_other_way_round() -> None:
    assert anchors_in_code() | OF_TYPES | OF_SOURCES | OF_VALUES == set(SECTIONS)


def anchors_in_code() -> set[str]:
    """Return the anchors that calls in the compiler pass to what makes findings."""
    positions = {
        "reject": 3, "raise_if_reached": 3, "finding": 2, "Finding": 6, "Rejection": 2,
    }
    found = set()
    for file in (ROOT / "adcompiler").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            arguments = node.args[positions[name] :] if name in positions else []
            arguments += [k.value for k in node.keywords if k.arg == "anchor"]
            found |= {
                argument.value for argument in arguments[:1]
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            }  # fmt: skip
    return found - {""}
