"""Folds of calls that ask what a value is: its class, attributes, axes, identity and truth."""

from __future__ import annotations

import operator
import typing
from collections.abc import Mapping
from typing import Any

import numpy as np

from adcompiler.frontend.imports import imported_module
from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, UNDEF, Atom, Call, Const, Do, Origin, Star, Var, constants
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import (
    check_assigned, check_bound, is_basic, is_mapping, is_sequence, pattern_argument,
)
from adcompiler.runtime.adjoints.elementwise import is_known
from adcompiler.runtime.adjoints.kinks import first_derivative
from adcompiler.runtime.containers import SELF_MATCHED, sequence_pattern_fits, unbound
from adcompiler.runtime.reading import RAISED, attempted
from adcompiler.infer.folds.table import Kwargs, class_of, folds
from adcompiler.infer.generators import consumed
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import CannotStandInError, stand_in


NUMBERS = (
    (bool, np.bool_), (int, np.int64, np.int32), (float, np.float64, np.float32),
    (complex, np.complex128),
)
"""Classes of numbers, kind by kind."""


NO_ITERATORS = frozenset({np.ndarray, list, tuple, dict, set, str, bool, int, float, complex})
"""Classes of which no iterator is an instance."""
PYTHON_NUMBERS = {"bool": bool, "int": int, "float": float, "complex": complex}


@folds(imported_module)
def fold_import(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """``import module`` inside a function: the module is a compile-time value."""
    try:
        return Const(imported_module(*constants(args) or ()))
    except ImportError as error:
        hint = "import a module that is installed"
        return s.raise_if_reached(ImportError, str(error), hint, "imports", origin)


@folds(typing.cast)
def fold_cast(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """``typing.cast(type, x)`` is ``x``."""
    return args[1] if len(args) == 2 else None


@folds(isinstance)
def fold_isinstance(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    if len(args) != 2:
        return None
    if args[0] in s.unit.iterators.one_shot:
        asked = static_classes(s.unit, args[1])
        if asked is not None and NO_ITERATORS.issuperset(
            asked if isinstance(asked, tuple) else (asked,)
        ):
            return Const(False)
        return s.reject(
            origin, "isinstance() of an iterator", "make a list of it first", "iterators"
        )
    classes = possible_classes(s.unit, args[0])
    wanted = static_classes(s.unit, args[1])
    if not classes or wanted is None:
        return None
    try:
        answers = {issubclass(cls, wanted) for cls in classes}
    except TypeError:
        return None
    return Const(answers.pop()) if len(answers) == 1 else None


def possible_classes(unit: Unit, atom: Atom) -> tuple[type, ...]:
    """Return the classes that a value may be of, none if they are not known.

    A number that comes from several places may be of a lesser kind than its type says.
    """
    type_ = unit.type(atom)
    if isinstance(type_, t.Scalar) and not type_.exact:
        return tuple(
            PYTHON_NUMBERS[kind] if dtype is None else np.dtype(dtype).type
            for kind, dtype in type_.classes
        )
    if not isinstance(type_, t.Scalar) or atom not in unit.merged or type_.kind == "bool":
        cls = class_of(unit, atom)
        return () if cls is None else (cls,)
    lesser = NUMBERS[: t.KINDS.index(type_.kind) + 1]
    return tuple(cls for kind in lesser for cls in kind)


def static_classes(unit: Unit, atom: Atom) -> Any:
    """Return the class, union or tuple of classes that ``atom`` is known to be."""
    if isinstance(atom, Const):
        return atom.value
    elements = unit.elements(atom)
    if elements is None:
        return None
    parts = [static_classes(unit, element) for element in elements]
    return None if any(part is None for part in parts) else tuple(parts)


@folds(is_sequence)
def fold_is_sequence(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    cls = class_of(s.unit, args[0])
    return None if cls is None else Const(sequence_pattern_fits(cls))


@folds(is_basic)
def fold_is_basic(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """Whether a subscript is basic, where the types of its parts tell."""
    parts = s.unit.elements(args[0]) or (args[0],)
    types = [s.unit.type(part) for part in parts]
    if any(isinstance(type_, (t.Array, t.List)) for type_ in types):
        return Const(False)
    basic = all(
        isinstance(type_, (t.SliceType, t.Static)) or type_ == t.INT
        or (isinstance(type_, t.Scalar) and type_.kind == "int") for type_ in types
    )
    return Const(True) if basic else None


@folds(is_known)
def fold_is_known(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    return Const(isinstance(args[0], Const))


@folds(first_derivative)
def fold_first_derivative(
    s: Writer, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Any:
    """Only what is differentiated again has to know; emitted code, that is read, says so."""
    return None if s.in_emitted or s.unit.derivatives.around else args[0]


@folds(is_mapping)
def fold_is_mapping(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    cls = class_of(s.unit, args[0])
    return None if cls is None else Const(issubclass(cls, Mapping))


@folds(pattern_argument)
def fold_pattern_argument(
    s: Operations, args: list[Atom], kwargs: Mapping[str, Atom], origin: Origin, name: str
) -> Any:
    """What a positional pattern is matched with: an attribute, or the value itself."""
    cls, value, position = args
    if not isinstance(cls, Const) or not isinstance(cls.value, type):
        return None
    names = getattr(cls.value, "__match_args__", ())
    assert isinstance(position, Const)
    if not names and position.value == 0 and issubclass(cls.value, SELF_MATCHED):
        return value
    if position.value < len(names):
        return s.attribute(value, names[position.value], origin, name)
    return s.reject(
        origin, f"{cls.value.__name__}() accepts {len(names)} positional patterns",
        "name the attributes: `Point(x=0, y=y)`", "call-arguments",
    )


@folds(operator.contains)
def fold_contains(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """Whether a dict with known keys has a known key; an element of a generator is looked for."""
    table = consumed(s, args[0], origin)
    type_ = s.unit.type(table)
    if isinstance(type_, t.Dict) and type_.keys is not None and isinstance(args[1], Const):
        return Const(args[1].value in type_.keys)
    if table is not args[0]:
        return s.let(Call(Const(operator.contains), (table, args[1])), t.BOOL, name, origin)
    return None


@folds(type)
def fold_type(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    cls = class_of(s.unit, args[0]) if len(args) == 1 else None
    return None if cls is None else Const(cls)


@folds(len)
def fold_len(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    elements = s.unit.elements(args[0])
    if elements is not None:
        return Const(len(elements))
    type_ = s.unit.contents.get(args[0], s.unit.type(args[0]))
    if isinstance(type_, t.Tuple):
        return Const(len(type_.items))
    if isinstance(type_, t.Dict) and type_.keys is not None:
        return Const(len(type_.keys))
    if isinstance(type_, (t.Unknown, t.List, t.Dict)):
        return s.let(Call(Const(len), (args[0],)), t.INT, name, origin)
    return None


@folds(hasattr)
def fold_hasattr(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    if len(args) != 2 or not isinstance(args[1], Const):
        return None
    type_ = s.unit.type(args[0])
    if isinstance(type_, t.Object):
        present = type_.field(args[1].value) is not None or hasattr(type_.cls, args[1].value)
        return Const(present) if present or not hasattr(type_.cls, "__getattr__") else None
    try:
        value = stand_in(type_, 3)
    except CannotStandInError:
        return None
    present = attempted(hasattr, value, args[1].value)
    return None if present is RAISED else Const(present)


@folds(getattr)
def fold_getattr(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    if len(args) < 2 or not isinstance(args[1], Const):
        return None
    attribute = args[1].value
    if len(args) == 3:
        present = fold_hasattr(s, args[:2], {}, origin, name)
        if present is None:
            return None
        if not isinstance(present, Const):
            return s.either(
                present, lambda: s.attribute(args[0], attribute, origin, name),
                lambda: args[2], origin, name)
        if not present.value:
            return args[2]
    return s.attribute(args[0], attribute, origin, name)


@folds(callable)
def fold_callable(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    if isinstance(args[0], Const):
        return Const(callable(args[0].value))
    type_ = s.unit.type(args[0])
    if isinstance(type_, (t.FunctionType, t.Method)):
        return Const(True)
    return Const(False) if isinstance(type_, (t.Scalar, t.Array, t.Text, t.Tuple)) else None


@folds(operator.is_)
def fold_is(s: Writer, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str) -> Any:
    left, right = args
    if left is right:
        return Const(True)
    if isinstance(left, Const) and isinstance(right, Const):
        if left.value is right.value or not same_value(left.value, right.value):
            return Const(left.value is right.value)
        return refuse_identity(s, origin)
    for one, other in ((left, right), (right, left)):
        if not isinstance(one, Const) or isinstance(one.value, bool):
            continue
        type_ = s.unit.type(other)
        if type(one.value) in VALUES and may_be_of_class(type_, type(one.value)):
            return refuse_identity(s, origin)
        if not isinstance(type_, (t.Unknown, t.Static, t.Bottom)):
            return Const(False)
    types_ = [s.unit.type(atom) for atom in args]
    if not all(isinstance(type_, (t.Scalar, t.Text, t.Tuple)) for type_ in types_):
        return None
    common = set(classes_of(types_[0])) & set(classes_of(types_[1]))
    if not common:
        return Const(False)
    return None if common == {("bool", None)} else refuse_identity(s, origin)


VALUES = (int, float, complex, str, bytes, tuple, frozenset)
"""Classes of which Python may keep one object for equal values, or several."""


def same_value(one: Any, other: Any) -> bool:
    """Say whether two values are of one of ``VALUES``, and print alike."""
    return type(one) is type(other) and type(one) in VALUES and repr(one) == repr(other)


def may_be_of_class(type_: t.Type, cls: type) -> bool:
    """Say whether a value of a type may be of one of ``VALUES``."""
    if isinstance(type_, t.Static):
        return type(type_.value) is cls
    return isinstance(type_, (t.Unknown, t.Bottom)) or (cls.__name__, None) in classes_of(type_)


def classes_of(type_: t.Type) -> tuple[tuple[str, str | None], ...]:
    """Return the classes that a number, text or tuple may be of; those of NumPy with a dtype."""
    if isinstance(type_, t.Scalar):
        return type_.among or ((type_.kind, type_.dtype),)
    named = {t.Text: "str", t.Tuple: "tuple"}.get(type(type_))
    return () if named is None else ((named, None),)


def refuse_identity(s: Writer, origin: Origin) -> Any:
    """Report ``is`` between numbers, texts or tuples; a rule of the library knows what it does."""
    if s.in_rule or s.in_emitted:
        return None
    return s.reject(
        origin, "`is` asks here whether two numbers, texts or tuples are one object, which Python "
        "decides as it keeps constants", "compare values, with `==`", "identity",
    )


@folds(operator.is_not)
def fold_is_not(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    same = fold_is(s, args, kwargs, origin, name)
    return same if same is None or same is UNDEF else Const(not same.value)


@folds(operator.not_)
def fold_not(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    truth = s.truth(args[0], origin)
    if isinstance(truth, Const):
        return Const(not truth.value)
    # that of an instance is what its method says
    same = truth is args[0]
    return None if same else s.call(Const(operator.not_), [truth], {}, origin, name)


@folds(bool)
def fold_truth(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Any:
    """Whether an instance is true is what its method says."""
    if len(args) != 1 or kwargs or isinstance(args[0], Star) or not isinstance(
        s.unit.type(args[0]), t.Object
    ):
        return None
    truth = s.truth(args[0], origin)
    return None if truth is args[0] else s.call(Const(bool), [truth], {}, origin, name)


@folds(check_bound)
def fold_check_bound(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """A variable that has a value wherever types tell needs no check.

    None may be the value of one whose type is not known: ``Writer.placed`` marks that it has none.
    One that has none on any path raises here, so that nothing is written behind.
    """
    in_emitted = s.in_emitted and s.unit.type(args[0]) in (t.UNKNOWN, t.NONE_TYPE)
    if args[0] is UNDEF or (in_emitted and isinstance(args[0], Const)):
        error = unbound(*constants(args[1:]) or ())
        return s.raise_(type(error), str(error), origin)
    if args[0] in s.unit.unsure and isinstance(s.unit.type(args[0]), t.Unknown):
        s.out.append(Do(Call(Const(check_assigned), tuple(args)), origin))
        return NONE
    return None if args[0] in s.unit.unsure or in_emitted else NONE


@folds(np.ndim)
def fold_ndim(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    type_ = s.unit.type(args[0])
    if isinstance(type_, t.Array):
        return Const(type_.ndim)
    return Const(0) if isinstance(type_, t.Scalar) else None


@folds(np.shape)
def fold_shape(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    type_ = s.unit.type(args[0])
    if isinstance(type_, t.Array):
        return s.attribute(args[0], "shape", origin, name)
    return Const(()) if isinstance(type_, t.Scalar) else None


@folds(np.size)
def fold_size(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    type_ = s.unit.type(args[0])
    if len(args) == 1 and isinstance(type_, t.Array):
        return s.attribute(args[0], "size", origin, name)
    return Const(1) if len(args) == 1 and isinstance(type_, t.Scalar) else None


@folds(np.iterable)
def fold_iterable(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    match s.unit.type(args[0]):
        case t.Array(_, ndim):
            return Const(ndim > 0)
        case t.Scalar():
            return Const(False)
        case t.Tuple() | t.List() | t.Dict() | t.Text() | t.Range():
            return Const(True)
    return None


@folds(np.iscomplexobj)
def fold_iscomplexobj(
    s: Writer, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Any:
    type_ = s.unit.type(args[0])
    if isinstance(type_, t.Array) and type_.kind == "other":
        return None
    return Const(type_.kind == "complex") if isinstance(type_, (t.Array, t.Scalar)) else None


@folds(np.isrealobj)
def fold_isrealobj(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    found = fold_iscomplexobj(s, args, kwargs, origin, name)
    return None if found is None else Const(not found.value)


@folds(np.conj, same_layout=True)
def fold_conj(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """In rules, the conjugate of a Python number is its method; of a real number, the number."""
    own = primal_of(s.unit) == "conjugate"  # its primal gives a NumPy number
    if s.in_rule and not own and s.unit.type(args[0]) == t.COMPLEX:
        if isinstance(args[0], Const):
            return Const(args[0].value.conjugate())
        return s.call(s.attribute(args[0], "conjugate", origin), [], {}, origin, name)
    found = fold_real(s, args, kwargs, origin, name)
    if found is not None and s.heap is not None and isinstance(s.unit.type(found), t.Array):
        return s.call(Const(np.copy), [found], {}, origin, name)  # np.real is a view, this is not
    return found


@folds(np.real, same_layout=True)
def fold_real(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """The conjugate and the real part of a real number are the number.

    Outside rules the result keeps its class: ``np.conj`` of a float is a NumPy scalar.
    """
    if not _real(s.unit, args, kwargs):
        return None
    type_ = s.unit.type(args[0])
    same_class = isinstance(type_, t.Array) and type_.ndim > 0 and type_.kind == "float"
    own = primal_of(s.unit) in ("conjugate", "real")  # the primal of that rule
    return args[0] if same_class or (s.in_rule and not own) else None


def primal_of(unit: Unit) -> str | None:
    """Return what the function means of which a rule is being written, None where none is."""
    rule = unit.calls.active[-1] if unit.calls.active else None
    return REGISTRY.facts(getattr(rule, "function", None)).means


def _real(unit: Unit, args: list[Atom], kwargs: dict[str, Atom]) -> bool:
    type_ = unit.type(args[0])
    return (
        len(args) == 1 and not kwargs and isinstance(type_, (t.Array, t.Scalar))
        and type_.kind in ("bool", "int", "float")
    )


@folds(np.ascontiguousarray)
def fold_contiguous(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """In rules, where nothing is written, the array itself will do; elsewhere it may be a copy."""
    if s.heap is not None and not s.in_rule:
        return None
    return fold_asarray(s, args, kwargs, origin, name)


@folds(np.asarray, np.asanyarray, same_layout=True)
def fold_asarray(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """``asarray`` of an array of the wanted dtype returns that very array."""
    type_ = s.unit.type(args[0]) if args else t.UNKNOWN
    if not isinstance(type_, t.Array) or len(args) > 2 or type_.kind == "other":
        return None
    wanted = {**kwargs, **({"dtype": args[1]} if len(args) == 2 else {})}
    for key, value in wanted.items():
        if not isinstance(value, Const):
            return None
        if key == "dtype" and value.value is not None:
            try:
                if np.dtype(value.value) != np.dtype(type_.dtype):
                    return None
            except TypeError:
                return None
        elif value.value is not None:
            return None
    return args[0]


@folds(float)
def fold_float(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """``float`` of a Python float is the float itself."""
    if len(args) == 1 and isinstance(args[0], Var) and class_of(s.unit, args[0]) is float:
        return args[0]
    return None
