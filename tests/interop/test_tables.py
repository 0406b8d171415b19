"""Tables of pandas and xarray that a function finds: through the arrays that they give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import MissingRuleError, UnsupportedError, grad, jvp, vjp

pd = pytest.importorskip("pandas")

FRAME = pd.DataFrame({"t": np.linspace(0.0, 1.0, 5), "y": np.arange(5.0) ** 2})
SERIES = pd.Series(np.arange(5.0), index=[4, 3, 2, 1, 0])
P = np.array([1.0, 0.5])


@pytest.mark.parametrize("function", [
    lambda p: np.sum((p[0] - np.asarray(SERIES)) ** 2) * p[1],
    lambda p: np.sum(FRAME.t.values * p[0]) * p[1],
    lambda p: np.dot(np.ones(5) * p[0] ** 2, np.asarray(SERIES)) + p[1],
])
def test_arrays_of_tables(function: Callable[..., Any]) -> None:
    wanted = [(function(P + h) - function(P - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(grad(function)(P), wanted, rtol=1e-6)
    np.testing.assert_allclose(vjp(function, P)[1](1.0)[0], wanted, rtol=1e-6)
    along = [jvp(function, (P,), (v,))[1] for v in np.eye(2)]
    np.testing.assert_allclose(along, wanted, rtol=1e-6)


@pytest.mark.parametrize("function", [
    lambda p: np.sum((p[0] - SERIES) ** 2), lambda p: np.sum((SERIES - p[0]) ** 2),
    lambda p: (p[0] * SERIES).sum(), lambda p: np.sum(np.exp(p[0] * SERIES)),
])
def test_operators_of_tables_are_refused(function: Callable[..., Any]) -> None:
    with pytest.raises((UnsupportedError, MissingRuleError)) as refused:
        grad(function)(P)
    assert "Series of pandas" in str(refused.value) or "has no rule" in str(refused.value)


def test_tables_are_no_arguments() -> None:
    with pytest.raises(TypeError, match="pandas Series"):
        grad(lambda p, s: np.sum(p * np.asarray(s)))(np.ones(5), SERIES)


def test_arrays_of_xarray() -> None:
    xr = pytest.importorskip("xarray")
    data = xr.DataArray(np.arange(5.0), dims="k")
    assert grad(lambda x: np.sum((x - data.values) ** 2))(1.0) == -10.0
    assert grad(lambda x: np.sum((x - np.asarray(data)) ** 2))(1.0) == -10.0
    with pytest.raises((UnsupportedError, MissingRuleError)):
        grad(lambda x: np.sum(x * data))(1.0)


class Asked:
    """An array where it is asked for one, and something else where it is run over."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.values)

    def __iter__(self) -> Any:
        return iter("ab")


ASKED = Asked([1.0, 2.0])


def test_instances_are_asked_for_an_array() -> None:
    def weighed(x: Any) -> Any:
        return np.sum(np.asarray(ASKED) * x)

    assert grad(weighed)(2.0) == 3.0
