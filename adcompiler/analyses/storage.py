"""Which values share storage: views, references out of containers, and what is new.

``sharing`` tells, for one right-hand side, which operands its result may share storage with, and
how. Everything that has to do with writes asks here: the heap of the specialiser, the reverse of
updates, and the check of emitted code. Where nothing is known the answer is ``may``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adcompiler.analyses.purity import ALLOCATORS, is_destructive
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Call, Const, Item, Pack, Rhs, Star, Step, Update, unstar,
)
from adcompiler.rulekit.registry import REGISTRY, hashable
from adcompiler.runtime import (
    append, dict_keys, entry, own, put_entry, stop_gradient, zeros_like,
)
from adcompiler.runtime.external import call_external, external_call, external_value
from adcompiler.runtime.functionals import implied, passive
from adcompiler.runtime.shaping import (
    complex_viewed, copy_as_laid_out, parts_viewed, reshape_view, viewed,
)

IN_PLACE: dict[Any, Any] = {
    operator.iadd: operator.add, operator.isub: operator.sub, operator.imul: operator.mul,
    operator.itruediv: operator.truediv, operator.ifloordiv: operator.floordiv,
    operator.imod: operator.mod, operator.ipow: operator.pow, operator.imatmul: operator.matmul,
    operator.iand: operator.and_, operator.ior: operator.or_, operator.ixor: operator.xor,
    operator.ilshift: operator.lshift, operator.irshift: operator.rshift,
}
"""Each in-place operator with the one that makes a new value."""

VIEWS: frozenset[Any] = frozenset({
    np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.expand_dims, np.squeeze, np.flip,
    np.fliplr, np.flipud, np.diagonal, np.broadcast_to, np.real, np.imag, reshape_view,
    viewed, parts_viewed, complex_viewed,
})
"""Functions whose result is always a view of their first argument (or the array itself)."""

MAYBE_VIEWS: frozenset[Any] = frozenset({np.reshape, np.ravel})
"""Functions whose result is a view where the layout in memory allows, otherwise a copy."""

SAME: frozenset[Any] = frozenset({
    np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.atleast_1d,
    np.atleast_2d, np.atleast_3d, np.require, np.asarray_chkfinite,
})
"""Functions that return their argument, or a view of it, if it already is what is wanted."""

VIEW_METHODS = frozenset({"transpose", "swapaxes", "squeeze"})
MAYBE_VIEW_METHODS = frozenset({"reshape", "ravel"})
FRESH_METHODS = frozenset({
    "copy", "flatten", "sum", "mean", "prod", "std", "var", "max", "min", "dot", "cumsum",
    "cumprod", "argmax", "argmin", "argsort", "repeat", "take", "round", "trace", "clip", "ptp",
    "all", "any", "nonzero", "tolist", "item", "compress", "choose", "searchsorted", "astype",
    "count", "index", "keys", "tobytes", "__len__",
})
"""Methods whose result has storage of its own (``astype`` unless ``copy=False`` is given)."""

MAY_SHARE: frozenset[Any] = frozenset({
    np.einsum, np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.broadcast_arrays,
    np.nan_to_num, np.meshgrid, np.diag, np.diff, np.linalg.matrix_power, np.trim_zeros,
    np.real_if_close, np.rot90, np.lib.stride_tricks.as_strided,
    np.lib.stride_tricks.sliding_window_view, np.block,
})
"""Functions with a rule whose result may share the storage of an argument."""

SELECTORS: frozenset[Any] = frozenset({
    tuple, list, sorted, reversed, zip, enumerate, dict, min, max, next, iter, getattr, map, filter,
})
"""Builtins whose result holds, or is, what their arguments hold."""

COPIES: frozenset[Any] = frozenset({
    own, entry, np.copy, dict_keys, copy_as_laid_out, stop_gradient, zeros_like,
})
"""Functions that copy all that their argument holds, or give what cannot be written."""

ARRAY_ATTRIBUTES = frozenset({"T", "mT", "real", "imag"})
METADATA = frozenset({"shape", "ndim", "size", "dtype", "itemsize", "nbytes", "strides", "flags"})

TypeOf = Callable[[Atom], t.Type]
Definition = Callable[[Atom], Rhs | None]


def is_mutable(type_: t.Type) -> bool:
    """Say whether a value of this type has storage that can be written into."""
    match type_:
        case t.Array() | t.List() | t.Dict() | t.Object() | t.Unknown():
            return True
        case t.Tuple(items):
            return any(map(is_mutable, items))
    return False


class Sharing:
    """Answers for one compilation, whose tables of types and definitions it reads."""

    def __init__(self, type_of: TypeOf, definition: Definition) -> None:
        self.type_of = type_of
        self.definition = definition

    def of(self, target: Atom, rhs: Rhs) -> Iterator[tuple[Atom, Step | str]]:
        """Yield the operands that the value of ``rhs`` may share storage with, and how.

        A ``Step`` leads from the operand to the value, for sure. ``same`` is the operand itself;
        ``holds`` a new container that refers to what the operand is or holds; ``may`` says that
        no more is known. A bound method holds the value that it belongs to.
        """
        if isinstance(rhs, Attribute) and isinstance(self.type_of(target), t.Method):
            yield from self.mutable((rhs.obj,), "holds")
            return
        if not is_mutable(self.type_of(target)):
            return
        match rhs:
            case Item(obj, index):
                yield from self.item(obj, index)
            case Attribute(obj, name):
                yield from self.attribute(obj, name)
            case Pack(_, items, _):
                for item in items:
                    yield from self.mutable((unstar(item),), "holds")
            case Update(obj):
                yield obj, "same"
                yield from self.mutable(self.entered(rhs), "holds")
            case Call():
                yield from self.call(target, rhs)

    def entered(self, rhs: Rhs) -> tuple[Atom, ...]:
        """Return what a write puts into a container."""
        match rhs:
            case Update(obj, steps, value, adds):
                holder = part_type(self.type_of(obj), steps[:-1])
                if not adds and steps and not isinstance(holder, t.Array):
                    return (value,)
            case Call(Const(function), args) if function is append or function is put_entry:
                return tuple(map(unstar, args[1:]))
        return ()

    def mutable(self, atoms: Any, how: Step | str) -> Iterator[tuple[Atom, Step | str]]:
        """Yield those of ``atoms`` that have storage."""
        for atom in atoms:
            if is_mutable(self.type_of(atom)):
                yield atom, how

    def contents(self, atoms: Any) -> Iterator[tuple[Atom, Step | str]]:
        """Yield those of ``atoms`` that hold values with storage, which are held again."""
        for atom in atoms:
            type_ = self.type_of(atom)
            if is_mutable(type_) and (not is_container(type_) or holds_storage(type_)):
                yield atom, "holds"

    def item(self, obj: Atom, index: Atom) -> Iterator[tuple[Atom, Step | str]]:
        match self.type_of(obj):
            case t.Array():
                if self.is_basic(index):
                    yield obj, Step("item", args=(index,))
                elif not self.copies(index):
                    yield obj, "may"
            case t.List() | t.Tuple() if isinstance(self.type_of(index), t.SliceType):
                yield from self.contents((obj,))
            case t.Unknown():
                yield obj, "may"
            case _:
                yield obj, Step("item", args=(index,))

    def is_basic(self, index: Atom) -> bool:
        """Say whether a subscript of an array gives a view: ints, slices, ``...`` and None."""
        rhs = self.definition(index)
        if isinstance(rhs, Pack) and rhs.kind == "tuple":
            return all(self.is_basic(unstar(item)) for item in rhs.items)
        if isinstance(index, Const):
            parts = index.value if isinstance(index.value, tuple) else (index.value,)
            return all(
                part is None or part is Ellipsis or isinstance(part, slice)
                or (isinstance(part, int) and not isinstance(part, bool)) for part in parts
            )
        match t.as_index(self.type_of(index)):
            case t.Scalar("int") | t.SliceType():
                return True
            case t.Static(value):
                return value is None or value is Ellipsis
            case t.Tuple(items):
                return all(
                    item in (t.SLICE, t.Static(None), t.Static(Ellipsis))
                    or (isinstance(item, t.Scalar) and t.as_index(item) != item)
                    or (isinstance(item, t.Scalar) and item.kind == "int") for item in items
                )
        return False

    def copies(self, index: Atom) -> bool:
        """Say whether a subscript of an array gives a copy for sure: an index array is in it."""
        rhs = self.definition(index)
        if isinstance(rhs, Pack) and rhs.kind == "tuple":
            return any(self.copies(unstar(item)) for item in rhs.items)
        if isinstance(index, Const):
            parts = index.value if isinstance(index.value, tuple) else (index.value,)
            return any(isinstance(part, (list, bool, np.ndarray)) for part in parts)
        match self.type_of(index):
            case t.Array() | t.List():
                return True
            case t.Scalar("bool"):
                return True
            case t.Tuple(items):
                return any(isinstance(item, (t.Array, t.List)) for item in items)
        return False

    def attribute(self, obj: Atom, name: str) -> Iterator[tuple[Atom, Step | str]]:
        type_ = self.type_of(obj)
        if isinstance(type_, t.Object):
            yield obj, Step("attr", name)
        elif isinstance(type_, t.Array) and name in ARRAY_ATTRIBUTES:
            if not (name == "imag" and type_.kind != "complex"):
                yield obj, Step("attr", name)
        elif name not in METADATA and not is_method(type_, name):
            yield from self.mutable((obj,), "may")

    def call(self, target: Atom, rhs: Call) -> Iterator[tuple[Atom, Step | str]]:
        args = tuple(map(unstar, rhs.args))
        named = tuple(atom for _, atom in rhs.kwargs)
        if not isinstance(rhs.func, Const):
            yield from self.method(rhs, (*args, *named))
            return
        function = rhs.func.value
        if getattr(function, "gives", None) == "fresh":
            return
        if not hashable(function):
            yield from self.mutable((*args, *named), "may")
            return
        function = REGISTRY.resolve(function)
        copy = dict(rhs.kwargs).get("copy")
        if function in COPIES or (
            function in SAME and isinstance(copy, Const) and copy.value is True
        ):
            return
        starred = any(isinstance(arg, Star) for arg in rhs.args)
        array = bool(args) and not starred and isinstance(self.type_of(args[0]), t.Array)
        kwargs = tuple((key, atom) for key, atom in rhs.kwargs if key is not None)
        if array and (function in VIEWS or function in MAYBE_VIEWS):
            if not self.is_new_part(function, args[0]):
                yield args[0], Step("call", function.__name__, args[1:], function, kwargs)
        elif array and function in SAME and len(args) == 1 and not kwargs:
            yield args[0], self.same_array(function, args[0])
        elif function in IN_PLACE:
            yield from self.mutable(args[:1], "same")
        elif function is implied:
            yield from self.mutable(args[:1], "may")
        elif function in SELECTORS:
            yield from self.contents((*args, *named))
        elif self.makes_new(function, args, named):
            return
        elif function in MAY_SHARE or function in SAME or function in VIEWS or (
            function in MAYBE_VIEWS
        ):
            yield from self.mutable((*args, *named), "may")
        elif not self.is_fresh(function):
            how = "holds" if isinstance(function, type) else "may"
            yield from self.mutable((*args, *named), how)
        elif is_container(self.type_of(target)) and not is_of_scipy(function):
            yield from self.contents((*args, *named))

    def is_new_part(self, function: Any, array: Atom) -> bool:
        """Say whether a part of an array is one that NumPy makes: zeros as imaginary parts."""
        type_ = self.type_of(array)
        return function is np.imag and isinstance(type_, t.Array) and type_.kind != "complex"

    def same_array(self, function: Any, array: Atom) -> Step | str:
        """Tell how the result of ``np.asarray`` and the like relates to an array."""
        type_ = self.type_of(array)
        assert isinstance(type_, t.Array)
        least = {np.atleast_1d: 1, np.atleast_2d: 2, np.atleast_3d: 3}.get(function, 0)
        if least > type_.ndim:
            return Step("call", function.__name__, (), function)
        return "same" if least or function in (np.asarray, np.asanyarray) else "may"

    def method(self, rhs: Call, atoms: tuple[Atom, ...]) -> Iterator[tuple[Atom, Step | str]]:
        made = self.definition(rhs.func)
        if not isinstance(made, Attribute):
            yield from self.mutable((*atoms, rhs.func), "may")
            return
        obj, name = made.obj, made.name
        type_ = self.type_of(obj)
        starred = any(isinstance(arg, Star) for arg in rhs.args)
        if isinstance(type_, t.Array) and not starred and (
            name in VIEW_METHODS or name in MAYBE_VIEW_METHODS
        ):
            kwargs = tuple((key, atom) for key, atom in rhs.kwargs if key is not None)
            yield obj, Step("method", name, tuple(map(unstar, rhs.args)), None, kwargs)
        elif isinstance(type_, t.Array) and name in ("conj", "conjugate") and (
            type_.kind != "complex"
        ):
            yield obj, "same"
        elif isinstance(type_, (t.Text, t.Scalar, t.Static)):
            return
        elif name in FRESH_METHODS and not (name == "astype" and len(rhs.kwargs) > 0):
            if is_container(type_):
                yield from self.contents((obj,))
        else:
            yield from self.mutable((obj, *atoms), "may")

    def makes_new(self, function: Any, args: tuple[Atom, ...], named: tuple[Atom, ...]) -> bool:
        """Say whether this call of a function that may give back its argument makes a new array."""
        if named or not args:
            return False
        if function is np.diff:
            return len(args) == 1 or (isinstance(args[1], Const) and args[1].value != 0)
        if function is np.linalg.matrix_power:
            return isinstance(args[1], Const) and args[1].value != 1
        if function is np.diag:
            return getattr(self.type_of(args[0]), "ndim", 2) == 1
        if function is np.einsum:
            return len(args) > 2
        return function in (np.nan_to_num, np.meshgrid)

    def is_fresh(self, function: Any) -> bool:
        """Say whether the result of a function has storage of its own."""
        if function in ALLOCATORS or isinstance(function, np.ufunc) or (
            function in IN_PLACE.values() or function in FRESH
        ) or isinstance(getattr(function, "__self__", None), np.ufunc):
            return True
        module = str(getattr(function, "__module__", ""))
        if module.startswith("adcompiler.runtime"):
            return is_of_scipy(function)
        known = REGISTRY.find(function) is not None or REGISTRY.inactive(function) is not None
        return known and (
            module.split(".")[0] in ("numpy", "math", "cmath", "builtins", "_operator")
            or module.startswith("scipy.fft.")
            or isinstance(function, np.ufunc)
            or is_of_scipy(function)
        )


def is_of_scipy(function: Any) -> bool:
    """Say whether ``function`` is one of SciPy's: no class or method, whose results may hold more.

    SciPy's functions with a rule make new arrays, in tuples too; none is asked to overwrite one.
    So do the functions of the runtime that go with them.
    """
    return (
        str(getattr(function, "__module__", "")).startswith(("scipy.", "adcompiler.runtime.scipy_"))
        and not isinstance(function, type) and "." not in getattr(function, "__qualname__", ".")
    )


FRESH: frozenset[Any] = frozenset({
    operator.neg, operator.pos, operator.invert, abs, operator.eq, operator.ne, operator.lt,
    operator.le, operator.gt, operator.ge, np.where, np.concatenate, np.stack, np.vstack,
    np.hstack, np.column_stack, np.arange, np.linspace, np.eye, np.identity, np.outer, np.tile,
    np.repeat, np.roll, np.sort, np.cumsum, np.dot, np.sum, np.array, np.copy, range, passive,
    call_external, external_call, external_value,
})
"""Functions whose result never shares storage with an argument, whatever is registered for them."""


def part_type(type_: t.Type, steps: tuple[Step, ...]) -> t.Type:
    """Return the type of the part of a value that ``steps`` lead to, as far as it is known."""
    for step in steps:
        key = step.args[0].value if step.args and isinstance(step.args[0], Const) else None
        match type_:
            case t.Array():
                return type_
            case t.List(item) | t.Dict(None, (item,)):
                type_ = item
            case t.Dict(keys, items) if keys is not None and key in keys:
                type_ = items[keys.index(key)]
            case t.Tuple(items) if isinstance(key, int) and -len(items) <= key < len(items):
                type_ = items[key]
            case t.Object() if step.kind == "attr":
                type_ = type_.field(step.name) or t.UNKNOWN
            case _:
                return t.UNKNOWN
    return type_


def is_container(type_: t.Type) -> bool:
    """Say whether values of this type refer to other objects."""
    return isinstance(type_, (t.List, t.Dict, t.Tuple, t.Object))


def holds_storage(type_: t.Type) -> bool:
    """Say whether what a container of this type refers to has storage of its own."""
    match type_:
        case t.List(item):
            return is_mutable(item)
        case t.Tuple(items) | t.Dict(_, items):
            return any(map(is_mutable, items))
    return True


def is_method(type_: t.Type, name: str) -> bool:
    """Say whether an attribute of a value of this type is a method, which holds nothing new."""
    python = {t.List: list, t.Dict: dict, t.Array: np.ndarray}.get(type(type_))
    return python is not None and callable(getattr(python, name, None))


def checked(step: Step, where: str) -> Step:
    """Return a step that NumPy may make a copy at as one that raises if it does."""
    name, args, kwargs = step.name, step.args, dict(step.kwargs)
    if step.kind == "method" and name in MAYBE_VIEW_METHODS:
        pass
    elif step.kind != "call" or step.function not in MAYBE_VIEWS:
        return step
    elif step.function is np.reshape:
        shape = kwargs.pop("shape", kwargs.pop("newshape", None))
        args = args if shape is None else (shape, *args)
        if len(args) > 1:
            args, kwargs["order"] = args[:1], args[1]
    if name == "ravel" and args:
        kwargs["order"] = args[0]
        args = ()
    return Step(
        "call", reshape_view.__name__, (Const(where), *args), reshape_view,
        tuple(kwargs.items()),
    )


def type_of_view(array: t.Type, step: Step, type_of: TypeOf) -> t.Type | None:
    """Return the type of what a checked step leads to, None if it is not known."""
    if step.function is not reshape_view or not isinstance(array, t.Array):
        return None
    shape = step.args[1:]
    if not shape:
        return t.Array(array.dtype, 1)
    if len(shape) == 1:
        found = type_of(shape[0])
        if isinstance(shape[0], Const) and isinstance(shape[0].value, tuple):
            return t.Array(array.dtype, len(shape[0].value))
        if isinstance(found, t.Tuple):
            return t.Array(array.dtype, len(found.items))
        if not isinstance(found, t.Scalar):
            return None
    return t.Array(array.dtype, len(shape))


def written_operand(rhs: Rhs) -> Atom | None:
    """Return the operand whose storage emitting ``rhs`` writes into, None if there is none."""
    if isinstance(rhs, Update):
        return rhs.obj
    if isinstance(rhs, Call) and is_destructive(rhs):
        return unstar(rhs.args[0])
    return None


