"""Derivatives that call the code which the compiler emitted for them."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from adcompiler.api.derivative import KEPT, Code, Derivative, P, R_co
from adcompiler.api.fallback import (
    BY_BACKEND, because, keep_refused, may_record, tell_recorded, types_key,
    warn_if_large,
)
from adcompiler.api.sparse.arguments import by_entries, function_of_entries, matrices_among
from adcompiler.compile.modes import MODES, named
from adcompiler.dispatch import (
    MAX_DIRECT, Compiled, Options, Specialisations, make_call, part_at,
)
from adcompiler.dispatch.annotations import assumptions, types_of_parameters
from adcompiler.dispatch.frames import with_users_frames
from adcompiler.dispatch.source_text import SourceText
from adcompiler.dispatch.written import (
    Written, as_written, has_own_containers, sees_calls,
)
from adcompiler.errors import ADError
from adcompiler.ops.registry import REGISTRY
from adcompiler.record.entry import recorded, rewritten_text, tape_text
from adcompiler.runtime.progress import showing
from adcompiler.typed.derivatives import Argnums

PATIENCE = 64
"""A form that was looked up this often the long way is tried directly again."""
MAX_KEPT = 64
"""How many derivatives of callables are kept that cannot keep their own."""


class EmittedDerivative(Derivative[P, R_co]):
    """A derivative whose calls run emitted code, found by the types of the arguments."""

    options: Options

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        super().__init__(function, options)
        self._specialisations: Specialisations | None = None
        self.__signature__ = self.specialisations.target.signature
        # A class of its own: Python looks ``__call__`` up there, not on the object.
        self.__class__ = type("Derivative", (EmittedDerivative,), {"__doc__": None})
        keeps = MODES[named(options.mode)].has_effects or not has_own_containers(
            function, options.argnums)
        self.forms = None if keeps and not sees_calls(function) else {}
        self._last_form: EmittedDerivative[..., Any] | None = None
        self._refused: dict[Hashable, ADError] = {}
        self._of_entries: dict[Any, EmittedDerivative[..., Any]] = {}
        self._install([])
        REGISTRY.watch(self)

    @property
    def specialisations(self) -> Specialisations:
        """The compiled forms: new ones once rules have changed."""
        found = self._specialisations
        if found is None:
            found = self._specialisations = Specialisations(self.primal, self.options)
            found.instead = recorded_instead
        return found

    def _install(self, direct: list[Compiled]) -> None:
        """Give this object a ``__call__`` that tries the compiled forms ``direct`` first."""
        self._direct = direct
        if self.forms is not None:
            call: Callable[..., Any] = self._as_written
        else:
            call = make_call(self.specialisations, self._slow, direct)
        type(self).__call__ = staticmethod(  # type: ignore[method-assign]
            self._shown(call) if self.options.progress else call)

    def _shown(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a call that a terminal shows."""
        said = super().__repr__()[1:-1]

        def calling(*args: Any, **kwargs: Any) -> Any:
            with showing(said):
                return call(*args, **kwargs)

        return calling

    def _as_written(self, *args: Any, **kwargs: Any) -> Any:
        """Return the derivative at the arguments of a function that sees how it is called."""
        found: EmittedDerivative[..., Any] = self.form(Written(args, kwargs))
        self._last_form = found
        return found(*args, **kwargs)

    def form_of(self, count: int, keywords: tuple[str, ...]) -> Derivative[..., Any]:
        made, argnums = as_written(self.primal, self.options.argnums, count, keywords)
        return EmittedDerivative(made, replace(self.options, argnums=argnums))

    def _slow(self, bound: tuple[Any, ...]) -> Any:
        s = self.specialisations
        values = s.values(bound)
        if self.options.backend == "record":
            return recorded(s, values)
        if self._of_entries and (matrices := matrices_among(s, values)):
            made = self._of_entries.get(tuple(matrices.items()))
            if made is not None:
                return by_entries(s, made, matrices, values)
        if self._refused:
            error = self._refused.get(types_key(values))
            if error is not None:
                return recorded(s, values, error)
        try:
            compiled, is_new = s.find(values)
        except ADError as error:
            matrices = matrices_among(s, values)
            if matrices:
                made = EmittedDerivative(*function_of_entries(s, matrices))
                result = by_entries(s, made, matrices, values)
                self._of_entries[tuple(matrices.items())] = made
                return result
            result = recorded_instead(s, values, error)
            keep_refused(self._refused, types_key(values), error)
            return result
        if not compiled.uses:
            warn_if_large(s, compiled, values)
        compiled.uses += 1
        if s is not self.specialisations:
            return s.run(compiled, values)  # a rule was registered meanwhile: for this call only
        if is_new or (compiled not in self._direct and compiled.uses % PATIENCE == 0):
            others = [c for c in self._direct if c.types != compiled.types]
            self._install([compiled, *others][:MAX_DIRECT])
        return s.run(compiled, values)

    def may_record(self, error: ADError) -> bool:
        return may_record(self.options, error)

    def rules_changed(self) -> None:
        """Forget all compiled code; called when a rule is registered or removed."""

        def anew(*args: Any, **kwargs: Any) -> Any:
            self._install([])
            return self(*args, **kwargs)

        self._specialisations = None
        self._direct = []
        self._refused = {}
        self._of_entries = {}
        type(self).__call__ = staticmethod(anew)  # type: ignore[method-assign]

    def made_of(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return EmittedDerivative, (self.primal, self.options)

    # -- looking inside ------------------------------------------------------------------------

    def why_last_recorded(self) -> str | None:
        if self.options.backend == "record":
            return BY_BACKEND
        if self._last_form is not None:
            return self._last_form.why_last_recorded()
        if not self._refused or self.specialisations.latest is not None:
            return None
        return because(list(self._refused.values())[-1])

    def why_recorded(self, *args: Any, **kwargs: Any) -> str | None:
        if self.options.backend == "record":
            return BY_BACKEND
        return super().why_recorded(*args, **kwargs)

    def at(self, call: Written) -> tuple[Specialisations, tuple[Any, ...]]:
        s: Specialisations = self.form(call).specialisations
        return s, s.values(s.target.bound(*call))

    @with_users_frames
    def tape(self, *args: P.args, **kwargs: P.kwargs) -> SourceText:
        """Return the operations of a recorded run at these arguments, one in each line."""
        return SourceText(tape_text(*self.at(Written(args, kwargs))))

    def recorded_text(self) -> str:
        return rewritten_text(self.specialisations)

    @staticmethod
    def kept(function: Callable[..., Any], mode: str, argnums: Argnums) -> Any:
        return kept_derivative(function, mode, argnums)

    def code(self, *args: Any, **kwargs: Any) -> Code:
        s, values = self.at(Written(args, kwargs))
        return Code(s, s.find(values)[0], values)

    def differentiated(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return the arguments, or parts of them, that ``argnums`` names; integers made floats."""
        s, values = self.at(Written(args, kwargs))
        return tuple(part_at(values[i], steps) for i, steps in zip(s.wrt, s.parts, strict=True))

    def running(self) -> Derivative[..., Any]:
        return self if self._last_form is None else self._last_form.running()

    def last_run(self) -> tuple[Specialisations, Compiled] | None:
        if self._last_form is not None:
            return self._last_form.last_run()
        s = self.specialisations
        return None if s.latest is None else (s, s.latest)

    def latest(self) -> Compiled:
        if self._last_form is not None:
            return self._last_form.latest()
        s = self.specialisations
        if s.latest is None:
            s.latest = self._without_call()
        return s.latest

    def _without_call(self) -> Compiled:
        s = self.specialisations
        refused: ADError | TypeError | None = None
        for types_ in assumptions(s, types_of_parameters(s)):
            try:
                return s.compile(types_)
            except (ADError, TypeError) as error:
                refused = refused or error
        assert refused is not None
        raise refused

    def bound(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return the values of all parameters, defaults among them."""
        return self.specialisations.target.bound(args, kwargs)


def recorded_instead(s: Specialisations, values: tuple[Any, ...], error: ADError) -> Any:
    """Return what a recording gives where the compiler refuses; raise if that does not help."""
    if not may_record(s.options, error):
        raise error
    tell_recorded(s.target, error)
    return recorded(s, values, error)


def as_asked(
    function: Any, mode: str | None = None, argnums: Argnums | None = None
) -> Derivative[..., Any]:
    """Return a derivative as it is, unless another mode is asked for; of a function its gradient.

    ``mode`` is one of the compiler's.
    """
    is_derivative = isinstance(function, Derivative)
    if is_derivative and mode is None and argnums is None:
        found: Derivative[..., Any] = function
        return found
    primal = function.primal if is_derivative else function
    return EmittedDerivative(
        primal, Options(named(mode or "grad"), 0 if argnums is None else argnums))


def kept_derivative(
    function: Callable[..., Any], mode: str, argnums: Argnums, strict_primal: bool = False,
    batched: bool = False, backend: str = "python", debug: bool = False,
    fallback: str = "record",
) -> EmittedDerivative[..., Any]:
    """Return the derivative that calls of ``vjp``, ``jvp`` and the like share.

    The function itself keeps it, so that both die together. Of callables of other kinds (bound
    methods, functions written in C) the latest are kept here.
    """
    key = (
        mode, argnums, False, strict_primal, batched, False, backend, False, debug, False, False,
        fallback)
    if not isinstance(function, types.FunctionType):
        try:
            return _kept_here(function, *key)
        except TypeError:  # not hashable
            return _kept_by_identity(function, key)
    kept: dict[Any, EmittedDerivative[..., Any]] = function.__dict__.get(KEPT, {})
    found = kept.get(key)
    if found is not None and found.primal is function:
        return found
    if found is not None:
        kept = {}  # of another function: functools.wraps has copied it
    made: EmittedDerivative[..., Any] = EmittedDerivative(function, Options(*key))
    function.__dict__[KEPT] = {**kept, key: made}
    return made


@functools.lru_cache(maxsize=MAX_KEPT)
def _kept_here(function: Callable[..., Any], *options: Any) -> EmittedDerivative[..., Any]:
    return EmittedDerivative(function, Options(*options))


def _kept_by_identity(
    function: Callable[..., Any], key: tuple[Any, ...]
) -> EmittedDerivative[..., Any]:
    """Return the derivative of a callable that has no hash, or is the method of what has none.

    What is kept keeps the callable, so that its identity is that of no other one.
    """
    owner = getattr(function, "__self__", function)
    inside = getattr(function, "__func__", None)
    place = (id(owner), inside, getattr(function, "__name__", ""), key)
    found = _by_identity.get(place)
    if found is None:
        found = EmittedDerivative(function, Options(*key))
        for oldest in list(_by_identity)[: max(len(_by_identity) - MAX_KEPT + 1, 0)]:
            _by_identity.pop(oldest, None)
        _by_identity[place] = found
    return found


_by_identity: dict[Any, EmittedDerivative[..., Any]] = {}


__all__ = ["Argnums", "EmittedDerivative", "as_asked", "kept_derivative"]
