"""A line on stderr about what takes long."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def telling_if_slow(what: str, seconds: float = 1.0) -> Iterator[None]:
    """Say on stderr what is done, once, if it takes longer than that.

    Nothing is said where ADCOMPILER_QUIET is set, not to 0.
    """
    if os.environ.get("ADCOMPILER_QUIET", "0") not in ("", "0"):
        yield
        return
    timer = threading.Timer(seconds, say, [what])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def say(what: str) -> None:
    """Write a line to stderr."""
    print(f"adcompiler: {what} ...", file=sys.stderr, flush=True)
