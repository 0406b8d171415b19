"""Specialises IR on types: what types decide is decided here, calls of user functions are opened.

The result is again IR, with the type of every variable known (or known to be unknown) in the
tables of the ``Unit``. A branch whose condition is a compile-time value is replaced by its arm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adcompiler.frontend.rewriting.classes import class_made
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Closure, Const, Do, Format, Free, If, Item, Let, Loop, Origin,
    Pack, Raise, Rhs, Slice, Star, Statement, Try, Unsupported, Var, With, substitute,
)
from adcompiler.runtime import check_bound, store_global, told
from adcompiler.infer.access import Access
from adcompiler.infer.branches import Branches
from adcompiler.infer.calls.binding import plain_call
from adcompiler.infer.calls.dispatch import call
from adcompiler.infer.calls.libraries import call_of_package, is_of_package
from adcompiler.infer.calls.telling import is_told
from adcompiler.infer.literals import Displays
from adcompiler.infer.eager_effects import at_once, refuse_early
from adcompiler.infer.folds.iterator import computes_items, gives_items, makes_iterator
from adcompiler.infer.global_state import store
from adcompiler.infer.interface import Env, Operations
from adcompiler.infer.local_classes import local_class
from adcompiler.infer.loops import Loops
from adcompiler.infer.objects import written_super
from adcompiler.infer.regions import Regions
from adcompiler.typed.unit import Unit


class Inference(Operations):
    """Evaluates IR over types and writes the specialised statements to ``out``.

    The parts write what they are named by with ``Operations``, and know nothing of each other.
    """

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self.branches, self.loops, self.regions = Branches(self), Loops(self), Regions(self)
        self.displays, self.access = Displays(self), Access(self)

    # -- blocks and statements -----------------------------------------------------------------

    def block(
        self, block: Block, env: Env, scope: Scope | None, carried: bool = False
    ) -> tuple[Atom, ...] | None:
        """Write the statements of ``block``; return what it yields, None if it always raises.

        What is ``carried`` on to variables may be unbound.
        """
        for statement in block.statements:
            if not self.statement(statement, env, scope) or self.has_raised():
                return None
        if block.diverges:
            return None
        read = self.carried_value if carried else self.value
        return tuple(read(atom, env) for atom in block.yields)

    def statement(self, statement: Statement, env: Env, scope: Scope | None) -> bool:
        """Write one statement; return False if control never passes it."""
        self.at = getattr(statement, "origin", self.at)
        if self.at is not None:
            sites = self.unit.calls.sites
            entered = call_of_package(sites) if sites and is_of_package(self.at.file) else None
            self.unit.settings.budget.spend(self.at, sites, entered)
        match statement:
            case Let(target, rhs, origin):
                env[target] = self.rhs(rhs, env, scope, origin, target.name, target.temporary)
                self.check_once(target, env[target], origin)
            case Do(Call(Const(function), (name, value)), origin) if function is store_global:
                assert isinstance(name, Const) and not isinstance(value, Star)
                store(self, name.value, self.value(value, env), scope, origin)
            case Do(Call(Const(function), (Var() as variable, *how)), origin) if (
                function is check_bound and env[variable] in self.unit.if_bound
            ):
                flag = env[variable]
                self.out.append(Do(Call(Const(check_bound), (flag, *how)), origin))
                env[variable] = self.unit.if_bound[flag]
            case Do(Call(Const(function), (Var() as variable, *_))) if (
                function is check_bound and self.in_emitted and isinstance(env[variable], Var)
                and env[variable] not in self.unit.unsure
            ):
                pass  # emitted code says itself where a value may be missing; None is one
            case Do(Call(func, args, kwargs), origin) if is_told(self.unit, self.value(func, env)):
                values, named = self.displays.arguments(args, kwargs, env, origin, func)
                parts = [self.value(func, env), *values]
                self.out.append(Do(plain_call(Const(told), parts, named), origin))
            case Do(rhs, origin):
                value = self.rhs(rhs, env, scope, origin, "ignored", True)
                last = self.out[-1] if self.out else None
                if isinstance(last, Let) and last.target is value and not (
                    self.heap is not None and self.heap.changes.is_latest(value)
                ):
                    self.out[-1] = Do(last.rhs, last.origin)
            case Raise(exception, cause, origin):
                self.out.append(Raise(self.value(exception, env), self.value(cause, env), origin))
                return False
            case Unsupported(finding):
                self.report(finding)
            case If():
                return self.branches.branch(statement, env, scope)
            case Loop():
                self.loops.loop(statement, env, scope)
            case With():
                return self.regions.context(statement, env, scope)
            case Try():
                return self.regions.attempt(statement, env, scope)
        return True

    # -- right-hand sides ----------------------------------------------------------------------

    def rhs(
        self, rhs: Rhs, env: Env, scope: Scope | None, origin: Origin, name: str, temporary: bool
    ) -> Atom:
        """Write one right-hand side; return the atom that holds its value."""
        before = len(self.out)
        temporary = temporary or (scope is not None and scope.is_rule)
        self.in_rule = scope is not None and scope.is_rule
        self.in_emitted = scope is not None and scope.emitted
        match rhs:
            case Call(func, args, kwargs):
                values, named = self.displays.arguments(args, kwargs, env, origin, func)
                called = self.value(func, env)
                parent = None
                if isinstance(called, Const) and called.value is class_made:
                    return local_class(self, values, named, scope, origin)
                if isinstance(called, Const) and called.value is super:
                    parent = written_super(self, values, env, scope, origin)
                result = parent or self.call(called, values, named, origin, name)
            case Item(obj, index):
                result = self.item(self.value(obj, env), self.value(index, env), origin, name)
            case Attribute(obj, attribute):
                result = self.attribute(self.value(obj, env), attribute, origin, name)
            case Pack(kind, items, keys):
                result = self.displays.display(kind, items, keys, env, origin, name)
                one_shot = self.unit.iterators.one_shot
                if any(
                    not isinstance(i, Star) and self.value(i, env) in one_shot for i in items
                ):
                    one_shot.add(result)
            case Slice(lower, upper, step):
                parts = [self.value(part, env) for part in (lower, upper, step)]
                known = [part.value for part in parts if isinstance(part, Const)]
                if len(known) == len(parts):
                    return Const(slice(*known))
                result = self.let(Slice(*parts), t.SLICE, name, origin)
            case Closure(function, captures, defaults, _):
                closure = Closure(
                    function, tuple(self.carried_value(a, env) for a in captures),
                    tuple(self.value(a, env) for a in defaults), scope,
                )
                for value in closure.defaults:
                    self.check_kept(value, origin)
                return self.let(closure, t.FunctionType(function), name, origin, temporary)
            case Free(free):
                assert scope is not None
                return self.free(free, scope, origin)
            case Format():
                formatted = substitute(rhs, {v: self.value(v, env) for v in env})
                result = self.let(formatted, t.TEXT, name, origin)
            case _:
                result = self.let(rhs, t.UNKNOWN, name, origin)
        if not temporary:
            result = self.named(result, name, before)
        return result

    def call(
        self, func: Atom, args: Sequence[Atom | Star], kwargs: dict[str, Atom], origin: Origin,
        name: str,
    ) -> Atom:
        """Write a call; functions whose source is read are opened or compiled on their own."""
        function, start = func.value if isinstance(func, Const) else None, len(self.out)
        if self.unit.iterators.early:
            at_once(self, function, args, kwargs)
        result = call(self, func, args, kwargs, origin, name)
        if not isinstance(result, Var) or not isinstance(func, Const):
            return result
        if makes_iterator(function):
            self.unit.iterators.one_shot.add(result)
            if computes_items(function):
                computed = (made for made in self.out[start:] if not (
                    isinstance(made, Let) and made.target is result))
                refuse_early(self, result, computed, origin)
        if self.heap is not None and (gives_items(func.value) or computes_items(func.value)):
            self.heap.pending.derive(result, (*args, *kwargs.values()), gives_items(func.value))
        return result

    # -- operations of the parts -----------------------------------------------------------------

    def free(self, name: str, scope: Scope, origin: Origin) -> Atom:
        return self.access.free(name, scope, origin)

    def item(self, obj: Atom, index: Atom, origin: Origin, name: str = "item") -> Atom:
        return self.access.item(obj, index, origin, name)

    def attribute(self, obj: Atom, name: str, origin: Origin, hint: str = "") -> Atom:
        return self.access.attribute(obj, name, origin, hint)

    def sequence_display(
        self, kind: str, items: Sequence[Atom | Star], name: str, origin: Origin
    ) -> Atom:
        return self.displays.sequence_display(kind, items, name, origin)

    def truth(self, atom: Atom, origin: Origin) -> Atom:
        return self.branches.truth(atom, origin)

    def either(
        self, condition: Atom, first: Callable[[], Atom], second: Callable[[], Atom | None],
        origin: Origin, name: str,
    ) -> Atom:
        return self.branches.either(condition, first, second, origin, name)

    def written_either(
        self, atom: Var, origin: Origin, write: Callable[[Var], object]
    ) -> bool:
        return self.branches.written_either(atom, origin, write)
