"""Every rule whose function takes complex numbers, checked on them: real and imaginary parts move.

Complex samples are made of the real ones of a rule's domain: with all of its numbers complex, and
with those of one argument alone. ``check_rule`` moves along random complex directions and compares
``real(conj(cotangent) * direction)``: the cotangent of ``z = x + iy`` is ``dL/dx + i dL/dy``.
"""

import cmath
import contextlib
import copy
import functools
import inspect
import warnings
import zlib

import numpy as np
import pytest
import scipy.linalg

from adcompiler import grad
from tests.lanes import one_in
from tests.rules.updates import DESTRUCTIVE
from adcompiler.rulekit import REGISTRY, Call
from adcompiler.rulekit.comparison import map_leaves, numbers
from adcompiler.rulekit.testing import check_rule, rule_function, rule_name, sample_calls
from tests.rules.test_compiled_rules import problems_of
from tests.rules.shares import OURS, share
from tests.together import each

PHASES = {
    np.linalg.eigh, np.linalg.svd, scipy.linalg.eig, scipy.linalg.eigh, scipy.linalg.eig_banded,
    scipy.linalg.svd,
}
"""The phases of their complex vectors are LAPACK's choice, which differences show: see below."""

OF_REAL_NUMBERS = {
    np.histogram, np.histogram_bin_edges, np.histogramdd, getattr(np, "unique_values", None),
}
"""What they make of complex data means nothing, or comes in any order; their samples have complex
weights."""

OF_ONE_KIND = (
    "item_adjoint", "tolist_adjoint", "polyint", "chebint", "legint", "hermint", "hermeint",
    "lagint",
)
"""Adjoints whose cotangent has the kind of the value: a real one of a complex value has no use.

Integrals of series are NumPy's, which takes complex scales with complex coefficients only.
"""

REAL_ONLY = (
    "scipy.special._basic.zeta", "scipy.stats.", "scipy.signal._savitzky_golay.savgol_filter",
    "scipy.integrate._quadrature.simpson", "scipy.integrate._quadrature.cumulative_simpson",
    "numpy.kaiser", "numpy.quantile", "numpy.percentile",
    "numpy.nanquantile", "numpy.nanpercentile", "adcompiler.runtime.external.",
)
"""Rules that say that they are for real numbers, of functions that take complex ones too."""

OF_REAL_VALUES = (
    "share_adjoint", "at_ranks_adjoint", "deviations", "complex_viewed",
    "call_external", "correlate_adjoints", "sosfiltfilt_adjoint", "affine_moved",
    "quantile_adjoint", "quantile_tangent",
)
"""Helpers that rules call with real numbers where these variants have complex ones: of orders and
statistics, of views of real arrays, of filters, whose coefficients and edges are real, and of maps
between places."""

MAYBE_COMPLEX = pytest.mark.filterwarnings(
    "ignore:Casting complex values to real", "ignore:invalid value encountered",
    "ignore:promoting specified output dtype to complex",
)


def made_complex(x, rng, first):
    """Return ``x`` with imaginary parts; real parts move, from ``first`` on: none are equal."""

    def move(leaf):
        if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f":
            offsets = first + 0.03 * rng.permutation(leaf.size).reshape(leaf.shape)
            return leaf + offsets + 1j * rng.uniform(0.1, 0.6, leaf.shape)
        if isinstance(leaf, np.floating):
            return np.complex128(leaf + first + 1j * rng.uniform(0.1, 0.6))
        return complex(leaf + first, rng.uniform(0.1, 0.6)) if type(leaf) is float else leaf

    return map_leaves(move, x)


def complex_variants(rule, call, rng):
    """Yield the call with complex numbers for all arguments, and for one at a time."""
    real = [i for i, x in enumerate(call.args)
            if any(np.asarray(leaf).dtype.kind == "f" for leaf in numbers(x))]
    for chosen in [real] + ([[i] for i in real] if len(real) > 1 else []):
        args = tuple(
            made_complex(x, rng, 0.012 * (i + 1)) if i in chosen else x
            for i, x in enumerate(call.args)
        )
        variant = Call(args, call.kwargs)
        if chosen and rule.accepts(tuple(map(type, args))) and evaluates(rule, variant):
            yield variant


def evaluates(rule, call):
    """Say whether the function takes these arguments."""
    args = copy.deepcopy(call.args)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if callable(rule.function):
                rule.function(*args, **call.kwargs)
            else:
                rule.function.__get__(args[0])
    except Exception:
        return False
    return True


@functools.cache
def varied(rule):
    """Return the complex variants of a rule's samples that mean something."""
    rng = np.random.default_rng(zlib.crc32(rule_name(rule).encode()))
    if rule.function in PHASES | OF_REAL_NUMBERS or (
        rule_name(rule).startswith(REAL_ONLY)
        or rule_name(rule).endswith((*OF_ONE_KIND, *OF_REAL_VALUES))
    ):
        return []
    return [
        variant for call in sample_calls(rule, rng) for variant in complex_variants(rule, call, rng)
        if not (rule_name(rule) == "operator.pow" and np.any(np.equal(variant.args[0], 0.0)))
    ]


RULES = [rule for rule in REGISTRY.rules() if rule.function not in DESTRUCTIVE and rule.domain]


def test_most_rules_take_complex_numbers():
    assert sum(bool(varied(rule)) for rule in RULES) > 200


@MAYBE_COMPLEX
@each("rule", one_in(8, RULES), ids=rule_name, parts=4)
def test_rule_agrees_with_differences_of_real_and_imaginary_parts(rule):
    rng, taken = np.random.default_rng(0), 0
    for call in varied(rule):
        with contextlib.suppress(NotImplementedError):  # it says that it is for real numbers here
            check_rule(rule, call, rng)
            taken += 1
    assert taken or not varied(rule)


@MAYBE_COMPLEX
@each("rule", one_in(3, [
    rule for rule in RULES
    if not rule_name(rule).startswith(OURS) and share([rule], 3)
]), ids=rule_name, parts=4)
def test_compiled_call_on_complex_numbers_agrees_with_rule(rule):
    rng = np.random.default_rng(0)
    problems = []
    for call in varied(rule)[:12]:
        problems += problems_of(rule, call, rng, rule.function)
    assert not problems, "\n".join(problems)


# --- vectors up to a phase ------------------------------------------------------------------------


def along(function, a, direction):
    """Return the derivative of a real function along a direction, by differences."""
    step = 1e-5
    return (function(a + step * direction) - function(a - step * direction)) / (2.0 * step)


def hermitian(rng):
    a = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
    return a + np.conj(a.T)


def test_eigh_of_what_does_not_depend_on_phases():
    rng = np.random.default_rng(3)
    a, direction, weights = hermitian(rng), hermitian(rng), rng.normal(size=(3, 3))
    y, pullback = rule_function(REGISTRY.find(np.linalg.eigh))(a)
    v = y[1]
    cotangent = (rng.normal(size=3), 2.0 * weights * v)
    da = pullback(cotangent)

    def loss(a):
        w, v = np.linalg.eigh(a)
        return cotangent[0] @ w + np.sum(weights * np.abs(v) ** 2)

    got = np.sum(np.real(np.conj(da) * direction))
    assert got == pytest.approx(along(loss, a, direction), rel=1e-7)


def test_svd_of_what_does_not_depend_on_phases():
    rng = np.random.default_rng(4)
    a, direction, weights = (rng.normal(size=(3, 4)) + 1j * rng.normal(size=(3, 4))
                             for _ in range(3))
    a, direction, weights = a.T, direction.T, weights.T
    (u, s, vh), pullback = rule_function(REGISTRY.find(np.linalg.svd))(a, False)
    # L = real(sum(conj(weights) * (u @ vh))), which is the same for every choice of phases
    da = pullback((weights @ np.conj(vh.T), np.zeros(3), np.conj(u.T) @ weights))

    def loss(a):
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(np.real(np.conj(weights) * (u @ vh)))

    got = np.sum(np.real(np.conj(da) * direction))
    assert got == pytest.approx(along(loss, a, direction), rel=1e-7)
    assert s.dtype == np.float64


# --- cmath ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [cmath.asin, cmath.acos, cmath.acosh, cmath.asinh, cmath.sqrt])
@pytest.mark.parametrize("z", [
    complex(2.0, 0.0), complex(2.0, -0.0), complex(-2.0, 0.0), complex(-2.0, -0.0),
    complex(0.0, 2.0), complex(-0.0, 2.0), complex(0.0, -2.0), complex(-0.0, -2.0),
], ids=str)
def test_branch_cut_has_the_derivative_of_the_side_of_the_value(function, z):
    """Along the cut the function is smooth on either side of it."""
    direction = 1.0 if z.real else 1j

    def moved(step):
        end = abs(z) + step
        if z.real:
            return function(complex(end if z.real > 0.0 else -end, z.imag))
        return function(complex(z.real, end if z.imag > 0.0 else -end))

    sign = 1.0 if z.real + z.imag > 0.0 else -1.0
    slope = sign * (moved(1e-5) - moved(-1e-5)) / 2e-5 / direction
    _, pullback = rule_function(REGISTRY.find(function))(z)
    assert pullback(1.0 + 0j).conjugate() == pytest.approx(slope, rel=1e-8)


@pytest.mark.parametrize(("function", "expected"), [
    (cmath.sqrt, cmath.inf), (cmath.phase, 0.0), (cmath.polar, 0.0),
])
def test_origin(function, expected):
    _, pullback = rule_function(REGISTRY.find(function))(0.0)
    assert pullback((1.0, 1.0) if function is cmath.polar else 1.0) == expected


def test_every_function_of_cmath_has_its_samples():
    functions = [f for f in vars(cmath).values() if inspect.isbuiltin(f)]
    smooth = [f for f in functions if not f.__name__.startswith("is")]
    assert all(REGISTRY.find(f) is not None for f in smooth)
    assert len(smooth) == 19


@pytest.mark.parametrize("size", [1e-300, 1e-163, 1.0, 1e160])
def test_the_slope_of_a_phase_needs_no_square_of_the_size(size):
    def turned(x):
        z = complex(x[0], x[1])
        return cmath.phase(z) + 0.5 * cmath.polar(z)[1]

    x = np.array([0.6, -0.8]) * size
    for how in ("refuse", "record"):
        found = grad(turned, fallback=how)(x)
        np.testing.assert_allclose(found * size, [1.2, 0.9], rtol=1e-12)
