"""Where shapes follow from those of arguments, loops neither check, save nor sum over them."""

import ast

import numpy as np
import pytest

import adcompiler as ad
from adcompiler.testing import check_grads


def sigmoid(t):
    return 1.0 / (1.0 + np.exp(-t))


def lstm(params, xs, ys):
    Wf, Wi, Wc, Wo, Wy, b = (params[k] for k in ("Wf", "Wi", "Wc", "Wo", "Wy", "b"))
    h = np.zeros(Wf.shape[0])
    c = np.zeros(Wf.shape[0])
    loss = 0.0
    for x, y in zip(xs, ys):
        z = np.concatenate([h, x])
        f = sigmoid(Wf @ z + b[0])
        i = sigmoid(Wi @ z + b[1])
        o = sigmoid(Wo @ z + b[2])
        g = np.tanh(Wc @ z + b[3])
        c = f * c + i * g
        h = o * np.tanh(c)
        p = Wy @ h
        loss += np.sum((p - y) ** 2)
    return loss


def nbody(pos, vel, mass, dt, steps):
    for _ in range(steps):
        acc = np.zeros_like(pos)
        for i in range(len(mass)):
            d = pos - pos[i]
            r2 = np.sum(d * d, axis=1) + 0.01
            acc[i] = np.sum(mass[:, None] * d / (r2 ** 1.5)[:, None], axis=0)
        vel = vel + dt * acc
        pos = pos + dt * vel
    return 0.5 * np.sum(mass * np.sum(vel * vel, axis=1))


def kalman(F, H, Q, R, x, P, zs):
    total = 0.0
    for z in zs:
        x = F @ x
        P = F @ P @ F.T + Q
        y = z - H @ x
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ y
        P = (np.eye(len(x)) - K @ H) @ P
        total -= 0.5 * y @ np.linalg.solve(S, y)
    return total


def heat(u, k, dt, steps):
    for _ in range(steps):
        new = u.copy()
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + dt * k * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        u = new
    return np.sum(u ** 2)


def mixture(alphas, means, icf, x):
    n, d = x.shape
    K = len(alphas)
    total = 0.0
    for i in range(n):
        terms = np.zeros(K)
        for k in range(K):
            diff = x[i] - means[k]
            scaled = np.exp(icf[k, :d]) * diff
            terms[k] = alphas[k] + np.sum(icf[k, :d]) - 0.5 * np.sum(scaled ** 2)
        m = np.max(terms)
        total += m + np.log(np.sum(np.exp(terms - m)))
    return total


def conv2d(image, kernel):
    H, W = image.shape
    kh, kw = kernel.shape
    out = np.zeros((H - kh + 1, W - kw + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(image[i : i + kh, j : j + kw] * kernel)
    return np.sum(out ** 2)


def neighbours(u, w):
    total = 0.0
    for i in range(1, len(u) - 1):
        total += np.sum(u[i - 1 : i + 2] * w[:3])
    return total


def normal(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape)


PARAMETERS = {
    **{k: normal(3, 5) for k in ("Wf", "Wi", "Wc", "Wo")}, "Wy": normal(4, 3), "b": normal(4, 3),
}
CASES = [
    (lstm, (PARAMETERS, normal(3, 2), normal(3, 4)), 0),
    (nbody, (normal(4, 3), normal(4, 3), np.abs(normal(4)), 0.01, 2), (0, 1, 2)),
    (kalman, (normal(3, 3), normal(2, 3), np.eye(3), np.eye(2), normal(3), np.eye(3),
              normal(3, 2)), (0, 1)),
    (heat, (normal(5, 4), 0.3, 0.1, 2), (0, 1)),
    (mixture, (normal(3), normal(3, 2), normal(3, 4), normal(5, 2)), (0, 1, 2)),
    (conv2d, (normal(5, 4), normal(2, 3)), (0, 1)),
]
CHECKS = {"same_shape", "same_trailing_shape", "same_extent", "unbroadcast", "keeps_shape"}


def of_shapes(text: str) -> list[str]:
    """Return what loops of a text do about shapes."""
    loops = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.For | ast.While)]
    return [
        ast.unparse(node) for loop in loops for part in loop.body for node in ast.walk(part)
        if (isinstance(node, ast.Attribute) and node.attr == "shape")
        or (isinstance(node, ast.Name) and node.id in CHECKS)
    ]


@pytest.mark.parametrize(("function", "args", "argnums"), CASES, ids=lambda c: getattr(
    c, "__name__", ""))
def test_loops_do_nothing_about_shapes(function, args, argnums):
    text = ad.value_and_grad(function, argnums).source_for(*args)
    found = of_shapes(text)
    if function is kalman:  # what NumPy's inv and solve raise for other than square matrices
        found = [one for one in found if not one.startswith("product")]
    assert not found
    places = argnums if isinstance(argnums, tuple) else (argnums,)

    def of_floats(*given):
        return function(*given, *args[len(places) :])

    check_grads(of_floats, args[: len(places)], order=1)


@pytest.mark.parametrize(("function", "args", "argnums"), CASES, ids=lambda c: getattr(
    c, "__name__", ""))
def test_tapes_hold_at_most_ten_values(function, args, argnums):
    text = ad.value_and_grad(function, argnums).source_for(*args)
    saved = [
        [ast.unparse(one) for one in getattr(node.args[0], "elts", node.args)]
        for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute) and node.func.attr == "append"
        and "tape" in ast.unparse(node.func.value)
    ]
    assert all(len(row) <= 10 for row in saved), saved
    assert not any("shape" in one or ".T" in one for row in saved for one in row), saved


def windows(u, w):
    total = 0.0
    for i in range(len(u)):
        total += np.sum(u[i : i + 2] * w)
    return total


def test_a_window_that_ends_early_is_no_reason_to_expect_its_shape():
    derivative = ad.grad(windows, (0, 1))
    with pytest.raises(ValueError, match="broadcast"):  # as Python: the last one has one element
        derivative(normal(3), normal(3))
    u_bar, w_bar = derivative(normal(4), normal(1))
    assert np.allclose(u_bar, np.array([1.0, 2.0, 2.0, 2.0]) * normal(1))
    assert np.allclose(w_bar, 2 * np.sum(normal(4)) - normal(4)[0])
    assert derivative(normal(4), 2.0)[1] == pytest.approx(2 * np.sum(normal(4)) - normal(4)[0])


@pytest.mark.parametrize("sizes", [(5, 3), (3, 3), (2, 3), (0, 3), (6, 5)])
def test_windows_within_bounds(sizes):
    u, w = normal(sizes[0]), normal(sizes[1])
    text = ad.grad(neighbours, (0, 1)).source_for(u, w)
    assert of_shapes(text) == []
    check_grads(neighbours, (u, w), order=1)


@pytest.mark.parametrize("change", [
    ("Wf", (3, 5), (1, 5)), ("b", (4, 3), (4, 1)), ("Wy", (4, 3), (1, 3)),
])
def test_stretched_parameters_after_equal_ones(change):
    """The guard in front of the loop sees what an iteration would have seen."""
    name, _, shape = change
    derivative = ad.value_and_grad(lstm, 0)
    xs, ys = normal(3, 2), normal(3, 4)
    derivative(PARAMETERS, xs, ys)
    other = {**PARAMETERS, name: normal(*shape)}
    if name == "Wf":
        other |= {"Wf": normal(3, 5), "Wi": normal(1, 5)}
    value, bars = derivative(other, xs, ys)
    assert np.isclose(value, lstm(other, xs, ys))
    tangents = {key: np.cos(array) for key, array in other.items()}
    wanted = ad.jvp(lambda params: lstm(params, xs, ys), (other,), (tangents,))[1]
    assert {k: v.shape for k, v in bars.items()} == {k: v.shape for k, v in other.items()}
    assert np.isclose(sum(np.sum(bars[key] * tangents[key]) for key in other), wanted)


def of_both(A, B, trips):
    total = 0.0
    for i in range(trips):
        total += np.sum(A * B[:, np.flatnonzero(B[i] > -9.0)])  # rows from outside, columns of the iteration
    return total + np.sum(A[:, 0] * B[:, 0])


@pytest.mark.parametrize("trips", [0, 1])
def test_what_an_iteration_checks_does_not_hold_without_one(trips):
    derivative = ad.grad(of_both, (0, 1))
    derivative(normal(3, 2), normal(3, 2), trips)
    A, B = normal(3, 2), normal(1, 2)
    A_bar, B_bar = derivative(A, B, trips)
    assert A_bar.shape == A.shape and B_bar.shape == B.shape
    wanted = ad.jvp(lambda A, B: of_both(A, B, trips), (A, B), (A, 2.0 * B))[1]
    assert np.isclose(np.sum(A_bar * A) + 2.0 * np.sum(B_bar * B), wanted)


def of_what_may_be_missing(x, y, flag, trips):
    if flag:
        b = y * 2.0
    for _ in range(trips):
        x = x + b
    return np.sum(x * x)


def test_what_may_have_no_value_is_not_read_in_front_of_the_loop():
    derivative = ad.grad(of_what_may_be_missing, (0, 1))
    x, y = normal(3), normal(3)
    for flag, trips, shape in [(True, 2, 3), (False, 0, 3), (True, 1, 1), (False, 0, 2)]:
        y = normal(shape)
        x_bar, y_bar = derivative(x, y, flag, trips)
        end = x + 2.0 * trips * y if flag else x
        assert np.allclose(x_bar, 2.0 * end)
        wanted = 4.0 * trips * end if flag else np.zeros(shape)
        assert np.allclose(y_bar, wanted if shape == 3 or not flag else np.sum(wanted))
    with pytest.raises(UnboundLocalError):
        derivative(x, normal(3), False, 1)


def read_for_nothing(x, n):
    acc = np.zeros(len(x))
    acc[0] = x[1]
    acc[0]
    for i in range(len(x)):
        acc[i] += x[i] * x[i]
        x[i]
        acc[i]
    acc[n]
    return np.sum(acc)


def test_what_no_subscript_can_raise_is_not_read_for_nothing():
    text = ad.value_and_grad(read_for_nothing).source_for(normal(3), 1)
    lines = [line.strip() for line in text.splitlines()]
    assert "x[i]" not in lines and "acc[i]" not in lines and "acc[n]" in text
    assert "acc[0]" not in lines and "= acc[0]" not in text
    x_bar = ad.grad(read_for_nothing)(normal(3), 1)
    assert np.allclose(x_bar, 2.0 * normal(3) + [0.0, 1.0, 0.0])
    with pytest.raises(IndexError):
        ad.value_and_grad(read_for_nothing)(normal(3), 3)
