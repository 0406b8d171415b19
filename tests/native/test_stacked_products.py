"""Products of stacks of matrices in machine loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import grad
from tests.native.test_backends_agree import outcome

pytestmark = pytest.mark.usefixtures("plain_loops")
RNG = np.random.default_rng(11)


def energy(A, B):
    y = np.matmul(A, B)
    return np.sum(y * y) + np.sum((A @ B)[:, 0])


def squares(A, B):
    return np.sum(np.swapaxes(A, 1, 2) @ np.tanh(A @ B))


@pytest.mark.parametrize("function", [energy, squares])
@pytest.mark.parametrize(("a", "b"), [
    ((4, 3, 5), (4, 5, 2)), ((4, 3, 5), (4, 5, 1)), ((4, 1, 3), (4, 3, 4)), ((4, 3, 1), (4, 1, 2)),
    ((2, 17, 16), (2, 16, 16)), ((0, 3, 2), (0, 2, 4)), ((2, 3, 0), (2, 0, 2)), ((4, 3, 5), (5, 2)),
    ((1, 3, 5), (4, 5, 2)), ((4, 3, 5), (1, 5, 2)), ((4, 3, 5), (4, 4, 2)), ((4, 3, 5), (3, 5, 2)),
])
def test_gradients_are_those_of_python(function: Any, a: Any, b: Any) -> None:
    A, B = RNG.normal(size=a), RNG.normal(size=b)
    for left, right in [(A, B), (np.asfortranarray(A), B[::-1] if B.ndim == 3 else B)]:
        wanted = outcome(grad(function, (0, 1)), left, right)
        found = outcome(grad(function, (0, 1), backend="native"), left, right)
        assert type(found[0]) is type(wanted[0])
        if isinstance(wanted[0], np.ndarray):
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)
        else:
            assert found == wanted


@pytest.mark.parametrize(("a", "b"), [((2, 4, 3, 5), (2, 4, 5, 2)), ((4, 3, 5), (5,))])
def test_other_stacks_are_multiplied_in_python(a: Any, b: Any) -> None:
    function = energy if len(b) > 1 else lambda A, B: np.sum(A @ B)
    A, B = RNG.normal(size=a), RNG.normal(size=b)
    native = grad(function, (0, 1), backend="native")
    for one, other in zip(native(A, B), grad(function, (0, 1))(A, B), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)
    assert "calls in Python: matmul" in native.explain(A, B).backend
