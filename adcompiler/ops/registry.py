"""The registry answers what is known of a callable: its rule, what it is an alias of, facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import MethodDescriptorType, MethodType
from typing import Any

import numpy as np

from adcompiler.ops.entries import Entries
from adcompiler.ops.facts import UNKNOWN, Entry, Facts
from adcompiler.ops.forks import across_forks
from adcompiler.ops.implied import implied
from adcompiler.ops.rules import Inactive, Rule


class Registry(Entries):
    """Rules, declarations and aliases by callable; package rules load when first asked for."""

    def replacement(self, function: Callable[..., Any]) -> Rule | None:
        """Return what is compiled in place of ``function``, None if it is itself."""
        function = self.resolve(function)
        return self._replacements.get(function) if hashable(function) else None

    def resolve(self, function: Callable[..., Any]) -> Any:
        """Return the callable that ``function`` is another spelling of, or itself."""
        self.loading.load_for(function)
        function = self._of_twin(of_numbers(function))
        while hashable(function) and function in self._aliases:
            function = self._aliases[function]
            self.loading.load_for(function)
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
        self.loading.load_for(value)
        return id(value) in self._owners or self.twin(value) is not None

    def twin(self, value: Any) -> Any:
        """Return the object with rules for methods that ``value`` is a copy of; None if it is none.

        Frozen distributions have such copies: ``scipy.stats.norm(0.0, 1.0).dist`` is one.
        """
        known = self._twins.get(type(value), ())
        for instance, _ in known:
            if instance is value:
                return value
        for instance, names in known:
            if all(same(getattr(value, name, None), getattr(instance, name)) for name in names):
                return instance
        return None

    def _of_twin(self, function: Callable[..., Any]) -> Any:
        """Return the method of a copy as that of the object with rules; others as they are."""
        if type(function) is not MethodType:
            return function
        owner = function.__self__
        if not hashable(type(owner)) or type(owner) not in self._twins:
            return function
        instance = self.twin(owner)
        own = instance is None or instance is owner or function.__name__ in vars(owner)
        return function if own else getattr(instance, function.__name__, function)

    def model(self, cls: type) -> Any | None:
        """Return the object of this class that rules cover methods of; None if it is not one."""
        self.loading.load_for(cls)
        found = [owner for owner in self._owners.values() if type(owner) is cls]
        return found[0] if len(found) == 1 else None

    def is_registered(self, function: Callable[..., Any]) -> bool:
        """Say whether a rule for ``function`` itself is here already, without loading any."""
        return hashable(function) and (function in self._rules or function in self._aliases)

    def is_inactive(self, function: Callable[..., Any]) -> bool:
        """Say whether ``function`` itself is declared without derivative, without loading rules."""
        return hashable(function) and function in self._inactive

    def inactive(self, function: Any) -> Inactive | None:
        """Return the declaration that ``function`` carries no derivative, if there is one."""
        function = self.resolve(function)
        return self._inactive.get(function) if hashable(function) else None

    def stated(self, function: Callable[..., Any]) -> Facts:
        """Return what was said of a function, under whichever spelling."""
        target = self.resolve(function)
        if not hashable(function):
            return UNKNOWN
        return self.said.get(function).over(self.said.get(target))

    def facts(self, function: Any) -> Facts:
        """Return all that is known of a function: what was said, and what its rules imply."""
        known = self._implied
        try:
            found = known.get(function)
        except TypeError:
            return UNKNOWN  # what cannot be looked up
        if found is None:
            found = known[function] = self._imply(function)
        return found

    def _imply(self, function: Callable[..., Any]) -> Facts:
        said, target = self.stated(function), self.resolve(function)
        return implied(said, target, self._inactive.get(target), self._rules.get(target, ()))

    def all_facts(self) -> Iterator[tuple[Any, Facts]]:
        """Iterate over what was said of functions, in every installed rule package."""
        self.load_all()
        with self.lock:
            known = list(self.said.items())
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
        self.loading.load_all()

    def _copy(self, table: dict[Any, Any]) -> dict[Any, Any]:
        """Return a table as it is now."""
        with self.lock:
            return dict(table)


def of_numbers(function: Callable[..., Any]) -> Any:
    """Return a method of NumPy's numbers as that of arrays, or of Python's; others as they are."""
    if type(function) is not MethodDescriptorType or not issubclass(
        function.__objclass__, np.generic
    ):
        return function
    found = (getattr(cls, function.__name__, None) for cls in (np.ndarray, float, int))
    return next(filter(callable, found), function)


def same(one: Any, two: Any) -> bool:
    """Say whether two plain values are the same, also where both are NaN."""
    if type(one) is not type(two):
        return False
    return one is two or bool(one == two) or (one != one and two != two)


def hashable(value: Any) -> bool:
    """Say whether a value can be looked up in a table."""
    try:
        hash(value)
    except Exception:  # a class may raise anything there
        return False
    return True


def of_basics() -> Iterator[Entry]:
    """Yield what is said of Python's own functions, and of those that emitted code calls."""
    from adcompiler.ops.basics import BUILTINS, OF_RUNTIME  # a while, which only compiling takes

    yield from BUILTINS
    yield from OF_RUNTIME


REGISTRY = Registry()
across_forks(lambda: [REGISTRY.loading.lock, REGISTRY.lock, REGISTRY.said.lock])
REGISTRY.said.first = of_basics
