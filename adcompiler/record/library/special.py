"""Functions in C that work on numbers or call code of classes, and have hooks of their own."""

from __future__ import annotations

import gc
import itertools
import math
import operator
import random
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from adcompiler.ops.qualified_names import display_name
from adcompiler.record.attributes import (
    OF_OBJECTS, attribute, del_attribute, set_attribute,
)
from adcompiler.record.copies import fresh
from adcompiler.record.entries import Elementwise
from adcompiler.record.functions import HOOKS
from adcompiler.record.items import iterate, setitem
from adcompiler.record.library.array_functions import OF_ARRAYS
from adcompiler.record.library.arrays import as_array, renewed
from adcompiler.record.operators import REAL, enter, note_text
from adcompiler.record.protocols import followed, method_of, natively, reflected
from adcompiler.record.single import recorded
from adcompiler.record.slopes import OF_MATH
from adcompiler.record.tape import NUMBERS, RECORDING, refused, refused_text
from adcompiler.runtime import no_grad, stop_gradient

SPECIAL: dict[Any, Callable[..., Any]] = {}
"""Hooks by function."""


def of_math(
    function: Callable[[float], float], slope: Callable[[float, float], float]
) -> Callable[..., Any]:
    """Return the hook of a function of one real number, whose slope is known."""

    def apply(x: Any, *rest: Any) -> Any:
        if rest or type(x) not in REAL:
            return of_other(function, (x, *rest))
        r = function(x)
        tape = RECORDING.tape
        i = tape.ids.get(id(x))
        if i is not None:
            d = slope(x, r)
            tape.ids[id(r)] = len(tape.entries)
            tape.entries.append((r, i, d, None, 0.0, (function, x)))
        return r

    return apply


def of_other(function: Callable[..., Any], args: tuple[object, ...]) -> Any:
    """Call a function of numbers with arguments of other classes."""
    tape = RECORDING.tape
    if function is abs:
        method = followed(args[0], "__abs__")
        if method is not None:
            return method(*args)
    elif args:
        method = followed(args[0], "__float__") if not isinstance(args[0], float) else None
        if method is not None:
            args = (method(args[0]), *args[1:])
            return HOOKS["call"](function, *args)
    if not any(map(tape.holds, args)):
        return natively(function, *args)
    return recorded(function, args, {})


def to_float(value: Any = 0.0, /) -> Any:
    """Return a float."""
    if type(value) in REAL:
        return renewed(float(value), value)
    if isinstance(value, (str, bytes, bytearray)):
        if RECORDING.tape.texts:
            raise refused_text("a number read from text")
        return float(value)
    if isinstance(value, np.ndarray):
        return renewed(float(value), value)
    method = followed(value, "__float__")
    if method is not None:
        return method(value)
    return renewed(natively(float, value), value)


def to_complex(*args: Any, **kwargs: Any) -> Any:
    """Return a complex number."""
    tape = RECORDING.tape
    if not tape.holds(args) and not tape.holds(kwargs):
        return natively(complex, *args, **kwargs)
    if len(args) == 1 and not isinstance(args[0], NUMBERS):
        method = followed(args[0], "__complex__") or followed(args[0], "__float__")
        if method is not None:
            return to_complex(method(args[0]))
    real, imag = (*args, kwargs.get("real", 0.0), kwargs.get("imag", 0.0))[:2]
    if len(args) < 2:
        imag = kwargs.get("imag", 0.0)
    made = complex(real, imag)
    enter(Elementwise(complex, (real, imag), made, (lambda *_: 1.0, lambda *_: 1j)))
    return made


def of_numpy_number(cls: type) -> Callable[..., Any]:
    """Return the hook of a class of NumPy's numbers."""

    def apply(value: Any = 0.0, *rest: Any) -> Any:
        if rest or isinstance(value, (list, tuple)) or (
            isinstance(value, np.ndarray) and value.ndim
        ):
            return as_array(value, cls, always=True)
        if isinstance(value, (str, bytes)):
            return cls(to_float(value))
        return renewed(natively(cls, value), value)

    return apply


def to_int(value: Any = 0, *base: Any, **kwargs: Any) -> Any:
    """Return an integer, which carries no derivative."""
    if isinstance(value, (str, bytes)) and RECORDING.tape.texts:
        return to_float("nan")
    for name in ("__int__", "__index__", "__trunc__"):
        method = followed(value, name)
        if method is not None:
            return method(value)
    return int(value, *base, **kwargs)


def apply_sum(items: Iterable[object], /, start: Any = 0) -> Any:
    """Return a sum, by the hook of ``+``."""
    add, total_ = HOOKS["add"], start
    if isinstance(items, np.ndarray) and not RECORDING.tape.is_active(items):
        return sum(items, start)
    if not RECORDING.tape.ids and not RECORDING.tape.active:
        return natively(sum, iterate(items), start)
    items = list(iterate(items))
    if not RECORDING.tape.holds(items) and not RECORDING.tape.holds(start):
        return natively(sum, items, start)  # it rounds in another way from Python 3.12 on
    for item in items:
        total_ = add(total_, item)
    return exactly(total_, items, start)


def exactly(found: Any, items: list[Any], start: Any) -> Any:
    """Return a sum with the value that Python gives, which compensates rounding from 3.12 on."""
    if type(found) is not float or not all(type(item) in REAL for item in items):
        return found
    value = sum(items, start)
    return found if value == found or value != value else renewed(value, found)


def picked(function: Callable[..., Any], better: str) -> Callable[..., Any]:
    """Return the hook of ``min`` or ``max``: the first of the best items."""

    def apply(*args: Any, key: Callable[..., Any] | None = None, **kwargs: Any) -> Any:
        single = "default" in kwargs or len(args) == 1
        items = list(iterate(args[0]) if single else args)
        if not items:
            return function(*args, key=key, **kwargs)
        call, compare, truth = HOOKS["call"], HOOKS[better], HOOKS["truth"]
        best = items[0]
        mark = best if key is None else call(key, best)
        for item in items[1:]:
            other = item if key is None else call(key, item)
            if truth(compare(other, mark)):
                best, mark = item, other
        return best

    return apply


def apply_abs(x: Any, /) -> Any:
    """Return an absolute value."""
    if isinstance(x, np.ndarray):
        return HOOKS["call"](np.absolute, x)
    return of_math(abs, OF_MATH[abs])(x)


def apply_pow(base: Any, exponent: Any, modulus: Any = None) -> Any:
    """Return a power."""
    if modulus is not None:
        return natively(pow, base, exponent, modulus)
    return HOOKS["pow"](base, exponent)


def apply_divmod(a: Any, b: Any, /) -> Any:
    """Return a quotient and a remainder."""
    if followed(a, "__divmod__") is not None or followed(b, "__rdivmod__") is not None:
        return reflected(divmod, "__divmod__", "__rdivmod__", a, b)
    return HOOKS["floordiv"](a, b), HOOKS["mod"](a, b)


def apply_len(value: Any, /) -> int:
    """Return how many items there are."""
    method = followed(value, "__len__")
    return len(value) if method is None else operator.index(method(value))


def apply_getattr(obj: Any, name: str, *default: Any) -> Any:
    """Return an attribute, or what stands for it."""
    try:
        return attribute(obj, name)
    except AttributeError:
        if default:
            return default[0]
        raise


def apply_hasattr(obj: Any, name: str, /) -> bool:
    """Say whether there is an attribute."""
    try:
        attribute(obj, name)
    except AttributeError:
        return False
    return True


def as_text(function: Callable[..., Any], *methods: str) -> Callable[..., Any]:
    """Return the hook of a function that gives text, by the first of some methods in Python."""

    def apply(*args: Any, **kwargs: Any) -> Any:
        for arg in args:
            note_text(arg)
        for method in methods if args and not isinstance(args[0], type) else ():
            own = followed(args[0], method)
            if own is not None:
                return own(*args, **kwargs)
        return natively(function, *args, **kwargs)

    return apply


def apply_format(value: object, spec: str = "", /) -> Any:
    """Return a value as text, in a format."""
    note_text(value)
    method = followed(value, "__format__")
    if method is not None:
        return method(value, spec)
    if not spec and (followed(value, "__str__") or followed(value, "__repr__")) is not None:
        return SPECIAL[str](value)
    return natively(format, value, spec)


def apply_print(*args: Any, **kwargs: Any) -> None:
    """Print values."""
    natively(print, *(SPECIAL[str](arg) for arg in args), **kwargs)


def apply_count(start: Any = 0, step: Any = 1) -> Any:
    """Do what ``itertools.count`` does."""
    add = HOOKS["add"]
    while True:
        yield start
        start = add(start, step)


def apply_isinstance(value: object, cls: type, /) -> bool:
    """Say whether a value is of a class."""
    of: Any = type(cls)
    method = method_of(of, "__instancecheck__")
    if method is None or method.__module__ in ("abc", "typing"):
        return isinstance(value, cls) if of is not tuple else natively(isinstance, value, cls)
    return bool(HOOKS["truth"](HOOKS["call"](method, cls, value)))


def apply_type(*args: Any, **kwargs: Any) -> Any:
    """Return a class, of a value or a new one."""
    if len(args) == 1 and not kwargs:
        return type(args[0])
    return natively(type, *args, **kwargs)


def by_method(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return the hook of a function that gives no derivative, by a method in Python if there is."""

    def apply(value: object, *args: Any) -> Any:
        method = followed(value, name)
        return natively(function, value, *args) if method is None else method(value, *args)

    return apply


def apply_fsum(items: Iterable[float], /) -> Any:
    """Return an exact sum, recorded as one."""
    items = list(iterate(items))
    found: Any = apply_sum(items, 0.0)
    return renewed(math.fsum(items), found)


def apply_stop(value: Any) -> Any:
    """Return a value without its derivative: the same numbers, other objects."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, NUMBERS):
        return fresh(value)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(map(apply_stop, value))
    if type(value) is dict:
        return {k: apply_stop(v) for k, v in value.items()}
    if RECORDING.tape.holds(value):
        raise refused(f"`stop_gradient` of a `{type(value).__name__}`", "apply it to numbers",
                      "recording")
    return value


def of_operator(name: str) -> Callable[..., Any]:
    """Return the hook of an operator given as a function."""
    return lambda *args: HOOKS[name](*args)


def refusing(
    function: Callable[..., Any], why: str, hint: str, always: bool = False
) -> Callable[..., Any]:
    """Return the hook of a function that is not followed, ``always`` or where it would have to be.
    """

    def apply(*args: Any, **kwargs: Any) -> Any:
        tape = RECORDING.tape
        if always or tape.holds((args, kwargs)) or any(
            tape.is_held(a) for a in args if isinstance(a, np.ndarray)
        ):
            raise refused(f"`{display_name(function)}`, which {why}", hint, "recording")
        return function(*args, **kwargs)

    return apply


def apply_exec(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the hook of ``exec`` or ``eval``: of text nothing is followed."""

    def apply(code: Any, *spaces: Any, **named: Any) -> Any:
        given = (*spaces, *named.values())
        if not given or any(map(RECORDING.tape.holds, given)):
            raise refused(
                f"`{function.__name__}` of text that may use values which carry a derivative",
                "write a function", "dynamic-names")
        return function(code, *spaces, **named)

    return apply


SPECIAL.update(OF_ARRAYS)
SPECIAL.update({
    **{function: of_math(function, slope) for function, slope in OF_MATH.items()},
    abs: apply_abs, float: to_float, complex: to_complex, int: to_int,
    bool: lambda value=False, /: bool(HOOKS["truth"](value)),
    **{cls: of_numpy_number(cls) for cls in (np.float64, np.float32, np.float16, np.complex128)},
    sum: apply_sum, min: picked(min, "lt"), max: picked(max, "gt"), pow: apply_pow,
    divmod: apply_divmod, round: by_method(round, "__round__"), len: apply_len,
    getattr: apply_getattr, hasattr: apply_hasattr, delattr: del_attribute,
    setattr: lambda obj, name, value, /: set_attribute(value, obj, name),
    isinstance: apply_isinstance, type: apply_type, hash: by_method(hash, "__hash__"),
    math.fsum: apply_fsum,
    str: as_text(str, "__str__", "__repr__"), repr: as_text(repr, "__repr__"),
    format: apply_format, print: apply_print, itertools.count: apply_count,
    sys._getframe: refusing(
        sys._getframe, "gives a frame, of which a recording has others", "pass the values", True),
    float.hex: as_text(float.hex),
    ascii: as_text(ascii), no_grad: no_grad,
    stop_gradient: apply_stop,
    **{f: refusing(f, "is not followed", "write what it does") for f in (
        np.place, np.putmask, random.shuffle)},
    **{f: refusing(f, "finds the recording's own objects too", "keep the objects in a list", True)
       for f in (gc.get_objects, gc.get_referrers)},
    **{getattr(operator, name): of_operator(name) for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "pos", "invert",
        "and_", "or_", "xor", "lshift", "rshift", "iadd", "isub", "imul", "itruediv", "ipow",
        "ifloordiv", "imod", "imatmul", "lt", "le", "gt", "ge", "eq", "ne", "getitem", "truth",
    )},
    operator.contains: lambda a, b: HOOKS["contains"](b, a),
    operator.setitem: lambda a, i, v: setitem(v, a, i),
    operator.not_: lambda x: not HOOKS["truth"](x),
    operator.abs: apply_abs, eval: apply_exec(eval), exec: apply_exec(exec),
    issubclass: partial(natively, issubclass), vars: vars,
    **{getattr(object, name): own for name, own in OF_OBJECTS.items()},
})
