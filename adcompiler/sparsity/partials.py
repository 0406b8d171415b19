"""Which arguments a partial derivative varies with: the pattern of its own derivative."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from adcompiler.errors import ADError
from adcompiler.frontend.functions import lower
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Block, Function, Param
from adcompiler.products import specialise
from adcompiler.sparsity.machine import Machine
from adcompiler.sparsity.program import program_of
from adcompiler.sparsity.run import Refusal
from adcompiler.sparsity.sets import elements_of
from adcompiler.sparsity.values import NOTHING, Dependent, Relation, whole
from adcompiler.transforms.unit import Unit


def inputs_of(partial: Callable[..., Any], count: int) -> set[int] | None:
    """Return the arguments of which a partial derivative has a derivative; None if not known.

    The result of the function, which a partial derivative may take as well, varies with all of
    its arguments.
    """
    function: Any = partial
    parameters = len(inspect.signature(partial).parameters)
    try:
        unit = Unit(root=partial)
        typed = specialise(
            unit, lower(function), partial, [t.FLOAT] * parameters, wrt=tuple(range(parameters))
        )
        if unit.findings or unit.captured:
            return None
        params = tuple(Param(var, 1) for var in typed.params)
        body = Block(typed.statements, (typed.value,))
        program = program_of(Function("partial", params, body, typed.origin), unit)
        sets = [frozenset([i]) if i < count else frozenset(range(count)) for i in range(parameters)]
        inputs = [Dependent((), float, Relation(one, None)) for one in sets]
        (result,) = program.entry(Machine(unit, local=False, second=False), *inputs)
    except (ADError, Refusal, TypeError, ValueError, ArithmeticError):
        return None
    relation = result.first if isinstance(result, Dependent) else NOTHING
    return set(elements_of(whole(relation)).tolist())
