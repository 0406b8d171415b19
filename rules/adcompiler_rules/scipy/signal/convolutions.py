"""Rules for SciPy's convolutions: the adjoint of a convolution is a correlation."""

import numpy as np
import scipy.signal

from adcompiler.rulekit import call, non_differentiable, rrule
from adcompiler.runtime import unbroadcast
from adcompiler_rules.kernels.scipy_signal import in_full, planar_adjoints, turned
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.scipy.samples import complex_normal


def samples(rng):
    """Return operands of one and two axes, and of both orders of size."""
    return [
        call(rng.normal(size=5), rng.normal(size=3)),
        call(rng.normal(size=5), rng.normal(size=3), "same"),
        call(rng.normal(size=5), rng.normal(size=2), mode="same"),
        call(rng.normal(size=3), rng.normal(size=6), mode="same"),
        call(rng.normal(size=5), rng.normal(size=3), mode="valid"),
        call(rng.normal(size=2), rng.normal(size=4), mode="valid"),
        call(complex_normal(rng, 4), complex_normal(rng, 2)),
        call(rng.normal(size=(3, 4)), rng.normal(size=(2, 2))),
        call(rng.normal(size=(3, 4)), rng.normal(size=(2, 3)), mode="valid"),
        call(rng.normal(size=(3, 4)), rng.normal(size=(2, 3)), mode="same"),
    ]


def all_axes(x):
    """Return the axes of an array."""
    return tuple(range(np.ndim(x)))


def axes_along(axes, x):
    """Return the axes to convolve along as a tuple, by default those of ``x``."""
    return all_axes(x) if axes is None else tuple(np.reshape(axes, -1))


non_differentiable(axes_along)


@rrule(scipy.signal.convolve, wrt=("in1", "in2"), bilinear=(0, 1), domain=samples)
def convolve(in1: np.ndarray, in2: np.ndarray, mode="full", method="auto"):
    y = scipy.signal.convolve(in1, in2, mode, method)

    def convolve_pullback(dy):
        full = in_full(dy, np.shape(in1), np.shape(in2), mode, all_axes(in1))
        d1 = scipy.signal.correlate(full, in2, "valid", method)
        return like(d1, in1), like(scipy.signal.correlate(full, in1, "valid", method), in2)

    return y, convolve_pullback


@rrule(scipy.signal.correlate, wrt=("in1", "in2"), domain=samples)
def correlate(in1: np.ndarray, in2: np.ndarray, mode="full", method="auto"):
    """A convolution with the conjugate of ``in2`` in opposite order."""
    y = scipy.signal.correlate(in1, in2, mode, method)

    def correlate_pullback(dy):
        full = in_full(dy, np.shape(in1), np.shape(in2), mode, all_axes(in1))
        d1 = scipy.signal.convolve(full, in2, "valid", method)
        d2 = turned(scipy.signal.correlate(full, in1, "valid", method), None)
        return like(d1, in1), like(d2, in2)

    return y, correlate_pullback


def samples_along_axes(rng):
    """Return the samples, and such as are broadcast along the other axes."""
    return [
        *samples(rng),
        call(rng.normal(size=(2, 5)), rng.normal(size=(1, 3)), axes=1),
        call(rng.normal(size=(2, 5)), rng.normal(size=(2, 3)), "same", axes=[-1]),
        call(rng.normal(size=(4, 1)), rng.normal(size=(2, 3)), "valid", axes=0),
    ]


@rrule(scipy.signal.fftconvolve, wrt=("in1", "in2"), bilinear=(0, 1), domain=samples_along_axes)
def fftconvolve(in1: np.ndarray, in2: np.ndarray, mode="full", axes=None):
    y = scipy.signal.fftconvolve(in1, in2, mode, axes)
    along = axes_along(axes, in1)

    def fftconvolve_pullback(dy):
        full = in_full(dy, np.shape(in1), np.shape(in2), mode, along)
        d1 = scipy.signal.fftconvolve(full, turned(in2, along), "valid", along)
        d2 = scipy.signal.fftconvolve(full, turned(in1, along), "valid", along)
        d1, d2 = unbroadcast(d1, np.shape(in1)), unbroadcast(d2, np.shape(in2))
        return like(d1, in1), like(d2, in2)

    return y, fftconvolve_pullback


@rrule(scipy.signal.oaconvolve, wrt=("in1", "in2"), bilinear=(0, 1), domain=samples_along_axes)
def oaconvolve(in1: np.ndarray, in2: np.ndarray, mode="full", axes=None):
    y = scipy.signal.oaconvolve(in1, in2, mode, axes)
    along = axes_along(axes, in1)

    def oaconvolve_pullback(dy):
        full = in_full(dy, np.shape(in1), np.shape(in2), mode, along)
        d1 = scipy.signal.oaconvolve(full, turned(in2, along), "valid", along)
        d2 = scipy.signal.oaconvolve(full, turned(in1, along), "valid", along)
        d1, d2 = unbroadcast(d1, np.shape(in1)), unbroadcast(d2, np.shape(in2))
        return like(d1, in1), like(d2, in2)

    return y, oaconvolve_pullback


def planar_samples(rng):
    """Return images and kernels with every boundary."""
    return [
        call(rng.normal(size=(3, 4)), rng.normal(size=(2, 3)), mode, boundary)
        for mode in ("full", "same", "valid") for boundary in ("fill", "wrap", "symm")
    ] + [
        call(rng.normal(size=(3, 4)), rng.normal(size=(3, 2)), "same", fillvalue=0.5),
        call(rng.normal(size=(2, 2)), rng.normal(size=(3, 4)), "valid"),
        call(complex_normal(rng, 3, 3), complex_normal(rng, 2, 2), "same", "wrap"),
    ]


@rrule(scipy.signal.convolve2d, wrt=("in1", "in2"), domain=planar_samples)
def convolve2d(in1: np.ndarray, in2: np.ndarray, mode="full", boundary="fill", fillvalue=0):
    y = scipy.signal.convolve2d(in1, in2, mode, boundary, fillvalue)

    def convolve2d_pullback(dy):
        d1, d2 = planar_adjoints(dy, in1, in2, mode, boundary, fillvalue)
        return like(d1, in1), like(d2, in2)

    return y, convolve2d_pullback


@rrule(scipy.signal.correlate2d, wrt=("in1", "in2"), domain=lambda rng: [
    sample for sample in planar_samples(rng) if len(sample.args[0]) >= len(sample.args[1])
])
def correlate2d(in1: np.ndarray, in2: np.ndarray, mode="full", boundary="fill", fillvalue=0):
    """A convolution with the conjugate of ``in2`` in opposite order."""
    if mode == "valid" and np.any(np.less(np.shape(in1), np.shape(in2))):
        raise NotImplementedError(
            "scipy.signal.correlate2d with mode='valid' has a rule where in1 is the larger one"
        )
    y = scipy.signal.correlate2d(in1, in2, mode, boundary, fillvalue)

    def correlate2d_pullback(dy):
        part = "later" if mode == "same" else mode
        d1, d2 = planar_adjoints(dy, in1, turned(in2, (0, 1)), part, boundary, fillvalue)
        return like(d1, in1), like(turned(d2, (0, 1)), in2)

    return y, correlate2d_pullback
