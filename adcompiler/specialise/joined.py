"""What the arms of a branch leave to what follows it."""

from __future__ import annotations

from dataclasses import field

from adcompiler.ir.atoms import Atom, Var
from adcompiler.specialise.storage.choices import Place
from adcompiler.specialise.storage.state import Reference
from adcompiler.support.structs import dataclass


@dataclass(eq=False)
class Joined:
    """What the results of a branch are made of.

    ``kept`` are the variables that it defines, with what its arms yield; ``adopted`` those of them
    that the heap has to learn of. Results in ``chosen`` are one of two objects that were there
    before, ``again`` are read again after the branch.
    """

    kept: dict[Var, tuple[Atom, Atom]] = field(default_factory=dict)
    adopted: list[tuple[Var, Atom, Atom]] = field(default_factory=list)
    chosen: dict[int, tuple[tuple[Place, Place], Atom]] = field(default_factory=dict)
    again: dict[int, Reference] = field(default_factory=dict)
