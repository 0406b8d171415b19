"""Lists of arrays in native loops: they give what Python gives, exceptions too."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from adcompiler import jacfwd, jacobian, jvp, value_and_grad
from adcompiler.api.emitted import EmittedDerivative
from adcompiler.backends.native.ops import array_items
from adcompiler.dispatch import Options
from adcompiler.errors import UnsupportedError
from tests.lanes import one_in
from tests.native.test_arrays_agree import close

pytestmark = pytest.mark.usefixtures("plain_loops")

X = np.linspace(0.4, 1.3, 10)


def appended(x):
    found = []
    for i in range(len(x) // 2):
        found.append(x[i] * x[2:5])
    return np.concatenate(found)


def ragged(x):
    found = []
    for i in range(1, 4):
        for j in range(i, 5):
            found.append(x[i:j] * x[j])
    return np.concatenate(found)


def stacked(x):
    found = [x[:3], x[3:6] * x[0]]
    found.append(np.sin(x[6:9]))
    return np.array(found) @ x[:3]


def subscripts(x):
    found = []
    for i in range(4):
        found.append(x[i : i + 3] * x[0])
    return found[1] * found[-1] + found[len(found) - 2]


def run_over(x):
    found, total = [x[:2], x[2:4] * x[4]], np.zeros(2)
    for one in found:
        total = total + one * one
    return total


def replaced(x):
    found = [x[:2] * 1.0, x[2:4] * 2.0]
    found[0] = found[1] * x[0]
    found[1] = np.cos(found[0])
    return found[0] * found[1]


def written_into(x):
    found = []
    for i in range(3):
        found.append(x[:3] * float(i + 1))
    one = found[1]
    one[0] = one[0] * x[2]
    return found[1] * found[2]


def read_before_it_grows(x):
    found = [x[:3] * x[3]]
    first = found[0]
    for i in range(40):
        found.append(found[-1] * x[i % 5])
    return first * found[3] + found[-1]


def popped(x):
    found = [x[:2], x[2:4]]
    last = found.pop()
    found.append(last * x[0])
    return found[1] * found[0]


def by_test(x):
    found = [x[:2]]
    for i in range(4):
        if x[i] > 0.6:
            found.append(x[i] * found[-1])
    return found[-1] * len(found)


def made_anew(x):
    total = np.zeros(2)
    for i in range(3):
        found = []
        for j in range(i + 1):
            found.append(x[j : j + 2] * x[i])
        total = total + found[-1] * found[0]
    return total


def matrices(x):
    found, M = [], np.outer(x[:4], x[:6]).reshape(4, 2, 3)
    for i in range(4):
        found.append(M[i] @ np.outer(x[:3], x[i : i + 2]))
    return np.concatenate(found)[1] + np.concatenate(found, 1)[0, :2] + np.array(found)[2, 0]


def doubled(x):
    found = [x[:2], x[1:3]]
    both = found + found
    both.append(x[3:5])
    return both[2] * both[-1] * both[1]


def literals(x):
    c, s = np.cos(x[0]), np.sin(x[1])
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    deep = np.array([[[x[2], x[3]], [1.0, x[4]]], [[0.0, 1.0], [x[5], x[6]]]])
    return turn @ x[:3] + deep[1, 1, 0] * deep[0, 1, 1]


def counted(x):
    found, k = [], 0
    while k < 5:
        found.append(x[k : k + 2] * x[k])
        k = k + 2
    return np.concatenate(found) * len(found)


PROGRAMS = [
    appended, ragged, stacked, subscripts, run_over, replaced, written_into, read_before_it_grows,
    popped, by_test, made_anew, matrices, doubled, literals, counted,
]
named = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)


@pytest.mark.parametrize("program, count", one_in(3, itertools.product(PROGRAMS, [10, 9])))
def test_jacobians_are_the_same(program: Any, count: int) -> None:
    x = X[:count]
    kept = x.copy()
    native = jacfwd(program, backend="native")
    assert close(native(x), jacfwd(program)(x))
    assert "_loops_together" in native.source_for(x)
    assert np.array_equal(x, kept)


@named
def test_derivatives_along_one_direction_are_the_same(program: Any) -> None:
    d = np.cos(X)
    found = jvp(program, (X,), (d,), backend="native")
    expected = jvp(program, (X,), (d,))
    assert close(found[0], expected[0]) and close(found[1], expected[1])
    assert close(expected[1], jacfwd(program)(X) @ d)


@named
def test_few_seeds_are_the_same(program: Any) -> None:
    seeds = np.random.default_rng(1).normal(size=(2, 10))
    found, expected = (EmittedDerivative(
        program, Options("forward", (0,), batched=True, backend=backend))(X)(seeds)[1]
        for backend in ("native", "python"))
    assert close(found, expected)


@named
def test_gradients_are_the_same_or_refused(program: Any) -> None:
    def total(x):
        return np.sum(program(x) ** 2)

    try:
        found = value_and_grad(total, backend="native")(X)
    except UnsupportedError as error:
        assert {finding.anchor for finding in error.findings} == {"native"}
        return
    expected = value_and_grad(total)(X)
    assert close(found[0], expected[0]) and close(found[1], expected[1])


def unequal(x):
    found = [x[:2]]
    found.append(x[1:4])
    return np.array(found) @ x[:2]


def empty(x):
    found = []
    for i in range(len(x) - 10):
        found.append(x[i:])
    return np.concatenate(found)


def far(x):
    found = []
    for i in range(3):
        found.append(x[i : i + 2])
    return found[len(x)] * x[:2]


@pytest.mark.parametrize("program", [unequal, empty, far], ids=lambda program: program.__name__)
def test_what_raises_raises_the_same(program: Any) -> None:
    messages = []
    for backend in ("python", "native"):
        with pytest.raises((ValueError, IndexError)) as raised:
            jacfwd(program, backend=backend)(X)
        messages.append(str(raised.value))
    assert messages[0] == messages[1]


def test_a_list_that_grows_without_end_is_left_to_python(monkeypatch: Any) -> None:
    monkeypatch.setattr(array_items, "MOST", 4)
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "off")
    native = jacfwd(appended, backend="native")
    assert close(native(X), jacfwd(appended)(X))
    assert "if end_2 > 4:" in native.source_for(X)


def returned(x):
    return [x[:2] * x[0], x[2:4]]


def taken(x, rows):
    return rows[0] * x[:2] + rows[1]


def exchanged(x):
    a, b = [x[:2]], [x[2:4]]
    for _ in range(3):
        a, b = b, a
    return a[0] * x[0] + b[-1]


def in_tuples(x):
    found = []
    for i in range(3):
        found.append((x[i : i + 2], x[i]))
    a, s = found[2]
    return a * s + found[0][0]


def chosen(x):
    a, b = [x[:2] * 2.0], [x[2:4]]
    c = a if x[0] > 0.5 else b
    return c[0] * x[:2]


@pytest.mark.parametrize(("program", "rest"), [
    (returned, ()), (taken, ([np.ones(2), np.ones(2)],)), (exchanged, ()), (chosen, ()),
    (in_tuples, ()),
], ids=["returned", "taken", "exchanged", "chosen", "in_tuples"])
def test_what_is_not_lowered_is_refused(program: Any, rest: Any) -> None:
    expected = jacfwd(program)(X, *rest)
    try:
        found = jacfwd(program, backend="native")(X, *rest)
    except UnsupportedError as error:
        assert {finding.anchor for finding in error.findings} == {"native"}
        return
    assert close(found, expected)


def test_where_only_sweeps_forwards_have_loops_these_are_taken() -> None:
    native = jacobian(appended, backend="native")
    for x in (X, 2.0 * X):
        assert close(native(x), jacobian(appended)(x))
    assert native.ran is native.pushed or native.ran is native.pulled
    assert "loops" in native.source_for(X)
