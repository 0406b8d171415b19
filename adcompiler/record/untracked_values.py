"""Watches the Python code that a call of C runs unseen: a derivative could be lost in it.

Such code is not rewritten. It loses nothing if no value that carries a derivative is in its reach:
in its variables, in what these refer to however deep, and in the globals that it names. Nor does
it where C only asks a question of it (a hash, an order, a length), and it changes nothing.
"""

from __future__ import annotations

import contextvars
import dis
import functools
import gc
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from adcompiler.record.functions import is_followed, is_rewritten
from adcompiler.record.parts import WEAK, referent_of
from adcompiler.record.tape import ESCAPED, NUMBERS, Tape
from adcompiler.runtime.records import CLASS_KIND, OF_PYTHON, is_of_python
import gast

GENERATED = ("__hash__", "__eq__", "__repr__", "__lt__", "__le__", "__gt__", "__ge__")
"""Methods that ``dataclasses`` makes from a text: they compare or hash fields."""
OF_CLASSES = frozenset({"abc", "typing", "_weakrefset", "weakref"})
"""Modules whose code hands on what it is given, or asks of which class it is."""
REVEALING = frozenset({
    "_getframe", "currentframe", "get_objects", "get_referrers", "_current_frames", "settrace",
    "setprofile",
})
"""Names by which code reaches what nobody gave it."""
READING = frozenset({
    "float", "complex", "loads", "load", "literal_eval", "fromstring", "frombuffer", "Decimal",
    "Fraction", "unpack", "fromhex", "eval", "exec",
})
"""Names by which code may make numbers of text."""
DECIDING = frozenset({
    "__hash__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__len__", "__bool__",
    "__contains__", "__length_hint__", "__instancecheck__", "__subclasscheck__",
    "__subclasshook__",
})
"""Methods of whose results C keeps truth or an integer, which carry no derivative."""
CHANGING = frozenset({
    "STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_DEREF", "STORE_SLICE", "DELETE_ATTR",
    "DELETE_SUBSCR", "DELETE_GLOBAL", "DELETE_DEREF", "YIELD_VALUE", "IMPORT_NAME",
})
"""Instructions that change what others see, or keep what they are given."""
ASKING = frozenset({
    "hash", "id", "len", "isinstance", "issubclass", "getattr", "hasattr", "callable", "repr",
    "ord", "abs", "any", "all", "min", "max", "sum", "sorted",
})
"""Builtin functions that only answer."""
ASKING_METHODS = frozenset({
    "get", "items", "keys", "values", "index", "count", "union", "intersection", "difference",
    "issubset", "issuperset", "isdisjoint", "startswith", "endswith", "lower", "upper", "strip",
    "join", "split", "copy", "__eq__", "__hash__", "__len__", "__lt__", "__contains__",
    "__getattribute__", "__ne__", "__le__", "__gt__", "__ge__", "tobytes", "all", "any",
})
"""Methods in C that only answer."""
PLAINEST: Any = frozenset({
    type(None), bool, int, str, bytes, type(NotImplemented), type(Ellipsis), types.CodeType,
    types.TracebackType, types.GetSetDescriptorType, types.MemberDescriptorType,
    types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType,
    np.ufunc, np.dtype, range,
})
"""Classes of objects in which no number is found."""
MOST = 60_000
"""So many objects are searched in one call; what refers to more counts as active."""


class Watch:
    """What a call runs unseen: ``found`` is the code that may lose a derivative, if there is one.

    ``trusted`` is the package of a function whose rule says what its own code does.
    ``known`` are objects from which no active value is reached. ``written`` are arrays that entries
    of the tape read, with what they held, as code may write into them.
    """

    def __init__(self, tape: Tape, trusted: str = "") -> None:
        self.tape, self.trusted = tape, trusted
        self.found: types.CodeType | None = None
        self.known: dict[int, Any] = {}
        self.modules: dict[int, types.ModuleType] = {}
        self.written: list[tuple[np.ndarray, np.ndarray]] = []
        self.rewritten = 0
        self.depth = 0
        self.asked: int | None = None

    def __call__(self, frame: types.FrameType, event: str, arg: gast.Name | None) -> None:
        """Take an event of the interpreter's profiler."""
        if self.found is not None:
            return
        code = frame.f_code
        if is_rewritten(code):
            self.rewritten += (event == "call") - (event == "return")
            self.known.clear()  # it may have stored anything anywhere
        elif self.rewritten or (event in ("call", "return") and self.knows(frame)):
            return
        elif event == "call":
            self.depth += 1
            if not self.allows(frame):
                self.found = code
        elif event == "return":
            self.depth -= 1
            if self.asked is not None and self.depth < self.asked:
                self.asked = None
        elif event == "c_call" and self.asked is not None and not only_answers(arg):
            self.found = code

    def knows(self, frame: types.FrameType) -> bool:
        """Say whether code only hands on what it is given, or is that of a function with a rule."""
        code = frame.f_code
        if is_followed(code) or (code.co_filename == "<string>" and code.co_name in GENERATED):
            return True
        module = str(frame.f_globals.get("__name__"))
        package = module.partition(".")[0]
        return module in OF_CLASSES or package == self.trusted or (
            package == "numpy" and code.co_name.endswith("_dispatcher"))

    def allows(self, frame: types.FrameType) -> bool:
        """Say whether code that starts loses nothing."""
        code = frame.f_code
        if self.asked is None and not self.touches(frame):
            return True
        if self.asked is None and (self.depth > 1 or code.co_name not in DECIDING):
            return False
        if changes(code) or not REVEALING.isdisjoint(code.co_names):
            return False
        if self.asked is None:
            self.asked = self.depth
        return True

    def touches(self, frame: types.FrameType) -> bool:
        """Say whether an active value is in the reach of code that starts."""
        code, space = frame.f_code, frame.f_globals
        names = code.co_names
        if not REVEALING.isdisjoint(names) or (
            self.tape.texts and not READING.isdisjoint(names)
        ):
            return True
        waiting = list(frame.f_locals.values())
        for name in names:
            if name in space:
                waiting.append(space[name])
            elif name in sys.modules:
                waiting.append(sys.modules[name])
        if self.reaches(waiting):
            return True
        checked: set[int] = set()
        while len(checked) < len(self.modules):
            for key, module in list(self.modules.items()):
                if key not in checked:
                    checked.add(key)
                    inside = vars(module)
                    if self.reaches([inside[name] for name in names if name in inside]):
                        return True
        return False

    def reaches(self, waiting: list[Any]) -> bool:
        """Say whether an active value is reached from some objects."""
        known, tape = self.known, self.tape
        while waiting:
            value = waiting.pop()
            cls: Any = type(value)
            if cls in PLAINEST or id(value) in known:
                continue
            if len(known) > MOST:
                return True
            known[id(value)] = value
            if issubclass(cls, WEAK):
                try:
                    waiting += referent_of(value)
                except Exception:  # what cannot be looked at may hold anything
                    return True
            if issubclass(cls, NUMBERS):
                if id(value) in tape.ids:
                    return True
                if cls.__flags__ & CLASS_KIND != OF_PYTHON:
                    continue
            if issubclass(cls, np.ndarray):
                if self.is_active(value):
                    return True
                waiting += value.flat if value.dtype.hasobject else ()
                if cls is np.ndarray:
                    continue
            if issubclass(cls, types.ModuleType):
                self.modules[id(value)] = value
            else:
                waiting += referred(value)
        return False

    def is_active(self, array: np.ndarray) -> bool:
        """Say whether an array is active; what entries read of it is kept."""
        if array.dtype.hasobject:
            return False
        tape = self.tape
        root = tape.root(array)
        if tape.is_marked(array) or ESCAPED.get(id(root)) is root:
            return True
        if tape.held and tape.is_held(array):
            self.written.append((array, array.copy()))
        return False


@functools.lru_cache(maxsize=4096)
def changes(code: types.CodeType) -> bool:
    """Say whether code changes what others see, as far as its own instructions tell."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in CHANGING and not (
            instruction.opname in ("STORE_DEREF", "DELETE_DEREF")
            and instruction.argval in code.co_cellvars
        ):
            return True
        if instruction.opname.startswith("INPLACE_") or (
            instruction.opname == "BINARY_OP" and instruction.argrepr.endswith("=")
        ):
            return True
    return False


def only_answers(function: object) -> bool:
    """Say whether a function in C changes nothing and keeps nothing."""
    name = getattr(function, "__name__", "")
    owner = getattr(function, "__self__", None)
    if isinstance(owner, types.ModuleType):
        return owner.__name__ == "builtins" and name in ASKING
    return name in ASKING_METHODS


def referred(value: Any) -> Iterator[Any]:
    """Iterate over what an object refers to, as code that has it may find it.

    Objects are judged by their types: ``isinstance`` would ask their property ``__class__``, which
    may run anything.
    """
    cls: Any = type(value)
    if issubclass(cls, types.FunctionType):
        yield vars(value)  # what it captured is seen when it runs
    elif issubclass(cls, type):
        for base in value.__mro__:
            if base.__flags__ & CLASS_KIND == OF_PYTHON:
                for name, part in vars(base).items():
                    kind = type(part)
                    if kind is not types.FunctionType and kind not in PLAINEST and (
                        name != "__annotations__"
                    ):
                        yield part
        if cls.__flags__ & CLASS_KIND == OF_PYTHON:
            yield cls
    elif issubclass(cls, (staticmethod, classmethod, property)) and not is_of_python(cls):
        return
    elif issubclass(cls, contextvars.ContextVar):
        yield value.get(None)
    elif issubclass(cls, types.BuiltinFunctionType):
        owner = value.__self__
        if not isinstance(owner, types.ModuleType):
            yield owner
    else:
        yield from gc.get_referents(value)
        if cls.__flags__ & CLASS_KIND == OF_PYTHON:
            yield cls


__all__ = ["DECIDING", "Watch"]
