"""What emitted loops are compiled by: LLVM where llvmlite is installed, else nobody."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import itertools
import os
import struct
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from adcompiler.errors import NotCompiledError
from adcompiler.runtime.adjoints.indexing import give_back
from adcompiler.runtime.aliases import overlap

VARIABLE = "ADCOMPILER_NATIVE"
FLOAT64 = np.dtype(np.float64)


def runs_plain() -> bool:
    """Say whether loops are to run as the Python that they are: ADCOMPILER_NATIVE is ``plain``."""
    return os.environ.get(VARIABLE) == "plain"


def has_llvm() -> bool:
    """Say whether llvmlite is there, for a Python whose objects the loops know the layout of."""
    return (
        sys.maxsize > 2**32 and sys.implementation.name == "cpython"
        and not hasattr(sys, "getobjects") and getattr(sys, "_is_gil_enabled", lambda: True)()
        and importlib.util.find_spec("llvmlite") is not None
    )


def has_compiler() -> bool:
    """Say whether loops are compiled, by LLVM, unless they run as text."""
    return not runs_plain() and has_llvm()


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``function`` compiled at its first call, the machine code kept beside its file.

    Without a compiler it is the function itself, which gives the same, slowly.
    """
    if not has_compiler():
        ignoring: Callable[..., Any] = np.errstate(all="ignore")(function)
        return ignoring
    from adcompiler.runtime.machine.loops import Loops

    return Loops(function)


def finite_test() -> Callable[[Any], bool]:
    """Return what says that results are finite, of most that are, once loops have run.

    It is never wrong where it says so; without machine code it says nothing.
    """
    if has_compiler():
        from adcompiler.runtime.machine.llvm import engine

        if engine.cache_info().currsize and engine().has_storage:
            test: Callable[[Any], bool] = engine().finite
            return test
    return lambda found: False


in_parallel = inlined = compiled
"""What marks functions that run loops over ``prange`` in threads, and those that are compiled into
each function that calls them, however large: LLVM reads these names in the text."""
prange = range


def bits_of(x: float) -> int:
    """Return the bits of a float as an integer; compiled loops have an instruction for it."""
    (found,) = struct.unpack("<q", struct.pack("<d", x))
    return int(found)


def of_bits(bits: int) -> float:
    """Return the float that has the bits of an integer, of which the last 64 count."""
    (found,) = struct.unpack("<d", struct.pack("<Q", bits & 2**64 - 1))
    return float(found)


recursion_limit = sys.getrecursionlimit
"""Returns how deep calls may go: where Python raises RecursionError, loops leave that to it."""
SMALL_STACK, LARGE_STACK = 2**20, 2**23


def stack_room() -> int:
    """Return how many bytes of the stack loops may take for calls inside of one another.

    It is a quarter of the least stack that this thread may have.
    """
    size = threading.stack_size() or LARGE_STACK
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_STACK)
        size = min(size, 2 * SMALL_STACK if limit == resource.RLIM_INFINITY else limit)
        return min(size, LARGE_STACK) // 4
    return min(size, SMALL_STACK) // 4


def stack_address() -> int:
    """Return an address for loops that run as Python, which looks after its stack itself.

    Machine code tells where variables of the function that calls it stand.
    """
    return 0


def refusals(optional: bool = False) -> tuple[type[Exception], ...]:
    """Return what calls of loops raise where Python is to answer: memory is short, for one.

    Integers of a list may be too large for 64 bits. What loops compute raises nothing; handlers of
    signals may raise anything else. Loops that cannot be compiled raise NotCompiledError, which is
    among these where they are ``optional``.
    """
    if optional:
        return (*refusals(), NotCompiledError)
    if not has_compiler():
        # Python raises in a loop before the test behind that is reached
        return (MemoryError, ArithmeticError, ValueError, RecursionError)
    return (MemoryError, OverflowError)


@dataclass(frozen=True, slots=True)
class Arguments:
    """What loops save for a pullback: the arguments, of which they compute the rest again."""

    values: tuple[Any, ...]


def put_back(target: Any, value: Any) -> None:
    """Make an argument what loops made of it, unless they left its storage as it was."""
    if target is value or (
        isinstance(target, np.ndarray) and value.size
        and target.ctypes.data == value.ctypes.data and target.strides == value.strides
    ):
        return
    give_back(target, value)


def in_rows(items: Iterable[Any], lengths: list[int]) -> Iterator[list[Any]]:
    """Yield lists of these lengths of what stands end to end."""
    given = iter(items)
    return (list(itertools.islice(given, length)) for length in lengths)


def are_floats(*seeds: Any) -> bool:
    """Say whether tangents or cotangents are floats, or arrays of such of 64 bits."""
    for seed in seeds:
        if isinstance(seed, np.ndarray):
            if seed.dtype != FLOAT64:
                return False
        elif not (
            are_floats(*seed) if isinstance(seed, (tuple, list)) else isinstance(seed, float)
        ):
            return False
    return True


def may_overlap(written: list[Any], others: list[Any]) -> bool:
    """Say whether what is written into may hold storage of one another or of others."""
    return any(
        np.may_share_memory(one, other)
        if isinstance(one, np.ndarray) and isinstance(other, np.ndarray) else overlap(one, other)
        for i, one in enumerate(written) for other in [*written[i + 1 :], *others]
    )


CLASSES: dict[str, tuple[tuple[type, ...], Callable[[Any], Any]]] = {
    "float64": ((float,), float), "int64": ((int, np.int64), int),
    "bool": ((bool, np.bool_), bool), "float32": ((np.float32,), float),
}
"""The classes of numbers that are taken for one of a machine type, and what it is handed on as."""


def answer_of(
    function: Callable[..., Any], forms: str, nested: bool, *args: Any
) -> tuple[Any, ...]:
    """Return whether a call gives numbers and arrays of these forms, and then these, in C order.

    ``forms`` are separated by ``;``, ``nested`` tells that the call gives a tuple of such. Where it
    raises, or gives something else, what follows are numbers and arrays that nobody reads.
    Arrays share no storage with one another, or with those that the call was given.
    """
    kinds = [kind_of(form) for form in forms.split("; ")]
    try:
        found = function(*args)
        results = tuple(found) if nested else (found,)
    except Exception:  # Python raises it again
        results = ()
    if len(results) == len(kinds) and all(map(fits, results, kinds)):
        others = (*args, *results)
        return (True, *(
            handed_on(one, kind, others[: len(args) + i])
            for i, (one, kind) in enumerate(zip(results, kinds, strict=True))))
    return (False, *(
        CLASSES[dtype][1](0) if ndim is None else np.zeros((0,) * ndim, dtype)
        for dtype, ndim in kinds
    ))


@functools.lru_cache(maxsize=256)
def kind_of(form: str) -> tuple[str, int | None]:
    """Return the machine type and the number of axes that a form tells; None for a number."""
    dtype, bracket, axes = form.partition("[")
    return dtype, 1 + axes.count(",") if bracket else None


def fits(value: Any, kind: tuple[str, int | None]) -> bool:
    """Say whether a value is a number or an array of a kind."""
    dtype, ndim = kind
    if ndim is not None:
        return type(value) is np.ndarray and value.ndim == ndim and value.dtype == dtype
    if not isinstance(value, CLASSES[dtype][0]) or isinstance(value, bool) > (dtype == "bool"):
        return False
    number: Any = value
    return dtype != "int64" or -(2**63) <= number < 2**63


def handed_on(value: Any, kind: tuple[str, int | None], others: tuple[Any, ...]) -> Any:
    """Return a number of the class that loops take, or an array in C order, apart from others."""
    dtype, ndim = kind
    if ndim is None:
        return CLASSES[dtype][1](value)
    shared = any(
        isinstance(one, np.ndarray) and np.may_share_memory(value, one) for one in others)
    return np.array(value, order="C") if shared else np.require(value, requirements=["C", "W"])


class Errors:
    """What NumPy is to do where numbers overflow, looked up anew only when it was changed.

    NumPy 2 keeps it in one object of a context variable, another one for each ``np.errstate``.
    ``known`` is the last one under which numbers may overflow; ``now`` returns that of the moment.
    """

    def __init__(self) -> None:
        core = getattr(np, "_core", None)
        kept = getattr(getattr(core, "umath", None), "_extobj_contextvar", None)
        self.now: Callable[[], Any] = object if kept is None else kept.get
        self.known: Any = None

    def need_python(self) -> bool:
        """Say whether NumPy is to raise or to call something where numbers overflow."""
        found = any(how in ("raise", "call", "log") for how in np.geterr().values())
        if not found:
            self.known = self.now()
        return found


errors = Errors()
errors_now = errors.now
"""Returns what tells how NumPy treats numbers that overflow: ``errors.known``, if that is known."""
