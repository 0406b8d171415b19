"""Shapes as expressions: those known of a result are what NumPy makes of arrays of every size."""

import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler.frontend.functions import lower
from adcompiler.ir.nodes import Var
from adcompiler.products.specialised import specialise
from adcompiler.typed.values import type_of
from adcompiler.typed import extents
from adcompiler.typed.extents import Axis, CutOff, Extent, Value, cut_off, number, of
from adcompiler.typed.shapes import Shapes
from adcompiler.typed.unit import Unit
from tests.evaluation.watches import extent_there

SIZES = (0, 1, 2, 3)
KNOWN = {  # what is known of expressions of vectors a, b and a matrix M, axis by axis
    "a * b": "broadcast(a.shape[0], b.shape[0])",
    "a + 1.0": "a.shape[0]",
    "np.where(a > 0, a, 2.0)": "a.shape[0]",
    "M * a": "M.shape[0], broadcast(M.shape[1], a.shape[0])",
    "M - M.sum(axis=1, keepdims=True)": "M.shape[0], M.shape[1]",
    "M.sum(axis=0)": "M.shape[1]",
    "M.sum(axis=-1)": "M.shape[0]",
    "np.linalg.norm(M, axis=1, keepdims=True)": "M.shape[0], 1",
    "np.max(M, axis=(0, 1), keepdims=True)": "1, 1",
    "M.T": "M.shape[1], M.shape[0]",
    "M.transpose(1, 0)": "M.shape[1], M.shape[0]",
    "M @ a": "M.shape[0]",
    "a @ M": "M.shape[1]",
    "M.T @ M": "M.shape[1], M.shape[1]",
    "np.dot(M, a)": "M.shape[0]",
    "np.dot(a, 2.0)": "a.shape[0]",
    "np.outer(a, b)": "a.shape[0], b.shape[0]",
    "np.concatenate([a, b])": "a.shape[0] + b.shape[0]",
    "np.diag(M)": "min(M.shape[0], M.shape[1])",
    "np.diff(a)": "max(a.shape[0] - 1, 0)",
    "np.diff(M, axis=0)": "max(M.shape[0] - 1, 0), M.shape[1]",
    "np.linspace(0.0, 1.0, len(a))": "a.shape[0]",
    "np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]])": "2, 3",
    "np.array([a, a])": "2, a.shape[0]",
    "np.stack([a, a + 1.0])": "2, a.shape[0]",
    "np.stack((a, b, a), axis=-1)": "a.shape[0], 3",
    "np.vstack([a, a])": "2, a.shape[0]",
    "np.vstack([M, M])": "2*M.shape[0], M.shape[1]",
    "np.hstack([a, b])": "a.shape[0] + b.shape[0]",
    "np.hstack([M, M, M])": "M.shape[0], 3*M.shape[1]",
    "np.column_stack([a, a])": "a.shape[0], 2",
    "np.column_stack([M, M])": "M.shape[0], 2*M.shape[1]",
    "np.einsum('ij,j->i', M, a)": "M.shape[0]",
    "np.einsum('ij,kj', M, M)": "M.shape[0], M.shape[0]",
    "np.einsum('i,i->i', a, b)": "broadcast(a.shape[0], b.shape[0])",
    "np.linalg.solve(M.T @ M + np.eye(M.shape[1]), a)": "a.shape[0]",
    "np.concatenate([M, M[:1]], axis=0)": "M.shape[0] + min(1, M.shape[0]), M.shape[1]",
    "a[1:]": "max(a.shape[0] - 1, 0)",
    "a[1:-1]": "max(a.shape[0] - 2, 0)",
    "a[1:][1:]": "max(a.shape[0] - 2, 0)",
    "a[::-1]": "a.shape[0]",
    "a[:len(b)]": "min(b.shape[0], a.shape[0])",
    "np.concatenate([a, b])[:len(a)]": "a.shape[0]",
    "np.concatenate([a, b])[len(a):]": "b.shape[0]",
    "np.concatenate([a[1:], b])": "b.shape[0] + max(a.shape[0] - 1, 0)",
    "M[0]": "M.shape[1]",
    "M[:, 0]": "M.shape[0]",
    "M[..., None]": "M.shape[0], M.shape[1], 1",
    "M[np.arange(len(M))]": "M.shape[0], M.shape[1]",
    "np.zeros(len(a))": "a.shape[0]",
    "np.zeros((len(a) + 1, M.shape[1]))": "a.shape[0] + 1, M.shape[1]",
    "np.zeros(2 * a.size)": "2*a.shape[0]",
    "np.zeros(a.size - len(b) + 1)": "max(a.shape[0] - b.shape[0] + 1, 0)",
    "np.arange(len(a)) * 1.0": "a.shape[0]",
    "np.arange(len(a) - 2)": "max(a.shape[0] - 2, 0)",
    "np.eye(len(a))": "a.shape[0], a.shape[0]",
    "np.diag(a)": "a.shape[0], a.shape[0]",
    "np.array([a.sum(), b.sum(), 1.0])": "3",
    "np.reshape(M, M.shape)": "M.shape[0], M.shape[1]",
    "np.broadcast_to(a, (2, len(a)))": "2, a.shape[0]",
    "np.expand_dims(a, 1)": "a.shape[0], 1",
    "np.cumsum(a)": "a.shape[0]",
    "np.zeros_like(M)": "M.shape[0], M.shape[1]",
    "np.full(len(b), 2.0)": "b.shape[0]",
    "np.ravel(a)": "a.shape[0]",
}
UNKNOWN = (  # on some axis, or on all
    "a[::2]", "a[-2:]", "a[a > 0]", "M.reshape(-1)", "np.repeat(a, 2)", "M[[0, 0], 0]",
    "np.linspace(0.0, 1.0, len(a))", "np.unique(a)", "np.tile(a, 2)",
)


def typed(text: str, *args: Any) -> tuple[Unit, Var, tuple[Var, ...]]:
    """Return what is known of ``return text`` of arguments a, b and M."""
    names: dict[str, Any] = {"np": np}
    source = f"def f(a, b, M):\n    return {text}\n"
    filename = f"<extents {text}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    exec(compile(source, filename, "exec"), names)
    unit = Unit()
    made = specialise(unit, lower(names["f"]), names["f"], [type_of(a) for a in args])  # type: ignore[arg-type]
    assert isinstance(made.value, Var)
    return unit, made.value, tuple(made.params)


@pytest.mark.parametrize("text", [*KNOWN, *UNKNOWN])
def test_known_extents_are_those_of_numpy(text: str) -> None:
    unit, result, params = typed(text, np.ones(3), np.ones(3), np.ones((3, 3)))
    shape = unit.shape(result)
    if text in KNOWN:
        assert ", ".join(map(str, shape)) == KNOWN[text]
    function: Callable[..., Any] = eval(f"lambda a, b, M: {text}", {"np": np})
    compared = 0
    for one, two, rows, columns in itertools.product(SIZES, SIZES, SIZES, SIZES):
        args = (np.ones(one), np.ones(two), np.ones((rows, columns)))
        try:
            found = function(*args).shape
        except (ValueError, IndexError):
            continue
        there = dict(zip(params, args, strict=True))
        for extent, size in zip(shape, found, strict=True):
            known = extent_there(extent, there)
            assert known in (None, size), (text, args, found)
            compared += known is not None
    assert compared or text in UNKNOWN


x, y, i = Var("x"), Var("y"), Var("i")
n, m = of(Axis(x, 0)), of(Axis(y, 0))


def test_sums_are_equal_in_whichever_order() -> None:
    assert n.plus(m) == m.plus(n) and hash(n.plus(m)) == hash(m.plus(n))
    assert n.plus(m).plus(m, -1) == n and n.plus(n, -1) == number(0)
    assert extents.met([n, m]) == extents.met([m, n, number(1)])
    assert extents.met([n, number(4)]) == number(4) and extents.met([n, n]) == n


def test_what_is_cut_off_is_one_number_in_one_form() -> None:
    assert cut_off(n) == n and cut_off(n.plus(number(2))) == n.plus(number(2))
    assert cut_off(cut_off(n.plus(number(-1))).plus(number(-1))) == cut_off(n.plus(number(-2)))
    assert cut_off(number(-3)) == number(0)
    assert cut_off(of(Value(i))) == of(CutOff(of(Value(i))))  # it may be negative


@pytest.mark.parametrize(("a", "b"), [
    (n, m), (n, m.plus(number(1))), (n.plus(m), number(4)), (number(3), n), (n, n),
    (cut_off(n.plus(number(-1))), m), (extents.least(n, m), m),
])
def test_extents_that_were_let_equal_are_equal_from_then_on(a: Extent, b: Extent) -> None:
    shapes = Shapes()
    assert shapes.equate(a, b)
    assert shapes.canonical((a,)) == shapes.canonical((b,))


@pytest.mark.parametrize(("a", "b"), [
    (n, n.plus(number(1))), (number(2), number(3)), (n, extents.met([n, m])),
    (n, cut_off(n.plus(number(-1)))),
])
def test_what_is_made_of_another_extent_is_not_let_equal(a: Extent, b: Extent) -> None:
    shapes = Shapes()
    assert not shapes.equate(a, b)
    assert not shapes.equal_extents
