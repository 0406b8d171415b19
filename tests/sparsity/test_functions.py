"""Patterns of NumPy functions of which only one in many is drawn elsewhere, beside Jacobians."""

import numpy as np
import pytest

from adcompiler import jacobian_sparsity
from tests.sparsity.check import dense_jacobian

A = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
AT = np.array([0.3, 1.7, -0.6, 2.2, 0.9, -1.4])


def by_rows(x):
    return x.reshape(2, 3)


@pytest.mark.parametrize("function", [
    lambda x: np.vdot(x[:3], x[3:]), lambda x: np.vdot(by_rows(x), A),
    lambda x: np.inner(by_rows(x), A), lambda x: np.inner(x[:2], 2.0),
    lambda x: np.outer(x[:2], x[4:]), lambda x: np.outer(x[:2], np.array([1.0, 2.0])),
    lambda x: np.tensordot(by_rows(x), x[3:], axes=([1], [0])),
    lambda x: np.tensordot(by_rows(x), np.ones((3, 2)), 1),
    lambda x: np.kron(x[:2], x[3:5]), lambda x: np.kron(by_rows(x), np.ones((1, 2))),
    lambda x: np.linalg.multi_dot([by_rows(x), np.ones((3, 2)), x[:2]]),
    lambda x: np.polyval(x[:3], x[3:]), lambda x: np.polyval(np.array([1.0, 2.0, 0.5]), x),
    lambda x: np.ptp(by_rows(x), axis=1) * 1.0,
    lambda x: np.ediff1d(x), lambda x: np.ediff1d(by_rows(x)),
    lambda x: np.insert(x[:3], 1, x[4]), lambda x: np.insert(x, [1, 2], 0.0),
    lambda x: np.take(x, [4, 0, 4]), lambda x: np.take(by_rows(x), [2, 0], axis=1),
    lambda x: np.delete(x, [1, 3]), lambda x: np.append(x[:2], x[5] * x[4]),
], ids=range(22))
def test_entries_are_those_of_the_jacobian(function):
    points = (AT, AT[::-1].copy(), AT + 3.0)
    dense = np.any([dense_jacobian(function, (at,), (0,)) != 0.0 for at in points], axis=0)
    found = jacobian_sparsity(function, AT).toarray()
    assert not (dense & ~found).any()
    assert found.sum() == dense.sum()
    for at in points:
        here = jacobian_sparsity(function, at, mode="local").toarray()
        assert not ((dense_jacobian(function, (at,), (0,)) != 0.0) & ~here).any()
        assert not (here & ~found).any()


def test_sums_of_iterators_at_a_point() -> None:
    def one_of(a, b, c):
        return sum(iter(a) if c else iter(b[1:]))

    x = np.arange(3.0)
    for flag, wanted in ((True, ([1, 1, 1], [0, 0, 0])), (False, ([0, 0, 0], [0, 1, 1]))):
        for position in (0, 1):
            found = jacobian_sparsity(one_of, x, x, flag, argnums=position, mode="local")
            np.testing.assert_array_equal(found.toarray(), [wanted[position]])
