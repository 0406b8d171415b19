"""Checks a program of the accepted language: its derivative, and what it must leave alone.

``check`` compares with plain Python and with finite differences in random directions, and checks
what every derivative promises: the value is Python's; ``grad`` leaves the arguments as they were, and
``vjp`` as the program leaves them; a pullback may be called twice; a gradient has the structure,
dtype and kind of its argument.
"""

import copy
import enum
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from adcompiler import grad, value_and_grad, vjp

DIRECTIONS = 3
STEP = 1e-3


@dataclass(frozen=True)
class Case:
    """A program with arguments, and the positions of the arguments to be differentiated."""

    function: Any
    args: tuple
    argnums: tuple
    options: dict = field(default_factory=dict)

    def __str__(self):
        return self.function.__name__


class Cases(list):
    """Collects programs: ``@programs(1.5, np.ones(3))`` above a function adds it.

    Those that ``records`` are recorded where the compiler refuses them.
    """

    def __init__(self, records=False):
        self.records = records

    def __call__(self, *args, argnums=None, **options):
        def add(function):
            self.append(Case(function, args, argnums, options))
            return function

        return add

    def check(self, case):
        check(case.function, *case.args, argnums=case.argnums, **case.options)


def check(function, *args, argnums=None, tol=1e-7, kwargs=None, scalar=None):
    """Check the derivative of ``function`` at ``args``; by default for all arguments of floats."""
    kwargs = kwargs or {}
    if argnums is None:
        argnums = tuple(i for i, a in enumerate(args) if differentiable(a))
    before, after, given = (copy.deepcopy(args) for _ in range(3))
    wanted = copy.deepcopy(function(*after, **kwargs))
    rng = np.random.default_rng(11)

    value, pullback = vjp(function, *given, argnums=argnums, **kwargs)
    same(value, wanted, "the value of vjp")
    same(given, after, "the arguments after vjp")
    seed = random_like(wanted, rng)
    bars = pullback(seed)
    kept = copy.deepcopy(bars)
    same(pullback(seed), kept, "the second call of a pullback")
    same(bars, kept, "the first result of a pullback after its second call")
    same(given, after, "the arguments after the pullback")
    compare(function, args, kwargs, argnums, seed, bars, rng, tol)
    for argnum, bar in zip(argnums, bars, strict=True):
        of_kind(bar, args[argnum], f"argument {argnum}")

    if scalar is None:
        scalar = isinstance(wanted, (float, np.floating)) or (
            isinstance(wanted, np.ndarray) and wanted.size == 1 and wanted.dtype.kind == "f"
        )
    if scalar:
        one = np.ones_like(wanted)[()]
        gradient = grad(function, argnums=argnums)(*args, **kwargs)
        compare(function, args, kwargs, argnums, one, gradient, rng, tol)
        value, again = value_and_grad(function, argnums=argnums)(*args, **kwargs)
        same(value, wanted, "the value of value_and_grad")
        same(again, gradient, "the gradient of value_and_grad", exact=False)
        loaded = grad(function, argnums=argnums)(*args, **kwargs)
        same(loaded, gradient, "the gradient of a second derivative object")
        same(args, before, "the arguments after grad")
        for argnum, bar in zip(argnums, gradient, strict=True):
            of_kind(bar, args[argnum], f"argument {argnum}")


def compare(function, args, kwargs, argnums, seed, bars, rng, tol):
    """Compare cotangents with finite differences of ``<seed, function>`` in random directions."""
    for _ in range(DIRECTIONS):
        directions = [random_like(args[i], rng) for i in argnums]

        def along(t, directions=directions):
            moved = list(copy.deepcopy(args))
            for i, d in zip(argnums, directions, strict=True):
                moved[i] = move(args[i], d, t)
            return inner(seed, function(*moved, **kwargs))

        got = sum(inner(d, b) for d, b in zip(directions, bars, strict=True))
        expected = richardson(along)
        scale = 1.0 + abs(expected)
        assert np.isfinite(got), bars
        assert abs(got - expected) <= tol * scale, (
            f"derivative {got!r}, finite differences {expected!r}"
        )


def richardson(along):
    """Return the derivative at 0 by central differences, extrapolated twice."""
    rows = [(along(h) - along(-h)) / (2 * h) for h in (STEP, STEP / 2, STEP / 4)]
    first = [(4 * b - a) / 3 for a, b in zip(rows, rows[1:], strict=False)]
    return (16 * first[1] - first[0]) / 15


# -- structures ------------------------------------------------------------------------------------


def is_instance(x):
    """Say whether ``x`` is an instance of a plain class written in Python."""
    cls = type(x)
    return cls is SimpleNamespace or (
        cls.__module__ not in ("builtins", "numpy") and not isinstance(x, (tuple, list, dict))
        and not callable(getattr(x, "__name__", None)) and not isinstance(x, type)
        and not hasattr(x, "__code__") and not hasattr(x, "dtype") and not isinstance(x, enum.Enum)
    )


def attributes_of(x):
    """Return the names of the attributes of an instance, those in slots first."""
    slots = [
        name for cls in reversed(type(x).__mro__) for name in vars(cls).get("__slots__", ())
        if hasattr(x, name) and name not in ("__dict__", "__weakref__")
    ]
    return [*slots, *getattr(x, "__dict__", ())]


def items_of(x):
    """Return the items of a container or the attributes of an instance, None for a leaf."""
    if isinstance(x, dict):
        return list(x.values())
    if is_instance(x):
        return [getattr(x, name) for name in attributes_of(x)]
    return list(x) if isinstance(x, (tuple, list)) else None


def rebuilt(x, items):
    if isinstance(x, dict):
        return dict(zip(x, items, strict=True))
    if hasattr(x, "_fields"):
        return type(x)(*items)
    if is_instance(x):
        new = SimpleNamespace() if type(x) is SimpleNamespace else object.__new__(type(x))
        for name, item in zip(attributes_of(x), items, strict=True):
            object.__setattr__(new, name, item)
        return new
    return type(x)(items)


def differentiable(x):
    items = items_of(x)
    if items is not None:
        return any(map(differentiable, items))
    return isinstance(x, (float, complex, np.inexact)) or (
        isinstance(x, np.ndarray) and x.dtype.kind in "fc"
    )


def random_like(x, rng):
    """Return a random float64 direction of the structure of ``x``; 0.0 for what has none.

    Attributes of instances have none if they are integers.
    """
    items = items_of(x)
    if is_instance(x):
        return rebuilt(x, [random_like(i, rng) if differentiable(i) else 0.0 for i in items])
    if items is not None:
        return rebuilt(x, [random_like(item, rng) for item in items])
    if isinstance(x, np.ndarray):
        return rng.normal(size=x.shape).astype(x.dtype if x.dtype.kind == "f" else float)
    return float(rng.normal()) if isinstance(x, (int, float, np.number)) else 0.0


def move(x, direction, t):
    items = items_of(x)
    if is_instance(x):
        return rebuilt(x, [
            move(i, d, t) if differentiable(i) else i
            for i, d in zip(items, items_of(direction), strict=True)
        ])
    if items is not None:
        return rebuilt(x, [
            move(i, d, t) for i, d in zip(items, items_of(direction), strict=True)
        ])
    if isinstance(x, (str, bool, np.bool_)) or x is None:
        return x
    if isinstance(x, np.ndarray):
        return x.astype(np.float64) + t * direction
    return type(x)(x + t * direction) if isinstance(x, (float, np.float64)) else x + t * direction


def inner(a, b):
    """Return the inner product of two values of one structure, as a float."""
    if is_instance(a):
        return sum((inner(getattr(a, n), getattr(b, n)) for n in attributes_of(a)), 0.0)
    items = items_of(b)
    if items is not None:
        return sum((inner(x, y) for x, y in zip(items_of(a), items, strict=True)), 0.0)
    if b is None or isinstance(b, (str, bool)):
        return 0.0
    return float(np.sum(np.real(np.asarray(a) * np.asarray(b))))


def same(a, b, what, exact=True):
    items = items_of(b)
    if items is not None:
        assert type(a) is type(b) and len(items_of(a)) == len(items), f"{what}: {a!r}, not {b!r}"
        for x, y in zip(items_of(a), items, strict=True):
            same(x, y, what, exact)
        return
    assert type(a) is type(b), f"{what}: {a!r} of {type(a)}, not {b!r} of {type(b)}"
    if isinstance(b, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape, f"{what}: {a!r}, not {b!r}"
    if isinstance(b, (np.ndarray, np.number, int, float, complex)):
        fits = np.array_equal(a, b) if exact else np.allclose(a, b, rtol=1e-12, atol=1e-14)
        assert fits, f"{what}: {a!r}, not {b!r}"


def of_kind(bar, x, what):
    """Assert that a gradient has the structure, shape, dtype and kind of its argument."""
    items = items_of(x)
    if is_instance(x):
        assert type(bar) is type(x), f"{what}: {bar!r} for {x!r}"
        names = attributes_of(x)
        assert all(getattr(bar, n) is None for n in attributes_of(bar) if n not in names)
        for b, i in zip((getattr(bar, n) for n in names), items, strict=True):
            if differentiable(i):
                of_kind(b, i, what)
            else:
                assert b is None, f"{what}: {b!r} for {i!r}"
        return
    if items is not None:
        assert type(bar) is type(x) and len(bar) == len(x), f"{what}: {bar!r} for {x!r}"
        if isinstance(x, dict):
            assert list(bar) == list(x)
        for b, i in zip(items_of(bar), items, strict=True):
            of_kind(b, i, what)
    elif isinstance(x, np.ndarray):
        assert isinstance(bar, np.ndarray) and bar.shape == x.shape, f"{what}: {bar!r} for {x!r}"
        dtype = x.dtype if x.dtype.kind in "fc" else np.float64
        assert bar.dtype == dtype, f"{what}: {bar.dtype} for {x.dtype}"
        assert not np.shares_memory(bar, x), f"{what}: the gradient is the argument's memory"
    elif isinstance(x, (float, np.inexact)):
        assert type(bar) is type(x), f"{what}: {type(bar)} for {type(x)}"
    elif isinstance(x, int):
        assert type(bar) is float, f"{what}: {type(bar)} for {type(x)}"
