"""What workers compute is what one process computes, in an order that does not depend on them."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import adcompiler
from adcompiler import parallel
from tests.lanes import one_in
from tests.parallel import programs

RNG = np.random.default_rng(0)
X = RNG.normal(size=(101, 3))
Y = np.where(RNG.random(101) < 0.5, -1.0, 1.0)
W = np.array([0.3, -0.2, 0.7])


class AtOnce(Executor):
    """Runs what is submitted when it is, and notes how much waits at a time."""

    def __init__(self) -> None:
        self.submitted = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.submitted += 1
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Backwards(AtOnce):
    """Runs nothing before it has to, and then what came last first."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[tuple[Future[Any], Any]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.submitted += 1
        future = LateFuture(self)
        self.waiting.append((future, lambda: fn(*args, **kwargs)))
        return future


class LateFuture(Future[Any]):
    def __init__(self, owner: Backwards) -> None:
        super().__init__()
        self.owner = owner

    def result(self, timeout: float | None = None) -> Any:
        while self.owner.waiting:
            future, work = self.owner.waiting.pop()
            future.set_result(work())
        return super().result(timeout)


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.fixture(params=["threads", "processes", "at once", "backwards"])
def executor(request: pytest.FixtureRequest, processes: Executor) -> Iterator[Executor]:
    if request.param == "processes":
        yield processes
    elif request.param == "threads":
        with ThreadPoolExecutor(3) as pool:
            yield pool
    else:
        yield AtOnce() if request.param == "at once" else Backwards()


# --- sums and order -------------------------------------------------------------------------------


def test_the_tree_is_the_documented_one() -> None:
    def grouped(count: int) -> str:
        class Term(str):
            def __add__(self, other: str) -> Term:
                return Term(f"({self}{other})")

        return str(parallel.tree_sum(Term(chr(97 + k)) for k in range(count)))

    assert [grouped(count) for count in range(1, 8)] == [
        "a", "(ab)", "((ab)c)", "((ab)(cd))", "(((ab)(cd))e)", "(((ab)(cd))(ef))",
        "(((ab)(cd))((ef)g))",
    ]
    with pytest.raises(ValueError, match="nothing to add"):
        parallel.tree_sum([])


def test_results_come_in_order_and_few_wait(executor: Executor) -> None:
    found = parallel.in_order(executor, divmod, ((n, 7) for n in range(50)), 4)
    assert list(found) == [divmod(n, 7) for n in range(50)]


def test_so_many_are_under_way_and_no_more() -> None:
    pool = Backwards()
    found = parallel.in_order(pool, abs, ((-n,) for n in range(20)), 5)
    assert next(found) == 0
    assert pool.submitted == 5
    with pytest.raises(ValueError, match="ahead=0"):
        next(parallel.in_order(pool, abs, [], 0))


def test_what_a_task_raises_is_raised_and_the_rest_cancelled() -> None:
    gate, ran = threading.Event(), []

    def task(n: int) -> None:
        if n == 0:
            raise KeyError("the first")
        gate.wait(10.0)
        ran.append(n)

    with ThreadPoolExecutor(1) as pool:
        results = parallel.in_order(pool, task, ((n,) for n in range(20)), 10)
        with pytest.raises(KeyError, match="the first"):
            next(results)
        gate.set()
    assert len(ran) <= 1


# --- gradients of sums over parts -----------------------------------------------------------------


def by_hand(count: int) -> tuple[Any, Any]:
    """Return what the sums over parts are, added by a loop over the tree's levels."""
    one = adcompiler.value_and_grad(programs.loss)
    parts = zip(np.array_split(X, count), np.array_split(Y, count), strict=True)
    values = [one(W, *part) for part in parts]
    while len(values) > 1:
        pairs = zip(values[::2], values[1::2], strict=True)
        values = [(a[0] + b[0], a[1] + b[1]) for a, b in pairs]
    return values[0]


@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_gradients_of_sums_over_parts(executor: Executor, count: int) -> None:
    derivative = parallel.value_and_grad(programs.loss, executor, sharded=(1, 2))
    value, gradient = derivative(W, parallel.shards(X, count), parallel.shards(Y, count))
    wanted = by_hand(count)
    assert value == wanted[0]
    np.testing.assert_array_equal(gradient, wanted[1])
    whole = adcompiler.value_and_grad(programs.loss)(W, X, Y)
    np.testing.assert_allclose(value, whole[0], rtol=1e-14)
    np.testing.assert_allclose(gradient, whole[1], rtol=1e-12)


def test_gradients_in_structures(executor: Executor) -> None:
    p = {"w": W, "b": [0.5], "scale": 2.0}
    derivative = parallel.value_and_grad(programs.of_structure, executor)
    value, gradient = derivative(p, parallel.shards(X, 7))
    whole = adcompiler.value_and_grad(programs.of_structure)(p, X)
    np.testing.assert_allclose(value, whole[0], rtol=1e-12)
    np.testing.assert_allclose(gradient["w"], whole[1]["w"], rtol=1e-12)
    np.testing.assert_allclose(gradient["b"], whole[1]["b"], rtol=1e-12)
    np.testing.assert_allclose(gradient["scale"], whole[1]["scale"], rtol=1e-12)


def test_the_result_is_the_same_whoever_computes_it(processes: Executor) -> None:
    found = []
    with ThreadPoolExecutor(3) as threads:
        for pool in (threads, processes, AtOnce(), Backwards()):
            derivative = parallel.value_and_grad(programs.loss, pool, sharded=(1, 2), ahead=5)
            value, gradient = derivative(W, parallel.shards(X, 13), parallel.shards(Y, 13))
            found.append((float(value).hex(), gradient.tobytes()))
    assert len(set(found)) == 1


def test_errors_of_parts_are_raised(executor: Executor) -> None:
    if isinstance(executor, Backwards):
        pytest.skip("it raises when it runs")
    derivative = parallel.value_and_grad(programs.failing, executor)
    with pytest.raises(ArithmeticError, match="negative data"):
        derivative(2.0, [np.ones(2), -np.ones(2), np.ones(2)])


def test_a_killed_process_is_an_error_of_the_pool(tmp_path: Path) -> None:
    parts = [np.full(2, float(k)) for k in range(8)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        derivative = parallel.value_and_grad(programs.killing, pool)
        with pytest.raises(BrokenProcessPool):
            derivative(0.5, parts, str(tmp_path / "flag"))


@pytest.mark.parametrize(("argnums", "sharded"), [(0, 0), (1, 1), ((0, 1), 1), ("X", 1), (0, -1)])
def test_data_in_parts_has_no_gradient(argnums: Any, sharded: int) -> None:
    with pytest.raises(ValueError, match=r"sharded=.* has no gradient"):
        parallel.value_and_grad(programs.loss, AtOnce(), argnums=argnums, sharded=sharded)


def test_parts_in_different_numbers() -> None:
    derivative = parallel.value_and_grad(programs.loss, AtOnce(), sharded=(1, 2))
    with pytest.raises(ValueError, match=r"different numbers of parts: \[2, 3\]"):
        derivative(W, parallel.shards(X, 2), parallel.shards(Y, 3))


# --- shards ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 3, 101, 150])
def test_shards_of_arrays(count: int) -> None:
    parts = parallel.shards(X, count)
    assert len(parts) == count
    np.testing.assert_array_equal(np.concatenate(parts), X)
    assert [len(part) for part in parts] == [len(part) for part in np.array_split(X, count)]


@pytest.mark.parametrize("cut", [
    slice(None), slice(10, 90), slice(1, None), slice(0, 100, 2), slice(None, None, -1),
], ids=str)
@pytest.mark.parametrize("offset", [0, 24, 5000])
def test_shards_of_files(tmp_path: Path, cut: slice, offset: int) -> None:
    file = tmp_path / "data"
    file.write_bytes(bytes(offset) + X.tobytes())
    mapped = np.memmap(file, np.float64, "r", offset, X.shape)[cut]
    parts = parallel.shards(mapped, 7)
    loaded = [part.load() if isinstance(part, parallel.Shard) else part for part in parts]
    np.testing.assert_array_equal(np.concatenate(loaded), X[cut])
    assert all(type(part) is np.ndarray for part in loaded)
    if cut.step is None:
        assert all(isinstance(part, parallel.Shard) for part in parts)


def test_shards_of_files_are_what_was_written(tmp_path: Path, processes: Executor) -> None:
    mapped = np.memmap(tmp_path / "data", np.float64, "w+", shape=X.shape)
    mapped[:] = X
    derivative = parallel.value_and_grad(programs.loss, processes, sharded=(1, 2))
    value, gradient = derivative(W, parallel.shards(mapped, 4), parallel.shards(Y, 4))
    assert value == by_hand(4)[0]
    np.testing.assert_array_equal(gradient, by_hand(4)[1])


@pytest.mark.parametrize(("data", "count", "said"), [
    (X, None, "count=None"), (X, 0, "count=0"), (np.float64(1.0), 2, "no rows"),
])
def test_data_without_such_parts(data: Any, count: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parallel.shards(data, count)


# --- Jacobians ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode, at_once", one_in(3, itertools.product(
    ["forward", "reverse"], [None, 1, 3, 100])))
def test_jacobians(executor: Executor, mode: str, at_once: int | None) -> None:
    u = RNG.normal(size=11)
    for function in (programs.field, programs.tall):
        found = parallel.jacobian(function, executor, mode=mode, at_once=at_once)(u)
        np.testing.assert_allclose(
            found, adcompiler.jacobian(function, mode=mode)(u), rtol=1e-14, atol=1e-15)


def test_jacobians_in_structures(executor: Executor) -> None:
    args = (2.0, np.array([0.5, 1.5]))
    for mode in ("forward", "reverse"):
        found = parallel.jacobian(programs.of_two, executor, argnums=(0, 1), mode=mode)(*args)
        wanted = adcompiler.jacobian(programs.of_two, (0, 1))(*args)
        for rows, others in zip(found, wanted, strict=True):
            for one, other in zip(rows, others, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-14)


@pytest.mark.parametrize("kind, at_once", one_in(5, itertools.product(
    ["auto", "column", "row", "bidirectional"], [None, 1, 2])))
def test_sparse_jacobians(executor: Executor, kind: str, at_once: int | None) -> None:
    u = RNG.normal(size=30)
    found = parallel.sparse_jacobian(
        programs.field, executor, kind=kind, at_once=at_once)(u, rate=0.25)
    wanted = adcompiler.sparse_jacobian(programs.field, kind=kind)(u, rate=0.25)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    np.testing.assert_allclose(found.data, wanted.data, rtol=1e-14)


def test_jacobians_of_complex_numbers_are_refused() -> None:
    with pytest.raises(TypeError, match="holomorphic"):
        parallel.jacobian(programs.field, AtOnce())(np.ones(4) * 1j)
    with pytest.raises(ValueError, match="neither forward nor reverse"):
        parallel.jacobian(programs.field, AtOnce(), mode="auto")


# --- paths and starts -----------------------------------------------------------------------------


def test_means_over_paths(executor: Executor) -> None:
    estimated = parallel.monte_carlo(
        programs.payoff, programs.normals, executor, paths=40_500, seed=7, batch=2_000,
        argnums=(0, 1))
    found = estimated(100.0, 0.2)
    again = estimated(100.0, 0.2)
    assert (found.value, found.gradient) == (again.value, again.gradient)
    # the formula of Black and Scholes with no interest, for one year
    assert abs(found.value - 7.965567455405804) < 4.0 * found.error
    assert 0.03 < found.error < 0.12
    np.testing.assert_allclose(found.gradient, (0.539827837277029, 39.695254747701178), rtol=0.03)


def test_every_batch_has_a_stream_of_its_own() -> None:
    batches: list[Any] = []

    def sample(rng: np.random.Generator, count: int) -> Any:
        batches.append(rng.standard_normal(count))
        return batches[-1]

    found = parallel.monte_carlo(
        programs.payoff, sample, AtOnce(), paths=25, seed=1, batch=10)(100.0, 0.2)
    assert [len(batch) for batch in batches] == [10, 10, 5]
    assert len(np.unique(np.concatenate(batches))) == 25
    mean = programs.payoff(100.0, 0.2, np.concatenate(batches))
    np.testing.assert_allclose(found.value, mean, rtol=1e-14)
    single = parallel.monte_carlo(programs.payoff, sample, AtOnce(), paths=5, seed=1)(100.0, 0.2)
    assert np.isnan(single.error)
    with pytest.raises(ValueError, match="at least 1"):
        parallel.monte_carlo(programs.payoff, sample, AtOnce(), paths=0, seed=1)


def test_many_starts(executor: Executor) -> None:
    starts = [np.array([float(k)]) for k in range(-3, 4)]
    found = parallel.multi_start(
        programs.wavy, starts, executor, args=(0.1,), method="BFGS", tol=1e-10)
    one = adcompiler.value_and_grad(programs.wavy)
    for start, result in zip(starts, found.results, strict=True):
        wanted = minimize(one, start, args=(0.1,), jac=True, method="BFGS", tol=1e-10)
        np.testing.assert_array_equal(result.x, wanted.x)
    assert found.best.fun == min(result.fun for result in found.results)
    with pytest.raises(ValueError, match="no start"):
        parallel.multi_start(programs.wavy, [], executor)
