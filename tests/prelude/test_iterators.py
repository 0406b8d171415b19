"""The Python that is compiled in place of functions of iterables gives what these give."""

import functools
import itertools
import math
import operator

import pytest

from adcompiler.prelude import iterators

ITEMS = [[], [2], [3, 1, 2, 3, -3, 0]]


def result(call):
    """Return what a call gives, or the kind of what it raises."""
    try:
        return call()
    except (ValueError, TypeError, StopIteration, IndexError) as error:
        return type(error)


@pytest.mark.parametrize("xs", ITEMS, ids=repr)
def test_items(xs):
    rows = [(x, -x) for x in xs]
    for library, own in [
        (lambda: max(xs, key=abs), lambda: iterators.greatest_by(xs, abs)),
        (lambda: min(xs, key=abs), lambda: iterators.least_by(xs, abs)),
        (lambda: max(rows), lambda: iterators.greatest_item(rows)),
        (lambda: min(rows), lambda: iterators.least_item(rows)),
        (lambda: max(xs, default=7), lambda: iterators.greatest_or(xs, 7)),
        (lambda: min(xs, default=7), lambda: iterators.least_or(xs, 7)),
        (lambda: max(xs, key=abs, default=7), lambda: iterators.greatest_by_or(xs, abs, 7)),
        (lambda: min(xs, key=abs, default=7), lambda: iterators.least_by_or(xs, abs, 7)),
        (lambda: next(iter(xs)), lambda: iterators.first_of(xs)),
        (lambda: next(iter(xs), 7), lambda: iterators.first_or(xs, 7)),
        (lambda: list(iter(xs)), lambda: iterators.items_of_iterator(iter(xs))),
        (lambda: list(itertools.accumulate(xs)),
         lambda: iterators.accumulated_items(xs, operator.add)),
        (lambda: list(itertools.accumulate(xs, operator.mul, initial=2)),
         lambda: iterators.accumulated(xs, operator.mul, 2)),
        (lambda: functools.reduce(operator.sub, xs, 5),
         lambda: iterators.reduced(operator.sub, xs, 5)),
        (lambda: functools.reduce(operator.sub, xs or [1]),
         lambda: iterators.reduced(operator.sub, xs or [1])),
        (lambda: list(itertools.takewhile(bool, xs)), lambda: iterators.taken_while(bool, xs)),
        (lambda: list(itertools.dropwhile(bool, xs)), lambda: iterators.dropped_while(bool, xs)),
        (lambda: list(itertools.filterfalse(None, xs)), lambda: iterators.filtered_out(None, xs)),
        (lambda: list(filter(None, xs)), lambda: iterators.filtered(None, xs)),
        (lambda: list(map(operator.add, xs, xs[1:])),
         lambda: iterators.mapped(operator.add, xs, xs[1:])),
        (lambda: list(itertools.compress(xs, [1, 0, 1])),
         lambda: iterators.compressed(xs, [True, False, True])),
        (lambda: [(key, list(group)) for key, group in itertools.groupby(xs, abs)],
         lambda: iterators.grouped(xs, abs)),
        (lambda: list(itertools.product(xs, "ab")), lambda: iterators.products(xs, "ab")),
        (lambda: list(itertools.product(xs, "ab", xs)),
         lambda: iterators.products_with(iterators.products(xs, "ab"), xs)),
        (lambda: list(zip(*rows, strict=True)), lambda: iterators.columns(rows)),
        (lambda: list(itertools.starmap(pow, [(x, 2) for x in xs])),
         lambda: iterators.applied_to_rows(pow, [(x, 2) for x in xs])),
        (lambda: list(itertools.islice(xs, 1, 4, 2)), lambda: iterators.sliced(xs, 1, 4, 2)),
        (lambda: list(itertools.islice(xs, -1)), lambda: iterators.sliced(xs, None, -1, None)),
        (lambda: sum([xs, xs], [0]), lambda: iterators.total_of_lists([xs, xs], [0])),
        (lambda: sum(rows, (0,)), lambda: iterators.total_of_tuples(rows, (0,))),
        (lambda: math.hypot(*xs), lambda: iterators.norm(xs)),
        (lambda: list(itertools.chain.from_iterable(rows)), lambda: iterators.flattened(rows)),
        (lambda: sorted(xs, key=abs), lambda: iterators.sorted_by(xs, abs, False)),
        (lambda: sorted(rows, reverse=True), lambda: iterators.sorted_items(rows, True)),
    ]:
        assert result(own) == result(library)
    two, three = ([*itertools.combinations(range(len(xs)), n)] for n in (2, 3))
    assert iterators.pairs_of(xs, two) == iterators.rows_of(xs, two) == [
        *itertools.combinations(xs, 2)]
    assert iterators.triples_of(xs, three) == iterators.rows_of(xs, three) == [
        *itertools.combinations(xs, 3)]


def test_items_again_and_again():
    cycle = itertools.islice(itertools.cycle("abc"), 1, 9, 3)
    assert iterators.sliced_cycle("abc", 1, 9, 3) == list(cycle)
    assert iterators.filled([1, 2], 4, 0) == [1, 2, 0, 0]
