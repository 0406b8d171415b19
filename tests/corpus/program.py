"""Programs as people write them, and the check that their derivatives have to pass.

Modules of this package define ``PROGRAMS``, tuples of ``Program``; ``test_corpus.py`` finds them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from adcompiler import value_and_grad, vjp
from tests.language.check import inner, move, of_kind, random_like, same
from tests.state import check_state

SEEDS = (0, 1)
TOLERANCE = 1e-7  # of the size of the gradient
NOISE = 1e-10  # of the value: what rounding in the function leaves of finite differences


@dataclass(frozen=True)
class Program:
    """A function to be differentiated, and where.

    ``samples`` draws the arguments, a tuple, from a generator: floats, arrays, and tuples or lists
    of them at the positions ``argnums``, anything elsewhere. The function is smooth within three
    times ``step`` of them in the direction of standard normal numbers. It may write into its
    arguments; it returns a float, or an array or a tuple of them, which the check contracts with
    random weights.
    """

    function: Callable[..., Any]
    samples: Callable[[np.random.Generator], tuple[Any, ...]]
    argnums: int | tuple[int, ...] = 0
    step: float = 1e-3

    def __str__(self) -> str:
        return self.function.__name__

    @property
    def positions(self) -> tuple[int, ...]:
        return (self.argnums,) if isinstance(self.argnums, int) else self.argnums

    def cases(self) -> Iterator[Case]:
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            args = self.samples(rng)
            value = self.function(*copy.deepcopy(args))
            weights = 1.0 if is_scalar(value) else random_like(value, rng)
            yield Case(self, args, value, weights)


@dataclass(frozen=True)
class Case:
    """A program at one point: its arguments, its value there, the weights of its results."""

    program: Program
    args: tuple[Any, ...]
    value: Any
    weights: Any

    @property
    def noise(self) -> float:
        sizes = np.abs(flat(self.value)) @ np.abs(flat(self.weights))
        return NOISE * (1.0 + float(sizes))

    def direction(self, positions: tuple[int, ...], rng: np.random.Generator) -> tuple[Any, ...]:
        """Return a random direction in these arguments."""
        return tuple(random_like(self.args[i], rng) for i in positions)

    def slope(self, positions: tuple[int, ...], direction: Any, step: float) -> float:
        """Return the derivative along a direction by central differences of order six."""

        def along(t: float) -> float:
            moved = list(copy.deepcopy(self.args))
            for i, d in zip(positions, direction, strict=True):
                moved[i] = move(moved[i], d, t)
            return inner(self.weights, self.program.function(*moved))

        nodes = ((1.0, 45.0), (2.0, -9.0), (3.0, 1.0))
        return sum(c * (along(k * step) - along(-k * step)) for k, c in nodes) / (60.0 * step)


def check(program: Program) -> None:
    """Check the derivatives of a program against plain Python and finite differences."""
    for case in program.cases():
        gradient = pulled_back(case)
        if is_scalar(case.value):
            same_gradient(joint(case), gradient, "value_and_grad and vjp")
        for i, bar in zip(program.positions, gradient, strict=True):
            of_kind(bar, case.args[i], f"argument {i}")
        compare(case, gradient)


def pulled_back(case: Case) -> tuple[Any, ...]:
    """Return the gradient by ``vjp``, of which the pullback can be called again."""
    positions = case.program.positions
    args = copy.deepcopy(case.args)

    def halves(*args: Any) -> tuple[Any, Any]:
        value, pullback = vjp(case.program.function, *args, argnums=positions)
        return copy.deepcopy(value), pullback  # it may be an argument, which is put back

    value, pullback = check_state(case.program.function, halves, args, leaves_args=False)
    same(value, case.value, "the value of vjp", exact=False)
    bars: tuple[Any, ...] = pullback(copy.deepcopy(case.weights))
    kept = copy.deepcopy(bars)
    same(pullback(copy.deepcopy(case.weights)), kept, "the second call of a pullback")
    same(bars, kept, "the first result of a pullback, after the second call")
    return kept


def joint(case: Case) -> tuple[Any, ...]:
    """Return the gradient by ``value_and_grad``, which leaves the arguments as they were."""
    program = case.program
    args = copy.deepcopy(case.args)
    derivative = value_and_grad(program.function, argnums=program.argnums)
    value, gradient = check_state(program.function, derivative, args, leaves_args=True)
    same(value, case.value, "the value of value_and_grad", exact=False)
    same(args, case.args, "the arguments after value_and_grad")
    same(derivative(*args), (value, gradient), "the second call of value_and_grad")
    return (gradient,) if isinstance(program.argnums, int) else gradient


def compare(case: Case, gradient: tuple[Any, ...]) -> None:
    """Compare a gradient with finite differences, argument by argument and in all together."""
    rng = np.random.default_rng(7)
    everything = case.program.positions
    bars = dict(zip(everything, gradient, strict=True))
    for positions in (*((i,) for i in everything), everything, everything):
        direction = case.direction(positions, rng)
        expected = case.slope(positions, direction, case.program.step)
        got = sum(inner(d, bars[i]) for i, d in zip(positions, direction, strict=True))
        size = np.linalg.norm(np.concatenate([flat(bars[i]) for i in positions]))
        assert abs(got - expected) <= TOLERANCE * size + case.noise, (
            f"{case.program}, arguments {positions}: derivative {got!r}, "
            f"finite differences {expected!r}"
        )


def check_smoothness(program: Program) -> None:
    """Check that a program can be checked: it repeats itself, and its slopes are well defined."""
    positions = program.positions
    for case in program.cases():
        again = program.function(*copy.deepcopy(case.args))
        same(again, case.value, "the value of a second call")
        assert np.all(np.isfinite(flat(case.value))), f"{program}: {case.value!r}"
        rng = np.random.default_rng(13)
        for subset in (*((i,) for i in positions), positions):
            direction = case.direction(subset, rng)
            wide = case.slope(subset, direction, program.step)
            narrow = case.slope(subset, direction, program.step / 2)
            assert abs(wide - narrow) <= 0.3 * (TOLERANCE * abs(wide) + case.noise), (
                f"{program}, arguments {subset}: slope {wide!r}, of half the step {narrow!r}"
            )
            assert abs(wide) > case.noise, f"{program} does not depend on arguments {subset}"


def same_gradient(a: tuple[Any, ...], b: tuple[Any, ...], what: str) -> None:
    """Assert that two gradients are equal up to the order of summation."""
    for x, y in zip(a, b, strict=True):
        distance = np.linalg.norm(flat(x) - flat(y))
        assert distance <= 1e-9 * np.linalg.norm(flat(y)), f"{what} differ: {x!r}, {y!r}"


def is_scalar(value: Any) -> bool:
    return isinstance(value, (float, np.floating))


def flat(value: Any) -> np.ndarray:
    """Return all numbers of a structure in one vector."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return np.concatenate([flat(item) for item in value]) if value else np.zeros(0)
    return np.ravel(np.asarray(value, dtype=float))
