"""``adcompiler status``: which derivatives of a module compile, and which do not, and why."""

from __future__ import annotations

import argparse
from typing import Any

from adcompiler.api.derivative import Derivative
from adcompiler.api.emitted import as_asked
from adcompiler.api.fallback import answer_of, because
from adcompiler.cli.dump import DumpOptions, requests_for, signature_text, up_to
from adcompiler.cli.output import show_json, show_table
from adcompiler.cli.sparsity import check_given
from adcompiler.cli.target import (
    UsageError, derivatives_in, function_in, load_module, named_in, running,
)
from adcompiler.cli.trials import GIVEN, bound_to, values_made
from adcompiler.cli.view import values_of
from adcompiler.compile.modes import MODES
from adcompiler.errors import ADError, RecordedWarning
from adcompiler.ir import types as t
from adcompiler.runtime.progress import showing
from adcompiler.support.budget import quiet
from adcompiler.support.structs import dataclass

COMPILED, NOT_YET = "compiled", "not yet"
AT_FIRST_CALL = "types are known at the first call; add annotations or --args"


@dataclass(frozen=True)
class Status:
    """What calls of a derivative run, and why that is not compiled code.

    ``answer`` is ``compiled``, ``recorded``, ``refused``, or ``not yet`` where that depends on
    types which nothing tells. ``why`` has the line and the reason, or what types were assumed.
    """

    function: str
    operator: str
    answer: str
    why: str = ""


def add_status(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command ``status``."""
    parser = commands.add_parser(
        "status", help="say which derivatives of a module compile, and why others do not",
        description="List the decorated functions of a module, those of its classes too: compiled, "
        "recorded or refused, with the line and the reason. Exits with 1 if one is not compiled.",
    )
    parser.add_argument("target", metavar="MODULE_OR_FILE[:FUNCTION]", help="e.g. model.py")
    parser.add_argument("--args", default="", metavar="ARGUMENTS", help=GIVEN)
    parser.add_argument("--json", action="store_true", help="write rows as JSON")
    parser.set_defaults(run=run_status)


def run_status(options: argparse.Namespace) -> int:
    """Run ``adcompiler status``: 0 if all derivatives compile, 1 if one does not."""
    with quiet(RecordedWarning):  # the table says it
        rows = [status(name, derivative, options.args)
                for name, derivative in derivatives_of(options.target).items()]
    if options.json:
        show_json([vars_of(row) for row in rows])
    else:
        show_table(list(Status.__annotations__), [list(vars_of(row).values()) for row in rows])
    return int(any(row.answer != COMPILED for row in rows))


def vars_of(row: Status) -> dict[str, str]:
    """Return the columns of a row."""
    return {name: getattr(row, name) for name in Status.__annotations__}


def derivatives_of(target: str) -> dict[str, Derivative[..., Any]]:
    """Return the derivatives that a target names; the gradient of a function without decorator."""
    where, name = named_in(target)
    module = load_module(where)
    if name is not None:
        return {name: as_asked(function_in(module, name))}
    found = dict(derivatives_in(module))
    if not found:
        raise UsageError(
            f"{module.__name__} has no decorated function; name one: {where}:FUNCTION")
    return found


def status(name: str, derivative: Derivative[..., Any], given: str) -> Status:
    """Return the status of a derivative for arguments as given: values, or types, or nothing."""
    primal, operator = derivative.primal, derivative.options.mode
    values = values_of(given)
    with showing(f"compiling {name}", 1.0):
        if values is not None:
            check_given(name, primal, values)
            with running(name):
                return Status(name, operator, *answer(derivative, values))
        try:
            values = values_made(name, primal, given, 0)
        except UsageError:  # nothing tells a value for the type
            return Status(name, operator, *answer_for_types(derivative, given))
        with running(name):
            return Status(name, operator, *answer(derivative, values))


def answer(derivative: Derivative[..., Any], values: dict[str, Any]) -> tuple[str, str]:
    """Return what a call with these arguments runs, and why."""
    bound = bound_to(derivative.primal, values)
    try:
        why = derivative.why_recorded(*bound.args, **bound.kwargs)
    except ADError as error:
        return answer_of(derivative, error), because(error)
    return (COMPILED, "") if why is None else ("recorded", why)


def answer_for_types(derivative: Derivative[..., Any], given: str) -> tuple[str, str]:
    """Return what is known of calls if only types are, or not even these."""
    if derivative.options.mode not in MODES:
        return NOT_YET, "shapes are known at the first call; add --args"
    possible = requests_for(derivative, DumpOptions(args=given))
    refused: ADError | TypeError | None = None
    for request in possible:
        try:
            up_to("source", request)
        except (ADError, TypeError) as error:
            refused = refused or error
        else:
            return COMPILED, f"{'for' if refused is None else 'assumed'} {signature_text(request)}"
    assert refused is not None
    reason = because(refused) if isinstance(refused, ADError) else str(refused)
    if t.UNKNOWN in possible[0].types:
        return NOT_YET, f"{AT_FIRST_CALL}; without: {reason}"
    return (answer_of(derivative, refused) if isinstance(refused, ADError) else "refused"), reason
