"""Which files and directories may hold code that will run, and how one is written.

Whoever can write an entry of the cache can run code as its reader. What is read is therefore a
regular file of this user that nobody else may write, in directories of which the same holds, none
of them a link; and no directory above is one in which anybody may rename things.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

TEMPORARY = (".adcompiler_", ".tmp")
"""How the names of files begin and end that are being written."""
COMPILED = "__pycache__"
"""The directory beside entries that holds machine code of their loops."""


def problem_of_directory(directory: Path) -> str | None:
    """Say why a directory is not to be trusted. Its parents may be links, it may not."""
    status = directory.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return "is a link or a file, not a directory"
    return exposure(status)


def problem_of_parents(directory: Path) -> str | None:
    """Say whether anybody may put another directory in the place of this one.

    In a directory that is sticky, as ``/tmp`` is, only the owner renames what is there.
    """
    if os.name != "posix":
        return None
    real = Path(os.path.realpath(directory.parent))
    for parent in dict.fromkeys((*directory.parents, real, *real.parents)):
        mode = parent.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            return f"lies in {parent}, which anybody can write and which is not sticky"
    return None


def problem_of_part(directory: Path, part: Path) -> str | None:
    """Say why entries in a part of the cache, and their machine code, are not to be trusted."""
    problem = problem_of_parents(directory) or problem_of_directory(directory)
    if problem or part == directory:
        return problem
    problem = problem_of_directory(part)
    with contextlib.suppress(FileNotFoundError):
        problem = problem or problem_of_directory(part / COMPILED)
    return problem


def exposure(status: os.stat_result) -> str | None:
    """Say who else could have written a file. Only POSIX has owners and modes to ask."""
    if os.name != "posix":
        return None
    if status.st_uid != os.getuid():
        return "belongs to another user"
    if status.st_mode & 0o022:
        return "can be written by other users"
    return None


def own_content(path: Path) -> bytes | None:
    """Return what a regular file holds that this user alone may write; None for all others."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    flags |= getattr(os, "O_NONBLOCK", 0)  # opening a pipe would wait for its writer
    try:
        if path.is_symlink():  # where there is no O_NOFOLLOW
            return None
        with open(os.open(path, flags), "rb") as file:
            # The open file is asked, not the path, which may become another file meanwhile.
            status = os.fstat(file.fileno())
            is_sound = stat.S_ISREG(status.st_mode) and exposure(status) is None
            return file.read() if is_sound else None
    except OSError:
        return None


def make_directories(directory: Path) -> None:
    """Make a directory and those above it that are missing, for this user alone."""
    missing = [directory]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for one in reversed(missing):
        one.mkdir(mode=0o700, exist_ok=True)


def write_whole(path: Path, content: bytes, replacing: bool = True) -> None:
    """Write a file under a temporary name, readable by its owner only, and rename it.

    Unless ``replacing``, a file that is there already stays: FileExistsError.
    """
    import tempfile  # which reads archives

    prefix, suffix = TEMPORARY
    descriptor, temporary = tempfile.mkstemp(prefix=prefix, suffix=suffix, dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        if replacing:
            try:
                os.replace(temporary, path)
            except PermissionError:  # on Windows, where somebody reads what is there
                if own_content(path) != content:
                    raise
                os.unlink(temporary)
        else:
            os.link(temporary, path)
            os.unlink(temporary)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def is_temporary(name: str) -> bool:
    """Say whether a file is one that is being written, or was when its writer was killed."""
    prefix, suffix = TEMPORARY
    return name.startswith(prefix) and name.endswith(suffix)
