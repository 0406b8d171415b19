"""Derivatives by hand in C++ (``cpp_adjoints.cpp``): each makes calls on its own arguments.

What is timed is the C++ alone, with one call through ctypes: results are written into the same
memory each time, and the structure of a sparse matrix is known before.
"""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.program import Result

Array = np.ndarray[Any, Any]


@functools.cache
def library() -> ctypes.CDLL | None:
    """Return the compiled functions, None where there is no g++."""
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "adjoints.so"
        subprocess.run(
            [compiler, "-O3", "-march=native", "-shared", "-fPIC", "-o", str(made),
             str(Path(__file__).with_suffix(".cpp"))], check=True)
        return ctypes.CDLL(str(made))


def calls(name: str, *given: Array | int, result: Any) -> Callable[..., Any] | None:
    """Return what calls a function on addresses and sizes, and returns ``result``."""
    found = library()
    if found is None:
        return None
    arrays = [np.ascontiguousarray(part) for part in given if isinstance(part, np.ndarray)]
    places = iter(arrays)
    values = [ctypes.c_void_p(next(places).ctypes.data) if isinstance(part, np.ndarray)
              else ctypes.c_long(part) for part in given]
    run = functools.partial(getattr(found, name), *values)

    def call(*_: Any, arrays: Any = arrays) -> Any:  # which keeps the copies alive
        run()
        return result

    return call


def mixture_loop(weights: Array, means: Array, factors: Array, points: Array) -> Any:
    result = np.empty_like(weights), np.empty_like(means), np.empty_like(factors)
    return calls("mixture_loop", weights, means, factors, points, len(points), *means.shape,
                 *result, result=result)


def bundle_adjustment(unknowns: Array, cameras: int, camera: Array, point: Array) -> Any:
    m = len(camera)
    entries = np.empty(20 * m)
    columns = np.concatenate([7 * camera[:, None] + np.arange(7),
                              7 * cameras + 3 * point[:, None] + np.arange(3)], axis=1)
    ends = np.arange(0, 20 * m + 1, 10)
    return calls("bundle_adjustment", unknowns, cameras, camera, point, m, entries, result=Result(
        lambda: sparse.csr_array((entries, np.tile(columns.ravel(), 2), ends),
                                 shape=(2 * m, unknowns.size))))


def bundle_adjustment_loop(unknowns: Array, cameras: int, camera: Array, point: Array) -> Any:
    return bundle_adjustment(unknowns, cameras, camera, point)


def hand(angles: Array, points: Array) -> Any:
    result = np.empty((3 * len(angles) * points.shape[1], len(angles)))
    return calls("hand", angles, points, len(angles) // 4, points.shape[1], result, result=result)


def lstm(W: Array, b: Array, inputs: Array, targets: Array) -> Any:
    result = np.empty_like(W), np.empty_like(b)
    return calls("lstm", W, b, inputs, targets, b.shape[1], len(inputs), *result, result=result)
