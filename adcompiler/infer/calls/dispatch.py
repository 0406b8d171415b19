"""Calls: which function is meant, and what becomes of a call of it."""

from __future__ import annotations

import functools
import types as python_types
import typing
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcompiler.prelude.dicts import dict_of_mapping
from adcompiler.prelude.replacements import replacement_of
from adcompiler.frontend.interface import Recipe
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Call, Closure, Const, Origin, Star, arguments, unstar,
)
from adcompiler.ops.basics import GIVES_VALUE
from adcompiler.ops.facts import HOLDS, Facts, Shares
from adcompiler.ops.qualified_names import root_module
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime import called
from adcompiler.runtime.substitutes import STAND_FOR
from adcompiler.infer.calls.axes import is_number_itself, with_axis_by_name
from adcompiler.infer.calls.binding import atoms, literal, plain_call
from adcompiler.infer.calls.chosen import call_one_of
from adcompiler.infer.calls.constructors import construct
from adcompiler.infer.calls.defaults import by_name, without_defaults
from adcompiler.infer.calls.derivatives import (
    call_derivative, call_made, derivative_of, is_maker, make_derivative,
    refuse_inside,
)
from adcompiler.infer.calls.effects import refused, without_overwriting
from adcompiler.infer.calls.functionals import call_replacement
from adcompiler.infer.calls.kept_results import call_kept
from adcompiler.infer.calls.libraries import (
    WRITING, is_compiled, is_namedtuple, is_runtime, makes_sparse_or_spline, stays_whole,
)
from adcompiler.infer.calls.method_calls import call_method, call_object_method, in_one_tuple
from adcompiler.infer.calls.opening import call_closure, call_python
from adcompiler.infer.calls.operator_methods import (
    call_operator, iterated, keys_of, method_of, runs_over,
)
from adcompiler.infer.calls.out_arguments import store_result, writes_elsewhere
from adcompiler.infer.calls.own_iterators import run_over
from adcompiler.infer.calls.random_draws import type_of_making
from adcompiler.infer.calls.single_dispatch import call_registered
from adcompiler.infer.calls.sparse_matrices import call_sparse
from adcompiler.infer.calls.special_methods import call_kept_method
from adcompiler.infer.calls.ufunc_options import computed_in
from adcompiler.infer.calls.unknown import call_unknown
from adcompiler.infer.calls.vectorize import (
    Vectorized, call_vectorized, vectorized_call, vectorized_value,
)
from adcompiler.infer.folds import (
    combinations, concatenators, container as container_folds, copy as copy_folds, extremes,
    functional as functional_folds, in_place as in_place_folds, inspection as inspection_folds,
    iterator as iterator_folds, itertools_functions, named_tuples, option as option_folds,
    outer as outer_folds, power as power_folds, projection as projection_folds,
    sequence as sequence_folds, splitting,
)
from adcompiler.infer.folds.getters import GETTERS, call_getter
from adcompiler.infer.folds.iterator import opened_iterator
from adcompiler.infer.folds.table import AS_GIVEN, FOLDS, class_of, fits, fold_constants
from adcompiler.infer.generators import opened_arguments
from adcompiler.infer.objects import live_class, table_of
from adcompiler.infer.storage import slices, stores
from adcompiler.infer.storage.memory_order import written_otherwise
from adcompiler.infer.lost_types import which_function
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.support.signatures import signature as signature_of
from adcompiler.typed.callee import Callee
from adcompiler.typed.derivatives import ONLY_OUTSIDE, is_derivative
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import by_numba_vectorize, simple

FOLD_MODULES = (
    combinations, concatenators, container_folds, copy_folds, extremes, functional_folds,
    in_place_folds, inspection_folds, iterator_folds, itertools_functions, named_tuples,
    option_folds, outer_folds, power_folds, projection_folds, sequence_folds, slices, splitting,
    stores,
)
"""The modules that fill the table of folds when they are imported."""


def call(
    s: Operations, func: Atom, given: Sequence[Atom | Star], kwargs: dict[str, Atom],
    origin: Origin, name: str,
) -> Atom:
    """Write the call ``func(*given, **kwargs)`` and return the atom of its result."""
    if func is UNDEF:
        return UNDEF  # reported where it was looked up
    args: list[Any] = list(given)
    if isinstance(func, Const):
        return call_value(s, func, args, kwargs, origin, name)
    rhs = s.unit.definition(func)
    type_ = s.unit.type(func)
    match rhs:
        case Closure():
            return call_closure(s, func, rhs, args, kwargs, origin, name)
        case Attribute(obj, method) if (frozen := frozen_method(s, obj, method, origin)):
            bound, first, named = frozen
            return call(s, bound, [*args[:1], *first, *args[1:]], named | kwargs, origin, name)
        case Attribute(obj, method) if not isinstance(type_, t.Object):
            now = obj if s.heap is None else s.heap.reading.current(obj, origin)
            if now is not obj:  # an argument of the call has changed it
                func = s.attribute(now, method, origin, method)
                return call(s, func, args, kwargs, origin, name)
            return call_method(s, func, obj, method, type_, args, kwargs, origin, name)
        case Call(Const(value), (inner, *first), keywords) if (
            value is functools.partial and not isinstance(inner, Star)
        ):
            merged = {k: v for k, v in keywords if k} | kwargs
            return call(s, inner, [*first, *args], merged, origin, name)
        case Call(Const(value)) if value is np.vectorize:
            known = vectorized_call(s.unit, rhs)
            if known is not None:
                return call_vectorized(s, known, args, kwargs, origin, name)
        case Call(Const(value)) as made if is_maker(value):
            return call_made(s, made, args, kwargs, origin, name)
        case Call(Const(value), made, keywords) if hashable(value) and value in GETTERS:
            named = {k: v for k, v in keywords if k}
            found = call_getter(s, value, made, named, args, origin, name)
            if found is not None:
                return found
    if isinstance(type_, t.Object) and type_.cls is Recipe:
        return refuse_recipe(s, origin)
    if isinstance(type_, t.Object):
        return call_object_method(s, type_, func, "__call__", args, kwargs, origin, name)
    found = call_one_of(s, func, args, kwargs, origin, name)
    if found is not None:
        return found
    if isinstance(type_, t.FunctionType) or any(
        t.may_vary(s.unit.type(a)) for a in (*atoms(args), *kwargs.values())
    ):
        s.report(which_function(s.unit, func, origin))
        return UNDEF
    return s.let(plain_call(func, args, kwargs), t.UNKNOWN, name, origin)


def frozen_method(
    s: Operations, obj: Atom, method: str, origin: Origin
) -> tuple[Atom, list[Atom], dict[str, Atom]] | None:
    """Return what a method of ``norm(loc, scale)``, a frozen distribution, calls, and with what.

    It calls the method of that name of ``norm``, and gives it the arguments after the first one.
    None where ``obj`` is nothing of the kind, or no rule covers the method.
    """
    match s.unit.definition(obj):
        case Call(Const(value), _, keywords) as made if not isinstance(value, type) and (
            hasattr(value, method) and REGISTRY.has_methods(value)
        ):
            if REGISTRY.has_rules(getattr(value, method)):
                named = {key: atom for key, atom in keywords if key}
                return s.attribute(Const(value), method, origin), arguments(made), named
    return None


def refuse_recipe(s: Writer, origin: Origin) -> Atom:
    """Report the call of a function of which it is not known where it was made."""
    return s.reject(
        origin, "the function called here reads variables that are assigned again after it was "
        "made, and which function it is depends on data",
        "pass the variables as arguments, or define the function once", "closure-rebinding",
    )


def call_value(
    s: Operations, func: Const, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write a call of a function that is known when compiling."""
    value = func.value
    if not hashable(value) or value not in AS_GIVEN:
        args = [opened_iterator(s, arg, origin) for arg in args]
    if isinstance(value, Recipe):
        return refuse_recipe(s, origin)
    args = in_one_tuple(s, value, args, origin)
    given = (s, func, args, kwargs, origin, name)
    found = call_of_derivative(*given) or call_sparse(*given) or call_registered(*given)
    if found is not None:
        return found
    if is_method_that_writes(s, value, args):
        method = s.attribute(args[0], value.__name__, origin, value.__name__)
        return call(s, method, args[1:], kwargs, origin, name)
    if refused(s, value, args, kwargs, origin, getattr(value, "__name__", name)):
        return UNDEF
    kwargs = without_overwriting(value, kwargs)
    found = call_of_parts(s, func, args, kwargs, origin, name)
    if found is not None:
        return found
    args = run_through(s, value, args, origin)
    found = store_result(s, value, args, kwargs, origin, name)
    if found is None:
        found = call_prepared(s, func, args, kwargs, origin, name)
    if found is not None:
        return found
    if root_module(value) == "numpy":
        args = [iterated(s, arg, origin) if is_sequence(s.unit, arg) else arg for arg in args]
    if isinstance(value, np.ufunc) and not s.in_rule:
        args = [as_array(s, arg, origin) for arg in args]
        args, kwargs = computed_in(s, value, args, kwargs, origin)
    args = opened_arguments(s, value, args, origin)
    if (found := call_replaced(s, func, args, kwargs, origin, name)) is not None:
        return written_otherwise(s, value, args, found, origin)
    return call_function(s, func, args, kwargs, origin, name)


def call_of_derivative(
    s: Operations, func: Const, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Write the call of a derivative, or of what makes one; None if the function is neither."""
    value = func.value
    if is_derivative(value):
        primal = s.unit.relied.part(value, "primal", value.primal)
        return call_derivative(s, derivative_of(value), primal, args, kwargs, origin, name)
    if is_maker(value):
        return make_derivative(s, func, args, kwargs, origin, name)
    if hashable(value) and value in ONLY_OUTSIDE:
        return refuse_inside(s, value, origin)
    if isinstance(value, Callee):
        return s.let(plain_call(func, args, kwargs), value.result, name, origin)
    return None


def call_of_parts(
    s: Operations, func: Const, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Write the call of a partial function, of a class, or of an operator; None if it is none."""
    value = func.value
    if isinstance(value, functools.partial):
        inner = s.unit.relied.part(value, "func", value.func)
        first = [literal(s, v, func, ("args", i), origin) for i, v in enumerate(value.args)]
        named = {
            k: literal(s, v, func, ("keywords", k), origin) for k, v in value.keywords.items()
        }
        return call(s, inner, [*first, *args], {**named, **kwargs}, origin, name)
    made = None
    if isinstance(value, type) or typing.get_origin(value) is not None:
        made = construct(s, func, args, kwargs, origin, name)
    if made is None and not kwargs and hashable(value):
        made = call_operator(s, value, args, origin, name)
    return made


def run_through(s: Operations, value: Any, args: list[Atom], origin: Origin) -> list[Any]:
    """Return arguments with those in their place that give what a function iterates over."""
    if value is dict:
        args = [entries_of(s, arg, origin) for arg in args]
    of_dict = value is reversed and bool(args) and is_dict(s.unit, args[0])
    if of_dict or (runs_over(value)):
        whole = (value is dict and bool(args) and is_dict(s.unit, args[0])) or (
            value in (min, max) and len(args) > 1
        )
        to_its_end = REGISTRY.facts(value).exhausts is True
        if whole:
            return args
        args = [
            arg if isinstance(arg, Star) or is_array_of_its_own(s.unit, value, arg)
            else run_over(s, arg, origin, to_its_end) for arg in args
        ]
        return [keys_of(s, arg, origin) for arg in args] if REGISTRY.has_rules(value) else args
    return args


def is_array_of_its_own(unit: Unit, function: Callable[..., Any], arg: Atom | Star) -> bool:
    """Say whether NumPy asks an instance for an array, and does not run over it."""
    type_ = None if isinstance(arg, Star) else unit.type(arg)
    asks = REGISTRY.facts(function).means in ("array", "asarray")
    return asks and isinstance(type_, t.Object) and hasattr(type_.cls, "__array__")


def entries_of(s: Operations, arg: Atom | Star, origin: Origin) -> Any:
    """Return the dict that an instance with keys is to ``dict``; other arguments as they are."""
    arg = arg if isinstance(arg, Star) else table_of(s, arg, origin)
    if not isinstance(arg, Star) and method_of(s.unit, arg, "keys") is not None:
        return s.call(Const(dict_of_mapping), [arg], {}, origin, "table")
    return arg


def call_prepared(
    s: Operations, func: Const, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Write the call of what `itemgetter`, its kin or `np.vectorize` have made; None if not one."""
    value = func.value
    if isinstance(value, tuple(GETTERS)):
        made_of: Any = value.__reduce__()
        maker, parts = made_of[:2]
        if maker is type(value) and all(map(simple, parts)):
            found = call_getter(s, maker, list(map(Const, parts)), kwargs, args, origin, name)
            if found is not None:
                return found
    if isinstance(value, np.vectorize) and any(
        t.may_vary(s.unit.type(a)) for a in (*atoms(args), *kwargs.values())
    ):
        known = vectorized_value(s.unit, func, origin)
        if known is not None:
            return call_vectorized(s, known, args, kwargs, origin, name)
    if by_numba_vectorize(value) and not kwargs:
        inner = s.unit.relied.part(value, "__wrapped__", value.__wrapped__)
        if all(isinstance(s.unit.type(a), t.Scalar) for a in atoms(args)):
            return call(s, inner, args, kwargs, origin, name)
        return call_vectorized(s, Vectorized(inner), args, kwargs, origin, name)
    return None


def supposed(
    unit: Unit, function: Any, args: list[Atom], kwargs: dict[str, Atom]
) -> Callable[..., Any] | None:
    """Return what is compiled in place of a call where shapes are as expected, if that is said."""
    if not unit.assume_equal_shapes or kwargs or not hashable(function):
        return None
    types = [None if isinstance(arg, Star) else unit.type(arg) for arg in args]
    if not all(isinstance(type_, t.Array) and type_.ndim for type_ in types):
        return None
    return REGISTRY.facts(function).supposed_as


def call_replaced(
    s: Operations, func: Const, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Write what types decide about a call, or that of a replacement; None if there is neither."""
    value = func.value
    fold = FOLDS.get(value) if hashable(value) else None
    if fold is not None and not is_runtime(value) and not fits(value, args, kwargs):
        return s.let(plain_call(Const(called), [func, *args], kwargs), t.UNKNOWN, name, origin)
    if fold is not None:
        folded = fold(s, args, kwargs, origin, name)
        if folded is not None:
            return folded
    replacement = replacement_of(value) or supposed(s.unit, value, args, kwargs)
    if isinstance(replacement, python_types.FunctionType):
        return call_python(s, Const(replacement), replacement, args, kwargs, origin, name)
    if isinstance(replacement, type):
        return construct(s, live_class(s.unit, replacement), args, kwargs, origin, name)
    instead = REGISTRY.replacement(value)
    if instead is not None:
        return call_replacement(s, instead, args, kwargs, origin, name)
    return None


def call_function(
    s: Operations, func: Const, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write the call of a function by its rule, or else by what it is."""
    value = func.value
    if is_runtime(value):
        if s.in_emitted and is_compiled(value):
            s.unit.derivatives.emitted.setdefault(value, value in WRITING)
            return call_python(s, func, value, args, kwargs, origin, name)
        return primitive(s, func, args, kwargs, origin, name)
    if isinstance(getattr(value, "__self__", None), str):
        return primitive(s, func, args, kwargs, origin, name, GIVES_VALUE)
    if writes_elsewhere(s, value, args, kwargs, origin):
        return UNDEF
    rule = REGISTRY.find(value, tuple(class_of(s.unit, a) for a in args if not isinstance(a, Star)))
    inactive = REGISTRY.inactive(value)
    if rule is not None or inactive is not None:
        return primitive(s, func, args, kwargs, origin, name)
    if is_namedtuple(value) and not any(isinstance(arg, Star) for arg in args):
        return make_namedtuple(s, func, args, kwargs, origin, name)
    if isinstance(value, python_types.MethodType):
        path = s.unit.relied.paths.get(id(value))
        steps = None if path is None else (*path, ("attr", "__func__"))
        inner = s.unit.relied.static(value.__func__, steps)
        receiver = literal(s, value.__self__, func, ("attr", "__self__"), origin)
        return call(s, inner, [receiver, *args], kwargs, origin, name)
    kept = call_kept_method(s, func, args, kwargs, origin, name)
    if kept is not None:
        return kept
    if isinstance(value, functools._lru_cache_wrapper):
        result = call_kept(s, func, args, kwargs, origin, name)
        if result is not None:
            return result
    original = getattr(value, "__wrapped__", None)
    if not isinstance(value, python_types.FunctionType) and isinstance(
        original, python_types.FunctionType
    ):
        func, value = s.unit.relied.part(value, "__wrapped__", original), original
    if isinstance(value, python_types.FunctionType) and stays_whole(value):
        return primitive(s, func, args, kwargs, origin, name, GIVES_VALUE)
    if isinstance(value, python_types.FunctionType):
        return call_python(s, func, value, args, kwargs, origin, name)
    return call_compiled_code(s, func, args, kwargs, origin, name)


def call_compiled_code(
    s: Operations, func: Const, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write a call of what has neither a rule nor source text."""
    value = func.value
    known = REGISTRY.facts(value)
    if isinstance(value, type):
        known = known.over(GIVES_VALUE if makes_sparse_or_spline(value) else HOLDER)
    elif REGISTRY.has_methods(value):
        known = known.over(FROZEN)
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, python_types.ModuleType):  # l.append
        known = known.over(REGISTRY.facts(getattr(type(owner), value.__name__, None)))
        if isinstance(owner, MUTABLE) and not known.writes_nothing:
            return s.reject(
                origin, f"{value.__name__}(), a method of an object that was there before, may "
                "change it", "call the method of the object itself, in the code that is compiled",
                "unknown-calls",
            )
    if known.writes_nothing:
        return primitive(s, func, args, kwargs, origin, name, known)
    return call_unknown(s, func, args, kwargs, origin, name)


def is_method_that_writes(s: Writer, function: Any, args: list[Atom]) -> bool:
    """Say whether a function is a method of a list, dict or array, as its class has it.

    Methods that write nothing are called as they are.
    """
    if s.heap is None or not isinstance(function, METHODS) or not args or isinstance(args[0], Star):
        return False
    wanted = {list: t.List, dict: t.Dict, np.ndarray: t.Array}.get(function.__objclass__)
    return wanted is not None and isinstance(s.unit.type(args[0]), wanted) and (
        not REGISTRY.facts(function).writes_nothing
    )


MUTABLE = (list, dict, set, bytearray, np.ndarray, deque)
METHODS = (python_types.MethodDescriptorType, python_types.WrapperDescriptorType)
FROZEN = Facts(pure=True, shares=(Shares(HOLDS),), writes=(), tried=True)
"""Facts about calls of distributions, which keep their arguments for the methods."""
HOLDER = Facts(pure=False, writes=())
"""Facts about classes of which nothing was said: a new instance refers to what it is given."""


def is_dict(unit: Unit, arg: Atom | Star) -> bool:
    """Say whether an argument is a dict."""
    return not isinstance(arg, Star) and isinstance(unit.type(arg), t.Dict)


def is_sequence(unit: Unit, arg: Atom | Star) -> bool:
    """Say whether an argument stands for a sequence of a class of its own, such as a deque."""
    type_ = t.UNKNOWN if isinstance(arg, Star) else unit.type(arg)
    return isinstance(type_, t.Object) and type_.cls in STAND_FOR and issubclass(
        STAND_FOR[type_.cls], Sequence)


def as_array(s: Operations, argument: Atom | Star, origin: Origin) -> Any:
    """Return a list or tuple of numbers that a ufunc is given as the array that it makes of it."""
    if isinstance(argument, Star) or not isinstance(s.unit.type(argument), (t.List, t.Tuple)):
        return argument
    return s.call(Const(np.array), [argument], {}, origin, "array")


def make_namedtuple(
    s: Operations, func: Const, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write the making of a namedtuple, with its fields in order."""
    cls = func.value
    try:
        bound = signature_of(cls).bind(*args, **kwargs)
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


def primitive(
    s: Writer, func: Const, args: list[Atom], kwargs: dict[str, Atom], origin: Origin,
    name: str, known: Facts | None = None,
) -> Atom:
    """Write a call that stays a call, of a function that writes into none of its arguments."""
    known = known or REGISTRY.facts(func.value)
    pure = known.is_pure
    if pure:
        folded = fold_constants(func.value, args, kwargs)
        if folded is not None:
            return folded
    args, kwargs = without_defaults(func.value, *by_name(func.value, args, kwargs))
    args, kwargs = with_axis_by_name(s.unit, func.value, args, kwargs)
    type_ = s.types.of_call(func.value, args, kwargs) if pure and known.may_be_tried else (
        type_of_making(s, func.value, args, kwargs) or t.UNKNOWN
    )
    if isinstance(type_, t.Static) and pure:
        return Const(type_.value)
    if is_number_itself(s.unit, func.value, args, kwargs, type_):
        return unstar(args[0])
    return s.let(plain_call(func, args, kwargs), type_, name, origin)
