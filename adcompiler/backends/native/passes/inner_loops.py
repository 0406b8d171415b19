"""What is done to loops: tests in front of them or behind, elements in variables, three for one.

Tests of whether numbers are finite guard nothing: where one fails, Python runs from the start. They
are noted, and looked at behind the loop, which compilers can then unroll and reorder.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from adcompiler.backends.native.loops import (
    FLOAT, Apply, Assign, Binary, Bind, Body, Expr, Extent, Flat, For, Forever, Leave,
    LoopFunction, Make, Name, Number, Part, Row, Spread, Turn, Unary, View, rows_of,
)
from adcompiler.backends.native.passes.bounds_checks import with_tests_in_front
from adcompiler.backends.native.passes.flattening import flattened
from adcompiler.backends.native.passes.roll_lowering import in_parts
from adcompiler.backends.native.passes.unused import roots_of
from adcompiler.backends.native.passes.scalar_replacement import Arrays, windows_of
from adcompiler.backends.native.reading import bound_by, has_break, read_by
from adcompiler.backends.native.rewriting import with_blocks, with_rows
from adcompiler.backends.native.writer import Writer


def with_tight_loops(w: Writer, function: LoopFunction) -> LoopFunction:
    """Return a function with what is said above done to the innermost loops of it."""
    body = function.body
    assigned: dict[str, int] = {}
    turned: set[str] = set()
    for row in rows_of(body):
        if (name := bound_by(row)) is not None:
            assigned[name] = assigned.get(name, 0) + 1
        if isinstance(row, (Bind, Part, Turn)):
            turned.add(row.name)
    shared = roots_of(body)
    arrays = Arrays(
        floats := frozenset(row.name for row in rows_of(body) if isinstance(row, Make)
                            and row.dtype == FLOAT and assigned[row.name] == 1),
        changing := frozenset(name for name, count in assigned.items() if count > 1),
        changing | turned, floats.difference(shared, shared.values()),
    )
    return replace(function, body=tightened(w, body, arrays))


def tightened(w: Writer, body: Body, arrays: Arrays) -> Body:
    """As ``with_tight_loops``, of a part of a function."""

    def inner(body: Body) -> Body:
        return tightened(w, body, arrays)

    rows: list[Row] = []
    for row in body.rows:
        match row:
            case For() if row.visits and len(found := flattened(w, row, arrays.in_order)) > 1:
                rows += tightened(w, Body(found), arrays).rows
            case For():
                views, block = views_in_front(inner(row.body), row.name)
                rows += views
                row = replace(row, body=block)
                front, row = with_tests_in_front(w, row, arrays.changing)
                rows += [*front, *(tight(w, row, arrays) if is_innermost(row) else [row])]
            case _:
                rows.append(with_blocks(row, inner))
    return Body(rows)


def views_in_front(body: Body, place: str) -> tuple[list[Row], Body]:
    """Return the sizes and views of flat arrays that are the same in each iteration; the rest."""
    inside = Counter(bound_by(row) for row in rows_of(body))
    front: list[Row] = []
    rest: list[Row] = []
    mine = {place}
    mine |= {name for name in inside if name is not None}
    for row in body.rows:
        is_flat = isinstance(row, View) and isinstance(row.buffer, Flat)
        if (is_flat or is_size(row)) and inside[bound_by(row)] == 1 and not read_by(row) & mine:
            front.append(row)
            mine.discard(bound_by(row) or "")
        else:
            rest.append(row)
    return front, Body(rest)


def is_size(row: Row) -> bool:
    """Say whether a statement names a product of lengths."""
    return isinstance(row, Assign) and isinstance(row.value, Binary) and is_length(row.value)


def is_length(expr: Expr) -> bool:
    """Say whether an expression is a product of lengths."""
    return isinstance(expr, Extent) or (
        isinstance(expr, Binary) and expr.operator == "*"
        and is_length(expr.left) and is_length(expr.right))


def tight(w: Writer, loop: For, arrays: Arrays) -> list[Row]:
    """Return the statements of an innermost loop."""
    front: list[Row] = []
    behind: list[Row] = []
    if guards_nothing(loop.body):
        flag = w.fresh("failed")
        front.append(Assign(flag, Number(False)))
        behind.append(Leave(Name(flag)))
        loop = replace(loop, body=noted(loop.body, flag))
    for window in windows_of(w, loop, arrays):
        before, loop, after = window.kept(w, loop)
        front += before
        behind = [*after, *behind]
    return [*front, *in_parts(w, loop), *behind]


def is_innermost(loop: For) -> bool:
    """Say whether a loop holds no other one, and runs to its end."""
    return not has_break(loop.body) and not any(
        isinstance(row, (For, Forever, Spread)) for row in rows_of(loop.body))


def guards_nothing(body: Body) -> bool:
    """Say whether all tests that leave a loop are of floats: what is behind them can run anyway."""
    tests = [row.test for row in rows_of(body) if isinstance(row, Leave)]
    return bool(tests) and all(test is not None and is_of_floats(test) for test in tests)


def is_of_floats(test: Expr) -> bool:
    """Say whether a test is of what a float is."""
    match test:
        case Unary("not", Apply("isfinite")):
            return True
        case Binary("or", left, right):
            return is_of_floats(left) and is_of_floats(right)
        case Binary("==" | "<", _, Number(float())):
            return True
    return False


def noted(body: Body, flag: str) -> Body:
    """Return statements that note in a flag that a test holds, where they left."""
    return with_rows(body, lambda row: [
        Assign(flag, Binary("|", Name(flag), row.test))
        if isinstance(row, Leave) and row.test is not None else row])
