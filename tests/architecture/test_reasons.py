"""What is tried where code is refused is decided by reasons, not by sections of the pages."""

from __future__ import annotations

import ast
from pathlib import Path

import adcompiler
from adcompiler.dispatch.specialisations import OPTIONS, TEXTS, options_that_help
from adcompiler.errors import Finding, Reason, UnsupportedError

ROOT = Path(adcompiler.__file__).parent


def reads_section(node: ast.AST) -> bool:
    """Say whether an expression reads the section that a finding names."""
    return any(isinstance(inner, ast.Attribute) and inner.attr == "anchor"
               for inner in ast.walk(node))


def test_no_module_decides_by_a_section() -> None:
    deciding = [
        (path.relative_to(ROOT), node.lineno)
        for path in ROOT.rglob("*.py") if path.name != "errors.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.Compare, ast.SetComp, ast.DictComp)) and reads_section(node)
    ]
    assert deciding == []


def refused(*reasons: Reason) -> UnsupportedError:
    return UnsupportedError([
        Finding("f.py", i, 0, "", "a problem", anchor=reason.section)
        for i, reason in enumerate(reasons)])


def test_reasons_say_whether_values_of_options_are_tried() -> None:
    assert options_that_help(refused(Reason.MISSING_RULE, Reason.NATIVE)) == OPTIONS
    assert options_that_help(refused(Reason.NATIVE)) == TEXTS
    assert options_that_help(refused(Reason.NATIVE, Reason.TRY)) == ()
    assert {reason for reason in Reason if reason.by_options} < set(Reason)
