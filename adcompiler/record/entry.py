"""How dispatch comes to a recording; what records is imported when a first one is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adcompiler.dispatch import Specialisations


def recorded(s: Specialisations, values: tuple[Any, ...]) -> Any:
    """Return what the derivative gives for the values of all parameters, by a recording."""
    from adcompiler.record.modes import derivative

    options = s.options
    wanted = tuple(zip(s.wrt, s.parts, strict=True))
    return derivative(
        options.mode, s.target.function, values, wanted, s.parameters, s.single, options.has_aux,
        options.batched)
