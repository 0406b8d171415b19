"""``adcompiler sparsity``: the sparsity pattern of a function, as numbers, text or a picture."""

from __future__ import annotations

import argparse
import ast
import difflib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from adcompiler.api.derivative import Derivative
from adcompiler.api.sparse.operators import SparseDerivative, sparse_hessian, sparse_jacobian
from adcompiler.api.sparse.pattern_programs import patterns_of
from adcompiler.api.sparse.patterns import hessian_sparsity, jacobian_sparsity
from adcompiler.cli.dump import parse_argnums
from adcompiler.cli.output import show_json
from adcompiler.cli.target import UsageError, load_target, running, writing
from adcompiler.dispatch.written import Written
from adcompiler.ir.nodes import Origin, Statement, Var
from adcompiler.ir.printer import Printer
from adcompiler.plot import save
from adcompiler.support.signatures import signature as signature_of

SPARSE: dict[str, Any] = {"sparse-jacobian": sparse_jacobian, "sparse-hessian": sparse_hessian}
"""Modes of ``dump`` that write sparse derivatives."""

PATTERN = "pattern"
"""The mode of ``dump`` that writes the code which a pattern is computed by."""

WIDEST = 72
"""Patterns of up to so many columns are drawn as text."""


def add_sparsity(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command ``sparsity``."""
    parser = commands.add_parser(
        "sparsity", help="show which derivatives of a function may be nonzero",
        description="Show the sparsity pattern of the Jacobian or Hessian of a function.",
    )
    parser.add_argument("target", metavar="MODULE_OR_FILE:FUNCTION", help="e.g. model.py:heat")
    parser.add_argument(
        "--args", default="", metavar="ARGUMENTS",
        help='arrays by dtype and shape, others by value: "u: float64[10, 10], n: 3, '
        'k: array([1.0, 0.5])"',
    )
    parser.add_argument("--argnums", help="positions or names, e.g. 0 or 0,1 or w,b")
    parser.add_argument("--hessian", action="store_true", help="second derivatives")
    parser.add_argument("--local", action="store_true", help="at the values of the arguments")
    parser.add_argument("--plot", metavar="FILE", help="draw the pattern into a png, pdf or svg")
    parser.add_argument("--json", action="store_true", help="write the pattern as JSON, by rows")
    parser.set_defaults(run=run_sparsity)


def run_sparsity(options: argparse.Namespace) -> int:
    """Run ``adcompiler sparsity``."""
    name, function = the_function(options.target)
    argnums = None if options.argnums is None else parse_argnums(options.argnums)
    named: dict[str, Any] = {"mode": "local" if options.local else "global"}
    if options.hessian:
        find: Any = hessian_sparsity
        named["argnums"] = 0 if argnums is None else argnums
    else:
        find = jacobian_sparsity
        named["argnums"] = argnums
    given = arguments(options.args, options.local)
    check_given(name, function, given)
    with running(name):
        pattern = find(function, **named, **given)
    m, n = pattern.shape
    kind = "Hessian" if options.hessian else "Jacobian"
    share = pattern.nnz / max(m * n, 1)
    if options.json:
        show_json({
            "function": name, "kind": kind, "shape": [m, n], "nonzeros": int(pattern.nnz),
            "indptr": pattern.indptr.tolist(), "indices": pattern.indices.tolist(),
        })
        return 0
    if options.plot is not None:
        draw(pattern, options.plot, f"{kind} of {name}")
    print(f"{kind} of {name}: {m} x {n}, {pattern.nnz} nonzeros ({share:.3%})")
    if options.plot is not None:
        print(f"drawn into {options.plot}")
    elif n <= WIDEST and m <= WIDEST:
        for row in pattern.toarray():
            print("".join("x" if entry else "." for entry in row))
    return 0


def draw(pattern: Any, path: str, title: str) -> None:
    """Draw a pattern into a file."""
    if not Path(path).suffix:
        raise UsageError(f"--plot {path!r}: the name of the file ends with .png, .pdf or .svg")
    try:
        with writing(path):
            save(pattern, path, title)
    except ImportError as error:
        raise UsageError(str(error)) from None


def dump_sparse(options: argparse.Namespace) -> str:
    """Return the module that ``adcompiler dump --mode sparse-...`` writes."""
    if options.has_aux or options.stage != "source":
        raise UsageError(f"--mode {options.mode} takes neither --has-aux nor --stage")
    name, function = the_function(options.target)
    argnums = 0 if options.argnums is None else parse_argnums(options.argnums)
    made = SPARSE[options.mode](function, argnums)
    given = arguments(options.args)
    check_given(name, function, given)
    with running(name):
        text: str = made.source_for(**given)
    writer = f"adcompiler {version('adcompiler')}"
    shapes = f"for {options.args}" if options.args else ""
    return f"# {options.mode} of {name}, written by {writer} {shapes}".rstrip() + "\n" + text


def dump_pattern(options: argparse.Namespace) -> str:
    """Return the pattern program that ``adcompiler dump --mode pattern`` writes.

    It is the IR that a pattern is computed by, with the lines that it comes from.
    """
    if options.has_aux or options.stage != "source":
        raise UsageError("--mode pattern takes neither --has-aux nor --stage")
    name, function = the_function(options.target)
    argnums = 0 if options.argnums is None else parse_argnums(options.argnums)
    given = arguments(options.args)
    check_given(name, function, given)
    with running(name):
        programs = patterns_of(function, argnums)
        program = programs.compiled(programs.values(Written((), given))).program
    head = f"# pattern of {name}, written by adcompiler {version('adcompiler')}"
    head = f"{head} for {options.args}" if options.args else head
    return f"{head}\n\n{PlacePrinter(program.tainted).function(program.function)}\n"


class PlacePrinter(Printer):
    """Writes IR below the lines that it comes from, and marks what may depend on the inputs."""

    def __init__(self, tainted: frozenset[Var]) -> None:
        super().__init__(dict.fromkeys(tainted, "followed"))
        self.last = ""

    def statement(self, statement: Statement, depth: int) -> list[str]:
        origin: Origin | None = getattr(statement, "origin", None)
        place = self.last if origin is None else f"# {origin.where}  {origin.text.strip()}"
        rows = [] if place == self.last else ["    " * depth + place]
        self.last = place
        return [*rows, *super().statement(statement, depth)]


def the_function(target: str) -> tuple[str, Any]:
    """Return the one function that a target names, and its name."""
    if ":" not in target:
        raise UsageError(f"name a function: {target}:FUNCTION")
    _, functions = load_target(target)
    ((name, function),) = functions.items()
    if isinstance(function, (Derivative, SparseDerivative)):
        function = function.primal
    return name, function


def check_given(name: str, function: Callable[..., Any], given: dict[str, Any]) -> None:
    """Raise UsageError unless a function can be called with the arguments given by name."""
    try:
        parameters = signature_of(function).parameters
    except (TypeError, ValueError):
        return
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    unknown = [key for key in given if key not in parameters]
    if unknown and not takes_any:
        near = difflib.get_close_matches(unknown[0], parameters, 1)
        meant = f": did you mean {near[0]}?" if near else f", but {', '.join(parameters) or 'none'}"
        raise UsageError(f"{name} has no parameter {unknown[0]}{meant}")
    missing = [
        p.name for p in parameters.values() if p.default is p.empty and p.name not in given
        and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if missing:
        example = ", ".join(f"{one}: float64[10]" for one in missing)
        raise UsageError(f'{name} needs {", ".join(missing)}: write e.g. --args "{example}"')


def arguments(text: str, values: bool = False) -> dict[str, Any]:
    """Return the arguments that ``--args`` describes, by name; all must have ``values`` if said."""
    try:
        parsed = ast.parse("{" + text + "}", mode="eval").body
    except SyntaxError:
        parsed = None
    if not isinstance(parsed, ast.Dict):
        raise UsageError(f'--args {text!r} is not of the form "x: float64[10], n: 3"')
    found = {}
    for key, value in zip(parsed.keys, parsed.values, strict=True):
        if not isinstance(key, ast.Name):
            raise UsageError(f"--args {text!r}: in front of each colon stands a parameter's name")
        if values and isinstance(value, (ast.Subscript, ast.Name)):
            raise UsageError(
                f"--local is at a point: write values of {key.id}, e.g. "
                f"{key.id}: array([1.0, 0.5])"
            )
        found[key.id] = argument(value)
    return found


def argument(node: ast.expr) -> Any:
    """Return the argument that an expression describes."""
    try:
        match node:
            case ast.Subscript(value=ast.Name(id=dtype), slice=extents) if any(
                isinstance(part, ast.Slice) for part in ast.walk(extents)
            ):
                raise UsageError(
                    f"--args: {ast.unparse(node)}: a pattern is of one shape, write the extents, "
                    f"e.g. {dtype}[10]"
                )
            case ast.Subscript(value=ast.Name(id=dtype), slice=extents):
                shape = ast.literal_eval(extents)
                return np.ones(shape, np.dtype(dtype))
            case ast.Call(func=ast.Name(id="array"), args=[items]):
                return np.array(ast.literal_eval(items))
            case ast.Name(id="float"):
                return 1.0
        return ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError) as error:
        reason: object = error
        if str(error).startswith("malformed node"):
            reason = "write float64[10], array([1.0, 0.5]), a number, a text, or a tuple of these"
        raise UsageError(f"--args: {ast.unparse(node)} describes no argument: {reason}") from None
