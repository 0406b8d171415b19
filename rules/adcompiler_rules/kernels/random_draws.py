"""What a draw is made of, and how draws of gamma and beta distributions move with their shapes.

Of a draw ``y`` with the distribution function ``F(y; a)`` the derivative by implicit
reparametrisation is ``dy/da = -(dF/da) / (dF/dy)`` (Figurnov, Mohamed and Mnih, *Implicit
reparameterization gradients*, NeurIPS 2018): the mean of the derivative of a function of ``y`` is
the derivative of its mean. Integrals are summed by the double exponential formula (Takahasi and
Mori, Publ. RIMS 9, 1974).
"""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np

COVERED_WITH = "numpy"
"""The module whose rules come with those of these functions."""

NEAR = 1e-3
"""With a scale less than this part of the place, what was drawn does not tell the standard draw."""
STEPS = np.arange(-68, 61) / 16.0
PLACES = np.exp(0.5 * np.pi * np.sinh(STEPS))
"""Where integrands are summed, in units of their decay."""
WEIGHTS = PLACES * (0.5 * np.pi / 16.0) * np.cosh(STEPS)


def generator_before(generator: Any, place: Any, scale: Any) -> Any:
    """Return a copy of a generator where the standard draw has to be made again, else None."""
    if np.all(np.abs(scale) > NEAR * np.abs(place)):
        return None
    return copy.deepcopy(generator)


def standard_of(before: Any, name: str, params: Any, y: Any, place: Any, scale: Any) -> Any:
    """Return the standard draw ``z`` of which ``y`` is ``place + scale * z``.

    Where the generator ``before`` is given, it is drawn again by the method ``name``.
    """
    if before is None:
        return (y - place) / scale
    sizes = () if isinstance(before, random.Random) else (np.shape(y) or None,)
    drawn = getattr(copy.deepcopy(before), name)(*params, *sizes)
    return drawn if np.ndim(y) else float(drawn)


def digamma(x: Any) -> Any:
    """Return the derivative of the logarithm of the gamma function, of positive numbers.

    Abramowitz and Stegun, *Handbook of Mathematical Functions*, 6.3.5 and 6.3.18.
    """
    total = 0.0
    for _ in range(10):
        total = total - 1.0 / x
        x = x + 1.0
    s = 1.0 / (x * x)
    series = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132)))))
    return total + np.log(x) - 0.5 / x - series


def trigamma(x: Any) -> Any:
    """Return the derivative of ``digamma``: Abramowitz and Stegun, 6.4.6 and 6.4.12."""
    total = 0.0
    for _ in range(10):
        total = total + 1.0 / (x * x)
        x = x + 1.0
    s = 1.0 / (x * x)
    series = s * (1 / 6 - s * (1 / 30 - s * (1 / 42 - s * (1 / 30 - s * (5 / 66)))))
    return total + (1.0 + 0.5 / x + series) / x


def gamma_slope(y: Any, shape: Any) -> Any:
    """Return how a standard gamma draw moves with its shape: ``-(dF/da) / (dF/dy)``.

    With ``t = y exp(s)`` the integral of ``(log t - digamma(a)) p(t) / p(y)`` is over a function
    that decays smoothly on the side of ``y`` that is taken.
    """
    return gamma_sum(y, shape, False)


def gamma_slope_again(y: Any, shape: Any) -> Any:
    """Return the derivative of ``gamma_slope`` in the shape."""
    return gamma_sum(y, shape, True)


def gamma_sum(y: Any, shape: Any, again: bool) -> Any:
    """Return ``gamma_slope``, or its derivative in the shape: that of the function summed."""
    y, a = np.broadcast_arrays(np.asarray(y, float), np.asarray(shape, float))
    above = (y > a) & (y > 1.0)
    side = np.where(above, 1.0, -1.0)
    decay = 1.0 / np.where(above, y - a + np.sqrt(y), np.maximum(a - y, 0.0) + np.minimum(
        np.sqrt(a), a))
    total = np.zeros(y.shape)
    with np.errstate(all="ignore"):
        centre, bend = np.log(y) - digamma(a), trigamma(a)
        for place, weight in zip(PLACES, WEIGHTS, strict=True):
            s = side * place * decay
            factor = (centre + s) * s - bend if again else centre + s
            total += weight * factor * np.exp(a * s - y * np.expm1(s))
        slope = side * y * decay * total
    return np.where(y > 0.0, slope, 0.0)[()]


def beta_slope(y: Any, a: Any, b: Any) -> Any:
    """Return how a beta draw moves with its first shape; with ``1 - y, b, a`` with its second one.

    As ``gamma_slope``, in ``t / (1 - t) = y / (1 - y) exp(s)``.
    """
    return beta_sum(y, a, b, "")


def beta_slope_again(y: Any, a: Any, b: Any) -> Any:
    """Return the derivative of ``beta_slope`` in the first shape."""
    return beta_sum(y, a, b, "a")


def beta_slope_across(y: Any, a: Any, b: Any) -> Any:
    """Return the derivative of ``beta_slope`` in the second shape."""
    return beta_sum(y, a, b, "b")


def beta_sum(y: Any, a: Any, b: Any, again: str) -> Any:
    """Return ``beta_slope``, or its derivative in a shape."""
    y, a, b = np.broadcast_arrays(*(np.asarray(x, float) for x in (y, a, b)))
    side = np.where(y * (a + b) > a, 1.0, -1.0)
    decay = 1.0 / (np.abs((a + b) * y - a) + np.sqrt((a + b) * y * (1.0 - y)) + 1e-300)
    total = np.zeros(y.shape)
    with np.errstate(all="ignore"):
        centre = np.log(y) - digamma(a) + digamma(a + b)
        both = trigamma(a + b)
        bend = both - trigamma(a)
        for place, weight in zip(PLACES, WEIGHTS, strict=True):
            s = side * place * decay
            moved = np.log1p(y * np.expm1(s))  # log((1 - y) / (1 - t))
            moved = np.where(np.isfinite(moved), moved, s + np.log(y))
            factor = grown = centre + s - moved
            if again == "a":
                factor = grown * (s - moved) + bend
            elif again == "b":
                factor = both - grown * moved
            total += weight * factor * np.exp(a * s - (a + b) * moved)
        slope = side * y * (1.0 - y) * decay * total
    return np.where((y > 0.0) & (y < 1.0), slope, 0.0)[()]
