"""The compiled forms of one function: looked up by argument types, compiled when missing."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adcompiler.cache.keys import digest, is_unknown, primary_key, resolve, storable, type_text
from adcompiler.cache.modules import EMITTED, load_module
from adcompiler.cache.rules_fingerprint import is_sealed
from adcompiler.cache.store import Entry, Store, default_directory
from adcompiler.compile.modes import MODES
from adcompiler.dispatch import terminal as terminal
from adcompiler.dispatch.arguments import real_at, refuse_foreign
from adcompiler.dispatch.calling import (
    allowing_aliases, allowing_stretched, of_each, telling_unfit, unless_unfit, with_effects,
)
from adcompiler.dispatch.compiled import Assumed, Compiled, Same
from adcompiler.dispatch.emitted_module import EmittedModule
from adcompiler.dispatch.guards import guard
from adcompiler.dispatch.keeping import (
    compiled_or_refused, facts_that_hold, kept_refusal, reliance_manifest,
)
from adcompiler.dispatch.linear_maps import Pushforward
from adcompiler.dispatch.masking import Masked
from adcompiler.dispatch.native_source import native_source
from adcompiler.dispatch.options import backend_key, check_options, debugging
from adcompiler.dispatch.places import places_of
from adcompiler.dispatch.targets import cell_contents, find_target
from adcompiler.errors import (
    ADError, ArgumentsError, LocatedError, MissingRuleError, Reason, TooLongError, UnsupportedError,
)
from adcompiler.frontend.depth import compiling
from adcompiler.ir import types as t
from adcompiler.ir.failures import reported
from adcompiler.ops.forks import across_forks
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime.machine.failures import belong_to
from adcompiler.runtime.progress import showing
from adcompiler.support.budget import deeply, is_deep, together
from adcompiler.support.signatures import signature as signature_of
from adcompiler.typed.derivatives import is_derivative
from adcompiler.typed.options import Options
from adcompiler.typed.values import foreign_array, type_of, with_options

if TYPE_CHECKING:
    from adcompiler.compile.pipeline import Emitted, Request

PATIENCE = 2.0
"""Compilations that take longer, in seconds, are told of on stderr."""
MAX_KEYS = 2048
HALF_FULL = MAX_KEYS // 2
"""From how many on it matters which of them was used last."""
MAX_VARIANTS = 4
MAX_ATTEMPTS = 3
OPTIONS = ((str,), t.OPTIONS)
"""Classes of options of which the values are tried in turn."""
TEXTS = OPTIONS[:1]
"""Those that loops are written for, one by one."""

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


class Specialisations:
    """The compiled forms of one function for one set of options.

    ``table`` holds, by argument types, the forms for different surroundings (what the function's
    free names mean), newest first. Both are bounded: callers that pass a new function at every call
    must not fill the memory. What was used last stands last, and goes last. ``options_known`` tells
    of argument types which options among them the code is compiled for the values of, as it is
    refused where only their types are known. ``instead`` gives the derivative at some values where
    code turns out not to be compiled for them.
    """

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        check_options(options)
        self.options = options
        self.function = function
        self.target = find_target(function)
        signature = signature_of(self.target.function, follow_wrapped=False)
        self.parameters = list(signature.parameters.values())
        self.table: dict[Any, list[Compiled]] = {}
        self.latest: Compiled | None = None
        self.options_known: dict[Any, tuple[type, ...]] = {}
        places = places_of(options.argnums, self.target, self.parameters)
        self.wrt = tuple(i for i, _ in places)
        self.parts = tuple(steps for _, steps in places)
        self.single = options.single
        self.instead: Callable[[Any, tuple[Any, ...], ADError], Any] | None = None

    # -- finding -------------------------------------------------------------------------------

    def values(self, bound: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the values of all parameters, integers to be differentiated made floats."""
        values = [*self.target.first, *bound]
        for i, (parameter, value) in enumerate(zip(self.parameters, values, strict=True)):
            refuse_foreign(value, parameter.name, differentiated=i in self.wrt)
        for i, steps in zip(self.wrt, self.parts, strict=True):
            values[i] = real_at(values[i], steps, self.parameters[i].name)
        return tuple(values)

    def find(self, values: tuple[Any, ...]) -> tuple[Compiled, bool]:
        """Return the compiled form for these arguments, and whether it is a new one."""
        types_ = tuple(type_of(value) for value in values)
        for parameter, type_ in zip(self.parameters, types_, strict=True):
            foreign = foreign_array(type_)
            if foreign is not None:
                raise ArgumentsError(
                    f"the argument {parameter.name} is a {foreign.__name__}, whose operators are "
                    "not those of arrays; pass a plain array: np.asarray(matrix), "
                    "masked.filled(0.0)"
                )
        known = types_
        types_ = self.with_options(known, values, self.options_known.get(known, ()))
        key = (types_, self.captured_types())
        found = self.valid(key)
        if found is not None:
            return found, False
        with alone():
            found = self.valid(key)  # another thread may have compiled it meanwhile
            if found is not None:
                return found, False
            with together():
                found = self.compiled_for(known, types_, values)
            key = (found.types, key[1])
            self.table[key] = [found, *self.table.pop(key, ())][:MAX_VARIANTS]
            while len(self.table) > MAX_KEYS:
                self.table.pop(next(iter(self.table)), None)
            self.latest = found
            return found, True

    def with_options(
        self, types_: tuple[t.Type, ...], values: tuple[Any, ...], classes: tuple[type, ...]
    ) -> tuple[t.Type, ...]:
        """Return argument types with the values of options that are not differentiated."""
        return tuple(
            with_options(type_, value, classes) if classes and i not in self.wrt else type_
            for i, (type_, value) in enumerate(zip(types_, values, strict=True))
        )

    def compiled_for(
        self, known: tuple[t.Type, ...], types_: tuple[t.Type, ...], values: tuple[Any, ...]
    ) -> Compiled:
        """Return code for arguments; if it is refused, code for the values of options in them."""
        try:
            return self.compile(types_)
        except TooLongError:
            raise
        except (UnsupportedError, MissingRuleError) as error:
            refused = error
        for classes in options_that_help(refused) if known not in self.options_known else ():
            exact = self.with_options(known, values, classes)
            if exact == types_:
                continue
            try:
                found = self.compile(exact)
            except TooLongError:
                raise
            except (UnsupportedError, MissingRuleError):
                continue
            while len(self.options_known) >= MAX_KEYS:
                del self.options_known[next(iter(self.options_known))]
            self.options_known[known] = classes
            return found
        raise refused

    def of_one_seed(self) -> Specialisations:
        """Return what compiles code of one seed, where this is for many."""
        if not self.options.batched:
            return self
        s = copy.copy(self)
        s.options = replace(self.options, batched=False, constant=False)
        return s

    def valid(self, key: Any) -> Compiled | None:
        """Return the compiled form under ``key`` that what it relies on still allows."""
        forms = self.table.get(key, [])
        for compiled in forms:
            if compiled.guard.holds():
                self.latest = compiled
                if len(self.table) > HALF_FULL:
                    self.table[key] = self.table.pop(key, forms)
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
        self, types_: tuple[t.Type, ...], assumed: Assumed = True, same: Same = ()
    ) -> Compiled:
        """Return code for the argument types: kept on disk from before, or compiled now.

        ``assumed`` lets the code expect operands that are not stretched by broadcasting;
        ``same`` pairs positions of arguments with earlier ones that are the same object.
        """
        with alone(), reported(self.target.function):
            return compiling(self.target.function, lambda: self.kept_or_new(
                types_, assumed, same))

    def kept_or_new(
        self, types_: tuple[t.Type, ...], assumed: Assumed, same: Same
    ) -> Compiled:
        """As ``compile``, on the stack at hand."""
        texts = [*map(type_text, types_), *map(type_text, self.captured_types())]
        store = Store(None if any(map(is_unknown, texts)) else default_directory())
        o = self.options
        key = primary_key(self.target.function, (
            o.mode, self.wrt, self.parts, o.has_aux, o.single, assumed, same, o.strict_primal,
            o.batched, o.constant, o.alone, debugging(o), *(("progress",) if o.progress else ()),
            *(("masked",) if o.masked else ()), *backend_key(o.backend, o.parallel), *texts))
        for entry in sorted(store.candidates(key), key=is_sealed, reverse=True):
            try:
                loaded = self.load(entry, key, types_, assumed, same)
            except Exception:  # it is not what was written: as good as none
                store.discard(entry)
                continue
            if loaded is not None:
                return loaded
        refused = kept_refusal(store, key, self.target.function, self.arguments(types_))
        if refused is not None:
            raise refused
        for _ in range(MAX_ATTEMPTS):
            before = REGISTRY.generation
            compiled = self.compile_anew(types_, store, key, assumed, same)
            if before == REGISTRY.generation:  # no thread has registered a rule meanwhile
                break
        return compiled

    def arguments(self, types_: tuple[t.Type, ...]) -> dict[str, Any]:
        """Return the arguments that are known when compiling: functions, modules and the like."""
        return {
            p.name: type_.value for p, type_ in zip(self.parameters, types_, strict=True)
            if isinstance(type_, t.Static)
        }

    def request(
        self, types_: tuple[t.Type, ...], assumed: Assumed = True, same: Same = ()
    ) -> Request:
        """Return what the compiler is asked for: see ``compile``."""
        from adcompiler.compile.pipeline import Request  # parses

        return Request(
            self.target.function, types_, self.wrt,
            replace(self.options, debug=debugging(self.options)), assumed, parts=self.parts,
            same=same)

    def compile_anew(
        self, types_: tuple[t.Type, ...], store: Store, key: str, assumed: Assumed, same: Same
    ) -> Compiled:
        """Run the compiler, and keep what it emits on disk if another process could check it."""
        from adcompiler.compile.pipeline import compile_request  # parses

        before = REGISTRY.generation
        name = repr(self.function)[1:-1] if is_derivative(self.function) else self.target.shown
        with showing(f"compiling the derivative of {name}", PATIENCE) as work:
            request = self.request(types_, assumed, same)
            request.budget.reached = partial(work.at, total=1.0)
            emitted = compiled_or_refused(
                lambda: compile_request(request), request.budget, store, key,
                self.target.function)
        unit = emitted.unit
        values = {name: value for name, (value, _) in emitted.bound.items()}
        manifest = self.manifest(emitted, self.arguments(types_))
        path = None
        if manifest is not None and before == REGISTRY.generation:
            manifest["of"] = digest(key, emitted.text)
            path = store.write(key, emitted.entry, emitted.text, manifest)
        return self.loaded(
            path, emitted.text, emitted.entry, values, types_, unit.relied.facts, emitted.report,
            tuple(unit.relied.captured), assumed, same,
        )

    def manifest(self, emitted: Emitted, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return what an entry relies on; None if another process could not find all of it."""
        bound = {}
        for name, (value, path) in emitted.bound.items():
            bound[name] = None if path is None else storable(path)
            if path is None or resolve(self.target.function, path, arguments) is not value:
                return None
        relied = reliance_manifest([emitted.unit.relied])
        if relied is None or None in bound.values():
            return None
        return {
            **relied, "entry": emitted.entry, "bound": bound, "report": emitted.report,
            "captured": list(emitted.unit.relied.captured),
        }

    def load(
        self, entry: Entry, key: str, types_: tuple[t.Type, ...], assumed: Assumed, same: Same
    ) -> Compiled | None:
        """Return a kept entry as compiled code, None if what it relies on has changed.

        Raises whatever loading raises of what is no entry of this key.
        """
        manifest, arguments = entry.manifest, self.arguments(types_)
        if manifest["of"] != digest(key, entry.text):
            raise ValueError(f"{entry.path} was not written for this key")
        facts = facts_that_hold(entry, self.target.function, arguments)
        if facts is None:
            return None
        values = {
            name: resolve(self.target.function, map(tuple, path), arguments)
            for name, path in manifest["bound"].items()
        }
        return self.loaded(
            entry.path, entry.text, manifest["entry"], values, types_, facts, manifest["report"],
            tuple(manifest["captured"]), assumed, same,
        )

    def loaded(
        self, path: Path | None, text: str, name: str, bound: Mapping[str, Any],
        types_: tuple[t.Type, ...], facts: Mapping[Any, Any], report: dict[str, list[str]],
        captured: tuple[str, ...], assumed: Assumed, same: Same,
    ) -> Compiled:
        """Import an emitted module and return its code, ready to be called."""
        module = load_module(path, text, EMITTED + name)
        vars(module).update(bound)
        emitted = EmittedModule(
            module, path, text, name, bound, report, self.options, self.target.shown,
            tuple((self.parameters[i].name, i, p) for i, p in zip(
                self.wrt, self.parts, strict=True)))
        if emitted.native:
            belong_to(
                vars(module), self.target.function, deeply, native_source(text, path))
        run = emitted.running()
        seeds = emitted.mode.seeds if emitted.second is None else ""
        each = self.options.batched and seeds == "tangents" and not emitted.one_by_one
        many = len(self.wrt) if each else 0
        s = self.of_one_seed() if emitted.one_by_one else self
        masked = s.masked(types_, assumed, same, bool(emitted.native))
        run, form = emitted.masking(run, masked, many)
        if report.get("effects") == ["by call"]:
            run = with_effects(run, self.target.function, self.parameters)
        run = self.allowing(
            run, report, types_, assumed, same, bool(seeds) and emitted.one_by_one, many)
        call = emitted.calling(run, pushed_again, (self.function, self.options))
        if "unfit" in report["checks"] and self.instead is not None:
            call = unless_unfit(call, partial(self.instead, self), len(self.parameters))
        run = call if emitted.mode.halves else run
        tests = guard(self.target.function, facts, self.arguments(types_))
        return Compiled(
            emitted.entry, call, text, path, types_, tests, report, captured, run, bound=bound,
            masked=None if seeds or captured else form)

    def masked(
        self, types_: tuple[t.Type, ...], assumed: Assumed, same: Same, native: bool
    ) -> Masked:
        """Return the masked form of the code, ``native`` or not, that is compiled for the same."""
        options, other = self.options, copy.copy(self)
        of_one = options.batched and native and bool(MODES[options.mode].halves)
        other.options = replace(
            options, masked=True, backend="python", parallel=False,
            batched=options.batched and not of_one, constant=options.constant and not native)
        return Masked(lambda: other.compile(types_, assumed, same), of_one)

    def allowing(
        self, run: Callable[..., Any], report: dict[str, list[str]], types_: tuple[t.Type, ...],
        assumed: Assumed, same: Same, many: bool, seeds: int,
    ) -> Callable[..., Any]:
        """Return code that has other code compiled where one of its checks fails.

        ``many`` says whether it is called for many seeds one by one. Other code is of one seed
        then; otherwise the last ``seeds`` arguments are tangents of many seeds, which it may have
        to be given one by one.
        """
        s = self.of_one_seed() if many else self

        def again(args: tuple[Any, ...], equal: Assumed, pairs: Same) -> Callable[..., Any] | None:
            found = s.compile(types_, equal, pairs)
            if found.run is not None and seeds and found.report.get("seeds"):
                return partial(of_each, found.run, seeds)
            return found.run

        if "shapes" in report["checks"] and assumed is True:
            run = allowing_stretched(
                run, lambda args, other: again(args, other, same), len(types_))
        if "aliases" in report["checks"]:
            run = allowing_aliases(
                run, lambda args, pairs: again(args, assumed, pairs), same)
        return telling_unfit(run, not report["acts"]) if "unfit" in report["checks"] else run


def options_that_help(refused: LocatedError) -> tuple[tuple[type, ...], ...]:
    """Return the classes of options of which the values may let code compile, to be tried in turn.
    """
    reasons = {finding.reason for finding in refused.findings}
    if any(reason.by_options for reason in reasons):
        return OPTIONS
    return TEXTS if reasons == {Reason.NATIVE} else ()


def pushed_again(
    function: Callable[..., Any], options: Options, args: tuple[Any, ...]
) -> Pushforward:
    """Return the pushforward of a function at some arguments, how one is pickled."""
    s = Specialisations(function, options)
    values = args[: len(s.parameters)]
    return s.run(s.find(values)[0], values)[1]  # type: ignore[no-any-return]
