"""The public functions: ``grad``, ``value_and_grad``, ``vjp``, ``source``."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

from adcompiler.cache.keys import unspelled
from adcompiler.compile.modes import MODES, ROWS, named
from adcompiler.dispatch import (
    MAX_DIRECT, Compiled, Options, Specialisations, differentiated_by_default, make_call, part_at,
)
from adcompiler.dispatch.annotations import assumptions, types_of_parameters
from adcompiler.dispatch.explain import Explanation, explain
from adcompiler.dispatch.written import as_written, has_own_containers, sees_calls
from adcompiler.errors import ADError
from adcompiler.ops.registry import REGISTRY
from adcompiler.typed.derivatives import MAKERS, Wanted

_KEPT = "__adcompiler_kept__"
_PATIENCE = 64  # a form that was looked up this often the long way is tried directly again

Argnums = int | str | tuple[int | str, ...]


class Derivative:
    """A function's derivative: called like the function, compiled once for each argument types.

    ``primal`` is the function itself; ``source`` the emitted module that ran last.
    """

    is_derivative = True

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        functools.update_wrapper(self, function)
        vars(self).pop(_KEPT, None)
        self.primal: Callable[..., Any] = function
        self.options = options
        self._specialisations: Specialisations | None = Specialisations(function, options)
        self.__signature__ = self.specialisations.target.signature
        # A class of its own: Python looks ``__call__`` up there, not on the object.
        self.__class__ = type("Derivative", (Derivative,), {"__doc__": None})
        keeps = MODES[named(options.mode)].has_effects or not has_own_containers(
            function, options.argnums)
        self._forms: dict[Any, Derivative] | None = None if keeps and not sees_calls(
            function) else {}
        self._last_form: Derivative | None = None
        self._install([])
        REGISTRY.watch(self)

    @property
    def specialisations(self) -> Specialisations:
        """The compiled forms: new ones once rules have changed."""
        found = self._specialisations
        if found is None:
            found = self._specialisations = Specialisations(self.primal, self.options)
        return found

    def _install(self, direct: list[Compiled]) -> None:
        """Give this object a ``__call__`` that tries the compiled forms ``direct`` first."""
        self._direct = direct
        if self._forms is not None:
            call: Callable[..., Any] = self._as_written
        else:
            call = make_call(self.specialisations, self._slow, direct)
        type(self).__call__ = staticmethod(call)  # type: ignore[method-assign]

    def _as_written(self, *args: Any, **kwargs: Any) -> Any:
        """Return the derivative at the arguments of a function that sees how it is called."""
        self._last_form = self._form(args, kwargs)
        return self._last_form(*args, **kwargs)

    def _form(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Derivative:
        """Return the derivative for calls that are written like this one."""
        if self._forms is None:
            return self
        key = (len(args), *kwargs)
        found = self._forms.get(key)
        if found is None:
            made, argnums = as_written(self.primal, self.options.argnums, len(args), tuple(kwargs))
            found = Derivative(made, replace(self.options, argnums=argnums))
            self._forms = {**dict(list(self._forms.items())[-_PATIENCE:]), key: found}
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the derivative at the arguments; replaced by a generated method."""
        raise NotImplementedError

    def _slow(self, bound: tuple[Any, ...]) -> Any:
        s = self.specialisations
        values = s.values(bound)
        compiled, is_new = s.find(values)
        compiled.uses += 1
        if s is not self.specialisations:
            return s.run(compiled, values)  # a rule was registered meanwhile: for this call only
        if is_new or (compiled not in self._direct and compiled.uses % _PATIENCE == 0):
            others = [c for c in self._direct if c.types != compiled.types]
            self._install([compiled, *others][:MAX_DIRECT])
        return s.run(compiled, values)

    def rules_changed(self) -> None:
        """Forget all compiled code; called when a rule is registered or removed."""

        def anew(*args: Any, **kwargs: Any) -> Any:
            self._install([])
            return self(*args, **kwargs)

        self._specialisations = None
        self._direct = []
        type(self).__call__ = staticmethod(anew)  # type: ignore[method-assign]

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind to an instance, as methods do."""
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<{self.options.mode} of {getattr(self.primal, '__qualname__', self.primal)!s}>"

    def __reduce__(self) -> Any:
        name = getattr(self, "__qualname__", "")
        if name and unspelled(f"{self.__module__}:{name}") is self:
            return name  # pickled by its name, as functions are
        return Derivative, (self.primal, self.options)

    # -- looking inside ------------------------------------------------------------------------

    def compiled_for(self, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """Return the emitted function for these arguments."""
        return self._compiled(*args, **kwargs).entry

    def source_for(self, *args: Any, **kwargs: Any) -> str:
        """Return the text of the module emitted for these arguments."""
        return self._compiled(*args, **kwargs).text

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """Return what is saved, which rules are used and which kinks exist for these arguments."""
        self = self._form(args, kwargs)
        s = self.specialisations
        return explain(self._compiled(*args, **kwargs), s, s.values(self.bound(*args, **kwargs)))

    def differentiated(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return the arguments, or parts of them, that ``argnums`` names; integers made floats."""
        self = self._form(args, kwargs)
        s = self.specialisations
        values = s.values(self.bound(*args, **kwargs))
        return tuple(part_at(values[i], steps) for i, steps in zip(s.wrt, s.parts, strict=True))

    @property
    def source(self) -> str:
        """The text of the emitted module: of the last call, else for annotated parameter types."""
        return self._latest().text

    @property
    def module_path(self) -> Path | None:
        """The file of the emitted module that ran last, None if it is in memory only."""
        return self._latest().path

    def _latest(self) -> Compiled:
        if self._last_form is not None:
            return self._last_form._latest()
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

    def _compiled(self, *args: Any, **kwargs: Any) -> Compiled:
        self = self._form(args, kwargs)
        values = self.specialisations.values(self.bound(*args, **kwargs))
        return self.specialisations.find(values)[0]


class DerivativeFunction:
    """What an operator made of a function: called like the function, it runs ``call``.

    Compiled code that calls it does not run ``call`` but has the derivative written in place, as
    ``options`` tell which. ``maker`` made it, with ``given`` beside the function.
    """

    is_derivative = True

    def __init__(
        self, function: Callable[..., Any], options: Wanted, call: Callable[..., Any],
        maker: Callable[..., Any], given: dict[str, Any], signature: inspect.Signature | None,
    ) -> None:
        functools.update_wrapper(self, function)
        vars(self).pop(_KEPT, None)
        self.primal: Callable[..., Any] = function
        self.options = options
        self._call = call
        self._made = maker, given
        if signature is not None:
            self.__signature__ = signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the derivative at the arguments."""
        return self._call(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind to an instance, as methods do."""
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<{self.options.mode} of {getattr(self.primal, '__qualname__', self.primal)!s}>"

    def __reduce__(self) -> Any:
        name = getattr(self, "__qualname__", "")
        if name and unspelled(f"{self.__module__}:{name}") is self:
            return name  # pickled by its name, as functions are
        maker, given = self._made
        return made_again, (maker, self.primal, given)


def made_again(maker: Callable[..., Any], function: Any, given: dict[str, Any]) -> Any:
    """Return what an operator makes of a function: how that is pickled."""
    return maker(function, **given)


@overload
def grad(
    function: None = None, *, argnums: Argnums = 0, has_aux: bool = False,
    strict_primal: bool = False, backend: str = "python", parallel: bool = False,
) -> Callable[[Callable[..., Any]], Derivative]: ...
@overload
def grad(
    function: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False,
    strict_primal: bool = False, backend: str = "python", parallel: bool = False,
) -> Derivative: ...
def grad(
    function: Callable[..., Any] | None = None, argnums: Argnums = 0, *, has_aux: bool = False,
    strict_primal: bool = False, backend: str = "python", parallel: bool = False,
) -> Any:
    """Return a function that computes the gradient of ``function``.

    ``function`` returns a real number, or an array of size 1. The gradient with respect to the
    argument ``argnums`` (a position or a name; a tuple of them gives a tuple of gradients) has the
    structure, shape and float precision of that argument; integers count as floats, but not those
    in instances. Positions reach into ``*args``, names into ``**kwargs``; ``"params.w"`` names an
    entry, item or attribute of the argument ``params``. With ``has_aux`` the function returns
    ``(value, aux)`` and the derivative ``(gradient, aux)``. Some rules compute the value by another
    algorithm than the function, which may differ in rounding (``explain`` lists them); with
    ``strict_primal`` the function itself gives the value.

    With ``backend="native"`` the code is compiled to machine loops by numba, which the extra
    ``native`` installs; what there are no such loops for is refused. ``"auto"`` keeps that in
    Python, as it does everything where numba is missing. With ``parallel`` loops run in threads
    of which the iterations are proved independent: ``explain`` tells which, and why others do not.

    Can be used as a decorator, with or without arguments. Raises UnsupportedError or
    MissingRuleError at the first call, before anything runs, for code that cannot be
    differentiated, and TypeError for results that are not real scalars.
    """
    return _derivative("grad", function, argnums, has_aux, strict_primal, backend, parallel)


@overload
def value_and_grad(
    function: None = None, *, argnums: Argnums = 0, has_aux: bool = False,
    strict_primal: bool = False, backend: str = "python", parallel: bool = False,
) -> Callable[[Callable[..., Any]], Derivative]: ...
@overload
def value_and_grad(
    function: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False,
    strict_primal: bool = False, backend: str = "python", parallel: bool = False,
) -> Derivative: ...
def value_and_grad(
    function: Callable[..., Any] | None = None, argnums: Argnums = 0, *, has_aux: bool = False,
    strict_primal: bool = False, backend: str = "python", parallel: bool = False,
) -> Any:
    """Return a function that computes the value of ``function`` and its gradient, as a pair.

    As ``grad``; with ``has_aux`` the result is ``((value, aux), gradient)``.
    """
    return _derivative(
        "value_and_grad", function, argnums, has_aux, strict_primal, backend, parallel)


def _derivative(
    mode: str, function: Callable[..., Any] | None, argnums: Argnums, has_aux: bool,
    strict_primal: bool, backend: str, parallel: bool,
) -> Any:
    argnums = tuple(argnums) if isinstance(argnums, list) else argnums
    options = Options(mode, argnums, has_aux, strict_primal, backend=backend, parallel=parallel)
    if function is None:
        return lambda f: Derivative(f, options)
    return Derivative(function, options)


def vjp(
    function: Callable[..., Any], *args: Any, argnums: Argnums | None = None,
    strict_primal: bool = False, backend: str = "python", **kwargs: Any,
) -> tuple[Any, Callable[[Any], Any]]:
    """Return ``function(*args, **kwargs)`` and its pullback there.

    The pullback takes a cotangent of the result (of its structure and shapes; None inside of it
    means zero; TypeError or ValueError where it does not fit) and returns the cotangents of the
    arguments ``argnums``: a tuple for all positional arguments by default, or for a tuple; one
    cotangent for a single position or name. By default it has None for an argument that holds no
    float (integers, unless none does), and for one of a function with a rule that gives none there
    (a shape, an axis, a text). It may be called any number of
    times, from any thread. ``strict_primal`` is that of ``grad``, and so is ``backend``: native
    loops compute the value again in each pullback.
    """
    default = None
    if argnums is None:
        argnums = default = differentiated_by_default(function, args)
    elif isinstance(argnums, list):
        argnums = tuple(argnums)
    pair = kept_derivative(function, "vjp", argnums, strict_primal, backend=backend)
    value, pullback = pair(*args, **kwargs)
    if default is not None and len(default) < len(args):
        return value, with_none(pullback, default, len(args))
    return value, pullback


def with_none(
    pullback: Callable[[Any], Any], positions: Sequence[int], count: int
) -> Callable[[Any], Any]:
    """Return a pullback with None for the arguments, of ``count``, that have no cotangent."""

    def filled_up(y_bar: Any) -> tuple[Any, ...]:
        found = dict(zip(positions, pullback(y_bar), strict=True))
        return tuple(found.get(i) for i in range(count))

    return filled_up


def kept_derivative(
    function: Callable[..., Any], mode: str, argnums: Argnums, strict_primal: bool = False,
    batched: bool = False, backend: str = "python",
) -> Derivative:
    """Return the derivative that calls of ``vjp``, ``jvp`` and the like share.

    The function itself keeps it, so that both die together. Of callables of other kinds (bound
    methods, functions written in C) the latest are kept here.
    """
    key = (mode, argnums, False, strict_primal, batched, False, backend)
    if not isinstance(function, types.FunctionType):
        try:
            return _kept_here(function, *key)
        except TypeError:  # not hashable
            return Derivative(function, Options(*key))
    kept: dict[Any, Derivative] = function.__dict__.get(_KEPT, {})
    found = kept.get(key)
    if found is not None and found.primal is function:
        return found
    if found is not None:
        kept = {}  # of another function: functools.wraps has copied it
    made = Derivative(function, Options(*key))
    function.__dict__[_KEPT] = {**kept, key: made}
    return made


@functools.lru_cache(maxsize=64)
def _kept_here(function: Callable[..., Any], *options: Any) -> Derivative:
    return Derivative(function, Options(*options))


def source(
    function: Callable[..., Any], *args: Any, mode: str = "grad", argnums: Argnums = 0,
    batched: bool = False, **kwargs: Any,
) -> str:
    """Return the text of the module emitted for ``function`` at these arguments.

    ``mode`` is ``"grad"`` (or ``"reverse"``), ``"value_and_grad"``, ``"vjp"`` (the augmented primal
    and the pullback), ``"forward"`` (the pushforward), ``"taylor"`` (Taylor coefficients from those
    of arguments), ``"linearize"`` (the primal, and the derivative along tangents there),
    ``"jacobian"``, ``"hessian"`` or ``"hvp"`` (the Hessian's product with a tangent). With
    ``batched``, vjp and forward are for many seeds at once.
    Without arguments, annotations give the types, and code for the rest is generic.
    """
    mode = named(mode)
    several = [row.name for row in ROWS if row.batches]
    if batched and mode not in several:
        raise ValueError(
            f"many seeds at once are for the modes {' and '.join(several)}; got {mode!r}")
    derivative = Derivative(function, Options(mode, argnums, batched=batched))
    return derivative.source_for(*args, **kwargs) if args or kwargs else derivative.source


MAKERS.update({grad: "grad", value_and_grad: "value_and_grad", vjp: "vjp"})

__all__ = [
    "Argnums", "Derivative", "DerivativeFunction", "grad", "kept_derivative", "source",
    "value_and_grad", "vjp",
]
