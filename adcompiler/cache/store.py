"""Keeps emitted modules on disk, as real ``.py`` files that a debugger can step into.

The files are code that will run, in a directory that anything may have touched. An entry is
returned only if it is a regular file of this user that nobody else may write, in a directory of
which the same holds, and if its checksum is right. Everything else is as if it were not there.

One file is written under a temporary name and renamed, so that readers see all of it or nothing,
and many processes may write the same entry at once: they write the same bytes. It is not synced to
disk, which takes as long as compiling a small function: what a crash of the machine leaves of it
has not the right checksum, and is built again. Entries are spread over directories by the first two
digits of their keys, so that a look-up lists a few names however many entries there are.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import linecache
import os
import re
import stat
import sys
import threading
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FORMAT = 1
DIRECTORY_VARIABLE = "ADCOMPILER_CACHE_DIR"
HEADER_LINES = 2

_HEADER = re.compile(rb"# adcompiler (\d+) sha256:([0-9a-f]{64})")
_MANIFEST = b"# manifest: "
_NAME = re.compile(r"\w+_[0-9a-f]{16}_[0-9a-f]{8}\.py", re.ASCII)
_KEY = re.compile(r"[0-9a-f]{16,}")
_PART = re.compile(r"[0-9a-f]{2}")
_TEMPORARY = (".adcompiler_", ".tmp")
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
        for path in _entries(self.directory, _part(self.directory, key), marker):
            entry = _read(path, key)
            if entry is not None:
                yield entry

    def write(self, key: str, stem: str, text: str, manifest: dict[str, Any]) -> Path | None:
        """Write an entry and return its path, or None when it cannot be kept on disk.

        ``key`` is a hexadecimal digest, ``stem`` the start of the file's name, ``manifest`` what
        JSON can hold. The same text and manifest under the same key are the same file.
        """
        if self.directory is None:
            return None
        content = _content(_checked(key), text, manifest)
        digest = hashlib.sha256(content).hexdigest()[:8]
        part = _part(self.directory, key)
        path = part / f"{_safe_stem(stem)}_{key[:16]}_{digest}.py"
        try:
            if not part.exists():
                self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
                part.mkdir(mode=0o700, exist_ok=True)
            problem = _problem_of_directory(self.directory) or _problem_of_directory(part)
            if problem is None:
                _write_whole(path, content)
                return path
        except OSError as error:
            problem = f"cannot be written ({error.strerror or error})"
        _warn_once(self.directory, problem)
        return None

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
        for path in self._paths():
            with contextlib.suppress(OSError):
                path.unlink()
                removed += 1
        for path in self._paths(temporary=True):
            with contextlib.suppress(OSError):
                path.unlink()
        return removed

    def _paths(self, *, temporary: bool = False) -> list[Path]:
        """Return all entries, or what interrupted writes left, in a stable order."""
        if self.directory is None:
            return []
        names = _names(self.directory, self.directory)
        parts = [self.directory / name for name in sorted(names) if _PART.fullmatch(name)]
        return [
            path for part in (self.directory, *parts)
            for path in _entries(self.directory, part, temporary=temporary)
        ]


def _part(directory: Path, key: str) -> Path:
    """Return the directory of the entries of a key."""
    return directory / key[:2]


def _entries(
    directory: Path, part: Path, marker: str = "", *, temporary: bool = False
) -> list[Path]:
    """Return the entries of a part of the cache with ``marker`` in their names, sorted."""
    wanted = _is_temporary if temporary else _NAME.fullmatch
    found = sorted(name for name in _names(directory, part) if marker in name and wanted(name))
    return [part / name for name in found]


def _names(directory: Path, part: Path) -> list[str]:
    """Return the names in a directory of the cache, none if it is not to be trusted."""
    try:
        problem = _problem_of_directory(directory)
        if problem is None and part != directory:
            problem = _problem_of_directory(part)
        names = [] if problem else os.listdir(part)
    except (FileNotFoundError, NotADirectoryError):
        return []  # nothing has been written yet
    except OSError as error:
        problem, names = f"cannot be read ({error.strerror or error})", []
    if problem:
        _warn_once(directory, problem)
    return names


def load_module(path: Path | None, text: str, module_name: str) -> types.ModuleType:
    """Run the text as a new module and return it; tracebacks and debuggers show its lines.

    ``path`` is the entry's file, below whose header the text stands; without one the text is
    given to linecache under a pseudo file name. The module is not put into ``sys.modules``.

    The text is compiled each time: 5 microseconds a line (CPython 3.11), too little to keep
    bytecode as well, a second file per entry that would have to be checked like the first.
    """
    module = types.ModuleType(module_name)
    if path is None:
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        file = f"<adcompiler {module_name} {digest}>"
        lines = text.splitlines(keepends=True)
        linecache.cache[file] = (len(text), None, lines, file)  # no time: never out of date
    else:
        file = str(path)
        text = "\n" * HEADER_LINES + text
        module.__file__ = file
    code = compile(text, file, "exec", dont_inherit=True)
    exec(code, module.__dict__)
    return module


# ---------------------------------------------------------------------------------------------
# One file
# ---------------------------------------------------------------------------------------------


def _content(key: str, text: str, manifest: dict[str, Any]) -> bytes:
    # JSON escapes newlines and all that is not ASCII: the manifest is one line, whatever it holds.
    # The name has 64 bits of the key; all of it is here, so that no collision goes unseen.
    line = json.dumps({"key": key, "manifest": manifest}, sort_keys=True, ensure_ascii=True)
    body = _MANIFEST + line.encode() + b"\n" + text.encode()
    checksum = hashlib.sha256(body).hexdigest()
    return f"# adcompiler {FORMAT} sha256:{checksum}\n".encode() + body


def _read(path: Path, key: str) -> Entry | None:
    """Return the entry in the file if it is sound and of this key; remove a damaged one."""
    content = _own_content(path)
    if content is None:
        return None
    header, _, body = content.partition(b"\n")
    found = _HEADER.fullmatch(header)
    if found and int(found[1]) != FORMAT:
        return None  # another version of adcompiler reads it
    intact = found is not None and hashlib.sha256(body).hexdigest() == found[2].decode()
    parsed = _parsed(path, body) if intact else None
    if parsed is None:
        # If another process has just replaced the file, a sound one goes: it is rebuilt.
        with contextlib.suppress(OSError):
            path.unlink()
        return None
    stored_key, entry = parsed
    return entry if stored_key == key else None


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


def _own_content(path: Path) -> bytes | None:
    """Return what a regular file holds that this user alone may write; None for all others."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    flags |= getattr(os, "O_NONBLOCK", 0)  # opening a pipe would wait for its writer
    try:
        if path.is_symlink():  # where there is no O_NOFOLLOW
            return None
        with open(os.open(path, flags), "rb") as file:
            # The open file is asked, not the path, which may become another file meanwhile.
            status = os.fstat(file.fileno())
            is_sound = stat.S_ISREG(status.st_mode) and _exposure(status) is None
            return file.read() if is_sound else None
    except OSError:
        return None


def _write_whole(path: Path, content: bytes) -> None:
    """Write the file under a temporary name, readable by its owner only, and rename it."""
    import tempfile  # which reads archives

    prefix, suffix = _TEMPORARY
    descriptor, temporary = tempfile.mkstemp(prefix=prefix, suffix=suffix, dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


# ---------------------------------------------------------------------------------------------
# Trust
# ---------------------------------------------------------------------------------------------


def _problem_of_directory(directory: Path) -> str | None:
    """Say why the directory is not to be trusted. Its parents may be links, it may not."""
    status = directory.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return "is a link or a file, not a directory"
    return _exposure(status)


def _exposure(status: os.stat_result) -> str | None:
    """Say who else could have written it. Only POSIX has owners and modes to ask."""
    if os.name != "posix":
        return None
    if status.st_uid != os.getuid():
        return "belongs to another user"
    if status.st_mode & 0o022:
        return "can be written by other users"
    return None


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


def _safe_stem(stem: str) -> str:
    """Return the stem as part of a file name: `<lambda>` gives `lambda`."""
    return re.sub(r"\W+", "_", stem, flags=re.ASCII).strip("_")[:_STEM_LENGTH] or "module"


def _is_temporary(name: str) -> bool:
    prefix, suffix = _TEMPORARY
    return name.startswith(prefix) and name.endswith(suffix)
