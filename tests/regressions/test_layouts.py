"""Whether a reshape is a view depends on the layout of the array that was copied."""

import numpy as np
import pytest
from adcompiler import value_and_grad, vjp
from adcompiler.runtime.shaping import CopiedError


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
