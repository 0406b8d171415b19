"""Which variables may depend on the inputs' values, so that only they need to be followed."""

from __future__ import annotations

from collections.abc import Iterable

from adcompiler.ir.dataflow import Flow
from adcompiler.ir.nodes import Atom, Block, Call, Const, Let, Region, Var, With, operands
from adcompiler.ir.visit import walk
from adcompiler.runtime import noted_value, read_global
from adcompiler.sparsity.interpreter.table import may_vary
from adcompiler.typed.callee import Callee


def tainted_variables(block: Block, inputs: Iterable[Var]) -> frozenset[Var]:
    """Return the variables that may depend on the values of ``inputs``, or on random numbers."""
    flow = Flow()
    start: list[Atom] = list(inputs)
    for statement in walk(block):
        match statement:
            case Let(target, rhs):
                flow.add(target, operands(rhs))
                if isinstance(rhs, Call) and is_source(rhs):
                    start.append(target)
            case Region() if statement.watched():  # nobody knows how far it came
                start += (*statement.results, *statement.binds())
            case Region():
                flow.steps += [edge[:2] for edge in statement.edges()]
                if not isinstance(statement, With):  # it runs its block, whatever it is given
                    for var in (*statement.binds(), *statement.defines()):
                        flow.add(var, statement.decides())
    return frozenset(atom for atom in flow.forward(start) if isinstance(atom, Var))


def is_source(rhs: Call) -> bool:
    """Say whether a call gives what is not known, whatever its arguments."""
    if not isinstance(rhs.func, Const):
        return True
    function = rhs.func.value
    return isinstance(function, Callee) or may_vary(function) or (
        function is noted_value or function is read_global
    )
