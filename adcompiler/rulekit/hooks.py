"""Hooks that run for every rule: how an AD system of another kind is made from the rules.

As in ChainRules (https://juliadiff.org/ChainRulesCore.jl): a hook sees the signature of each rule
that there is, and of those that come with packages loaded later, or at ``refresh_rules``.
"""

from __future__ import annotations

import inspect
import logging
import numbers
import threading
import types
import typing
from collections.abc import Callable
from dataclasses import field
from typing import Any

from adcompiler.ops.registry import REGISTRY
from adcompiler.ops.rules import Rule
from adcompiler.rulekit.application import has_forward
from adcompiler.rulekit.define import rrule
from adcompiler.rulekit.problems import name_of
from adcompiler.support.signatures import signature
from adcompiler.support.structs import dataclass

logger = logging.getLogger("adcompiler")

ANYTHING = (Any, inspect.Parameter.empty)
"""Annotations that say nothing; ``Any`` is a class since Python 3.11."""

KINDS = {"rrule": "rrule", "apply_rrule": "rrule", "frule": "frule", "apply_frule": "frule"}
"""The kinds of rules by the names of the functions that stand for them."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a rule covers: the function, and a class for each positional argument.

    For an elementwise rule without ``types=`` these are numbers; for other rules, what the
    definition is annotated with, ``object`` where that is nothing.

    Parameters:
        op (callable): The function.
        args (tuple): The classes.

    Example:
        >>> import math
        >>> from adcompiler import Signature
        >>> Signature(math.sin, (float,)).args
        (<class 'float'>,)
    """

    op: Any
    args: tuple[Any, ...]

    def accepts(self, *classes: type) -> bool:
        """Say whether each argument may be of one of ``classes``: ``sig.accepts(float)``."""
        return all(any(issubclass(given, wanted) for given in classes) for wanted in self.args)


Hook = Callable[[Signature], Any]


@dataclass
class _Registered:
    """A hook, and how much of the registry's log it has seen."""

    hook: Hook
    kind: str
    seen: int = 0
    results: list[Any] = field(default_factory=list)


_hooks: dict[str, list[_Registered]] = {}
_lock = threading.RLock()


def on_new_rule(hook: Hook, kind: Callable[..., Any] | str = rrule) -> list[Any]:
    """Call ``hook(signature)`` for every rule there is, and for those to come.

    Later rules are shown when a package of rules has been loaded, and by ``refresh_rules()``; a
    rule that was changed counts as new. Signatures that are opted out are not shown. An exception
    in a hook is logged and keeps no other call back.

    Parameters:
        hook (callable): A function of a ``Signature``.
        kind: ``rrule`` for rules that pull back, or ``apply_frule`` for those that it can follow;
            their names will do.

    Returns:
        list: What the hook returned for each of the present rules, in the order of their
        registration.

    Raises:
        ValueError: For another kind.

    Example:
        >>> import math
        >>> from adcompiler import clear_new_rule_hooks, on_new_rule
        >>> math.sin in on_new_rule(lambda signature: signature.op)
        True
        >>> clear_new_rule_hooks()
    """
    REGISTRY.load_all()
    with _lock:
        registered = _Registered(hook, kind_of(kind))
        _hooks.setdefault(registered.kind, []).append(registered)
        _show_new(registered)
        return list(registered.results)


def refresh_rules(kind: Callable[..., Any] | str | None = None) -> None:
    """Show the hooks the rules that were registered or changed since the last time.

    Call it after registering rules in a session or in the file that adds the hook.

    Parameters:
        kind: As for ``on_new_rule``; None is both.

    Example:
        >>> from adcompiler import clear_new_rule_hooks, on_new_rule, refresh_rules, scalar_rule
        >>> def late(x):
        ...     return x
        >>> seen = []
        >>> before = on_new_rule(lambda signature: seen.append(signature.op))
        >>> scalar_rule(late, 1.0)
        >>> refresh_rules()
        >>> seen[-1] is late
        True
        >>> clear_new_rule_hooks()
    """
    with _lock:
        for registered in _of(kind):
            _show_new(registered)


def clear_new_rule_hooks(kind: Callable[..., Any] | str | None = None) -> None:
    """Forget all hooks; what they have set up stays.

    Parameters:
        kind: As for ``on_new_rule``: the hooks of that kind alone.

    Example:
        >>> from adcompiler import clear_new_rule_hooks
        >>> clear_new_rule_hooks()
    """
    with _lock:
        for name in list(_hooks) if kind is None else [kind_of(kind)]:
            _hooks.pop(name, None)


def kind_of(kind: Callable[..., Any] | str) -> str:
    """Return the name of a kind of rules; ValueError for what is none."""
    name = kind if isinstance(kind, str) else getattr(kind, "__name__", "")
    try:
        return KINDS[name]
    except KeyError:
        names = sorted(set(KINDS.values()))
        raise ValueError(f"{kind!r} is no kind of rules; write {' or '.join(names)}") from None


def signature_of(rule: Rule) -> Signature:
    """Return what a rule covers."""
    if rule.types is not None:
        return Signature(rule.function, tuple(object if c is None else c for c in rule.types))
    if rule.partials:
        return Signature(rule.function, (numbers.Number,) * len(rule.partials))
    described: Any = rule.definition or rule.function
    try:
        parameters = inspect.signature(described, eval_str=True).parameters
    except NameError:  # an annotation that does not evaluate
        parameters = signature(described).parameters
    except (TypeError, ValueError):  # of a function in C
        return Signature(rule.function, ())
    return Signature(rule.function, tuple(
        class_of(p.annotation) for p in parameters.values() if p.default is p.empty
        and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ))


def class_of(annotation: Any) -> type:
    """Return the class that an annotation names, ``object`` if it names none, or several."""
    found = annotation if annotation in ANYTHING or isinstance(annotation, types.UnionType) else (
        typing.get_origin(annotation) or annotation)
    return found if isinstance(found, type) and found not in ANYTHING else object


def _of(kind: Callable[..., Any] | str | None) -> list[_Registered]:
    names = list(_hooks) if kind is None else [kind_of(kind)]
    return [registered for name in names for registered in list(_hooks.get(name, ()))]


def _show_new(registered: _Registered) -> None:
    """Call a hook for the rules of the log that it has not seen and that still hold."""
    log = REGISTRY.log
    while registered.seen < len(log):
        rule = log[registered.seen]
        registered.seen += 1
        given = rule.reverses if registered.kind == "rrule" else has_forward(rule)
        if not given or not REGISTRY.is_current(rule) or REGISTRY.is_opted_out(rule):
            continue
        try:
            registered.results.append(registered.hook(signature_of(rule)))
        except Exception:
            logger.exception(
                "a hook for new rules failed for the rule of %s", name_of(rule.function)
            )


REGISTRY.loading.after.append(refresh_rules)
