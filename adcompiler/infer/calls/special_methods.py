"""Methods of built-in classes that are kept apart from their object, or called by special names."""

from __future__ import annotations

import types as python_types
from typing import Any

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Do, Origin, Star
from adcompiler.ir.operators import BINARY, COMPARISONS, UNARY
from adcompiler.ops.qualified_names import root_module
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import check_support
from adcompiler.infer.calls.binding import literal
from adcompiler.infer.interface import Operations
from adcompiler.typed.values import type_of

KEPT = (python_types.BuiltinMethodType, python_types.MethodWrapperType)
"""The classes of ``x.dot`` and ``x.__add__``."""
BY_METHOD: dict[str, tuple[Any, bool]] = {
    **{f"__{one.name}__": (one.function, False)
       for one in (*BINARY, *COMPARISONS, *UNARY) if one.name},
    **{f"__{one.mirrored}__": (one.function, True) for one in BINARY},
}
"""The operators that methods stand for, and whether the operands change places."""


def call_kept_method(
    s: Operations, func: Const, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Write the call of a method that was taken from an array, number, list or dict before.

    Its object is one that was there before, so that it is read, and written, as a global one is.
    None if the function is no such method.
    """
    value = func.value
    if not isinstance(value, KEPT) or isinstance(value.__self__, (type, python_types.ModuleType)):
        return None
    if not isinstance(type_of(value.__self__), (t.Array, t.Scalar, t.List, t.Dict)):
        return None
    owner = literal(s, value.__self__, func, ("attr", "__self__"), origin)
    if isinstance(owner, Const):  # of which the method would be this one again
        return None if kwargs else as_operator(s, owner, value.__name__, args, origin, name)
    method = s.attribute(owner, value.__name__, origin, value.__name__)
    return s.call(method, args, kwargs, origin, name)


def as_operator(
    s: Operations, owner: Atom, method: str, args: list[Atom], origin: Origin, name: str
) -> Atom | None:
    """Write ``x.__add__(y)`` of numbers and arrays as the operator; None if it is another method.

    Also None where the method may decline, as that of a float does if it is given an array.
    """
    if any(isinstance(arg, Star) for arg in args):
        return None
    of_owner = s.unit.type(owner)
    if method == "__getitem__" and len(args) == 1 and has_own_items(of_owner):
        return s.item(owner, args[0], origin, name)
    if method not in BY_METHOD:
        return None
    function, mirrored = BY_METHOD[method]
    given = [s.unit.type(arg) for arg in args]
    fits = (isinstance(of_owner, t.Array) and all(
        isinstance(type_, (t.Array, t.Scalar)) for type_ in given
    )) or (of_owner == t.FLOAT and all(type_ in (t.FLOAT, t.INT) for type_ in given))
    one = any(function is one.function for one in UNARY)
    if not fits or len(args) != (0 if one else 1):
        return None
    operands = [*args, owner] if mirrored else [owner, *args]
    return s.call(Const(function), operands, {}, origin, name)


def has_own_items(type_: t.Type) -> bool:
    """Say whether a value is of a built-in class with subscripts, not of one derived from it."""
    return isinstance(type_, (t.Array, t.List, t.Dict)) or (
        isinstance(type_, t.Tuple) and type_.cls is tuple)


def method_of_law(
    s: Operations, owner: t.Object, obj: Atom, method: str, origin: Origin
) -> Atom | None:
    """Return the method with a rule that a distribution of SciPy shares with all of its class.

    ``scipy.stats.norm(0.0, 2.0)``, which was made before, holds an instance of its own of the class
    of ``scipy.stats.norm``. None where there is no such rule.
    """
    if root_module(owner.cls) != "scipy":
        return None
    model = REGISTRY.model(owner.cls)
    if model is None or not REGISTRY.has_rules(getattr(model, method, None)):
        return None
    s.out.append(Do(Call(Const(check_support), (obj, Const(model))), origin))
    return s.attribute(Const(model), method, origin)
