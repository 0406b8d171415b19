"""Whether a reshape is a view depends on the layout of the array that was copied."""

import numpy as np
import pytest
import scipy.linalg
from adcompiler import (
    UnsupportedError, grad, hvp, jacobian_sparsity, jvp, value_and_grad, vjp,
)
from adcompiler.runtime.adjoints.shaping import CopiedError, copy_as_laid_out
from adcompiler_rules.kernels.shaping import ravel_positions
from numpy.lib.stride_tricks import as_strided


def written_then_reshaped(A):
    A[0, 0] *= 2.0
    b = A.reshape(-1)
    b[1] *= 3.0
    return A.sum() + 10.0 * b.sum()


def apart(A):
    """Return ``A`` in storage with a gap between the rows."""
    wide = np.zeros((A.shape[0], A.shape[1] + 1))
    wide[:, :-1] = A
    return wide[:, :-1]


def spread(A):
    """Return ``A`` in every other place of its storage, where it can still be read in one row."""
    wide = np.zeros((A.shape[0], 2 * A.shape[1]))
    wide[:, ::2] = A
    return wide[:, ::2]


A = np.arange(1.0, 7.0).reshape(2, 3)


@pytest.mark.parametrize("made", [np.copy, spread])
def test_a_view_stays_a_view(made):
    value, gradient = value_and_grad(written_then_reshaped)(made(A))
    assert value == written_then_reshaped(made(A))
    assert np.array_equal(gradient, [[22.0, 33.0, 11.0], [11.0, 11.0, 11.0]])


@pytest.mark.parametrize("made", [apart, np.asfortranarray])
def test_what_is_no_view_is_refused_when_it_runs(made):
    B = made(A)
    with pytest.raises(CopiedError, match=r"A\.reshape|this makes a copy"):
        value_and_grad(written_then_reshaped)(B)
    assert np.array_equal(B, A)


def test_residuals_of_a_callee_keep_the_order_of_axes():
    def halve(t, o):
        o[1:3] = (0, 2)
        total = 0.0
        for x in o:
            view = t.T.ravel()
            view[1] /= np.tanh(min(list(view))) ** 2
            total += np.sum(t) * np.sqrt(1.0 + x**2)
        return total

    def f(x, m):
        g = np.arange(6.0).reshape(2, 3) + x
        return halve(g[:, [1, 0, 1]], m[1]) + m[0][0]

    x, m = 0.7, [np.array([0.5, 0.6, 0.7]), np.array([0.5, 0.6, 0.7])]
    wanted = (f(x + 1e-6, [m[0], m[1].copy()]) - f(x - 1e-6, [m[0], m[1].copy()])) / 2e-6
    for _ in range(2):
        value, pullback = vjp(f, x, [m[0], m[1].copy()], argnums=0)
        assert value == pytest.approx(f(x, [m[0], m[1].copy()]), rel=1e-14)
        assert pullback(1.0) == pytest.approx(wanted, rel=1e-8)
        assert pullback(1.0) == pytest.approx(wanted, rel=1e-8)


def in_rows(y):
    return np.sum(y.ravel("K") * np.arange(float(y.size))) + y.strides[0] * np.sum(y)


def added_in_place(x):
    y = x.T * 1.0
    y += np.ones(y.shape)
    return in_rows(y)


def copied_without_gaps(x):
    return in_rows(np.copy(x[:, ::2])) + np.sum(np.copy(x[:, ::2]).ravel("A") * np.arange(6.0))


def a_view_or_not(x):
    y = x.T * 1.0
    y += np.ones(y.shape)
    v = y.reshape(-1)
    v[0] = 5.0
    return np.sum(y * y)


def held_by_a_list(x):
    held = [x[:, ::2]]
    held[0][0, 0] = 3.25
    return in_rows(held[0])


def differences(f, x):
    steps = np.eye(x.size).reshape(x.size, *x.shape) * 1e-6
    moved = [[copy_as_laid_out(x) for _ in range(2)] for _ in steps]
    for (up, down), step in zip(moved, steps, strict=True):
        up += step
        down -= step
    found = [(f(up) - f(down)) / 2e-6 for up, down in moved]
    return np.reshape(found, x.shape)


GRID = np.cos(np.arange(12.0)).reshape(3, 4)
LAID_OUT = (GRID, np.asfortranarray(GRID), GRID[::-1], spread(GRID))


def test_results_of_operators_in_place_stay_where_they_were():
    for f in (added_in_place, copied_without_gaps, held_by_a_list):
        for x in LAID_OUT:
            value, gradient = value_and_grad(f)(x)
            assert value == pytest.approx(f(copy_as_laid_out(x)), rel=1e-13)
            assert np.allclose(gradient, differences(f, x), rtol=1e-6)


def test_a_reshape_of_what_lies_in_another_order_is_a_copy():
    right = 0
    for x in LAID_OUT:
        if np.isfortran(x.T * 1.0):
            with pytest.raises(CopiedError):
                grad(a_view_or_not)(x)
            continue
        right += 1
        value, gradient = value_and_grad(a_view_or_not)(x)
        assert value == pytest.approx(a_view_or_not(copy_as_laid_out(x)), rel=1e-13)
        assert np.allclose(gradient, differences(a_view_or_not, x), rtol=1e-6)
    assert right


def test_results_made_in_another_way_than_the_library_does_are_refused():
    with pytest.raises(UnsupportedError, match="lies in memory is not known"):
        grad(lambda x: in_rows(np.vectorize(lambda v: v * v)(x)))(GRID)
    with pytest.raises(UnsupportedError, match="lies in memory is not known"):
        grad(lambda x: in_rows(np.c_[x, x]))(GRID)
    with pytest.raises(UnsupportedError, match="C order"):
        grad(lambda x: (x.T * 1.0).ravel("K")[1], backend="native")(GRID)


def test_a_rule_keeps_what_its_pullback_reads_when_its_result_is_written():
    def written(x):
        r, s = scipy.linalg.orthogonal_procrustes(x, np.eye(3) + GRID[0, :3])
        r[0, 0] = 3.0
        return np.sum(r * np.arange(9.0).reshape(3, 3)) + s

    x = GRID[:, :3] + 2.0 * np.eye(3)
    assert np.allclose(grad(written)(x), differences(written, x), rtol=1e-5, atol=1e-6)


def test_positions_of_elements_as_they_lie_are_those_of_ravel():
    rng = np.random.default_rng(0)
    base = np.arange(400.0)
    for _ in range(300):
        axes = rng.integers(1, 5)
        strides = rng.choice([0, 0, 8, 16, 24, 32, 48, 64, -8, -16, -24, -48], axes).tolist()
        x = as_strided(base[200:], rng.integers(1, 4, axes).tolist(), strides)
        for order in "KA":
            assert np.array_equal(x.ravel(order), x.ravel()[ravel_positions(x, order)])


def test_patterns_follow_the_order_that_is_asked_for():
    def in_columns(x):
        y = np.copy(x, order="F")
        v = y.reshape(-1)
        v[0] = 9.0
        return 2.0 * y

    for mode in ("global", "local"):
        with pytest.raises((UnsupportedError, CopiedError)):
            jacobian_sparsity(in_columns, GRID, mode=mode)


def read_apart(y, n):
    """Call itself, so that it is compiled on its own."""
    if n > 0:
        return read_apart(y, n - 1)
    y = y**3
    y += np.ones(y.shape)
    return np.sum(y.ravel("K") ** 2 * np.arange(float(y.size)))


def read_by_a_callee(x):
    return read_apart(np.sort(x.T, axis=0), 2) + read_apart(x, 1)


def read_after_a_loop(x):
    y = x.T * 1.0
    for i in range(3):
        y *= np.ones((4, 3)) * (1.0 + 0.1 * i)
        y = np.sort(y, axis=1)
        y += x.T
    return np.sum(y.ravel("K") ** 3 * np.arange(12.0))


def test_derivatives_of_each_kind_have_the_layouts_of_the_function():
    direction = np.sin(np.arange(12.0)).reshape(3, 4)
    for f in (read_by_a_callee, read_after_a_loop):
        for x in LAID_OUT[:2]:
            d = np.asarray(direction, order="F" if np.isfortran(x) else "C")
            slope = np.sum(differences(f, x) * d)
            assert np.sum(grad(f)(x) * d) == pytest.approx(slope, rel=1e-5)
            assert jvp(f, (x,), (d,))[1] == pytest.approx(slope, rel=1e-5)
            assert np.sum(vjp(f, x)[1](1.0) * d) == pytest.approx(slope, rel=1e-5)
            curvature = np.sum(grad(f)(x + 1e-5 * d) * d) - np.sum(grad(f)(x - 1e-5 * d) * d)
            assert np.sum(hvp(f, x, d) * d) == pytest.approx(curvature / 2e-5, rel=1e-5)
