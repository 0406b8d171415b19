"""Copies that loops need not make: of arrays that are read no more, or that nobody writes into."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import compiled, grad, jacfwd, jacobian
from adcompiler.backends.native.passes.copies import without_copies
from adcompiler.backends.native.helpers import TEXTS
from adcompiler.backends.native.loops import (
    FLOAT, INT, Apply, Assign, Binary, Bind, Body, Element, Ends, Expr, Extent, For, Leave,
    LoopFunction, Make, Name, Number, Output, Parameter, Part, Row, Store, When,
)
from adcompiler.backends.native.passes.concatenation_in_place import with_pieces_in_place
from adcompiler.backends.native.emit.printer import printed
from adcompiler.backends.native.writer import Writer
from tests.lanes import one_in

ZERO, ONE, N = Number(0), Number(1), Name("n")
GIVEN = (Parameter("x", FLOAT, 1, 0), Parameter("n", "int64", None, 1))


def made(name: str, value: Callable[[Expr], Expr], length: Expr = N) -> list[Row]:
    """Return statements that make an array."""
    at = f"at_{name}"
    return [Make(name, (length,), FLOAT),
            For(at, ZERO, length, Body([Store(name, (Name(at),), value(Name(at)))]))]


def copied(name: str, of: str) -> list[Row]:
    return made(name, lambda i: Element(of, (i,)))


def put(to: str, value: Expr, at: Expr = ZERO) -> Store:
    return Store(to, (at,), value)


def add(value: Expr) -> Assign:
    return Assign("s", Binary("+", Binary("*", Name("s"), Number(3.0)), value))


def first(of: str) -> Element:
    return Element(of, (ZERO,))


A = made("a", lambda i: Binary("*", Element("x", (i,)), Number(2.0)))
B = copied("b", "a")


def table(name: str, value: Callable[[Expr, Expr], Expr], width: int = 3) -> list[Row]:
    """Return statements that make an array of two axes."""
    i, j = Name(f"i_{name}"), Name(f"j_{name}")
    return [Make(name, (N, Number(width)), FLOAT), For(i.name, ZERO, N, Body([
        For(j.name, ZERO, Number(width), Body([Store(name, (i, j), value(i, j))]))]))]


TABLE = table("t", lambda i, j: Binary("+", Element("x", (i,)), j))


def looped(*rows: Row) -> For:
    return For("step", ZERO, Number(3), Body(list(rows)))


def joined(name: str, *parts: str, length: Expr | None = None) -> list[Row]:
    """Return statements that join arrays of ``n`` numbers."""
    rows: list[Row] = [Make(name, (length or Binary("*", N, Number(len(parts))),), FLOAT)]
    for k, part in enumerate(parts):
        i = Name(f"at_{name}_{k}")
        place = Binary("+", Binary("*", N, Number(k)), i) if k else i
        rows.append(For(i.name, ZERO, N, Body([Store(name, (place,), Element(part, (i,)))])))
    return rows


COPIES: dict[str, tuple[list[Row], bool]] = {
    "the array is read no more": ([*A, *B, put("b", ONE), add(first("b"))], True),
    "the array is read": ([*A, *B, put("b", ONE), add(first("a"))], False),
    "neither is written into": ([*A, *B, add(first("a")), add(first("b"))], True),
    "the array is written into": ([*A, *B, put("a", ONE), add(first("b"))], False),
    "the array is written into afterwards": (
        [*A, *B, add(first("b")), put("a", ONE), add(first("a"))], True),
    "the array is written into in an inner loop": (
        [*A, *B, looped(add(first("b")), put("a", Name("s"))), add(first("a"))], False),
    "a part of the array is written into": (
        [*A, Part("end", "a", (Ends(ONE),)), *B, put("end", ONE),
         add(Element("b", (ONE,)))], False),
    "the array of the iteration before is read": (
        [*made("last", lambda i: ZERO),
         looped(add(first("last")), *A, Bind("last", "a"), *B, put("b", Name("s")))], False),
    "the copy of the iteration before is read": (
        [*A, looped(When(Binary(">", Name("step"), ZERO),
                         Body([put("a", Name("s")), add(first("b"))]), Body()), *B)], False),
    "the copy is read behind its block": (
        [*A, When(Binary(">", N, ZERO), Body(B), Body()), put("a", ONE), add(first("b"))],
        False),
    "the copy is one of two": (
        [*A, *B, When(Binary(">", N, Number(4)), Body([Bind("y", "b")]), Body([Bind("y", "a")])),
         add(first("y")), add(first("a"))], False),
    "the copy or another array": (
        [*A, *made("c", lambda i: ONE), *B, When(
            Binary(">", N, Number(4)), Body([Bind("y", "b")]), Body([Bind("y", "c")])),
         add(first("y")), add(first("a"))], False),
    "of some columns": (
        [*TABLE, *table("u", lambda i, j: Element("t", (i, j)), 2),
         add(Element("u", (ONE, ONE))), add(Element("t", (ONE, ONE)))], False),
    "the copy is read first in a loop": (
        [*A, looped(When(Binary(">", Name("step"), ZERO), Body([put("a", Name("s"))]), Body()),
                    When(Binary(">", Name("step"), ZERO), Body([add(first("b"))]), Body()),
                    *B)], False),
    "the copy is read at the top of an inner loop": (
        [*A, looped(*B, looped(add(first("b")), put("a", Name("s")))), add(first("a"))], False),
    "of an argument": ([*copied("b", "x"), add(first("b"))], True),
    "of an argument, written into": ([*copied("b", "x"), put("b", ONE), add(first("x"))], False),
    "of a part of an argument": (
        [Part("end", "x", (Ends(ONE, None, Number(2)),)),
         *made("b", lambda i: Element("end", (i,)), Extent("end", 0)), add(first("b"))], True),
}

PIECES: dict[str, tuple[list[Row], bool]] = {
    "one array": ([*A, *joined("v", "a"), add(first("v"))], True),
    "an array twice": ([*A, *joined("v", "a", "a"), put("v", ONE), add(Element("v", (N,)))], True),
    "an array that is read": ([*A, *joined("v", "a"), put("v", ONE), add(first("a"))], False),
    "an array of the iteration before": (
        [*made("last", lambda i: ZERO),
         looped(add(first("last")), *A, Bind("last", "a"), *joined("v", "a"),
                put("v", Name("s")))], False),
    "an array with a value everywhere": (
        [Make("a", (N,), FLOAT, Number(4.0)), *joined("v", "a"), add(first("v"))], False),
    "from another place on": (
        [*A, Make("v", (Binary("+", N, ONE),), FLOAT, Number(2.0)), For("i", ZERO, N, Body([
            Store("v", (Binary("+", ONE, Name("i")),), Element("a", (Name("i"),)))])),
         add(first("v"))], False),
    "a part of an array": (
        [*made("a", lambda i: Number(2.0), Binary("+", N, N)), *joined("v", "a"),
         add(first("v"))], False),
    "an array of integers": (
        [Make("a", (N,), INT), For("i", ZERO, N, Body([Store("a", (Name("i"),), Name("i"))])),
         *joined("v", "a"), put("v", Number(0.5)), add(first("v"))], False),
    "some columns of rows": (
        [*TABLE, Make("v", (N, Number(4)), FLOAT, ONE), For("i", ZERO, N, Body([
            For("j", ZERO, Number(3), Body([
                Store("v", (Name("i"), Name("j")), Element("t", (Name("i"), Name("j"))))]))])),
         add(Element("v", (ONE, ONE))), add(Element("v", (ONE, Number(3))))], False),
    "rows": (
        [*TABLE, *A, Make("v", (Binary("+", N, N), Number(3)), FLOAT, ONE),
         For("i", ZERO, N, Body([For("j", ZERO, Number(3), Body([
             Store("v", (Name("i"), Name("j")), Element("t", (Name("i"), Name("j"))))]))])),
         add(Element("v", (ONE, ONE))), add(Element("v", (N, Number(2))))], True),
    "an array that is made behind the other one": (
        [*A, Make("v", (Binary("*", N, Number(2)),), FLOAT), For("i", ZERO, N, Body([
            Store("v", (Name("i"),), Element("a", (Name("i"),)))])),
         *made("c", lambda i: Element("a", (i,))), For("j", ZERO, N, Body([
            Store("v", (Binary("+", N, Name("j")),), Element("c", (Name("j"),)))])),
         add(first("v")), add(Element("v", (N,)))], True),
    "a length that is computed from the array": (
        [*A, Assign("more", Apply("int", (first("a"),))),
         *joined("v", "a", length=Binary("+", N, Name("more"))), add(first("v"))], False),
    "a length that is asked for first": (
        [Assign("more", Binary("-", N, Number(20))), *A,
         Leave(Binary("<", Name("more"), ZERO)),
         *joined("v", "a", length=Binary("+", N, Name("more"))), add(first("v"))], False),
    "a length that has no value yet": (
        [*A, Assign("more", Binary("*", Element("a", (ZERO,)), ZERO)),
         Assign("length", Binary("+", N, Number(0))),
         *joined("v", "a", length=Binary("+", Name("length"), Extent("x", 0))),
         add(first("v"))], True),
}


def block(body: Body) -> LoopFunction:
    return LoopFunction("block", GIVEN, body, (Output(Name("s"), FLOAT),), 0)


def run(body: Body, x: Any) -> Any:
    names: dict[str, Any] = {"np": np, "compiled": lambda found: found}
    exec(printed(block(body), "Run a block."), names)
    return names["block"](x, len(x))


@pytest.mark.parametrize("name", COPIES)
def test_copies_are_left_out_where_nothing_tells(name: str) -> None:
    rows, changes = COPIES[name]
    w = Writer()
    body = Body([Assign("s", Number(0.5)), *rows])
    found = without_copies(w, block(body)).body
    x = np.linspace(1.0, 2.0, 5)
    assert run(found, x) == run(body, x)
    assert (found != body) == changes


@pytest.mark.parametrize("name", PIECES)
def test_arrays_are_parts_where_nothing_tells(name: str) -> None:
    rows, changes = PIECES[name]
    body = Body([Assign("s", Number(0.5)), *rows])
    found = with_pieces_in_place(Writer(), block(body)).body
    x = np.linspace(1.0, 2.0, 5)
    assert run(found, x) == run(body, x)
    assert (found != body) == changes


MAKERS = ("np.empty", "np.zeros", "np.arange")


@pytest.mark.parametrize("name", TEXTS)
def test_helpers_write_into_nothing_that_they_are_given(name: str) -> None:
    # statements are moved past their calls, and copies of what they are given left out
    for function in ast.walk(ast.parse(TEXTS[name])):
        if not isinstance(function, ast.FunctionDef):
            continue
        stored = {ast.unparse(one.value) for one in ast.walk(function)
                  if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)}
        bound: list[tuple[str, str]] = []
        for one in ast.walk(function):
            if isinstance(one, ast.Assign):
                pairs = zip(parts(one.targets[0]), parts(one.value), strict=True)
                bound += [(ast.unparse(a), ast.unparse(b).partition("(")[0]) for a, b in pairs]
        own = {name for name, _ in bound} - {arg.arg for arg in function.args.args}
        for _ in range(len(own)):
            own -= {name for name, of in bound if of not in (*MAKERS, *own)}
        assert stored <= own


def parts(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


# -- programs --------------------------------------------------------------------------------------


def reaction(u):
    n = len(u) // 2
    x, y = u[:n].reshape(-1, 2), u[n:].reshape(-1, 2)
    rate = np.tanh(x * y)
    dx, dy = rate - x, x * x - rate * y
    return np.concatenate([dx.ravel(), dy.ravel()])


def kept_and_joined(x):
    a = np.sin(x)
    b = np.concatenate([a, x * a, a])
    b[0] = b[0] * a[1]
    return b * np.sum(a)


def written_before_it_is_joined(x):
    a = x * 2.0
    row = a.reshape(2, -1)
    b = np.concatenate([row.ravel(), a])
    a2 = b.reshape(2, -1)
    return a2[0] * a2[1] + a2.sum()


def in_a_loop(x):
    y = x
    for _ in range(3):
        half = np.concatenate([np.cos(y[:2]), y[2:] * y[0]])
        y = half.reshape(2, -1).ravel() + 0.1 * y
    return y


def reshaped_only(x):
    return x.reshape(2, -1)


def of_both(x):
    flat = x[::-1].reshape(2, -1)
    return np.concatenate([flat, 2.0 * flat]).ravel()


PROGRAMS = [reaction, kept_and_joined, written_before_it_is_joined, in_a_loop, of_both]
ROW = np.random.default_rng(5).normal(size=16)


def read_only(x: Any) -> Any:
    x = x.copy()
    x.flags.writeable = False
    return x


LAYOUTS = {"as it is": ROW[:8], "every other": ROW[::2], "reversed": ROW[7::-1],
           "read-only": read_only(ROW[:8])}


def total(x):
    y = reaction(x)
    return np.sum(y * y)


def check(program: Any, x: Any, *makes: Any) -> None:
    """See that native derivatives are those of Python."""
    for make in makes:
        found, known = make(program, backend="native")(x), make(program, backend="python")(x)
        assert found.dtype == known.dtype and found.shape == known.shape
        np.testing.assert_allclose(found, known, rtol=1e-13, atol=1e-15)


@pytest.mark.usefixtures("plain_loops")
@pytest.mark.parametrize("x", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives_are_those_of_python(program: Any, x: Any) -> None:
    def loss(x):
        y = program(x)
        return np.sum(y * y * 0.5)

    check(program, x, compiled, jacobian, jacfwd)
    check(loss, x, grad)


@pytest.mark.parametrize(
    "x", one_in(2, [LAYOUTS["every other"], LAYOUTS["read-only"]]), ids=["A", "R"])
def test_of_compiled_loops(x: Any) -> None:
    pytest.importorskip("llvmlite")
    check(reaction, x, jacfwd)
    check(total, x, grad)


@pytest.mark.usefixtures("plain_loops")
def test_of_nothing() -> None:
    assert compiled(reaction, backend="native")(np.zeros(0)).shape == (0,)
    assert jacobian(reaction, backend="native")(np.zeros(0)).shape == (0, 0)


@pytest.mark.usefixtures("plain_loops")
def test_results_are_arrays_of_their_own() -> None:
    x = ROW[:8].copy()
    found = compiled(reshaped_only, backend="native")(x)
    np.testing.assert_array_equal(found, reshaped_only(x))
    found[:] = 7.0
    np.testing.assert_array_equal(x, ROW[:8])
