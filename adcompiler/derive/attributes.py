"""Attributes and methods of differentiated values: fields, or what a rule covers."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from adcompiler.derive.reverse.checks import reject_possible_instance, report_missing
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Origin, Star, Var, unstar
from adcompiler.ops.registry import REGISTRY
from adcompiler.ops.rules import Rule
from adcompiler.runtime.records import is_record_class
from adcompiler.runtime.unknown_calls import call_on_copies
from adcompiler.infer.inference import Inference
from adcompiler.infer.folds.table import class_of
from adcompiler.infer.objects import find_raw


def is_field(owner: t.Type, name: str) -> bool:
    """Say whether an attribute of an instance is something that the instance holds."""
    return isinstance(owner, t.Object) and owner.field(name) is not None and (
        is_record_class(owner.cls)
    ) and not is_cached(owner.cls, name)


def is_cached(cls: type, name: str) -> bool:
    """Say whether an attribute is a ``functools.cached_property``, which may hold an old value."""
    found = find_raw(cls, name)
    return found is not None and isinstance(found[1], functools.cached_property)


def attribute_rule(
    s: Inference, target: Var, obj: Atom, name: str, origin: Origin
) -> Rule | None:
    """Return the rule of an attribute, None for a method; report a missing one."""
    reject_possible_instance(s, obj, origin, name)
    if isinstance(s.unit.type(target), t.Method):
        return None
    owner = s.unit.type(obj)
    if isinstance(owner, t.Object):
        why = "its value is computed by the class" if is_record_class(owner.cls) else (
            f"{owner.cls.__name__} is no plain class written in Python"
        )
        if is_cached(owner.cls, name):
            why = "what functools.cached_property has kept does not follow the attributes"
        s.reject(
            origin, f"the derivative with respect to the attribute `{name}` of an argument "
            f"is not known: {why}", "pass the value as an argument of its own, or write a "
            "property or a method", "attributes",
        )
        return None
    if isinstance(owner, t.SliceType):
        s.reject(
            origin, f"`.{name}` of a slice whose bounds carry a derivative",
            "pass the bounds as numbers", "attributes",
        )
        return None
    descriptor = getattr(np.ndarray, name, None)
    if callable(descriptor):  # a method of a value of unknown type: its call follows a rule
        return None
    rule = REGISTRY.find(descriptor) if descriptor is not None else None
    if rule is None and REGISTRY.inactive(descriptor) is None:
        shown = f"the attribute `{name}`"
        report_missing(s, target, (obj,), shown, None, (), {}, origin)
    return rule


def called_function(s: Inference, call: Call) -> tuple[Any, list[Atom | Star]]:
    """Return the function that a call means, None if it is not known, and its arguments.

    A method is a function of the object that it belongs to.
    """
    func, args = call.func, list(call.args)
    if isinstance(func, Const) and func.value is call_on_copies:
        func, args = unstar(args[0]), args[3:]
    if isinstance(func, Const):
        return func.value, args
    definition = s.unit.definition(func)
    if not isinstance(definition, Attribute):
        return None, args
    owner = class_of(s.unit, definition.obj)
    python = owner if owner in (float, complex, list, tuple, dict) else np.ndarray
    return getattr(python, definition.name, None), [definition.obj, *args]
