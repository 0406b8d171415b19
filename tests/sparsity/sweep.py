"""Sample calls of rules as functions of all their real numbers, and derivatives by differences."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from adcompiler.cache.modules import load_module
from adcompiler.dispatch.trees import leaves
from adcompiler.ops.domains import Call
from adcompiler.ops.rules import Rule
from adcompiler.rulekit.samples import rule_name

LITERALS = (type(None), bool, int, str, slice, type(Ellipsis))
NUMBERS = 10
"""So many numbers at most may a call be a function of."""


@dataclass(frozen=True)
class Sample:
    """A call as a function of its real numbers, and a weighted sum of what it returns."""

    called: Callable[..., Any]
    total: Callable[..., Any]
    values: tuple[Any, ...]

    @property
    def all(self) -> tuple[int, ...]:
        """The positions of all arguments."""
        return tuple(range(len(self.values)))

    def moved(self, *moves: tuple[int, float]) -> tuple[Any, ...]:
        """Return the arguments with some of their numbers moved."""
        flat = [np.array(x, np.float64).ravel() for x in self.values]
        for column, step in moves:
            at = column
            for row in flat:
                if at < len(row):
                    row[at] += step
                    break
                at -= len(row)
        return tuple(
            row.reshape(np.shape(x)) if isinstance(x, np.ndarray) else type(x)(row[0])
            for row, x in zip(flat, self.values, strict=True)
        )

    @property
    def columns(self) -> int:
        """How many numbers there are in the arguments."""
        return sum(int(np.size(x)) for x in self.values)


def is_real(value: Any) -> bool:
    """Say whether a value is a float, or an array of them."""
    return isinstance(value, (float, np.floating)) or (
        type(value) is np.ndarray and value.dtype.kind == "f")


def sample_of(rule: Rule, call: Call) -> Sample | None:
    """Return a call as a function of every real number in it; None if that cannot be."""
    values: list[Any] = []
    given: dict[str, Any] = {"function": rule.function, "np": np}

    def text_of(x: Any) -> str:
        if type(x) in LITERALS:
            return f"({x!r})"
        if is_real(x):
            values.append(np.array(x, np.float64) if isinstance(x, np.ndarray) else float(x))
            return f"x{len(values) - 1}"
        if type(x) is tuple:
            return f"({''.join(f'{text_of(item)}, ' for item in x)})"
        if type(x) is list:
            return f"[{', '.join(map(text_of, x))}]"
        given[f"given_{len(given)}"] = x
        return f"given_{len(given) - 1}"

    args = [*map(text_of, call.args), *(f"{k}={text_of(x)}" for k, x in call.kwargs.items())]
    names = ", ".join(f"x{i}" for i in range(len(values)))
    module = load_module(None, (
        f"def called({names}):\n    return function({', '.join(args)})\n"
    ), f"adcompiler_called_{rule_name(rule)}")
    module.__dict__.update(given)
    sample = Sample(module.called, module.called, tuple(values))
    if not 0 < sample.columns <= NUMBERS:
        return None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        value = module.called(*sample.moved())
        again = module.called(*sample.moved())
    if not isinstance(value, (float, complex, np.inexact, np.ndarray, tuple, list)) or (
        not np.array_equal(flat(value), flat(again), equal_nan=True)
    ):
        return None
    return Sample(module.called, summed(module, value, names), tuple(values))


def summed(module: Any, value: Any, names: str) -> Callable[..., Any]:
    """Return a weighted sum of the real parts of what is called in a module."""
    parts = list(value) if isinstance(value, (tuple, list)) else [value]
    given, terms = {}, []
    for i, part in enumerate(parts):
        if not isinstance(part, (float, complex, np.inexact, np.ndarray)) or (
            np.asarray(part).dtype.kind not in "fc"
        ):
            continue
        given[f"w{i}"] = np.linspace(0.7, 1.9, np.size(part)).reshape(np.shape(part))
        item = f"y[{i}]" if isinstance(value, (tuple, list)) else "y"
        real = f"np.real({item})" if np.asarray(part).dtype.kind == "c" else item
        terms.append(f"np.sum({real} * w{i})")
    made = load_module(None, (
        f"def total({names}):\n    y = called({names})\n    return {' + '.join(terms) or '0.0'}\n"
    ), f"adcompiler_total_{id(module)}")
    made.__dict__.update(given, called=module.called, np=np)
    found: Callable[..., Any] = made.total
    return found


def flat(value: Any) -> Any:
    """Return the numbers of a result in a row."""
    return np.concatenate([np.zeros(0), *(
        np.ravel(np.asarray(leaf, complex)) for leaf in leaves(value))])


def evaluated(function: Callable[..., Any], sample: Sample, *moves: tuple[int, float]) -> Any:
    """Return the numbers of a function's result at a place beside that of a sample."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return flat(function(*sample.moved(*moves)))


def first_derivatives(sample: Sample) -> Any:
    """Return where first derivatives are nonzero for sure, by differences of two steps."""

    def slopes(h: float) -> Any:
        return np.array([
            (evaluated(sample.called, sample, (j, h)) - evaluated(sample.called, sample, (j, -h)))
            / (2 * h) for j in range(sample.columns)
        ]).T

    return sure(slopes(1e-5), slopes(2e-5), 1e-6)


def second_derivatives(sample: Sample) -> Any:
    """Return where second derivatives of the weighted sum are nonzero for sure."""
    f = functools.partial(evaluated, sample.total, sample)
    n = sample.columns

    def curvature(h: float) -> Any:
        found = np.zeros((n, n))
        for i, j in itertools.combinations_with_replacement(range(n), 2):
            second = sum(
                s * r * f((i, s * h), (j, r * h))[0] for s in (1, -1) for r in (1, -1)
            ) / (4 * h * h)
            found[i, j] = found[j, i] = np.real(second)
        return found

    size = float(np.abs(f()).max(initial=1.0))
    return sure(curvature(1e-3), curvature(2e-3), 1e-5 * max(1.0, size))


def sure(a: Any, b: Any, least: float) -> Any:
    """Return where two differences agree that a derivative is not zero."""
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= 0.05 * np.abs(a)
    return np.isfinite(a) & np.isfinite(b) & near & (np.abs(a) > least)


def samples(rule: Rule, calls: list[Call], count: int) -> Iterator[Sample]:
    """Yield the first calls of a rule that can be functions of their numbers."""
    found = 0
    for call in calls:
        try:
            sample = sample_of(rule, call)
        except (TypeError, ValueError, ArithmeticError, AttributeError):
            continue
        if sample is not None:
            yield sample
            found += 1
            if found == count:
                return
