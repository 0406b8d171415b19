"""Which values share storage: views, references out of containers, and what is new.

``sharing`` tells, for one right-hand side, which operands its result may share storage with, and
how. Everything that has to do with writes asks here: the heap of type inference, the reverse of
updates, and the check of emitted code. Where nothing is known the answer is ``may``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeGuard

import numpy as np

from adcompiler.analyses.purity import is_destructive
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Call, Const, Item, Pack, Rhs, Star, Step, Update, operands, unstar,
)
from adcompiler.ir.operators import IN_PLACE
from adcompiler.ops.facts import CONTENTS, HOLDS, ITEMS, LAYOUT, SAME, VIEW, Option, Shares
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime import append, put_entry
from adcompiler.runtime.adjoints.shaping import reshape_view

__all__ = ["IN_PLACE", "Sharing"]

BUILTIN_CLASSES = {t.List: list, t.Dict: dict, t.Array: np.ndarray, t.Tuple: tuple}
ARRAY_ATTRIBUTES = frozenset({"T", "mT", "real", "imag"})
METADATA = frozenset({"shape", "ndim", "size", "dtype", "itemsize", "nbytes", "strides", "flags"})

READ_LATER: frozenset[Any] = frozenset({
    zip, enumerate, iter, dict.items, np.ndenumerate, np.ndindex,
})
"""Functions whose results read what they are given when they are run through, item by item."""


def reads_later(rhs: Rhs | None) -> TypeGuard[Call]:
    """Say whether a right-hand side makes what reads its arguments when it is run through."""
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
        hashable(rhs.func.value) and rhs.func.value in READ_LATER
    )


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

    def candidates(self, rhs: Rhs) -> tuple[Atom, ...]:
        """Return all atoms that ``of`` may yield for ``rhs``: it reads them, or by a method."""
        read = operands(rhs)
        if isinstance(rhs, Call) and not isinstance(rhs.func, Const):
            made = self.definition(rhs.func)
            if isinstance(made, Attribute):
                return (made.obj, *read)
        return read

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

    def contents(self, atoms: tuple[Atom, ...]) -> Iterator[tuple[Atom, Step | str]]:
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
        if isinstance(rhs.func, Const):
            function, args = rhs.func.value, tuple(rhs.args)
        else:
            made = self.definition(rhs.func)
            if not isinstance(made, Attribute):
                yield from self.mutable((*map(unstar, self.given(rhs.args, rhs)), rhs.func), "may")
                return
            type_ = self.type_of(made.obj)
            if isinstance(type_, (t.Text, t.Scalar, t.Static)):
                return
            function = getattr(BUILTIN_CLASSES.get(type(type_)), made.name, None)
            args = (made.obj, *rhs.args)
        if getattr(function, "gives", None) == "fresh":
            return
        known = REGISTRY.facts(function)
        if known.shares is None and isinstance(function, type):
            yield from self.mutable(map(unstar, self.given(args, rhs)), "holds")
            return
        name = getattr(function, "__name__", "")
        for shares in known.sharing:
            step = Step("call", name, tuple(map(unstar, args[1:])), function, named(rhs))
            yield from self.shared(target, shares, args, rhs, step)

    def given(self, args: tuple[Any, ...], rhs: Call) -> tuple[Any, ...]:
        """Return all arguments of a call."""
        return (*args, *(atom for _, atom in rhs.kwargs))

    def shared(
        self, target: Atom, shares: Shares, args: tuple[Any, ...], rhs: Call, step: Step
    ) -> Iterator[tuple[Atom, Step | str]]:
        """Yield what a result may share storage with by one fact about the function called.

        ``step`` leads from the first argument to the result if that is a view of it.
        """
        starred = any(isinstance(arg, Star) for arg in args)
        if not starred and not self.applies(shares, args, rhs):
            return
        concerned = self.given(args, rhs)
        if shares.of and not starred and len(args) > max(shares.of):
            concerned = tuple(args[i] for i in shares.of)
        atoms = tuple(map(unstar, concerned))
        if isinstance(self.type_of(target), (t.List, t.Tuple)) and step.function is not None and (
            REGISTRY.facts(step.function).exhausts
        ):
            atoms = tuple(atom for atom in atoms if not self.has_plain_keys(atom))
        array = bool(args) and not starred and isinstance(self.type_of(args[0]), t.Array)
        if shares.how in (VIEW, LAYOUT) and array:
            yield args[0], step
        elif shares.how == SAME and step.function in IN_PLACE:
            yield from self.mutable(atoms[:1], "same")
        elif shares.how == SAME and array and len(args) == 1 and not rhs.kwargs:
            yield args[0], self.same_array(shares, args[0], step)
        elif shares.how == CONTENTS or (
            shares.how == ITEMS and is_container(self.type_of(target))
        ):
            yield from self.contents(atoms)
        elif shares.how == HOLDS:
            yield from self.mutable(atoms, "holds")
        elif shares.how != ITEMS:
            yield from self.mutable(
                (a for a in atoms if not self.is_copied_to_array(target, a)), "may")

    def is_copied_to_array(self, target: Atom, atom: Atom) -> bool:
        """Say whether a value is a list of numbers, and the result an array, which copies them."""
        type_ = self.type_of(atom)
        return isinstance(self.type_of(target), t.Array) and isinstance(type_, t.List) and (
            isinstance(type_.item, t.Scalar))

    def has_plain_keys(self, atom: Atom) -> bool:
        """Say whether what runs through a value gets keys of a dict that nobody can write into."""
        type_ = self.type_of(atom)
        return isinstance(type_, t.Dict) and type_.keys is not None and all(
            isinstance(key, (str, int, float, complex, bytes, type(None))) for key in type_.keys)

    def applies(self, shares: Shares, args: Sequence[Atom], rhs: Call) -> bool:
        """Say whether a call may be one of those that a fact about storage is of."""
        type_ = self.type_of(args[0]) if args else None
        if shares.ndim is not None and isinstance(type_, t.Array) and type_.ndim != shares.ndim:
            return False
        if shares.kinds and isinstance(type_, t.Array) and type_.kind not in shares.kinds:
            return False
        if shares.most is not None and len(args) > shares.most:
            return False
        return all(may_be_one_of(option, args, rhs) for option in shares.when)

    def same_array(self, shares: Shares, array: Atom, step: Step) -> Step | str:
        """Tell how the result of ``np.asarray`` and the like relates to an array."""
        type_ = self.type_of(array)
        assert isinstance(type_, t.Array)
        return step if shares.least > type_.ndim else "same"


def named(rhs: Call) -> tuple[tuple[str, Atom], ...]:
    """Return the keyword arguments of a call that have a name."""
    return tuple((key, atom) for key, atom in rhs.kwargs if key is not None)


def may_be_one_of(option: Option, args: Sequence[Atom], rhs: Call) -> bool:
    """Say whether an argument may have one of the values with which a result shares storage."""
    given = dict(rhs.kwargs)
    if None in given:
        return True
    atom = given.get(option.name)
    if atom is None and option.position is not None and option.position < len(args):
        atom = args[option.position]
    if atom is None:
        return option.default in option.values
    return not isinstance(atom, Const) or any(atom.value == value for value in option.values)


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
    python = BUILTIN_CLASSES.get(type(type_))
    return python is not None and callable(getattr(python, name, None))


def checked(step: Step, where: str) -> Step:
    """Return a step that NumPy may make a copy at as one that raises if it does."""
    name, args, kwargs = step.name, step.args, dict(step.kwargs)
    if step.kind != "call" or not any(
        shares.how == LAYOUT for shares in REGISTRY.facts(step.function).sharing
    ):
        return step
    if REGISTRY.facts(step.function).means == "reshape":
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
    if isinstance(rhs, Call):
        return unstar(rhs.args[0]) if is_destructive(rhs) else None
    return rhs.obj if isinstance(rhs, Update) else None


