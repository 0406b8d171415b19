"""Types that no text tells are those that values have in a run, and are checked."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler import (
    ADError, UnsupportedError, grad, hessian, jacfwd, jacobian, jvp, value_and_grad, vjp,
)
from adcompiler.compile.observing import observe
from adcompiler.runtime import Unfit, check_type

pytestmark = pytest.mark.observes

X = np.array([0.5, 1.5, 2.5])
LOG: list[int] = []
TABLE = np.ones(3)


def one_or_all(x: Any, k: int) -> Any:
    y = x[1] if k else x * 1.0
    y += 3.0
    return np.sum(y * x)


def chosen(x: Any, k: int) -> Any:
    z = x * 1.0
    y = z if k == 0 else 3.0
    y += x
    return np.sum(z * x)


def grown(x: Any, k: int) -> Any:
    y = None
    for i in range(k):
        y = x * 1.0 if y is None else y
        y[i] = y[i] * 2.0
    return np.sum(y * x)


def named(x: Any, k: int) -> Any:
    y = x[0] if k == 0 else x
    try:
        y.name = "y"
    except AttributeError:
        y = y * 2.0
    return np.sum(y * y)


def left_alone(x: Any, k: float) -> Any:
    if k > 3.0:
        box = np.array([None], dtype=object)
        box[0] = x
        return box[0]
    return np.sum(x * x * x)


def entries(x: Any, k: int) -> Any:
    y = x * 1.0
    try:
        z = y if k > 1 else 3.0
        z[0] = 4.0 * x[1]
    except TypeError:
        y[1] = 2.0
    return np.sum(y * x)


CASES: dict[str, tuple[Callable[..., Any], float, list[float]]] = {
    "an array written through its second name": (chosen, 0, [2.0, 6.0, 10.0]),
    "an array that is made in a loop": (grown, 2, [2.0, 6.0, 5.0]),
    "a number": (one_or_all, 1, [4.5, 1.5 + 4.5 + 3.0, 4.5]),
    "an array": (one_or_all, 0, [4.0, 6.0, 8.0]),
    "a number has no attributes": (named, 0, [4.0, 0.0, 0.0]),
    "an array has none either": (named, 1, [4.0, 12.0, 20.0]),
    "a branch that the run did not take": (left_alone, 1.0, [0.75, 6.75, 18.75]),
    "a store that raises": (entries, 0, [1.0, 2.0, 5.0]),
    "a store that does not": (entries, 2, [6.0, 2.0 + 3.0, 5.0]),
}
WANTED = {
    "a number": lambda x: [x[1] + 3.0, np.sum(x) + x[1] + 3.0, x[1] + 3.0],
    "an array": lambda x: 2.0 * x + 3.0,
    "a store that does not": lambda x: [4.0 * x[1], 4.0 * x[0] + 2.0 * x[1], 2.0 * x[2]],
}


@pytest.mark.parametrize("name", CASES)
def test_every_mode_relies_on_what_values_were(name: str) -> None:
    function, k, listed = CASES[name]
    wanted = np.asarray(WANTED[name](X) if name in WANTED else listed)

    def of_x(x: Any) -> Any:
        return function(x, k)

    along = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(grad(function)(X.copy(), k), wanted)
    np.testing.assert_allclose(jacobian(function)(X.copy(), k), wanted)
    np.testing.assert_allclose(jacfwd(function)(X.copy(), k), wanted)
    np.testing.assert_allclose(vjp(function, X.copy(), k)[1](1.0)[0], wanted)
    np.testing.assert_allclose(jvp(of_x, (X.copy(),), (along,))[1], wanted @ along)


@pytest.mark.parametrize(("function", "k", "wanted"), [
    (chosen, 0, 4.0 * np.eye(3)), (left_alone, 1.0, np.diag(6.0 * X)),
    (one_or_all, 0, 2.0 * np.eye(3)),
])
def test_second_order(function: Any, k: float, wanted: np.ndarray) -> None:
    np.testing.assert_allclose(hessian(function)(X.copy(), k), wanted)


def test_values_of_another_type_get_code_of_their_own() -> None:
    derivative = grad(one_or_all)
    for k in (0, 1, 0, 1):
        wanted = WANTED["an array" if k == 0 else "a number"](X)
        np.testing.assert_allclose(derivative(X.copy(), k), np.asarray(wanted))


def test_a_branch_that_is_taken_later_is_refused_then() -> None:
    derivative = grad(left_alone)
    np.testing.assert_allclose(derivative(X, 1.0), 3.0 * X * X)
    with pytest.raises(ADError, match=r"test_observed_types\.py"):
        derivative(X, 5.0)
    np.testing.assert_allclose(derivative(X, 1.0), 3.0 * X * X)


def with_effects(x: Any, k: int, seen: list[float]) -> Any:
    global TABLE
    LOG.append(k)
    seen.append(1.0)
    TABLE += 1.0
    z = x * 1.0
    y = z if k == 0 else 3.0
    y += x
    x[0] = 7.0
    return np.sum(z * x)


def test_nothing_of_the_run_is_seen_outside() -> None:
    x, seen = X.copy(), [0.0]
    before = TABLE.copy()
    LOG.clear()
    found = observe(with_effects, (x, 0, seen))
    assert any(var.name == "y" for var in found.anywhere)
    assert (LOG, seen) == ([], [0.0])
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(TABLE, before)


def printed(x: Any, k: int) -> Any:
    print("ran")
    return left_alone(x, k)


def test_a_run_ends_where_it_would_be_seen(capsys: pytest.CaptureFixture[str]) -> None:
    found = observe(printed, (X, 1))
    assert capsys.readouterr().out == ""
    assert not any(var.name == "sum" for var in found.anywhere)


def test_strict_types_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_STRICT_TYPES", "1")

    def strict(x: Any, k: float) -> Any:
        if k > 3.0:
            box = np.array([None], dtype=object)
            box[0] = x
            return box[0]
        return np.sum(x * x)

    with pytest.raises(UnsupportedError, match="an array of objects or records"):
        grad(strict)(X, 1.0)


def test_one_function_is_asked_for_without_a_run() -> None:
    for refused in (
        grad(left_alone, strict_types=True), grad(strict_types=True)(left_alone),
        value_and_grad(left_alone, strict_types=True),
        lambda x, k: vjp(left_alone, x, k, strict_types=True),
    ):
        with pytest.raises(UnsupportedError, match="an array of objects or records"):
            refused(X, 1.0)
        np.testing.assert_allclose(grad(left_alone)(X, 1.0), 3.0 * X * X)
    told = grad(lambda x: np.sum(x * x), strict_types=True)
    np.testing.assert_allclose(told(X), 2.0 * X)


def test_explain_tells() -> None:
    derivative = value_and_grad(left_alone)
    found = derivative.explain(X, 1.0)
    assert [text.partition(": ")[2] for text in found.observed] == ["the condition is false"]
    assert "observed    test_observed_types.py" in str(found)


PROGRAM = """
import numpy as np
from adcompiler import grad


def kept(x, k):
    y = x[1] if k else x * 1.0
    y[k] += 3.0
    return np.sum(y * x)


print(grad(kept)(np.ones(3), 0))
"""


def test_another_process_finds_the_code(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    env = {"ADCOMPILER_CACHE_DIR": str(tmp_path / "kept"), "PATH": ""}
    for _ in range(2):
        ran = subprocess.run(
            [sys.executable, str(file)], env=env, capture_output=True, text=True, check=True)
        assert ran.stdout.split() == ["[5.", "2.", "2.]"]


def options(n: int) -> dict[str, float]:
    table = {}
    for key in ("a", "b", "c")[:n]:
        table[key] = 2.0
    return table


def with_options(x: float, n: int) -> float:
    def polynomial(a: float = 1.0, **others: float) -> float:
        return a * x + others.get("b", 3.0) * x * x + others.get("c", 4.0)

    return polynomial(**options(n))


def test_the_keys_of_a_dict_are_those_of_the_run() -> None:
    derivative = grad(with_options)
    assert [derivative(3.0, n) for n in (1, 2, 3, 1)] == [20.0, 14.0, 14.0, 20.0]
    assert hessian(with_options)(3.0, 1) == 6.0
    found = derivative.explain(3.0, 2)
    assert any("{'a': float" in text for text in found.observed)


def test_operands_that_are_stretched_get_code_by_a_run_too() -> None:
    def total(x: Any, y: Any) -> Any:
        z = np.emath.arcsin(x)
        z[0] = y[0, 0] - z[0]
        return np.sum(z * y)

    derivative = grad(total)
    for y in (np.ones((2, 3)), np.ones((1, 3)), np.ones((2, 1))):
        x = np.array([0.1, 0.2, 0.3])
        slope = np.array([-1.0, 1.0, 1.0]) / np.sqrt(1.0 - x * x)
        np.testing.assert_allclose(derivative(x, y), slope * len(y), rtol=1e-14)


class Names:
    def __init__(self, *names: str) -> None:
        self.names = names

    def __iter__(self) -> Any:
        yield from self.names


def looked_up(x: Any, names: Names) -> Any:
    found = None
    for name in tuple(names):
        found = x * 1.0 if found is None else found
        found[len(name)] *= 3.0
    return np.sum(found * x)


def test_a_run_goes_through_what_python_code_runs_over() -> None:
    names = Names("", "ab")
    np.testing.assert_allclose(grad(looked_up)(X, names), X * [6.0, 2.0, 6.0])


@pytest.mark.parametrize(("value", "text"), [
    ({"a": 1.0}, "{'a': float}"), ({}, "{}"),
    (1.0, "float"), (np.float32(1.0), "np.float32"), (np.ones((2, 3)), "float64[:, :]"),
    ((1, 2.0), "(int, float)"), ((1,), "(int,)"), ([1.0, 2.0], "list[float]"),
    ([], "list[float]"), (None, "None"), ("a", "str"), (np.ones(()), "float64[]"),
])
def test_check_type(value: Any, text: str) -> None:
    check_type(value, text, "place.py:1")
    with pytest.raises(Unfit, match=r"place\.py:1"):
        check_type(value, "complex64[:]", "place.py:1")
