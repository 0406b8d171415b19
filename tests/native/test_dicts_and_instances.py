"""Dicts and instances of numbers and arrays as arguments of machine loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from adcompiler import compiled, grad, jacobian, jvp, value_and_grad, vjp
from adcompiler.backends.native.loops import Name, Store, rows_of
from adcompiler.backends.native.lower.lowering import Lowering
from adcompiler.backends.native.ops.structure import added
from adcompiler.backends.native.values import Buffer, Keyed
from adcompiler.errors import UnsupportedError
from adcompiler.ir.nodes import Block, Function, Origin
from adcompiler.runtime import AliasedError
from adcompiler.typed.unit import Unit
from tests.native.test_backends_agree import watched

pytestmark = pytest.mark.usefixtures("plain_loops")
X = np.array([1.0, -2.0, 0.5, 4.0])


@dataclass
class Spring:
    stiffness: float
    rest: np.ndarray


@dataclass
class Chain:
    spring: Spring
    masses: np.ndarray
    power: int = 2
    name: str = "chain"
    note: Any = None


def energy(chain, x):
    total = 0.0
    for i in range(len(x)):
        stretch = x[i] - chain.spring.rest[i]
        total += chain.spring.stiffness * stretch**chain.power / chain.masses[i]
    return total


def of_dict(p, x):
    total = 0.0
    for i in range(len(x)):
        total += p["inner"]["a"] * x[i] ** 2 * p[3][i] + p["b"]
    return total


def chain() -> Chain:
    rest = np.array([0.3, 9.0, -0.4, 9.0, 0.1, 9.0, 1.0, 9.0])[::2]
    return Chain(Spring(1.5, rest), np.array([1.0, 2.0, 0.5, 4.0]))


def table() -> dict[Any, Any]:
    return {"inner": {"a": 0.7, "unused": "text"}, 3: np.array([1.0, 2.0, 3.0, 4.0]), "b": -0.2,
            "name": "ab", "nothing": None}


def same(a: Any, b: Any) -> bool:
    """Say whether two results are of one class, and equal."""
    if isinstance(b, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in b)
    if isinstance(b, (Chain, Spring)):
        return type(a) is type(b) and same(vars(a), vars(b))
    if isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and np.array_equal(a, b)


@pytest.mark.parametrize(("function", "make"), [(energy, chain), (of_dict, table)])
@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
def test_gradients_are_those_of_python(function: Any, make: Any, argnums: Any) -> None:
    wanted = value_and_grad(function, argnums)(make(), X)
    native = value_and_grad(function, argnums, backend="native")
    came = watched(native, make(), X)
    assert same(native(make(), X), wanted)
    assert came == [True]


def test_the_other_modes_are_those_of_python() -> None:
    assert compiled(energy)(chain(), X) == energy(chain(), X)
    wanted = jvp(energy, (chain(), X), (chain(), X))
    assert same(jvp(energy, (chain(), X), (chain(), X), backend="native"), wanted)
    rows = jacobian(lambda p, x: np.array([energy(p, x), x[0]]), 1, backend="native")(chain(), X)
    np.testing.assert_array_equal(rows, [grad(energy, 1)(chain(), X), [1.0, 0.0, 0.0, 0.0]])


def test_a_pullback_has_what_the_argument_held_then() -> None:
    given = chain()
    _, pullback = vjp(energy, given, X, argnums=(0, 1), backend="native")
    given.spring.stiffness, given.masses[:], given.spring.rest[0] = 9.0, 7.0, 5.0
    assert same(pullback(1.0), grad(energy, (0, 1))(chain(), X))


def test_other_types_have_code_of_their_own() -> None:
    native = grad(energy, backend="native")
    for name in ("chain", None):
        given = Chain(chain().spring, chain().masses.astype(np.float64), 3, name)
        assert same(native(given, X), grad(energy)(given, X))
    assert same(grad(of_dict, backend="native")({**table(), "b": 1}, X),
                grad(of_dict)({**table(), "b": 1}, X))


def test_indices_out_of_bounds_raise_as_python_does() -> None:
    short = Chain(Spring(1.5, np.ones(2)), np.ones(4))
    with pytest.raises(IndexError, match="out of bounds"):
        grad(energy, backend="native")(short, X)


def of_entry(p, x):
    total = 0.0
    for i in range(len(x)):
        x[i] *= 2.0
        total += p["w"][i] * x[i]
    return total


def of_field(p, x):
    total = 0.0
    for i in range(len(x)):
        x[i] *= 2.0
        total += p.rest[i] * x[i]
    return total


def of_item(p, x):
    total = 0.0
    for i in range(len(x)):
        x[i] *= 2.0
        total += p[0][i] * x[i]
    return total


@pytest.mark.parametrize(("function", "holding"), [
    (of_entry, lambda w: {"w": w}), (of_field, lambda w: Spring(1.0, w)),
    (of_item, lambda w: (w, 1.0)),
])
def test_what_is_written_is_looked_for_in_containers_too(function: Any, holding: Any) -> None:
    w, x = X[:3].copy(), X[1:].copy()
    native = value_and_grad(function, 1, backend="native")
    assert same(native(holding(w), x.copy()), value_and_grad(function, 1)(holding(w), x.copy()))
    both = X.copy()
    with pytest.raises(AliasedError, match="share memory"):
        native(holding(both[1:]), both[:3])


def written(p, x):
    for i in range(len(x)):
        p["b"][i] *= x[i]
    return np.sum(p["b"])


def made(x):
    parts = {"a": x * 2.0, "b": 0.0}
    for i in range(len(x)):
        parts["b"] += x[i]
    return parts


def test_arguments_that_are_written_into_stay_in_python() -> None:
    with pytest.raises(UnsupportedError, match="native backend has nothing"):
        grad(written, backend="native")({"b": np.ones(4)}, X)


def test_a_dict_that_is_made() -> None:
    got, expected = compiled(made)(X), made(X)
    assert got["b"] == expected["b"]
    assert same(got["a"], expected["a"])


def test_parts_of_dicts_that_are_arrays_are_added() -> None:
    low = Lowering(Unit(), [Function("f", (), Block((), ()), Origin("f.py", 1, 0, "f()"))])
    a, b = (Buffer(name, "float64", (Name("n"),)) for name in "ab")
    found = added(low, Keyed({"w": a}, False, {}), Keyed({"w": b}, False, {}))
    assert found.parts["w"].shape == (Name("n"),)
    (stored,) = [row for row in rows_of(low.w.body) if isinstance(row, Store)]
    assert stored.buffer == found.parts["w"].name and stored.value.operator == "+"
