"""What is said of functions is what they do: they are called, and storage is compared."""

from __future__ import annotations

import copy
import ctypes
import inspect
import math
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from adcompiler import (
    ADError, Global, alias, classify, frule, jacobian_sparsity, non_differentiable, opt_out, rrule,
    scalar_rule,
)
from adcompiler.errors import NoHashError
from adcompiler.ops.facts import ITEMS, Facts, Shares, stated
from adcompiler.ops.qualified_names import display_name
from adcompiler.rulekit import REGISTRY, Call, facts
from tests.rules.shares import OURS
from tests.together import each

OPTIONS: dict[str, tuple[Call, ...]] = {
    name: tuple(Call(args, kwargs) for args, kwargs in calls) for name, calls in {
        "numpy.diff": [((np.ones(3),), {"n": 0})],
        "adcompiler.runtime.adjoints.kinks.square_of": [
            ((np.arange(3.0), np.ones(3), np.ones(3)), {})],
        "adcompiler.runtime.adjoints.kinks.square_of_norm": [
            ((np.arange(3.0), np.eye(3), 0, False), {})],
        "adcompiler.runtime.adjoints.kinks.differentiated_as": [((np.arange(3.0), np.ones(3)), {})],
        "adcompiler.runtime.adjoints.kinks.logistic_of": [((np.arange(3.0), np.ones(3)), {})],
        "adcompiler.runtime.adjoints.kinks.first_derivative": [
            ((np.arange(3.0), np.ones(3), np.ones(3)), {})],
        "numpy.linalg.matrix_power": [((np.eye(3), n), {}) for n in (0, 1, 2, -1)],
        "numpy.nan_to_num": [((np.ones(3),), {"copy": False}), ((np.ones(3), True), {})],
        "numpy.array": [
            ((np.ones(3),), {"copy": None}), ((np.ones(3),), {"ndmin": 2}), ((np.ones(3),), {}),
        ],
        "numpy.asarray": [((np.ones(3),), {}), ((np.ones(3),), {"copy": True})],
        "numpy.ndarray.astype": [((np.ones(3), float), {"copy": False})],
        "numpy.meshgrid": [((np.ones(3), np.ones(2)), {"copy": False})],
        "numpy.fft.fftn": [((np.ones((2, 2), complex),), {"axes": ()})],
        "numpy.fft.ifftn": [((np.ones((2, 2), complex),), {"axes": ()})],
        "scipy.fft.fftn": [((np.ones((2, 2), complex),), {"axes": ()})],
        "scipy.fft.dctn": [((np.ones((2, 2)),), {"axes": ()})],
        "scipy.linalg.fractional_matrix_power": [((np.eye(2), 1), {}), ((np.eye(2), 2), {})],
        "numpy.clip": [((np.ones(3), None, None), {}), ((np.ones(3), 0.0, 2.0), {})],
        "numpy.tile": [((np.ones(3), 1), {}), ((np.ones((2, 2)), ()), {})],
        "numpy.repeat": [((np.ones(3), 1), {})],
        "numpy.roll": [((np.ones(3), 0), {})],
        "numpy.pad": [((np.ones(3), 0), {})],
        "numpy.delete": [((np.ones(3), []), {})],
        "numpy.resize": [((np.ones((2, 3)), (2, 3)), {}), ((np.ones((2, 3)), 6), {})],
        "numpy.sum": [((np.ones((2, 3)),), {"axis": ()})],
        "numpy.max": [((np.ones((2, 3)),), {"axis": ()})],
        "numpy.mean": [((np.ones((2, 3)),), {"axis": ()})],
        "numpy.median": [((np.ones((2, 3)),), {"axis": ()})],
        "numpy.dot": [((np.ones(3), 1.0), {})],
        "numpy.unwrap": [((np.zeros(3),), {})],
        "numpy.block": [((np.ones(3),), {}), (([np.ones(3)],), {}), (([[np.eye(2)]],), {})],
        "numpy.concatenate": [(([np.ones(3)],), {})],
        "numpy.stack": [(([np.ones(3)],), {})],
        "numpy.vstack": [(([np.eye(2)],), {})],
        "numpy.hstack": [(([np.ones(3)],), {})],
        "numpy.column_stack": [(([np.eye(2)],), {})],
        "numpy.dstack": [(([np.ones((2, 2, 1))],), {})],
        "numpy.where": [((True, np.ones(3), np.ones(3)), {})],
        "numpy.select": [(([np.ones(3, bool)], [np.ones(3)]), {})],
        "numpy.triu": [((np.eye(3),), {}), ((np.eye(3), -3), {})],
        "numpy.append": [((np.ones(3), []), {})],
        "numpy.take": [((np.ones((3, 2)), [0, 1, 2], 0), {})],
        "numpy.copy": [((np.ones(3),), {})],
        "numpy.angle": [((np.ones(3),), {})],
        "numpy.convolve": [((np.ones(3), [1.0]), {})],
        "numpy.choose": [(([0, 0], [np.ones(2)]), {})],
        "numpy.round": [((np.ones(3), 5), {})],
        "numpy.fix": [((np.ones(3),), {})],
        "numpy.conjugate": [((np.ones(3),), {})],
        "numpy.positive": [((np.ones(3),), {})],
        "numpy.ndarray.conj": [((np.ones(3),), {}), ((np.ones(3, complex),), {})],
        "numpy.ndarray.flatten": [((np.ones(3),), {})],
        "numpy.ndarray.round": [((np.ones(3),), {})],
        "numpy.imag": [((np.ones(3),), {}), ((np.ones(3, complex),), {})],
        "numpy.real": [((np.ones(3),), {}), ((np.ones(3, complex),), {})],
        "scipy.signal.detrend": [((np.arange(5.0),), {"type": "constant"})],
        "scipy.signal.convolve": [((np.ones(3), np.ones(1)), {})],
        "scipy.ndimage.gaussian_filter": [((np.ones(3), 0.0), {})],
        "scipy.special.logsumexp": [((np.ones((2, 2)),), {"axis": ()})],
        "scipy.special.softmax": [((np.ones((2, 2)),), {"axis": ()})],
        "operator.add": [(([np.ones(3)], [np.ones(2)]), {}), ((np.ones(3), 0.0), {})],
        "sum": [(([], np.ones(3)), {}), (([np.ones(3)],), {})],
    }.items()
}
"""Calls with options for which a library may give back what it was given."""


def functions() -> dict[str, Any]:
    """Return every function that has a rule or of which something is said, by name."""
    found = {rule.function: None for rule in REGISTRY.rules()}
    found.update(dict.fromkeys(function for function, _ in REGISTRY.all_facts()))
    named = {display_name(function): function for function in found}
    return {name: named[name] for name in sorted(named)}


FUNCTIONS = functions()


def calls_of(name: str, function: Any) -> Iterator[Call]:
    """Yield calls of a function: those that its rule is tested with, and some with options."""
    yield from OPTIONS.get(name, ())
    for rule in REGISTRY.rules_of(function):
        if rule.domain is not None and rule.domain.calls is not None:
            yield from rule.domain.calls(np.random.default_rng(0))
        elif rule.domain is not None:
            middles = (np.clip(ends, -9.0, 9.0).mean() for ends in rule.domain.intervals)
            yield Call(tuple(np.full(3, middle) for middle in middles))


def layouts(value: Any) -> Iterator[Any]:
    """Yield a value with its arrays in several layouts."""
    yield copied(value, np.ascontiguousarray)
    yield copied(value, np.asfortranarray)
    yield copied(value, strided)


def strided(array: np.ndarray) -> np.ndarray:
    """Return an array as every second element of a larger one."""
    if array.ndim == 0:
        return array.copy()
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)[..., ::2]
    wide[...] = array
    return wide


def copied(value: Any, lay_out: Any) -> Any:
    """Return a copy of arrays and what holds them, with another layout."""
    if type(value) is np.ndarray:
        return lay_out(value.copy()) if value.ndim else value.copy()
    if type(value) in (list, tuple):
        return type(value)(copied(item, lay_out) for item in value)
    return copy.copy(value)


def arrays(value: Any, depth: int = 0) -> Iterator[np.ndarray]:
    """Yield the arrays that a value is, or holds."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from arrays(item, depth + 1)
    elif isinstance(value, dict):
        for item in value.values():
            yield from arrays(item, depth + 1)
    elif depth < 3 and hasattr(value, "__dict__") and not callable(value):
        for item in vars(value).values():
            yield from arrays(item, depth + 1)


def shared_with(result: Any, args: tuple[Any, ...]) -> set[int]:
    """Return the positions of the arguments that a result shares storage with."""
    return {
        i for i, arg in enumerate(args)
        if any(np.shares_memory(a, b) for a in arrays(result) for b in arrays(arg))
    }


def allowed(known: Facts, call: Call, result: Any) -> set[int]:
    """Return the positions of the arguments that the facts let a result share storage with."""
    found: set[int] = set()
    for shares in known.sharing:
        if applies(shares, call) and not (shares.how == ITEMS and isinstance(result, np.ndarray)):
            found |= set(shares.of or range(len(call.args)))
    return found


def applies(shares: Shares, call: Call) -> bool:
    """Say whether a fact about storage is one of this call."""
    first = call.args[0] if call.args else None
    if shares.ndim is not None and np.ndim(first) != shares.ndim:
        return False
    if shares.kinds and ("complex" if np.iscomplexobj(first) else "float") not in shares.kinds:
        return False
    if shares.most is not None and len(call.args) > shares.most:
        return False
    for option in shares.when:
        value = call.kwargs.get(option.name, option.default)
        if option.position is not None and option.position < len(call.args):
            value = call.args[option.position]
        if value not in option.values:
            return False
    return True


@each("name", FUNCTIONS, parts=4)
def test_results_share_what_they_are_said_to_share(name):
    function = FUNCTIONS[name]
    known = REGISTRY.facts(function)
    if isinstance(function, type) or known.shares is None or known.writes:
        return
    for call in calls_of(name, function):
        for args in layouts(call.args):
            before = copy.deepcopy([list(arrays(arg)) for arg in args])
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    result = function(*args, **call.kwargs)
                except Exception:
                    continue
            found = shared_with(result, args)
            assert found <= allowed(known, Call(args, call.kwargs), result), (args, call.kwargs)
            if known.writes_nothing:
                after = [list(arrays(arg)) for arg in args]
                assert all(
                    np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
                    for one, two in zip(before, after, strict=True)
                    for a, b in zip(one, two, strict=True)
                )


def test_most_functions_with_rules_were_called():
    called = [name for name, f in FUNCTIONS.items() if next(calls_of(name, f), None) is not None]
    assert len(called) > 500


ALWAYS_VIEWS = [
    name for name, f in FUNCTIONS.items()
    if any(s.how == "view" and not s.kinds for s in REGISTRY.facts(f).sharing)
    and not name.startswith(OURS)  # those raise where the layout allows no view
]


@each("name", ALWAYS_VIEWS)
def test_views_are_views_whatever_the_layout(name):
    function = FUNCTIONS[name]
    for call in calls_of(name, function):
        for args in layouts(call.args):
            if not isinstance(args[0], np.ndarray):
                continue
            result = function(*args, **call.kwargs)
            assert not result.size or np.shares_memory(result, args[0]), args


OUTPUTS = {
    display_name(f): f for f, known in REGISTRY.all_facts() if known.output is not None
}


@each("name", OUTPUTS)
def test_outputs_are_where_they_are_said_to_be(name):
    parameter, position = REGISTRY.facts(OUTPUTS[name]).output
    try:
        parameters = list(inspect.signature(OUTPUTS[name]).parameters)
    except (TypeError, ValueError):
        assert not inspect.isfunction(OUTPUTS[name]), "only functions in C have no signatures"
        return
    assert position is None or parameters[position] == parameter


def test_nothing_is_known_of_a_function_that_nothing_is_said_of():
    def unknown(x):
        return x

    known = REGISTRY.facts(unknown)
    assert not known.is_pure
    assert not known.may_be_tried
    assert not known.writes_nothing
    assert not known.owns_result
    assert known.sharing == (Shares("may"),)


def test_facts_given_later_take_the_place_of_earlier_ones():
    def plus(a, b):
        return a + b

    REGISTRY.add_facts([plus], stated(pure=True, shares="none"))
    REGISTRY.add_facts([plus], stated(shares="may"))
    assert REGISTRY.facts(plus).is_pure
    assert not REGISTRY.facts(plus).owns_result
    REGISTRY.remove(plus)
    assert not REGISTRY.facts(plus).is_pure


def test_an_unknown_kind_of_sharing_is_an_error():
    with pytest.raises(ValueError, match="one of 'view'"):
        stated(shares="views")


def test_ufuncs_and_their_methods_are_known_by_their_class():
    assert REGISTRY.facts(np.spacing).owns_result
    assert REGISTRY.facts(np.logaddexp.reduce).output == ("out", 3)
    assert REGISTRY.facts(np.add.at).writes == ("a",)


def test_what_has_no_hash_is_refused_wherever_something_is_said_of_it():
    foreign = ctypes.pythonapi.Py_IsInitialized
    for say in (
        lambda: facts([], pure=True), lambda: facts(foreign, pure=True),
        lambda: rrule(foreign)(lambda x: (x, lambda dy: dy)), lambda: scalar_rule(foreign, 1.0),
        lambda: frule(foreign)(lambda x, dx: (x, dx)), lambda: non_differentiable(foreign),
        lambda: opt_out(foreign), lambda: alias(foreign, math.sin),
        lambda: classify(foreign, "1-1"),
    ):
        with pytest.raises(NoHashError, match="has no hash") as caught:
            say()
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)

    def called(x):
        return foreign(x) * x

    for detector in (None, Global(tracers=True)):
        with pytest.raises(ADError, match=r"neither a rule|written in C"):
            jacobian_sparsity(called, 1.0, detector=detector)
