"""The region interface and the solver: what analyses see of control flow."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import pytest

from adcompiler.analyses.single_use import reads_of
from adcompiler.ir.dataflow import Flow, fixpoint
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Handler, If, Let, Loop, Origin, Region, Try, Var, With,
)
from adcompiler.ir.regions import AGAIN, COLLECTED, ENDS, ENTERS, ITEM, LAST, LEAVES, SKIPS
from adcompiler.ir.visit import (
    blocks_of, bound_inside, defined, direct_uses, edges, is_plain_region, loops_in, renamed,
)

HERE = Origin("here.py", 1, 0, "")
A, B, C, D, E, F, G, H = map(Var, "abcdefgh")


def let(target: Var, *args: Atom) -> Let:
    return Let(target, Call(Const(operator.add), args), HERE)


def loop() -> Loop:
    """Return ``d, h = loop (c = a): for b in e: f = c + b; yield f, b, collect; until g``."""
    return Loop(
        (B,), (E,), None, (C,), (A,), Block((let(F, C, B),), (F, B, G)), (D,), HERE, (H,), True
    )


def branch(diverges: bool = False) -> If:
    return If(A, Block((), (B,)), Block((), () if diverges else (C,), diverges), (D,), HERE)


def attempt() -> Try:
    handler = Handler(E, F, Block((), (F,)))
    return Try(Block((), (A,)), (handler,), (D,), HERE)


REGIONS: list[Region] = [loop(), branch(), attempt(), With(A, B, Block((), (B,)), (D,), HERE)]


def test_values_enter_a_loop_go_round_in_it_and_leave_it() -> None:
    found = {(edge.target, edge.source, edge.how) for edge in loop().edges()}
    assert found == {
        (B, E, ITEM), (C, A, ENTERS), (C, F, AGAIN), (D, C, ENDS), (D, F, LAST), (D, A, SKIPS),
        (H, B, COLLECTED),
    }
    assert {edge.how for edge in loop().edges() if not edge.hands_on} == {ITEM, COLLECTED}
    assert loop().decides() == (E, G)


def test_nothing_leaves_an_arm_that_raises() -> None:
    assert [tuple(edge) for edge in branch().edges()] == [(D, B, LEAVES), (D, C, LEAVES)]
    assert [tuple(edge) for edge in branch(True).edges()] == [(D, B, LEAVES)]
    assert [tuple(edge) for edge in attempt().edges()] == [(D, A, LEAVES), (D, F, LEAVES)]


@pytest.mark.parametrize("region", REGIONS, ids=lambda region: type(region).__name__)
def test_a_region_is_rebuilt_of_what_it_tells(region: Region) -> None:
    blocks = region.blocks()
    assert region.with_blocks(lambda block: block).blocks() == blocks
    other = {var: Var(var.name) for var in (*region.defines(), *region.binds())}
    made = region.renamed(lambda var: other.get(var, var))
    assert made.defines() == tuple(other[var] for var in region.defines())
    assert made.binds() == tuple(other[var] for var in region.binds())
    assert made.blocks() == blocks
    read = region.with_reads(lambda atom: Const(None))
    assert [atom.value for atom in read.reads() if isinstance(atom, Const)] == [None] * len(
        region.reads())
    assert set(region.bodies()) <= set(blocks)


def test_which_blocks_may_follow_others_and_which_are_watched() -> None:
    whole, tried, context = loop(), attempt(), With(A, B, Block((), (B,)), (D,), HERE)
    assert whole.may_follow() == whole.blocks() and whole.watched() == ()
    assert tried.may_follow() == (tried.handlers[0].body,) and tried.watched() == (tried.body,)
    assert [region.may_follow() + region.watched() for region in (branch(), context)] == [(), ()]


@pytest.mark.parametrize("region", REGIONS, ids=lambda region: type(region).__name__)
def test_what_a_region_hands_on_is_replaced_by_its_slot(region: Region) -> None:
    slots = region.slots()
    assert [variables[-1] for variables in slots] == list(region.results)
    made = region.with_handed(lambda i, atom: slots[i][0])
    if isinstance(made, Loop):
        assert (made.inits, made.body.yields) == ((C,), (C, B, G))
    else:
        assert all(arm.yields == (D,) for arm in made.arms())


def test_a_read_in_any_region_is_counted() -> None:
    twice = Block((let(F, A, A),), (F,))
    context = With(E, None, twice, (D,), HERE)
    assert reads_of(Block((context,)))[A] == 2
    once = Block((let(F, A),), (F,))
    assert reads_of(Block((If(E, once, once, (D,), HERE),)))[A] == 1
    caught = Try(once, (Handler(E, None, once),), (D,), HERE)
    assert reads_of(Block((caught,)))[A] > 1  # the handler may read it again
    repeated = Loop((), (E,), None, (), (), Block((let(F, A),)), (), HERE)
    counts = reads_of(Block((repeated,)))
    assert (counts[A], counts[E]) == (2, 1)


@pytest.mark.parametrize("region", REGIONS, ids=lambda region: type(region).__name__)
def test_statements_are_asked_through_regions(region: Any) -> None:
    assert blocks_of(region) == region.blocks()
    assert defined(region) == region.defines()
    assert bound_inside(region) == region.binds()
    assert direct_uses(region) == region.reads()


def test_the_edges_of_a_block_are_those_of_all_regions_in_it() -> None:
    inner = branch()
    outer = With(A, None, Block((inner,), (D,)), (E,), HERE)
    assert [tuple(edge) for edge in edges(Block((outer,)))] == [
        (E, D, LEAVES), (D, B, LEAVES), (D, C, LEAVES),
    ]


def test_variables_of_a_copy_are_new_ones() -> None:
    block = Block((let(B, A), loop()), (D,))
    new = {var: Var(var.name) for var in (B, C, D, F, H)}
    copy = renamed(block, new, new)
    (first, second) = copy.statements
    assert isinstance(first, Let) and first.target is new[B]
    assert isinstance(second, Loop) and (second.items, second.params) == ((new[B],), (new[C],))
    assert (second.results, second.collects) == ((new[D],), (new[H],))
    assert copy.yields == (new[D],)


def test_marks_follow_all_steps_in_either_direction() -> None:
    flow = Flow([(B, A), (C, B), (D, C), (B, D), (F, E)])
    assert flow.forward([A]) == {A, B, C, D}
    assert flow.backward([C]) == {A, B, C, D}
    assert flow.forward([E]) == {E, F}
    assert flow.backward([A]) == {A}
    assert flow.forward([A], lambda atom: atom is not C) == {A, B}


def test_every_step_is_taken_once_however_deep_regions_are() -> None:
    asked: list[Atom] = []

    def admits(atom: Atom) -> bool:
        asked.append(atom)
        return True

    chain = [Var(f"v{i}") for i in range(2000)]
    flow = Flow(zip(chain[1:], chain, strict=False))
    flow.steps += itertools.pairwise(chain)
    assert len(flow.forward([chain[0]], admits)) == 2000
    assert len(asked) == 1999


def test_a_fixpoint_is_where_a_step_adds_nothing() -> None:
    found = {1}

    def step() -> bool:
        more = {2 * n for n in found if n < 10} - found
        found.update(more)
        return bool(more)

    fixpoint(step)
    assert found == {1, 2, 4, 8, 16}


def test_loops_are_found_at_any_depth() -> None:
    inner = loop()
    outer = If(A, Block((inner,)), Block(()), (), HERE)
    assert list(loops_in(Block((outer,)))) == [inner]


def test_what_is_raised_may_end_in_contexts_and_handlers_only() -> None:
    assert list(map(is_plain_region, REGIONS)) == [True, True, False, False]
    assert not is_plain_region(let(A, B))
