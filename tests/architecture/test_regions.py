"""Analyses and passes ask regions what they are made of; they name few kinds of region."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "adcompiler"
KINDS = {"If", "Loop", "With", "Try"}
REASONS = {
    "analyses/purity.py": (1, "a `with` runs what its context does, which may be known"),
    "analyses/container_aliasing.py": (1, "what is made anew in each iteration is told apart"),
    "backends/native/lower/lowering.py": (3, "each kind is written in its own way"),
    "backends/native/lower/regions.py": (2, "an object stays one in a loop and in all arms"),
    "backends/native/lower/use_def.py": (1, "branches ask whether their conditions are true"),
    "backends/python/fusion.py": (6, "conditional expressions, comprehensions, and the rest"),
    "backends/python/held_bytes.py": (3, "loops hand on arrays, and keep some in tapes"),
    "backends/python/lifetimes.py": (5, "what is read after each of them, and names of exceptions"),
    "backends/python/lower.py": (5, "each kind is a statement of Python"),
    "backends/python/outer_products.py": (1, "loops add up; what they hand on is asked by edges"),
    "backends/python/sums_in_place.py": (2, "iterations and arms hand on arrays of their own"),
    "batching/batcher.py": (1, "a loop over seeds, others take none"),
    "derive/forward/forwarder.py": (1, "loops have a tangent of their own form"),
    "derive/region_checks.py": (2, "contexts and handlers are refused for reasons of their own"),
    "derive/reverse/expected_shapes.py": (1, "a loop starts from arrays in front of it"),
    "derive/reverse/regions.py": (3, "contexts are entered again, a branch knows its test"),
    "derive/reverse/reverser.py": (1, "loops have a reverse of their own form"),
    "frontend/building.py": (2, "the frontend makes them"),
    "frontend/regions.py": (4, "the frontend makes them"),
    "ir/evaluate.py": (4, "each kind is run in its own way"),
    "ir/printer.py": (4, "each kind is printed in its own way"),
    "ir/verifier.py": (3, "each kind has conditions of its own"),
    "ir/visit.py": (3, "a branch written as `and` or `or`; all loops of a block"),
    "optimise/scalar_replacement.py": (5, "branches and loops hand on parts of what they take"),
    "optimise/branches.py": (2, "branches are joined"),
    "optimise/carried_rows.py": (3, "loops carry arrays; no other kind of region is looked into"),
    "optimise/common_subexpressions.py": (2, "branches of numbers are compared"),
    "optimise/dead_code.py": (2, "an empty branch goes, a loop by its carried values"),
    "optimise/length_hoisting.py": (1, "what is read in front of a loop"),
    "optimise/may_raise.py": (1, "the test of a branch may raise"),
    "optimise/recomputing.py": (2, "a loop saves what another one reads"),
    "optimise/rewriter.py": (2, "carried values that stay, equal results of arms"),
    "optimise/stores.py": (1, "iterations that store where none was before"),
    "optimise/tapes.py": (1, "lists of loops are joined"),
    "products/linearization.py": (4, "each kind is parted in its own way, and two are not"),
    "sparsity/interpreter/generic.py": (3, "values that each kind looks at"),
    "sparsity/interpreter/program.py": (2, "loops of loops and branches run in lanes"),
    "sparsity/interpreter/taint.py": (1, "a `with` runs its block, whatever it is given"),
    "infer/inference.py": (4, "each kind is evaluated in its own way"),
    "infer/writer.py": (2, "what follows a branch that raises in both arms; names of results"),
    "infer/memos.py": (3, "tests of what is there already stand in branches and handlers"),
    "infer/storage/loop_summaries.py": (1, "a loop keeps an object if each iteration does"),
    "infer/storage/partial_writes.py": (3, "a loop may raise in a later iteration"),
}
"""The files that match on kinds of regions, in how many places, and why."""


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


def counts() -> dict[str, int]:
    """Return how many places of each file name kinds of regions of the IR."""
    found = {}
    for file in sorted(ROOT.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if "adcompiler.ir." in text and (count := matches(text)):
            found[file.relative_to(ROOT).as_posix()] = count
    return found


def test_what_names_kinds_of_regions_has_a_reason() -> None:
    assert counts() == {name: count for name, (count, _) in REASONS.items()}


def test_matches_are_counted() -> None:
    text = (
        "match s:\n    case If() | Loop():\n        pass\n    case Let():\n        pass\n"
        "isinstance(s, (Let, With))\nisinstance(s, Region)"
    )
    assert matches(text) == 2
