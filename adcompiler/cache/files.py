"""The state of the source files of a package, found without reading them."""

from __future__ import annotations

import os
from contextlib import suppress


def source_states(root: str | os.PathLike[str]) -> list[str]:
    """Return a row for each Python file below a directory: where it is there, and its state."""
    rows: list[str] = []
    waiting = [(root, "")]
    while waiting:
        folder, place = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(".py"):
                    with suppress(FileNotFoundError):  # a link to nothing, as some editors make
                        rows.append(f"{place}{name} {state(entry.stat())}")
                elif name != "__pycache__" and entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, f"{place}{name}/"))
    return sorted(rows)


def state(status: os.stat_result) -> str:
    """Return the size of a file, and when it came to be there.

    Installers may give files any time of writing, but not that of the last change of the entry.
    """
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
