"""``adcompiler check-classification``: classifications against derivatives at random points."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adcompiler.api.grad import vjp
from adcompiler.cache.modules import load_module
from adcompiler.cli.output import show_table
from adcompiler.cli.rules import function_named
from adcompiler.cli.target import UsageError, add_loads
from adcompiler.cli.target import load_module as import_target
from adcompiler.cli.target import seed as seed_of
from adcompiler.errors import ADError
from adcompiler.ops.classify import DECLARED, Classification, letters_of
from adcompiler.ops.domains import Call
from adcompiler.ops.qualified_names import display_name
from adcompiler.ops.registry import REGISTRY
from adcompiler.ops.rules import Rule
from adcompiler.rulekit.samples import sample_calls
from adcompiler.sparsity.interpreter.machine import classifications_of
from adcompiler.support.budget import quiet
from adcompiler.support.signatures import signature as signature_of
from adcompiler.support.structs import dataclass

POINTS = 20
DRAWS = 40
"""Of so many draws of sample calls the points are taken, which may be fewer than wanted."""

Point = tuple[Any, ...]


@dataclass(frozen=True)
class Checked:
    """What became of one output of a function.

    ``wrong`` names derivatives that are classified as zero and are not, ``loose`` those
    that are zero at all points and not classified so; ``note`` says what could not be checked.
    """

    function: Any
    letters: str
    points: int
    wrong: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    note: str = ""

    @property
    def verdict(self) -> str:
        """One line about it."""
        if self.wrong:
            return f"wrong: {', '.join(self.wrong)}"
        if self.note:
            return self.note
        return f"ok, but zero: {', '.join(self.loose)}" if self.loose else "ok"


def classified_rules() -> list[tuple[Rule, ...]]:
    """Return the rules of each function that is classified, the elementwise ones first."""
    found: dict[Any, list[Rule]] = {}
    for rule in REGISTRY.rules():
        found.setdefault(rule.function, []).append(rule)
    return [
        tuple(sorted(rules, key=lambda rule: not rule.elementwise))
        for function, rules in found.items()
        if function in DECLARED or any(rule.elementwise for rule in rules)
    ]


def check(rules: Sequence[Rule], rng: np.random.Generator) -> list[Checked]:
    """Check the classification of each output of a function with these rules at random points."""
    function = rules[0].function
    for rule in rules:
        points = list(itertools.islice(points_of(rule, rng), POINTS))
        if points:
            outputs = classifications_of(function, len(points[0]))
            return [
                check_output(rule, points, k if len(outputs) > 1 else None, kind)
                for k, kind in enumerate(outputs)
            ]
    outputs = classifications_of(function, len(rules[0].partials) or 1)
    return [
        check_values(function, rng, k if len(outputs) > 1 else None, kind)
        for k, kind in enumerate(outputs)
    ]


def points_of(rule: Rule, rng: np.random.Generator) -> Iterator[Point]:
    """Yield arguments that are numbers, real ones where they are differentiated; all alike."""
    kinds = None
    for _ in range(DRAWS):
        for call in sample_calls(rule, rng):
            if call.kwargs or not all(is_real(arg) for arg in call.args) or (
                rule.partials and len(call.args) != len(rule.partials)
            ):
                continue
            for point in zip(*(np.ravel(a) for a in np.broadcast_arrays(*call.args)), strict=True):
                numbers = tuple(number.item() for number in point)
                active = differentiated(rule, call)
                if not all(isinstance(numbers[i], float) for i in active if isinstance(i, int)):
                    continue
                kinds = kinds or tuple(map(type, numbers))
                if tuple(map(type, numbers)) == kinds:
                    yield numbers


def is_real(value: Any) -> bool:
    """Say whether a value is a real number or an array of them."""
    return isinstance(value, (int, float, np.number, np.ndarray)) and (
        np.asarray(value).dtype.kind in "iuf")


def gradient_of(
    function: Callable[..., Any], out: int | None, count: int, active: tuple[int, ...]
) -> Callable[..., Any]:
    """Return the gradient of one output of a function of numbers, as a function with source."""
    names = ", ".join(f"x{i}" for i in range(count))
    item = "" if out is None else f"[{out}]"
    text = (
        f"def called({names}):\n    return function({names}){item}\n\n\n"
        f"def gradient({names}):\n    return vjp(called, {names}, argnums={active})[1](1.0)\n"
    )
    namespace = load_module(None, text, "adcompiler_check_classification").__dict__
    namespace.update(function=function, vjp=vjp)
    found: Callable[..., Any] = namespace["gradient"]
    return found


def check_output(
    rule: Rule, points: list[Point], out: int | None, kind: Classification
) -> Checked:
    """Check the classification of one output."""
    letters, count = letters_of(kind), len(points[0])
    active = tuple(i for i in range(count) if type(points[0][i]) is float and (
        rule.definition is not None or rule.partials[i] is not None))
    note = ""
    try:
        found = [derivatives(rule.function, out, point, active) for point in points]
    except (ADError, TypeError, ValueError, ArithmeticError) as error:
        note = str(error).partition("\n")[0].rpartition(": ")[2]
        found = []
    if not found:
        try:
            found = [differences(rule.function, out, point, active) for point in points]
            note = ""
        except (ADError, TypeError, ValueError, ArithmeticError):
            return check_values(rule.function, np.random.default_rng(0), out, kind)
    unknown = tuple(i for i in range(count) if i not in active)
    wrong, loose = unknown_wrong(rule.function, out, points, unknown, kind), []
    for which in found[0]:
        values = [derivative[which] for derivative in found]
        zero = [not np.isfinite(value) or value == 0 for value in values]
        if kind.is_zero(*which):
            if not all(zero):
                wrong.append(named(which))
        elif all(zero):
            loose.append(named(which))
        predicate = kind.where_zero(*which)
        if predicate is not None and not all(
            z or not np.all(predicate(*p)) for z, p in zip(zero, points, strict=True)
        ):
            wrong.append(f"{named(which)} at a point")
    return Checked(rule.function, letters, len(points), tuple(wrong), tuple(loose), note)


def unknown_wrong(
    function: Callable[..., Any], out: int | None, points: list[Point], unknown: tuple[int, ...],
    kind: Classification,
) -> list[str]:
    """Return the derivatives in arguments of which a rule gives none that are not zero as said.

    They are found by differences of values, where there are such; beside integers, at which some
    functions jump.
    """
    wrong: dict[str, None] = {}
    for given in points if unknown else ():
        point = tuple(x + 0.3 * (i in unknown) for i, x in enumerate(given))
        try:
            with np.errstate(all="ignore"), quiet():
                found = value_differences(function, out, point)
        except (TypeError, ValueError, ArithmeticError):
            continue  # one that has to be an int
        for which, value in found.items():
            if set(which) & set(unknown) and kind.is_zero(*which) and (
                np.isfinite(value) and abs(value) > NOISE * max(1.0, size_at(function, out, point))
            ):
                wrong[named(which)] = None
    return list(wrong)


def size_at(function: Callable[..., Any], out: int | None, point: Point) -> float:
    """Return how large one output of a function is."""
    value = value_at(function, list(point))
    return float(abs(value if out is None else value[out]))


def check_values(
    function: Callable[..., Any], rng: np.random.Generator, out: int | None, kind: Classification
) -> Checked:
    """Check the classification of one output by differences of values, at numbers near 1."""
    count = len(kind.der1_zero)
    letters = letters_of(kind)
    wrong: set[str] = set()
    try:
        for _ in range(POINTS):
            point = rng.uniform(0.5, 1.5, count)
            for which, value in value_differences(function, out, point).items():
                if kind.is_zero(*which) and abs(value) > NOISE:
                    wrong.add(named(which))
    except (TypeError, ValueError, ArithmeticError) as error:
        return Checked(function, letters, 0, note=f"not checked: {error}")
    return Checked(function, letters, POINTS, tuple(sorted(wrong)))


STEP = 0.125
"""Of differences of values: a power of two, so that those of linear functions are exact."""

NOISE = 1e-4
"""Differences up to this size are taken for rounding errors."""


def value_differences(
    function: Callable[..., Any], out: int | None, point: Any
) -> dict[tuple[int, ...], float]:
    """Return first and second differences of a function of numbers, by arguments."""
    def at(*shifts: tuple[int, float]) -> float:
        moved = np.array(point, float)
        for i, step in shifts:
            moved[i] += step
        value = value_at(function, [float(x) for x in moved])
        return float(np.real(value if out is None else value[out]))

    found: dict[tuple[int, ...], float] = {}
    for i in range(len(point)):
        found[i,] = (at((i, STEP)) - at((i, -STEP))) / (2 * STEP)
        for j in range(i + 1):
            found[j, i] = sum(
                s * r * at((i, s * STEP), (j, r * STEP)) for s in (1, -1) for r in (1, -1)
            ) / (4 * STEP * STEP)
    return found


def as_array(number: float) -> Any:
    """Return a number as an array."""
    return np.asarray(number)


def value_at(function: Callable[..., Any], point: list[float]) -> Any:
    """Return the value of a function of numbers, which may be a method of another class."""
    for convert in (float, as_array, complex):
        try:
            return function(*map(convert, point))
        except TypeError as error:
            refused = error
    raise refused


def differences(
    function: Callable[..., Any], out: int | None, point: Point, active: tuple[int, ...]
) -> dict[tuple[int, ...], float]:
    """Return the first derivatives at a point, and the second ones as differences of those."""
    found = first_derivatives(function, out, point, active)
    for n, i in enumerate(active):
        step = 1e-4 * max(1.0, abs(point[i]))
        beside = [
            first_derivatives(function, out, (*point[:i], point[i] + s, *point[i + 1 :]), active)
            for s in (step, -step)
        ]
        for j in active[: n + 1]:
            slope = (beside[0][j,] - beside[1][j,]) / (2 * step)
            found[j, i] = slope if abs(slope) > NOISE * max(1.0, abs(found[j,])) else 0.0
    return found


def first_derivatives(
    function: Callable[..., Any], out: int | None, point: Point, active: tuple[int, ...]
) -> dict[tuple[int, ...], float]:
    """Return the first derivatives at a point, by the argument differentiated in."""
    with np.errstate(all="ignore"), quiet():
        values = gradients(function, out, len(point), active)(*point)
    return {(i,): float(np.real(value)) for i, value in zip(active, values, strict=True)}


def derivatives(
    function: Callable[..., Any], out: int | None, point: Point, active: tuple[int, ...]
) -> dict[tuple[int, ...], float]:
    """Return the first and second derivatives at a point, by the arguments differentiated in."""
    found = first_derivatives(function, out, point, active)
    with np.errstate(all="ignore"), quiet():
        gradient = gradients(function, out, len(point), active)
        _, pullback = vjp(gradient, *point, argnums=active)
        for n, i in enumerate(active):
            seed = tuple(float(i == j) for j in active)
            for j, value in list(zip(active, pullback(seed), strict=True))[n:]:
                found[i, j] = float(np.real(value))
    return found


_GRADIENTS: dict[Any, Callable[..., Any]] = {}


def gradients(
    function: Callable[..., Any], out: int | None, count: int, active: tuple[int, ...]
) -> Callable[..., Any]:
    """Return the gradient function of one output, the same for all points."""
    key = function, out, count, active
    if key not in _GRADIENTS:
        _GRADIENTS[key] = gradient_of(*key)
    return _GRADIENTS[key]


def named(which: tuple[int, ...]) -> str:
    """Return the usual name of a derivative."""
    return "d" + f"{len(which)}/".replace("1/", "/") + "".join(f"dx{i}" for i in which)


def add_check_classification(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
) -> None:
    """Add the command ``check-classification``."""
    parser = commands.add_parser(
        "check-classification", help="check which derivatives of functions vanish",
        description="Check what sparsity patterns take to be zero against derivatives at "
        f"{POINTS} random points, for all classified functions or those named.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="e.g. numpy.sin operator.add")
    parser.add_argument("--seed", type=seed_of, default=0, help="of the random points")
    add_loads(parser)
    parser.set_defaults(run=run_check_classification)


def run_check_classification(options: argparse.Namespace) -> int:
    """Run ``adcompiler check-classification``; return 1 if a classification is wrong."""
    for where in options.load:
        import_target(where)
    rng = np.random.default_rng(options.seed)
    checked = [each for rules in chosen(options.names) for each in check(rules, rng)]
    rows = sorted(
        (display_name(each.function), each.letters, str(each.points), each.verdict)
        for each in checked)
    show_table(("function", "classification", "points", "verdict"), rows)
    wrong = sum(bool(each.wrong) for each in checked)
    unchecked = sum(bool(each.note) for each in checked)
    print(f"{len(checked)} classifications, {wrong} wrong, {unchecked} not fully checked")
    return int(wrong > 0)


def chosen(names: list[str]) -> list[tuple[Rule, ...]]:
    """Return the rules of the functions named, by default of all that are classified."""
    classified = classified_rules()
    if not names:
        return classified
    found = []
    for name in names:
        function = REGISTRY.resolve(function_named(name))
        these = [rules for rules in classified if rules[0].function == function]
        if not these:
            raise UsageError(f"{name} is not classified; see `adcompiler rules`")
        found += these
    return found


def differentiated(rule: Rule, call: Call) -> set[int | str]:
    """Return the positions and names of the arguments that the rule gives cotangents of."""
    if rule.definition is None:
        return {i for i, partial in enumerate(rule.partials) if partial is not None}
    found: set[int | str] = set(rule.wrt)
    parameters = list(signature_of(rule.definition).parameters.values())
    for i in range(len(call.args)):
        starred = next((p for p in parameters[: i + 1] if p.kind is p.VAR_POSITIONAL), None)
        name = parameters[i].name if starred is None else starred.name
        if name in rule.wrt or f"*{name}" in rule.wrt:
            found.add(i)
    return found
