"""An emitted module that was imported: which of its functions are called, and how."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from adcompiler.compile.backends import BACKENDS
from adcompiler.compile.modes import MODES, Mode
from adcompiler.dispatch.calling import at_point, at_point_along, at_point_with
from adcompiler.dispatch.linear_maps import Half, Wanted, linearized, pulled_back, recomputing
from adcompiler.dispatch.masking import PLACES, Masked, masked_half, run_masked
from adcompiler.errors import NotCompiledError
from adcompiler.support.structs import dataclass
from adcompiler.typed.options import Options


@dataclass
class EmittedModule:
    """An emitted module; ``name`` is its first function, ``shown`` the user's function.

    ``bound`` are the values it was given, ``report`` what the compiler said of it, ``wanted`` what
    is differentiated.
    """

    module: types.ModuleType
    path: Path | None
    text: str
    name: str
    bound: Mapping[str, Any]
    report: dict[str, list[str]]
    options: Options
    shown: str
    wanted: Wanted

    @property
    def mode(self) -> Mode:
        """What was asked for."""
        return MODES[self.options.mode]

    @property
    def entry(self) -> Callable[..., Any]:
        """The first function, in Python."""
        found: Callable[..., Any] = getattr(self.module, self.name)
        return found

    @property
    def native(self) -> str:
        """The name of the first function that runs native loops, if there is one."""
        found: str = (self.report.get("native") or ("",))[0]
        return found

    @property
    def one_by_one(self) -> bool:
        """Whether the code is for one seed, and many are given to it one after the other."""
        return bool(self.report.get("seeds"))

    @cached_property
    def second(self) -> Half | None:
        """The second of two functions, None where there is one function only."""
        if not self.mode.halves or self.report.get("primal"):
            return None
        first, rest = self.mode.halves
        name = f"{self.name.removesuffix(first)}{rest}{'_native' if self.native else ''}"
        return Half(getattr(self.module, name), self.text, name, self.bound, self.shown)

    def running(self) -> Callable[..., Any]:
        """Return what takes all arguments at once: seeds too, unless there is a second function."""
        run = self.entry
        if self.native:
            run = getattr(self.module, self.native)
            if BACKENDS[self.options.backend].optional and not (
                self.mode.halves or self.options.batched
            ):
                run = self.native_or_python(run)
        if self.second is not None and self.mode.seeds == "cotangents":
            return pulled_back(run, self.second, self.options.batched, self.one_by_one)
        if self.second is not None and self.mode.seeds == "tangents":
            return linearized(self.entry, self.second, self.wanted)
        return run

    def native_or_python(self, native: Callable[..., Any]) -> Callable[..., Any]:
        """Return what calls loops, but Python for good where they turn out not to compile."""
        chosen = native

        def run(*args: Any) -> Any:
            nonlocal chosen
            try:
                return chosen(*args)
            except NotCompiledError as error:
                if chosen is not native:
                    raise
                _, _, why = error.findings[0].problem.partition(": ")
                self.report["native"] = [self.native, f"stays in Python: {why}"]
                chosen = self.entry
            return chosen(*args)

        return run

    def masking(
        self, run: Callable[..., Any], masked: Masked, seeds: int
    ) -> tuple[Callable[..., Any], Callable[..., Any] | None]:
        """Return ``run``, followed by the masked form where a derivative is not finite.

        The second result gives that form, or None, for the arguments of a call.
        """
        if self.report.get("constants") or not self.report["slopes"]:
            return run, None
        if self.second is not None:
            self.second.masked = partial(
                masked_half, self.second, masked, self.name, self.one_by_one)
            return run, None
        place: int | None = PLACES.get(self.mode.name)
        if self.mode.name == "grad" and not self.options.has_aux:
            place = None
        return run_masked(run, place, masked, seeds, bool(self.native))

    def calling(
        self, run: Callable[..., Any], again: Callable[..., Any], made_of: tuple[Any, ...]
    ) -> Callable[..., Any]:
        """Return what a call of the derivative calls, by ``run``.

        ``again`` of what it is ``made_of`` and arguments is how a map that computes the value in
        each call is pickled.
        """
        if self.second is not None or not self.mode.seeds:
            return run
        if self.mode.halves:
            half = Half(run, self.text, self.name, self.bound, self.shown)
            return recomputing(run, half, self.wanted, again, made_of)
        if self.report.get("constants"):
            name, *with_value = self.report["constants"]
            constants = getattr(self.module, name)
            return at_point_along(
                self.entry, constants, bool(with_value), self.wanted,
                is_tested=bool(self.report["slopes"]))
        if self.native and self.options.constant and not self.one_by_one:
            least: int | None = getattr(self.module, "SEEDS_TOGETHER", None)
            return at_point_with(run, self.wanted, least)
        batched = self.options.batched or self.mode.seeds == "coefficients"
        writes = self.report.get("writes") != []
        return at_point(run, self.wanted, batched, self.one_by_one, writes)


__all__ = ["EmittedModule"]
