"""Every registered rule through the compiler: the same values and cotangents as the rule itself.

Each sample call is written as a small function, as a user would spell it: operators as operators,
methods as methods, plain constants as literals, numbers and arrays as parameters. What ``vjp``
compiles from it is compared with the rule run as plain Python.
"""

import builtins
import cmath
import copy
import inspect
import itertools
import linecache
import math
import operator
import statistics
import sys
import types
import warnings
import zlib

import numpy as np
import pytest
from scipy import integrate
import scipy.fft
import scipy.special
import scipy.stats

import adcompiler
import adcompiler_rules
from adcompiler import vjp
from tests.lanes import some_of_each
from tests.rules.kinds import kinds
from tests.rules.updates import DESTRUCTIVE
from adcompiler.dispatch import as_real
from adcompiler.ops.qualified_names import public_place
from adcompiler.rulekit import REGISTRY, Call
from adcompiler.rulekit.comparison import (
    is_inexact, kind_difference, numbers, short, value_difference,
)
from adcompiler.rulekit.testing import (
    PRIMAL_TOLERANCE, _random_cotangent, _single_precision_variants, rule_function, rule_name,
    sample_calls,
)
from tests.rules.shares import share

TOLERANCE = {np.float64: 1e-11, np.float32: 2e-4}
BINARY = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/",
    operator.mod: "%", operator.pow: "**", operator.matmul: "@",
}
UNARY = {operator.neg: "-", operator.pos: "+"}
MODULES = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft, "math": math, "cmath": cmath,
           "operator": operator, "statistics": statistics, "scipy.fft": scipy.fft,
           "scipy.special": scipy.special, "scipy.stats": scipy.stats}
LITERALS = (bool, int, str, type(None), type(Ellipsis))
NAMESPACE = {"np": np, "numpy": np, "math": math, "cmath": cmath, "operator": operator,
             "statistics": statistics, "adcompiler": adcompiler, "scipy": scipy,
             "adcompiler_rules": adcompiler_rules}

NOT_COMPILED = {
    # the sum over rows of no rows is the start value: its type depends on the extent
    ("builtins.sum[ndarray]", False): lambda x, *start: x.ndim > 1 and len(x) == 0,
    # the degree in a tuple of arrays becomes a float, which SciPy 1.18 does not take
    ("scipy.interpolate._fitpack_py.splev", False): lambda *args: True,
    # subscripts given as lists count as numbers where they come in with the arrays
    ("adcompiler_rules.kernels.products.einsum_lists_adjoints", False): lambda *args: True,
}
"""Samples left out, by rule and whether containers are written as displays."""

LOST = object()
_numbers = itertools.count()
_compiled = {}  # by text: samples that differ in shapes only share one compiled function


# --- writing a call as a function -----------------------------------------------------------------


def spelling(function):
    """Return how a function is written in source."""
    for name, module in MODULES.items():
        short_name = getattr(function, "__name__", "")
        if getattr(module, short_name, None) is function:
            return f"{name}.{short_name}"
    if getattr(builtins, getattr(function, "__name__", ""), None) is function:
        return function.__name__
    place = public_place(function)
    if isinstance(function, types.MethodType) and place is not None:
        return ".".join(place)
    owner = getattr(function, "__objclass__", None)
    if owner is not None:
        return f".{function.__name__}"
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return f"np.{function.__self__.__name__}.{function.__name__}"
    place = public_place(function)
    if place is not None:
        return ".".join(place)
    if getattr(sys.modules[function.__module__], function.__name__, None) is function:
        return f"{function.__module__}.{function.__name__}"
    raise AssertionError(f"no spelling for {function!r}")


class Written:
    """The source of a function that makes one sample call, and the arguments to give it."""

    def __init__(self, function, call, displays=False):
        self.values = []
        self.names = []
        self.globals = dict(NAMESPACE)
        self.displays = displays
        args = [self.argument(x) for x in call.args]
        kwargs = [f"{key}={self.argument(x)}" for key, x in call.kwargs.items()]
        body = self.expression(function, args, kwargs)
        self.text = f"def f({', '.join(self.names)}):\n    return {body}\n"

    def expression(self, function, args, kwargs):
        if function in BINARY and len(args) == 2:
            return f"{args[0]} {BINARY[function]} {args[1]}"
        if function in UNARY:
            return f"{UNARY[function]}{args[0]}"
        name = spelling(function)
        if name.startswith("."):
            if not callable(function):
                return f"{args[0]}{name}"
            return f"{args[0]}{name}({', '.join([*args[1:], *kwargs])})"
        text = f"{name}({', '.join([*args, *kwargs])})"
        return f"list({text})" if function is reversed else text

    def argument(self, x):
        """Return the text of an argument: a literal, a display or a parameter."""
        if isinstance(x, LITERALS) and type(x) in LITERALS:
            return repr(x) if not (isinstance(x, int) and x < 0) else f"({x!r})"
        if isinstance(x, (tuple, list)) and type(x) in (tuple, list) and (
            (not any(True for _ in numbers(x)) and not has_array(x)) or self.displays
        ):
            inner = ", ".join(map(self.argument, x))
            if isinstance(x, list):
                return f"[{inner}]"
            return f"({inner},)" if len(x) == 1 else f"({inner})"
        if isinstance(x, dict) and self.displays:
            return "{" + ", ".join(f"{k!r}: {self.argument(v)}" for k, v in x.items()) + "}"
        if isinstance(x, type) and getattr(np, x.__name__, None) is x:
            return f"np.{x.__name__}"
        if isinstance(x, type) or callable(x) or isinstance(x, (slice, np.dtype)):
            name = f"given_{len(self.globals)}"
            self.globals[name] = x
            return name if not isinstance(x, type) else x.__name__
        count = len(self.names)
        name = "xyzuvwabcdeghijk"[count] if count < 16 else f"x{count}"
        self.names.append(name)
        self.values.append(x)
        return name

    def compiled(self):
        """Return the function, with source that can be read."""
        plain = set(self.globals) == set(NAMESPACE)
        if plain and self.text in _compiled:
            return _compiled[self.text]
        file = f"<call {next(_numbers)}>"
        linecache.cache[file] = (len(self.text), None, self.text.splitlines(True), file)
        exec(compile(self.text, file, "exec"), self.globals)
        if plain:
            _compiled[self.text] = self.globals["f"]
        return self.globals["f"]


def rule_name_of(function):
    """Return a name for test ids."""
    owner = getattr(function, "__objclass__", None)
    name = getattr(function, "__name__", repr(function))
    return name if owner is None else f"{owner.__name__}.{name}"


def takes(function, call):
    """Say whether ``function`` can be called like this."""
    owner = getattr(function, "__objclass__", None)
    if owner is not None and not (call.args and isinstance(call.args[0], owner)):
        return False
    written = Written(function, real_call(call))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            written.compiled()(*written.values)
    except (TypeError, ValueError, AttributeError):
        return False
    return True


def has_array(x):
    if isinstance(x, (tuple, list)):
        return any(map(has_array, x))
    return isinstance(x, np.ndarray)


def leaves_of_parameters(written, original, x_bar):
    """Yield the parts of the cotangent of an argument that belong to parameters, in order."""
    if not is_parameter(written, original):
        return
    known = x_bar is not None and x_bar is not LOST
    if written.displays and isinstance(original, (tuple, list)):
        for i, item in enumerate(original):
            yield from leaves_of_parameters(written, item, x_bar[i] if known else x_bar)
        return
    if written.displays and isinstance(original, dict):
        for key, item in original.items():
            yield from leaves_of_parameters(written, item, x_bar[key] if known else x_bar)
        return
    yield x_bar


def cotangents_by_parameter(rule, call, written, x_bars):
    """Return the expected cotangent of each parameter of the written function.

    None stands for zero, LOST for arguments that the rule gives no derivative for.
    """
    by_name, x_bars = {}, evaluated(x_bars)
    if rule.definition is None:
        bars = x_bars if isinstance(x_bars, tuple) else (x_bars,)
        by_place = {i: bar for i, bar in enumerate(bars) if rule.partials[i] is not None}
    else:
        by_place = {}
        bars = (x_bars,) if len(rule.wrt) == 1 else x_bars
        by_name = dict(zip((name.lstrip("*") for name in rule.wrt), bars, strict=True))
        by_name.update(dict.fromkeys(rule.templates))
        for i, p in enumerate(inspect.signature(rule.definition).parameters.values()):
            if p.kind is p.VAR_POSITIONAL and p.name in by_name:
                by_place.update(enumerate(by_name[p.name], start=i))
            elif p.name in by_name and p.kind is not p.KEYWORD_ONLY:
                by_place[i] = by_name[p.name]
    expected = []
    given = [(by_place.get(i, LOST), x) for i, x in enumerate(call.args)]
    given += [(by_name.get(key, LOST), x) for key, x in call.kwargs.items()]
    for bar, x in given:
        expected += leaves_of_parameters(written, x, bar)
    return expected


def is_parameter(written, x):
    probe = object.__new__(Written)
    probe.values, probe.names, probe.globals, probe.displays = [], [], {}, written.displays
    probe.argument(x)
    return bool(probe.names)


# --- comparing ------------------------------------------------------------------------------------


def real_call(call):
    """Return the call with the integers that stand in parameters of floats made floats."""
    def convert(x):
        return as_real(x, "x") if any(True for _ in numbers(x)) and not isinstance(x, str) else x

    return Call(tuple(map(convert, call.args)), {k: convert(v) for k, v in call.kwargs.items()})


def problems_of(rule, call, rng, function):
    """Return what is wrong with a compiled call, with containers as parameters and as displays."""
    forms = [False]
    if any(isinstance(x, (list, tuple, dict)) and any(True for _ in numbers(x)) for x in call.args):
        forms.append(True)
    problems = []
    for displays in forms:
        if (rule_name(rule), displays) in NOT_COMPILED and NOT_COMPILED[rule_name(rule), displays](
                *call.args):
            continue
        try:
            problem = compare(rule, call, rng, displays, function)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        if problem:
            text = Written(function, call if displays else real_call(call), displays).text
            shown = ", ".join(map(short, call.args))
            problems.append(f"{text.splitlines()[1].strip()}\n    for {shown}\n    {problem}")
    return problems


def compare(rule, call, rng, displays=False, function=None):
    """Return a message about how the compiled call differs from the rule, or ''."""
    function = rule.function if function is None else function
    if not displays:
        call = real_call(call)
    written = Written(function, call, displays)
    f = written.compiled()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        direct = f(*written.values)
        expected, pullback = rule_function(rule)(*call.args, **call.kwargs)
        y_bar = _random_cotangent(expected, rng)
        bars = cotangents_by_parameter(rule, call, written, pullback(y_bar))
        wrt = tuple(i for i, x in enumerate(written.values)
                    if bars[i] is not LOST and any(True for _ in numbers(x)))
        if not wrt:
            return ""
        y, compiled_pullback = vjp(f, *written.values, argnums=wrt)
        y_before = copy.deepcopy(y)
        found = compiled_pullback(y_bar)
        again = compiled_pullback(y_bar)
    tolerance = PRIMAL_TOLERANCE if rule.primal_note else 0.0
    difference = value_difference(y, direct, tolerance)
    if difference:
        return f"value: {difference}"
    if value_difference(y, y_before, 0.0):
        return "the pullback changed the value"
    for i, x_bar, other in zip(wrt, found, again, strict=True):
        x, name = written.values[i], written.names[i]
        difference = kind_difference(x_bar, x, name) or value_difference(other, x_bar, 0.0)
        if difference:
            return difference
        difference = cotangent_difference(x_bar, bars[i], x)
        if difference:
            return f"{name}_bar: {difference}"
    return ""


def evaluated(bars):
    """Return cotangents of which those that are functions are called."""
    if isinstance(bars, tuple):
        return tuple(map(evaluated, bars))
    return bars() if callable(bars) else bars


def cotangent_difference(actual, expected, x):
    """Say how a cotangent differs from the expected one, None standing for zero."""
    if expected is None:
        nonzero = any(np.any(leaf) for leaf in numbers(actual))
        return f"{short(actual)}, not zero" if nonzero else ""
    if isinstance(x, (tuple, list, dict)):
        parts = (
            [(actual[key], expected[key], x[key]) for key in x] if isinstance(x, dict)
            else zip(actual, expected, x, strict=True)
        )
        return next((d for d in (cotangent_difference(*part) for part in parts) if d), "")
    if not is_inexact(x):
        return ""
    single = isinstance(x, (np.ndarray, np.generic)) and x.dtype in (np.float32, np.complex64)
    tolerance = TOLERANCE[np.float32 if single else np.float64]
    size = float(np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected)))
    if np.allclose(actual, expected, rtol=tolerance, atol=tolerance * size, equal_nan=True):
        return ""
    return f"{short(actual)}, not {short(expected)}"


# --- the tests ------------------------------------------------------------------------------------

RULES = [
    rule for rule in REGISTRY.rules() if rule.function not in DESTRUCTIVE]
ALIASES = [
    pytest.param(other, function, id=f"{rule_name_of(other)} -> {rule_name_of(function)}")
    for other, function in REGISTRY.aliases() if REGISTRY.has_rules(function)
]


def samples_to_compile(rule, rng):
    """Return the sample calls; of SciPy's distributions the last, of its ufuncs every fifth."""
    calls = sample_calls(rule, rng)
    if isinstance(rule.function, types.MethodType):
        return calls[-1:]
    return calls[::5] if rule.partials and rule_name(rule).startswith("scipy.") else calls


@pytest.mark.parametrize("rule", some_of_each(kinds(9, 60), share(RULES, 2)), ids=rule_name)
def test_compiled_call_agrees_with_rule(rule):
    rng = np.random.default_rng(zlib.crc32(rule_name(rule).encode()))
    problems = []
    for position, call in enumerate(samples_to_compile(rule, rng)):
        variants = [call, *(list(_single_precision_variants(call)) if position < 2 else [])]
        for variant in variants:
            problems += problems_of(rule, variant, rng, rule.function)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(("other", "function"), ALIASES)
def test_compiled_alias_agrees_with_rule(other, function):
    """A method is called on the samples whose first argument is an array, if it takes them."""
    rng = np.random.default_rng(0)
    problems, tried = [], 0
    for rule in REGISTRY.rules_of(function):
        for call in sample_calls(rule, rng):
            if tried < 8 and rule.accepts(tuple(map(type, call.args))) and takes(other, call):
                tried += 1
                problems += problems_of(rule, call, rng, other)
    assert tried, "no sample call suits this spelling"
    assert not problems, "\n".join(problems)


def test_derivative_in_an_argument_without_one_is_refused():
    def f(y, x):
        return integrate.simpson(y, x=x)

    y, x = np.array([0.5, 1.5, 4.0]), np.array([0.0, 1.0, 2.0])
    _, pullback = vjp(f, y, x, argnums=0)
    assert np.allclose(pullback(3.0), [1.0, 4.0, 1.0])
    with pytest.raises(adcompiler.MissingRuleError, match="no derivative with respect to"):
        vjp(f, y, x, argnums=1)
    with pytest.raises(adcompiler.MissingRuleError, match="no derivative with respect to"):
        vjp(lambda t: integrate.simpson(y, x=[0.0, t, 2.0]), 0.3)


def test_templates_have_zero_derivative():
    _, pullback = vjp(lambda x: np.full_like(x, 2.0) + np.where(x, 1.0, 2.0), np.ones(3))
    assert np.array_equal(pullback(np.ones(3))[0], np.zeros(3))


def test_rounding_to_single_precision_passes_the_cotangent():
    y, pullback = vjp(lambda x: np.float32(x) * 2.0, 0.1)
    assert y == np.float32(0.1) * 2.0
    assert pullback(1.5) == (3.0,)
