"""Python code that the interpreter runs by itself: methods with two underscores of classes.

Where a hook knows the class it calls the method in its rewritten form, in the order of Python's own
protocol. Else the operation runs natively, watched where it might run code of a class: what runs
unseen is refused, as a derivative could be lost in it.
"""

from __future__ import annotations

import collections
import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adcompiler.record.functions import HOOKS, is_followed, rewritten
from adcompiler.record.parts import parts_of
from adcompiler.record.tape import IDLE, RECORDING, Operator, refused
from adcompiler.record.untracked_values import Watch
from adcompiler.runtime.reading import unless_it_raises
from adcompiler.runtime.records import CLASS_KIND, OF_PYTHON, is_of_python
from adcompiler.runtime.regions import Undifferentiated

PLAIN = frozenset({
    bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, slice,
    range, type(None), np.float64,
})
"""Classes of values whose operations run no code of a user."""
CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque, collections.OrderedDict)


def method_of(cls: type, name: str) -> Any:
    """Return the function in Python that a class has under a name; None if there is none.

    It is looked up anew, as classes may change.
    """
    if type(cls) is type:  # no metaclass answers in its place
        found = getattr(cls, name, None)
        return found if type(found) is types.FunctionType else None
    for base in cls.__mro__:
        found = vars(base).get(name)
        if found is not None:
            return found if isinstance(found, types.FunctionType) else None
        if name in vars(base):
            return None
    return None


def followed(value: Any, name: str) -> Callable[..., Any] | None:
    """Return the rewritten form of a method in Python of a value's class, None if there is none."""
    cls: Any = type(value)
    if cls.__flags__ & CLASS_KIND != OF_PYTHON:
        return None
    found = method_of(cls, name)
    return None if found is None else rewritten(found)


def has_operators(cls: type, bases: tuple[type, ...]) -> bool:
    """Say whether a class changes how the operators of a built-in class work, in Python."""
    for base in cls.__mro__:
        if base in bases or base.__flags__ & CLASS_KIND != OF_PYTHON:
            return False
        if any(name.startswith("__") and isinstance(value, types.FunctionType)
               and name not in HARMLESS for name, value in vars(base).items()):
            return True
    return False


HARMLESS = frozenset({
    "__new__", "__init__", "__repr__", "__str__", "__init_subclass__", "__reduce__", "__setattr__",
    "__getnewargs__", "__format__", "__copy__", "__deepcopy__",
})
"""Methods that operators do not call."""


def defined_in_python(value: Any, bases: tuple[type, ...]) -> bool:
    """Say whether a value is of a class that changes operators of a built-in one, in Python."""
    cls: Any = type(value)
    return cls not in PLAIN and is_of_python(cls) and has_operators(cls, bases)


def reflected(op: Operator, name: str, other: str, a: Any, b: Any) -> Any:
    """Return ``op(a, b)`` by the protocol of binary operators."""
    left, right = followed(a, name), followed(b, other)
    if left is None and right is None:
        if is_derived(a) or is_derived(b):
            return of_array_class(op, a, b)
        return native_operator(op, a, b, compares=name in COMPARISONS)
    first = type(b) is not type(a) and issubclass(type(b), type(a)) and right is not None
    if first and right is not None:
        made = right(b, a)
        if made is not NotImplemented:
            return made
    if left is not None:
        made = left(a, b)
        if made is not NotImplemented:
            return made
    elif not first and type(a) is not type(b):
        made = by_array(op, a, b)
        if made is not NotImplemented:
            return made
    if right is not None and not first and (left is None or type(a) is not type(b) or (
        name == other or name in COMPARISONS)):
        made = right(b, a)
        if made is not NotImplemented:
            return made
    if name == "__eq__":
        return a is b
    if name == "__ne__":
        eq = reflected(op, "__eq__", "__eq__", a, b) if left is None and right is None else None
        return a is not b if eq is None else not eq
    if isinstance(a, (list, tuple, str)) or isinstance(b, (list, tuple, str)):
        return native_operator(op, a, b)  # a sequence, repeated
    return op_error(op, a, b)


COMPARISONS = frozenset({"__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"})


def op_error(op: Operator, a: Any, b: Any) -> Any:
    """Raise the TypeError of Python for operands that do not fit."""
    raise TypeError(
        f"unsupported operand type(s) for {op.__name__}: {type(a).__name__!r} and "
        f"{type(b).__name__!r}")


def by_array(op: Operator, a: Any, b: Any) -> Any:
    """Return what an array makes of an operand of a class in Python; NotImplemented: its turn."""
    if not isinstance(a, (np.ndarray, np.generic)):
        return NotImplemented
    if is_derived(b):
        return of_array_class(op, a, b)
    if is_derived(a):
        if getattr(type(b), "__array_ufunc__", a) is None:
            return NotImplemented
        if not hasattr(type(b), "__array_ufunc__") and getattr(
                type(b), "__array_priority__", -1e9) > getattr(a, "__array_priority__", 0.0):
            return NotImplemented
        return of_array_class(op, a, b)
    ufunc = getattr(type(b), "__array_ufunc__", NotImplemented)
    if ufunc is None:
        return NotImplemented
    if ufunc is NotImplemented or isinstance(ufunc, types.WrapperDescriptorType):
        least = OF_SCALARS if isinstance(a, np.generic) else 0.0
        if getattr(type(b), "__array_priority__", OF_SCALARS) > least:
            return NotImplemented
        as_array = followed(b, "__array__")
        if as_array is not None:
            return HOOKS["call"](UFUNCS[op.__name__], a, as_array(b))
        return NotImplemented if isinstance(a, np.generic) else native_operator(op, a, b)
    if isinstance(ufunc, types.FunctionType):
        return rewritten(ufunc)(b, UFUNCS[op.__name__], "__call__", a, b)
    return native_operator(op, a, b)


def is_derived(value: Any) -> bool:
    """Say whether a value is an array of a class that derives from NumPy's."""
    cls: Any = type(value)
    return cls is not np.ndarray and issubclass(cls, np.ndarray)


def of_array_class(op: Operator, a: Any, b: Any) -> Any:
    """Return what the operator of an array of a derived class gives: its universal function."""
    if op.__name__ not in UFUNCS:
        return native_operator(op, a, b)
    return HOOKS["call"](UFUNCS[op.__name__], a, b)


OF_SCALARS = -1e6
"""The ``__array_priority__`` of NumPy's numbers, and of what has none."""
UFUNCS: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide,
    "floordiv": np.floor_divide, "mod": np.remainder, "pow": np.power, "matmul": np.matmul,
    "and_": np.bitwise_and, "or_": np.bitwise_or, "xor": np.bitwise_xor, "lt": np.less,
    "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal,
    "ne": np.not_equal, "lshift": np.left_shift, "rshift": np.right_shift,
    "neg": np.negative, "pos": np.positive, "invert": np.invert,
}

# -- native calls ----------------------------------------------------------------------------------


@unless_it_raises(True)
def has_code(value: Any, depth: int = 3) -> bool:
    """Say whether a value is, or holds, an instance whose class has methods in Python.

    What cannot be looked at has them: a proxy of what is gone, or outside of its context.
    """
    cls = type(value)
    if cls in PLAIN and cls not in CONTAINERS:
        return False
    if isinstance(value, (np.ndarray, np.generic)) and cls.__flags__ & CLASS_KIND != OF_PYTHON:
        return isinstance(value, np.ndarray) and value.dtype.hasobject and depth > 0 and any(
            has_code(item, depth - 1) for item in value.flat)
    if (isinstance(value, CONTAINERS) and cls in CONTAINERS) or (
        isinstance(value, BaseException) and cls.__flags__ & CLASS_KIND != OF_PYTHON
    ):
        return depth > 0 and any(has_code(item, depth - 1) for item in parts_of(value))
    if isinstance(value, slice):
        return any(map(has_code, (value.start, value.stop, value.step)))
    if isinstance(value, (types.FunctionType, types.MethodType)):
        code = getattr(value, "__code__", None)
        return code is None or not is_followed(code)
    if isinstance(value, (type, types.ModuleType, types.BuiltinFunctionType)):
        return False
    return cls.__flags__ & CLASS_KIND == OF_PYTHON


def native_operator(op: Callable[..., Any], *args: Any, compares: bool = False) -> Any:
    """Do an operation that is written in C, of containers; others must not carry a derivative."""
    if not compares and not all(isinstance(arg, (*CONTAINERS, int)) for arg in args) and any(
        map(RECORDING.tape.holds, args)
    ):
        given = " and ".join(f"a `{type(arg).__name__}`" for arg in args)
        raise refused(f"`{op.__name__}` of {given}, which carry a derivative",
                      "use numbers or arrays", "recording")
    return natively(op, *args)


def natively(function: Callable[..., Any], /, *args: object, **kwargs: object) -> Any:
    """Call what is written in C as it is, watched where it may run code in Python."""
    if type(function) in SIMPLE and not is_given_code(function, *args, *kwargs.values()):
        return function(*args, **kwargs)
    return watched(function, args, kwargs)


def by_its_rule(function: Callable[..., Any], /, *args: object, **kwargs: object) -> Any:
    """Call a function of which a rule says what its own code does, in Python or not."""
    if not is_given_code(function, *args, *kwargs.values()):
        return function(*args, **kwargs)
    return watched(function, args, kwargs, package_of(function))


def is_given_code(function: Callable[..., Any], *given: object) -> bool:
    """Say whether a function may run code in Python of what it is given, or is a method of."""
    owner = getattr(function, "__self__", None)
    return any(map(has_code, given)) or (
        isinstance(owner, (list, tuple, collections.deque, BaseException)) and has_code(owner))


@unless_it_raises("")
def package_of(function: Callable[..., Any]) -> str:
    """Return the name of the package of a function; foreign objects may raise anything."""
    return str(getattr(function, "__module__", None) or "").partition(".")[0]


SIMPLE = frozenset({
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.MethodWrapperType, types.ClassMethodDescriptorType, type, np.ufunc,
    type(np.concatenate), types.FunctionType, types.MethodType, functools.partial,
})
"""Classes of functions that call nothing in Python but what they are given."""


def watched(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object],
    trusted: str = "",
) -> Any:
    """Call a function, and refuse what it runs unseen that may lose a derivative.

    Code of the package that is ``trusted`` is what a rule knows.
    """
    tape, before = RECORDING.tape, sys.getprofile()
    if tape is IDLE:
        return function(*args, **kwargs)
    if before is not None and not isinstance(before, Watch):
        raise refused(
            "a call of what is written in C with objects whose classes have methods in Python, "
            "while a profiler takes the place from which such calls are watched",
            "run it without the profiler", "recording")
    watch = Watch(tape, trusted)
    sys.setprofile(watch)
    try:
        result = function(*args, **kwargs)
    finally:
        sys.setprofile(before)
        if watch.found is not None:
            raise refused(
                f"`{watch.found.co_qualname}`, which {name_of(function)} calls unseen",
                "call it where it can be seen, or use a list of numbers", "recording")
    for array, old in watch.written:
        if array.tobytes() != old.tobytes():
            HOOKS["log"](array, old)
    return result


def name_of(function: Callable[..., Any]) -> str:
    """Return what messages call a function."""
    return f"`{getattr(function, '__qualname__', type(function).__name__)}`"


def managed(manager: Any) -> Any:
    """Return a context manager whose methods in Python are rewritten."""
    if isinstance(manager, Undifferentiated):
        return Paused()
    if type(manager) is np.errstate:
        return manager
    enter, leave = followed(manager, "__enter__"), followed(manager, "__exit__")
    return manager if enter is None and leave is None else Managed(manager, enter, leave)


class Managed:
    """Stands for a context manager in a ``with``."""

    __slots__ = ("enter", "leave", "manager")

    def __init__(
        self, manager: Any, enter: Callable[..., Any] | None, leave: Callable[..., Any] | None
    ) -> None:
        self.manager, self.enter, self.leave = manager, enter, leave

    def __enter__(self) -> Any:
        if self.enter is None:
            return type(self.manager).__enter__(self.manager)
        return self.enter(self.manager)

    def __exit__(self, *given: Any) -> Any:
        if self.leave is None:
            return type(self.manager).__exit__(self.manager, *given)
        return self.leave(self.manager, *given)


class Paused:
    """The block of ``with no_grad()``: values computed in it are constants, also after it."""

    __slots__ = ("active", "ids", "tape")

    def __enter__(self) -> None:
        self.tape = RECORDING.tape
        self.ids, self.active = self.tape.ids, self.tape.active
        self.tape.ids, self.tape.active = {}, {}

    def __exit__(self, *given: Any) -> None:
        self.tape.ids, self.tape.active = self.ids, self.active


def items_of(value: Any) -> Iterator[Any]:
    """Iterate over an instance by the methods in Python of its class."""
    start = followed(value, "__iter__")
    if start is not None:
        iterator = start(value)
        step = followed(iterator, "__next__")
        if step is None:
            yield from HOOKS["iterate"](iterator)
            return
        while True:
            try:
                item = step(iterator)
            except StopIteration:
                return
            yield item
    get = followed(value, "__getitem__")
    index = 0
    while get is not None:
        try:
            item = get(value, index)
        except IndexError:
            return
        yield item
        index += 1
