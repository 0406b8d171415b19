"""``adcompiler view``: a function beside its derivative code, as one HTML page."""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Callable
from typing import Any

from adcompiler.api.emitted import as_asked
from adcompiler.cli.dump import (
    DumpOptions, check_given_types, parse_argnums, requests_for, run_possible,
)
from adcompiler.cli.sparsity import arguments, check_given
from adcompiler.cli.target import UsageError, load_target, running, writing
from adcompiler.compile.modes import ALIASES, MODES
from adcompiler.viewer.listed import listed_emitted
from adcompiler.viewer.page import View


def add_view(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command ``view``."""
    parser = commands.add_parser(
        "view", help="write a page that shows a function beside its derivative code",
        description="Write one HTML page, which needs no other file and no network: a function "
        "beside the code of its derivative, with what is saved, types and kinks.",
    )
    parser.add_argument(
        "target", metavar="MODULE_OR_FILE:FUNCTION",
        help="e.g. model.py:loss, scipy.optimize:rosen; a decorated function's as decorated",
    )
    parser.add_argument(
        "--args", default="", metavar="ARGUMENTS",
        help='types, "x: float64[:], w: float", or values, "x: float64[10], w: 2.0, n: 3": with '
        "values of all arguments the code is run once, and what it saves is measured",
    )
    parser.add_argument("--mode", choices=(*MODES, *ALIASES), help="as of dump")
    parser.add_argument("--argnums", help="positions or names, e.g. 0 or 0,1 or w,b")
    parser.add_argument(
        "--profile", action="store_true",
        help="show the time of each line and the bytes held; with values of all arguments")
    parser.add_argument("-o", "--output", metavar="FILE", help="write there, not to stdout")
    parser.set_defaults(run=run_view)


def run_view(options: argparse.Namespace) -> int:
    """Run ``adcompiler view``."""
    _, functions = load_target(options.target)
    if len(functions) != 1:
        raise UsageError(
            f"a page is of one function: name it, e.g. {options.target}:{next(iter(functions))}")
    ((name, function),) = functions.items()
    values = values_of(options.args)
    if values is None:
        if options.profile:
            raise UsageError("--profile runs the code: give --args with values of all arguments")
        view = view_of_types(name, function, options)
    else:
        check_given(name, getattr(function, "primal", function), values)
        argnums = None if options.argnums is None else parse_argnums(options.argnums)
        with running(name):
            derivative = as_asked(function, options.mode, argnums)
            view = derivative.profile(**values).view() if options.profile else (
                derivative.view(**values))
    if options.output is not None:
        with writing(options.output):
            view.save(options.output)
    else:
        sys.stdout.write(view.html)
    return 0


def values_of(text: str) -> dict[str, Any] | None:
    """Return the arguments that ``--args`` describes; None if it gives types, or nothing."""
    try:
        parsed = ast.parse("{" + text + "}", mode="eval").body
    except SyntaxError:
        return None
    if isinstance(parsed, ast.Dict) and parsed.values and all(map(is_value, parsed.values)):
        return arguments(text)
    return None


def is_value(node: ast.expr) -> bool:
    """Say whether an expression describes a value, as ``float64[10]`` does, and no type."""
    match node:
        case ast.Call(func=ast.Name(id="array")):
            return True
        case ast.Subscript(value=ast.Name(), slice=extents):
            return not any(isinstance(part, ast.Slice | ast.Name) for part in ast.walk(extents))
    return not any(isinstance(part, ast.Name) for part in ast.walk(node))


def view_of_types(name: str, function: Callable[..., Any], options: argparse.Namespace) -> View:
    """Return the page of what is compiled for types: of ``--args``, annotations and defaults."""
    wanted = DumpOptions(options.mode, options.argnums, args=options.args)
    possible = requests_for(function, wanted)
    check_given_types(wanted, [possible[0]])
    request, emitted = run_possible(name, possible, "source")
    return View(listed_emitted(emitted, request, f"{request.mode.name} of {name}"))
