"""Where a callable lives: the module that defines it, and the public one it is imported from."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from types import MethodType
from typing import Any

import numpy as np

from adcompiler.errors import NoHashError
from adcompiler.ops.packages import Point, points_of
from adcompiler.runtime.reading import unless_it_raises

ENTRY_POINT_GROUP = "adcompiler.rules"
RUNTIME = "adcompiler.runtime"
KERNELS = "adcompiler_rules.kernels"
"""What emitted code imports of ours: what any derivative may need, what rules compute with."""
PUBLIC = {"_operator": "operator"}
BESIDE = {"random": "numpy"}
"""Modules whose functions have their rules with those of another one."""


@lru_cache(maxsize=1)
def rule_packages() -> dict[str, list[Point]]:
    """Return the entry points of installed rule packages by the module they cover."""
    points: dict[str, list[Point]] = {}
    for point in points_of(ENTRY_POINT_GROUP):
        points.setdefault(point.name, []).append(point)
    return points


@lru_cache(maxsize=1)
def rule_roots() -> frozenset[str]:
    """Return the names of the packages that declare rules."""
    return frozenset(
        p.module.partition(".")[0] for points in rule_packages().values() for p in points)


@unless_it_raises("")
def home_module(function: Callable[..., Any]) -> str:
    """Return the name of the module that a callable belongs to, e.g. ``"scipy.linalg._matfuncs"``.

    A ufunc does not know its module: it is looked for in those that rules are installed for.
    """
    module = getattr(function, "__module__", None)
    if module is None:
        if isinstance(function, np.ufunc):
            return ufunc_module(function)
        owner = getattr(function, "__objclass__", None) or getattr(function, "__self__", None)
        if owner is None and type(function).__name__ == "fortran":
            return fortran_module(function)
        if owner is None:
            owner = type(function)
        module = owner if isinstance(owner, str) else getattr(owner, "__module__", "") or ""
        if not isinstance(module, str):
            module = ""
    return PUBLIC.get(module, str(module))


def ufunc_module(function: np.ufunc) -> str:
    """Return the name of the module that a ufunc without a ``__module__`` is found in."""
    for name in ("numpy", *rule_packages()):
        if found_in(name, function.__name__) is function:
            return name
    return "numpy"


def fortran_module(function: Callable[..., Any]) -> str:
    """Return the name of the module of SciPy that a function written in Fortran is found in.

    Such a function knows its name only: "function dgemm".
    """
    name = str(getattr(function, "__name__", "")).rpartition(" ")[2]
    for module in ("scipy.linalg.blas", "scipy.linalg.lapack"):
        if found_in(module, name) is function:
            return module
    return "builtins"


def found_in(module: str, qualname: str) -> Any:
    """Return what an imported module has under a dotted name, None if there is no such thing."""
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


def prefixes(module: str) -> Iterable[str]:
    """Return a module's name and those of the packages it is in, outermost first."""
    parts = module.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts) + 1)]


def covering(home: str) -> list[str]:
    """Return the modules that the rules for functions of a module are installed for.

    Those are the module and the packages that it is in. What emitted code calls has its rules with
    those of the library that it computes for, which its module names as ``COVERED_WITH``.
    """
    found = [module for module in prefixes(BESIDE.get(home, home)) if module]
    library = getattr(sys.modules.get(home), "COVERED_WITH", "") if is_emitted_home(home) else ""
    return found + [module for module in prefixes(library) if module]


def is_emitted_home(module: str) -> bool:
    """Say whether functions of a module are there to be called by emitted code."""
    return module.startswith((RUNTIME, KERNELS))


def root_module(function: Callable[..., Any]) -> str:
    """Return the top-level module that a callable belongs to, e.g. ``"numpy"``."""
    return home_module(function).partition(".")[0]


def findable(function: Callable[..., Any]) -> Any:
    """Return a function that something is to be said of; NoHashError if it cannot be looked up."""
    try:
        hash(function)
    except TypeError:
        name = getattr(function, "__name__", None) or repr(function)
        raise NoHashError(f"{name}, of class {type(function).__name__},") from None
    return function


def public_place(value: Any) -> tuple[str, str] | None:
    """Return the outermost imported module that has ``value``, and its name there.

    ``scipy.linalg.expm`` is defined in ``scipy.linalg._matfuncs``: the answer is
    ``("scipy.linalg", "expm")``. None where it cannot be imported by its name.
    """
    name = qualified_name(value)
    module = home_module(value)
    if name is None or "<" in name or module not in sys.modules:
        return None
    for place in prefixes(module):
        if is_same(found_in(place, name), value):
            return place, name
    return None


@unless_it_raises(None)
def qualified_name(value: Any) -> str | None:
    """Return the dotted name of a callable within its module, None if it has none."""
    owner: Any = getattr(value, "__self__", None)
    if issubclass(type(owner), np.ufunc):
        return f"{owner.__name__}.{value.__name__}"
    if isinstance(value, MethodType) and not isinstance(owner, type):
        name = instance_name(owner)
        if name is not None:
            return f"{name}.{value.__name__}"
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    return name.removeprefix("function ") if isinstance(name, str) else None  # of Fortran's


def instance_name(instance: Any) -> str | None:
    """Return the name of an object in the packages that its class is from, as ``scipy.stats.norm``.
    """
    for place in prefixes(type(instance).__module__):
        for name, found in vars(sys.modules.get(place, object)).items():
            if found is instance and not name.startswith("_"):
                return name
    return None


def is_same(found: Any, value: Any) -> bool:
    """Say whether what a name leads to is ``value``; methods are made anew at each look."""
    if found is value:
        return True
    owner = getattr(value, "__self__", None)
    if isinstance(owner, np.ufunc):
        return bool(found == value)
    return isinstance(value, MethodType) and getattr(found, "__self__", None) is owner


def display_name(function: Any) -> str:
    """Return a function's name for people, e.g. ``numpy.sin``: where it is documented."""
    place = public_place(function)
    if place is not None:
        module, name = place
    else:
        name = str(getattr(function, "__qualname__", None) or getattr(function, "__name__", "?"))
        module = home_module(function)
        if any(part.startswith("_") for part in module.split(".")):
            module = root_module(function)
    return name if module in ("builtins", "") else f"{module}.{name}"
