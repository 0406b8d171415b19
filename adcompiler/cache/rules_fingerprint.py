"""What tells that the rules of all packages are those of another process, without loading them.

Loading the rules of a library takes longer than anything else that a process does which finds its
code in the cache. Rules are made by the files of the packages that declare them and by what a
process registers itself: where it registered nothing, and loaded none yet, the state of these files
stands for all of them, and for the constants and helpers that rules read by name.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from adcompiler.cache.files import source_states, state
from adcompiler.cache.keys import digest, spelled, unspelled
from adcompiler.cache.modules import is_being_imported
from adcompiler.cache.store import Entry
from adcompiler.frontend.scope import MISSING
from adcompiler.ops.qualified_names import is_same, root_module, rule_packages, rule_roots
from adcompiler.ops.registry import REGISTRY


def seal() -> str | None:
    """Return a hash of where all rules come from, None if the process registered some itself."""
    return None if REGISTRY.generation != REGISTRY.first_generation else packages_digest()


def is_sealed(entry: Entry) -> bool:
    """Say whether the rules that a kept entry was compiled under hold without being looked at."""
    return not REGISTRY.loading.has_loaded and entry.manifest["seal"] == (seal() or "broken")


def present_seal() -> str | None:
    """Return a hash of all rules as they are, loaded or not; None if the process changed any."""
    found = seal()
    return found if found is not None and all(map(is_as_loaded, _at_first)) else None


def is_as_loaded(module: str) -> bool:
    """Say whether a module of rules holds what it did when it was loaded."""
    now = vars(sys.modules.get(module, object))
    return all(now.get(name, MISSING) is value for name, value in _at_first[module].items())


@functools.cache
def packages_digest() -> str | None:
    """Return a hash of the files of all rule packages, and of the libraries that they cover.

    None if the files of one cannot be found.
    """
    rows: list[str] = []
    for module, points in sorted(rule_packages().items()):
        rows += states(module.partition(".")[0], False) or [f"built in {module}"]
        for point in points:
            found = states(point.module.partition(".")[0], True)
            if not found:
                return None
            rows += [f"{point.name} {point.value}", *found]
    return digest(*dict.fromkeys(rows))


@functools.cache
def states(root: str, whole: bool) -> list[str]:
    """Return the states of the files of a package: all of them, or the one that begins it."""
    spec = importlib.util.find_spec(root)
    if spec is None or spec.origin is None or not os.path.isfile(spec.origin):
        return []
    rows = [f"{spec.origin} {state(os.stat(spec.origin))}"]
    for place in spec.submodule_search_locations or () if whole else ():
        rows += [place, *source_states(place)]
    return rows


def in_library(value: Any) -> str | None:
    """Return ``module:qualname`` of what is of a library that rules cover, None of other values."""
    return spelled(value) if root_module(value) in libraries() else None


def libraries() -> set[str]:
    """Return the names of the packages that rules cover, and of Python's own modules."""
    return {module.partition(".")[0] for module in rule_packages()} | sys.stdlib_module_names


def names_outside(rows: Iterable[list[str]]) -> list[list[str]]:
    """Return those rows of a manifest's names that are not of sealed packages."""
    return [row for row in rows if row[0].partition(".")[0] not in rule_roots() | libraries()]


def is_of_rules(path: list[list[Any]]) -> bool:
    """Say whether a kept path begins in a package that declares rules."""
    kind, name = path[0] if path else ("", "")
    return kind == "import" and name.partition(":")[0].partition(".")[0] in rule_roots()


_at_first: dict[str, dict[str, Any]] = {}


def remember() -> None:
    """Remember what the modules of rules held when they were loaded."""
    wanted = rule_roots()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in wanted and name not in _at_first and (
            not is_being_imported(module)
        ):
            _at_first[name] = dict(vars(module))


REGISTRY.loading.after.append(remember)


def as_loaded(names: Mapping[tuple[str, str], Any]) -> bool:
    """Say whether what rules read by name is what their modules held when they were loaded."""
    wanted = rule_roots()
    return all(
        _at_first.get(module, {}).get(name, MISSING) is value
        for (module, name), value in names.items() if module.partition(".")[0] in wanted
    )


def is_named(value: Any, name: str) -> bool:
    """Say whether a value is still what ``in_library`` called so."""
    found = unspelled(name)
    return found is not MISSING and is_same(found, value)
