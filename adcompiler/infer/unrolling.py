"""Loops written out: their iterations one after the other, where what they run over is known."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from adcompiler.analyses.storage import is_mutable
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Closure, Const, Do, Free, Function, Item, Let, Loop, Origin, Pack,
    Star, Statement, Update, Var, unstar,
)
from adcompiler.ir.operators import IN_PLACE
from adcompiler.ir.visit import definitions, used, walk
from adcompiler.runtime import append, check_lasts, dict_keys, dict_values
from adcompiler.infer.calls.callees import parts_of_function
from adcompiler.infer.interface import Env, Operations
from adcompiler.infer.storage.loop_summaries import Iteration
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import MAX_FIELDS, are_mixed

UNROLLED_TUPLE = 16

ONE_BY_ONE = (enumerate, reversed, iter)
"""Functions that give the items of one iterable, each once."""


def writes(block: Block) -> bool:
    """Say whether the text of a block writes into something."""
    for statement in walk(block):
        match statement:
            case Do(Call(Const(function))) if function in (operator.setitem, setattr):
                return True
            case Let(rhs=Call(Const(function))) if function in IN_PLACE:
                return True
    return False


def must_write_out(types: list[t.Type], body: Block) -> bool:
    """Say whether the body may write into items that a list was made of, or calls one of them."""
    if any(map(t.holds_function, types)):
        return True
    if writes(body) and any(map(is_mutable, types)):
        return True
    return any(isinstance(type_, t.Object) for type_ in types) and any(
        isinstance(statement, (Do, Let)) and isinstance(statement.rhs, Call)
        and isinstance(statement.rhs.func, Var) for statement in walk(body)
    )


def is_sequence(type_: t.Type) -> bool:
    """Say whether values of a type have items by position."""
    return isinstance(type_, t.List) or (isinstance(type_, t.Array) and type_.ndim > 0)


def names_attributes(body: Block) -> bool:
    """Say whether a loop's body may ask for attributes by names that it computes."""
    return any(
        isinstance(statement, Let) and (
            (isinstance(statement.rhs, Free) and statement.rhs.name in ("setattr", "getattr"))
            or (isinstance(statement.rhs, Attribute) and statement.rhs.name == "__dict__")
        ) for statement in walk(body)
    )


def are_names(unit: Unit, items: list[Atom]) -> bool:
    """Say whether all items are, or hold, texts that are known, and they are not too many."""
    rows = [
        item.value if isinstance(item, Const) else
        [part.value for part in unit.elements(item) or () if isinstance(part, Const)]
        for item in items
    ]
    return 0 < len(rows) <= MAX_FIELDS and all(isinstance(row, str) or (
        isinstance(row, tuple | list) and any(isinstance(part, str) for part in row)
    ) for row in rows)


def known_columns(unit: Unit, iterable: Atom) -> list[list[Atom]]:
    """Return the items of the lists that a loop runs over in lockstep, if all are known."""
    rhs = unit.definition(iterable)
    if isinstance(rhs, Call) and isinstance(rhs.func, Const) and not rhs.kwargs and not any(
        isinstance(arg, Star) for arg in rhs.args
    ) and rhs.args and (rhs.func.value is zip or rhs.func.value in ONE_BY_ONE):
        inner = rhs.args if rhs.func.value is zip else rhs.args[:1]
        if any(unit.type(unstar(start)) != t.INT for start in rhs.args[len(inner):]):
            return []
        found = [known_columns(unit, unstar(arg)) for arg in inner]
        columns = [column for part in found for column in part]
        return columns if all(found) and len(set(map(len, columns))) == 1 else []
    elements = unit.elements(iterable)
    return [] if elements is None else [list(elements)]


def known_row(s: Operations, iterable: Atom, index: int, count: int, origin: Origin) -> Atom:
    """Write what a loop runs over next, of whose items ``count`` are known: as they are by then."""
    rhs = s.unit.definition(iterable)
    if isinstance(rhs, Call) and isinstance(rhs.func, Const):
        if rhs.func.value is enumerate:
            start = unstar(rhs.args[1]) if len(rhs.args) > 1 else Const(0)
            number = s.call(Const(operator.add), [start, Const(index)], {}, origin, "index")
            item = known_row(s, unstar(rhs.args[0]), index, count, origin)
            return s.pack("tuple", (number, item), "row", origin)
        if rhs.func.value is zip:
            row = [known_row(s, unstar(arg), index, count, origin) for arg in rhs.args]
            return s.pack("tuple", tuple(row), "row", origin)
        if rhs.func.value in ONE_BY_ONE:
            place = count - 1 - index if rhs.func.value is reversed else index
            return known_row(s, unstar(rhs.args[0]), place, count, origin)
    now = iterable if s.heap is None else s.heap.reading.current(iterable, origin)
    elements = s.unit.elements(now)
    return s.item(now, Const(index), origin, "item") if elements is None else elements[index]


def known_numbers(unit: Unit, iterables: list[Atom]) -> list[int] | None:
    """Return the numbers of a range, if that is what a loop runs over, known, and not too long."""
    rhs = unit.definition(iterables[0]) if len(iterables) == 1 else None
    if not isinstance(rhs, Call) or not isinstance(rhs.func, Const) or rhs.kwargs:
        return None
    if rhs.func.value is not range or not 1 <= len(rhs.args) <= 3:
        return None
    ends = [arg.value for arg in rhs.args if isinstance(arg, Const) and type(arg.value) is int]
    if len(ends) < len(rhs.args) or ends[2:] == [0]:
        return None
    found = list(itertools.islice(range(*ends), UNROLLED_TUPLE + 1))
    return None if len(found) > UNROLLED_TUPLE else found


def becomes_array(types: list[t.Type], yields: tuple[Atom, ...], unit: Unit) -> bool:
    """Say whether an iteration makes an array of a number that a loop carries round."""
    return any(
        isinstance(type_, t.Scalar) and isinstance(unit.type(atom), t.Array)
        for type_, atom in zip(types, yields, strict=False)
    )


def keeps_functions(unit: Unit, types: list[t.Type], attempt: Iteration) -> bool:
    """Say whether an iteration makes a function that is kept, or hands another one on."""
    yields = attempt.yields or ()
    for type_, atom in zip(types, yields, strict=False):
        if t.is_function(type_) and t.join(type_, unit.type(atom)) != type_:
            return True
    kept = (*yields[len(types):], *stored_values(attempt.out))
    return any(parts_of_function(unit, atom) is not None for atom in kept)


def is_mixed(unit: Unit, atom: Atom) -> bool:
    """Say whether a value is a list of items that have no type in common, each of a known one."""
    known = unit.contents.get(atom)
    return known is not None and are_mixed(known.items)


def reads_mixed(unit: Unit, statements: Iterable[Statement]) -> bool:
    """Say whether statements read a list of such items at a place that is computed."""
    return any(
        isinstance(statement, Let) and isinstance(statement.rhs, Item)
        and is_mixed(unit, statement.rhs.obj) for statement in walk(Block(tuple(statements)))
    )


def stored_values(statements: Iterable[Statement]) -> list[Atom]:
    """Return the values that statements write into something, or put into a list."""
    found: list[Atom] = []
    for statement in walk(Block(tuple(statements))):
        match statement:
            case Let(rhs=Update(value=value)):
                found.append(value)
            case Let(rhs=Call(Const(function), args)) if function is append:
                found += map(unstar, args[1:])
            case Let(target, Pack("list")):
                found.append(target)
    return found


def late_functions(node: Loop) -> frozenset[Function]:
    """Return the functions that a loop's text makes which read what a later iteration assigns."""
    found = [
        statement.rhs for statement in walk(node.body)
        if isinstance(statement, Let) and isinstance(statement.rhs, Closure)
    ]
    assigned = {*definitions(node.body), *node.items, *node.params} if found else set()
    return frozenset(rhs.function for rhs in found if not assigned.isdisjoint(rhs.captures))


def holds_one(unit: Unit, atom: Atom, functions: frozenset[Function]) -> bool:
    """Say whether a value is, or is made of, one of some functions."""
    rhs = unit.definition(atom)
    if isinstance(rhs, Closure) and rhs.function in functions:
        return True
    return any(holds_one(unit, part, functions) for part in parts_of_function(unit, atom) or ())


def lists_behind(unit: Unit, iterable: Atom) -> Iterator[Var]:
    """Yield the lists that an iterable asks for items while it is run through."""
    rhs = unit.definition(iterable)
    if isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
        rhs.func.value is zip or rhs.func.value in ONE_BY_ONE
    ):
        for arg in rhs.args:
            yield from lists_behind(unit, unstar(arg))
    elif isinstance(iterable, Var) and is_mutable(unit.type(iterable)):
        yield iterable


def differing_instances(type_: t.Tuple) -> bool:
    """Say whether a tuple holds instances of several classes, or with fields of several types."""
    return len(set(type_.items)) > 1 and any(isinstance(i, t.Object) for i in type_.items)


class Unrolling:
    """Loops over functions, instances and tuples of known elements."""

    def __init__(self, s: Operations) -> None:
        self.s = s
        self.unit = s.unit

    def unrolled(
        self, node: Loop, iterables: list[Atom], env: Env, scope: Scope | None
    ) -> bool:
        """Write a comprehension over a tuple of known elements as a list of its values.

        A loop over functions, or over instances that differ in more than values, is written as its
        iterations one after the other.
        """
        if len(iterables) != 1 or node.stops:
            return False
        functions = self.rows_of_functions(iterables[0], node.origin)
        if functions is not None:
            return self.written_out(node, functions, env, scope)
        beside = self.rows_beside_functions(iterables[0], node.origin)
        if beside is not None:
            return self.written_out(node, iterables[0], env, scope, beside)
        type_ = self.unit.contents.get(iterables[0], self.unit.type(iterables[0]))
        if isinstance(type_, t.Tuple) and (
            any(map(t.holds_function, type_.items)) or differing_instances(type_)
            or is_mixed(self.unit, iterables[0])
        ):
            return self.written_out(node, iterables[0], env, scope)
        table = self.known_entries(iterables[0], node.origin, names_attributes(node.body))
        if table is not None and len(table) <= UNROLLED_TUPLE and self.s.heap is not None:
            return self.written_out(node, iterables[0], env, scope, table)
        known = known_columns(self.unit, iterables[0])
        by_name = names_attributes(node.body) and any(
            are_names(self.unit, column) for column in known)
        rows = self.rows_known(iterables, node.origin)
        if rows is not None and (by_name or (len(rows) <= UNROLLED_TUPLE and any(
            must_write_out([self.unit.type(e) for e in column], node.body)
            or any(parts_of_function(self.unit, e) is not None for e in column) for column in known
        ))):
            return self.written_out(node, iterables[0], env, scope, rows)
        if not node.collects or node.params:
            return False
        elements = self.unit.elements(iterables[0])
        if elements is None or not isinstance(type_, (t.Tuple, t.List)):
            return False
        types = {self.unit.type(element) for element in elements}
        apart = len(types) > 1 or len(elements) == 1 or are_names(self.unit, list(elements))
        if len(elements) > UNROLLED_TUPLE or not apart:
            return False
        listed = []
        for element in elements:
            inner = {**env, node.items[0]: element}
            before = self.values_held()
            with self.running_over(lists_behind(self.unit, iterables[0])):
                yields = self.s.block(node.body, inner, scope)
            if yields is None:
                return False
            self.refuse_late(node, before, yields)
            listed.append(yields)
        for index, collect in enumerate(node.collects):
            values = tuple(row[index] for row in listed)
            env[collect] = self.s.pack("list", values, collect.name, node.origin)
        return True

    def rows_known(
        self, iterables: list[Atom], origin: Origin
    ) -> list[Callable[[], Atom]] | None:
        """Return what writes the items of a loop over known items, one after the other."""
        known = known_columns(self.unit, iterables[0]) if len(iterables) == 1 else []
        if not known or self.s.heap is None:
            return None
        return [
            partial(known_row, self.s, iterables[0], k, len(known[0]), origin)
            for k in range(len(known[0]))
        ]

    def rows_of_functions(self, iterable: Atom, origin: Origin) -> Atom | None:
        """Write what ``items``, ``values``, ``zip`` and ``enumerate`` give if functions are in it.

        Return None for all others, and where their number is not known.
        """
        rhs = self.unit.definition(iterable)
        if not isinstance(rhs, Call) or not isinstance(rhs.func, Const) or rhs.kwargs:
            return None
        function, parts = rhs.func.value, [unstar(arg) for arg in rhs.args]
        if function in (dict.items, dict_values):
            table = self.unit.type(parts[0])
            if not isinstance(table, t.Dict) or not table.keys or not any(
                map(t.is_function, table.items)
            ):
                return None
            keys: list[Atom] = [Const(key) for key in table.keys]
            values = [self.s.item(parts[0], key, origin, "value") for key in keys]
            columns = [keys, values] if function is dict.items else [values]
        elif function in (zip, enumerate):
            found = [self.unit.elements(part) for part in parts]
            if any(row is None for row in found) or not any(
                t.is_function(self.unit.type(item)) for row in found for item in row or ()
            ):
                return None
            columns = [list(row or ()) for row in found]
            if function is enumerate and len(columns) == 1:
                columns.insert(0, [Const(n) for n in range(len(columns[0]))])
        else:
            return None
        if len(columns) == 1:
            return self.s.pack("tuple", tuple(columns[0]), "functions", origin)
        rows = [self.s.pack("tuple", row, "row", origin) for row in zip(*columns, strict=False)]
        return self.s.pack("tuple", tuple(rows), "functions", origin)

    def rows_beside_functions(
        self, iterable: Atom, origin: Origin
    ) -> list[Callable[[], Atom]] | None:
        """Return what writes the items of ``zip`` of known functions and of what has any length.

        That is checked to last as long as the functions. Return None for all others.
        """
        rhs = self.unit.definition(iterable)
        if not isinstance(rhs, Call) or not isinstance(rhs.func, Const) or rhs.kwargs or (
            rhs.func.value is not zip or any(isinstance(arg, Star) for arg in rhs.args)
        ):
            return None
        parts = [unstar(arg) for arg in rhs.args]
        known = [row for part in parts if (row := self.unit.elements(part)) is not None]
        others = [part for part in parts if self.unit.elements(part) is None]
        if not others or not any(
            t.holds_function(self.unit.type(item)) for row in known for item in row
        ) or not all(is_sequence(self.unit.type(part)) for part in others):
            return None
        count = min(map(len, known))
        if count > UNROLLED_TUPLE or self.s.caught:
            return None
        place = Const(origin.where)
        for part in others:
            self.s.out.append(Do(Call(Const(check_lasts), (part, Const(count), place)), origin))
        return [partial(known_row, self.s, iterable, k, count, origin) for k in range(count)]

    def known_entries(
        self, iterable: Atom, origin: Origin, by_name: bool = False
    ) -> list[Callable[[], Atom]] | None:
        """Return what writes the items of a loop over a dict of known keys, mixed or written.

        Also if it asks for attributes ``by_name``.
        """
        type_ = self.unit.type(iterable)
        if isinstance(type_, t.Dict) and type_.keys is not None:
            same = len(set(type_.items)) <= 1 and not by_name
            return None if same else [partial(Const, key) for key in type_.keys]
        rhs = self.unit.definition(iterable)
        if isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value in (
            dict.items, dict_keys
        ):
            inner = self.unit.type(unstar(rhs.args[0]))
            if not isinstance(inner, t.Dict) or inner.keys is None or (
                len(set(inner.items)) <= 1 and not by_name
            ):
                return None
            if rhs.func.value is dict_keys:
                return [partial(Const, key) for key in inner.keys]
            table = unstar(rhs.args[0])
            return [partial(self.entry, table, key, origin) for key in inner.keys]
        return None

    def entry(self, table: Atom, key: str, origin: Origin) -> Atom:
        """Write the key and the value of an entry of a dict, as it is now."""
        now = table if self.s.heap is None else self.s.heap.reading.current(table, origin)
        return self.s.pack("tuple", (
            Const(key), self.s.item(now, Const(key), origin, str(key))), "pair", origin)

    @contextmanager
    def running_over(self, lists: Iterable[Var]) -> Iterator[None]:
        """Refuse meanwhile what changes the length of lists."""
        heap = self.s.heap
        if heap is None:
            yield
            return
        length = len(heap.iterating)
        heap.iterating += map(heap.reference, lists)
        try:
            yield
        finally:
            del heap.iterating[length:]

    def values_held(self) -> dict[Var, Atom]:
        """Return what each piece of storage holds now."""
        return {} if self.s.heap is None else dict(self.s.heap.state.latest)

    def refuse_late(
        self, node: Loop, before: dict[Var, Atom], handed_on: Iterable[Atom]
    ) -> None:
        """Report functions that an iteration keeps, and that would see what later ones assign.

        ``before`` is what storage held before the iteration.
        """
        late = late_functions(node)
        if not late:
            return
        written = [atom for root, atom in self.values_held().items() if before.get(root) != atom]
        if any(holds_one(self.unit, atom, late) for atom in (*handed_on, *written)):
            self.s.reject(
                node.origin, "a function made in this loop is kept, and reads a variable that the "
                "loop assigns again: Python would give it the last value of that",
                "give it the value by a default, `lambda t, k=k: ...`, or by functools.partial",
                "closure-rebinding",
            )

    def written_out(
        self, node: Loop, iterable: Atom, env: Env, scope: Scope | None,
        rows_of: list[Callable[[], Atom]] | None = None,
    ) -> bool:
        """Write the iterations of a loop over a tuple one after the other."""
        type_ = self.unit.contents.get(iterable, self.unit.type(iterable))
        elements = self.unit.elements(iterable)
        count = len(type_.items) if isinstance(type_, t.Tuple) else len(elements or ())
        if rows_of is not None:
            count = len(rows_of)
        carried = [self.s.carried_value(init, env) for init in node.inits]
        read = used(node.body)
        rows = []
        start = len(self.s.out)
        for index in range(count):
            before = self.values_held()
            self.unit.loops.types.clear()  # what one iteration gives is of no use for the next
            item = rows_of[index]() if rows_of is not None else self.s.item(
                iterable, Const(index), node.origin, node.items[0].name)
            inner = {**env, node.items[0]: item, **dict(zip(node.params, carried, strict=True))}
            with self.running_over(lists_behind(self.unit, iterable)):
                yields = self.s.block(node.body, inner, scope, True)
            if yields is None:
                del self.s.out[start:]
                return False
            carried = list(yields[: len(carried)])
            rows.append(yields[len(carried) :])
            seen = [atom for param, atom in zip(node.params, carried, strict=True) if param in read]
            self.refuse_late(node, before, (*seen, *rows[-1]))
        env.update(zip(node.results, carried, strict=True))
        for index, collect in enumerate(node.collects):
            values = tuple(row[index] for row in rows)
            env[collect] = self.s.pack("list", values, collect.name, node.origin)
        return True
