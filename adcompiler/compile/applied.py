"""A derivative as a function of its own: the user's function with an operator applied to it.

The mode ``jacobian`` compiles what a program would write that calls ``jacobian(f)``, as such a
program is compiled: see ``nested``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adcompiler.errors import ArgumentsError
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Block, Call, Const, Function, Let, Param, Star, Var
from adcompiler.typed.derivatives import maker_of
from adcompiler.typed.operators import OPERATORS

STAR, NAMED, STARS = 2, 3, 4
"""Kinds of parameters: ``*args``, those given by keyword, ``**kwargs``."""


def applied(
    function: Function, python_function: Any, operator: str, wrt: Sequence[int],
    parts: Sequence[tuple[Any, ...]], single: bool,
) -> Function:
    """Return a function that calls ``operator`` of ``function``, with the same parameters.

    Operators that are given a direction take it in a last parameter.
    """
    origin = function.origin
    params = tuple(Param(Var(p.var.name), p.kind, p.has_default) for p in function.params)
    args: list[Atom | Star] = []
    named: list[tuple[str | None, Atom]] = []
    for param in params:
        if param.kind in (NAMED, STARS):
            named.append((param.var.name if param.kind == NAMED else None, param.var))
        else:
            args.append(Star(param.var) if param.kind == STAR else param.var)
    primal, value = Const(python_function), Var("value")
    name = f"{function.name}_{operator.replace('_', '')}"
    if OPERATORS[operator].at_once:
        if tuple(wrt) != (0,) or any(parts) or not single or params[0].kind in (NAMED, STARS):
            raise ArgumentsError(f"{operator} is with respect to the first argument, a whole one")
        tangent = Param(Var(f"{params[0].var.name}_dot"), 1)
        call = Call(Const(maker_of(operator)), (primal, args[0], tangent.var, *args[1:]),
                    tuple(named))
        body = Block((Let(value, call, origin),), (value,))
        return Function(name, (*params, tangent), body, origin)
    wanted = tuple(
        ".".join((params[i].var.name, *map(str, steps))) if steps else i
        for i, steps in zip(wrt, parts or [()] * len(wrt), strict=True)
    )
    made = Var(operator, True)
    argnums = Const(wanted[0] if single else wanted)
    body = Block((
        Let(made, Call(Const(maker_of(operator)), (primal, argnums)), origin),
        Let(value, Call(made, tuple(args), tuple(named)), origin),
    ), (value,))
    return Function(name, params, body, origin)


def types_of(
    operator: str, types: Sequence[t.Type], wrt: Sequence[int]
) -> tuple[t.Type, ...]:
    """Return the types of the parameters of what ``applied`` gives."""
    return (*types, *(types[i] for i in wrt if OPERATORS[operator].at_once))
