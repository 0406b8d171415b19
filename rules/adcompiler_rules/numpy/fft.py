"""Rules of ``np.fft``: every transform is linear, and its adjoint is a transform the other way.

The sum of a transform is the adjoint of that of its inverse, but for the factor ``1 / n``, which
``norm=`` moves. A real transform keeps half of the spectrum, where all frequencies but zero and the
last of an even number stand for two: they count half in the adjoint of ``rfft``, twice in that of
``irfft``. What ``n`` or ``s`` cut off or padded, the adjoint pads or cuts off.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.rulekit import Call, call, complexes, facts, non_differentiable, rrule
from adcompiler.runtime import project
from adcompiler_rules.kernels.fourier import (
    cosine_ends,
    ends_scaled,
    extents,
    fitted,
    inner_scaled,
    opposite,
    sine_ends,
    transformed_axes,
    trigonometric_dual,
)
from adcompiler.runtime.adjoints.shaping import like

facts(fitted, typed_as=lambda g, shape: np.empty((1,) * len(shape), np.asarray(g).dtype))

NORMS = ("backward", "ortho", "forward")


def spectra(rng: np.random.Generator) -> list[Call]:
    """Return transforms of odd and even lengths, padded and cut, along every kind of axis."""
    z = complexes(rng, 4, 5)
    return [
        *[call(z[0, :n]) for n in (1, 2, 3, 4, 5)], call(z), call(z, axis=0), call(z, None, -2),
        *[call(z, n, axis) for n in (3, 4, 6, 7) for axis in (0, 1)],
        *[call(z[:3], norm=norm) for norm in NORMS], call(z, 6, 0, "ortho"),
        call(z, 3, 1, "forward"),
        call(z[::2, ::-1].T, axis=1), call(np.zeros((0, 3), complex)), call(z[:1, 0], 4),
    ]


def signals(rng: np.random.Generator) -> list[Call]:
    """Return the transforms of ``spectra``, of real arrays."""
    calls = [Call((np.real(c.args[0]), *c.args[1:]), c.kwargs) for c in spectra(rng)]
    return [*calls, call([0.5, 1.5, -0.3]), call([0.5, 1.5, -0.3], 4)]


def half_spectra(rng: np.random.Generator) -> list[Call]:
    """Return the transforms of ``spectra`` that have an even or odd number of points."""
    calls = [c for c in spectra(rng) if np.shape(c.args[0]) != (1,)]
    return [
        *calls, call(complexes(rng, 4), 7), call(complexes(rng, 4), 6), call(complexes(rng, 1), 1),
        call(complexes(rng, 2), 2), *signals(rng)[-2:],
    ]


# --- along one axis -------------------------------------------------------------------------------


@rrule(np.fft.fft, wrt=("a",), linear=(0,), domain=lambda rng: [*spectra(rng), *signals(rng)])
def fft_rule(a: np.ndarray, n=None, axis=-1, norm=None):
    a_shape = np.shape(a)

    def fft_pullback(dy):
        da = np.fft.ifft(dy, axis=axis, norm=opposite(norm))
        return like(da if n is None else fitted(da, a_shape), a)

    return np.fft.fft(a, n, axis, norm), fft_pullback


@rrule(np.fft.ifft, wrt=("a",), linear=(0,), domain=lambda rng: [*spectra(rng), *signals(rng)])
def ifft_rule(a: np.ndarray, n=None, axis=-1, norm=None):
    a_shape = np.shape(a)

    def ifft_pullback(dy):
        da = np.fft.fft(dy, axis=axis, norm=opposite(norm))
        return like(da if n is None else fitted(da, a_shape), a)

    return np.fft.ifft(a, n, axis, norm), ifft_pullback


@rrule(np.fft.rfft, wrt=("a",), linear=(0,), domain=signals)
def rfft_rule(a: np.ndarray, n=None, axis=-1, norm=None):
    a_shape = np.shape(a)
    count = a_shape[axis] if n is None else n

    def rfft_pullback(dy):
        weighted = inner_scaled(dy, count, axis, 0.5)
        da = np.fft.irfft(weighted, count, axis, opposite(norm))
        return like(da if n is None else fitted(da, a_shape), a)

    return np.fft.rfft(a, n, axis, norm), rfft_pullback


@rrule(np.fft.irfft, wrt=("a",), linear=(0,), domain=half_spectra)
def irfft_rule(a: np.ndarray, n=None, axis=-1, norm=None):
    a_shape = np.shape(a)
    y = np.fft.irfft(a, n, axis, norm)
    count = np.shape(y)[axis]

    def irfft_pullback(dy):
        da = inner_scaled(np.fft.rfft(dy, axis=axis, norm=opposite(norm)), count, axis, 2.0)
        return like(da if n is None else fitted(da, a_shape), a)

    return y, irfft_pullback


@rrule(np.fft.hfft, wrt=("a",), linear=(0,), domain=half_spectra)
def hfft_rule(a: np.ndarray, n=None, axis=-1, norm=None):
    a_shape = np.shape(a)
    y = np.fft.hfft(a, n, axis, norm)
    count = np.shape(y)[axis]

    def hfft_pullback(dy):
        da = inner_scaled(np.fft.ihfft(dy, axis=axis, norm=opposite(norm)), count, axis, 2.0)
        return like(da if n is None else fitted(da, a_shape), a)

    return y, hfft_pullback


@rrule(np.fft.ihfft, wrt=("a",), linear=(0,), domain=signals)
def ihfft_rule(a: np.ndarray, n=None, axis=-1, norm=None):
    a_shape = np.shape(a)
    count = a_shape[axis] if n is None else n

    def ihfft_pullback(dy):
        da = np.fft.hfft(inner_scaled(dy, count, axis, 0.5), count, axis, opposite(norm))
        return like(da if n is None else fitted(da, a_shape), a)

    return np.fft.ihfft(a, n, axis, norm), ihfft_pullback


# --- along several axes ---------------------------------------------------------------------------


def planes(rng: np.random.Generator) -> list[Call]:
    """Return transforms over two axes, padded and cut."""
    z = complexes(rng, 2, 3, 4)
    return [
        call(z), call(z[0]), call(z, axes=(0, 2)), call(z[0], (3, 3)), call(z, (2, 6), (1, 0)),
        call(z[0], norm="ortho"), call(z[0], [4, 5], norm="forward"), call(z[1].T, axes=(-1,)),
        call(np.real(z)), call(np.real(z[0]), (4, 2)), call([[0.5, 1.5], [-0.3, 0.7]]),
    ]


def named_axes(calls: list[Call]) -> list[Call]:
    """Return the calls with the axes written out that ``s`` is for, as NumPy 2 wants them."""
    return [Call((*c.args, (-2, -1)), c.kwargs) if len(c.args) == 2 else c for c in calls]


def spaces(rng: np.random.Generator) -> list[Call]:
    """Return transforms over one, two, three and all axes."""
    z = complexes(rng, 2, 3, 4)
    return [
        *named_axes(planes(rng)), call(z[0, 0]), call(z, axes=(1,)), call(z, (3, 2, 5), (0, 1, 2)),
        call(z, axes=(2, 0, 1), norm="backward"), call(z, s=(5,), axes=(-2,), norm="ortho"),
    ]


def reals(calls: list[Call]) -> list[Call]:
    """Return transforms of the real parts."""
    return [Call((np.real(c.args[0]), *c.args[1:]), c.kwargs) for c in calls]


def real_planes(rng: np.random.Generator) -> list[Call]:
    """Return transforms of real arrays over two axes."""
    return reals(planes(rng))


def real_spaces(rng: np.random.Generator) -> list[Call]:
    """Return transforms of real arrays over one, two, three and all axes."""
    return reals(spaces(rng))


def half_planes(rng: np.random.Generator) -> list[Call]:
    """Return transforms of half spectra over two axes."""
    return [*planes(rng), call(complexes(rng, 3, 4), (3, 7)), call(complexes(rng, 3, 4), (2, 6))]


def half_spaces(rng: np.random.Generator) -> list[Call]:
    """Return transforms of half spectra over one, two, three and all axes."""
    return [*named_axes(half_planes(rng)), *spaces(rng)[-4:]]


def ofcomplexes(transform: Any, back: Any, all_axes: Any, domain: Any) -> None:
    """Register the rule of a transform over several axes, by default over ``all_axes``."""

    @rrule(transform, wrt=("a",), linear=(0,), domain=domain)
    def rule(a, s=None, axes=all_axes, norm=None):
        a_shape = np.shape(a)
        along = axes if s is None else transformed_axes(a_shape, s, axes)
        y = transform(a, s, axes, norm)

        def transform_pullback(dy):
            da = back(dy, axes=along, norm=opposite(norm))
            return like(da if s is None else fitted(da, a_shape), a)

        return y, transform_pullback


ofcomplexes(np.fft.fft2, np.fft.ifftn, (-2, -1), planes)
ofcomplexes(np.fft.fftn, np.fft.ifftn, None, spaces)
ofcomplexes(np.fft.ifft2, np.fft.fftn, (-2, -1), planes)
ofcomplexes(np.fft.ifftn, np.fft.fftn, None, spaces)


def of_real(transform: Any, all_axes: Any, domain: Any) -> None:
    """Register the rule of a transform of real numbers to half of their spectrum."""

    @rrule(transform, wrt=("a",), linear=(0,), domain=domain)
    def rule(a: np.ndarray, s=None, axes=all_axes, norm=None):
        a_shape = np.shape(a)
        along = transformed_axes(a_shape, s, axes)
        counts = extents(a_shape, s, along)
        y = transform(a, s, axes, norm)

        def transform_pullback(dy):
            half = inner_scaled(dy, counts[-1], along[-1], 0.5)
            da = np.fft.irfftn(half, counts, along, opposite(norm))
            return like(da if s is None else fitted(da, a_shape), a)

        return y, transform_pullback


of_real(np.fft.rfft2, (-2, -1), real_planes)
of_real(np.fft.rfftn, None, real_spaces)


def to_real(transform: Any, all_axes: Any, domain: Any) -> None:
    """Register the rule of a transform of half a spectrum to real numbers."""

    @rrule(transform, wrt=("a",), linear=(0,), domain=domain)
    def rule(a: np.ndarray, s=None, axes=all_axes, norm=None):
        a_shape = np.shape(a)
        along = transformed_axes(a_shape, s, axes)
        y = transform(a, s, axes, norm)
        count = np.shape(y)[along[-1]]

        def transform_pullback(dy):
            half = np.fft.rfftn(dy, axes=along, norm=opposite(norm))
            da = inner_scaled(half, count, along[-1], 2.0)
            return like(da if s is None else fitted(da, a_shape), a)

        return y, transform_pullback


to_real(np.fft.irfft2, (-2, -1), half_planes)
to_real(np.fft.irfftn, None, half_spaces)


# --- order of frequencies -------------------------------------------------------------------------


def shifts(rng: np.random.Generator) -> list[Call]:
    """Return arrays of odd and even lengths, with every kind of axes."""
    x = rng.normal(size=(3, 4))
    return [
        call(x[0]), call(x[:, 0]), call(x), call(x, 0), call(x, axes=1), call(x, (0, 1)),
        call(x, axes=(-1,)), call(complexes(rng, 5)), call([0.5, 1.5, -0.3]), call(np.empty(0)),
    ]


@rrule(np.fft.fftshift, linear=(0,), domain=shifts)
def fftshift_rule(x: np.ndarray, axes=None):
    def fftshift_pullback(dy):
        return like(np.fft.ifftshift(dy, axes), x)

    return np.fft.fftshift(x, axes), fftshift_pullback


@rrule(np.fft.ifftshift, linear=(0,), domain=shifts)
def ifftshift_rule(x: np.ndarray, axes=None):
    def ifftshift_pullback(dy):
        return like(np.fft.fftshift(dy, axes), x)

    return np.fft.ifftshift(x, axes), ifftshift_pullback


def frequency_samples(rng: np.random.Generator) -> list[Call]:
    """Return grids of odd and even numbers of frequencies."""
    return [call(4), call(5, 0.5), call(3, np.float64(1.5)), call(1, d=0.7)]


def grid(function: Any) -> None:
    """Register the rule of a grid of frequencies, which are inverse to the spacing ``d``."""

    @rrule(function, wrt=("d",), domain=frequency_samples)
    def rule(n, d=1.0):
        y = function(n, d)

        def grid_pullback(dy):
            return project(-np.vdot(y, dy) / np.conj(d), d)

        return y, grid_pullback


grid(np.fft.fftfreq)
grid(np.fft.rfftfreq)


# --- what the adjoints are made of ----------------------------------------------------------------


@rrule(fitted, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=4), (3,)), call(complexes(rng, 2, 3), (3, 2)),
    call(rng.normal(size=(2, 3)), (2, 3)),
])
def fitted_rule(g, shape):
    g_shape = np.shape(g)

    def fitted_pullback(dy):
        return fitted(dy, g_shape)

    return fitted(g, shape), fitted_pullback


@rrule(inner_scaled, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(complexes(rng, 4), 6, -1, 0.5), call(complexes(rng, 4, 2), 7, 0, 2.0),
    call(rng.normal(size=1), 1, 0, 0.5),
])
def inner_scaled_rule(g, n, axis, factor):
    def inner_scaled_pullback(dy):
        return inner_scaled(dy, n, axis, np.conj(factor))

    return inner_scaled(g, n, axis, factor), inner_scaled_pullback


@rrule(ends_scaled, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=4), (0,), (0.5, 2.0)), call(complexes(rng, 3, 2), (0, -1), (2.0, 1.0)),
    call(rng.normal(size=2), (0,), (1.0, 1.0)),
])
def ends_scaled_rule(g, axes, factors):
    def ends_scaled_pullback(dy):
        return ends_scaled(dy, axes, (np.conj(factors[0]), np.conj(factors[1])))

    return ends_scaled(g, axes, factors), ends_scaled_pullback


non_differentiable(
    cosine_ends, extents, opposite, sine_ends, transformed_axes, trigonometric_dual
)
