"""Masked arrays that are made of values which are differentiated."""

import numpy as np
import pytest

from adcompiler import grad, vjp
from adcompiler.errors import ADError, UncoveredError
from tests.lanes import one_in
from tests.rules.agreement import agrees

X = np.array([0.7, -1.2, 2.1, 0.4, -0.3, 1.6])
MASK = np.array([True, False, False, True, False, False])
TABLE = np.stack((X, X[::-1] * 1.3 + 0.2))
MASKS = np.stack((MASK, MASK[::-1] | (X > 2.0)))

ROWS = {
    "sum": lambda x: np.ma.masked_where(MASK, x).sum(),
    "mean": lambda x: np.ma.masked_where(MASK, x * x).mean(),
    "by values": lambda x: np.ma.masked_where(x > 1.0, x).sum(),
    "filled": lambda x: np.ma.masked_where(MASK, x).filled(2.0),
    "filled by itself": lambda x: np.ma.array(x * 2.0, mask=MASK).filled() * 1e-20,
    "function filled": lambda x: np.ma.filled(np.ma.array(x, mask=list(MASK)), x[1]),
    "class": lambda x: np.ma.MaskedArray(x, MASK).sum() * np.ma.masked_array(x).mean(),
    "var": lambda x: np.ma.array(x, mask=MASK).var(),
    "std": lambda x: np.ma.array(x, mask=MASK).std(ddof=1),
    "max": lambda x: np.ma.array(x, mask=MASK).max() - np.ma.array(x, mask=MASK).min(),
    "prod": lambda x: np.ma.array(x, mask=MASK).prod(),
    "compressed": lambda x: np.ma.array(x, mask=MASK).compressed(),
    "count": lambda x: np.ma.array(x, mask=MASK).count() * x[0],
    "data": lambda x: np.ma.array(x, mask=MASK).data ** 2,
    "mask": lambda x: np.where(np.ma.array(x, mask=MASK).mask, x * x, 0.0),
    "arithmetic": lambda x: (2.0 * np.ma.array(x, mask=MASK) - x * x + 1.0).sum(),
    "behind arrays": lambda x: (
        x * np.ma.array(x, mask=MASK) + (x - np.ma.array(x, mask=MASK)) / (
            x / np.ma.array(x, mask=MASK))).filled(0.3),
    "both masked": lambda x: (
        np.ma.array(x, mask=MASK) * np.ma.masked_less(x, 0.0)).filled(0.0),
    "what is left there": lambda x: (np.ma.array(x, mask=MASK) * x).data,
    "quotient": lambda x: (np.ma.array(x, mask=MASK) / np.where(x > 2.0, 0.0, x)).filled(0.5),
    "inverse": lambda x: (1.0 / np.ma.array(x, mask=MASK)).sum(),
    "power": lambda x: (-np.ma.array(x, mask=MASK) ** 3).sum(),
    "part": lambda x: np.ma.array(x, mask=MASK)[2:].sum() + np.ma.array(x, mask=MASK)[1],
    "invalid": lambda x: np.ma.masked_invalid(np.where(MASK, np.nan, x)).mean(),
    "equal": lambda x: np.ma.masked_equal(np.where(MASK, 3.0, x), 3.0).sum(),
    "greater": lambda x: np.ma.masked_greater(x, 1.0).sum(),
}
TABLES = {
    "rows": lambda x: np.ma.array(x, mask=MASKS).sum(axis=1).filled(0.0),
    "columns": lambda x: np.ma.array(x, mask=MASKS).mean(axis=0).filled(-1.0),
    "kept": lambda x: np.ma.array(x, mask=MASKS).mean(axis=1, keepdims=True).data,
    "spread": lambda x: np.ma.array(x, mask=MASKS).std(axis=1).filled(-1.0),
    "transpose": lambda x: np.ma.array(x, mask=MASKS).T.sum(axis=0).data,
    "less the mean": lambda x: (
        np.ma.array(x, mask=MASKS) - np.ma.array(x, mask=MASKS).mean()).filled(0.0) ** 2,
}


@pytest.mark.parametrize(("f", "x"), one_in(3, [
    *(pytest.param(f, X, id=name) for name, f in ROWS.items()),
    *(pytest.param(f, TABLE, id=name) for name, f in TABLES.items()),
]))
def test_values_and_derivatives(f, x):
    found, wanted = vjp(f, x)[0], f(x)
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    weights = np.cos(np.arange(np.size(wanted))).reshape(np.shape(wanted))
    agrees(lambda x: np.sum(f(x) * weights) ** 2, x)


def test_an_instance_counts_as_one_of_numpys():
    def f(x):
        m = np.ma.array(x, mask=MASK)
        return m.sum() if isinstance(m, np.ma.MaskedArray) and m.shape == (6,) else 0.0

    np.testing.assert_array_equal(grad(f)(X), 1.0 - MASK)


def test_where_all_is_masked():
    with pytest.raises(UncoveredError, match="are masked"):
        grad(lambda x: np.ma.masked_where(x < 9.0, x).sum())(X)
    with pytest.raises(UncoveredError, match="is masked"):
        grad(lambda x: np.ma.array(x, mask=MASK)[0])(X)


@pytest.mark.parametrize("f", [
    lambda x: np.sum(np.exp(np.ma.array(x, mask=MASK))),
    lambda x: np.sum(np.ma.array(x, mask=MASK)),
    lambda x: np.ma.array(x, mask=MASK, fill_value=1.0).sum(),
    lambda x: (np.ma.array(x, mask=MASK) ** 0.5).sum(),
    lambda x: np.ma.array(x, mask=MASK).sum(dtype=np.float32),
    lambda x: np.ma.array(x, mask=MASK),
    lambda x: np.ma.median(np.ma.array(x, mask=MASK)),
    lambda x: np.ma.sum(np.ma.array(x, mask=MASK)),
    lambda x: np.mean(np.ma.array(x, mask=MASK)),
    lambda x: np.dot(np.ma.array(x, mask=MASK), x),
    lambda x: np.ma.array(x, mask=MASK) @ x,
    lambda x: np.asarray(np.ma.array(x, mask=MASK))[0],
    lambda x: np.where(MASK, np.ma.array(x, mask=MASK), 0.0)[1],
    lambda x: x[1] * np.linalg.norm(np.ma.array(x, mask=MASK)),
    lambda x: (x * np.ma.array(x, mask=MASK)).cumsum()[0],
    lambda x: (x ** np.ma.array(x, mask=MASK)).sum(),
    lambda x: (x @ np.ma.array(x, mask=MASK)) * 1.0,
])
def test_what_is_not_known(f):
    with pytest.raises((ADError, TypeError)):
        grad(f)(X)


def test_writes_are_refused():
    def f(x):
        m = np.ma.array(x, mask=MASK)
        m[1] = np.ma.masked
        return m.sum()

    with pytest.raises(ADError):
        grad(f)(X)


def test_whole_numbers_and_single_precision():
    def f(x):
        count = np.ma.array([3, 4, 5], mask=[False, True, False]).sum()
        return np.sum(x) * count

    assert grad(f)(1.5) == 8
    found, pull = vjp(lambda x: np.ma.array(x, mask=MASK).mean(), X.astype(np.float32))
    assert found.dtype == np.ma.array(X.astype(np.float32), mask=MASK).mean().dtype
    assert pull(np.float32(1.0))[0].dtype == np.float32


def test_what_is_done_later_with_the_array_is_seen():
    def shared(x):
        y = x * 1.0
        m = np.ma.array(y, mask=MASK)
        y[1] = 3.0 * x[2]
        return m.sum()

    def copied(x):
        y = x * 1.0
        m = np.ma.masked_where(MASK, y)
        y[1] = 3.0 * x[2]
        return m.sum()

    for f in (shared, copied):
        agrees(f, X)
