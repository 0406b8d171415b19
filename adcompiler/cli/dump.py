"""``adcompiler dump``: derivatives as the text of one module that can be imported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from adcompiler import __version__
from adcompiler.annotations import parse_arguments, types_of_parameters
from adcompiler.api import Derivative
from adcompiler.cli.merge import merge
from adcompiler.cli.target import UsageError, load_target
from adcompiler.dispatch import Options, Specialisations
from adcompiler.errors import ADError
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Function
from adcompiler.ir.printer import Printer
from adcompiler.pipeline import Emitted, Request, stages
from adcompiler.transforms.unit import Unit


@dataclass(frozen=True)
class DumpOptions:
    """What the command line asks for; None leaves it to the decorator."""

    mode: str | None = None
    argnums: str | None = None
    has_aux: bool = False
    args: str = ""
    stage: str = "source"


def dump(target: str, options: DumpOptions) -> str:
    """Return the module (or the IR after a stage) for what ``target`` names."""
    module, functions = load_target(target)
    requests = [
        (name, request_for(function, options)) for name, function in functions.items()
    ]
    check_given_types(options, requests)
    if options.stage != "source":
        return "\n\n".join(stage_text(request, options.stage) for _, request in requests) + "\n"
    head = [f"# Derivatives of {target.partition(':')[0]}, written by adcompiler {__version__}."]
    texts = []
    for name, request in requests:
        emitted = compile_to_end(request)
        check_importable(emitted, f"{module}.{name}")
        texts.append(emitted.text)
        head.append(f"# {name}: {request.mode} for {signature_text(request)}")
    return "\n".join([*head, "", merge(texts)])


def request_for(function: Any, options: DumpOptions) -> Request:
    """Return what is to be compiled for a derivative object, or for a plain function."""
    wanted = Options("grad", 0)
    if isinstance(function, Derivative):
        function, wanted = function.primal, function.options
    if options.mode is not None:
        wanted = replace(wanted, mode="grad" if options.mode == "reverse" else options.mode)
    if options.argnums is not None:
        wanted = replace(wanted, argnums=parse_argnums(options.argnums))
    if options.has_aux:
        wanted = replace(wanted, has_aux=True)
    try:
        s = Specialisations(function, wanted)
        given = parse_arguments(options.args)
    except ValueError as error:
        raise UsageError(str(error)) from None
    own = {p.name: given[p.name] for p in s.parameters if p.name in given}
    types = types_of_parameters(s, own, fixed=False)
    return Request(
        s.target.function, types, s.wrt, wanted.mode, wanted.has_aux, s.single, tuple(s.parameters)
    )


def parse_argnums(text: str) -> int | str | tuple[int | str, ...]:
    """Return the arguments that ``0``, ``0,1``, ``w,b`` or ``0,`` (a tuple of one) means."""
    parts = [part.strip() for part in text.split(",")]
    found: list[int | str] = []
    for part in filter(None, parts):
        try:
            found.append(int(part))
        except ValueError:
            found.append(part)
    if not found:
        raise UsageError(f"--argnums {text!r} names no argument")
    return found[0] if len(parts) == 1 else tuple(found)


def check_given_types(options: DumpOptions, requests: list[tuple[str, Request]]) -> None:
    """Refuse types for arguments that no function has."""
    names = {p.name for _, request in requests for p in request.parameters}
    unknown = [name for name in parse_arguments(options.args) if name not in names]
    if unknown:
        raise UsageError(
            f"--args: no function has a parameter {', '.join(unknown)}; "
            f"there are {', '.join(sorted(names))}"
        )


def compile_to_end(request: Request) -> Emitted:
    """Run all stages."""
    *_, (_, _, emitted) = stages(request)
    assert isinstance(emitted, Emitted)
    return emitted


def check_importable(emitted: Emitted, name: str) -> None:
    """Refuse code that needs values which no import reaches."""
    problems = [
        f"`{captured}` is a variable of the function around it" for captured in emitted.unit.captured
    ]
    problems += [f"{value!r} is not found under its name" for value, _ in emitted.bound.values()]
    if problems:
        raise ADError(
            f"{name} cannot be written as a module: no import reaches what it uses "
            f"({'; '.join(problems)}). What to do: define it at the top level of a module."
        )


def signature_text(request: Request) -> str:
    """Return the argument types that the code holds for."""
    pairs = zip(request.parameters, request.types, strict=True)
    return ", ".join(f"{p.name}: {type_text(type_)}" for p, type_ in pairs)


def type_text(type_: t.Type) -> str:
    """Return a type as ``--args`` takes it where it can."""
    return "None" if type_ == t.NONE_TYPE else str(type_)


# -- stages ----------------------------------------------------------------------------------------


def stage_text(request: Request, stage: str) -> str:
    """Return the IR after a stage, without running those that follow."""
    for name, unit, result in stages(request):
        if name == stage and isinstance(result, list):
            return "\n\n".join(function_texts(unit, result, stage))
    raise AssertionError(stage)


def function_texts(unit: Unit, functions: list[Function], stage: str) -> Iterator[str]:
    """Yield the text of each function; after parsing, no types are known."""
    for function in functions:
        yield Printer(None if stage == "parse" else unit.types).function(function)
