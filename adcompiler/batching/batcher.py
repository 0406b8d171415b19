"""Derivative code of one seed made code of many: cotangents or tangents with a leading axis.

Code that computes derivatives is linear in its seeds, so that most of it works for many seeds at
once: products with residuals broadcast along the leading axis, subscripts get ``:`` in front, sums
count their axes from one. Of anything else each seed is computed by itself. What depends on no seed
stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from adcompiler.analyses.storage import METADATA
from adcompiler.batching.arrays import Arrays
from adcompiler.batching.calls import Calls
from adcompiler.batching.kinds import lifted
from adcompiler.batching.subscripts import Subscripts
from adcompiler.batching.values import Part, Values
from adcompiler.errors import NotBatchable
from adcompiler.ir import types as t
from adcompiler.ir.dataflow import Flow
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Block, Call, Const, Do, Edge, Let, Loop, Origin, Raise, Region, Rhs,
    Statement, Unsupported, Var, operands, substitute, unstar,
)
from adcompiler.ir.visit import walk
from adcompiler.ops.queries import meaning
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import as_gradient, project, zeros_like
from adcompiler.runtime.batches import count_seeds
from adcompiler.typed.builder import Builder

OF_SHAPE = frozenset({"shape", "ndim", "size", "len"})
"""Words for how a result depends on arguments, of which no element is read."""


class Batcher(Part):
    """Rewrites one block of derivative code."""

    def __init__(self, values: Values, calls: Calls) -> None:
        super().__init__(values)
        self.calls = calls

    def run(self, block: Block, wanted: Sequence[int]) -> Block:
        """Return ``block`` for many seeds; the yields at ``wanted`` have the leading axis for sure.

        Raises NotBatchable for code that this cannot be written for.
        """
        values = self.values
        self.mark(block)
        values.enter(block)
        for var in list(self.batched):
            self.logical[var] = self.s.unit.type(var)
            self.s.unit.types[var] = lifted(self.logical[var])
            self.s.unit.forget_shape(var)
        with self.s.writing_to([]) as out:
            self.statements(block.statements)
            yields = []
            for i, a in enumerate(block.yields):
                if i not in wanted and a in self.batched:
                    raise NotBatchable
                yields.append(
                    values.expanded(a, values.origin) if i in wanted else values.atom(a))
        if values.seeds is not None and values.counts:
            function = len if isinstance(
                self.s.unit.type(values.seeded[0]), t.Array) else count_seeds
            count = Call(Const(function), (values.seeded[0],))
            out.insert(0, Let(values.seeds, count, values.origin.reversed()))
        return replace(block, statements=tuple(out), yields=tuple(yields))

    # -- which values depend on the seeds ------------------------------------------------------

    def mark(self, block: Block) -> None:
        """Find what depends on the seeds."""
        flow = Flow()
        for statement in walk(block):
            if isinstance(statement, Let):
                flow.add(statement.target, self.carrying(statement.rhs))
            elif isinstance(statement, Region):
                for edge in statement.edges():
                    self.follow(flow, edge)
        unit = self.s.unit
        found = flow.forward(self.batched, lambda atom: self.follows(unit.type(atom)))
        self.batched.update(atom for atom in found if isinstance(atom, Var))

    def follows(self, type_: t.Type) -> bool:
        """Say whether what values of a type depend on is passed on by them."""
        return self.values.carries(type_)

    def follow(self, flow: Flow, edge: Edge) -> None:
        """Let what depends on the seeds go along an edge of a region."""
        flow.add(edge.target, (edge.source,))

    def carrying(self, rhs: Rhs) -> tuple[Atom, ...]:
        """Return the operands through which a value depends on the seeds.

        It may depend on others by the shapes that they have, which are those of one seed.
        """
        match rhs:
            case Attribute(_, name) if name in METADATA:
                return ()
            case Call(Const(function)) if REGISTRY.facts(function).transfer in OF_SHAPE:
                return ()
            case Call(Const(function), args) if function in (project, as_gradient):
                return (unstar(args[0]),)
            case Call(Const(function), args) if function is zeros_like or (
                meaning(rhs) == "zeros_like"
            ):
                return (unstar(args[0]),)
        return operands(rhs)

    # -- statements ----------------------------------------------------------------------------

    def block(self, block: Block, batched: Sequence[bool]) -> Block:
        """Return the block of a region; yields in the places of ``batched`` get the axis."""
        values = self.values
        with self.s.writing_to([]) as out:
            self.statements(block.statements)
            yields = [
                values.expanded(a, values.origin) if wanted and a is not UNDEF else values.atom(a)
                for a, wanted in zip(block.yields, batched, strict=True)
            ] if not block.diverges else list(block.yields)
        return Block(tuple(out), tuple(yields), block.diverges)

    def statements(self, statements: Iterable[Statement]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        s = self.s
        match statement:
            case Let(target, rhs, origin):
                self.let(target, substitute(rhs, self.values.mapping), origin)
            case Do(rhs, origin):
                rhs = substitute(rhs, self.values.mapping)
                s.out.append(Do(self.calls.effect(rhs), origin))
            case Loop():
                self.loop(statement)
            case Region():
                if any(atom in self.batched for atom in statement.decides()):
                    raise NotBatchable
                wanted = [r in self.batched for r in statement.results]
                s.out.append(statement.with_reads(self.values.atom).with_blocks(
                    lambda inner: self.block(inner, wanted)))
            case Raise() | Unsupported():
                s.out.append(statement)
            case _:
                raise NotBatchable

    def loop(self, node: Loop) -> None:
        if node.condition is not None and any(
            a in self.batched for a in node.condition.yields
        ):
            raise NotBatchable
        values, in_order = self.values, self.calls.arrays.in_order
        iterables = [in_order(values.atom(a), node.origin) for a in node.iterables]
        inits = [
            values.expanded(a, node.origin) if p in self.batched else values.atom(a)
            for p, a in zip(node.params, node.inits, strict=True)
        ]
        condition = node.condition
        if condition is not None:
            condition = self.block(condition, [False] * len(condition.yields))
        wanted = [v in self.batched for v in (*node.params, *node.collects)]
        stop = [False] if node.stops else []
        body = self.block(node.body, [*wanted, *stop])
        self.s.out.append(replace(
            node, iterables=tuple(iterables), inits=tuple(inits), condition=condition, body=body
        ))

    def let(self, target: Var, rhs: Rhs, origin: Origin) -> None:
        if target not in self.batched:
            if any(a in self.batched for a in operands(rhs)):
                rhs = self.calls.metadata(rhs, origin)
            self.s.out.append(Let(target, rhs, origin))
            self.s.unit.defs[target] = rhs
            return
        new = self.calls.rhs(target, rhs, origin)
        if isinstance(new, Var):
            self.values.mapping[target] = new
            return
        self.s.unit.defs[target] = new
        self.s.out.append(Let(target, new, origin))


def batched_block(
    s: Builder, block: Block, seeded: Sequence[Var], wanted: Sequence[int], origin: Origin,
    before: Sequence[Statement] = (),
) -> Block:
    """Return derivative code for many seeds, which ``seeded`` hold.

    The yields at ``wanted`` have the leading axis for sure. ``before`` is what runs before it,
    of which it may read anything. Raises NotBatchable.
    """
    values = Values(s, seeded, origin, before)
    calls = Calls(values, Subscripts(values), Arrays(values))
    return Batcher(values, calls).run(block, wanted)


__all__ = ["NotBatchable", "batched_block"]
