"""Code for many seeds: what is emitted, and the derivatives of functions that need some care."""

import numpy as np
import pytest
from adcompiler import jvp, source, vjp
from adcompiler.api.emitted import kept_derivative
from adcompiler.api.seeds import batched_jvp, batched_vjp


def emitted(function, mode, *args):
    """Return the body of the function that works on seeds, for all arguments."""
    derivative = kept_derivative(function, mode, tuple(range(len(args))), batched=True)
    text = derivative.source_for(*args)
    return text[text.rindex("def ") :]


def seeds_of_axis(of_each, pullback, cotangents):
    """Compare pullbacks of many cotangents with those of each."""
    found = of_each(cotangents)
    for i, g in enumerate(cotangents):
        for a, b in zip(found, pullback(g if g.ndim else float(g)), strict=True):
            assert a[i] == pytest.approx(b, rel=1e-12, abs=1e-12)


def check(function, *args, seeds=7):
    """Compare with one seed after another in both modes; return whether it is one sweep."""
    rng = np.random.default_rng(0)
    y, pullback = vjp(function, *args)
    _, of_each = batched_vjp(function, *args)
    for other in {*np.shape(y), 2} - {0, 1}:  # a number of seeds for each axis
        seeds_of_axis(of_each, pullback, rng.normal(size=(other, *np.shape(y))))
    cotangents = rng.normal(size=(seeds, *np.shape(y)))
    found = of_each(cotangents)
    for i in range(seeds):
        g = cotangents[i] if np.ndim(y) else float(cotangents[i])
        for a, b in zip(found, pullback(g), strict=True):
            assert a[i] == pytest.approx(b, rel=1e-12, abs=1e-12)
    tangents = tuple(rng.normal(size=(seeds, *np.shape(x))) for x in args)
    _, pushed = batched_jvp(function, args, tangents)
    for i in range(seeds):
        along = tuple(d[i] if np.ndim(x) else float(d[i]) for d, x in zip(
            tangents, args, strict=True))
        assert pushed[i] == pytest.approx(jvp(function, args, along)[1], rel=1e-12, abs=1e-12)
    wanted = tuple(range(len(args)))
    reports = [
        kept_derivative(function, mode, wanted, batched=True).specialisations.latest.report["seeds"]
        for mode in ("vjp", "forward")
    ]
    return reports == [[], []]


x = np.array([0.3, -0.7, 1.1, 0.4])
M = np.arange(12.0).reshape(3, 4) / 7.0


def test_a_stencil_is_one_sweep_over_all_seeds():
    def stencil(u, k):
        lap = u[2:] - 2.0 * u[1:-1] + u[:-2]
        return u[1:-1] + k * lap

    assert check(stencil, x, 0.3)
    text = emitted(stencil, "forward", x, 0.3)
    assert "u_dot[:, 2:] - 2.0 * item_dot + u_dot[:, :-2]" in text
    assert "k_dot[:, np.newaxis] * lap + k * lap_dot" in text
    assert "for " not in text
    assert "u_bar[:, 2:] += " in emitted(stencil, "vjp", x, 0.3)


def test_arrays_that_are_flattened_and_joined_are_one_sweep():
    def joined(u, k):
        grid = u.reshape(2, 2)
        flat = (grid * grid).ravel()
        rows = np.stack([np.ravel(grid), flat.flatten()], axis=-1)
        wide = np.concatenate([rows, np.ones((4, 1)), rows * k], axis=1)
        return np.concatenate([wide.ravel(), flat])

    check(joined, x, 0.3)
    text = emitted(joined, "forward", x, 0.3)
    assert "for " not in text
    assert "stacked" not in text


def test_a_loop_of_scalar_stores_is_one_sweep():
    def smooth(u):
        v = u.copy()
        for i in range(1, len(u) - 1):
            v[i] = v[i - 1] * u[i] + u[i + 1]
        return v

    assert check(smooth, x)


@pytest.mark.parametrize("function", [
    lambda a, v: np.tanh(a @ v), lambda a, v: (a @ v) @ a, lambda a, v: np.outer(v, v) * a.sum(),
    lambda a, v: a * v, lambda a, v: a.T.reshape(-1)[2:] * v[0], lambda a, v: a[:, [0, 0, 2]] @ a,
    lambda a, v: np.where(v > 0.0, v * v, a[0]), lambda a, v: a[1] / a.sum(axis=0) * v,
    lambda a, v: (a + v[:1]).mean() * v, lambda a, v: a.sum(axis=(0, -1)) * v,
    lambda a, v: np.array([v[0] * v[1], a[0, 0]]), lambda a, v: np.cumsum(a, axis=0)[-1] * v,
    lambda a, v: a[v > 0.0, 1:][:, ::-1] if a.shape[0] == 4 else a[0] * v,
])
def test_array_code(function):
    check(function, M[:3], x)


def test_results_without_axes_and_python_numbers():
    assert check(lambda a, b: a * b + a, 0.5, 2.0)
    assert check(lambda v: v @ v, x)


def test_complex_numbers_of_two_parts():
    check(lambda a, b: abs(complex(a, b) * complex(b, 2.0)), 0.5, 2.0)
    check(lambda a, b: abs(complex(2.0, a) * complex(a)) * b, 0.5, 2.0)


def test_reshaping_in_the_order_of_columns():
    check(lambda a: np.reshape(a * a, (6, 2), "F")[1:], M[:4])
    check(lambda a: np.ravel(a * a, "F"), M[:4])


def test_one_seed_after_another_where_there_is_no_other_way():
    def solved(a, b):
        return np.linalg.solve(a, b)

    A = np.array([[3.0, 1.0], [0.5, 2.0]])
    check(solved, A, np.array([1.0, 2.0]))


def test_products_and_systems_of_vectors_are_one_sweep():
    def products(a, b):
        return np.outer(a, b) @ b

    def solved(b):
        return np.linalg.solve(A, b)

    A = np.array([[3.0, 1.0], [0.5, 2.0]])
    assert check(products, x, np.array([1.0, -2.0]))
    check(solved, np.array([1.0, 2.0]))
    assert "for " not in emitted(solved, "vjp", x[:2])
    assert "for " not in emitted(products, "forward", x, x)


def test_sizes_are_those_of_one_seed():
    def scaled(u):
        v = u.mean(axis=0, keepdims=True) * u
        return v / v.size + u.std(axis=0) * len(u) * u.ndim

    assert check(scaled, M)


def test_pairs_of_indices_are_one_sweep():
    def at_pairs(u):
        total = 0.0
        for place in ((0, 1), (2, 3), (0, 1)):
            total = total + u[place] ** 2
        return total

    def by_lists(u):
        i = np.array([0, 2, 0]), np.array([1, 3, 1])
        v = u.copy()
        v[i] = v[i] * u[1, 1]
        return v

    assert check(at_pairs, M)
    check(by_lists, M)


def test_regions_are_one_sweep():
    def quiet(u):
        with np.errstate(divide="ignore"):
            v = np.log(u * u + 0.5)
        return v * u

    def tried(u, s):
        try:
            if s < 0.0:
                raise ValueError
            v = u * s
        except ValueError:
            v = -u
        return v * u

    assert check(quiet, x)
    check(tried, x, 2.0)
    check(tried, x, -2.0)


def test_what_a_loop_overwrites_is_not_seen_by_earlier_reads():
    def swap(u):
        v = u.copy()
        for i in range(len(u) - 1):
            a = v[i]
            v[i] = v[i + 1] * 2.0
            v[i + 1] = a * a
        return v

    check(swap, x)


def test_cotangents_of_another_shape_are_refused():
    _, pullback = batched_vjp(np.sin, x)
    with pytest.raises(ValueError, match="one axis more"):
        pullback(np.ones(4))
    with pytest.raises(ValueError, match="one axis more"):
        pullback(np.ones((2, 3)))


def test_columns_are_copied_only_where_something_is_written():
    def chain(x):
        y = []
        for i in range(1, len(x) - 1):
            y.append(x[i] * x[i + 1] - x[i - 1])
        return y

    def swapped(x):
        y = x * x
        first = y[0]
        y[0] = y[1]
        y[1] = first * x[2]
        return y

    x = np.array([1.0, 2.0, 3.0, 4.0])
    seeds = np.random.default_rng(0).normal(size=(5, 4))
    read = source(chain, x, mode="forward", argnums=(0,), batched=True)
    assert "np.copy" not in read
    _, found = batched_jvp(chain, (x,), (seeds,))
    assert np.allclose(found[0], 3.0 * seeds[:, 1] + 2.0 * seeds[:, 2] - seeds[:, 0])
    kept = seeds.copy()
    found[0][:] = np.nan
    assert np.array_equal(seeds, kept)
    _, pieces = batched_jvp(lambda x: [x[0], x[1:]], (x,), (seeds,))
    pieces[0][:] = pieces[1][:] = np.nan
    assert np.array_equal(seeds, kept)
    written = source(swapped, x, mode="forward", argnums=(0,), batched=True)
    assert "np.copy" in written
    _, found = batched_jvp(swapped, (x,), (seeds,))
    assert np.allclose(found[:, 0], 4.0 * seeds[:, 1])
    assert np.allclose(found[:, 1], 6.0 * seeds[:, 0] + seeds[:, 2])


def test_the_transpose_of_a_vector_is_the_vector():
    def turned(x):
        y = x * x
        z = y.T
        z[0] = x[1]
        return y * z + x.T

    for size in (3, 4, 5):
        check(turned, np.linspace(0.5, 2.0, size), seeds=5)


def test_writes_through_a_transpose():
    def columns(x):
        y = np.zeros((2, len(x)))
        y.T[1] += x[0] * x[1]
        y.T[:, 0] = x
        return y @ x

    check(columns, np.array([0.5, 1.5, 2.0]), seeds=3)


@pytest.mark.parametrize("function", [
    lambda v: v * v.sum(), lambda v: np.linalg.det(np.outer(v, v) + np.eye(4)) * v[:2],
    lambda v: np.linalg.eigvalsh(np.outer(v, v) + np.eye(4)),
])
def test_no_seeds_at_all(function):
    value, pullback = batched_vjp(function, x)
    assert pullback(np.zeros((0, *value.shape)))[0].shape == (0, 4)
    along = batched_jvp(function, (x,), (np.zeros((0, 4)),))[1]
    assert along.shape == (0, *value.shape)


def test_different_numbers_of_seeds_are_refused():
    _, pullback = batched_vjp(lambda v: (v * 2.0, v.sum()), x)
    with pytest.raises(ValueError, match="different numbers of seeds: 1 and 3"):
        pullback((np.ones((3, 4)), np.ones(1)))
    with pytest.raises(ValueError, match="the tangents are of different numbers of seeds: 2 and 3"):
        batched_jvp(lambda a, b: a * b, (x, x), (np.ones((3, 4)), np.ones((2, 4))))
