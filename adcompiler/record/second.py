"""Second derivatives of a recording: its sweep, pushed forward along tangents of the arguments.

Beside each cotangent stands its tangent. Slopes of operations of real numbers have their tangents
by formulas; pullbacks of single calls are pushed forward by the compiler.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.errors import ADError
from adcompiler.ops.qualified_names import display_name
from adcompiler.record.entries import (
    Elementwise, Gather, Gathered, Linear, Made, Product, Write, conjugate, mapped, pairs,
)
from adcompiler.record.operators import ADD, MUL, POW, SUB, TRUEDIV
from adcompiler.record.shadows import Entry, Sweep, Tangents
from adcompiler.record.single import Single, form_of, plainly, tangents_in
from adcompiler.record.slopes import LOG2, LOG10
from adcompiler.record.tape import Numeric, Operation, Step, Tape, refuse_escaped, refused

CURVATURES: dict[Any, Callable[[float, float, float], float]] = {
    math.exp: lambda a, r, d: r, math.expm1: lambda a, r, d: d, math.log: lambda a, r, d: -d * d,
    math.log1p: lambda a, r, d: -d * d, math.log2: lambda a, r, d: -d * d * LOG2,
    math.log10: lambda a, r, d: -d * d * LOG10, math.sin: lambda a, r, d: -r,
    math.cos: lambda a, r, d: -r, math.tan: lambda a, r, d: 2.0 * r * d,
    math.sinh: lambda a, r, d: r, math.cosh: lambda a, r, d: r,
    math.tanh: lambda a, r, d: -2.0 * r * d, math.sqrt: lambda a, r, d: -2.0 * d * d * d,
    math.atan: lambda a, r, d: -2.0 * a * d * d, math.asin: lambda a, r, d: a * d * d * d,
    math.acos: lambda a, r, d: a * d * d * d, math.erf: lambda a, r, d: -2.0 * a * d,
    math.erfc: lambda a, r, d: -2.0 * a * d, math.fabs: lambda a, r, d: 0.0,
    abs: lambda a, r, d: 0.0,
}
"""Second derivatives of functions of one real number, of argument, result and slope."""


class DualSweep:
    """Cotangents ``g`` with their tangents ``d``, where the tape has the tangents ``t``."""

    def __init__(self, tape: Tape, tangents: Tangents) -> None:
        self.tape, self.t = tape, tangents
        self.g, self.d = Sweep(tape), Sweep(tape)

    def run(self) -> None:
        """Pull all cotangents back."""
        with np.errstate(all="ignore"):
            self.run_all()

    def run_all(self) -> None:
        """Pull all cotangents back."""
        entries = self.tape.entries
        slot = len(entries)
        try:
            while slot:
                slot -= 1
                entry = entries[slot]
                if type(entry) is not tuple:
                    PULLS[type(entry)](self, entry, slot)
                elif len(entry) > 1:
                    self.pull(entry, slot)
        finally:
            for entry in entries[slot:]:
                if type(entry) is not tuple:
                    entry.again()
                    self.swap(entry)

    def pull(self, entry: Step, slot: int) -> None:
        """Pull back through an operation of real numbers."""
        g, d = self.g.numbers[slot], self.d.numbers[slot]
        if g == 0 and d == 0:
            return
        r, i, di, j, dj, op = entry
        t = self.t.numbers
        if (i is not None and i < 0) or (j is not None and j < 0):
            refuse_escaped()
        ti, tj = 0.0 if i is None else t[i], 0.0 if j is None else t[j]
        ddi, ddj = curvatures(op, r, di, dj, ti, tj)
        for k, slope, bend in ((i, di, ddi), (j, dj, ddj)):
            if k is not None:
                self.g.numbers[k] += product(g, slope)
                self.d.numbers[k] += product(d, slope) + product(g, bend)

    def add(self, value: Numeric, g: Numeric, d: Numeric) -> None:
        """Add to the cotangent of a number or array, and to its tangent."""
        self.g.add(value, g)
        self.d.add(value, d)

    def taken(self, entry: Made, slot: int) -> tuple[Any, Any] | None:
        """Return the cotangent of a result and its tangent, None if both are zero."""
        if isinstance(entry.result, np.ndarray):
            return self.taken_array(entry.result)
        g, d = self.g.take_number(slot), self.d.take_number(slot)
        return None if g == 0 and d == 0 else (g, d)

    def taken_array(self, array: np.ndarray) -> tuple[Any, Any] | None:
        """Return the cotangent of an array and its tangent, None if both are zero."""
        g, d = self.g.take(array), self.d.take(array)
        if g is None and d is None:
            return None
        return np.zeros_like(array) if g is None else g, np.zeros_like(array) if d is None else d

    def swap(self, entry: Entry) -> None:
        """Exchange the tangents of what an entry wrote over, with those of what stood there."""
        kept = self.t.kept.get(id(entry), [])
        for i, (view, index, old) in enumerate(kept):
            now = np.array(view[index])
            view[index] = old
            kept[i] = view, index, now


def product(g: Numeric, slope: Numeric) -> Any:
    """Return a product in which zero stays zero."""
    return 0.0 if g == 0 else g * slope


def curvatures(
    op: Operation, r: float, di: float, dj: float, ti: float, tj: float
) -> tuple[float, float]:
    """Return the tangents of the slopes of an operation of real numbers."""
    if op is MUL:
        return tj, ti
    if op is TRUEDIV:
        return -di * di * tj, -di * di * ti - 2.0 * dj * di * tj
    if not isinstance(op, tuple):
        return 0.0, 0.0
    if op[0] is POW:
        _, base, exponent = op
        return of_power(base, exponent, r, di, ti, tj)
    function, a = op
    return (CURVATURES[function](a, r, di) * ti if ti else 0.0), 0.0


def of_power(
    a: float, b: float, r: float, di: float, ti: float, tj: float
) -> tuple[float, float]:
    """Return the tangents of the slopes of a power."""
    by_base = 0.0
    if ti:
        by_base = b * (b - 1.0) * a ** (b - 2.0) if b not in (0, 1) else 0.0
    mixed = both = 0.0
    if a > 0:
        mixed = a ** (b - 1.0) * (1.0 + b * math.log(a))
        both = r * math.log(a) ** 2
    return by_base * ti + mixed * tj, mixed * ti + both * tj


# -- entries ---------------------------------------------------------------------------------------


def of_elementwise(sweep: DualSweep, entry: Elementwise, slot: int) -> None:
    """Pull back through a function with known slopes."""
    found = sweep.taken(entry, slot)
    if found is None:
        return
    if entry.function in LINEAR:
        for arg, slope in zip(entry.args, entry.slopes, strict=True):
            s = conjugate(slope(*entry.given))
            sweep.add(arg, found[0] * s, found[1] * s)
        return
    pushed_again(sweep, entry.function, entry.args, {}, *found)


LINEAR: set[Any] = {complex, ADD, SUB, np.add, np.subtract, operator.neg,
                    np.negative}
"""Functions whose slopes are constant."""


def pushed_again(
    sweep: DualSweep, function: Callable[..., Any], args: tuple[object, ...],
    kwargs: dict[str, object], g: Numeric, d: Numeric,
) -> None:
    """Pull back through a call by the compiler's pullback, pushed forward."""
    values = (*args, *kwargs.values())
    active = [i for i, value in enumerate(values) if sweep.tape.holds(value)]
    form = form_of(function, args, kwargs, active)
    tangents = [tangents_in(sweep.t, values[i]) for i in active]
    try:
        push = form.second(mapped(plainly, values), g)
    except ADError as error:
        reason = str(error).split("\n", 1)[0].rpartition(": ")[2]
        raise refused(
            f"the second derivative of `{display_name(function)}`: {reason}",
            "write it with other functions", "missing-rule") from error
    parts, dots = push(*tangents, d)
    given = [values[i] for i in active]
    for (value, part), (_, dot) in zip(pairs(given, parts), pairs(given, dots), strict=True):
        sweep.add(value, part, dot)


def of_linear(sweep: DualSweep, entry: Linear, slot: int) -> None:
    """Pull back through a linear operation."""
    found = sweep.taken(entry, slot)
    if found is not None:
        sweep.add(entry.arg, entry.adjoint(found[0]), entry.adjoint(found[1]))


def of_product(sweep: DualSweep, entry: Product, slot: int) -> None:
    """Pull back through a matrix product."""
    found = sweep.taken(entry, slot)
    if found is not None:
        pushed_again(sweep, operator.matmul, (entry.a, entry.b), {}, *found)


def of_gather(sweep: DualSweep, entry: Gather, slot: int) -> None:
    """Pull back through a selection."""
    entry.pull(sweep.g, slot)
    entry.pull(sweep.d, slot)


def of_write(sweep: DualSweep, entry: Write, slot: int) -> None:
    """Pull back through a write."""
    sweep.swap(entry)
    entry.pull(sweep.g, slot)
    entry.again()  # the second pull undoes it once more
    entry.pull(sweep.d, slot)


def of_single(sweep: DualSweep, entry: Single, slot: int) -> None:
    """Pull back through a call of a function with a rule."""
    g, some = entry.cotangent(sweep.g, entry.outs)
    d, more = entry.cotangent(sweep.d, entry.outs)
    if some or more:
        count = len(entry.values) - len(entry.names)
        pushed_again(
            sweep, entry.function, entry.values[:count],
            dict(zip(entry.names, entry.values[count:], strict=True)), g, d)


PULLS: dict[type, Callable[[DualSweep, Any, int], None]] = {
    Elementwise: of_elementwise, Linear: of_linear, Product: of_product, Gather: of_gather,
    Gathered: of_gather, Write: of_write, Single: of_single,
}
