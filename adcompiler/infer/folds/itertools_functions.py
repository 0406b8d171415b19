"""Functions of itertools and functools that run through what they are given."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable
from typing import Any

from adcompiler.prelude import iterators
from adcompiler.prelude.iterators import reduced
from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, Atom, Closure, Const, Origin, Star, unstar
from adcompiler.ir.operators import BY_SIGN
from adcompiler.infer.calls.binding import plain_call
from adcompiler.infer.folds.iterator import (
    is_none, made_by, may_carry, options, refuse, run, sequence,
)
from adcompiler.infer.folds.table import FOLDS, Fold, folds
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer


@folds(functools.reduce)
def fold_reduce(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    if len(args) < 2 or any(isinstance(arg, Star) for arg in args):
        return None
    items = args[1] if len(args) == 3 else sequence(s, args[1], origin)
    return run(s, reduced, [args[0], items, *args[2:]], origin, name)


@folds(itertools.accumulate)
def fold_accumulate(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    given = options(("iterable", "func", "initial"), args, kwargs)
    if given is None or len(args) > 2 or not any(may_carry(s.unit, a) for a in given.values()):
        return None
    function = given.get("func", NONE)
    function = Const(operator.add) if is_none(function) else function
    if not is_none(given.get("initial")):
        rest = [given["iterable"], function, given["initial"]]
        return run(s, iterators.accumulated, rest, origin, name)
    items = sequence(s, given["iterable"], origin)
    return run(s, iterators.accumulated_items, [items, function], origin, name)


@folds(itertools.tee)
def fold_tee(
    s: Writer, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    if not args or not may_carry(s.unit, args[0]):
        return None
    return refuse(s, origin, "an iterator that is used in more than one place: tee() of it",
                  "make a list of it, by list(...) or a comprehension")


def _with_function(function: Callable[..., Any]) -> Fold:
    def fold(
        s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
    ) -> Atom | None:
        if len(args) != 2 or kwargs or not (is_made_here(s, args[0]) or may_carry(s.unit, args[1])):
            return None
        return run(s, function, args, origin, name)

    return fold


def is_made_here(s: Operations, function: Atom) -> bool:
    """Say whether a function is made where it is called, so that nothing else can call it."""
    return isinstance(s.unit.definition(function), Closure)


FOLDS[itertools.takewhile] = _with_function(iterators.taken_while)
FOLDS[itertools.dropwhile] = _with_function(iterators.dropped_while)
FOLDS[itertools.filterfalse] = _with_function(iterators.filtered_out)
FOLDS[itertools.starmap] = _with_function(iterators.applied_to_rows)


@folds(itertools.compress)
def fold_compress(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    given = options(("data", "selectors"), args, kwargs)
    if given is None or len(given) != 2 or not may_carry(s.unit, given["data"]):
        return None
    return run(s, iterators.compressed, [given["data"], given["selectors"]], origin, name)


@folds(itertools.groupby)
def fold_groupby(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    given = options(("iterable", "key"), args, kwargs)
    if given is None:
        return None
    if not is_made_here(s, given.get("key", NONE)) and not may_carry(s.unit, given["iterable"]):
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


@folds(itertools.chain)
def fold_chain(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """The iterables one after the other are a display of each, opened by ``*``."""
    if not any(may_carry(s.unit, arg) for arg in args):
        return None
    if len(args) == 1 and isinstance(args[0], Star):
        return run(s, iterators.flattened, [args[0].atom], origin, name)
    if any(isinstance(arg, Star) for arg in args):
        return None
    parts = [Star(sequence(s, arg, origin)) for arg in args]
    return s.sequence_display("list", parts, name, origin)


def fold_chain_from_iterable(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    if len(args) != 1 or not may_carry(s.unit, args[0]):
        return None
    return run(s, iterators.flattened, args, origin, name)


FOLDS[itertools.chain.from_iterable] = fold_chain_from_iterable


@folds(itertools.islice)
def fold_islice(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    if not 2 <= len(args) <= 4 or not may_carry(s.unit, args[0]):
        return None
    bounds = [NONE, args[1], NONE] if len(args) == 2 else [*args[1:], NONE, NONE][:3]
    rhs = made_by(s.unit, args[0])
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
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    if len(args) != 1 or not may_carry(s.unit, args[0]):
        return None
    items = sequence(s, args[0], origin)
    rest = s.item(items, Const(slice(1, None)), origin, "rest")
    return s.call(Const(zip), [items, rest], {}, origin, name)


@folds(itertools.zip_longest)
def fold_zip_longest(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    given = [*args, *kwargs.values()]
    if any(isinstance(arg, Star) for arg in args) or not any(may_carry(s.unit, a) for a in given):
        return None
    parts = [sequence(s, arg, origin) for arg in args]
    lengths = [s.call(Const(len), [part], {}, origin, "length") for part in parts]
    most = lengths[0] if len(lengths) == 1 else s.call(Const(max), lengths, {}, origin, "length")
    value = kwargs.get("fillvalue", NONE)
    long = [run(s, iterators.filled, [part, most, value], origin, "items") for part in parts]
    return s.call(Const(zip), long, {}, origin, name)


@folds(itertools.repeat)
def fold_repeat(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    given = options(("object", "times"), args, kwargs)
    if given is None or "object" not in given:
        return None
    if "times" in given and may_carry(s.unit, given["object"]):
        items = s.pack("list", (given["object"],), "items", origin)
        return s.call(Const(BY_SIGN["*"]), [items, given["times"]], {}, origin, name)
    return s.let(plain_call(Const(itertools.repeat), args, kwargs), t.UNKNOWN, name, origin)
