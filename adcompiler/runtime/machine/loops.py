"""Loops that LLVM compiles: one function of Python's for each types of arguments."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from adcompiler.runtime.machine.failures import TRANSIENT, Machine, reason_of
from adcompiler.runtime.machine.llvm import SUPPORT, engine
from adcompiler.runtime.machine.threads import Turns
from adcompiler.runtime.machine.trial import try_out

NUMBERS = {float: "float64", np.float64: "float64", int: "int64", np.int64: "int64",
           bool: "bool", np.bool_: "bool"}
"""Machine types by classes of numbers."""

refused: dict[tuple[str, Any], str] = {}
"""Why there is no LLVM IR for loops of a name, by the types of their arguments."""


class Code(NamedTuple):
    """Machine code, its symbol, and the functions of the module that it calls in Python."""

    code: bytes
    symbol: str
    hosts: tuple[tuple[str, str, bool], ...]


class Store(Protocol):
    """Keeps machine code from one process to the next."""

    def read(self, name: str) -> Code | None:
        """Return the machine code of a name, if it is there, and sound."""

    def write(self, name: str, code: Code) -> None:
        """Keep machine code under a name, if that can be done."""


class Source(NamedTuple):
    """Where loops come from: the text of their module, what writes it as LLVM IR, a store.

    ``emit`` is given the text, the name of a function and the types of its arguments.
    """

    text: str
    emit: Callable[[str, str, tuple[Any, ...]], Any]
    store: Store | None = None


compiling = Turns()
"""Held while loops are compiled, but not by what does that on a stack of its own."""


class Loops(Machine):
    """The loops of one function, compiled when they are called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function.__name__)
        self.names = function.__globals__
        self.entries: dict[Any, Callable[..., Any]] = {}

    def __call__(self, *args: Any) -> Any:
        """Run the loops."""
        key, ready = taken(args)
        run = self.entries.get(key)
        if run is None:
            with compiling:
                run = self.entries.get(key) or self.made(key)
                self.entries[key] = run
            if self.names.get(self.__name__) is self and type(run) is BUILTIN:
                self.names[self.__name__] = run
        return run(*ready)

    def made(self, key: Any) -> Callable[..., Any]:
        """Return the loops for arguments of some types, or what tells why there are none."""
        if self.source is None or key is None:
            return self.refusing(key, "they are given something else than numbers and arrays")
        try:
            return self.deep_or_not(lambda: self.compiled(key))  # type: ignore[no-any-return]
        except TRANSIENT as error:
            raise MemoryError(str(error)) from error  # in this call Python answers
        except Exception as error:
            return self.refusing(key, reason_of(error))

    def compiled(self, key: Any) -> Callable[..., Any]:
        """Return the loops for arguments of some types."""
        found = self.code(self.source, key)
        load_storage(self.source.store)
        called = [self.host(*host) for host in found.hosts]
        made: Callable[..., Any] = engine().function(
            found.code, found.symbol, self.__name__, self, called)
        return made

    def code(self, source: Source, key: Any) -> Code:
        """Return machine code: what is kept, or what LLVM makes of the text."""
        name = stored_name(self.__name__, key, source.text)
        found = source.store.read(name) if source.store is not None else None
        if found is None:
            emitted = source.emit(source.text, self.__name__, key)
            found = Code(engine().compiled(emitted.text), emitted.symbol, tuple(
                (host.called, host.forms, host.nested) for host in emitted.hosts))
            if source.store is not None:
                source.store.write(name, found)
        return found

    def host(self, called: str, forms: str, nested: bool) -> Callable[..., Any]:
        """Return what makes a call in Python for the loops."""
        names = self.names
        answer = names["answer_of"]

        def call(*args: Any) -> Any:
            return answer(names[called], forms, nested, *args)

        return call

    def refusing(self, key: Any, reason: str) -> Callable[..., Any]:
        """Return what raises NotCompiledError for arguments of some types."""
        refused[self.__name__, key] = reason

        def refuse(*args: Any) -> Any:
            raise self.error(reason)

        return refuse


BUILTIN = type(len)


def stored_name(name: str, *what: Any) -> str:
    """Return the name of what is kept of a function: all that it depends on, and the processor."""
    text = repr((name, *what, engine().state))
    return f"{name[:60]}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def load_storage(store: Store | None) -> None:
    """Load what hands out storage, from a store if it is kept there: then it has run here before.

    Raises ImportError where machine code does not run.
    """
    if engine().has_storage:
        return
    name = stored_name("storage", SUPPORT)
    kept = None if store is None else store.read(name)
    if kept is None:
        try_out()
    made = engine().add_storage(None if kept is None else kept.code)
    if made is not None and store is not None:
        store.write(name, Code(made, "", ()))


def taken(args: tuple[Any, ...]) -> tuple[tuple[Any, ...] | None, list[Any]]:
    """Return the machine types of arguments, None if one has none, and them as loops take them."""
    key: list[Any] = []
    ready: list[Any] = []
    for arg in args:
        number = NUMBERS.get(type(arg))
        if number is not None:
            if type(arg) is int and not -(2**63) <= arg < 2**63:
                raise OverflowError("an integer of more than 64 bits")
            key.append(number)
            ready.append(bool(arg) if number == "bool" else arg)
        elif isinstance(arg, np.ndarray) and arg.ndim and arg.dtype.kind in "fibc":
            one = plain(arg)
            key.append((one.dtype.name, one.ndim, one.flags.c_contiguous))
            ready.append(one)
        else:
            return None, list(args)
    return tuple(key), ready


def plain(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return an array of the machine's byte order of which elements lie where loops find them."""
    is_plain = array.flags.aligned and array.dtype.isnative and not any(
        step % array.itemsize for step in array.strides)
    if is_plain and type(array) is np.ndarray:
        return array
    found: np.ndarray[Any, Any] = np.array(array, array.dtype.newbyteorder("="), order="C")
    return found
