"""Atoms, of which everything else is made: variables, constants, and the places they come from."""

from __future__ import annotations

from typing import Any

from adcompiler.errors import Finding, place_text
from adcompiler.support.structs import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """A place in the user's source: 1-based line, 0-based column, and the text of the line.

    ``reverse`` marks statements of the reverse sweep of that line; ``via`` is the line of the
    compiled function that the place is reached from, when it lies in a function opened there.
    """

    file: str
    line: int
    column: int
    text: str
    reverse: bool = False
    width: int = 1
    via: Origin | None = None

    def reversed(self) -> Origin:
        """Return the origin of the reverse sweep of this place."""
        if self.reverse:
            return self
        return Origin(self.file, self.line, self.column, self.text, True, self.width, self.via)

    @property
    def call(self) -> str:
        """The place and text of a call, for the chain of calls in messages."""
        return f"{place_text(self.file, self.line)}: {self.text.strip()}"

    @property
    def where(self) -> str:
        """The place as comments of emitted code write it."""
        return place_text(self.file, self.line, short=True)

    def finding(self, problem: str, hint: str = "", anchor: str = "") -> Finding:
        """Return a finding that points here."""
        return Finding(
            self.file, self.line, self.column, self.text, problem, hint, anchor, self.width
        )


@dataclass(frozen=True, slots=True, eq=False)
class Var:
    """A variable; ``name`` is what the user (or the compiler) calls it and need not be unique."""

    name: str
    temporary: bool = False

    def __repr__(self) -> str:
        return f"{self.name}.{id(self) & 0xFFFF:x}"


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """A value known to the compiler: a literal, module, function, class, dtype, None."""

    value: Any

    def __repr__(self) -> str:
        return f"Const({self.value!r})"


class Undefined:
    """The type of UNDEF's value: a local variable that no assignment has reached."""

    def __repr__(self) -> str:
        return "undefined"


Atom = Var | Const
UNDEF = Const(Undefined())
NONE = Const(None)
