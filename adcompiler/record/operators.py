"""Hooks for operators: arithmetic, comparisons, truth, and operators in place."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from adcompiler.ir.operators import BY_SIGN
from adcompiler.record.entries import Elementwise, Made, Product
from adcompiler.record.functions import HOOKS
from adcompiler.record.protocols import (
    PLAIN, UFUNCS, defined_in_python, followed, is_derived, method_of, native_operator, natively,
    reflected,
)
from adcompiler.record.single import recorded
from adcompiler.record.slopes import BINARY, UNARY, inverse
from adcompiler.record.tape import NUMBERS, RECORDING, Numeric, Operator, refused

ADD, SUB, MUL, TRUEDIV, POW = (
    BY_SIGN[sign] for sign in ("+", "-", "*", "/", "**"))
REAL = frozenset({float, int, bool, np.float64})
"""Classes of real numbers whose arithmetic is that of Python's, or of NumPy's numbers."""
SIMPLE = REAL | {np.ndarray}
NUMERIC = (bool, int, float, complex, np.number, np.bool_)


def add(a: Any, b: Any) -> Any:
    """Return ``a + b``."""
    if type(a) in REAL and type(b) in REAL:
        r = a + b
        tape = RECORDING.tape
        i, j = tape.ids.get(id(a)), tape.ids.get(id(b))
        if i is not None or j is not None:
            tape.ids[id(r)] = len(tape.entries)
            tape.entries.append((r, i, 1.0, j, 1.0, ADD))
        return r
    return binary(ADD, a, b)


def sub(a: Any, b: Any) -> Any:
    """Return ``a - b``."""
    if type(a) in REAL and type(b) in REAL:
        r = a - b
        tape = RECORDING.tape
        i, j = tape.ids.get(id(a)), tape.ids.get(id(b))
        if i is not None or j is not None:
            tape.ids[id(r)] = len(tape.entries)
            tape.entries.append((r, i, 1.0, j, -1.0, SUB))
        return r
    return binary(SUB, a, b)


def mul(a: Any, b: Any) -> Any:
    """Return ``a * b``."""
    if type(a) in REAL and type(b) in REAL:
        r = a * b
        tape = RECORDING.tape
        i, j = tape.ids.get(id(a)), tape.ids.get(id(b))
        if i is not None or j is not None:
            tape.ids[id(r)] = len(tape.entries)
            tape.entries.append((r, i, b, j, a, MUL))
        return r
    return binary(MUL, a, b)


def truediv(a: Any, b: Any) -> Any:
    """Return ``a / b``."""
    if type(a) in REAL and type(b) in REAL:
        r = a / b
        tape = RECORDING.tape
        i, j = tape.ids.get(id(a)), tape.ids.get(id(b))
        if i is not None or j is not None:
            d = inverse(b)
            tape.ids[id(r)] = len(tape.entries)
            tape.entries.append((r, i, d, j, -r * d, TRUEDIV))
        return r
    return binary(TRUEDIV, a, b)


def pow(a: Any, b: Any) -> Any:
    """Return ``a ** b``."""
    if type(a) in REAL and type(b) in REAL:
        r = a ** b
        tape = RECORDING.tape
        i, j = tape.ids.get(id(a)), tape.ids.get(id(b))
        if i is None and j is None:
            return r
        if type(r) in (float, np.float64):
            of_base, of_exponent = BINARY[POW]
            di = of_base(a, b, r) if i is not None else 0.0
            dj = of_exponent(a, b, r) if j is not None else 0.0
            tape.ids[id(r)] = len(tape.entries)
            tape.entries.append((r, i, di, j, dj, (POW, a, b)))
            return r
    return binary(POW, a, b)


def neg(a: Any) -> Any:
    """Return ``-a``."""
    if type(a) in REAL:
        r = -a
        tape = RECORDING.tape
        i = tape.ids.get(id(a))
        if i is not None:
            tape.ids[id(r)] = len(tape.entries)
            tape.entries.append((r, i, -1.0, None, 0.0, operator.neg))
        return r
    return unary(operator.neg, a)


def pos(a: Any) -> Any:
    """Return ``+a``."""
    return a if type(a) is float else unary(operator.pos, a)


def is_numeric(value: object) -> TypeGuard[Numeric]:
    """Say whether a value is a number, or an array of NumPy's own class."""
    return type(value) is np.ndarray or isinstance(value, NUMERIC)


SEQUENCES = (list, tuple, collections.deque)


def binary(op: Operator, a: Any, b: Any) -> Any:
    """Return ``op(a, b)`` for operands of any class."""
    if type(a) in SIMPLE and type(b) in SIMPLE:
        return arithmetic(op, a, b)
    if is_numeric(a) and is_numeric(b) and not (
        defined_in_python(a, NUMERIC) or defined_in_python(b, NUMERIC)
    ):
        return arithmetic(op, a, b)
    if op is MUL and repeats_a_sequence(a, b):
        return natively(op, a, b)
    if isinstance(a, (np.ndarray, np.generic)) and is_sequence(b):
        return binary(op, a, HOOKS["gathered"](b))
    name = op.__name__.rstrip("_")  # as methods spell it
    if isinstance(b, (np.ndarray, np.generic)) and is_sequence(a):
        method = followed(a, f"__{name}__")
        made = NotImplemented if method is None else method(a, b)
        return binary(op, HOOKS["gathered"](a), b) if made is NotImplemented else made
    if type(a) in PLAIN and type(b) in PLAIN:
        return of_containers(op, a, b)
    if is_numeric(a) and isinstance(b, NUMERIC) and not issubclass(type(b), type(a)) and (
        not defined_in_python(a, NUMERIC)
    ):
        return arithmetic(op, a, b)  # the left one knows the right one, as what it derives from
    return reflected(op, f"__{name}__", f"__r{name}__", a, b)


def of_containers(op: Operator, a: Any, b: Any) -> Any:
    """Return ``op(a, b)`` where one operand is a text or container, as Python has it."""
    if op is operator.mod and isinstance(a, (str, bytes)):
        note_text(b)
    return natively(op, a, b)


def repeats_a_sequence(*operands: object) -> bool:
    """Say whether a product repeats a sequence: NumPy's numbers leave those to Python."""
    return any(isinstance(value, np.generic) for value in operands) and any(
        isinstance(value, SEQUENCES) and followed(value, "__mul__") is None
        and followed(value, "__rmul__") is None for value in operands)


def is_sequence(value: object) -> bool:
    """Say whether NumPy makes an array of the items of a value."""
    if isinstance(value, SEQUENCES):
        return True
    cls: Any = type(value)
    return method_of(cls, "__getitem__") is not None and method_of(cls, "__len__") is not None and (
        not hasattr(cls, "__array_ufunc__") and not hasattr(cls, "__array_priority__")
        and not hasattr(cls, "__array__"))


def note_text(value: object) -> None:
    """Note that a value is written as text, if it is active."""
    tape = RECORDING.tape
    if not tape.texts and tape.holds(value):
        tape.texts = True


def arithmetic(op: Operator, a: Numeric, b: Numeric) -> Any:
    """Return ``op(a, b)`` for numbers and arrays, recorded where one is active."""
    tape = RECORDING.tape
    if not (tape.is_active(a) or tape.is_active(b)):
        return op(a, b)
    if is_of_objects(a) or is_of_objects(b):
        return elementwise_objects(op, a, b)
    if op is operator.matmul:
        return product(a, b)
    slopes = BINARY.get(op)
    if slopes is None:
        return recorded(op, (a, b), {})
    r = op(a, b)
    enter(Elementwise(op, (a, b), r, slopes))
    return r


def is_of_objects(value: object) -> TypeGuard[np.ndarray]:
    """Say whether a value is an array of objects."""
    return isinstance(value, np.ndarray) and value.dtype.hasobject


def elementwise_objects(op: Operator, *args: Any) -> Any:
    """Return a function of arrays of objects, computed element by element."""
    if op not in (ADD, SUB, MUL, TRUEDIV, POW, operator.neg):
        raise refused(
            "an operation on an array of objects, of which one carries a derivative",
            "use an array of floats", "recording")
    own = HOOKS[op.__name__]
    given = np.broadcast(*(np.asarray(arg, object) for arg in args))
    out = np.empty(given.shape, object)
    for place, items in zip(np.ndindex(given.shape), given, strict=True):
        out[place] = own(*items)
    return out if given.shape else out[()]


def enter(entry: Made) -> None:
    """Enter an entry with one result, and hold what it reads."""
    tape = RECORDING.tape
    for arg in entry.args:
        if isinstance(arg, np.ndarray):
            tape.hold(arg)
    result = entry.result
    if isinstance(result, np.ndarray):
        tape.activate(result)
        tape.entries.append(entry)
    elif isinstance(result, NUMBERS):
        tape.ids[id(result)] = len(tape.entries)
        tape.entries.append(entry)


def product(a: Numeric, b: Numeric) -> Any:
    """Return ``a @ b``, recorded."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or not (
        1 <= a.ndim <= 2 and 1 <= b.ndim <= 2 and a.dtype.kind in "fc" and b.dtype.kind in "fc"
    ):
        return recorded(operator.matmul, (a, b), {})
    r = a @ b
    tape = RECORDING.tape
    tape.hold(a)
    tape.hold(b)
    enter(Product(a, b, r))
    return r


def unary(op: Operator, a: Any) -> Any:
    """Return ``op(a)`` for an operand of any class."""
    if is_numeric(a) and not defined_in_python(a, NUMERIC):
        tape = RECORDING.tape
        if not tape.is_active(a):
            return op(a)
        if is_of_objects(a):
            return elementwise_objects(op, a)
        slope = UNARY.get(op)
        if slope is None:
            return recorded(op, (a,), {})
        r = op(a)
        if r is not a:
            enter(Elementwise(op, (a,), r, (slope,)))
        return r
    method = followed(a, f"__{op.__name__}__")
    if method is None and is_derived(a):
        return HOOKS["call"](UFUNCS[op.__name__], a)
    return native_operator(op, a) if method is None else method(a)


def in_place(op: Operator) -> Callable[[Any, Any], Any]:
    """Return the hook of an operator in place."""
    plain: dict[str, Any] = {
        "iadd": add, "isub": sub, "imul": mul, "itruediv": truediv, "ipow": pow}
    name = op.__name__
    base = getattr(operator, {"iand": "and_", "ior": "or_"}.get(name, name[1:]))
    hook: Callable[[Any, Any], Any] = plain.get(name) or (lambda a, b: binary(base, a, b))

    def apply(a: Any, b: Any) -> Any:
        if type(a) in REAL:
            return hook(a, b)
        if type(a) is np.ndarray and is_numeric(b):
            return into(op, base, a, b)
        if type(a) is list and isinstance(b, (np.ndarray, np.generic)):
            return hook(a, b)  # arrays come before lists
        if type(a) in (list, set, dict, str, tuple):
            return op(a, HOOKS["iterate"](b) if type(a) is list and name == "iadd" else b)
        method = followed(a, f"__{name.rstrip('_')}__")
        if method is not None:
            made = method(a, b)
            return hook(a, b) if made is NotImplemented else made
        if getattr(type(a), f"__{name.rstrip('_')}__", None) is None:
            return hook(a, b)
        if isinstance(a, np.ndarray):
            if getattr(type(b), "__array_ufunc__", 0) is None:
                return hook(a, b)
            return HOOKS["call"](UFUNCS[base.__name__], a, b, out=(a,))
        return native_operator(op, a, b)

    return apply


def into(op: Operator, base: Callable[..., Any], a: np.ndarray, b: Any) -> Any:
    """Return an array after an operator has written into it."""
    tape = RECORDING.tape
    if tape.is_active(a) or tape.is_active(b) or is_of_objects(a):
        made = binary(base, a, b)
        if np.shape(made) != a.shape or not np.can_cast(np.result_type(made), a.dtype, "same_kind"):
            op(a.copy(), b)  # raises
        HOOKS["setitem"](made, a, ...)
        return a
    old = a.copy() if tape.is_held(a) else None
    op(a, b)
    if old is None:
        tape.note_written(a, ...)
    else:
        HOOKS["log"](a, old)
    return a


def compared(op: Operator, name: str, other: str) -> Callable[[Any, Any], Any]:
    """Return the hook of a comparison, whose result carries no derivative."""

    def apply(a: Any, b: Any) -> Any:
        if type(a) in REAL and type(b) in REAL:
            return op(a, b)
        if is_numeric(a) and is_numeric(b) and not (
            defined_in_python(a, NUMERIC) or defined_in_python(b, NUMERIC)
        ):
            return natively(op, a, b) if is_of_objects(a) or is_of_objects(b) else op(a, b)
        return reflected(op, name, other, a, b)

    return apply


def contains(item: Any, container: Any) -> Any:
    """Return ``item in container``."""
    method = followed(container, "__contains__")
    if method is not None:
        return HOOKS["truth"](method(container, item)) and True
    if followed(container, "__iter__") is not None:
        eq = HOOKS["eq"]
        return any(item is each or eq(item, each) for each in HOOKS["iterate"](container))
    return natively(operator.contains, container, item)


def lacks(item: Any, container: Any) -> Any:
    """Return ``item not in container``."""
    return not contains(item, container)


def truth(value: object) -> Any:
    """Return what is tested: itself, or what methods of its class say."""
    if type(value) in REAL or type(value) in PLAIN or value is None:
        return value
    method = followed(value, "__bool__")
    if method is not None:
        return method(value)
    method = followed(value, "__len__")
    return value if method is None else method(value)


def install() -> None:
    """Enter the hooks of this module."""
    HOOKS.update(
        add=add, sub=sub, mul=mul, truediv=truediv, pow=pow, neg=neg, pos=pos,
        contains=contains, lacks=lacks, truth=truth, note_text=note_text,
        invert=lambda a: unary(operator.invert, a))
    for name in ("floordiv", "mod", "matmul", "and_", "or_", "xor", "lshift", "rshift"):
        op = getattr(operator, name)
        HOOKS[name] = lambda a, b, op=op: binary(op, a, b)
    for name in ("iadd", "isub", "imul", "itruediv", "ipow", "ifloordiv", "imod", "imatmul",
                 "iand", "ior", "ixor", "ilshift", "irshift"):
        HOOKS[name] = in_place(getattr(operator, name))
    swapped = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
    for name, other in swapped.items():
        HOOKS[name] = compared(getattr(operator, name), f"__{name}__", f"__{other}__")


install()
