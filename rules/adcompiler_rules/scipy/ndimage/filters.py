"""Rules for ``scipy.ndimage``: filters, which are linear in the image."""

from collections.abc import Sequence
from typing import Any
import numpy as np
import scipy.ndimage

from adcompiler.rulekit import call, non_differentiable, rrule
from adcompiler_rules.kernels.scipy_ndimage import (
    along_axis_adjoint, along_one, correlate_adjoints, edge_adjoint, gaussian_adjoint,
    gaussian_laplace_adjoint, gaussian_weights, laplace_adjoint, rank_adjoint, rank_choices,
    uniform_adjoint,
)
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.scipy.samples import complex_normal

MODES = ("reflect", "mirror", "nearest", "wrap", "constant", "grid-wrap", "grid-mirror",
         "grid-constant")

non_differentiable(
    scipy.ndimage.binary_closing, scipy.ndimage.binary_dilation, scipy.ndimage.binary_erosion,
    scipy.ndimage.binary_fill_holes, scipy.ndimage.binary_hit_or_miss,
    scipy.ndimage.binary_opening, scipy.ndimage.binary_propagation, scipy.ndimage.find_objects,
    scipy.ndimage.generate_binary_structure, scipy.ndimage.histogram,
    scipy.ndimage.label, scipy.ndimage.maximum_position,
    scipy.ndimage.minimum_position, scipy.ndimage.watershed_ift,
)


# --- correlations and convolutions ----------------------------------------------------------------


def samples(rng):
    """Return images, small ones too, and weights with every mode and some origins."""
    return [
        *[call(rng.normal(size=(3, 4)), rng.normal(size=(2, 3)), mode=mode) for mode in MODES],
        call(rng.normal(size=6), rng.normal(size=3), origin=1),
        call(rng.normal(size=6), rng.normal(size=4), origin=-2, mode="mirror"),
        call(rng.normal(size=(2, 3)), rng.normal(size=(5, 5)), mode="wrap", origin=(1, -1)),
        call(rng.normal(size=(3, 4)), rng.normal(size=(3, 3)), mode="constant", cval=0.5),
        call(complex_normal(rng, 4), complex_normal(rng, 2)),
    ]


@rrule(scipy.ndimage.correlate, wrt=("input", "weights"), domain=samples)
def correlate(
    input: np.ndarray, weights: np.ndarray, output=None, mode="reflect", cval=0.0, origin=0
):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.correlate(input, weights, None, mode, cval, origin)

    def correlate_pullback(dy):
        dx, dw = correlate_adjoints(dy, input, np.conj(weights), mode, cval, origin)
        return like(dx, input), like(np.conj(dw), weights)

    return y, correlate_pullback


@rrule(scipy.ndimage.convolve, wrt=("input", "weights"), domain=samples)
def convolve(
    input: np.ndarray, weights: np.ndarray, output=None, mode="reflect", cval=0.0, origin=0
):
    """A correlation with the weights in opposite order, about the opposite place."""
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.convolve(input, weights, None, mode, cval, origin)

    def convolve_pullback(dy):
        shape = np.array(np.shape(weights))
        opposite = -np.asarray(origin) * np.ones(len(shape), int) - (shape + 1) % 2
        dx, dw = correlate_adjoints(dy, input, np.flip(weights), mode, cval, opposite)
        return like(dx, input), like(np.flip(dw), weights)

    return y, convolve_pullback


def samples_along_an_axis(rng):
    """Return images and weights for one axis."""
    return [
        *[call(rng.normal(size=(3, 4)), [0.5, -0.3, 1.1], mode=mode) for mode in MODES],
        call(rng.normal(size=(3, 4)), [0.5, -0.3], 0, origin=-1),
        call(rng.normal(size=3), [0.5, -0.3, 0.2, 1.0, 0.4], mode="mirror", cval=1.0),
        call(complex_normal(rng, 4), [0.5, 1.5]),
    ]


@rrule(scipy.ndimage.correlate1d, wrt=("input",), domain=samples_along_an_axis)
def correlate1d(
    input: np.ndarray, weights: Sequence[Any], axis=-1, output=None, mode="reflect", cval=0.0,
    origin=0
):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.correlate1d(input, weights, axis, None, mode, cval, origin)

    def correlate1d_pullback(dy):
        return like(along_axis_adjoint(dy, np.conj(weights), axis, mode, origin), input)

    return y, correlate1d_pullback


@rrule(scipy.ndimage.convolve1d, wrt=("input",), domain=samples_along_an_axis)
def convolve1d(
    input: np.ndarray, weights: Sequence[Any], axis=-1, output=None, mode="reflect", cval=0.0,
    origin=0
):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.convolve1d(input, weights, axis, None, mode, cval, origin)

    def convolve1d_pullback(dy):
        opposite = -origin - (np.shape(weights)[0] + 1) % 2
        return like(along_axis_adjoint(dy, np.flip(weights), axis, mode, opposite), input)

    return y, convolve1d_pullback


# --- smoothing ------------------------------------------------------------------------------------


@rrule(scipy.ndimage.gaussian_filter1d, wrt=("input",), domain=lambda rng: [
    call(rng.normal(size=6), 0.7),
    call(rng.normal(size=(3, 4)), 1.2, 0, 1, mode="wrap"),
    call(rng.normal(size=(3, 4)), 0.5, order=2, mode="constant", cval=0.5, truncate=2.0),
])
def gaussian_filter1d(
    input: np.ndarray, sigma, axis=-1, order=0, output=None, mode="reflect", cval=0.0,
    truncate=4.0, *,
    radius=None,
):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.gaussian_filter1d(
        input, sigma, axis, order, None, mode, cval, truncate, radius=radius
    )

    def gaussian_filter1d_pullback(dy):
        weights = gaussian_weights(sigma, order, truncate, radius)
        return like(along_axis_adjoint(dy, weights, axis, mode), input)

    return y, gaussian_filter1d_pullback


@rrule(scipy.ndimage.gaussian_filter, wrt=("input",), domain=lambda rng: [
    *[call(rng.normal(size=(3, 4)), 0.8, mode=mode) for mode in MODES],
    call(rng.normal(size=(3, 4)), [0.5, 1.5], order=[1, 0]),
    call(rng.normal(size=(3, 4)), [0.0, 0.7], truncate=2.0),
    call(rng.normal(size=(3, 4)), 0.7, radius=1, axes=0),
    call(complex_normal(rng, 5), 0.6),
])
def gaussian_filter(
    input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None,
    axes=None,
):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.gaussian_filter(
        input, sigma, order, None, mode, cval, truncate, radius=radius, axes=axes
    )

    def gaussian_filter_pullback(dy):
        return like(gaussian_adjoint(dy, sigma, order, mode, truncate, radius, axes), input)

    return y, gaussian_filter_pullback


@rrule(scipy.ndimage.uniform_filter1d, wrt=("input",), domain=lambda rng: [
    call(rng.normal(size=6), 3), call(rng.normal(size=(4, 3)), 2, 0, mode="mirror", origin=-1),
    call(rng.normal(size=3), 5, mode="constant"),
])
def uniform_filter1d(
    input: np.ndarray, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0
):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.uniform_filter1d(input, size, axis, None, mode, cval, origin)

    def uniform_filter1d_pullback(dy):
        return like(uniform_adjoint(dy, size, mode, origin, axis), input)

    return y, uniform_filter1d_pullback


@rrule(scipy.ndimage.uniform_filter, wrt=("input",), domain=lambda rng: [
    *[call(rng.normal(size=(3, 4)), 3, mode=mode) for mode in MODES],
    call(rng.normal(size=(3, 4)), (2, 1), mode=("wrap", "reflect"), origin=(-1, 0)),
    call(rng.normal(size=(3, 4)), 3, axes=1),
])
def uniform_filter(
    input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.uniform_filter(input, size, None, mode, cval, origin, axes=axes)

    def uniform_filter_pullback(dy):
        return like(uniform_adjoint(dy, size, mode, origin, axes), input)

    return y, uniform_filter_pullback


# --- edges and curvature --------------------------------------------------------------------------


@rrule(scipy.ndimage.sobel, wrt=("input",), domain=lambda rng: [
    call(rng.normal(size=(3, 4)), mode=mode) for mode in MODES
] + [call(rng.normal(size=(3, 4)), 0), call(rng.normal(size=5), mode="wrap")])
def sobel(input: np.ndarray, axis=-1, output=None, mode="reflect", cval=0.0):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.sobel(input, axis, None, mode, cval)

    def sobel_pullback(dy):
        return like(edge_adjoint(dy, axis, mode, (1, 2, 1)), input)

    return y, sobel_pullback


@rrule(scipy.ndimage.prewitt, wrt=("input",), domain=lambda rng: [
    call(rng.normal(size=(3, 4)), mode="mirror"), call(rng.normal(size=(3, 4)), 0),
])
def prewitt(input: np.ndarray, axis=-1, output=None, mode="reflect", cval=0.0):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.prewitt(input, axis, None, mode, cval)

    def prewitt_pullback(dy):
        return like(edge_adjoint(dy, axis, mode, (1, 1, 1)), input)

    return y, prewitt_pullback


@rrule(scipy.ndimage.laplace, wrt=("input",), domain=lambda rng: [
    call(rng.normal(size=(3, 4)), mode=mode) for mode in MODES
] + [call(rng.normal(size=5), mode="constant", cval=1.0)])
def laplace(input, output=None, mode="reflect", cval=0.0):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.laplace(input, None, mode, cval)

    def laplace_pullback(dy):
        return like(laplace_adjoint(dy, mode, None), input)

    return y, laplace_pullback


@rrule(scipy.ndimage.gaussian_laplace, wrt=("input",), domain=lambda rng: [
    call(rng.normal(size=(3, 4)), 0.6), call(rng.normal(size=(3, 4)), [0.5, 0.8], mode="wrap"),
])
def gaussian_laplace(input, sigma, output=None, mode="reflect", cval=0.0):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.gaussian_laplace(input, sigma, None, mode, cval)

    def gaussian_laplace_pullback(dy):
        return like(gaussian_laplace_adjoint(dy, sigma, mode, None, 4.0), input)

    return y, gaussian_laplace_pullback


# --- elements chosen by rank ----------------------------------------------------------------------

EQUAL = "elements that are equal to the result share the derivative evenly"


def distinct(rng, *shape):
    """Return numbers of which no two are close."""
    return rng.permutation(np.arange(1.0, np.prod(shape) + 1.0)).reshape(shape)


def samples_of_ranks(rng):
    """Return images of distinct elements, windows and footprints, at every border."""
    return [
        *[call(distinct(rng, 3, 4), 3, mode=mode) for mode in MODES],
        call(distinct(rng, 3, 4), (2, 3), origin=(0, 1)),
        call(distinct(rng, 4, 4), footprint=np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0]], bool)),
        call(distinct(rng, 6), 3, mode="constant", cval=9.0),
    ]


def of_rank(function):
    """Register the rule of a filter that takes one element of each window."""

    @rrule(function, wrt=("input",), kink=EQUAL, domain=samples_of_ranks)
    def rule(input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0):
        if output is not None:
            raise NotImplementedError("rules for scipy.ndimage take no output=")
        y = function(input, size, footprint, None, mode, cval, origin)

        def of_rank_pullback(dy):
            chosen = rank_choices(input, y, size, footprint, mode, cval, origin)
            return like(rank_adjoint(dy, chosen, size, footprint, mode, origin), input)

        return y, of_rank_pullback


of_rank(scipy.ndimage.maximum_filter)
of_rank(scipy.ndimage.minimum_filter)
of_rank(scipy.ndimage.median_filter)


@rrule(scipy.ndimage.rank_filter, wrt=("input",), kink=EQUAL, domain=lambda rng: [
    call(distinct(rng, 3, 4), 1, 3), call(distinct(rng, 5), 1, size=3, mode="wrap"),
])
def rank_filter(
    input: np.ndarray, rank, size=None, footprint=None, output=None, mode="reflect", cval=0.0,
    origin=0
):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.rank_filter(input, rank, size, footprint, None, mode, cval, origin)

    def rank_filter_pullback(dy):
        chosen = rank_choices(input, y, size, footprint, mode, cval, origin)
        return like(rank_adjoint(dy, chosen, size, footprint, mode, origin), input)

    return y, rank_filter_pullback


@rrule(scipy.ndimage.percentile_filter, wrt=("input",), kink=EQUAL, domain=lambda rng: [
    call(distinct(rng, 3, 4), 30, 3), call(distinct(rng, 5), 30, size=3, mode="wrap"),
])
def percentile_filter(
    input, percentile, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0
):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.percentile_filter(
        input, percentile, size, footprint, None, mode, cval, origin
    )

    def percentile_filter_pullback(dy):
        chosen = rank_choices(input, y, size, footprint, mode, cval, origin)
        return like(rank_adjoint(dy, chosen, size, footprint, mode, origin), input)

    return y, percentile_filter_pullback


@rrule(scipy.ndimage.maximum_filter1d, wrt=("input",), kink=EQUAL, domain=lambda rng: [
    call(distinct(rng, 3, 4), 3), call(distinct(rng, 5, 2), 2, 0, mode="wrap", origin=-1),
])
def maximum_filter1d(
    input: np.ndarray, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0
):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.maximum_filter1d(input, size, axis, None, mode, cval, origin)

    def maximum_filter1d_pullback(dy):
        sizes, origins = along_one(np.ndim(input), axis, size, origin)
        chosen = rank_choices(input, y, sizes, None, mode, cval, origins)
        return like(rank_adjoint(dy, chosen, sizes, None, mode, origins), input)

    return y, maximum_filter1d_pullback


@rrule(scipy.ndimage.minimum_filter1d, wrt=("input",), kink=EQUAL, domain=lambda rng: [
    call(distinct(rng, 3, 4), 3), call(distinct(rng, 5, 2), 2, 0, mode="wrap", origin=-1),
])
def minimum_filter1d(
    input: np.ndarray, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0
):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.minimum_filter1d(input, size, axis, None, mode, cval, origin)

    def minimum_filter1d_pullback(dy):
        sizes, origins = along_one(np.ndim(input), axis, size, origin)
        chosen = rank_choices(input, y, sizes, None, mode, cval, origins)
        return like(rank_adjoint(dy, chosen, sizes, None, mode, origins), input)

    return y, minimum_filter1d_pullback
