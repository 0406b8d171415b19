"""What writes operations and regions needs of the function that is lowered."""

from __future__ import annotations

from typing import Any, Protocol

from adcompiler.backends.native.lower.tapes import Tapes
from adcompiler.backends.native.ops.arrays import Arrays
from adcompiler.backends.native.values import Num, Value
from adcompiler.backends.native.writer import Writer
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Block, Function, Statement, Update, Var
from adcompiler.typed.unit import Unit


class Context(Protocol):
    """A function while it is lowered: what writes its loops, tapes and arrays, and its values.

    ``types`` are those of the arguments of the call that is written, ``counts`` names of numbers of
    iterations. ``begun`` are names of what begins as zero in a loop, ``short`` what is a short
    float then; ``tested`` is what is only tested, ``makers`` has the statement that made each, and
    ``told_apart`` the arguments that must not share storage.
    """

    unit: Unit
    w: Writer
    tapes: Tapes
    arrays: Arrays
    values: dict[Atom, Any]
    types: list[t.Type]
    counts: set[str]
    begun: dict[str, Var]
    short: set[Var]
    tested: set[Var]
    makers: dict[Var, tuple[Statement, int]]
    told_apart: list[tuple[tuple[int, ...], tuple[int, ...]]]

    def value(self, atom: Atom) -> Any:
        """Return what an atom is."""

    def read(self, atom: Atom) -> Any:
        """Return what an atom is, where it is computed with."""

    def ready(self, value: Value) -> Any:
        """Return a value that is computed with."""

    def item(self, target: Var, obj: Value, index: Value) -> Any:
        """Return ``obj[index]``."""

    def updated(self, rhs: Update, obj: Value) -> Any:
        """Write into a part of an array or a list."""

    def stored(self, obj: Value, index: Value, value: Value, adds: bool, atom: Atom) -> Any:
        """Write the value of an atom into an element or a part."""

    def block(self, block: Block) -> None:
        """Write the statements of a block."""

    def apart(self, function: Function) -> Context:
        """Return what lowers a function that this one calls."""

    def number(self, atom: Atom) -> Num:
        """Return an atom that is a number."""
