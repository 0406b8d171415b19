"""The checksum of an entry, which only who can read the cache's secret can compute.

A plain checksum tells damage from what was written; it does not tell what the compiler wrote from
what anything else did. Each cache directory has a file of random bytes that its owner alone may
read, and checksums are keyed with them: an entry that was made, edited, or brought from another
cache by anybody else is as good as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from adcompiler.cache.trust import own_content, write_whole

SECRET = ".adcompiler_secret"
BYTES = 32


def secret_of(directory: Path) -> bytes | None:
    """Return the secret of a cache directory, None if it has none yet, or one that is damaged."""
    found = own_content(directory / SECRET)
    return found if found is not None and len(found) == BYTES else None


def secret_for(directory: Path) -> bytes:
    """Return the secret of a cache directory, which gets one if need be.

    A second process that makes one at the same time takes that of the first. With a new secret no
    older entry counts.
    """
    found = secret_of(directory)
    if found is not None:
        return found
    path, made = directory / SECRET, os.urandom(BYTES)
    if path.is_symlink() or path.exists():
        write_whole(path, made)  # damaged, or not ours alone
    else:
        try:
            write_whole(path, made, replacing=False)
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            write_whole(path, made)
    return secret_of(directory) or made


def keyed(secret: bytes, body: bytes) -> str:
    """Return the keyed checksum of a file's body."""
    return hashlib.blake2b(body, key=secret, digest_size=32).hexdigest()
