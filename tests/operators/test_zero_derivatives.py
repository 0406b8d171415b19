"""A derivative that is 0 stays 0 through an infinite slope, in every mode and order."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from adcompiler import (
    batched_jvp, batched_vjp, fmad, grad, hessian, hvp, jacfwd, jacobian, jacrev, jvp, linearize,
    sparse_hessian, sparse_jacobian, taylor, value_and_grad, vjp,
)
from tests.operators.zero_programs import FEW, FOUR, PROGRAMS, TWO, beside, loop, roots

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

Case = tuple[str, Callable[[], Any], Any]


def check(program: Any, cases: Iterator[Case]) -> None:
    """Compare derivatives of a program with what is known of them."""
    for mode, found, wanted in cases:
        np.testing.assert_allclose(
            np.asarray(found(), float), wanted, rtol=1e-9, atol=1e-12,
            err_msg=f"{program.__name__}: {mode}")


def test_gradients_and_hessians_of_all_programs() -> None:
    for f, x, g, h in PROGRAMS:
        check(f, iter([
            ("grad", lambda f=f, x=x: grad(f)(x), g),
            ("hessian", lambda f=f, x=x: hessian(f)(x), h),
        ]))


def first_order(f: Any, x: np.ndarray, g: np.ndarray) -> Iterator[Case]:
    units = np.eye(len(x))
    yield "value_and_grad", lambda: value_and_grad(f)(x)[1], g
    yield "has_aux", lambda: grad(lambda x: (f(x), x), has_aux=True)(x)[0], g
    yield "vjp", lambda: vjp(f, x)[1](1.0)[0], g
    yield "batched_vjp", lambda: batched_vjp(f, x)[1](np.array([1.0, 0.0]))[0], [g, 0.0 * g]
    yield "jvp", lambda: [jvp(f, (x,), (d,))[1] for d in units], g
    yield "linearize", lambda: [linearize(f, x)[1](d) for d in units], g
    yield "batched_jvp", lambda: batched_jvp(f, (x,), (units,))[1], g
    yield "fmad", lambda: fmad(f)(x), g
    yield "jacfwd", lambda: jacfwd(f)(x), g
    yield "jacrev", lambda: jacrev(f)(x), g
    yield "pickled vjp", lambda: pickle.loads(pickle.dumps(vjp(f, x)[1]))(1.0)[0], g
    yield "sparse_jacobian", lambda: sparse_jacobian(
        lambda x: np.reshape(f(x), (1,)))(x).toarray()[0], g


def second_order(f: Any, x: np.ndarray, h: np.ndarray) -> Iterator[Case]:
    for mode in ("adj_fwd", "adj_adj", "fwd_fwd"):
        yield mode, lambda mode=mode: hessian(f, mode=mode)(x), h
    yield "hvp", lambda: [hvp(f, x, d) for d in np.eye(len(x))], h
    yield "jacobian of grad", lambda: jacobian(grad(f))(x), h
    yield "sparse_hessian", lambda: sparse_hessian(f)(x).toarray(), h


def test_every_mode_of_first_order() -> None:
    for f, x, g, _ in FEW:
        check(f, first_order(f, x, np.array(g)))


def test_every_mode_of_second_order() -> None:
    for f, x, _, h in FEW:
        check(f, second_order(f, x, h))


def test_coefficients_of_series() -> None:
    for f, x, g, h in FEW:
        wanted = np.stack([g, np.diag(h) / 2.0], 1)
        check(f, iter([("taylor", lambda f=f, x=x: [
            taylor(f, (x,), (np.array([d, 0.0 * d]),))[1] for d in np.eye(len(x))], wanted)]))
    line = np.array([[0.0, 1.0], [0.0, 0.0]])
    _, found = taylor(np.sqrt, (TWO,), (line,))
    assert found.tolist() == [[0.0, 0.25], [0.0, -1 / 64]]


def test_native_code_hands_over_to_masked_code() -> None:
    pytest.importorskip("llvmlite")
    for f in (roots, loop):
        assert grad(f, backend="native")(TWO).tolist() == [0.0, 0.25]
        assert vjp(f, TWO, backend="native")[1](1.0)[0].tolist() == [0.0, 0.25]
        assert jacobian(f, backend="native")(TWO).tolist() == [0.0, 0.25]
        assert hessian(f, backend="native")(TWO).tolist() == [[0.0, 0.0], [0.0, -1 / 32]]


def test_each_seed_by_itself() -> None:
    """The Jacobian of an elementwise function is diagonal; on the diagonal it stays infinite."""
    wanted = [[math.inf, 0.0], [0.0, 0.25]]
    for operator in (jacobian, jacfwd, jacrev):
        assert operator(np.sqrt)(TWO).tolist() == wanted
    assert sparse_jacobian(np.sqrt)(TWO).toarray().tolist() == wanted
    assert jvp(np.sqrt, (TWO,), (np.array([0.0, 1.0]),))[1].tolist() == [0.0, 0.25]
    assert linearize(np.sqrt, TWO)[1](np.array([0.0, 1.0])).tolist() == [0.0, 0.25]
    assert vjp(np.sqrt, TWO)[1](np.array([0.0, 1.0]))[0].tolist() == [0.0, 0.25]


def test_numbers() -> None:
    def product(x: float, y: float) -> float:
        return math.sqrt(x) * y + x**0.5 * y

    for backend in ("python", "native"):
        if backend == "native":
            pytest.importorskip("llvmlite")
        assert grad(product, argnums=(0, 1), backend=backend)(0.0, 0.0) == (0.0, 0.0)
    assert jvp(product, (0.0, 0.0), (0.0, 1.0))[1] == 0.0
    assert grad(product)(0.0, 1.0) == math.inf


def test_what_is_nan_and_what_is_infinite_stay_so() -> None:
    value, slope = value_and_grad(lambda x: np.sum(np.sqrt(x)))(np.array([-1.0, 4.0]))
    assert math.isnan(value)
    assert np.isnan(slope).tolist() == [True, False]
    assert grad(lambda x: np.sum(np.sqrt(x)))(TWO).tolist() == [math.inf, 0.25]


def test_structures_and_kinds_of_numbers() -> None:
    def tree(d: dict[str, Any]) -> Any:
        return roots(d["a"]) + d["b"][0] * math.sqrt(d["b"][1])

    found = grad(tree)({"a": TWO, "b": [0.0, 0.0]})
    assert found["a"].tolist() == [0.0, 0.25]
    assert found["b"] == [0.0, 0.0]
    single = TWO.astype(np.float32)
    assert grad(roots)(single).dtype == hessian(roots)(single).dtype == np.float32


counted: list[float] = []


def test_effects_happen_once() -> None:
    """Code that has effects is masked from the start, where slopes may be infinite."""
    def appending(x: Any) -> Any:
        counted.append(1.0)
        return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0) * x)

    def writing(x: Any, out: Any) -> Any:
        out[:] = out + np.sqrt(x)
        return np.sum(np.where(x > 0.0, out, 0.0))

    def drawing(x: Any) -> Any:
        return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0)) * np.random.rand()

    counted.clear()
    derivative = grad(appending)
    assert derivative(TWO).tolist() == [0.0, 3.0]
    assert len(counted) == 1
    assert "masked_product(" in derivative.source
    assert jvp(appending, (TWO,), (np.ones(2),))[1] == 3.0
    assert vjp(appending, TWO)[1](1.0)[0].tolist() == [0.0, 3.0]
    assert len(counted) == 3
    out = np.zeros(2)
    assert jvp(writing, (TWO, out), (np.array([1.0, 1.0]), None))[1] == 0.25
    assert out.tolist() == [0.0, 2.0]
    _, pullback = vjp(writing, TWO, out)
    assert out.tolist() == [0.0, 4.0]
    assert pullback(1.0)[0].tolist() == [0.0, 0.25]
    np.random.seed(1)
    found = grad(drawing)(TWO)
    after = np.random.rand()
    np.random.seed(1)
    assert found.tolist() == [0.0, np.random.rand() / 4.0]
    assert np.random.rand() == after


def test_text_is_masked_only_where_that_is_needed() -> None:
    derivative = grad(roots)
    assert derivative(np.array([1.0, 4.0])).tolist() == [0.5, 0.25]
    plain = derivative.source
    assert "masked" not in plain
    assert derivative(TWO).tolist() == [0.0, 0.25]
    assert derivative.source == plain
    assert derivative.source_for(np.array([1.0, 4.0])) == plain
    assert "masked_product(" in derivative.source_for(TWO)


def test_only_code_with_steep_slopes_is_tested() -> None:
    def gentle(x: Any) -> Any:
        return np.sum(np.sin(x) * x**2 + x / 2.0)

    for f, steep in ((gentle, []), (roots, ["may be infinite"])):
        derivative = grad(f)
        derivative(TWO)
        assert derivative.latest().report["slopes"] == steep


def test_masked_pullbacks_read_what_others_save() -> None:
    for f, x, g, _ in PROGRAMS:
        _, pullback = vjp(f, x)
        half = pullback._half
        if half.masked is not None:
            masked = half.masked()
            assert masked is not None, f.__name__
            assert masked.call(pullback.residuals, 1.0)[0].tolist() == pytest.approx(g)


def test_products_are_masked_in_the_order_that_they_had() -> None:
    """The optimiser multiplies a number last: what is 0 before an infinite slope still counts."""
    assert vjp(beside, FOUR)[1](0.0)[0].tolist() == [0.0, 0.0, 0.0, 0.0]
    assert vjp(beside, FOUR)[1](2.0)[0].tolist() == pytest.approx([0.0, 0.5, 1 / 3, 0.0])
