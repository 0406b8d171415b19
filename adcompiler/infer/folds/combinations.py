"""Products, combinations and permutations of what is given."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from adcompiler.prelude import iterators
from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, Atom, Const, Origin, Star
from adcompiler.infer.calls.binding import plain_call
from adcompiler.infer.folds.iterator import is_none, may_carry, options, refuse, run, sequence
from adcompiler.infer.folds.table import FOLDS, Fold, folds
from adcompiler.infer.interface import Operations


@folds(itertools.product)
def fold_product(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    times = kwargs.get("repeat", Const(1))
    if not args or any(isinstance(a, Star) for a in args) or not any(
        may_carry(s.unit, arg) for arg in args
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


GATHERED: dict[int, Callable[..., object]] = {2: iterators.pairs_of, 3: iterators.triples_of}
"""What takes the items at places of a known number in each row."""


def _combinations(function: type) -> Fold:
    def fold(
        s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
    ) -> Atom | None:
        """Positions are combined in place of items."""
        given = options(("iterable", "r"), args, kwargs)
        if given is None or "iterable" not in given or not may_carry(s.unit, given["iterable"]):
            return None
        items = sequence(s, given["iterable"], origin)
        size = given.get("r", NONE)
        length = s.call(Const(len), [items], {}, origin, "length")
        count = s.call(Const(range), [length], {}, origin, "positions")
        chosen = [count] if is_none(size) else [count, size]
        positions = s.let(plain_call(Const(function), chosen, {}), t.UNKNOWN, "rows", origin)
        known = size.value if isinstance(size, Const) else 0
        gather = GATHERED.get(known or 0, iterators.rows_of)
        return run(s, gather, [items, positions], origin, name)

    return fold


for _function in (
    itertools.combinations, itertools.permutations, itertools.combinations_with_replacement
):
    FOLDS[_function] = _combinations(_function)
