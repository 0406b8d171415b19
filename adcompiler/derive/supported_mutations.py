"""The writes that a derivative can be written for: a closed set, beside which all are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Call, Const, Origin, Rhs, Step, Update, unstar
from adcompiler.runtime import add_at, append, drop_last
from adcompiler.infer.writer import Writer


def is_call_of(function: Callable[..., Any], rhs: Rhs) -> bool:
    """Say whether a right-hand side is a call of one function."""
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is function


def known_write(s: Writer, rhs: Rhs, origin: Origin) -> Rhs:
    """Return a write as an update, or as a call of ``append`` or ``drop_last``; refuse any other.

    What is added to elements of an array is an update.
    """
    if isinstance(rhs, Update) or is_call_of(append, rhs) or is_call_of(drop_last, rhs):
        return rhs
    assert isinstance(rhs, Call)
    if is_call_of(add_at, rhs) and not rhs.kwargs:
        buffer, index, value = map(unstar, rhs.args)
        if isinstance(s.unit.type(buffer), t.Array):
            return Update(buffer, (Step("item", args=(index,)),), value, True)
    name = getattr(rhs.func.value, "__name__", "") if isinstance(rhs.func, Const) else ""
    s.reject(
        origin, f"the derivative of what `{name or 'this call'}` writes is not known",
        "write into an array, list or dict by a subscript", "unknown-writes",
    )
    return rhs


__all__ = ["is_call_of", "known_write"]
