"""The forward pass while it is written: the values that it has, and the regions around."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeGuard, cast

from adcompiler.derive.reverse.cotangents import Cotangents
from adcompiler.derive.reverse.open_regions import PendingArms, PendingLoop, Written
from adcompiler.ir import types as t
from adcompiler.ir.agreement import agrees, is_zero
from adcompiler.ir.nodes import Atom, Block, Star, Statement, Var
from adcompiler.ir.visit import substitute_block
from adcompiler.infer.inference import Inference
from adcompiler.typed.unit import Unit

Sweep = Callable[[Cotangents], None]
"""Writes the reverse of one statement, given the cotangents so far."""

Forward = Callable[[Iterable[Statement]], list[Sweep]]
"""Writes statements with rules opened; returns how to reverse the active ones."""


class ForwardPass:
    """The forward pass of one typed function.

    ``active`` holds the variables whose cotangents are wanted, ``varied`` those that depend on the
    inputs, ``given`` the parameters. ``env`` maps primal variables to the atoms that hold their
    values, ``home`` variables to the number of the region that they were made in; 0 is the
    function. ``outside`` maps regions to those around them; ``loops`` are those that are loops.
    """

    def __init__(
        self, s: Inference, active: frozenset[Var], varied: frozenset[Var],
        params: Iterable[Var],
    ) -> None:
        self.s = s
        self.active = active
        self.varied = varied
        self.given = tuple(params)
        self.env: dict[Var, Atom] = {}
        self.home: dict[Var, int] = dict.fromkeys(self.given, 0)
        self.region = 0
        self.outside: dict[int, int] = {}
        self.outs: dict[int, list[Statement]] = {}
        self.loops: set[int] = set()

    # -- values --------------------------------------------------------------------------------

    def value(self, atom: Atom) -> Atom:
        """Return the atom that holds a primal value."""
        return self.env.get(atom, atom) if isinstance(atom, Var) else atom

    def argument(self, argument: Atom | Star) -> Atom | Star:
        """Return what is written for an argument or element, starred or not."""
        if isinstance(argument, Star):
            return Star(self.value(argument.atom))
        return self.value(argument)

    def is_active(self, atom: Atom | Star) -> TypeGuard[Var]:
        """Say whether cotangents of ``atom`` are wanted."""
        return isinstance(atom, Var) and atom in self.active

    def copy_of(self, var: Var, temporary: bool = False) -> Var:
        """Return a new variable that holds what ``var`` held."""
        new = Var(var.name, temporary)
        self.s.copy_facts(var, new)
        self.s.unit.defs.pop(new, None)
        for table in (self.s.unit.naming.names, self.s.unit.naming.hints):
            if var in table:
                table[new] = table[var]
        return new

    # -- regions -------------------------------------------------------------------------------

    @contextmanager
    def open_block(self) -> Iterator[list[Written]]:
        """Write what follows, open regions included, to a new list."""
        out: list[Written] = []
        # type inference, which knows no open regions, only adds to the end
        with self.s.writing_to(cast("list[Statement]", out)):
            self.outs.setdefault(self.region, self.s.out)
            yield out

    @contextmanager
    def open_region(self, is_loop: bool = False) -> Iterator[tuple[list[Written], int]]:
        """Write what follows to the block of a region; yields the block and its number."""
        outer, self.region = self.region, len(self.outside) + 1
        self.outside[self.region] = outer
        if is_loop:
            self.loops.add(self.region)
        try:
            with self.open_block() as out:
                yield out, self.region
        finally:
            self.region = outer

    def written_in(self, region: int) -> list[Statement]:
        """Return the statements of a region that is being written, so far."""
        return self.s.out if region == self.region else self.outs[region]

    def regions_around(self, region: int) -> Iterator[int]:
        """Yield a region and those that it lies in."""
        yield region
        while region in self.outside:
            region = self.outside[region]
            yield region

    def loops_around(self, region: int) -> int:
        """Return in how many loops a region lies, itself included."""
        return sum(one in self.loops for one in self.regions_around(region))

    def write_region(self, pending: PendingArms | PendingLoop) -> None:
        """Write a region that stays open until the forward pass is finished."""
        cast("list[Written]", self.s.out).append(pending)


def rename(out: list[Statement], yields: list[Atom], mapping: Mapping[Var, Atom]) -> None:
    """Replace variables in the statements of a region and in what it yields."""
    block = substitute_block(Block(tuple(out), tuple(yields)), mapping)
    out[:] = block.statements
    yields[:] = block.yields


def merged_type(type_: t.Type, parts: Iterable[t.Type]) -> t.Type:
    """Return the type of a cotangent that is one of several.

    It is a NumPy number if one of them is.
    """
    if isinstance(type_, t.Scalar) and type_.dtype is None and type_.kind == "float" and any(
        isinstance(part, t.Scalar) and part.dtype is not None for part in parts
    ):
        return t.Scalar("float", "float64")
    return type_


def of_one_form(type_: t.Type, atoms: Iterable[Atom], unit: Unit) -> bool:
    """Say whether what a cotangent is given are numbers, arrays and the like as its type says.

    A variable that is a number here and an array there has such cotangents.
    """
    return all(is_zero(atom) or agrees(unit.type(atom), type_) for atom in atoms)
