"""Which variables may depend on the inputs' values, so that only they need to be followed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adcompiler.ir.nodes import (
    Block, Call, Const, If, Let, Loop, Star, Statement, Try, Var, With, operands,
)
from adcompiler.runtime import noted_value, read_global
from adcompiler.sparsity.interpreter.run import is_random
from adcompiler.typed.unit import Callee


def tainted_variables(block: Block, inputs: Iterable[Var]) -> frozenset[Var]:
    """Return the variables that may depend on the values of ``inputs``, or on random numbers."""
    tainted = set(inputs)
    before = -1
    while before != len(tainted):
        before = len(tainted)
        _mark(block, tainted)
    return frozenset(tainted)


def _mark(block: Block, tainted: set[Var]) -> None:
    for statement in block.statements:
        _mark_statement(statement, tainted)


def _mark_statement(statement: Statement, tainted: set[Var]) -> None:
    def reads(atoms: Iterable[Any]) -> bool:
        return any((a.atom if isinstance(a, Star) else a) in tainted for a in atoms)

    match statement:
        case Let(target, rhs):
            if reads(operands(rhs)) or (isinstance(rhs, Call) and is_source(rhs)):
                tainted.add(target)
        case If(condition, then, orelse, results):
            for arm in (then, orelse):
                _mark(arm, tainted)
            for k, result in enumerate(results):
                yields = [arm.yields[k] for arm in (then, orelse) if not arm.diverges]
                if reads([condition]) or reads(yields):
                    tainted.add(result)
        case Loop():
            _mark_loop(statement, tainted, reads)
        case With(_, target, body, results):
            _mark(body, tainted)
            if not body.diverges:
                tainted.update(
                    r for r, y in zip(results, body.yields, strict=True) if reads([y]))
        case Try(body, handlers, results):
            for arm in (body, *(handler.body for handler in handlers)):
                _mark(arm, tainted)
            tainted.update(results)
            tainted.update(h.name for h in handlers if h.name is not None)


def _mark_loop(node: Loop, tainted: set[Var], reads: Any) -> None:
    if node.condition is not None:
        _mark(node.condition, tainted)
    over = reads(node.iterables)
    if over:
        tainted.update(node.items)
    stops = node.stops and not node.body.diverges
    uncertain = over or (stops and reads([node.stop()]))
    if node.condition is not None and not node.condition.diverges:
        uncertain = uncertain or reads(node.condition.yields)
    _mark(node.body, tainted)
    nexts = node.next_values() if not node.body.diverges else node.inits
    for param, init, following, result in zip(
        node.params, node.inits, nexts, node.results, strict=True
    ):
        if uncertain or reads([init, following]):
            tainted.update((param, result))
    collected = node.collected() if not node.body.diverges else ()
    for each, atom in zip(node.collects, collected, strict=False):
        if uncertain or reads([atom]):
            tainted.add(each)
    if uncertain:
        tainted.update(node.items)


def is_source(rhs: Call) -> bool:
    """Say whether a call gives what is not known, whatever its arguments."""
    if not isinstance(rhs.func, Const):
        return True
    function = rhs.func.value
    return isinstance(function, Callee) or is_random(function) or (
        function is noted_value or function is read_global
    )
