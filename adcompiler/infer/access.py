"""Names, subscripts and attributes while specialising: what is known becomes a constant."""

from __future__ import annotations

import operator
from functools import singledispatchmethod
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from adcompiler.analyses.storage import is_mutable
from adcompiler.frontend.scope import MISSING, Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Call, Const, Global, Item, Origin, Pack, Slice, Var, unstar,
)
from adcompiler.runtime import cell_value
from adcompiler.runtime.reading import RAISED, attempted
from adcompiler.runtime.records import is_record_class
from adcompiler.infer.calls.operator_methods import call_operator, has_text
from adcompiler.infer.calls.sparse_matrices import refuse_part
from adcompiler.infer.global_state import note_held
from adcompiler.infer.interface import Operations
from adcompiler.infer.objects import (
    attribute_of_instance, call_raw, class_data, dict_owner, field_of, find_raw, live_class,
    namedtuple_attribute, super_attribute,
)
from adcompiler.infer.result_types import cut_out
from adcompiler.infer.lost_types import following
from adcompiler.typed.tables import Path
from adcompiler.typed.values import (
    MAX_FIELDS, CannotStandInError, foreign_array, stand_in, try_types, type_of,
)

PYTHON_NUMBERS = {"bool": bool, "int": int, "float": float, "complex": complex}
READING = frozenset({"index", "count", "copy"})
"""Methods of lists, tuples and dicts that change nothing and are called as they stand."""
ADDRESSES = frozenset({"ctypes", "data", "__array_interface__", "__array_struct__"})
"""Attributes of arrays that lead to their memory."""
MODULE_NAMES = frozenset({"__name__", "__file__", "__doc__", "__package__"})


def data_attribute(value: Any, name: str) -> Any:
    """Return an attribute of a stand-in that is no method; raise if it is one."""
    found = getattr(value, name)
    if callable(found):
        raise CannotStandInError(name)
    return found


def holder_of(owner: Any, name: str) -> Any:
    """Return the class or function that holds an attribute of ``owner``; None for other values."""
    if isinstance(owner, type):
        found = find_raw(owner, name)
        return None if found is None else found[0]
    return owner if isinstance(owner, FunctionType) and name in vars(owner) else None


class Access:
    """The part of type inference that writes how values are reached."""

    def __init__(self, s: Operations) -> None:
        self.s = s
        self.unit = s.unit

    # -- names ---------------------------------------------------------------------------------

    def free(self, name: str, scope: Scope, origin: Origin) -> Atom:
        """Look up a free name: compile-time values become constants, data is read when run."""
        where, value = scope.lookup(name)
        if where == "missing":
            return self.s.raise_if_reached(
                NameError, f"name `{name}` is not defined",
                "define it before the derivative is first called", "undefined-names", origin,
            )
        path: Path | None = None if scope.path is None else (*scope.path, ("free", name))
        if scope.is_rule and where != "builtin":
            self.unit.relied.read_in_rule(scope.module if where == "global" else "", name, value)
        return self.live_value(value, path, name, scope, where, origin)

    def live_value(
        self, value: Any, path: Path | None, name: str, scope: Scope, where: str, origin: Origin
    ) -> Atom:
        """Write the value that a free name has now, or how it is read when the code runs."""
        type_ = type_of(value)
        key = (id(scope.function.__globals__), name)
        if isinstance(type_, t.Static):
            if where == "global":
                self.unit.globals.constants[key] = value
            return self.unit.relied.static(value, path)
        foreign = foreign_array(type_)
        if foreign is not None:
            return self.s.reject(
                origin,
                f"`{name}` is a {foreign.__name__}, whose operators are not those of arrays",
                "use a plain array: np.asarray(matrix), masked.filled(0.0), np.where(mask, ...)",
                "array-classes",
            )
        if name in MODULE_NAMES or (scope.is_rule and isinstance(type_, t.Scalar)):
            return Const(value)
        if path is not None:
            self.unit.relied.facts[path] = value
        if where == "cell" and scope.path == () and name in self.unit.relied.cells:
            return self.unit.relied.cells[name]
        if where == "cell" and scope.path == ():
            var = self.unit.relied.captured.get(name)
            if var is None:
                var = self.unit.relied.captured[name] = Var(name)
                self.unit.set_type(var, type_, True)
            return var if self.s.heap is None else self.s.heap.outside.working_copy(
                ("captured", name), var, origin)
        if where == "cell":
            owner = self.unit.relied.static(scope.function, scope.path)
            index = scope.function.__code__.co_freevars.index(name)
            read = Call(Const(cell_value), (owner, Const(index)))
            if self.s.heap is not None and is_mutable(type_):
                cell = (scope.function.__closure__ or ())[index]
                return self.s.heap.outside.cell_value(cell, read, type_, name, origin)
            return self.s.let(read, type_, name, origin, False)
        module = scope.module
        held = self.s.heap if is_mutable(type_) else None
        if held is not None:
            note_held(self.s, scope.function.__globals__, name, origin)
        if not module:
            owner = self.unit.relied.static(scope.function, scope.path)
            if held is not None:
                var = held.outside.value_of_names(
                    owner, scope.function.__globals__, name, type_, origin)
            else:
                names = self.s.let(Attribute(owner, "__globals__"), t.UNKNOWN, "names", origin)
                var = self.s.let(Item(names, Const(name)), type_, name, origin)
        elif held is not None:
            var = held.outside.global_value(Global(module, name), type_, name, origin)
        else:
            var = self.s.let(Global(module, name), type_, name, origin)
        originals = {} if self.s.heap is None else {
            copy: original for original, (copy, _) in self.s.heap.outside.working.items()}
        self.unit.globals.reads[originals.get(var, var)] = key
        self.know_contents(var, value, path)
        return var

    def know_contents(self, var: Var, value: Any, path: Path | None) -> None:
        """Note the items of a list of a module of which it matters which they are; rely on them."""
        if type(value) is not list or path is None or len(value) > MAX_FIELDS:
            return
        type_ = type_of(value)
        if isinstance(type_, t.List) and type_.contents:
            self.unit.relied.facts[*path, ("contents", "")] = tuple(value)
            self.unit.contents[var] = t.Tuple(type_.contents)

    # -- subscripts ----------------------------------------------------------------------------

    def item(self, obj: Atom, index: Atom, origin: Origin, name: str = "item") -> Atom:
        """Write ``obj[index]``."""
        if self.unit.type(obj) == t.NONE_TYPE:
            return self.s.raise_if_reached(
                TypeError, "'NoneType' object is not subscriptable", "what is None has no items",
                "undefined-names", origin)
        owner = dict_owner(self.unit, obj)
        if owner is not None and isinstance(index, Const) and isinstance(index.value, str) and (
            isinstance(held := self.unit.type(owner), t.Object)
            and held.field(index.value) is not None
            and not any(hasattr(part, "__set__") for part in find_raw(held.cls, index.value) or ())
        ):
            return self.attribute(owner, index.value, origin, name)
        elements = self.unit.elements(obj)
        if elements is not None and isinstance(index, Const):
            picked = self.pick(obj, elements, index.value, origin, name)
            if picked is not None:
                return picked
        type_ = self.unit.type(obj)
        if isinstance(type_, t.Object) or (isinstance(type_, t.Tuple) and type_.cls is not tuple):
            made = call_operator(self.s, operator.getitem, [obj, index], origin, name)
            if made is not None:
                return made
        rhs = self.unit.definition(obj)
        if isinstance(rhs, Attribute) and rhs.name == "flat" and isinstance(
            self.unit.type(rhs.obj), t.Array
        ):
            ravel = self.attribute(rhs.obj, "ravel", origin)
            return self.item(self.s.call(ravel, [], {}, origin, "elements"), index, origin, name)
        if isinstance(obj, Var) and isinstance(index, Const) and not isinstance(type_, t.Object):
            part = self.unit.part(obj, index.value)
            if part is not None:
                return part
        if isinstance(type_, t.Dict) and isinstance(index, Const) and isinstance(rhs, Pack):
            for key, value in zip(rhs.keys, rhs.items, strict=True):
                if isinstance(key, Const) and key.value == index.value:
                    return unstar(value)
        known = isinstance(obj, Const) and isinstance(obj.value, (type, dict))
        if isinstance(obj, Const) and isinstance(index, Const) and known:
            value = attempted(operator.getitem, obj.value, index.value)
            return Const(value) if value is not RAISED else self.s.let(
                Item(obj, index), t.UNKNOWN, name, origin)
        is_one = isinstance(self.unit.type(index), t.Scalar)  # a part of a list is a list
        held = self.unit.contents.get(obj, type_) if is_one else type_
        found = self.s.types.of_item(held, index)
        if isinstance(found, t.Static):
            return Const(found.value)
        return self.s.let(Item(obj, index), found, name, origin)

    def pick(
        self, obj: Atom, elements: tuple[Atom, ...], key: Any, origin: Origin, name: str
    ) -> Atom | None:
        """Write a constant subscript of a value made of ``elements``; None if it has no such."""
        if isinstance(key, int) and -len(elements) <= key < len(elements):
            return elements[key]
        if isinstance(key, slice) and (part := cut_out(elements, key)) is not None:
            kind = "list" if isinstance(self.unit.type(obj), t.List) else "tuple"
            return self.s.pack(kind, part, name, origin)
        return None

    # -- attributes ----------------------------------------------------------------------------

    def attribute(self, obj: Atom, name: str, origin: Origin, hint: str = "") -> Atom:
        """Write ``obj.name``."""
        hint = hint or name
        if isinstance(obj, Const):
            return self.static_attribute(obj, name, origin, hint)
        type_ = self.unit.type(obj)
        match type_:
            case t.Array(dtype, ndim):
                if name == "ndim":
                    return Const(ndim)
                if name in ADDRESSES and self.s.heap is not None:
                    return self.s.reject(
                        origin, f"`.{name}` gives away where an array lies in memory; what is "
                        "written there is not seen", "give the function the array itself, or make "
                        "it an ExternalFunction", "unknown-calls",
                    )
                if name == "dtype" and type_.kind != "other":
                    return Const(np.dtype(dtype))
                return self.array_attribute(obj, type_, name, origin, hint)
            case t.Scalar() if not type_.exact:
                return self.s.let(Attribute(obj, name), self.s.types.of_call(
                    lambda value: data_attribute(value, name), [obj], {}), hint, origin)
            case t.Scalar(_, dtype):
                if dtype is not None and name in ("ndim", "shape", "size", "dtype"):
                    return Const(getattr(np.dtype(dtype).type(0), name))
                return self.array_attribute(obj, type_, name, origin, hint)
            case t.Tuple(_, cls) if cls is not tuple and name in getattr(cls, "_fields", ()):
                position = list(getattr(cls, "_fields", ())).index(name)
                return self.item(obj, Const(position), origin, hint)
            case (t.Tuple() | t.List() | t.Dict()) if name in READING:
                cls = {t.Tuple: tuple, t.List: list, t.Dict: dict}[type(type_)]
                if hasattr(cls, name) and (
                    not isinstance(type_, t.Tuple) or find_raw(type_.cls, name) == find_raw(
                        tuple, name)
                ):
                    return self.s.let(
                        Attribute(obj, name), t.Method(getattr(cls, name)), hint, origin)
            case t.Tuple(_, cls) if cls is not tuple:
                made = namedtuple_attribute(self.s, obj, cls, name, origin, hint)
                if made is not None:
                    return made
            case t.Object(cls, _):
                return self.object_attribute(obj, type_, name, origin, hint)
            case t.SliceType() if isinstance(cut := self.unit.definition(obj), Slice):
                bounds = {"start": cut.lower, "stop": cut.upper, "step": cut.step}
                if name in bounds:
                    return bounds[name]
        inherited = super_attribute(self.s, obj, name, origin, hint)
        if inherited is not None:
            return inherited
        return self.s.let(Attribute(obj, name), t.UNKNOWN, hint, origin)

    def static_attribute(self, obj: Const, name: str, origin: Origin, hint: str) -> Atom:
        """Write an attribute of a value that is known when compiling."""
        if obj is UNDEF:
            return UNDEF  # reported where it was looked up
        try:
            value = getattr(obj.value, name)
        except Exception as error:  # whatever the program's own attribute raises is told
            return self.s.reject(
                origin, f"{type(error).__name__}: {error}", "use a name that exists",
                "undefined-names",
            )
        path = self.unit.relied.paths.get(id(obj.value))
        type_ = type_of(value)
        if isinstance(type_, t.Static):
            if path is None and isinstance(obj.value, ModuleType):
                self.unit.relied.read_in_rule(obj.value.__name__, name, value)
            return self.unit.relied.static(value, None if path is None else (*path, ("attr", name)))
        folded = isinstance(obj.value, (np.dtype, type(None), int, float, str))
        if folded or (isinstance(value, str) and name.startswith("__")):
            return Const(value) if isinstance(type_, (t.Text, t.Scalar)) else self.s.let(
                Attribute(obj, name), type_, hint, origin)
        if path is not None:
            self.unit.relied.facts[*path, ("attr", name)] = value
        module = getattr(obj.value, "__name__", None) if hasattr(obj.value, "__spec__") else None
        if module is not None and self.s.heap is not None and is_mutable(type_):
            note_held(self.s, vars(obj.value), name, origin)
            return self.s.heap.outside.global_value(Global(str(module), name), type_, hint, origin)
        if module is not None:
            var = self.s.let(Global(str(module), name), type_, hint, origin)
            self.unit.globals.reads[var] = (id(vars(obj.value)), name)
            return var
        owner = holder_of(obj.value, name)
        if owner is not None and self.s.heap is not None and is_mutable(type_):
            holder = obj if owner is obj.value else live_class(self.unit, owner)
            return self.s.heap.outside.attribute_value(holder, name, type_, hint, origin)
        return self.s.let(Attribute(obj, name), type_, hint, origin)

    def array_attribute(
        self, obj: Atom, type_: t.Array | t.Scalar, name: str, origin: Origin, hint: str
    ) -> Atom:
        """Write an attribute of an array or number."""
        python_number = isinstance(type_, t.Scalar) and type_.dtype is None
        owner = np.ndarray if isinstance(type_, t.Array) else (
            PYTHON_NUMBERS[type_.kind] if type_.dtype is None else np.dtype(type_.dtype).type)
        descriptor = getattr(owner, name, None)
        if descriptor is None:
            return self.s.reject(
                origin, f"{'numbers' if python_number else 'arrays'} have no attribute `{name}`",
                "use an attribute that exists", "undefined-names",
            )
        if callable(descriptor):
            return self.s.let(Attribute(obj, name), t.Method(descriptor), hint, origin)
        found = try_types(lambda value: getattr(value, name), lambda n: ((stand_in(type_, n),), {}))
        if name == "flat":
            found = t.UNKNOWN
        return self.s.let(Attribute(obj, name), found, hint, origin)

    def object_attribute(
        self, obj: Atom, type_: t.Object, name: str, origin: Origin, hint: str
    ) -> Atom:
        """Write an attribute of an instance: a field, a property, a class attribute or a method."""
        known = attribute_of_instance(self.s, obj, type_.cls, name, origin, hint) or field_of(
            self.unit, obj, name
        )
        if known is not None:
            return known
        field = type_.field(name)
        if field is not None:
            if isinstance(field, t.Static):
                return Const(field.value)
            return self.s.let(Attribute(obj, name), field, hint, origin)
        found = find_raw(type_.cls, name)
        raw = MISSING if found is None else found[1]
        if found is not None and is_record_class(type_.cls) and not hasattr(type(raw), "__get__"):
            return class_data(self.s, type_.cls, name, origin, hint)
        if found is not None and is_record_class(type_.cls):  # without asking the descriptor
            is_method = callable(raw) or isinstance(
                raw, (staticmethod, classmethod, singledispatchmethod))
            return self.s.let(
                Attribute(obj, name), t.Method(raw) if is_method else t.UNKNOWN, hint, origin
            )
        static = getattr(type_.cls, name, MISSING)
        if isinstance(static, property) and static.fget is not None:
            path = (("live", type_.cls), ("attr", name), ("attr", "fget"))
            return self.s.call(self.unit.relied.static(static.fget, path), [obj], {}, origin, hint)
        computed = hasattr(type(static), "__set__")  # as `ndim` of a subclass of arrays
        if static is not MISSING and not callable(static) and not computed and isinstance(
            type_of(static), t.Static
        ):
            return self.unit.relied.static(static, (("live", type_.cls), ("attr", name)))
        if callable(static):
            return self.s.let(Attribute(obj, name), t.Method(static), hint, origin)
        made_up = find_raw(type_.cls, "__getattr__")
        absent = static is MISSING and found is None and len(type_.fields) < MAX_FIELDS
        if absent and made_up is not None and has_text(made_up[1]):
            return call_raw(
                self.s, obj, type_.cls, "__getattr__", made_up, [Const(name)], {}, origin, hint)
        if absent and refuse_part(self.s, type_, name, origin):
            return UNDEF
        if absent and not (
            hasattr(type_.cls, "__getattr__") or issubclass(type_.cls, np.ndarray)
        ):
            self.s.report(following(self.unit, name, origin.finding(
                f"this {type_.cls.__name__} has no attribute `{name}`",
                "use an attribute that exists", "undefined-names",
            )))
            return UNDEF
        return self.s.let(Attribute(obj, name), t.UNKNOWN, hint, origin)
