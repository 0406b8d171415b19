"""What is registered: rules, declarations, aliases, facts, and who wants to know of changes."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import MethodType
from typing import Any, Protocol

from adcompiler.ops.domains import Domain
from adcompiler.ops.facts import UNKNOWN, Facts, FactTable
from adcompiler.ops.qualified_names import findable
from adcompiler.ops.loading import Loading
from adcompiler.ops.rules import Inactive, Rule


class Watcher(Protocol):
    """What wants to know when rules change."""

    def rules_changed(self) -> None:
        """Take note that a rule was registered or removed."""


class Entries:
    """The tables of a registry, by callable, and how they are changed.

    Any thread may register while others read: tables are changed, and copied to be gone through,
    under one lock. ``generation`` counts the changes that watchers are told of; it stays
    ``first_generation`` as long as all rules come from packages.
    """

    def __init__(self) -> None:
        self.loading = Loading(self._forget_implied)
        self._rules: dict[Any, list[Rule]] = {}
        self._inactive: dict[Any, Inactive] = {}
        self._aliases: dict[Any, Any] = {}
        self._replacements: dict[Any, Rule] = {}
        self.said = FactTable()
        self._implied: dict[Any, Facts] = {}
        self._owners: dict[int, Any] = {}
        self._twins: dict[type, list[tuple[Any, tuple[str, ...]]]] = {}
        self.log: list[Rule] = []
        self.lock = threading.RLock()
        self._watchers: weakref.WeakSet[Watcher] = weakref.WeakSet()
        self.generation = self.first_generation = 0

    def add(self, rule: Rule) -> None:
        """Register ``rule``; it takes precedence over earlier ones for the same types.

        A forward rule that stood alone goes with it. Those of packages are earlier ones, so they
        are loaded now.
        """
        findable(rule.function)
        if not self.loading.is_here():
            self.loading.load_for(rule.function)
        with self.lock:
            rules = list(self._rules.get(rule.function, ()))
            for other in rules:
                alone = other.forward is not None and not other.reverses
                if alone and other.types == rule.types and rule.forward is None:
                    rule = replace(rule, forward=other.forward, domain=rule.domain or other.domain)
                    rules.remove(other)
                    break
            self._rules[rule.function] = [rule, *rules]
            owner = getattr(rule.function, "__self__", None)
            if isinstance(rule.function, MethodType) and not isinstance(owner, type):
                self._owners[id(owner)] = owner
            self.log.append(rule)
        self.changed()

    def add_forward(
        self, function: Callable[..., Any], types: tuple[Any, ...] | None,
        forward: Callable[..., Any], domain: Domain | None
    ) -> None:
        """Register a forward rule: with the rule for the same types if there is one, or alone."""
        findable(function)
        self.loading.load_for(function)
        with self.lock:
            rules = list(self._rules.get(function, ()))
            for i, rule in enumerate(rules):
                if rule.types == types:
                    made = rules[i] = replace(
                        rule, forward=forward, domain=rule.domain or domain, opted_out=False
                    )
                    break
            else:
                made = Rule(function, types=types, forward=forward, domain=domain)
                rules.insert(0, made)
            self._rules[function] = rules
            self.log.append(made)
        self.changed()

    def replace(self, old: Rule | None, new: Rule) -> None:
        """Register ``new`` in the place of ``old``, which it makes obsolete; None: as a new one."""
        with self.lock:
            if old is not None:
                kept = [rule for rule in self._rules[old.function] if rule is not old]
                self._rules[old.function] = kept
        self.add(new)

    def withdraw(self, rule: Rule) -> None:
        """Forget one rule; those that it took precedence over count again."""
        with self.lock:
            rules = self._rules.get(rule.function, [])
            kept = [other for other in rules if other is not rule]
            if len(kept) == len(rules):
                return
            self._rules[rule.function] = kept
            if not kept:
                del self._rules[rule.function]
        self.changed()

    def is_current(self, rule: Rule) -> bool:
        """Say whether a rule that was registered is still there."""
        return any(rule is other for other in self._rules.get(rule.function, ()))

    def is_opted_out(self, rule: Rule) -> bool:
        """Say whether a later declaration opts out all that a rule covers."""
        later = itertools.takewhile(lambda other: other is not rule, self._rules[rule.function])
        return rule.opted_out or any(
            other.opted_out and (other.types is None or (
                rule.types is not None and other.accepts(rule.types)))
            for other in later)

    def add_inactive(self, declaration: Inactive) -> None:
        """Register a declaration that a callable's results carry no derivative."""
        with self.lock:
            self._inactive[findable(declaration.function)] = declaration
        self.changed()

    def add_alias(self, other: Any, function: Callable[..., Any]) -> None:
        """Register ``other`` as another spelling of ``function``; not of one that is spelled so."""
        with self.lock:
            meant, seen = findable(function), []
            while meant in self._aliases and meant is not other and meant not in seen:
                seen.append(meant)
                meant = self._aliases[meant]
            if meant is other:
                raise ValueError(f"{other!r} would be another spelling of itself")
            self._aliases[findable(other)] = function
        self.changed()

    def add_twins(self, instance: Any, attributes: tuple[str, ...]) -> None:
        """Register that copies of ``instance``, equal in ``attributes``, have its methods."""
        with self.lock:
            self._twins.setdefault(type(instance), []).append((instance, attributes))
        self.changed()

    def add_replacement(self, rule: Rule) -> None:
        """Register the Python code that is compiled in place of a callable."""
        with self.lock:
            self._replacements[rule.function] = rule
        self.changed()

    def add_facts(self, functions: Iterable[Any], facts: Facts) -> None:
        """Enter what is said of functions."""
        with self.lock:
            self.said.add(functions, facts)
        if facts != UNKNOWN:
            self.changed()

    def remove(self, function: Callable[..., Any]) -> None:
        """Forget everything registered for ``function`` itself."""
        with self.lock:
            for table in (self._rules, self._inactive, self._aliases, self._replacements):
                table.pop(function, None)
            self.said.remove(function)
        self.changed()

    def watch(self, watcher: Watcher) -> None:
        """Tell ``watcher`` when rules change, as long as it lives."""
        with self.lock:
            self._watchers.add(watcher)

    def changed(self) -> None:
        """Tell the watchers that rules have changed; those of a package only arrive on demand."""
        self._forget_implied()
        with self.lock:
            if self.loading.is_here():
                self.loading.tell()
                return
            self.generation += 1
            watchers = list(self._watchers)
        for watcher in watchers:
            watcher.rules_changed()

    def _forget_implied(self) -> None:
        self._implied = {}
