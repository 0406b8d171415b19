"""Storage while specialising: writes become new values, references follow them.

The specialised code is functional: ``x[i] = v`` makes a new value of x, an ``Update``. What Python
means by it, that every name and container which refers to the storage of x sees the write, is kept
here. A *root* is the variable that a piece of storage was first known by; a reference leads to a
part of it, by ``Step`` after ``Step``. The heap holds the latest value of every root that has been
written. Reading a variable gives its latest value: itself if nothing was written since, otherwise
its part of the root's latest value, read anew.

Where two roots may share storage in a way that is not known exactly, they *may alias*: a write to
one *invalidates* the other, and reading that is refused; but if emitted code gives only slots of a
container other objects, only what may be that container or hold it. A value is *exclusive* if no
other root can refer to its storage and the caller has none of it; writes to other values copy
first, so that the writes of emitted code never reach what somebody else holds.

What is known stands in ``aliases`` (which roots may share storage, and who owns it), ``state`` (at
one point of the code), ``history`` (the values of a root) and ``pending`` (iterators). On it work
``changes`` (what a write invalidates), ``reading``, ``alternatives`` (one of two objects),
``writing``, ``joining`` and ``outside`` (what was there before the code runs).
"""

from __future__ import annotations

from adcompiler.infer.storage.aliases import Storage
from adcompiler.infer.storage.phis import Alternatives
from adcompiler.infer.storage.kill_sets import Changes
from adcompiler.infer.storage.emitting import Emitter
from adcompiler.infer.storage.joining import Joining
from adcompiler.infer.storage.outside import Outside
from adcompiler.infer.storage.pending import Pending
from adcompiler.infer.storage.reading import Reading
from adcompiler.infer.storage.writing import Writing


class Heap(Storage):
    """The storage of one function while it is specialised, with all that is done with it."""

    def __init__(self, s: Emitter) -> None:
        super().__init__(s)
        self.pending = Pending(self)
        self.changes = Changes(self, self.pending)
        self.reading = Reading(self, self.changes, self.pending)
        self.alternatives = Alternatives(self, self.reading)
        self.writing = Writing(self, self.changes, self.reading)
        self.joining = Joining(self, self.changes, self.pending)
        self.outside = Outside(self, self.reading)
