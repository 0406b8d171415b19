"""Instances of Python classes: records with named fields, made by the primitive ``record``.

What a record was made of is known when compiling, so reading an attribute of it writes nothing.
"""

from __future__ import annotations

import functools
import types as python_types
from collections.abc import Mapping, Sequence
from typing import Any

from adcompiler.analyses.storage import is_mutable
from adcompiler.errors import ADError
from adcompiler.frontend.functions import lower
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import UNDEF, Atom, Attribute, Call, Const, Item, Origin, Star, Var
from adcompiler.runtime import record
from adcompiler.runtime.records import is_record_class, slots_of
from adcompiler.runtime.substitutes import Table
from adcompiler.runtime.tables import is_table
from adcompiler.infer.calls.single_dispatch import call_registered
from adcompiler.infer.calls.tables import refuse_change
from adcompiler.infer.interface import Env
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.tables import Path
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import MAX_FIELDS, type_of

NAMESPACE = python_types.SimpleNamespace


def make_record(
    s: Writer, cls: type, fields: Mapping[str, Atom], name: str, origin: Origin
) -> Var:
    """Write an instance of ``cls`` with these attributes."""
    args = () if cls is NAMESPACE else (live_class(s.unit, cls),)
    type_ = t.Object(cls, tuple((key, s.unit.type(atom)) for key, atom in fields.items()))
    return s.let(Call(Const(record), args, tuple(fields.items())), type_, name, origin)


def live_class(unit: Unit, cls: type) -> Const:
    """Return the constant for a class that values are known to be instances of."""
    known = id(cls) in unit.relied.paths
    return Const(cls) if known else unit.relied.static(cls, (("live", cls),))


# -- attributes of classes -------------------------------------------------------------------------


def find_raw(cls: type, name: str, after: type | None = None) -> tuple[type, Any] | None:
    """Return the class that defines ``name`` for ``cls``, and what stands in its namespace.

    With ``after`` the search starts behind that class, as ``super()`` does.
    """
    order = cls.__mro__ if after is None else cls.__mro__[cls.__mro__.index(after) + 1 :]
    for base in order:
        if name in vars(base):
            return base, vars(base)[name]
    return None


def class_data(s: Writer, cls: type, name: str, origin: Origin, hint: str) -> Atom:
    """Write the reading of an attribute of a class: a constant, or data that is read when run."""
    value = getattr(cls, name)
    path = (("live", cls), ("attr", name))
    type_ = type_of(value)
    if isinstance(type_, t.Static):
        return s.unit.relied.static(value, path)
    s.unit.relied.facts[path] = value
    found = find_raw(cls, name)
    if s.heap is not None and is_mutable(type_) and found is not None:
        owner = live_class(s.unit, found[0])
        return s.heap.outside.attribute_value(owner, name, type_, hint, origin)
    return s.let(Attribute(live_class(s.unit, cls), name), type_, hint, origin)


def call_raw(
    s: Operations, obj: Atom, cls: type, name: str, found: tuple[type, Any],
    args: list[Atom], kwargs: dict[str, Atom], origin: Origin, hint: str
) -> Atom:
    """Write the call of a method of ``obj``, an instance of ``cls``, as found in a namespace."""
    owner, raw = found
    first = find_raw(cls, name)
    start = cls if first is not None and first[0] is owner else owner
    path: Path = (("live", start), ("attr", name))
    if isinstance(raw, staticmethod):
        return s.call(s.unit.relied.static(raw.__func__, path), args, kwargs, origin, hint)
    if isinstance(raw, classmethod):
        func = s.unit.relied.static(raw.__func__, (*path, ("attr", "__func__")))
        return s.call(func, [live_class(s.unit, cls), *args], kwargs, origin, hint)
    if isinstance(raw, functools.singledispatchmethod):
        func = s.unit.relied.static(raw.dispatcher, (("live", raw.dispatcher),))
        chosen = call_registered(s, func, [obj, *args], kwargs, origin, hint, 1)
        return UNDEF if chosen is None else chosen
    if is_table(cls) and (refused := refuse_change(s, cls, name, kwargs, origin)) is not None:
        return refused
    bound = [obj, *args] if hasattr(type(raw), "__get__") else args
    return s.call(s.unit.relied.static(raw, path), bound, kwargs, origin, hint)


# -- super() ---------------------------------------------------------------------------------------


def written_super(
    s: Writer, args: Sequence[Atom | Star], env: Env, scope: Scope | None, origin: Origin
) -> Atom | None:
    """Write ``super()`` or ``super(cls, obj)`` of an instance; None where it is something else."""
    if not args and scope is not None:
        where, cls = scope.lookup("__class__")
        try:
            first = lower(scope.function).params[0].var
        except (ADError, IndexError):
            return None
        if where != "cell" or first not in env:
            return None
        args = [live_class(s.unit, cls), env[first]]
    if len(args) != 2 or not isinstance(args[0], Const) or isinstance(args[1], Star):
        return None
    type_ = s.unit.type(args[1])
    if isinstance(args[1], Const) and isinstance(args[1].value, type):  # in a class method
        return s.let(Call(Const(super), tuple(args)), t.UNKNOWN, "parent", origin)
    if not isinstance(type_, t.Object) or args[0].value not in type_.cls.__mro__:
        return None
    return s.let(Call(Const(super), tuple(args)), t.UNKNOWN, "parent", origin)


def super_of(unit: Unit, obj: Atom) -> tuple[type, Atom, type] | None:
    """Return the class behind which ``super`` looks, its object and the class of that."""
    match unit.definition(obj):
        case Call(Const(function), (Const(after), (Var() | Const()) as instance)) if (
            function is super
        ):
            if isinstance(instance, Const):
                return after, instance, instance.value
            type_ = unit.type(instance)
            return (after, instance, type_.cls) if isinstance(type_, t.Object) else None
    return None


def super_attribute(
    s: Operations, parent: Atom, name: str, origin: Origin, hint: str
) -> Atom | None:
    """Write an attribute of ``super()``; None if ``parent`` is something else."""
    known = super_of(s.unit, parent)
    if known is None:
        return None
    after, instance, cls = known
    found = find_raw(cls, name, after)
    if found is None:
        return s.reject(
            origin, f"no base class behind {after.__name__} has an attribute `{name}`",
            "use an attribute that exists", "undefined-names",
        )
    owner, raw = found
    if isinstance(raw, property) and raw.fget is not None:
        path = (("live", owner), ("attr", name), ("attr", "fget"))
        return s.call(s.unit.relied.static(raw.fget, path), [instance], {}, origin, hint)
    if callable(raw) or isinstance(raw, (staticmethod, classmethod)):
        return s.let(Attribute(parent, name), t.Method(raw), hint, origin)
    return class_data(s, owner, name, origin, hint)


def call_super(
    s: Operations, parent: Atom, name: str, args: list[Atom], kwargs: dict[str, Atom],
    origin: Origin, hint: str,
) -> Atom | None:
    """Write the call of a method of ``super()``; None if ``parent`` is something else."""
    known = super_of(s.unit, parent)
    if known is None:
        return None
    after, instance, cls = known
    found = find_raw(cls, name, after)
    assert found is not None  # the attribute has been read
    if isinstance(instance, Const) and isinstance(found[1], python_types.FunctionType):
        path = (("live", found[0]), ("attr", name))
        return s.call(s.unit.relied.static(found[1], path), args, kwargs, origin, hint)
    if found[1] is object.__init__:
        return Const(None)
    return call_raw(s, instance, cls, name, found, args, kwargs, origin, hint)


# -- attributes of instances -----------------------------------------------------------------------


def namedtuple_attribute(
    s: Operations, obj: Atom, cls: type, name: str, origin: Origin, hint: str
) -> Atom | None:
    """Write an attribute of a namedtuple that is no field; None for a method."""
    made = attribute_of_instance(s, obj, cls, name, origin, hint)
    found = find_raw(cls, name)
    if made is None and found is not None and not hasattr(type(found[1]), "__get__"):
        return class_data(s, cls, name, origin, hint)
    return made


def attribute_of_instance(
    s: Operations, obj: Atom, cls: type, name: str, origin: Origin, hint: str
) -> Atom | None:
    """Write an attribute that the class decides, where it goes before what the instance holds."""
    if name == "__class__":
        return live_class(s.unit, cls)
    found = find_raw(cls, name)
    if found is None:
        return None
    raw = found[1]
    if isinstance(raw, property) and raw.fget is not None:
        path = (("live", cls), ("attr", name), ("attr", "fget"))
        return s.call(s.unit.relied.static(raw.fget, path), [obj], {}, origin, hint)
    if isinstance(raw, functools.cached_property) and s.unit.definition(obj) is not None and (
        s.unit.fields(obj) is not None
    ):
        return kept_by_instance(s, obj, cls, name, raw, origin, hint)
    return None


def kept_by_instance(
    s: Operations, obj: Atom, cls: type, name: str, raw: functools.cached_property[Any],
    origin: Origin, hint: str,
) -> Atom | None:
    """Write a ``cached_property`` of an instance made here: computed once, and kept by it.

    None where the instance holds it already, as an attribute like others.
    """
    type_ = s.unit.type(obj)
    held = isinstance(type_, t.Object) and type_.field(name) is not None

    def compute() -> Atom:
        path = (("live", cls), ("attr", name), ("attr", "func"))
        value = s.call(s.unit.relied.static(raw.func, path), [obj], {}, origin, hint)
        s.call(Const(object.__setattr__), [obj, Const(name), value], {}, origin, "ignored")
        return value

    return None if held else compute()


def dict_owner(unit: Unit, atom: Atom) -> Atom | None:
    """Return the instance, without slots, of which a value is the ``__dict__``; None: of none."""
    made = unit.definition(atom)
    if not isinstance(made, Attribute) or made.name != "__dict__":
        return None
    type_ = unit.type(made.obj)
    plain = isinstance(type_, t.Object) and is_record_class(type_.cls) and not slots_of(type_.cls)
    return made.obj if plain else None


def open_parts(s: Writer, var: Var, origin: Origin) -> None:
    """Write the reading of all parts of a parameter, each of which then has one variable.

    They are the attributes of an instance, the entries of a dict, the items of a tuple, or of a
    list that is known to have them.
    """
    type_ = s.unit.contents.get(var, s.unit.type(var))
    parts: dict[Any, Atom] = {}
    for key, of in parts_of_type(type_):
        if isinstance(of, t.Static):
            continue
        rhs = Attribute(var, key) if isinstance(type_, t.Object) else Item(var, Const(key))
        name = key if isinstance(key, str) and key.isidentifier() else f"{var.name}_{key}"
        part = s.let(rhs, of, name if name.isidentifier() else "part", origin)
        parts[key] = part
        open_parts(s, part, origin)
    if parts:
        s.unit.parts[var] = parts


def parts_of_type(type_: t.Type) -> list[tuple[Any, t.Type]]:
    """Return the keys and types of the parts of a parameter that are read in front of all else."""
    match type_:
        case t.Object(cls, fields) if is_record_class(cls):
            return list(fields)
        case t.Dict(keys, items) if keys is not None and len(keys) <= MAX_FIELDS:
            return list(zip(keys, items, strict=True))
        case t.Tuple(items, cls) if cls is tuple and len(items) <= MAX_FIELDS:
            return list(enumerate(items))
    return []


def held_by(s: Writer, obj: Atom, type_: t.Object, origin: Origin) -> dict[str, Atom]:
    """Return what the fields of an instance hold."""
    known = s.unit.fields(obj)
    if known is not None:
        return dict(known)
    return {
        name: Const(field.value) if isinstance(field, t.Static)
        else s.let(Attribute(obj, name), field, name, origin)
        for name, field in type_.fields
    }


def table_of(s: Operations, atom: Atom, origin: Origin) -> Atom:
    """Return the dict that a ``defaultdict`` or an ``OrderedDict`` is; other values as they are."""
    type_ = s.unit.type(atom)
    of_table = isinstance(type_, t.Object) and issubclass(type_.cls, Table)
    return s.attribute(atom, "table", origin) if of_table else atom


def field_of(unit: Unit, obj: Atom, name: str) -> Atom | None:
    """Return the atom of an attribute that a record was made with, None if it is not known."""
    fields = unit.fields(obj)
    return None if fields is None else fields.get(name)
