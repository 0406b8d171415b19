"""What loops save: one list for each pair of loops, and nothing twice."""

from __future__ import annotations

import math

import numpy as np

from adcompiler import grad, source, value_and_grad, vjp


def nested(x, n):
    for i in range(n):
        for _ in range(i + 1):
            x = math.sin(x) * x
        x = math.exp(-x) * x
    return x


def direct_gradient(x, n, h=1e-6):
    return (nested(x + h, n) - nested(x - h, n)) / (2 * h)


def test_an_inner_loop_saves_tuples() -> None:
    text = source(nested, 0.7, 3, mode="grad", argnums=0)
    assert text.count("append(") == 2
    assert "append((x, sin))" in text
    assert "for x, sin in reversed(tape):" in text
    np.testing.assert_allclose(grad(nested)(0.7, 3), direct_gradient(0.7, 3), rtol=1e-8)


def test_a_pair_hands_one_list_over() -> None:
    text = source(nested, 0.7, 3, mode="vjp", argnums=0)
    returned = next(line for line in text.splitlines() if line.strip().startswith("return x"))
    assert returned.count("tape") == 1
    _, pullback = vjp(nested, 0.7, 3, argnums=0)
    np.testing.assert_allclose(pullback(1.0), direct_gradient(0.7, 3), rtol=1e-8)
    np.testing.assert_allclose(pullback(1.0), direct_gradient(0.7, 3), rtol=1e-8)


def inner_loop_last(x, n):
    for i in range(n):
        x = math.cos(x) * x
        for _ in range(i + 1):
            x = math.sin(x) * x
    return x


def test_the_list_of_an_inner_loop_is_saved_when_it_is_there() -> None:
    h = 1e-6
    expected = (inner_loop_last(1.1 + h, 3) - inner_loop_last(1.1 - h, 3)) / (2 * h)
    np.testing.assert_allclose(grad(inner_loop_last)(1.1, 3), expected, rtol=1e-7)
    _, pullback = vjp(inner_loop_last, 1.1, 3, argnums=0)
    np.testing.assert_allclose(pullback(1.0), expected, rtol=1e-7)


def with_break(x, limit):
    total = 0.0
    for value in (0.5, 1.5, 2.5, 3.5):
        if value > limit:
            break
        total = total + math.sin(x * value) * math.cos(x * value)
    return total


def test_loops_that_are_left_early_save_what_they_did() -> None:
    for limit in (0.0, 2.0, 9.0):
        gradient = grad(with_break)(0.3, limit)
        h = 1e-6
        expected = (with_break(0.3 + h, limit) - with_break(0.3 - h, limit)) / (2 * h)
        np.testing.assert_allclose(gradient, expected, atol=1e-8)


def unset_at_first(x, n):
    total = x
    for i in range(n):
        if i > 0:
            total = total * last * x  # noqa: F821
        last = math.sin(total) * x  # noqa: F841
    return total


def test_what_is_not_set_in_the_first_iteration_may_be_saved() -> None:
    h = 1e-6
    expected = (unset_at_first(0.7 + h, 4) - unset_at_first(0.7 - h, 4)) / (2 * h)
    np.testing.assert_allclose(grad(unset_at_first)(0.7, 4), expected, rtol=1e-7)


def cholesky(A):
    n = len(A)
    L = np.zeros_like(A)
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                L[i, j] = math.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return np.sum(L)


def test_subscripts_in_arms_are_not_saved() -> None:
    A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
    text = source(cholesky, A, mode="grad", argnums=0)
    assert "pair" not in text
    assert "L_bar[j, j] -=" in text
    E = np.zeros_like(A)
    E[2, 1] = h = 1e-6
    expected = (cholesky(A + E) - cholesky(A - E)) / (2 * h)
    np.testing.assert_allclose(grad(cholesky)(A)[2, 1], expected, rtol=1e-7)


# -- shapes of carried arrays ------------------------------------------------------------------


def heat(u0, k, steps):
    u = u0.copy()
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = u[1:-1] + k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u, v = v, u
    return np.sum(u * u)


def test_arrays_that_keep_their_shape_need_no_shapes_saved() -> None:
    text = source(heat, np.linspace(0.0, 1.0, 6), 0.1, 3, mode="grad", argnums=(0, 1))
    assert "shape" not in text
    assert "unbroadcast" not in text


def grown(x, n):
    for _ in range(n):
        x = np.concatenate([x, x * 2.0])
    return np.sum(x * x)


def stretched(x, y, n):
    for _ in range(n):
        x = x * y
    return np.sum(x)


def test_arrays_that_change_their_shape_are_not_taken_to_keep_it() -> None:
    x = np.array([1.0, 2.0])
    value, gradient = value_and_grad(grown)(x, 2)
    assert value == 125.0
    np.testing.assert_allclose(gradient, 50.0 * x)
    x_bar, y_bar = grad(stretched, argnums=(0, 1))(np.array([3.0]), np.array([1.0, 2.0]), 2)
    np.testing.assert_allclose(x_bar, [5.0])
    np.testing.assert_allclose(y_bar, [6.0, 12.0])


# -- what is cheap is computed anew ------------------------------------------------------------


def polynomial_in_sine(x, n, scale):
    total = 0.0
    for i in range(n):
        t = x[i] * x[i]
        shifted = t + scale
        total = total + np.sin(shifted) * t * t
    return total


def test_sums_and_products_of_what_is_saved_are_computed_anew() -> None:
    x = np.array([0.3, -0.7, 1.1])
    for mode in ("grad", "vjp"):
        text = source(polynomial_in_sine, x, 3, 0.25, mode=mode, argnums=0)
        (saved,) = (line.strip() for line in text.splitlines() if "append(" in line)
        assert saved in ("tape.append((np.sin(shifted), item))", "tape.append((sin, item))")
        assert "t + scale" in text.partition("# reverse of")[2]
    t = x * x
    expected = (np.cos(t + 0.25) * t * t + 2.0 * np.sin(t + 0.25) * t) * 2.0 * x
    np.testing.assert_allclose(grad(polynomial_in_sine)(x, 3, 0.25), expected, rtol=1e-14)
    _, pullback = vjp(polynomial_in_sine, x, 3, 0.25, argnums=0)
    np.testing.assert_allclose(pullback(1.0), expected, rtol=1e-14)


def accumulated(x, n):
    total = 0.0
    for i in range(n):
        total = total + x[i]
        x[i] = total * x[i] * x[i]
    return np.sum(x) * total


def test_what_a_loop_carries_is_not_taken_for_a_value_from_outside() -> None:
    x = np.array([0.3, -0.7, 1.1])
    gradient = grad(accumulated)(x, 3)
    for i, h in enumerate(np.eye(3) * 1e-6):
        slope = (accumulated(x + h, 3) - accumulated(x - h, 3)) / 2e-6
        assert abs(gradient[i] - slope) < 1e-8
