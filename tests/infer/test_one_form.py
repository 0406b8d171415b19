"""A method of an array or number is the function that its class has: calls have one form."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from adcompiler import grad, jacobian
from adcompiler.compile.pipeline import Request, compile_request, stages
from adcompiler.ir.nodes import Call, Const, Let
from adcompiler.ir.visit import walk
from adcompiler.ops.queries import meaning, numeric_method
from adcompiler.ops.registry import REGISTRY
from adcompiler.typed.options import Options
from adcompiler.typed.values import type_of

X = np.linspace(0.2, 1.3, 12).reshape(3, 4)
ARRAYS = (
    X, np.asfortranarray(X), np.array(0.75), np.empty((0, 3)), np.arange(4), X > 0.5, X[0] + 1j)
MORE: tuple[tuple[Any, ...], ...] = ((), (1,), (-1,), (None,), ([0, 1],), ((1, 0),))
NAMED: tuple[dict[str, Any], ...] = ({}, {"axis": -1, "keepdims": True}, {"dtype": "float32"})


def outcome(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Return what a call gives, with its class; None where it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = function(*args, **named)
        except Exception:
            return None
    return type(found), getattr(found, "dtype", None), getattr(found, "strides", None), repr(found)


def spellings() -> list[tuple[Any, Any]]:
    """Return the methods of arrays and numbers, and the functions that they are others of."""
    methods = [getattr(cls, name) for cls in (np.ndarray, np.generic) for name in dir(cls)]
    return [
        (method, REGISTRY.resolve(method)) for method in methods
        if numeric_method(method) is not None and REGISTRY.resolve(method) is not method
    ]


def test_methods_are_the_functions_that_they_are_spellings_of() -> None:
    compared: dict[str, int] = {}
    for method, function in spellings():
        of_numbers = issubclass(method.__objclass__, (np.generic, float, int))
        values = [a[()] for a in ARRAYS if a.ndim == 0] + [X[0, 0], np.float32(2), np.int64(3)]
        for x in values if of_numbers else ARRAYS:
            for rest in MORE:
                for named in NAMED:
                    one = outcome(method, (x, *rest), named)
                    two = outcome(function, (x, *rest), named)
                    if one is None or two is None:
                        continue  # one takes what the other does not: it raises as it does
                    assert one == two, (method, x, rest, named)
                    compared[method.__name__] = compared.get(method.__name__, 0) + 1
    assert {"sum", "mean", "max", "ravel", "squeeze", "repeat", "clip"} <= compared.keys()


def typed(function: Any, *args: Any) -> tuple[Any, list[Any]]:
    """Return the tables of a function that has been specialised, and what it computes."""
    request = Request(function, tuple(map(type_of, args)), wrt=(0,))
    for name, unit, functions in stages(request):
        if name == "types":
            assert isinstance(functions, list)
            return unit, [s.rhs for s in walk(functions[0].body) if isinstance(s, Let)]
    raise AssertionError


def methods(x: Any) -> Any:
    y = x.sum(axis=0) * x.mean(0) + x.reshape(4, 3).max(axis=1)
    return (y.copy() @ x.transpose(1, 0)).astype(np.float32).sum() + x[0, 0].item()


def test_no_method_is_called_as_such_where_types_are_known() -> None:
    _, found = typed(methods, X)
    assert all(isinstance(rhs.func, Const) for rhs in found if isinstance(rhs, Call))
    words = [meaning(rhs) for rhs in found if isinstance(rhs, Call)]
    assert {"sum", "mean", "max", "copy", "reshape", "transpose"} <= set(words)


def test_items_of_shapes_are_one_tuple() -> None:
    for written in (lambda x: x.reshape(4, 3), lambda x: x.reshape((4, 3))):
        _, found = typed(written, X)
        (call,) = [rhs for rhs in found if meaning(rhs) == "reshape"]
        assert [arg.value for arg in call.args[1:]] == [(4, 3)]


def of_norms(x: Any) -> Any:
    return np.linalg.norm(x, axis=-1).sum()


def many(x: Any) -> Any:
    return x.reshape(-1).cumsum().reshape(4, 3).sum(axis=1) * x.flatten().copy()[:4]


def test_stages_see_methods_as_functions() -> None:
    types = (type_of(X),)
    taylor = compile_request(Request(of_norms, types, wrt=(0,), options=Options("taylor", 0)))
    assert "away_from_kink" in taylor.text
    batched = compile_request(Request(
        many, types, wrt=(0,), options=Options("forward", 0, batched=True)))
    assert not batched.one_by_one
    np.testing.assert_allclose(
        jacobian(many, mode="forward")(X), jacobian(many, mode="reverse")(X))


def of_numbers(x: Any) -> Any:
    return x[0, 0].sum() * x[1, 1].mean() + x.sum().max().copy() + x[0].max().item()


def test_reductions_of_numbers_are_the_numbers() -> None:
    _, found = typed(of_numbers, X)
    assert sum(meaning(rhs) in ("sum", "mean", "max", "copy") for rhs in found) == 2
    expected = np.ones((3, 4))
    expected[0, 0] += X[1, 1]
    expected[1, 1] += X[0, 0]
    expected[0, 3] += 1.0
    np.testing.assert_allclose(grad(of_numbers)(X), expected)


def along_axes(x: Any) -> Any:
    return np.sum(x, -1).sum() + x.mean(-2)[0] * np.cumsum(x, 1)[0, 0] + np.add.reduce(x, -1)[0]


def test_axes_are_given_by_name_and_counted_from_the_first() -> None:
    _, found = typed(along_axes, X)
    axes = [
        dict(rhs.kwargs)["axis"].value for rhs in found
        if isinstance(rhs, Call) and "axis" in dict(rhs.kwargs)
    ]
    assert axes == [1, 0, 1, 1]
    assert all(len(rhs.args) == 1 for rhs in found if meaning(rhs) in ("sum", "mean", "cumsum"))


def spread(x: Any) -> Any:
    return np.sum(np.var(x, axis=-1, keepdims=True) * x)


def test_shapes_along_the_last_axis_are_known() -> None:
    text = compile_request(Request(spread, (type_of(X),), wrt=(0,))).text
    assert "unbroadcast" not in text and "same_shape" not in text
