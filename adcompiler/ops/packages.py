"""The entry points of installed packages, read without ``importlib.metadata`` where that can be.

That module reads e-mail, archives and tables, and loading it takes longer than all else that a
process does which finds its code in the cache. What it would find in directories is a section of
``entry_points.txt`` beside each package; wherever else packages come from, it is asked.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.machinery import PathFinder
from typing import Any

from adcompiler.support.structs import dataclass

ENDS = (".dist-info", ".egg-info")


@dataclass(frozen=True)
class Point:
    """An entry point: ``name = value`` in its group."""

    name: str
    value: str

    @property
    def module(self) -> str:
        """The module that it names."""
        return self.value.partition(":")[0].partition("[")[0].strip()

    def load(self) -> Any:
        """Return what it names."""
        found: Any = importlib.import_module(self.module)
        for part in self.value.partition("[")[0].partition(":")[2].strip().split("."):
            found = getattr(found, part) if part else found
        return found


def points_of(group: str) -> list[Point]:
    """Return the entry points of a group, of all packages that can be imported."""
    found = points_in_directories(group)
    if found is None:
        from importlib.metadata import entry_points

        return [Point(one.name, one.value) for one in entry_points(group=group)]
    return found


def points_in_directories(group: str) -> list[Point] | None:
    """Return the same if all packages lie in directories, None if some may be elsewhere."""
    if any(hasattr(one, "find_distributions") and not lists_directories(one)
           for one in sys.meta_path):
        return None
    found: list[Point] = []
    seen: set[str] = set()
    for path in sys.path:
        place = path or os.getcwd()
        if os.path.isfile(place) or place.rstrip("/\\").endswith(".egg"):
            return None
        try:
            names = sorted(os.listdir(place))
        except OSError:
            continue
        for name in names:
            if not name.endswith(ENDS):
                continue
            package = name.rpartition(".")[0].partition("-")[0].lower()
            package = package.replace(".", "_")
            if package not in seen:  # the first one on the path is the one that is imported
                seen.add(package)
                found += section(os.path.join(place, name, "entry_points.txt"), group)
    return found


def lists_directories(finder: Any) -> bool:
    """Tell whether a finder finds packages in the directories of ``sys.path`` only.

    The package importlib_metadata puts a finder of its own in the place of Python's.
    """
    return finder is PathFinder or type(finder).__module__ == "importlib_metadata"


def section(file: str, group: str) -> list[Point]:
    """Return what a file of entry points says of a group."""
    try:
        with open(file, encoding="utf-8") as opened:
            text = opened.read()
    except (OSError, UnicodeDecodeError):
        return []
    found: list[Point] = []
    inside = False
    for line in map(str.strip, text.split("\n") if f"[{group}]" in text else ()):
        if line.startswith("["):
            inside = line == f"[{group}]"
        elif inside and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.append(Point(name.strip(), value.strip()))
    return found
