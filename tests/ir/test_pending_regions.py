"""Regions of the forward pass that are still asked to hand on more."""

from __future__ import annotations

import operator

import pytest

from adcompiler.derive.reverse.open_regions import (
    PendingArms, finish, region_variables, top_level,
)
from adcompiler.ir.nodes import (
    NONE, Atom, Block, Call, Const, Handler, If, Let, Origin, Try, Var, With,
)

HERE = Origin("here.py", 1, 0, "")
A, B, C, D, E, SAVED, NEW = map(Var, ("a", "b", "c", "d", "e", "saved", "new"))


def let(target: Var, *args: Atom) -> Let:
    return Let(target, Call(Const(operator.add), args), HERE)


NODES: list[If | With | Try] = [
    If(A, Block((let(B, A),), (B,)), Block((let(C, A),), (C,)), (D,), HERE),
    Try(Block((let(B, A),), (B,)), (Handler(A, E, Block((let(C, A),), (C,))),), (D,), HERE),
]


@pytest.mark.parametrize("node", NODES, ids=["if", "try"])
def test_one_arm_is_asked_for_more_and_the_others_yield_nothing(node: If | With | Try) -> None:
    arms = node.arms()
    pending = PendingArms(
        node, {A: NEW}, NONE, [list(arm.statements) for arm in arms],
        [list(arm.yields) for arm in arms], list(node.results), [1, 2],
    )
    assert list(top_level([pending])) == [D]
    assert region_variables(pending.arms[0], arms[0]) == {B}
    pending.results.append(SAVED)
    pending.yields[0].append(B)
    pending.yields[1].append(pending.nothing)
    (found,) = finish([pending])
    assert type(found) is type(node) and found.results == (D, SAVED)
    assert found.reads() == (NEW,)
    assert [arm.yields for arm in found.arms()] == [(B, B), (C, NONE)]
    assert [arm.statements for arm in found.arms()] == [arm.statements for arm in arms]


def test_a_context_keeps_what_it_binds() -> None:
    node = With(A, E, Block((let(B, E),), (B,)), (D,), HERE)
    pending = PendingArms(node, {}, NONE, [[let(C, E), *node.body.statements]], [[C]], [D], [1])
    (found,) = finish([pending])
    assert isinstance(found, With) and found.target is E and found.context is A
    assert found.body.yields == (C,) and len(found.body.statements) == 2
