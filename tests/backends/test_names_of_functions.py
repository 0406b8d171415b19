"""Variables do not take the names of functions that the emitted code calls."""

from __future__ import annotations

import numpy as np

from adcompiler import grad
from adcompiler.backends.python.references import names_in
from adcompiler.ir.nodes import Block, Const, Let, Origin, Step, Update, Var
from adcompiler.runtime.adjoints.shaping import reshape_view


def test_a_function_that_only_a_store_names_keeps_its_name() -> None:
    array, value, new = Var("v_bar", True), Var("value", True), Var("v_bar", True)
    steps = (Step("call", "reshape_view", (Const("here"),), reshape_view), Step(
        "item", args=(Const(Ellipsis),)))
    origin = Origin("file.py", 1, 0, "")
    block = Block((Let(new, Update(array, steps, value), origin),), (new,))
    assert "reshape_view" in names_in(block)


def pieces(x):
    rows = np.array([np.array([-0.7, x, x]), np.array([x, 2.0 * x, x])])
    first, _ = rows
    part = first[:]
    part[:2] = np.array([part[2]]) - np.full((1,), 0.5)
    return np.sum(rows * np.arange(1.0, 4.0))


def test_what_a_store_reads_keeps_its_name_until_it_is_stored() -> None:
    h = 1e-6
    slope = (pieces(1.2 + h) - pieces(1.2 - h)) / (2 * h)
    assert abs(grad(pieces)(1.2) - slope) < 1e-7
