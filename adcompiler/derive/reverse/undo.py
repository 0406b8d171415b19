"""What the sweep reads of storage that was overwritten: restored values, and views of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from adcompiler.analyses.escape import Held
from adcompiler.analyses.storage import Sharing, is_mutable, type_of_view, written_operand
from adcompiler.analyses.versions import Versions, exposed_values
from adcompiler.derive.reverse.forward_pass import ForwardPass
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Item, Origin, Star, Step,
    Var, unstar,
)
from adcompiler.ir.visit import (
    defined, definitions,
)
from adcompiler.runtime import own
from adcompiler.infer.inference import Inference
from adcompiler.infer.storage.memory_order import copy_with_strides


def lead(s: Inference, obj: Atom, steps: Sequence[Step], origin: Origin) -> Atom:
    """Write the reading of the part that ``steps`` lead to."""
    for step in steps:
        match step.kind:
            case "item":
                obj = s.let(
                    Item(obj, step.args[0]), s.types.of_item(s.unit.type(obj), step.args[0]),
                    "part", origin,
                )
            case "attr":
                obj = s.attribute(obj, step.name, origin, "part")
            case _ if found := type_of_view(s.unit.type(obj), step, s.unit.type):
                obj = s.let(
                    Call(Const(step.function), (obj, *step.args), step.kwargs), found, "part",
                    origin,
                )
            case _:
                obj = s.call(
                    Const(step.function), [obj, *step.args], dict(step.kwargs), origin, "part"
                )
    return obj


def copied(s: Inference, atom: Atom, name: str, origin: Origin) -> Var:
    """Write a copy of a value with storage; of one that may not be bound, if it is."""
    type_, unsure = s.unit.type(atom), atom in s.unit.unsure
    plain: Any = np.copy if isinstance(type_, t.Array) and not unsure else own
    copy = Call(Const(plain), (atom,))
    if atom in s.unit.layouts.read:
        copy = copy_with_strides(copy)
    new = s.let(copy, type_, name, origin)
    if atom in s.unit.layouts.read:
        s.unit.layouts.read.add(new)
    if unsure:
        s.unit.unsure.add(new)
    if isinstance(type_, t.Array):
        s.unit.shapes[new] = s.unit.shape(atom)
    return new


class Restoring:
    """Knows which values are there again in the sweep, and reads views of them anew.

    ``split`` says that the sweep will be a function of its own, which may be run again, ``apart``
    that what it saves must not change if others write into what they gave to the function or got
    from it. ``restored`` maps values to the atoms that hold them again, region by region;
    ``primal_of`` what rules gave to what it stands for. ``held`` are the values that are written
    into through a container, ``kept`` their copies.
    """

    def __init__(self, forward: ForwardPass, body: Block, split: bool, apart: bool) -> None:
        self.s = forward.s
        self.forward = forward
        self.body = body
        self.split = split
        self.apart = apart
        self.versions = Versions(body)
        self.sharing = Sharing(self.s.unit.type, self.s.unit.definition)
        self.restored: list[dict[Var, Atom]] = [{}]
        self.stale: dict[Var, bool] = {}
        self.primal_of: dict[Atom, Var] = {}
        self.kept: dict[Var, Atom] = {}
        self.region = 0
        self.reads_again = self.s.unit.settings.reads_again and not split and not apart
        destroyed = self.versions.destroyed
        self.held = frozenset(
            var for var in Held(body, self.sharing).overwritten
            if var not in destroyed and not self.is_stale(var, destroyed)
        )
        self.stale.clear()  # more is known of what is stale once the forward pass is written

    # -- what lasts ----------------------------------------------------------------------------

    @cached_property
    def bound(self) -> frozenset[Atom]:
        """The variables of the primal code."""
        return frozenset((*self.forward.given, *definitions(self.body)))

    @cached_property
    def lasting(self) -> frozenset[Atom]:
        """Values that nobody writes into after they are read, where the sweep may read them."""
        if self.split or self.apart:
            return frozenset()
        exposed = exposed_values(self.body, self.sharing)
        return frozenset(
            var for var in self.bound if var not in exposed and var not in self.s.unit.unsure)

    def lasts(self, atom: Atom) -> bool:
        """Say whether nobody writes into a value after it is read, where the sweep may read it."""
        return self.primal_of.get(atom, atom) in self.lasting

    def may_change(self, atom: Atom) -> bool:
        """Say whether a value of the primal code does not last."""
        return self.primal_of.get(atom, atom) in self.bound and not self.lasts(atom)

    def keep(self, variables: Iterable[Var], origin: Origin) -> None:
        """Write copies, for the sweep, of values that are written into through a container.

        What was read out of a container that is put back is not among them: it is read again.
        """
        for var in variables:
            value = self.forward.value(var)
            if var in self.held and isinstance(value, Var):
                self.kept[value] = kept = copied(self.s, value, var.name, origin)
                self.forward.home[kept] = self.forward.region

    # -- what is there again -------------------------------------------------------------------

    @property
    def table(self) -> dict[Var, Atom]:
        """The values that are there again in the region whose sweep is written."""
        return self.restored[-1]

    def available(self, var: Var) -> Atom:
        """Return the atom that holds a forward value at this point of the sweep."""
        value = self.forward.value(var)
        for table in reversed(self.restored):
            for key in (value, var):
                if isinstance(key, Var) and key in table:
                    return table[key]
        return value

    def rebuilt(self, var: Var, at: Origin) -> Atom:
        """Return the atom that holds a forward value in storage that the sweep may write into.

        A split sweep leaves what the forward pass handed over as it is: it may be run again.
        """
        found = self.available(var)
        if self.split and found is self.forward.value(var) and is_mutable(self.s.unit.type(found)):
            return copied(self.s, found, var.name, at)
        return found

    @contextmanager
    def within(self, region: int) -> Iterator[dict[Var, Atom]]:
        """Restore what is read in the sweep of a region; yields the region's table."""
        outer, self.region = self.region, region
        self.restored.append({})
        try:
            yield self.table
        finally:
            self.restored.pop()
            self.region = outer

    def keep_apart(self, block: Block, at: Origin) -> None:
        """Write copies of what a split sweep would write into: it may be run again."""
        s = self.s
        for var in [v for st in block.statements for v in defined(st)] if self.split else ():
            value = self.forward.value(var)
            if var in self.versions.all and var not in self.versions.destroyed and isinstance(
                value, Var
            ) and value not in self.table:
                type_ = s.unit.type(value)
                if not is_mutable(type_):
                    continue
                self.table[value] = copied(s, value, value.name, at)

    def destroyed_values(self) -> set[Var]:
        """Return the forward values whose storage goes on to hold others."""
        found = set(self.versions.destroyed)
        values = map(self.forward.value, self.versions.destroyed)
        found.update(value for value in values if isinstance(value, Var))
        return found

    def is_destroyed(self, var: Var) -> bool:
        """Say whether the storage of a value, or what it is a view of, goes on to hold others."""
        destroyed = self.destroyed_values()
        return var in destroyed or self.is_stale(var, destroyed)

    def is_written_later(self, target: Var, args: Iterable[Atom | Star]) -> bool:
        """Say whether the storage of a call's arguments or result may be written into."""
        destroyed = self.destroyed_values()
        if not destroyed:
            return False
        type_of, before = self.s.unit.type, dict(self.stale)
        found = is_mutable(type_of(target)) or any(
            isinstance(atom, Var) and is_mutable(type_of(atom)) and (
                not isinstance(type_of(atom), t.Array) or atom in destroyed
                or self.s.unit.definition(atom) is None or self.is_stale(atom, destroyed)
            ) for atom in map(unstar, args)
        )
        self.stale = before  # more will be known of what is stale when the sweep is written
        return found

    def is_stale(self, var: Var, destroyed: set[Var]) -> bool:
        """Say whether a value shares storage with a destroyed one, so that it must be read anew."""
        if var in self.stale:
            return self.stale[var]
        if var in self.s.unit.writes.taken_out:  # a write into the container does not reach it
            return False
        rhs = self.s.unit.definition(var)
        self.stale[var] = False
        if isinstance(rhs, Item) and self.is_element_of_outer(var, rhs):
            obj = rhs.obj
            self.stale[var] = isinstance(obj, Var) and (
                obj in destroyed or self.is_stale(obj, destroyed)
            )
        elif rhs is not None and var not in destroyed and written_operand(rhs) is None and (
            is_mutable(self.s.unit.type(var)) or isinstance(self.s.unit.type(var), t.Method)
        ):
            self.stale[var] = any(
                isinstance(a, Var) and (a in destroyed or self.is_stale(a, destroyed))
                for a, how in self.sharing.of(var, rhs) if not self.stays(a, how)
            )
        return self.stale[var]

    def is_element_of_outer(self, var: Var, rhs: Item) -> bool:
        """Say whether a loop reads a number out of an array that was there before the loop.

        It is read as often as the loop runs, so that putting the array back costs less than keeping
        what was read.
        """
        s, obj, index = self.s, rhs.obj, rhs.index
        if not self.reads_again or not isinstance(obj, Var) or obj in s.unit.unsure:
            return False
        if not isinstance(s.unit.type(var), t.Scalar) or not isinstance(
            s.unit.type(obj), t.Array
        ) or obj not in self.forward.home or not is_position(s.unit.type(index)):
            return False
        for region in self.forward.regions_around(self.forward.home.get(var, 0)):
            if region == self.forward.home[obj]:
                return False
            if region in self.forward.loops:
                return True
        return False

    def stays(self, container: Atom, how: Step | str) -> bool:
        """Say whether what was taken out of a container stays as it was when that is written."""
        type_ = self.s.unit.type(container)
        return isinstance(how, Step) and not self.versions.inside and isinstance(
            type_, (t.List, t.Dict, t.Object)
        )


def is_position(type_: t.Type) -> bool:
    """Say whether a subscript is an integer, or several of them."""
    if isinstance(type_, t.Tuple):
        return all(map(is_position, type_.items))
    return isinstance(type_, t.Scalar) and type_.kind == "int"
