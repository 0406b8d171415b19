"""Products with transposes of matrices, computed with these as they lie."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from adcompiler import grad, hessian
from tests.lanes import one_in
from tests.native.test_backends_agree import outcome

pytestmark = pytest.mark.usefixtures("plain_loops")
RNG = np.random.default_rng(29)


def layer(A, B):
    y = A @ B
    return np.sum(y * y * y)


def gram(A, B):
    return np.sum((A.T @ A) ** 2) + np.sum((B @ B.T) ** 2) + np.sum(A.T @ B.T)


def vectors(A, B):
    v = B[:, 0] * 1.0
    w = A @ v
    return np.sum(w * (A @ (A.T @ w))) + np.sum((w @ A) * (v @ A.T)[0]) + np.sum(B.T @ v)


def written_between(A, B):
    C = A * 1.0
    D = C.T
    C[:, 0] = 2.0
    y = D @ A
    C[0] = 0.5
    return np.sum(y * y) + np.sum((D @ A)[0]) * np.sum(B)


def in_a_loop(A, B):
    for _ in range(3):
        C = 0.1 * A @ B
        A = C @ B.T - A
        B = B + 0.01 * A.T @ C
    return np.sum(A) * np.sum(B * B)


def loops_of(function: Any, *args: Any) -> str:
    text = grad(function, (0, 1), backend="native").source_for(*args)
    return text[text.rindex(f"def {function.__name__}_grad_loops"):]


@pytest.mark.parametrize("function, shape", one_in(3, itertools.product(
    [layer, gram, vectors, written_between, in_a_loop],
    [(3, 4, 2), (1, 1, 1), (5, 1, 3), (1, 6, 1), (0, 3, 2), (3, 0, 2), (2, 3, 0), (17, 18, 19)])))
def test_gradients_are_those_of_python(function: Any, shape: Any) -> None:
    n, m, k = shape
    if function is vectors and not k:
        return
    A, B = RNG.normal(size=(n, m)) / (m + 1), RNG.normal(size=(m, k)) / (m + 1)
    if function is gram:
        B = RNG.normal(size=(k, n))
    wide = RNG.normal(size=(2 * n, m))[::2]
    for a, b in [(A, B), (np.asfortranarray(A), np.asfortranarray(B)), (wide, B[::-1])]:
        wanted = outcome(grad(function, (0, 1)), a, b)
        found = outcome(grad(function, (0, 1), backend="native"), a, b)
        assert type(found[0]) is type(wanted[0])
        if isinstance(wanted[0], np.ndarray):
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)
        else:
            assert found == wanted


def test_no_transpose_is_copied() -> None:
    text = loops_of(layer, np.ones((3, 4)), np.ones((4, 2)))
    assert "turned_times(A, " in text
    assert ", B)" in text.split("times_turned(")[1]
    assert ".T" not in text


def test_terms_of_a_vector_and_a_transpose_are_added_row_by_row() -> None:
    text = loops_of(vectors, np.ones((3, 4)), np.ones((4, 4)))
    assert text.count("+= A[") > 1


def test_a_hessian_of_a_model() -> None:
    def loss(w, X, y):
        return np.mean(np.logaddexp(0.0, -y * (X @ w))) + 0.05 * np.sum(w * w)

    for n, m in ((7, 3), (9, 6), (1, 1), (30, 20)):
        args = RNG.normal(size=m), RNG.normal(size=(n, m)), np.sign(RNG.normal(size=n))
        found = hessian(loss, backend="native")(*args)
        np.testing.assert_allclose(found, hessian(loss)(*args), rtol=1e-11, atol=1e-13)
