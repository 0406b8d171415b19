"""Storage that is made after a guard, ``if ...: raise``: what follows is not in the branch."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from adcompiler import grad, hessian, value_and_grad
from adcompiler.analyses.stale import stale_reads
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Block, Call, Const, If, Let, Loop, Origin, Step, Update, Var
from adcompiler.runtime import append


class Table:
    def __init__(self, y):
        if y[0] > 90.0:
            raise ValueError("no")
        self.b = []
        for i in range(2):
            self.b.append(y[i] * 2.0)

    def at(self, s):
        if s < self.b[0] - 100.0:
            return None
        return self.b[1]

    def second(self, s):
        if s > 90.0:
            raise ValueError("no")
        return self.b[1]


class Otherwise(Table):
    def __init__(self, y):
        if y[0] < 90.0:
            self.b = []
            for i in range(2):
                self.b.append(y[i] * 2.0)
        else:
            raise ValueError("no")


class Guarded(Table):
    def __init__(self, y):
        if y[0] > 90.0:
            raise ValueError("no")
        if y[1] > 90.0:
            raise ValueError("no")
        self.b = {0: 0.0, 1: 1.0}
        for i in range(2):
            self.b[i] = y[i]


class OfAnArray(Table):
    def __init__(self, y):
        if y[0] > 90.0:
            raise ValueError("no")
        self.b = np.zeros(3)
        self.b[1] = y[1] * 3
        if y[0] > -5.0:
            self.b[1] += y[0]


def asks_twice(cls):
    def function(x):
        q = cls([x, x * x])
        u = q.at(3.0)
        v = q.at(3.0)
        return u if v is None else u + v

    return function


def writes_between(cls):
    def function(x):
        q = cls([x, x * x])
        u = q.second(3.0)
        if u > 0.5:
            q.b[1] = u * x
        v = q.second(3.0)
        if v > 100.0:
            return v
        q.b[0] = 1.0
        return u + v * q.second(2.0)

    return function


def reads_twice(x):
    if x > 90.0:
        raise ValueError
    entries = {}
    for i in range(2):
        entries[i] = x * i
    u = entries[1] if x > 1.0 else 0.0
    v = entries[1] if x > 1.0 else 0.0
    return u * v


def guarded_in_a_loop(x):
    for _ in range(2):
        if x > 90.0:
            raise ValueError
        a = np.zeros(2)
        for i in range(2):
            a[i] = x * i
        if x > 1.0:
            a[1] += x * x
        if x > 1.2:
            a[0] += x * x
        x = a[0] * 0.3 + a[1] * 0.2
    return x


def test_what_is_made_after_a_guard_is_known_by_later_branches():
    classes = (Table, Otherwise, Guarded, OfAnArray)
    twice = [*map(asks_twice, classes), reads_twice, guarded_in_a_loop]
    h = 1e-4
    for function in (*twice, *map(writes_between, classes)):
        value, slope = value_and_grad(function)(1.7)
        ends = function(1.7 + h), function(1.7), function(1.7 - h)
        assert value == pytest.approx(ends[1])
        assert slope == pytest.approx((ends[0] - ends[2]) / (2 * h), rel=1e-6)
        curvature = (ends[0] - 2 * ends[1] + ends[2]) / h**2
        if function in twice:
            assert hessian(function)(1.7) == pytest.approx(curvature, rel=1e-4, abs=1e-4)


def test_guards_still_raise():
    with pytest.raises(ValueError, match="no"):
        grad(asks_twice(Table))(91.0)


def test_the_verifier_sees_reads_of_former_values():
    array = t.Array("float64", 1)
    at = Origin("program.py", 1, 0, "x[0] = 1.0")
    old, new, item = Var("x"), Var("x"), Var("item")
    write = Let(new, Update(old, (Step("item", args=(Const(0),)),), Const(1.0)), at)

    def found(*statements, yields=()):
        body = Block(statements, yields)
        return [value for _, value in stale_reads(body, lambda atom: array)]

    def reads(value):
        return Let(item, Call(Const(operator.neg), (value,)), at)

    assert found(write, reads(new)) == []
    assert found(reads(old), write) == []
    assert found(write, reads(old)) == [old]
    assert found(write, yields=(old,)) == [old]
    param, following, result, k = Var("s"), Var("s"), Var("s"), Var("k")
    longer = Let(following, Call(Const(append), (param, Const(1.0))), at)
    loop = Loop(
        (k,), (Const(range(3)),), None, (param,), (old,), Block((longer,), (following,)),
        (result,), at,
    )
    assert found(loop, reads(result)) == []
    assert found(loop, reads(old)) == [old]


def test_a_former_value_that_is_handed_on_to_nobody_is_no_read():
    array, at = t.Array("float64", 1), Origin("program.py", 1, 0, "x[0] = 1.0")
    old, new, result, item = Var("x"), Var("x"), Var("x"), Var("item")
    write = Let(new, Update(old, (Step("item", args=(Const(0),)),), Const(1.0)), at)
    branch = If(Var("c"), Block((write,), (old,)), Block((), (new,)), (result,), at)
    read = Let(item, Call(Const(operator.neg), (result,)), at)

    def found(*statements):
        return [value for _, value in stale_reads(Block(statements), lambda atom: array)]

    assert found(branch) == []
    assert found(branch, read) == [old]
