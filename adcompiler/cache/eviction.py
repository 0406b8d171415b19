"""What goes from the cache: what nobody has used for long, and what there is no room for.

A directory of the cache, one of 256, has its share of the room. It is looked through whenever an
entry is written into it, which costs a status for each of a few files; keys are hashes, so that all
directories fill alike.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from adcompiler.cache.trust import COMPILED, is_temporary
from adcompiler.support.budget import positive_numbers
from adcompiler.support.structs import dataclass

LIMITS_VARIABLE = "ADCOMPILER_CACHE_LIMITS"
MEGABYTES, DAYS = 512.0, 90.0
PARTS = 256
DAY = 86_400.0
ABANDONED = 3_600.0
"""Seconds after which nobody is still writing a file under its temporary name."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a cache may be, and how long what nobody uses is kept."""

    megabytes: float = MEGABYTES
    days: float = DAYS

    @classmethod
    def from_environment(cls) -> Limits:
        """Return what ADCOMPILER_CACHE_LIMITS says; raises ADError if it is malformed."""
        return cls(*positive_numbers(LIMITS_VARIABLE, "megabytes", "days"))

    @property
    def room(self) -> float:
        """The bytes that a directory of the cache has room for."""
        return self.megabytes * 1e6 / PARTS


@dataclass(frozen=True, slots=True)
class Kept:
    """An entry with the files that belong to it: their size, and when it was last used."""

    path: Path
    beside: tuple[Path, ...]
    size: int
    at: float


def used(path: Path) -> None:
    """Note that an entry is used, once a day: by its time of access, which tells nothing else."""
    with contextlib.suppress(OSError):
        status = path.stat()
        if time.time() - max(status.st_atime, status.st_mtime) > DAY:
            os.utime(path, ns=(time.time_ns(), status.st_mtime_ns))


def prune(
    part: Path, limits: Limits, is_entry: Callable[[str], bool], newest: Path | None = None
) -> int:
    """Remove from a part of the cache what is too old or too much, and what killed writers left.

    ``newest`` stays in any case. Returns how many entries went; what cannot be removed stays.
    """
    now = time.time()
    for name in filter(is_temporary, listed(part)):
        with contextlib.suppress(OSError):
            if now - (part / name).lstat().st_mtime > ABANDONED:
                (part / name).unlink()
    entries = sorted(kept_in(part, is_entry), key=lambda one: (one.at, one.path.name))
    total = sum(one.size for one in entries)
    removed = 0
    for one in entries:
        if one.path == newest or (now - one.at <= limits.days * DAY and total <= limits.room):
            continue
        if remove(one):
            total -= one.size
            removed += 1
    return removed


def remove(one: Kept) -> bool:
    """Remove an entry with what belongs to it; say whether that could be done."""
    try:
        for path in (one.path, *one.beside):
            path.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def kept_in(part: Path, is_entry: Callable[[str], bool]) -> list[Kept]:
    """Return the entries in a part of the cache; machine code of none is one by itself."""
    names = {name.removesuffix(".py"): [part / name] for name in listed(part) if is_entry(name)}
    for name in listed(part / COMPILED):
        stem = name.removeprefix("adcompiler_loops_").partition(".")[0]
        names.setdefault(stem, []).append(part / COMPILED / name)
    found = []
    for first, *others in names.values():
        with contextlib.suppress(OSError):
            states = [path.lstat() for path in (first, *others)]
            size = sum(state.st_size for state in states)
            at = max(max(state.st_atime, state.st_mtime) for state in states)
            found.append(Kept(first, tuple(others), size, at))
    return found


def listed(directory: Path) -> list[str]:
    """Return the names in a directory, none if there is no such."""
    try:
        return os.listdir(directory)
    except OSError:
        return []
