"""Values while a block is rewritten for many seeds: which have the leading axis, and getting it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from adcompiler.analyses.purity import Purity
from adcompiler.analyses.storage import written_operand
from adcompiler.batching.kinds import carries, lifted, may_be_written
from adcompiler.errors import NotBatchable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Block, Call, Const, Item, Let, Origin, Rhs, Star, Statement, Var,
)
from adcompiler.ir.visit import walk
from adcompiler.ops.queries import meaning
from adcompiler.runtime import zeros_like
from adcompiler.runtime.batches import repeated, zeros_of_each
from adcompiler.typed.builder import Builder

WHOLE = slice(None)


class Values:
    """What is known of the values of one block, and how they get a leading axis.

    ``batched`` are the variables that depend on the seeds, ``seeded``; ``logical`` holds the types
    that they have for one seed. ``before`` is what runs in front of the block, ``seeds`` how many
    seeds there are, which is counted if it is not given.
    """

    def __init__(
        self, s: Builder, seeded: Iterable[Var], origin: Origin, before: Sequence[Statement] = (),
        orders: Var | None = None,
    ) -> None:
        self.s = s
        self.before = Block(tuple(before))
        self.written_as: dict[Atom, Rhs] = {}
        self.seeded = tuple(seeded)
        self.origin = origin
        self.batched = set(self.seeded)
        self.logical: dict[Var, t.Type] = {}
        self.mapping: dict[Var, Atom] = {}
        self.purity = Purity(s.unit.type, s.unit.definition)
        self.seeds, self.counts = orders, orders is None
        self.constant: set[Atom] = set()
        self.writes = True

    def enter(self, block: Block) -> None:
        """Note what is computed in a block, and what is written into."""
        statements = [st for part in (self.before, block) for st in walk(part)]
        self.written_as = {st.target: st.rhs for st in statements if isinstance(st, Let)}
        self.constant = {var for var in self.seeded if not may_be_written(var, block)}
        self.writes = any(
            isinstance(st, Let) and written_operand(st.rhs) is not None for st in walk(block))

    def carries(self, type_: t.Type) -> bool:
        """Say whether values of a type may depend on the seeds."""
        return carries(type_)

    def depends(self, atom: Any) -> bool:
        """Say whether a value may be another one for another seed."""
        return (atom.atom if isinstance(atom, Star) else atom) in self.batched

    def type(self, atom: Any) -> t.Type:
        """Return the type of a value of one seed."""
        return self.logical.get(atom) or self.s.unit.type(atom)

    def atom(self, atom: Any) -> Any:
        """Return the atom that holds a value now."""
        if isinstance(atom, Star):
            return Star(self.atom(atom.atom))
        return self.mapping.get(atom, atom) if isinstance(atom, Var) else atom

    def write(self, rhs: Rhs, type_: t.Type, name: str, origin: Origin) -> Var:
        """Write a value with a leading axis, of the logical type ``type_``."""
        new = self.s.let(rhs, lifted(type_), name, origin)
        assert isinstance(new, Var)
        self.batched.add(new)
        self.logical[new] = type_
        return new

    def is_array(self, atom: Any) -> bool:
        """Say whether a value has a leading axis: it is one array, not a container of some."""
        return atom in self.batched and isinstance(self.logical[atom], (t.Array, t.Scalar))

    def is_container(self, atom: Any) -> bool:
        """Say whether a value is known to hold values with leading axes, and has none itself."""
        return isinstance(self.type(atom), (t.List, t.Tuple, t.Dict))

    def rank(self, atom: Atom | Star) -> int:
        """Return the number of axes of a value of one seed."""
        if isinstance(atom, Star):
            raise NotBatchable
        type_ = self.logical[atom] if atom in self.batched else self.s.unit.type(atom)
        if isinstance(type_, t.Scalar):
            return 0
        if not isinstance(type_, t.Array):
            raise NotBatchable
        return type_.ndim

    def differ_in_rank(self, atoms: Iterable[Any]) -> bool:
        """Say whether some of these are numbers and arrays of different numbers of axes."""
        types = map(self.type, atoms)
        return len({
            type_.ndim if isinstance(type_, t.Array) else 0
            for type_ in types if isinstance(type_, (t.Array, t.Scalar))
        }) > 1

    def expanded(self, atom: Any, origin: Origin) -> Atom:
        """Return a value with a leading axis, of seeds for which it is the same."""
        atom = self.atom(atom)
        if atom in self.batched or atom is NONE or atom is UNDEF:
            return atom  # type: ignore[no-any-return]
        type_ = self.s.unit.type(atom)
        if not self.carries(type_) and not isinstance(type_, t.Scalar):
            raise NotBatchable
        made = self.s.unit.definition(atom)
        count = self.count()
        name = atom.name if isinstance(atom, Var) else "zero"
        if isinstance(made, Call) and isinstance(made.func, Const) and (
            made.func.value is zeros_like or meaning(made) == "zeros_like"
        ):
            # a list may have grown by now of which these are the zeros
            like = made.args[0] if isinstance(type_, (t.Array, t.Scalar)) else atom
            zeros = Call(Const(zeros_of_each), (like, count))
            return self.write(zeros, type_, name, origin)
        return self.write(Call(Const(repeated), (atom, count)), type_, name, origin)

    def count(self) -> Var:
        """Return the variable that holds the number of seeds."""
        if self.seeds is None:
            self.seeds = Var("seeds", False)
            self.s.unit.types[self.seeds] = t.INT
        return self.seeds

    def aligned(self, atom: Atom, rank: int, origin: Origin) -> Atom:
        """Return a value so that each seed's broadcasts as one of ``rank`` axes."""
        missing = rank - self.rank(atom)
        if atom not in self.batched or missing <= 0:
            return atom
        index: tuple[Any, ...] = (WHOLE, *(None,) * missing)
        if self.rank(atom):
            index = (*index, Ellipsis)
        dtype = getattr(self.s.unit.type(atom), "dtype", "float64")
        return self.write(Item(atom, Const(index)), t.Array(dtype, rank), "piece", origin)


class Part:
    """Rewrites one kind of code, with the values of a block."""

    def __init__(self, values: Values) -> None:
        self.s = values.s
        self.values = values
        self.batched, self.logical = values.batched, values.logical
