"""``try`` in loops: handlers take over where they do in Python, with what was written till then."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from adcompiler import UnsupportedError, compiled, jvp, value_and_grad
from tests.lanes import one_in
from tests.native.test_backends_agree import outcome, same, watched

pytestmark = pytest.mark.usefixtures("plain_loops")

X = np.linspace(0.5, 2.0, 6)


class ConvergenceError(ArithmeticError):
    pass


class Counted(ValueError):
    made = 0

    def __init__(self, text: str) -> None:
        Counted.made += 1
        super().__init__(text)


def safe_divisions(xs, ys, default):
    total = 0.0
    for x, y in zip(xs, ys, strict=True):
        try:
            total += x / y
        except ZeroDivisionError:
            total += default * x * x
    return total


def logs(x, n):
    total = x
    for i in range(n):
        try:
            total += math.log(x - i) * x
        except ValueError:
            total *= 0.5 * x
    return total


def overflows(x, n):
    total = x
    for i in range(n):
        try:
            total += math.exp(x * 10.0**i)
        except OverflowError:
            total *= 0.5 * x
        except ValueError:
            total *= 0.25
    return total


def past_the_end(x, n):
    total = 0.0
    for i in range(n):
        try:
            total += x[i] * x[i + 2]
        except IndexError:
            total += x[i]
    return total


def breaks_inner_loops(x, limit):
    total = 0.0
    for i in range(len(x)):
        part = 0.0
        try:
            for j in range(len(x)):
                part += x[j] * x[i]
                for k in range(j):
                    if part * k > limit:
                        raise ConvergenceError(f"no end at {j}, {k}")
            total += part
        except ArithmeticError:
            total -= x[i] * part * 0.5
    return total


def writes_before(x, n):
    y = x.copy()
    total = 0.0
    for i in range(n):
        try:
            y[i] = y[i] * 2.0
            y[2 * i] += y[i]
            total += y[i]
        except IndexError:
            y[0] = y[0] * 0.5
            total -= y[i]
    return total + np.sum(y * y)


def two_handlers(x):
    total = 0.0
    for i in range(len(x)):
        try:
            if x[i] > 1.5:
                raise ConvergenceError("too large")
            if x[i] < 0.7:
                raise KeyError(i)
            total += x[i] ** 2
        except (ConvergenceError, IndexError):
            total += 3.0 * x[i]
        except LookupError:
            total -= x[i]
    return total


def nested(x, n):
    total = 0.0
    for i in range(n):
        try:
            try:
                total += 1.0 / float(x[i] - 1.1)
                total += math.sqrt(float(x[i]) - 1.0)
            except ZeroDivisionError:
                total += x[i]
            total *= x[0]
        except ValueError:
            total += 2.0 * x[i]
        except IndexError:
            break
    return total


def with_else_and_finally(x, n):
    total = 0.0
    for i in range(n):
        try:
            part = math.log(x - i)
        except ValueError:
            total += 1.0
            continue
        else:
            total += part * x
        finally:
            total *= 0.9
    return total


def goes_through(x, k):
    total = 0.0
    for i in range(len(x)):
        try:
            total += x[i]
            if i == k:
                raise ValueError(f"at {i}")
            total += float(x[i]) ** 2
        except ZeroDivisionError:
            total = 0.0
    return total


def raises_again(x, k):
    total = 0.0
    for i in range(len(x)):
        try:
            total += x[i] * x[i + k]
        except IndexError:
            if k > 2:
                raise
            total += x[i]
    return total


def of_numpy(x, y):
    total = 0.0
    for i in range(len(x)):
        try:
            total += x[i] / y[i] + np.log(y[i])
        except (ZeroDivisionError, ValueError):
            total = -1.0
    return total


def appends_outside(x, n):
    found = [0.0]
    for i in range(n):
        try:
            found.append(x[i] * x[2 * i])
        except IndexError:
            found.append(0.5 * x[0])
    return sum(found)


def with_own_exception(x, n):
    total = 0.0
    for i in range(n):
        try:
            if x[i] > 1.0:
                raise Counted("large")
            total += x[i] * x[i]
        except Counted:
            total += x[i]
    return total


CASES: list[tuple[Any, tuple[Any, ...], Any]] = [
    (safe_divisions, ([1.0, 2.0, 3.0], [2.0, 0.0, 4.0], 0.3), (0, 1, 2)),
    (safe_divisions, ([1.0, 2.0], [2.0, 1.0], 0.3), (0, 1, 2)),
    (logs, (2.5, 5), 0), (logs, (2.0, 5), 0), (logs, (math.inf, 2), 0), (logs, (math.nan, 2), 0),
    (overflows, (1.5, 4), 0), (overflows, (math.inf, 4), 0), (past_the_end, (X, 6), 0),
    (past_the_end, (X, 7), 0), (past_the_end, (X, 3), 0), (breaks_inner_loops, (X, 5.0), 0),
    (breaks_inner_loops, (X, 1e9), 0), (writes_before, (X, 5), 0), (writes_before, (X, 2), 0),
    (writes_before, (X, 7), 0), (two_handlers, (X,), 0), (nested, (X, 6), 0), (nested, (X, 9), 0),
    (nested, (np.array([1.1, 2.0, 0.5]), 3), 0), (with_else_and_finally, (2.5, 5), 0),
    (goes_through, (X, 3), 0), (goes_through, (X, 9), 0), (raises_again, (X, 2), 0),
    (raises_again, (X, 3), 0), (of_numpy, (X, X - 0.5), 0), (of_numpy, (X, X), 0),
]


@pytest.mark.parametrize(("program", "args", "argnums"), CASES)
def test_values_and_gradients(program: Any, args: Any, argnums: Any) -> None:
    expected = outcome(value_and_grad(program, argnums=argnums), *args)
    assert same(outcome(value_and_grad(program, argnums=argnums, backend="native"), *args),
                expected)


@pytest.mark.parametrize(("program", "args", "argnums"), CASES)
def test_values_alone_and_pushforwards(program: Any, args: Any, argnums: Any) -> None:
    assert same(outcome(compiled(program), *args), outcome(program, *args))
    places = argnums if isinstance(argnums, tuple) else (argnums,)
    tangents = tuple(args[i] if i in places else None for i in range(len(args)))
    results = [outcome(lambda backend: jvp(program, args, tangents, backend=backend), backend)
               for backend in ("python", "native")]
    assert same(*results)


@pytest.mark.parametrize(("program", "args"), [
    (safe_divisions, ([1.0, 2.0, 3.0], [2.0, 0.0, 4.0], 0.3)), (past_the_end, (X, 6)),
    (breaks_inner_loops, (X, 5.0)), (two_handlers, (X,)), (raises_again, (X, 2)),
    (writes_before, (X, 5)),
])
def test_it_is_loops_that_go_on_with_the_handler(program: Any, args: Any) -> None:
    native = value_and_grad(program, backend="native")
    came = watched(native, *args)
    native(*args)
    assert came == [True]


def test_an_exception_that_does_more_when_it_is_made_is_left_to_python() -> None:
    expected = value_and_grad(with_own_exception)(X, 4)
    before = Counted.made
    assert same(value_and_grad(with_own_exception, backend="native")(X, 4), expected)
    assert Counted.made > before


def is_no_integer(x, n):
    total = 0.0
    for i in range(n):
        try:
            if x[i] > 1.0:
                raise ConvergenceError(f"at {total:d}")
            total += x[i]
        except ConvergenceError:
            total = -1.0
        except ValueError:
            total -= 0.5 * x[i]
    return total


def test_a_message_that_raises_itself() -> None:
    expected = value_and_grad(is_no_integer)(X, 5)
    assert same(value_and_grad(is_no_integer, backend="native")(X, 5), expected)


def test_lists_that_handlers_may_see_are_changed_in_python() -> None:
    with pytest.raises(UnsupportedError, match="a list is changed in `try`"):
        value_and_grad(appends_outside, backend="native")(X, 5)


@pytest.mark.parametrize("program, args", one_in(2, [
    (breaks_inner_loops, (X, 5.0)), (logs, (2.5, 5)), (nested, (X[2:], 3)),
    (overflows, (1.5, 4)), (with_else_and_finally, (2.5, 5)),
]))
def test_compiled_loops(
    program: Any, args: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.delenv("ADCOMPILER_NATIVE")
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", str(tmp_path))
    expected = value_and_grad(program)(*args)
    native = value_and_grad(program, backend="native")
    came = watched(native, *args)
    assert same(native(*args), expected)
    assert came == [True]
