"""Variables that a function may read more than once: no names for iterators, which run once."""

from __future__ import annotations

from collections import Counter

from adcompiler.ir.nodes import Atom, Block, Closure, Function, Let, Region, Statement, Var
from adcompiler.ir.remembered import remembered
from adcompiler.ir.visit import definitions, direct_uses


@remembered
def reused_variables(function: Function) -> frozenset[Var]:
    """Return the variables that one run of ``function`` may read more than once."""
    counts = reads_of(function.body)
    return frozenset(v for v, n in counts.items() if n > 1 and isinstance(v, Var))


def reads_of(block: Block) -> Counter[Atom]:
    """Return how often one run of ``block`` may read each variable; 2 stands for more."""
    counts: Counter[Atom] = Counter()
    for statement in block.statements:
        counts.update(direct_uses(statement))
        counts.update(inner_reads(statement))
    counts.update(block.yields)
    return Counter({atom: n for atom, n in counts.items() if isinstance(atom, Var)})


def inner_reads(statement: Statement) -> Counter[Atom]:
    """Return the reads in the blocks of a statement, and of a function that it makes."""
    match statement:
        case Let(rhs=Closure(_, captures, _, _)):
            return Counter(captures)
        case Region():
            reads: Counter[Atom] = Counter()
            later = statement.may_follow()
            for block in statement.blocks():
                if not later:  # one of them runs
                    reads |= reads_of(block)
                    continue
                inside = definitions(block) | set(statement.binds())
                counts = reads_of(block)
                reads += counts
                if block in later:
                    reads += Counter({a: n for a, n in counts.items() if a not in inside})
            return reads
    return Counter()
