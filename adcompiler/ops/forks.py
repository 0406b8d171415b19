"""Locks and ``os.fork``: a child must not wait for a thread that only its parent has."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

PATIENCE = 30.0
"""Seconds for which a fork waits for what another thread is doing."""


def across_forks(locks: Callable[[], Sequence[Any]]) -> None:
    """Let forks wait for the holders of ``locks``, in this order, so that children find them free.

    What they guard is whole then. A holder that takes longer than ``PATIENCE`` is not waited for.
    """
    held: dict[int, list[Any]] = {}

    def before() -> None:
        held[threading.get_ident()] = [lock for lock in locks() if lock.acquire(timeout=PATIENCE)]

    def after() -> None:
        for lock in reversed(held.pop(threading.get_ident(), [])):
            lock.release()

    def in_child() -> None:
        after()
        for lock in locks():
            reinitialise = getattr(lock, "_at_fork_reinit", None)
            if reinitialise is not None:
                reinitialise()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=before, after_in_parent=after, after_in_child=in_child)
