"""``adcompiler check`` and ``adcompiler bench``: derivatives against differences, and in time."""

from __future__ import annotations

import argparse
import functools
import inspect
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adcompiler.api.derivative import Derivative
from adcompiler.api.emitted import EmittedDerivative
from adcompiler.cache.store import DIRECTORY_VARIABLE
from adcompiler.cli.dump import DumpOptions, parse_argnums, requests_for
from adcompiler.cli.output import show_json, show_table
from adcompiler.cli.sparsity import check_given
from adcompiler.cli.target import UsageError, load_target, running, seed
from adcompiler.cli.view import values_of
from adcompiler.dispatch import Options
from adcompiler.errors import ADError
from adcompiler.ir import types as t
from adcompiler.runtime.progress import showing
from adcompiler.support.signatures import signature as signature_of
from adcompiler.testing import GradChecks, check_grads

LENGTH = 3
"""The extent of each axis of arrays, and the length of lists, of which only types are known."""

GIVEN = (
    'values, "x: array([0.5, 1.0]), w: 2.0, n: 3", or types, "x: float64[:]": then numbers between '
    "0.5 and 1.5 are taken, arrays of 3 along each axis, and integers 3"
)
Call = tuple[str, Callable[..., Any], tuple[Any, ...]]
"""The name of a function, the function, and arguments by position."""


def add_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command ``check``."""
    parser = commands.add_parser(
        "check", help="check derivatives against differences, in forward and reverse mode",
        description="Check the derivatives of a module's decorated functions, or of one function, "
        "in forward and reverse mode against central differences, at one point.",
    )
    parser.add_argument("target", metavar="MODULE_OR_FILE[:FUNCTION]", help="e.g. model.py:loss")
    parser.add_argument("--args", default="", metavar="ARGUMENTS", help=GIVEN)
    parser.add_argument("--order", type=int, default=1, help="up to this order (default 1)")
    parser.add_argument("--rtol", type=float, default=1e-6, help="allowed error (default 1e-6)")
    parser.add_argument("--seed", type=seed, default=0, help="of directions and of numbers taken")
    parser.add_argument("--json", action="store_true", help="write rows as JSON")
    parser.set_defaults(run=run_check)


def run_check(options: argparse.Namespace) -> int:
    """Run ``adcompiler check``: 0 if all derivatives agree, 1 if not, or if one is refused."""
    if options.order < 1:
        raise UsageError("--order is 1, 2, ...")
    if not options.rtol >= 0.0:
        raise UsageError("--rtol is a number that is not negative")
    rows: list[dict[str, Any]] = []
    wrong: list[str] = []
    for name, function, args in calls(options.target, options.args, options.seed):
        try:
            with showing(f"checking {name}", 1.0), running(name):
                found = check_grads(
                    function, args, order=options.order, rtol=math.inf, seed=options.seed)
        except ADError as error:
            print(f"{name}: {str(error).removeprefix(f'{name}: ')}", file=sys.stderr)
            wrong.append(name)
            continue
        rows += rows_of(name, found)
        if any(not row.error <= options.rtol for row in found):
            wrong.append(name)
    if options.json:
        show_json(rows)
    elif rows:
        show_table(list(rows[0]), [
            [row["function"], row["mode"], f"{row['derivative']:.12g}",
             f"{row['differences']:.12g}", f"{row['error']:.1e}"] for row in rows])
    if wrong:
        print(f"not right: {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


def rows_of(name: str, found: GradChecks) -> list[dict[str, Any]]:
    """Return the checks of a function as rows of a table."""
    return [{
        "function": name, "mode": row.mode, "derivative": row.derivative,
        "differences": row.differences, "error": row.error,
    } for row in found]


def add_bench(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command ``bench``."""
    parser = commands.add_parser(
        "bench", help="time derivatives beside the functions themselves",
        description="Time a function and its derivative at one point: a first call that compiles "
        "(cold), one that loads what was compiled before (warm), and the least of many later ones.",
    )
    parser.add_argument("target", metavar="MODULE_OR_FILE[:FUNCTION]", help="e.g. model.py:loss")
    parser.add_argument("--args", default="", metavar="ARGUMENTS", help=GIVEN)
    parser.add_argument("--argnums", help="positions or names, e.g. 0 or 0,1 or w,b")
    parser.add_argument("--mode", choices=("grad", "value_and_grad"), default="value_and_grad")
    parser.add_argument("--backend", choices=("both", "python", "native", "auto"),
                        default="both", help="what runs the derivative (default both)")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each timing (default 1)")
    parser.add_argument("--json", action="store_true", help="write rows as JSON")
    parser.set_defaults(run=run_bench)


def run_bench(options: argparse.Namespace) -> int:
    """Run ``adcompiler bench``."""
    if not 0.0 <= options.seconds < math.inf:
        raise UsageError("--seconds is a number that is not negative")
    rows: list[dict[str, Any]] = []
    for name, function, args in calls(options.target, options.args, 0):
        argnums = 0 if options.argnums is None else parse_argnums(options.argnums)
        if not args:
            raise UsageError(f"{name} has no arguments: there is no derivative to time")
        primal = 0.0
        for backend in BOTH if options.backend == "both" else (options.backend,):
            wanted = Options(options.mode, argnums, backend=backend)
            try:
                with showing(f"timing {name}", 1.0), running(name):
                    made, cold, warm = first_calls(function, wanted, args)
                    primal = primal or least_time(function, args, options.seconds)
                    derivative = least_time(made, args, options.seconds)
            except ADError as error:
                if options.backend != "both" or backend == BOTH[0]:
                    raise
                print(f"{name}: {backend}: {str(error).partition(chr(10))[0]}", file=sys.stderr)
                continue
            rows.append({
                "function": name, "backend": backend, "cold": cold, "warm": warm,
                "primal": primal, "derivative": derivative, "ratio": derivative / primal,
            })
    if options.json:
        show_json(rows)
    else:
        head = ["function", "backend", "cold", "warm", "function itself", options.mode, "ratio"]
        show_table(head, [
            [row["function"], row["backend"], *(
                seconds(row[key]) for key in ("cold", "warm", "primal", "derivative")),
             f"{row['ratio']:.2f}"] for row in rows])
    return 0


BOTH = ("python", "native")


def first_calls(
    function: Callable[..., Any], options: Options, args: tuple[Any, ...]
) -> tuple[Derivative[..., Any], float, float]:
    """Return a derivative, the seconds of a first call that compiles, and of one that loads."""
    before = os.environ.get(DIRECTORY_VARIABLE)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ[DIRECTORY_VARIABLE] = folder
        try:
            spent = []
            for _ in range(2):
                made: Derivative[..., Any] = EmittedDerivative(function, options)
                start = time.perf_counter()
                made(*args)
                spent.append(time.perf_counter() - start)
        finally:
            if before is None:
                del os.environ[DIRECTORY_VARIABLE]
            else:
                os.environ[DIRECTORY_VARIABLE] = before
    return made, spent[0], spent[1]


def least_time(function: Callable[..., Any], args: tuple[Any, ...], limit: float) -> float:
    """Return the least time of a call, in seconds, of rounds that take ``limit`` together."""
    count, least, end = 1, math.inf, time.perf_counter() + limit
    while time.perf_counter() < end or least == math.inf:
        start = time.perf_counter()
        for _ in range(count):
            function(*args)
        spent = time.perf_counter() - start
        least = min(least, spent / count)
        if spent < 0.001:
            count *= 2
    return least


def seconds(value: float) -> str:
    """Return a time for people."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


# -- arguments -------------------------------------------------------------------------------------


def calls(target: str, given: str, seed: int) -> Iterator[Call]:
    """Yield the functions that a target names, with arguments."""
    _, functions = load_target(target)
    for name, function in functions.items():
        if isinstance(function, Derivative):
            function = function.primal
        values = values_of(given)
        if values is not None:
            check_given(name, function, values)
        yield name, *with_arguments(name, function, values, given, seed)


def with_arguments(
    name: str, function: Callable[..., Any], values: dict[str, Any] | None, types: str, seed: int
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a function of positional arguments, and those: as given, or made for their types."""
    bound = bound_to(
        function, values_made(name, function, types, seed) if values is None else values)
    bound.apply_defaults()
    return (functools.partial(function, **bound.kwargs) if bound.kwargs else function), bound.args


def bound_to(function: Callable[..., Any], values: dict[str, Any]) -> inspect.BoundArguments:
    """Return arguments that are given by name as a function takes them."""
    signature = signature_of(function)
    return signature.bind(**values) if not any(
        p.kind is p.POSITIONAL_ONLY for p in signature.parameters.values()
    ) else signature.bind(*values.values())


def values_made(
    name: str, function: Callable[..., Any], types: str, seed: int
) -> dict[str, Any]:
    """Return values for the parameters that need one, made for their types.

    Raises UsageError where a type does not tell a value.
    """
    rng = np.random.default_rng(seed)
    request = requests_for(function, DumpOptions(args=types, argnums="0"))[0]
    names = list(signature_of(request.function, follow_wrapped=False).parameters)
    of = dict(zip(names, request.types, strict=True))
    return {
        p.name: made_for(name, p.name, of[p.name], rng)
        for p in signature_of(function).parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    }


def made_for(name: str, parameter: str, type_: t.Type, rng: np.random.Generator) -> Any:
    """Return a value of a type. Raises UsageError where the type does not tell it."""

    def made(part: t.Type) -> Any:
        return made_for(name, parameter, part, rng)

    match type_:
        case t.Array(dtype, ndim):
            if np.dtype(dtype).kind in "iub":
                return np.full((LENGTH,) * ndim, LENGTH, dtype)
            return rng.uniform(0.5, 1.5, (LENGTH,) * ndim).astype(dtype)
        case t.Scalar(kind="float", dtype=dtype):
            value = float(rng.uniform(0.5, 1.5))
            return value if dtype is None else np.dtype(dtype).type(value)
        case t.Scalar(kind="int"):
            return LENGTH
        case t.Scalar(kind="bool"):
            return True
        case t.Scalar(kind="complex"):
            return complex(rng.uniform(0.5, 1.5), rng.uniform(0.5, 1.5))
        case t.Tuple(items, cls):
            values = map(made, items)
            return tuple(values) if cls is tuple else cls(*values)
        case t.List(item):
            return [made(item) for _ in range(LENGTH)]
        case t.Dict(keys, items) if keys is not None:
            return dict(zip(keys, map(made, items), strict=True))
        case t.Object(cls, fields):
            return cls(**{field: made(part) for field, part in fields})
    if type_ == t.NONE_TYPE:
        return None
    raise UsageError(
        f'{name}: the type of {parameter} is not known: add e.g. --args "{parameter}: float64[:]", '
        f'or a value, "{parameter}: array([0.5, 1.0])"')


