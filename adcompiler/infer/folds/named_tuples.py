"""``namedtuple("P", "a b")`` in the code that is compiled: the class is made when compiling."""

from __future__ import annotations

import collections
import functools
from typing import Any

from adcompiler.ir.nodes import Atom, Const, Origin, Star
from adcompiler.infer.folds.table import FOLDS
from adcompiler.infer.writer import Writer


def fold_namedtuple(
    s: Writer, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Python makes a new class each time; one class stands for those of one name and fields."""
    if len(args) != 2 or set(kwargs) - {"rename"} or any(isinstance(arg, Star) for arg in args):
        return None
    fields = s.unit.elements(args[1])
    known = [
        atom.value for atom in (args[0], *(args[1:] if fields is None else fields),
                                *kwargs.values()) if isinstance(atom, Const)]
    if len(known) != 1 + len(kwargs) + (1 if fields is None else len(fields)):
        return None
    named, rename = known[1 : len(known) - len(kwargs)], bool(kwargs) and bool(known[-1])
    names = named[0] if fields is None else named
    text = names if isinstance(names, str) else " ".join(map(str, names))
    try:
        cls = made(known[0], text, rename, origin.file)
    except (TypeError, ValueError):
        return None
    return s.unit.relied.static(cls, (("live", cls),))


@functools.cache
def made(name: str, fields: str, rename: bool, file: str) -> Any:
    """Return the class of a name with these fields, for code of a file."""
    return collections.namedtuple(name, fields, rename=rename)


FOLDS[collections.namedtuple] = fold_namedtuple
