"""Derivatives that are made of several calls of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adcompiler.api.derivative import Code, Derivative, P, R_co
from adcompiler.api.emitted import EmittedDerivative
from adcompiler.dispatch.explain import Explanation
from adcompiler.dispatch.source_text import SourceText
from adcompiler.errors import ADError
from adcompiler.record.entry import rewritten_text
from adcompiler.typed.derivatives import Wanted

Called = tuple[EmittedDerivative[..., Any], tuple[Any, ...], dict[str, Any]]
"""A derivative of which code is emitted, and the arguments that it is called with."""


class ComposedDerivative(Derivative[P, R_co]):
    """A derivative that is computed by calls of ``parts``, derivatives of which code is emitted.

    Compiled code that calls it does not run it but has the derivative written in place, as
    ``options`` tell which. ``maker`` made it, with ``given`` beside the function. Its code is that
    of the part that ran last, at first of the first one.
    """

    options: Wanted

    def __init__(
        self, function: Callable[..., Any], options: Wanted, maker: Callable[..., Any],
        given: dict[str, Any], *parts: EmittedDerivative[..., Any],
    ) -> None:
        super().__init__(function, options)
        self._made = maker, given
        self.ran = parts[0]
        self.__signature__ = parts[0].__signature__

    def made_of(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        maker, given = self._made
        return made_again, (maker, self.primal, given)

    def called(self, *args: Any, **kwargs: Any) -> Called:
        """Return the part that is called at these arguments, and what with."""
        return self.ran, args, kwargs

    def code(self, *args: Any, **kwargs: Any) -> Code:
        part, given, named = self.called(*args, **kwargs)
        return part.code(*given, **named)

    def may_record(self, error: ADError) -> bool:
        """Say whether calls that the compiler refuses with this error are recorded."""
        return self.ran.may_record(error)

    def why_recorded(self, *args: Any, **kwargs: Any) -> str | None:
        part, given, named = self.called(*args, **kwargs)
        return part.why_recorded(*given, **named)

    def why_last_recorded(self) -> str | None:
        """Return why calls are recorded; None if any ran compiled code, or none was made."""
        return self.ran.why_last_recorded()

    def __repr__(self) -> str:
        said = super().__repr__()
        return said if self.why_last_recorded() is None else f"{said[:-1]}, recorded>"

    @property
    def source(self) -> SourceText:
        """The text of the emitted module, or of the function as it is recorded."""
        if self.why_last_recorded() is None:
            return super().source
        return SourceText(rewritten_text(self.ran.specialisations))

    def explain(self, *args: P.args, **kwargs: P.kwargs) -> Explanation:
        part, given, named = self.called(*args, **kwargs)
        return part.explain(*given, **named)

    def running(self) -> Derivative[..., Any]:
        return self.ran


def made_again(
    maker: Callable[..., Any], function: Callable[..., Any], given: dict[str, Any]
) -> Any:
    """Return what an operator makes of a function: how that is pickled."""
    return maker(function, **given)


__all__ = ["Called", "ComposedDerivative"]
