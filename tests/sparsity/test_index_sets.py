"""Every form of sets of columns does what sets do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adcompiler.sparsity.dependences import index_sets as forms
from adcompiler.sparsity.dependences import sets
from adcompiler.sparsity.dependences.index_sets import Bag, Cells, Ragged
from adcompiler.sparsity.dependences.values import (
    Relation, combined, end_to_end, gathered, masked, stretched, unite,
)

COLUMNS = 150
SMALL_SETS = st.frozensets(st.integers(0, COLUMNS - 1), max_size=4)
LARGE_SETS = st.frozensets(st.integers(0, COLUMNS - 1), min_size=66, max_size=80)
SETS = st.one_of(SMALL_SETS, SMALL_SETS, LARGE_SETS)
SHAPES = st.sampled_from([(1,), (5,), (2, 3), (3, 1), (0,), (2, 0), (2, 1, 2)])


def made(elements):
    """Return a set in its own representation."""
    return sets.set_of(np.array(sorted(elements), np.int64))


def as_form(lists, shape, form):
    """Return sets, given as a flat list, in one of the forms."""
    if form == "cells":
        array = np.empty(shape, object)
        array.ravel()[:] = [made(one) for one in lists]
        return Cells(array)
    if form == "bag":
        most = max([1, *map(len, lists)])
        table = np.full((most, len(lists)), -1)
        for i, one in enumerate(lists):
            table[: len(one), i] = sorted(one, reverse=True)
        return Bag(tuple(table.reshape(most, *shape)))
    columns = [c for one in lists for c in sorted(one)]
    starts = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    return Ragged(shape, starts, np.array(columns, np.int64))


def as_sets(relation, shape):
    """Return the sets of a relation as a flat list of frozensets."""
    cells = forms.cells_of(relation.own, relation.common, shape)
    return [frozenset(sets.elements_of(one).tolist()) for one in cells.array.ravel().tolist()]


@st.composite
def relations(draw, shape=None):
    """Draw a relation with its shape, and the same as a list of sets."""
    shape = draw(SHAPES) if shape is None else shape
    size = int(np.prod(shape))
    lists = draw(st.lists(SETS, min_size=size, max_size=size))
    common = draw(SMALL_SETS)
    form = draw(st.sampled_from(["cells", "bag", "ragged"]))
    relation = Relation(made(common), as_form(lists, shape, form))
    return shape, relation, [one | common for one in lists]


@given(SETS, SETS)
def test_unions_of_sets(a, b):
    found = sets.union(made(a), made(b))
    assert found == made(a | b)
    assert set(sets.elements_of(found).tolist()) == a | b
    assert sets.size_of(found) == len(a | b)


@given(relations())
def test_forms_hold_their_sets(drawn):
    shape, relation, expected = drawn
    assert as_sets(relation, shape) == expected
    rows, columns = forms.pairs_of(relation.own)
    again = forms.of_pairs(rows, columns, shape)
    assert as_sets(Relation(relation.common, again), shape) == expected
    assert frozenset(sets.elements_of(sets.union(
        forms.everything(relation.own), relation.common if expected else made(())
    )).tolist()) == frozenset().union(*expected)


@given(relations(), st.data())
def test_gathered(drawn, data):
    _, relation, expected = drawn
    size = len(expected)
    positions = np.array(data.draw(st.lists(st.integers(-1, size - 1), max_size=6)), np.int64)
    flat = Relation(relation.common, forms.move(relation.own, np.ravel))
    found = as_sets(gathered(flat, positions), positions.shape)
    assert found == [expected[p] if p >= 0 else frozenset() for p in positions]


@given(relations(), st.data())
def test_combined(drawn, data):
    _, relation, expected = drawn
    pairs = data.draw(st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, max(len(expected) - 1, 0))), max_size=8,
    )) if expected else []
    targets = np.array([t for t, _ in pairs], np.int64)
    positions = np.array([p for _, p in pairs], np.int64)
    flat = Relation(relation.common, forms.move(relation.own, np.ravel))
    found = as_sets(combined(flat, targets, positions, (4,)), (4,))
    assert found == [
        frozenset().union(*(expected[p] for t, p in pairs if t == k)) for k in range(4)
    ]


@given(st.data())
def test_united(data):
    shape = data.draw(SHAPES)
    drawn = [data.draw(relations(shape)) for _ in range(data.draw(st.integers(1, 3)))]
    found = as_sets(unite([relation for _, relation, _ in drawn], shape), shape)
    assert found == [frozenset().union(*row) for row in zip(*(e for *_, e in drawn), strict=True)]


@given(st.data())
def test_end_to_end(data):
    drawn = [data.draw(relations()) for _ in range(data.draw(st.integers(1, 3)))]
    joined = end_to_end([r for _, r, _ in drawn], [shape for shape, *_ in drawn])
    expected = [one for *_, lists in drawn for one in lists]
    assert as_sets(joined, (len(expected),)) == expected


@given(relations(), st.data())
def test_masked(drawn, data):
    shape, relation, expected = drawn
    keep = data.draw(st.lists(st.booleans(), min_size=len(expected), max_size=len(expected)))
    found = masked(relation, np.array(keep, bool).reshape(shape), shape)
    assert as_sets(found, shape) == [
        one if k else frozenset() for one, k in zip(expected, keep, strict=True)
    ]


@settings(max_examples=40)
@given(relations(), st.data(), st.booleans())
def test_written(drawn, data, adds):
    shape, relation, expected = drawn
    places = data.draw(st.lists(st.integers(0, len(expected) - 1), max_size=4, unique=True)
                       if expected else st.just([]))
    _, added, new = data.draw(relations((len(places),)))
    own = None if data.draw(st.booleans()) else relation.own
    before = as_sets(Relation(frozenset(), own), shape)
    found = forms.written(
        own, shape, np.array(places, np.int64), added.own, added.common, adds)
    if found is None:
        return
    for place, one in zip(places, new, strict=True):
        before[place] = before[place] | one if adds else one
    assert as_sets(Relation(frozenset(), found), shape) == before


@given(relations((3, 1)), st.sampled_from([(3, 4), (2, 3, 1), (3, 1)]))
def test_stretched(drawn, wanted):
    shape, relation, expected = drawn
    places = np.broadcast_to(np.arange(3).reshape(3, 1), wanted).ravel()
    assert as_sets(stretched(relation, shape, wanted), wanted) == [expected[p] for p in places]


@pytest.mark.parametrize("change", [
    lambda a: a[::-1], lambda a: a.T, lambda a: a.reshape(3, 2), lambda a: a[[1, 1, 0]],
    lambda a: np.repeat(a, 2, axis=1), lambda a: a[..., 1:],
])
@settings(max_examples=20)
@given(drawn=relations((2, 3)))
def test_moved(change, drawn):
    _, relation, expected = drawn
    places = change(np.arange(6).reshape(2, 3))
    own = forms.move(relation.own, change)
    assert as_sets(Relation(relation.common, own), places.shape) == [
        expected[p] for p in places.ravel()
    ]


def test_written_in_place():
    bag = Bag((np.arange(6).reshape(2, 3),))
    places = np.array([1, 4])
    found = forms.written(bag, (2, 3), places, Bag((np.array([9, 4]),)), frozenset(), True)
    assert found.members[0] is bag.members[0]
    assert as_sets(Relation(frozenset(), found), (2, 3)) == [{0}, {1, 9}, {2}, {3}, {4}, {5}]
    found = forms.written(found, (2, 3), places, None, frozenset([7]), False)
    assert as_sets(Relation(frozenset(), found), (2, 3)) == [{0}, {7}, {2}, {3}, {7}, {5}]
    assert forms.written(bag, (2, 3), np.array([1, 1]), None, frozenset([7]), True) is None
    ragged = Ragged((1,), np.array([0, 1]), np.array([3]))
    assert forms.written(ragged, (1,), np.array([0]), None, frozenset([7]), False) is None
