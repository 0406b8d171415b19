"""Lowers typed IR, as it is after optimisation, to the loop IR: blocks and right-hand sides."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from adcompiler.backends.native.loops import BOOL, SINGLE, Number, Unary
from adcompiler.backends.native.lower.try_regions import Attempts, raised_by, write_raise
from adcompiler.backends.native.lower.host_calls import Islands
from adcompiler.backends.native.lower.recursion import Recursion
from adcompiler.backends.native.lower.regions import Regions
from adcompiler.backends.native.lower.tapes import Tapes, constant
from adcompiler.backends.native.lower.use_def import (
    makers, read_whole, readers_of, tested, told_apart, used_once,
)
from adcompiler.backends.native.ops import lists
from adcompiler.backends.native.ops.arrays import Arrays
from adcompiler.backends.native.ops.complexes import is_nonzero, of_complex
from adcompiler.backends.native.ops.function_table import key_in
from adcompiler.backends.native.ops.held import read as read_held
from adcompiler.backends.native.ops.held import shared
from adcompiler.backends.native.ops.indexing import cut, of_list, one_index, read, viewed, write
from adcompiler.backends.native.ops.list_functions import LISTS
from adcompiler.backends.native.ops.array_constructors import (
    FUNCTIONS, array_of_items, copied, shape_of,
)
from adcompiler.backends.native.ops.scalars import NOTHING, TABLE
from adcompiler.backends.native.ops.singles import check_precisions, computed_in, concerns, is_weak
from adcompiler.backends.native.ops.structure import STRUCTURE, attribute, key_of, keyed, with_part
from adcompiler.backends.native.values import (
    UNSET, Backwards, Buffer, Complex, Declined, Fused, Held, Inner, Kept, Keyed, Known, Num,
    Record, Rows, Several, Span, Value, literal,
)
from adcompiler.backends.native.writer import Writer, single
from adcompiler.derive.primal_and_pullback import CalleePart
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Block, Call, Const, Do, Function, Global, If, Item, Let, Loop, Origin,
    Pack, Raise, Rhs, Slice, Star, Statement, Try, Update, Var, unstar,
)
from adcompiler.ir.visit import count_uses
from adcompiler.runtime import (
    add_at, apart, check_bound, check_position, evaluated, give_back, own, record, zeros_like,
)
from adcompiler.runtime.adjoints.joining import concatenate_adjoint, hstack_adjoint
from adcompiler.runtime.adjoints.sequences import share
from adcompiler.runtime.aliases import holds_once
from adcompiler.typed.callee import Callee
from adcompiler.typed.unit import Unit

SETTLED = {"math": math, "numpy": np}
BACKWARDS = slice(None, None, -1)
OF_TUPLES = (min, max, share)
"""Functions of numbers that may also be given as one tuple."""

LISTS_TOO = (own, zeros_like)
"""Functions of arrays that give a list of a list."""

JOINING = ("concatenate", "hstack", concatenate_adjoint, hstack_adjoint)
"""Functions of containers of arrays, in which lists of numbers may stand as well."""


class Lowering:
    """The values of variables so far, and what is written of the function.

    ``begun`` are names of what begins as zero in a loop; ``short`` is what is a short float then.
    """

    def __init__(self, unit: Unit, functions: Sequence[Function], islands_of: str = "") -> None:
        self.unit = unit
        self.islands = Islands(self, islands_of) if islands_of else None
        self.recursion: Recursion | None = None
        self.functions = {function.name: function for function in functions[1:]}
        self.inside: list[str] = []
        self.told_apart: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        self.given_back: list[tuple[Atom, Atom, Any]] | None = None
        self.w = Writer()
        self.tapes = Tapes(self.w)
        self.arrays = Arrays(self.w)
        self.arrays.has_types = unit.settings.as_it_is
        self.values: dict[Atom, Any] = {}
        self.types: list[Any] = []
        self.counts: set[str] = set()
        self.used_once: set[Var] = set()
        self.short, self.begun = set[Var](), dict[str, Var]()
        self.readers: dict[Var, Statement] = {}
        self.uses: dict[Var, int] = {}
        self.whole: set[Var] = set()
        self.makers: dict[Var, tuple[Statement, int]] = {}
        self.tested = tested([function.body for function in functions])
        several: set[Var] = set()
        for function in functions:  # what one saves for another is a variable of both
            once, uses = used_once(function.body), count_uses(function.body)
            self.used_once |= once
            several |= uses.keys() - once
            self.uses |= {var: max(uses[var], self.uses.get(var, 0)) for var in uses}
            self.whole |= read_whole(function.body)
            self.makers |= makers(function.body)
            self.readers |= readers_of(function.body)
        self.used_once -= several
        check_precisions(unit, self.uses)

    # -- atoms ---------------------------------------------------------------------------------

    def value(self, atom: Atom) -> Any:
        """Return what an atom is."""
        if isinstance(atom, Var):
            if atom not in self.values:
                raise Declined(f"`{atom.name}` is neither a number nor an array")
            return self.arrays.settled(self.values[atom])
        return UNSET if atom is UNDEF else constant(atom.value)

    def operand(self, atom: Atom) -> Any:
        """Return what an atom is, where its elements are read once each."""
        found = self.values.get(atom) if isinstance(atom, Var) else None
        if isinstance(found, Fused) and found.buffer is None:
            found.left -= 1
            if not found.left:
                self.arrays.waiting.remove(found)
            return found
        return self.read(atom)

    def read(self, atom: Atom) -> Any:
        """Return what an atom is, where it is computed with."""
        return self.ready(self.value(atom))

    def ready(self, value: Value) -> Any:
        """Return a value that is computed with; one that was not assigned to is left to Python."""
        if value is UNSET:
            raise Declined("a variable is read that was not assigned to")
        if isinstance(value, Num) and value.isset is not None:
            self.w.leave_if(Unary("not", value.isset))
            return Num(value.expr, value.dtype, value.bound)
        if isinstance(value, Buffer) and value.isset is not None:
            self.w.leave_if(Unary("not", value.isset))
            return replace(value, isset=None)
        if isinstance(value, Several):
            return Several(tuple(map(self.ready, value.items)))
        if isinstance(value, Complex):
            return Complex(self.ready(value.re), self.ready(value.im))
        if isinstance(value, Held):
            return read_held(self, replace(value, at=self.ready(value.at)))
        if isinstance(value, Record):
            return replace(value, at=self.ready(value.at))
        return value

    def number(self, atom: Atom) -> Num:
        """Return an atom that is a number, or whether it is not zero of a complex one."""
        value = self.read(atom)
        value = is_nonzero(value) if isinstance(value, Complex) else value
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
        if not isinstance(statement, Let):
            self.arrays.settle()
        match statement:
            case Let(target, rhs, origin):
                self.note(origin)
                self.values[target] = self.kept(target, self.rhs_or_island(target, rhs, origin))
                if isinstance(found := self.values[target], Fused) and not found.buffer:
                    found.left, found.lasts = self.uses.get(target, 0), target in self.whole
                    found.shared = found.left > 1
                    self.arrays.waiting += [found] if found.left else []
            case If():
                self.note(statement.origin)
                Regions(self).branch(statement)
            case Loop():
                self.note(statement.origin)
                Regions(self).loop(statement)
            case Try():
                self.note(statement.origin)
                Attempts(self, Regions(self)).attempt(statement)
            case Raise():
                write_raise(self, statement)
            case Do(Call(Const(function), args), _) if function in (check_bound, evaluated):
                self.read(unstar(args[0]))
            case Do(Call(Const(function), args), _) if function is apart:
                self.told_apart.append(told_apart(args))
                if any(lists.holds(self.read(unstar(args[3 + i])), Held, Inner)
                       for i in unstar(args[2]).value):  # type: ignore[union-attr]
                    raise Declined("an argument that holds lists is written into")
            case Do(Call(Const(function), args), _) if function is give_back:
                self.give_back(*map(unstar, args))
            case Do(Call(Const(function)) as call, origin) if (
                key_in(TABLE, function) or key_in(STRUCTURE, function)
                or function in (check_position, holds_once)
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

    def give_back(self, target: Atom, final: Atom, *copies: Atom) -> None:
        """Note what an argument becomes once the loops have come to their end."""
        if self.given_back is None:
            raise Declined("an argument is written into, and given back")
        value = self.read(final)
        if (copies and not isinstance(value, (Rows, Kept))) or lists.holds(value, Held, Inner):
            raise Declined("an argument that holds arrays is written into")
        self.given_back.append((target, final, value))
        self.values[target] = value

    def apart(self, function: Function) -> Lowering:
        """Return what lowers a function that this one calls, and that calls itself."""
        inner = Lowering(self.unit, [function, *self.functions.values()])
        inner.recursion, inner.arrays.of_each = self.recursion, self.arrays.of_each
        return inner

    def note(self, origin: Origin) -> None:
        """Write the line that what follows is for."""
        place = origin.where
        text = f"reverse of {place}" if origin.reverse else f"{place}  {origin.text.strip()}"
        self.w.note(text)

    def kept(self, target: Var, value: Value) -> Any:
        """Return the value of a variable: with a name of its own if it is read more than once."""
        if isinstance(value, Num) and target not in self.used_once:
            hint = self.unit.naming.names.get(target, target.name)
            return replace(value, expr=self.w.named(hint, value.expr))
        return value

    # -- right-hand sides ----------------------------------------------------------------------

    def rhs_or_island(self, target: Var, rhs: Rhs, origin: Origin) -> Any:
        """Return the value of a right-hand side; calls without loops may be made in Python."""
        try:
            return self.rhs(target, rhs)
        except Declined as declined:
            if self.islands is None or not isinstance(rhs, Call):
                raise
            args, kwargs = rhs.args, dict(rhs.kwargs)
            if any(isinstance(arg, Star) for arg in args) or None in kwargs:
                raise
            return self.islands.call(target, rhs.func, args, kwargs, origin, declined)

    def rhs(self, target: Var, rhs: Rhs) -> Any:
        """Return the value of a right-hand side, having written what it takes."""
        match rhs:
            case Call(func, args, kwargs):
                return self.call(target, func, args, dict(kwargs))
            case Pack("tuple", items, _):
                if any(isinstance(item, Star) for item in items):
                    raise Declined("a starred item")
                return Several(tuple(map(self.value, items)))  # type: ignore[arg-type]
            case Pack("dict", items, keys) if all(isinstance(key, Const) for key in keys):
                return keyed(self, {
                    key.value: item for key, item in zip(keys, items, strict=True)  # type: ignore[union-attr]
                })
            case Pack("list", items, _):
                if any(isinstance(item, Star) for item in items):
                    raise Declined("a starred item")
                self.arrays.hint = self.unit.naming.names.get(target, target.name)
                nested = self.nested(target)
                if nested is not None:
                    return nested
                given = [self.value(unstar(item)) for item in items]
                if given and self.is_for_arrays(target, given):
                    return Several(tuple(given))  # what reads it takes a tuple as well, or declines
                if self.unit.type(target) == t.List(t.UNKNOWN) and all(
                    isinstance(one, (Buffer, Rows)) for one in given
                ):
                    return lists.with_numbers(self, Several(tuple(given)))
                return lists.packed(self, given, self.unit.type(target))
            case Slice(lower, upper, step):
                return cut(self, *map(self.value, (lower, upper, step)))
            case Item(obj, index):
                found = self.value(obj)  # what else is in a tuple may have no value
                return self.item(target, found if isinstance(found, Several) else self.ready(found),
                                 self.value(index))
            case Attribute(obj, name):
                return attribute(self, self.read(obj), name)
            case Update():
                return self.updated(rhs, self.read(rhs.obj))
            case Global(module, path) if module in SETTLED:
                found = literal(getattr(SETTLED[module], path, None))
                if found is not None:
                    return found
            case Global(_, path):
                type_ = self.unit.type(target)
                raise Declined(f"loops are not given `{path}` of a module, a {type_}")
        raise Declined(f"`{type(rhs).__name__.lower()}` is not lowered")

    def nested(self, target: Var) -> Several | None:
        """Return a list of lists of numbers as tuples, if only one place reads it; else None."""
        match self.makers.get(target):
            case (Let(rhs=Pack("list", items)), _) if items and self.is_for_arrays(target):
                lists_in = [self.numbers_in(item) for item in map(unstar, items)]
                if None not in lists_in:
                    return Several(tuple(lists_in))
        return None

    def is_for_arrays(self, target: Var, given: Sequence[Any] = ()) -> bool:
        """Say whether a list is read at one place, which makes an array of it, or by none.

        If ``given``, the items are arrays; ``np.array`` takes them as a tuple if their lengths are
        known to be the same.
        """
        if not all(isinstance(item, Buffer) for item in given):
            return False
        match self.readers.get(target) if target in self.used_once else None:
            case Let(rhs=Call(Const(function))):
                key = key_in(FUNCTIONS, function)
                known = key not in ("array", "asarray") or len({one.shape for one in given}) < 2
                return key is not None and key not in LISTS_TOO and known
            case Let(rhs=Pack("list")) | Do():
                return True
        return False

    def numbers_in(self, atom: Atom) -> Several | None:
        """Return the numbers in a list that is an item of one, in lists of lists too; or None."""
        found = self.values.get(atom) if isinstance(atom, Var) else None
        return None if found is None else lists.numbers_of(self, found)

    def call(self, target: Var, func: Atom, args: Any, kwargs: dict[Any, Atom]) -> Any:
        """Return the value of a call."""
        if any(isinstance(arg, Star) for arg in args) or None in kwargs:
            raise Declined("starred arguments")
        if isinstance(func, Var):
            raise Declined("a function is called that was computed")
        function = func.value
        name = getattr(function, "__name__", str(function))
        if function is record and all(isinstance(arg, Const) for arg in args):
            return keyed(self, kwargs, True, *(arg.value for arg in args))
        if function is add_at and len(args) == 3 and not kwargs:
            buffer, index, value = args
            given = self.value(value) if is_none(value) else self.operand(value)
            return self.stored(self.read(buffer), self.value(index), given, True, value)
        read = self.operand if key_in(TABLE, function) else (
            self.value if function is own else self.read)
        given = [self.value(arg) if is_none(arg) else read(arg) for arg in args]
        if isinstance(function, (CalleePart, Callee)):
            self.arrays.settle()
            return self.inlined(function, given, kwargs)
        self.arrays.hint = self.unit.naming.names.get(target, target.name)
        type_, types = self.unit.type(target), [self.unit.type(unstar(arg)) for arg in args]
        if self.is_of_lists(function, given) and not kwargs:
            self.types = types
            self.arrays.settle()
            return LISTS[key_in(LISTS, function)](
                self, list(map(self.arrays.settled, given)), type_)
        if (key := key_in(STRUCTURE, function)) and not kwargs:
            return STRUCTURE[key](self, *given)
        if key := key_in(FUNCTIONS, function):
            named = {str(key): self.value(atom) for key, atom in kwargs.items()}
            if key in JOINING:
                given = [lists.with_numbers(self, one) for one in given]
            return FUNCTIONS[key](self.arrays, given, named, type_)
        if function is complex or any(isinstance(one, Complex) for one in given):
            return of_complex(self, function, types, given, kwargs)
        key = key_in(TABLE, function)
        if name == "read_global":
            raise Declined("a variable of the module is written into")
        if kwargs or key is None:
            raise Declined(f"`{name}` is not lowered" + (" with options" if kwargs else ""))
        if any(isinstance(arg, (Buffer, Fused)) for arg in given):
            return self.arrays.elementwise(key, given, type_, types)
        if function is operator.invert and given[0].dtype == BOOL and is_integer(type_):
            raise Declined("`~` of a truth value of Python's")
        taken = (Num, Several) if function in OF_TUPLES else Num
        if not all(isinstance(arg, taken) for arg in given):
            raise Declined(f"`{name}` of what is no number")
        self.w.raising = raised_by(key, function, types)
        found = (computed_in(
            self.w, key, function, types, type_ if self.arrays.has_types else None,
        ) if concerns(given) else functools.partial(TABLE[key], self.w))(*given)
        self.w.raising = NOTHING
        return found

    def is_of_lists(self, function: Any, given: list[Any]) -> bool:
        """Say whether a call is one that is written for lists."""
        return key_in(LISTS, function) is not None and (
            function is list or any(isinstance(arg, (Rows, Kept, Held)) for arg in given[:2])
        )

    def inlined(self, part: CalleePart | Callee, given: list[Any], kwargs: Any) -> Any:
        """Return what a function that was compiled apart gives: its statements are written here."""
        name = part.name if isinstance(part, CalleePart) else part.primal_name
        function = self.functions.get(name)
        if function is None or kwargs or len(function.params) != len(given) or function.captures:
            raise Declined(f"`{name}` is compiled apart, and called in a way of its own")
        callee = part.callee if isinstance(part, CalleePart) else part
        if callee.recursive and self.recursion is not None:
            return self.recursion.call(self, part, function, given)
        if name in self.inside:
            raise Declined(f"`{name}` calls itself")
        self.inside.append(name)
        for param, value in zip(function.params, given, strict=True):
            self.values[param.var] = value
        self.block(function.body)
        self.inside.pop()
        if function.body.diverges:
            raise Declined(f"`{name}` always raises")
        results = tuple(map(self.value, function.body.yields))
        return results[0] if len(results) == 1 else Several(results)

    def item(self, target: Var, obj: Any, index: Any) -> Any:
        """Return ``obj[index]``."""
        if isinstance(obj, Keyed) and not obj.is_record:
            return obj.part(key_of(index))
        if isinstance(obj, Several) and isinstance(index, Num) and isinstance(index.expr, Number):
            return obj.items[int(index.expr.value)]
        hint = self.unit.naming.names.get(target, target.name)
        if isinstance(obj, (Rows, Kept)):
            found = lists.read(self, obj, index, hint)
            return found if self.is_passed_through(target) else shared(self, found)
        if isinstance(obj, Span) and isinstance(index, Known) and index.value == BACKWARDS:
            return Backwards(obj)
        if not isinstance(obj, Buffer):
            raise Declined("a subscript of what is no array")
        return read(self, obj, index, hint)

    def is_passed_through(self, target: Var) -> bool:
        """Say whether nothing is done with an item of a list but to read an item of that."""
        match self.readers.get(target) if target in self.used_once else None:
            case Let(rhs=Item(obj)) if obj is target:
                return True
        return False

    def is_temporary(self, atom: Atom) -> bool:
        """Say whether an array was made by an operation, for one place that reads it."""
        match self.makers.get(atom) if isinstance(atom, Var) else None:
            case (Let(rhs=Call(Const(function))), _):
                return atom in self.used_once and (
                    key_in(TABLE, function) is not None or FUNCTIONS.get(
                        key_in(FUNCTIONS, function)) is copied)
        return False

    def updated(self, rhs: Update, obj: Any) -> Any:
        """Write into a part of an array or a list, which is the same; other ones are made anew."""
        value, steps = rhs.value, rhs.steps
        if isinstance(obj, Keyed):
            return with_part(self, obj, rhs)
        if steps[-1].kind != "item":
            raise Declined("a write through a view")
        index = one_index([
            self.value(step.args[0]) if step.kind == "item" else None for step in steps])
        if index is not None or not isinstance(obj, Buffer):
            return self.stored(obj, index, self.operand(value), rhs.adds, value)
        obj = self.arrays.own(obj)
        self.arrays.settle(obj)
        part = viewed(self, obj, steps[:-1])
        self.stored(part, self.value(steps[-1].args[0]), self.operand(value), rhs.adds, value)
        return obj

    def stored(self, obj: Any, index: Any, value: Value, adds: bool, atom: Atom) -> Any:
        """Write the value of an atom into an element or a part; the array is the same."""
        if isinstance(obj, (Rows, Kept)):
            self.arrays.settle()
            return lists.write(self, obj, index, self.arrays.settled(value), adds)
        if isinstance(obj, Buffer) and isinstance(value, (Rows, Kept)):
            value = of_list(self, value)
        if isinstance(obj, Buffer) and isinstance(value, Several) and value.items:
            value = array_of_items(
                self.arrays, value, t.Array(obj.dtype, len(shape_of(value))))
        if not isinstance(obj, Buffer) or not isinstance(value, (Num, Buffer, Fused)):
            raise Declined("a write of what is no number, or into what is no array")
        if obj.borrowed and self.w.attempts:
            raise Declined("a part of a list is written into in `try`")
        self.arrays.settle(obj)
        obj = self.arrays.own(obj)
        if isinstance(value, Num) and is_weak(self.unit.type(atom)) and obj.dtype == SINGLE:
            value = single(self.w, value)
        write(self, obj, index, value, adds, self.is_temporary(atom))
        return obj


def is_integer(type_: t.Type) -> bool:
    """Say whether a value is an integer for sure."""
    return isinstance(type_, t.Scalar) and type_.kind == "int"


def is_none(atom: Any) -> bool:
    """Say whether an argument is None."""
    return isinstance(atom, Const) and atom.value is None
