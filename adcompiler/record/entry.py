"""How dispatch comes to a recording; what records is imported when a first one is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adcompiler.errors import ADError, refused_twice
from adcompiler.typed.derivatives import is_derivative

MODES = frozenset({"grad", "value_and_grad", "vjp", "forward", "linearize"})
"""The modes of the compiler that a recording serves."""

if TYPE_CHECKING:
    from adcompiler.dispatch import Specialisations
    from adcompiler.dispatch.explain import Explanation


def explained(s: Specialisations, values: tuple[object, ...], why: str) -> Explanation:
    """Return the explanation of a recorded derivative."""
    from adcompiler.record.reporting import explained

    return explained(s, values, why)


def tape_text(s: Specialisations, values: tuple[object, ...]) -> str:
    """Return the operations of a run, one in each line."""
    from adcompiler.record.reporting import tape_text

    return tape_text(s, values)


def rewritten_text(s: Specialisations) -> str:
    """Return the function as it runs when it is recorded."""
    from adcompiler.record.reporting import rewritten_text

    return rewritten_text(s.target.function)


def recorded(
    s: Specialisations, values: tuple[object, ...], instead_of: ADError | None = None
) -> Any:
    """Return what the derivative gives for the values of all parameters, by a recording.

    It is ``instead_of`` a refusal of the compiler, which is raised if a recording is refused too.
    """
    from adcompiler.record.modes import Push

    try:
        found = by_recording(s, values)
    except ADError as error:
        raise error if instead_of is None else refused_twice(instead_of, error) from None
    push = getattr(found, "push", found)
    if isinstance(push, Push):  # which runs when it is called
        push.instead_of = instead_of
    return found


def by_recording(s: Specialisations, values: tuple[object, ...]) -> Any:
    """Return what the derivative gives for the values of all parameters."""
    from adcompiler.record.modes import derivative, pushed_gradient

    options = s.options
    wanted = tuple(zip(s.wrt, s.parts, strict=True))
    if is_derivative(s.function):
        inner: Any = s.function
        while not hasattr(inner, "specialisations"):
            inner = inner.running()
        return pushed_gradient(
            s.function, inner.specialisations, options.mode, values, wanted, options.batched)
    return derivative(
        options.mode, s.target.function, values, wanted, s.parameters, s.single, options.has_aux,
        options.batched)
