"""Derivatives as values of the program: which functions make them, and what is asked of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adcompiler.ir import types as t
from adcompiler.runtime.functionals import gradient_of, jacobian_of, pulled, pushed
from adcompiler.support.structs import dataclass
from adcompiler.typed.options import Argnums as Argnums
from adcompiler.typed.options import Asked

MAKERS: dict[Any, str] = {
    gradient_of: "grad", jacobian_of: "jacobian", pulled: "vjp", pushed: "forward",
}
"""The functions that make a derivative of a function, with its mode; filled where they are."""

ONLY_OUTSIDE: dict[Any, str] = {}
"""Makers of derivatives that compiled code cannot call, each with what can be called instead."""


@dataclass(frozen=True)
class Wanted(Asked):
    """A derivative that the code being compiled asks for.

    ``options`` are those that are not the default, by name.
    """

    options: tuple[tuple[str, Any], ...] = ()

    def option(self, name: str, default: Any = None) -> Any:
        """Return one of the other options."""
        return dict(self.options).get(name, default)

    @property
    def name(self) -> str:
        """What types and messages call it."""
        return self.mode


def maker_of(mode: str) -> Any:
    """Return a function that makes derivatives of a mode."""
    return next(maker for maker, made in MAKERS.items() if made == mode)


def is_derivative(value: Callable[..., Any]) -> bool:
    """Say whether a live value is a function's derivative."""
    try:  # often asked: no decorator around it
        return getattr(type(value), "is_derivative", False) is True
    except Exception:  # a class of somebody else's may raise anything
        return False


def holds_floats(type_: t.Type) -> bool:
    """Say whether values of a type are, or hold, numbers that are no integers."""
    match type_:
        case t.Scalar(kind):
            return kind in ("float", "complex")
        case t.Array():
            return type_.kind in ("float", "complex")
        case t.Tuple(items) | t.Dict(_, items):
            return any(map(holds_floats, items))
        case t.List(item):
            return holds_floats(item)
        case t.Object(_, fields):
            return any(holds_floats(one) for _, one in fields)
    return isinstance(type_, t.Unknown)
