"""Machine code of the loops of an entry, kept beside it; what is damaged counts as missing.

The file has a checksum that is keyed with the cache's secret, as entries have, and that covers its
name: code of another function, or of another processor, is not taken for this one's.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from adcompiler.cache.authentic import keyed, secret_for, secret_of
from adcompiler.cache.trust import COMPILED, make_directories, own_content, write_whole
from adcompiler.runtime.machine.loops import Code

SUFFIX = ".o"


class Objects:
    """The machine code of one entry."""

    def __init__(self, entry: Path) -> None:
        self.entry = entry
        self.directory = entry.parent.parent

    def path(self, name: str) -> Path:
        """Return where machine code of a name stands."""
        stem = f"adcompiler_loops_{self.entry.stem}"
        return self.entry.parent / COMPILED / f"{stem}.{name}{SUFFIX}"

    def read(self, name: str) -> Code | None:
        """Return the machine code of a name, None if there is none, or none that is sound."""
        path = self.path(name)
        content, secret = own_content(path), secret_of(self.directory)
        if content is None or secret is None:
            return None
        checksum, _, body = content.partition(b"\n")
        if checksum.decode("latin1") != keyed(secret, path.name.encode() + b"\n" + body):
            return None
        head, _, code = body.partition(b"\n")
        symbol, hosts = json.loads(head)
        return Code(code, symbol, tuple(map(tuple, hosts)))

    def write(self, name: str, code: Code) -> None:
        """Keep machine code, if the directory can be written."""
        path = self.path(name)
        with contextlib.suppress(OSError):
            body = json.dumps([code.symbol, code.hosts]).encode() + b"\n" + code.code
            checksum = keyed(secret_for(self.directory), path.name.encode() + b"\n" + body)
            make_directories(path.parent)
            write_whole(path, checksum.encode() + b"\n" + body)
