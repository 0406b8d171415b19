"""Reverse mode: a typed function becomes its augmented primal and the reverse sweep of it.

The forward pass writes the primal statements with rules opened in place, and leaves a record of
each active one; the sweep goes through the records backwards and writes cotangents. The reverse of
a branch is a branch on the same condition, the reverse of a loop a loop over what its iterations
saved. Whatever the sweep reads of values made inside a region is saved by that region: a branch
yields it, a loop collects it in a list.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from adcompiler.analyses.activity import active_variables, varied_variables
from adcompiler.analyses.shift_invariance import cancelled_shifts
from adcompiler.analyses.purity import Purity
from adcompiler.analyses.storage import written_operand
from adcompiler.derive.attributes import attribute_rule, is_field
from adcompiler.derive.lossy_conversions import refuse_disguises, refuse_memos
from adcompiler.derive.primal_and_pullback import Pairs
from adcompiler.derive.reverse.calls import CallReverser, stands_for_value
from adcompiler.derive.reverse.checks import (
    check_unseen, refuse_detached_writes, reject_opaque, reject_set,
)
from adcompiler.derive.reverse.cotangents import Cotangents
from adcompiler.derive.reverse.expected_shapes import ExpectedShapes
from adcompiler.derive.reverse.forward_pass import ForwardPass, Sweep
from adcompiler.derive.reverse.loops import LoopReverser
from adcompiler.derive.reverse.open_regions import finish, hoist_metadata, top_level
from adcompiler.derive.reverse.regions import RegionReverser
from adcompiler.derive.reverse.rereading import Rereader
from adcompiler.derive.reverse.undo import Restoring
from adcompiler.derive.reverse.residuals import Saver
from adcompiler.derive.reverse.writes import WriteReverser
from adcompiler.derive.tables import without_tables
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, Atom, Attribute, Block, Call, Const, Do, Item, Let, Loop, Origin, Pack, Region, Rhs, Star,
    Statement, Var, substitute, unstar,
)
from adcompiler.ir.operators import is_one
from adcompiler.ir.visit import defined, substitute_statement
from adcompiler.ops.partial_functions import DERIVED
from adcompiler.runtime import evaluated, noted_value, record
from adcompiler.infer.calls.libraries import is_namedtuple
from adcompiler.infer.inference import Inference
from adcompiler.support.structs import dataclass
from adcompiler.typed.callee import Callee


@dataclass(eq=False)
class Reversed:
    """The two halves of a reversed function, before they are put together.

    ``bars`` are the cotangents of the wanted inputs, None where they are zero; ``owned`` holds the
    cotangents whose storage the sweep made. ``renamed`` tells which primal values are other
    variables in the forward pass.
    """

    forward: list[Statement]
    sweep: list[Statement]
    bars: list[Atom | None]
    owned: set[Atom]
    renamed: dict[Var, Atom]

    def value(self, atom: Atom) -> Atom:
        """Return the atom that holds a primal value in the forward pass."""
        return self.renamed.get(atom, atom) if isinstance(atom, Var) else atom


class Reverser:
    """Writes the forward pass and the reverse sweep of one typed function.

    ``active`` holds the variables whose cotangents are wanted, ``varied`` those that depend on the
    inputs. ``pairs`` are the functions called by name. ``split`` says that the sweep will be a
    function of its own, ``apart`` that what it saves must not change with what others hold;
    ``assume`` that operands may be checked to have equal shapes.
    """

    def __init__(
        self, s: Inference, body: Block, active: frozenset[Var], varied: frozenset[Var],
        params: Iterable[Var], pairs: Pairs, split: bool = False, apart: bool = False,
        assume: bool = False,
    ) -> None:
        self.s = s
        self.body = body
        self.forward = forward = ForwardPass(s, active, varied, params)
        self.restoring = restoring = Restoring(forward, body, split, apart)
        self.expected = expected = ExpectedShapes(forward, assume)
        self.calls = CallReverser(forward, restoring, expected, pairs)
        self.writes = WriteReverser(forward, restoring)
        self.rereader = Rereader(forward, restoring)
        saver = Saver(forward, restoring, expected, self.rereader)
        self.regions = RegionReverser(forward, restoring, saver, self.block)
        self.loops = LoopReverser(forward, restoring, expected, saver, self.block)

    def halves(
        self, seeds: Iterable[tuple[Atom, Atom]], inputs: list[Var], origin: Origin
    ) -> Reversed:
        """Write both halves; ``seeds`` pairs values with what is added to their cotangents."""
        at = origin.reversed()
        with self.forward.open_block() as forward:
            self.expected.axes_of_one(self.forward.given, origin)
            sweeps = self.block(self.body.statements)
        cotangents = Cotangents(self.s)
        cotangents.primal = self.forward.env
        with self.s.writing_to([]) as out:
            self.restoring.keep_apart(self.body, at)
            for value, seed in seeds:
                if self.forward.is_active(value):
                    cotangents.accumulate(value, seed, at)
            for sweep in reversed(sweeps):
                sweep(cotangents)
            bars = [cotangents.get(var, at) for var in inputs]
        ends = [NONE if bar is None else bar for bar in bars]
        self.rereader.read_restored(out, ends)
        if self.restoring.split:
            hoist_metadata(out, forward, set(top_level(forward)), self.s.unit.unsure)
        return Reversed(
            finish(forward), out,
            [None if bar is None else end for bar, end in zip(bars, ends, strict=True)],
            cotangents.owned, self.forward.env,
        )

    def block(self, statements: Iterable[Statement]) -> list[Sweep]:
        """Write the statements with rules opened; return how to reverse the active ones."""
        home, region = self.forward.home, self.forward.region
        sweeps: list[Sweep] = []
        for statement in statements:
            for var in defined(statement):
                home.setdefault(var, region)
            before = len(self.s.out)
            sweep = self.statement(statement)
            for written in self.s.out[before:]:
                if isinstance(written, Let):
                    home.setdefault(written.target, region)
            if sweep is not None:
                sweeps.append(sweep)
            if isinstance(statement, (Let, Region)):
                self.restoring.keep(defined(statement), statement.origin)
        return sweeps

    def statement(self, statement: Statement) -> Sweep | None:
        """Write one statement; return how to reverse it if it is active."""
        match statement:
            case Let(target, rhs, origin) if written_operand(rhs) is not None:
                return self.writes.update(target, rhs, origin)
            case Let(target, rhs, origin):
                if self.forward.is_active(target):
                    return self.definition(target, rhs, origin)
                if stands_for_value(rhs):
                    assert isinstance(rhs, Call)
                    self.forward.env[target] = self.forward.value(unstar(rhs.args[0]))
                    return None
                new = substitute(rhs, self.forward.env)
                self.s.unit.shapes.pop(target, None)
                self.s.unit.record(target, new, self.s.unit.type(target))
                self.s.out.append(Let(target, new, origin))
                check_unseen(self.s, self.forward.varied, rhs, origin, target)
            case Loop():
                return self.loops.loop(statement)
            case Region():
                return self.regions.region(statement)
            case Do(Call(Const(function), (value,))) if (
                function is evaluated and self.derived(value)
            ):
                return None
            case _:
                if isinstance(statement, Do):
                    check_unseen(self.s, self.forward.varied, statement.rhs, statement.origin)
                self.s.out.append(substitute_statement(statement, self.forward.env))
        return None

    def derived(self, value: Atom | Star) -> bool:
        """Say whether the derivative raises whatever computing a value raises.

        A function that was compiled apart runs for what its pullback needs.
        """
        rhs = self.s.unit.definition(value) if self.forward.is_active(value) else None
        if not isinstance(rhs, Call):
            return isinstance(rhs, Item)
        function = rhs.func.value if isinstance(rhs.func, Const) else None
        return is_one(function, DERIVED) or isinstance(
            getattr(function, "callee", function), Callee)

    def definition(self, target: Var, rhs: Rhs, origin: Origin) -> Sweep | None:
        """Write a definition whose cotangent is wanted; return its reverse."""
        match rhs:
            case Call(Const(function), args) if is_namedtuple(function):
                return self.display(target, rhs, args, positions(args), origin)
            case Call(Const(function)) if function is noted_value:
                self.s.reject(
                    origin, f"`{target.name}` may have several values here, as an exception may "
                    "leave the `try` before or after it is assigned",
                    "assign it in the handler, or in front of the `try`", "try",
                )
                return None
            case Call(Const(function), _, fields) if function is record:
                return self.display(
                    target, rhs, tuple(atom for _, atom in fields),
                    tuple(Const(name) for name, _ in fields), origin,
                )
            case Call():
                return self.calls.call(target, rhs, origin)
            case Item(obj, index):
                return self.item(target, obj, index, origin)
            case Attribute(obj, name):
                return self.attribute(target, obj, name, origin)
            case Pack("set"):
                reject_set(self.s, origin)
                return None
            case Pack(_, items, keys):
                known = tuple(key for key in keys if key is not None)  # no ** is left by now
                return self.display(target, rhs, items, known or positions(items), origin)
        self.s.out.append(Let(target, substitute(rhs, self.forward.env), origin))
        return None

    def item(self, target: Var, obj: Atom, index: Atom, origin: Origin) -> Sweep:
        """Write a subscript."""
        reject_opaque(self.s, obj, origin)
        where = self.forward.value(index)
        read = Item(self.forward.value(obj), where)
        self.s.unit.record(target, read, self.s.unit.type(target))
        self.s.out.append(Let(target, read, origin))

        def sweep(cotangents: Cotangents) -> None:
            at = origin.reversed()
            g = cotangents.take(target, at)
            if g is not None:
                cotangents.accumulate_item(obj, where, g, at)

        return sweep

    # -- displays ------------------------------------------------------------------------------

    def display(
        self, target: Var, rhs: Pack | Call, items: tuple[Atom | Star, ...],
        keys: tuple[Atom, ...], origin: Origin,
    ) -> Sweep:
        """Write a display, or the making of a namedtuple, whose ``items`` have these ``keys``."""
        new = substitute(rhs, self.forward.env)
        self.s.unit.defs[target] = new
        self.s.out.append(Let(target, new, origin))
        if any(isinstance(item, Star) for item in items):
            self.s.reject(
                origin, "* of a sequence of unknown length inside a display",
                "concatenate lists with +", "star-arguments",
            )
        entries = list(zip(map(self.forward.value, keys), items, strict=True))
        return lambda cotangents: self.sweep_display(target, entries, cotangents, origin.reversed())

    def sweep_display(
        self, target: Var, entries: list[tuple[Atom, Atom | Star]], cotangents: Cotangents,
        at: Origin,
    ) -> None:
        """Hand the cotangent of a display, or the parts of it that there are, to its items."""
        parts = cotangents.parts.pop(target, None)
        if parts is not None:
            for key, item in entries:
                part = parts.get(key.value) if isinstance(key, Const) else None
                if part is not None and self.forward.is_active(item):
                    cotangents.accumulate(item, part, at)
            if target not in cotangents.table:
                return
        g = cotangents.take(target, at)
        if g is None:
            return
        for key, item in entries:
            if self.forward.is_active(item):
                cotangents.accumulate(item, cotangents.part_of(target, g, key, at), at)

    # -- attributes ----------------------------------------------------------------------------

    def attribute(self, target: Var, obj: Atom, name: str, origin: Origin) -> Sweep | None:
        """Write the reading of an attribute, by its rule if it has one."""
        if is_field(self.s.unit.type(obj), name):
            return self.field(target, obj, name, origin)
        rule = attribute_rule(self.s, target, obj, name, origin)
        if rule is not None:
            descriptor = Const(getattr(np.ndarray, name))
            read = Attribute(obj, name)
            return self.calls.follow(rule, descriptor, target, [obj], {}, origin, read)
        self.s.out.append(Let(target, Attribute(self.forward.value(obj), name), origin))
        return None

    def field(self, target: Var, obj: Atom, name: str, origin: Origin) -> Sweep:
        """Write the reading of what an instance holds."""
        read = Attribute(self.forward.value(obj), name)
        self.s.unit.record(target, read, self.s.unit.type(target))
        self.s.out.append(Let(target, read, origin))

        def sweep(cotangents: Cotangents) -> None:
            at = origin.reversed()
            g = cotangents.take(target, at)
            if g is not None:
                cotangents.accumulate_field(obj, name, g, at)

        return sweep


def positions(items: tuple[Atom | Star, ...]) -> tuple[Atom, ...]:
    """Return the keys of the items of a sequence."""
    return tuple(Const(i) for i in range(len(items)))


def reverse(
    s: Inference, body: Block, inputs: list[Var], output: Atom, seed: Atom, pairs: Pairs,
    origin: Origin, split: bool, params: Iterable[Var], apart: bool = False,
) -> Reversed:
    """Reverse the typed statements of ``body`` with respect to ``inputs``.

    ``seed`` is the cotangent of ``output``; ``params`` are all parameters of the function.
    ``split`` says that the sweep will be a function of its own, which gets what it reads handed
    over; otherwise it stands below the forward pass and sees its variables. ``apart`` says that
    what is saved must not change with what others hold.
    """
    detached = frozenset(s.unit.writes.detached)
    constant = detached | cancelled_shifts(body, output, s.unit.type)
    free = [var for var in inputs if t.may_vary(s.unit.type(var))]
    active = active_variables(body, free, [output], s.unit.type, constant)
    varied = varied_variables(body, free, s.unit.type, detached)
    refuse_detached_writes(s, varied)
    refuse_disguises(s, body, varied)
    refuse_memos(s.unit, varied)
    body = without_tables(s, body, varied)
    purity = Purity(s.unit.type, s.unit.definition)
    assume = s.unit.assume_equal_shapes and purity.has_no_effect(body)
    reverser = Reverser(s, body, active, varied, params, pairs, split, apart, assume)
    return reverser.halves([(output, seed)], inputs, origin)
