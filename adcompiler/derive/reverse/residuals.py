"""What a sweep reads of the region that it reverses: saved by the region, or computed anew."""

from __future__ import annotations

import operator
from dataclasses import field, replace
from typing import TypeGuard

from adcompiler.analyses.storage import written_operand
from adcompiler.derive.reverse.cotangents import Cotangents
from adcompiler.derive.reverse.expected_shapes import ExpectedShapes
from adcompiler.derive.reverse.forward_pass import ForwardPass, rename
from adcompiler.derive.reverse.open_regions import (
    PendingArms, PendingLoop, hoist_metadata, top_level,
)
from adcompiler.derive.reverse.recomputing import Recomputer
from adcompiler.derive.reverse.rereading import Rereader
from adcompiler.derive.reverse.undo import Restoring
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, Atom, Attribute, Block, Call, Const, Item, Let, Origin, Rhs, Statement, Var, unstar,
)
from adcompiler.ir.visit import (
    bound_inside, free_variables, is_plain_region, walk, with_blocks,
)
from adcompiler.ops.queries import meaning
from adcompiler.support.structs import dataclass

@dataclass(eq=False)
class ReverseLoop:
    """A reverse loop while it is written.

    ``inner`` holds the cotangents inside it; ``items`` run over ``iterables``; ``params``, first
    ``inits``, become ``yields``. ``out`` is its body; ``prelude`` the statements in front of it;
    ``positions`` are variables to be bound there to the positions of the iterations, last first.
    ``shadows`` are the positions of carried values whose storage the loop writes into; ``before``
    are the types of the cotangents of carried values in front of the first iteration.
    """

    pending: PendingLoop
    inner: Cotangents
    at: Origin
    shadows: set[int] = field(default_factory=set)
    items: list[Var] = field(default_factory=list)
    iterables: list[Atom] = field(default_factory=list)
    params: list[Var] = field(default_factory=list)
    inits: list[Atom] = field(default_factory=list)
    yields: list[Atom] = field(default_factory=list)
    out: list[Statement] = field(default_factory=list)
    prelude: list[Statement] = field(default_factory=list)
    positions: list[Var] = field(default_factory=list)
    before: dict[Var, t.Type] = field(default_factory=dict)

    @property
    def same_iterations(self) -> bool:
        """Whether the loop runs for all elements of its iterables and no condition ends it."""
        return self.pending.stop is None and self.pending.condition is None


class Saver:
    """Gives the sweep of a region the values of the region that it reads."""

    def __init__(
        self, forward: ForwardPass, restoring: Restoring, expected: ExpectedShapes,
        rereader: Rereader,
    ) -> None:
        self.s = forward.s
        self.forward = forward
        self.restoring = restoring
        self.rereader = rereader
        self.expected = expected
        self.recomputer = Recomputer(forward, restoring)

    def read_restored(
        self, region: int, out: list[Statement], yields: list[Atom], restored: dict[Var, Atom]
    ) -> None:
        """Let the sweep of a region read what it ``restored``, and views of that anew."""
        with self.restoring.within(region) as table:
            table.update(restored)
            self.rereader.read_restored(out, yields)

    def save_from_arm(
        self, pending: PendingArms, k: int, out: list[Statement], yields: list[Atom],
        restored: dict[Var, Atom],
    ) -> None:
        """Let an arm yield what its reverse reads of values made in it."""
        self.read_restored(pending.regions[k], out, yields, restored)
        arm = pending.arms[k]
        made = {*top_level(arm), *bound_inside(pending.node)}
        hoist_metadata(out, arm, made, self.s.unit.unsure)
        if is_plain_region(pending.node):  # integers of the others tell how far a body came
            self.recomputer.recompute_integers(out, yields, arm, made, pending.regions[k])
        mapping: dict[Var, Atom] = {}
        for var in free_variables(Block(tuple(out), tuple(yields))):
            if var not in made:
                continue
            mapping[var] = saved = self.forward.copy_of(var)
            pending.results.append(saved)
            for other, row in enumerate(pending.yields):
                row.append(var if other == k else pending.nothing)
        rename(out, yields, mapping)

    def save_from_loop(self, loop: ReverseLoop, restored: dict[Var, Atom]) -> None:
        """Let the loop collect what the reverse body reads of values made in its iterations."""
        pending, node = loop.pending, loop.pending.node
        self.read_restored(pending.region, loop.out, loop.yields, restored)
        bound = {*node.params, *node.items}
        made = bound | set(top_level(pending.body))
        self.reread_shapes(loop, made)
        self.multiply_by_inverses(loop)
        hoist_metadata(loop.out, pending.body, made, self.s.unit.unsure)
        items = frozenset(node.items)
        self.recomputer.recompute_integers(
            loop.out, loop.yields, pending.body, made, pending.region, items)
        mapping: dict[Var, Atom] = {}
        for var in free_variables(Block(tuple(loop.out), tuple(loop.yields))):
            if var not in made:
                continue
            read = self.s.unit.definition(var)
            if isinstance(read, Attribute) and (found := self.shape_again(read)) is not None:
                mapping[var] = self.before_loop(loop, found, "shape", self.s.unit.type(var))
                continue
            saved = self.forward.copy_of(var)
            loop.items.append(saved)
            mapping[var] = saved
            call = Call(Const(reversed), (self.saved_values(loop, var),))
            loop.iterables.append(self.before_loop(loop, call, f"reversed_{var.name}"))
        if not loop.items:
            self.count_iterations(loop)
        rename(loop.out, loop.yields, mapping)
        self.write_positions(loop)
        self.s.out.extend(loop.prelude)

    def saved_values(self, loop: ReverseLoop, var: Var) -> Atom:
        """Return the values of ``var`` in all iterations: what it ran over, or a list of them."""
        node = loop.pending.node
        if loop.same_iterations and len(node.items) == 1 and var in node.items:
            (iterable,) = loop.pending.iterables
            if self.re_iterable(iterable):
                return iterable
        return self.collect(loop.pending, var, var.name)

    def collect(self, pending: PendingLoop, value: Atom, name: str) -> Var:
        """Let every iteration of a forward loop save ``value``; return the list of them."""
        tape = Var(f"{name}_tape", True)
        self.s.unit.types[tape] = t.List(self.s.unit.type(value))
        pending.collects.append(tape)
        pending.collected.append(value)
        return tape

    def re_iterable(self, iterable: Atom) -> bool:
        """Say whether a sequence can be run through again, backwards."""
        return isinstance(self.s.unit.type(iterable), (t.Range, t.Array, t.List, t.Tuple))

    def reread_shapes(self, loop: ReverseLoop, made: set[Var]) -> None:
        """Let the sweep read shapes of arguments that equal those of values of the iterations."""

        def again(statement: Statement) -> Statement:
            if not isinstance(statement, Let):
                return with_blocks(statement, within)
            found: Rhs | None = None
            match statement.rhs:
                case Item(Var() as shape, Const(int(i))):
                    read = self.s.unit.definition(shape)
                    found = self.extent_again(loop, read, i) if isinstance(
                        read, Attribute) and not made.isdisjoint((shape, read.obj)) else None
                case Attribute(obj, "shape") as read if obj in made:
                    found = self.shape_again(read)
            if found is None:
                return statement
            self.s.unit.defs[statement.target] = found
            return replace(statement, rhs=found)

        def within(block: Block) -> Block:
            return replace(block, statements=tuple(map(again, block.statements)))

        loop.out[:] = map(again, loop.out)

    def multiply_by_inverses(self, loop: ReverseLoop) -> None:
        """g / y -> g * z where the iteration computes z = 1 / y, and writes into neither."""
        unit, body = self.s.unit, loop.pending.body
        written = {
            written_operand(inner.rhs) for inner in walk(Block(tuple(body)))  # type: ignore[arg-type]
            if isinstance(inner, Let)
        }
        inverses = {
            made.args[1]: statement.target for statement in body
            if isinstance(statement, Let) and is_quotient(made := statement.rhs)
            and isinstance(made.args[0], Const) and made.args[0].value == 1.0
            and isinstance(unit.type(statement.target), t.Array)
            and written.isdisjoint((statement.target, made.args[1]))
        }
        for position, statement in enumerate(loop.out if inverses else ()):
            if not isinstance(statement, Let) or not is_quotient(statement.rhs):
                continue
            x, y = map(unstar, statement.rhs.args)
            if y in inverses and unit.type(x) == unit.type(inverses[y]) == unit.type(
                statement.target
            ):
                product = Call(Const(operator.mul), (x, inverses[y]))
                unit.defs[statement.target] = product
                loop.out[position] = replace(statement, rhs=product)

    def shape_again(self, read: Attribute) -> Attribute | None:
        """Return the reading of the shape of an argument that equals another shape."""
        array = self.expected.given_array(self.s.unit.shape(read.obj)) if (
            read.name == "shape" and self.s.unit.shape(read.obj)) else None
        return None if array is None else Attribute(array, "shape")

    def extent_again(self, loop: ReverseLoop, read: Attribute, i: int) -> Item | None:
        """Return the reading of an axis of an argument that equals one of another array."""
        shape = self.s.unit.shape(read.obj) if read.name == "shape" else ()
        axis = self.expected.given_axis(shape[i]) if -len(shape) <= i < len(shape) else None
        if axis is None:
            return None
        type_ = t.Tuple((t.INT,) * len(self.s.unit.shape(axis.array)))
        whole = self.before_loop(loop, Attribute(axis.array, "shape"), "shape", type_)
        return Item(whole, Const(axis.axis))

    def before_loop(
        self, loop: ReverseLoop, rhs: Rhs, name: str, type_: t.Type = t.UNKNOWN
    ) -> Var:
        """Write a statement in front of the reverse loop that is being written."""
        var = Var(name, True)
        self.s.unit.record(var, rhs, type_)
        loop.prelude.append(Let(var, rhs, loop.at))
        return var

    # -- positions -----------------------------------------------------------------------------

    def count_iterations(self, loop: ReverseLoop) -> None:
        """Let the reverse loop run as often as the loop did, with nothing to hand over."""
        item = Var("_", False)
        self.s.unit.types[item] = t.UNKNOWN
        loop.items.append(item)
        iterables = loop.pending.iterables
        if loop.same_iterations and len(iterables) == 1 and self.re_iterable(iterables[0]):
            loop.iterables.append(iterables[0])
        else:
            loop.iterables.append(self.collect(loop.pending, NONE, "count"))

    def reversed_positions(self, loop: ReverseLoop) -> Var:
        """Return a variable for the positions of the iterations that ran, last first."""
        backwards = Var("backwards", True)
        self.s.unit.types[backwards] = t.UNKNOWN
        loop.positions.append(backwards)
        return backwards

    def write_positions(self, loop: ReverseLoop) -> None:
        """Write the sequences of positions that were asked for, now that all tapes are known."""
        pending, unit = loop.pending, self.s.unit
        for backwards in loop.positions:
            if pending.stop is None and len(pending.iterables) == 1:
                counted: Atom = pending.iterables[0]
            else:
                own = pending.collects[len(pending.node.collects):]
                counted = own[0] if own else self.collect(pending, NONE, "count")
            length = self.before_loop(loop, Call(Const(len), (counted,)), "count")
            unit.types[length] = t.INT
            positions = self.before_loop(loop, Call(Const(range), (length,)), "positions")
            unit.types[positions] = t.RANGE
            call = Call(Const(reversed), (positions,))
            unit.defs[backwards] = call
            loop.prelude.append(Let(backwards, call, loop.at))


def is_quotient(rhs: Rhs) -> TypeGuard[Call]:
    """Say whether a right-hand side divides one value by another, and nothing else."""
    return isinstance(rhs, Call) and meaning(rhs) == "divide" and len(rhs.args) == 2 and (
        not rhs.kwargs)
