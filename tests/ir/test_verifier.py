"""The verifier: it accepts what every stage makes of every program, and notices what is wrong."""

from __future__ import annotations

import operator
import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler.analyses.purity import Purity
from adcompiler.api.grad import value_and_grad
from adcompiler.compile.pipeline import Request, compile_request, stages
from adcompiler.errors import InternalError
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Block, Call, Const, Function, If, Item, Let, Loop, Origin, Pack, Param, Raise, Step, Update,
    Var,
)
from adcompiler.ir.verifier import verify, verifying
from adcompiler.optimise import passes
from adcompiler.optimise.passes import PASSES
from adcompiler.typed.options import Options
from adcompiler.typed.values import type_of

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
    request = Request(function, tuple(map(type_of, arguments)), wrt, Options(mode, 0))
    seen = []
    for stage, unit, functions in stages(request):
        seen.append(stage)
        if stage == "source":
            break
        for made in functions:
            verify(made, unit.type)
            if stage == "reverse":
                block = made.body
                purity = Purity(unit.type, unit.definition)
                for _, rewrite in PASSES:
                    block = rewrite(block, unit, purity)
                    verify(replace(made, body=block), unit.type)
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


# -- types ----------------------------------------------------------------------------------------

SCALAR, VECTOR, MATRIX = t.Scalar("float", "float64"), t.Array("float64", 1), t.Array("float64", 2)


def typed(types: dict[Var, t.Type]) -> Any:
    """Return the function that tells the type of an atom."""
    return lambda atom: t.FLOAT if isinstance(atom, Const) else types.get(atom, t.UNKNOWN)


def refused(why: str, types: dict[Var, t.Type], *statements: Any) -> None:
    """Check that statements are refused that read ``x``, ``y`` and ``z``, for their types."""
    params = tuple(var for var in types if var.name in "xyz")
    verify(function(*statements, params=params))
    with pytest.raises(InternalError, match=why):
        verify(function(*statements, params=params), typed(types))


def test_a_product_of_numbers_that_is_typed_as_an_array_is_noticed() -> None:
    x, product = Var("x"), Var("product")
    made = Let(product, Call(Const(operator.mul), (x, Const(2.0))), HERE)
    refused("is computed as", {x: SCALAR, product: VECTOR}, made)
    refused("is computed as", {x: MATRIX, product: VECTOR}, made)
    refused("is computed as", {x: VECTOR, product: SCALAR}, made)


def test_a_tuple_and_its_items_of_other_types_are_noticed() -> None:
    x, pair, item = Var("x"), Var("pair"), Var("item")
    pack = Let(pair, Pack("tuple", (x, Const(1.0))), HERE)
    read = Let(item, Item(pair, Const(0)), HERE)
    refused("is computed as", {x: VECTOR, pair: t.Tuple((SCALAR, SCALAR))}, pack)
    refused("is computed as", {x: VECTOR, pair: t.Tuple((VECTOR,))}, pack)
    refused("item.* is computed as", {x: VECTOR, pair: t.Tuple((VECTOR, SCALAR)), item: SCALAR},
            pack, read)


def test_an_update_of_another_type_than_what_is_written_into_is_noticed() -> None:
    x, y, new = Var("x"), Var("y"), Var("new")
    write = Let(new, Update(x, (Step("item", args=(Const(0),)),), y), HERE)
    refused("is computed as", {x: VECTOR, y: SCALAR, new: MATRIX}, write)


def test_a_branch_whose_result_has_another_type_than_an_arm_is_noticed() -> None:
    x, y, z, result = Var("x"), Var("y"), Var("z"), Var("result")
    branch = If(x, Block((), (y,)), Block((), (z,)), (result,), HERE)
    refused("is given z", {x: t.BOOL, y: VECTOR, z: SCALAR, result: VECTOR}, branch)
    refused("is given y", {x: t.BOOL, y: t.List(VECTOR), z: VECTOR, result: VECTOR}, branch)


def test_a_carried_value_of_another_type_is_noticed() -> None:
    x, y, z = Var("x"), Var("y"), Var("z")
    item, param, result, tape = Var("i"), Var("param"), Var("result"), Var("tape")

    def loop(following: Var) -> Loop:
        return Loop((item,), (x,), None, (param,), (y,), Block((), (following, following)),
                    (result,), HERE, (tape,))

    types = {x: VECTOR, y: VECTOR, z: SCALAR, param: VECTOR, result: VECTOR,
             tape: t.List(VECTOR)}
    refused("is given z", types, loop(z))
    refused("param.* is given y", {**types, param: SCALAR}, loop(param))
    refused("result.* is given y", {**types, result: t.TEXT}, loop(param))
    refused("but collects", {**types, tape: t.List(SCALAR)}, loop(param))


def test_zero_is_a_cotangent_of_every_type() -> None:
    x, y, result = Var("x"), Var("y"), Var("result")
    branch = If(x, Block((), (y,)), Block((), (Const(0.0),)), (result,), HERE)
    types = {y: VECTOR, result: VECTOR}
    verify(function(branch, params=(x, y)), typed(types))


def test_a_pass_that_writes_other_ir_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def reads_what_is_not_there(block: Block, *_: Any) -> Block:
        return replace(block, yields=(Var("lost"),))

    monkeypatch.setattr(passes, "PASSES", (*PASSES, ("wrong", reads_what_is_not_there)))
    monkeypatch.setenv("ADCOMPILER_VERIFY", "1")
    with pytest.raises(InternalError, match=r"in what wrong gives: lost.* is not defined"):
        compile_request(Request(lambda x: x * x, (t.FLOAT,), (0,)))
    monkeypatch.setenv("ADCOMPILER_VERIFY", "stages")
    with pytest.raises(InternalError, match=r"in what all passes give: lost.* is not defined"):
        compile_request(Request(lambda x: x * x, (t.FLOAT,), (0,)))


def test_functions_are_verified_where_debugging_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ADCOMPILER_VERIFY", raising=False)
    assert not verifying()
    monkeypatch.setenv("ADCOMPILER_DEBUG", "1")
    assert verifying()


def test_a_function_that_calls_itself_and_writes_in_a_loop_reads_what_is_there() -> None:
    def halves(a: Any) -> Any:
        if len(a) == 1:
            return a.copy(), a.copy()
        first, other = halves(a[::2])
        out = np.empty(len(a))
        for k in range(len(a)):
            out[k] = first[k // 2] * 2.0 + other[0]
        return out, first

    def total(a: Any) -> Any:
        return np.sum(halves(a)[0] ** 2)

    a = np.array([1.0, 2.0, 3.0, 4.0])
    for _, unit, functions in stages(Request(total, (type_of(a),), (0,), Options("vjp", 0))):
        for made in functions if isinstance(functions, list) else ():
            verify(made, unit.type)
    value, gradient = value_and_grad(total)(a)
    assert value == total(a) == 196.0
    assert list(gradient) == [392.0, 0.0, 0.0, 0.0]
