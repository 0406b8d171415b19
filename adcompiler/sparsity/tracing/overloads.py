"""Source text of overloads for tracers, from classifications: one-to-one, two-to-one, one-to-two.

For each function four overloads are written: for gradient tracers and for Hessian tracers, each
without a value (global, with constants) and beside one (local, with calls of predicates). Executing
the text registers them, and defines them by name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

from adcompiler.sparsity.tracing import predicates
from adcompiler.sparsity.tracing.predicates import GlobalPredicate

TRACERS = "adcompiler.tracers"

FIRST_1_TO_1 = ("is_der1_zero",)
BOTH_1_TO_1 = ("is_der1_zero", "is_der2_zero")
FIRST_2_TO_1 = ("is_der1_arg1_zero", "is_der1_arg2_zero")
BOTH_2_TO_1 = (
    "is_der1_arg1_zero", "is_der2_arg1_zero", "is_der1_arg2_zero", "is_der2_arg2_zero",
    "is_der_cross_zero",
)
FIRST_1_TO_2 = ("is_der1_out1_zero", "is_der1_out2_zero")
BOTH_1_TO_2 = (
    "is_der1_out1_zero", "is_der2_out1_zero", "is_der1_out2_zero", "is_der2_out2_zero")


def generate_code_1_to_1(module: str | ModuleType, functions: Iterable[Callable[..., Any]]) -> str:
    """Return the text of overloads of functions of one number that ``module`` has.

    ``functions`` is one or a sequence. Raises ValueError for a function that is not the module's
    under its own name, TypeError for one that is not classified.
    """
    return generated(module, functions, "1_to_1", FIRST_1_TO_1, BOTH_1_TO_1)


def generate_code_2_to_1(module: str | ModuleType, functions: Iterable[Callable[..., Any]]) -> str:
    """Return the text of overloads of functions of two numbers; see ``generate_code_1_to_1``.

    They are for two tracers, and for one and a number.
    """
    return generated(module, functions, "2_to_1", FIRST_2_TO_1, BOTH_2_TO_1)


def generate_code_2_to_1_typed(
    module: str | ModuleType, functions: Iterable[Callable[..., Any]], other: type
) -> str:
    """Return the text of overloads of functions of a tracer and an ``other``, in either order."""
    return generated(module, functions, "2_to_1", FIRST_2_TO_1, BOTH_2_TO_1, other)


def generate_code_1_to_2(module: str | ModuleType, functions: Iterable[Callable[..., Any]]) -> str:
    """Return the text of overloads of functions with two results; see ``generate_code_1_to_1``."""
    return generated(module, functions, "1_to_2", FIRST_1_TO_2, BOTH_1_TO_2)


def generated(
    module: str | ModuleType, functions: Iterable[Callable[..., Any]], kind: str,
    first: Sequence[str], both: Sequence[str], other: type | None = None,
) -> str:
    """Return the text of four overloads of each function."""
    name = module if isinstance(module, str) else module.__name__
    imported = {TRACERS, name}
    if other is not None and other.__module__ != "builtins":
        imported.add(other.__module__)
    parts = ["\n".join(f"import {each}" for each in sorted(imported))]
    for function in functions if isinstance(functions, (list, tuple)) else (functions,):
        own = function.__name__
        if getattr(importlib.import_module(name), own, None) is not function:
            raise ValueError(f"{own} of the module {name} is not this function")
        for order, asked in (("gradient", first), ("hessian", both)):
            zeros = [general(one)(function) for one in asked]
            parts.append(without_value(name, own, kind, order, zeros, other))
            parts.append(beside_value(name, own, kind, order, asked, other))
    return "\n\n\n".join(parts) + "\n"


def general(name: str) -> GlobalPredicate:
    """Return the global predicate that a name without ``_global`` means."""
    found: GlobalPredicate = getattr(predicates, f"{name}_global")
    return found


def head(
    module: str, own: str, kind: str, order: str, other: type | None, dual: bool
) -> str:
    """Return the decorator and the first line of an overload."""
    what = f"{module}.{own}, {TRACERS}.{order.title()}Tracer"
    what += ", dual=True" * dual
    suffix = ""
    if other is not None:
        home = "" if other.__module__ == "builtins" else f"{other.__module__}."
        what += f", other={home}{other.__qualname__}"
        suffix = f"_{other.__name__}"
    parameters = "x, y" if kind == "2_to_1" else "d" if dual else "t"
    named = f"{own}_{order}_{'dual' if dual else 'tracer'}{suffix}"
    return f"@{TRACERS}.overload({what})\ndef {named}({parameters}):"


def without_value(
    module: str, own: str, kind: str, order: str, zeros: Sequence[bool], other: type | None
) -> str:
    """Return the overload for tracers, which stand for all values."""
    tracers = f"{TRACERS}.tracer(x), {TRACERS}.tracer(y)" if kind == "2_to_1" else "t"
    constants = ", ".join(map(str, zeros))
    return (
        f"{head(module, own, kind, order, other, False)}\n"
        f"    return {TRACERS}.{order}_tracer_{kind}({tracers}, {constants})"
    )


def beside_value(
    module: str, own: str, kind: str, order: str, asked: Sequence[str], other: type | None
) -> str:
    """Return the overload for dual numbers, which have a value."""
    if kind == "2_to_1":
        values, tracers = "px, py", "tx, ty"
        lines = [f"{values} = {TRACERS}.primal(x), {TRACERS}.primal(y)",
                 f"{tracers} = {TRACERS}.tracer(x), {TRACERS}.tracer(y)"]
    else:
        values, tracers = "x", "t"
        lines = [f"x, t = {TRACERS}.primal(d), {TRACERS}.tracer(d)"]
    lines.append(f"p_out = {module}.{own}({values})")
    lines += [f"{one} = {TRACERS}.{one}_local({module}.{own}, {values})" for one in asked]
    lines.append(f"t_out = {TRACERS}.{order}_tracer_{kind}({tracers}, {', '.join(asked)})")
    if kind == "1_to_2":
        duals = (f"{TRACERS}.Dual(p_out[{k}], t_out[{k}])" for k in (0, 1))
        lines.append(f"return {', '.join(duals)}")
    else:
        lines.append(f"return {TRACERS}.Dual(p_out, t_out)")
    return head(module, own, kind, order, other, True) + "".join(f"\n    {it}" for it in lines)
