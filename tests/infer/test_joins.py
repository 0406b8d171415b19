"""Variables for values from several places, and flags of those that may have none."""

from __future__ import annotations

import operator
from typing import Any

import pytest

from adcompiler.ir import types as t
from adcompiler.ir.nodes import UNDEF, Atom, Call, Const, If, Let, Origin, Statement, Var
from adcompiler.infer.joins import Joins, same
from adcompiler.typed.unit import Unit


def value_of(atom: Atom) -> Any:
    """Return the value of a constant."""
    assert isinstance(atom, Const)
    return atom.value


def test_a_known_value_or_none_is_carried_as_a_flag() -> None:
    unit = Unit()
    joins, like = Joins(unit), Var("f")
    flag = joins.bound_flag(like, (Const(len), UNDEF))
    assert flag is not None and value_of(unit.if_bound[flag]) is len and joins.is_unsure(flag)
    assert value_of(joins.flagged(Const(len))) is True and joins.flagged(UNDEF) is UNDEF
    assert value_of(joins.flagged(flag, False)) is len
    out: list[Statement] = []
    found = joins.unflagged(flag, like, out, Origin("f.py", 1, 0, ""))
    test, branch = out
    assert isinstance(test, Let) and isinstance(test.rhs, Call)
    assert value_of(test.rhs.func) is operator.is_ and test.rhs.args[0] is flag
    assert isinstance(branch, If) and branch.results == (found,)
    assert value_of(branch.then.yields[0]) is len and branch.orelse.yields == (UNDEF,)


@pytest.mark.parametrize("values", [
    (Const(len), Const(len)), (Const(len), Const(max), UNDEF), (UNDEF,),
])
def test_no_flag_of_what_is_bound_everywhere_or_not_known(values: tuple[Atom, ...]) -> None:
    assert Joins(Unit()).bound_flag(Var("f"), values) is None


def test_a_joined_variable_has_the_shape_that_all_values_have() -> None:
    unit = Unit()
    a, b, c = Var("a"), Var("b"), Var("c")
    unit.types.update(dict.fromkeys((a, b, c), t.Array("float64", 1)))
    unit.shapes.update({a: unit.shape(a), b: unit.shape(a), c: unit.shape(c)})
    joins = Joins(unit)
    alike, other = (joins.joined(Var("y"), t.Array("float64", 1), False) for _ in range(2))
    joins.has_shape_of_arms(alike, (a, b))
    joins.has_shape_of_arms(other, (a, c))
    assert unit.shapes[alike] == unit.shape(a) and other not in unit.shapes


@pytest.mark.parametrize(("one", "other", "wanted"), [
    (Const(1), Const(1), True), (Const(1), Const(1.0), False), (Const(0.0), Const(-0.0), False),
    (Const(float("nan")), Const(float("nan")), True), (Const(len), Const(len), True),
])
def test_the_same_constants(one: Const, other: Const, wanted: bool) -> None:
    assert same(one, other) is wanted
