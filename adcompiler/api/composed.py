"""Derivatives that are made of several calls of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from adcompiler.api.derivative import Code, Derivative, P, R_co
from adcompiler.api.emitted import EmittedDerivative
from adcompiler.dispatch import Options, Specialisations
from adcompiler.dispatch.explain import Explanation
from adcompiler.dispatch.written import Written, as_written
from adcompiler.errors import ADError
from adcompiler.record.entry import rewritten_text
from adcompiler.typed.derivatives import Wanted
from adcompiler.typed.operators import OPERATORS
from adcompiler.typed.options import Argnums

Part = EmittedDerivative[..., Any]
"""A derivative of which code is emitted."""


class ComposedDerivative(Derivative[P, R_co]):
    """A derivative that is computed by calls of ``parts``, derivatives of which code is emitted.

    Compiled code that calls it does not run it but has the derivative written in place, as
    ``options`` tell which. ``maker`` made it, with ``given`` beside the function. Its code is that
    of the part that ran last, at first of the first one.
    """

    options: Wanted

    def __init__(
        self, function: Callable[..., Any], options: Wanted, maker: Callable[..., Any],
        given: Mapping[str, Any], parts: Mapping[str, Part],
    ) -> None:
        super().__init__(function, options)
        self._made = maker, {key: value for key, value in given.items() if is_said(value)}
        self.parts, self.ran = parts, next(iter(parts.values()))
        self.__signature__ = self.ran.__signature__

    def made_of(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        maker, given = self._made
        return made_again, (maker, self.primal, given)

    def like(self, **changes: Any) -> Any:
        """Return what is made with other options, or of another function."""
        maker, given = self._made
        return maker(**{"function": self.primal, **given, **changes})

    def form_of(self, count: int, keywords: tuple[str, ...]) -> Derivative[..., Any]:
        made, argnums = as_written(self.primal, self.options.argnums, count, keywords)
        found: Derivative[..., Any] = self.like(function=made, argnums=argnums)
        return found

    def called(self, call: Written) -> Part:
        """Return the part that is called at these arguments."""
        return self.ran

    def code(self, *args: Any, **kwargs: Any) -> Code:
        return self.called(Written(args, kwargs)).code(*args, **kwargs)

    def at(self, call: Written) -> tuple[Specialisations, tuple[Any, ...]]:
        return self.called(call).at(call)

    def may_record(self, error: ADError) -> bool:
        return self.ran.may_record(error)

    def why_recorded(self, *args: Any, **kwargs: Any) -> str | None:
        return self.called(Written(args, kwargs)).why_recorded(*args, **kwargs)

    def why_last_recorded(self) -> str | None:
        return self.ran.why_last_recorded()

    def recorded_text(self) -> str:
        return rewritten_text(self.ran.specialisations)

    def explain(self, *args: P.args, **kwargs: P.kwargs) -> Explanation:
        return self.called(Written(args, kwargs)).explain(*args, **kwargs)

    def running(self) -> Derivative[..., Any]:
        return self.ran

    kept = staticmethod(EmittedDerivative.kept)


def is_said(value: object) -> bool:
    """Say whether the value of an option is none that stands for its default."""
    return value is not None and value is not False and not (
        isinstance(value, str) and value == "python")


def parts_of(
    mode: str, function: Callable[..., Any], argnums: Argnums, backend: str = "python"
) -> dict[str, Part]:
    """Return the parts that an operator's row names, of a function in some arguments."""
    row = OPERATORS[mode]
    of: Callable[..., Any] = function
    if row.second:
        of = EmittedDerivative(function, Options("grad", argnums))
    return {
        name: EmittedDerivative(of, replace(part, argnums=argnums, backend=backend))
        for name, part in row.parts.items()
    }


def made_again(
    maker: Callable[..., Any], function: Callable[..., Any], given: Mapping[str, Any]
) -> Any:
    """Return what an operator makes of a function: how that is pickled."""
    return maker(function, **given)


__all__ = ["ComposedDerivative", "Part", "parts_of"]
