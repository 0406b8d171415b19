"""How much room tapes are made with: what the loops that fill them need, as far as that is known.

A tape that grows is made as long as it would be if all iterations to come kept as much as this one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from adcompiler.backends.native.loops import (
    Assign, Binary, Body, Expr, For, Make, Name, Number, Reserve, Row, rows_of,
)
from adcompiler.backends.native.rewriting import with_blocks

ZERO = Number(0)
ROOM = Number(64)
"""The length of a tape that grows while it is filled."""


def with_room(opening: Body, rows: Body) -> tuple[list[Row], list[Row]]:
    """Return the rows that make tapes, and those that fill and read them.

    A tape that one loop fills, which is in no other region, is made in front of that loop, as long
    as it will be. Others are made longer when they are full.
    """
    reserved = Counter(row.buffer for row in rows_of(rows) if isinstance(row, Reserve))
    makes = {row.name: row for row in opening.rows if isinstance(row, Make)}
    empty = {
        row.name for row in opening.rows if isinstance(row, Assign) and row.value == ZERO
    }
    found: list[Row] = []
    for row in rows.rows:
        if isinstance(row, Reserve) and reserved[row.buffer] == 1 and row.buffer in makes:
            match row.size:
                case Binary("+", Name(top), count) if top in empty:
                    found.append(replace(makes.pop(row.buffer), shape=(count,)))
                    continue
        empty -= {one.name for one in rows_of(Body([row])) if isinstance(one, Assign)}
        found.append(row)
    made: list[Row] = []
    for row in opening.rows:
        if not isinstance(row, Make):
            made.append(row)
        elif row.name in makes:
            made.append(replace(row, shape=(ROOM,)) if reserved[row.name] else row)
    return made, found


def with_rooms_ahead(body: Body, left: tuple[Expr, ...] = ()) -> Body:
    """Return statements that make room for the iterations to come too, where loops tell of them.

    ``left`` is how often each loop around runs yet, this iteration among them.
    """
    rows: list[Row] = []
    for row in body.rows:
        match row:
            case Reserve(_, Binary("+", Name(), count)) if left:
                ahead = count
                for times in left:
                    ahead = Binary("*", ahead, times)
                rows.append(replace(row, ahead=ahead))
            case For(name, start, stop, inner, down):
                yet = Binary("-", Name(name), start) if down else Binary("-", stop, Name(name))
                rows.append(replace(row, body=with_rooms_ahead(inner, (*left, yet))))
            case _:
                rows.append(with_blocks(row, with_rooms_ahead))
    return Body(rows)
