"""What all parts of the reverser share: its state, and the facts kept about regions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TypeGuard, cast

from adcompiler.analyses.versions import Versions
from adcompiler.derive.pairs import Pairs
from adcompiler.derive.reverse.cotangents import Cotangents
from adcompiler.derive.reverse.expected_shapes import ExpectedShapes
from adcompiler.derive.reverse.pending_regions import PendingIf, PendingLoop, PendingRegion, Written
from adcompiler.ir import types as t
from adcompiler.ir.agreement import agrees, is_zero
from adcompiler.ir.nodes import Atom, Block, Origin, Star, Statement, Var
from adcompiler.ir.visit import substitute_block
from adcompiler.specialise.evaluator import Specialiser
from adcompiler.typed.unit import Unit

Sweep = Callable[[Cotangents], None]
"""Writes the reverse of one statement, given the cotangents so far."""


class ReverserBase(ABC):
    """The state of the reversal of one typed function.

    ``active`` holds the variables whose cotangents are wanted, ``varied`` those that depend on the
    inputs. ``pairs`` are the functions called by name. ``split`` says that the sweep will be a
    function of its own, ``apart`` that what it saves must not change if others write into what they
    gave to the function or got from it; ``assume`` that operands may be checked to have
    equal shapes. ``env`` maps primal variables to the atoms that hold their values in the forward
    pass, ``home`` variables to the region that they were made in. ``held`` are the values
    that are written into through a container, ``kept`` their copies. ``depth`` is the number of
    loops around. ``lasting`` are values that nobody writes into after they are read, where the
    sweep may read them again.
    """

    def __init__(
        self, s: Specialiser, active: frozenset[Var], varied: frozenset[Var], pairs: Pairs,
        split: bool, params: Iterable[Var], assume: bool, apart: bool,
    ) -> None:
        self.s = s
        self.active = active
        self.varied = varied
        self.pairs = pairs
        self.split = split
        self.assume = assume
        self.apart = apart
        self.env: dict[Var, Atom] = {}
        self.versions = Versions(Block(()))
        self.primal_of: dict[Atom, Var] = {}
        self.restored: list[dict[Var, Atom]] = [{}]
        self.stale: dict[Var, bool] = {}
        self.held: frozenset[Var] = frozenset()
        self.kept: dict[Var, Atom] = {}
        self.depth = 0
        self.region = 0
        self.regions = 0
        self.outside: dict[int, int] = {}
        self.outs: dict[int, list[Statement]] = {}
        self.given = tuple(params)
        self.home: dict[Var, int] = dict.fromkeys(self.given, 0)
        self.reads_again = False
        self.loops: set[int] = set()
        self.expected = ExpectedShapes(self)

    @abstractmethod
    def forward(self, statements: Iterable[Statement]) -> list[Sweep]:
        """Write the statements with rules opened; return how to reverse the active ones."""

    # -- values --------------------------------------------------------------------------------

    def value(self, atom: Atom) -> Atom:
        """Return the atom of the forward pass that holds a primal value."""
        return self.env.get(atom, atom) if isinstance(atom, Var) else atom

    def argument(self, argument: Atom | Star) -> Atom | Star:
        """Return what the forward pass writes for an argument or element, starred or not."""
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

    @abstractmethod
    def available(self, var: Var) -> Atom:
        """Return the atom that holds a forward value at this point of the sweep."""

    @property
    @abstractmethod
    def bound(self) -> frozenset[Atom]:
        """The variables of the primal code."""

    @property
    @abstractmethod
    def lasting(self) -> frozenset[Atom]:
        """Values that nobody writes into after they are read, where the sweep may read them."""

    @abstractmethod
    def rebuilt(self, var: Var, at: Origin) -> Atom:
        """Return what ``available`` does, in storage that the sweep may write into."""

    @abstractmethod
    def restoring(self, region: int) -> AbstractContextManager[dict[Var, Atom]]:
        """Restore what is read in the sweep of a region; yields the region's table."""

    @abstractmethod
    def keep_apart(self, made: Iterable[Var], at: Origin) -> None:
        """Write copies of what a split sweep would write into: it may be run again."""

    @abstractmethod
    def destroyed_values(self) -> set[Var]:
        """Return the forward values whose storage goes on to hold others."""

    @abstractmethod
    def is_stale(self, var: Var, destroyed: set[Var]) -> bool:
        """Say whether a value shares storage with a destroyed one, so that it must be read anew."""

    @abstractmethod
    def read_restored(self, out: list[Statement], yields: list[Atom]) -> None:
        """Let the sweep of a region read what it restored, and views of that anew."""

    @abstractmethod
    def keep(self, variables: Iterable[Var], origin: Origin) -> None:
        """Write copies, for the sweep, of values that are written into through a container."""

    # -- regions -------------------------------------------------------------------------------

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Note that what is written meanwhile belongs to a region of its own."""
        outer = self.region
        self.regions += 1
        self.region = self.regions
        self.outside[self.region] = outer
        self.outs[self.region] = self.s.out
        try:
            yield
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

    @contextmanager
    def forward_pass(self) -> Iterator[list[Written]]:
        """Write what follows, open regions included, to a new list."""
        out: list[Written] = []
        # the specialiser, which knows no open regions, only adds to the end
        with self.s.writing_to(cast("list[Statement]", out)):
            yield out

    def write_region(self, pending: PendingIf | PendingLoop | PendingRegion) -> None:
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
