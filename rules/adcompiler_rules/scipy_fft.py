"""Rules for ``scipy.fft``: Fourier, cosine and sine transforms are linear.

Adjoints of Fourier transforms are as in ``numpy.fft``. The transpose of a cosine or sine transform
is one of the same kind: of type 3 for type 2 and the other way round, of the same type for 1 and 4;
without ``orthogonalize`` the elements at the ends have other weights (J. Makhoul, *A fast cosine
transform in one and two dimensions*, 1980, and the documentation of ``scipy.fft.dct``).
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import scipy.fft

from adcompiler.rulekit import Call, call, complexes, facts, non_differentiable, rrule
from adcompiler_rules.scipy.facts import state_facts
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

NORMS = ("backward", "ortho", "forward")


def reals(calls: list[Call]) -> list[Call]:
    """Return transforms of the real parts."""
    return [Call((np.real(c.args[0]), *c.args[1:]), c.kwargs) for c in calls]


def spectra(rng: np.random.Generator) -> list[Call]:
    """Return transforms of odd and even lengths, padded and cut, along every kind of axis."""
    z = complexes(rng, 4, 5)
    return [
        *[call(z[0, :n]) for n in (2, 5)], call(z, None, -2), call(z, 3, 0), call(z, 6),
        *[call(z[:3, 0], norm=norm) for norm in NORMS], call(z, 7, 0, "ortho"),
        call(z, 4, workers=1), call(np.array([0.5, 1.5, -0.3]), overwrite_x=False),
    ]


def signals(rng: np.random.Generator) -> list[Call]:
    """Return the transforms of ``spectra``, of real arrays."""
    return [*reals(spectra(rng)), call([0.5, 1.5, -0.3], 4)]


def spaces(rng: np.random.Generator) -> list[Call]:
    """Return transforms over one and several axes, padded and cut."""
    z = complexes(rng, 2, 3, 4)
    return [
        call(z), call(z[0]), call(z, axes=(0, 2)), call(z[0], (3, 3)), call(z, (2, 6), (1, 0)),
        call(z[0], norm="ortho"), call(z[0], [4, 5], norm="forward"), call(z[1].T, axes=(-1,)),
        call(z, s=(5,), axes=(-2,), norm="ortho"), call(z, (4, 7), (1, 2)),
        call(np.real(z[0]), (4, 2), workers=1),
    ]


def real_spaces(rng: np.random.Generator) -> list[Call]:
    """Return the transforms of ``spaces``, of real arrays."""
    return reals(spaces(rng))


# --- Fourier transforms along one axis ------------------------------------------------------------


def whole_spectrum(transform: Any, other: Any) -> None:
    """Register the rule of a complex transform; ``other`` goes the other way."""

    @rrule(transform, wrt=("x",), linear=(0,), domain=lambda rng: [*spectra(rng), *signals(rng)])
    def rule(x: np.ndarray, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
        x_shape = np.shape(x)

        def pullback(dy):
            dx = other(dy, None, axis, opposite(norm), False, workers)
            return like(dx if n is None else fitted(dx, x_shape), x)

        return transform(x, n, axis, norm, False, workers), pullback


def from_signal(transform: Any, other: Any) -> None:
    """Register the rule of a transform of real numbers to half of their spectrum."""

    @rrule(transform, wrt=("x",), linear=(0,), domain=signals)
    def rule(x: np.ndarray, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
        x_shape = np.shape(x)
        count = x_shape[axis] if n is None else n

        def pullback(dy):
            half = inner_scaled(dy, count, axis, 0.5)
            dx = other(half, count, axis, opposite(norm), False, workers)
            return like(dx if n is None else fitted(dx, x_shape), x)

        return transform(x, n, axis, norm, False, workers), pullback


def to_signal(transform: Any, other: Any) -> None:
    """Register the rule of a transform of half a spectrum to real numbers."""

    @rrule(transform, wrt=("x",), linear=(0,), domain=lambda rng: [*spectra(rng), *signals(rng)])
    def rule(x: np.ndarray, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
        x_shape = np.shape(x)
        y = transform(x, n, axis, norm, False, workers)
        count = np.shape(y)[axis]

        def pullback(dy):
            half = other(dy, None, axis, opposite(norm), False, workers)
            dx = inner_scaled(half, count, axis, 2.0)
            return like(dx if n is None else fitted(dx, x_shape), x)

        return y, pullback


whole_spectrum(scipy.fft.fft, scipy.fft.ifft)
whole_spectrum(scipy.fft.ifft, scipy.fft.fft)
from_signal(scipy.fft.rfft, scipy.fft.irfft)
from_signal(scipy.fft.ihfft, scipy.fft.hfft)
to_signal(scipy.fft.irfft, scipy.fft.rfft)
to_signal(scipy.fft.hfft, scipy.fft.ihfft)


# --- Fourier transforms along several axes --------------------------------------------------------


def whole_spectra(transform: Any, other: Any, default_axes: Any) -> None:
    """Register the rule of a complex transform over several axes."""

    @rrule(transform, wrt=("x",), linear=(0,), domain=spaces)
    def rule(x, s=None, axes=default_axes, norm=None, overwrite_x=False, workers=None):
        x_shape = np.shape(x)
        along = axes if s is None else transformed_axes(x_shape, s, axes)

        def pullback(dy):
            dx = other(dy, None, along, opposite(norm), False, workers)
            return like(dx if s is None else fitted(dx, x_shape), x)

        return transform(x, s, axes, norm, False, workers), pullback


def from_signals(transform: Any, other: Any, default_axes: Any) -> None:
    """Register the rule of a transform over several axes to half of a spectrum."""

    @rrule(transform, wrt=("x",), linear=(0,), domain=real_spaces)
    def rule(x: np.ndarray, s=None, axes=default_axes, norm=None, overwrite_x=False, workers=None):
        x_shape = np.shape(x)
        along = transformed_axes(x_shape, s, axes)
        counts = extents(x_shape, s, along)

        def pullback(dy):
            half = inner_scaled(dy, counts[-1], along[-1], 0.5)
            dx = other(half, counts, along, opposite(norm), False, workers)
            return like(dx if s is None else fitted(dx, x_shape), x)

        return transform(x, s, axes, norm, False, workers), pullback


def to_signals(transform: Any, other: Any, default_axes: Any) -> None:
    """Register the rule of a transform over several axes of half of a spectrum."""

    @rrule(transform, wrt=("x",), linear=(0,), domain=spaces)
    def rule(x: np.ndarray, s=None, axes=default_axes, norm=None, overwrite_x=False, workers=None):
        x_shape = np.shape(x)
        along = transformed_axes(x_shape, s, axes)
        y = transform(x, s, axes, norm, False, workers)
        count = np.shape(y)[along[-1]]

        def pullback(dy):
            half = other(dy, None, along, opposite(norm), False, workers)
            dx = inner_scaled(half, count, along[-1], 2.0)
            return like(dx if s is None else fitted(dx, x_shape), x)

        return y, pullback


PLANE = (-2, -1)

whole_spectra(scipy.fft.fft2, scipy.fft.ifft2, PLANE)
whole_spectra(scipy.fft.ifft2, scipy.fft.fft2, PLANE)
whole_spectra(scipy.fft.fftn, scipy.fft.ifftn, None)
whole_spectra(scipy.fft.ifftn, scipy.fft.fftn, None)
from_signals(scipy.fft.rfft2, scipy.fft.irfft2, PLANE)
from_signals(scipy.fft.rfftn, scipy.fft.irfftn, None)
from_signals(scipy.fft.ihfft2, scipy.fft.hfft2, PLANE)
from_signals(scipy.fft.ihfftn, scipy.fft.hfftn, None)
to_signals(scipy.fft.irfft2, scipy.fft.rfft2, PLANE)
to_signals(scipy.fft.irfftn, scipy.fft.rfftn, None)
to_signals(scipy.fft.hfft2, scipy.fft.ihfft2, PLANE)
to_signals(scipy.fft.hfftn, scipy.fft.ihfftn, None)


# --- cosine and sine transforms -------------------------------------------------------------------

OPTIONS: list[dict[str, Any]] = [
    {}, {"norm": "ortho"}, {"norm": "forward"}, {"orthogonalize": True},
    {"norm": "ortho", "orthogonalize": False},
]


def waves(rng: np.random.Generator) -> list[Call]:
    """Return transforms of every type and normalisation, along every kind of axis."""
    x = rng.normal(size=(3, 4))
    return [
        *[Call((x[0], type), options) for type in (1, 2, 3, 4) for options in OPTIONS],
        call(x), call(x, 2, None, 0), call(x, 3, 6, 1), call(x, 1, 2, 0), call(x, n=5, axis=-2),
        call(complexes(rng, 3), 2), call([0.5, 1.5, -0.3]), call(x[:, ::2].T, 4, workers=1),
        call(x[:1, 0], 2),
    ]


def surfaces(rng: np.random.Generator) -> list[Call]:
    """Return transforms of every type and normalisation over one and several axes."""
    x = rng.normal(size=(2, 3, 4))
    return [
        *[Call((x[0], type), options) for type in (1, 2, 3, 4) for options in OPTIONS],
        call(x), call(x, 2, axes=(0, 2)), call(x, 3, (3, 5), (1, 2)), call(x, 1, axes=-1),
        call(x[0], s=(4, 3)), call(complexes(rng, 2, 3), 2),
    ]


SKIPS_COMPLEX = bool(
    scipy.fft.dct(np.ones(2, complex), orthogonalize=True)[0] == scipy.fft.dct(np.ones(2))[0]
)
"""Whether SciPy heeds ``orthogonalize=`` for real arrays only."""


def is_orthogonal(x: Any, norm: Any, orthogonalize: Any) -> Any:
    """Return whether a transform of ``x`` with these options is orthogonalised."""
    if orthogonalize is None or (SKIPS_COMPLEX and np.iscomplexobj(x)):
        return norm == "ortho"
    return orthogonalize


def of_parts(
    transform: Any, g: Any, type: int, axes: Any, norm: Any, workers: Any
) -> Any:
    """Return the orthogonalised transform of a real array, or of real and imaginary parts."""
    if np.iscomplexobj(g):
        return (of_parts(transform, np.real(g), type, axes, norm, workers)
                + 1j * of_parts(transform, np.imag(g), type, axes, norm, workers))
    return transform(g, type, None, axes, norm, False, workers, orthogonalize=True)


def along_axis(transform: Any, over_axes: Any, ends: Any) -> None:
    """Register the rule of a cosine or sine transform; ``over_axes`` goes over several axes."""

    @rrule(transform, wrt=("x",), linear=(0,), domain=waves)
    def rule(
        x: np.ndarray, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None,
        orthogonalize=None
    ):
        x_shape = np.shape(x)
        plain = not is_orthogonal(x, norm, orthogonalize)
        before, after = ends(type)

        def pullback(dy):
            g = ends_scaled(dy, (axis,), before) if plain else dy
            g = of_parts(over_axes, g, trigonometric_dual(type), (axis,), norm, workers)
            g = ends_scaled(g, (axis,), after) if plain else g
            return like(g if n is None else fitted(g, x_shape), x)

        return transform(x, type, n, axis, norm, False, workers, orthogonalize), pullback


def along_axes(transform: Any, ends: Any) -> None:
    """Register the rule of a cosine or sine transform over several axes."""

    @rrule(transform, wrt=("x",), linear=(0,), domain=surfaces)
    def rule(
        x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *,
        orthogonalize=None
    ):
        x_shape = np.shape(x)
        along = transformed_axes(x_shape, s, axes)
        plain = not is_orthogonal(x, norm, orthogonalize)
        before, after = ends(type)

        def pullback(dy):
            g = ends_scaled(dy, along, before) if plain else dy
            g = of_parts(transform, g, trigonometric_dual(type), along, norm, workers)
            g = ends_scaled(g, along, after) if plain else g
            return like(g if s is None else fitted(g, x_shape), x)

        y = transform(x, type, s, axes, norm, False, workers, orthogonalize=orthogonalize)
        return y, pullback


def inverse_cosine_ends(type: int) -> Any:
    """Return the factors for the inverse of a DCT: a DCT of the dual type."""
    return cosine_ends(trigonometric_dual(type))


def inverse_sine_ends(type: int) -> Any:
    """Return the factors for the inverse of a DST: a DST of the dual type."""
    return sine_ends(trigonometric_dual(type))


along_axis(scipy.fft.dct, scipy.fft.dctn, cosine_ends)
along_axis(scipy.fft.idct, scipy.fft.idctn, inverse_cosine_ends)
along_axes(scipy.fft.dctn, cosine_ends)
along_axes(scipy.fft.idctn, inverse_cosine_ends)

ORTHOGONAL_SINES = scipy.fft.dst(np.eye(3), norm="ortho")
if np.allclose(ORTHOGONAL_SINES @ ORTHOGONAL_SINES.T, np.eye(3)):  # not in SciPy 1.11: no rules
    along_axis(scipy.fft.dst, scipy.fft.dstn, sine_ends)
    along_axis(scipy.fft.idst, scipy.fft.idstn, inverse_sine_ends)
    along_axes(scipy.fft.dstn, sine_ends)
    along_axes(scipy.fft.idstn, inverse_sine_ends)


# --- order of frequencies -------------------------------------------------------------------------


def shifts(rng: np.random.Generator) -> list[Call]:
    """Return arrays of odd and even lengths, with every kind of axes."""
    x = rng.normal(size=(3, 4))
    return [call(x[0]), call(x[:, 0]), call(x), call(x, 0), call(x, axes=(0, 1)),
            call(complexes(rng, 5)), call([0.5, 1.5, -0.3])]


@rrule(scipy.fft.fftshift, linear=(0,), domain=shifts)
def fftshift_rule(x: np.ndarray, axes=None):
    def fftshift_pullback(dy):
        return like(scipy.fft.ifftshift(dy, axes), x)

    return scipy.fft.fftshift(x, axes), fftshift_pullback


@rrule(scipy.fft.ifftshift, linear=(0,), domain=shifts)
def ifftshift_rule(x: np.ndarray, axes=None):
    def ifftshift_pullback(dy):
        return like(scipy.fft.fftshift(dy, axes), x)

    return scipy.fft.ifftshift(x, axes), ifftshift_pullback


@rrule(scipy.fft.fftfreq, wrt=("d",), domain=lambda rng: [call(4), call(5, 0.5)])
def fftfreq_rule(n, d=1.0):
    y = scipy.fft.fftfreq(n, d)

    def fftfreq_pullback(dy):
        return project(-np.vdot(y, dy) / np.conj(d), d)

    return y, fftfreq_pullback


@rrule(scipy.fft.rfftfreq, wrt=("d",), domain=lambda rng: [call(4), call(5, 0.5)])
def rfftfreq_rule(n, d=1.0):
    y = scipy.fft.rfftfreq(n, d)

    def rfftfreq_pullback(dy):
        return project(-np.vdot(y, dy) / np.conj(d), d)

    return y, rfftfreq_pullback


non_differentiable(scipy.fft.next_fast_len, scipy.fft.get_workers)
if hasattr(scipy.fft, "prev_fast_len"):  # SciPy 1.12 and later
    non_differentiable(scipy.fft.prev_fast_len)

state_facts("scipy.fft")


def inner_transforms() -> Any:
    """Return the module that computes real transforms, which later SciPy has under another name."""
    for name in ("_pocketfft", "_duccfft"):
        if importlib.util.find_spec(f"scipy.fft.{name}") is not None:
            return importlib.import_module(f"scipy.fft.{name}.realtransforms")
    return None


INNER = inner_transforms()


def r2r(
    forward: bool, transform: Any, x: Any, type: int = 2, n: Any = None, axis: int = -1,
    norm: Any = None, overwrite_x: bool = False, workers: Any = None, orthogonalize: Any = None,
) -> Any:
    """What ``scipy.fft`` and ``scipy.fftpack`` call for cosine and sine transforms."""
    if transform is INNER.pfft.dct:
        if forward:
            return scipy.fft.dct(x, type, n, axis, norm, orthogonalize=orthogonalize)
        return scipy.fft.idct(x, type, n, axis, norm, orthogonalize=orthogonalize)
    if forward:
        return scipy.fft.dst(x, type, n, axis, norm, orthogonalize=orthogonalize)
    return scipy.fft.idst(x, type, n, axis, norm, orthogonalize=orthogonalize)


if hasattr(INNER, "_r2r"):
    facts(INNER._r2r, written_as=r2r)
