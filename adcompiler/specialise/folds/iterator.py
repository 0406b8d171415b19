"""Folds of functions of iterables, written as the Python of ``frontend/iterators``.

Only where a derivative may go through the items: iterators over texts and integers stay what they
are.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import statistics
from typing import Any

import numpy as np

from adcompiler.frontend import iterators
from adcompiler.frontend.replacements import listed, reduced
from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, Atom, Attribute, Call, Const, Origin, Star, unstar
from adcompiler.ops.registry import hashable
from adcompiler.runtime import dict_keys, dict_values, generated
from adcompiler.specialise.calls.binding import plain_call
from adcompiler.specialise.folds.table import FOLDS, Fold, folds
from adcompiler.specialise.result_types import item_type
from adcompiler.specialise.writer import Writer

LAZY: frozenset[Any] = frozenset({
    zip, enumerate, iter, dict.items, map, filter, reversed, itertools.count, itertools.cycle,
    itertools.repeat, np.ndenumerate, np.ndindex,
})
"""Functions whose calls stay calls for the loop over them to take apart."""
ITERATORS: frozenset[Any] = frozenset({
    zip, enumerate, iter, map, filter, reversed, generated, np.ndenumerate, np.ndindex,
    itertools.chain.from_iterable, *(
        function for function in vars(itertools).values() if isinstance(function, type)
    ),
})
"""Functions that return iterators."""
TAKEN_APART: frozenset[Any] = frozenset({
    zip, enumerate, iter, dict.items, np.ndenumerate, np.ndindex,
})
"""Those of which a loop reads what they are given, item by item."""
AT_ONCE: frozenset[Any] = frozenset({
    itertools.product, itertools.permutations, itertools.combinations,
    itertools.combinations_with_replacement,
})
"""Those that take all items of what they are given when they are called."""
VIEWING: frozenset[Any] = frozenset({reversed, dict_keys, dict_values})
"""Functions that give the items of a container themselves, when they are asked for."""


def made_by(s: Writer, atom: Any) -> Call | None:
    """Return the call of a known function that made ``atom``, None if there is none."""
    rhs = s.unit.definition(unstar(atom))
    if isinstance(rhs, Call) and isinstance(rhs.func, Const):
        return rhs
    return None


def may_carry(s: Writer, atom: Any) -> bool:
    """Say whether what an iterable gives may carry a derivative."""
    atom = unstar(atom)
    type_ = s.unit.type(atom)
    rhs = made_by(s, atom)
    if isinstance(type_, t.Unknown) and rhs is not None and is_lazy(rhs.func):
        return any(may_carry(s, part) for part in rhs.args)
    return t.may_vary(type_) or isinstance(type_, t.FunctionType)


def is_lazy(func: Atom) -> bool:
    """Say whether a function makes an iterator of its arguments and nothing else."""
    value = func.value if isinstance(func, Const) else None
    module = getattr(value, "__module__", None)
    return module == "itertools" or (isinstance(value, type) and value in LAZY) or (
        value is dict.items
    )


def makes_iterator(function: Any) -> bool:
    """Say whether what a function returns can be run over once only."""
    return function in ITERATORS if hashable(function) else False


def computes_items(function: Any) -> bool:
    """Say whether a function gives what it computes of what it is given, item by item."""
    return makes_iterator(function) and function not in TAKEN_APART | AT_ONCE | VIEWING


def gives_items(function: Any) -> bool:
    """Say whether a function gives the items that a container holds when they are asked for."""
    return function in VIEWING if hashable(function) else False


def opened_iterator(s: Writer, arg: Any, origin: Origin) -> Any:
    """Write what a call gets in place of ``iter(x)`` and of ``x.flat``."""
    if isinstance(arg, Star):
        return Star(opened_iterator(s, arg.atom, origin))
    rhs = made_by(s, arg)
    if rhs is not None and rhs.func.value is iter:  # type: ignore[union-attr]
        return opened_iterator(s, rhs.args[0], origin)
    if is_flat(s, arg):
        return flat_items(s, s.unit.definition(arg), origin)  # type: ignore[arg-type]
    return arg


def sequence(s: Writer, atom: Any, origin: Origin) -> Atom:
    """Write ``atom`` as a sequence: what has no positions as a list."""
    atom = unstar(atom)
    type_ = s.unit.type(atom)
    rhs = s.unit.definition(atom)
    if isinstance(rhs, Attribute) and rhs.name == "flat":
        return flat_items(s, rhs, origin)
    if isinstance(type_, t.Dict):
        return s.call(Const(dict_keys), [atom], {}, origin, "keys")
    if isinstance(type_, (t.List, t.Tuple, t.Array, t.Range, t.Text)):
        found: Atom = atom
        return found
    return s.call(Const(listed), [atom], {}, origin, "items")


def flat_items(s: Writer, rhs: Attribute, origin: Origin) -> Atom:
    """Write the elements of ``x.flat`` as an array."""
    return s.call(s.attribute(rhs.obj, "ravel", origin), [], {}, origin, "elements")


def is_flat(s: Writer, atom: Any) -> bool:
    """Say whether ``atom`` is the iterator ``x.flat`` of an array."""
    rhs = s.unit.definition(unstar(atom))
    return isinstance(rhs, Attribute) and rhs.name == "flat" and isinstance(
        s.unit.type(rhs.obj), t.Array)


def run(s: Writer, function: Any, args: list[Any], origin: Origin, name: str) -> Atom:
    """Write a call of a function of ``frontend/iterators``."""
    return s.call(Const(function), args, {}, origin, name)


def refuse(s: Writer, origin: Origin, problem: str, hint: str) -> Atom:
    """Record that an iterator is used in a way that is not supported."""
    return s.reject(origin, problem, hint, "iterators")


def is_none(atom: Atom | None) -> bool:
    """Say whether an argument is absent or None."""
    return atom is None or (isinstance(atom, Const) and atom.value is None)


def options(
    names: tuple[str, ...], args: list[Any], kwargs: dict[str, Atom]
) -> dict[str, Atom] | None:
    """Return arguments by the names of parameters; None if they do not fit."""
    if len(args) > len(names) or any(isinstance(arg, Star) for arg in args):
        return None
    found = dict(zip(names, args, strict=False))
    if set(found) & set(kwargs) or set(kwargs) - set(names):
        return None
    return {**found, **kwargs}


# -- the greatest, the least, in order -------------------------------------------------------------


def _extremum(function: Any, by: Any, otherwise: Any, by_or: Any, item: Any) -> Fold:
    def fold(
        s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
    ) -> Atom | None:
        """With a key the greatest key is looked for; without, items that are tuples are."""
        if not args or set(kwargs) - {"key", "default"}:
            return None
        alone = len(args) == 1
        if any(isinstance(arg, Star) for arg in args):
            items = args[0].atom if alone else s.sequence_display("list", args, "items", origin)
        elif alone:
            items = args[0]
        elif not is_none(kwargs.get("key")):
            items = s.pack("tuple", tuple(args), "items", origin)
        elif kwargs:
            return s.call(Const(function), args, {}, origin, name)
        elif any(isinstance(s.unit.type(arg), (t.Tuple, t.List)) for arg in args):
            return run(s, item, [s.pack("tuple", tuple(args), "items", origin)], origin, name)
        else:
            return one_of(s, function, args, [s.unit.type(arg) for arg in args], origin, name)
        key = kwargs.get("key", NONE)
        if not may_carry(s, items) and (is_none(key) or isinstance(key, Const)):
            return None
        found = sequence(s, items, origin)
        if not is_none(key) and "default" in kwargs:
            return run(s, by_or, [found, key, kwargs["default"]], origin, name)
        if not is_none(key):
            return run(s, by, [found, key], origin, name)
        if "default" in kwargs:
            return run(s, otherwise, [found, kwargs["default"]], origin, name)
        if isinstance(item_type(s.unit.type(found)), (t.Tuple, t.List)):
            return run(s, item, [found], origin, name)
        if found is not args[0] or kwargs:
            return s.call(Const(function), [found], {}, origin, name)
        if isinstance(s.unit.type(found), t.Array):
            return None
        return one_of(s, function, args, [item_type(s.unit.type(found))], origin, name)

    return fold


def one_of(
    s: Writer, function: Any, args: list[Any], types: list[t.Type], origin: Origin, name: str
) -> Atom | None:
    """Write the call of a function that returns one of several numbers, whichever it is.

    Its type cannot be found by trying: ``max(1, x)`` may be the int or the float.
    """
    if all(isinstance(arg, Const) for arg in args) or not all(
        isinstance(type_, t.Scalar) for type_ in types
    ):
        return None
    type_ = functools.reduce(t.join, types)
    result = s.let(plain_call(Const(function), args, {}), type_, name, origin)
    if len(args) == 1 or any(other != type_ for other in types):
        s.unit.merged.add(result)
    return result


def _item_of(function: Any) -> Fold:
    def fold(
        s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
    ) -> Atom | None:
        if len(args) != 1 or kwargs or isinstance(args[0], Star):
            return None
        items = sequence(s, args[0], origin)
        type_ = s.unit.type(items)
        if isinstance(type_, t.Array):
            return None
        return one_of(s, function, [items], [item_type(type_)], origin, name)

    return fold


for _median in (statistics.median, statistics.median_low, statistics.median_high):
    FOLDS[_median] = _item_of(_median)


FOLDS[max] = _extremum(
    max, iterators.greatest_by, iterators.greatest_or, iterators.greatest_by_or,
    iterators.greatest_item,
)
FOLDS[min] = _extremum(
    min, iterators.least_by, iterators.least_or, iterators.least_by_or, iterators.least_item,
)


@folds(math.hypot)
def fold_hypot(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """The norm of a sequence of unknown length is its distance from 0."""
    if len(args) != 1 or not isinstance(args[0], Star):
        return None
    return run(s, iterators.norm, [sequence(s, args[0], origin)], origin, name)


@folds(sorted)
def fold_sorted(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    if len(args) != 1 or set(kwargs) - {"key", "reverse"}:
        return None
    key, reverse = kwargs.get("key", NONE), kwargs.get("reverse", Const(False))
    if not may_carry(s, args[0]) and (is_none(key) or isinstance(key, Const)):
        return None
    items = sequence(s, args[0], origin)
    if not is_none(key):
        return run(s, iterators.sorted_by, [items, key, reverse], origin, name)
    if isinstance(item_type(s.unit.type(items)), (t.Tuple, t.List)):
        return run(s, iterators.sorted_items, [items, reverse], origin, name)
    if items is args[0] and "key" not in kwargs:
        return None
    return s.call(Const(sorted), [items], {"reverse": reverse}, origin, name)


# -- iterators by hand -----------------------------------------------------------------------------


@folds(iter)
def fold_iter(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    if len(args) == 2:
        return refuse(s, origin, "iter() of a function", "write a while loop")
    return s.let(plain_call(Const(iter), args, {}), t.UNKNOWN, name, origin)


@folds(next)
def fold_next(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    rhs = made_by(s, args[0])
    while rhs is not None and rhs.func.value is iter:  # type: ignore[union-attr]
        args = [rhs.args[0], *args[1:]]
        rhs = made_by(s, args[0])
    of_items = isinstance(s.unit.type(args[0]), (t.List, t.Tuple, t.Text))
    if not of_items and not may_carry(s, args[0]):
        return None
    items = sequence(s, args[0], origin)
    if len(args) == 2:
        return run(s, iterators.first_or, [items, args[1]], origin, name)
    return run(s, iterators.first_of, [items], origin, name)


# -- functions with functions ----------------------------------------------------------------------


@folds(functools.reduce)
def fold_reduce(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    if len(args) < 2 or any(isinstance(arg, Star) for arg in args):
        return None
    items = args[1] if len(args) == 3 else sequence(s, args[1], origin)
    return run(s, reduced, [args[0], items, *args[2:]], origin, name)


@folds(itertools.accumulate)
def fold_accumulate(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    given = options(("iterable", "func", "initial"), args, kwargs)
    if given is None or len(args) > 2 or not any(may_carry(s, a) for a in given.values()):
        return None
    function = given.get("func", NONE)
    function = Const(operator.add) if is_none(function) else function
    if not is_none(given.get("initial")):
        rest = [given["iterable"], function, given["initial"]]
        return run(s, iterators.accumulated, rest, origin, name)
    items = sequence(s, given["iterable"], origin)
    return run(s, iterators.accumulated_items, [items, function], origin, name)


def _with_function(function: Any) -> Fold:
    def fold(
        s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
    ) -> Atom | None:
        if len(args) != 2 or kwargs or not may_carry(s, args[1]):
            return None
        return run(s, function, args, origin, name)

    return fold


FOLDS[itertools.takewhile] = _with_function(iterators.taken_while)
FOLDS[itertools.dropwhile] = _with_function(iterators.dropped_while)
FOLDS[itertools.filterfalse] = _with_function(iterators.filtered_out)
FOLDS[itertools.starmap] = _with_function(iterators.applied_to_rows)


@folds(itertools.compress)
def fold_compress(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    given = options(("data", "selectors"), args, kwargs)
    if given is None or len(given) != 2 or not may_carry(s, given["data"]):
        return None
    return run(s, iterators.compressed, [given["data"], given["selectors"]], origin, name)


@folds(itertools.groupby)
def fold_groupby(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    given = options(("iterable", "key"), args, kwargs)
    if given is None or not may_carry(s, given["iterable"]):
        return None
    if is_none(given.get("key")):
        return refuse(
            s, origin, "groupby() of differentiated values without a key",
            "give `key=` a function that does not depend on what is differentiated",
        )
    items = sequence(s, given["iterable"], origin)
    if not isinstance(s.unit.type(items), t.List):
        items = s.call(Const(list), [items], {}, origin, "items")
    return run(s, iterators.grouped, [items, given["key"]], origin, name)


# -- one after the other ---------------------------------------------------------------------------


@folds(itertools.chain)
def fold_chain(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """The iterables one after the other are a display of each, opened by ``*``."""
    if not any(may_carry(s, arg) for arg in args):
        return None
    if len(args) == 1 and isinstance(args[0], Star):
        return run(s, iterators.flattened, [args[0].atom], origin, name)
    if any(isinstance(arg, Star) for arg in args):
        return None
    parts = [Star(sequence(s, arg, origin)) for arg in args]
    return s.sequence_display("list", parts, name, origin)


def fold_chain_from_iterable(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    if len(args) != 1 or not may_carry(s, args[0]):
        return None
    return run(s, iterators.flattened, args, origin, name)


FOLDS[itertools.chain.from_iterable] = fold_chain_from_iterable


@folds(itertools.islice)
def fold_islice(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    if not 2 <= len(args) <= 4 or not may_carry(s, args[0]):
        return None
    bounds = [NONE, args[1], NONE] if len(args) == 2 else [*args[1:], NONE, NONE][:3]
    rhs = made_by(s, args[0])
    maker = rhs.func.value if rhs is not None and isinstance(rhs.func, Const) else None
    if rhs is not None and maker is itertools.cycle and not is_none(bounds[1]):
        items = sequence(s, rhs.args[0], origin)
        return run(s, iterators.sliced_cycle, [items, *bounds], origin, name)
    if rhs is not None and maker is itertools.repeat and not is_none(bounds[1]):
        repeated = s.pack("list", (unstar(rhs.args[0]),), "items", origin)
        return run(s, iterators.sliced_cycle, [repeated, *bounds], origin, name)
    items = sequence(s, args[0], origin)
    return run(s, iterators.sliced, [items, *bounds], origin, name)


@folds(itertools.pairwise)
def fold_pairwise(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    if len(args) != 1 or not may_carry(s, args[0]):
        return None
    items = sequence(s, args[0], origin)
    rest = s.item(items, Const(slice(1, None)), origin, "rest")
    return s.call(Const(zip), [items, rest], {}, origin, name)


@folds(itertools.zip_longest)
def fold_zip_longest(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    given = [*args, *kwargs.values()]
    if any(isinstance(arg, Star) for arg in args) or not any(may_carry(s, a) for a in given):
        return None
    parts = [sequence(s, arg, origin) for arg in args]
    lengths = [s.call(Const(len), [part], {}, origin, "length") for part in parts]
    most = lengths[0] if len(lengths) == 1 else s.call(Const(max), lengths, {}, origin, "length")
    value = kwargs.get("fillvalue", NONE)
    long = [run(s, iterators.filled, [part, most, value], origin, "items") for part in parts]
    return s.call(Const(zip), long, {}, origin, name)


@folds(itertools.repeat)
def fold_repeat(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    given = options(("object", "times"), args, kwargs)
    if given is None or "object" not in given:
        return None
    if "times" in given and may_carry(s, given["object"]):
        items = s.pack("list", (given["object"],), "items", origin)
        return s.call(Const(operator.mul), [items, given["times"]], {}, origin, name)
    return s.let(plain_call(Const(itertools.repeat), args, kwargs), t.UNKNOWN, name, origin)


# -- combinations ----------------------------------------------------------------------------------


@folds(itertools.product)
def fold_product(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    times = kwargs.get("repeat", Const(1))
    if not args or any(isinstance(a, Star) for a in args) or not any(
        may_carry(s, arg) for arg in args
    ):
        return None
    if not isinstance(times, Const) or type(times.value) is not int or times.value < 1:
        return refuse(
            s, origin, "product() of differentiated values `repeat` times, not known when "
            "compiling", "write a number",
        )
    groups = [sequence(s, arg, origin) for arg in args] * times.value
    if len(groups) == 1:
        return run(s, iterators.singles, groups, origin, name)
    rows = run(s, iterators.products, groups[:2], origin, name)
    for group in groups[2:]:
        rows = run(s, iterators.products_with, [rows, group], origin, name)
    return rows


def _combinations(function: Any) -> Fold:
    def fold(
        s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
    ) -> Atom | None:
        """Positions are combined in place of items."""
        given = options(("iterable", "r"), args, kwargs)
        if given is None or "iterable" not in given or not may_carry(s, given["iterable"]):
            return None
        items = sequence(s, given["iterable"], origin)
        size = given.get("r", NONE)
        length = s.call(Const(len), [items], {}, origin, "length")
        count = s.call(Const(range), [length], {}, origin, "positions")
        chosen = [count] if is_none(size) else [count, size]
        positions = s.let(plain_call(Const(function), chosen, {}), t.UNKNOWN, "rows", origin)
        known = size.value if isinstance(size, Const) else 0
        gather = {2: iterators.pairs_of, 3: iterators.triples_of}.get(known or 0, iterators.rows_of)
        return run(s, gather, [items, positions], origin, name)

    return fold


for _function in (
    itertools.combinations, itertools.permutations, itertools.combinations_with_replacement
):
    FOLDS[_function] = _combinations(_function)


def transposed(s: Writer, rows: Atom, origin: Origin, name: str) -> Atom | None:
    """Write ``zip(*rows)``; None if the rows may be texts or iterators."""
    rows = sequence(s, rows, origin)
    row = item_type(s.unit.type(rows))
    if isinstance(row, t.Tuple):
        parts = tuple(
            run(s, iterators.column, [rows, Const(position)], origin, "column")
            for position in range(len(row.items))
        )
        columns = [s.call(Const(tuple), [part], {}, origin, "column") for part in parts]
        return s.pack("tuple", tuple(columns), name, origin)
    if isinstance(row, (t.List, t.Array)):
        return run(s, iterators.columns, [rows], origin, name)
    return None


# -- dicts -----------------------------------------------------------------------------------------


def get_entry(
    s: Writer, table: Atom, args: list[Any], origin: Origin, name: str
) -> Atom:
    """Write ``table.get(key, default)`` of a key that is not known when compiling."""
    default = args[1] if len(args) > 1 else NONE
    return run(s, iterators.looked_up, [table, args[0], default], origin, name)


GETTERS = frozenset({operator.itemgetter, operator.attrgetter, operator.methodcaller})


def call_getter(
    s: Writer, function: Any, made: list[Any], named: dict[str, Atom], args: list[Any],
    origin: Origin, name: str,
) -> Atom | None:
    """Write the call of what ``operator.itemgetter`` and its like return; None if it is no such."""
    if len(args) != 1 or any(isinstance(arg, Star) for arg in (*args, *made)):
        return None
    if function is operator.methodcaller:
        if not isinstance(made[0], Const):
            return None
        method = s.attribute(args[0], made[0].value, origin)
        return s.call(method, made[1:], named, origin, name)
    if function is operator.itemgetter:
        parts = tuple(s.item(args[0], key, origin, name) for key in made)
    elif all(isinstance(key, Const) for key in made):
        found = []
        for key in made:
            value = args[0]
            for step in key.value.split("."):
                value = s.attribute(value, step, origin, name)
            found.append(value)
        parts = tuple(found)
    else:
        return None
    return parts[0] if len(parts) == 1 else s.pack("tuple", parts, name, origin)

