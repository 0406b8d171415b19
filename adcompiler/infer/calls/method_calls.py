"""Calls of methods of values that are not known when compiling."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Mapping
from types import MethodDescriptorType
from typing import Any

import numpy as np

from adcompiler.prelude.replacements import replacement_of
from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, UNDEF, Atom, Call, Const, Origin, Star, Var
from adcompiler.ir.operators import IN_PLACE
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import dict_keys, dict_values
from adcompiler.infer.calls.binding import plain_call
from adcompiler.infer.calls.effects import NEW_CONTAINER, refused
from adcompiler.infer.calls.libraries import is_namedtuple
from adcompiler.infer.calls.random_draws import GENERATORS, PICKING, type_of_draw
from adcompiler.infer.calls.special_methods import as_operator, method_of_law
from adcompiler.infer.calls.tables import reads_of_table
from adcompiler.infer.calls.unknown import call_unknown
from adcompiler.infer.folds.getters import get_entry
from adcompiler.infer.folds.sequence import opened_dict
from adcompiler.infer.objects import call_raw, call_super, dict_owner, find_raw
from adcompiler.infer.storage.container_methods import call_dict_method, call_list_method
from adcompiler.infer.storage.container_fields import refuse_in_derivative
from adcompiler.infer.lost_types import OF_ONE_CLASS, SEEN
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer

LIST_WRITES = frozenset({
    "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse",
})
DICT_WRITES = frozenset({"update", "pop", "popitem", "setdefault", "clear"})
ARRAY_WRITES = frozenset({
    "sort", "fill", "put", "partition", "resize", "setfield", "setflags", "itemset",
})
IN_PLACE_METHODS: dict[str, Any] = {
    **{f"__{function.__name__}__": function for function in IN_PLACE},
    "__setitem__": operator.setitem, "__delitem__": operator.delitem,
}
"""Methods that write into an array, list or dict, with the operators that do the same."""
ONE_BY_ONE = ("reshape", "transpose")
"""What methods mean that take the items of a tuple one by one, too."""
POSITIONS = frozenset({list.index, list.count, tuple.index, tuple.count})
WRITES = LIST_WRITES | DICT_WRITES | ARRAY_WRITES
BUILTIN_METHODS = frozenset(
    name for cls in (np.ndarray, np.generic, str, bytes, list, tuple, dict, frozenset, complex)
    for name in dir(cls)
)
"""Names of methods that do not write into their object; those that do have been refused."""


def call_method(
    s: Operations, func: Atom, obj: Atom, method: str, type_: t.Type, args: list[Atom],
    kwargs: dict[str, Atom], origin: Origin, name: str,
) -> Atom:
    """Write the call of a method of a value that is not known when compiling."""
    owner = s.unit.type(obj)
    if method in IN_PLACE_METHODS and isinstance(owner, (t.Array, t.List, t.Dict)) and not kwargs:
        return s.call(Const(IN_PLACE_METHODS[method]), [obj, *args], {}, origin, name)
    special = None if kwargs else as_operator(s, obj, method, args, origin, name)
    if special is not None:
        return special
    draws = isinstance(owner, t.Object) and any(owner.cls is one for one in GENERATORS) and not (
        owner.cls is random.Random and method in PICKING)
    if draws and writes_draws(method, kwargs):
        return call_unknown(s, func, args, kwargs, origin, name)
    if isinstance(owner, t.Object) and draws:
        found = type_of_draw(s, owner.cls, method, args, kwargs)
        descriptor = getattr(owner.cls, method, None)
        if REGISTRY.find(descriptor) is not None:
            return s.let(plain_call(Const(descriptor), [obj, *args], kwargs), found, name, origin)
        return s.let(plain_call(func, args, kwargs), found, name, origin)
    if isinstance(type_, t.Method):
        return call_descriptor(s, func, obj, type_.descriptor, method, args, kwargs, origin, name)
    made: Atom | None = None
    if isinstance(owner, t.Tuple):
        made = call_tuple_method(s, obj, owner, method, args, kwargs, origin, name)
    elif isinstance(owner, (t.List, t.Dict)):
        made = call_container_method(s, obj, owner, method, args, kwargs, origin, name)
    elif isinstance(owner, t.Unknown) and method == "update" and (
        instance := dict_owner(s.unit, obj)
    ) is not None:
        made = update_attributes(s, instance, args, kwargs, origin)
    elif isinstance(owner, t.Unknown):
        made = refuse_unknown(s, obj, method, args, kwargs, origin)
    if made is not None:
        return made
    if isinstance(owner, t.Text):
        found = s.types.of_call(
            lambda x, *a, **k: getattr(x, method)(*a, **k), [obj, *args], kwargs)
        return s.let(plain_call(func, args, kwargs), found, name, origin)
    return s.let(plain_call(func, args, kwargs), t.UNKNOWN, name, origin)


def call_descriptor(
    s: Operations, func: Atom, obj: Atom, descriptor: Callable[..., Any], method: str,
    args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str,
) -> Atom:
    """Write the call of a method that the class of a value has."""
    owner = s.unit.type(obj)
    if isinstance(owner, t.Object):
        return call_object_method(s, owner, obj, method, args, kwargs, origin, name)
    inherited = call_super(s, obj, method, args, kwargs, origin, name)
    if inherited is not None:
        return inherited
    if refused(s, descriptor, args, kwargs, origin, f".{method}"):
        return UNDEF
    if isinstance(owner, t.Array | t.Scalar):
        return call_numeric_method(s, obj, descriptor, args, kwargs, origin, name)
    found = s.types.of_call(
        lambda x, *a, **k: getattr(x, method)(*a, **k), [obj, *args], kwargs)
    if descriptor in POSITIONS:
        found = t.INT
    if isinstance(found, t.Static):
        return Const(found.value) if REGISTRY.inactive(descriptor) else s.let(
            plain_call(func, args, kwargs), t.UNKNOWN, name, origin)
    return s.let(plain_call(func, args, kwargs), found, name, origin)


def call_numeric_method(
    s: Operations, obj: Atom, function: Callable[..., Any], args: list[Atom],
    kwargs: dict[str, Atom], origin: Origin, name: str,
) -> Atom:
    """Write the method of an array or number as the call of the function that its class has.

    That is one form with calls of the functions of NumPy that do the same, of which such a method
    is another spelling; it is written as a method again.
    """
    if REGISTRY.facts(function).writes_nothing or isinstance(s.unit.type(obj), t.Scalar):
        return s.call(Const(function), [obj, *args], kwargs, origin, name)
    replacement = replacement_of(function)
    if replacement is not None and s.heap is not None:
        return s.call(Const(replacement), [obj, *args], kwargs, origin, name)
    return refuse_method(s, s.unit.type(obj), function.__name__, origin)


def in_one_tuple(s: Writer, method: Any, args: list[Atom], origin: Origin) -> list[Any]:
    """Return the arguments of a method, with lengths or axes given one by one in a tuple."""
    if len(args) < 3 or not isinstance(method, MethodDescriptorType) or (
        REGISTRY.facts(method).means not in ONE_BY_ONE
    ) or any(isinstance(arg, Star) for arg in args):
        return args
    return [args[0], s.pack("tuple", tuple(args[1:]), "shape", origin)]


def call_tuple_method(
    s: Operations, obj: Atom, owner: t.Tuple, method: str, args: list[Atom],
    kwargs: dict[str, Atom], origin: Origin, name: str,
) -> Atom | None:
    """Write the call of a method that a class of tuples has of its own; None if it has not."""
    if is_namedtuple(owner.cls) and not args and method in ("_replace", "_asdict"):
        return with_fields(s, obj, owner, method, kwargs, origin, name)
    member = find_raw(owner.cls, method)
    if member is not None and member[0] is not tuple:
        return call_raw(s, obj, owner.cls, method, member, args, kwargs, origin, name)
    return None


def call_container_method(
    s: Operations, obj: Atom, owner: t.List | t.Dict, method: str, args: list[Atom],
    kwargs: dict[str, Atom], origin: Origin, name: str,
) -> Atom | None:
    """Write the call of a method of a list or dict; None if it reads only."""
    if isinstance(owner, t.Dict):
        if method == "items" and not args:
            return s.let(Call(Const(dict.items), (obj,)), t.UNKNOWN, "entries", origin)
        if method in ("keys", "values") and not args:
            function = dict_keys if method == "keys" else dict_values
            return s.call(Const(function), [obj], {}, origin, method)
        if method == "get" and args and isinstance(args[0], Const) and owner.keys is not None:
            if args[0].value in owner.keys:
                return s.item(obj, args[0], origin, name)
            return args[1] if len(args) > 1 else NONE
        if method == "get" and args and not kwargs:
            return get_entry(s, obj, args, origin, name)
    writes = LIST_WRITES if isinstance(owner, t.List) else DICT_WRITES
    if method in writes and s.heap is not None and isinstance(obj, Var):
        change = call_list_method if isinstance(owner, t.List) else call_dict_method
        return change(s, obj, method, args, kwargs, origin, name)
    if method in writes:
        return s.reject(
            origin, f"changing a {'list' if isinstance(owner, t.List) else 'dict'} in place "
            f"(`.{method}`) is not supported yet", NEW_CONTAINER, "in-place-containers",
        )
    class_ = list if isinstance(owner, t.List) else dict
    if not REGISTRY.facts(getattr(class_, method, None)).writes_nothing:
        return refuse_method(s, owner, method, origin)
    return None


def update_attributes(
    s: Operations, instance: Atom, args: list[Atom], kwargs: dict[str, Atom], origin: Origin
) -> Atom | None:
    """Write ``instance.__dict__.update(...)`` as stores; None where the keys are not known."""
    opened = opened_dict(s, args[0], origin) if len(args) == 1 else []
    if opened is None or len(args) > 1:
        return None
    entries = [*opened, *((Const(key), value) for key, value in kwargs.items())]
    for key, value in entries:
        s.call(Const(object.__setattr__), [instance, key, value], {}, origin, "ignored")
    return NONE


def refuse_unknown(
    s: Writer, obj: Atom, method: str, args: list[Atom], kwargs: dict[str, Atom], origin: Origin
) -> Atom | None:
    """Report a method of a value of unknown type that may write into it; None if it does not."""
    if s.in_emitted and (method in IN_PLACE_METHODS or method in WRITES):
        return refuse_in_derivative(s, origin)
    if method in IN_PLACE_METHODS or fills_argument(method, args, kwargs):
        return s.reject(
            origin, f"`.{method}()` writes into a value of which the type is not known when "
            "compiling", SEEN, "unknown-writes", obj,
        )
    if method in WRITES:
        return s.reject(
            origin, f"`.{method}()` may write into a value of which the type is not known when "
            "compiling", SEEN, "unknown-writes", obj,
        )
    held_by = holders(s, obj) if method not in BUILTIN_METHODS else []
    if held_by and not reads_of_table(method, held_by, kwargs):
        return s.reject(
            origin, f"`.{method}()` of a value whose class is not known when compiling may write "
            "into it", OF_ONE_CLASS, "unknown-writes", obj,
        )
    return None


def refuse_method(s: Writer, owner: t.Type, method: str, origin: Origin) -> Atom:
    """Report a method of an array or container that may write into it."""
    if isinstance(owner, t.Array):
        return s.reject(
            origin, f".{method}() may write into the array in a way that is not supported",
            "write x[index] = value", "array-writes",
        )
    return s.reject(
        origin, f".{method}() may change its object in a way that is not supported", NEW_CONTAINER,
        "in-place-containers",
    )


def writes_draws(method: str, kwargs: Mapping[str, Atom]) -> bool:
    """Say whether a method of a random generator writes into an argument."""
    return "out" in kwargs or method == "shuffle"


def fills_argument(method: str, args: list[Atom], kwargs: Mapping[str, Atom]) -> bool:
    """Say whether a method is given an array for its result, if its owner is an array."""
    known = REGISTRY.facts(getattr(np.ndarray, method, None))
    if known.output is None:
        return False
    name, position = known.output
    given = kwargs.get(name, NONE)
    if position is not None and position - 1 < len(args):
        given = args[position - 1]
    return not (isinstance(given, Const) and given.value is None)


def holders(s: Writer, obj: Atom) -> list[t.Type]:
    """Return the types of containers known when compiling that hold a value, or may hold it."""
    if s.heap is None:
        return []
    return [
        s.unit.type(root)
        for own in s.heap.roots(obj) for root in (own, *s.heap.state.may_alias.get(own, ()))
        if root is not obj and isinstance(
            s.unit.type(root), (t.List, t.Tuple, t.Dict, t.Object))
    ]


def with_fields(
    s: Operations, obj: Atom, owner: t.Tuple, method: str, kwargs: dict[str, Atom], origin: Origin,
    name: str,
) -> Atom:
    """Write ``_replace`` or ``_asdict`` of a namedtuple."""
    names: tuple[str, ...] = getattr(owner.cls, "_fields", ())
    fields = {
        f: kwargs[f] if f in kwargs else s.item(obj, Const(i), origin, f)
        for i, f in enumerate(names)
    }
    if kwargs.keys() - fields.keys():
        return s.reject(
            origin, f"{owner.cls.__name__} has no field `{min(kwargs.keys() - fields.keys())}`",
            f"it has {', '.join(names)}", "call-arguments",
        )
    if method == "_asdict":
        return s.pack_dict([(Const(f), value) for f, value in fields.items()], origin, name)
    return s.call(Const(owner.cls), list(fields.values()), {}, origin, name)


def call_object_method(
    s: Operations, owner: t.Object, obj: Atom, method: str, args: list[Atom],
    kwargs: dict[str, Atom], origin: Origin, name: str,
) -> Atom:
    """Write the call of a method of an instance, as its class defines it."""
    law = method_of_law(s, owner, obj, method, origin)
    if law is not None:
        return s.call(law, args, kwargs, origin, name)
    found = find_raw(owner.cls, method)
    if found is not None:
        return call_raw(s, obj, owner.cls, method, found, args, kwargs, origin, name)
    return s.reject(
        origin, f"{owner.cls.__name__} has no method `{method}`", "call a method that exists",
        "undefined-names",
    )
