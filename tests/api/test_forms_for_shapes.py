"""Forms of a derivative for operands that are stretched along axes of one element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import grad, hessian, value_and_grad, vjp
from adcompiler.compile.pipeline import Request, compile_request
from adcompiler.dispatch.calling import MOST_FORMS, allowing_stretched, axes_of_one
from adcompiler.errors import UnsupportedError
from adcompiler.ir import types as t
from adcompiler.ir.atoms import Origin
from adcompiler.runtime import StretchedError
from adcompiler.typed.options import Options

HERE = Origin("file.py", 1, 0, "x")
VECTOR = t.Array("float64", 1)
BACKENDS = ["python", "native"]


def steps(x: Any, w: Any, n: int) -> Any:
    y = x
    for _ in range(n):
        y = np.tanh(y * w) + 0.1 * y
    return np.sum(y * y)


def rows(X: Any, b: Any, n: int) -> Any:
    Y = X
    for _ in range(n):
        Y = np.tanh(Y + b) * 0.9
    return np.sum(Y**2)


def written(x: Any, w: Any, n: int) -> Any:
    out = np.ones((4, x.shape[0]))
    for i in range(n):
        out[i % 4] = x * w
        out[(i + 1) % 4] *= w
    return np.sum(out**2)


def differences(f: Any, args: tuple[Any, ...], place: int) -> Any:
    found = np.zeros(np.shape(args[place]))
    for at in np.ndindex(found.shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = args[place].copy()
            moved[at] += step
            ends.append(f(*args[:place], moved, *args[place + 1 :]))
        found[at] = (ends[0] - ends[1]) / 2e-6
    return found


VECTORS = [((5,), (5,)), ((5,), (1,)), ((3,), (1,)), ((1,), (1,)), ((4,), (4,)), ((0,), (1,))]
MATRICES = [
    ((3, 4), (3, 4)), ((3, 4), (1, 4)), ((3, 4), (3, 1)), ((3, 4), (1, 1)), ((1, 4), (3, 4)),
    ((3, 1), (1, 4)), ((2, 1), (2, 1)), ((0, 4), (1, 4)),
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(("f", "shapes"), [
    (steps, [*VECTORS, ((1,), (5,))]), (written, VECTORS), (rows, MATRICES)])
def test_one_derivative_takes_all_shapes(f: Any, shapes: Any, order: int, backend: str) -> None:
    if backend == "native":
        pytest.importorskip("llvmlite")
    rng, derivative = np.random.default_rng(0), value_and_grad(f, (0, 1), backend=backend)
    for one, other in shapes[::order]:
        args = rng.normal(size=one) * 0.7, rng.normal(size=other) * 0.7, 2
        value, found = derivative(*args)
        assert value == pytest.approx(f(*args), rel=1e-13)
        for place in (0, 1):
            assert found[place].shape == args[place].shape
            np.testing.assert_allclose(found[place], differences(f, args, place), atol=1e-7)


def test_pullbacks_and_hessians_have_such_forms_too() -> None:
    rng = np.random.default_rng(1)
    args = rng.normal(size=4), rng.normal(size=1), 2
    _, pullback = vjp(steps, *args, argnums=(0, 1))
    once, twice = pullback(1.0), pullback(2.0)
    for place, (a, b) in enumerate(zip(once, twice, strict=True)):
        np.testing.assert_allclose(a, differences(steps, args, place), atol=1e-8)
        np.testing.assert_allclose(b, 2 * a, rtol=1e-14)
    second = hessian(steps, 1)(*args)
    ends = [grad(steps, 1)(args[0], args[1] + step, 2) for step in (1e-6, -1e-6)]
    np.testing.assert_allclose(second[0], (ends[0] - ends[1]) / 2e-6, rtol=1e-6)


def test_operands_that_do_not_fit_raise_as_in_python() -> None:
    derivative = grad(steps, (0, 1))
    derivative(np.ones(3), np.ones(1), 2)
    with pytest.raises(ValueError, match="could not be broadcast"):
        derivative(np.ones(3), np.ones(2), 2)
    np.testing.assert_allclose(derivative(np.ones(3), np.ones(1), 2)[1].shape, (1,))


def test_sums_are_along_the_axes_that_are_stretched() -> None:
    request = Request(
        steps, (VECTOR, VECTOR, t.INT), (0, 1), Options("grad", (0, 1)),
        assume_equal_shapes=((1, 0),))
    text = compile_request(request).text
    assert "same_extent(w.shape[0], 1)" in text
    assert "w_bar += (product_bar * y).sum(axis=0, keepdims=True)" in text
    assert "unbroadcast" not in text and ".shape, " not in text


def test_forms_are_few_and_the_last_is_kept_to() -> None:
    made: list[Any] = []

    def of(fits: Any) -> Any:
        def form(*args: Any) -> Any:
            if not fits(args):
                raise StretchedError("no")
            return fits

        return form

    def compile_for(args: Any, assumed: Any) -> Any:
        made.append(assumed)
        return of(lambda given: not assumed or axes_of_one(given[:2]) == assumed)

    call = allowing_stretched(of(lambda given: False), compile_for, 2)
    for shape in ((1, 2), (2, 1), (1, 2)):
        call(np.ones(shape), 3.0)
    assert made == [((0, 0),), ((0, 1),)]
    call(np.ones((1, 1)), 3.0)  # as many forms as there may be, but for that of all shapes
    assert made[2:] == [((0, 0), (0, 1))] and len(made) == MOST_FORMS - 1
    call(np.ones((1, 1, 1)), 3.0)
    call(np.ones((1, 2)), 3.0)
    assert made[3:] == [False]


def test_a_form_that_is_refused_makes_way_for_the_general_one() -> None:
    made: list[Any] = []

    def stretched(*args: Any) -> Any:
        raise StretchedError("no")

    def compile_for(args: Any, assumed: Any) -> Any:
        made.append(assumed)
        if assumed:
            raise UnsupportedError([HERE.finding("not these", "others")])
        return lambda *args: "general"

    call = allowing_stretched(stretched, compile_for, 1)
    assert call(np.ones((1, 2))) == call(np.ones((1, 2))) == "general"
    assert made == [((0, 0),), False]
