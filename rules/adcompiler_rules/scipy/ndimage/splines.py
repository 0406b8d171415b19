"""Rules for ``scipy.ndimage``: images evaluated between their pixels, moved, turned and enlarged.

The value is SciPy's own. It is linear in the image, and a spline in the places where that is
evaluated.
"""

import numpy as np
import scipy.ndimage
import scipy.special

from adcompiler.rulekit import call, non_differentiable, replacement, rrule
from adcompiler.runtime.adjoints.broadcasting import project
from adcompiler_rules.kernels.scipy_splines import (
    affine_adjoint, affine_moved, affine_places, every_place, filter_adjoint, places_adjoint,
    plane_of, raised, sampled, sampled_adjoint, zoomed_places,
)
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.scipy.samples import complex_normal

non_differentiable(every_place, plane_of, raised, zoomed_places)

MODES = ("reflect", "mirror", "nearest", "wrap", "constant", "grid-wrap", "grid-mirror",
         "grid-constant")
RADIANS = np.pi / 180.0
PIECES = "of the piece that is evaluated there; 0 in the places for order 0"


# --- the spline through an image ------------------------------------------------------------------


def between(rng, *shape):
    """Return places in and beside an image of 4 pixels, away from where its pieces meet."""
    pixel = rng.integers(-3, 6, shape)
    return pixel + rng.choice([0.3, 0.7], shape) + rng.uniform(-0.1, 0.1, shape)


def inside(rng, *shape):
    """Return places within an image of 4 pixels, away from where its pieces meet."""
    pixel = rng.integers(0, 3, shape)
    return pixel + rng.choice([0.3, 0.7], shape) + rng.uniform(-0.1, 0.1, shape)


@rrule(sampled, wrt=("x", "places"), kink=PIECES, domain=lambda rng: [
    *[call(rng.normal(size=(4, 3)), between(rng, 2, 5), order, mode, 0.5, True, (0, 0))
      for order, mode in enumerate(["mirror", "wrap", "nearest", "grid-constant", "constant"])],
    call(rng.normal(size=(4, 2)), inside(rng, 1, 3), 3, "reflect", 0.0, False, (1,)),
    call(complex_normal(rng, 4), inside(rng, 1, 3), 4, "mirror", 0.0, True, (1,)),
])
def sampled_rule(x, places, order, mode, cval, prefilter, slopes):
    y = sampled(x, places, order, mode, cval, prefilter, slopes)

    def sampled_pullback(dy):
        def x_cotangent():
            dx = sampled_adjoint(dy, places, np.shape(x), order, mode, prefilter, slopes)
            return like(dx, x)

        def places_cotangent():
            return like(
                places_adjoint(dy, x, places, order, mode, cval, prefilter, slopes), places
            )

        return x_cotangent, places_cotangent

    return y, sampled_pullback


@rrule(sampled_adjoint, wrt=("g", "places"), kink=PIECES, domain=lambda rng: [
    *[call(rng.normal(size=5), between(rng, 2, 5), (4, 3), order, mode, True, (0, 0))
      for order, mode in enumerate(["mirror", "wrap", "nearest", "grid-constant", "constant"])],
    call(rng.normal(size=(3, 2)), inside(rng, 1, 3), (4, 2), 3, "reflect", False, (1,)),
    call(complex_normal(rng, 3), inside(rng, 1, 3), (4,), 4, "mirror", True, (1,)),
])
def sampled_adjoint_rule(g, places, shape, order, mode, prefilter, slopes):
    def sampled_adjoint_pullback(dx):
        def g_cotangent():
            return like(sampled(dx, places, order, mode, 0.0, prefilter, slopes), g)

        def places_cotangent():
            return like(
                places_adjoint(g, dx, places, order, mode, 0.0, prefilter, slopes), places
            )

        return g_cotangent, places_cotangent

    y = sampled_adjoint(g, places, shape, order, mode, prefilter, slopes)
    return y, sampled_adjoint_pullback


@rrule(places_adjoint, wrt=("g", "x", "places"), kink=PIECES, domain=lambda rng: [
    call(rng.normal(size=5), rng.normal(size=(4, 3)), between(rng, 2, 5), 3, "mirror", 0.5, True,
         (0, 0)),
    call(rng.normal(size=(3, 2)), rng.normal(size=(4, 2)), inside(rng, 1, 3), 4, "reflect", 0.0,
         False, (1,)),
    call(complex_normal(rng, 3), complex_normal(rng, 4), inside(rng, 1, 3), 3, "wrap", 0.5, True,
         (0,)),
])
def places_adjoint_rule(g, x, places, order, mode, cval, prefilter, slopes):
    """Every row is a product of ``g`` and one slope more."""
    y = places_adjoint(g, x, places, order, mode, cval, prefilter, slopes)

    def places_adjoint_pullback(dy):
        axes = range(len(slopes))
        behind = (1,) * (np.ndim(g) - np.ndim(places) + 1)
        rows = [np.reshape(dy[k], (*np.shape(dy)[1:], *behind)) for k in axes]

        def g_cotangent():
            return like(sum([
                rows[k] * sampled(x, places, order, mode, cval, prefilter, raised(slopes, k))
                for k in axes
            ]), g)

        def x_cotangent():
            return like(sum([
                sampled_adjoint(
                    rows[k] * g, places, np.shape(x), order, mode, prefilter, raised(slopes, k)
                ) for k in axes
            ]), x)

        def places_cotangent():
            return like(sum([
                places_adjoint(
                    rows[k] * g, x, places, order, mode, cval, prefilter, raised(slopes, k)
                ) for k in axes
            ]), places)

        return g_cotangent, x_cotangent, places_cotangent

    return y, places_adjoint_pullback


def affine_calls(rng):
    """Return matrices of all forms, with offsets."""
    tilted = np.array([[1.1, 0.3], [-0.2, 0.9]])
    return [
        call(tilted, np.array([0.3, 0.2]), (2, 3), 2), call(tilted, 0.25, (2, 3), 2),
        call(np.array([0.9, 1.2]), np.array([0.3, 0.2]), (2, 3), 2),
        call(np.column_stack([tilted, [0.1, 0.7]]), 0.0, (2, 3), 2),
    ]


@rrule(affine_places, wrt=("matrix", "offset"), domain=affine_calls)
def affine_places_rule(matrix, offset, shape, ndim):
    def affine_places_pullback(dplaces):
        dmatrix, doffset = affine_adjoint(dplaces, np.shape(matrix))
        if np.ndim(matrix) == 2 and np.shape(matrix)[1] == ndim + 1:
            column = np.eye(np.shape(matrix)[0], ndim) @ doffset
            dlast = column[:, None] * (np.arange(ndim + 1) == ndim)
            return like(dmatrix + dlast, matrix), project(0.0 * doffset, offset)
        return like(dmatrix, matrix), project(doffset, offset)

    return affine_places(matrix, offset, shape, ndim), affine_places_pullback


@rrule(affine_adjoint, wrt=("dplaces",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3, 2)), (2, 2)), call(rng.normal(size=(2, 3, 2)), (2,)),
    call(rng.normal(size=(2, 3, 2)), (3, 3)),
])
def affine_adjoint_rule(dplaces, rows):
    def affine_adjoint_pullback(dots):
        dmatrix, doffset = dots[0], dots[1]
        return like(affine_moved(dmatrix, doffset, np.shape(dplaces)[1:]), dplaces)

    return affine_adjoint(dplaces, rows), affine_adjoint_pullback


@rrule(affine_moved, wrt=("matrix", "offset"), linear=(0, 1), domain=lambda rng: [
    call(rng.normal(size=(2, 2)), rng.normal(size=2), (2, 3)),
    call(rng.normal(size=2), rng.normal(size=2), (2, 3)),
    call(rng.normal(size=(3, 3)), rng.normal(size=2), (2, 3)),
])
def affine_moved_rule(matrix, offset, shape):
    def affine_moved_pullback(dplaces):
        dmatrix, doffset = affine_adjoint(dplaces, np.shape(matrix))
        return like(dmatrix, matrix), like(doffset, offset)

    return affine_moved(matrix, offset, shape), affine_moved_pullback


# --- the filter that the coefficients come from ---------------------------------------------------


@rrule(scipy.ndimage.spline_filter1d, wrt=("input",), domain=lambda rng: [
    *[call(rng.normal(size=(3, 4)), mode=mode) for mode in MODES],
    call(rng.normal(size=(3, 4)), 5, 0), call(rng.normal(size=5), 1),
    call(rng.normal(size=90), 2, mode="reflect"),
    call(complex_normal(rng, 5), 4, output=np.complex128),
])
def spline_filter1d(input: np.ndarray, order=3, axis=-1, output=np.float64, mode="mirror"):
    if output is not np.float64 and output is not np.complex128:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.spline_filter1d(input, order, axis, output, mode)

    def spline_filter1d_pullback(dy):
        return like(filter_adjoint(dy, order, axis, mode), input)

    return y, spline_filter1d_pullback


@rrule(scipy.ndimage.spline_filter, wrt=("input",), domain=lambda rng: [
    *[call(rng.normal(size=(3, 4)), 3, mode=mode) for mode in MODES],
    call(rng.normal(size=(3, 2, 2)), 5), call(complex_normal(rng, 5), 4, np.complex128),
])
def spline_filter(input, order=3, output=np.float64, mode="mirror"):
    if output is not np.float64 and output is not np.complex128:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.spline_filter(input, order, output, mode)

    def spline_filter_pullback(dy):
        dx = dy
        for axis in range(np.ndim(input)):
            dx = filter_adjoint(dx, order, axis, mode)
        return like(dx, input)

    return y, spline_filter_pullback


@rrule(filter_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    *[call(rng.normal(size=(3, 4)), 3, 1, mode) for mode in MODES],
    call(rng.normal(size=90), 2, 0, "mirror"), call(rng.normal(size=90), 2, 0, "grid-wrap"),
])
def filter_adjoint_rule(g, order, axis, mode):
    def filter_adjoint_pullback(dx):
        return like(scipy.ndimage.spline_filter1d(dx, order, axis, np.result_type(dx), mode), g)

    return filter_adjoint(g, order, axis, mode), filter_adjoint_pullback


# --- images evaluated at places -------------------------------------------------------------------


@rrule(scipy.ndimage.map_coordinates, wrt=("input", "coordinates"), kink=PIECES,
       domain=lambda rng: [
    *[call(rng.normal(size=(4, 4)), between(rng, 2, 5), order=order, mode=mode, cval=0.5,
           prefilter=prefilter)
      for mode in MODES for order, prefilter in [(0, True), (1, True), (3, True), (4, False)]],
    call(rng.normal(size=4), inside(rng, 1, 2, 2), None, 2),
    call(rng.normal(size=(4, 4, 4)), inside(rng, 3, 2), None, 5, "mirror"),
    call(complex_normal(rng, 4), inside(rng, 1, 3), cval=0.5),
])
def map_coordinates(
    input: np.ndarray, coordinates: np.ndarray, output=None, order=3, mode="constant", cval=0.0,
    prefilter=True
):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.map_coordinates(input, coordinates, None, order, mode, cval, prefilter)

    def map_coordinates_pullback(dy):
        places, slopes = np.asarray(coordinates), (0,) * np.ndim(input)

        def image_cotangent():
            return like(
                sampled_adjoint(dy, places, np.shape(input), order, mode, prefilter, slopes), input
            )

        def coordinates_cotangent():
            return like(
                places_adjoint(dy, input, places, order, mode, cval, prefilter, slopes),
                coordinates,
            )

        return image_cotangent, coordinates_cotangent

    return y, map_coordinates_pullback


@replacement(scipy.ndimage.geometric_transform)
def geometric_transform(
    input, mapping, output_shape=None, output=None, order=3, mode="constant", cval=0.0,
    prefilter=True, extra_arguments=(), extra_keywords=None,
):
    shape = np.shape(input) if output_shape is None else output_shape
    keywords = {} if extra_keywords is None else extra_keywords
    places = np.array([
        mapping(place, *extra_arguments, **keywords) for place in every_place(shape)
    ])
    return scipy.ndimage.map_coordinates(
        input, np.reshape(places.T, (np.ndim(input), *shape)), output, order, mode, cval,
        prefilter,
    )


# --- images moved, turned and enlarged ------------------------------------------------------------


@rrule(scipy.ndimage.affine_transform, wrt=("input", "matrix", "offset"), kink=PIECES,
       domain=lambda rng: [
    *[call(rng.normal(size=(4, 4)), np.array([[1.1, 0.3], [-0.2, 0.9]]), np.array([0.33, 0.21]),
           mode=mode, order=order, cval=0.5) for mode in MODES for order in (1, 3)],
    call(rng.normal(size=(4, 4)), np.array([0.83, 1.27]), 0.31, (3, 2)),
    call(rng.normal(size=(4, 4)), np.array([[1.1, 0.3, 0.33], [-0.2, 0.9, 0.21]]), mode="mirror"),
    call(rng.normal(size=(4, 4)), np.array([[0.83], [0.27]]), 0.31, (3,), mode="wrap",
         prefilter=False),
    call(complex_normal(rng, 4), np.array([0.83]), np.array([0.31]), order=2),
])
def affine_transform(
    input: np.ndarray, matrix: np.ndarray, offset=0.0, output_shape=None, output=None, order=3,
    mode="constant", cval=0.0,
    prefilter=True,
):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.affine_transform(
        input, matrix, offset, output_shape, None, order, mode, cval, prefilter
    )

    def affine_transform_pullback(dy):
        ndim = np.ndim(input)
        slopes = (0,) * ndim
        places = affine_places(matrix, offset, np.shape(y), ndim)

        def image_cotangent():
            return like(
                sampled_adjoint(dy, places, np.shape(input), order, mode, prefilter, slopes), input
            )

        def matrix_cotangent():
            dplaces = places_adjoint(dy, input, places, order, mode, cval, prefilter, slopes)
            dmatrix, doffset = affine_adjoint(dplaces, np.shape(matrix))
            if np.ndim(matrix) == 2 and np.shape(matrix)[1] == ndim + 1:
                dlast = np.zeros(np.shape(matrix))
                dlast[:ndim, ndim] = doffset
                return like(dmatrix + dlast, matrix)
            return like(dmatrix, matrix)

        def offset_cotangent():
            dplaces = places_adjoint(dy, input, places, order, mode, cval, prefilter, slopes)
            _, doffset = affine_adjoint(dplaces, (ndim,))
            if np.ndim(matrix) == 2 and np.shape(matrix)[1] == ndim + 1:
                return project(0.0 * doffset, offset)
            return project(doffset, offset)

        return image_cotangent, matrix_cotangent, offset_cotangent

    return y, affine_transform_pullback


@rrule(scipy.ndimage.shift, wrt=("input", "shift"), kink=PIECES, domain=lambda rng: [
    *[call(rng.normal(size=(4, 3)), np.array([1.3, -0.6]), order=order, mode=mode, cval=0.5)
      for mode in MODES for order in (1, 3)],
    call(rng.normal(size=5), 0.4, mode="nearest", prefilter=False),
    call(rng.normal(size=(3, 3)), -1.3, order=5, mode="mirror"),
    call(complex_normal(rng, 4), 0.4),
])
def shift(
    input: np.ndarray, shift, output=None, order=3, mode="constant", cval=0.0, prefilter=True
):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.shift(input, shift, None, order, mode, cval, prefilter)

    def shift_pullback(dy):
        ndim = np.ndim(input)
        slopes = (0,) * ndim
        places = affine_places(np.ones(ndim), -np.asarray(shift), np.shape(y), ndim)

        def image_cotangent():
            return like(
                sampled_adjoint(dy, places, np.shape(input), order, mode, prefilter, slopes), input
            )

        def shift_cotangent():
            dplaces = places_adjoint(dy, input, places, order, mode, cval, prefilter, slopes)
            _, doffset = affine_adjoint(dplaces, (ndim,))
            return project(-doffset, shift)

        return image_cotangent, shift_cotangent

    return y, shift_pullback


@rrule(scipy.ndimage.zoom, wrt=("input",), domain=lambda rng: [
    *[call(rng.normal(size=(4, 3)), (1.7, 0.8), order=order, mode=mode, cval=0.5)
      for mode in MODES for order in (0, 3)],
    *[call(rng.normal(size=(4, 3)), 1.6, None, 3, mode, 0.5, grid_mode=True)
      for mode in ("reflect", "grid-constant", "grid-wrap", "nearest")],
    call(rng.normal(size=5), 1.0), call(rng.normal(size=5), 0.3),
    call(complex_normal(rng, 4), 1.5, prefilter=False),
])
def zoom(
    input: np.ndarray, zoom, output=None, order=3, mode="constant", cval=0.0, prefilter=True, *,
    grid_mode=False,
):
    """The places depend on the factor by the shape of the result only."""
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.zoom(
        input, zoom, None, order, mode, cval, prefilter, grid_mode=grid_mode
    )

    def zoom_pullback(dy):
        # SciPy passes grid_mode over where the image is complex
        grid = grid_mode and not np.iscomplexobj(input)
        places = zoomed_places(np.shape(input), np.shape(y), grid)
        slopes = (0,) * np.ndim(input)
        return like(
            sampled_adjoint(dy, places, np.shape(input), order, mode, prefilter, slopes), input
        )

    return y, zoom_pullback


def turned_places(angle, plane, wide):
    """Return where ``rotate`` evaluates the planes of an image, from their two shapes."""
    c, s = scipy.special.cosdg(angle), scipy.special.sindg(angle)
    matrix = np.array([[c, s], [-s, c]])
    centre, beyond = (np.array(plane) - 1) / 2, (np.array(wide) - 1) / 2
    return affine_places(matrix, centre - matrix @ beyond, wide, 2)


@rrule(scipy.ndimage.rotate, wrt=("input", "angle"), kink=PIECES, domain=lambda rng: [
    *[call(rng.normal(size=(4, 3)), 33.0, order=order, mode=mode, cval=0.5)
      for mode in MODES for order in (1, 3)],
    call(rng.normal(size=(4, 4)), -70.0, reshape=False),
    call(rng.normal(size=(2, 4, 3)), 33.0, (2, 1), order=2, mode="nearest"),
    call(rng.normal(size=(4, 2, 3)), 33.0, (0, -1), order=3, mode="mirror"),
    call(complex_normal(rng, 4, 3), 33.0, prefilter=False),
])
def rotate(
    input: np.ndarray, angle, axes=(1, 0), reshape=True, output=None, order=3, mode="constant",
    cval=0.0,
    prefilter=True,
):
    if output is not None:
        raise NotImplementedError("rules for scipy.ndimage take no output=")
    y = scipy.ndimage.rotate(input, angle, axes, reshape, None, order, mode, cval, prefilter)

    def rotate_pullback(dy):
        plane = plane_of(axes, np.ndim(input))
        image, g = np.moveaxis(input, plane, (0, 1)), np.moveaxis(dy, plane, (0, 1))
        wide = np.shape(g)[:2]
        places = turned_places(angle, np.shape(image)[:2], wide)

        def image_cotangent():
            dx = sampled_adjoint(g, places, np.shape(image), order, mode, prefilter, (0, 0))
            return like(np.moveaxis(dx, (0, 1), plane), input)

        def angle_cotangent():
            dplaces = places_adjoint(g, image, places, order, mode, cval, prefilter, (0, 0))
            dmatrix, doffset = affine_adjoint(dplaces, (2, 2))
            turn = dmatrix - np.outer(doffset, (np.array(wide) - 1) / 2)
            c, s = scipy.special.cosdg(angle), scipy.special.sindg(angle)
            dangle = c * (turn[0, 1] - turn[1, 0]) - s * (turn[0, 0] + turn[1, 1])
            return like(RADIANS * dangle, angle)

        return image_cotangent, angle_cotangent

    return y, rotate_pullback
