"""Results lie in memory as the library lays them out, wherever code reads how they do.

Each function with a rule is called on arrays in C and Fortran order, turned round, and with gaps;
what follows reads the strides of its result, runs through it by ``ravel("K")`` and ``ravel("A")``,
and adds to it in place. Another program writes through ``ravel()`` and ``reshape(-1)``, which are
views or copies. Values, strides and derivatives are those of the function itself, or it is refused.
The first lane has a few functions, the second one all of them.
"""

import contextlib
import warnings

import numpy as np
import pytest
from adcompiler import ADError, value_and_grad
from adcompiler.cache.modules import load_module
from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.samples import rule_name, sample_calls
from adcompiler.runtime.adjoints.shaping import copy_as_laid_out

from tests.rules.shares import OURS
from tests.rules.test_second_order import DESTRUCTIVE, NOT_CALLED, seed

LITERALS = (type(None), bool, int, str, slice, type(Ellipsis), float)
WEIGHTS = np.cos(np.arange(1000.0))
ALWAYS = (
    "numpy.sort", "numpy.ascontiguousarray", "numpy.real", "numpy.copy", "numpy.matmul",
    "linalg.solve", "numpy.broadcast_to", "_procrustes.orthogonal_procrustes",
)
SLICES = 12
READS = """
    s = y.strides
    a = np.sum(np.real(y.ravel("K")) * w[:y.size])
    a += 2.0 * np.sum(np.real(y.ravel("A")) * w[:y.size])
    y = y * 1.0
    y += np.ones(y.shape)
    return a + np.sum(np.real(y)), (s, y.strides)
"""
WRITES = """
    v = y.{way}
    v[0] = 3.25
    whole = np.sum(np.real(y) * w[:y.size].reshape(y.shape))
    return whole + 2.0 * np.sum(np.real(v) * w[:v.size]), ()
"""
BODIES = (READS, WRITES.format(way="ravel()"), WRITES.format(way="reshape(-1)"))


def laid_out(x):
    """Return copies of an array that lie in memory in different ways."""
    wide = np.zeros(tuple(2 * n for n in x.shape), x.dtype, order="F")
    gaps = wide[(slice(None, None, 2),) * x.ndim]
    gaps[...] = x
    return [np.array(x, order="C"), np.array(x, order="F"), np.array(x[::-1])[::-1], gaps]


def program(rule, call, body):
    """Return a function of the arrays in a call, which goes on with ``body``, and the arrays."""
    arrays, given = [], {"function": rule.function, "np": np, "w": WEIGHTS}

    def text_of(x):
        if type(x) in LITERALS and x == x and abs(x if type(x) is float else 0.0) < np.inf:
            return f"({x!r})"
        if type(x) is np.ndarray and x.dtype.kind in "fc" and x.ndim:
            arrays.append(x)
            return f"x{len(arrays) - 1}"
        if type(x) in (tuple, list):
            items = "".join(f"{text_of(item)}, " for item in x)
            return f"({items})" if type(x) is tuple else f"[{items}]"
        given[f"given_{len(given)}"] = x
        return f"given_{len(given) - 1}"

    args = [*map(text_of, call.args), *(f"{k}={text_of(x)}" for k, x in call.kwargs.items())]
    result = rule.function(*call.args, **call.kwargs)
    part = ""
    if isinstance(result, tuple):
        at = [i for i, y in enumerate(result) if np.ndim(y) > 1]
        part, result = (f"[{at[0]}]", result[at[0]]) if at else ("", None)
    if type(result) is not np.ndarray or result.ndim < 2 or not 0 < result.size < 900 or (
        result.dtype.kind not in "fc" or not arrays
    ):
        return None, ()
    names = ", ".join(f"x{i}" for i in range(len(arrays)))
    text = f"def f({names}):\n    y = function({', '.join(args)}){part}{body}"
    module = load_module(None, text, f"layouts_{rule_name(rule)}")
    module.__dict__.update(given)
    return module.f, arrays


def slope(f, args, direction):
    """Return the slope of a function along a direction; nan where two differences do not agree."""

    def at(step):
        moved = [copy_as_laid_out(x) for x in args]
        for x, dx in zip(moved, direction, strict=True):
            x += step * dx
        return f(*moved)[0]

    one, two = ((at(h) - at(-h)) / (2 * h) for h in (1e-5, 3e-6))
    return two if abs(one - two) < 1e-3 * (1.0 + abs(two)) else np.nan


def wrong(f, derivative, args):
    """Return what differs between a function and its derivative; nothing where it is refused."""
    try:
        value, strides = f(*map(copy_as_laid_out, args))
    except (ValueError, TypeError, np.linalg.LinAlgError):
        return None
    try:
        (found, laid), gradient = derivative(*args)
    except ADError:
        return None
    if not np.allclose(found, value, rtol=1e-8, equal_nan=True):
        return found, value
    if laid != strides:
        return laid, strides
    rng = np.random.default_rng(3)
    direction = [rng.normal(size=x.shape) for x in args]
    wanted = slope(f, args, direction)
    along = sum(
        np.sum(np.real(g) * dx) for g, dx in zip(gradient, direction, strict=True)
        if g is not None)
    return None if not abs(along - wanted) > 1e-4 * (1.0 + abs(wanted)) else (along, wanted)


def failures(rule, calls, bodies):
    """Yield the programs of a rule's function that are wrong, with the layout of arguments."""
    checked = 0
    for call in calls:
        for body in bodies:
            try:
                f, arrays = program(rule, call, body)
            except Exception:  # the function refuses what its own source, or this NumPy, lacks
                f = None
            if f is None:
                break
            derivative = value_and_grad(f, argnums=tuple(range(len(arrays))), has_aux=True)
            for k, args in enumerate(zip(*map(laid_out, arrays), strict=True)):
                found = wrong(f, derivative, args)
                if found is not None:
                    yield rule_name(rule), body.split("\n")[2].strip(), k, found
        else:
            checked += 1
        if checked == 2:
            return


def rules(part=None):
    """Return rules of functions that users call: a part of them, or those that always run."""
    return [
        rule for rule in REGISTRY.rules()
        if rule.function not in DESTRUCTIVE | NOT_CALLED and callable(rule.function)
        and not rule_name(rule).startswith((*OURS, "scipy.stats", "scipy.special"))
        and (rule_name(rule).endswith(ALWAYS) if part is None else seed(rule) % SLICES == part)
    ]


def check(chosen, bodies):
    found = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for rule in chosen:
            with contextlib.suppress(AssertionError):  # without a domain
                found += failures(rule, sample_calls(rule, np.random.default_rng(7)), bodies)
    assert found == []


def test_results_lie_in_memory_as_those_of_the_library():
    chosen = rules()
    assert len(chosen) >= len(ALWAYS)
    check(chosen, BODIES)


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(SLICES))
def test_all_results_lie_in_memory_as_those_of_the_library(part):
    check(rules(part), BODIES)
