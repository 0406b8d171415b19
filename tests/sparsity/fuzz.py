"""Patterns of the random programs of ``tests.properties`` beside their dense derivatives.

    python -m tests.sparsity.fuzz 2000 --seed 1
    python -m tests.sparsity.fuzz --show SEED

A program is sound, refused, discarded (it raises, overflows, or cannot be differentiated) or a
failure: a nonzero that its pattern lacks, or an exception that is no refusal.
"""

from __future__ import annotations

import argparse
import copy
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from adcompiler import grad, hessian_sparsity, jacobian_sparsity
from adcompiler.errors import ADError
from adcompiler.runtime.adjoints.shaping import CopiedError
from adcompiler.sparsity.interpreter import machine
from adcompiler.sparsity.interpreter.lanes import lanes
from tests.properties.checking import Skip, like, made, primal, quiet
from tests.properties.fuzz import program_of
from tests.properties.values import Program
from tests.sparsity.check import dense_jacobian, flat, missing

POINTS = 3
ROWS = 60
"""The most rows of a dense derivative that are looked at."""


class MissingEntryError(AssertionError):
    """A pattern lacks a nonzero of the derivative."""


class RefusedPatternError(Exception):
    """The pattern is refused; the text says why, in brief."""


def points(program: Program) -> Iterator[tuple[Any, ...]]:
    """Yield arguments at which a program runs: its own, and others near and far."""
    rng = np.random.default_rng(len(program.source))
    count = len(program.argnums)
    yield program.args
    for spread in (0.3, 2.0)[: POINTS - 1]:
        def change(x: Any, spread: float = spread) -> Any:
            return x * rng.uniform(1.0 - spread, 1.0 + spread, np.shape(x))

        yield (*like(program.args[:count], change), *program.args[count:])


def with_arguments(program: Program) -> Program:
    """Return a program that returns its arguments too, as it leaves them."""
    names = ", ".join(f"a{i}" for i in range(len(program.args)))
    rows = ["program = f", f"def f({names}):", f"    return program({names}), [{names}]"]
    return replace(program, source="\n".join([program.source, *rows, ""]), scalar=False)


def check_pattern(program: Program) -> int:
    """Compare the patterns of a program with dense derivatives; return at how many points.

    Raises ``Skip`` if the program cannot be run or differentiated, ``RefusedPatternError`` if there
    is no pattern, ``MissingEntryError`` if it lacks an entry.
    """
    with quiet():
        function = made(program)
        primal(function, program.args)
        everywhere = pattern_of(jacobian_sparsity, function, program, program.args, "global")
        second = None
        if program.scalar:
            second = pattern_of(hessian_sparsity, function, program, program.args, "global")
        checked = 0
        for args in points(program):
            try:
                check_at(function, program, args, everywhere, second)
            except Skip:
                if not checked:
                    raise
                continue
            checked += 1
    return checked


def check_at(
    function: Callable[..., Any], program: Program, args: Any, everywhere: Any, second: Any
) -> None:
    """Compare patterns with the derivatives at one point."""
    primal(function, args)
    try:
        dense = dense_jacobian(function, args, program.argnums, ROWS)
    except ADError as error:
        raise Skip(f"not differentiated: {type(error).__name__}") from error
    if not np.all(np.isfinite(dense)):
        raise Skip("derivatives not finite")
    here = pattern_of(jacobian_sparsity, function, program, args, "local")
    compare("Jacobian", everywhere, dense, args)
    compare("local Jacobian", here, dense, args)
    if second is not None:
        curved = curvature(function, program, args)
        here = pattern_of(hessian_sparsity, function, program, args, "local")
        compare("Hessian", second, curved, args)
        compare("local Hessian", here, curved, args)


def compare(what: str, pattern: Any, dense: Any, args: Any) -> None:
    """Raise ``MissingEntryError`` if a pattern lacks a nonzero, or has another shape."""
    if dense.size == 0:
        return
    if pattern.shape[1] != dense.shape[1] or pattern.shape[0] < len(dense):
        raise MissingEntryError(f"{what}: shape {pattern.shape} for {dense.shape}")
    lacking = missing(pattern, dense)
    if lacking:
        raise MissingEntryError(f"{what}: {lacking} at {args!r}")


def pattern_of(
    find: Callable[..., Any], function: Callable[..., Any], program: Program, args: Any, mode: str
) -> Any:
    """Return a pattern; a refusal becomes a ``RefusedPatternError``."""
    given = copy.deepcopy(args)
    try:
        found = find(function, *given, argnums=program.argnums, mode=mode)
    except (ADError, CopiedError) as error:
        text = str(error).splitlines()[0]
        raise RefusedPatternError(f"{mode}: {text.partition(': ')[2][:90]}") from error
    if not np.array_equal(flat(given), flat(args), equal_nan=True):
        raise AssertionError(f"the arguments changed: {given!r}")
    return found


def curvature(function: Callable[..., Any], program: Program, args: Any) -> Any:
    """Return a Hessian by differences of gradients, with what is noise made zero."""
    count = len(program.argnums)
    gradient = grad(function, argnums=program.argnums)

    def at(shift: Any) -> Any:
        numbers = iter(shift.tolist())
        moved = like(args[:count], lambda x: x + np.array(
            [next(numbers) for _ in range(np.size(x))]).reshape(np.shape(x)))
        return flat(gradient(*copy.deepcopy((*moved, *args[count:]))))

    size = flat(args[:count]).size
    rows = []
    try:
        for k in range(size):
            slopes = []
            for step in (1e-5, 3e-6):
                shift = np.zeros(size)
                shift[k] = step
                slopes.append((at(shift) - at(-shift)) / (2 * step))
            close = np.abs(slopes[0] - slopes[1]) < 1e-3 * (1.0 + np.abs(slopes[0]))
            rows.append(np.where(close, slopes[0], 0.0))
    except (ADError, ArithmeticError, ValueError, IndexError) as error:
        raise Skip(f"gradients: {type(error).__name__}") from error
    found = np.array(rows).reshape(size, size)
    scale = np.abs(found[np.isfinite(found)]).max(initial=1e-3)
    return np.where(np.isfinite(found) & (np.abs(found) > 1e-4 * scale), found, 0.0)


def outcome(program: Program) -> tuple[str, str]:
    """Return what becomes of a program, and the reason."""
    try:
        check_pattern(program)
    except Skip as skip:
        return "discarded", str(skip)
    except RefusedPatternError as refused:
        return "refused", str(refused)
    except MissingEntryError as error:
        return "failed", str(error)
    except Exception as error:  # of any kind: it is told what it was
        where = traceback.extract_tb(error.__traceback__)[-1]
        return "failed", f"{type(error).__name__} in {where.name}: {error}"[:200]
    return "sound", ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=0)
    parser.add_argument("--seed", type=int, default=time.time_ns() // 10**6)
    parser.add_argument("--kinds", default="all")
    parser.add_argument("--lanes", action="store_true", help="run even short loops in lanes")
    parser.add_argument("--show", type=int, metavar="SEED", help="print the program of a seed")
    options = parser.parse_args()
    if options.show is not None:
        print(program_of(options.show, options.kinds))
        return 0
    if options.lanes:
        machine.FEWEST = lanes.FEWEST = 1
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.count):
        program = program_of(seed, options.kinds)
        for each in (program, with_arguments(program)):
            verdict, reason = outcome(each)
            counts[verdict] += 1
            if verdict == "refused":
                reasons[reason] += 1
            if verdict == "failed":
                print(f"seed {seed}: {reason}", flush=True)
    print(dict(counts))
    for reason, count in reasons.most_common(20):
        print(f"  {count:5d}  {reason}")
    return int(counts["failed"] > 0)


if __name__ == "__main__":
    sys.exit(main())
