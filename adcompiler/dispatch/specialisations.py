"""The compiled forms of one function: looked up by argument types, compiled when missing."""

from __future__ import annotations

import inspect
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adcompiler.budget import is_deep
from adcompiler.cache.keys import (
    fingerprint,
    is_unknown,
    names_hold,
    names_manifest,
    primary_key,
    resolve,
    rules_hold,
    rules_manifest,
    storable,
    type_text,
)
from adcompiler.cache.store import Entry, Store, default_directory, load_module
from adcompiler.dispatch.arguments import part_at, real_at, refuse_foreign
from adcompiler.dispatch.cotangents import conform, conform_each, outline
from adcompiler.dispatch.guards import Guard, guard
from adcompiler.dispatch.linear_maps import Wanted, linearized, recomputing
from adcompiler.dispatch.targets import find_target
from adcompiler.frontend.depth import compiling
from adcompiler.frontend.scope import MISSING
from adcompiler.ir import types as t
from adcompiler.ir.failures import reported
from adcompiler.ops.forks import across_forks
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import AliasedError, StretchedError, own
from adcompiler.runtime.batches import (
    count_seeds, no_seeds, none_of, one_zero, seed_of, stacked,
)
from adcompiler.runtime.native import has_compiler, runs_plain
from adcompiler.typed.values import foreign_array, type_of

MODES = ("grad", "value_and_grad", "vjp", "forward", "taylor", "linearize")
BACKENDS = ("python", "native", "auto")
MAX_KEYS = 256
MAX_VARIANTS = 4
MAX_ATTEMPTS = 3

Same = tuple[tuple[int, int], ...]
"""Pairs of positions of arguments that are one object: a later one, and an earlier one."""
_compiling = threading.RLock()
"""Held while compiling: one function at a time, in whichever thread asks first."""
across_forks(lambda: [_compiling])


@contextmanager
def alone() -> Iterator[None]:
    """Hold the lock meanwhile; a thread that compiles for one that holds it goes on at once."""
    if is_deep():
        yield
    else:
        with _compiling:
            yield


def debugging() -> bool:
    """Say whether emitted code checks what rules return: if ADCOMPILER_DEBUG is set, not to 0."""
    return os.environ.get("ADCOMPILER_DEBUG", "0") not in ("", "0")


def backend_key(backend: str) -> tuple[str, ...]:
    """Return what tells code of a backend from that of others."""
    if backend == "python":
        return ()
    return (backend, "compiled" if has_compiler() else "plain" if runs_plain() else "nothing")


@dataclass(frozen=True)
class Options:
    """What is asked of the compiler for one function."""

    mode: str
    argnums: int | str | tuple[int | str, ...]
    has_aux: bool = False
    strict_primal: bool = False
    batched: bool = False
    constant: bool = False
    backend: str = "python"

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode {self.mode!r} is not one of {', '.join(MODES)}")
        if self.backend not in BACKENDS:
            raise ValueError(f"backend {self.backend!r} is not one of {', '.join(BACKENDS)}")


@dataclass(eq=False)
class Compiled:
    """Code for one combination of argument types.

    ``entry`` is the emitted function (of a pair: the augmented primal), ``call`` what a call of the
    derivative calls; ``run`` what takes all arguments at once: for a pushforward those of ``call``
    and the tangents. ``uses`` counts how often it was looked up the long way.
    """

    entry: Callable[..., Any]
    call: Callable[..., Any]
    text: str
    path: Path | None
    types: tuple[t.Type, ...]
    guard: Guard
    report: dict[str, Any]
    captured: tuple[str, ...] = ()
    run: Callable[..., Any] | None = None
    uses: int = 0


class Specialisations:
    """The compiled forms of one function for one set of options.

    ``table`` holds, by argument types, the forms for different surroundings (what the function's
    free names mean), newest first. Both are bounded: callers that pass a new function at every call
    must not fill the memory.
    """

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        self.options = options
        self.target = find_target(function)
        signature = inspect.signature(self.target.function, follow_wrapped=False)
        self.parameters = list(signature.parameters.values())
        self.table: dict[Any, list[Compiled]] = {}
        self.latest: Compiled | None = None
        places = self.places()
        self.wrt = tuple(i for i, _ in places)
        self.parts = tuple(steps for _, steps in places)
        self.single = not isinstance(options.argnums, (tuple, list))

    def places(self) -> list[tuple[int, tuple[Any, ...]]]:
        """Return the positions of the wanted parameters, with the steps to the part wanted."""
        given = self.options.argnums
        several = given if isinstance(given, (tuple, list)) else (given,)
        found = [self.place(one) for one in several]
        for n, (i, steps) in enumerate(found):
            for j, others in found[:n]:
                if i == j and steps[: len(others)] == others[: len(steps)]:
                    raise ValueError(f"argnums: {given} names an argument twice")
        return found

    def place(self, one: int | str) -> tuple[int, tuple[Any, ...]]:
        """Return the position of the parameter that ``one`` of ``argnums`` means, and steps."""
        names = [p.name for p in self.parameters]
        offset = len(self.target.first)
        kinds = [p.kind for p in self.parameters]
        if isinstance(one, str):
            name, *steps = one.split(".")
            if name in names:
                return names.index(name), tuple(steps)
            if inspect.Parameter.VAR_KEYWORD in kinds:
                return kinds.index(inspect.Parameter.VAR_KEYWORD), (name, *steps)
            raise ValueError(
                f"argnums: {self.target.shown} has no parameter {name!r}; it has {', '.join(names)}"
            )
        if inspect.Parameter.VAR_POSITIONAL in kinds:
            star = kinds.index(inspect.Parameter.VAR_POSITIONAL)
            if one < 0:
                raise ValueError(
                    f"argnums: {one} counts from the end, but {self.target.shown} takes any number "
                    "of arguments; count from 0, or give a name"
                )
            if one >= star - offset:
                return star, (one - star + offset,)
            return offset + one, ()
        count = len(self.parameters) - offset
        if not -count <= one < count:
            raise ValueError(
                f"argnums: {self.target.shown} has no argument {one}; "
                f"it has {count}, counted from 0"
            )
        return offset + one % count, ()

    # -- finding -------------------------------------------------------------------------------

    def values(self, bound: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the values of all parameters, integers to be differentiated made floats."""
        values = [*self.target.first, *bound]
        for i, (parameter, value) in enumerate(zip(self.parameters, values, strict=True)):
            refuse_foreign(value, parameter.name, deep=i in self.wrt)
        for i, steps in zip(self.wrt, self.parts, strict=True):
            values[i] = real_at(values[i], steps, self.parameters[i].name)
        return tuple(values)

    def find(self, values: tuple[Any, ...]) -> tuple[Compiled, bool]:
        """Return the compiled form for these arguments, and whether it is a new one."""
        types_ = tuple(type_of(value) for value in values)
        for parameter, type_ in zip(self.parameters, types_, strict=True):
            foreign = foreign_array(type_)
            if foreign is not None:
                raise TypeError(
                    f"the argument {parameter.name} is a {foreign.__name__}, whose operators are "
                    "not those of arrays; pass a plain array: np.asarray(matrix), "
                    "masked.filled(0.0)"
                )
        key = (types_, self.captured_types())
        found = self.valid(key)
        if found is not None:
            return found, False
        with alone():
            found = self.valid(key)  # another thread may have compiled it meanwhile
            if found is not None:
                return found, False
            found = self.compile(types_)
            while len(self.table) >= MAX_KEYS and key not in self.table:
                del self.table[next(iter(self.table))]
            self.table[key] = [found, *self.table.get(key, ())][:MAX_VARIANTS]
            self.latest = found
            return found, True

    def valid(self, key: Any) -> Compiled | None:
        """Return the compiled form under ``key`` that what it relies on still allows."""
        for compiled in self.table.get(key, ()):
            if compiled.guard.holds():
                self.latest = compiled
                return compiled
        return None

    def captured_types(self) -> tuple[t.Type, ...]:
        """Return the types of the variables that the function captured."""
        cells = self.target.function.__closure__ or ()
        return tuple(type_of(cell_contents(cell)) for cell in cells)

    def cells(self, compiled: Compiled) -> list[Any]:
        """Return the closure cells that hold the captured variables which the code takes."""
        function = self.target.function
        names, cells = function.__code__.co_freevars, function.__closure__ or ()
        return [cells[names.index(name)] for name in compiled.captured]

    def run(self, compiled: Compiled, values: tuple[Any, ...]) -> Any:
        """Call a compiled form with the values of all parameters."""
        return compiled.call(*values, *(cell.cell_contents for cell in self.cells(compiled)))

    # -- compiling -----------------------------------------------------------------------------

    def compile(
        self, types_: tuple[t.Type, ...], equal_shapes: bool = True, same: Same = ()
    ) -> Compiled:
        """Return code for the argument types: kept on disk from before, or compiled now.

        ``equal_shapes`` lets the code expect operands that are not stretched by broadcasting;
        ``same`` pairs positions of arguments with earlier ones that are the same object.
        """
        with alone(), reported(self.target.function):
            return compiling(
                self.target.function, lambda: self.kept_or_new(types_, equal_shapes, same))

    def kept_or_new(self, types_: tuple[t.Type, ...], equal_shapes: bool, same: Same) -> Compiled:
        """As ``compile``, on the stack at hand."""
        texts = [*map(type_text, types_), *map(type_text, self.captured_types())]
        store = Store(None if any(map(is_unknown, texts)) else default_directory())
        request = (
            self.options.mode, self.wrt, self.parts, self.options.has_aux, self.single,
            equal_shapes, same, self.options.strict_primal, self.options.batched,
            self.options.constant, debugging(), *backend_key(self.options.backend),
            *texts,
        )
        key = primary_key(self.target.function, request)
        for entry in store.candidates(key):
            loaded = self.load(entry, types_, equal_shapes, same)
            if loaded is not None:
                return loaded
        for _ in range(MAX_ATTEMPTS):
            before = REGISTRY.generation
            compiled = self.compile_anew(types_, store, key, equal_shapes, same)
            if before == REGISTRY.generation:  # no thread has registered a rule meanwhile
                break
        return compiled

    def arguments(self, types_: tuple[t.Type, ...]) -> dict[str, Any]:
        """Return the arguments that are known when compiling: functions, modules and the like."""
        return {
            p.name: type_.value for p, type_ in zip(self.parameters, types_, strict=True)
            if isinstance(type_, t.Static)
        }

    def compile_anew(
        self, types_: tuple[t.Type, ...], store: Store, key: str, equal_shapes: bool, same: Same
    ) -> Compiled:
        """Run the compiler, and keep what it emits on disk if another process could check it."""
        from adcompiler.compile.pipeline import Request, compile_request  # parses

        before = REGISTRY.generation
        emitted = compile_request(Request(
            self.target.function, types_, self.wrt, self.options.mode, self.options.has_aux,
            self.single, equal_shapes, parts=self.parts, same=same, batched=self.options.batched,
            constant=self.options.constant, strict_primal=self.options.strict_primal,
            debug=debugging(), backend=self.options.backend,
        ))
        unit = emitted.unit
        values = {name: value for name, (value, _) in emitted.bound.items()}
        manifest = self.manifest(emitted, self.arguments(types_))
        path = None
        if manifest is not None and before == REGISTRY.generation:
            path = store.write(key, emitted.entry, emitted.text, manifest)
        return self.loaded(
            path, emitted.text, emitted.entry, values, types_, unit.facts, emitted.report,
            tuple(unit.captured), equal_shapes, same,
        )

    def manifest(self, emitted: Any, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return what an entry relies on; None if another process could not find all of it."""
        unit = emitted.unit
        rules = rules_manifest(unit.rules_used)
        facts = [(storable(path), fingerprint(value)) for path, value in unit.facts.items()]
        bound = {}
        for name, (value, path) in emitted.bound.items():
            bound[name] = None if path is None else storable(path)
            if path is None or resolve(self.target.function, path, arguments) is not value:
                return None
        if rules is None or None in bound.values() or any(
            path is None or is_unknown(text) for path, text in facts
        ):
            return None
        return {
            "entry": emitted.entry, "facts": facts, "rules": rules, "bound": bound,
            "names": names_manifest(unit.rule_names), "captured": list(unit.captured),
            "report": emitted.report,
        }

    def load(
        self, entry: Entry, types_: tuple[t.Type, ...], equal_shapes: bool, same: Same
    ) -> Compiled | None:
        """Return a kept entry as compiled code, None if what it relies on has changed."""
        manifest, arguments = entry.manifest, self.arguments(types_)

        def found(path: Any) -> Any:
            return resolve(self.target.function, map(tuple, path), arguments)

        facts = {}
        for path, wanted in manifest["facts"]:
            value = found(path)
            if value is MISSING or fingerprint(value) != wanted:
                return None
            facts[tuple(map(tuple, path))] = value
        if not rules_hold(manifest["rules"]) or not names_hold(manifest["names"]):
            return None
        values = {name: found(path) for name, path in manifest["bound"].items()}
        return self.loaded(
            entry.path, entry.text, manifest["entry"], values, types_, facts, manifest["report"],
            tuple(manifest["captured"]), equal_shapes, same,
        )

    def loaded(
        self, path: Path | None, text: str, name: str, bound: Mapping[str, Any],
        types_: tuple[t.Type, ...], facts: Mapping[Any, Any], report: dict[str, Any],
        captured: tuple[str, ...], equal_shapes: bool, same: Same,
    ) -> Compiled:
        """Import an emitted module and return its code, ready to be called."""
        module = load_module(path, text, f"adcompiler_emitted.{name}")
        vars(module).update(bound)
        entry = getattr(module, name)
        run = entry
        if any(report.get("native") or ()):
            run = getattr(module, report["native"][0], entry)
        if self.options.mode == "vjp":
            back = getattr(module, name.removesuffix("_augmented") + "_pullback")
            run = pair(entry, back, self.options.batched, bool(report.get("seeds")))
        names = tuple(self.parameters[i].name for i in self.wrt)
        wanted = tuple(zip(names, self.wrt, self.parts, strict=True))
        if self.options.mode == "linearize" and not report.get("primal"):
            rest = getattr(module, name.removesuffix("_linearized") + "_tangent")
            run = linearized(entry, rest, wanted)
        if report.get("effects") == ["by call"]:
            run = with_effects(run, self.target.function, self.parameters)
        if uses(text, "same_shape", "same_trailing_shape"):
            run = allowing_stretched(run, lambda: self.compile(types_, False, same))
        if uses(text, "apart"):
            run = allowing_aliases(run, lambda pairs: self.compile(types_, equal_shapes, pairs))
        call = run
        if self.options.mode == "taylor":
            call = at_point(run, wanted, batched=True)
        if self.options.mode == "forward":
            call = at_point(run, wanted, self.options.batched, bool(report.get("seeds")))
            if report.get("constants"):
                name, *rest = report["constants"]
                call = at_point_along(entry, getattr(module, name), bool(rest), wanted)
        if self.options.mode == "linearize" and report.get("primal"):
            call = run = recomputing(run, wanted)
        tests = guard(self.target.function, facts, self.arguments(types_))
        return Compiled(entry, call, text, path, types_, tests, report, captured, run)


def uses(text: str, *names: str) -> bool:
    """Say whether a module may call one of these functions of the runtime, by whatever name."""
    return any(re.search(rf"\b{name}\b", text) for name in names)


def pair(
    augmented: Callable[..., Any], backward: Callable[..., Any], batched: bool = False,
    one_by_one: bool = False,
) -> Callable[..., tuple[Any, Callable[[Any], Any]]]:
    """Return a function that returns a value and the pullback there.

    If ``batched``, that takes cotangents of many seeds, which ``one_by_one`` are given to
    ``backward``.
    """

    def value_and_pullback(*args: Any) -> tuple[Any, Callable[[Any], Any]]:
        value, residuals = augmented(*args)
        structure = outline(value)

        def pullback(cotangent: Any) -> Any:
            """Return the cotangents of the arguments for a cotangent of the value."""
            return backward(residuals, conform(cotangent, structure))

        def pullback_of_each(cotangents: Any) -> Any:
            """Return the cotangents of the arguments for those of the value, one for each seed."""
            given = conform_each(cotangents, structure)
            if no_seeds(given, "the cotangents"):
                return none_of(pullback_of_each(one_zero(given)))
            if not one_by_one:
                return backward(residuals, given)
            seeds = range(count_seeds(given))
            return stacked([backward(residuals, seed_of(given, i)) for i in seeds])

        return value, pullback_of_each if batched else pullback

    return value_and_pullback


def at_point(
    run: Callable[..., Any], wanted: Wanted, batched: bool = False, one_by_one: bool = False,
) -> Callable[..., Callable[..., Any]]:
    """Return a function of the primals that returns the pushforward there.

    ``wanted`` are the names and positions of what is differentiated, with steps to the part.
    If ``batched``, tangents are of many seeds, which ``one_by_one`` are given to ``run``.
    """

    def at(*args: Any) -> Callable[..., Any]:
        outlines = [(outline(part_at(args[i], steps)), name) for name, i, steps in wanted]

        def pushforward(*tangents: Any) -> Any:
            """Return the value and its derivative along the tangents of the arguments."""
            return run(*args, *(
                conform(d, form, f"the tangent of {name}")
                for d, (form, name) in zip(tangents, outlines, strict=True)
            ))

        def pushforward_of_each(*tangents: Any) -> Any:
            """Return the value and its derivatives along the tangents, one for each seed."""
            given = tuple(
                conform_each(d, form, f"the tangents of {name}")
                for d, (form, name) in zip(tangents, outlines, strict=True)
            )
            if no_seeds(given, "the tangents"):
                value, along = pushforward_of_each(*one_zero(given))
                return value, none_of(along)
            if not one_by_one:
                return run(*args, *given)
            kept = [own(args) for _ in range(1, count_seeds(given))]
            found = [
                run(*at, *seed_of(given, i)) for i, at in enumerate((*kept, args))
            ]
            return found[-1][0], stacked([y_dot for _, y_dot in found])

        return pushforward_of_each if batched else pushforward

    return at


@dataclass(frozen=True, slots=True)
class AtPoint:
    """The derivative at one point along seeds that are the same at every point.

    ``constants(*tangents)`` is what ``along`` takes, here and at other points with arguments of the
    same shapes, and the same values of what is not differentiated. ``entry`` tells whose they are.
    ``along`` returns the derivatives, ``with_value`` behind the value; it may raise StretchedError
    or AliasedError, and what it returns may share storage with the constants.
    """

    entry: Callable[..., Any]
    first: Callable[..., Any]
    with_value: bool
    args: tuple[Any, ...]
    wanted: Sequence[tuple[str, int, tuple[Any, ...]]]

    def constants(self, *tangents: Any) -> Any:
        """Return what the tangents decide, one seed for each element of their leading axes."""
        return self.first(*self.args, *(
            conform_each(d, outline(part_at(self.args[i], steps)), f"the tangents of {name}")
            for d, (name, i, steps) in zip(tangents, self.wanted, strict=True)
        ))

    def along(self, constants: Any) -> Any:
        """Return the derivatives along the tangents that ``constants`` are of."""
        return self.entry(*self.args, constants)


def at_point_along(
    entry: Callable[..., Any], first: Callable[..., Any], with_value: bool,
    wanted: Sequence[tuple[str, int, tuple[Any, ...]]],
) -> Callable[..., AtPoint]:
    """Return a function of the primals that returns the derivative along constant seeds there."""

    def at(*args: Any) -> AtPoint:
        return AtPoint(entry, first, with_value, args, wanted)

    return at


def with_effects(
    call: Callable[..., Any], function: Callable[..., Any], parameters: Sequence[inspect.Parameter]
) -> Callable[..., Any]:
    """Return ``call``, followed by the function itself for what it does to its arguments."""

    def calling(*args: Any) -> Any:
        found = call(*args)
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for parameter, value in zip(parameters, args, strict=False):
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional += value
            elif parameter.kind is parameter.VAR_KEYWORD:
                named.update(value)
            elif parameter.kind is parameter.KEYWORD_ONLY:
                named[parameter.name] = value
            else:
                positional.append(value)
        function(*positional, **named)
        return found

    return calling


def allowing_stretched(
    call: Callable[..., Any], compile_general: Callable[[], Compiled]
) -> Callable[..., Any]:
    """Return ``call``, replaced by a more general form once it meets stretched operands.

    Such code has no effects of its own before it notices, so that it can be run again.
    """
    general: list[Callable[..., Any]] = []

    def allowing(*args: Any) -> Any:
        if not general:
            try:
                return call(*args)
            except StretchedError:
                general.append(compile_general().run or call)
        return general[0](*args)

    return allowing


def allowing_aliases(
    call: Callable[..., Any], compile_for: Callable[[Same], Compiled]
) -> Callable[..., Any]:
    """Return ``call``, with forms of it for arguments that are one object.

    Such code has no effects of its own before it notices, so that it can be run again.
    """
    forms: dict[Same, Callable[..., Any]] = {}

    def allowing(*args: Any) -> Any:
        try:
            return call(*args)
        except AliasedError as error:
            if not error.same:
                raise
            same = error.same
        if same not in forms:
            forms[same] = compile_for(same).run or call
        return forms[same](*args)

    return allowing


def cell_contents(cell: Any) -> Any:
    """Return what a closure cell holds, None while it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None
