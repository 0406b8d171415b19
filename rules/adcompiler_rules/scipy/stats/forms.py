"""Functions that densities of distributions are written with, exact where parameters are near 0."""

import numpy as np
import scipy.special as sc

HALF_LOG_2PI = 0.5 * float(np.log(2.0 * np.pi))
NEAR = 0.03


def log_phi(z):
    """Return the logarithm of the standard normal density."""
    return -0.5 * z * z - HALF_LOG_2PI


def log1p_ratio(c, z):
    """Return ``log1p(c z) / c``, which is ``z`` for ``c = 0``, by its series near there."""
    t = c * z
    near = np.abs(t) < NEAR
    series = np.where(near, t, 0.0)
    for_small = z * (1.0 - series * (1 / 2 - series * (1 / 3 - series * (1 / 4 - series * (
        1 / 5 - series * (1 / 6 - series * (1 / 7 - series * (1 / 8 - series * (
            1 / 9 - series * (1 / 10 - series / 11))))))))))
    return np.where(near, for_small, np.log1p(np.where(near, 1.0, t)) / np.where(near, 1.0, c))


def log1p_rest(t):
    """Return ``(log1p(t) - t) / t**2``, by its series near 0."""
    near = np.abs(t) < NEAR
    s = np.where(near, t, 0.0)
    series = -(1 / 2 - s * (1 / 3 - s * (1 / 4 - s * (1 / 5 - s * (1 / 6 - s * (1 / 7 - s * (
        1 / 8 - s * (1 / 9 - s * (1 / 10 - s / 11)))))))))
    far = np.where(near, 1.0, t)
    return np.where(near, series, (np.log1p(far) - far) / (far * far))


def log_mass(a, b):
    """Return the logarithm of the standard normal probability of the interval from a to b."""
    right = a > 0.0
    low, high = np.where(right, -b, a), np.where(right, -a, b)
    upper = sc.log_ndtr(high)
    return upper + np.log(-np.expm1(sc.log_ndtr(low) - upper))


def log_cosh(z):
    """Return ``log(cosh(z))``."""
    return np.logaddexp(z, -z) - np.log(2.0)
