"""The public functions: ``grad``, ``value_and_grad``, ``vjp``, ``source``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, overload

from adcompiler.dispatch import Compiled, Options, Specialisations, make_call
from adcompiler.errors import UnsupportedError
from adcompiler.explain import Explanation, explain

Argnums = int | str | tuple[int | str, ...]


class Derivative:
    """A function's derivative: called like the function, compiled once for each argument types.

    ``primal`` is the function itself; ``source`` the emitted module that ran last.
    """

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        if isinstance(function, Derivative):
            raise UnsupportedError([_higher_order()])
        functools.update_wrapper(self, function)
        self.primal = function
        self.options = options
        self.specialisations = Specialisations(function, options)
        self.__signature__ = self.specialisations.target.signature
        self._install(None)

    def _install(self, compiled: Compiled | None) -> None:
        """Give this object a ``__call__`` of its own that tries ``compiled`` first."""
        call = make_call(self.specialisations, self._slow, compiled)
        self.__class__ = type("Derivative", (Derivative,), {"__call__": call, "__doc__": None})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the derivative at the arguments; replaced by a generated method."""
        raise NotImplementedError

    def _slow(self, bound: tuple[Any, ...]) -> Any:
        values = self.specialisations.values(bound)
        compiled = self.specialisations.find(values)
        self._install(compiled)
        return compiled.entry(*values, *self.specialisations.captured_values(compiled))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind to an instance, as methods do."""
        if instance is None:
            return self
        return functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<{self.options.mode} of {getattr(self.primal, '__qualname__', self.primal)!s}>"

    def __reduce__(self) -> Any:
        return (_rebuild, (self.primal, self.options))

    # -- looking inside ------------------------------------------------------------------------

    def compiled_for(self, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """Return the emitted function for these arguments."""
        return self._compiled(*args, **kwargs).entry

    def source_for(self, *args: Any, **kwargs: Any) -> str:
        """Return the text of the module emitted for these arguments."""
        return self._compiled(*args, **kwargs).text

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """Return what is saved, which rules are used and which kinks exist for these arguments."""
        s = self.specialisations
        return explain(self._compiled(*args, **kwargs), s, s.values(self._bound(*args, **kwargs)))

    @property
    def source(self) -> str:
        """The text of the emitted module: of the last call, else for annotated parameter types."""
        latest = self.specialisations.latest
        if latest is None:
            from adcompiler.annotations import types_of_parameters

            types = types_of_parameters(self.specialisations)
            latest = self.specialisations.compile(types)
            self.specialisations.latest = latest
        return latest.text

    @property
    def module_path(self) -> Path | None:
        """The file of the emitted module that ran last, None if it is in memory only."""
        latest = self.specialisations.latest
        return None if latest is None else latest.path

    def _bound(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        signature = self.specialisations.target.signature
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return tuple(bound.arguments[name] for name in signature.parameters)

    def _compiled(self, *args: Any, **kwargs: Any) -> Compiled:
        values = self.specialisations.values(self._bound(*args, **kwargs))
        return self.specialisations.find(values)


def _rebuild(function: Callable[..., Any], options: Options) -> Derivative:
    return Derivative(function, options)


def _higher_order() -> Any:
    from adcompiler.errors import Finding

    return Finding(
        "grad", 0, 0, "", "the derivative of a derivative is not supported yet",
        "differentiate the function once", "higher-order",
    )


@overload
def grad(function: None = None, *, argnums: Argnums = 0, has_aux: bool = False) -> Callable[
    [Callable[..., Any]], Derivative]: ...
@overload
def grad(
    function: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False
) -> Derivative: ...
def grad(
    function: Callable[..., Any] | None = None, argnums: Argnums = 0, *, has_aux: bool = False
) -> Any:
    """Return a function that computes the gradient of ``function``.

    ``function`` returns a real number, or an array of size 1. The gradient with respect to the
    argument ``argnums`` (a position or a name; a tuple of them gives a tuple of gradients) has the
    structure, shape and float precision of that argument; integers count as floats. With
    ``has_aux`` the function returns ``(value, aux)`` and the derivative ``(gradient, aux)``.

    Can be used as a decorator, with or without arguments. Raises UnsupportedError or
    MissingRuleError at the first call, before anything runs, for code that cannot be
    differentiated, and TypeError for results that are not real scalars.
    """
    return _derivative("grad", function, argnums, has_aux)


@overload
def value_and_grad(
    function: None = None, *, argnums: Argnums = 0, has_aux: bool = False
) -> Callable[[Callable[..., Any]], Derivative]: ...
@overload
def value_and_grad(
    function: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False
) -> Derivative: ...
def value_and_grad(
    function: Callable[..., Any] | None = None, argnums: Argnums = 0, *, has_aux: bool = False
) -> Any:
    """Return a function that computes the value of ``function`` and its gradient, as a pair.

    As ``grad``; with ``has_aux`` the result is ``((value, aux), gradient)``.
    """
    return _derivative("value_and_grad", function, argnums, has_aux)


def _derivative(
    mode: str, function: Callable[..., Any] | None, argnums: Argnums, has_aux: bool
) -> Any:
    options = Options(mode, tuple(argnums) if isinstance(argnums, list) else argnums, has_aux)
    if function is None:
        return lambda f: Derivative(f, options)
    return Derivative(function, options)


_pairs: dict[Any, Specialisations] = {}


def vjp(
    function: Callable[..., Any], *args: Any, argnums: Argnums | None = None, **kwargs: Any
) -> tuple[Any, Callable[[Any], Any]]:
    """Return ``function(*args, **kwargs)`` and its pullback there.

    The pullback takes a cotangent of the result (of its shape) and returns the cotangents of the
    arguments ``argnums``: a tuple for all positional arguments by default, or for a tuple; one
    cotangent for a single position or name. It may be called any number of times, from any thread.
    """
    if argnums is None:
        argnums = tuple(range(len(args)))
    options = Options("vjp", argnums)
    s = _specialisations(function, options)
    bound = s.target.signature.bind(*args, **kwargs)
    bound.apply_defaults()
    values = s.values(tuple(bound.arguments[name] for name in s.target.signature.parameters))
    compiled = s.find(values)
    value, residuals = compiled.entry(*values, *s.captured_values(compiled))
    name = compiled.entry.__name__.removesuffix("_augmented") + "_pullback"
    backward = getattr(compiled.module, name)

    def pullback(cotangent: Any) -> Any:
        """Return the cotangents of the arguments for a cotangent of the value."""
        return backward(residuals, cotangent)

    return value, pullback


def _specialisations(function: Callable[..., Any], options: Options) -> Specialisations:
    """Return the compiled forms of a function for ``vjp``, kept while the function lives."""
    try:
        key = (function, options)
        found = _pairs.get(key)
    except TypeError:
        return Specialisations(function, options)
    if found is None:
        found = _pairs[key] = Specialisations(function, options)
    return found


def source(
    function: Callable[..., Any], *args: Any, mode: str = "grad", argnums: Argnums = 0,
    **kwargs: Any,
) -> str:
    """Return the text of the module emitted for ``function`` at these arguments.

    ``mode`` is ``"grad"``, ``"value_and_grad"`` or ``"vjp"`` (the augmented primal and pullback).
    Without arguments, annotations give the types, and code for the rest is generic.
    """
    derivative = Derivative(function, Options(mode, argnums))
    return derivative.source_for(*args, **kwargs) if args or kwargs else derivative.source


__all__ = ["Derivative", "grad", "inspect", "source", "value_and_grad", "vjp"]
