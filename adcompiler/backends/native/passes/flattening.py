"""One loop over all elements of arrays in place of loops over their axes.

Rows of points have two or three numbers each: a loop of three iterations, inside of one over the
points, is no loop that compilers make vectors of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from adcompiler.backends.native.loops import (
    Assign, Binary, Body, Element, Expr, Flat, For, Leave, Name, Number, Row, Store,
    View,
)
from adcompiler.backends.native.reading import elements_of, exprs_of, names_in
from adcompiler.backends.native.rewriting import with_elements
from adcompiler.backends.native.writer import Writer

ZERO = Number(0)


def flattened(w: Writer, loop: For, in_order: Callable[[str], bool]) -> list[Row]:
    """Return one loop in place of those over the axes of arrays of the shape ``loop.visits``.

    ``in_order`` tells of which arrays the elements lie in C order, one behind the other. The loops
    stay where anything else than such elements, at the position where the loops are, is read or
    stored.
    """
    names, inner = nest(loop)
    places = tuple(map(Name, names))
    rows = inner.rows
    if len(names) < 2 or not all(isinstance(row, (Assign, Store, Leave)) for row in rows):
        return [loop]
    visited: list[Element | Store] = [one for row in rows for one in elements_of(row)]
    visited += [row for row in rows if isinstance(row, Store)]
    if any(one.indices != places or not in_order(one.buffer) for one in visited):
        return [loop]
    new = w.fresh("at")
    buffers = dict.fromkeys(one.buffer for one in visited)
    flat = {buffer: w.fresh(f"{buffer}_flat") for buffer in buffers}
    at = (Name(new),)

    def there(expr: Expr) -> Expr:
        """Return an expression with elements of the flat arrays."""
        return with_elements(expr, lambda one: Element(flat[one.buffer], at))

    made: list[Row] = []
    for row in rows:
        match row:
            case Assign(name, value):
                made.append(Assign(name, there(value)))
            case Store(buffer, _, value):
                made.append(replace(row, buffer=flat[buffer], indices=at, value=there(value)))
            case Leave(test):
                made.append(row if test is None else Leave(there(test)))
    if set(names) & {name for row in made for name in names_in(*exprs_of(row))}:
        return [loop]
    size = w.fresh("size")
    product = loop.visits[0]
    for length in loop.visits[1:]:
        product = Binary("*", product, length)
    front = [View(name, Flat(buffer), ZERO, (Name(size),)) for buffer, name in flat.items()]
    return [Assign(size, product), *front, For(new, ZERO, Name(size), Body(made))]


def nest(loop: For) -> tuple[list[str], Body]:
    """Return the names of the loops over the axes that are visited, and what they hold."""
    names: list[str] = []
    inner = Body([loop])
    for length in loop.visits:
        row = inner.rows[0] if len(inner.rows) == 1 else None
        if not isinstance(row, For) or row.down or (row.start, row.stop) != (ZERO, length):
            return [], inner
        names.append(row.name)
        inner = row.body
    return names, inner
