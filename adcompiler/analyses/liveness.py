"""Which variables of parsed code are ever read to some purpose.

The parser carries every assigned name around loops and out of branches. A name whose value nobody
reads there holds on to nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from adcompiler.ir.nodes import (
    Atom, Call, Do, Function, If, Let, Loop, Raise, Try, Var, With, operands,
)
from adcompiler.ir.visit import arms_of, direct_uses, walk


@functools.lru_cache(maxsize=512)
def live_variables(function: Function) -> frozenset[Var]:
    """Return the variables that what ``function`` does or returns depends on."""
    needs: dict[Var, list[Atom]] = {}
    waiting: list[Atom] = list(function.body.yields)

    def need(var: Var, atoms: Iterable[Atom]) -> None:
        needs.setdefault(var, []).extend(atoms)

    for statement in walk(function.body):
        match statement:
            case Let(target, rhs, _):
                need(target, operands(rhs))
                if isinstance(rhs, Call):
                    waiting += operands(rhs)
            case Do(rhs, _):
                waiting += operands(rhs)
            case Raise(exception, cause, _):
                waiting += (exception, cause)
            case If(condition, then, orelse, results, _):
                waiting.append(condition)
                for arm in (then, orelse):
                    for result, atom in zip(results, arm.yields, strict=False):
                        need(result, (atom,))
            case With() | Try():
                waiting += direct_uses(statement)
                if isinstance(statement, Try):  # what it raises counts, whoever reads its value
                    waiting += [
                        atom for inner in walk(statement.body) if isinstance(inner, Let)
                        for atom in operands(inner.rhs)
                    ]
                for arm in arms_of(statement):
                    for result, atom in zip(statement.results, arm.yields, strict=False):
                        need(result, (atom,))
            case Loop():
                waiting += statement.iterables
                if statement.condition is not None:
                    waiting += statement.condition.yields
                stop = statement.stop()
                if stop is not None:
                    waiting.append(stop)
                for param, init, following, result in zip(
                    statement.params, statement.inits, statement.next_values(),
                    statement.results, strict=False,
                ):
                    need(param, (init, following))
                    need(result, (init, following))
                for collect, atom in zip(statement.collects, statement.collected(), strict=False):
                    need(collect, (atom,))
    live: set[Var] = set()
    while waiting:
        atom = waiting.pop()
        if isinstance(atom, Var) and atom not in live:
            live.add(atom)
            waiting += needs.get(atom, ())
    return frozenset(live)
