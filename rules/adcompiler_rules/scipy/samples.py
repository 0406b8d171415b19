"""Matrices that rules for SciPy's linear algebra are tested on."""

import numpy as np
import scipy

BATCHES = np.lib.NumpyVersion(scipy.__version__) >= "1.17.0"
"""Whether ``scipy.linalg`` takes stacks of matrices throughout."""


def complex_normal(rng, *shape):
    """Return complex numbers of normal parts."""
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def regular(rng, *shape):
    """Return real matrices that are far from singular."""
    return rng.normal(size=shape) + 3.0 * np.eye(*shape[-2:])


def positive(rng, *shape):
    """Return real symmetric positive definite matrices."""
    a = rng.normal(size=shape)
    return a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1])
