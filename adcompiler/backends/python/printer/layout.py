"""What carries no meaning in a source file: comments, blank lines, and where a long line breaks.

A statement reaches this module as a list of tokens, every token a ``str``. Joined, they are the
statement on one line; most statements fit and that is all. The subclasses `Open`, `Close` and
`Break` say where a longer statement may be taken apart, in the manner of Oppen's pretty-printer
("Prettyprinting", TOPLAS 1980) and with the look of black: a bracket is opened out, its contents
go one level in, and contents that still do not fit break at their loosest operators.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from enum import IntEnum

from adcompiler.ir.nodes import Origin
from adcompiler.support.structs import dataclass

WIDTH = 100
INDENT = 4
NARROWEST = 20  # with fewer columns than this left, breaking lines further helps nobody


class Comment(ast.stmt):
    """A statement that prints as ``# text``; a text of several lines prints as several.

    ``origin`` is the place that what follows is emitted for.
    """

    _fields = ("text",)
    text: str

    def __init__(self, text: str, origin: Origin | None = None) -> None:
        super().__init__()
        self.text = text
        self.origin = origin


class BlankLine(ast.stmt):
    """A statement that prints as an empty line."""

    _fields = ()


class Level(IntEnum):
    """How tightly each form of the grammar binds; also the order in which lines break."""

    YIELD = 0
    COMMA = 1
    NAMED = 2
    TEST = 3  # conditional expressions and lambdas
    OR = 4
    AND = 5
    NOT = 6
    COMPARE = 7
    BIT_OR = 8
    BIT_XOR = 9
    BIT_AND = 10
    SHIFT = 11
    SUM = 12
    TERM = 13
    FACTOR = 14
    POWER = 15
    AWAIT = 16
    ATOM = 17
    TEXT_LINE = 18  # between the lines of a string literal
    TEXT_WORD = 19  # between its words


class Break(str):
    """A place where a line may end: the token's own text on one line, else `end` and `start`."""

    level: Level
    end: str
    start: str

    def __new__(cls, flat: str, level: Level, end: str = "", start: str = "") -> Break:
        self = super().__new__(cls, flat)
        self.level, self.end, self.start = level, end, start
        return self


class Open(str):
    """An opening bracket; a soft one shows only when its contents are broken over lines."""

    shown: str
    first: bool  # break here rather than at another bracket of the line
    one_each: bool  # once broken, every element has its own line

    def __new__(cls, flat: str, shown: str, *, first: bool = False, one_each: bool = False) -> Open:
        self = super().__new__(cls, flat)
        self.shown, self.first, self.one_each = shown, first, one_each
        return self


class Close(str):
    """The closing bracket of the nearest `Open`."""

    shown: str

    def __new__(cls, flat: str, shown: str) -> Close:
        self = super().__new__(cls, flat)
        self.shown = shown
        return self


@dataclass(frozen=True, slots=True)
class _Group:
    """A bracket pair with what it holds; `flat` is all of it on one line."""

    opening: Open
    items: list[_Item]
    closing: Close
    flat: str

    @property
    def soft(self) -> bool:
        return not self.opening

    @property
    def breaks(self) -> list[Break]:
        """The loosest breaks among the items."""
        breaks = [item for item in self.items if isinstance(item, Break)]
        loosest = min((item.level for item in breaks), default=None)
        return [item for item in breaks if item.level is loosest]


_Item = str | _Group


def wrap(tokens: Sequence[str], indent: int, width: int = WIDTH) -> list[str]:
    """Return the lines of one statement, none wider than `width` where that can be had."""
    flat = "".join(tokens)
    if indent + len(flat) <= width:
        return [" " * indent + flat]
    return _Wrapper(width).lines(_grouped(tokens), indent, inside=False)


def _grouped(tokens: Sequence[str]) -> list[_Item]:
    """Return the tokens with every bracket pair folded into a `_Group`."""
    stack: list[tuple[int, Open | None, list[_Item]]] = [(0, None, [])]
    for position, token in enumerate(tokens):
        if isinstance(token, Open):
            stack.append((position, token, []))
        elif isinstance(token, Close):
            start, opening, items = stack.pop()
            assert opening is not None
            flat = "".join(tokens[start : position + 1])
            stack[-1][2].append(_Group(opening, items, token, flat))
        else:
            stack[-1][2].append(token)
    return stack[0][2]


def _flat(items: Sequence[_Item]) -> str:
    return "".join(item.flat if isinstance(item, _Group) else item for item in items)


@dataclass(frozen=True, slots=True)
class _Wrapper:
    width: int

    def lines(self, items: list[_Item], indent: int, *, inside: bool) -> list[str]:
        """Return `items` as lines; `inside` says that a bracket is open, so any break will do."""
        flat = _flat(items)
        if indent + len(flat) <= self.width or self.width - indent < NARROWEST:
            return [" " * indent + flat]
        if inside and any(isinstance(item, Break) for item in items):
            return self._at_breaks(items, indent)
        return self._at_bracket(items, indent)

    def _at_breaks(self, items: list[_Item], indent: int) -> list[str]:
        """Break at every one of the loosest places of this line; words of a text fill lines."""
        loosest = min(item.level for item in items if isinstance(item, Break))
        parts: list[list[_Item]] = [[]]
        for position, item in enumerate(items):
            if not isinstance(item, Break) or item.level is not loosest:
                parts[-1].append(item)
            elif loosest is not Level.TEXT_WORD or self._full(parts[-1], items, position, indent):
                parts[-1].append(item.end)
                parts.append([item.start])
        if loosest is Level.COMMA:
            parts[-1].append(",")
        return [line for part in parts for line in self.lines(part, indent, inside=True)]

    def _full(self, part: list[_Item], items: list[_Item], position: int, indent: int) -> bool:
        """Whether the word after the break at `position` no longer fits behind `part`."""
        end = position + 1
        while end < len(items) and not isinstance(items[end], Break):
            end += 1
        word = _flat(items[position + 1 : end])
        return indent + len(_flat(part)) + len(word) + 1 > self.width

    def _at_bracket(self, items: list[_Item], indent: int) -> list[str]:
        """Open out one bracket of the line: its contents go on lines of their own."""
        inner = self._without_idle_soft_brackets(items, indent)
        chosen = self._bracket(inner, indent)
        if chosen is None:
            inner, chosen = items, self._soft_bracket_that_helps(items, indent)
        if chosen is None:
            return [" " * indent + _flat(items)]
        group = inner[chosen]
        assert isinstance(group, _Group)
        return [
            *self.lines([*inner[:chosen], group.opening.shown], indent, inside=False),
            *self._contents(group, indent + INDENT),
            *self.lines([group.closing.shown, *inner[chosen + 1 :]], indent, inside=False),
        ]

    def _contents(self, group: _Group, indent: int) -> list[str]:
        breaks = group.breaks
        if group.opening.one_each and breaks and breaks[0].level is Level.COMMA:
            return self._at_breaks(group.items, indent)
        return self.lines(group.items, indent, inside=True)

    def _without_idle_soft_brackets(self, items: list[_Item], indent: int) -> list[_Item]:
        """Replace the soft brackets that need not show by what they hold."""
        result: list[_Item] = []
        for position, item in enumerate(items):
            if isinstance(item, _Group) and item.soft and self._idle(items, position, indent):
                result.extend(item.items)
            else:
                result.append(item)
        return result

    def _idle(self, items: list[_Item], position: int, indent: int) -> bool:
        """Whether the soft bracket at `position` has nothing to break at, or something better.

        That is black's rule: behind a single operator a last bracket is opened out instead,
        as in ``x = a * f(`` ... ``)``, when the line up to it fits.
        """
        group = items[position]
        assert isinstance(group, _Group)
        breaks = group.breaks
        if not breaks:
            return True
        last = group.items[-1]
        if len(breaks) > 1 or breaks[0].level is Level.COMMA or not isinstance(last, _Group):
            return False
        before = indent + len(_flat(items[:position])) + len(group.flat) - len(last.flat)
        widest = max(len(item.flat) for item in group.items if isinstance(item, _Group))
        return bool(last.items) and before < self.width and len(last.flat) == widest

    def _bracket(self, items: list[_Item], indent: int) -> int | None:
        """Return the place of the bracket to open out, or None.

        Best leaves a line that fits before and after it, is part of the assigned value, is wide.
        """
        room = self.width - indent
        total = len(_flat(items))
        best: tuple[bool, bool, bool, int] | None = None
        chosen, before, value = None, 0, False
        for position, item in enumerate(items):
            size = len(item.flat) if isinstance(item, _Group) else len(item)
            if isinstance(item, _Group) and item.items:
                fits = before < room and total - before - size < room
                rank = (item.opening.first, fits, value, size)
                if best is None or rank >= best:
                    best, chosen = rank, position
            before += size
            value = value or (isinstance(item, str) and item.endswith("= "))
        return chosen

    def _soft_bracket_that_helps(self, items: list[_Item], indent: int) -> int | None:
        """Return the place of a soft bracket that leaves three lines, all of which fit."""
        room = self.width - indent
        for position, item in reversed(list(enumerate(items))):
            if isinstance(item, _Group) and item.soft:
                before, after = _flat(items[:position]), _flat(items[position + 1 :])
                if max(len(before) + 1, len(item.flat) + INDENT, len(after) + 1) <= room:
                    return position
        return None
