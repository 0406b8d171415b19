"""What recorded derivatives hand out: values, pullbacks and pushforwards are the caller's own."""

from __future__ import annotations

import copy
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from adcompiler import (
    ADError, UnsupportedError, batched_jvp, batched_vjp, checkpoint, grad, hessian, hvp, jacobian,
    jvp, linearize, nth_derivative, parallel, value_and_grad, vjp,
)
from adcompiler.interop.calls import call_of
from adcompiler.interop.scipy import fit_jacobian, pointwise_jacobian, value_and_jacobian
from adcompiler.rulekit.comparison import is_inexact
from adcompiler.testing import check_grads

X = np.array([0.3, 0.4, 0.7])
ONES = np.ones(3)


@pytest.fixture(autouse=True)
def recording(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Record what is refused, as users do; the warnings are tested elsewhere."""
    monkeypatch.setenv("ADCOMPILER_RECORD", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def named(x, name="exp"):
    return np.__dict__[name](x)


def total(x, name="exp"):
    return np.sum(np.__dict__[name](x) * x)


def total_of_part(x, part, name="exp"):
    return np.sum(np.__dict__[name](x) * part)


def writing(x, name="exp"):
    x[0] = 2.0 * x[1]
    return np.__dict__[name](x)


def number(x, y=2.0, name="exp"):
    return np.__dict__[name](x) * y


def slope(x):
    return np.exp(x) * (1.0 + x)


def test_what_is_done_to_a_value_later_is_not_seen_by_the_pullback() -> None:
    value, pullback = vjp(named, X)
    value *= 0.0
    assert np.array_equal(pullback(ONES)[0], np.exp(X))

    def parts(x, out, name="exp"):
        y = np.__dict__[name](x)
        out.append(y)
        return {"whole": y, "view": y[1:], "again": [y, out]}

    out: list[Any] = []
    value, pullback = vjp(parts, X, out, argnums=(0,))
    assert value["again"] == [value["whole"], out] and out[0] is value["whole"]
    assert np.shares_memory(value["view"], value["whole"])
    value["whole"][...] = 0.0
    zeros = {"whole": None, "view": None, "again": [ONES, [None]]}
    assert np.array_equal(pullback(zeros)[0], np.exp(X))


def test_what_is_done_to_arguments_later_is_not_seen() -> None:
    for make in (vjp, linearize):
        x = X.copy()
        _, linear = make(named, x)
        x[:] = 0.0
        found = linear(ONES)
        assert np.array_equal(found[0] if make is vjp else found, np.exp(X)), make


def test_arguments_are_left_as_the_function_leaves_them() -> None:
    written = np.array([0.8, 0.4, 0.7])
    for make, wanted in (
        (lambda x: vjp(writing, x)[1](ONES)[0], [0.0, 2 * np.exp(0.8) + np.exp(0.4), np.exp(0.7)]),
        (lambda x: linearize(writing, x)[1](ONES), [2 * np.exp(0.8), *np.exp(X[1:])]),
        (lambda x: jvp(writing, (x,), (ONES,))[1], [2 * np.exp(0.8), *np.exp(X[1:])]),
        (lambda x: batched_jvp(writing, (x,), (np.array([ONES, ONES]),))[1][1],
         [2 * np.exp(0.8), *np.exp(X[1:])]),
    ):
        x = X.copy()
        assert np.allclose(make(x), wanted, rtol=1e-14)
        assert np.array_equal(x, written)

    def doubling(x, name="exp"):
        x *= 2.0
        return np.__dict__[name](x)

    x = X.copy()  # each seed starts from the arguments as they were given
    value, along = batched_jvp(doubling, (x,), (np.eye(3),))
    assert np.allclose(along, np.diag(2 * np.exp(2 * X)), rtol=1e-14)
    assert np.array_equal(value, np.exp(2 * X)) and np.array_equal(x, 2 * X)


KEPT: dict[str, Any] = {}


def test_what_a_recording_keeps_is_refused_as_long_as_its_pullback_lives() -> None:
    def memo(x, name="exp"):
        if "y" not in KEPT:
            KEPT["y"] = np.__dict__[name](x)
            KEPT["s"] = KEPT["y"][0] * 2.0
        return KEPT["y"] * KEPT["s"]

    _, pullback = vjp(memo, X, backend="record")
    with pytest.raises(UnsupportedError, match="kept outside of the function"):
        vjp(memo, X, backend="record")
    with pytest.raises(UnsupportedError, match="kept outside of the function"):
        grad(lambda x: KEPT["s"] * x, backend="record")(0.5)
    first = np.exp(X[0])
    assert np.allclose(
        pullback(ONES)[0], [2 * first * np.exp(X).sum() + 2 * first**2, *(2 * first * np.exp(X[1:]))
                            ], rtol=1e-14)


def test_linear_maps_are_copied_and_not_pickled() -> None:
    for linear in (vjp(named, X)[1], vjp(named, X, "exp")[1], linearize(named, X)[1]):
        wanted = linear(ONES)
        for copied in (copy.copy(linear), copy.deepcopy(linear)):
            assert np.array_equal(copied(ONES)[0], wanted[0])
        with pytest.raises(ADError, match="cannot be pickled"):
            pickle.dumps(linear)


def test_derivatives_are_pickled_and_copied_by_what_they_are_made_of() -> None:
    for made in (grad(total), value_and_grad(total), hessian(total), jacobian(named),
                 grad(total, backend="record")):
        wanted = made(X)
        for other in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
            found = other(X)
            if isinstance(wanted, tuple):
                assert found[0] == wanted[0] and np.array_equal(found[1], wanted[1])
            else:
                assert np.array_equal(found, wanted), made


def test_linear_operators() -> None:
    for operator in (
        vjp(named, X)[1].as_linear_operator(), linearize(named, X)[1].as_linear_operator(),
        jacobian(named).as_linear_operator(X), jacobian(named).as_linear_operator(X).T,
    ):
        assert operator.shape == (3, 3) and np.allclose(operator @ ONES, np.exp(X), rtol=1e-14)
    for make in (hessian, grad):
        operator = make(total).as_linear_operator(X)
        wanted = np.exp(X) * (2 + X) if make is hessian else [slope(X).sum()]
        assert np.allclose(operator @ ONES, wanted, rtol=1e-14), make


def test_jacobians_are_computed_again_and_of_no_seed() -> None:
    for mode in ("auto", "forward", "reverse"):
        found = jacobian(named, mode=mode)
        for x in (X, X + 1.0, X):
            assert np.allclose(found(x), np.diag(np.exp(x)), rtol=1e-14), mode
    none = np.zeros((0, 3))
    assert batched_vjp(named, X)[1](none)[0].shape == (0, 3)
    value, along = batched_jvp(named, (X,), (none,))
    assert np.array_equal(value, np.exp(X)) and along.shape == (0, 3)


def test_the_refusal_is_that_of_the_compiler() -> None:
    """What a pushforward meets when it runs stands below it."""

    def unseen(x, name="exp"):
        return float(str(np.__dict__[name](x))) * x

    for call in (lambda: jvp(unseen, (0.5,), (1.0,)), lambda: linearize(unseen, 0.5)[1](1.0),
                 lambda: grad(unseen)(0.5), lambda: nth_derivative(number, 2)(0.5)):
        for _ in range(2):
            with pytest.raises(UnsupportedError, match="depends on data") as caught:
                call()
            assert caught.value.__notes__[-1].startswith("Recording it was refused too: ")


def test_one_pullback_in_many_threads_and_many_recordings_at_once() -> None:
    _, pullback = vjp(writing, X.copy())
    wanted = pullback(ONES)[0]
    gradient = grad(total)
    with ThreadPoolExecutor(4) as executor:
        for found in executor.map(pullback, [ONES] * 100):
            assert np.array_equal(found[0], wanted)
        xs = [X + 0.01 * k for k in range(100)]
        for x, slopes in zip(xs, executor.map(gradient, xs), strict=True):
            assert np.allclose(slopes, slope(x), rtol=1e-13)


def test_parallel() -> None:
    with ThreadPoolExecutor(2) as executor:
        parts = [X + k for k in range(5)]
        value, slopes = parallel.value_and_grad(total_of_part, executor)(X, parts)
        assert np.isclose(value, np.exp(X) @ sum(parts), rtol=1e-14)
        assert np.allclose(slopes, np.exp(X) * sum(parts), rtol=1e-14)
        for mode in ("forward", "reverse"):
            found = parallel.jacobian(named, executor, mode=mode)(X)
            assert np.allclose(found, np.diag(np.exp(X)), rtol=1e-14), mode
        with pytest.raises(UnsupportedError, match="depends on data"):
            parallel.sparse_jacobian(named, executor)(X)
        best = parallel.multi_start(total, [X, X + 1.0], executor).best
        assert np.allclose(best.x, -1.0, atol=1e-4)
        mean = parallel.monte_carlo(
            total_of_part, lambda rng, n: rng.normal(size=3), executor, paths=20, batch=5, seed=1)
        draws = [np.random.default_rng(np.random.SeedSequence(1, spawn_key=(k,))).normal(size=3)
                 for k in range(4)]
        assert np.allclose(mean(X).gradient, np.exp(X) * np.mean(draws, 0), rtol=1e-14)


def test_interop() -> None:
    def model(t, a, b, name="exp"):
        return a * np.__dict__[name](b * t)

    found = fit_jacobian(model)(X, 2.0, 0.5)
    assert np.allclose(found, np.stack([np.exp(X / 2), 2 * X * np.exp(X / 2)], 1), rtol=1e-14)
    value, rows = value_and_jacobian(named)(X)
    assert np.array_equal(value, np.exp(X)) and np.allclose(rows, np.diag(value), rtol=1e-14)

    def right_side(t, y, name="exp"):
        return np.array([y[1], -np.__dict__[name](y[0])])

    y = np.array([X, X + 1.0])
    columns = pointwise_jacobian(right_side)(X, y)
    assert np.allclose(columns[1, 0], -np.exp(X), rtol=1e-14) and np.all(columns[0, 1] == 1.0)

    call, operands = call_of(named, (X,), is_inexact, is_inexact)  # as torch and jax call it
    values, result, pull = call.value_and_pullback(operands)
    assert np.array_equal(values[0], np.exp(X)) and np.allclose(pull([ONES])[0], np.exp(X))
    assert np.allclose(call.push.value([X, ONES])[0][0], np.exp(X))
    assert np.allclose(call.pull(result).value([X, ONES])[0][0], np.exp(X))
    with pytest.raises(UnsupportedError, match="depends on data"):  # of second order
        call.pull(result).value_and_pullback([X, ONES])
    check_grads(named, (X,))
    assert np.allclose(hvp(total, X, ONES), np.exp(X) * (2 + X), rtol=1e-14)




CALLS: list[int] = []


def with_effects(x, name="exp"):
    CALLS.append(1)
    x[0] = x[1] * 2.0
    x *= x
    np.add.at(x, [0, 0], x[1:].copy())
    return np.__dict__[name](x) * np.sum(x)


def test_pushforwards_go_along_the_tape_of_one_run() -> None:
    def at(x: Any) -> Any:
        return with_effects(x.copy())

    steps = 1e-6 * np.eye(3)
    wanted = np.array([(at(X + e) - at(X - e)) / 2e-6 for e in steps]).T
    left = X.copy()
    value = with_effects(left)
    CALLS.clear()
    x = X.copy()
    found, pushforward = linearize(with_effects, x)
    columns = [pushforward(e) for e in np.eye(3)]
    assert np.array_equal(found, value) and np.array_equal(x, left) and len(CALLS) == 1
    assert np.allclose(np.array(columns).T, wanted, rtol=1e-7, atol=1e-7)
    assert np.array_equal(pushforward(np.eye(3)[0]), columns[0])
    CALLS.clear()
    rows = batched_jvp(with_effects, (X.copy(),), (np.eye(3),))[1]
    assert np.allclose(rows.T, wanted, rtol=1e-7, atol=1e-7) and len(CALLS) == 1


def test_pushforwards_run_checkpoints_again() -> None:
    def sines(x, name="sin"):
        return checkpoint(lambda v: np.__dict__[name](v * x[1]), x) * x[0]

    _, pushforward = linearize(sines, X)
    for direction in (ONES, X):
        wanted = jvp(sines, (X,), (direction,))[1]
        assert np.allclose(pushforward(direction), wanted, rtol=1e-13)
