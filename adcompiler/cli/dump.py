"""``adcompiler dump``: derivatives as the text of one module that can be imported."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from inspect import Parameter
from pathlib import Path
from typing import Any, NamedTuple

from adcompiler.api.argnums import argnums_in
from adcompiler.api.derivative import Derivative
from adcompiler.api.fallback import answer_of, because
from adcompiler.api.operators import source  # noqa: F401  modes are operators, all defined there
from adcompiler.backends.native.standalone import in_llvm
from adcompiler.backends.native.c.module import c_alone
from adcompiler.backends.python.printer.merge import merge
from adcompiler.cli.standalone import standalone
from adcompiler.cli.stretched import in_general, is_parted, with_both
from adcompiler.cli.static import reading
from adcompiler.cli.target import (
    UsageError, import_name, load_target, named_in, without_name, writing,
)
from adcompiler.compile.modes import MODES, named
from adcompiler.compile.pipeline import Emitted, Request, stages, without_series
from adcompiler.dispatch import Options, Specialisations
from adcompiler.dispatch.annotations import (
    assumptions, hints_of, missing_parts, named_parts, parse_arguments, types_of_parameters,
)
from adcompiler.errors import ADError, Declined, NotBatchable, UnsupportedError
from adcompiler.frontend.depth import compiling
from adcompiler.frontend.functions import lower
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Function
from adcompiler.ir.printer import Printer
from adcompiler.products.linearization import NotSplittable
from adcompiler.support.signatures import signature as signature_of
from adcompiler.support.structs import dataclass
from adcompiler.typed.unit import Unit


@dataclass(frozen=True)
class DumpOptions:
    """What the command line asks for; None leaves it to the decorator."""

    mode: str | None = None
    argnums: str | None = None
    has_aux: bool = False
    args: str = ""
    stage: str = "source"
    native: str = ""
    output: str | None = None
    static: bool = False
    standalone: bool = False
    is_check: bool = False


class Dumped(NamedTuple):
    """What is written, and the functions that are left out of it."""

    text: str
    left_out: tuple[str, ...] = ()


def dump(target: str, options: DumpOptions) -> Dumped:
    """Return the module (or the IR after a stage) for what ``target`` names."""
    if not options.static:
        return dumped(*load_target(target), options)
    with reading(*named_in(target)) as (module, functions):
        return dumped(module, functions, options)


def dumped(module: str, functions: Mapping[str, Any], options: DumpOptions) -> Dumped:
    """As ``dump``, of functions of a module."""
    requests = {name: requests_for(function, options) for name, function in functions.items()}
    check_given_types(options, [possible[0] for possible in requests.values()])
    if options.stage != "source":
        texts = [run_possible(name, r, options.stage)[1] for name, r in requests.items()]
        return Dumped("\n\n".join(map(str, texts)) + "\n")
    if options.native and len(requests) != 1:
        raise UsageError("--native writes one function: name it, as in module.py:function")
    if options.standalone and (options.native or options.static):
        raise UsageError("--standalone is for Python, of modules that are imported")
    writer = f"adcompiler {version('adcompiler')}"
    head = [f"# Derivatives of functions in {module}, written by {writer}."]
    texts, left_out = [], []
    for name, possible in requests.items():
        try:
            request, emitted = run_possible(name, possible, "source")
            assert isinstance(emitted, Emitted)
            check_importable(emitted, f"{module}.{name}")
        except (ADError, TypeError) as refused:
            if len(requests) == 1:
                raise
            print(f"{name} is left out:\n{refused}", file=sys.stderr)
            head.append(f"# {name} is left out, as it is {answer(functions[name], refused)}")
            left_out.append(name)
            continue
        tell_unknown(name, request)
        texts.append(
            loops_alone(request, emitted, options) if options.native
            else for_all_shapes(request, emitted))
        head.append(f"# {emitted.entry}: for {signature_text(request)}")
    if options.native:
        sign = {"c": "//", "llvm": ";"}[options.native]
        return Dumped("\n".join([*(f"{sign} {line[2:]}" for line in head), "", texts[0]]))
    if not texts:
        raise ADError(f"{module} has no function that compiles")
    text = merge(texts)
    if options.standalone:
        text = standalone(text, module)
    elif options.output:
        tell_path(text, module, Path(options.output))
    return Dumped("\n".join([*head, "", text]), tuple(left_out))


def for_all_shapes(request: Request, emitted: Emitted) -> str:
    """Return a module that runs for arrays which broadcasting stretches, too."""
    asked = in_general(request, emitted)
    if asked is None:
        return emitted.text
    general = up_to("source", asked)
    assert isinstance(general, Emitted)
    return general.text if is_parted(request) else with_both(emitted, general)


def answer(function: Callable[..., Any], error: ADError | TypeError) -> str:
    """Return what calls of a derivative are that does not compile, and why, in a line."""
    if not isinstance(error, ADError):
        return f"refused: {error}"
    return f"{answer_of(function, error)}: {because(error)}"


def tell_unknown(name: str, request: Request) -> None:
    """Say on stderr which types are not known, and what to add."""
    parameters = signature_of(request.function, follow_wrapped=False).parameters.values()
    unknown = [
        p.name for p, type_ in zip(parameters, request.types, strict=True)
        if type_ == t.UNKNOWN and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if unknown:
        hints = hints_of(request.function)
        found = {p: missing_parts(hints.get(p)) for p in unknown}
        missing = ", ".join(f"{what} of {p}" for p, (what, _) in found.items() if what)
        such = found[unknown[0]][1]
        print(
            f"{name}: the code takes {', '.join(unknown)} of any type, which costs calls of the "
            f"runtime; {f'annotations leave open {missing}; ' if missing else ''}for one type add "
            f'--args "{unknown[0]}: {such}" or the annotation Annotated[np.ndarray, "{such}"]',
            file=sys.stderr,
        )


def tell_path(text: str, module: str, output: Path) -> None:
    """Say on stderr where a module is found that a file imports, if that is not beside it."""
    imported = {
        alias.name for node in ast.parse(text).body if isinstance(node, ast.Import)
        for alias in node.names
    }
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or module not in imported:
        return
    directory = import_name(Path(file))[0]
    with writing(str(output)):
        output.resolve()
    if directory != output.resolve().parent and is_below(directory, Path.cwd()):
        print(
            f"{output} imports {module}, which is found from {os.path.relpath(directory)}: have "
            "that on the path, or write all into the file with --standalone", file=sys.stderr,
        )


def is_below(directory: Path, other: Path) -> bool:
    """Say whether a directory is another one or lies in it: a user's, none that is installed."""
    return directory.resolve().is_relative_to(other.resolve())


def loops_alone(request: Request, emitted: Emitted, options: DumpOptions) -> str:
    """Return the native loops of what was emitted, in LLVM IR or as a C file.

    A C file needs no adcompiler, and has a module beside it that calls it by ctypes, if it is known
    where it will be.
    """
    mode = request.mode
    try:
        if not mode.has_loops or mode.halves or request.options.has_aux:
            raise Declined("there are no loops that stand alone for this mode, or with aux")
        if options.native == "llvm":
            return in_llvm(emitted.product, emitted.unit)
        path = Path(options.output or "loops.c")
        with writing(str(path)):
            beside = path.with_suffix(".py")
        if beside == path:
            raise UsageError(f"-o {path} is where the module goes that calls it: name a .c file")
        text, stub = c_alone(emitted.product, emitted.unit, path.stem)
        if options.output and not options.is_check:
            with writing(str(beside)):
                beside.write_text(stub, encoding="utf-8")
        return text
    except Declined as declined:
        origin = declined.origin or emitted.product.functions[0].origin
        raise UnsupportedError([origin.finding(
            f"the native backend has nothing for this: {declined.problem}",
            "leave --native out", "native",
        )]) from None


def run_possible(name: str, requests: list[Request], stage: str) -> tuple[Request, Any]:
    """Return the first request that is not refused, and the IR or module after the stage.

    All but the first request assume types of arguments; that is said on stderr.
    """
    refused: ADError | TypeError | None = None
    for request in requests:
        try:
            result = up_to(stage, request)
        except (ADError, TypeError) as error:
            refused = refused or error
            continue
        if refused is not None:
            print(
                f"{name}: assumed {signature_text(request)}, as it cannot be compiled without "
                "types; choose others with --args", file=sys.stderr,
            )
        return request, result
    assert refused is not None
    raise refused


def requests_for(function: Any, options: DumpOptions) -> list[Request]:
    """Return what to compile for a derivative object or a plain function, the first that works."""
    wanted = Options("grad", 0)
    if isinstance(function, Derivative):
        function, wanted = function.primal, asked_of(function, options.mode)
    if options.mode is not None:
        wanted = replace(wanted, mode=named(options.mode))
    if options.argnums is not None:
        wanted = replace(wanted, argnums=parse_argnums(options.argnums))
    try:
        if options.has_aux:
            wanted = replace(wanted, has_aux=True)
        s = Specialisations(function, wanted)
        given = parse_arguments(
            options.args, s.target.function.__globals__, [p.name for p in s.parameters])
    except ValueError as error:
        raise UsageError(str(error)) from None
    own = {p.name: given[p.name] for p in s.parameters if p.name in given}
    free, fixed = (types_of_parameters(s, own, fixed) for fixed in (False, True))
    # A default that is a function can only be compiled as that function; None is a test away.
    halfway = tuple(f if x == t.NONE_TYPE else x for f, x in zip(free, fixed, strict=True))
    known = (free, halfway, fixed)
    possible = dict.fromkeys((*known, *(a for types in known for a in assumptions(s, types))))
    return [
        Request(
            s.target.function, types, s.wrt,
            Options(
                wanted.mode, wanted.argnums, wanted.has_aux, careful=True,
                for_loops=bool(options.native)),
            parameters=left_open(s.parameters, types), parts=s.parts,
        )
        for types in possible
    ]


def asked_of(derivative: Derivative[..., Any], mode: str | None) -> Options:
    """Return what a derivative of a module asks the compiler for, or ``mode`` instead."""
    found = derivative.options
    if isinstance(found, Options):
        return found
    if mode is None and found.mode not in MODES:
        raise UsageError(
            f"{derivative!r} is no mode of dump; its method source_for(*args) writes its module, "
            f"and --mode names what else of {derivative.__name__} to write"
        )
    return Options(named(mode) if mode else found.mode, found.argnums)


def left_open(
    parameters: Sequence[Parameter], types: Sequence[t.Type]
) -> tuple[Parameter, ...]:
    """Return the parameters of the emitted function: those whose values are not fixed by types.

    Those behind a positional one that is left out can only be named, so that none is mistaken.
    """
    found: list[Parameter] = []
    shifted = False
    for p, type_ in zip(parameters, types, strict=True):
        if isinstance(type_, t.Static):
            shifted = True
            continue
        positional = p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        found.append(p.replace(kind=p.KEYWORD_ONLY) if shifted and positional else p)
    return tuple(found)


def parse_argnums(text: str) -> int | str | tuple[int | str, ...]:
    """Return the arguments that ``--argnums`` means."""
    try:
        return argnums_in(text)
    except ValueError as error:
        raise UsageError(str(error)) from None


def check_given_types(options: DumpOptions, requests: list[Request]) -> None:
    """Refuse types for arguments that no function has."""
    functions = [signature_of(r.function, follow_wrapped=False) for r in requests]
    names = {name for signature in functions for name in signature.parameters}
    most = max((list(signature.parameters) for signature in functions), key=len, default=[])
    unknown = [name for name, _ in named_parts(options.args, most) if name not in names]
    if unknown:
        raise UsageError(
            f"--args: no function has a parameter {', '.join(unknown)}; "
            f"there are {', '.join(sorted(names))}"
        )


def check_importable(emitted: Emitted, name: str) -> None:
    """Refuse code that needs values which no import reaches."""
    captured = emitted.unit.relied.captured
    problems = [f"`{var}` is a variable of the function around it" for var in captured]
    problems += [f"{value!r} is not found under its name" for value, _ in emitted.bound.values()]
    problems += [
        f"{file} has the name of another module" for file in without_name(emitted.text)
    ]
    if problems:
        raise ADError(
            f"{name} cannot be written as a module: no import reaches what it uses "
            f"({'; '.join(problems)}). What to do: define it at the top level of a module."
        )


def signature_text(request: Request) -> str:
    """Return the argument types that the code holds for."""
    names = signature_of(request.function, follow_wrapped=False).parameters
    pairs = zip(names, request.types, strict=True)
    return ", ".join(f"{name}: {type_text(type_)}" for name, type_ in pairs)


def type_text(type_: t.Type) -> str:
    """Return a type as ``--args`` takes it where it can."""
    return "None" if type_ == t.NONE_TYPE else str(type_)


# -- stages ----------------------------------------------------------------------------------------


def up_to(stage: str, request: Request) -> str | Emitted:
    """Return the IR after a stage as text, without running those that follow; or the module."""
    return compiling(request.function, lambda: result_of(stage, request))


def result_of(stage: str, request: Request) -> str | Emitted:
    """As ``up_to``, on the stack at hand; raises UnsupportedError for what has no two parts."""
    try:
        for name, unit, result in stages(request):
            if name == stage:
                if isinstance(result, Emitted):
                    return result
                return "\n\n".join(function_texts(unit, result, stage))
    except NotSplittable:
        raise UnsupportedError([lower(request.function).origin.finding(
            "the tangents of this cannot be parted from the value: they are computed inside of "
            "`try` or `with`, or of what changes meanwhile",
            "--mode forward, which computes the value with each tangent", "try",
        )]) from None
    except NotBatchable:
        raise UnsupportedError([without_series(request)]) from None
    raise AssertionError(stage)


def function_texts(unit: Unit, functions: list[Function], stage: str) -> Iterator[str]:
    """Yield the text of each function; after parsing, no types are known."""
    for function in functions:
        known = None if stage == "parse" else {var: unit.described(var) for var in unit.types}
        yield Printer(known).function(function)
