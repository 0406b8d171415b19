"""Displays and call arguments while specialising: ``*`` and ``**`` are opened where types allow."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence

from adcompiler.prelude.dicts import merged
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Const, Origin, Star, unstar
from adcompiler.infer.calls.keyword_tables import keywords_of
from adcompiler.infer.calls.operator_methods import iterated
from adcompiler.infer.generators import consumed
from adcompiler.infer.interface import Env, Operations
from adcompiler.infer.objects import table_of


class Displays:
    """The part of type inference that writes tuples, lists, sets and dicts."""

    def __init__(self, s: Operations) -> None:
        self.s = s
        self.unit = s.unit

    def arguments(
        self, args: tuple[Atom | Star, ...], kwargs: tuple[tuple[str | None, Atom], ...],
        env: Env, origin: Origin, func: Atom | None = None,
    ) -> tuple[list[Atom | Star], dict[str, Atom]]:
        """Return call arguments with ``*`` and ``**`` opened where their structure is known."""
        values: list[Atom | Star] = []
        for arg in args:
            if isinstance(arg, Star):
                values.extend(self.starred(self.s.value(arg.atom, env), origin))
            else:
                values.append(self.s.value(arg, env))
        named: dict[str, Atom] = {}
        for key, atom in kwargs:
            value = self.s.value(atom, env)
            if key is not None:
                self.check_new_keyword(key, named, origin)
                named[key] = value
                continue
            value = table_of(self.s, value, origin)
            type_ = self.unit.type(value)
            if isinstance(type_, t.Dict) and type_.keys is not None:
                for entry in type_.keys:
                    self.check_new_keyword(entry, named, origin)
                    named[str(entry)] = self.s.item(value, Const(entry), origin, str(entry))
                continue
            found: dict[str, Atom] | None = None
            if isinstance(type_, t.Dict) and func is not None and len(kwargs) == 1:
                found = keywords_of(self.s, self.s.value(func, env), values, named, value, origin)
            if found is None:
                self.s.reject(
                    origin, "** of a dict whose keys are not known when compiling",
                    "pass the keyword arguments by name, or the dict itself", "star-arguments",
                    value,
                )
            named |= found or {}
        return values, named

    def check_new_keyword(self, key: str, named: dict[str, Atom], origin: Origin) -> None:
        """Report what Python takes for no keyword: one given twice, or one that is no text."""
        if not isinstance(key, str) or key in named:
            problem = "is given twice by keyword" if key in named else "is no keyword"
            self.s.reject(
                origin, f"{key!r} {problem}; Python raises a TypeError", "leave it out",
                "call-arguments",
            )

    def starred(self, value: Atom, origin: Origin) -> list[Atom | Star]:
        """Return what ``*value`` stands for: its elements if their number is known."""
        value = iterated(self.s, consumed(self.s, value, origin), origin)
        elements = self.unit.elements(value)
        if elements is not None:
            return list(elements)
        type_ = self.unit.type(value)
        length = self.unit.lengths.get(value)
        if isinstance(type_, t.Tuple):
            length = len(type_.items)
        if length is not None:
            return [self.s.item(value, Const(i), origin, "part") for i in range(length)]
        return [Star(value)]

    def display(
        self, kind: str, items: tuple[Atom | Star, ...], keys: tuple[Atom | None, ...], env: Env,
        origin: Origin, name: str,
    ) -> Atom:
        """Write a tuple, list, set or dict display."""
        if kind == "dict":
            return self.dict_display(items, keys, env, origin, name)
        values: list[Atom | Star] = []
        for item in items:
            if isinstance(item, Star):
                values.append(Star(self.s.value(item.atom, env)))
            else:
                values.append(self.s.value(item, env))
        return self.sequence_display(kind, values, name, origin)

    def dict_display(
        self, items: tuple[Atom | Star, ...], keys: tuple[Atom | None, ...], env: Env,
        origin: Origin, name: str,
    ) -> Atom:
        """Write a dict display; dicts in it whose keys are not known are merged one by one."""
        entries: list[tuple[Atom, Atom]] = []
        total: Atom | None = None
        for key, item in zip(keys, items, strict=True):
            value = self.s.value(unstar(item), env)
            if key is not None:
                entries.append((self.s.value(key, env), value))
                continue
            value = table_of(self.s, value, origin)
            type_ = self.unit.type(value)
            if isinstance(type_, t.Dict) and type_.keys is not None:
                entries += [
                    (Const(k), self.s.item(value, Const(k), origin, str(k))) for k in type_.keys]
            elif isinstance(type_, t.Dict):
                total = self.merged(self.merged(total, entries, origin), value, origin)
                entries = []
            else:
                return self.s.reject(
                    origin, "** of a dict whose keys are not known when compiling",
                    "write the entries out", "star-arguments", value,
                )
        if total is None:
            return self.s.pack_dict(entries, origin, name)
        return self.merged(total, entries, origin)

    def merged(
        self, total: Atom | None, other: Atom | list[tuple[Atom, Atom]], origin: Origin
    ) -> Atom:
        """Write a dict of the entries of two; those of ``other`` win."""
        if isinstance(other, list):
            if total is not None and not other:
                return total
            other = self.s.pack_dict(other, origin, "entries")
        if total is None:
            return other
        return self.s.call(Const(merged), [total, other], {}, origin, "table")

    def sequence_display(
        self, kind: str, items: Sequence[Atom | Star], name: str, origin: Origin
    ) -> Atom:
        """Write a tuple, list or set display of values that are specialised already."""
        values: list[Atom | Star] = []
        for item in items:
            values.extend(self.starred(item.atom, origin) if isinstance(item, Star) else [item])
        if kind != "set" and any(
            isinstance(v, Star) and t.may_vary(self.unit.type(v.atom)) for v in values
        ):
            return self.concatenated(kind, values, name, origin)
        known = [v.value for v in values if isinstance(v, Const)]
        if kind == "set" and len(known) == len(values):
            return Const(frozenset(known))
        return self.s.pack(kind, tuple(values), name, origin)

    def concatenated(
        self, kind: str, values: list[Atom | Star], name: str, origin: Origin
    ) -> Atom:
        """Write a display with sequences of unknown length inside as a sum of lists."""
        total: Atom | None = None
        for starred, group in itertools.groupby(values, lambda v: isinstance(v, Star)):
            for part in ([unstar(v)] for v in group) if starred else [list(map(unstar, group))]:
                items = self.s.call(Const(list), part, {}, origin, "items") if starred else (
                    self.s.pack("list", tuple(part), "items", origin))
                total = items if total is None else self.s.call(
                    Const(operator.add), [total, items], {}, origin, name)
        assert total is not None
        return total if kind == "list" else self.s.call(Const(tuple), [total], {}, origin, name)
