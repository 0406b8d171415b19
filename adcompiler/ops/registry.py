"""The table of rules: callable -> rule, alias or declaration, loaded by root module on demand."""

from __future__ import annotations

import inspect
import logging
import numbers
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from types import FunctionType, MethodType
from typing import Any, Protocol

import numpy as np

from adcompiler.ops.basics import BUILTINS, OF_RUNTIME, RUNTIME
from adcompiler.ops.domains import Domain
from adcompiler.ops.facts import ELEMENTWISE, UNKNOWN, Facts, FactTable
from adcompiler.ops.forks import across_forks
from adcompiler.ops.homes import home_module, prefixes, root_module, rule_packages
from adcompiler.ops.ufunc_methods import facts_of_ufunc, facts_of_ufunc_method

logger = logging.getLogger("adcompiler")


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """The derivative of one callable.

    Either ``definition`` (a function returning ``(y, pullback)``) or ``partials`` (elementwise
    derivatives) is given, or only ``forward`` (a function of primals and tangents returning
    ``(y, y_dot)``), which may also stand beside them; see ``rulekit.define`` for the meaning of the
    other fields. ``parts`` is what the definition was assembled from, if it was not written as
    such. A rule that is ``opted_out`` says that for its types there is none.
    """

    function: Any
    definition: Callable[..., Any] | None = None
    partials: tuple[Any, ...] = ()
    wrt: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    types: tuple[Any, ...] | None = None
    elementwise: bool = False
    linear: tuple[int, ...] = ()
    bilinear: tuple[int, ...] = ()
    domain: Domain | None = None
    kink: str = ""
    primal_note: str = ""
    forward: Callable[..., Any] | None = None
    parts: Any = None
    opted_out: bool = False

    @property
    def reverses(self) -> bool:
        """Whether the rule says how to pull a cotangent back."""
        return self.definition is not None or bool(self.partials)

    def accepts(self, classes: tuple[type | None, ...]) -> bool:
        """Say whether positional arguments of these classes (None: unknown) follow this rule."""
        if self.types is None:
            return True
        return len(self.types) == len(classes) and all(
            wanted is None or (given is not None and issubclass(given, wanted))
            for wanted, given in zip(self.types, classes, strict=True)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Inactive:
    """The declaration that a callable's results carry no derivative."""

    function: Any
    pure: bool = True


class Watcher(Protocol):
    """What wants to know when rules change."""

    def rules_changed(self) -> None:
        """Take note that a rule was registered or removed."""


class Registry:
    """Rules, declarations and aliases by callable; package rules load when first asked for.

    Any thread may register while others read: tables are changed, and copied to be gone through,
    under one lock. ``generation`` counts the changes that watchers are told of; it stays
    ``first_generation`` as long as all rules come from packages, of which some ``has_loaded``.
    """

    def __init__(self) -> None:
        self._rules: dict[Any, list[Rule]] = {}
        self._inactive: dict[Any, Inactive] = {}
        self._aliases: dict[Any, Any] = {}
        self._replacements: dict[Any, Rule] = {}
        self._facts = FactTable()
        self._known: dict[Any, Facts] = {}
        self._owners: set[int] = set()
        self.log: list[Rule] = []
        self.after_loading: list[Callable[[], None]] = []
        self._loaded: set[str] = set()
        self._covered: set[str] = set()
        self._all_loaded = False
        self._begun: set[str] = set()
        self._loader: int | None = None
        self._loading = threading.RLock()
        self._tables = threading.RLock()
        self._watchers: weakref.WeakSet[Watcher] = weakref.WeakSet()
        self.generation = self.first_generation = 0
        self.has_loaded = False

    def add(self, rule: Rule) -> None:
        """Register ``rule``; it takes precedence over earlier ones for the same types.

        A forward rule that stood alone goes with it. Those of packages are earlier ones, so they
        are loaded now.
        """
        if self._loader != threading.get_ident():
            self._load_for(rule.function)
        with self._tables:
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
                self._owners.add(id(owner))  # which the rule keeps alive
            self.log.append(rule)
        self._changed()

    def add_forward(
        self, function: Any, types: tuple[Any, ...] | None, forward: Callable[..., Any],
        domain: Domain | None,
    ) -> None:
        """Register a forward rule: with the rule for the same types if there is one, or alone."""
        self._load_for(function)
        with self._tables:
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
        self._changed()

    def replace(self, old: Rule | None, new: Rule) -> None:
        """Register ``new`` in the place of ``old``, which it makes obsolete; None: as a new one."""
        with self._tables:
            if old is not None:
                kept = [rule for rule in self._rules[old.function] if rule is not old]
                self._rules[old.function] = kept
        self.add(new)

    def withdraw(self, rule: Rule) -> None:
        """Forget one rule; those that it took precedence over count again."""
        with self._tables:
            rules = self._rules.get(rule.function, [])
            kept = [other for other in rules if other is not rule]
            if len(kept) == len(rules):
                return
            self._rules[rule.function] = kept
            if not kept:
                del self._rules[rule.function]
        self._changed()

    def is_current(self, rule: Rule) -> bool:
        """Say whether a rule that was registered is still there."""
        return any(rule is other for other in self._rules.get(rule.function, ()))

    def add_inactive(self, declaration: Inactive) -> None:
        """Register a declaration that a callable's results carry no derivative."""
        with self._tables:
            self._inactive[declaration.function] = declaration
        self._changed()

    def add_alias(self, other: Any, function: Any) -> None:
        """Register ``other`` as another spelling of ``function``."""
        with self._tables:
            self._aliases[other] = function
        self._changed()

    def add_replacement(self, rule: Rule) -> None:
        """Register the Python code that is compiled in place of a callable."""
        with self._tables:
            self._replacements[rule.function] = rule
        self._changed()

    def replacement(self, function: Any) -> Rule | None:
        """Return what is compiled in place of ``function``, None if it is itself."""
        function = self.resolve(function)
        return self._replacements.get(function) if hashable(function) else None

    def remove(self, function: Any) -> None:
        """Forget everything registered for ``function`` itself."""
        with self._tables:
            for table in (self._rules, self._inactive, self._aliases, self._replacements):
                table.pop(function, None)
            self._facts.remove(function)
        self._changed()

    def resolve(self, function: Any) -> Any:
        """Return the callable that ``function`` is another spelling of, or itself."""
        self._load_for(function)
        while hashable(function) and function in self._aliases:
            function = self._aliases[function]
            self._load_for(function)
        return function

    def find(
        self, function: Any, classes: tuple[type | None, ...] = ()
    ) -> Rule | None:
        """Return the rule that covers ``function`` on arguments of these classes, if any."""
        function = self.resolve(function)
        if not hashable(function):
            return None
        for rule in self._rules.get(function, ()):
            if rule.accepts(classes):
                return None if rule.opted_out else rule
        return None

    def rules_of(self, function: Any) -> tuple[Rule, ...]:
        """Return every rule that covers ``function``, for whatever arguments."""
        function = self.resolve(function)
        return tuple(self._rules.get(function, ())) if hashable(function) else ()

    def has_rules(self, function: Any) -> bool:
        """Say whether any rule covers ``function``, for whatever arguments."""
        function = self.resolve(function)
        return hashable(function) and bool(self._rules.get(function))

    def has_methods(self, value: Any) -> bool:
        """Say whether rules cover methods of this very object, such as ``scipy.stats.norm``."""
        self._load_for(value)
        return id(value) in self._owners

    def is_registered(self, function: Any) -> bool:
        """Say whether a rule for ``function`` itself is here already, without loading any."""
        return hashable(function) and (function in self._rules or function in self._aliases)

    def is_inactive(self, function: Any) -> bool:
        """Say whether ``function`` itself is declared without derivative, without loading rules."""
        return hashable(function) and function in self._inactive

    def inactive(self, function: Any) -> Inactive | None:
        """Return the declaration that ``function`` carries no derivative, if there is one."""
        function = self.resolve(function)
        return self._inactive.get(function) if hashable(function) else None

    def add_facts(self, functions: Iterable[Any], facts: Facts) -> None:
        """Enter what is said of functions."""
        with self._tables:
            self._facts.add(functions, facts)
        if facts != UNKNOWN:
            self._changed()

    def stated(self, function: Any) -> Facts:
        """Return what was said of a function, under whichever spelling."""
        target = self.resolve(function)
        if not hashable(function):
            return UNKNOWN
        return self._facts.get(function).over(self._facts.get(target))

    def facts(self, function: Any) -> Facts:
        """Return all that is known of a function: what was said, and what its rules imply.

        What has a rule, or no derivative, is a function of values: one that is pure, and writes
        into no argument, unless it has a parameter for an array to write into.
        """
        known = self._known
        try:
            found = known.get(function)
        except TypeError:
            return UNKNOWN  # what cannot be looked up
        if found is None:
            found = known[function] = self._implied(function)
        return found

    def _implied(self, function: Any) -> Facts:
        said, target = self.stated(function), self.resolve(function)
        module = str(getattr(target, "__module__", ""))
        if module.startswith(RUNTIME):
            return said.over(Facts(pure=True, writes=(), tried=True))
        if isinstance(target, np.ufunc):
            return said.over(facts_of_ufunc(target))
        if isinstance(getattr(target, "__self__", None), np.ufunc):
            said = said.over(facts_of_ufunc_method(target))
        inactive, rules = self._inactive.get(target), self._rules.get(target)
        if inactive is None and not rules:
            return said
        if said.output is None and said.writes is None and takes_output(target):
            return said  # nobody said what becomes of it
        if inactive is not None:
            tried = inactive.pure and checks_arguments(target)
            return said.over(Facts(pure=inactive.pure, writes=(), tried=tried))
        if all(rule.elementwise or rule.opted_out for rule in rules or ()):
            said = said.over(Facts(shares=ELEMENTWISE.shares, elementwise=True))
        return said.over(Facts(pure=True, writes=(), tried=checks_arguments(target)))

    def all_facts(self) -> Iterator[tuple[Any, Facts]]:
        """Iterate over what was said of functions, in every installed rule package."""
        self.load_all()
        with self._tables:
            known = list(self._facts.items())
        yield from known

    def rules(self) -> Iterator[Rule]:
        """Iterate over every rule of every installed rule package."""
        self.load_all()
        for rules in self._copy(self._rules).values():
            yield from (rule for rule in rules if not rule.opted_out)

    def declarations(self) -> Iterator[Inactive]:
        """Iterate over every non-differentiable declaration of every installed rule package."""
        self.load_all()
        yield from self._copy(self._inactive).values()

    def aliases(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over ``(other spelling, function)`` pairs of every installed rule package."""
        self.load_all()
        yield from self._copy(self._aliases).items()

    def load_all(self) -> None:
        """Load the rules of every installed rule package."""
        if not self._all_loaded:
            for module in rule_packages():
                self._load(module)
            self._all_loaded = True

    def _copy(self, table: dict[Any, Any]) -> dict[Any, Any]:
        """Return a table as it is now."""
        with self._tables:
            return dict(table)

    def watch(self, watcher: Watcher) -> None:
        """Tell ``watcher`` when rules change, as long as it lives."""
        with self._tables:
            self._watchers.add(watcher)

    def _changed(self) -> None:
        """Tell the watchers that rules have changed; those of a package only arrive on demand."""
        self._known = {}
        with self._tables:
            if self._loader == threading.get_ident():
                return
            self.generation += 1
            watchers = list(self._watchers)
        for watcher in watchers:
            watcher.rules_changed()

    def _load_for(self, function: Any) -> None:
        home = home_module(function)
        if home in self._covered:
            return
        places = [module for module in prefixes(home) if module]
        for module in places:
            if module not in self._loaded:
                self._load(module)
        if self._loaded.issuperset(places):  # not so while one of them is being loaded
            self._covered.add(home)

    def _load(self, module: str) -> None:
        # Another thread must not find the rules half loaded; a rule package that asks for rules of
        # its own module while it is loading must not load itself again.
        with self._loading:
            if module in self._loaded or module in self._begun:
                return
            self._begun.add(module)
            outer, self._loader = self._loader, threading.get_ident()
            for point in rule_packages().get(module, ()):
                self.has_loaded = True
                try:
                    point.load()
                except Exception:
                    logger.exception(
                        "the rules of %s for %s could not be loaded", point.value, module
                    )
            self._loaded.add(module)
            self._loader = outer
            self._known = {}
        for notified in self.after_loading:
            notified()


def hashable(value: Any) -> bool:
    """Say whether a value can be looked up in a table."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def takes_output(function: Any) -> bool:
    """Say whether a function has a parameter that is named as one that is written into."""
    try:
        return not OUTPUTS.isdisjoint(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return False


def checks_arguments(function: Any) -> bool:
    """Say whether a function with a rule may be called on stand-ins unless something else is said.

    Code that is neither Python's nor that of a library of which the rules are known may rely on
    lengths, or addresses, that nobody checks.
    """
    return isinstance(function, (FunctionType, np.ufunc, type)) or (
        root_module(function) in (*sys.stdlib_module_names, "numpy", "scipy", "adcompiler")
    )


OUTPUTS = frozenset({"out", "output"})
NUMBER = numbers.Number
REGISTRY = Registry()
across_forks(lambda: [REGISTRY._loading, REGISTRY._tables])
for functions, known in (*BUILTINS, *OF_RUNTIME):
    REGISTRY.add_facts(functions, known)
REGISTRY.first_generation = REGISTRY.generation
