"""The Python that is compiled in place of methods of dicts does as these do."""

import copy

import pytest

from adcompiler.prelude import dicts

TABLES = [{}, {"a": 1.0}, {"b": 2.0, "a": None, "c": 3.0}]


def given(call, table):
    """Return what a call gives and leaves of a copy of a table, or the exception it raises."""
    table = copy.copy(table)
    try:
        return call(table), list(table.items())
    except KeyError as error:
        return error.args, list(table.items())


PAIRS = [
    (lambda d: d.setdefault("a", 5.0), lambda d: dicts.setdefault(d, "a", 5.0)),
    (lambda d: d.setdefault("x"), lambda d: dicts.setdefault(d, "x")),
    (lambda d: d.update({"a": 7.0, "z": 8.0}), lambda d: dicts.update(d, {"a": 7.0, "z": 8.0})),
    (lambda d: d.pop("a"), lambda d: dicts.popped(d, "a")),
    (lambda d: d.pop("a", 9.0), lambda d: dicts.popped_or(d, "a", 9.0)),
    (lambda d: d.popitem(), lambda d: dicts.popped_last(d)),
    (lambda d: d.get("a", 4.0), lambda d: dicts.looked_up(d, "a", 4.0)),
    (lambda d: {**d, "a": 6.0}, lambda d: dicts.merged(d, {"a": 6.0})),
    (lambda d: dict(d.items()), lambda d: dicts.dict_of_pairs(d.items())),
    (dict, dicts.dict_of_any),
    (dict, dicts.dict_of_mapping),
    (lambda d: dict.fromkeys(d, 1.0), lambda d: dicts.fromkeys(d, 1.0)),
]
"""What a dict does, and what is compiled in its place."""


@pytest.mark.parametrize("table", TABLES, ids=repr)
def test_methods(table):
    for call, own in PAIRS:
        assert given(own, table) == given(call, table)


def test_what_del_leaves():
    table = {"a": 1.0, "b": 2.0}
    assert dicts.without_key(table, "a") == {"b": 2.0}
    assert table == {"a": 1.0, "b": 2.0}
    with pytest.raises(KeyError):
        dicts.without_key(table, "c")
