"""Threads that help with loops of which the iterations are independent.

They are made when the first such loop runs, anew in a forked process, and wait for jobs. A job is a
piece of memory of the machine code that hands it out (``support``): whoever takes part takes
blocks until none is left, without Python's global lock. Who hands it out does so, too, and ends
when all have: a thread that comes too late, or not at all, changes nothing.
"""

from __future__ import annotations

import ctypes
import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress

VARIABLE = "ADCOMPILER_THREADS"
"""How many threads run such loops; not set, as many as there are processors for this process."""


class Turns:
    """A lock that is a new one in a forked process, where whoever held it may not be."""

    def __init__(self) -> None:
        self.renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        """Take a lock that nobody holds."""
        self.lock = threading.RLock()

    def __enter__(self) -> None:
        self.lock.acquire()

    def __exit__(self, *raised: object) -> None:
        self.lock.release()


class Threads(Turns):
    """The threads of a process."""

    help_with: Callable[[int], None]

    def renew(self) -> None:
        """Begin without threads."""
        super().renew()
        self.jobs: queue.SimpleQueue[bytearray] = queue.SimpleQueue()
        self.count = 0

    def submit(self, job: bytearray, blocks: int) -> None:
        """Ask threads for help with a job of so many blocks; without any it is done all the same.

        Where the process ends, or has too many threads, no more are made.
        """
        helpers = min(blocks, most_threads()) - 1
        with self, suppress(RuntimeError, MemoryError):
            while self.count < helpers:
                threading.Thread(target=self.serve, args=(self.jobs,), daemon=True).start()
                self.count += 1
            helpers = min(helpers, self.count)
        for _ in range(helpers):
            self.jobs.put(job)

    def serve(self, jobs: queue.SimpleQueue[bytearray]) -> None:
        """Help with one job after the other."""
        while True:
            job = jobs.get()
            memory = ctypes.c_char.from_buffer(job)
            self.help_with(ctypes.addressof(memory))
            del memory, job


def most_threads() -> int:
    """Return how many threads run a loop: as ADCOMPILER_THREADS says, or one for each processor."""
    with suppress(ValueError):
        return max(1, int(os.environ.get(VARIABLE, "")))
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
