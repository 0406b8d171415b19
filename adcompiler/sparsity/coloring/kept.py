"""Colorings of patterns on disk, so that another process does not color again.

A coloring is a function of the pattern and of what is asked for alone. The key of an entry is a
digest of all nonzeros, so that no coloring is taken for another pattern, whatever function it is
of; the store checks that this user wrote it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib
from collections.abc import Callable, Sequence

import numpy as np

from adcompiler.cache.eviction import Limits
from adcompiler.cache.keys import compiler_digest, digest
from adcompiler.cache.store import Entry, Store, default_directory
from adcompiler.plot import Pattern
from adcompiler.sparsity.coloring.coloring import KINDS, Coloring, as_pattern

def kept_coloring(pattern: Pattern, words: Sequence[str], make: Callable[[], Coloring]) -> Coloring:
    """Return the coloring of a pattern that ``make`` finds, or an earlier process has found.

    ``words`` say how it is colored. Reading one takes 0.2 ms, which few colorings take.
    """
    csr = as_pattern(pattern)
    store = Store(default_directory())
    key = digest(
        "coloring", compiler_digest(), *words, csr.shape,
        digest_of(csr.indptr), digest_of(csr.indices))
    for entry in store.candidates(key):
        found = coloring_of(entry, csr)
        if found is not None:
            return found
        store.discard(entry)
    made = make()
    columns, rows = text_of(made.columns), text_of(made.rows)
    if has_room(columns, rows):
        store.write(key, "coloring", "", {"kind": made.kind, "columns": columns, "rows": rows})
    return made


def has_room(*texts: str) -> bool:
    """Say whether texts fit into a directory of the cache: larger ones leave nothing beside them.
    """
    return sum(map(len, texts)) <= Limits.from_environment().room


def coloring_of(entry: Entry, pattern: Pattern) -> Coloring | None:
    """Return the coloring of a pattern that an entry holds, None if it holds none."""
    kind = entry.manifest.get("kind")
    try:
        columns, rows = (numbers_of(entry.manifest[name]) for name in ("columns", "rows"))
    except (KeyError, ValueError, TypeError, binascii.Error, zlib.error):
        return None
    if kind not in KINDS or (rows.size, columns.size) != pattern.shape:
        return None
    return Coloring(kind, pattern, columns, rows)


def digest_of(indices: np.ndarray) -> str:
    """Return a digest of integers, whatever their dtype."""
    return hashlib.sha256(indices.astype("<i8").tobytes()).hexdigest()


def text_of(numbers: np.ndarray) -> str:
    """Return integers of 32 bits as text."""
    return base64.b64encode(zlib.compress(numbers.astype("<i4").tobytes(), 1)).decode()


def numbers_of(text: str) -> np.ndarray:
    """Return the integers that a text holds."""
    data = zlib.decompress(base64.b64decode(text, validate=True))
    return np.frombuffer(data, "<i4").astype(np.int64)
