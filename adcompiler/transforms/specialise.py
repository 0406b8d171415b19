"""Specialises IR on types: what types decide is decided here, calls of user functions are opened.

The result is again IR, with the type of every variable known (or known to be unknown) in the
tables of the ``Unit``. A branch whose condition is a compile-time value is replaced by its arm.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from adcompiler.analyses.values import MAX_FIELDS, stand_in, try_types, type_of
from adcompiler.errors import Finding
from adcompiler.frontend.scope import MISSING, Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Block, Call, Closure, Const, Do, Format, Free, Global, If, Item,
    Let, Loop, Origin, Pack, Raise, Rhs, Slice, Star, Statement, Unsupported, Var, substitute,
    unstar,
)
from adcompiler.ir.visit import substitute_statement
from adcompiler.runtime import cell_value, dict_keys, dict_values
from adcompiler.transforms.unit import Path, Unit

Env = dict[Var, Atom]
MAX_WIDENING = 8
UNROLLED_TUPLE = 16
PYTHON_NUMBERS = {"bool": bool, "int": int, "float": float, "complex": complex}
MODULE_NAMES = frozenset({"__name__", "__file__", "__doc__", "__package__"})


class Specialiser:
    """Evaluates IR over types and writes the specialised statements to ``out``."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.out: list[Statement] = []
        self.in_rule = False

    # -- writing -------------------------------------------------------------------------------

    def let(
        self, rhs: Rhs, type_: t.Type, name: str, origin: Origin, temporary: bool = True
    ) -> Var:
        """Write ``name = rhs`` and return the new variable."""
        var = Var(name, temporary)
        self.unit.record(var, rhs, type_)
        self.out.append(Let(var, rhs, origin))
        return var

    def reject(self, origin: Origin, problem: str, hint: str = "", anchor: str = "") -> Atom:
        """Record that the code at ``origin`` cannot be compiled."""
        self.report(origin.finding(problem, hint, anchor))
        return UNDEF

    def report(self, finding: Finding) -> None:
        """Record a finding, with the calls that lead to it; once."""
        if not finding.callers:
            sites = dict.fromkeys(site.call for site in reversed(self.unit.call_sites))
            finding = replace(finding, callers=tuple(sites))
        if finding not in self.unit.findings:
            self.unit.findings.append(finding)

    @contextmanager
    def writing_to(self, out: list[Statement]) -> Iterator[list[Statement]]:
        """Write statements to ``out`` meanwhile."""
        before, self.out = self.out, out
        try:
            yield out
        finally:
            self.out = before

    # -- blocks and statements -----------------------------------------------------------------

    def block(self, block: Block, env: Env, scope: Scope | None) -> tuple[Atom, ...] | None:
        """Write the statements of ``block``; return what it yields, None if it always raises."""
        for statement in block.statements:
            if not self.statement(statement, env, scope):
                return None
        if block.diverges:
            return None
        return tuple(self.value(atom, env) for atom in block.yields)

    @staticmethod
    def value(atom: Atom, env: Mapping[Var, Atom]) -> Atom:
        """Return the specialised atom of ``atom``."""
        return env[atom] if isinstance(atom, Var) else atom

    def statement(self, statement: Statement, env: Env, scope: Scope | None) -> bool:
        """Write one statement; return False if control never passes it."""
        match statement:
            case Let(target, rhs, origin):
                env[target] = self.rhs(rhs, env, scope, origin, target.name, target.temporary)
            case Do(rhs, origin):
                value = self.rhs(rhs, env, scope, origin, "ignored", True)
                last = self.out[-1] if self.out else None
                if isinstance(last, Let) and last.target is value:
                    self.out[-1] = Do(last.rhs, last.origin)
            case Raise(exception, cause, origin):
                self.out.append(Raise(self.value(exception, env), self.value(cause, env), origin))
                return False
            case Unsupported(finding):
                self.report(finding)
            case If():
                return self.branch(statement, env, scope)
            case Loop():
                self.loop(statement, env, scope)
        return True

    def branch(self, node: If, env: Env, scope: Scope | None) -> bool:
        """Write a branch, or the arm that its condition is known to choose."""
        condition = self.truth(self.value(node.condition, env), node.origin)
        if isinstance(condition, Const):
            chosen = node.then if condition.value else node.orelse
            yields = self.block(chosen, env, scope)
            if yields is None:
                return False
            env.update(zip(node.results, yields, strict=True))
            return True
        arms = []
        for arm in (node.then, node.orelse):
            with self.writing_to([]) as out:
                arms.append((out, self.block(arm, dict(env), scope)))
        results = self.merge(node, arms, condition)
        if results is None:
            return False
        env.update(zip(node.results, results, strict=True))
        return True

    def merge(
        self, node: If, arms: list[tuple[list[Statement], tuple[Atom, ...] | None]],
        condition: Atom,
    ) -> list[Atom] | None:
        """Write an If of two specialised arms; return the atoms of its results."""
        (then_out, then), (else_out, orelse) = arms
        if then is None and orelse is not None:  # a guard: what follows it need not be nested
            guard = Block(tuple(then_out), (), True)
            self.out.append(If(condition, guard, Block(()), (), node.origin))
            self.out.extend(else_out)
            return list(orelse)
        if orelse is None and then is not None:
            guard = Block(tuple(else_out), (), True)
            self.out.append(If(condition, Block(()), guard, (), node.origin))
            self.out.extend(then_out)
            return list(then)
        kept: list[Var] = []
        pairs: list[tuple[Atom, Atom]] = []
        results: list[Atom] = []
        for index, result in enumerate(node.results):
            a = UNDEF if then is None else then[index]
            b = UNDEF if orelse is None else orelse[index]
            same = self.same_value(a, b)
            if same is not None and (then is None) == (orelse is None):
                results.append(same)
                continue
            type_ = t.join(self.unit.type(a), self.unit.type(b))
            if isinstance(type_, t.Static):
                results.append(Const(type_.value))
                continue
            var = Var(result.name, result.temporary)
            self.unit.types[var] = type_
            self.unit.merged.add(var)
            if (then is not None and a in self.unit.unsure) or (
                orelse is not None and b in self.unit.unsure
            ):
                self.unit.unsure.add(var)
            kept.append(var)
            pairs.append((a, b))
            results.append(var)
        self.out.append(If(
            condition,
            Block(tuple(then_out), tuple(a for a, _ in pairs), then is None),
            Block(tuple(else_out), tuple(b for _, b in pairs), orelse is None),
            tuple(kept), node.origin,
        ))
        return None if then is None and orelse is None else results

    @staticmethod
    def same_value(a: Atom, b: Atom) -> Atom | None:
        """Return the atom if both are the same variable or equal constants."""
        if a is b:
            return a
        if isinstance(a, Const) and isinstance(b, Const) and type(a.value) is type(b.value):
            if t.same_static(a.value, b.value):
                return a
            if type(a.value) in (int, float, bool, str) and repr(a.value) == repr(b.value):
                return a
        return None

    def truth(self, atom: Atom, origin: Origin) -> Atom:
        """Return the condition ``atom`` as a constant if its truth is known."""
        if isinstance(atom, Const):
            try:
                return Const(bool(atom.value))
            except Exception:
                return atom
        type_ = self.unit.type(atom)
        if isinstance(type_, (t.FunctionType, t.Method)):
            return Const(True)
        if isinstance(type_, t.Tuple):
            return Const(bool(type_.items))
        return atom

    # -- loops ---------------------------------------------------------------------------------

    def loop(self, node: Loop, env: Env, scope: Scope | None) -> None:
        """Write a loop, with the types of carried values widened until they are stable."""
        iterables = [self.value(atom, env) for atom in node.iterables]
        if self.unrolled(node, iterables, env, scope):
            return
        inits = [self.value(atom, env) for atom in node.inits]
        flat, item_types, bind = self.iteration(iterables, node.origin)
        types = [self.unit.type(init) for init in inits]
        for _ in range(MAX_WIDENING):
            before = len(self.unit.findings)
            self.unit.trial += 1
            attempt = self.iterate(node, inits, types, item_types, bind, env, scope)
            self.unit.trial -= 1
            widened = [
                t.join(type_, self.unit.type(atom))
                for type_, atom in zip(types, attempt[-1] or (), strict=False)
            ] or types
            if widened == types:
                break
            del self.unit.findings[before:]
            types = widened
        else:
            types = [t.UNKNOWN] * len(types)
            attempt = self.iterate(node, inits, types, item_types, bind, env, scope)
        items, params, condition, out, yields = attempt
        results, collects = self.loop_results(node, types, params, inits, yields)
        diverges = yields is None
        if yields is None:
            yields = (UNDEF,) * len(node.body.yields)
        kept = [i for i, p in enumerate(params) if isinstance(p, Var)]
        carried = len(node.params)
        self.out.append(Loop(
            items, tuple(flat), condition,
            tuple(params[i] for i in kept), tuple(inits[i] for i in kept),
            Block(
                tuple(out),
                (*(yields[i] for i in kept), *yields[carried:]), diverges,
            ),
            tuple(results[i] for i in kept), node.origin, collects, node.stops,
        ))
        env.update(zip(node.results, results, strict=True))
        env.update(zip(node.collects, collects, strict=True))

    def iterate(
        self, node: Loop, inits: list[Atom], types: list[t.Type], item_types: list[t.Type],
        bind: Any, env: Env, scope: Scope | None,
    ) -> tuple[Any, ...]:
        """Specialise one iteration with carried values of the given types."""
        inner = dict(env)
        items = tuple(Var(getattr(v, "name", "item")) for v in self.item_names(node, item_types))
        for item, type_ in zip(items, item_types, strict=True):
            self.unit.types[item] = type_
        if len(items) > 1:
            self.unit.anonymous.update(items)
        params: list[Atom] = []
        for param, init, type_ in zip(node.params, inits, types, strict=True):
            if isinstance(type_, t.Static):
                params.append(init if isinstance(init, Const) else Const(type_.value))
            elif isinstance(type_, t.FunctionType) and init is not UNDEF:
                params.append(init)
            else:
                var = Var(param.name, param.temporary)
                self.unit.types[var] = type_
                self.unit.merged.add(var)
                if init in self.unit.unsure:
                    self.unit.unsure.add(var)
                params.append(var)
        inner.update(zip(node.params, params, strict=True))
        condition = None
        if node.condition is not None:
            with self.writing_to([]) as test_out:
                test = self.block(node.condition, inner, scope)
            condition = Block(tuple(test_out), test or (), test is None)
        with self.writing_to([]) as out:
            if node.items:
                inner[node.items[0]] = bind(self, items, node.origin)
            yields = self.block(node.body, inner, scope)
        return items, params, condition, out, yields

    @staticmethod
    def item_names(node: Loop, item_types: list[t.Type]) -> list[Var]:
        if len(item_types) == 1 and node.items:
            return [node.items[0]]
        return [Var("item") for _ in item_types]

    def loop_results(
        self, node: Loop, types: list[t.Type], params: list[Atom], inits: list[Atom],
        yields: tuple[Atom, ...] | None,
    ) -> tuple[list[Any], tuple[Var, ...]]:
        results: list[Any] = []
        for index, (result, type_, param, init) in enumerate(
            zip(node.results, types, params, inits, strict=True)
        ):
            if isinstance(param, Const):
                results.append(param)
            elif param is init:
                results.append(init)
            else:
                var = Var(result.name, result.temporary)
                self.unit.types[var] = type_
                self.unit.merged.add(var)
                if param in self.unit.unsure or (
                    yields is not None and yields[index] in self.unit.unsure
                ):
                    self.unit.unsure.add(var)
                results.append(var)
        collects = []
        for index, collect in enumerate(node.collects):
            var = Var(collect.name, collect.temporary)
            item = t.BOTTOM if yields is None else self.unit.type(yields[len(node.params) + index])
            self.unit.types[var] = t.List(item)
            collects.append(var)
        return results, tuple(collects)

    def unrolled(
        self, node: Loop, iterables: list[Atom], env: Env, scope: Scope | None
    ) -> bool:
        """Write a comprehension over a tuple of known elements as a list of its values.

        A loop over functions is written as its iterations one after the other.
        """
        if len(iterables) != 1 or node.stops:
            return False
        type_ = self.unit.type(iterables[0])
        if isinstance(type_, t.Tuple) and any(map(is_function, type_.items)):
            return self.written_out(node, iterables[0], env, scope)
        if not node.collects or node.params:
            return False
        elements = self.unit.elements(iterables[0])
        if elements is None or not isinstance(type_, (t.Tuple, t.List)):
            return False
        mixed = len({self.unit.type(e) for e in elements}) > 1 or len(elements) == 1
        if len(elements) > UNROLLED_TUPLE or not mixed:
            return False
        rows = []
        for element in elements:
            inner = {**env, node.items[0]: element}
            yields = self.block(node.body, inner, scope)
            if yields is None:
                return False
            rows.append(yields)
        for index, collect in enumerate(node.collects):
            values = tuple(row[index] for row in rows)
            env[collect] = self.pack("list", values, collect.name, node.origin)
        return True

    def written_out(self, node: Loop, iterable: Atom, env: Env, scope: Scope | None) -> bool:
        """Write the iterations of a loop over a tuple one after the other."""
        type_ = self.unit.type(iterable)
        assert isinstance(type_, t.Tuple)
        carried = [self.value(init, env) for init in node.inits]
        rows = []
        start = len(self.out)
        for index in range(len(type_.items)):
            item = self.item(iterable, Const(index), node.origin, node.items[0].name)
            inner = {**env, node.items[0]: item, **dict(zip(node.params, carried, strict=True))}
            yields = self.block(node.body, inner, scope)
            if yields is None:
                del self.out[start:]
                return False
            carried = list(yields[: len(carried)])
            rows.append(yields[len(carried) :])
        env.update(zip(node.results, carried, strict=True))
        for index, collect in enumerate(node.collects):
            values = tuple(row[index] for row in rows)
            env[collect] = self.pack("list", values, collect.name, node.origin)
        return True

    def iteration(self, iterables: list[Atom], origin: Origin) -> tuple[list[Atom], list[t.Type], Any]:
        """Return the flat iterables of a loop, their item types, and how items bind the target."""
        if not iterables:
            return [], [], None
        flat: list[Atom] = []
        types: list[t.Type] = []
        build = self.flatten(iterables[0], flat, types, origin)

        def bind(s: Specialiser, items: tuple[Var, ...], at: Origin) -> Atom:
            return build(s, iter(items), at)

        return flat, types, bind

    def flatten(
        self, iterable: Atom, flat: list[Atom], types: list[t.Type], origin: Origin
    ) -> Any:
        """Add the sequences that ``iterable`` runs over; return how their items make its item."""
        rhs = self.unit.definition(iterable)
        if isinstance(rhs, Call) and isinstance(rhs.func, Const):
            if rhs.func.value is zip and rhs.args and not rhs.kwargs:
                parts = [self.flatten(unstar(a), flat, types, origin) for a in rhs.args]
                return lambda s, items, at: s.pack(
                    "tuple", tuple(part(s, items, at) for part in parts), "pair", at
                )
            if rhs.func.value is enumerate:
                start = dict(rhs.kwargs).get("start", (*rhs.args, Const(0))[1])
                count = self.let(
                    Call(Const(itertools.count), (unstar(start),)), t.UNKNOWN, "count", origin
                )
                flat.append(count)
                types.append(t.INT)
                inner = self.flatten(unstar(rhs.args[0]), flat, types, origin)
                return lambda s, items, at: s.pack(
                    "tuple", (next(items), inner(s, items, at)), "pair", at
                )
            if rhs.func.value is dict.items:
                table = unstar(rhs.args[0])
                parts = []
                for function in (dict_keys, dict_values):
                    part = self.call(Const(function), [table], {}, origin, "entries", None)
                    parts.append(self.flatten(part, flat, types, origin))
                return lambda s, items, at: s.pack(
                    "tuple", tuple(part(s, items, at) for part in parts), "pair", at
                )
        flat.append(iterable)
        types.append(self.item_type(self.unit.type(iterable)))
        return lambda s, items, at: next(items)

    @staticmethod
    def item_type(type_: t.Type) -> t.Type:
        """Return the type of what iterating over a value gives."""
        match type_:
            case t.Range():
                return t.INT
            case t.Array(dtype, ndim):
                if ndim == 1:
                    return t.Scalar(type_.kind, dtype) if type_.kind != "other" else t.UNKNOWN
                return t.Array(dtype, ndim - 1) if ndim > 1 else t.UNKNOWN
            case t.List(item):
                return t.UNKNOWN if item == t.BOTTOM else item
            case t.Tuple(items):
                joined: t.Type = t.BOTTOM
                for item in items:
                    joined = t.join(joined, item)
                return t.UNKNOWN if isinstance(joined, (t.Bottom, t.Static)) else joined
            case t.Dict(keys, _) if keys is not None:
                kinds = {type(key) for key in keys}
                return {str: t.TEXT, int: t.INT}.get(kinds.pop(), t.UNKNOWN) if len(
                    kinds) == 1 else t.UNKNOWN
            case t.Text():
                return t.TEXT
        return t.UNKNOWN

    # -- right-hand sides ----------------------------------------------------------------------

    def rhs(
        self, rhs: Rhs, env: Env, scope: Scope | None, origin: Origin, name: str, temporary: bool
    ) -> Atom:
        """Write one right-hand side; return the atom that holds its value."""
        before = len(self.out)
        temporary = temporary or (scope is not None and scope.is_rule)
        match rhs:
            case Call(func, args, kwargs):
                self.in_rule = scope is not None and scope.is_rule
                values, named = self.arguments(args, kwargs, env, origin)
                result = self.call(self.value(func, env), values, named, origin, name, scope)
            case Item(obj, index):
                result = self.item(self.value(obj, env), self.value(index, env), origin, name)
            case Attribute(obj, attribute):
                result = self.attribute(self.value(obj, env), attribute, origin, name)
            case Pack(kind, items, keys):
                result = self.display(kind, items, keys, env, origin, name)
            case Slice(lower, upper, step):
                parts = [self.value(part, env) for part in (lower, upper, step)]
                if all(isinstance(part, Const) for part in parts):
                    return Const(slice(*(part.value for part in parts)))  # type: ignore[union-attr]
                result = self.let(Slice(*parts), t.SLICE, name, origin)
            case Closure(function, captures, defaults, _):
                closure = Closure(
                    function, tuple(self.value(a, env) for a in captures),
                    tuple(self.value(a, env) for a in defaults), scope,
                )
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

    def named(self, value: Atom, name: str, before: int) -> Atom:
        """Give a temporary that was made since ``before`` the name that the user assigns it to."""
        if value in self.unit.anonymous and isinstance(value, Var):
            self.unit.names.setdefault(value, name)
            return value
        if isinstance(value, Var) and value.temporary:
            for position in range(before, len(self.out)):
                renamed = self.renamed(self.out[position], value, Var(name))
                if renamed is not None:
                    statement, var = renamed
                    self.copy_facts(value, var)
                    self.out[position:] = [
                        statement,
                        *(substitute_statement(s, {value: var}) for s in self.out[position + 1 :]),
                    ]
                    return var
        return value

    @staticmethod
    def renamed(statement: Statement, old: Var, new: Var) -> tuple[Statement, Var] | None:
        match statement:
            case Let(target, rhs, origin) if target is old:
                return Let(new, rhs, origin), new
            case If(condition, then, orelse, results, origin) if old in results:
                changed = tuple(new if r is old else r for r in results)
                return If(condition, then, orelse, changed, origin), new
        return None

    def copy_facts(self, old: Var, new: Var) -> None:
        """Copy what is known of ``old`` to ``new``."""
        for table in (self.unit.types, self.unit.defs, self.unit.shapes):
            if old in table:
                table[new] = table[old]  # type: ignore[index]
        if old in self.unit.unsure:
            self.unit.unsure.add(new)
        if isinstance(self.unit.types.get(new), t.Array):
            self.unit.shapes.setdefault(new, self.unit.shape_class(old))

    def arguments(
        self, args: tuple[Atom | Star, ...], kwargs: tuple[tuple[str | None, Atom], ...],
        env: Env, origin: Origin,
    ) -> tuple[list[Atom | Star], dict[str, Atom]]:
        """Return call arguments with ``*`` and ``**`` opened where their structure is known."""
        values: list[Atom | Star] = []
        for arg in args:
            if isinstance(arg, Star):
                values.extend(self.starred(self.value(arg.atom, env), origin))
            else:
                values.append(self.value(arg, env))
        named: dict[str, Atom] = {}
        for key, atom in kwargs:
            value = self.value(atom, env)
            if key is not None:
                named[key] = value
                continue
            type_ = self.unit.type(value)
            if isinstance(type_, t.Dict) and type_.keys is not None:
                for entry in type_.keys:
                    named[str(entry)] = self.item(value, Const(entry), origin, str(entry))
            else:
                self.reject(
                    origin, "** of a dict whose keys are not known when compiling",
                    "pass the keyword arguments by name, or the dict itself", "star-arguments",
                )
        return values, named

    def starred(self, value: Atom, origin: Origin) -> list[Atom | Star]:
        elements = self.unit.elements(value)
        if elements is not None:
            return list(elements)
        type_ = self.unit.type(value)
        if isinstance(type_, t.Tuple):
            return [self.item(value, Const(i), origin, "part") for i in range(len(type_.items))]
        return [Star(value)]

    def display(
        self, kind: str, items: tuple[Atom | Star, ...], keys: tuple[Atom | None, ...], env: Env,
        origin: Origin, name: str,
    ) -> Atom:
        """Write a tuple, list, set or dict display."""
        if kind == "dict":
            entries: dict[int, tuple[Atom, Atom]] = {}
            for key, item in zip(keys, items, strict=True):
                value = self.value(unstar(item), env)
                type_ = self.unit.type(value)
                if key is not None:
                    entries[len(entries)] = (self.value(key, env), value)
                elif isinstance(type_, t.Dict) and type_.keys is not None:
                    for k in type_.keys:
                        inner = self.item(value, Const(k), origin, str(k))
                        entries[len(entries)] = (Const(k), inner)
                else:
                    return self.reject(
                        origin, "** of a dict whose keys are not known when compiling",
                        "write the entries out", "star-arguments",
                    )
            return self.pack_dict(list(entries.values()), origin, name)
        values: list[Atom | Star] = []
        for item in items:
            if isinstance(item, Star):
                values.extend(self.starred(self.value(item.atom, env), origin))
            else:
                values.append(self.value(item, env))
        if kind != "set" and any(
            isinstance(v, Star) and t.may_vary(self.unit.type(v.atom)) for v in values
        ):
            return self.concatenated(kind, values, name, origin)
        if kind == "set" and all(isinstance(v, Const) for v in values):
            return self.fold_set(values)
        return self.pack(kind, tuple(values), name, origin)

    def concatenated(
        self, kind: str, values: list[Atom | Star], name: str, origin: Origin
    ) -> Atom:
        """Write a display with sequences of unknown length inside as a sum of lists."""
        total: Atom | None = None
        for starred, group in itertools.groupby(values, lambda v: isinstance(v, Star)):
            for part in ([unstar(v)] for v in group) if starred else [list(map(unstar, group))]:
                items = self.call(Const(list), part, {}, origin, "items") if starred else (
                    self.pack("list", tuple(part), "items", origin))
                total = items if total is None else self.call(
                    Const(operator.add), [total, items], {}, origin, name)
        assert total is not None
        return total if kind == "list" else self.call(Const(tuple), [total], {}, origin, name)

    @staticmethod
    def fold_set(values: list[Any]) -> Const:
        return Const(frozenset(value.value for value in values))

    def pack_dict(self, entries: list[tuple[Atom, Atom]], origin: Origin, name: str) -> Atom:
        """Write a dict of ``(key, value)`` atoms; later entries win, as in Python."""
        if not all(isinstance(key, Const) for key, _ in entries):
            rhs = Pack("dict", tuple(v for _, v in entries), tuple(k for k, _ in entries))
            item: t.Type = t.BOTTOM
            for _, value in entries:
                item = t.join(item, self.unit.type(value))
            return self.let(rhs, t.Dict(None, (item,)), name, origin)
        table: dict[Any, tuple[Atom, Atom]] = {}
        for key, value in entries:
            assert isinstance(key, Const)
            table[key.value] = (key, value)
        rhs = Pack("dict", tuple(v for _, v in table.values()), tuple(k for k, _ in table.values()))
        types = tuple(self.unit.type(v) for _, v in table.values())
        return self.let(rhs, t.Dict(tuple(table), types), name, origin)

    def pack(
        self, kind: str, values: tuple[Atom | Star, ...], name: str, origin: Origin,
        cls: type = tuple,
    ) -> Atom:
        """Write a tuple, list or set of ``values``."""
        if kind == "tuple" and values and all(
            isinstance(v, Const) and simple(v.value) for v in values
        ):
            return Const(tuple(v.value for v in values))  # type: ignore[union-attr]
        types = [self.unit.type(unstar(v)) for v in values]
        known = not any(isinstance(v, Star) for v in values)
        type_: t.Type = t.UNKNOWN
        if kind == "tuple" and known:
            type_ = t.Tuple(tuple(types), cls)
        elif kind == "list":
            item: t.Type = t.BOTTOM
            for v, vt in zip(values, types, strict=True):
                item = t.join(item, self.item_type(vt) if isinstance(v, Star) else vt)
            type_ = t.List(t.UNKNOWN if isinstance(item, t.Static) else item)
        return self.let(Pack(kind, values), type_, name, origin)

    def free(self, name: str, scope: Scope, origin: Origin) -> Atom:
        """Look up a free name: compile-time values become constants, data is read when run."""
        where, value = scope.lookup(name)
        if where == "missing":
            return self.reject(
                origin, f"name `{name}` is not defined",
                "define it before the derivative is first called", "undefined-names",
            )
        path: Path | None = None if scope.path is None else (*scope.path, ("free", name))
        if scope.is_rule and where != "builtin":
            self.unit.read_in_rule(scope.module if where == "global" else "", name, value)
        return self.live_value(value, path, name, scope, where, origin)

    def live_value(
        self, value: Any, path: Path | None, name: str, scope: Scope, where: str, origin: Origin
    ) -> Atom:
        type_ = type_of(value)
        if isinstance(type_, t.Static):
            return self.unit.static(value, path)
        if name in MODULE_NAMES or (scope.is_rule and isinstance(type_, t.Scalar)):
            return Const(value)
        if path is not None:
            self.unit.facts[path] = value
        if where == "cell" and scope.path == ():
            var = self.unit.captured.get(name)
            if var is None:
                var = self.unit.captured[name] = Var(name)
                self.unit.types[var] = type_
            return var
        if where == "cell":
            owner = self.unit.static(scope.function, scope.path)
            index = scope.function.__code__.co_freevars.index(name)
            return self.let(
                Call(Const(cell_value), (owner, Const(index))), type_, name, origin, False
            )
        module = scope.module
        if not module:
            owner = self.unit.static(scope.function, scope.path)
            names = self.let(Attribute(owner, "__globals__"), t.UNKNOWN, "names", origin)
            return self.let(Item(names, Const(name)), type_, name, origin)
        return self.let(Global(module, name), type_, name, origin)

    # -- subscripts ----------------------------------------------------------------------------

    def item(self, obj: Atom, index: Atom, origin: Origin, name: str = "item") -> Atom:
        """Write ``obj[index]``."""
        elements = self.unit.elements(obj)
        if elements is not None and isinstance(index, Const):
            picked = self.pick(obj, elements, index.value, origin, name)
            if picked is not None:
                return picked
        type_ = self.unit.type(obj)
        rhs = self.unit.definition(obj)
        if isinstance(type_, t.Dict) and isinstance(index, Const) and isinstance(rhs, Pack):
            for key, value in zip(rhs.keys, rhs.items, strict=True):
                if isinstance(key, Const) and key.value == index.value:
                    return unstar(value)
        if isinstance(obj, Const) and isinstance(index, Const) and isinstance(obj.value, (type, dict)):
            try:
                return Const(obj.value[index.value])
            except Exception:
                return self.let(Item(obj, index), t.UNKNOWN, name, origin)
        found = self.type_of_item(obj, type_, index)
        if isinstance(found, t.Static):
            return Const(found.value)
        return self.let(Item(obj, index), found, name, origin)

    def pick(
        self, obj: Atom, elements: tuple[Atom, ...], key: Any, origin: Origin, name: str
    ) -> Atom | None:
        if isinstance(key, int) and -len(elements) <= key < len(elements):
            return elements[key]
        if isinstance(key, slice):
            kind = "list" if isinstance(self.unit.type(obj), t.List) else "tuple"
            return self.pack(kind, elements[key], name, origin)
        return None

    def type_of_item(self, obj: Atom, type_: t.Type, index: Atom) -> t.Type:
        known = index.value if isinstance(index, Const) else MISSING
        match type_:
            case t.Tuple(items):
                if isinstance(known, int) and -len(items) <= known < len(items):
                    return items[known]
                if isinstance(known, slice):
                    return t.Tuple(items[known])
                if isinstance(self.unit.type(index), t.SliceType):
                    return t.UNKNOWN
                return self.item_type(type_)
            case t.List(item):
                index_type = self.unit.type(index)
                if isinstance(index_type, t.SliceType):
                    return type_
                return self.item_type(type_) if is_integer(index_type) else t.UNKNOWN
            case t.Dict(keys, items):
                if keys is None:
                    return items[0]
                if known is not MISSING and known in keys:
                    return items[keys.index(known)]
                return self.item_type(t.Tuple(items))
            case t.Text():
                return t.TEXT
            case t.Range():
                return t.INT if is_integer(self.unit.type(index)) else t.RANGE
            case t.Array():
                return try_types(
                    operator.getitem,
                    lambda n: ((stand_in(type_, n), self.stand_in_index(index, n)), {}),
                )
        return t.UNKNOWN

    def stand_in_index(self, index: Atom, n: int) -> Any:
        """Return a stand-in for a subscript that is valid for arrays of extent ``n``."""
        rhs = self.unit.definition(index)
        if isinstance(rhs, Pack):
            parts = [self.stand_in_index(unstar(item), n) for item in rhs.items]
            return parts if rhs.kind == "list" else tuple(parts)
        if isinstance(index, Const):
            if isinstance(index.value, int) and not isinstance(index.value, bool):
                return 0
            if isinstance(index.value, tuple):
                return tuple(self.stand_in_index(Const(item), n) for item in index.value)
            return slice(None) if isinstance(index.value, slice) else index.value
        type_ = self.unit.type(index)
        if isinstance(type_, t.SliceType):
            return slice(None)
        if isinstance(type_, t.Array) and type_.kind == "int":
            return np.zeros((n,) * type_.ndim, type_.dtype)
        if isinstance(type_, t.Scalar) and type_.kind == "int":
            return 0
        if isinstance(type_, t.List) and is_integer(type_.item):
            return [0] * n
        if isinstance(type_, t.Tuple):
            return tuple(self.stand_in_type_index(item, n) for item in type_.items)
        return stand_in(type_, n)

    @staticmethod
    def stand_in_type_index(type_: t.Type, n: int) -> Any:
        if isinstance(type_, t.Array) and type_.kind == "int":
            return np.zeros((n,) * type_.ndim, type_.dtype)
        return 0 if is_integer(type_) else stand_in(type_, n)

    # -- attributes ----------------------------------------------------------------------------

    def attribute(self, obj: Atom, name: str, origin: Origin, hint: str = "") -> Atom:
        """Write ``obj.name``."""
        hint = hint or name
        if isinstance(obj, Const):
            return self.static_attribute(obj, name, origin, hint)
        type_ = self.unit.type(obj)
        match type_:
            case t.Array(dtype, ndim):
                if name == "ndim":
                    return Const(ndim)
                if name == "dtype" and type_.kind != "other":
                    return Const(np.dtype(dtype))
                return self.array_attribute(obj, type_, name, origin, hint)
            case t.Scalar(kind, dtype):
                if dtype is not None and name in ("ndim", "shape", "size", "dtype"):
                    return Const(getattr(np.dtype(dtype).type(0), name))
                return self.array_attribute(obj, type_, name, origin, hint)
            case t.Tuple(items, cls) if cls is not tuple and name in getattr(cls, "_fields", ()):
                return self.item(obj, Const(cls._fields.index(name)), origin, hint)  # type: ignore[attr-defined]
            case t.Object(cls, _):
                return self.object_attribute(obj, type_, name, origin, hint)
        return self.let(Attribute(obj, name), t.UNKNOWN, hint, origin)

    def static_attribute(self, obj: Const, name: str, origin: Origin, hint: str) -> Atom:
        if obj is UNDEF:
            return UNDEF  # reported where it was looked up
        try:
            value = getattr(obj.value, name)
        except Exception as error:
            return self.reject(
                origin, f"{type(error).__name__}: {error}", "use a name that exists", "undefined-names"
            )
        path = self.unit.paths.get(id(obj.value))
        type_ = type_of(value)
        if isinstance(type_, t.Static):
            if path is None and isinstance(obj.value, ModuleType):
                self.unit.read_in_rule(obj.value.__name__, name, value)
            return self.unit.static(value, None if path is None else (*path, ("attr", name)))
        folded = isinstance(obj.value, (np.dtype, type(None), int, float, str))
        if folded or (isinstance(value, str) and name.startswith("__")):
            return Const(value) if isinstance(type_, (t.Text, t.Scalar)) else self.let(
                Attribute(obj, name), type_, hint, origin)
        if path is not None:
            self.unit.facts[*path, ("attr", name)] = value
        module = getattr(obj.value, "__name__", None) if hasattr(obj.value, "__spec__") else None
        if module is not None:
            return self.let(Global(str(module), name), type_, hint, origin)
        return self.let(Attribute(obj, name), type_, hint, origin)

    def array_attribute(
        self, obj: Atom, type_: t.Type, name: str, origin: Origin, hint: str
    ) -> Atom:
        descriptor = getattr(np.ndarray, name, None)
        python_number = isinstance(type_, t.Scalar) and type_.dtype is None
        if python_number:
            descriptor = getattr(PYTHON_NUMBERS[type_.kind], name, None)
        if descriptor is None:
            return self.reject(
                origin, f"{'numbers' if python_number else 'arrays'} have no attribute `{name}`",
                "use an attribute that exists", "undefined-names",
            )
        if callable(descriptor):
            return self.let(Attribute(obj, name), t.Method(descriptor), hint, origin)
        found = try_types(lambda value: getattr(value, name), lambda n: ((stand_in(type_, n),), {}))
        if name == "flat":
            found = t.UNKNOWN
        return self.let(Attribute(obj, name), found, hint, origin)

    def object_attribute(
        self, obj: Atom, type_: t.Object, name: str, origin: Origin, hint: str
    ) -> Atom:
        field = type_.field(name)
        if field is not None:
            if isinstance(field, t.Static):
                return Const(field.value)
            return self.let(Attribute(obj, name), field, hint, origin)
        static = getattr(type_.cls, name, MISSING)
        if isinstance(static, property) and static.fget is not None:
            path = (("live", type_.cls), ("attr", name), ("attr", "fget"))
            return self.call(self.unit.static(static.fget, path), [obj], {}, origin, hint, None)
        if static is not MISSING and not callable(static) and isinstance(
            type_of(static), t.Static
        ):
            return self.unit.static(static, (("live", type_.cls), ("attr", name)))
        if callable(static):
            return self.let(Attribute(obj, name), t.Method(static), hint, origin)
        if static is MISSING and len(type_.fields) < MAX_FIELDS and not (
            hasattr(type_.cls, "__getattr__") or issubclass(type_.cls, np.ndarray)
        ):
            return self.reject(
                origin, f"this {type_.cls.__name__} has no attribute `{name}`",
                "use an attribute that exists", "undefined-names",
            )
        return self.let(Attribute(obj, name), t.UNKNOWN, hint, origin)

    # -- calls ---------------------------------------------------------------------------------

    def call(
        self, func: Atom, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str,
        scope: Scope | None = None,
    ) -> Atom:
        """Write a call; functions whose source is read are opened or compiled on their own."""
        from adcompiler.transforms.calls import call  # the two modules are mutually recursive

        return call(self, func, args, kwargs, origin, name)

    def type_of_call(self, function: Any, args: list[Any], kwargs: Mapping[str, Atom]) -> t.Type:
        """Return the type of a pure function's result, by calling it on stand-ins."""
        if any(isinstance(arg, Star) for arg in args):
            return t.UNKNOWN
        if t.BOTTOM in map(self.unit.type, (*args, *kwargs.values())):
            return t.BOTTOM

        def arguments(n: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
            return (
                tuple(self.stand_in(arg, n) for arg in args),
                {key: self.stand_in(value, n) for key, value in kwargs.items()},
            )

        return try_types(function, arguments)

    def stand_in(self, atom: Atom, n: int) -> Any:
        """Return a stand-in for the value of ``atom``: itself if it is known."""
        if isinstance(atom, Const):
            return atom.value
        rhs = self.unit.definition(atom)
        if isinstance(rhs, Pack) and rhs.kind in ("tuple", "list") and self.unit.elements(atom):
            items = [self.stand_in(unstar(item), n) for item in rhs.items]
            return tuple(items) if rhs.kind == "tuple" else items
        type_ = self.unit.type(atom)
        if isinstance(type_, t.Tuple) and isinstance(rhs, Attribute) and rhs.name == "shape":
            return (n,) * len(type_.items)
        if isinstance(rhs, (Item, Attribute)) and type_ == t.INT:
            return n
        return stand_in(type_, n)


def is_function(type_: t.Type) -> bool:
    """Say whether values of this type are functions."""
    return isinstance(type_, (t.FunctionType, t.Method)) or (
        isinstance(type_, t.Static) and callable(type_.value)
    )


def is_integer(type_: t.Type) -> bool:
    """Say whether values of this type are integers (bools excluded)."""
    return isinstance(type_, t.Scalar) and type_.kind == "int"


def simple(value: Any) -> bool:
    """Say whether a compile-time value is a plain literal, whose copies are all alike."""
    if isinstance(value, (tuple, slice)):
        parts = value if isinstance(value, tuple) else (value.start, value.stop, value.step)
        return all(map(simple, parts))
    return value is None or value is Ellipsis or type(value) in (int, bool, str, float)
