"""The verifier: it accepts what every stage makes of every program, and notices what is wrong."""

from __future__ import annotations

import operator
import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adcompiler.analyses.purity import Purity
from adcompiler.analyses.values import type_of
from adcompiler.errors import InternalError
from adcompiler.ir.nodes import (
    Block, Call, Const, Function, If, Item, Let, Loop, Origin, Param, Raise, Var,
)
from adcompiler.ir.verifier import verify
from adcompiler.optimise.passes import PASSES
from adcompiler.pipeline import Request, stages

PROGRAMS = sorted((Path(__file__).parents[1] / "golden" / "programs").glob("*.py"))
HERE = Origin("here.py", 1, 0, "")


def sample(path: Path) -> tuple[Any, tuple[Any, ...], Any, str]:
    """Return the function, arguments, argnums and mode of a golden program."""
    found: list[Any] = []

    def call(function: Any, *arguments: Any, argnums: Any = 0, mode: str = "grad") -> None:
        found.append((function, arguments, argnums, mode))

    runpy.run_path(str(path), init_globals={"call": call}, run_name=f"verified_{path.stem}")
    result: tuple[Any, tuple[Any, ...], Any, str] = found[0]
    return result


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_stage_and_pass_makes_well_formed_functions(path: Path) -> None:
    function, arguments, argnums, mode = sample(path)
    wrt = argnums if isinstance(argnums, tuple) else (argnums,)
    request = Request(function, tuple(map(type_of, arguments)), wrt, mode)
    seen = []
    for stage, unit, functions in stages(request):
        seen.append(stage)
        if stage == "source":
            break
        for made in functions:
            verify(made)
            if stage == "reverse":
                block = made.body
                purity = Purity(unit.type, unit.definition)
                for _, rewrite in PASSES:
                    block = rewrite(block, unit, purity)
                    verify(replace(made, body=block))
    assert seen == ["parse", "types", "reverse", "optimise", "source"]


def function(*statements: Any, params: tuple[Var, ...] = (), yields: tuple[Any, ...] = ()) -> Any:
    """Return a function of these statements."""
    return Function(
        "f", tuple(Param(p, 1) for p in params), Block(statements, yields), HERE
    )


def add(target: Var, x: Any, y: Any) -> Let:
    """Return ``target = x + y``."""
    return Let(target, Call(Const(operator.add), (x, y)), HERE)


def test_a_well_formed_function_passes() -> None:
    x, y = Var("x"), Var("y")
    verify(function(add(y, x, Const(1.0)), params=(x,), yields=(y,)))


def test_a_variable_defined_twice_is_noticed() -> None:
    x, y = Var("x"), Var("y")
    with pytest.raises(InternalError, match="defined twice"):
        verify(function(add(y, x, x), add(y, x, x), params=(x,)))


def test_a_variable_read_before_its_definition_is_noticed() -> None:
    x, y, z = Var("x"), Var("y"), Var("z")
    with pytest.raises(InternalError, match="not defined where it is read"):
        verify(function(add(y, x, z), add(z, x, x), params=(x,)))


def test_a_variable_of_an_arm_is_not_visible_outside() -> None:
    x, y = Var("x"), Var("y")
    branch = If(x, Block((add(y, x, x),)), Block(()), (), HERE)
    with pytest.raises(InternalError, match="not defined where it is read"):
        verify(function(branch, params=(x,), yields=(y,)))


def test_an_arm_that_yields_too_little_is_noticed() -> None:
    x, y = Var("x"), Var("y")
    branch = If(x, Block((), (x,)), Block(()), (y,), HERE)
    with pytest.raises(InternalError, match="yields 0 values for 1 results"):
        verify(function(branch, params=(x,)))


def test_a_loop_with_a_missing_next_value_is_noticed() -> None:
    x, item, param, result = Var("x"), Var("i"), Var("p"), Var("r")
    loop = Loop((item,), (x,), None, (param,), (x,), Block(()), (result,), HERE)
    with pytest.raises(InternalError, match="yields 0 values, not 1"):
        verify(function(loop, params=(x,)))


def test_a_loop_without_items_or_condition_is_noticed() -> None:
    with pytest.raises(InternalError, match="neither a condition nor items"):
        verify(function(Loop((), (), None, (), (), Block(()), (), HERE)))


def test_code_after_a_raise_is_noticed() -> None:
    x, y = Var("x"), Var("y")
    with pytest.raises(InternalError, match="goes on after a raise"):
        verify(function(Raise(x, Const(None), HERE), add(y, x, x), params=(x,)))


def test_an_item_of_an_unknown_variable_is_noticed() -> None:
    x, y = Var("x"), Var("y")
    with pytest.raises(InternalError, match="definition of y"):
        verify(function(Let(y, Item(Var("lost"), Const(0)), HERE), params=(x,)))
