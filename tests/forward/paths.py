"""Taylor coefficients along a path, compared with differences of the compiled derivative.

The coefficients of orders 1, 2, 3 of ``y(t) = f(x + t v + t**2 w)`` are ``r(0)``, ``r'(0) / 2`` and
``r''(0) / 6`` for ``r(t) = y'(t)``, which ``jvp`` gives. Two step sizes tell where ``r`` is not
smooth: at kinks, which have no coefficients to compare with.
"""

import copy

import numpy as np

from adcompiler import jvp, taylor
from adcompiler.dispatch.trees import leaves

TOLERANCES = (1e-9, 1e-5, 1e-2)
STEPS = (1e-3, 5e-4)


def zipped(function, tree, *others):
    """Return ``function`` of the numbers and arrays of trees, which may be instances."""
    if isinstance(tree, (tuple, list)):
        items = [zipped(function, *parts) for parts in zip(tree, *others, strict=True)]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    if isinstance(tree, dict):
        return {k: zipped(function, x, *(o[k] for o in others)) for k, x in tree.items()}
    if tree is None or isinstance(tree, (str, bool)) or any(o is None for o in others):
        return tree
    if hasattr(tree, "__dict__"):
        new = copy.copy(tree)
        for key, value in vars(tree).items():
            parts = (getattr(other, key) for other in others)
            object.__setattr__(new, key, zipped(function, value, *parts))
        return new
    return function(tree, *others)


def moved(x, t, v, w):
    """Return a number or array at ``x + t v + t**2 w``, of the class and dtype of ``x``."""
    if isinstance(x, (int, np.integer)):
        return x
    new = x + t * v + t * t * w
    return np.asarray(new, x.dtype) if isinstance(x, np.ndarray) else type(x)(new)


def series_of(v, w):
    """Return the coefficients of orders 1, 2, 3 of ``x + t v + t**2 w``."""
    v, w = np.asarray(v), np.asarray(w)
    v, w = (d if d.dtype.kind in "fc" else d.astype(float) for d in (v, w))
    return np.stack([v, w, np.zeros_like(v)])


def compare(function, args, wrt, first, second):
    """Compare the coefficients of a function along a path; raises what the compiler refuses.

    ``first`` and ``second`` are the directions v and w of the arguments ``wrt``. Returns how many
    numbers were compared.
    """
    def rate(t):
        given = list(copy.deepcopy(args))
        for i, v, w in zip(wrt, first, second, strict=True):
            given[i] = zipped(lambda x, a, b: moved(x, t, a, b), given[i], v, w)
        tangents = [zipped(lambda a, b: a + 2 * t * b, v, w)
                    for v, w in zip(first, second, strict=True)]
        return list(map(np.asarray, leaves(jvp(function, given, tangents, argnums=wrt)[1])))

    start = rate(0.0)
    differences = [differenced(rate, start, h) for h in STEPS]
    series = [zipped(series_of, v, w) for v, w in zip(first, second, strict=True)]
    _, found = taylor(function, copy.deepcopy(args), series, argnums=wrt)
    count = 0
    for got, coarse, fine in zip(leaves(found), *differences, strict=True):
        size = max(float(np.max(np.abs(fine[0]), initial=0.0)), 1e-3)
        single = got.dtype in (np.float32, np.complex64)
        for k, tolerance in enumerate(TOLERANCES):
            assert got.shape[1:] == fine[k].shape
            scale = max(size, float(np.max(np.abs(fine[k]), initial=0.0)))
            smooth = np.abs(coarse[k] - fine[k]) <= 0.1 * tolerance * scale
            if single:
                tolerance, smooth = 1e-3, smooth & (k == 0)
            wrong = smooth & ~(np.abs(got[k] - fine[k]) <= tolerance * scale)
            assert not wrong.any(), (k + 1, got[k], fine[k])
            count += int(np.sum(smooth))
    return count


def differenced(rate, start, h):
    """Return the first three coefficients of every leaf, by differences of fourth order."""
    sides = [rate(k * h) for k in (-2, -1, 1, 2)]
    found = []
    for r, a, b, c, d in zip(start, *sides, strict=True):
        found.append((
            r, (8.0 * (c - b) - (d - a)) / (24.0 * h),
            (16.0 * (c + b) - (d + a) - 30.0 * r) / (72.0 * h * h),
        ))
    return found
