"""Rules for SciPy's filters, detrending and analytic signals."""

import numpy as np
import scipy.signal

from adcompiler.rulekit import call, facts, non_differentiable, rrule, scalar_rule
from adcompiler_rules.kernels.scipy_signal import (
    filtfilt_adjoint, lfilter_adjoints, sosfilt_adjoints, upfirdn_adjoints,
)
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.scipy.samples import complex_normal

B, A = np.array([0.5, 0.3, -0.2]), np.array([1.5, -0.4, 0.3])
SOS = np.array([[2, 1, -1, 1, 0, 0], [1, 0, 2, 1, 1, 0]])  # integers: sos[:, 3] is not moved

non_differentiable(
    scipy.signal.argrelextrema, scipy.signal.argrelmax, scipy.signal.argrelmin,
    scipy.signal.choose_conv_method, scipy.signal.correlation_lags, scipy.signal.find_peaks,
    scipy.signal.find_peaks_cwt, scipy.signal.max_len_seq, scipy.signal.unit_impulse,
    scipy.signal.check_COLA, scipy.signal.check_NOLA, scipy.signal.square,
)

facts(  # of orders and windows; what they depend on is differentiated in their source, or refused
    scipy.signal.buttord, scipy.signal.cheb1ord, scipy.signal.cheb2ord, scipy.signal.ellipord,
    scipy.signal.get_window, scipy.signal.savgol_coeffs, pure=True, writes=(), shares="none",
    tried=True,
)

scalar_rule(scipy.signal.kaiser_atten,
            lambda numtaps, width: 2.285 * np.pi * width,
            lambda numtaps, width: 2.285 * np.pi * (numtaps - 1.0),
            domain=((4.0, 20.0), (0.1, 0.4)))


@rrule(scipy.signal.kaiser_beta, domain=lambda rng: [call(60.0), call(30.0), call(10.0)])
def kaiser_beta(a):
    beta = scipy.signal.kaiser_beta(a)

    def kaiser_beta_pullback(dbeta):
        if a > 50:
            return 0.1102 * dbeta
        if a > 21:
            return (0.23368 * (a - 21) ** -0.6 + 0.07886) * dbeta
        return 0.0 * dbeta

    return beta, kaiser_beta_pullback


@rrule(scipy.signal.lfilter, wrt=("b", "a", "x", "zi"), domain=lambda rng: [
    call(B, A, rng.normal(size=6)),
    call(B, A[:2], rng.normal(size=(6, 2)), axis=0),
    call(B[:1], A, rng.normal(size=(2, 5))),
    call(B, np.array([1.0]), rng.normal(size=5)),
    call(B, A, rng.normal(size=6), zi=rng.normal(size=2)),
    call(B, A, rng.normal(size=(2, 5)), -1, rng.normal(size=(2, 2))),
    call(B, A, rng.normal(size=1), zi=rng.normal(size=2)),
    call(B, A, complex_normal(rng, 5)),
])
def lfilter(b, a, x: np.ndarray, axis=-1, zi=None):
    """With ``zi`` the result is the signal and the last state."""
    y = scipy.signal.lfilter(b, a, x, axis, zi)
    signal = y if zi is None else y[0]

    def lfilter_pullback(dy):
        if zi is None:
            db, da, dx, _ = lfilter_adjoints(dy, None, b, a, x, axis, None, signal)
            return like(db, b), like(da, a), like(dx, x), None
        db, da, dx, dzi = lfilter_adjoints(dy[0], dy[1], b, a, x, axis, zi, signal)
        return like(db, b), like(da, a), like(dx, x), like(dzi, zi)

    return y, lfilter_pullback


@rrule(scipy.signal.sosfilt, wrt=("sos", "x", "zi"), domain=lambda rng: [
    call(SOS, rng.normal(size=6)),
    call(SOS, rng.normal(size=(5, 2)), axis=0),
    call(SOS, rng.normal(size=6), zi=rng.normal(size=(2, 2))),
])
def sosfilt(sos: np.ndarray, x: np.ndarray, axis=-1, zi=None):
    """``sos[:, 3]`` must be one: its cotangent says what a change would do if it were allowed."""
    y = scipy.signal.sosfilt(sos, x, axis, zi)

    def sosfilt_pullback(dy):
        if zi is None:
            dsos, dx, _ = sosfilt_adjoints(dy, None, sos, x, axis, None)
            return like(dsos, sos), like(dx, x), None
        dsos, dx, dzi = sosfilt_adjoints(dy[0], dy[1], sos, x, axis, zi)
        return like(dsos, sos), like(dx, x), like(dzi, zi)

    return y, sosfilt_pullback


@rrule(scipy.signal.filtfilt, wrt=("x",), domain=lambda rng: [
    call(B, A, rng.normal(size=14)),
    call(B, A, rng.normal(size=(12, 2)), axis=0, padtype="even"),
    call(B, A, rng.normal(size=12), padtype="constant", padlen=3),
    call(B, A, rng.normal(size=12), padtype=None),
    call(B, A, complex_normal(rng, 12)),
])
def filtfilt(b, a, x: np.ndarray, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None):
    """Linear in the signal; of the coefficients it has no derivative."""
    if method != "pad":
        raise NotImplementedError("scipy.signal.filtfilt has a rule for method='pad'")
    y = scipy.signal.filtfilt(b, a, x, axis, padtype, padlen)

    def filtfilt_pullback(dy):
        edge = 3 * max(np.size(a), np.size(b)) if padlen is None else padlen
        edge = 0 if padtype is None else edge
        return like(filtfilt_adjoint(dy, b, a, np.shape(x)[axis], axis, padtype, edge), x)

    return y, filtfilt_pullback


@rrule(scipy.signal.upfirdn, wrt=("h", "x"), domain=lambda rng: [
    call(rng.normal(size=3), rng.normal(size=5)),
    call(rng.normal(size=4), rng.normal(size=5), 3, 2),
    call(rng.normal(size=4), rng.normal(size=(2, 5)), 2, 3),
    call(rng.normal(size=3), rng.normal(size=(4, 2)), up=2, axis=0),
    call(complex_normal(rng, 3), complex_normal(rng, 4), down=2),
])
def upfirdn(h: np.ndarray, x: np.ndarray, up=1, down=1, axis=-1, mode="constant", cval=0):
    if mode != "constant" or cval != 0:
        raise NotImplementedError("scipy.signal.upfirdn has a rule with zeros beyond the ends")
    if np.ndim(h) != 1:
        raise NotImplementedError("scipy.signal.upfirdn has a rule for a single filter")
    y = scipy.signal.upfirdn(h, x, up, down, axis)

    def upfirdn_pullback(dy):
        dh, dx = upfirdn_adjoints(dy, h, x, up, down, axis)
        return like(dh, h), like(dx, x)

    return y, upfirdn_pullback


@rrule(scipy.signal.detrend, wrt=("data",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=6)),
    call(rng.normal(size=(3, 5))),
    call(rng.normal(size=(5, 2)), axis=0, type="constant"),
    call(rng.normal(size=8), bp=[3]),
    call(complex_normal(rng, 5)),
])
def detrend(data: np.ndarray, axis=-1, type="linear", bp=0, overwrite_data=False):
    """An orthogonal projection, which is its own adjoint."""
    y = scipy.signal.detrend(data, axis, type, bp)

    def detrend_pullback(dy):
        return like(scipy.signal.detrend(dy, axis, type, bp), data)

    return y, detrend_pullback


@rrule(scipy.signal.hilbert, wrt=("x",), domain=lambda rng: [
    call(rng.normal(size=6)),
    call(rng.normal(size=5)),
    call(rng.normal(size=(2, 6)), 4),
    call(rng.normal(size=(4, 2)), N=7, axis=0),
])
def hilbert(x: np.ndarray, N=None, axis=-1):
    """The imaginary part is a transform of the signal whose adjoint is its negative."""
    y = scipy.signal.hilbert(x, N, axis)

    def hilbert_pullback(dy):
        n = np.shape(x)[axis]
        both = np.real(dy) - np.imag(scipy.signal.hilbert(np.imag(dy), None, axis))
        return like(fitted(both, n, axis), x)

    return y, hilbert_pullback


def fitted(g, n, axis):
    """Return ``g`` cut, or filled with zeros, to the length ``n``."""
    g = np.moveaxis(g, axis, -1)[..., :n]
    missing = np.zeros((*np.shape(g)[:-1], n - np.shape(g)[-1]), g.dtype)
    return np.moveaxis(np.concatenate((g, missing), -1), -1, axis)
