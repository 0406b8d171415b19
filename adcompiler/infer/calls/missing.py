"""The finding for a function without a rule: where it is called and what would register one."""

from __future__ import annotations

import collections
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from adcompiler.analyses.array_libraries import computed_elsewhere
from adcompiler.errors import ADError, Finding
from adcompiler.frontend.functions import lower
from adcompiler.ir.nodes import Origin
from adcompiler.ops.qualified_names import root_module
from adcompiler.runtime.draws import undifferentiated
from adcompiler.runtime.records import is_of_python
from adcompiler.support.budget import quiet
from adcompiler.support.signatures import signature as signature_of

INDENT = "      "
ABOUT_OBJECTS = ("builtins", "collections", "itertools", "operator", "_operator")
CONTAINERS = (list, tuple, dict, set, collections.deque, collections.OrderedDict,
              collections.defaultdict, collections.Counter)
CHANGING = frozenset({
    "__delitem__", "__setitem__", "add", "append", "appendleft", "clear", "difference_update",
    "discard", "extend", "extendleft", "frombytes", "fromlist", "insert", "intersection_update",
    "pop", "popleft", "popitem", "push", "put", "remove", "reverse", "rotate", "setdefault", "sort",
    "symmetric_difference_update", "update",
})
"""Names of methods that change their object."""


def missing_rule(
    origin: Origin, name: str, function: Callable[..., Any], count: int = 1,
    keywords: Mapping[str, Any] | None = None, obstacle: Finding | None = None,
) -> Finding:
    """Return the finding that a differentiable value reaches ``function``, which has no rule.

    ``count`` is the number of positional arguments of the call, ``keywords`` holds its others;
    ``obstacle`` is what keeps the function's source from being compiled, if it has one.
    """
    elsewhere = computed_elsewhere(function)
    if elsewhere is not None:
        return origin.finding(*elsewhere, "missing-rule")
    owner, _, method = str(getattr(function, "__qualname__", "")).rpartition(".")
    if owner in ("Generator", "RandomState") and function.__module__.startswith("numpy.random"):
        return origin.finding(*undifferentiated(method), anchor="random-draws")
    reason, hint = why_not_compiled(function)
    if obstacle is not None or not hint:
        rows = lines_that_register(function, count, keywords or {})
        hint = "\n".join(["register a rule, before the derivative is first called:", *(
            f"{INDENT}{row}".rstrip() for row in rows
        )])
    if obstacle is not None:
        place = obstacle.where
        reason = f"its source cannot be compiled ({place}: {obstacle.problem})"
    found = origin.finding(f"{name} has no rule, and {reason}", hint, "missing-rule")
    if obstacle is not None and obstacle.reason.by_run:
        found = replace(found, behind=obstacle.reason.section)
    elif is_about_objects(function):
        found = replace(found, behind="classes" if isinstance(function, type) else "unknown-calls")
    return found


def is_about_objects(function: Callable[..., Any]) -> bool:
    """Say whether a function is about objects, not numbers, so that a run tells what it does.

    Such are classes in Python, of whatever they are derived, and functions, classes and methods
    of Python's own containers and iterators, and what the compiler puts in their place.
    """
    if isinstance(function, type) and is_of_python(function):
        return True
    owner = getattr(function, "__objclass__", None) or getattr(function, "__self__", None)
    home = owner if isinstance(owner, type) else type(owner)
    return home in CONTAINERS or str(getattr(function, "__module__", None)) in ABOUT_OBJECTS or (
        root_module(function) == "adcompiler")


def may_write(origin: Origin, name: str, function: Callable[..., Any]) -> Finding:
    """Return the finding that ``function`` may write a differentiable value into an argument."""
    elsewhere = computed_elsewhere(function)
    if elsewhere is not None:
        return origin.finding(*elsewhere, "missing-rule")
    return origin.finding(
        f"{name} has no rule, and may write into the array or container that it gets",
        f"use functions that return new values; or {not_writing(spelling(function))}",
        "array-writes",
    )


def not_writing(shown: str) -> str:
    """Return what may be done where a function of which nothing is known might write."""
    if shown.rpartition(".")[2] in CHANGING:
        return "use a list, a dict or an array, changes of which are followed"
    return f"if it writes into none of its arguments, say so: adcompiler.facts({shown}, writes=())"


def may_fill(origin: Origin, name: str, function: Any) -> Finding:
    """Return the finding that ``function`` may write a differentiable value into an array."""
    if function is not None:
        return may_write(origin, f"{name}()", function)
    return origin.finding(
        f"{name}() has no rule, and may write into the array or container that it gets",
        f"if the last argument is the array for its result, call `adcompiler.external({name}, "
        "vjp=..., fills=True)` in its place; or put the call into a function of your own, and "
        "register a rule for that", "array-writes",
    )


def why_not_compiled(function: Callable[..., Any]) -> tuple[str, str]:
    """Return why the source of ``function`` is not compiled, and what makes that possible."""
    if not isinstance(function, types.FunctionType):
        return "no Python source that could be compiled", ""
    try:
        lower(function)
    except ADError as error:
        reason, _, remedy = str(error).partition(" What to do: ")
        reason, remedy = reason.rstrip("."), remedy.rstrip(".")
        if reason.startswith("no source text"):
            reason = f"its source text is missing: {reason.partition(': ')[2]}"
        return reason, remedy
    return "its source cannot be compiled", ""


def lines_that_register(
    function: Callable[..., Any], count: int, keywords: Mapping[str, Any]
) -> list[str]:
    """Return the lines of a rule for ``function``, with ``...`` for what only the user knows."""
    module, name = public_name(function)
    spelled = f"{module}.{name}" if module else name
    imports = ["import adcompiler", *([f"import {module}"] if module else []), ""]
    names = [name for name in parameter_names(function, count) if name not in keywords]
    if isinstance(function, np.ufunc) and function.nout == 1 and function.signature is None:
        return [*imports, *scalar_rule_lines(spelled, names), *no_derivative(spelled)]
    short = name.rpartition(".")[2]
    given = ", ".join([*names, *(f"{key}={key}" for key in keywords)])
    params = ", ".join([*names, *(f"{key}={literal(value)}" for key, value in keywords.items())])
    bars = ", ".join(["..."] * len(names))
    return [
        *imports,
        f"@adcompiler.rrule({spelled})",
        f"def {short}_rule({params}):",
        f"    y = {spelled}({given})",
        "",
        f"    def {short}_pullback(dy):",
        f"        return {bars}  # {cotangents(names)}",
        "",
        f"    return y, {short}_pullback",
        *no_derivative(spelled),
    ]


def literal(value: Any) -> str:
    """Return a default value as source, None for what has no literal."""
    return repr(value) if isinstance(value, (bool, int, float, str)) else "None"


def scalar_rule_lines(spelled: str, names: list[str]) -> list[str]:
    """Return the lines of an elementwise rule: one partial derivative per argument."""
    head = f"lambda {', '.join(names)}: ..."
    return [
        "adcompiler.scalar_rule(",
        f"    {spelled},",
        *(f"    {head},  # its derivative in {name}" for name in names),
        ")",
    ]


def no_derivative(spelled: str) -> list[str]:
    """Return the line to write instead for a function without a derivative."""
    return [f"# or, if its results carry no derivative: adcompiler.non_differentiable({spelled})"]


def cotangents(names: list[str]) -> str:
    return f"the cotangent{'s' if len(names) > 1 else ''} of {', '.join(names)}"


def parameter_names(function: Callable[..., Any], count: int) -> list[str]:
    """Return names for the positional parameters that a rule needs."""
    if isinstance(function, np.ufunc):
        return generic_names(function.nin)
    try:
        parameters = signature_of(function).parameters.values()
    except (TypeError, ValueError):
        return generic_names(count)
    names = [
        p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    needed = sum(p.default is p.empty for p in parameters if p.name in names)
    names = names[: max(count, needed)]
    return names if len(names) >= count else generic_names(count)


def generic_names(count: int) -> list[str]:
    """Return names for ``count`` parameters that have none."""
    return ["x"] if count == 1 else [f"x{position}" for position in range(1, count + 1)]


def public_name(function: Callable[..., Any]) -> tuple[str, str]:
    """Return the module and name by which users import a function; no module if none has it."""
    name = str(getattr(function, "__qualname__", getattr(function, "__name__", "function")))
    module = getattr(function, "__module__", None) or ""
    if "<locals>" in name or module == "__main__":
        return "", name.rpartition(".")[2]
    roots = {root_module(function), root_module(function).lstrip("_"), module.partition(".")[0]}
    if isinstance(function, np.ufunc):
        roots |= {"numpy", "scipy"}  # a ufunc does not say where it is from
    found = [
        candidate for candidate, loaded in list(sys.modules.items())
        if candidate.partition(".")[0] in roots and reached(loaded, name) is function
    ]
    found.sort(key=lambda m: (any(p.startswith("_") for p in m.split(".")), m != module, len(m)))
    if not found or found[0] == "builtins":
        return "", name
    return found[0], name


def reached(loaded: Any, name: str) -> Any:
    """Return what a dotted name leads to from a module, None where it leads nowhere."""
    with quiet():  # a module may warn of names that it is about to drop
        for part in name.split("."):
            loaded = getattr(loaded, part, None)
    return loaded


def spelling(function: Callable[..., Any]) -> str:
    """Return how a function would be written in source, e.g. ``numpy.sort``."""
    module, name = public_name(function)
    return f"{module}.{name}" if module else name
