"""Rules for SciPy's smoothing filters that are linear in the signal, and of their adjoints."""

import numpy as np
import scipy.signal

from adcompiler.rulekit import call, non_differentiable, rrule
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.kernels.scipy_smoothing import (
    savgol_adjoint, sections_edge, sosfiltfilt_adjoint,
)
from adcompiler_rules.scipy.samples import complex_normal

SOS = np.array([[0.5, 0.3, -0.2, 1.0, -0.4, 0.3], [0.7, 0.1, 0.2, 1.0, 0.2, -0.1]])

non_differentiable(sections_edge)


@rrule(scipy.signal.savgol_filter, wrt=("x",), domain=lambda rng: [
    call(rng.normal(size=9), 5, 2),
    call(rng.normal(size=(6, 2)), 3, 1, axis=0),
    call(rng.normal(size=(2, 7)), 5, 3, deriv=1, delta=0.5),
    call(rng.normal(size=6), 5, 2, mode="constant", cval=0.5),
    call(rng.normal(size=6), 4, 2, mode="nearest"),
    call(rng.normal(size=5), 5, 2),
    call(rng.normal(size=7), 4, 1),
    call(rng.normal(size=7), 1, 0),
])
def savgol_filter(x: np.ndarray, window_length, polyorder, deriv=0, delta=1.0, axis=-1,
                  mode="interp",
                  cval=0.0):
    if np.iscomplexobj(x):
        raise NotImplementedError("scipy.signal.savgol_filter takes real parts: it has no rule")
    y = scipy.signal.savgol_filter(x, window_length, polyorder, deriv, delta, axis, mode, cval)

    def savgol_filter_pullback(dy):
        return like(savgol_adjoint(dy, window_length, polyorder, deriv, delta, axis, mode), x)

    return y, savgol_filter_pullback


@rrule(savgol_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 7)), 5, 3, 1, 0.5, -1, "interp"),
    call(rng.normal(size=6), 4, 2, 0, 1.0, 0, "wrap"),
])
def savgol_adjoint_rule(g, window, polyorder, deriv, delta, axis, mode):
    def savgol_adjoint_pullback(dx):
        options = (window, polyorder, deriv, delta, axis, mode, 0.0)
        moved = scipy.signal.savgol_filter(np.real(dx), *options)
        if np.iscomplexobj(dx):
            moved = moved + 1j * scipy.signal.savgol_filter(np.imag(dx), *options)
        return like(moved, g)

    return savgol_adjoint(g, window, polyorder, deriv, delta, axis, mode), savgol_adjoint_pullback


@rrule(scipy.signal.sosfiltfilt, wrt=("x",), domain=lambda rng: [
    call(SOS, rng.normal(size=18)),
    call(SOS, rng.normal(size=(8, 2)), axis=0, padtype="even", padlen=3),
    call(SOS, rng.normal(size=8), padtype="constant", padlen=2),
    call(SOS, rng.normal(size=8), padtype=None),
    call(SOS, complex_normal(rng, 8), padlen=4),
])
def sosfiltfilt(sos: np.ndarray, x: np.ndarray, axis=-1, padtype="odd", padlen=None):
    """Linear in the signal; of the coefficients it has no derivative."""
    y = scipy.signal.sosfiltfilt(sos, x, axis, padtype, padlen)

    def sosfiltfilt_pullback(dy):
        edge = sections_edge(sos) if padlen is None else padlen
        edge = 0 if padtype is None else edge
        return like(sosfiltfilt_adjoint(dy, sos, np.shape(x)[axis], axis, padtype, edge), x)

    return y, sosfiltfilt_pullback


@rrule(sosfiltfilt_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=8), SOS, 8, -1, "odd", 3),
    call(complex_normal(rng, 6), SOS, 6, 0, None, 0),
])
def sosfiltfilt_adjoint_rule(g, sos, n, axis, padtype, edge):
    def sosfiltfilt_adjoint_pullback(dx):
        return like(scipy.signal.sosfiltfilt(sos, dx, axis, padtype, edge), g)

    return sosfiltfilt_adjoint(g, sos, n, axis, padtype, edge), sosfiltfilt_adjoint_pullback
