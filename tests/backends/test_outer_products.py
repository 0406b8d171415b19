"""Sums of outer products that a loop adds up are one product of matrices behind it."""

import tracemalloc

import numpy as np
import pytest
from adcompiler import grad, hvp, jvp, value_and_grad, vjp

RNG = np.random.default_rng(5)
W, V = RNG.normal(size=(3, 3)) * 0.5, RNG.normal(size=(3, 2))
XS, H = RNG.normal(size=(5, 3)), RNG.normal(size=3)


def recurrent(W, xs, h):
    for x in xs:
        h = np.tanh(W @ h + x)
    return np.sum(h)


def samples(W, X, y):
    total = 0.0
    for i in range(len(X)):
        total += np.sum((np.tanh(W @ X[i]) - y) ** 2)
    return total


def buffered(W, xs, h):
    buffer, total = np.zeros_like(h), 0.0
    for t in range(len(xs)):
        buffer[:] = xs[t] * h
        h = np.sin(W @ buffer)
        total += np.sum(h * buffer)
    return total


def history(W, xs, h):
    states = np.zeros((len(xs) + 1, len(h)))
    states[0] = h
    for t in range(len(xs)):
        states[t + 1] = np.tanh(W @ states[t] + xs[t])
    return np.sum(states**2)


def swept(W, xs, h):
    x = h.copy()
    for _ in xs:
        z = W @ x
        x[1:] = np.tanh(z[1:])
        x[0] = z[0] * 0.5
    return np.sum(x**2)


def nested(W, xs, h):
    total = 0.0
    for t in range(len(xs)):
        for k in range(t):
            h = np.tanh(W @ h + xs[k])
        total = total + np.sum(h)
    return total


def rows(W, xs, h):
    t = 0
    while t < len(xs):
        h, t = np.tanh(h @ W + xs[t]), t + 1
    return np.sum(h)


def twice(W, xs, h):
    total = 0.0
    for x in xs:
        total += np.sum(np.tanh(W @ x) * (W @ h))
    return total * np.sum(W)


def outer(W, xs, h):
    made = np.zeros_like(W)
    for x in xs:
        made = made + np.outer(np.tanh(W @ x), x)
    return np.sum(made**2) + np.sum(h)


def left_early(W, xs, h):
    for t in range(len(xs)):
        h = np.tanh(W @ h + xs[t])
        if h[0] > 0.4:
            break
    return np.sum(h)


PROGRAMS = [
    recurrent, samples, buffered, history, swept, nested, rows, twice, outer, left_early,
]


def differences(f, W, *others, step=1e-6):
    found = np.zeros_like(W)
    for place in np.ndindex(*W.shape):
        up, down = W.copy(), W.copy()
        up[place] += step
        down[place] -= step
        found[place] = (f(up, *others) - f(down, *others)) / (2 * step)
    return found


def is_together(text):
    return ".T" in text and "as_rows(" in text


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f):
    args = (W, XS, H)
    assert is_together(grad(f).source_for(*args))
    found = grad(f)(*args)
    assert found == pytest.approx(differences(f, *args), rel=1e-6, abs=1e-8)
    direction = RNG.normal(size=W.shape)
    forward = jvp(f, args, (direction, None, None))[1]
    assert np.sum(found * direction) == pytest.approx(forward, rel=1e-12)
    _, pull = vjp(f, *args)
    assert np.array_equal(pull(1.0)[0], found)
    second = hvp(f, W, direction, XS, H)
    step = 1e-6
    moved = [grad(f)(W + s * direction, XS, H) for s in (step, -step)]
    assert second == pytest.approx((moved[0] - moved[1]) / (2 * step), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("n, trips", [(3, 1), (3, 0), (1, 4), (0, 3), (0, 0)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sizes(f, n, trips, dtype):
    if n == 0 and f in (swept, left_early) and trips:
        pytest.skip("reads an element that is not there")
    args = [RNG.normal(size=shape).astype(dtype) for shape in ((n, n), (trips, n), (n,))]
    found = grad(f)(*args)
    assert found.shape == (n, n) and found.dtype == dtype
    exact = differences(f, *(arg.astype(np.float64) for arg in args))
    assert found == pytest.approx(exact, rel=1e-6 if dtype is np.float64 else 1e-3, abs=1e-4)


def test_complex_and_rectangular():
    def energy(W, x):
        total = 0.0
        for k in range(3):
            z = W @ (x * (1.0 + 0.5j * k))
            total += np.sum(np.abs(z) ** 2)
        return total

    weights = RNG.normal(size=(4, 2)) + 1j * RNG.normal(size=(4, 2))
    x = RNG.normal(size=2)
    scale = sum(abs(1.0 + 0.5j * k) ** 2 for k in range(3))
    wanted = 2.0 * scale * np.outer(weights @ x, x)
    assert grad(energy)(weights, x) == pytest.approx(wanted, rel=1e-12)


def test_vectors_that_are_written_into_are_copied():
    text = grad(buffered).source_for(W, XS, H)
    assert "np.copy(" in text.split("reverse of", 1)[1]
    assert "np.copy(" not in grad(recurrent).source_for(W, XS, H).split("reverse of", 1)[1]


def test_sums_of_the_same_vectors_are_read_of_their_rows():
    def biased(W, b, xs, h):
        for x in xs:
            h = np.tanh(W @ h + b + x)
        return np.sum(h)

    text = grad(biased, argnums=(0, 1)).source_for(W, H, XS, H)
    assert "np.sum(" in text and "b_bar +=" not in text
    _, (_, slope) = value_and_grad(biased, argnums=(0, 1))(W, H, XS, H)
    wanted = [
        (biased(W, H + e, XS, H) - biased(W, H - e, XS, H)) / 2e-6 for e in 1e-6 * np.eye(3)]
    assert slope == pytest.approx(wanted, rel=1e-6)


def test_no_matrix_is_made_in_an_iteration():
    big, xs, h = RNG.normal(size=(200, 200)) / 200.0, RNG.normal(size=(20, 200)), np.zeros(200)
    derivative = grad(recurrent)
    derivative(big, xs, h)
    tracemalloc.start()
    derivative(big, xs, h)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.8 * big.nbytes  # the gradient, and 20 vectors of each kind
