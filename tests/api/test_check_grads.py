"""``check_grads``: derivatives of a function in all modes and orders against differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from adcompiler import UnsupportedError, external
from adcompiler.testing import check_grads

X = np.array([0.3, 0.4])


def model(x: Any, n: int, p: dict[str, Any]) -> Any:
    return {"a": np.sin(x) * p["k"] ** n, "b": [(x @ x) * p["k"], n, "text"]}


def test_all_combinations_of_modes() -> None:
    found = check_grads(model, (X, 3, {"k": 2.0}), order=2)
    assert [row.mode for row in found] == [
        "forward", "forward of forward", "reverse of forward",
        "reverse", "forward of reverse", "reverse of reverse",
    ]
    assert all(row.error < 1e-10 and abs(row.derivative) > 1e-3 for row in found)
    by_mode = {row.mode: row.derivative for row in found}
    assert by_mode["forward"] == pytest.approx(by_mode["reverse"], rel=1e-13)


def test_the_numbers_are_those_of_the_directions() -> None:
    (row,) = check_grads(math.sin, (0.5,), modes=["forward"], seed=3)
    v, w = np.random.default_rng(3).standard_normal(2)
    assert row.derivative == pytest.approx(v * w * math.cos(0.5), rel=1e-14)


def test_the_table() -> None:
    lines = repr(check_grads(np.sum, (X,))).splitlines()
    assert lines[0].split() == ["mode", "derivative", "differences", "error"]
    assert [line.split()[0] for line in lines[1:]] == ["forward", "reverse"]


def cube(x: float) -> float:
    return x**3


wrong = external(cube, jvp=lambda x, x_dot: 2.0 * x_dot[0] * x[0] ** 2)


def test_a_wrong_derivative_is_found() -> None:
    with pytest.raises(AssertionError, match="differ from differences") as caught:
        check_grads(lambda x: wrong(x) * 2.0, (1.5,), modes=["forward"])
    assert float(str(caught.value).split()[-1]) > 0.01


def test_a_kink_between_the_points_is_found() -> None:
    with pytest.raises(AssertionError):
        check_grads(lambda x: np.abs(x).sum(), (np.array([1e-9, -1.0]),))


@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_is_no_number_is_an_error() -> None:
    with pytest.raises(AssertionError, match="inf"):
        check_grads(lambda x: np.sqrt(x - 1.0).sum(), (np.array([0.0]),))


def test_complex_numbers() -> None:
    found = check_grads(lambda z: np.exp(1j * z) * np.conj(z), (np.array([0.3 + 0.4j]),), order=2)
    assert len(found) == 6


def test_refusals() -> None:
    with pytest.raises(ValueError, match="'backward' is not one of forward, reverse"):
        check_grads(math.sin, (0.5,), modes=["backward"])
    with pytest.raises(ValueError, match="no argument holds a float"):
        check_grads(lambda n: n * 2.0, (3,))
    with pytest.raises(TypeError, match="give a tuple"):
        check_grads(sum, ([0.5, 1.5],))
    with pytest.raises(ValueError, match="order"):
        check_grads(math.sin, (0.5,), order=0)
    with pytest.raises(UnsupportedError):
        check_grads(lambda x: eval("x") * x, (0.5,))
