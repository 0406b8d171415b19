"""Arguments at the edge: other layouts and classes, empty arrays, no iterations, NaN and infinity."""

import math

import numpy as np
import pytest

from adcompiler import grad, value_and_grad, vjp

NAN, INF = math.nan, math.inf


def squares(x):
    return np.sum(x * x)


def loop_of_squares(x):
    total = 0.0
    for value in x:
        total = total + value * value
    return total


def mixed(x):
    y = np.sin(x) @ np.ones((x.shape[-1], 2)) if x.ndim == 2 else np.sin(x)
    return np.sum(y * 3.0) + np.sum(x[::-1] * 0.5) + np.max(x)


# --- layouts --------------------------------------------------------------------------------------


def read_only(x):
    x.flags.writeable = False
    return x


LAYOUTS = {
    "contiguous": lambda x: x.copy(),
    "fortran": np.asfortranarray,
    "transposed": lambda x: x.T.copy().T,
    "reversed": lambda x: x[::-1].copy()[::-1],
    "strided": lambda x: np.repeat(x, 2, axis=0)[::2],
    "read-only": lambda x: read_only(x.copy()),
    "byte-swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "subclass": lambda x: x.view(type("Plain", (np.ndarray,), {})),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(4,), (2, 3)], ids=str)
@pytest.mark.parametrize("f", [squares, mixed])
def test_layout_does_not_matter(layout, shape, f):
    x = np.random.default_rng(0).normal(size=shape)
    given = LAYOUTS[layout](x)
    value, g = value_and_grad(f)(given)
    wanted, expected = value_and_grad(f)(x)
    assert value == pytest.approx(wanted, rel=1e-15)
    np.testing.assert_allclose(g, expected, rtol=1e-14)
    assert type(g) is np.ndarray
    assert g.dtype == given.dtype
    assert g.flags.writeable
    assert not np.shares_memory(g, given)
    np.testing.assert_array_equal(given, x)


def test_order_of_memory_is_kept_apart_from_order_of_elements():
    weights = np.arange(6.0)
    for x in (np.ones((2, 3)), np.asfortranarray(np.ones((2, 3)))):
        g = grad(lambda x: np.sum(x.ravel() * weights))(x)
        assert g.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


# --- classes and dtypes ---------------------------------------------------------------------------


@pytest.mark.parametrize("x", [
    3, np.int8(3), np.uint16(3), np.int64(3), np.array(3), np.float64(3.0), 3.0, np.array(3.0),
], ids=lambda x: f"{type(x).__name__}-{x.dtype if hasattr(x, 'dtype') else ''}")
def test_scalars_of_every_class(x):
    g = grad(lambda x: x * x)(x)
    assert g == 6.0
    if isinstance(x, np.ndarray):
        assert isinstance(g, np.ndarray) and g.shape == () and g.dtype == np.float64
    else:
        assert type(g) is (np.float64 if isinstance(x, np.generic) else float)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_integer_arrays_count_as_floats(dtype):
    g = grad(squares)(np.array([1, 200 % 128, 3], dtype))
    assert g.dtype == np.float64
    assert g.tolist() == [2.0, 144.0, 6.0]  # no overflow of int8


@pytest.mark.parametrize("x", [
    True, np.True_, np.array([True]), np.array([1.0], object), np.array(["a"]),
    np.zeros(2, [("a", "f8")]), np.array(["2020"], "M8[D]"), "a", None,
], ids=lambda x: f"{type(x).__name__}-{getattr(x, 'dtype', '')}")
def test_what_is_no_number_is_refused(x):
    with pytest.raises(TypeError, match="cannot differentiate with respect to x"):
        grad(lambda x: 1.0 if x is None else 2.0)(x)


@pytest.mark.parametrize("data", [
    np.array([True, False]), np.array([1.5, 2.5], object), np.array(["a", "b"]),
    np.zeros(2, [("a", "f8")]), np.array(["2020", "2021"], "M8[D]"), b"ab", None,
], ids=lambda x: f"{type(x).__name__}-{getattr(x, 'dtype', '')}")
def test_arguments_that_are_not_differentiated_may_be_anything(data):
    assert grad(lambda x, data: x * x * (1.0 if data is None else len(data)))(3.0, data) == (
        6.0 if data is None else 12.0
    )


def masked():
    return np.ma.array([1.0, 2.0], mask=[False, True])


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize(("make", "name"), [
    (masked, "MaskedArray"), (lambda: np.matrix([[1.0, 2.0]]), "matrix"),
    (lambda: [masked()], "MaskedArray"), (lambda: {"a": (masked(), 1.0)}, "MaskedArray"),
])
def test_arrays_with_operators_of_their_own_are_refused(make, name):
    with pytest.raises(TypeError, match=f"argument m is a {name}"):
        grad(lambda x, m: x * 2.0)(1.0, make())
    with pytest.raises(TypeError, match=f"argument m is a {name}"):
        grad(lambda m: np.sum(m))(make())


def test_arguments_stay_as_they_are():
    x, y = np.arange(3.0), [1.0, np.ones(2)]
    grad(lambda x, y: np.sum(x) * y[0] + np.sum(y[1]), argnums=(0, 1))(x, y)
    assert x.tolist() == [0.0, 1.0, 2.0]
    assert y[0] == 1.0 and y[1].tolist() == [1.0, 1.0]


# --- no elements, no iterations, one --------------------------------------------------------------


@pytest.mark.parametrize("f", [
    squares, loop_of_squares, lambda x: sum(v * v for v in x) + 0.0,
    lambda x: np.max(x, initial=0.0), lambda x: np.prod(x), lambda x: np.linalg.norm(x),
    lambda x: np.sum(np.cumsum(x)), lambda x: x @ x, lambda x: np.sum(np.sort(x)),
    lambda x: np.sum(np.concatenate([x, x])), lambda x: np.sum(x[:0]), lambda x: np.sum(np.diff(x)),
    lambda x: np.sum(np.outer(x, x)), lambda x: np.sum(x[x > 0.0]),
], ids=range(14))
def test_empty_array(f):
    value, g = value_and_grad(f)(np.zeros(0))
    assert value == f(np.zeros(0))
    assert g.shape == (0,) and g.dtype == np.float64


def test_empty_axes():
    g = grad(lambda x: np.sum(np.sin(x) @ np.ones((0, 3))))(np.zeros((2, 0)))
    assert g.shape == (2, 0)
    g, h = grad(lambda x, y: np.sum(x @ y), argnums=(0, 1))(np.zeros((2, 0)), np.zeros((0, 3)))
    assert g.shape == (2, 0) and h.shape == (0, 3)
    g = grad(lambda x: np.sum(x) + np.sum(np.zeros((0, 3)) * x))(np.ones(3))
    assert g.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(("x", "expected"), [([], []), ([2.0], [4.0]), ([2.0, 3.0], [4.0, 6.0])])
@pytest.mark.parametrize("kind", [list, np.array])
def test_loops_of_few_iterations(kind, x, expected):
    assert list(grad(loop_of_squares)(kind(x))) == expected


@pytest.mark.parametrize(("n", "expected"), [(0, 1.0), (1, 2.0 * 1.5), (2, 4.0 * 1.5**3), (-1, 1.0)])
def test_counted_loops_of_few_iterations(n, expected):
    def f(x, n):
        for _ in range(n):
            x = x * x
        return x

    assert grad(f)(1.5, n) == pytest.approx(expected)


def test_while_loops_of_few_iterations():
    def f(x, limit):
        while x < limit:
            x = 3.0 * x
        return x

    assert [grad(f)(1.0, limit) for limit in (0.5, 2.0, 5.0)] == [1.0, 3.0, 9.0]


def test_axes_of_size_one():
    g, h = grad(lambda x, y: np.sum(x * y), argnums=(0, 1))(np.ones(1), np.arange(3.0))
    assert g.tolist() == [3.0] and h.tolist() == [1.0, 1.0, 1.0]
    g, h = grad(lambda x, y: np.sum(x / y), argnums=(0, 1))(np.ones((3, 1)), np.full((1, 2), 2.0))
    assert g.tolist() == [[1.0]] * 3 and h.tolist() == [[-0.75, -0.75]]
    assert grad(lambda x: x * 2.0)(np.ones((1, 1))).tolist() == [[2.0]]


# --- NaN and infinity -----------------------------------------------------------------------------


def assert_gradient(f, x, expected):
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(grad(f)(np.array(x)), expected, rtol=1e-14)


@pytest.mark.parametrize(("f", "expected"), [
    (squares, [2.0, NAN, 6.0]),
    (lambda x: np.sum(np.where(np.isnan(x), 0.0, 2.0 * x)), [2.0, 0.0, 2.0]),
    (lambda x: np.nansum(x * x), [2.0, NAN, 6.0]),
    (np.nansum, [1.0, 0.0, 1.0]),
    (np.nanmax, [0.0, 0.0, 1.0]),
    (np.nanmean, [0.5, 0.0, 0.5]),
    (np.nanvar, [-1.0, 0.0, 1.0]),
    (np.nanprod, [3.0, 0.0, 1.0]),
    (lambda x: np.var(x, where=~np.isnan(x)), [-1.0, 0.0, 1.0]),
    (lambda x: np.std(x, where=~np.isnan(x)), [-0.5, 0.0, 0.5]),
    (lambda x: np.mean(x, where=~np.isnan(x)), [0.5, 0.0, 0.5]),
    (lambda x: np.sum(x, where=~np.isnan(x)), [1.0, 0.0, 1.0]),
    (lambda x: np.sum(np.fmax(x, 2.0)), [0.0, 0.0, 1.0]),
    (lambda x: np.sum(np.nan_to_num(x)), [1.0, 0.0, 1.0]),
    (lambda x: np.sum(x[~np.isnan(x)] ** 2), [2.0, 0.0, 6.0]),
    (np.max, [0.0, 0.0, 0.0]),
], ids=range(16))
def test_nan_stays_in_its_place(f, expected):
    assert_gradient(f, [1.0, NAN, 3.0], expected)


@pytest.mark.parametrize(("f", "x", "expected"), [
    (lambda x: np.sum(np.sqrt(np.maximum(x, 0.0))), [-1.0, 4.0], [0.0, 0.25]),
    (lambda x: np.sum(np.sqrt(np.fmax(x, 0.0))), [-1.0, 4.0], [0.0, 0.25]),
    (lambda x: np.sum(np.sqrt(-np.minimum(x, 0.0))), [1.0, -4.0], [0.0, -0.25]),
    (lambda x: np.sum(np.sqrt(np.clip(x, 0.0, None))), [-1.0, 4.0], [0.0, 0.25]),
    (lambda x: np.sqrt(np.max(x)), [-1.0, 0.0], [0.0, INF]),
    (lambda x: np.sqrt(np.min(x)), [0.0, 1.0], [INF, 0.0]),
    (lambda x: np.sum(np.where(x > 0.0, np.sqrt(np.where(x > 0.0, x, 1.0)), 0.0)),
     [0.0, 4.0], [0.0, 0.25]),
    (np.prod, [0.0, 2.0, 3.0], [6.0, 0.0, 0.0]),
    (np.prod, [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
    (lambda x: np.sum(np.cumprod(x)), [0.0, 2.0, 3.0], [9.0, 0.0, 0.0]),
    (np.linalg.norm, [0.0, 0.0], [0.0, 0.0]),
    (np.std, [1.5, 1.5], [0.0, 0.0]),
    (lambda x: np.sum(np.abs(x)), [0.0, -2.0], [0.0, -1.0]),
    (lambda x: np.sum(x**2), [0.0, 1.0], [0.0, 2.0]),
    (lambda x: np.sum(x**1.0), [0.0, 1.0], [1.0, 1.0]),
    (lambda x: np.sum(x**0), [0.0, INF], [0.0, 0.0]),
    (lambda x: np.sum(x**0.0), [0.0, 1.0], [0.0, 0.0]),
    (lambda x: np.sum(np.exp(-x)), [INF, 0.0], [0.0, -1.0]),
    (lambda x: np.sum(np.tanh(x)), [INF, -INF], [0.0, 0.0]),
    (lambda x: np.sum(np.arctan(x)), [INF, -INF], [0.0, 0.0]),
    (lambda x: np.sum(np.logaddexp(x, -INF)), [-INF, 1.0], [0.0, 1.0]),
    (lambda x: np.log(np.sum(np.exp(x - np.max(x)))) + np.max(x), [-INF, 1.0], [0.0, 1.0]),
    (lambda x: np.sum(np.maximum(x, 1.0)), [INF, -INF], [1.0, 0.0]),
], ids=range(23))
def test_zero_times_infinity_is_avoided(f, x, expected):
    assert_gradient(f, x, expected)


def test_power_of_zero_in_both_arguments():
    dx, dp = grad(lambda x, p: np.sum(x**p), argnums=(0, 1))(
        np.array([0.0, 0.0, 2.0]), np.array([0.0, 1.0, 2.0]))
    assert dx.tolist() == [0.0, 1.0, 4.0]
    np.testing.assert_allclose(dp, [0.0, 0.0, 4.0 * math.log(2.0)])


@pytest.mark.parametrize("x", [NAN, INF, -INF])
def test_python_numbers_that_are_not_finite(x):
    _, pullback = vjp(lambda x: x + 2.0 * x, x)
    assert pullback(1.0) == (3.0,)
    g = grad(lambda x: max(x, 0.0) + min(x, 1.0))(x)
    # Both take their first argument where it is NaN, as it is then the result.
    assert g == (2.0 if math.isnan(x) else 1.0)
