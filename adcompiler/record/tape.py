"""The tape of a run: what was done with active values, in order.

Numbers are active by identity: each result of an operation is an object of its own, which the tape
keeps. Arrays are active by memory: what is known of an allocation holds for every view of it.
An entry's place in the list is its slot, which stands for the number that it made.
"""

from __future__ import annotations

import array
import os
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any, Protocol

import numpy as np

from adcompiler.errors import ADError, Finding, SourceNotFoundError, UnsupportedError
from adcompiler.record.functions import TELL_REFUSED, is_rewritten
from adcompiler.record.parts import WEAK, parts_of
from adcompiler.runtime.kept_bytes import free_bytes
from adcompiler.support.structs import dataclass

NUMBERS = (float, complex, np.inexact)
"""Classes of numbers that may carry a derivative."""
Number = float | complex | np.number[Any] | np.bool_
Numeric = Number | np.ndarray
"""What operators of numbers take; containers may hold such."""
Index = int | slice | EllipsisType | None | np.ndarray | Sequence[Any]
"""What an array is subscripted by; a sequence is a tuple, or a list of positions."""
Operation = Callable[..., Any] | tuple[Any, ...]
"""The function of real numbers that an entry was, with the arguments that its slopes forget."""

Step = tuple[float, int | None, float, int | None, float, Operation]
"""An operation of one or two real numbers, as ``Tape`` says."""


class Operator(Protocol):
    """A function of operands that is called what the operator is, as those of ``operator``."""

    @property
    def __name__(self) -> str: ...

    def __call__(self, *operands: Any, **named: Any) -> Any: ...


def bounds(array: np.ndarray) -> tuple[int, int]:
    """Return the lowest address of an array's elements, and the one behind the highest."""
    low = high = array.__array_interface__["data"][0]
    for length, stride in zip(array.shape, array.strides, strict=True):
        reach = (length - 1) * stride
        low, high = (low + reach, high) if reach < 0 else (low, high + reach)
    return low, high + array.itemsize


def overlaps(array: np.ndarray) -> bool:
    """Say whether elements of an array may share memory with one another."""
    steps = sorted(
        (abs(stride), length)
        for stride, length in zip(array.strides, array.shape, strict=True) if length > 1)
    reach = array.itemsize
    for stride, length in steps:
        if stride < reach:
            return True
        reach = stride * (length - 1) + reach
    return False


def beside(memory: np.ndarray, root: np.ndarray, array: np.ndarray) -> np.ndarray:
    """Return the view of a byte for each element of an array, of bytes beside those of its root."""
    if not array.size:
        return np.zeros(array.shape, np.uint8)
    first = array.__array_interface__["data"][0] - bounds(root)[0]
    return np.ndarray(array.shape, np.uint8, memory.data, first, array.strides)


@dataclass(eq=False, slots=True)
class Group:
    """Arrays that lie in one memory, from address ``low`` up to ``high``, each an argument.

    Once one of them is ``written``, they are one array.
    """

    members: list[np.ndarray]
    low: int
    high: int
    written: bool = False

    @property
    def is_one(self) -> bool:
        """Whether all are laid out alike."""
        return len({(bounds(m), m.shape, m.strides, m.dtype) for m in self.members}) == 1


class Recording(threading.local):
    """What is recorded in this thread; ``tape`` is one without active values while nothing is."""

    def __init__(self) -> None:
        self.tape = IDLE


class Tape:
    """What one run did.

    ``ids`` has the slots of active numbers by identity. ``entries`` are tuples
    ``(result, slot, slope, slot, slope, operation)`` for operations of one or two real numbers,
    ``(number,)`` for what is differentiated, and ``Entry``. ``active`` are the allocations that
    hold active values, and ``held`` those whose content some entry reads, by identity.
    ``keeps_all`` says that checkpoints are followed as other calls are.
    """

    def __init__(self) -> None:
        self.ids: dict[int, int] = {}
        self.entries: list[Any] = []
        self.active: dict[int, np.ndarray] = {}
        self.held: dict[int, np.ndarray] = {}
        self.groups: dict[int, Group] = {}
        self.left: dict[int, np.ndarray] = {}
        self.texts = False
        self.keeps_all = False
        self.refusal: ADError | None = None
        self.bytes = 0
        self.memos: dict[Any, Any] = {}
        self.buffers: dict[int, tuple[array.array[float], np.ndarray]] = {}

    # -- numbers -------------------------------------------------------------------------------

    def start(self, number: Number) -> int:
        """Enter a number that is differentiated, an object of its own; return its slot."""
        slot = len(self.entries)
        self.ids[id(number)] = slot
        self.entries.append((number,))
        return slot

    def slot(self, value: object) -> int | None:
        """Return the slot of a number, None if it is not active."""
        found = self.ids.get(id(value))
        if found is not None and found < 0:
            refuse_escaped()
        return found

    # -- arrays --------------------------------------------------------------------------------

    def root(self, array: np.ndarray) -> np.ndarray:
        """Return the array that owns the memory of a view."""
        base = array.base
        while base is not None:
            if not isinstance(base, np.ndarray):
                return self.around(array)
            array, base = base, base.base
        return array

    def around(self, array: np.ndarray) -> np.ndarray:
        """Return the known array in whose memory one lies that hides its base; or itself."""
        if id(array) in self.groups:
            return array
        low, high = bounds(array) if array.size else (0, 0)
        for known in (self.active, self.held):
            for root in known.values():
                start, stop = bounds(root)
                if start <= low and high <= stop and low < high:
                    return root
        return array

    def is_active_array(self, array: np.ndarray) -> bool:
        """Say whether an array that is read shares memory with active values.

        Raises UnsupportedError where it holds values that an earlier recording has left there.
        """
        if ESCAPED.data:  # type: ignore[attr-defined] # as its length is counted in Python
            self.check_read(array)
        return self.is_marked(array)

    def is_marked(self, array: np.ndarray) -> bool:
        """Say whether an array shares memory with active values, whatever an earlier run left."""
        if not self.active:
            return False
        return id(array if array.base is None else self.root(array)) in self.active

    # -- what an earlier recording has left ----------------------------------------------------

    def check_read(self, array: np.ndarray, index: Index = ...) -> None:
        """Refuse to read elements that an earlier recording has written, and this one has not."""
        root = self.root(array)
        if id(root) not in ESCAPED.data or (  # type: ignore[attr-defined] # as it is Python's
            ESCAPED.get(id(root)) is not root or RECORDING.tape is not self
        ):
            return
        left = self.left.get(id(root))
        if left is None or beside(left, root, array)[index].any():
            refuse_escaped()

    def note_written(self, array: np.ndarray, index: Index) -> None:
        """Note that elements were written, in memory where an earlier recording left values."""
        root = self.root(array)
        if id(root) in self.groups:
            self.groups[id(root)].written = True
        if ESCAPED.get(id(root)) is root:
            if id(root) not in self.left:
                low, high = bounds(root)
                self.left[id(root)] = np.ones(high - low, np.uint8)
            beside(self.left[id(root)], root, array)[index] = 0

    def activate(self, array: np.ndarray) -> None:
        """Note that an array holds active values."""
        root = array if array.base is None else self.root(array)
        group = self.groups.get(id(root))
        for one in (root,) if group is None else group.members:
            self.hold(one)
            self.active[id(one)] = one

    def start_array(self, array: np.ndarray) -> None:
        """Enter an array that is differentiated, and those that lie where it does."""
        root = self.root(array)
        group = self.groups.get(id(root))
        for one in (root,) if group is None else group.members:
            self.active[id(one)] = self.held[id(one)] = one

    def hold(self, array: np.ndarray) -> None:
        """Note that an entry reads an array."""
        root = array if array.base is None else self.root(array)
        if id(root) not in self.held:
            self.count(root.nbytes)
            self.held[id(root)] = root

    def count(self, size: int) -> None:
        """Count bytes that are held; refuse more than there may be."""
        self.bytes += size
        if self.bytes > SMALL and self.bytes + OF_ENTRY * len(self.entries) > most_bytes():
            raise refused(
                f"a recording that holds more than {most_bytes() >> 20} MiB, which ADCOMPILER_TAPE "
                "allows", "write the loop so that it compiles, or use checkpoint_loop", "budget")

    def is_held(self, array: np.ndarray) -> bool:
        """Say whether some entry reads the memory of an array."""
        root = self.root(array)
        group = self.groups.get(id(root))
        if group is not None:
            return any(id(member) in self.held for member in group.members)
        return id(root) in self.held

    # -- anything ------------------------------------------------------------------------------

    def is_active(self, value: Any) -> bool:
        """Say whether a number or array is active; of containers see ``holds``."""
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject:
                return any(self.is_active(item) for item in value.flat)
            return self.is_active_array(value)
        return id(value) in self.ids and self.slot(value) is not None

    def holds(self, value: Any) -> bool:
        """Say whether an active value is found in anything, however deep.

        Foreign objects may raise anything when they are looked at: they may hold one.
        """
        try:
            return self.found_in(value, None)
        except UnsupportedError:  # a value of an earlier recording
            raise
        except Exception:
            return True

    def found_in(self, value: object, seen: set[int] | None) -> bool:
        """As ``holds``; ``seen`` are the objects that were searched."""
        if issubclass(type(value), WEAK):
            return any(self.found_in(part, seen) for part in parts_of(value))
        if value is None or isinstance(value, (bool, int, str, bytes)):
            return False
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            return self.is_marked(value) or self.root(value) is ESCAPED.get(id(self.root(value)))
        if isinstance(value, (*NUMBERS, np.ndarray)):
            return self.is_active(value)
        if isinstance(value, array.array):
            view = view_of(value)
            return view is not None and self.is_marked(view)
        seen = set() if seen is None else seen
        if id(value) in seen or len(seen) > MOST_SEARCHED:
            return len(seen) > MOST_SEARCHED
        seen.add(id(value))
        return any(self.found_in(part, seen) for part in parts_of(value))


class Listed(list[Any]):
    """The entries of a tape, with the lines of the user's code that made them."""

    def __init__(self) -> None:
        super().__init__()
        self.places: list[tuple[str, int]] = []

    def append(self, entry: Any) -> None:
        """Enter an operation."""
        super().append(entry)
        self.places.append(place())


SMALL = 1 << 26
"""So many bytes are always allowed."""
OF_ENTRY = 200
"""About as many bytes takes an operation of numbers."""


def most_bytes() -> int:
    """Return how many bytes a recording may hold: ADCOMPILER_TAPE in MiB, or half of what is free.
    """
    given = os.environ.get("ADCOMPILER_TAPE", "")
    if given.isdigit():
        return int(given) << 20
    return free_bytes() // 2


MOST_SEARCHED = 20_000
"""So many objects are searched for active values; what holds more counts as active."""


ESCAPED: weakref.WeakValueDictionary[int, np.ndarray] = weakref.WeakValueDictionary()
"""Arrays with active values that outlived their recording, by identity."""
LEFT: dict[int, Any] = {}
"""Numbers of that kind."""
LEFT_BUFFERS: weakref.WeakValueDictionary[int, array.array[float]] = weakref.WeakValueDictionary()
"""Arrays of the module ``array`` of that kind."""
OWN_REFERENCES = 3
"""As many references has a number of which nobody else knows: the table, a variable, the call."""


def purge() -> None:
    """Forget numbers that nobody refers to any more; other threads may record meanwhile."""
    for key in list(LEFT):
        value = LEFT.get(key)
        if sys.getrefcount(value) <= OWN_REFERENCES:
            LEFT.pop(key, None)


def references(values: list[object]) -> list[int]:
    """Return how many references each of some objects has."""
    return list(map(sys.getrefcount, values))


IN_A_LIST = references([object()])[0]
"""As many has an object that only the list refers to."""


def leave(tape: Tape, returned: set[int]) -> None:
    """Note what outlives a recording, but what it ``returned``; the tape is of no more use."""
    results: list[Any] = []
    for entry in tape.entries:
        if type(entry) is tuple:
            results.append(entry[0])
        else:
            results += entry.made()
    roots = list(tape.active.values())
    tape.entries.clear()
    tape.ids.clear()
    tape.active.clear()
    tape.held.clear()
    tape.buffers.clear()
    entry = None  # refers to the last
    for value, count in zip(results, references(results), strict=True):
        if count > IN_A_LIST and isinstance(value, NUMBERS) and id(value) not in returned:
            LEFT[id(value)] = value
    while roots:
        root = roots.pop()
        if sys.getrefcount(root) > 2 and id(root) not in returned:
            ESCAPED[id(root)] = root


def stay(tape: Tape) -> None:
    """Note all that a recording made: its tape stays, and refers to all of it."""
    for entry in tape.entries:
        for value in entry[:1] if type(entry) is tuple else entry.made():
            if isinstance(value, NUMBERS):
                LEFT[id(value)] = value
    ESCAPED.update(tape.active)


def view_of(buffer: array.array[float], makes: bool = False) -> np.ndarray | None:
    """Return the view of an array in which active values were stored; ``makes`` makes one."""
    buffers = RECORDING.tape.buffers
    found = buffers.get(id(buffer))
    if found is None and LEFT_BUFFERS.get(id(buffer)) is buffer:
        refuse_escaped()
    if found is None and makes and buffer.typecode in "fd" and len(buffer):
        found = buffers[id(buffer)] = buffer, np.frombuffer(buffer, buffer.typecode)
    return None if found is None else found[1]


def refuse_escaped() -> bool:
    """Raise UnsupportedError for a value that a former recording has left somewhere."""
    raise refused(
        "a value that an earlier call computed from what is differentiated, and that was kept "
        "outside of the function: it would count as a constant",
        "compute it anew in each call, or store a copy made by `stop_gradient`", "memos")


def place() -> tuple[str, int]:
    """Return the file and line of the user's code that runs."""
    frame = sys._getframe(1)
    while frame is not None:
        if is_rewritten(frame.f_code):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return "<unknown>", 0


def users_module() -> str:
    """Return the name of the module whose rewritten code runs."""
    frame = sys._getframe(1)
    while not is_rewritten(frame.f_code) and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", "__main__"))


def refused(
    problem: str, hint: str, anchor: str = "recording", at: tuple[str, int] | None = None
) -> UnsupportedError:
    """Return the refusal of what runs now, or of what stands ``at`` a file and line."""
    import linecache

    file, line = at or place()
    text = linecache.getline(file, line).rstrip("\n")
    column = len(text) - len(text.lstrip())
    error = UnsupportedError([Finding(
        file, line, column, text, problem, hint, anchor, max(len(text.strip()), 1))])
    note_refusal(error)
    return error


def refused_text(what: str) -> UnsupportedError:
    """Return the refusal of numbers that are read from text."""
    return refused(f"{what} after a value that carries a derivative was written as text",
                   "keep the number itself", "disguised-numbers")


def note_refusal(error: ADError) -> None:
    """Note a refusal: it is raised at the end of the recording if the program catches it."""
    tape = RECORDING.tape
    if tape is not IDLE and tape.refusal is None and not isinstance(error, SourceNotFoundError):
        tape.refusal = error


IDLE = Tape()
"""The tape of threads that record nothing."""
RECORDING = Recording()
TELL_REFUSED.append(note_refusal)

__all__ = [
    "IDLE",
    "NUMBERS",
    "RECORDING",
    "ADError",
    "Tape",
    "leave",
    "place",
    "purge",
    "refused",
    "refused_text",
]
