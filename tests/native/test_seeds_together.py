"""Loops over many seeds at once are the innermost ones: what no seed decides is computed once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from adcompiler import hessian, jacfwd, jacobian, jacrev, vjp
from adcompiler.api.emitted import EmittedDerivative
from adcompiler.backends.native.passes import seed_axis
from adcompiler.backends.native.loops import Bind, Body, Extent, Name, Use, When
from adcompiler.backends.native.passes.seed_axis import SeedAxis
from adcompiler.backends.native.values import Declined
from adcompiler.backends.native.writer import Writer
from adcompiler.dispatch import Options
from tests.native.test_arrays_agree import close

pytestmark = pytest.mark.usefixtures("plain_loops")

X = np.linspace(0.3, 1.2, 9)


def step(x):
    y = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        y[i] = x[i] + 0.1 * (x[i + 1] - 2.0 * x[i] + x[i - 1])
    return y


def grown(x):
    total, n = 0.0, 0
    while total < 3.0:
        total = total + math.exp(0.1 * x[n % len(x)] * total)
        n += 1
    return x * total


def branched(x):
    y = np.zeros(len(x))
    last = 0.0
    for i in range(len(x)):
        if x[i] > 0.7:
            last = last * x[i] + 1.0
            y[i] = last
        else:
            last = x[i] - last
            y[i] = last * last
    return y


def exchanged(x):
    u, v = x.copy(), np.zeros(len(x))
    for _ in range(3):
        for i in range(1, len(x)):
            v[i] = math.sin(u[i - 1]) * u[i]
        u, v = v, u
    return u


def filtered(x):
    y = np.empty_like(x)
    a = b = 0.0
    for n in range(len(x)):
        y[n] = 0.5 * x[n] + a
        a, b = 0.2 * x[n] - 0.3 * y[n] + b, x[n] * y[n]
    return y


def counted(x):
    """Numbers that no seed decides change between statements that one does."""
    y, k = np.zeros(len(x)), 0
    for i in range(len(x)):
        y[k] += x[i] * x[i]
        k = (k + 2) % len(x)
        y[k] -= x[i]
    return y


def multiplied(x):
    A = np.outer(x[:3], x[3:6])
    B = x.reshape(3, 3)
    C = np.linspace(0.0, 2.0, 9).reshape(3, 3)
    columns = (A @ B @ C + C @ A).sum(axis=0)
    return columns * (C @ x[:3]) + x[:3] @ C + A @ x[:3] + x[3:6] @ B


def summed(x):
    return np.exp(-x * x) * np.sum(x * x) / np.mean(np.cos(x)) + np.sum(np.outer(x, x), axis=1)


def filled(x):
    total = np.full((len(x), 2), x[0] * x[1])
    for i in range(len(x)):
        total[i, 1] += x[i] ** 3
    return total


def of_number(s):
    y = np.zeros(4)
    for i in range(4):
        y[i] = math.cos(i * s) * s
    return y


def listed(x):
    kept = []
    for i in range(len(x)):
        kept.append(x[i] * x[0])
    return np.array(kept) * x


def constant(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = float(i)
    return y


PROGRAMS = [
    step, grown, branched, exchanged, filtered, counted, multiplied, summed, filled, listed,
    constant,
]


@pytest.mark.parametrize("make", [jacfwd, jacrev], ids=lambda make: make.__name__)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_jacobians_are_the_same(program: Any, make: Any) -> None:
    native = make(program, backend="native")
    assert close(native(X), make(program)(X))
    assert "axes count" in native.source_for(X) or "by the last axes" in native.source_for(X)


def energy(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + math.exp(x[i] * total * 0.01)
    return total


def test_second_derivatives_of_a_loop_with_a_tape() -> None:
    native = hessian(energy, backend="native")
    assert close(native(X), hessian(energy)(X))
    assert "axes count" in native.source_for(X)


def calls_of(derivative: Any, end: str, *args: Any) -> list[Any]:
    """Return the shapes of the last argument in calls of loops; ``derivative`` is called again."""
    derivative(*args)
    module = derivative.ran.compiled_for(*args).__globals__
    (name,) = (name for name in module if name.endswith(end))
    run, calls = module[name], []

    def counting(*given: Any) -> Any:
        calls.append(given[-1].shape)
        return run(*given)

    module[name] = counting
    derivative(*args)
    return calls


def test_one_call_computes_all_columns_or_all_rows() -> None:
    assert calls_of(jacfwd(step, backend="native"), "_loops_together", X) == [(9, 9)]
    assert calls_of(jacrev(step, backend="native"), "_pullback_loops", X) == [(9, 9)]
    assert calls_of(jacfwd(step, backend="native"), "_loops_together", X[:7]) == []
    assert calls_of(jacfwd(step, backend="native"), "_pushforward_loops", X[:7]) == [(7, 7)]


def waves(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] * math.exp(x[i])
    return y


def test_few_seeds_share_what_takes_long() -> None:
    make = jacfwd(waves, backend="native")
    assert close(make(X[:3]), jacfwd(waves)(X[:3]))
    assert calls_of(make, "_loops_together", X[:3]) == [(3, 3)]
    assert calls_of(jacfwd(waves, backend="native"), "_loops_together", X[:2]) == []


def test_what_no_seed_decides_is_computed_in_front_of_loops_over_seeds() -> None:
    text = jacfwd(step, backend="native").source_for(X)
    loops = text.partition("_loops_together(")[2]
    assert loops.count("in range(x_dot.shape[1])") == 1
    assert """\
        y[i] = item + 0.1 * (item_2 - 2.0 * item + item_3)
        for seed in range(x_dot.shape[1]):
            item_dot = x_dot[i, seed]
""" in loops


def test_fewer_rows_are_taken_where_a_sweep_pays() -> None:
    def halves(x):
        y = np.zeros(len(x) // 2)
        for i in range(len(y)):
            y[i] = x[2 * i] * x[2 * i + 1]
        return y

    native = jacobian(halves, backend="native")
    assert close(native(X), jacobian(halves)(X))
    assert native.ran is native.pulled
    native = jacobian(step, backend="native")
    assert np.array_equal(native(X), jacobian(step, mode="forward")(X))
    assert native.ran is native.pushed


def test_seeds_of_numbers() -> None:
    made = [EmittedDerivative(of_number, Options("vjp", (0,), batched=True, backend=backend))
            for backend in ("native", "python")]
    seeds = np.random.default_rng(0).normal(size=(5, 4))
    (native, expected) = (derivative(0.3)[1](seeds) for derivative in made)
    assert close(native, expected)
    assert native[0].shape == (5,)


def test_seeds_that_lie_otherwise_in_memory() -> None:
    derivative = EmittedDerivative(
        step, Options("forward", (0,), batched=True, backend="native"))
    seeds = np.random.default_rng(0).normal(size=(10, 9))
    _, expected = derivative(X)(seeds)
    for given in (np.asfortranarray(seeds), np.repeat(seeds, 2, axis=1)[:, ::2]):
        kept = given.copy()
        assert np.array_equal(derivative(X)(given)[1], expected)
        assert np.array_equal(given, kept)


def divided(x):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = x[i] / x[i - 1]
    return y


@pytest.mark.parametrize("make", [jacfwd, jacrev], ids=lambda make: make.__name__)
def test_where_loops_give_up_python_computes(make: Any) -> None:
    x = np.where(np.arange(9) == 4, 0.0, X)
    with np.errstate(all="ignore"):
        expected = make(divided)(x)
        found = make(divided, backend="native")(x)
    assert np.array_equal(found, expected, equal_nan=True)


def test_tapes_of_all_seeds_that_are_too_long_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def long(x):
        total = 0.0
        for i in range(len(x)):
            total = math.sin(total) * x[i] + total
        return total

    monkeypatch.setattr(seed_axis, "MOST", 50)
    native = hessian(long, backend="native")
    assert close(native(X), hessian(long)(X))
    rows = native.rows[0].second
    rest = rows.compiled_for(X).__globals__
    (name,) = (name for name in rest if name.endswith("_loops_together"))
    assert rest[name](X, np.eye(9))[0] is False
    assert rest[name](X[:5], np.eye(5))[0] is True


def test_a_pullback_may_be_called_again() -> None:
    _, pullback = vjp(exchanged, X, backend="native")
    assert np.array_equal(pullback(X)[0], pullback(X)[0])
    made = EmittedDerivative(exchanged, Options("vjp", (0,), batched=True, backend="native"))
    _, of_each = made(X)
    seeds = np.eye(9)
    first = of_each(seeds)
    assert np.array_equal(seeds, np.eye(9))
    assert np.array_equal(first, of_each(seeds))
    assert np.array_equal(first[0], np.stack([pullback(row)[0] for row in seeds]))


@pytest.mark.parametrize("backend", ["python", "native"])
def test_hessians_again_are_the_same_and_the_callers_own(backend: str) -> None:
    def quadratic(x, y):
        return np.sum(x * x) * y

    second = hessian(quadratic, backend=backend)
    for x in (X, X.reshape(3, 3)):
        first, again = second(x, 2.0), second(x, 2.0)
        assert np.array_equal(first, 4.0 * np.eye(9).reshape(x.shape * 2))
        assert np.array_equal(again, first)
        again += 1.0
        assert np.array_equal(second(x, 2.0), first)
    assert second(np.zeros(0), 2.0).shape == (0, 0)
    assert np.array_equal(second(np.arange(3), 2.0), 4.0 * np.eye(3))
    with pytest.raises(TypeError, match="real numbers"):
        second(np.ones(3, complex), 2.0)


def test_a_product_in_storage_that_a_seed_may_decide_is_refused() -> None:
    product = [Use("product", "matrix_product", ("a", "b"))]
    count = Extent("seeds", 1)
    either = Body([*product, When(
        Name("test"), Body([Bind("c", "product")]), Body([Bind("c", "seeds")]))])
    with pytest.raises(Declined):
        SeedAxis(Writer(), count, ["seeds"], []).rewritten(either, [])
    assert SeedAxis(Writer(), count, ["seeds"], []).rewritten(Body(product), []).rows == product
