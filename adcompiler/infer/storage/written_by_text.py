"""Which arrays the text of a loop's body writes into: the first guess about the loop.

One step of dataflow, against what is written and back along views, items, attributes and the edges
of regions. What is written by functions that the body calls is not in its text; what is missing or
too much is found when the body is specialised on the guess.
"""

from __future__ import annotations

from adcompiler.ir.dataflow import Flow
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Do, Item, Let, Loop, Region, Var
from adcompiler.ir.operators import IN_PLACE
from adcompiler.ir.visit import walk
from adcompiler.ops.pure_calls import STORING_ITEM

METHODS = frozenset({"fill", "partition", "put", "sort"})
"""Methods of arrays that write into them."""


def is_writer(function: object) -> bool:
    """Say whether an operator writes into its first operand."""
    return function is STORING_ITEM or (function.__hash__ is not None and function in IN_PLACE)


def written_by_text(node: Loop) -> frozenset[Atom]:
    """Return the variables of which the text of a loop's body writes what they may refer to."""
    flow = Flow(zip(node.params, node.next_values(), strict=False))
    start: set[Atom] = set()
    methods: dict[Atom, Atom] = {}
    for statement in walk(node.body):
        if isinstance(statement, Region):
            flow.steps += [(edge.target, edge.source) for edge in statement.edges()]
        elif isinstance(statement, (Let, Do)):
            read: Atom | None = None
            match statement.rhs:
                case Attribute(obj, name) if isinstance(statement, Let):
                    read = obj
                    if name in METHODS:
                        methods[statement.target] = obj
                case Item(obj):
                    read = obj
                case Call(Const(function), (Var() as obj, *_)):
                    if is_writer(function):
                        start.add(obj)
                    read = obj
                case Call(func) if func in methods:
                    start.add(methods[func])
            if read is not None and isinstance(statement, Let):
                flow.add(statement.target, (read,))
    return frozenset(flow.backward(start))
