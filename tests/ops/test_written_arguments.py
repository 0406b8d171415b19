"""Calls that write into an argument: value and gradient are right, or the program is refused.

There is a form for every function and method of NumPy and ``scipy.ndimage`` that has a parameter
for an array that takes its result, found by signatures, and for every way to spell a write.
"""

from __future__ import annotations

import bisect
import collections
import copy
import functools
import heapq
import linecache
import operator
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

from adcompiler import ADError, value_and_grad
from tests.lanes import one_in
from tests.ops.forms import A, IN_PLACE, forms_of_ndimage, forms_with_out, text_of
from tests.together import each

NAMES = {
    "np": np, "ndimage": ndimage, "operator": operator, "copy": copy, "random": random,
    "heapq": heapq, "bisect": bisect, "functools": functools, "collections": collections,
    "SimpleNamespace": SimpleNamespace,
}


def program(form: str) -> Any:
    """Return the compiled program of a form, whose source can be found."""
    text, name = text_of(form), f"<form {form}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {**NAMES, "__name__": "forms"}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


def differences(f: Any) -> np.ndarray:
    """Return the gradient at ``A`` by central differences."""
    found = np.zeros_like(A)
    for index in np.ndindex(A.shape):
        step = np.zeros_like(A)
        step[index] = 1e-6
        found[index] = (f(A + step) - f(A - step)) / 2e-6
    return found


def check(form: str) -> None:
    f = program(form)
    with np.errstate(all="ignore"):
        try:
            wanted = f(A.copy())
        except Exception:
            pytest.skip("this version of the library refuses the form")
        try:
            value, gradient = value_and_grad(f)(A.copy())
        except ADError:
            return
        assert np.allclose(value, wanted)
        assert np.allclose(gradient, differences(f), atol=1e-5)


@each("form", one_in(2, dict.fromkeys(forms_with_out())), parts=4)
def test_arrays_for_results_of_numpy(form):
    check(form)


@each("form", one_in(2, dict.fromkeys(forms_of_ndimage())))
def test_arrays_for_results_of_ndimage(form):
    check(form)


@each("form", IN_PLACE, parts=4)
def test_writes_in_place(form):
    check(form)


SUPPORTED = (
    "a.sum(0, None, y)", "a.cumsum(0, None, z)", "a.take([0, 1, 1], 0, z)",
    "np.add.reduce(a, 0, None, y)", "np.add.reduceat(a, [0, 1, 2], 0, None, z)",
    "z.__iadd__(a)", "np.ndarray.__imul__(z, a)", "l.__setitem__(0, a[0, 0])",
    'd.__ior__({"p": a[0, 0]})', 'list(map(d.__setitem__, ["p"], [a[0, 0]]))',
    "ndimage.gaussian_filter(a, 1.0, output=z)", "ndimage.correlate(a, a, output=z)",
    "list.append(l, a[0, 0])", "np.conj(z)[0] = a[0]",
)


@pytest.mark.parametrize("form", SUPPORTED)
def test_these_are_not_refused(form):
    f = program(form)
    value, gradient = value_and_grad(f)(A.copy())
    assert np.allclose(value, f(A.copy()))
    assert np.allclose(gradient, differences(f), atol=1e-5)
