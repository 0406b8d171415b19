"""Loops while specialising: types of carried values, items of iterables, iterations written out."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from adcompiler.analyses.storage import IN_PLACE, is_mutable
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Block, Call, Const, Do, Item, Let, Loop, Origin, Raise, Star, Var,
    unstar,
)
from adcompiler.ir.visit import walk
from adcompiler.runtime import dict_keys, dict_values, positions
from adcompiler.specialise.calls.operator_methods import iterated
from adcompiler.specialise.folds.iterator import makes_iterator
from adcompiler.specialise.generators import consumed
from adcompiler.specialise.result_types import item_type
from adcompiler.specialise.storage.carried import Carried, Iteration
from adcompiler.specialise.writer import Env, Writer
from adcompiler.typed.unit import Unit

MAX_TRIALS = 24
MAX_WIDENING = 8
UNROLLED_TUPLE = 16

ONE_BY_ONE = (enumerate, reversed, iter)
"""Functions that give the items of one iterable, each once."""

Build = Callable[[Writer, Iterator[Atom], Origin], Atom]
"""Writes the item of an iterable from the items of the flat sequences that it runs over."""


class Loops(Writer):
    """The part of the specialiser that writes loops.

    ``by_key`` says that a loop over the values of a dict reads them by the keys that it runs over.
    """

    by_key = False

    def loop(self, node: Loop, env: Env, scope: Scope | None) -> None:
        """Write a loop, with the types of carried values widened until they are stable."""
        iterables = [
            iterated(self, consumed(self, self.value(atom, env), node.origin), node.origin)
            for atom in node.iterables
        ]
        if self.unrolled(node, iterables, env, scope):
            return
        inits = [self.carried_value(atom, env) for atom in node.inits]
        if not self.run_over(iterables, node, inits, env, scope, False):
            self.run_over(iterables, node, inits, env, scope, True)

    def run_over(
        self, iterables: list[Atom], node: Loop, inits: list[Atom], env: Env, scope: Scope | None,
        by_key: bool,
    ) -> bool:
        """Write a loop; False where values of a dict have to be read ``by_key``, as it writes them.
        """
        flat: list[Atom] = []
        item_types: list[t.Type] = []
        outer, self.by_key = self.by_key, by_key
        build = self.flatten(iterables[0], flat, item_types, node.origin) if iterables else None
        self.by_key = outer
        self.check_end(node, flat)
        types = [self.unit.type(init) for init in inits]
        known = node, tuple(self.unit.call_sites), tuple(types), tuple(item_types)
        types = self.unit.loop_types.get(known, types) if self.unit.trial else types
        over = [v for v in self.opened_parts(iterables) if not (by_key and self.has_values(v))]
        carried = Carried(self, node, inits, flat, over)
        for trial in range(MAX_TRIALS):
            before = len(self.unit.findings)
            self.unit.trial += 1
            with carried.iteration():
                attempt = self.iterate(node, inits, types, item_types, build, env, scope, carried)
                stable = carried.settled(attempt)
            stable = carried.settled_shapes(attempt) and stable
            self.unit.trial -= 1
            if carried.values_written and not by_key:
                del self.unit.findings[before:]
                return False
            widened = [
                t.join(type_, self.unit.type(atom))
                for type_, atom in zip(types, attempt.yields or (), strict=False)
            ] or types
            if widened == types and stable:
                break
            del self.unit.findings[before:]
            types = widened if trial < MAX_WIDENING else [
                old if old == new else t.UNKNOWN for old, new in zip(types, widened, strict=True)
            ]
        else:
            self.reject(
                node.origin, "what shares storage with what in this loop is not known",
                "use copies, or one name for one array", "aliases",
            )
        self.unit.loop_types[known] = types
        results, collects = self.loop_results(node, types, inits, attempt)
        carried.guess_shapes(results)
        diverges = attempt.yields is None
        yields = attempt.yields or (UNDEF,) * len(node.body.yields)
        kept = {i: p for i, p in enumerate(attempt.params) if isinstance(p, Var) and (
            i not in carried.same)}
        count = len(node.params)
        items, flat = carried.sequences(attempt.items, flat, attempt.out, yields)
        stores = carried.finish(attempt, results, collects)
        inits = carried.inits()
        flags = {i for i, param in kept.items() if param in self.unit.if_bound}
        inits = [
            self.flagged(atom) if i in flags
            else self.unflagged(atom, kept[i], self.out, node.origin) if i in kept
            else self.flagged(atom, False) for i, atom in enumerate(inits)
        ]
        yields = tuple(
            self.flagged(atom) if i in flags
            else self.unflagged(atom, kept[i], attempt.out, node.origin) if i in kept
            else self.flagged(atom, False) for i, atom in enumerate(yields)
        )
        self.out.append(Loop(
            items, tuple(flat), attempt.condition,
            (*kept.values(), *stores.params), (*(inits[i] for i in kept), *stores.inits),
            Block(
                tuple(attempt.out),
                (*(yields[i] for i in kept), *stores.yields, *yields[count:]), diverges,
            ),
            (*(r for i in kept if isinstance(r := results[i], Var)), *stores.results),
            node.origin, collects, node.stops,
        ))
        carried.read_again(results, node)
        env.update(zip(node.results, results, strict=True))
        env.update(zip(node.collects, collects, strict=True))
        return True

    def check_end(self, node: Loop, flat: list[Atom]) -> None:
        """Report a loop over what never ends, which nothing leaves."""
        made = [self.unit.definition(iterable) for iterable in flat]
        endless = all(
            isinstance(rhs, Call) and isinstance(rhs.func, Const)
            and rhs.func.value in (itertools.count, itertools.cycle, itertools.repeat)
            for rhs in made
        )
        leaves = node.stops or any(isinstance(s, Raise) for s in walk(node.body))
        if flat and endless and not leaves:
            self.reject(
                node.origin, "an iterator without end, all of which is asked for",
                "leave a loop over it by `break`, or zip it with a sequence", "iterators",
            )

    def iterate(
        self, node: Loop, inits: list[Atom], types: list[t.Type], item_types: list[t.Type],
        build: Build | None, env: Env, scope: Scope | None, carried: Carried,
    ) -> Iteration:
        """Specialise one iteration with carried values of the given types."""
        self.unit.loops += 1
        try:
            return self.iterated(
                node, inits, types, item_types, build, env, scope, carried
            )
        finally:
            self.unit.loops -= 1

    def iterated(
        self, node: Loop, inits: list[Atom], types: list[t.Type], item_types: list[t.Type],
        build: Build | None, env: Env, scope: Scope | None, carried: Carried,
    ) -> Iteration:
        """As ``iterate``, which counts the loops around."""
        inner = dict(env)
        items = self.item_variables(node, len(item_types))
        for item, type_ in zip(items, item_types, strict=True):
            self.unit.types[item] = type_
        if len(items) > 1:
            self.unit.anonymous.update(items)
        params: list[Atom] = []
        for i, (param, init, type_) in enumerate(zip(node.params, inits, types, strict=True)):
            if isinstance(type_, t.Static):
                flag = self.bound_flag(param, (init, Const(type_.value)))
                known = isinstance(init, Const) and init is not UNDEF
                params.append(flag or (init if known else Const(type_.value)))
            elif (isinstance(type_, t.FunctionType) and init is not UNDEF) or i in carried.same:
                params.append(init)
            else:
                params.append(self.joined(param, type_, self.is_unsure(init)))
        carried.guess_shapes(params)
        carried.enter(params, items)
        inner.update(zip(node.params, params, strict=True))
        self.at = node.origin
        condition = None
        if node.condition is not None:
            with self.writing_to([]) as test_out:
                test = self.block(node.condition, inner, scope)
            condition = Block(tuple(test_out), test or (), test is None)
            carried.check_condition(node)
        with self.writing_to([]) as out:
            if build is not None and node.items:
                parts = carried.items(items, node.origin)
                inner[node.items[0]] = build(self, iter(parts), node.origin)
            yields = self.block(node.body, inner, scope, True)
        return Iteration(items, params, condition, out, yields)

    @staticmethod
    def item_variables(node: Loop, count: int) -> tuple[Var, ...]:
        """Return new variables for what the ``count`` flat sequences of a loop give."""
        if count == 1 and node.items:
            return (Var(node.items[0].name),)
        return tuple(Var("item") for _ in range(count))

    def loop_results(
        self, node: Loop, types: list[t.Type], inits: list[Atom], iteration: Iteration
    ) -> tuple[list[Atom], tuple[Var, ...]]:
        """Return the atoms of a loop's results, and the variables of the lists it collects."""
        yields = iteration.yields
        results: list[Atom] = []
        for index, (result, type_, param, init) in enumerate(
            zip(node.results, types, iteration.params, inits, strict=True)
        ):
            if isinstance(param, Const):
                results.append(param)
            elif param is init:
                results.append(init)
            elif (flag := self.bound_flag(result, (param,))) is not None:
                results.append(flag)
            else:
                unsure = self.is_unsure(param) or (
                    yields is not None and self.is_unsure(yields[index])
                )
                results.append(self.joined(result, type_, unsure))
        collects = []
        for index, collect in enumerate(node.collects):
            var = Var(collect.name, collect.temporary)
            item = t.BOTTOM if yields is None else self.unit.type(yields[len(node.params) + index])
            self.unit.types[var] = t.List(item)
            collects.append(var)
        return results, tuple(collects)

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
        type_ = self.unit.type(iterables[0])
        if isinstance(type_, t.Tuple) and (
            any(map(t.is_function, type_.items)) or differing_instances(type_)
        ):
            return self.written_out(node, iterables[0], env, scope)
        table = self.known_entries(iterables[0], node.origin)
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

    def known_entries(self, iterable: Atom, origin: Origin) -> list[Atom] | None:
        """Return what a loop over a dict of known keys runs over, in a mixed or written one."""
        type_ = self.unit.type(iterable)
        if isinstance(type_, t.Dict) and type_.keys is not None:
            same = len(set(type_.items)) <= 1
            return None if same else [Const(k) for k in type_.keys]
        rhs = self.unit.definition(iterable)
        if isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value in (
            dict.items, dict_keys
        ):
            inner = self.unit.type(unstar(rhs.args[0]))
            if not isinstance(inner, t.Dict) or inner.keys is None or len(set(inner.items)) <= 1:
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
        type_ = self.unit.type(iterable)
        elements = self.unit.elements(iterable)
        count = len(type_.items) if isinstance(type_, t.Tuple) else len(elements or ())
        if table is not None:
            count = len(table)
        carried = [self.carried_value(init, env) for init in node.inits]
        rows = []
        start = len(self.out)
        for index in range(count):
            self.unit.loop_types.clear()  # what one iteration gives is of no use for the next
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

    def flatten(
        self, iterable: Atom, flat: list[Atom], types: list[t.Type], origin: Origin
    ) -> Build:
        """Add the sequences that ``iterable`` runs over; return how their items make its item."""
        rhs = self.unit.definition(iterable)
        if isinstance(rhs, Call) and isinstance(rhs.func, Const):
            if rhs.func.value is zip and rhs.args and not rhs.kwargs and not any(
                isinstance(arg, Star) for arg in rhs.args
            ):
                return self.flatten_zip([unstar(a) for a in rhs.args], flat, types, origin)
            if rhs.func.value is enumerate:
                start = dict(rhs.kwargs).get("start", (*rhs.args, Const(0))[1])
                flat.append(self.counting(unstar(start), origin))
                types.append(t.INT)
                return paired([own_item, self.flatten(unstar(rhs.args[0]), flat, types, origin)])
            if self.by_key and rhs.func.value in (dict.items, dict_values):
                table = unstar(rhs.args[0])
                keys = self.call(Const(dict_keys), [table], {}, origin, "keys")
                flat.append(keys)
                types.append(self.type_of_items(keys))
                return entry_of(table, rhs.func.value is dict.items)
            if rhs.func.value is dict.items:
                table = unstar(rhs.args[0])
                parts = []
                for function in (dict_keys, dict_values):
                    part = self.call(Const(function), [table], {}, origin, "entries")
                    parts.append(self.flatten(part, flat, types, origin))
                return paired(parts)
            if rhs.func.value is iter:
                return self.flatten(unstar(rhs.args[0]), flat, types, origin)
            if rhs.func.value is np.ndenumerate:
                array = unstar(rhs.args[0])
                shape = self.attribute(array, "shape", origin)
                index = self.call(Const(np.ndindex), [shape], {}, origin, "index")
                flattened = self.attribute(array, "ravel", origin)
                items = self.call(flattened, [], {}, origin, "items")
                return self.flatten_zip([index, items], flat, types, origin)
            if rhs.func.value in (itertools.cycle, itertools.repeat):
                flat.append(self.counting(Const(0), origin))
                types.append(t.INT)
                return self.cycled(rhs, origin)
        if isinstance(rhs, Attribute) and rhs.name == "flat":
            iterable = self.call(self.attribute(rhs.obj, "ravel", origin), [], {}, origin, "items")
        if isinstance(self.unit.type(iterable), t.Dict):
            iterable = self.call(Const(dict_keys), [iterable], {}, origin, "keys")
        type_ = self.unit.type(iterable)
        if isinstance(rhs, Item) and isinstance(type_, t.List) and self.heap is not None and (
            is_mutable(type_.item) and isinstance(self.unit.type(rhs.obj), t.List)
            and isinstance(self.unit.type(rhs.index), t.SliceType)
            and self.heap.is_current(rhs.obj)  # reversed or sorted in place, it has other places
        ):
            return self.part_of_list(rhs, flat, types, origin)
        flat.append(iterable)
        types.append(self.type_of_items(iterable))
        return own_item

    def has_values(self, atom: Var) -> bool:
        """Say whether something is ``table.values()`` of a dict."""
        rhs = self.unit.definition(atom)
        return isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
            rhs.func.value is dict_values)

    def opened_parts(self, iterables: Iterable[Atom | Star]) -> list[Var]:
        """Return the iterators in ``iterables`` that read storage, and those that they read."""
        found: list[Var] = []
        for atom in map(unstar, iterables):
            rhs = self.unit.definition(atom)
            if isinstance(atom, Var) and self.heap is not None and atom in self.heap.derived_of:
                found.append(atom)
            if isinstance(rhs, Call) and isinstance(rhs.func, Const) and makes_iterator(
                rhs.func.value
            ):
                found += self.opened_parts(rhs.args)
        return found

    def part_of_list(
        self, part: Item, flat: list[Atom], types: list[t.Type], origin: Origin
    ) -> Build:
        """Run over a slice of a list of arrays or lists by the positions of its items."""
        places = Call(Const(positions), (part.obj, part.index))
        flat.append(self.let(places, t.RANGE, "positions", origin))
        types.append(t.INT)

        def build(s: Writer, items: Iterator[Atom], origin: Origin) -> Atom:
            item = s.item(part.obj, next(items), origin)
            return item if s.heap is None else s.heap.since(item, part.obj, origin)

        return build

    def flatten_zip(
        self, parts: list[Atom], flat: list[Atom], types: list[t.Type], origin: Origin
    ) -> Build:
        """Add the sequences that ``zip`` runs over; what is repeated needs none beside others."""
        made = [self.unit.definition(part) for part in parts]
        repeated = [
            isinstance(rhs, Call) and isinstance(rhs.func, Const) and len(rhs.args) == 1
            and not rhs.kwargs and rhs.func.value is itertools.repeat for rhs in made
        ]
        if all(repeated):
            return paired([self.flatten(part, flat, types, origin) for part in parts])
        return paired([
            always(unstar(rhs.args[0])) if isinstance(rhs, Call) and same
            else self.flatten(part, flat, types, origin)
            for part, rhs, same in zip(parts, made, repeated, strict=True)
        ])

    def counting(self, start: Atom, origin: Origin) -> Atom:
        """Write a sequence of integers without end."""
        rhs = Call(Const(itertools.count), (start,))
        return self.let(rhs, t.UNKNOWN, "count", origin)

    def cycled(self, rhs: Call, origin: Origin) -> Build:
        """Return how the item of ``cycle(items)`` or ``repeat(item)`` is written of a number."""
        value = unstar(rhs.args[0])
        if isinstance(rhs.func, Const) and rhs.func.value is itertools.repeat:
            return lambda s, items, at: (next(items), value)[1]
        size = self.call(Const(len), [value], {}, origin, "length")

        def build(s: Writer, items: Iterator[Atom], at: Origin) -> Atom:
            index = s.call(Const(operator.mod), [next(items), size], {}, at, "index")
            return s.item(value, index, at)

        return build

    def type_of_items(self, iterable: Atom) -> t.Type:
        """Return the type of the items of an iterable; of an iterator, found by trying it."""
        type_ = self.unit.type(iterable)
        rhs = self.unit.definition(iterable)
        if isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
            rhs.func.value is np.ndindex
            or getattr(rhs.func.value, "__module__", None) == "itertools"
        ):
            function = rhs.func.value
            kwargs = {key: value for key, value in rhs.kwargs if key is not None}
            return self.type_of_call(
                lambda *a, **k: next(iter(function(*a, **k))), list(rhs.args), kwargs)
        return item_type(type_)


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


def own_item(s: Writer, items: Iterator[Atom], origin: Origin) -> Atom:
    """Return the next item as it is."""
    return next(items)


def always(value: Atom) -> Build:
    """Return that the item is one value, always."""
    return lambda s, items, origin: value


def entry_of(table: Atom, with_key: bool) -> Build:
    """Return how an entry of a dict is written of its key: the value that it holds then."""

    def build(s: Writer, items: Iterator[Atom], origin: Origin) -> Atom:
        key = next(items)
        latest = table if s.heap is None else s.heap.current(table, origin)
        value = s.item(latest, key, origin, "value")
        return s.pack("tuple", (key, value), "entry", origin) if with_key else value

    return build


def paired(parts: Sequence[Build]) -> Build:
    """Return how a tuple is written of the items that ``parts`` write."""

    def build(s: Writer, items: Iterator[Atom], origin: Origin) -> Atom:
        return s.pack("tuple", tuple(part(s, items, origin) for part in parts), "pair", origin)

    return build
