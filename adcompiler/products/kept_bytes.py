"""How many bytes a forward pass keeps for its sweep, as an expression in the arguments.

The extents of arrays and the numbers of iterations are expressions of the arguments in most
programs, and so is what tapes take. Where one of them is known only when the code runs, the first
such place is told.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TypeGuard

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Attribute, Call, Const, Do, Function, Global, Item, Let, Loop, Origin,
    Pack, Region, Rhs, Slice, Star, Var, unstar,
)
from adcompiler.ir.operators import SIGNS
from adcompiler.ir.regions import LEAVES
from adcompiler.ir.visit import loops_in, walk
from adcompiler.ops.qualified_names import display_name
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.products.sums import Factor, Sum
from adcompiler.runtime import own, same_extent, same_shape
from adcompiler.runtime.kept_bytes import FUNCTIONS, size_in_bytes
from adcompiler.typed.extents import Axis, CutOff, Extent, Least, Symbol, Value
from adcompiler.typed.unit import Unit

NOTHING: Mapping[Atom, Atom] = MappingProxyType({})
MOST_CALLS = 8
"""So many functions that call one another are looked into."""
FACTORISATIONS = {"scipy.linalg.lu_factor": True, "scipy.linalg.cho_factor": False}
"""Whether what is kept beside the triangles of a matrix are integers for its rows, or one flag."""
WORD = 8
"""The bytes of a number that is no item of an array, as native code keeps it."""
ENDLESS = (itertools.count, itertools.cycle, itertools.repeat)
NAMES = {function: name for name, function in FUNCTIONS.items()}
COPIES = (own, np.copy)


class NotForetold(Exception):
    """Something is known only when the code runs."""

    def __init__(self, what: str, origin: Origin | None = None) -> None:
        super().__init__(what if origin is None else f"{what} ({origin.where})")


class KeptBytes:
    """Writes the sizes of values of one function in terms of the parameters of the first one.

    ``functions`` are those that it may call, by name; ``given`` has what its own parameters are in
    the function that calls it, ``caller``.
    """

    def __init__(
        self, unit: Unit, function: Function, functions: Mapping[str, Function],
        caller: KeptBytes | None = None, given: Mapping[Atom, Atom] = NOTHING,
    ) -> None:
        self.unit = unit
        self.functions = functions
        self.caller = caller
        self.given = given
        self.bound: dict[Atom, Const] = {}
        self.depth: int = 0 if caller is None else caller.depth + 1
        self.params = {param.var for param in function.params}
        self.collected: dict[Atom, tuple[Loop, Atom]] = {}
        self.items: dict[Atom, tuple[Loop, Atom]] = {}
        self.arms: dict[Atom, tuple[Origin, list[Atom]]] = {}
        self.made: dict[Atom, Origin] = {}
        for loop in loops_in(function.body):
            kept = loop.body.yields[len(loop.params):]
            self.collected.update(
                (collect, (loop, atom)) for collect, atom in zip(loop.collects, kept, strict=False))
            self.items.update(
                (item, (loop, iterable))
                for item, iterable in zip(loop.items, loop.iterables, strict=False))
        for statement in walk(function.body):
            if isinstance(statement, Let):
                self.made[statement.target] = statement.origin
            elif isinstance(statement, Region):
                for edge in statement.edges():
                    if edge.how == LEAVES:
                        arms = self.arms.setdefault(edge.target, (statement.origin, []))
                        arms[1].append(edge.source)

    # -- sizes ---------------------------------------------------------------------------------

    def size(self, atom: Atom) -> Sum:
        """Return the bytes of a value, 8 a number that is no item of an array."""
        if isinstance(atom, Const):
            return Sum.number(size_in_bytes(atom.value))
        type_ = self.unit.type(atom)
        if isinstance(type_, t.Array):
            size = Sum.number(np.dtype(type_.dtype).itemsize)
            for extent in self.unit.shape(atom):
                size = size.times(self.extent(extent))
            return size
        if isinstance(type_, t.Scalar):
            if atom in self.arms and {NONE, UNDEF} & set(self.arms[atom][1]):
                raise NotForetold("which branch is taken", self.arms[atom][0])
            return Sum.number(WORD)
        if isinstance(type_, (t.Static, t.Text, t.Range, t.SliceType)):
            return Sum.number(0)
        return self.of_container(atom, type_)

    def of_container(self, atom: Var, type_: t.Type) -> Sum:
        """Return the bytes of what a tuple, list or dict holds."""
        made = self.unit.definition(atom)
        if atom in self.collected:
            loop, item = self.collected[atom]
            found = Sum()
            for known in self.known_items(loop):
                with self.bound_to(loop, known):
                    found = found.plus(self.size(item))
            return found if found.terms else self.over(loop, self.size(item))
        if isinstance(made, Pack) and not any(isinstance(one, Star) for one in made.items):
            return self.total(map(unstar, made.items))
        if isinstance(made, Call) and isinstance(made.func, Const) and any(
            made.func.value is function for function in COPIES
        ):
            return self.size(unstar(made.args[0]))
        if atom in self.arms:
            origin, arms = self.arms[atom]
            first, *others = map(self.size, arms)
            if all(other.terms == first.terms for other in others):
                return first
            raise NotForetold("which branch is taken", origin)
        parts = self.of_factorisation(made)
        if parts is not None:
            return parts
        if isinstance(made, Item) and isinstance(made.index, Const) and made.index.value == 1:
            called = self.called(self.unit.definition(made.obj))
            if called is not None:
                return called
        path = self.path(atom)
        if path is not None:
            return Sum.of(f"size_in_bytes({path})")
        if isinstance(type_, t.Tuple) and all(isinstance(one, t.Scalar) for one in type_.items):
            return Sum.number(WORD * len(type_.items))
        raise self.unknown("the size of", atom)

    def of_factorisation(self, made: Rhs | None) -> Sum | None:
        """Return the bytes of the triangles of a matrix, None of what a call gives else."""
        if not isinstance(made, Call) or not isinstance(made.func, Const) or not made.args:
            return None
        kept = FACTORISATIONS.get(display_name(made.func.value))
        shape = self.unit.shape(unstar(made.args[0]))
        if kept is None or len(shape) != 2:
            return None
        rows, columns = map(self.extent, shape)
        return Sum.number(WORD).times(rows).times(columns).plus(
            Sum.number(4).times(rows) if kept else Sum.number(WORD))

    def total(self, atoms: Iterable[Atom]) -> Sum:
        """Return the bytes of several values."""
        found = Sum()
        for atom in atoms:
            found = found.plus(self.size(atom))
        return found

    def called(self, made: Rhs | None) -> Sum | None:
        """Return the bytes that another function keeps, None if it is no augmented primal."""
        if not isinstance(made, Call) or not isinstance(made.func, Const) or made.kwargs or any(
            isinstance(arg, Star) for arg in made.args
        ):
            return None
        function = self.functions.get(getattr(made.func.value, "name", ""))
        if function is None or len(function.params) != len(made.args):
            return None
        if self.depth == MOST_CALLS:
            raise NotForetold("how often a function calls itself", function.origin)
        given: dict[Atom, Atom] = dict(zip(
            (p.var for p in function.params), map(unstar, made.args), strict=True))
        inner = KeptBytes(self.unit, function, self.functions, self, given)
        return inner.size(function.body.yields[1])

    # -- iterations ----------------------------------------------------------------------------

    def over(self, loop: Loop, each: Sum) -> Sum:
        """Return the sum over the iterations of a loop of what each of them keeps."""
        steady = Sum((key, n) for key, n in each.terms.items() if not varies(key, loop))
        found = steady.times(self.trips(loop)) if steady.terms else steady
        for key, count in each.terms.items():
            if varies(key, loop):
                changing = tuple(factor for factor in key if varies((factor,), loop))
                rest = tuple(factor for factor in key if factor not in changing)
                found = found.plus(Sum([((*rest, self.summed(loop, changing)), count)]))
        return found

    def summed(self, loop: Loop, changing: tuple[Factor, ...]) -> Factor:
        """Return the sum of a product over the range that one variable of a loop runs over."""
        (var, *others) = [item for item in loop.items if varies(changing, item)]
        iterable = self.items[var][1]
        made = self.unit.definition(iterable)
        if others or loop.condition is not None or loop.stops or not is_call_of(made, range):
            raise NotForetold("the size of what the iterations keep", loop.origin)
        ends = [self.value(unstar(end)) for end in made.args]
        inner = frozenset[Var]().union(*(factor.varies for factor in changing)) - {var}
        return Factor(
            f"sum({'*'.join(f.text for f in changing)} for {self.name(var)} in "
            f"range({', '.join(map(str, ends))}))",
            inner.union(*(end.varies for end in ends)),
        )

    def trips(self, loop: Loop) -> Sum:
        """Return how often a loop runs."""
        if loop.condition is not None or loop.stops:
            raise NotForetold("how often a loop runs that a condition ends", loop.origin)
        counts: dict[str, Sum] = {}
        for iterable in loop.iterables:
            made = self.unit.definition(iterable)
            if not any(is_call_of(made, function) for function in ENDLESS):
                count = self.count(iterable, loop.origin)
                counts[str(count)] = count
        if len(counts) == 1:
            return next(iter(counts.values()))
        return Sum.of(f"min({', '.join(counts)})", *counts.values())

    def count(self, iterable: Atom, origin: Origin | None) -> Sum:
        """Return the number of items of what a loop runs over."""
        if self.caller is not None and iterable in self.given:
            return self.caller.count(self.given[iterable], origin)
        type_, made = self.unit.type(iterable), self.unit.definition(iterable)
        if isinstance(type_, t.Array):
            return self.extent(self.unit.shape(iterable)[0])
        if isinstance(type_, t.Tuple):
            return Sum.number(len(type_.items))
        if isinstance(iterable, Var) and iterable in self.collected:
            return self.trips(self.collected[iterable][0])
        if isinstance(iterable, Const) and isinstance(iterable.value, (tuple, list, range)):
            return Sum.number(len(iterable.value))
        if is_call_of(made, reversed) and made.args:
            return self.count(unstar(made.args[0]), origin)
        if is_call_of(made, range) and made.args and not any(
            isinstance(one, Star) for one in made.args
        ):
            first, last, *step = (Sum.number(0), *map(self.value, map(unstar, made.args)))[
                1 if len(made.args) > 1 else 0:]
            if not step:
                return last.plus(first, -1)
            text = ", ".join(map(str, (first, last, *step)))
            return Sum.of(f"len(range({text}))", first, last, *step)
        path = self.path(iterable)
        if path is None:
            raise NotForetold("how often a loop runs", origin)
        return Sum.of(f"len({path})")

    # -- integers ------------------------------------------------------------------------------

    def extent(self, extent: Extent) -> Sum:
        """Return the extent of an axis; one that is cut off at 0 as it is above that."""
        found = Sum.number(extent.constant)
        for symbol, count in extent.terms:
            found = found.plus(self.symbol(symbol), count)
        return found

    def symbol(self, symbol: Symbol) -> Sum:
        match symbol:
            case Axis(array, axis) if self.caller is not None and array in self.given:
                given = self.given[array]
                return self.caller.extent(self.unit.shape(given)[axis])
            case Axis(array, axis):
                path = self.path(array)
                if path is None:
                    found = self.sliced(array, axis)
                    if found is not None:
                        return found
                    raise self.unknown("the shape of", array)
                return Sum.of(f"{path}.shape[{axis}]")
            case Value(var):
                return self.value(var, True)
            case CutOff(size):
                return self.extent(size)
            case Least(one, other):
                parts = self.extent(one), self.extent(other)
                return Sum.of(f"min({parts[0]}, {parts[1]})", *parts)
        sizes = [self.extent(one) for one in symbol.extents]
        return Sum.of(f"max({', '.join(sorted(map(str, sizes)))})", *sizes)

    def sliced(self, array: Atom, axis: int) -> Sum | None:
        """Return the extent of a part of an array that slices and integers cut out."""
        made = self.unit.definition(array)
        if not isinstance(made, Item) or not isinstance(self.unit.type(made.obj), t.Array):
            return None
        index = self.unit.definition(made.index)
        if isinstance(index, Pack) and index.kind != "tuple":
            return None
        parts = index.items if isinstance(index, Pack) else (made.index,)
        along = 0
        for part in map(unstar, parts):
            cut = self.unit.definition(part)
            if isinstance(cut, Slice):
                if axis == 0:
                    ends = [None if end == NONE else self.value(end)
                            for end in (cut.lower, cut.upper, cut.step)]
                    size = self.extent(self.unit.shape(made.obj)[along])
                    text = ":".join("" if end is None else str(end) for end in ends)
                    known = [end for end in ends if end is not None]
                    return Sum.of(f"len(range({size})[{text}])", size, *known)
                axis -= 1
            elif self.unit.type(part) != t.INT:
                return None
            along += 1
        return self.extent(self.unit.shape(made.obj)[along + axis])

    def value(self, atom: Atom, is_symbol: bool = False) -> Sum:
        """Return a number of the program in terms of the arguments."""
        if isinstance(atom, Const):
            if type(atom.value) is int:
                return Sum.number(atom.value)
            return Sum.of(repr(atom.value))
        if self.caller is not None and atom in self.given:
            return self.caller.value(self.given[atom])
        if not is_symbol:
            extent = self.unit.extent(atom)
            if extent is not None and extent.symbol != Value(atom):
                return self.extent(extent)
        if atom in self.items:
            return Sum([((Factor(self.name(atom), frozenset({atom})),), 1)])
        made = self.unit.definition(atom)
        if isinstance(made, Call) and isinstance(made.func, Const) and not made.kwargs:
            found = self.computed(made.func.value, tuple(map(unstar, made.args)))
            if found is not None:
                return found
        path = self.path(atom)
        if path is None or not isinstance(self.unit.type(atom), t.Scalar):
            raise self.unknown("the value of", atom)
        return Sum.of(path)

    def computed(self, function: object, args: tuple[Atom, ...]) -> Sum | None:
        """Return what arithmetic gives, None for what is none."""
        if not hashable(function):
            return None
        if function in SIGNS and len(args) == 2:
            one, other = map(self.value, args)
            text = f"({one.factor().text} {SIGNS[function]} {other.factor().text})"
            match REGISTRY.facts(function).means:
                case "multiply":
                    return one.times(other)
                case "add":
                    return one.plus(other)
                case "subtract":
                    return one.plus(other, -1)
            return Sum.of(text, one, other)
        if REGISTRY.facts(function).transfer == "len":
            return self.count(args[0], self.made.get(args[0]))
        if function in NAMES:
            parts = list(map(self.value, args))
            return Sum.of(f"{NAMES[function]}({', '.join(map(str, parts))})", *parts)
        return None

    def path(self, atom: Atom) -> str | None:
        """Return how a value is read from the arguments, None if it is none of their parts."""
        if not isinstance(atom, Var):
            return None
        if self.caller is not None and atom in self.given:
            return self.caller.path(self.given[atom])
        if atom in self.params:
            return atom.name if self.name(atom) == atom.name else None
        match self.unit.definition(atom):
            case Item(obj, index) if isinstance(self.unit.type(obj), (t.List, t.Tuple, t.Dict)):
                key = self.bound.get(index, index)
                path = self.path(obj)
                if not isinstance(key, Const) or not isinstance(key.value, (str, int)):
                    return None
                return self.path_of_item(obj, key) if path is None else f"{path}[{key.value!r}]"
            case Attribute(obj, name) if isinstance(self.unit.type(obj), t.Object):
                path = self.path(obj)
                return None if path is None else f"{path}.{name}"
            case Global(module, name) if module.partition(".")[0] not in self.taken():
                return f"{module}.{name}"
        return None

    def taken(self) -> set[str]:
        """Return the names of parameters, and of what texts of sizes may call."""
        if self.caller is not None:
            return self.caller.taken()
        return {param.name for param in self.params} | FUNCTIONS.keys()

    def path_of_item(self, collection: Atom, index: Const) -> str | None:
        """Return how an item is read of what a loop over known items collected."""
        if collection not in self.collected:
            return None
        loop, item = self.collected[collection]
        known = self.known_items(loop)
        if not -len(known) <= index.value < len(known):
            return None
        with self.bound_to(loop, known[index.value]):
            return self.path(item)

    def known_items(self, loop: Loop) -> tuple[Const, ...]:
        """Return what a loop over one display of constants runs over, nothing for another one."""
        (iterable, *others) = loop.iterables or (None,)
        if others or loop.stops or not isinstance(iterable, Const) or (
            not isinstance(iterable.value, (tuple, list))
        ):
            return ()
        return tuple(map(Const, iterable.value))

    @contextmanager
    def bound_to(self, loop: Loop, item: Const) -> Iterator[None]:
        """Let the variable of a loop be one of the items that it runs over, meanwhile."""
        before, self.bound = self.bound, {**self.bound, loop.items[0]: item}
        yield
        self.bound = before

    def name(self, var: Var) -> str:
        """Return the name of a parameter or a variable of a loop; other ones have other names."""
        if self.caller is not None:
            return self.caller.name(var)
        taken = {param.name for param in self.params - {var}} | FUNCTIONS.keys()
        name = var.name
        while name in taken:
            name += "_"
        return name

    def unknown(self, what: str, atom: Atom) -> NotForetold:
        """Return that something of a value is not known, by the name that it has."""
        name = "a constant"
        if isinstance(atom, Var):
            name = self.unit.naming.names.get(atom, atom.name)
        return NotForetold(f"{what} `{name}`", self.made.get(atom))

    # -- checks --------------------------------------------------------------------------------

    def checks(self, function: Function) -> list[str]:
        """Return what has to hold of arguments for their arrays to have the shapes expected."""
        found = []
        for statement in function.body.statements:
            if isinstance(statement, Do) and isinstance(statement.rhs, Call):
                check = statement.rhs.func
                if isinstance(check, Const) and check.value in (same_extent, same_shape):
                    texts = [self.as_read(unstar(arg)) for arg in statement.rhs.args]
                    if None not in texts:
                        found.append(" == ".join(texts))  # type: ignore[arg-type]
        return found

    def as_read(self, atom: Atom) -> str | None:
        """Return an extent or shape as it is read, without what is expected of it."""
        match self.unit.definition(atom):
            case Item(obj, Const(int(axis))):
                shape = self.as_read(obj)
                return None if shape is None else f"{shape}[{axis}]"
            case Attribute(obj, "shape"):
                path = self.path(obj)
                return None if path is None else f"{path}.shape"
        return self.path(atom)


def varies(factors: tuple[Factor, ...], by: Loop | Var) -> bool:
    """Say whether a product is made of a variable, or of one that a loop runs over."""
    variables = {by} if isinstance(by, Var) else {*by.items, *by.params}
    return any(not variables.isdisjoint(factor.varies) for factor in factors)


def is_call_of(rhs: Rhs | None, function: object) -> TypeGuard[Call]:
    """Say whether a right-hand side calls a function."""
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is function


def kept_bytes(unit: Unit, functions: Sequence[Function]) -> tuple[list[str], list[str]]:
    """Return the bytes that the first function keeps, an augmented primal, as a text.

    It is followed by what has to hold for that. Where there is none the first text is empty, and
    the second one tells what is not known. The second result has the bytes of each residual, if
    they are known.
    """
    augmented = functions[0]
    _, residuals = augmented.body.yields
    known = KeptBytes(unit, augmented, {function.name: function for function in functions})
    try:
        made = unit.definition(residuals)
        parts = [residuals] if not isinstance(made, Pack) else list(map(unstar, made.items))
        sizes = [known.size(part) for part in parts]
        return [str(known.total(parts)), *known.checks(augmented)], list(map(str, sizes))
    except NotForetold as reason:
        return ["", str(reason)], []
