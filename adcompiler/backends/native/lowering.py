"""Lowers typed IR, as it is after optimisation, to the loop IR: blocks and right-hand sides."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import numpy as np

from adcompiler.backends.native.arrays import Arrays
from adcompiler.backends.native.loops import Binary, Leave, Number, Unary
from adcompiler.backends.native.scalars import TABLE, product
from adcompiler.backends.native.tapes import Tapes, constant
from adcompiler.backends.native.values import (
    LENGTH, POSITION, UNSET, Backwards, Buffer, Cut, Declined, Endless, Kept, Known, Method, Num,
    Several, Span, Together, literal,
)
from adcompiler.backends.native.writer import Writer
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Block, Call, Const, Do, Global, If, Item, Let, Loop, Origin, Pack,
    Raise, Rhs, Slice, Star, Statement, Update, Var, unstar,
)
from adcompiler.ir.visit import blocks_of, direct_uses, walk
from adcompiler.runtime import (
    add_at, as_gradient, check_bound, evaluated, keeps_shape, same_shape, same_trailing_shape,
    unbroadcast,
)
from adcompiler.typed.unit import Unit

SETTLED = {"math": math, "numpy": np}
CHECKS = (same_shape, same_trailing_shape, keeps_shape)
"""Functions that raise where shapes are not as expected."""


class Lowering:
    """The values of variables so far, and what is written of the function."""

    def __init__(self, unit: Unit, body: Block) -> None:
        self.unit = unit
        self.w = Writer()
        self.tapes = Tapes(self.w)
        self.arrays = Arrays(self.w)
        self.values: dict[Var, Any] = {}
        self.used_once = used_once(body)
        self.makers: dict[Var, tuple[Statement, int]] = makers(body)

    # -- atoms ---------------------------------------------------------------------------------

    def value(self, atom: Atom) -> Any:
        """Return what an atom is."""
        if isinstance(atom, Var):
            if atom not in self.values:
                raise Declined(f"`{atom.name}` is neither a number nor an array")
            return self.values[atom]
        return UNSET if atom is UNDEF else constant(atom.value)

    def read(self, atom: Atom) -> Any:
        """Return what an atom is, where it is computed with."""
        return self.ready(self.value(atom))

    def ready(self, value: Any) -> Any:
        """Return a value that is computed with; one that was not assigned to is left to Python."""
        if value is UNSET:
            raise Declined("a variable is read that was not assigned to")
        if isinstance(value, Num) and value.isset is not None:
            self.w.leave_if(Unary("not", value.isset))
            return Num(value.expr, value.dtype, value.bound)
        if isinstance(value, Several):
            return Several(tuple(map(self.ready, value.items)))
        return value

    def number(self, atom: Atom) -> Num:
        """Return an atom that is a number."""
        value = self.read(atom)
        if not isinstance(value, Num):
            raise Declined("what is computed with is no number")
        return value

    # -- statements ----------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        """Write the statements of a block."""
        for statement in block.statements:
            try:
                self.statement(statement)
            except Declined as declined:
                declined.origin = declined.origin or getattr(statement, "origin", None)
                raise

    def statement(self, statement: Statement) -> None:
        """Write one statement."""
        match statement:
            case Let(target, rhs, origin):
                self.note(origin)
                self.values[target] = self.kept(target, self.rhs(target, rhs))
            case If():
                self.note(statement.origin)
                self.regions.branch(statement)
            case Loop():
                self.note(statement.origin)
                self.regions.loop(statement)
            case Raise():
                self.w.write(Leave())
            case Do(Call(Const(function), args), _) if function in (check_bound, evaluated):
                self.read(unstar(args[0]))
            case Do(Call(Const(function)) as call, origin) if (
                is_known(function) or function in CHECKS
            ):
                self.note(origin)
                self.call(Var("unused"), call.func, call.args, dict(call.kwargs))
            case Do(Call(Const(function))):
                name = getattr(function, "__name__", str(function))
                raise Declined(f"`{name}` is called for what it does")
            case Do():
                raise Declined("a call is made for what it does")
            case _:
                raise Declined(f"`{type(statement).__name__.lower()}` is not lowered")

    @property
    def regions(self) -> Any:
        """Writes branches and loops."""
        from adcompiler.backends.native.regions import Regions

        return Regions(self)

    def note(self, origin: Origin) -> None:
        """Write the line that what follows is for."""
        place = f"{PurePath(origin.file).name}:{origin.line}"
        text = f"reverse of {place}" if origin.reverse else f"{place}  {origin.text.strip()}"
        self.w.note(text)

    def kept(self, target: Var, value: Any) -> Any:
        """Return the value of a variable: with a name of its own if it is read more than once."""
        if isinstance(value, Num) and target not in self.used_once:
            hint = self.unit.naming.names.get(target, target.name)
            return replace(value, expr=self.w.named(hint, value.expr))
        return value

    # -- right-hand sides ----------------------------------------------------------------------

    def rhs(self, target: Var, rhs: Rhs) -> Any:
        """Return the value of a right-hand side, having written what it takes."""
        match rhs:
            case Call(func, args, kwargs):
                return self.call(target, func, args, dict(kwargs))
            case Pack("tuple", items, _):
                if any(isinstance(item, Star) for item in items):
                    raise Declined("a starred item")
                return Several(tuple(map(self.value, items)))  # type: ignore[arg-type]
            case Slice(lower, upper, step):
                return cut(self, *map(self.value, (lower, upper, step)))
            case Item(obj, index):
                return self.item(target, self.read(obj), self.value(index))
            case Attribute(obj, name):
                return self.attribute(self.read(obj), name)
            case Update(obj, steps, value, adds):
                if any(step.kind != "item" for step in steps):
                    raise Declined("a write through a view")
                places = [self.value(step.args[0]) for step in steps]
                return self.stored(self.read(obj), one_index(places), self.read(value), adds,
                                   self.is_temporary(value))
            case Global(module, path) if module in SETTLED:
                found = literal(getattr(SETTLED[module], path, None))
                if found is not None:
                    return found
        raise Declined(f"`{type(rhs).__name__.lower()}` is not lowered")

    def call(self, target: Var, func: Atom, args: Any, kwargs: dict[Any, Atom]) -> Any:
        """Return the value of a call."""
        if any(isinstance(arg, Star) for arg in args) or None in kwargs:
            raise Declined("starred arguments")
        if isinstance(func, Var):
            method = self.read(func)
            if not isinstance(method, Method):
                raise Declined("a function is called that was computed")
            self.arrays.hint = self.unit.naming.names.get(target, target.name)
            return self.arrays.method(method, [self.read(arg) for arg in args],
                                      {k: self.value(a) for k, a in kwargs.items()})
        function = func.value
        name = getattr(function, "__name__", str(function))
        if function is add_at and len(args) == 3 and not kwargs:
            buffer, index, value = args
            return self.stored(self.read(buffer), self.value(index), self.read(value), True,
                               self.is_temporary(value))
        given = [self.value(arg) if is_none(arg) else self.read(arg) for arg in args]
        if function in STRUCTURE and not kwargs:
            return STRUCTURE[function](self, *given)
        if function in self.arrays.makers:
            named = {key: self.value(atom) for key, atom in kwargs.items()}
            self.arrays.hint = self.unit.naming.names.get(target, target.name)
            return self.arrays.made(function, given, named, self.unit.type(target))
        if kwargs or not is_known(function):
            raise Declined(f"`{name}` is not lowered" + (" with options" if kwargs else ""))
        if any(isinstance(arg, Buffer) for arg in given):
            self.arrays.hint = self.unit.naming.names.get(target, target.name)
            return self.arrays.elementwise(function, given, self.unit.type(target))
        if not all(isinstance(arg, (Num, Several)) for arg in given):
            raise Declined(f"`{name}` of what is no number")
        return TABLE[function](self.w, *given)

    def item(self, target: Var, obj: Any, index: Any) -> Any:
        """Return ``obj[index]``."""
        if isinstance(obj, Several) and isinstance(index, Num) and isinstance(index.expr, Number):
            return obj.items[int(index.expr.value)]
        if not isinstance(obj, Buffer):
            raise Declined("a subscript of what is no array")
        hint = self.unit.naming.names.get(target, target.name)
        parts = self.indices(obj, index)
        if is_element(obj, parts):
            return self.w.element(obj, parts, hint)
        return self.arrays.part(obj, parts, hint)

    def indices(self, buffer: Buffer, index: Any) -> list[Any]:
        """Return the subscripts of leading axes: integers and slices."""
        parts = list(index.items) if isinstance(index, Several) else [index]
        parts = [
            cut(self, *map(constant, (part.value.start, part.value.stop, part.value.step)))
            if isinstance(part, Known) and isinstance(part.value, slice) else part
            for part in parts
        ]
        if len(parts) > buffer.ndim or not all(isinstance(part, (Num, Cut)) for part in parts):
            raise Declined("a subscript that is neither integers nor slices")
        return [self.ready(part) for part in parts]

    def is_temporary(self, atom: Atom) -> bool:
        """Say whether an array was made by an operation, for one place that reads it."""
        match self.makers.get(atom) if isinstance(atom, Var) else None:
            case (Let(rhs=Call(Const(function))), _):
                return atom in self.used_once and is_known(function)
        return False

    def stored(self, obj: Any, index: Any, value: Any, adds: bool, apart: bool = False) -> Any:
        """Write into an element or a part; the array is the same.

        ``apart`` tells that the value shares no storage with it.
        """
        if not isinstance(obj, Buffer) or not isinstance(value, (Num, Buffer)):
            raise Declined("a write of what is no number, or into what is no array")
        parts = self.indices(obj, index)
        if not is_element(obj, parts):
            self.arrays.fill(self.arrays.part(obj, parts, "part"), value, adds, apart)
        elif isinstance(value, Num):
            self.w.store(obj, self.w.places(obj, parts), value, adds)
        else:
            raise Declined("an array is put into an element")
        return obj

    def attribute(self, obj: Any, name: str) -> Any:
        """Return ``obj.name``."""
        if not isinstance(obj, Buffer):
            raise Declined(f"the attribute {name} of what is no array")
        lengths = [Num(length, "int64", LENGTH) for length in obj.shape]
        if name == "shape":
            return Several(tuple(lengths))
        if name == "ndim":
            return literal(obj.ndim)
        if name == "size" and lengths:
            return functools.reduce(lambda a, b: product(self.w, a, b), lengths)
        return Method(obj, name)


def is_known(function: Any) -> bool:
    """Say whether the loop IR has something for a function of numbers."""
    try:
        return function in TABLE
    except TypeError:
        return False


def is_none(atom: Any) -> bool:
    """Say whether an argument is None."""
    return isinstance(atom, Const) and atom.value is None


def is_element(buffer: Buffer, parts: list[Any]) -> bool:
    """Say whether subscripts lead to one element."""
    return len(parts) == buffer.ndim and all(isinstance(part, Num) for part in parts)


def one_index(places: list[Any]) -> Any:
    """Return the subscripts of subscripts, ``[i][j]``, as one: ``[i, j]``."""
    *outer, last = [
        list(place.items) if isinstance(place, Several) else [place] for place in places
    ]
    if any(not isinstance(part, Num) for parts in outer for part in parts):
        raise Declined("a write through a view")
    return Several((*(part for parts in outer for part in parts), *last))


# -- functions that only arrange ----------------------------------------------------------------


def span(low: Lowering, *args: Any) -> Any:
    """Return a range."""
    if not all(isinstance(arg, Num) and arg.dtype == "int64" for arg in args):
        raise Declined("a range of what are no integers")
    w = low.w
    ends = [w.narrowed(arg, POSITION) for arg in args]
    ends = [Num(w.named("end", end.expr), end.dtype, end.bound) for end in ends]
    start, stop = (Num(Number(0), "int64", 0), ends[0]) if len(ends) == 1 else ends[:2]
    step = ends[2].expr if len(ends) == 3 else Number(1)
    if not isinstance(step, Number) or step.value == 0:
        raise Declined("a range with a step that is not constant")
    if step.value == -1:
        return Backwards(Span(after(w, stop), after(w, start)))
    return Span(start, stop, int(step.value))


def after(w: Writer, number: Num) -> Num:
    """Return an integer and one."""
    if isinstance(number.expr, Number):
        return literal(int(number.expr.value) + 1)  # type: ignore[return-value]
    return Num(w.assign("end", Binary("+", number.expr, Number(1))), "int64", number.bound + 1)


def backwards(low: Lowering, of: Any) -> Any:
    """Return ``reversed(of)``."""
    if isinstance(of, Endless):
        raise Declined("reversed of what has no end")
    return of.of if isinstance(of, Backwards) else Backwards(of)


def length(low: Lowering, of: Any) -> Num:
    """Return ``len(of)``."""
    if isinstance(of, Buffer) and of.ndim:
        return Num(of.shape[0], "int64", LENGTH)
    if isinstance(of, Several):
        return literal(len(of.items))  # type: ignore[return-value]
    if isinstance(of, Kept):
        return Num(of.length, "int64", LENGTH)
    raise Declined("the length of what is no array")


def cut(low: Lowering, *ends: Any) -> Cut:
    """Return a slice without a step."""
    before = [Known(None)] * (2 - len(ends))
    lower, upper, step = ends if len(ends) == 3 else (*before, *ends, None)
    if (isinstance(step, Num) and step.expr != Number(1)) or isinstance(step, Buffer):
        raise Declined("a slice in steps")
    found: list[Num | None] = []
    for end in (lower, upper):
        if isinstance(end, Known) and end.value is None:
            found.append(None)
            continue
        end = low.ready(end)
        if not isinstance(end, Num) or end.dtype != "int64":
            raise Declined("a slice of which an end is no integer")
        narrow = low.w.narrowed(end, POSITION)
        found.append(replace(narrow, expr=low.w.named("end", narrow.expr)))
    return Cut(*found)


def together(low: Lowering, *parts: Any) -> Together:
    """Return ``zip(*parts)``."""
    return Together(parts)


def counted(low: Lowering, of: Any) -> Together:
    """Return ``enumerate(of)``."""
    return Together((None, of))


def endless(low: Lowering, *args: Any) -> Endless:
    """Return ``itertools.count(start)``."""
    start = args[0] if args else literal(0)
    if len(args) > 1 or not isinstance(start, Num) or start.dtype != "int64":
        raise Declined("a count in steps, or of what are no integers")
    start = low.w.narrowed(start, POSITION)
    return Endless(replace(start, expr=low.w.named("first", start.expr)))


def equal_shapes(low: Lowering, a: Any, b: Any) -> Known:
    """Leave shapes to Python that differ where code was compiled for equal ones."""
    if isinstance(a, Several) and isinstance(b, Several) and len(a.items) != len(b.items):
        raise Declined("arrays of different numbers of axes are expected to have one shape")
    return equal_ends(low, a, b)


def equal_ends(low: Lowering, a: Any, b: Any) -> Known:
    """Leave shapes to Python of which one does not end in the other where that was expected."""
    if not isinstance(a, Several) or not isinstance(b, Several) or len(a.items) < len(b.items):
        raise Declined("shapes that are not known")
    for mine, other in zip(a.items[len(a.items) - len(b.items) :], b.items, strict=True):
        if not low.w.same_length(mine.expr, other.expr):
            low.w.leave_if(Binary("!=", mine.expr, other.expr))
    return Known(None)


def unstretched(low: Lowering, g: Any, shape: Any) -> Any:
    """Return a cotangent of an array that was not stretched: the others are left to Python."""
    if isinstance(g, Num) and shape == Several(()):
        return g
    if not isinstance(g, Buffer) or not isinstance(shape, Several) or g.ndim != len(shape.items):
        raise Declined("a cotangent is summed over axes")
    low.arrays.agree(g, [length.expr for length in shape.items])
    return g


def as_given(low: Lowering, of: Any) -> Any:
    """Return ``tuple(of)`` of a tuple."""
    if not isinstance(of, Several):
        raise Declined("a tuple of what is no tuple")
    return of


def finished(low: Lowering, bar: Any, var: Any) -> Any:
    """Return a cotangent as the gradient of an argument."""
    if isinstance(var, Num) and var.dtype == "float64":
        if isinstance(bar, Known) and bar.value is None:
            return Num(Number(0.0), "float64")
        if isinstance(bar, Num):
            return low.w.as_float(bar)
    if isinstance(var, Buffer) and var.dtype == "float64":
        return low.arrays.gradient(bar, var)
    raise Declined("a gradient of what is no number or array")


STRUCTURE: dict[Any, Callable[..., Any]] = {
    range: span, reversed: backwards, len: length, zip: together, enumerate: counted,
    slice: cut, itertools.count: endless, tuple: as_given, as_gradient: finished,
    unbroadcast: unstretched,
    same_shape: equal_shapes, same_trailing_shape: equal_ends, keeps_shape: equal_shapes,
}


# -- the shape of the program ---------------------------------------------------------------------


def used_once(body: Block) -> set[Var]:
    """Return the variables read at one place only, which is in the block that defines them."""
    uses: dict[Var, int] = {}
    here: set[Var] = set()

    def visit(block: Block) -> None:
        made: set[Var] = set()
        for statement in block.statements:
            read = [atom for atom in direct_uses(statement) if isinstance(atom, Var)]
            for var in read:
                uses[var] = uses.get(var, 0) + 1
            here.update(var for var in read if var in made)
            for inner in blocks_of(statement):
                visit(inner)
            if isinstance(statement, Let):
                made.add(statement.target)
        for atom in block.yields:
            if isinstance(atom, Var):
                uses[atom] = uses.get(atom, 0) + 1
                if atom in made:
                    here.add(atom)

    visit(body)
    return {var for var in here if uses[var] == 1}


def makers(body: Block) -> dict[Var, tuple[Statement, int]]:
    """Return the region, and the position among its results, that gives each variable."""
    found: dict[Var, tuple[Statement, int]] = {}
    for statement in walk(body):
        match statement:
            case Let(target=target):
                found[target] = (statement, 0)
            case If(results=results) | Loop(results=results):
                found.update((var, (statement, i)) for i, var in enumerate(results))
    return found
