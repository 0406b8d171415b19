"""``out=`` and ``where=``: the plain call, whose result is stored in the array given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, UNDEF, Atom, Const, Origin, Star, Var
from adcompiler.ops.facts import Facts
from adcompiler.ops.registry import REGISTRY
from adcompiler.infer.storage.operators_in_place import note_in_place
from adcompiler.infer.storage.container_fields import heap_of
from adcompiler.infer.storage.stores import WHOLE, store_item
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.support.signatures import signature as signature_of
from adcompiler.typed.unit import Unit


def store_result(
    s: Operations, function: Callable[..., Any], args: list[Atom], kwargs: Mapping[str, Atom],
    origin: Origin, name: str
) -> Atom | None:
    """Write a call that is given an array for its result; None if it is given none."""
    known = REGISTRY.facts(function)
    if s.heap is None or (known.output is None and not isinstance(function, np.ufunc)):
        return None
    rest, named, out = without_out(function, known, args, kwargs)
    if not out or all(s.unit.type(part) == t.TEXT for part in out):
        return None
    if all(isinstance(part, Const) for part in out):  # a dtype, by which SciPy names a new array
        return None if known.output is not None and known.output[0] != "out" else s.reject(
            origin, "`out=` of something that is no array", "give it an array", "ufunc-out-where",
        )
    if known.output is not None and known.output[0] != "out" and not keeps_dtype(s.unit, rest, out):
        return s.reject(
            origin, f"`{known.output[0]}=` with an array of which the dtype is, or may be, another "
            "than that of the array that the function is applied to",
            "convert one of the arrays first, or store what the function returns",
            "ufunc-out-where",
        )
    return call_with_out(s, function, rest, named, out, origin, name)


def keeps_dtype(unit: Unit, args: list[Atom], out: list[Atom]) -> bool:
    """Say whether the array for a result has the dtype of the first argument."""
    first = unit.type(args[0]) if args and not isinstance(args[0], Star) else None
    given = unit.type(out[0])
    return isinstance(first, t.Array) and isinstance(given, t.Array) and (
        first.dtype == given.dtype
    )


def without_out(
    function: Callable[..., Any], known: Facts, args: list[Atom], kwargs: Mapping[str, Atom]
) -> tuple[list[Atom], dict[str, Atom], list[Atom]]:
    """Return the arguments of a call without the arrays for its results, and these."""
    rest, named = list(args), dict(kwargs)
    name, position = known.output or ("out", None)
    given: list[Any] = [named.pop(name)] if name in named else []
    if isinstance(function, np.ufunc):
        given += rest[function.nin :]
        del rest[function.nin :]
    elif position is not None and position < len(rest):
        given.append(rest[position])
        rest[position] = NONE
        if len(rest) == position + 1:
            rest.pop()
    return rest, named, [a for a in given if not (isinstance(a, Const) and is_nothing(a.value))]


def is_nothing(value: Any) -> bool:
    """Say whether a value given for ``out=`` means that there is none."""
    return value is None or (isinstance(value, tuple) and all(part is None for part in value))


def writes_elsewhere(
    s: Writer, function: Callable[..., Any], args: list[Atom], kwargs: Mapping[str, Atom],
    origin: Origin
) -> bool:
    """Report a call that writes into arguments in a way that is not followed; say if it is one."""
    written = REGISTRY.facts(function).writes
    if not written or s.heap is None:
        return False
    try:
        given = signature_of(function).bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):
        given = dict(kwargs)
    for name in written:
        atom = given.get(name)
        if atom is not None and not isinstance(atom, Const):
            s.reject(
                origin, f"`{name}=` of {getattr(function, '__name__', 'the function')}() is "
                "written into, in a way that is not followed",
                "leave it away, and use what the function returns", "ufunc-out-where",
            )
            return True
    return False


def call_with_out(
    s: Operations, function: Any, args: list[Atom], kwargs: Mapping[str, Atom], out: list[Atom],
    origin: Origin, name: str,
) -> Atom:
    """Write a call of a NumPy function that is given an array for its result."""
    target = out[0]
    elements = s.unit.elements(target)
    if elements is not None and len(elements) == 1:
        target = elements[0]
    if len(out) != 1 or not isinstance(target, Var) or (elements is not None and len(elements) > 1):
        return s.reject(
            origin, "`out=` with several arrays is not supported",
            "call the function without `out=` and store its results", "ufunc-out-where",
        )
    named = dict(kwargs)
    mask = named.pop("where", None) if isinstance(function, np.ufunc) else None
    named.pop("casting", None)
    if isinstance(mask, Const) and mask.value is True:
        mask = None
    if mask is not None:
        args = [harmless(s, function, i, mask, arg, origin) for i, arg in enumerate(args)]
    result = s.call(Const(function), args, named, origin, name)
    if result is UNDEF:
        return UNDEF
    if not isinstance(function, np.ufunc) and other_dimensions(s.unit, result, target):
        return s.reject(
            origin, "`out=` has another number of dimensions than the result",
            "give it an array of the result's shape", "ufunc-out-where",
        )
    if mask is not None:
        result = s.call(Const(np.where), [mask, result, target], {}, origin, name)
    root = heap_of(s).reference(target).root
    before = heap_of(s).state.value(root)
    store_item(s, [target, WHOLE, result], {}, origin, name)
    note_in_place(s, root, before)
    return target


def other_dimensions(unit: Unit, result: Atom, out: Atom) -> bool:
    """Say whether a result is known to have more or fewer dimensions than the array for it."""
    ndims = []
    for type_ in (unit.type(result), unit.type(out)):
        if not isinstance(type_, (t.Array, t.Scalar)):
            return False
        ndims.append(type_.ndim if isinstance(type_, t.Array) else 0)
    return ndims[0] != ndims[1]


def harmless(
    s: Operations, function: np.ufunc, position: int, mask: Atom, arg: Atom, origin: Origin
) -> Atom:
    """Write an operand with a number of the function's domain where the result is not wanted."""
    type_ = s.unit.type(arg)
    if not isinstance(type_, (t.Array, t.Scalar)) or type_.kind != "float":
        return arg
    inside = Const(number_inside(function, position))
    return s.call(Const(np.where), [mask, arg, inside], {}, origin, "operand")


def number_inside(function: np.ufunc, position: int) -> float:
    """Return a number for which a function of numbers is defined, by the domain of its rule."""
    for rule in REGISTRY.rules_of(function):
        if rule.domain is not None and position < len(rule.domain.intervals):
            low, high = rule.domain.intervals[position]
            if not low < 0.5 < high:
                return low + 0.5 if low >= 0.5 else high - 0.5
    return 0.5
