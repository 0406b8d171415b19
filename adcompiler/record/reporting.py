"""What a recording tells of itself: the rewritten program, and the operations of a run."""

from __future__ import annotations

import ast
import types
from collections import Counter

import gast
import numpy as np

from adcompiler.dispatch.explain import Explanation
from adcompiler.dispatch.specialisations import Specialisations
from adcompiler.errors import ADError
from adcompiler.frontend.sources.same_code import class_around
from adcompiler.frontend.sources.source import parse_function
from adcompiler.record.rewriting import Rewriter
from adcompiler.record.rewriting_expressions import MARK, Names
from adcompiler.record.running import Recorded
from adcompiler.record.shadows import Entry
from adcompiler.record.tape import Listed, Number, Step


def rewritten_text(function: types.FunctionType) -> str:
    """Return a function as it runs when it is recorded: operations are calls of hooks."""
    live = function.__code__
    tree = gast.gast_to_ast(Rewriter(Names(live.co_filename, class_around(live))).function(
        parse_function(function).node))
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if is_hook(value):
                setattr(node, field, ast.Name(value.value[len(MARK):], ast.Load()))
    return ast.unparse(ast.fix_missing_locations(tree))


def is_hook(node: gast.AST) -> bool:
    """Say whether a node stands for a hook."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and (
        node.value.startswith(MARK))


def run_listed(s: Specialisations, values: tuple[object, ...]) -> Recorded:
    """Run a function once, recorded, with the lines of its operations."""
    wanted = tuple(zip(s.wrt, s.parts, strict=True))
    return Recorded(s.target.function, values, wanted, s.parameters, entries=Listed())


def tape_text(s: Specialisations, values: tuple[object, ...]) -> str:
    """Return the operations of a run, one in each line, with the lines of the user's code."""
    run = run_listed(s, values)
    entries = run.tape.entries
    rows = []
    assert isinstance(entries, Listed)
    for slot, (entry, (file, line)) in enumerate(zip(entries, entries.places, strict=True)):
        rows.append(f"{slot:>6}  {shown(entry):<40} {file.rpartition('/')[2]}:{line}")
    run.close(run.value)
    return "\n".join(rows)


def shown(entry: Entry | Step | tuple[Number]) -> str:
    """Return what one entry is."""
    if isinstance(entry, Entry):
        result = getattr(entry, "result", None)
        shape = f" {list(result.shape)}" if isinstance(result, np.ndarray) else ""
        return f"{entry.shown()}{shape}"
    if len(entry) == 1:
        return f"number {entry[0]!r}"
    _, i, _, j, _, op = entry
    name = getattr(op[0] if isinstance(op, tuple) else op, "__name__", "operation")
    of = ", ".join("constant" if k is None else f"#{k}" for k in (i, j))
    return f"{name}({of})" if j is not None or name in TWO else f"{name}(#{i})"


TWO = frozenset({"add", "sub", "mul", "truediv", "pow"})


def explained(s: Specialisations, values: tuple[object, ...], why: str) -> Explanation:
    """Return the explanation of a recorded derivative: what its tape holds at these values."""
    run = run_listed(s, values)
    names = Counter(shown(entry).partition("(")[0].partition(" ")[0] for entry in run.tape.entries)
    held = sum(array.nbytes for array in run.tape.held.values())
    count = len(run.tape.entries)
    run.close(run.value)
    try:
        text = rewritten_text(s.target.function)
    except ADError:
        text = ""
    return Explanation(
        (), held + 120 * count, tuple(sorted(names)), (), (), text, count,
        f"a recording of each call: {why}")
