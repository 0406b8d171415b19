"""The table of folds: calls whose result follows from types alone are evaluated when compiling."""

from __future__ import annotations

import functools
import operator
import types as python_types
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import UNDEF, Atom, Call, Const, Origin, Star, constants
from adcompiler.ir.operators import ORDERED
from adcompiler.runtime.reading import attempted
from adcompiler.runtime.substitutes import STAND_FOR
from adcompiler.infer.interface import Operations
from adcompiler.support.signatures import signature as signature_of
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import simple

Kwargs = dict[str, Atom]
"""The keyword arguments of a call."""
Fold = Callable[[Operations, list[Atom], Kwargs, Origin, str], Atom | None]
AnyFold = TypeVar("AnyFold", bound=Fold)
FOLDS: dict[Any, Fold] = {}
AS_GIVEN: set[Any] = set()
SAME_LAYOUT: set[Any] = set()
COMPARISONS = ORDERED | {operator.contains, issubclass, isinstance, len, bool, str, repr}
TAKES_NOTHING = frozenset({zip, dict, int, str, bool, set, frozenset, np.ndindex, print})
"""Functions that may be called without arguments and do not tell what they take."""


def folds(
    *functions: Any, as_given: bool = False, same_layout: bool = False
) -> Callable[[AnyFold], AnyFold]:
    """Register a compile-time evaluation of calls of ``functions``.

    It gets what ``iter(x)`` runs over for that, unless iterators stay ``as_given``. With
    ``same_layout`` arrays that it gives lie in memory as those of the functions do.
    """

    def register(fold: AnyFold) -> AnyFold:
        for function in functions:
            FOLDS[function] = fold
            if as_given:
                AS_GIVEN.add(function)
            if same_layout:
                SAME_LAYOUT.add(function)
        return fold

    return register


def fits(function: Callable[..., Any], args: list[Atom], kwargs: Mapping[str, Atom]) -> bool:
    """Say whether a function takes as many arguments as it is given; where it does not, it raises.

    Python says so when the call runs, in its own words.
    """
    if None in kwargs or any(isinstance(arg, Star) for arg in args):
        return True
    return takes(function, len(args), tuple(kwargs))


@functools.cache
def takes(function: Callable[..., Any], count: int, names: tuple[str, ...]) -> bool:
    """Say whether a function of a library takes so many arguments, and others by these names."""
    try:
        signature = signature_of(function)
    except (TypeError, ValueError):
        return bool(count or names) or function in TAKES_NOTHING  # it does not tell
    try:
        signature.bind(*range(count), **dict.fromkeys(names))
    except TypeError:
        return False
    return True


def class_of(unit: Unit, atom: Atom) -> type | None:
    """Return the class of an atom's value, None if it is not known."""
    if isinstance(atom, Const):
        return type(atom.value)
    match unit.type(atom):
        case t.Scalar(among=(_, *_)):
            return None
        case t.Scalar(kind, dtype):
            if dtype is not None:
                return np.dtype(dtype).type
            if atom in unit.merged and kind != "bool":
                return None
            return {"bool": bool, "int": int, "float": float, "complex": complex}[kind]
        case t.Array():
            return np.ndarray
        case t.Text():
            return str
        case t.Tuple(_, cls):
            return cls
        case t.List():
            return list
        case t.Dict():
            return dict
        case t.Range():
            return range
        case t.SliceType():
            return slice
        case t.Object(cls, _):
            return STAND_FOR.get(cls, cls)
        case t.Static(value):
            return type(value)
        case t.FunctionType():
            return python_types.FunctionType
        case t.Method(python_types.FunctionType()):
            return python_types.MethodType
        case t.Unknown():
            return class_of_display(unit, atom)
    return None


def class_of_display(unit: Unit, atom: Atom) -> type | None:
    """Return the class of ``tuple(x)``, also where it is not known how many items there are."""
    match unit.definition(atom):
        case Call(Const(type() as made), (_,), ()) if issubclass(made, tuple):
            return made
    return None


def fold_constants(function: Any, args: list[Atom], kwargs: Mapping[str, Atom]) -> Const | None:
    """Evaluate a pure call of plain constants; None if it cannot be, or raises."""
    atoms = [*args, *kwargs.values()]
    values = constants(atoms)
    if values is None or any(atom is UNDEF for atom in atoms):
        return None
    if any(isinstance(value, float) for value in values) and function not in COMPARISONS:
        return None
    if not all(map(foldable, values)) and function not in COMPARISONS:
        return None
    named = dict(zip(kwargs, values[len(args):], strict=True))
    result = attempted(function, *values[:len(args)], **named)
    if isinstance(result, np.bool_):
        result = bool(result)
    return Const(result) if simple(result) or isinstance(result, (type, np.dtype)) else None


def foldable(value: Any) -> bool:
    """Say whether a constant is small and plain enough to compute with when compiling."""
    return simple(value) or isinstance(value, (type, np.dtype, frozenset))
