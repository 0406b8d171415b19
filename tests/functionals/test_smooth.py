"""Functions without kinks, the branches of emitted code, and what ``explain`` counts."""

import math

import numpy as np
import pytest

from adcompiler import grad, smooth
from tests.language.check import check


def test_c15_values_of_smooth_abs():
    assert smooth.abs(0.0005, c=0.001) == 0.000375
    assert smooth.abs(0.0) == 0.0
    assert smooth.abs(-0.0005) == 0.000375
    assert smooth.abs(0.001) == 0.001
    assert smooth.abs(-2.5) == 2.5
    inside = np.nextafter(0.001, 0.0)
    assert smooth.abs(inside) == pytest.approx(0.001, rel=1e-12)


def test_c15_slopes_and_curvatures_of_smooth_abs():
    slope = grad(lambda x: smooth.abs(x))
    assert slope(0.0) == 0.0
    assert slope(0.0005) == pytest.approx(1.25, rel=1e-14)
    assert slope(-0.0005) == pytest.approx(-1.25, rel=1e-14)
    assert slope(np.nextafter(0.001, 0.0)) == pytest.approx(1.0, rel=1e-12)
    assert (slope(0.001), slope(-3.0)) == (1.0, -1.0)
    curvature = grad(grad(lambda x: smooth.abs(x)))
    assert curvature(0.0) == pytest.approx(4000.0, rel=1e-14)
    assert curvature(0.0002) == pytest.approx(4000.0 - 1.2e6 * 0.001, rel=1e-12)
    assert curvature(-0.0002) == curvature(0.0002)
    assert curvature(1.0) == 0.0


def test_c15_the_larger_and_the_smaller():
    assert (smooth.max(1.0, 2.0), smooth.min(1.0, 2.0)) == (2.0, 1.0)
    assert smooth.max(1.0, 1.0) == smooth.min(1.0, 1.0) == 1.0
    assert smooth.max(3.0, 3.05, c=0.1) + smooth.min(3.0, 3.05, c=0.1) == pytest.approx(6.05)
    assert grad(lambda x, y: smooth.max(x, y), argnums=(0, 1))(1.0, 1.0) == (0.5, 0.5)
    check(lambda x, y: smooth.max(x, y, c=1.0) * smooth.min(x, 2.0 * y, c=0.9), 1.1, 0.8)


def test_c15_arrays():
    x = np.array([-1.0, -0.02, 0.0, 0.03, 2.0])
    assert np.array_equal(smooth.abs(x, c=0.1), [smooth.abs(v, c=0.1) for v in x.tolist()])
    check(lambda x: np.sum(smooth.max(x, 0.01, c=0.1) ** 2), x)


def test_c17_one_emitted_function_serves_both_branches():
    def f(x):
        if x > 0.0:
            return math.sin(x)
        return x * x

    gradient = grad(f)
    assert gradient(1.0) == math.cos(1.0)
    compiled = gradient.compiled_for(1.0)
    assert gradient(-1.0) == -2.0
    assert gradient.compiled_for(-1.0) is compiled


def test_c18_explain_has_the_tape_and_the_operations():
    def f(x, n):
        for _ in range(n):
            x = math.sin(x) * x
        return x

    gradient = grad(f)
    few, many = (gradient.explain(1.0, n) for n in (5, 50))
    assert (few.tape_bytes, many.tape_bytes) == (5 * 16, 50 * 16)
    assert few.ops == many.ops > 0
    assert f"{few.ops} in the source" in str(few)
