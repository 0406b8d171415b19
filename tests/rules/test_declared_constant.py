"""What is declared to have no derivative gives no numbers that follow those it is given."""

import functools
import itertools
import warnings

import numpy as np
import scipy

from adcompiler.ops.qualified_names import display_name
from adcompiler.rulekit import REGISTRY
from tests.together import each

RNG = np.random.default_rng(0)
V, M = RNG.uniform(0.2, 0.9, 4), RNG.uniform(0.2, 0.9, (3, 3))
CALLS = [
    (V,), (M,), (0.37,), (V, 1.1 * V[::-1]), (V, 0.3), (0.3, V), (M, M.T), (M, 0.3), (0.3, 0.7),
    (0.3, 0.7, 0.6), (V, 2), (2, V), (V, V, V), (M, 1), (3, 0.4), ([0.3, 0.7],), ((0.2, 0.4), 0.5),
    (3, 0.37, 0.22), (V, (0.3, 0.8)), (10, V, 2.1),
]
SHIFT = 1e-7
ON_PURPOSE = {
    "scipy.signal.correlation_lags": "is given lengths",
    "numpy.mintypecode": "is given characters",
}
EFFECTS = ("input", "print", "breakpoint")


@functools.cache
def declared():
    """Return the functions of libraries that are declared so and do nothing but give a value.

    The compiler's own are given what the compiler gives them: axes, lengths, texts.
    """
    found = {display_name(one.function): one.function for one in REGISTRY.declarations()
             if one.pure}
    return {
        name: f for name, f in found.items()
        if name.rpartition(".")[2] not in EFFECTS and not name.startswith("adcompiler")
    }


def leaves(value):
    """Return all floats in a value, of whatever structure."""
    if isinstance(value, (np.ndarray, float, complex, np.inexact)):
        array = np.ravel(value)
        return [array] if array.dtype.kind in "fc" else []
    if isinstance(value, slice):
        value = value.start, value.stop, value.step
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, (str, bytes, type, np.generic, int)) or not hasattr(value, "__iter__"):
        return []
    return [leaf for item in itertools.islice(value, 50) for leaf in leaves(item)]


def shifted(value):
    """Return an argument whose floats are a little larger."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(shifted, value))
    return value + SHIFT if isinstance(value, (float, np.ndarray)) else value


def follows(function, args):
    """Say whether some result moves with the numbers that a function is given."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = leaves(function(*(np.copy(a) if isinstance(a, np.ndarray) else a
                                       for a in args)))
            after = leaves(function(*map(shifted, args)))
    except Exception:
        return False  # it takes no such arguments
    return len(before) == len(after) and any(
        np.any((abs(b - a) > 1e-3 * SHIFT) & (abs(b - a) < 1e3 * SHIFT))
        for a, b in zip(before, after, strict=True) if a.shape == b.shape
    )


def ends_the_process(name):
    """Say whether a function divides by zero in C for some of the arguments: SciPy 1.11 does."""
    old = tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 12)
    return old and name.startswith("scipy.ndimage.binary_")


@each("name", sorted(n for n in declared() if not ends_the_process(n)))
def test_results_do_not_follow(name):
    moving = [args for args in CALLS if follows(declared()[name], args)]
    assert not moving or name in ON_PURPOSE


def test_the_check_finds_what_follows():
    assert follows(np.ix_, (V, V)) and follows(slice, (0.3, 0.7)) and follows(np.sin, (V,))
    assert not follows(np.argsort, (V,)) and not follows(np.floor, (V,))
