"""Rules for integrals of samples. ``scipy.integrate.trapezoid`` is compiled from its source."""

import adcompiler_rules.scipy.integrate.integrals
import adcompiler_rules.scipy.integrate.iterated  # noqa: F401
import numpy as np
import scipy.integrate

from adcompiler.rulekit import call, non_differentiable, rrule
from adcompiler.runtime import unbroadcast
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.kernels.scipy_integrate import (
    cumulative_weights, sample_weights, simpson_weights,
)
from adcompiler_rules.scipy.samples import complex_normal
from adcompiler_rules.scipy.facts import state_facts

non_differentiable(scipy.integrate.newton_cotes, cumulative_weights, sample_weights)


def grid(rng, n):
    """Return ``n`` increasing numbers, the distances not equal."""
    return np.cumsum(rng.uniform(0.5, 1.5, n))


@rrule(scipy.integrate.simpson, wrt=("y",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=5)),
    call(rng.normal(size=6), dx=0.3),
    call(rng.normal(size=(2, 7)), grid(rng, 7)),
    call(rng.normal(size=(4, 2)), x=grid(rng, 4), axis=0),
    call(rng.normal(size=2), x=grid(rng, 2)),
    call(rng.normal(size=(2, 4)), x=np.stack((grid(rng, 4), grid(rng, 4)))),
    call(complex_normal(rng, 5)),
])
def simpson(y: np.ndarray, x=None, *, dx=1.0, axis=-1):
    """Linear in the samples; of their places it has no derivative."""
    if x is not None and np.iscomplexobj(x):
        raise NotImplementedError("scipy.integrate.simpson has a rule for samples at real places")
    value = scipy.integrate.simpson(y, x=x, dx=dx, axis=axis)

    def simpson_pullback(dvalue):
        weights = simpson_weights(np.shape(y), x, dx, axis)
        return like(np.expand_dims(dvalue, axis) * weights, y)

    return value, simpson_pullback


@rrule(scipy.integrate.romb, wrt=("y", "dx"), bilinear=(0, 1), domain=lambda rng: [
    call(rng.normal(size=5)), call(rng.normal(size=(9, 2)), 0.3, 0), call(rng.normal(size=2), 2.0),
    call(complex_normal(rng, 5), 0.3),
])
def romb(y: np.ndarray, dx=1.0, axis=-1, show=False):
    """A sum of samples with weights, which grow with their distance."""
    value = scipy.integrate.romb(y, dx, axis, show)

    def romb_pullback(dvalue):
        dy = np.expand_dims(dvalue, -1) * (dx * sample_weights(scipy.integrate.romb, y, axis))
        return like(np.moveaxis(dy, -1, axis), y), like(np.sum(np.conj(value / dx) * dvalue), dx)

    return value, romb_pullback


if hasattr(scipy.integrate, "cumulative_simpson"):  # SciPy 1.12
    @rrule(scipy.integrate.cumulative_simpson, wrt=("y", "dx"), domain=lambda rng: [
        call(rng.normal(size=5)),
        call(rng.normal(size=6), dx=0.3),
        call(rng.normal(size=(2, 7)), x=grid(rng, 7)),
        call(rng.normal(size=(4, 2)), x=grid(rng, 4), axis=0, initial=0.0),
    ])
    def cumulative_simpson(y: np.ndarray, *, x=None, dx=1.0, axis=-1, initial=None):
        """Sums of samples with weights; of their places it has no derivative."""
        if initial is not None and np.ndim(initial) != 0:
            raise NotImplementedError("cumulative_simpson has a rule for a number as initial=")
        if np.iscomplexobj(y) or (x is not None and np.ndim(x) != 1):
            raise NotImplementedError(
                "cumulative_simpson has a rule for real samples at one row of places"
            )
        value = scipy.integrate.cumulative_simpson(y, x=x, dx=dx, axis=axis, initial=initial)

        def cumulative_simpson_pullback(dvalue):
            g = np.moveaxis(dvalue, axis, -1)
            g = g if initial is None else g[..., 1:]
            unit = cumulative_weights(np.shape(y)[axis], x)
            scale = dx if x is None else 1.0
            areas = np.moveaxis(np.asarray(y), axis, -1) @ unit.T
            return like(np.moveaxis(g @ (scale * unit), -1, axis), y), (
                like(np.sum(areas * g), dx) if x is None else None)

        return value, cumulative_simpson_pullback


@rrule(scipy.integrate.cumulative_trapezoid, wrt=("y", "x", "dx"), domain=lambda rng: [
    call(rng.normal(size=5)),
    call(rng.normal(size=5), dx=0.3),
    call(rng.normal(size=(2, 5)), grid(rng, 5)),
    call(rng.normal(size=(4, 2)), grid(rng, 4), axis=0),
    call(rng.normal(size=5), grid(rng, 5), initial=0),
    call(rng.normal(size=(2, 4)), np.stack((grid(rng, 4), grid(rng, 4)))),
    call(complex_normal(rng, 5), grid(rng, 5)),
    call(rng.normal(size=1)),
])
def cumulative_trapezoid(y: np.ndarray, x=None, dx=1.0, axis=-1, initial=None):
    """The sums of the cotangents from the end on are those of the areas between the samples."""
    value = scipy.integrate.cumulative_trapezoid(y, x, dx, axis, initial)

    def cumulative_trapezoid_pullback(dvalue):
        g = np.moveaxis(dvalue, axis, -1)
        samples = np.moveaxis(np.asarray(y), axis, -1)
        g = g if initial is None else g[..., 1:]
        areas = np.flip(np.cumsum(np.flip(g, -1), -1), -1)
        means = 0.5 * (samples[..., 1:] + samples[..., :-1])
        if x is None:
            widths = dx
        elif np.ndim(x) == 1:
            widths = np.diff(x)
        else:
            widths = np.diff(np.moveaxis(np.asarray(x), axis, -1))
        halves = 0.5 * areas * np.conj(widths)
        nothing = np.zeros_like(samples[..., :1], dtype=halves.dtype)
        dy = np.concatenate((halves, nothing), -1) + np.concatenate((nothing, halves), -1)
        dy = like(np.moveaxis(dy, -1, axis), y)
        along = areas * np.conj(means)
        if x is None:
            return dy, None, like(np.sum(along), dx)
        moved = np.concatenate((nothing, along), -1) - np.concatenate((along, nothing), -1)
        if np.ndim(x) == 1:
            return dy, like(unbroadcast(moved, np.shape(x)), x), None
        return dy, like(np.moveaxis(moved, -1, axis), x), None

    return value, cumulative_trapezoid_pullback

state_facts("scipy.integrate")
