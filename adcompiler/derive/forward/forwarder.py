"""Forward mode: a typed function becomes its pushforward, tangents interleaved with the primal.

Behind each statement whose value is active stands the statement that computes its tangent. Regions
carry tangents beside the values that they carry; a write into storage is followed by the same write
into its shadow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from adcompiler.analyses.activity import active_variables, varied_variables
from adcompiler.analyses.shift_invariance import cancelled_shifts
from adcompiler.analyses.storage import written_operand
from adcompiler.analyses.versions import Versions
from adcompiler.derive.attributes import attribute_rule, called_function, is_field
from adcompiler.derive.supported_mutations import is_call_of, known_write
from adcompiler.derive.lossy_conversions import refuse_disguises, refuse_memos
from adcompiler.derive.forward.rules import Follows, TangentRules, laid_out
from adcompiler.derive.forward.tangents import Tangents, dot, tangent_type
from adcompiler.derive.primal_and_pullback import Push, Pushes
from adcompiler.derive.region_checks import check_region
from adcompiler.derive.reverse.calls import is_implied
from adcompiler.derive.reverse.checks import (
    check_unseen, refuse_detached_writes, reject_instances, reject_opaque, reject_set,
    report_call_without_rule,
)
from adcompiler.derive.tables import without_tables
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, Atom, Attribute, Block, Call, Const, Do, If, Item, Let, Loop, Origin, Pack, Region, Rhs,
    Star, Statement, Try, Update, Var, With, substitute, unstar,
)
from adcompiler.ir.visit import substitute_statement, with_head
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime import append, noted_value, record
from adcompiler.runtime.adjoints.shaping import reshape_view
from adcompiler.infer.calls.libraries import is_namedtuple
from adcompiler.infer.inference import Inference
from adcompiler.infer.folds.table import class_of
from adcompiler.infer.objects import NAMESPACE, make_record
from adcompiler.support.structs import dataclass
from adcompiler.typed.callee import Callee


class Forwarder:
    """Writes the pushforward of one typed function.

    ``varied`` are the variables that depend on the inputs, ``pushes`` the functions called by name.
    With ``apart`` the tangents of these come from calls of their own.
    """

    def __init__(
        self, s: Inference, tangents: Tangents, varied: frozenset[Var], pushes: Pushes,
        rules: Follows, apart: bool = False,
    ) -> None:
        self.s = s
        self.tangents = tangents
        self.varied = varied
        self.pushes = pushes
        self.rules = rules
        self.apart = apart

    def block(self, statements: Iterable[Statement]) -> None:
        """Write statements, each followed by its tangent."""
        for statement in statements:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        """Write one statement, and its tangent if it is active."""
        match statement:
            case Let(target, rhs, origin) if written_operand(rhs) is not None:
                self.update(target, rhs, origin)
            case Let(target, rhs, origin):
                if self.tangents.is_active(target):
                    self.active(target, rhs, origin)
                else:
                    self.s.unit.shapes.pop(target, None)
                    self.tangents.plain(target, rhs, origin)
                    check_unseen(self.s, self.varied, rhs, origin, target)
            case Loop():
                self.loop(statement)
            case Region():
                self.region(statement)
            case _:
                if isinstance(statement, Do):
                    check_unseen(self.s, self.varied, statement.rhs, statement.origin)
                self.s.out.append(substitute_statement(statement, self.tangents.env))

    def active(self, target: Var, rhs: Rhs, origin: Origin) -> None:
        """Write a definition, and its tangent."""
        match rhs:
            case Call(Const(function), args) if hashable(function) and is_namedtuple(function):
                self.tangents.plain(target, rhs, origin)
                self.display(target, Pack("tuple", args), origin)
            case Call(Const(function)) if function is noted_value:
                self.s.reject(
                    origin, f"`{target.name}` may have several values here, as an exception may "
                    "leave the `try` before or after it is assigned",
                    "assign it in the handler, or in front of the `try`", "try",
                )
            case Call(Const(function), _, fields) if function is record:
                self.tangents.plain(target, rhs, origin)
                made = make_record(self.s, NAMESPACE, {
                    name: self.part(atom, origin) for name, atom in fields if name is not None
                }, dot(target), origin)
                self.enter(target, made, origin)
            case Call():
                self.call(target, rhs, origin)
            case Item(obj, index):
                reject_opaque(self.s, obj, origin)
                self.tangents.plain(target, rhs, origin)
                d = self.tangents.get(obj)
                if d is not None:
                    read = self.s.item(d, self.tangents.value(index), origin, dot(target))
                    self.enter(target, read, origin)
            case Attribute(obj, name):
                self.attribute(target, rhs, obj, name, origin)
            case Pack("set"):
                reject_set(self.s, origin)
            case Pack():
                self.tangents.plain(target, rhs, origin)
                self.display(target, rhs, origin)
            case _:
                self.tangents.plain(target, rhs, origin)

    def enter(self, target: Var, d: Atom, origin: Origin) -> None:
        """Enter a tangent that has the structure and shape of its value."""
        table, unit = self.tangents, self.s.unit
        if isinstance(d, Var) and isinstance(unit.type(d), t.Unknown):
            unit.types[d] = tangent_type(unit.type(target))
        table.put(target, d, origin, True)
        rhs = unit.definition(target)
        fresh = rhs is None or not any(True for _ in table.sharing.of(target, rhs))
        table.keep_apart(target, fresh, origin)

    def display(self, target: Var, rhs: Pack, origin: Origin) -> None:
        """Write the tangent of a display: a display of tangents."""
        items = tuple(
            Star(self.part(item.atom, origin)) if isinstance(item, Star)
            else self.part(item, origin) for item in rhs.items
        )
        keys = tuple(None if key is None else self.tangents.value(key) for key in rhs.keys)
        made = self.s.let(
            Pack(rhs.kind, items, keys), tangent_type(self.s.unit.type(target)), dot(target),
            origin, target.temporary,
        )
        self.enter(target, made, origin)

    def part(self, atom: Atom, origin: Origin) -> Atom:
        """Return what stands in the tangent of a container for an item."""
        return self.tangents.full(atom, origin)

    def attribute(
        self, target: Var, rhs: Attribute, obj: Atom, name: str, origin: Origin
    ) -> None:
        """Write the reading of an attribute: of a field, or by its rule."""
        if is_field(self.s.unit.type(obj), name):
            self.tangents.plain(target, rhs, origin)
            d = self.tangents.get(obj)
            if d is not None:
                self.enter(target, self.s.attribute(d, name, origin, dot(target)), origin)
            return
        rule = attribute_rule(self.s, target, obj, name, origin)
        if rule is not None:
            self.rules.follow(rule, rhs, target, [obj], {}, origin)
        else:
            self.tangents.plain(target, rhs, origin)

    # -- calls ---------------------------------------------------------------------------------

    def call(self, target: Var, rhs: Call, origin: Origin) -> None:
        """Write a call and its tangent; report a missing rule."""
        s, table = self.s, self.tangents
        if is_implied(rhs):
            s.reject(
                origin, "the tangent of this solution is not known in forward mode",
                "use grad or vjp", "missing-rule",
            )
            return
        function, args = called_function(s, rhs)
        if isinstance(function, Callee):
            self.callee(target, function, args, origin)
            return
        reject_instances(s, table.active, rhs, origin)
        kwargs = {key: value for key, value in rhs.kwargs if key is not None}
        classes = tuple(class_of(s.unit, a) for a in args if not isinstance(a, Star))
        rule = None if function is None else REGISTRY.find(function, classes)
        if rule is not None:
            self.rules.follow(rule, rhs, target, args, kwargs, origin)
            return
        table.plain(target, rhs, origin)
        report_call_without_rule(s, target, rhs, function, args, table.active, origin)

    def callee(
        self, target: Var, callee: Callee, args: Sequence[Atom | Star], origin: Origin
    ) -> None:
        """Write the call of a pushforward, which returns the value and its tangent."""
        s, table = self.s, self.tangents
        mask = tuple(table.get(unstar(arg)) is not None for arg in args)
        push = self.pushes.get((callee, mask))
        if push is None:
            push = self.pushes[callee, mask] = Push(callee, mask)
        duals = [table.full(unstar(arg), origin) for arg, on in zip(args, mask, strict=True) if on]
        type_ = s.unit.type(target)
        along = tangent_type(type_)
        primals = tuple(map(table.argument, args))
        call = Call(Const(push.linearized), primals) if self.apart else Call(
            Const(push.pushforward), (*primals, *duals)
        )
        second = t.UNKNOWN if self.apart else along
        both = s.let(call, t.Tuple((type_, second)), f"{callee.name}_pair", origin)
        s.unit.naming.opened[both] = 2
        table.plain(target, Item(both, Const(0)), origin)
        new: Rhs = Item(both, Const(1))
        if self.apart:
            saved = s.let(new, t.UNKNOWN, f"{callee.name}_residuals", origin, False)
            new = Call(Const(push.tangent), (saved, *duals))
        d = s.let(new, along, dot(target), origin, target.temporary)
        table.put(target, d, origin, True)
        table.taken.add(d)
        if target in s.unit.naming.opened:  # it returns what it writes into too
            s.unit.naming.opened[table.table[target]] = s.unit.naming.opened[target]

    # -- writes --------------------------------------------------------------------------------

    def update(self, target: Var, rhs: Rhs, origin: Origin) -> None:
        """Write a store, and the same store into the shadow."""
        table = self.tangents
        if not table.is_active(target):
            self.tangents.plain(target, rhs, origin)
            return
        rhs = known_write(self.s, rhs, origin)
        if isinstance(rhs, Update):
            obj, value = rhs.obj, rhs.value
        else:
            assert isinstance(rhs, Call)
            obj, value = unstar(rhs.args[0]), unstar(rhs.args[-1])
        before = self.shadow(obj, origin)
        d = self.stored(obj, rhs, value, origin)
        self.tangents.plain(target, rhs, origin)
        if d is None:
            table.table[target] = before
            return
        new: Rhs
        if isinstance(rhs, Update):
            stored = substitute(rhs, table.env)
            assert isinstance(stored, Update)
            if any(step.function is reshape_view for step in rhs.steps):
                before = laid_out(self.s, before, table.value(target), origin)
            new = replace(stored, obj=before, value=d)
        else:
            between = tuple(map(table.argument, rhs.args[1:-1]))
            args = (before, *between, d) if len(rhs.args) > 1 else (before,)
            new = Call(rhs.func, args)
        type_ = self.s.unit.type(before)
        after = self.s.let(new, type_, dot(target), origin, target.temporary)
        if isinstance(type_, t.Array):
            self.s.unit.shapes[after] = self.s.unit.shape(before)
        table.table[target] = after
        table.taken.add(after)

    def shadow(self, obj: Atom, origin: Origin) -> Atom:
        """Return the tangent of written storage, in storage of its own."""
        table = self.tangents
        found = table.get(obj)
        if found is not None:
            return found
        return table.zero_of(table.value(obj), origin)

    def stored(self, obj: Atom, rhs: Rhs, value: Atom, origin: Origin) -> Atom | None:
        """Return what is written into the shadow, None for nothing."""
        table = self.tangents
        if isinstance(rhs, Call):
            return self.part(value, origin) if is_call_of(append, rhs) else NONE
        assert isinstance(rhs, Update)
        d = table.get(value)
        if rhs.adds:
            return d
        if d is None and isinstance(self.s.unit.type(obj), t.Array):
            return Const(0.0)
        return self.part(value, origin) if d is None else d

    # -- regions -------------------------------------------------------------------------------

    def region(self, node: If | With | Try) -> None:
        """Write a branch, ``with`` or ``try`` that gives tangents too."""
        check_region(self.s, self.varied, node)
        active = [i for i, result in enumerate(node.results) if self.tangents.is_active(result)]
        head = with_head(node, self.tangents.env)
        whole = head.with_blocks(lambda arm: self.arm(arm, active, node.origin))
        results = (*node.results, *(self.tangents.bound(node.results[i]) for i in active))
        self.s.out.append(replace(whole, results=results))

    def arm(self, arm: Block, active: list[int], origin: Origin) -> Block:
        """Write an arm of a region, which yields the tangents of the results at ``active``."""
        table = self.tangents
        with self.s.writing_to([]) as out:
            self.block(arm.statements)
            yields = [table.value(atom) for atom in arm.yields]
            if not arm.diverges or yields:
                yields += [table.full(arm.yields[i], origin) for i in active]
        return Block(tuple(out), tuple(yields), arm.diverges)

    def loop(self, node: Loop) -> None:
        """Write a loop that carries tangents too."""
        s, table = self.s, self.tangents
        reject_instances(s, table.active, Call(Const(iter), node.iterables), node.origin)
        carried = [
            i for i, param in enumerate(node.params)
            if table.is_active(param) or table.is_active(node.results[i])
        ]
        iterated = [
            i for i, item in enumerate(node.items)
            if table.is_active(item) and table.get(node.iterables[i]) is not None
        ]
        iterables = [*map(table.value, node.iterables),
                     *(table.full(node.iterables[i], node.origin) for i in iterated)]
        inits = [*map(table.value, node.inits),
                 *(self.entering(node, i) for i in carried)]
        items = (*node.items, *(table.bound(node.items[i]) for i in iterated))
        params = (*node.params, *(table.bound(node.params[i]) for i in carried))
        condition = None if node.condition is None else self.arm(node.condition, [], node.origin)
        collected = [i for i, var in enumerate(node.collects) if table.is_active(var)]
        with s.writing_to([]) as out:
            self.block(node.body.statements)
            yields = [
                *map(table.value, node.next_values()),
                *(table.full(node.next_values()[i], node.origin) for i in carried),
                *map(table.value, node.collected()),
                *(self.part(node.collected()[i], node.origin) for i in collected),
            ]
        stop = node.stop()
        yields += [] if stop is None else [table.value(stop)]
        results = (*node.results, *(table.bound(node.results[i]) for i in carried))
        collects = (*node.collects, *(table.bound(node.collects[i]) for i in collected))
        s.out.append(Loop(
            items, tuple(iterables), condition, params, tuple(inits),
            Block(tuple(out), tuple(yields), node.body.diverges), results, node.origin, collects,
            node.stops,
        ))

    def entering(self, node: Loop, i: int) -> Atom:
        """Return the tangent with which a carried value enters a loop."""
        return self.tangents.full(node.inits[i], node.origin)


@dataclass(eq=False)
class Pushed:
    """A pushforward before it is put together: ``dot`` is the tangent of ``value``, None if zero.

    """

    statements: list[Statement]
    value: Atom
    dot: Atom | None


RulesOf = Callable[[Inference, Tangents, Pushes], Follows]
"""Makes what follows rules, of the tangents of a function and the functions called by name."""


def first_order(s: Inference, tangents: Tangents, pushes: Pushes) -> Follows:
    """Return what follows rules in a pushforward."""
    return TangentRules(s, tangents)


def push(
    s: Inference, body: Block, inputs: dict[Var, Var], output: Atom, pushes: Pushes,
    apart: bool = False, rules: RulesOf = first_order,
) -> Pushed:
    """Push tangents forward through the typed statements of ``body``.

    ``inputs`` maps what is differentiated with respect to, to the tangents; ``output`` is what the
    tangent is wanted of. With ``apart``, functions called by name give their value first, and their
    tangent when called for it. ``rules`` make what follows rules.
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
    tangents = Tangents(s, active, Versions(body))
    tangents.table.update((var, inputs[var]) for var in free if var in active)
    tangents.taken |= set(inputs.values())
    forwarder = Forwarder(s, tangents, varied, pushes, rules(s, tangents, pushes), apart)
    with s.writing_to([]) as out:
        forwarder.block(body.statements)
    return Pushed(out, tangents.value(output), tangents.get(output))
