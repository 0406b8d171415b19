"""Rules of histograms, whose counts are sums of weights, and of sets of values.

What is counted where is constant: data have a derivative only through the edges of bins, which
``np.histogram`` puts between the smallest and the largest number where it is not told where.
"""

from __future__ import annotations

import numpy as np

from adcompiler.rulekit import Call, call, non_differentiable, rrule
from adcompiler_rules.kernels.counting import bins_of, cells_of, range_adjoint
from adcompiler_rules.kernels.gathering import first_of, take_adjoint
from adcompiler.runtime.adjoints.shaping import like

# --- histograms -----------------------------------------------------------------------------------


def samples(rng: np.random.Generator) -> list[Call]:
    """Return histograms with all ways to give the bins, with weights and densities."""
    x = rng.permutation(np.linspace(-1.0, 1.0, 8)) ** 3
    weights = rng.uniform(0.5, 1.5, 8)
    edges = np.array([-0.9, -0.25, 0.3, 0.5])
    return [
        call(x, 4), call(x), call(x.reshape(2, 4), 3, weights=weights.reshape(2, 4)),
        call(x, 3, (-0.5, 0.9), weights=weights), call(x, 4, density=True, weights=weights),
        call(x, edges, weights=weights), call(x, edges, density=True, weights=weights),
        call(x, 5, density=True), call(x, [-1.5, 0.1, 1.5], weights=weights), call([0.5, 1.5], 2),
        call(x, 3, None, False, weights + 1j), call(np.empty(0), 2), call(x, edges, density=True),
    ]


@rrule(np.histogram, wrt=("a", "bins", "weights"), domain=samples,
       kink="numbers do not move from bin to bin; extremes that tie share the edge evenly")
def histogram(a, bins=10, range=None, density=None, weights=None):
    if np.iscomplexobj(a):
        raise NotImplementedError("np.histogram() of complex numbers has no derivative")
    y = np.histogram(a, bins, range, density, weights)
    hist, edges = y[0], y[1]

    def histogram_pullback(dy):
        dedges = dy[1]
        dweights, dbins, da = None, None, None
        dhist = dy[0]
        if density:
            width = np.diff(edges)
            total = np.sum(np.histogram(a, edges, weights=weights)[0])
            dwidth = -dhist * np.conj(hist / width)
            zero = np.zeros(1, dwidth.dtype)
            dedges = dedges - np.diff(dwidth, prepend=zero, append=zero)
            dhist = dhist / np.conj(width * total) - np.sum(dhist * np.conj(hist / total))
        if weights is not None:
            places = bins_of(a, edges)
            inside = places >= 0
            dweights = like(np.where(inside, np.take(dhist, places), 0.0), weights)
        if isinstance(bins, (np.ndarray, list, tuple)):
            dbins = like(dedges, bins)
        elif range is None:
            da = like(range_adjoint(dedges, a), a)
        return da, dbins, dweights

    return y, histogram_pullback


@rrule(np.histogram_bin_edges, wrt=("a", "bins"), domain=lambda rng: [
    Call(c.args[:3], {}) for c in samples(rng)
], kink="extremes that tie share the edge evenly")
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    if np.iscomplexobj(a):
        raise NotImplementedError("np.histogram_bin_edges() of complex numbers has no derivative")

    def histogram_bin_edges_pullback(dedges):
        da, dbins = None, None
        if isinstance(bins, (np.ndarray, list, tuple)):
            dbins = like(dedges, bins)
        elif range is None:
            da = like(range_adjoint(dedges, a), a)
        return da, dbins

    return np.histogram_bin_edges(a, bins, range, weights), histogram_bin_edges_pullback


@rrule(range_adjoint, wrt=("dedges", "a"), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=4), rng.normal(size=5)),
    call(rng.normal(size=2), np.array([[1.5, 0.5], [1.25, 0.75]])),
    call(rng.normal(size=3), np.empty(0)),
], kink="the derivative in a is 0")
def range_adjoint_rule(dedges, a):
    def range_adjoint_pullback(v):
        low, high = np.min(a, initial=np.inf), np.max(a, initial=-np.inf)
        t = np.linspace(0.0, 1.0, np.size(dedges))
        lowest, highest = a == low, a == high
        dlow = np.sum(v * lowest) / max(np.count_nonzero(lowest), 1)
        dhigh = np.sum(v * highest) / max(np.count_nonzero(highest), 1)
        return like((1.0 - t) * dlow + t * dhigh, dedges), None

    return range_adjoint(dedges, a), range_adjoint_pullback


def points(rng: np.random.Generator) -> list[Call]:
    """Return histograms of points in one to three dimensions."""
    x = rng.uniform(-1.0, 1.0, (8, 2))
    weights = rng.uniform(0.5, 1.5, 8)
    edges = np.array([-0.9, -0.25, 0.3, 0.5])
    return [
        call(x, 3, weights=weights), call(x, (2, 3), weights=weights, density=True),
        call((x[:, 0], x[:, 1]), [edges, edges], None, True, weights),
        call([x[:, 0]], (edges,), weights=weights), call(x[:, 0], 3, weights=weights),
        call(x, 2, ((-0.5, 0.5), (-1.0, 1.0)), weights=weights),
        call(np.hstack((x, x[:, :1] ** 2)), 2, density=True, weights=weights),
    ]


@rrule(np.histogramdd, wrt=("weights",), domain=points)
def histogramdd(sample: np.ndarray, bins=10, range=None, density=None, weights=None):
    y = np.histogramdd(sample, bins, range, density, weights)
    hist, edges = y[0], y[1]

    def histogramdd_pullback(dy):
        dhist = dy[0]
        if weights is None:
            return None
        counts = np.histogramdd(sample, edges, weights=weights)[0]
        if density:
            total = np.sum(counts)
            volumes = counts / np.where(hist == 0.0, 1.0, hist)
            volumes = np.where(hist == 0.0, 1.0, volumes)
            dhist = dhist / np.conj(volumes) - np.sum(dhist * np.conj(hist / total))
        places = cells_of(sample, edges)
        return like(np.where(places >= 0, np.take(dhist, places), 0.0), weights)

    return y, histogramdd_pullback


# --- sets -----------------------------------------------------------------------------------------


def numbers(rng: np.random.Generator) -> list[Call]:
    """Return arrays of different numbers, and of some that occur twice in another call."""
    x = rng.permutation(np.linspace(-2.0, 3.0, 6))
    return [call(x), call(x.reshape(2, 3)), call([2.5, 0.5, 1.5])]


if hasattr(np, "unique_values"):  # NumPy 2

    @rrule(np.unique_values, domain=numbers, kink="of equal elements, the first one counts")
    def unique_values(x):
        y = np.unique_values(x)

        def unique_values_pullback(dy):
            return like(take_adjoint(dy, np.shape(x), first_of(y, x), None), x)

        return y, unique_values_pullback

    def first_of_several(function):
        """Register the rule of a function that returns unique values and more about them."""

        @rrule(function, domain=numbers, kink="of equal elements, the first one counts")
        def rule(x):
            y = function(x)
            values = y[0]

            def pullback(dy):
                return like(take_adjoint(dy[0], np.shape(x), first_of(values, x), None), x)

            return y, pullback

    first_of_several(np.unique_all)
    first_of_several(np.unique_counts)
    first_of_several(np.unique_inverse)


def pairs_of_sets(rng: np.random.Generator) -> list[Call]:
    """Return pairs of sets that have no number in common."""
    x = rng.permutation(np.linspace(-2.0, 3.0, 9))
    return [call(x[:5], x[5:]), call(x[:6].reshape(2, 3), x[6:]), call([2.5, 0.5], [1.5])]


@rrule(np.union1d, domain=pairs_of_sets, kink="of equal elements, the first one counts")
def union1d(ar1, ar2):
    y = np.union1d(ar1, ar2)

    def union1d_pullback(dy):
        both = np.concatenate((ar1, ar2), axis=None)
        joint = take_adjoint(dy, np.shape(both), first_of(y, both), None)
        count = np.size(ar1)
        first = np.reshape(joint[:count], np.shape(ar1))
        return like(first, ar1), like(np.reshape(joint[count:], np.shape(ar2)), ar2)

    return y, union1d_pullback


@rrule(np.setdiff1d, wrt=("ar1",), templates=("ar2",), domain=pairs_of_sets,
       kink="of equal elements, the first one counts")
def setdiff1d(ar1, ar2, assume_unique=False):
    y = np.setdiff1d(ar1, ar2, assume_unique)

    def setdiff1d_pullback(dy):
        return like(take_adjoint(dy, np.shape(ar1), first_of(y, ar1), None), ar1)

    return y, setdiff1d_pullback


@rrule(np.setxor1d, domain=pairs_of_sets, kink="of equal elements, the first one counts")
def setxor1d(ar1, ar2, assume_unique=False):
    y = np.setxor1d(ar1, ar2, assume_unique)

    def setxor1d_pullback(dy):
        both = np.concatenate((ar1, ar2), axis=None)
        joint = take_adjoint(dy, np.shape(both), first_of(y, both), None)
        count = np.size(ar1)
        first = np.reshape(joint[:count], np.shape(ar1))
        return like(first, ar1), like(np.reshape(joint[count:], np.shape(ar2)), ar2)

    return y, setxor1d_pullback


@rrule(np.intersect1d, wrt=("ar1", "ar2"), domain=lambda rng: [
    *pairs_of_sets(rng), call(np.array([0.5, 1.5, 2.5]), np.array([7.5, 8.5]), True),
], kink="of equal elements, those of the first array count")
def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """What both have in common is taken from the first array."""
    y = np.intersect1d(ar1, ar2, assume_unique, return_indices)
    values = y[0] if return_indices else y

    def intersect1d_pullback(dy):
        dvalues = dy[0] if return_indices else dy
        return like(take_adjoint(dvalues, np.shape(ar1), first_of(values, ar1), None), ar1), None

    return y, intersect1d_pullback


@rrule(np.sort_complex, wrt=("a",), domain=lambda rng: [
    *numbers(rng), call(rng.normal(size=(2, 3)) + 1j), call(rng.normal(size=4) - 0.5j),
])
def sort_complex(a: np.ndarray):
    order = np.argsort(a, axis=-1)

    def sort_complex_pullback(dy):
        return like(np.take_along_axis(dy, np.argsort(order, axis=-1), -1), a)

    return np.sort_complex(a), sort_complex_pullback


non_differentiable(bins_of, cells_of)
