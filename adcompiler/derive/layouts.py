"""Results of rules laid out in memory as the function that is called lays them out.

A rule may compute the value in its own way, in an array of another layout. Where the layout is read
the value is that of the call itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from adcompiler.analyses.storage import is_mutable
from adcompiler.derive.attributes import called_function
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Call, Closure, Const, Origin, Rhs, Var, operands, substitute, unstar,
)
from adcompiler.ops.registry import REGISTRY
from adcompiler.ops.rules import Rule
from adcompiler.infer.inference import Inference
from adcompiler.infer.storage.memory_order import refuse_layout


def as_called(
    s: Inference, rule: Rule, target: Var, rhs: Rhs, result: Atom, env: Mapping[Var, Atom],
    origin: Origin,
) -> Atom:
    """Return the result of a rule in place of ``rhs``, as laid out by the call itself if need be.
    """
    if target not in s.unit.layouts.read or not is_mutable(s.unit.type(result)):
        return result
    partials = rule.definition is None and rule.forward is None
    if not partials and not is_same_call(s, s.unit.definition(result), rhs, env):
        if may_not_run_twice(s, rhs, rule):
            refuse_layout(s, origin, getattr(rule.function, "__name__", target.name))
            return result
        type_ = s.unit.type(target)
        known = s.unit.type(result) if isinstance(type_, t.Unknown) else type_
        plain = substitute(rhs, env)
        result = s.let(plain, known, target.name, origin, target.temporary)
    if isinstance(result, Var):
        s.unit.layouts.read.add(result)
    return result


def is_same_call(
    s: Inference, made: Rhs | None, rhs: Rhs, env: Mapping[Var, Atom]
) -> bool:
    """Say whether a rule has made the call ``rhs``, with no more arguments but constants."""
    if not isinstance(made, Call) or not isinstance(rhs, Call):
        return made == substitute(rhs, env)
    (function, args), (other, given) = called_function(s, made), called_function(s, rhs)
    if REGISTRY.resolve(function) is not REGISTRY.resolve(other):
        return False
    wanted = [
        env.get(atom, atom) if isinstance(atom, Var) else atom
        for atom in (*map(unstar, given), *dict(rhs.kwargs).values())
    ]
    named, names = dict(made.kwargs), list(dict(rhs.kwargs))
    first = list(map(unstar, args))
    found = [*first[: len(given)], *map(named.get, names)]
    more = (*first[len(given):], *(v for key, v in named.items() if key not in names))
    return len(found) == len(wanted) and all(
        one is two or (
            isinstance(one, Const) and isinstance(two, Const)
            and type(one.value) is type(two.value) and repr(one.value) == repr(two.value)
        ) for one, two in zip(found, wanted, strict=True)
    ) and all(isinstance(atom, Const) for atom in more)


def may_not_run_twice(s: Inference, rhs: Rhs, rule: Rule) -> bool:
    """Say whether a call may do more than give a value, or runs functions that it is given."""
    return not REGISTRY.facts(rule.function).is_pure or any(
        isinstance(s.unit.type(atom), t.FunctionType) or isinstance(
            s.unit.definition(atom), Closure)
        for atom in operands(rhs)[1:]
    )
