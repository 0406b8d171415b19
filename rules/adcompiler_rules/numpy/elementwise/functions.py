"""Rules of NumPy's elementwise functions that are not ufuncs: clip, where, select, sinc, ..."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
import numpy as np
import scipy  # its subpackages are imported when they are first asked for

from adcompiler.rulekit import Call, Domain, alias, call, facts, rrule, scalar_rule
from adcompiler.runtime import project
from adcompiler.runtime.adjoints.elementwise import sinc_derivative
from adcompiler_rules.compositions import composed
from adcompiler_rules.kernels.reductions import choose_adjoint, select_adjoint
from adcompiler_rules.kernels.scipy_series import i0_derivative, sinc_of_order
from adcompiler.runtime.adjoints.shaping import like

# --- complex numbers ------------------------------------------------------------------------------


@rrule(np.real, linear=(0,), domain=(-2.0, 2.0))
def real_rule(val):
    y = np.real(val)

    def real_pullback(dy):
        return like(dy, val)

    return y, real_pullback


@rrule(np.imag, linear=(0,), domain=(-2.0, 2.0))
def imag_rule(val):
    y = np.imag(val)

    def imag_pullback(dy):
        return like(1j * dy, val)

    return y, imag_pullback


@rrule(np.ndarray.conj, np.ndarray.conjugate, linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3)) + 0.5j), call(rng.normal(size=3)), call(np.asarray(1.5 - 2j)),
])
def conjugate_method(x):
    def conjugate_method_pullback(dy):
        return np.conjugate(dy)

    return x.conjugate(), conjugate_method_pullback


@rrule(np.angle, domain=lambda rng: [
    call(0.3 + 0.4j), call(rng.normal(size=(2, 3)) + 1j), call(np.array([1j, 1 + 1j]), True),
    call(np.array([1.5, -2.0])), call(2.0, deg=True), call(np.array([1 - 2j, -2j])),
], kink="0 at the origin")
def angle_rule(z, deg=False):
    y = np.angle(z, deg)

    def angle_pullback(dy):
        size = np.real(z) ** 2 + np.imag(z) ** 2
        slope = 57.29577951308232 * dy if deg else dy
        return like(1j * slope * z / (size + (size == 0.0)), z)

    return y, angle_pullback


@rrule(np.real_if_close, wrt=("a",), domain=lambda rng: [
    call(np.array([1 + 0.5j, 2.0])), call(np.array([1.5, 2.5])), call(np.array([1 + 2j]), tol=10),
])
def real_if_close_rule(a, tol=100):
    y = np.real_if_close(a, tol)

    def real_if_close_pullback(dy):
        return like(dy, a)

    return y, real_if_close_pullback


# --- bounds and replacement -----------------------------------------------------------------------


def clip_samples(rng: np.random.Generator) -> list[Call]:
    """Return calls with numbers, arrays and None as bounds, the lower above the upper too."""
    x = np.linspace(-2.0, 2.0, 8).reshape(2, 4)
    low = np.array([-1.0, -0.3, 0.2, 1.1])
    calls = [
        call(x, -1.1, 1.2), call(x, None, 0.7), call(x, -0.3, None), call(x, low, 1.2),
        call(x, low, low + 0.5), call(x, np.array([[-1.0], [0.5]]), None), call(x, 1.0, -1.0),
        call(0.3, x, 1.5), call(0.3, 0.0, 1.0), call(1.3, 0.0, 1.0), call(np.empty(0), 0.0, 1.0),
        call(x[:, ::2].T, -1.1, 1.2),
    ]
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        calls += [call(x, min=-0.5), call(x, max=np.array([0.7])), call(x, min=low, max=1.3)]
    return calls


@rrule(np.clip, wrt=("a", "a_min", "a_max", "min", "max"), domain=clip_samples,
       kink="at a bound the derivative goes to a: 1 on the closed interval")
def clip_rule(a, a_min=None, a_max=None, *, min=None, max=None):
    low = a_min if min is None else min
    high = a_max if max is None else max
    y = np.clip(a, low, high)

    def clip_pullback(dy):
        da = project(np.where(a == y, dy, 0.0), a)
        if low is None:
            dlow = None
        else:
            dlow = project(np.where(np.less(a, low) & (low == y), dy, 0.0), low)
        if high is None:
            dhigh = None
        elif low is None:
            dhigh = project(np.where(np.greater(a, y), dy, 0.0), high)
        else:
            dhigh = project(np.where(np.greater(a, y) | np.greater(low, y), dy, 0.0), high)
        if min is None:
            da_min, dmin = dlow, None
        else:
            da_min, dmin = None, dlow
        if max is None:
            da_max, dmax = dhigh, None
        else:
            da_max, dmax = None, dhigh
        return da, da_min, da_max, dmin, dmax

    return y, clip_pullback


@rrule(np.nan_to_num, wrt=("x",), domain=lambda rng: [
    call(np.array([1.5, np.nan, -2.0])),
    call(np.array([np.inf, -np.inf, 0.5]), posinf=2.0, neginf=0.0),
    call(1.5), call(np.nan),
    call(np.array([[np.nan], [0.3]]), nan=2.0, posinf=1.0, neginf=-1.0), call(np.float64(2.5)),
    call(np.array([1 + 2j, complex(np.nan, 1.0), complex(2.0, np.inf)]), posinf=1.0),
], kink="what is replaced has derivative 0")
def nan_to_num_rule(x, *, nan=0.0, posinf=None, neginf=None):
    y = np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)

    def nan_to_num_pullback(dy):
        if np.iscomplexobj(x):
            dreal = np.isfinite(np.real(x)) * np.real(dy)
            dimag = np.isfinite(np.imag(x)) * np.imag(dy)
            dx = dreal + 1j * dimag
        else:
            dx = np.isfinite(x) * dy
        return like(dx, x)

    return y, nan_to_num_pullback


@rrule(np.unwrap, wrt=("p",), templates=("discont",), domain=lambda rng: [
    call(np.array([0.1, 3.0, 6.5, 0.4, 1.0])), call(np.cumsum(rng.uniform(0, 4, (3, 5)), axis=1)),
    call(np.array([0.0, 5.3, 2.1]), period=4), call(rng.uniform(0, 9, (4, 2)), axis=0, discont=4.0),
])
def unwrap_rule(p: np.ndarray, discont=None, axis=-1, *, period=6.283185307179586):
    y = np.unwrap(p, discont=discont, axis=axis, period=period)

    def unwrap_pullback(dy):
        return like(dy, p)

    return y, unwrap_pullback


# --- choosing among arrays ------------------------------------------------------------------------


@rrule(np.where, wrt=("x", "y"), templates=("condition",), linear=(1, 2), domain=lambda rng: [
    call(np.array([True, False, True]), rng.normal(size=3), rng.normal(size=3)),
    call(rng.normal(size=(2, 3)) > 0, rng.normal(size=3), 0.5), call(True, 1.5, 2.5),
    call(np.array([[1], [0]]), 0.0, rng.normal(size=(2, 3))), call(np.empty(0), 1.5, np.empty(0)),
    call(rng.normal(size=3) > 0, rng.normal(size=(2, 1)), 1j * rng.normal(size=3)),
    call(np.array([True, False]), [0.5, 1.5], np.array([np.nan, 2.0])),
])
def where_rule(condition, x, y):
    out = np.where(condition, x, y)

    def where_pullback(dout):
        dx = project(np.where(condition, dout, 0.0), x)
        dy = project(np.where(condition, 0.0, dout), y)
        return dx, dy

    return out, where_pullback


@rrule(np.select, wrt=("choicelist", "default"), linear=(1, 2), domain=lambda rng: [
    call([np.array([True, True, False, False]), np.array([True, False, True, False])],
         [rng.normal(size=4), rng.normal(size=4)]),
    call([np.array([True, False])], [np.array([1.5, 2.5])], 0.7),
    call([np.array([[True], [False]]), np.array([False, True, True])],
         [rng.normal(size=3), rng.normal(size=(2, 1))], rng.normal(size=(2, 3))),
    call([rng.normal(size=(2, 2)) > 0], [0.5], default=rng.normal(size=2)),
    call(np.array([False, True]), rng.normal(size=2), rng.normal(size=3)),
])
def select_rule(condlist: Sequence[Any], choicelist: Sequence[Any], default=0):
    y = np.select(condlist, choicelist, default)

    def select_pullback(dy):
        dchoicelist, ddefault = select_adjoint(dy, condlist, len(choicelist))
        if not isinstance(choicelist, np.ndarray):
            return project(dchoicelist, choicelist), project(ddefault, default)
        shape = np.shape(choicelist)  # of each choice the axes are the last ones
        between = (1,) * (np.ndim(dy) + 1 - len(shape))
        aligned = np.reshape(choicelist, (shape[0], *between, *shape[1:]))
        dchoices = np.reshape(project(np.stack(dchoicelist), aligned), shape)
        return dchoices, project(ddefault, default)

    return y, select_pullback


@rrule(np.choose, wrt=("choices",), linear=(1,), domain=lambda rng: [
    call(np.array([0, 1, 1]), [rng.normal(size=3), rng.normal(size=3)]),
    call(np.array([[0], [2]]), [0.5, rng.normal(size=3), rng.normal(size=(2, 1))]),
    call(np.array([1, 0, 2]), rng.normal(size=(3, 3))),
    call(np.array([-1, 5]), [1.5, 2.5], mode="wrap"),
    call(np.array([-1, 5, 1]), (1.5, rng.normal(size=3)), mode="clip"), call(1, [0.5, 1.5]),
])
def choose_rule(a, choices: Sequence[Any], *, mode="raise"):
    y = np.choose(a, choices, mode=mode)

    def choose_pullback(dy):
        return choose_adjoint(dy, a, choices, mode)

    return y, choose_pullback


facts(select_adjoint, shares="none")


@rrule(select_adjoint, wrt=("dy",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=4),
         [np.array([True, False, True, False]), np.array([True, True, False, False])], 2),
    call(rng.normal(size=(2, 3)), [np.array([[True], [False]])], 1),
])
def select_adjoint_rule(dy, condlist, choices):
    shares = select_adjoint(dy, condlist, choices)

    def select_adjoint_pullback(dshares):
        return np.select(condlist, dshares[0], dshares[1])

    return shares, select_adjoint_pullback


@rrule(choose_adjoint, wrt=("dy",), templates=("choices",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=3), np.array([0, 1, 1]), [rng.normal(size=3), 0.5], "raise"),
    call(rng.normal(size=3), np.array([0, 3, -1]), rng.normal(size=(2, 3)), "wrap"),
])
def choose_adjoint_rule(dy, a, choices, mode):
    dchoices = choose_adjoint(dy, a, choices, mode)

    def choose_adjoint_pullback(slopes):
        return project(np.choose(a, slopes, mode=mode), dy)

    return dchoices, choose_adjoint_pullback


# --- special functions ----------------------------------------------------------------------------

scalar_rule(np.sinc, lambda x: sinc_derivative(x, 1),
            domain=Domain(intervals=((-2.0, 2.0),),
                          calls=lambda rng: [call(0.0), call(np.array([0.0, 1.0, -0.5]))]))
scalar_rule(sinc_derivative, lambda x, order: sinc_derivative(x, order + 1), None,
            domain=lambda rng: [call(np.array([0.0, 1.0, -0.5, 1e-5, 2.7]), 1), call(0.3, 2),
                                call(1.7, 3)])
scalar_rule(np.i0, lambda x: scipy.special.i1(x),
            domain=lambda rng: [call(np.array([0.0, 0.3, -2.5, 7.9, 8.1, -20.0])), call(1.5),
                                call(np.array([[0.7], [-12.0]]))])


# --- attributes and methods of arrays -------------------------------------------------------------

alias(np.ndarray.real, np.real)
alias(np.ndarray.imag, np.imag)
alias(np.ndarray.clip, np.clip)
alias(np.ndarray.choose, np.choose)

facts(np.sinc, recurrence=composed(sinc_of_order))
facts(np.i0, recurrence=composed(i0_derivative))
