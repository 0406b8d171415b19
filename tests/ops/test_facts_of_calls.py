"""What is said of calls, of their arguments and of the layout and sign of results, is so."""

from __future__ import annotations

import contextlib
import copy
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from adcompiler import ADError, grad
from adcompiler.ops.facts import (
    FIRST_WINS, IN_C, KEPT, LARGEST, NEVER_NEGATIVE, UNTYPED, Undecided, stated,
)
from adcompiler.ops.qualified_names import display_name
from adcompiler.rulekit import REGISTRY, facts
from adcompiler.typed.values import type_of
from tests.ops.test_facts import calls_of


def said(fact: str) -> list[Any]:
    """Return the functions of which something is said, whatever their class."""
    return sorted(
        (function for function, known in REGISTRY.all_facts() if getattr(known, fact) is not None),
        key=display_name,
    )


def each(fact: str) -> Any:
    """Run a test for each function of which something is said."""
    return pytest.mark.parametrize("function", said(fact), ids=display_name)


NUMBERS = (-2.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.5, 3.0)


def values(function: Any, count: int) -> Iterator[tuple[tuple[float, ...], float]]:
    """Yield what a function gives for numbers, where that is a finite real number."""
    for args in np.array(np.meshgrid(*[NUMBERS] * count)).reshape(count, -1).T:
        with np.errstate(all="ignore"), contextlib.suppress(TypeError, ValueError, ArithmeticError):
            found = function(*map(float, args))
            if not isinstance(found, complex) and np.isfinite(found):
                yield tuple(args), found


@each("sign")
def test_signs_of_results(function: Any) -> None:
    sign = REGISTRY.facts(function).sign
    tried = 0
    for count in (1, 2):
        for args, found in values(function, count):
            promised = {
                NEVER_NEGATIVE: True, KEPT: all(a >= 0 for a in args),
                LARGEST: any(a >= 0 for a in args), FIRST_WINS: args[0] >= 0,
            }[str(sign)]
            if promised:
                tried += 1
                assert found >= 0, (args, found)
    assert tried or display_name(function) in ("math.dist", "len")  # of no numbers


def in_order(value: Any, order: str) -> Any:
    """Return a copy of an argument whose arrays lie in an order."""
    if type(value) is np.ndarray:
        return np.array(value, order=order)  # type: ignore[call-overload]
    return copy.copy(value)


@each("order")
def test_layouts_of_results(function: Any) -> None:
    order = REGISTRY.facts(function).order
    a, b = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2)
    calls = [(a,), (a, b), (a, a), (a, 0.0, 2.0), (a > 1, a, a)]
    calls += [call.args for call in calls_of(display_name(function), function) if not call.kwargs]
    tried = 0
    for args in calls:
        for layout in ("C", "F") if order == IN_C else ("C",):
            given = [in_order(arg, layout) for arg in args]
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = function(*given)
            except (TypeError, ValueError):
                continue
            if isinstance(found, np.ndarray):
                tried += 1
                assert found.flags.c_contiguous
    assert tried


@each("parts")
def test_parts_do_not_overlap(function: Any) -> None:
    whole = np.arange(24.0).reshape(2, 4, 3) if function is np.dsplit else np.arange(
        16.0).reshape(4, 4)
    parts = function(whole, 3 if function is np.dsplit else 2)
    assert all(np.shares_memory(part, whole) for part in parts)
    assert not any(np.shares_memory(a, b) for i, a in enumerate(parts) for b in parts[:i])


ARGUMENTS = {
    "sum": ([1, 2],), "sorted": ([2, 1],), "complex": (1.5,), "numpy.pad": (np.ones(2), 1),
    "numpy.concatenate": ([np.ones(2)],), "numpy.dot": (np.ones(2), np.ones(2)),
    "numpy.ndarray.reshape": (np.ones((2, 3)), (3, 2)), "numpy.ndarray.astype": (np.ones(2), int),
}


@each("defaults")
def test_defaults_are_what_is_used_where_nothing_is_given(function: Any) -> None:
    args = ARGUMENTS.get(display_name(function), (np.ones((2, 3)),))
    for name, default in REGISTRY.facts(function).defaults or ():
        found, wanted = function(*args, **{name: default}), function(*args)
        assert type(found) is type(wanted)
        np.testing.assert_array_equal(found, wanted)
        assert getattr(found, "strides", None) == getattr(wanted, "strides", None)
        assert getattr(found, "dtype", None) == getattr(wanted, "dtype", None)


@each("typed_as")
def test_types_are_those_of_results(function: Any) -> None:
    typed = REGISTRY.facts(function).typed_as
    assert typed is not None
    for call in calls_of(display_name(function), function):
        try:
            found = typed(*call.args, **call.kwargs)
        except Undecided:
            continue
        wanted = function(*call.args, **call.kwargs)
        if isinstance(found, tuple) and any(part is UNTYPED for part in found):
            assert len(found) == len(wanted)
        elif isinstance(found, list):
            assert {type_of(item) for item in found} == {type_of(item) for item in wanted}
        else:
            assert type_of(found) == type_of(wanted)


@each("passes_on")
def test_contexts_pass_exceptions_on(function: Any, tmp_path: Any) -> None:
    args: tuple[Any, ...] = ()
    if function is open:
        args = (tmp_path / "text", "w")
    elif function is contextlib.closing:
        args = (contextlib.ExitStack(),)
    elif function in (contextlib.redirect_stdout, contextlib.redirect_stderr):
        args = (None,)
    with pytest.raises(ZeroDivisionError), function(*args):
        raise ZeroDivisionError


@pytest.mark.parametrize(("fact", "word"), [
    ("order", "F"), ("sign", "positive"), ("changes", "text"),
])
def test_words_that_mean_nothing_are_refused(fact: str, word: str) -> None:
    with pytest.raises(ValueError, match=f"{fact}='{word}': one of"):
        stated(**{fact: word})


def shuffled(x: Any) -> None:
    """Turn an array round in place."""
    np.ndarray.sort(x)


def test_what_changes_an_array_is_refused() -> None:
    def loss(x):
        y = x * 1.0
        shuffled(y)
        return np.sum(y)

    try:
        facts(shuffled, changes="array", writes=())
        with pytest.raises(ADError, match=r"shuffled\(\) writes into an array in a way that"):
            grad(loss)(np.ones(2))
    finally:
        REGISTRY.remove(shuffled)


def halved(x: Any) -> None:
    """Halve an array in place, as a function would that is written in C."""
    np.ndarray.__imul__(x, 0.5)


def test_what_is_written_as_python_is_compiled_as_that() -> None:
    def in_python(x):
        x *= 0.5

    def loss(x):
        y = x * x
        halved(y)
        return np.sum(y)

    try:
        facts(halved, changes="array", written_as=in_python)
        assert grad(loss)(np.array([1.0, 3.0])).tolist() == [1.0, 3.0]
    finally:
        REGISTRY.remove(halved)
