"""Tables of pandas and xarray: data, of which derivatives go through the arrays that they give."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import (
    ADError, UnsupportedError, grad, hessian, jacobian, jvp, sparse_jacobian, value_and_grad, vjp,
)
from adcompiler.interop.tables import labelled
from adcompiler.runtime.tables import TableError
from tests.lanes import one_in

pd = pytest.importorskip("pandas")

FRAME = pd.DataFrame({"t": np.linspace(0.0, 1.0, 5), "y": np.arange(5.0) ** 2})
SERIES = pd.Series(np.arange(5.0), index=[4, 3, 2, 1, 0])
HOLES = pd.Series([1.0, np.nan, 3.0, 4.0, 2.0])
P = np.array([1.0, 0.5])

Program = Callable[..., Any]


def slopes(function: Program, p: np.ndarray, *others: Any) -> np.ndarray:
    """Return central differences of a function of an array."""
    rows = 1e-6 * np.eye(p.size)
    return np.array([(function(p + h, *others) - function(p - h, *others)) / 2e-6 for h in rows])


def agree(function: Program, p: np.ndarray, *others: Any) -> None:
    """Compare gradients of all kinds with differences."""
    wanted = slopes(function, p, *others)
    np.testing.assert_allclose(grad(function)(p, *others), wanted, rtol=1e-6)
    np.testing.assert_allclose(vjp(function, p, *others, argnums=0)[1](1.0), wanted, rtol=1e-6)
    value, found = value_and_grad(function)(p, *others)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert value == function(p, *others)

    def alone(q: Any) -> Any:
        return function(q, *others)

    along = [jvp(alone, (p,), (v,))[1] for v in np.eye(p.size)]
    np.testing.assert_allclose(along, wanted, rtol=1e-6)
    np.testing.assert_allclose(jacobian(alone)(p), wanted, rtol=1e-6)
    np.testing.assert_allclose(
        hessian(alone)(p), [slopes(lambda q, k=k: grad(alone)(q)[k], p) for k in range(p.size)],
        rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("function", [
    lambda p: np.sum((p[0] - np.asarray(SERIES)) ** 2) * p[1],
    lambda p: np.sum(FRAME.t.values * p[0]) * p[1],
    lambda p: np.dot(np.ones(5) * p[0] ** 2, np.asarray(SERIES)) + p[1],
    lambda p: np.sum((FRAME["t"].to_numpy() * p[0] - FRAME["y"].to_numpy()) ** 2) * p[1],
])
def test_arrays_of_tables(function: Program) -> None:
    agree(function, P)


def by_name(p, d):
    return np.sum((p[0] * d["t"].to_numpy() - p[1] * d.y.values) ** 2)


def of_all(p, d):
    return np.sum((np.asarray(d) @ p) ** 2)


def statistics(p, d):
    return p[0] ** 2 * d["t"].mean() + p[1] * float(d.y.max() - d["y"].min()) * len(d)


def computed_before(p, d):
    scaled = (d["y"] - d["y"].mean()) / d["y"].std()
    return np.sum((np.asarray(scaled) * p[0] - p[1]) ** 2)


def in_a_loop(p, d):
    total = 0.0
    for name in d.columns:
        total = total + p[0] * d[name].sum() * p[1]
    return total


def by_rows(p, d):
    return sum([p[0] * row.t ** 2 + p[1] * row.y for row in d.itertuples()])


def selected(p, d):
    late = d[d["t"] > 0.3]
    return np.sum(late["y"].to_numpy() * p[0]) * p[1]


def of_a_branch(p, d):
    column = d["t"] if len(d) > 3 else d["y"]
    return np.sum(np.exp(p[0] * column.to_numpy())) * p[1]


def changes(p, d):
    return np.sum(p[0] * d["y"].diff().dropna().to_numpy()) * p[1]


def power(p, d, n):
    return p if n == 0 else power(p * d["t"].to_numpy()[-1] * 1.5, d, n - 1)


def by_recursion(p, d):
    return power(p[0], d, 3) * p[1]


def by_columns(p, d, n):
    return p[1] * np.sum(p[0] * d) if n == 0 else by_columns(p, d, n - 1)


def by_masks(p, d):
    high = d["t"] > 0.6
    scaled = np.arange(5.0) * p[0]
    return np.sum(scaled[high]) * p[1] + np.sum(np.where(high, p[0], p[1]))


def by_stores(p, d):
    x = np.zeros(5) * p[0]
    x[:] = d["t"]
    return np.sum(x * p[1]) * p[0]


def by_groups(p, d):
    total = 0.0
    for _, part in d.groupby(d["t"] > 0.4):
        total = total + p[0] * part["y"].sum() * p[1]
    return total


def looked_for(p, d):
    try:
        return np.sum(p[0] * d["none"])
    except KeyError:
        return p[0] * d.iloc[3, 1] * p[1]


@pytest.mark.parametrize("function", one_in(2, [
    by_name, of_all, statistics, computed_before, in_a_loop, by_rows, selected, of_a_branch,
    changes, by_recursion, by_masks, by_stores, by_groups, looked_for,
]))
def test_a_table_as_an_argument(function: Program) -> None:
    before = FRAME.copy()
    agree(function, P, FRAME)
    assert FRAME.equals(before)


@pytest.mark.parametrize("function", [
    lambda p, s: np.sum(p[0] * np.asarray(s)) * p[1], lambda p, s: np.sum(s.values * p[0]) * p[1],
    lambda p, s: p[0] * s.sum() + p[1] ** 2 * s.mean(), lambda p, s: p[0] * (s @ s) * p[1],
    lambda p, s: np.dot(np.full(5, p[0]), s) * p[1], lambda p, s: p[1] * p[0] ** 2 * s[4],
    lambda p, s: np.sum(p[0] + p[1] * (2.0 * s + 1.0).to_numpy()),
])
@pytest.mark.parametrize(
    "series", one_in(2, [SERIES, HOLES.fillna(0.5)]), ids=["reordered", "filled"])
def test_a_series_as_an_argument(function: Program, series: Any) -> None:
    agree(function, P, series)


def test_new_columns_and_dtypes_are_as_good() -> None:
    derivative = grad(by_name)
    for frame in (FRAME, FRAME.assign(z="text"), FRAME.astype("float32"), FRAME[::-1], FRAME[:0]):
        np.testing.assert_allclose(derivative(P, frame), slopes(by_name, P, frame), atol=1e-4)


@dataclasses.dataclass
class Study:
    """A model that holds its data."""

    frame: Any
    power: float

    def misfit(self, p):
        return np.sum((p[0] * self.frame["t"].to_numpy() ** self.power - p[1]) ** 2)


def test_tables_that_instances_and_dicts_hold() -> None:
    agree(lambda p, study: study.misfit(p), P, Study(FRAME, 2.0))
    agree(lambda p, tables: by_name(p, tables["train"]), P, {"train": FRAME, "rest": SERIES})


def test_patterns_of_residuals_of_a_table() -> None:
    def residuals(p, d):
        return d["t"].to_numpy() * p[0] - p[1]

    wanted = [[t, -1.0] for t in FRAME.t]
    np.testing.assert_allclose(sparse_jacobian(residuals)(P, FRAME).toarray(), wanted)


REFUSED = [
    lambda p, s: np.sum((p[0] - s) ** 2), lambda p, s: np.sum((s - p[0]) ** 2),
    lambda p, s: (p[0] * s).sum(), lambda p, s: np.sum(np.exp(p[0] * s)),
    lambda p, s: np.mean(p[0] * np.exp(s)), lambda p, s: np.clip(p[0] * np.ones(5), s, 2.0).sum(),
    lambda p, s: np.sum([p[0] * one for one in (s, s[::-1])][1]),
    lambda p, s: np.sum(p[0] * (s if p[1] > 0.0 else s[::-1])),
    lambda p, s: by_columns(p, s, 2), lambda p, s: by_columns(p, s[::-1], 2),
    lambda p, s: s.mul(p[0]).sum(), lambda p, s: s.apply(lambda x: x * p[0]).sum(),
]


@pytest.mark.parametrize("function", REFUSED)
@pytest.mark.parametrize("derived", [
    lambda f, s: grad(f)(P, s), lambda f, s: jvp(lambda p: f(p, s), (P,), (P,)),
    lambda f, s: hessian(lambda p: f(p, s))(P),
], ids=["reverse", "forward", "second"])
def test_what_a_table_does_with_values_is_refused(function: Program, derived: Any) -> None:
    with pytest.raises(ADError) as refused:
        derived(function, SERIES)
    assert isinstance(refused.value, UnsupportedError | TableError)
    said = str(refused.value)
    assert "limitations.md#" in said


def test_the_refusal_says_where_and_what_instead() -> None:
    with pytest.raises(UnsupportedError, match=r"take its array first: `np.asarray\(s\)`") as known:
        grad(lambda p, s: np.sum(p * s))(1.0, SERIES)
    assert len(known.value.findings) == 1
    with pytest.raises(TableError, match=r"test_tables.py:\d+:\d+: an operand is a Series of pandas"
                       r"[\S\s]*p \* d\[\"t\"\][\S\s]*np\.asarray"):
        grad(lambda p, d: np.sum(p * d["t"]))(1.0, FRAME)


def test_alignment_by_an_index_never_becomes_a_wrong_number() -> None:
    """Labels decide which elements meet; the sum of NumPy's functions passes over NaN."""
    def misaligned(w, d):
        return np.sum((w * d["t"] - d["y"][::-1]) ** 2)

    for derived in (lambda: grad(misaligned)(np.ones(5), FRAME),
                    lambda: jvp(lambda w: misaligned(w, FRAME), (np.ones(5),), (np.ones(5),)),
                    lambda: jvp(lambda w: np.mean(w * HOLES[:]), (2.0,), (1.0,))):
        with pytest.raises(TableError):
            derived()


@pytest.mark.parametrize("function", [
    lambda w, d: [d.__setitem__("z", 1.0), w][1],
    lambda w, d: w * d.drop(columns="t", inplace=True),
    lambda w, d: w * d["t"].fillna(0.0, inplace=True), lambda w, d: w * d.pop("t").sum(),
])
def test_changing_a_table_is_refused(function: Program) -> None:
    before = FRAME.copy()
    with pytest.raises(UnsupportedError):
        grad(function)(2.0, FRAME)
    assert FRAME.equals(before)


def test_a_table_is_not_differentiated() -> None:
    with pytest.raises(TypeError, match="pandas Series"):
        grad(lambda s, p: np.sum(p * np.asarray(s)))(SERIES, np.ones(5))
    with pytest.raises(TypeError, match="pandas DataFrame"):
        grad(lambda p: np.sum(p["w"] * p["d"].values))({"w": 1.0, "d": FRAME})


def test_arrays_of_xarray() -> None:
    xr = pytest.importorskip("xarray")
    data = xr.DataArray(np.arange(5.0), dims="k")
    sets = xr.Dataset({"t": data, "y": data**2})
    assert grad(lambda x: np.sum((x - data.values) ** 2))(1.0) == -10.0
    assert grad(lambda x: np.sum((x - np.asarray(data)) ** 2))(1.0) == -10.0
    agree(lambda p, a: np.sum(p[0] * a.values) * p[1], P, data)
    agree(lambda p, a: p[0] * float(a.mean()) * p[1] ** 2, P, data)
    agree(lambda p, a: np.sum((p[0] * a.sel(k=slice(1, 3)).to_numpy() - p[1]) ** 2), P, data)
    agree(lambda p, d: np.sum((p[0] * d["t"].to_numpy() - p[1] * d.y.values) ** 2), P, sets)
    for function in (lambda x, a: np.sum(x * a), lambda x, a: x * a.mean()):
        with pytest.raises((UnsupportedError, TableError), match="DataArray of xarray"):
            grad(function)(1.0, data)
    with pytest.raises((UnsupportedError, TableError)):
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


def quadratic(w, scale):
    return scale * (w @ np.arange(9.0).reshape(3, 3) @ w)


WEIGHTS = pd.Series([1.0, 2.0, 3.0], index=list("abc"), name="w")


def test_gradients_have_the_labels_of_series_and_frames() -> None:
    plain = WEIGHTS.to_numpy()
    value, slope = labelled(value_and_grad(quadratic))(WEIGHTS, 2.0)
    assert value == quadratic(plain, 2.0) and slope.name == "w"
    pd.testing.assert_series_equal(
        slope, pd.Series(grad(quadratic)(plain, 2.0), index=list("abc"), name="w"))
    found = labelled(hessian(quadratic, argnums="w"))(scale=2.0, w=WEIGHTS)
    pd.testing.assert_frame_equal(
        found, pd.DataFrame(hessian(quadratic)(plain, 2.0), list("abc"), list("abc")))
    rows = labelled(jacobian(lambda w: np.arange(6.0).reshape(2, 3) @ w))(WEIGHTS)
    assert rows.columns.tolist() == list("abc") and rows.loc[1].tolist() == [3.0, 4.0, 5.0]
    bars = labelled(grad(lambda d, k: k * np.sum(d**2), argnums=(0, 1)))(FRAME, 3.0)
    pd.testing.assert_frame_equal(bars[0], 6.0 * FRAME)
    assert bars[1] == float((FRAME**2).to_numpy().sum())
    assert labelled(grad(quadratic))(plain, 2.0).tolist() == slope.tolist()


def test_other_tables_stay_what_they_are() -> None:
    slope = labelled(grad(by_name))(pd.Series(P, index=["p", "q"]), FRAME)
    np.testing.assert_array_equal(slope.to_numpy(), grad(by_name)(P, FRAME))
    assert slope.index.tolist() == ["p", "q"]


def test_gradients_have_the_coordinates_of_arrays_of_xarray() -> None:
    xr = pytest.importorskip("xarray")
    data = xr.DataArray(np.arange(3.0), dims="t", coords={"t": [1, 2, 3]}, name="u")
    xr.testing.assert_identical(labelled(grad(lambda a: np.sum(a**3)))(data), 3.0 * data**2)
    with pytest.raises(TypeError, match="give one of its variables"):
        labelled(grad(lambda a: np.sum(a)))(data.to_dataset())


@pytest.mark.parametrize(("derived", "message"), [
    (lambda: labelled(grad), "labels are given back by grad"),
    (lambda: labelled(hessian(quadratic, argnums=(0, 1))), "by one argument"),
    (lambda: labelled(grad(np.sum))(pd.Series(["a"])), "dtype object has no"),
    (lambda: labelled(jacobian(lambda w: w.sum()))(WEIGHTS), "of a Series"),
    (lambda: labelled(hessian(lambda d: np.sum(d**2)))(FRAME), "DataFrame of pandas and 4 axes"),
])
def test_labels_that_there_are_not(derived: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        derived()
