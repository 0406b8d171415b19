"""Calls: which function is meant, how arguments bind, and whether it is opened or called."""

from __future__ import annotations

import functools
import inspect
import os
import sysconfig
import types as python_types
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from adcompiler.analyses.purity import CHECKS
from adcompiler.analyses.values import type_of
from adcompiler.errors import ADError
from adcompiler.frontend.functions import lower
from adcompiler.frontend.replacements import REPLACEMENTS
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Attribute, Block, Call, Closure, Const, Function, Item, Let, Origin, Pack,
    Param, Star, Statement, Unsupported, Var, substitute, unstar,
)
from adcompiler.ir.visit import size, walk
from adcompiler.rulekit.registry import REGISTRY, root_module
from adcompiler.runtime import dict_keys, dict_values
from adcompiler.transforms.effects import NEW_CONTAINER, refused
from adcompiler.transforms.defaults import without_defaults
from adcompiler.transforms.folds import FOLDS, class_of, fold_constants
from adcompiler.transforms.specialise import Specialiser, simple
from adcompiler.transforms.unit import Callee

INLINE_SIZE = 30
MAX_DEPTH = 60
PURE_ROOTS = frozenset({"numpy", "math", "cmath", "operator", "scipy"})
LIST_WRITES = frozenset("append extend insert pop remove clear sort reverse".split())
DICT_WRITES = frozenset("update pop popitem setdefault clear".split())
ARRAY_WRITES = frozenset("sort fill put partition resize setfield setflags itemset".split())
WRITES = LIST_WRITES | DICT_WRITES | ARRAY_WRITES


def call(
    s: Specialiser, func: Atom, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write the call ``func(*args, **kwargs)`` and return the atom of its result."""
    if func is UNDEF:
        return UNDEF  # reported where it was looked up
    if isinstance(func, Const):
        return call_value(s, func, args, kwargs, origin, name)
    rhs = s.unit.definition(func)
    type_ = s.unit.type(func)
    match rhs:
        case Closure():
            return call_closure(s, func, rhs, args, kwargs, origin, name)
        case Attribute(obj, method):
            return call_method(s, func, obj, method, type_, args, kwargs, origin, name)
        case Call(Const(value), (inner, *first), keywords) if value is functools.partial:
            merged = {**{k: v for k, v in keywords if k}, **kwargs}
            return call(s, inner, [*first, *args], merged, origin, name)  # type: ignore[arg-type]
    if isinstance(type_, t.Object) and getattr(type_.cls, "is_derivative", False):
        return s.reject(
            origin, "the derivative of a derivative is not supported yet",
            "call the function itself: below @grad its name means the derivative, so leave the "
            "decorator away and write `df = grad(f)`", "higher-order",
        )
    if isinstance(type_, t.Object) and callable(getattr(type_.cls, "__call__", None)):
        return call_object_method(s, type_, func, "__call__", args, kwargs, origin, name)
    if isinstance(type_, t.FunctionType) or any(
        t.may_vary(s.unit.type(a)) for a in (*atoms(args), *kwargs.values())
    ):
        return s.reject(
            origin, "which function is called here depends on data",
            "use if and elif with one call in each branch, so that each call names its function",
            "unknown-callable",
        )
    return s.let(plain_call(func, args, kwargs), t.UNKNOWN, name, origin)


def atoms(args: list[Any]) -> list[Atom]:
    """Return call arguments without their stars."""
    return [arg.atom if isinstance(arg, Star) else arg for arg in args]


def plain_call(func: Atom, args: list[Any], kwargs: Mapping[str, Atom]) -> Call:
    """Return the right-hand side of a call."""
    return Call(func, tuple(args), tuple(kwargs.items()))


def call_value(
    s: Specialiser, func: Const, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write a call of a function that is known when compiling."""
    value = func.value
    if isinstance(value, Callee):
        return s.let(plain_call(func, args, kwargs), value.result, name, origin)
    if refused(s, value, args, kwargs, origin, getattr(value, "__name__", name)):
        return UNDEF
    if isinstance(value, functools.partial):
        path = s.unit.paths.get(id(value))
        inner = s.unit.static(value.func, None if path is None else (*path, ("attr", "func")))
        first = [literal(s, v, func, ("args", i), origin) for i, v in enumerate(value.args)]
        named = {
            k: literal(s, v, func, ("keywords", k), origin) for k, v in value.keywords.items()
        }
        return call(s, inner, [*first, *args], {**named, **kwargs}, origin, name)
    fold = FOLDS.get(value) if _hashable(value) else None
    if fold is not None:
        folded = fold(s, args, kwargs, origin, name)
        if folded is not None:
            return folded
    replacement = REPLACEMENTS.get(value) if _hashable(value) else None
    if replacement is not None:
        return call_python(s, Const(replacement), replacement, args, kwargs, origin, name)
    if is_runtime(value):
        return primitive(s, func, args, kwargs, origin, name, value not in CHECKS)
    if isinstance(getattr(value, "__self__", None), str):
        return primitive(s, func, args, kwargs, origin, name, True)
    rule = REGISTRY.find(value, tuple(class_of(s, a) for a in args if not isinstance(a, Star)))
    inactive = REGISTRY.inactive(value)
    if rule is not None or inactive is not None:
        return primitive(s, func, args, kwargs, origin, name, inactive is None or inactive.pure)
    if is_namedtuple(value) and not any(isinstance(arg, Star) for arg in args):
        return make_namedtuple(s, func, args, kwargs, origin, name)
    if isinstance(value, python_types.MethodType):
        path = s.unit.paths.get(id(value))
        inner = s.unit.static(value.__func__, None if path is None else (*path, ("attr", "__func__")))
        receiver = literal(s, value.__self__, func, ("attr", "__self__"), origin)
        return call(s, inner, [receiver, *args], kwargs, origin, name)
    original = getattr(value, "__wrapped__", None)
    if not isinstance(value, python_types.FunctionType) and isinstance(
        original, python_types.FunctionType
    ):
        path = s.unit.paths.get(id(value))
        value = original
        func = s.unit.static(value, None if path is None else (*path, ("attr", "__wrapped__")))
    if isinstance(value, python_types.FunctionType):
        return call_python(s, func, value, args, kwargs, origin, name)
    return primitive(
        s, func, args, kwargs, origin, name, root_module(value) in PURE_ROOTS and pure_library(value)
    )


def is_namedtuple(value: Any) -> bool:
    """Say whether ``value`` is a class made by ``namedtuple`` or ``NamedTuple``."""
    return (
        isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")
        and value.__init__ is object.__init__
    )


def make_namedtuple(
    s: Specialiser, func: Const, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write the making of a namedtuple, with its fields in order."""
    cls = func.value
    try:
        bound = inspect.signature(cls).bind(*args, **kwargs)
    except TypeError as error:
        return s.reject(origin, f"{cls.__name__}(): {error}", "call it with matching arguments", "")
    defaults = cls._field_defaults
    fields = [
        bound.arguments[f] if f in bound.arguments else
        s.item(s.attribute(func, "_field_defaults", origin), Const(f), origin, f)
        for f in cls._fields if f in bound.arguments or f in defaults
    ]
    types = tuple(s.unit.type(atom) for atom in fields)
    return s.let(Call(func, tuple(fields)), t.Tuple(types, cls), name, origin)


def is_runtime(value: Any) -> bool:
    """Say whether a function belongs to the runtime of emitted code, which is never opened."""
    return str(getattr(value, "__module__", "")).startswith("adcompiler.runtime")


def pure_library(value: Any) -> bool:
    """Say whether a library function without a rule may be tried on stand-in values."""
    module = getattr(value, "__module__", "") or ""
    return "random" not in str(module) and not isinstance(value, type)


def literal(s: Specialiser, value: Any, owner: Const, step: tuple[str, Any], origin: Origin) -> Atom:
    """Return the atom of a value held by a function object (a default, a partial's argument)."""
    type_ = type_of(value)
    if isinstance(type_, t.Static) or simple(value):
        path = s.unit.paths.get(id(owner.value))
        return s.unit.static(value, None if path is None or simple(value) else (*path, step))
    kind, key = step
    if kind == "attr":
        return s.let(Attribute(owner, str(key)), type_, str(key), origin)
    holder = s.let(Attribute(owner, kind), t.UNKNOWN, kind, origin)
    return s.let(Item(holder, Const(key)), type_, "default", origin)


def primitive(
    s: Specialiser, func: Const, args: list[Any], kwargs: dict[str, Atom], origin: Origin,
    name: str, pure: bool,
) -> Atom:
    """Write a call that stays a call."""
    if pure:
        folded = fold_constants(func.value, args, kwargs)
        if folded is not None:
            return folded
    args, kwargs = without_defaults(func.value, args, kwargs)
    type_ = s.type_of_call(func.value, args, kwargs) if pure else t.UNKNOWN
    if isinstance(type_, t.Static) and pure:
        return Const(type_.value)
    return s.let(plain_call(func, args, kwargs), type_, name, origin)


# -- methods ---------------------------------------------------------------------------------------


def call_method(
    s: Specialiser, func: Atom, obj: Atom, method: str, type_: t.Type, args: list[Any],
    kwargs: dict[str, Atom], origin: Origin, name: str,
) -> Atom:
    """Write the call of a method of a value that is not known when compiling."""
    owner = s.unit.type(obj)
    if isinstance(type_, t.Method):
        descriptor = type_.descriptor
        if isinstance(owner, t.Object):
            return call_object_method(s, owner, obj, method, args, kwargs, origin, name)
        if refused(s, descriptor, args, kwargs, origin, f".{method}"):
            return UNDEF
        _, kwargs = without_defaults(descriptor, [], kwargs)
        rest = [obj, *args]
        found = s.type_of_call(descriptor, rest, kwargs) if isinstance(
            owner, t.Array
        ) else s.type_of_call(lambda x, *a, **k: getattr(x, method)(*a, **k), rest, kwargs)
        if isinstance(found, t.Static):
            return Const(found.value) if REGISTRY.inactive(descriptor) else s.let(
                plain_call(func, args, kwargs), t.UNKNOWN, name, origin)
        return s.let(plain_call(func, args, kwargs), found, name, origin)
    if isinstance(owner, t.Tuple) and is_namedtuple(owner.cls) and callable(
        vars(owner.cls).get(method)
    ) and not method.startswith("_"):
        return call(s, Const(vars(owner.cls)[method]), [obj, *args], kwargs, origin, name)
    if isinstance(owner, t.Dict):
        if method == "items" and not args:
            return s.let(Call(Const(dict.items), (obj,)), t.UNKNOWN, "entries", origin)
        if method in ("keys", "values") and not args:
            function = dict_keys if method == "keys" else dict_values
            return call(s, Const(function), [obj], {}, origin, method)
        if method == "get" and args and isinstance(args[0], Const) and owner.keys is not None:
            if args[0].value in owner.keys:
                return s.item(obj, args[0], origin, name)
            return args[1] if len(args) > 1 else NONE
    writes = LIST_WRITES if isinstance(owner, t.List) else DICT_WRITES
    if isinstance(owner, (t.List, t.Dict)) and method in writes:
        return s.reject(
            origin, f"changing a {'list' if isinstance(owner, t.List) else 'dict'} in place "
            f"(`.{method}`) is not supported yet", NEW_CONTAINER, "in-place-containers",
        )
    if isinstance(owner, t.Unknown) and method in WRITES:
        return s.reject(
            origin, f"changing a value in place (`.{method}`) is not supported yet",
            f"{NEW_CONTAINER}, np.sort(x)", "in-place-containers",
        )
    if isinstance(owner, t.Text):
        found = s.type_of_call(lambda x, *a, **k: getattr(x, method)(*a, **k), [obj, *args], kwargs)
        return s.let(plain_call(func, args, kwargs), found, name, origin)
    return s.let(plain_call(func, args, kwargs), t.UNKNOWN, name, origin)


def call_object_method(
    s: Specialiser, owner: t.Object, obj: Atom, method: str, args: list[Any],
    kwargs: dict[str, Atom], origin: Origin, name: str,
) -> Atom:
    for cls in owner.cls.__mro__:
        if method in vars(cls):
            raw = vars(cls)[method]
            path = (("live", owner.cls), ("attr", method))
            if isinstance(raw, staticmethod):
                return call(s, s.unit.static(raw.__func__, path), args, kwargs, origin, name)
            if isinstance(raw, classmethod):
                func = s.unit.static(raw.__func__, (*path, ("attr", "__func__")))
                return call(s, func, [Const(owner.cls), *args], kwargs, origin, name)
            return call(s, s.unit.static(raw, path), [obj, *args], kwargs, origin, name)
    return s.reject(
        origin, f"{owner.cls.__name__} has no method `{method}`", "call a method that exists",
        "undefined-names",
    )


# -- user functions --------------------------------------------------------------------------------


def call_python(
    s: Specialiser, func: Const, function: python_types.FunctionType, args: list[Any],
    kwargs: dict[str, Atom], origin: Origin, name: str,
) -> Atom:
    """Write a call of a function written in Python."""
    in_rule = s.in_rule
    path = s.unit.path_of(function)
    try:
        definition = lower(function)
    except ADError:
        return s.let(plain_call(func, args, kwargs), t.UNKNOWN, name, origin)
    scope = Scope(function, path)
    defaults = function.__defaults__ or ()
    positional = [p for p in definition.params if p.kind in (0, 1)]
    first = len(positional) - len(defaults)

    def default(param: Param) -> Atom | None:
        if param.kind == 3:
            table = function.__kwdefaults__ or {}
            key = param.var.name
            if key not in table:
                return None
            return literal(s, table[key], func, ("__kwdefaults__", key), origin)
        index = positional.index(param) - first if param in positional else -1
        if index < 0:
            return None
        return literal(s, defaults[index], func, ("__defaults__", index), origin)

    rejects = any(isinstance(statement, Unsupported) for statement in walk(definition.body))
    if rejects:
        static = static_result(s, function, args, kwargs)
        if static is not None:
            return static
    bound = bind(s, definition, args, kwargs, default, origin)
    if bound is None:
        return UNDEF
    with s.writing_to([]) as out:
        findings = len(s.unit.findings)
        result = apply(s, definition, bound, (), func, scope, origin, name, function)
    if len(s.unit.findings) > findings:
        static = static_result(s, function, args, kwargs)
        if static is not None:
            del s.unit.findings[findings:]
            return static
        if in_rule or is_library(function):
            s.unit.opaque[function] = s.unit.findings[findings]
            del s.unit.findings[findings:]
            return call_as_it_is(s, func, function, args, kwargs, origin, name)
    s.out.extend(out)
    return result


def call_as_it_is(
    s: Specialiser, func: Const, function: Any, args: list[Any], kwargs: dict[str, Atom],
    origin: Origin, name: str,
) -> Atom:
    """Write a call of a function that cannot be compiled: one without derivative, or in a rule."""
    tried = may_be_tried(function, (*args, *kwargs.values()))
    type_ = s.type_of_call(function, args, kwargs) if tried else t.UNKNOWN
    if tried and takes_read_only(s, function, args, kwargs):
        s.unit.harmless.add(function)
    return s.let(plain_call(func, args, kwargs), type_, name, origin)


def takes_read_only(
    s: Specialiser, function: Any, args: list[Any], kwargs: Mapping[str, Atom]
) -> bool:
    """Say whether a library function works on arrays that it cannot write into."""
    try:
        values = [s.stand_in(a, 3) for a in args]
        named = {k: s.stand_in(a, 3) for k, a in kwargs.items()}
        for value in (*values, *named.values()):
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        function(*values, **named)
    except Exception:
        return False
    return True


def call_closure(
    s: Specialiser, func: Atom, closure: Closure, args: list[Any], kwargs: dict[str, Atom],
    origin: Origin, name: str,
) -> Atom:
    """Write a call of a function defined inside the code being compiled."""
    function = closure.function
    with_default = [p for p in function.params if p.has_default]

    def default(param: Param) -> Atom | None:
        return closure.defaults[with_default.index(param)] if param.has_default else None

    bound = bind(s, function, args, kwargs, default, origin)
    if bound is None:
        return UNDEF
    return apply(s, function, bound, closure.captures, func, closure.scope, origin, name, function)


def bind(
    s: Specialiser, function: Function, args: list[Any], kwargs: Mapping[str, Atom], default: Any,
    origin: Origin,
) -> list[Atom] | None:
    """Return the atom of each parameter, or None after recording why the call does not bind."""

    def wrong(problem: str) -> None:
        s.reject(
            origin, f"{shown_name(function)}(): {problem}", f"call it as `{signature(function)}`",
            "call-arguments",
        )

    if any(isinstance(arg, Star) for arg in args):
        s.reject(
            origin, "* of a sequence whose length is not known when compiling",
            "pass the arguments one by one, or the sequence itself", "star-arguments",
        )
        return None
    positional = list(args)
    named = dict(kwargs)
    bound: list[Atom] = []
    for param in function.params:
        name = param.var.name
        if param.kind in (0, 1) and positional:
            if param.kind == 1 and name in named:
                return wrong(f"multiple values for argument `{name}`")
            bound.append(positional.pop(0))
        elif param.kind == 2:
            bound.append(s.pack("tuple", tuple(positional), name, origin))
            positional = []
        elif param.kind == 4:
            entries: list[tuple[Atom, Atom]] = [(Const(k), v) for k, v in named.items()]
            bound.append(s.pack_dict(entries, origin, name))
            named = {}
        elif param.kind != 0 and name in named:
            bound.append(named.pop(name))
        else:
            value = default(param)
            if value is None:
                return wrong(f"missing argument `{name}`")
            bound.append(value)
    if positional or named:
        extra = next(iter(named), None)
        return wrong(f"unexpected argument `{extra}`" if extra else "too many arguments")
    return bound


def signature(function: Function) -> str:
    """Return how a function is called, e.g. ``scaled(x, factor=..., *, offset)``."""
    parts: list[str] = []
    for param in function.params:
        if param.kind == 3 and "*" not in parts and not any(p.kind == 2 for p in function.params):
            parts.append("*")
        stars = {2: "*", 4: "**"}.get(param.kind, "")
        parts.append(f"{stars}{param.var.name}{'=...' if param.has_default else ''}")
    return f"{shown_name(function)}({', '.join(parts)})"


def shown_name(function: Function) -> str:
    """Return what messages call a function."""
    return "lambda" if function.name == "lambda_" else function.name


def apply(
    s: Specialiser, function: Function, bound: list[Atom], captures: tuple[Atom, ...], itself: Atom,
    scope: Scope | None, origin: Origin, name: str, identity: Any,
) -> Atom:
    """Write the body of ``function`` in place, or a call of its own compiled form."""
    unit = s.unit
    depth = unit.active_calls.count(identity)
    large = size(function.body) > INLINE_SIZE and not partial_evaluation_helps(s, bound)
    opened = depth == 0 and (not large or (scope is not None and scope.is_rule))
    if opened or must_open(s, bound, captures):
        if len(unit.active_calls) > MAX_DEPTH:
            return s.reject(
                origin,
                f"{shown_name(function)}() is called recursively with functions as arguments",
                "write the recursion without passing functions", "unknown-callable",
            )
        env = environment(function, bound, captures, itself)
        start = len(s.out)
        unit.active_calls.append(identity)
        unit.call_sites.append(origin)
        try:
            yields = s.block(function.body, env, scope)
        finally:
            unit.active_calls.pop()
            unit.call_sites.pop()
        s.out[start:] = [via(statement, origin) for statement in s.out[start:]]
        return UNDEF if yields is None else yields[0]
    return call_compiled(s, function, bound, captures, itself, scope, origin, name, identity)


def via(statement: Statement, site: Origin) -> Statement:
    """Return a statement of an opened function, with the line that called it."""
    origin = getattr(statement, "origin", None)
    if origin is None:
        return statement
    outer = site.via or site
    new = replace(statement, origin=replace(origin, via=outer))  # type: ignore[type-var]
    for inner in ("then", "orelse", "body", "condition"):
        block = getattr(new, inner, None)
        if isinstance(block, Block):
            inside = tuple(via(s, site) for s in block.statements)
            new = replace(new, **{inner: replace(block, statements=inside)})
    return new


def environment(
    function: Function, bound: list[Atom], captures: tuple[Atom, ...], itself: Atom
) -> dict[Var, Atom]:
    """Return the variables of a call of ``function``."""
    env = dict(zip((p.var for p in function.params), bound, strict=True))
    env.update(zip(function.captures, captures, strict=True))
    if function.itself is not None:
        env[function.itself] = itself
    return env


def partial_evaluation_helps(s: Specialiser, bound: list[Atom]) -> bool:
    """Say whether an argument known when compiling is likely to decide branches of the callee."""
    return any(
        isinstance(a, Const) and not isinstance(a.value, (int, float, complex, str))
        or isinstance(s.unit.type(a), t.FunctionType)
        for a in bound
    )


def must_open(s: Specialiser, bound: list[Atom], captures: tuple[Atom, ...]) -> bool:
    """Say whether a function is passed of which it is not known how it was made."""
    return any(
        isinstance(s.unit.type(a), (t.FunctionType, t.Method)) and parts_of_function(s, a) is None
        for a in (*bound, *captures)
    )


def parts_of_function(s: Specialiser, atom: Atom) -> tuple[Atom, ...] | None:
    """Return what a function value made by the compiled code was made from, None for others.

    Containers and partial calls that hold such functions count as function values too.
    """
    match s.unit.definition(atom):
        case Closure(_, captures, defaults):
            return (*captures, *defaults)
        case Attribute(obj, _) if isinstance(s.unit.type(atom), t.Method):
            return (obj,)
        case Call(Const(value), args, kwargs) if value is functools.partial:
            return (*map(unstar, args), *(a for _, a in kwargs))
        case Pack(_, items, _) if any(
            parts_of_function(s, unstar(item)) is not None for item in items
        ):
            return tuple(map(unstar, items))
    return None


def call_compiled(
    s: Specialiser, function: Function, bound: list[Atom], captures: tuple[Atom, ...], itself: Atom,
    scope: Scope | None, origin: Origin, name: str, identity: Any,
) -> Atom:
    """Write a call of ``function`` compiled on its own for these argument types."""
    unit = s.unit
    inside = identity in unit.active_calls
    if len(unit.active_calls) > MAX_DEPTH:
        return s.reject(
            origin,
            f"{shown_name(function)}() is called recursively with ever new functions as arguments",
            "write the recursion without passing functions", "unknown-callable",
        )
    inputs = [*bound, *captures, *((itself,) if isinstance(itself, Var) else ())]
    kept: dict[Atom, None] = {}
    owner = None if scope is None else scope.function
    key = (identity, owner, tuple(key_of(s, a, inside, itself, kept) for a in inputs))
    callee = unit.callees.get(key)
    if callee is None:
        callee = unit.callees[key] = Callee(unique_name(unit, function.name), key)
        unit.call_sites.append(origin)
        compile_callee(
            s, callee, function, bound, captures, itself, scope, identity, inside, list(kept)
        )
        unit.call_sites.pop()
    elif callee.function is None:
        callee.recursive = True
    return s.let(Call(Const(callee), tuple(kept)), callee.result, name, origin)


def key_of(
    s: Specialiser, atom: Atom, inside: bool, itself: Atom, kept: dict[Atom, None]
) -> Any:
    """Return what a call is specialised on of an argument; add to ``kept`` what must be passed.

    A function value is taken apart: what it captured is passed, and it is made anew inside.
    """
    if atom is itself and isinstance(atom, Const):
        return "itself"
    if is_static(atom, inside) and isinstance(atom, Const):
        return ("=", atom.value) if _hashable(atom.value) else ("is", id(atom.value))
    parts = parts_of_function(s, atom)
    if parts is not None:
        rhs = s.unit.definition(atom)
        made = rhs.function if isinstance(rhs, Closure) else str(s.unit.type(atom))
        owner = rhs.scope.function if isinstance(rhs, Closure) and rhs.scope else None
        inner = tuple(
            "itself" if part is itself else key_of(s, part, inside, itself, kept) for part in parts
        )
        return (made, owner, inner)
    position = list(kept).index(atom) if atom in kept else len(kept)
    kept[atom] = None
    return (position, s.unit.type(atom))


def is_static(atom: Atom, inside: bool) -> bool:
    """Say whether an argument becomes part of the callee rather than being passed to it."""
    if not isinstance(atom, Const):
        return False
    if isinstance(atom.value, (int, str)) and not isinstance(atom.value, bool):
        return not inside
    return not isinstance(atom.value, (float, complex))


def compile_callee(
    s: Specialiser, callee: Callee, function: Function, bound: list[Atom],
    captures: tuple[Atom, ...], itself: Atom, scope: Scope | None, identity: Any, inside: bool,
    kept: list[Atom],
) -> None:
    """Specialise ``function`` on its own, until the type it returns is stable."""
    unit = s.unit
    names = dict(zip(captures, function.captures, strict=True))
    names.update(zip(bound, (p.var for p in function.params), strict=True))
    for _ in range(8):
        params: list[Param] = []
        inner: dict[Atom, Atom] = {}
        for atom in kept:
            new = Var(names[atom].name if atom in names else getattr(atom, "name", "value"))
            unit.types[new] = unit.type(atom)
            unit.merged.add(new)
            params.append(Param(new, 1))
            inner[atom] = new
        unit.active_calls.append(identity)
        before = len(unit.findings)
        try:
            with s.writing_to([]) as out:
                env = environment(
                    function, [made_anew(s, a, inner) for a in bound],
                    tuple(made_anew(s, a, inner) for a in captures), made_anew(s, itself, inner),
                )
                yields = s.block(function.body, env, scope)
        finally:
            unit.active_calls.pop()
        result = t.BOTTOM if yields is None else unit.type(yields[0])
        stable = t.join(callee.result, result) == callee.result
        callee.result = t.join(callee.result, result)
        if stable or not callee.recursive:
            break
        del unit.findings[before:]
    from adcompiler.transforms.in_place import rebound  # the folds come in between

    body = Block(rebound(s, out, yields or ()), yields or (UNDEF,), yields is None)
    callee.function = Function(callee.name, tuple(params), body, function.origin, doc=function.doc)


def made_anew(s: Specialiser, atom: Atom, inner: dict[Atom, Atom]) -> Atom:
    """Return the atom that stands for an argument inside a function compiled on its own."""
    if atom in inner:
        return inner[atom]
    if not isinstance(atom, Var) or parts_of_function(s, atom) is None:
        return atom
    rhs = s.unit.definition(atom)
    assert rhs is not None
    new = inner[atom] = Var(atom.name, True)
    mapping = {
        part: made_anew(s, part, inner) for part in parts_of_function(s, atom) or ()
        if isinstance(part, Var)
    }
    made = substitute(rhs, mapping)
    s.unit.record(new, made, s.unit.type(atom))
    s.out.append(Let(new, made, s.unit.call_sites[-1]))
    return new


def unique_name(unit: Any, name: str) -> str:
    """Return a name for a compiled function that no other one has."""
    taken = {callee.name for callee in unit.callees.values()}
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def static_result(
    s: Specialiser, function: Any, args: list[Any], kwargs: Mapping[str, Atom]
) -> Const | None:
    """Return the value of a call that depends on argument types only, found by trying it.

    Only modules, functions, classes, dtypes and None count as such values, and plain values where
    every argument is known. Used for library functions that cannot be compiled: the user's own
    functions never run when compiling.
    """
    if any(isinstance(a, Star) for a in args) or not may_be_tried(
        function, (*args, *kwargs.values())
    ):
        return None
    found = []
    for n in (3, 4):
        try:
            values = [s.stand_in(a, n) for a in args]
            named = {k: s.stand_in(a, n) for k, a in kwargs.items()}
            found.append(function(*values, **named))
        except Exception:
            return None
    known = all(isinstance(s.unit.type(a), t.Static) or isinstance(a, Const)
                for a in (*args, *kwargs.values()))
    first, second = found
    if isinstance(type_of(first), t.Static) and t.same_static(first, second):
        return Const(first)
    if known and simple(first) and first == second:
        return Const(first)
    return None


def is_library(function: Any) -> bool:
    """Say whether a Python function belongs to the standard library or an installed package."""
    return function.__code__.co_filename.startswith((*STANDARD, *INSTALLED))


def is_standard(function: Any) -> bool:
    """Say whether a Python function belongs to the standard library."""
    return is_library(function) and not function.__code__.co_filename.startswith(INSTALLED)


def may_be_tried(function: Any, args: tuple[Any, ...]) -> bool:
    """Say whether a function may be called on stand-ins: one of an installed package.

    The user's own functions never run when compiling, nor do those of the standard library, many
    of which write files or messages.
    """
    functions = [function, *(
        a.value for a in args
        if isinstance(a, Const) and isinstance(a.value, python_types.FunctionType)
    )]
    return all(f.__code__.co_filename.startswith(INSTALLED) for f in functions)


def directories(*names: str) -> tuple[str, ...]:
    """Return directories of this Python installation as prefixes of file names."""
    return tuple(str(Path(sysconfig.get_path(name))) + os.sep for name in names)


STANDARD = directories("stdlib", "platstdlib")
INSTALLED = directories("purelib", "platlib")


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True

