"""What is guessed about a loop before it is written, by its text and by what was seen before."""

from __future__ import annotations


from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Block, Call, Const, Let, Loop, Region, Statement, Var
from adcompiler.ir.operators import IN_PLACE
from adcompiler.support.structs import dataclass


@dataclass(frozen=True, slots=True)
class Iteration:
    """One specialised iteration; ``yields`` is None if it always raises."""

    items: tuple[Var, ...]
    params: list[Atom]
    condition: Block | None
    out: list[Statement]
    yields: tuple[Atom, ...] | None


@dataclass(frozen=True, slots=True)
class Seen:
    """What a loop was found to write when it was written last: the first guess of another time.

    A loop inside of another is written once for each guess about the outer one. Without this it
    would begin anew each time, and the trials of loops inside of one another would multiply.
    ``moves`` lists for variables those whose first objects they may refer to later.
    """

    same: set[int]
    roots: list[Var]
    content: set[Var]
    rebound: dict[Var, int]
    grown: dict[Var, set[int]]
    own_params: dict[int, bool]
    copied: set[int]
    never: set[int]
    shared_params: set[tuple[int, int]]
    walked: set[int]
    moves: dict[int, list[int]]
    written: set[int]


def is_reference(type_: t.Type) -> bool:
    """Say whether in-place operators write into values of this type."""
    return isinstance(type_, (t.Array, t.List, t.Dict, t.Object, t.Unknown))


def rebinds_itself(node: Loop, i: int) -> bool:
    """Say whether the text of a loop's body may leave a variable referring to what it did."""
    if i >= len(node.next_values()):
        return False
    return leads_back(node.next_values()[i], node.params[i], node.body)


def leads_back(atom: Atom, param: Var, body: Block) -> bool:
    if atom is param:
        return True
    for statement in body.statements:
        match statement:
            case Let(target, Call(kwargs=kwargs)) if target is atom and "out" in dict(kwargs):
                return leads_back(dict(kwargs)["out"], param, body)
            case Let(target, Call(Const(function), (old, _)), _) if target is atom:
                return function in IN_PLACE and leads_back(old, param, body)  # type: ignore[arg-type]
            case Loop(results=results) if atom in results:
                k = results.index(atom)
                return leads_back(statement.inits[k], param, body) and leads_back(
                    statement.next_values()[k], statement.params[k], statement.body
                )
            case Region() if atom in statement.results:
                k = statement.results.index(atom)
                return all(
                    arm.diverges or leads_back(
                        arm.yields[k], param, Block((*body.statements, *arm.statements)))
                    for arm in statement.arms()
                )
    return False
