"""What rules share between value and pullback, visible in the emitted text."""

import re

import numpy as np
import pytest

from adcompiler import grad, source, value_and_grad, vjp

A = np.array([[2.0, 1.0], [1.0, 3.0]])


def test_D9_eigenvalues_come_with_their_vectors_and_explain_says_so():
    derivative = value_and_grad(lambda a: np.linalg.eigvalsh(a)[0])
    value, slope = derivative(A)
    assert value == pytest.approx((5.0 - 5.0**0.5) / 2.0, rel=1e-14)
    assert slope[0, 1] == 0.0  # eigvalsh reads the lower triangle only
    np.testing.assert_allclose(0.5 * (slope + slope.T), [
        [0.7236067977499788, -0.4472135954999578], [-0.4472135954999578, 0.2763932022500209]
    ], rtol=1e-12)
    assert code(derivative.source).count("np.linalg.eigh(") == 1
    assert "eigvalsh(" not in code(derivative.source)
    (changed,) = derivative.explain(A).changed
    assert changed.startswith("numpy.linalg.eigvalsh: ")
    trace = grad(lambda a: np.sum(np.linalg.eigvalsh(a)))(A)
    np.testing.assert_allclose(trace, np.eye(2), atol=1e-14)


def test_D9_strict_primal_computes_the_value_by_the_function_itself():
    def smallest(a):
        return np.linalg.eigvalsh(a)[0] * np.linalg.svdvals(a)[0] if hasattr(
            np.linalg, "svdvals") else np.linalg.eigvalsh(a)[0]

    a = np.random.default_rng(4).normal(size=(6, 6))
    a = a + a.T
    strict = value_and_grad(smallest, strict_primal=True)
    value, slope = strict(a)
    assert value == smallest(a)
    assert "np.linalg.eigvalsh(a)" in strict.source
    np.testing.assert_allclose(slope, grad(smallest)(a), rtol=1e-10, atol=1e-12)
    y, pullback = vjp(np.linalg.eigvalsh, a, strict_primal=True)
    assert np.array_equal(y, np.linalg.eigvalsh(a))
    np.testing.assert_allclose(pullback(np.ones(6))[0], np.eye(6), atol=1e-12)
    assert np.array_equal(grad(lambda x: np.sort(x)[0], strict_primal=True)(
        np.array([3.0, 1.0, 2.0])), [0.0, 1.0, 0.0])


def test_D10_a_system_is_factorised_once():
    def f(a, b):
        return np.sum(np.linalg.solve(a, b))

    b = np.array([1.0, 2.0])
    text = source(f, A, b, mode="vjp", argnums=(0, 1))
    assert len(re.findall(r"lu_factor\(|np\.linalg\.solve\(|np\.linalg\.inv\(", code(text))) == 1
    value, (a_bar, b_bar) = value_and_grad(f, argnums=(0, 1))(A, b)
    assert value == pytest.approx(0.8, rel=1e-15)
    np.testing.assert_allclose(b_bar, [0.4, 0.2], rtol=1e-14)
    np.testing.assert_allclose(a_bar, [[-0.08, -0.24], [-0.04, -0.12]], rtol=1e-13)


def test_D7_reads_in_a_loop_share_one_array_of_cotangents():
    def f(x):
        total = 0.0
        for i in range(len(x)):
            total = total + x[i] * x[i]
        return total

    text = source(f, np.ones(4))
    assert text.count("zeros") == 1
    assert text.index("zeros") < text.rindex("for ")
    assert np.array_equal(grad(f)(np.array([1.0, 2.0, 3.0])), [2.0, 4.0, 6.0])


def test_D7_an_index_is_computed_once_and_repeated_positions_add_up():
    def f(x, n):
        return np.sum(np.exp(x[np.arange(n) % 2]))

    assert code(source(f, np.ones(3), 4)).count("np.arange(") == 1
    assert np.array_equal(
        grad(lambda x: x[[0, 1, 1]].sum())(np.ones(4)), [1.0, 2.0, 0.0, 0.0])


def test_D13_cotangents_are_added_in_place_only_where_the_sweep_owns_them():
    def f(x):
        return np.sum(x[1:] * 2.0) + x[0] * x[1]

    text = source(f, np.ones(3))
    assert text.count("zeros") == 1
    assert text.count("+=") >= 2
    seed = np.array([1.0, 2.0, 3.0])
    _, pullback = vjp(lambda x: x + 0.0 * x[::-1], np.ones(3))
    (first,) = pullback(seed)
    assert np.array_equal(seed, [1.0, 2.0, 3.0])
    assert not np.shares_memory(first, seed)
    frozen = np.array([1.0, 2.0, 3.0])
    frozen.flags.writeable = False
    assert np.array_equal(pullback(frozen)[0], first)


def code(text):
    """Return emitted text without comments and docstrings."""
    return "\n".join(
        row.partition("#")[0] for row in text.splitlines() if not row.strip().startswith('"""')
    )
