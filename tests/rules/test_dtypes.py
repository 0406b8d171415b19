"""Single precision stays single precision: in what a pullback returns, and on the way there.

Every rule's call is compiled for float32 samples, and the emitted pullback is watched: none of its
variables may be an array of double precision, and no array is cast down at the end.
"""

import re
import sys
import types
import warnings
import zlib

import numpy as np
import pytest

from adcompiler import grad, vjp
from adcompiler.api.emitted import kept_derivative
from adcompiler.errors import ADError
from adcompiler.rulekit import Call
from adcompiler.rulekit.comparison import kind_difference, numbers
from adcompiler.rulekit.testing import _cast, _random_cotangent, rule_name, sample_calls
from tests.lanes import one_in
from tests.rules.test_compiled_rules import RULES, Written, real_call
from tests.rules.shares import OURS, share

WIDE = ("float64", "complex128")
COUNTS = "shares, of the reduced shape: what is divided by a count is cast"
SHAPES = "slopes in a shape are integrals and series in double precision"
MIXED = "what SciPy's function gives for a Python float and an array is a double"
CASTS = {
    **dict.fromkeys((f"numpy.{name}" for name in (
        "max", "amax", "min", "amin", "ptp", "mean", "nanmean", "nanvar", "nanstd", "nanmax",
        "nanmin", "fmax.reduce", "fmin.reduce", "maximum.reduceat", "minimum.reduceat",
        "linalg.norm", "linalg.vector_norm",
    )), COUNTS),
    "numpy.real": "the cotangent of complex numbers is made complex",
    "numpy.polyval": "np.vander gives double precision",
    "numpy.roots": "np.vander gives double precision",
    "numpy.logspace": "the logarithm of the base is a double",
    "builtins.max[ndarray]": "a Python list of shares", "builtins.min[ndarray]": "as max",
    "math.fsum": "math computes in double precision",
    **({} if np.where([True], np.float32(1.0), 0.0).dtype == np.float32
       else {"numpy.nansum": "NumPy 1 takes numbers for doubles in np.where"}),
    "scipy.integrate._quadrature.simpson": "weights of double precision, from SciPy 1.18 on",
    "operator.pow": "NumPy's own power of a Python float and an array",
    **dict.fromkeys((f"scipy.special.{name}" for name in (
        "inv_boxcox", "inv_boxcox1p", "itstruve0", "it2struve0", "itmodstruve0",
    )), MIXED),
    **dict.fromkeys((f"scipy.special.{name}" for name in (
        "betainc", "betaincc", "betaincinv", "betainccinv", "chdtrc", "chdtri", "gammainc",
        "gammaincinv", "gammainccinv",
    )), SHAPES),
}
"""Rules whose pullback casts an array, and why."""

WIDENS = {
    "numpy.nanvar", "numpy.nanstd", "numpy.logspace", "numpy.roots", "operator.pow",
    *(name for name, reason in CASTS.items() if reason in (MIXED, SHAPES)),
}
"""Rules with a variable of double precision: a count, or what NumPy itself computes so."""


def single(call):
    return Call(*_cast(real_call(call), {"f": np.float32, "c": np.complex64}))


def widened(frame_values):
    """Return the names of variables that are arrays of double precision."""
    return sorted(name for name, v in frame_values.items() if isinstance(v, np.ndarray)
                  and v.ndim > 0 and v.size > 1 and v.dtype.name in WIDE)


def watched(pullback, cotangent):
    """Return what the pullback returns, and its variables that were of double precision."""
    found = []

    def trace(frame, event, arg):
        if frame.f_code.co_name.endswith("_pullback"):
            def at_return(frame, event, arg):
                if event == "return":
                    found.extend(widened(frame.f_locals))
                return at_return

            return at_return
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return pullback(cotangent), found
    finally:
        sys.settrace(before)


def single_calls(rule):
    """Yield samples in single precision that NumPy answers in single precision."""
    rng = np.random.default_rng(zlib.crc32(rule_name(rule).encode()))
    scipy = rule_name(rule).startswith("scipy.")
    for call in sample_calls(rule, rng)[:: 3 if scipy else 1]:
        call = single(call)
        if scipy and any(
            type(x) in (float, complex) for x in numbers(list(call.args))
        ):
            continue  # many of SciPy's ufuncs widen float32 arrays where they meet such a number
        if not any(isinstance(x, np.ndarray) and x.ndim for x in numbers(list(call.args))):
            continue
        written = Written(rule.function, call)
        try:
            y = written.compiled()(*written.values)
        except Exception:
            continue
        leaves = list(numbers(y))
        if leaves and all(x.dtype.name not in WIDE for x in leaves if hasattr(x, "dtype")):
            lost = [x for x, partial in zip(call.args, rule.partials, strict=False)
                    if partial is None]
            yield written, y, tuple(
                i for i, x in enumerate(written.values)
                if any(True for _ in numbers(x)) and not any(x is other for other in lost)
            )


NUMPY_RULES = [rule for rule in RULES if rule.domain
               and not isinstance(rule.function, types.MethodType)  # of distributions: in double
               and not rule_name(rule).startswith((*OURS, "cmath"))]


@pytest.mark.parametrize("rule", one_in(8, share(NUMPY_RULES, 2)), ids=rule_name)
def test_pullback_in_single_precision(rule):
    rng = np.random.default_rng(1)
    warnings.simplefilter("ignore")
    for written, y, wrt in single_calls(rule):
        if any(isinstance(x, float) for x in numbers(y)):
            continue
        f = written.compiled()
        try:
            y, pullback = vjp(f, *written.values, argnums=wrt)
        except ADError:
            continue
        bars, found = watched(pullback, _random_cotangent(y, rng))
        for i, bar in zip(wrt, bars, strict=True):
            assert kind_difference(bar, written.values[i], written.names[i]) == ""
        source = kept_derivative(f, "vjp", wrt).source_for(*written.values)
        cast = re.search(r"\.astype\(np\.(float32|complex64)\)", source)
        arrays = all(isinstance(x, np.ndarray) and x.ndim for x in numbers(list(written.values)))
        assert rule_name(rule) in CASTS or not (cast and arrays), f"{written.text}\n{source}"
        assert rule_name(rule) in WIDENS or not found, f"{written.text}\n{source}"


# --- other precisions -----------------------------------------------------------------------------


def smooth(x):
    return np.sum(np.tanh(x * 2.0) * np.exp(-x) / (1.0 + x * x) + np.sqrt(x) ** 3 - np.log(x))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_gradient_has_the_precision_of_the_argument(dtype):
    x = np.array([0.5, 1.25, 2.0], dtype)
    g = grad(smooth)(x)
    assert g.dtype == dtype
    np.testing.assert_allclose(
        g.astype(np.float64), grad(smooth)(x.astype(np.float64)),
        rtol=max(8.0 * float(np.finfo(dtype).eps), 1e-15),
    )
    scalar = grad(smooth)(dtype(0.5))
    assert type(scalar) is dtype
    assert scalar == pytest.approx(g[0], rel=1e-2 if dtype is np.float16 else 1e-6)


@pytest.mark.skipif(np.finfo(np.longdouble).eps >= np.finfo(float).eps, reason="no long doubles")
def test_long_double_is_not_computed_in_double():
    third = np.longdouble(1) / 3
    g = grad(lambda x: np.sum(x**3))(np.full(2, third))
    assert np.all(np.abs(g - third) < 1e-18)


def test_operands_of_two_precisions_get_their_own():
    x, y = np.ones(3, np.float32), np.arange(3.0)
    dx, dy = grad(lambda x, y: np.sum(x * y), argnums=(0, 1))(x, y)
    assert (dx.dtype, dy.dtype) == (np.float32, np.float64)
    assert dx.tolist() == [0.0, 1.0, 2.0]
    assert dy.tolist() == [1.0, 1.0, 1.0]


def test_python_numbers_do_not_widen():
    def f(x):
        y = 2.0 * x + 1
        for _ in range(2):
            y = np.maximum(y, 0.5) * 0.5
        return np.sum(y)

    g = grad(f)(np.ones(3, np.float32))
    assert g.dtype == np.float32
    assert g.tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize("given", [
    np.ones(3), np.ones(3, np.float32), np.ones(3, int), np.ones(3) + 2j,
], ids=lambda x: x.dtype.name)
def test_cotangent_is_taken_in_the_precision_of_the_value(given):
    _, pullback = vjp(lambda x: 2.0 * x, np.zeros(3, np.float32))
    (dx,) = pullback(given)
    assert dx.dtype == np.float32
    assert dx.tolist() == [2.0, 2.0, 2.0]


def test_cotangent_of_another_shape_is_refused():
    _, pullback = vjp(lambda x: 2.0 * x, np.zeros(3))
    with pytest.raises(ValueError, match=r"shape \(\), but the value has shape \(3,\)"):
        pullback(1.0)
    _, pullback = vjp(lambda x: (x, 2.0 * x), 1.0)
    with pytest.raises(TypeError, match="must be a tuple of 2, as the value is"):
        pullback((1.0,))
    _, pullback = vjp(lambda x: {"a": x}, 1.0)
    with pytest.raises(TypeError, match="must be a dict with the keys a, as the value is"):
        pullback({"b": 1.0})
