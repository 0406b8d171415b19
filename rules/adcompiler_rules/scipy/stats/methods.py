"""Rules of the methods of continuous distributions, from what is known of their standard form.

Of a distribution is written, for ``z = (x - loc) / scale``, the logarithm of its density and, where
it is closed, its distribution function or the inverse of that. All methods follow: ``cdf`` has the
slope ``pdf`` in ``x``, ``sf`` its negative, ``ppf`` its inverse; where the distribution function
changes by ``dF`` with a shape parameter, a quantile moves by ``-dF / pdf``. Outside of the support
slopes are 0; where the value is NaN they are NaN. Parameters whose slope is not known are not among
those of a rule, so that a value that carries a derivative is refused there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import stats

from adcompiler.rulekit import Call, call, pushed, rrule, twins
from adcompiler.rulekit.assemble import function_from, lines
from adcompiler.runtime import project
from adcompiler_rules.scipy.special.common import refuse_complex

Slopes = Callable[..., Any]
Interval = tuple[float, float]


@dataclass(frozen=True)
class Law:
    """What is known of a distribution in its standard form.

    ``density`` is the logarithm of the density as a function of ``z`` and the shapes, ``below`` the
    distribution function, ``quantile`` its inverse; ``slopes`` and ``moved`` are used instead where
    slopes are written by hand: those of ``density``, and ``dF / pdf`` for each shape. ``at`` and
    ``shapes`` say where to test it, with ``numbers`` on a number instead of arrays that are moved
    and scaled; ``centre`` is a place where ``density`` is finite for all shapes. ``rigid`` names
    the shapes of which the density has no known slope, ``still`` those of which the distribution
    function has none.
    """

    name: str
    at: Interval
    shapes: tuple[Interval, ...] = ()
    density: Callable[..., Any] | None = None
    below: Callable[..., Any] | None = None
    quantile: Callable[..., Any] | None = None
    slopes: Slopes | None = None
    moved: Slopes | None = None
    centre: float = 0.5
    numbers: bool = False
    rigid: tuple[str, ...] = ()
    still: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the shape parameters."""
        return shapes_of(getattr(stats, self.name))


def shapes_of(law: Any) -> tuple[str, ...]:
    """Return the names of the shape parameters of a distribution."""
    return tuple(law.shapes.split(", ")) if law.shapes else ()


# --- slopes of functions of z and shapes, element by element --------------------------------------


def slopes_of(
    function: Callable[..., Any], names: tuple[str, ...], wanted: tuple[str, ...]
) -> Slopes:
    """Return the slopes of an elementwise function of numbers in those that are wanted."""
    slopes: Slopes = maker_of_slopes(names, wanted)(function, pushed, np)
    return slopes


@cache
def maker_of_slopes(names: tuple[str, ...], wanted: tuple[str, ...]) -> Any:
    """Return what makes the function that gives slopes: a tangent of ones in each argument."""
    listed = ", ".join(names)
    text = ["def made(function_, pushed_, np_):", f"    def slopes({listed}):"]
    text += [f"        {name} = 1.0 * {name}" for name in names]
    for name in wanted:
        text += [
            "",
            f"        def along_{name}({name}):",
            f"            return function_({listed})",
            "",
            f"        slope_{name} = pushed_(along_{name}, ({name},), (np_.ones_like({name}),))[1]",
        ]
    given = "".join(f"slope_{name}, " for name in wanted)
    text += ["", f"        return ({given})", "", "    return slopes", ""]
    return function_from(lines(*text), "made", {})


# --- slopes of the methods in x, loc, scale and the tuple of shapes -------------------------------


def of_logpdf(density: Slopes, centre: float) -> Slopes:
    """Return the slopes of ``logpdf``, from those of the logarithm of a density in z and shapes."""
    def slopes(x, y, shapes, loc, scale):
        inside = y != -np.inf
        kept = np.where(inside, 1.0 + 0.0 * np.where(np.isnan(y), y, 0.0), 0.0)
        z = np.where(inside, (x - loc) / scale, centre)
        at_z, *at_shapes = density(z, *shapes)
        part = kept * at_z / scale
        return part, -part, -kept / scale - z * part, [kept * slope for slope in at_shapes]

    return slopes


def of_pdf(density: Slopes, centre: float) -> Slopes:
    """Return the slopes of ``pdf``."""
    def slopes(x, y, shapes, loc, scale):
        z = np.where(y > 0.0, (x - loc) / scale, centre)
        at_z, *at_shapes = density(z, *shapes)
        part = y * at_z / scale
        return part, -part, -y / scale - z * part, [y * slope for slope in at_shapes]

    return slopes


def of_cdf(law: Any, moves: Moves, sign: float) -> Slopes:
    """Return the slopes of ``cdf``, or with the sign -1 of ``sf``."""
    grown = moves.grown

    def slopes(x, y, shapes, loc, scale):
        part = sign * law.pdf(x, *shapes, loc, scale)
        z = (x - loc) / scale
        at_scale = -part * np.where(part != 0.0, z, 0.0)
        return part, -part, at_scale, grown(sign, part * scale, z, shapes)

    return slopes


def of_logcdf(law: Any, moves: Moves, sign: float) -> Slopes:
    """Return the slopes of ``logcdf``, or with the sign -1 of ``logsf``."""
    moved = moves.moved

    def slopes(x, y, shapes, loc, scale):
        density = law.logpdf(x, *shapes, loc, scale)
        inside = density != -np.inf
        part = sign * np.exp(np.where(inside, density - np.where(inside, y, 0.0), -np.inf))
        z = (x - loc) / scale
        at_scale = -part * np.where(part != 0.0, z, 0.0)
        far = moved(np.exp(density) * scale, z, shapes, inside)
        return part, -part, at_scale, [part * scale * by for by in far]

    return slopes


def of_ppf(law: Any, moves: Moves, sign: float) -> Slopes:
    """Return the slopes of ``ppf``, or with the sign -1 of ``isf``."""
    moved = moves.moved

    def slopes(x, y, shapes, loc, scale):
        z = (y - loc) / scale
        density = law.pdf(y, *shapes, loc, scale)
        far = moved(density * scale, z, shapes, True)
        return sign / density, 1.0, z, [-scale * by for by in far]

    return slopes


# --- how distribution functions depend on shapes --------------------------------------------------


@dataclass(frozen=True)
class Moves:
    """How a distribution function depends on shapes.

    ``grown(sign, f, z, shapes)`` gives ``sign * dF``, where ``f`` is ``sign`` times the density at
    ``z``; ``moved(f, z, shapes, inside)`` gives ``dF / f``, which stays exact where both are tiny.
    """

    grown: Slopes
    moved: Slopes


def unmoved() -> Moves:
    """Return the moves of a distribution without shapes, or of which nothing is known."""
    def grown(sign, f, z, shapes):
        return ()

    def moved(f, z, shapes, inside):
        return ()

    return Moves(grown, moved)


def moved_by_hand(moves: Slopes) -> Moves:
    """Return the moves by ``dF / f`` as a function of z and shapes."""
    def grown(sign, f, z, shapes):
        return [f * by for by in moves(z, *shapes)]

    def moved(f, z, shapes, inside):
        return moves(z, *shapes)

    return Moves(grown, moved)


def moved_by_function(slopes: Slopes, centre: float) -> Moves:
    """Return the moves by a distribution function in closed form."""
    def grown(sign, f, z, shapes):
        inside = f != 0.0
        kept = np.where(np.isnan(f), f, sign * inside)
        return [kept * by for by in slopes(np.where(inside, z, centre), *shapes)]

    def moved(f, z, shapes, inside):
        there = f != 0.0
        otherwise = np.where(inside, np.nan, 0.0)
        divisor = np.where(there, f, 1.0)
        found = slopes(np.where(there, z, centre), *shapes)
        return [np.where(there, by / divisor, otherwise) for by in found]

    return Moves(grown, moved)


def moved_by_quantile(law: Any, slopes: Slopes) -> Moves:
    """Return the moves by a quantile in closed form: ``dF = -f dQ``."""
    def grown(sign, f, z, shapes):
        return [-f * by for by in slopes(law.cdf(z, *shapes), *shapes)]

    def moved(f, z, shapes, inside):
        return [-by for by in slopes(law.cdf(z, *shapes), *shapes)]

    return Moves(grown, moved)


# --- rules of functions of x, shape parameters by name, loc and scale -----------------------------


def define(method: Any, slopes: Slopes, names: tuple[str, ...], known: tuple[str, ...],
           domain: Any, variable: str = "x") -> None:
    """Register the rule of a method with shape parameters, of which some have known slopes."""
    definition = maker_of_rule(names, known, variable)(
        method, slopes, refuse_complex, project, np.asarray)
    rrule(method, wrt=(variable, "loc", "scale", *known), domain=domain)(definition)


@cache
def maker_of_rule(names: tuple[str, ...], known: tuple[str, ...], variable: str) -> Any:
    """Return what makes the definition of a rule."""
    listed = ", ".join((variable, *names))
    tupled = "".join(f"{name}_, " for name in names)
    given = [
        f"project_(at_x_ * dy_, {variable})", "project_(at_loc_ * dy_, loc)",
        "project_(at_scale_ * dy_, scale)",
    ]
    given += [f"project_(by_shapes_[{i}] * dy_, {name})" for i, name in enumerate(known)]
    return function_from(lines(
        "def made(method_, slopes_, refuse_, project_, asarray_):",
        f"    def distribution_rule({listed}, loc=0, scale=1):",
        f"        refuse_({variable}, loc, scale)",
        *(f"        refuse_({name})" for name in names),
        f"        y_ = method_({listed}, loc, scale)",
        *as_arrays(variable, *names, "loc", "scale"),
        "",
        "        def distribution_pullback(dy_):",
        "            at_x_, at_loc_, at_scale_, by_shapes_ = slopes_(",
        f"                {variable}_, y_, ({tupled}), loc_, scale_)",
        f"            return {', '.join(given)}",
        "",
        "        return y_, distribution_pullback",
        "",
        "    return distribution_rule",
        "",
    ), "made", {})


def as_arrays(*names: str) -> list[str]:
    """Return lines of a rule that make arrays of arguments which are lists, as SciPy does."""
    return [
        f"        {name}_ = asarray_({name}) if isinstance({name}, (list, tuple)) else {name}"
        for name in names
    ]


def samples(law: Law, which: slice) -> Any:
    """Return samples of ``z`` in an interval, and of shapes in theirs, moved and scaled."""
    def calls(rng: np.random.Generator) -> list[Call]:
        def draw(interval: Interval, *shape: int) -> Any:
            return rng.uniform(*interval, shape)

        loc, scale = rng.normal(size=3), rng.uniform(0.5, 2.0, (2, 1))
        return [
            call(float(draw(law.at)), *(float(draw(s)) for s in law.shapes)),
            call(loc + scale * draw(law.at, 2, 3), *(draw(s, 3) for s in law.shapes), loc, scale),
        ][which]

    return calls


def quantiles(law: Law, which: slice) -> Any:
    """Return samples of probabilities, and of shapes, locations and scales."""
    def calls(rng: np.random.Generator) -> list[Call]:
        return [
            call(0.7, *(float(rng.uniform(*s)) for s in law.shapes)),
            call(rng.uniform(0.1, 0.9, (2, 3)), *(rng.uniform(*s, 3) for s in law.shapes),
                 rng.normal(size=3), rng.uniform(0.5, 2.0, (2, 1))),
        ][which]

    return calls


def moves_of(law: Law, found: Any, names: tuple[str, ...]) -> tuple[Moves, tuple[str, ...]]:
    """Return how the distribution function depends on shapes, and on which this is known."""
    known = tuple(name for name in names if name not in law.still)
    if law.moved is not None:
        return moved_by_hand(law.moved), known
    if law.below is not None:
        return moved_by_function(slopes_of(law.below, ("z_", *names), known), law.centre), known
    if law.quantile is not None:
        return moved_by_quantile(found, slopes_of(law.quantile, ("z_", *names), known)), known
    return unmoved(), ()


STATE = ("a", "b", "badvalue", "xtol", "moment_type", "shapes")
"""What an instance of a class of distributions is made with, beside names and random numbers."""


def register(law: Law, short: bool = True) -> None:
    """Register the rules of the methods of a distribution, if this SciPy has it.

    They are tested on one sample call, or where it is not to be ``short`` on two.
    """
    found = getattr(stats, law.name, None)
    if found is None:
        return
    twins(found, STATE)
    names = shapes_of(found)
    which = slice(0, 1) if law.numbers else slice(int(short), 2)
    inside, levels = samples(law, which), quantiles(law, which)
    known = tuple(name for name in names if name not in law.rigid)
    slopes = law.slopes
    if law.density is not None:
        slopes = slopes_of(law.density, ("z_", *names), ("z_", *known))
    if slopes is not None:
        define(found.logpdf, of_logpdf(slopes, law.centre), names, known, inside)
        define(found.pdf, of_pdf(slopes, law.centre), names, known, inside)
    moves, moving = moves_of(law, found, names)
    for name, sign in (("cdf", 1.0), ("sf", -1.0)):
        define(getattr(found, name), of_cdf(found, moves, sign), names, moving, inside)
        define(getattr(found, f"log{name}"), of_logcdf(found, moves, sign), names, moving, inside)
    for name, sign in (("ppf", 1.0), ("isf", -1.0)):
        define(getattr(found, name), of_ppf(found, moves, sign), names, moving, levels, "q")
