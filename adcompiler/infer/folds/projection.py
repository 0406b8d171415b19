"""Folds of ``project``, ``like`` and others, which give cotangents the form of primal values."""

from __future__ import annotations

import dataclasses
import operator
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, Atom, Attribute, Call, Const, Origin, Pack, Var
from adcompiler.runtime import add, as_cotangent, as_gradient, project, unbroadcast
from adcompiler.runtime.adjoints.shaping import like
from adcompiler.infer.folds.table import Kwargs, folds
from adcompiler.infer.objects import make_record
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.extents import ONE, Shape


@folds(project)
def fold_project(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """What is left of ``project(g, x)`` given the types of a cotangent and its value."""
    g, x = args
    kind, other = s.unit.type(g), s.unit.type(x)
    if isinstance(other, t.Scalar) and isinstance(kind, (t.Scalar, t.Array)):
        return project_scalar(s, g, kind, other, origin, name)
    if isinstance(other, t.Array) and isinstance(kind, (t.Array, t.Scalar)):
        return project_array(s, g, x, other, origin, name)
    return None


@folds(add)
def fold_add(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """``add(a, b)`` of numbers and arrays is ``a + b``."""
    if all(isinstance(s.unit.type(arg), (t.Scalar, t.Array)) for arg in args):
        return s.call(Const(operator.add), args, {}, origin, name)
    return None


@folds(as_cotangent)
def fold_as_cotangent(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Any:
    """``as_cotangent(g, y)`` is ``project`` for a ``g`` that is known to have the shape of y."""
    g, y = args
    kind, other = s.unit.type(g), s.unit.type(y)
    if isinstance(other, t.Scalar) and isinstance(kind, t.Scalar):
        return project_scalar(s, g, kind, other, origin, name)
    if isinstance(other, t.Array) and isinstance(kind, t.Array) and (
        s.unit.shape(g) == s.unit.shape(y)
    ):
        return project_array(s, g, y, other, origin, name)
    if isinstance(other, t.Object) and isinstance(kind, t.Object):
        return g  # as at run time
    return None


@folds(as_gradient)
def fold_as_gradient(
    s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str
) -> Any:
    """Write the gradient for an instance as one that is made here, so that it is differentiated.

    That for a tuple is made of those for its items.
    """
    g, x = args
    type_, given = s.unit.type(x), s.unit.type(g)
    if isinstance(type_, t.Tuple):
        return gradient_in_parts(s, g, x, type_, origin, name)
    if not isinstance(type_, t.Object) or not isinstance(given, t.Object) or not type_.fields or (
        not all(map(is_known_part, dict(type_.fields).values()))
    ):
        return None
    parts: dict[str, Atom] = {}
    if dataclasses.is_dataclass(type_.cls):
        parts = dict.fromkeys((f.name for f in dataclasses.fields(type_.cls)), NONE)
    for field, part in type_.fields:
        parts[field] = NONE
        if t.may_vary(part):
            bar = NONE if given.field(field) is None else s.attribute(g, field, origin)
            whole = [bar, s.attribute(x, field, origin)]
            parts[field] = s.call(Const(as_gradient), whole, {}, origin, name)
    return make_record(s, type_.cls, parts, name, origin)


def gradient_in_parts(
    s: Operations, g: Atom, x: Atom, whole: t.Tuple, origin: Origin, name: str
) -> Atom | None:
    """Write the gradient for a tuple of floats and arrays; None where its cotangent is no such."""
    given = s.unit.type(g)
    if not isinstance(given, t.Tuple) or not whole.cls is tuple is given.cls or (
        len(whole.items) != len(given.items) or not all(map(is_number, whole.items))
    ):
        return None
    parts = [
        s.call(Const(as_gradient), [s.item(one, Const(i), origin, name) for one in (g, x)], {},
               origin, name)
        for i in range(len(whole.items))
    ]
    return s.let(
        Pack("tuple", tuple(parts)), t.Tuple(tuple(map(s.unit.type, parts))), name, origin)


def is_number(type_: t.Type) -> bool:
    """Say whether values of a type are floats, arrays of them, or tuples of such."""
    if isinstance(type_, t.Tuple):
        return type_.cls is tuple and all(map(is_number, type_.items))
    return isinstance(type_, (t.Scalar, t.Array)) and type_.kind == "float"


def is_known_part(type_: t.Type) -> bool:
    """Say whether it is known of an attribute whether it carries a derivative."""
    return isinstance(type_, (t.Scalar, t.Array, t.Text, t.Static)) or (
        isinstance(type_, t.Object) and all(is_known_part(part) for _, part in type_.fields))


@folds(unbroadcast)
def fold_unbroadcast(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """``unbroadcast(g, x.shape)`` is ``g`` where it is known to have the shape of x."""
    g, shape = args
    kind, made = s.unit.type(g), s.unit.definition(shape)
    if not isinstance(made, Attribute) or made.name != "shape":
        return None
    other = s.unit.type(made.obj)
    if not isinstance(other, t.Array) or not isinstance(kind, (t.Array, t.Scalar)):
        return None
    if isinstance(kind, t.Array) and s.unit.shape(g) == s.unit.shape(made.obj):
        return g
    type_ = t.Array(kind.dtype or "float64", other.ndim)
    summed = s.let(Call(Const(unbroadcast), (g, shape)), type_, name, origin)
    s.unit.shapes[summed] = s.unit.shape(made.obj)
    return summed


@folds(like)
def fold_like(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """``like(g, x)`` is ``project`` for a cotangent that has the shape of ``x`` already."""
    g, x = args
    kind, other = s.unit.type(g), s.unit.type(x)
    if isinstance(other, t.Scalar) and isinstance(kind, (t.Scalar, t.Array)):
        return project_scalar(s, g, kind, other, origin, name)
    if not isinstance(kind, t.Array):
        return None
    if isinstance(other, t.Array) and isinstance(g, Var) and kind.ndim == other.ndim:
        s.unit.shapes[g] = s.unit.shape(x)
        return project_array(s, g, x, other, origin, name)
    elements = s.unit.elements(x)
    if elements and isinstance(other, (t.List, t.Tuple)) and kind.ndim:
        parts: list[Atom] = []
        for i, element in enumerate(elements):
            part = Const(None) if isinstance(element, Const) else s.call(
                Const(like), [s.item(g, Const(i), origin, "part"), element], {}, origin, "part")
            parts.append(part)
        return s.pack("list" if isinstance(other, t.List) else "tuple", tuple(parts), name, origin)
    return None


def project_scalar(
    s: Operations, g: Atom, kind: t.Type, other: t.Scalar, origin: Origin, name: str
) -> Atom | None:
    """Write ``g`` as the cotangent of a number: summed, real, and of that number's class."""
    if isinstance(kind, t.Array):
        g = s.call(Const(np.ndarray.sum), [g], {}, origin, name)
        kind = s.unit.type(g)
    if not isinstance(kind, t.Scalar):
        return None
    if kind.kind == "complex" and other.kind != "complex":
        g = s.attribute(g, "real", origin, name)
        kind = s.unit.type(g)
    if isinstance(kind, t.Scalar) and isinstance(g, Var):
        if other.dtype is None and kind.dtype is not None:
            if other.kind != "complex":
                return s.call(Const(float), [g], {}, origin, name)
            return s.call(Const(complex), [g], {}, origin, name)
        if other.dtype in ("float32", "float16", "complex64") and kind.dtype != other.dtype:
            return s.call(Const(np.dtype(other.dtype).type), [g], {}, origin, name)
    return g


def project_array(
    s: Operations, g: Atom, x: Atom, other: t.Array, origin: Origin, name: str
) -> Atom:
    """Write ``g`` as the cotangent of an array: of its shape, real if it is, of its dtype."""
    g = unstretched(s, g, x, other, origin, name)
    kind = s.unit.type(g)
    if other.kind == "float" and isinstance(kind, (t.Array, t.Scalar)) and kind.kind == "complex":
        g = s.attribute(g, "real", origin, name)
        kind = s.unit.type(g)
    if other.kind in ("float", "complex") and isinstance(kind, (t.Array, t.Scalar)) and (
        kind.dtype != other.dtype
    ):
        shape = s.unit.shape(x)
        astype = s.attribute(g, "astype", origin, "astype")
        g = s.call(astype, [Const(np.dtype(other.dtype).type)], {}, origin, name)
        if isinstance(g, Var):
            s.unit.shapes[g] = shape
    return g


def unstretched(
    s: Operations, g: Atom, x: Atom, other: t.Array, origin: Origin, name: str
) -> Atom:
    """Write ``g`` summed to the shape of ``x``: by axes where they are known when compiling."""
    kind = s.unit.type(g)
    if other.ndim == 0 and isinstance(kind, t.Scalar):
        return s.call(Const(np.asarray), [g], {}, origin, name)
    wanted = s.unit.shape(x)
    over = stretched_axes(s.unit.shape(g), wanted) if isinstance(kind, t.Array) else None
    if over is None:
        shape = s.attribute(x, "shape", origin, "shape")
        result_type = t.Array(getattr(kind, "dtype", None) or "float64", other.ndim)
        g = s.let(Call(Const(unbroadcast), (g, shape)), result_type, name, origin)
        s.unit.shapes[g] = wanted
        return g
    for axes, keep in over:
        options: dict[str, Atom] = {"axis": Const(axes if len(axes) > 1 else axes[0])}
        if keep:
            options["keepdims"] = Const(True)
        g = s.call(Const(np.ndarray.sum), [g], options, origin, name)
    if over and isinstance(g, Var):
        s.unit.shapes[g] = wanted
    return g


def stretched_axes(have: Shape, wanted: Shape) -> list[tuple[tuple[int, ...], bool]] | None:
    """Return the axes to be summed over, and whether they stay; None if they are not known.

    These are the axes that broadcasting has put in front, and those of one element.
    """
    away = len(have) - len(wanted)
    if away < 0:
        return None
    pairs = list(zip(have[away:], wanted, strict=True))
    if any(mine != other and other != ONE for mine, other in pairs):
        return None
    stretched = tuple(i for i, (mine, other) in enumerate(pairs) if mine != other)
    return [(axes, keep) for axes, keep in ((tuple(range(away)), False), (stretched, True)) if axes]
