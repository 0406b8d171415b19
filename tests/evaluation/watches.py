"""What the compiler holds to be true of a variable, compared with what occurs.

``Types`` compares recorded types with values; ``Values`` sees that a variable keeps the value that
it was defined with; ``Facts`` that pure calls leave their operands as they are, and that results
have the shape, and share the storage, that the analyses say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from adcompiler.analyses.purity import Purity, is_destructive
from adcompiler.analyses.storage import Sharing
from adcompiler.ir import types as t
from tests.evaluation.evaluate import Watch
from adcompiler.ir.nodes import (
    Atom, Attribute, Call, Const, Item, Loop, Pack, Rhs, Update, Var, operands, unstar,
)
from adcompiler.ir.visit import definitions
from adcompiler.ops.registry import hashable
from adcompiler.runtime import give_back, own, zeros_like
from adcompiler.runtime.batches import zeros_of_each
from adcompiler.runtime.adjoints.shaping import laid_out_as
from adcompiler.typed.extents import Axis, CutOff, Extent, Least, Met, Value
from adcompiler.typed.shapes import is_elementwise
from adcompiler.typed.unit import Unit

PYTHON = {"bool": bool, "int": int, "float": float, "complex": complex}


class Contradiction(AssertionError):
    """Something occurs that the compiler holds to be impossible."""


class All(Watch):
    """Several watches as one."""

    def __init__(self, *watches: Watch) -> None:
        self.watches = watches

    def bound(self, var: Var, values: Mapping[Var, Any]) -> None:
        for watch in self.watches:
            watch.bound(var, values)

    def before(self, rhs: Rhs, values: Mapping[Var, Any]) -> None:
        for watch in self.watches:
            watch.before(rhs, values)

    def after(self, target: Var | None, rhs: Rhs, values: Mapping[Var, Any], result: Any) -> None:
        for watch in self.watches:
            watch.after(target, rhs, values, result)

    def yielded(self, atoms: Iterable[Atom], values: Mapping[Var, Any]) -> None:
        for watch in self.watches:
            watch.yielded(atoms, values)

    def left(self, values: Mapping[Var, Any]) -> None:
        for watch in self.watches:
            watch.left(values)

    def ended(self, loop: Loop, values: Mapping[Var, Any]) -> None:
        for watch in self.watches:
            watch.ended(loop, values)


class Types(Watch):
    """Raises where a variable has a value that its type does not describe.

    None stands for the value of a variable that has none, and goes with every type; in ``sweeps``
    so does 0.0, the cotangent of such a variable. Outside of these a number is of the very class
    that its type names, or of one of several.
    """

    def __init__(self, unit: Unit, sweeps: bool = False) -> None:
        self.unit = unit
        self.sweeps = sweeps

    def bound(self, var: Var, values: Mapping[Var, Any]) -> None:
        type_, value = self.unit.types.get(var, t.UNKNOWN), values[var]
        nothing = self.sweeps and type(value) is float and value == 0.0
        if var in self.unit.if_bound:  # what the code carries says whether there is a value
            type_ = t.BOOL
        if not nothing and not fits(value, type_, not self.sweeps):
            raise Contradiction(f"{var.name}: {type_} has the value {value!r}")


def fits(value: Any, type_: t.Type, exact: bool = False) -> bool:
    """Say whether a type describes a value; ``exact``, that numbers are of its very classes."""
    if value is None:
        return True
    match type_:
        case t.Scalar() if exact:
            return any(type(value) is class_of_number(one) for one in type_.alternatives)
        case t.Scalar(kind, dtype):
            wanted = np.dtype(PYTHON[kind] if dtype is None else dtype)
            number = isinstance(value, (np.generic, bool, int, float, complex))
            return number and describes(wanted, np.asarray(value).dtype)
        case t.Array(dtype, ndim):
            return type(value) is np.ndarray and value.dtype == np.dtype(dtype) and (
                value.ndim == ndim
            )
        case t.Text():
            return type(value) is str
        case t.Tuple(items, cls):
            return type(value) is cls and len(value) == len(items) and all(
                fits(v, item, exact) for v, item in zip(value, items, strict=True))
        case t.List(item):
            return type(value) is list and all(fits(v, item, exact) for v in value)
        case t.Dict(keys, items):
            return isinstance(value, dict) and (
                all(fits(v, items[0], exact) for v in value.values()) if keys is None else
                tuple(value) == keys and all(
                    fits(v, item, exact) for v, item in zip(value.values(), items, strict=True))
            )
        case t.Range():
            return type(value) is range
        case t.SliceType():
            return type(value) is slice
        case t.Static(known):
            if known is None:  # of what has no derivative, the cotangent is zero
                return isinstance(value, float) and value == 0.0
            return bool(t.same_static(value, known)) or value == known
        case t.Object(cls, fields):
            return isinstance(value, cls) and all(
                not hasattr(value, name) or fits(getattr(value, name), item, exact)
                for name, item in fields
            )
    return True


def class_of_number(type_: t.Scalar) -> type:
    """Return the class of the numbers of an exact type."""
    return PYTHON[type_.kind] if type_.dtype is None else np.dtype(type_.dtype).type


def describes(wanted: np.dtype[Any], found: np.dtype[Any]) -> bool:
    """Say whether numbers of one dtype have the type of another: the type of two is the wider."""
    return found == wanted or (found.kind != "b" and np.can_cast(found, wanted, "safe"))


METADATA = frozenset({"shape", "ndim", "size", "dtype", "itemsize", "nbytes"})
FORM_ONLY = frozenset({
    zeros_like, len, np.shape, give_back, np.zeros_like, np.ones_like, np.empty_like, np.full_like,
    zeros_of_each, np.copy, own,  # what is saved may be read for its form alone
})


class Values(Watch):
    """Raises where a variable is read that has another value by then than it was defined with.

    What is only handed on, in a display or at the end of a block, is looked at where it is read:
    of some values that are saved, only the form is read.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.first: dict[tuple[int, Var], Any] = {}  # by frame: functions call themselves

    def bound(self, var: Var, values: Mapping[Var, Any]) -> None:
        self.first[id(values), var] = frozen(values[var])

    def before(self, rhs: Rhs, values: Mapping[Var, Any]) -> None:
        self.check(read_by_value(rhs), values, shown(rhs))

    def check(self, atoms: Iterable[Atom], values: Mapping[Var, Any], where: str) -> None:
        for atom in atoms:
            if not isinstance(atom, Var) or (id(values), atom) not in self.first:
                continue
            first, now = self.first[id(values), atom], frozen(values[atom])
            if not equal(now, first):
                raise Contradiction(
                    f"{atom.name} was {first!r}, and is read as {now!r} by {where}"
                )


def read_by_value(rhs: Rhs) -> tuple[Atom, ...]:
    """Return the operands of which more is read than the form, which writes leave as it is."""
    match rhs:
        case Pack():
            return ()
        case Attribute(_, name) if name in METADATA:
            return ()
        case Call(Const(value)) if hashable(value) and value in FORM_ONLY:
            return ()
        case Call(Const(value), args) if value is laid_out_as:
            return (unstar(args[0]),)
    return operands(rhs)


def frozen(value: Any) -> Any:
    """Return what is kept of arrays, lists, tuples and dicts, to be compared later."""
    if isinstance(value, np.ndarray):
        return value.copy() if value.dtype != object else None
    if type(value) in (list, tuple):
        return [frozen(item) for item in value]
    if type(value) is dict:
        return {key: frozen(item) for key, item in value.items()}
    if isinstance(value, (bool, int, float, complex, np.generic, str)):
        return value
    return None


def equal(a: Any, b: Any) -> bool:
    """Say whether two frozen values are the same, nan equal to nan."""
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.shape == b.shape and a.tobytes() == b.tobytes()
    return type(a) is type(b) and (a == b or a != a)


class Shapes(Watch):
    """Raises where an array has an extent other than the expression that is known of it.

    Only expressions of what has a value in this frame are looked at. What the code expects of
    shapes is checked by itself, maybe further down: that it is not so counts when a function is
    left.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.found: dict[int, str] = {}
        self.order: dict[int, dict[Var, None]] = {}

    def bound(self, var: Var, values: Mapping[Var, Any]) -> None:
        order = self.order.setdefault(id(values), {})
        while var in order:  # an iteration begins: what came after is of the one before
            order.popitem()
        order[var] = None
        value, type_ = values[var], self.unit.type(var)
        if not isinstance(value, np.ndarray) or not isinstance(type_, t.Array):
            return
        shape = self.unit.shape(var)
        for extent, found in zip(shape, value.shape, strict=True):
            wanted = extent_there(extent, {one: values[one] for one in order})
            if wanted is not None and wanted != found:
                text = f"{var.name}: {extent} is {wanted}, the shape {value.shape}"
                self.found.setdefault(id(values), text)

    def ended(self, loop: Loop, values: Mapping[Var, Any]) -> None:
        for var in (*loop.binds(), *definitions(loop.body)):
            self.order.get(id(values), {}).pop(var, None)

    def left(self, values: Mapping[Var, Any]) -> None:
        self.order.pop(id(values), None)
        found = self.found.pop(id(values), None)
        if found is not None:
            raise Contradiction(found)


def extent_there(extent: Extent, values: Mapping[Var, Any]) -> int | None:
    """Return the value of an extent, None if it reads what has none."""
    total = extent.constant
    for symbol, count in extent.terms:
        value: int | None
        match symbol:
            case Axis(array, axis):
                there = array.value if isinstance(array, Const) else values.get(array)
                value = there.shape[axis] if isinstance(there, np.ndarray) and (
                    axis < there.ndim) else None
            case Value(var):
                value = values.get(var)
            case CutOff(size):
                value = extent_there(size, values)
                value = None if value is None else max(value, 0)
            case Least():
                parts = [extent_there(part, values) for part in (symbol.one, symbol.other)]
                value = None if None in parts else min(parts)
            case Met():
                parts = [extent_there(part, values) for part in symbol.extents]
                longer = [part for part in parts if part != 1]
                value = None if None in parts else longer[0] if longer else 1
        if value is None:
            return None
        total += count * value
    return total


class Facts(Watch):
    """Raises where a call does what the analyses rule out."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.purity = Purity(unit.type, unit.definition)
        self.sharing = Sharing(unit.type, unit.definition)
        self.kept: dict[tuple[int, int], tuple[dict[Var, Any], set[Var]]] = {}

    def before(self, rhs: Rhs, values: Mapping[Var, Any]) -> None:
        given = [atom for atom in operands(rhs) if isinstance(atom, Var) and atom in values]
        pure = self.purity.is_pure(rhs) and not is_destructive(rhs)
        whole = values.get(rhs.obj) if isinstance(rhs, Update) else None
        self.kept[id(values), id(rhs)] = (
            {atom: frozen(values[atom]) for atom in given if pure},
            {atom for atom in given if may_share(values[atom], whole)},
        )

    def after(self, target: Var | None, rhs: Rhs, values: Mapping[Var, Any], result: Any) -> None:
        kept, shared = self.kept.pop((id(values), id(rhs)))
        for var, before in kept.items():
            if not equal(frozen(values[var]), before):
                raise Contradiction(f"{shown(rhs)} is pure, but has changed {var.name}")
        if target is not None:
            shared |= {atom for atom, _ in self.sharing.of(target, rhs) if isinstance(atom, Var)}
            self.check_sharing(shared, rhs, values, result)
        self.check_shape(rhs, values, result)

    def check_sharing(
        self, shared: set[Var], rhs: Rhs, values: Mapping[Var, Any], result: Any
    ) -> None:
        for atom in operands(rhs):
            if isinstance(atom, Var) and atom not in shared and atom in values and (
                may_share(values[atom], result)
            ):
                raise Contradiction(f"{shown(rhs)} shares storage with {atom.name}")

    def check_shape(self, rhs: Rhs, values: Mapping[Var, Any], result: Any) -> None:
        if not (
            isinstance(rhs, Call) and isinstance(rhs.func, Const) and not rhs.kwargs
            and isinstance(result, np.ndarray) and is_elementwise(rhs.func.value)
        ):
            return
        given = [
            values.get(a) if isinstance(a, Var) else getattr(a, "value", None) for a in rhs.args
        ]
        wanted = np.broadcast_shapes(*map(np.shape, given))
        if result.shape != wanted:
            raise Contradiction(f"{shown(rhs)} is elementwise, but gives {result.shape}")


def arrays(value: Any) -> Iterator[np.ndarray]:
    """Iterate over the arrays that a value is or holds."""
    if isinstance(value, np.ndarray):
        yield value
    elif type(value) in (list, tuple):
        for item in value:
            yield from arrays(item)
    elif type(value) is dict:
        yield from arrays(list(value.values()))


def may_share(a: Any, b: Any) -> bool:
    """Say whether two values hold arrays that overlap, or are one mutable container."""
    if a is b and isinstance(a, (list, dict)):
        return True
    return any(np.shares_memory(x, y) for x in arrays(a) for y in arrays(b) if x.size and y.size)


def shown(rhs: Rhs) -> str:
    """Return what messages call a right-hand side."""
    match rhs:
        case Call(Const(value)):
            return f"a call of {getattr(value, '__qualname__', value)}"
        case Item():
            return "a subscript"
    return f"the {type(rhs).__name__}"


def watching(stage: str, unit: Unit, single: bool = False) -> Watch:
    """Return what is checked while a stage runs: no types of programs in single precision.

    In front of the optimiser, sweeps hold code that nobody reads, of values overwritten by then.
    """
    if stage == "parse":
        return Watch()
    types = [] if single else [Types(unit, stage != "types")]
    return All(Facts(unit), Shapes(unit), *types, *([] if stage == "reverse" else [Values(unit)]))
