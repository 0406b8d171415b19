"""Folds of functions of iterables, written as the Python of ``prelude/iterators``.

Only where a derivative may go through the items: iterators over texts and integers stay what they
are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.analyses.storage import READ_LATER
from adcompiler.prelude import iterators
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Origin, Star, unstar
from adcompiler.ops.registry import hashable
from adcompiler.runtime import dict_keys, dict_values, generated
from adcompiler.infer.calls.binding import plain_call
from adcompiler.infer.calls.operator_methods import next_of_own
from adcompiler.infer.folds.table import folds
from adcompiler.infer.result_types import item_type
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.unit import Unit

LAZY: frozenset[Any] = frozenset({
    zip, enumerate, iter, dict.items, map, filter, reversed, itertools.count, itertools.cycle,
    itertools.repeat, np.ndenumerate, np.ndindex,
})
"""Functions whose calls stay calls for the loop over them to take apart."""
ITERATORS: frozenset[Any] = (LAZY - {dict.items}) | {
    generated, itertools.chain.from_iterable, *(
        function for function in vars(itertools).values() if isinstance(function, type)
    ),
}
"""Functions that return iterators."""
AT_ONCE: frozenset[Any] = frozenset({
    itertools.product, itertools.permutations, itertools.combinations,
    itertools.combinations_with_replacement,
})
"""Those that take all items of what they are given when they are called."""
VIEWING: frozenset[Any] = frozenset({reversed, dict_keys, dict_values})
"""Functions that give the items of a container themselves, when they are asked for."""


def made_by(unit: Unit, atom: Atom) -> Call | None:
    """Return the call of a known function that made ``atom``, None if there is none."""
    rhs = unit.definition(unstar(atom))
    if isinstance(rhs, Call) and isinstance(rhs.func, Const):
        return rhs
    return None


def may_carry(unit: Unit, atom: Atom | Star) -> bool:
    """Say whether what an iterable gives may carry a derivative."""
    atom = unstar(atom)
    type_ = unit.type(atom)
    rhs = made_by(unit, atom)
    if isinstance(type_, t.Unknown) and rhs is not None and is_lazy(rhs.func):
        return any(may_carry(unit, part) for part in rhs.args)
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
    return makes_iterator(function) and function not in READ_LATER | AT_ONCE | VIEWING


def gives_items(function: Callable[..., Any]) -> bool:
    """Say whether a function gives the items that a container holds when they are asked for."""
    return function in VIEWING if hashable(function) else False


def opened_iterator(s: Operations, arg: Atom | Star, origin: Origin) -> Any:
    """Write what a call gets in place of ``iter(x)`` and of ``x.flat``."""
    if isinstance(arg, Star):
        return Star(opened_iterator(s, arg.atom, origin))
    rhs = made_by(s.unit, arg)
    if rhs is not None and rhs.func.value is iter:  # type: ignore[union-attr]
        return opened_iterator(s, rhs.args[0], origin)
    if is_flat(s.unit, arg):
        return flat_items(s, s.unit.definition(arg), origin)  # type: ignore[arg-type]
    return arg


def sequence(s: Operations, atom: Atom | Star, origin: Origin) -> Atom:
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
    return s.call(Const(iterators.listed), [atom], {}, origin, "items")


def flat_items(s: Operations, rhs: Attribute, origin: Origin) -> Atom:
    """Write the elements of ``x.flat`` as an array."""
    return s.call(s.attribute(rhs.obj, "ravel", origin), [], {}, origin, "elements")


def is_flat(unit: Unit, atom: Atom) -> bool:
    """Say whether ``atom`` is the iterator ``x.flat`` of an array."""
    rhs = unit.definition(unstar(atom))
    return isinstance(rhs, Attribute) and rhs.name == "flat" and isinstance(
        unit.type(rhs.obj), t.Array)


def run(
    s: Operations, function: Callable[..., Any], args: list[Atom], origin: Origin, name: str
) -> Atom:
    """Write a call of a function of the prelude."""
    return s.call(Const(function), args, {}, origin, name)


def refuse(s: Writer, origin: Origin, problem: str, hint: str) -> Atom:
    """Record that an iterator is used in a way that is not supported."""
    return s.reject(origin, problem, hint, "iterators")


def is_none(atom: Atom | None) -> bool:
    """Say whether an argument is absent or None."""
    return atom is None or (isinstance(atom, Const) and atom.value is None)


def options(
    names: tuple[str, ...], args: list[Atom], kwargs: dict[str, Atom]
) -> dict[str, Atom] | None:
    """Return arguments by the names of parameters; None if they do not fit."""
    if len(args) > len(names) or any(isinstance(arg, Star) for arg in args):
        return None
    found = dict(zip(names, args, strict=False))
    if set(found) & set(kwargs) or set(kwargs) - set(names):
        return None
    return {**found, **kwargs}


@folds(iter)
def fold_iter(
    s: Writer, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    if len(args) == 2:
        return refuse(s, origin, "iter() of a function", "write a while loop")
    return s.let(plain_call(Const(iter), args, {}), t.UNKNOWN, name, origin)


@folds(next, as_given=True)
def fold_next(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    own = next_of_own(s, args[0], origin, name) if len(args) == 1 else None
    if own is not None:
        return own
    given, rhs = args, made_by(s.unit, args[0])
    is_made = rhs is not None
    while rhs is not None and rhs.func.value is iter:  # type: ignore[union-attr]
        args = [unstar(rhs.args[0]), *args[1:]]
        rhs = made_by(s.unit, args[0])
    of_items = isinstance(s.unit.type(args[0]), (t.List, t.Tuple, t.Text))
    if of_items and args is given and args[0] not in s.unit.iterators.one_shot:
        return refuse(
            s, origin, "next() of what is not known to be an iterator: lists, tuples and texts "
            "have none of their own", "write `next(iter(items))`, or `items[0]`",
        )
    if not of_items and not may_carry(s.unit, args[0]):
        return None
    if not of_items and not is_made and args[0] not in s.unit.iterators.one_shot:
        return refuse(
            s, origin, "next() of an iterator that is not made in this function: others may ask "
            "it for its next item too", "make a list of it first, and take items of that",
        )
    items = sequence(s, args[0], origin)
    if len(args) == 2:
        return run(s, iterators.first_or, [items, args[1]], origin, name)
    return run(s, iterators.first_of, [items], origin, name)


def transposed(s: Operations, rows: Atom, origin: Origin, name: str) -> Atom | None:
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
