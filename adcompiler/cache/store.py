"""Keeps emitted modules on disk, as real ``.py`` files that a debugger can step into.

The files are code that will run, in a directory that anything may have touched. An entry is
returned only if it is a regular file of this user that nobody else may write, in a directory of
which the same holds, and if its checksum is right, which is keyed with the cache's secret.
Everything else is as if it were not there.

One file is written under a temporary name and renamed, so that readers see all of it or nothing,
and many processes may write the same entry at once: they write the same bytes. It is not synced to
disk, which takes as long as compiling a small function: what a crash of the machine leaves of it
has not the right checksum, and is built again. Entries are spread over directories by the first two
digits of their keys, so that a look-up lists a few names however many entries there are. Whoever
writes one removes from its directory what is old, or more than there is room for.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adcompiler.cache.authentic import keyed, secret_for, secret_of
from adcompiler.cache.eviction import Limits, kept_in, listed, prune, remove, used
from adcompiler.cache.trust import (
    COMPILED, is_temporary, make_directories, own_content, problem_of_part, write_whole,
)
from adcompiler.support.structs import dataclass

FORMAT = 2
DIRECTORY_VARIABLE = "ADCOMPILER_CACHE_DIR"
HEADER_LINES = 2

_OURS = f"# adcompiler {FORMAT} ".encode()
_FORMAT = re.compile(rb"# adcompiler \d+ ")
_HEADER = re.compile(rb"# adcompiler \d+ blake2b:([0-9a-f]{64})")
_MANIFEST = b"# manifest: "
_NAME = re.compile(r"\w+_[0-9a-f]{16}_[0-9a-f]{8}\.py", re.ASCII)
_KEY = re.compile(r"[0-9a-f]{16,}")
_PART = re.compile(r"[0-9a-f]{2}")
_STEM_LENGTH = 60

# A lock that is taken once and never released: the one warning of the process.
_warning = threading.Lock()


class CacheWarning(UserWarning):
    """Emitted code is not kept on disk: each process compiles anew."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One emitted module: where it is, its text without header, what it was compiled under."""

    path: Path
    text: str
    manifest: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """How many entries there are, their size in bytes, and where; no path means memory only."""

    count: int
    bytes: int
    path: Path | None


def user_cache() -> str:
    """Return the directory for what the package keeps for this user."""
    if sys.platform == "linux" and "ANDROID_DATA" not in os.environ:  # as platformdirs has it
        kept = os.environ.get("XDG_CACHE_HOME", "")
        return os.path.join(kept if kept.strip() else os.path.expanduser("~/.cache"), "adcompiler")
    import platformdirs  # which loads what reads archives

    return platformdirs.user_cache_dir("adcompiler", appauthor=False)


def default_directory() -> Path | None:
    """Return the directory of this user and this Python, or None when the cache is off.

    ``ADCOMPILER_CACHE_DIR`` names another place; empty or ``off``, it turns the cache off.
    """
    chosen = os.environ.get(DIRECTORY_VARIABLE)
    if chosen is not None and chosen.strip().lower() in ("", "off"):
        return None
    try:
        base = Path(chosen or user_cache())
        if chosen is None and not base.is_absolute():
            raise RuntimeError("no home directory")  # "~" where there is none
        base = base.expanduser().absolute()
    except (RuntimeError, KeyError, OSError) as error:
        _warn_once(Path(chosen or "~/.cache/adcompiler"), f"cannot be found ({error})")
        return None
    version = f"{sys.implementation.name}-{sys.version_info[0]}{sys.version_info[1]}"
    return base / (sys.implementation.cache_tag or version)


class Store:
    """The emitted modules in one directory; with no directory, a store that is always empty."""

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory

    def candidates(self, key: str) -> Iterator[Entry]:
        """Yield the sound entries of the key: variants, of which the caller picks a valid one."""
        if self.directory is None:
            return
        marker = f"_{_checked(key)[:16]}_"
        paths = _entries(self.directory, _part(self.directory, key), marker)
        secret = secret_of(self.directory) if paths else None
        for path in paths:
            entry = None if secret is None else _read(path, key, secret)
            if entry is not None:
                used(path)
                yield entry

    def write(self, key: str, stem: str, text: str, manifest: dict[str, Any]) -> Path | None:
        """Write an entry and return its path, or None when it cannot be kept on disk.

        ``key`` is a hexadecimal digest, ``stem`` the start of the file's name, ``manifest`` what
        JSON can hold. The same text and manifest under the same key are the same file.
        """
        if self.directory is None:
            return None
        part = _part(self.directory, _checked(key))
        limits = Limits.from_environment()
        try:
            make_directories(part)
            problem = problem_of_part(self.directory, part)
            if problem is None:
                (part / COMPILED).mkdir(mode=0o700, exist_ok=True)
                body = _body(key, text, manifest)
                digest = hashlib.sha256(body).hexdigest()[:8]
                path = part / f"{_safe_stem(stem)}_{key[:16]}_{digest}.py"
                write_whole(path, _header(body, secret_for(self.directory)) + body)
                prune(part, limits, is_entry, path)
                return path
        except OSError as error:
            problem = f"cannot be written ({error.strerror or error})"
        _warn_once(self.directory, problem)
        return None

    def discard(self, entry: Entry) -> None:
        """Remove an entry that turns out not to be of use."""
        with contextlib.suppress(OSError):
            entry.path.unlink()

    def info(self) -> StoreInfo:
        """Return the number of entries, their size in bytes, and the directory."""
        sizes = []
        for path in self._paths():
            with contextlib.suppress(OSError):
                sizes.append(path.lstat().st_size)
        return StoreInfo(len(sizes), sum(sizes), self.directory)

    def clear(self) -> int:
        """Remove every entry and what interrupted writes left; return how many entries went."""
        removed = 0
        for part in self._trusted_parts():
            for one in kept_in(part, is_entry):
                removed += remove(one) and is_entry(one.path.name)
        for path in self._paths(temporary=True):
            with contextlib.suppress(OSError):
                path.unlink()
        return removed

    def prune(self) -> int:
        """Remove what is too old or too much, as each write does in one directory of the cache."""
        limits = Limits.from_environment()
        return sum(prune(part, limits, is_entry) for part in self._trusted_parts())

    def verify(self) -> list[tuple[Path, str]]:
        """Return the files that would not be used, and why; none is changed."""
        if self.directory is None or not self.directory.exists():
            return []
        problem = problem_of_part(self.directory, self.directory)
        if problem:
            return [(self.directory, problem)]
        secret = secret_of(self.directory)
        found = []
        for part in self._parts():
            problem = None if part == self.directory else problem_of_part(self.directory, part)
            names = [] if problem else sorted(listed(part))
            found += [(part, problem)] if problem else []
            found += [
                (part / name, said) for name in names
                if is_entry(name) and (said := _problem_of_entry(part / name, secret))
            ]
            found += [(part / name, "left by a writer") for name in names if is_temporary(name)]
        return found

    def _parts(self) -> list[Path]:
        """Return the directory and those in it, in a stable order."""
        if self.directory is None:
            return []
        names = sorted(filter(_PART.fullmatch, listed(self.directory)))
        return [self.directory, *(self.directory / name for name in names)]

    def _trusted_parts(self) -> Iterator[Path]:
        """Yield those parts whose files nobody else could have put there."""
        for part in self._parts():
            with contextlib.suppress(OSError):
                if self.directory and problem_of_part(self.directory, part) is None:
                    yield part

    def _paths(self, *, temporary: bool = False) -> list[Path]:
        """Return all entries, or what interrupted writes left, in a stable order."""
        if self.directory is None:
            return []
        return [
            path for part in self._parts()
            for path in _entries(self.directory, part, temporary=temporary)
        ]


def _part(directory: Path, key: str) -> Path:
    """Return the directory of the entries of a key."""
    return directory / key[:2]


def _entries(
    directory: Path, part: Path, marker: str = "", *, temporary: bool = False
) -> list[Path]:
    """Return the entries of a part of the cache with ``marker`` in their names, sorted."""
    wanted = is_temporary if temporary else is_entry
    found = sorted(name for name in _names(directory, part) if marker in name and wanted(name))
    return [part / name for name in found]


def _names(directory: Path, part: Path) -> list[str]:
    """Return the names in a directory of the cache, none if it is not to be trusted."""
    try:
        problem = problem_of_part(directory, part)
        names = [] if problem else os.listdir(part)
    except (FileNotFoundError, NotADirectoryError):
        return []  # nothing has been written yet
    except OSError as error:
        problem, names = f"cannot be read ({error.strerror or error})", []
    if problem:
        _warn_once(directory, problem)
    return names


# ---------------------------------------------------------------------------------------------
# One file
# ---------------------------------------------------------------------------------------------


def _body(key: str, text: str, manifest: dict[str, Any]) -> bytes:
    # JSON escapes newlines and all that is not ASCII: the manifest is one line, whatever it holds.
    # The name has 64 bits of the key; all of it is here, so that no collision goes unseen.
    line = json.dumps({"key": key, "manifest": manifest}, sort_keys=True, ensure_ascii=True)
    return _MANIFEST + line.encode() + b"\n" + text.encode()


def _header(body: bytes, secret: bytes) -> bytes:
    return f"# adcompiler {FORMAT} blake2b:{keyed(secret, body)}\n".encode()


def _read(path: Path, key: str, secret: bytes) -> Entry | None:
    """Return the entry in the file if it is sound and of this key; remove a damaged one."""
    content = own_content(path)
    if content is None:
        return None
    header, _, body = content.partition(b"\n")
    found = _HEADER.fullmatch(header)
    if _FORMAT.match(content) and not content.startswith(_OURS):
        return None  # another version of adcompiler reads it
    intact = found is not None and keyed(secret, body) == found[1].decode()
    parsed = _parsed(path, body) if intact else None
    if parsed is None:
        # If another process has just replaced the file, a sound one goes: it is rebuilt.
        with contextlib.suppress(OSError):
            path.unlink()
        return None
    stored_key, entry = parsed
    return entry if stored_key == key else None


def _problem_of_entry(path: Path, secret: bytes | None) -> str | None:
    """Say why an entry would not be used, None if it would."""
    content = own_content(path)
    if content is None:
        return "is a link, not a file, or can be written by other users"
    header, _, body = content.partition(b"\n")
    found = _HEADER.fullmatch(header)
    if _FORMAT.match(content) and not content.startswith(_OURS):
        return "is of another version of adcompiler"
    if found is None or secret is None or keyed(secret, body) != found[1].decode():
        return "has not the checksum of what this cache's owner wrote"
    parsed = _parsed(path, body)
    if parsed is None or f"_{parsed[0][:16]}_" not in path.name:
        return "has not the form of an entry of its name"
    return None


def _parsed(path: Path, body: bytes) -> tuple[str, Entry] | None:
    """Return the key and the entry of a file's body, None when it has not the form of one."""
    line, newline, text = body.partition(b"\n")
    if not line.startswith(_MANIFEST) or not newline:
        return None
    try:
        held = json.loads(line[len(_MANIFEST) :])
        key, manifest = held["key"], held["manifest"]
        if not isinstance(key, str) or not isinstance(manifest, dict):
            return None
        return key, Entry(path, text.decode(), manifest)
    except (ValueError, KeyError, TypeError):
        return None


# ---------------------------------------------------------------------------------------------
# Trust
# ---------------------------------------------------------------------------------------------


def _warn_once(directory: Path, problem: str | None) -> None:
    if _warning.acquire(blocking=False):
        warnings.warn(
            f"the cache directory {directory} {problem}: derivatives are compiled anew in each "
            f"process. Set {DIRECTORY_VARIABLE} to a directory of your own, or to `off`.",
            CacheWarning,
            stacklevel=3,
        )


# ---------------------------------------------------------------------------------------------
# Names
# ---------------------------------------------------------------------------------------------


def _checked(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise ValueError(f"a key has at least 16 lower-case hexadecimal digits, not {key!r}")
    return key


def is_entry(name: str) -> bool:
    """Say whether a file's name is one of an entry."""
    return _NAME.fullmatch(name) is not None


def _safe_stem(stem: str) -> str:
    """Return the stem as part of a file name: `<lambda>` gives `lambda`."""
    return re.sub(r"\W+", "_", stem, flags=re.ASCII).strip("_")[:_STEM_LENGTH] or "module"

