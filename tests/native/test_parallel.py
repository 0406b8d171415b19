"""``parallel=True``: loops run in blocks at the same time where no order can be told apart."""

from __future__ import annotations

import ctypes
import math
import os
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from adcompiler import compiled, grad, value_and_grad, vjp
from adcompiler.backends.native.passes import parallel
from adcompiler.errors import UnsupportedError
from adcompiler.runtime.machine import llvm
from adcompiler.runtime.machine import loops as llvm_loops
from tests.lanes import one_in
from tests.native import array_programs, list_programs, programs
from tests.native.test_backends_agree import outcome, same, watched
from tests.native.test_random_loops import Maker
from tests.properties.values import load

PROGRAMS = array_programs.PROGRAMS | list_programs.PROGRAMS | programs.PROGRAMS


pytestmark = pytest.mark.usefixtures("plain_loops")


@pytest.fixture(autouse=True)
def uncached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile anew."""
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "off")


def in_any_order(derivative: Any, seed: int, *args: Any) -> list[Any]:
    """Make each iteration a block, and run blocks in any order; return what ``watched`` does."""
    module = derivative.compiled_for(*args).__globals__
    order = random.Random(seed)
    module["block_count"] = lambda count, numbers: count
    module["prange"] = lambda count: order.sample(range(count), count)
    return watched(derivative, *args)


def close(a: Any, b: Any) -> bool:
    """Say whether results are the same but for rounding."""
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, str | type) or isinstance(b, str | type):
        return bool(a == b)
    return np.shape(a) == np.shape(b) and np.allclose(a, b, 1e-11, 1e-11, equal_nan=True)


@pytest.mark.parametrize("program", one_in(2, PROGRAMS), ids=lambda program: program.__name__)
def test_any_order_of_iterations_gives_the_same(
    program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "is_worth_it", lambda loop: True)
    args = PROGRAMS[program]
    threads = value_and_grad(program, backend="native", parallel=True)
    expected = value_and_grad(program)(*args)
    came = in_any_order(threads, 1, *args)
    assert close(threads(*args), expected)
    assert came == [True]


@pytest.mark.parametrize("first", one_in(2, [40, 0]))
def test_any_order_in_random_programs(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "is_worth_it", lambda loop: True)
    found = [spread_at_random(seed) for seed in range(first, first + 20)]
    assert found.count(True) >= 2


def spread_at_random(seed: int) -> bool:
    """Check one program; say whether a loop of it was spread, and ran."""
    function = load(Maker(seed).source())
    rng = np.random.default_rng(seed)
    args = rng.normal(size=4), rng.normal(size=(4, 4))
    serial = value_and_grad(function, argnums=(0, 1), backend="native")
    threads = value_and_grad(function, argnums=(0, 1), backend="native", parallel=True)
    try:
        expected = outcome(serial, *args)
    except UnsupportedError:
        return False
    came = in_any_order(threads, seed, *args)
    got = outcome(threads, *args)
    large = isinstance(expected[0], float) and not abs(expected[0]) < 1e8
    assert close(got, expected) or large, Maker(seed).source()
    return came == [True] and "in parallel" in threads.explain(*args).backend


# -- what is spread, and what is not -------------------------------------------------------------


def samples(x, n):
    total = 0.0
    for i in range(len(x)):
        y = x[i]
        for _ in range(n):
            y = math.sin(y) * x[i]
        total += y
    return total


def pairs(x):
    energy = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                energy += 1.0 / math.sqrt((x[i] - x[j]) ** 2 + 0.1)
    return energy


def rows(a):
    out = np.zeros_like(a)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = math.exp(-a[i, j]) * a[i, 0]
    return np.sum(out * out)


def carried(x):
    y = 0.5
    for i in range(len(x)):
        y = math.sin(y + x[i])
    return y


def neighbours(x):
    out = np.zeros_like(x)
    for i in range(1, len(x)):
        out[i] = math.sin(x[i]) + out[i - 1]
    return np.sum(out)


def scattered(x, index):
    out = np.zeros_like(x)
    for i in range(len(index)):
        out[index[i]] = math.sin(x[i])
    return np.sum(out)


def steps(x, n):
    for _ in range(n):
        y = np.zeros_like(x)
        for i in range(1, len(x) - 1):
            for k in (-1, 1):
                y[i] += math.tanh(x[i + k] - x[i])
        x = x + 0.1 * y
    return np.sum(x * x)


def early(x, most):
    total = 0.0
    for i in range(len(x)):
        total += math.exp(x[i])
        if total > most:
            break
    return total


X = np.linspace(0.3, 1.7, 9)
A = np.linspace(-0.5, 0.5, 12).reshape(4, 3)


@pytest.mark.parametrize(("program", "args", "forward", "backward"), [
    (samples, (X, 4), True, True), (pairs, (X,), True, True), (rows, (A,), True, True),
    (carried, (X,), False, False), (neighbours, (X,), False, False),
    (scattered, (X, np.array([1, 3, 3])), False, False), (early, (X, 5.0), False, False),
])
def test_loops_are_spread_that_are_independent(
    program: Any, args: Any, forward: bool, backward: bool
) -> None:
    threads = value_and_grad(program, backend="native", parallel=True)
    said = threads.explain(*args).backend
    head, *found = said.split("; ")
    assert head == "native loops"
    assert any(" in parallel" in one and "reverse" not in one for one in found) == forward
    came = in_any_order(threads, 3, *args)
    assert close(threads(*args), value_and_grad(program)(*args))
    assert came == [True]
    text = threads.source_for(*args)
    assert ("in prange" in text) == (forward or backward)


def reasons(program: Any, *args: Any) -> list[str]:
    """Return why loops run one by one."""
    said = compiled(program, parallel=True).explain(*args).backend.split("; ")
    return [one.partition(", as ")[2] for one in said if "one by one" in one]


def test_explain_says_why_a_loop_is_not_spread() -> None:
    assert reasons(carried, X) == ["`y` of one iteration is read by others"]
    assert reasons(early, X, 5.0) == ["it may end early"]
    (said,) = reasons(scattered, X, np.array([1]))
    assert said.startswith("iterations write into the same elements of `out`")
    (said,) = reasons(neighbours, X)
    assert said.startswith("iterations write into the same elements of `out`")


def test_a_loop_within_one_that_is_not_independent_is_spread() -> None:
    said = compiled(steps, parallel=True).explain(X, 3).backend
    assert "one by one" in said and "in parallel" in said
    threads = value_and_grad(steps, backend="native", parallel=True)
    came = in_any_order(threads, 5, X, 3)
    assert close(threads(X, 3), value_and_grad(steps)(X, 3))
    assert came == [True]


def test_a_sum_of_one_block_is_the_serial_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = value_and_grad(pairs, backend="native", parallel=True)
    threads.compiled_for(X).__globals__["block_count"] = lambda count, numbers: min(count, 1)
    value, gradient = threads(X)
    expected, other = value_and_grad(pairs, backend="native")(X)
    assert value == expected
    assert gradient.tobytes() == other.tobytes()


def dropped(x):
    y = x[1:] @ x[:-1]
    y = x[0] * x[1]
    return y


def test_a_sum_that_nobody_reads_is_still_given_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "is_worth_it", lambda loop: True)
    threads = value_and_grad(dropped, backend="native", parallel=True)
    came = watched(threads, X)
    assert close(threads(X), value_and_grad(dropped)(X))
    assert came == [True]
    assert "in prange" in threads.source_for(X)


def test_no_iteration_at_all() -> None:
    none = np.zeros(0)
    assert close(value_and_grad(pairs, backend="native", parallel=True)(none), (0.0, none))


def test_an_exception_in_the_middle_is_pythons() -> None:
    def checked(x):
        total = 0.0
        for i in range(len(x)):
            if x[i] < 0.0:
                raise ValueError(f"negative at {i}")
            total += math.sqrt(x[i])
        return total

    threads = grad(checked, backend="native", parallel=True)
    for at in (5, 2):  # the first of them is raised, whatever block came to it
        X_ = X.copy()
        X_[[at, 7]] = -1.0
        with pytest.raises(ValueError, match=f"negative at {at}"):
            threads(X_)


def test_a_function_that_divides_by_zero_in_one_iteration() -> None:
    def ratios(x):
        total = 0.0
        for i in range(len(x)):
            total += math.sin(x[i]) / (x[i] - 1.0)
        return total

    with np.errstate(all="ignore"):
        x = np.array([0.5, 1.0, 2.0])
        expected = outcome(value_and_grad(ratios), x)
        assert close(outcome(value_and_grad(ratios, backend="native", parallel=True), x), expected)


def test_pullbacks_and_functions_without_derivatives() -> None:
    fast = compiled(rows, parallel=True)
    assert close(fast(A), rows(A))
    value, pullback = vjp(fast, A)
    assert close(value, rows(A))
    assert close(pullback(1.0)[0], grad(rows)(A))


def test_parallel_is_for_loops() -> None:
    with pytest.raises(ValueError, match='parallel=True is for backend="native"'):
        grad(samples, parallel=True)


def in_machine_code(monkeypatch: pytest.MonkeyPatch, count: str = "3") -> None:
    """Let LLVM compile loops, and so many threads run them."""
    pytest.importorskip("llvmlite")
    monkeypatch.setenv("ADCOMPILER_NATIVE", "llvm")
    monkeypatch.setenv("ADCOMPILER_THREADS", count)


@pytest.mark.parametrize("part", one_in(4, range(4)))
def test_machine_code_in_threads_has_the_bits_of_the_text(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "is_worth_it", lambda loop: True)
    before = dict(llvm_loops.refused)
    for program in list(PROGRAMS)[part::24]:
        args = PROGRAMS[program]
        expected = outcome(value_and_grad(program, backend="native", parallel=True), *args)
        with monkeypatch.context() as patch:
            in_machine_code(patch)
            found = outcome(value_and_grad(program, backend="native", parallel=True), *args)
        assert same(found, expected), program
    assert llvm_loops.refused == before


def scatter(x, index):
    """Blocks add to the same elements, make arrays of their own, and multiply matrices."""
    out = np.zeros(4)
    for i in range(x.shape[0]):
        row = np.zeros(3000)
        for j in range(x.shape[1]):
            row[j] = math.exp(x[i, j])
            out[index[j]] += row[j] * x[i, index[j]]
    return np.sum(out * out)


def test_threads_give_the_same_bits_however_many_there_are(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    in_machine_code(monkeypatch)
    rng = np.random.default_rng(0)
    cases: list[tuple[Any, tuple[Any, ...]]] = [
        (pairs, (rng.normal(size=70),)), (pairs, (np.zeros(0),)), (pairs, (np.ones(1),)),
        (scatter, (rng.normal(size=(40, 6)), np.array([0, 3, 3, 1, 0, 2]))),
    ]
    for program, args in cases:
        threads = value_and_grad(program, backend="native", parallel=True)
        came = watched(threads, *args)
        found = set()
        for count in ("1", "2", "7", "100", "none"):
            monkeypatch.setenv("ADCOMPILER_THREADS", count)
            value, gradient = threads(*args)
            found.add((value, gradient.tobytes()))
        assert len(found) == 1
        assert came == [True] * 5
        assert close((value, gradient), value_and_grad(program)(*args))


def test_an_exception_in_a_block_of_machine_code_is_pythons(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    in_machine_code(monkeypatch)

    def chosen(x, index):
        total = 0.0
        for i in range(len(index)):
            for _ in range(3):
                total += math.sin(x[index[i]])
        return total

    threads = value_and_grad(chosen, backend="native", parallel=True)
    index = np.arange(9)
    assert close(threads(X, index), value_and_grad(chosen)(X, index))
    index[[4, 7]] = 12, 13
    with pytest.raises(IndexError, match="12 is out of bounds"):
        threads(X, index)


def test_python_threads_may_run_loops_in_threads_at_the_same_time(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    in_machine_code(monkeypatch)
    threads = value_and_grad(scatter, backend="native", parallel=True)
    x, index = np.random.default_rng(1).normal(size=(64, 6)), np.arange(6) % 4
    value, gradient = threads(x, index)
    with ThreadPoolExecutor(4) as pool:
        for got, other in pool.map(lambda _: threads(x, index), range(200)):
            assert got == value and other.tobytes() == gradient.tobytes()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_has_threads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    in_machine_code(monkeypatch)
    threads = value_and_grad(pairs, backend="native", parallel=True)
    value, _ = threads(X)
    child = os.fork()
    if not child:
        os._exit(0 if threads(X)[0] == value else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_blocks_are_done_without_help_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """No thread can be made, as in a process that ends; one that is interrupted tells that."""
    in_machine_code(monkeypatch)
    threads = value_and_grad(pairs, backend="native", parallel=True)
    value, _ = threads(X)

    def refusing(*given: Any, **named: Any) -> Any:
        raise raised

    raised: BaseException = RuntimeError("can't start new thread")
    llvm.threads.renew()
    monkeypatch.setattr(threading.Thread, "start", refusing)
    assert threads(X)[0] == value
    raised = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        threads(X)


def test_who_comes_late_finds_that_a_job_is_over() -> None:
    pytest.importorskip("llvmlite")
    llvm.engine().add_storage()
    job = bytearray(40)
    job[16] = 1
    memory = ctypes.c_char.from_buffer(job)
    llvm.threads.help_with(ctypes.addressof(memory))
    assert job == bytes(16) + b"\1" + bytes(23)
