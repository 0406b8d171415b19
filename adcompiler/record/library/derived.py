"""Arrays of classes that derive from NumPy's: the numbers are those of a plain view.

What is computed is computed, and recorded, with plain views. What NumPy would make an array of the
class becomes one by the same steps: a view of the result, on which ``__array_finalize__`` or
``__array_wrap__`` of the class run in their rewritten forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from adcompiler.record.entries import mapped
from adcompiler.record.functions import HOOKS
from adcompiler.record.protocols import is_derived, method_of, natively
from adcompiler.record.tape import refused
from adcompiler.runtime.records import CLASS_KIND, OF_PYTHON

class Bare(np.ndarray):
    """The class of views that become those of another class, which tells nobody."""


class BareWithoutDict(np.ndarray):
    """The same for classes whose instances have no ``__dict__``."""

    __slots__ = ()


class Probe(np.ndarray):
    """The class of arrays that find out which results NumPy gives their class."""

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return np.asarray(array).view(WrappedProbe)


class WrappedProbe(Probe):
    """The class of results that NumPy asks their class to wrap."""


def plain(value: Any) -> Any:
    """Return the plain view of an array of a derived class; other values as they are."""
    if is_derived(value):
        return np.ndarray.view(value, np.ndarray)
    return value


def plain_in(value: Any) -> Any:
    """Return a value with plain views in it, also in lists and tuples."""
    if is_derived(value):
        return np.ndarray.view(value, np.ndarray)
    if type(value) in (list, tuple) and any(map(holds_derived, value)):
        return type(value)(map(plain_in, value))
    return value


def holds_derived(value: Any) -> bool:
    """Say whether a value is, or a list or tuple holds, an array of a derived class."""
    if type(value) in (list, tuple):
        return any(map(holds_derived, value))
    return is_derived(value)


def derived(array: np.ndarray, cls: type, obj: Any) -> Any:
    """Return a plain array as one of a class, made from ``obj`` as far as that class is told."""
    if cls is np.ndarray:
        return array
    finalize = method_of(cls, "__array_finalize__")
    if finalize is None:
        return natively(np.ndarray.view, array, cls)
    made: Any = np.ndarray.view(array, Bare if cls.__dictoffset__ else BareWithoutDict)
    try:
        made.__class__ = cls
    except TypeError:
        raise refused(
            f"an array of the class `{cls.__name__}`, which carries a derivative",
            "use a plain array: np.asarray(...)", "array-classes") from None
    HOOKS["call"](finalize, made, obj)
    return made


def leading(values: Iterable[Any]) -> Any:
    """Return the array of a derived class whose class results get; None if there is none."""
    found, most = None, -float("inf")
    for value in values:
        for each in value if type(value) in (list, tuple) else (value,):
            if is_derived(each):
                priority = getattr(each, "__array_priority__", 0.0)
                if priority > most or (priority == most and type(each) is not type(found)
                                       and isinstance(each, type(found))):
                    found, most = each, priority
    return found


def wrapped(array: np.ndarray, context: tuple[object, ...] | None, obj: Any) -> Any:
    """Return the result of a universal function as its class wraps it."""
    wrap = method_of(type(obj), "__array_wrap__")
    if not isinstance(array, np.ndarray):
        if array is None or isinstance(array, (bool, int, str)):
            return array
        array = HOOKS["as_array"](array)
    if wrap is None:
        return derived(array, type(obj), obj)
    given = (array, context, array.ndim == 0)[: max(wrap.__code__.co_argcount - 1, 1)]
    if wrap.__code__.co_flags & 4:  # *args
        given = (array, context, array.ndim == 0)
    return HOOKS["call"](wrap, obj, *given)


def of_ufunc(
    call: Callable[..., Any], function: Callable[..., Any], args: tuple[object, ...],
    kwargs: dict[str, object]
) -> Any:
    """Call a universal function with arrays of derived classes that do not override it."""
    obj = leading(args)
    out = kwargs.get("out")
    if out is not None:
        target = out[0] if isinstance(out, tuple) else out
        call(function, tuple(map(plain, args)), {**kwargs, "out": (plain(target),)})
        return target
    result = call(function, tuple(map(plain, args)), {k: plain(v) for k, v in kwargs.items()})
    if isinstance(result, tuple):
        return tuple(wrapped(part, (function, args, i), obj) for i, part in enumerate(result))
    return wrapped(result, (function, args, 0), obj)


def through(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]
) -> Any:
    """Call a function or method with plain views, and give results the class they would have.

    Which results are of the class is asked of NumPy, with arrays of a class that has no code.
    """
    obj = leading((*args, *kwargs.values()))
    names = {name: plain_in(value) for name, value in kwargs.items()}
    result = HOOKS["call"](function, *map(plain_in, args), **names)
    try:
        given, named = mapped(bare, (args, kwargs))
        probe = function(*given, **named)
    except Exception as error:
        raise refused(
            f"`{getattr(function, '__name__', function)}` of an array of the class "
            f"`{type(obj).__name__}`, which carries a derivative",
            "use a plain array: np.asarray(...)", "array-classes") from error
    return as_probed(result, probe, obj)


def as_probed(result: Any, probe: Any, obj: Any) -> Any:
    """Return a result in which what is of the class of the probe is of that of ``obj``."""
    if isinstance(probe, WrappedProbe):
        return wrapped(result, None, obj)
    if isinstance(probe, Probe):
        return derived(HOOKS["as_array"](result), type(obj), obj)
    if isinstance(result, (tuple, list)) and isinstance(probe, (tuple, list)):
        parts = [as_probed(*pair, obj) for pair in zip(result, probe, strict=True)]
        made: Any = type(result)
        return made(*parts) if hasattr(result, "_fields") else made(parts)
    return result


def bare(value: object) -> Any:
    """Return a copy of an array, of one of a derived class as a probe."""
    if not isinstance(value, np.ndarray):
        return value
    copy = np.array(np.ndarray.view(value, np.ndarray))
    return copy.view(Probe) if is_derived(value) else copy


HARMLESS = frozenset({
    "__new__", "__init__", "__array_finalize__", "__doc__", "__module__", "__dict__", "__repr__",
    "__str__", "__format__", "__reduce__", "__reduce_ex__", "__setstate__", "__slots__",
    "__init_subclass__", "__class_getitem__", "__array_priority__", "__hash__", "__setattr__",
})
"""What classes may define anew, and functions of arrays do the same."""


def is_transparent(cls: type) -> bool:
    """Say whether a class of arrays changes no operation of NumPy's arrays."""
    return not any(
        name not in HARMLESS and hasattr(np.ndarray, name)
        for base in cls.__mro__ if base.__flags__ & CLASS_KIND == OF_PYTHON for name in vars(base))
