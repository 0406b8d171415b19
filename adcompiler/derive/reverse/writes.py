"""The reverse of updates: cotangents of what was written, and storage put back as it was.

The sweep goes backwards through the values that storage held. When it comes to an update it hands
the cotangent of the part written to the value stored, and rebuilds the storage as it was before:
the part overwritten was saved. So whatever a pullback reads, under whatever name, is what the
primal read. What no pullback reads is neither rebuilt nor saved: dead code.

``restored`` maps values of the forward pass to the atoms that hold them again in the sweep, region
by region; values that share storage with those (views, tuples) are read anew from them.
"""

from __future__ import annotations

from adcompiler.analyses.storage import is_mutable, part_type
from adcompiler.derive.supported_mutations import is_call_of, known_write
from adcompiler.derive.reverse.cotangents import Cotangents
from adcompiler.derive.reverse.forward_pass import ForwardPass, Sweep
from adcompiler.derive.reverse.undo import Restoring, copied, lead
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Call, Const, Let, Origin, Rhs, Step, Update, Var, operands, substitute, unstar,
)
from adcompiler.runtime import (
    append, drop_last, entry, last_written, project, put_entry, zeros_like,
)
from adcompiler.runtime.adjoints.shaping import laid_out_as, reshape_view


class WriteReverser:
    """Writes updates and their reverse."""

    def __init__(self, forward: ForwardPass, restoring: Restoring) -> None:
        self.s = forward.s
        self.forward = forward
        self.restoring = restoring
        self.sharing = restoring.sharing

    # -- updates -------------------------------------------------------------------------------

    def update(self, target: Var, rhs: Rhs, origin: Origin) -> Sweep:
        """Write an update, and what it overwrites to be saved; return its reverse."""
        s = self.s
        rhs = known_write(s, rhs, origin)
        new = substitute(rhs, self.forward.env)
        old = self.overwritten(new, origin)
        s.unit.record(target, new, s.unit.type(target))
        s.out.append(Let(target, new, origin))
        self.forward.home[target] = self.forward.region

        def sweep(cotangents: Cotangents) -> None:
            at = origin.reversed()
            if self.forward.is_active(target) and cotangents.get(target, at) is not None:
                self.sweep_cotangents(target, rhs, new, old, cotangents, at)
            before = operands(new)[0 if isinstance(new, Update) else 1]
            if isinstance(before, Var):
                self.put_back(target, before, new, old, at)

        return sweep

    def overwritten(self, new: Rhs, origin: Origin) -> Atom | None:
        """Write the reading of what an update will overwrite."""
        s = self.s
        if isinstance(new, Update):
            if self.opens_entry(new):
                key = new.steps[-1].args[0]
                table = lead(s, new.obj, new.steps[:-1], origin)
                return s.let(Call(Const(entry), (table, key)), t.UNKNOWN, "old", origin)
            part = lead(s, new.obj, new.steps, origin)
            return copied(s, part, "old", origin) if self.is_shared(part) else part
        if is_call_of(drop_last, new):
            assert isinstance(new, Call)
            old = s.item(unstar(new.args[0]), Const(-1), origin, "old")
            if isinstance(old, Var):
                self.restoring.stale[old] = False  # the list does not hold it any more
            return old
        return None

    def opens_entry(self, new: Update) -> bool:
        """Say whether an update may add a key to a dict, or to what may be one inside another."""
        type_, last = part_type(self.s.unit.type(new.obj), new.steps[:-1]), new.steps[-1]
        if last.kind != "item":
            return False
        key = last.args[0]
        if not isinstance(type_, t.Dict):
            whole = isinstance(key, Const) and key.value is Ellipsis  # of an array
            return isinstance(type_, t.Unknown) and len(new.steps) > 1 and not whole
        return type_.keys is None or not isinstance(key, Const) or key.value not in type_.keys

    def with_entry(self, obj: Atom, steps: tuple[Step, ...], old: Atom, at: Origin) -> Rhs:
        """Return how the entry at ``steps`` of a container becomes what it was."""
        outer, key = steps[:-1], steps[-1].args[0]
        table = lead(self.s, obj, outer, at)
        put = Call(Const(put_entry), (table, key, old))
        if not outer:
            return put
        again = self.s.let(put, self.s.unit.type(table), "table", at, False)
        return Update(obj, outer, again)

    def is_shared(self, part: Atom) -> bool:
        """Say whether a value read out of storage may change with it."""
        return is_mutable(self.s.unit.type(part)) and (
            not isinstance(self.s.unit.type(part), t.Array) or self.is_view(part)
        )

    def is_view(self, part: Atom) -> bool:
        """Say whether a value, read out of an array or of what may be one, may be its storage."""
        if not isinstance(part, Var) or not isinstance(
            self.s.unit.type(part), (t.Array, t.Unknown)
        ):
            return False
        rhs = self.s.unit.definition(part)
        return rhs is None or any(True for _ in self.sharing.of(part, rhs))

    def put_back(
        self, target: Var, before: Var, new: Rhs, old: Atom | None, at: Origin
    ) -> None:
        """Write the storage as it was before an update."""
        s, split = self.s, self.restoring.split
        after = self.restoring.rebuilt(target, at)
        if split and old is not None and is_mutable(s.unit.type(old)) and not isinstance(
            s.unit.type(before), t.Array
        ):
            old = copied(s, old, "old", at)  # the sweep writes into it, and may be run again
        if isinstance(new, Update):
            assert old is not None
            if self.opens_entry(new):
                rhs: Rhs = self.with_entry(after, new.steps, old, at)
            else:
                rhs = Update(after, new.steps, old)
        elif is_call_of(append, new):
            rhs = Call(Const(drop_last), (after,))
        elif is_call_of(drop_last, new):
            assert old is not None
            rhs = Call(Const(append), (after, old))
        else:
            return  # refused
        var = Var(before.name, False)
        s.copy_facts(before, var)
        s.unit.record(var, rhs, s.unit.type(before))
        if isinstance(s.unit.type(before), t.Array):
            s.unit.shapes[var] = s.unit.shape(before)
        s.out.append(Let(var, rhs, at))
        self.restoring.table[before] = var

    def sweep_cotangents(
        self, target: Var, rhs: Rhs, new: Rhs, old: Atom | None, cotangents: Cotangents,
        at: Origin,
    ) -> None:
        """Hand the cotangent of the part written to the value, the rest to what was before."""
        buffer = self.shadow(target, cotangents, at)
        if isinstance(rhs, Update):
            assert isinstance(new, Update)
            obj = rhs.obj
            found = self.sweep_update(target, rhs, new, old, buffer, cotangents, at)
        else:
            assert isinstance(rhs, Call)
            obj = unstar(rhs.args[0])
            found = self.sweep_call(rhs, old, buffer, cotangents, at)
        if found is None or not isinstance(obj, Var):
            return
        before = cotangents.get(obj, at) if obj in cotangents.table else None
        if before is None:
            cotangents.table[obj] = found
            cotangents.own(found)
        else:
            cotangents.accumulate(obj, found, at)

    def sweep_update(
        self, target: Var, rhs: Update, new: Update, old: Atom | None, buffer: Atom,
        cotangents: Cotangents, at: Origin,
    ) -> Atom | None:
        """Hand on the cotangent of what an update wrote; return that of what was before, if any."""
        s, obj, value = self.s, rhs.obj, rhs.value
        steps = new.steps
        if isinstance(s.unit.type(buffer), t.Array) and any(
            step.function is reshape_view for step in steps
        ):
            laid = s.let(
                Call(Const(laid_out_as), (buffer, self.forward.value(target))), s.unit.type(buffer),
                self.s.bar(target), at, False,
            )
            s.unit.shapes[laid] = s.unit.shape(buffer)
            buffer = laid
        if self.forward.is_active(value):
            part = lead(s, buffer, steps, at)
            if self.repeats(new) and not new.adds:
                index = new.steps[-1].args[0]
                owner = lead(s, buffer, steps[:-1], at)
                part = s.let(
                    Call(Const(last_written), (part, index, owner)), s.unit.type(part),
                    self.s.bar(value), at,
                )
            if self.is_view(part):
                part = copied(s, part, self.s.bar(value), at)
            known = isinstance(s.unit.type(part), (t.Array, t.Scalar))
            if known or isinstance(s.unit.type(value), (t.Array, t.Scalar)):
                like = self.forward.value(value)
                part = s.call(Const(project), [part, like], {}, at, s.bar(value))
            cotangents.accumulate(value, part, at)
        if not self.forward.is_active(obj):
            return None
        if new.adds:
            return buffer
        zero = self.zero_part(new, old, at)
        rest: Rhs = Update(buffer, steps, zero)
        if self.may_end_entry(new, old):
            rest = self.with_entry(buffer, steps, zero, at)
        return self.write_shadow(rest, buffer, obj, at)

    def sweep_call(
        self, rhs: Call, old: Atom | None, buffer: Atom, cotangents: Cotangents, at: Origin
    ) -> Atom | None:
        """As ``sweep_update`` for an element that was appended or dropped."""
        obj = unstar(rhs.args[0])
        if is_call_of(append, rhs):
            value = unstar(rhs.args[1])
            if self.forward.is_active(value):
                last = self.s.item(buffer, Const(-1), at, self.s.bar(value))
                cotangents.accumulate(value, last, at)
            if not self.forward.is_active(obj):
                return None
            return self.write_shadow(Call(Const(drop_last), (buffer,)), buffer, obj, at)
        if not self.forward.is_active(obj) or not is_call_of(drop_last, rhs):
            return None
        assert old is not None
        zero = self.zero_of(old, at)
        return self.write_shadow(Call(Const(append), (buffer, zero)), buffer, obj, at)

    def zero_part(self, new: Update, old: Atom | None, at: Origin) -> Atom:
        """Write the zero that a cotangent has where the value before was overwritten."""
        type_ = self.s.unit.type(new.obj)
        if isinstance(type_, t.Array):
            return Const(0.0)
        if old is None or (self.opens_entry(new) and not self.may_end_entry(new, old)):
            return self.zero_of(new.value, at)
        return self.zero_of(old, at)

    def may_end_entry(self, new: Update, old: Atom | None) -> bool:
        """Say whether an entry was perhaps not there before, and else had another structure."""
        type_ = self.s.unit.type(new.value)
        return old is not None and self.opens_entry(new) and not isinstance(
            type_, (t.Scalar, t.Array)
        )

    def zero_of(self, value: Atom, at: Origin) -> Atom:
        """Write a zero cotangent of a value."""
        if isinstance(self.s.unit.type(value), t.Scalar):
            return Const(0.0)
        return self.s.let(Call(Const(zeros_like), (value,)), t.UNKNOWN, "zero", at)

    def write_shadow(self, rhs: Rhs, buffer: Atom, obj: Atom, at: Origin) -> Var:
        """Write an update of a cotangent."""
        assert isinstance(obj, Var)
        new = self.s.let(rhs, self.s.unit.type(buffer), self.s.bar(obj), at, False)
        if isinstance(self.s.unit.type(buffer), t.Array):
            self.s.unit.shapes[new] = self.s.unit.shape(buffer)
        return new

    def shadow(self, target: Var, cotangents: Cotangents, at: Origin) -> Atom:
        """Return the cotangent of a written value as storage that the sweep owns."""
        buffer = cotangents.buffer(target, at)
        cotangents.table.pop(target, None)
        return buffer

    def repeats(self, new: Update) -> bool:
        """Say whether a store may name an element several times."""
        step, unit = new.steps[-1], self.s.unit
        if step.kind != "item" or self.sharing.is_basic(step.args[0]):
            return False
        if not isinstance(part_type(unit.type(new.obj), new.steps[:-1]), (t.Array, t.Unknown)):
            return False
        type_ = unit.type(step.args[0])
        return not (isinstance(type_, t.Array) and type_.kind == "bool")
