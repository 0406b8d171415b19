"""Analyses and passes ask regions what they are made of; they name few kinds of region."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "adcompiler"
KINDS = {"If", "Loop", "With", "Try"}
MATCHES = {
    "analyses": 11, "backends/native": 5, "backends/python": 24, "batching": 1, "derive": 19,
    "frontend": 6, "ir": 13, "optimise": 17, "products": 6, "sparsity": 10, "specialise": 15,
}
"""How many places of a stage match on kinds of regions; it only shrinks."""


def matches(text: str) -> int:
    """Count the cases and tests that name a kind of region."""
    found = 0
    for node in ast.walk(ast.parse(text)):
        names: set[str] = set()
        if isinstance(node, ast.match_case):
            names = {
                part.cls.id for part in ast.walk(node.pattern)
                if isinstance(part, ast.MatchClass) and isinstance(part.cls, ast.Name)
            }
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and (
            node.func.id == "isinstance" and len(node.args) == 2
        ):
            names = {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)}
        found += bool(names & KINDS)
    return found


def stage(file: Path) -> str:
    """Return the stage that a file belongs to."""
    parts = file.relative_to(ROOT).parts
    return "/".join(parts[:2]) if parts[0] == "backends" else parts[0]


def counts() -> dict[str, int]:
    """Return how many places of each stage name kinds of regions of the IR."""
    found: dict[str, int] = {}
    for file in sorted(ROOT.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if "adcompiler.ir." in text and (count := matches(text)):
            found[stage(file)] = found.get(stage(file), 0) + count
    return found


def test_no_stage_names_more_kinds_of_regions_than_before() -> None:
    found = counts()
    assert {name: n for name, n in found.items() if n > MATCHES.get(name, 0)} == {}


def test_matches_are_counted() -> None:
    text = (
        "match s:\n    case If() | Loop():\n        pass\n    case Let():\n        pass\n"
        "isinstance(s, (Let, With))\nisinstance(s, Region)"
    )
    assert matches(text) == 2
