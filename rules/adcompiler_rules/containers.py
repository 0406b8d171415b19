"""Rules of the runtime functions that build and take apart lists, tuples and dicts."""

from __future__ import annotations

import numpy as np

import adcompiler_rules.runtime.cotangents
import adcompiler_rules.runtime.external
import adcompiler_rules.runtime.functionals
import adcompiler_rules.runtime.kinks
import adcompiler_rules.runtime.masked
import adcompiler_rules.runtime.sequences  # noqa: F401 (registers its rules)
from adcompiler.rulekit import Call, call, non_differentiable, rrule
from adcompiler.runtime import (
    append, check_bound, check_rebinds, choose, dict_keys, dict_of, dict_values, own,
    repack, same_kind, same_length, stop_gradient, unpack,
)
from adcompiler.runtime.containers import dict_of_adjoint
from adcompiler.runtime.adjoints.sequences import place_of_extreme, sort_order

non_differentiable(dict_keys, place_of_extreme, sort_order, stop_gradient)
non_differentiable(check_bound, check_rebinds, same_kind, same_length, pure=False)


def _unpack_calls(rng: np.random.Generator) -> list[Call]:
    return [
        call((1.5, 2.5), 2, -1), call([1.0, rng.normal(size=3)], 2, -1),
        call(rng.normal(size=3), 3, -1), call(rng.normal(size=(2, 3)), 2, -1),
    ]


@rrule(unpack, wrt=("value",), linear=(0,), domain=_unpack_calls)
def unpack_rule(value, count, star=-1):
    """``a, b, c = value``."""
    parts = unpack(value, count, star)

    def unpack_pullback(dy):
        return repack(dy, value, star)

    return parts, unpack_pullback


def _append_calls(rng: np.random.Generator) -> list[Call]:
    return []


@rrule(append, wrt=("items", "value"), domain=_append_calls)
def append_rule(items, value):
    """``items`` with ``value`` behind it; the list is the emitted code's own."""

    def append_pullback(dy):
        return dy[:-1], dy[-1]

    return append(items, value), append_pullback


def _choose_calls(rng: np.random.Generator) -> list[Call]:
    a, b = rng.normal(size=3), rng.normal(size=2)
    return [call(True, a, b), call(False, a, b)]


@rrule(choose, wrt=("a", "b"), linear=(1, 2), domain=_choose_calls)
def choose_rule(condition, a, b):
    """``a if condition else b``."""

    def choose_pullback(dy):
        return choose(condition, dy, np.zeros_like(a)), choose(condition, np.zeros_like(b), dy)

    return choose(condition, a, b), choose_pullback


def _values_calls(rng: np.random.Generator) -> list[Call]:
    return [call({"a": 1.5, "b": rng.normal(size=3)}), call({0: 2.0}), call({})]


@rrule(dict_values, linear=(0,), domain=_values_calls)
def dict_values_rule(table):
    """``list(table.values())``."""
    keys = dict_keys(table)

    def dict_values_pullback(dy):
        return dict_of(keys, dy)

    return dict_values(table), dict_values_pullback


def _dict_of_calls(rng: np.random.Generator) -> list[Call]:
    return [
        call(["a", "b"], [1.5, rng.normal(size=3)]), call([], []), call(["a", "a"], [1.5, 2.0]),
    ]


@rrule(dict_of, wrt=("values",), linear=(1,), domain=_dict_of_calls)
def dict_of_rule(keys, values):
    """``dict(zip(keys, values))``: of equal keys the last has its value in the dict."""

    def dict_of_pullback(dy):
        return dict_of_adjoint(dy, keys, values)

    return dict_of(keys, values), dict_of_pullback


@rrule(own, wrt=("value",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=3)),
    call([0.5, rng.normal(size=(2, 2))]),
])
def own_rule(value, copy=None):
    def own_pullback(dy):
        return dy

    return own(value, copy), own_pullback
