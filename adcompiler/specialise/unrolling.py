"""Loops written out: their iterations one after the other, where what they run over is known."""

from __future__ import annotations

import operator

from adcompiler.analyses.storage import is_mutable
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Do, Free, Let, Loop, Origin, Star, Var, unstar,
)
from adcompiler.ir.operators import IN_PLACE
from adcompiler.ir.visit import walk
from adcompiler.runtime import dict_keys, dict_values
from adcompiler.specialise.interface import Env
from adcompiler.specialise.iterables import Iterables
from adcompiler.specialise.writer import Writer
from adcompiler.typed.unit import Unit

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
    """Say whether the body may write into items that a list was made of."""
    if writes(body) and any(map(is_mutable, types)):
        return True
    return any(isinstance(type_, t.Object) for type_ in types) and any(
        isinstance(statement, (Do, Let)) and isinstance(statement.rhs, Call)
        and isinstance(statement.rhs.func, Var) for statement in walk(body)
    )


def names_attributes(body: Block) -> bool:
    """Say whether a loop's body may ask for attributes by names that it computes."""
    return any(
        isinstance(statement, Let) and (
            (isinstance(statement.rhs, Free) and statement.rhs.name in ("setattr", "getattr"))
            or (isinstance(statement.rhs, Attribute) and statement.rhs.name == "__dict__")
        ) for statement in walk(body)
    )


def known_columns(unit: Unit, iterable: Atom) -> list[list[Atom]]:
    """Return the items of the lists that a loop runs over in lockstep, if all are known."""
    rhs = unit.definition(iterable)
    if isinstance(rhs, Call) and isinstance(rhs.func, Const) and not rhs.kwargs and not any(
        isinstance(arg, Star) for arg in rhs.args
    ) and rhs.args and (rhs.func.value is zip or rhs.func.value in ONE_BY_ONE):
        inner = rhs.args if rhs.func.value is zip else rhs.args[:1]
        found = [known_columns(unit, unstar(arg)) for arg in inner]
        columns = [column for part in found for column in part]
        return columns if all(found) and len(set(map(len, columns))) == 1 else []
    elements = unit.elements(iterable)
    return [] if elements is None else [list(elements)]


def known_rows(s: Writer, iterable: Atom, origin: Origin) -> list[Atom]:
    """Write the items that a loop runs over, of which ``known_columns`` are known."""
    rhs = s.unit.definition(iterable)
    if isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
        rhs.func.value is zip or rhs.func.value in ONE_BY_ONE
    ):
        columns = [known_rows(s, unstar(arg), origin) for arg in (
            rhs.args if rhs.func.value is zip else rhs.args[:1])]
        if rhs.func.value is not zip and rhs.func.value is not enumerate:
            return columns[0][::-1] if rhs.func.value is reversed else columns[0]
        if rhs.func.value is enumerate:
            start = unstar(rhs.args[1]) if len(rhs.args) > 1 else Const(0)
            columns.insert(0, [
                s.call(Const(operator.add), [start, Const(n)], {}, origin, "index")
                for n in range(len(columns[0]))
            ])
        return [s.pack("tuple", row, "row", origin) for row in zip(*columns, strict=True)]
    return list(s.unit.elements(iterable) or ())


def differing_instances(type_: t.Tuple) -> bool:
    """Say whether a tuple holds instances of several classes, or with fields of several types."""
    return len(set(type_.items)) > 1 and any(isinstance(i, t.Object) for i in type_.items)


class Unrolling(Iterables):
    """Loops over functions, instances and tuples of known elements."""

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
        type_ = self.unit.contents.get(iterables[0], self.unit.type(iterables[0]))
        if isinstance(type_, t.Tuple) and (
            any(map(t.holds_function, type_.items)) or differing_instances(type_)
        ):
            return self.written_out(node, iterables[0], env, scope)
        table = self.known_entries(iterables[0], node.origin, names_attributes(node.body))
        if table is not None and len(table) <= UNROLLED_TUPLE and self.heap is not None:
            return self.written_out(node, iterables[0], env, scope, table)
        known = known_columns(self.unit, iterables[0])
        if known and len(known[0]) <= UNROLLED_TUPLE and self.heap is not None and any(
            must_write_out([self.unit.type(e) for e in column], node.body) for column in known
        ):
            entries = known_rows(self, iterables[0], node.origin)
            return self.written_out(node, iterables[0], env, scope, entries)
        if not node.collects or node.params:
            return False
        elements = self.unit.elements(iterables[0])
        if elements is None or not isinstance(type_, (t.Tuple, t.List)):
            return False
        mixed = len({self.unit.type(e) for e in elements}) > 1 or len(elements) == 1
        if len(elements) > UNROLLED_TUPLE or not mixed:
            return False
        rows = []
        for element in elements:
            inner = {**env, node.items[0]: element}
            yields = self.block(node.body, inner, scope)
            if yields is None:
                return False
            rows.append(yields)
        for index, collect in enumerate(node.collects):
            values = tuple(row[index] for row in rows)
            env[collect] = self.pack("list", values, collect.name, node.origin)
        return True

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
            values = [self.item(parts[0], key, origin, "value") for key in keys]
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
            return self.pack("tuple", tuple(columns[0]), "functions", origin)
        rows = [self.pack("tuple", row, "row", origin) for row in zip(*columns, strict=False)]
        return self.pack("tuple", tuple(rows), "functions", origin)

    def known_entries(
        self, iterable: Atom, origin: Origin, by_name: bool = False
    ) -> list[Atom] | None:
        """Return what a loop over a dict of known keys runs over, in a mixed or written one.

        Also if it asks for attributes ``by_name``.
        """
        type_ = self.unit.type(iterable)
        if isinstance(type_, t.Dict) and type_.keys is not None:
            same = len(set(type_.items)) <= 1 and not by_name
            return None if same else [Const(k) for k in type_.keys]
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
                return [Const(k) for k in inner.keys]
            return [
                self.pack("tuple", (
                    Const(k), self.item(unstar(rhs.args[0]), Const(k), origin, str(k))
                ), "pair", origin) for k in inner.keys
            ]
        return None

    def written_out(
        self, node: Loop, iterable: Atom, env: Env, scope: Scope | None,
        table: list[Atom] | None = None,
    ) -> bool:
        """Write the iterations of a loop over a tuple one after the other."""
        type_ = self.unit.contents.get(iterable, self.unit.type(iterable))
        elements = self.unit.elements(iterable)
        count = len(type_.items) if isinstance(type_, t.Tuple) else len(elements or ())
        if table is not None:
            count = len(table)
        carried = [self.carried_value(init, env) for init in node.inits]
        rows = []
        start = len(self.out)
        for index in range(count):
            self.unit.loops.types.clear()  # what one iteration gives is of no use for the next
            item = table[index] if table is not None else self.item(
                iterable, Const(index), node.origin, node.items[0].name)
            inner = {**env, node.items[0]: item, **dict(zip(node.params, carried, strict=True))}
            yields = self.block(node.body, inner, scope, True)
            if yields is None:
                del self.out[start:]
                return False
            carried = list(yields[: len(carried)])
            rows.append(yields[len(carried) :])
        env.update(zip(node.results, carried, strict=True))
        for index, collect in enumerate(node.collects):
            values = tuple(row[index] for row in rows)
            env[collect] = self.pack("list", values, collect.name, node.origin)
        return True
