"""What a function writes into its arguments is given back as in Python, once all went well."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

from adcompiler import UnsupportedError, jvp, vjp
from adcompiler.api.emitted import EmittedDerivative
from adcompiler.dispatch import Options
from tests.native.test_backends_agree import outcome, same

pytestmark = pytest.mark.usefixtures("plain_loops")

X = np.linspace(0.5, 2.0, 5)


def squares(x):
    total = 0.0
    for i in range(len(x)):
        x[i] = x[i] * x[i]
        total += x[i] * i
    return total


def returns_it(x):
    for i in range(1, len(x)):
        x[i] += x[i - 1] * x[i]
    return x


def exchanged(x, y):
    for i in range(len(x)):
        x[i], y[-1 - i] = y[-1 - i] * 2.0, math.sin(x[i])
    return x[0] * y[0]


def counts(x, hits):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 1.0:
            hits[i] += 1
            total += x[i] * hits[i]
    return total


def sometimes(x, y, k):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    if k:
        y[0] = total
    return total


def through_views(A):
    total = 0.0
    for i in range(A.shape[0]):
        row = A[i]
        row *= 2.0
        A[:, i] += A[i, :]
        total += np.sum(A[i])
    return total


def breaks_off(x, k):
    for i in range(len(x)):
        x[i] = 2.0 * x[i]
        if i == k:
            raise ValueError(f"at {i}")
    return np.sum(x)


def scaled(values, x):
    total = 0.0
    for i in range(len(values)):
        values[i] = values[i] * x
        total += values[i] * x
    return total


def longer(values, n):
    for i in range(n):
        values.append(values[-1] * values[i])
    return values[-1]


A = np.arange(9.0).reshape(3, 3) / 7.0
WIDE = np.zeros((5, 2))
WIDE[:, 0] = X
LOCKED = X.copy()
LOCKED.flags.writeable = False
CASES: list[tuple[Any, tuple[Any, ...], Any]] = [
    (squares, (X,), 0), (returns_it, (X[:0],), 0), (squares, (WIDE[:, 0],), 0),
    (squares, (LOCKED,), 0), (returns_it, (X,), 0), (returns_it, (X[:1],), 0),
    (exchanged, (X, 2.0 * X), (0, 1)), (exchanged, (X, X[:3]), (0, 1)),
    (counts, (X, np.zeros(5, int)), 0), (counts, (X, np.zeros(3, int)), 0),
    (sometimes, (X, X + 1.0, 1), 0), (sometimes, (X, LOCKED, 0), 0), (sometimes, (X, LOCKED, 1), 0),
    (through_views, (A,), 0), (through_views, (np.asfortranarray(A),), 0),
    (through_views, (A.T,), 0), (breaks_off, (X, 7), 0), (breaks_off, (X, 2), 0),
    (scaled, ([1.0, 2.0, 3.0], 0.5), (0, 1)), (longer, ([1.5, 2.0], 3), 0),
]


def fresh(args: Any) -> Any:
    """Return arguments that a program may write into, laid out and locked as the given ones are."""
    found = [copy.deepcopy(arg) for arg in args]
    for one, arg in zip(found, args, strict=True):
        if isinstance(arg, np.ndarray):
            one.flags.writeable = arg.flags.writeable
    return found


def seed_for(value: Any) -> Any:
    """Return a cotangent of a value."""
    return np.cos(np.arange(value.size)).reshape(value.shape) if np.ndim(value) else 1.5


@pytest.mark.parametrize(("program", "args", "argnums"), CASES)
def test_pullbacks(program: Any, args: Any, argnums: Any) -> None:
    results = []
    for backend in ("python", "native"):
        given = fresh(args)

        def pulled(*given: Any, backend: str = backend) -> Any:
            value, pullback = vjp(program, *given, argnums=argnums, backend=backend)
            seed = seed_for(value)
            bars = pullback(seed)
            for one in given:
                if isinstance(one, np.ndarray) and one.flags.writeable:
                    one[...] = 0
            return value, bars, pullback(seed), pullback(np.float32(seed)), pullback(seed)

        results.append((outcome(pulled, *given), tuple(given)))
    assert same(listed(results[0]), listed(results[1]))


@pytest.mark.parametrize(("program", "args", "argnums"), CASES)
def test_effects(program: Any, args: Any, argnums: Any) -> None:
    places = argnums if isinstance(argnums, tuple) else (argnums,)
    tangents = tuple(copy.deepcopy(args[i]) if i in places else None for i in range(len(args)))
    for mode in ("vjp", "jvp"):
        results = []
        for backend in ("python", "native"):
            given = fresh(args)

            def run(*given: Any, mode: str = mode, backend: str = backend) -> Any:
                if mode == "jvp":
                    return jvp(program, given, tangents, backend=backend)
                return vjp(program, *given, argnums=argnums, backend=backend)[0]

            results.append((outcome(run, *given), tuple(given)))
        assert same(listed(results[0]), listed(results[1]))


def listed(value: Any) -> Any:
    """Return a value with tuples for lists."""
    return tuple(map(listed, value)) if isinstance(value, (tuple, list)) else value


@pytest.mark.parametrize("program", [squares, exchanged, through_views, scaled, longer])
def test_it_is_loops_that_run(program: Any) -> None:
    args, argnums = next((args, argnums) for one, args, argnums in CASES if one is program)
    places = argnums if isinstance(argnums, tuple) else (argnums,)
    for mode in ("vjp", "forward"):
        made = EmittedDerivative(program, Options(mode, places, backend="native"))
        text = made.source_for(*copy.deepcopy(args))
        assert "put_back(" in text


def test_one_array_given_twice_is_refused_in_the_same_way() -> None:
    for backend in ("python", "native"):
        x = X.copy()
        with pytest.raises(ValueError, match="share memory"):
            vjp(exchanged, x, x[::-1], argnums=(0, 1), backend=backend)
        assert np.array_equal(x, X)


def doubled(values, others):
    for i in range(len(values)):
        values[i] = 2.0 * others[-1 - i]
    return values[0] * others[0]


def test_one_list_given_twice() -> None:
    results = []
    for backend in ("python", "native"):
        values = [1.0, 2.0, 3.0]

        def run(values: Any, backend: str = backend) -> Any:
            value, pullback = vjp(doubled, values, values, backend=backend)
            return value, pullback(1.0)

        results.append((outcome(run, values), values))
    assert same(listed(results[0]), listed(results[1]))


def keeps_them(held):
    held["x"][0] = 2.0 * held["x"][1]
    return held["x"][0]


def test_arrays_in_dicts_are_given_back_in_python() -> None:
    with pytest.raises(UnsupportedError, match="native"):
        vjp(keeps_them, {"x": X.copy()}, backend="native")
