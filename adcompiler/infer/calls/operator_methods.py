"""Operators of classes: calls of the methods that define them, in the order that Python asks."""

from __future__ import annotations

import operator
import types as python_types
from collections.abc import Callable
from typing import Any


from adcompiler.errors import ADError
from adcompiler.frontend.functions import lower
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Do, Origin, Star, Var
from adcompiler.ir.operators import BINARY, COMPARISONS, UNARY
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import check_items, dict_keys
from adcompiler.runtime.substitutes import STAND_FOR
from adcompiler.infer.objects import call_raw, find_raw
from adcompiler.infer.interface import Operations
from adcompiler.typed.unit import Unit

OPERATORS: dict[Any, tuple[str, ...]] = {
    **{one.function: one.methods for one in (*BINARY, *COMPARISONS, *UNARY) if one.name},
    **{one.in_place: (f"__i{one.name}__", *one.methods) for one in BINARY},
    pow: ("__pow__", "__rpow__"), divmod: ("__divmod__", "__rdivmod__"),
    operator.abs: ("__abs__",), abs: ("__abs__",), len: ("__len__",), float: ("__float__",),
    int: ("__int__",), complex: ("__complex__",), round: ("__round__",),
    operator.contains: ("__contains__",), operator.getitem: ("__getitem__",),
    operator.index: ("__index__",),
}
"""The methods that define what an operator or built-in function does with an instance."""


def method_of(unit: Unit, atom: Atom, name: str) -> tuple[type, tuple[type, Any]] | None:
    """Return the class of an instance and its method ``name`` written in Python, if it has one."""
    type_ = unit.type(atom)
    if not isinstance(type_, (t.Tuple, t.Object)):
        return None
    found = find_raw(type_.cls, name)
    if found is None or not isinstance(found[1], python_types.FunctionType):
        return None
    return (type_.cls, found) if has_text(found[1]) else None


def has_text(function: Callable[..., Any]) -> bool:
    """Say whether something is a function written in Python whose source can be read."""
    try:
        return isinstance(function, python_types.FunctionType) and bool(lower(function))
    except ADError:
        return False


def call_operator(
    s: Operations, function: Callable[..., Any], args: list[Atom], origin: Origin, name: str
) -> Atom | None:
    """Write an operator of instances as the methods that define it; None if none does."""
    names = OPERATORS.get(function)
    if names is None or not args:
        return None
    tries: list[tuple[Any, str, list[Any]]] = []
    if len(args) == 2 and len(names) > 1:
        left, right = args
        reflected = (right, names[-1], [left])
        tries = [(left, own, [right]) for own in names[:-1]]
        first, second = method_of(s.unit, left, names[-2]), method_of(s.unit, right, names[-1])
        if isinstance(s.unit.type(left), (t.Array, t.Scalar)) and not defers(s.unit, left, second):
            second = None
        if second is not None and (first is None or (
            second[0] is not first[0] and issubclass(second[0], first[0])
            and second[1] != find_raw(first[0], names[-1])
        )):
            tries.insert(len(names) - 2, reflected)
        elif second is not None and first is not None and first[0] is not second[0]:
            tries.append(reflected)
    else:
        tries = [(args[0], names[0], args[1:])]
    for receiver, method, rest in tries:
        found = method_of(s.unit, receiver, method)
        if found is None:
            continue
        with s.writing_to([]) as out:
            result = call_raw(s, receiver, *found_as(found, method), rest, {}, origin, name)
        if isinstance(result, Const) and result.value is NotImplemented:
            continue
        s.out.extend(out)
        return result
    return None


def truth_of_instance(s: Operations, atom: Atom, type_: t.Object, origin: Origin) -> Atom:
    """Write whether an instance counts as true: what ``__bool__`` or ``__len__`` says."""
    found = method_of(s.unit, atom, "__bool__")
    if found is not None:
        return s.truth(call_raw(s, atom, *found_as(found, "__bool__"), [], {}, origin, "truth"),
                       origin)
    found = method_of(s.unit, atom, "__len__")
    if found is not None:
        size = call_raw(s, atom, *found_as(found, "__len__"), [], {}, origin, "size")
        return s.call(Const(operator.ne), [size, Const(0)], {}, origin, "truth")
    decided = find_raw(type_.cls, "__bool__") or find_raw(type_.cls, "__len__")
    return atom if decided else Const(True)


def runs_over(function: Callable[..., Any]) -> bool:
    """Say whether a function runs over its arguments."""
    known = REGISTRY.facts(function)
    return known.iterates is True or function is iter or known.means in ("array", "asarray")


def iterated(s: Operations, atom: Atom, origin: Origin) -> Atom:
    """Return what running over ``atom`` runs over: what ``__iter__`` gives, the keys of a dict."""
    type_ = s.unit.type(atom)
    if isinstance(type_, t.Dict) and type_.keys is None:
        return s.call(Const(dict_keys), [atom], {}, origin, "keys")
    if isinstance(type_, t.Unknown) and t.may_vary(type_) and not isinstance(
        s.unit.definition(atom), Call
    ):
        s.out.append(Do(Call(Const(check_items), (atom,)), origin))
    found = method_of(s.unit, atom, "__iter__")
    if found is None:
        return atom
    result = call_raw(s, atom, *found_as(found, "__iter__"), [], {}, origin, "items")
    match s.unit.definition(result):
        case Call(Const(function), (Var() | Const() as items,)) if function is iter:
            return items
    return result


def keys_of(s: Operations, arg: Atom | Star, origin: Origin) -> Atom | Star:
    """Return the keys of a dict that a rule runs over, where they are known; else the argument."""
    type_ = None if isinstance(arg, Star) else s.unit.type(arg)
    if not isinstance(type_, t.Dict) or type_.keys is None:
        return arg
    return s.pack("tuple", tuple(map(Const, type_.keys)), "keys", origin)


def next_of_own(s: Operations, atom: Atom, origin: Origin, name: str) -> Atom | None:
    """Write ``next(it)`` of an instance as a call of its ``__next__``; None if it has none."""
    found = method_of(s.unit, atom, "__next__") if is_own(s.unit, atom) else None
    return None if found is None else call_raw(
        s, atom, *found_as(found, "__next__"), [], {}, origin, name)


def is_own(unit: Unit, atom: Atom) -> bool:
    """Say whether a value is an instance of a class of the program's own."""
    type_ = unit.type(atom)
    return isinstance(type_, t.Object) and type_.cls not in STAND_FOR


def defers(unit: Unit, left: Atom, second: tuple[type, Any] | None) -> bool:
    """Say whether a number or array leaves an operator to the class of the other operand."""
    type_ = unit.type(left)
    if second is None or (isinstance(type_, t.Scalar) and type_.dtype is None):
        return True
    cls = second[0]
    if hasattr(cls, "__array_ufunc__"):
        return cls.__array_ufunc__ is None
    return getattr(cls, "__array_priority__", 0.0) > 0.0


def found_as(found: tuple[type, tuple[type, Any]], name: str) -> tuple[type, str, tuple[type, Any]]:
    """Return what ``call_raw`` takes: the class, the name of the method, and where it stands."""
    return found[0], name, found[1]
