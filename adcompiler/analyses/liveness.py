"""Which variables of parsed code are ever read to some purpose.

The parser carries every assigned name around loops and out of branches. A name whose value nobody
reads there holds on to nothing.
"""

from __future__ import annotations

from adcompiler.ir.dataflow import Flow
from adcompiler.ir.nodes import Atom, Call, Do, Function, Let, Raise, Region, Var, operands
from adcompiler.ir.regions import ENDS, ITEM
from adcompiler.ir.remembered import remembered
from adcompiler.ir.visit import walk


@remembered
def live_variables(function: Function) -> frozenset[Var]:
    """Return the variables that what ``function`` does or returns depends on."""
    flow = Flow()
    roots: list[Atom] = list(function.body.yields)
    for statement in walk(function.body):
        match statement:
            case Let(target, rhs, _):
                flow.add(target, operands(rhs))
                if isinstance(rhs, Call):
                    roots += operands(rhs)
            case Do(rhs, _):
                roots += operands(rhs)
            case Raise(exception, cause, _):
                roots += (exception, cause)
            case Region():
                roots += statement.decides()
                for body in statement.watched():  # what it raises counts, whoever reads its value
                    roots += [
                        atom for inner in walk(body) if isinstance(inner, Let)
                        for atom in operands(inner.rhs)
                    ]
                flow.steps += [
                    (edge.target, edge.source) for edge in statement.edges()
                    if edge.how not in (ITEM, ENDS)
                ]
    return frozenset(atom for atom in flow.backward(roots) if isinstance(atom, Var))
