"""Functions that call themselves are loops of their own; what calls keep lies in flat buffers."""

from __future__ import annotations

import math
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler import compiled, grad, jvp, value_and_grad, vjp
from adcompiler.cli import main
from adcompiler.errors import UnsupportedError
from adcompiler.runtime import native
from tests.lanes import one_in
from tests.native import recursive_programs
from tests.native.recursive_programs import PROGRAMS, X, horner, power, tree, walk
from tests.native.rounding import BY_BLAS, agree
from tests.native.test_backends_agree import outcome, same

named = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
plain = pytest.mark.usefixtures("plain_loops")


def watched(derivative: Any, *args: Any) -> list[Any]:
    """Return a list to which each later call adds whether the outermost loops came to their end."""
    found = derivative.compiled_for(*args).__globals__
    (name,) = (name for name in found if name.endswith("_loops"))
    run, came = found[name], []

    def watching(*given: Any) -> Any:
        results = run(*given)
        came.append(bool(results[0]))
        return results

    found[name] = watching
    return came


@plain
@named
def test_values_and_gradients_are_the_same(program: Any) -> None:
    args = PROGRAMS[program]
    value, gradient = compiled(program), value_and_grad(program, backend="native")
    in_python = value_and_grad(program)
    text, terms = in_python.source_for(*args), sum(map(np.size, args))
    came = watched(value, *args)
    assert agree(value(*args), program(*args), text, terms)
    assert came == [True]
    came = watched(gradient, *args)
    assert agree(gradient(*args), in_python(*args), text, terms)
    assert came == [True]


@plain
@pytest.mark.parametrize("program", one_in(3, PROGRAMS), ids=lambda program: program.__name__)
def test_pullbacks_and_pushforwards_are_the_same(program: Any) -> None:
    args = PROGRAMS[program]
    value, pull = vjp(program, *args, argnums=0, backend="native")
    expected, pull_in_python = vjp(program, *args, argnums=0)
    text, terms = value_and_grad(program).source_for(*args), sum(map(np.size, args))
    assert agree(value, expected, text, terms)
    assert agree(pull(1.5), pull_in_python(1.5), text, terms)
    tangent = np.cos(args[0]) if isinstance(args[0], np.ndarray) else 0.7
    assert agree(jvp(program, args, (tangent,), argnums=(0,), backend="native"),
                 jvp(program, args, (tangent,), argnums=(0,)), text, terms)


def test_few_programs_have_products_of_blas() -> None:
    found = {
        program.__name__ for program, args in PROGRAMS.items()
        if BY_BLAS.search(value_and_grad(program).source_for(*args))
    }
    assert found == {"in_a_loop", "minors", "sum_of_power", "sum_of_prefixes"}
    assert agree((1.0 + 4e-16, np.ones(2)), (1.0, np.ones(2)), "x @ y", 1)
    assert not agree((1.0 + 4e-16, np.ones(2)), (1.0, np.ones(2)), "x * y", 1)
    assert not agree(1.0 + 2e-15, 1.0, "x @ y", 4)


@pytest.mark.parametrize("program", [tree, horner, walk], ids=lambda program: program.__name__)
def test_compiled_loops_give_the_same(program: Any) -> None:
    pytest.importorskip("llvmlite")
    args = PROGRAMS[program]
    gradient = value_and_grad(program, backend="native")
    came = watched(gradient, *args)
    for got, expected in zip(gradient(*args), value_and_grad(program)(*args), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-14)
    assert came == [True]


@plain
def test_arguments_with_other_strides_and_read_only_ones() -> None:
    wide = np.zeros((6, 2))
    wide[:, 0] = X
    x = wide[::-1, 0]
    x.flags.writeable = False
    for program in (horner, walk):
        args = (x, *PROGRAMS[program][1:])
        got = value_and_grad(program, backend="native")(*args)
        assert same(got, value_and_grad(program)(*args))
    assert np.array_equal(wide[:, 0], X)


def with_reads(x: np.ndarray, i: int) -> float:
    return x[i] if i == 3 else x[i] * with_reads(x, i + 1)


def with_divisions(x: float, n: int) -> float:
    return x if n == -2 else x / n + with_divisions(x, n - 1)


def with_logarithms(x: float, n: int) -> float:
    return x if n == 0 else math.log(x) + with_logarithms(x - 1.0, n - 1)


def refusing(x: float, n: int) -> float:
    if n == 7:
        raise ValueError(f"no {n}")
    return x if n == 0 else x * refusing(x, n - 1)


def growing(x: float, n: int, m: int) -> float:
    return x * m if n == 0 else growing(x, n - 1, m * 1000)


@plain
@pytest.mark.parametrize(("program", "args"), [
    (with_reads, (X[:2], 0)), (with_divisions, (0.5, 3)), (with_logarithms, (2.5, 3)),
    (refusing, (0.5, 9)), (refusing, (0.5, 4)), (growing, (0.5, 30, 1)),
])
def test_python_does_what_only_it_does(program: Any, args: tuple[Any, ...]) -> None:
    for got, expected in (
        (compiled(program), program),
        (value_and_grad(program, backend="native"), value_and_grad(program)),
    ):
        assert same(outcome(got, *args), outcome(expected, *args))


def down(x: float, n: int) -> float:
    return x if n == 0 else 0.999 * down(x, n - 1) + 0.001


def down_with_arrays(x: np.ndarray, n: int) -> float:
    if n == 0:
        return x[0]
    y = x * 0.5 + 1.0
    return 0.99 * down_with_arrays(y, n - 1) + y[1]


@pytest.mark.parametrize("n", [900, 100_000])
@pytest.mark.parametrize(
    ("program", "x"), [(down, 0.5), (down_with_arrays, X[:2])], ids=["numbers", "arrays"])
def test_calls_that_are_too_deep_are_left_to_python(program: Any, x: Any, n: int) -> None:
    pytest.importorskip("llvmlite")
    gradient = value_and_grad(program, backend="native")
    got, expected = outcome(gradient, x, n), outcome(value_and_grad(program), x, n)
    if n == 100_000:
        assert got[0] is expected[0] is RecursionError
    else:
        assert same(got, expected)


def test_calls_that_would_take_too_much_of_the_stack_are_left_to_python() -> None:
    pytest.importorskip("llvmlite")
    gradient, limit = value_and_grad(down, backend="native"), sys.getrecursionlimit()
    came, found = watched(gradient, 0.5, 4), []

    def run() -> None:
        found.append(gradient(0.5, 90_000))

    size = threading.stack_size(2**29)
    sys.setrecursionlimit(200_000)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
    assert came == [False]
    assert abs(found[0][0] - 1.0) < 1e-9


@plain
def test_stack_that_calls_may_take_is_a_quarter_of_the_least_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threading, "stack_size", lambda: 2**18)
    assert native.stack_room() == 2**16
    monkeypatch.setattr(threading, "stack_size", lambda: 0)
    assert 0 < native.stack_room() <= native.LARGE_STACK // 4


@plain
def test_records_grow_until_all_calls_have_room() -> None:
    gradient = value_and_grad(tree, backend="native")
    came = watched(gradient, 0.5, 12)
    assert same(gradient(0.5, 12), value_and_grad(tree)(0.5, 12))
    assert came == [True]


@plain
def test_what_iterations_before_kept_stays_where_it_is() -> None:
    def program(x: float, n: int) -> float:
        total = 0.0
        for i in range(n):
            total += tree(x + total, i) * power(x, i)
        return total

    gradient = value_and_grad(program, backend="native")
    came = watched(gradient, 0.3, 7)
    assert same(gradient(0.3, 7), value_and_grad(program)(0.3, 7))
    assert came == [True]


@plain
def test_arrays_that_calls_hand_on_as_they_are_stand_in_no_record() -> None:
    text = grad(horner, backend="native").source_for(*PROGRAMS[horner])
    (pullback,) = (line for line in text.splitlines()
                   if line.startswith("def horner_grad_loops_horner_pullback"))
    assert "(record, kept, value_bar," in pullback
    assert "record_floats[floats_at : " not in text


@plain
def listed(x: float, n: int) -> list[float]:
    return [x] if n == 0 else [x * n, *listed(x * 0.5, n - 1)]


def sum_of_listed(x: float, n: int) -> float:
    return sum(listed(x, n))


def test_what_is_not_known_to_be_numbers_or_arrays_is_left_to_python() -> None:
    with pytest.raises(UnsupportedError, match="calls itself gives what is not known"):
        grad(sum_of_listed, backend="native")(0.5, 3)
    told = grad(sum_of_listed, backend="auto").explain(0.5, 3).backend
    assert told == "stays in Python: it has no loops that Python's interpreter would run"


def test_text_in_c_has_no_functions_that_call_themselves(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["dump", f"{Path(recursive_programs.__file__)}:tree", "--native", "c"]) != 0
    assert "calls itself, which loops in C do not" in capsys.readouterr().err
