"""Calls of classes: the making of instances, written as records where the class does no more."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import types as python_types
import typing
from collections.abc import Callable
from typing import Any

from adcompiler.errors import ADError
from adcompiler.frontend.functions import lower
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Call, Const, Do, Function, Item, Origin, Star, Unsupported, Var,
)
from adcompiler.ir.visit import walk
from adcompiler.ops.qualified_names import root_module
from adcompiler.runtime.records import is_record_class
from adcompiler.infer.calls.libraries import is_standard
from adcompiler.infer.calls.operator_methods import has_text
from adcompiler.infer.folds.table import Kwargs, folds
from adcompiler.infer.objects import (
    NAMESPACE, call_raw, find_raw, held_by, live_class, make_record,
)
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.support.signatures import signature as signature_of
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import simple, type_of

CONTEXTS = ("numpy", "contextlib", "warnings")
"""Modules whose classes are not taken apart: a ``with`` goes by the class of its context."""

WHOLE = ("numpy", "scipy")
"""Packages whose classes have rules of their own for what they make."""


def construct(
    s: Operations, func: Const, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Write the making of an instance as a record; None if its class does more than that."""
    cls = func.value
    if any(isinstance(arg, Star) for arg in args):
        return None
    generic = typing.get_origin(cls)
    if isinstance(generic, type) and is_record_class(generic):  # Box[float](...)
        return s.call(live_class(s.unit, generic), args, kwargs, origin, name)
    if cls is NAMESPACE and not args:
        return make_record(s, cls, kwargs, name, origin)
    if not is_plain_class(cls) or root_module(cls) in CONTEXTS:
        return None
    if cls.__init__ is object.__init__ and not args and not kwargs:
        return make_record(s, cls, {}, name, origin)
    init = find_raw(cls, "__init__")
    opened = construct_dataclass if generated_init(cls) is not None else run_init
    if init is None or (opened is run_init and not isinstance(init[1], python_types.FunctionType)):
        return None
    findings = len(s.unit.findings)
    with s.writing_to([]) as out:
        made = opened(s, func, args, kwargs, origin, name)
        if isinstance(made, Var) and s.heap is not None:
            made = s.heap.reading.current(made, origin)
    if made is not None and made is not UNDEF and len(s.unit.findings) > findings:
        del s.unit.findings[findings:]  # a function that __post_init__ calls cannot be compiled
        return None
    s.out.extend(out)
    return made


def is_plain_class(cls: type) -> bool:
    """Say whether calling a class makes an instance and calls ``__init__``, nothing else."""
    own_new, own_setattr = find_raw(cls, "__new__"), find_raw(cls, "__setattr__")
    return (
        is_record_class(cls) and own_new is not None and own_new[0] is object
        and type(cls).__call__ is type.__call__ and not inspect.isabstract(cls)
        and own_setattr is not None and (
            own_setattr[0] is object or is_frozen(cls) or has_text(own_setattr[1])
        )
    )


def is_frozen(cls: type) -> bool:
    """Say whether a class is a frozen dataclass, whose ``__setattr__`` does no more than raise."""
    params = getattr(cls, "__dataclass_params__", None)
    return bool(getattr(params, "frozen", False)) and is_generated(cls.__setattr__)


def is_generated(function: Callable[..., Any]) -> bool:
    """Say whether a method was made by ``dataclass``."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename == "<string>"


def generated_init(cls: type) -> type | None:
    """Return the dataclass whose ``__init__``, made by ``dataclass``, a class has."""
    found = find_raw(cls, "__init__")
    if found is None or "__dataclass_fields__" not in vars(found[0]):
        return None
    return found[0] if is_generated(found[1]) else None


def construct_dataclass(
    s: Operations, func: Const, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Write what the ``__init__`` of a dataclass does, field by field, then ``__post_init__``."""
    cls = func.value
    owner = generated_init(cls)
    assert owner is not None
    after = find_raw(cls, "__post_init__")
    if after is not None and not can_be_read(after[1]):
        return None
    init = vars(owner)["__init__"]
    try:
        bound = signature_of(init).bind(None, *args, **kwargs).arguments
    except TypeError as error:
        return s.reject(
            origin, f"{cls.__name__}(): {error}", "call it with matching arguments",
            "call-arguments",
        )
    s.unit.relied.static(init, (("live", owner), ("attr", "__init__")))
    fields: dict[str, Atom] = {}
    only_init: list[Atom] = []
    for f in vars(owner)["__dataclass_fields__"].values():
        kind = f._field_type
        if kind is dataclasses._FIELD_CLASSVAR:  # type: ignore[attr-defined]
            continue
        value = bound.get(f.name) if f.init else None
        if value is None:
            value = default_of(s, owner, f, origin)
        if value is None:
            continue
        if kind is dataclasses._FIELD_INITVAR:  # type: ignore[attr-defined]
            only_init.append(value)
        else:
            fields[f.name] = value
    made = make_record(s, cls, fields, name, origin)
    if after is not None:
        call_raw(s, made, cls, "__post_init__", after, only_init, {}, origin, "ignored")
    return made


def run_init(
    s: Operations, func: Const, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Write an instance without attributes, and what ``__init__`` does with it."""
    init = find_raw(func.value, "__init__")
    whole = init is None or is_standard(init[1]) or root_module(init[1]) in WHOLE
    if init is None or whole or not can_be_read(init[1]):
        return None
    if s.heap is None:
        s.lacks_heap = True
        return None
    made = make_record(s, func.value, {}, name, origin)
    call_raw(s, made, func.value, "__init__", init, args, kwargs, origin, "ignored")
    return made


def default_of(s: Operations, owner: type, f: Any, origin: Origin) -> Atom | None:
    """Write the default value of a field; None if ``__init__`` assigns none."""
    if f.default_factory is not dataclasses.MISSING:
        factory = live_constant(s.unit, owner, f, "default_factory")
        return s.call(factory, [], {}, origin, f.name)
    if f.default is dataclasses.MISSING or not (f.init or f.name in vars(owner).get(
        "__slots__", ()
    )):
        return None
    if simple(f.default) or isinstance(type_of(f.default), t.Static):
        return live_constant(s.unit, owner, f, "default")
    table = s.let(
        Attribute(live_class(s.unit, owner), "__dataclass_fields__"), t.UNKNOWN, "fields", origin
    )
    entry = s.let(Item(table, Const(f.name)), t.UNKNOWN, "field", origin)
    return s.let(Attribute(entry, "default"), type_of(f.default), f.name, origin)


def live_constant(unit: Unit, owner: type, f: Any, kind: str) -> Const:
    """Return the constant for the default value or factory of a field."""
    value = getattr(f, kind)
    if simple(value):
        return Const(value)
    path = (("live", owner), ("__dataclass_fields__", f.name), ("attr", kind))
    return unit.relied.static(value, path)


def can_be_read(function: Any) -> bool:
    """Say whether the text of a method is there, and all forms in it are supported."""
    try:
        definition: Function = lower(function)
    except (ADError, AttributeError, TypeError):
        return False
    return not any(isinstance(statement, Unsupported) for statement in walk(definition.body))


def assigning_line(cls: type) -> str | None:
    """Return the place in ``__init__`` or ``__post_init__`` where attributes are assigned."""
    for name in ("__init__", "__post_init__"):
        found = find_raw(cls, name)
        try:
            definition = lower(found[1]) if found is not None else None
        except (ADError, AttributeError, TypeError):
            continue
        for statement in walk(definition.body) if definition is not None else ():
            if isinstance(statement, Unsupported):
                return statement.finding.where
            if isinstance(statement, Do) and isinstance(statement.rhs, Call) and isinstance(
                statement.rhs.func, Const
            ) and statement.rhs.func.value is setattr:
                return statement.origin.where
    return None


def is_copied_by_attributes(cls: type, deep: bool = False) -> bool:
    """Say whether a copy of an instance of a class has its attributes, or ``deep`` copies of them.

    A class may say in several ways how it is copied.
    """
    method = "__deepcopy__" if deep else "__copy__"
    return is_record_class(cls) and not any(
        (found := find_raw(cls, name)) is not None and found[0] is not object
        for name in (method, "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__")
    )


def copied_instance(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """A copy of an instance has the same attributes, unless its class says how to copy it."""
    type_ = s.unit.type(args[0]) if len(args) == 1 else t.UNKNOWN
    if not isinstance(type_, t.Object) or not is_copied_by_attributes(type_.cls):
        return None
    fields = held_by(s, args[0], type_, origin)
    return make_record(s, type_.cls, fields, name, origin)


@folds(dataclasses.asdict)
def fold_asdict(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """``dataclasses.asdict`` is a display of copies of the fields."""
    return None if kwargs or len(args) != 1 else copied_fields(s, args[0], True, origin, name)


@folds(dataclasses.astuple)
def fold_astuple(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """``dataclasses.astuple`` is a tuple of copies of the fields."""
    return None if kwargs or len(args) != 1 else copied_fields(s, args[0], False, origin, name)


def copied_fields(
    s: Operations, obj: Atom, keyed: bool, origin: Origin, name: str
) -> Atom | None:
    """Write a dict or tuple of deep copies of the fields; None where a container holds some."""
    type_ = s.unit.type(obj)
    if not isinstance(type_, t.Object) or not dataclasses.is_dataclass(type_.cls):
        return None
    entries: list[tuple[Atom, Atom]] = []
    for f in dataclasses.fields(type_.cls):
        value = s.attribute(obj, f.name, origin, f.name)
        made: Atom | None = value
        match s.unit.type(value):
            case t.Object():
                made = copied_fields(s, value, keyed, origin, f.name)
            case t.Array() | t.List(t.Scalar() | t.Array() | t.Text()):
                made = s.call(Const(copy.deepcopy), [value], {}, origin, f.name)
            case t.Scalar() | t.Text() | t.Static():
                pass
            case _:
                return None
        if made is None:
            return None
        entries.append((Const(f.name), made))
    if keyed:
        return s.pack_dict(entries, origin, name)
    return s.pack("tuple", tuple(value for _, value in entries), name, origin)


@folds(dataclasses.replace)
def fold_replace(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """``dataclasses.replace`` calls the class with the fields that are not replaced."""
    type_ = s.unit.type(args[0]) if len(args) == 1 else t.UNKNOWN
    if not isinstance(type_, t.Object) or not dataclasses.is_dataclass(type_.cls):
        return None
    given = dict(kwargs)
    for f in dataclasses.fields(type_.cls):
        if f.init and f.name not in given:
            given[f.name] = s.attribute(args[0], f.name, origin, f.name)
    return s.call(live_class(s.unit, type_.cls), [], given, origin, name)
