"""Programs as someone writes them for JAX: with its scans, and without assignments."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax


def repeated(step, start, steps):
    """Return the state after some steps."""
    return lax.scan(lambda state, _: (step(*state), None), start, None, length=steps)[0]


def summed(term, count):
    """Return a sum of terms, one after the other."""
    return lax.scan(lambda total, i: (total + term(i), None), 0.0, jnp.arange(count))[0]


def logistic_map(x, r, steps):
    return repeated(lambda x: (r * x * (1.0 - x),), (x,), steps)[0]


def pendulum(angle, speed, steps):
    def step(angle, speed):
        speed = speed - 0.01 * jnp.sin(angle)
        return angle + 0.01 * speed, speed

    return repeated(step, (angle, speed), steps)[0]


def continued_fraction(x, steps):
    def step(value, k):
        return x * x / (2.0 * k + 1.0 - value), None

    return x / (1.0 - lax.scan(step, 0.0, jnp.arange(steps, 0, -1))[0])


def simpson(a, b, steps):
    t = a + jnp.arange(1, steps) * ((b - a) / steps)
    weights = jnp.where(jnp.arange(1, steps) % 2 == 1, 4.0, 2.0)
    total = jnp.exp(-a * a) + jnp.exp(-b * b) + jnp.sum(weights * jnp.exp(-t * t))
    return total * (b - a) / steps / 3.0


def lorenz(x, y, z, steps):
    h = 0.005

    def step(x, y, z):
        u = x + 0.5 * h * 10.0 * (y - x)
        v = y + 0.5 * h * (x * (28.0 - z) - y)
        w = z + 0.5 * h * (x * y - 8.0 / 3.0 * z)
        return (x + h * 10.0 * (v - u), y + h * (u * (28.0 - w) - v),
                z + h * (u * v - 8.0 / 3.0 * w))

    return repeated(step, (x, y, z), steps)[0]


def recurrent(W, U, b, inputs):
    def step(h, x):
        return jnp.tanh(W @ h + U @ x + b), None

    h = lax.scan(step, jnp.zeros(len(b)), inputs)[0]
    return jnp.sum(h * h)


def rosenbrock(x):
    return summed(lambda i: 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2, len(x) - 1)


rosenbrock_hessian_loop = rosenbrock


def recurrence(x, a):
    def step(last, value):
        new = a[0] * last[0] + a[1] * last[1] + jnp.sin(value)
        return (new, last[0]), new

    y = lax.scan(step, (x[1], x[0]), x[2:])[1]
    return jnp.sum(y * y) + x[0] ** 2 + x[1] ** 2


def seidel(u, f, sweeps):
    m, n = u.shape
    i, j = (part.ravel() + 1 for part in jnp.indices((m - 2, n - 2)))

    def cell(u, at):
        i, j = at
        mean = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + f[i, j])
        return u.at[i, j].set(mean), None

    u = repeated(lambda u: (lax.scan(cell, u, (i, j))[0],), (u,), sweeps)[0]
    return jnp.sum(u * u)


def n_body(places, masses):
    i, j = jnp.tril_indices(len(masses), -1)
    d = places[i] - places[j]
    return -jnp.sum(masses[i] * masses[j] / jnp.sqrt(jnp.sum(d * d, axis=1)))


def table(cell, first, row_starts, x, y):
    """Return the last number of a table of dynamic programming, row by row."""
    def row(above, given):
        x, start = given

        def along(left, given):
            y, diagonal, up = given
            new = cell(x, y, up, left, diagonal)
            return new, new

        rest = lax.scan(along, start, (y, above[:-1], above[1:]))[1]
        return jnp.concatenate([start[None], rest]), None

    return lax.scan(row, first, (x, row_starts))[0][-1]


def soft_dtw(x, y):
    def cell(x, y, a, b, d):
        least = jnp.minimum(jnp.minimum(a, b), d)
        total = jnp.exp(least - a) + jnp.exp(least - b) + jnp.exp(least - d)
        return (x - y) ** 2 + least - jnp.log(total)

    first = jnp.full(len(y) + 1, 1e10).at[0].set(0.0)
    return table(cell, first, jnp.full(len(x), 1e10), x, y)


def edit_distance(x, y):
    def cell(x, y, a, b, d):
        return jnp.minimum(jnp.minimum(d + (x - y) ** 2, a + 1.0), b + 1.0)

    return table(cell, jnp.arange(len(y) + 1.0), jnp.arange(1.0, len(x) + 1), x, y)


def hidden_markov(start, step, emit, seen):
    def one(state, o):
        p, total = state
        q = (p @ step) * emit[:, o]
        return (q / jnp.sum(q), total + jnp.log(jnp.sum(q))), None

    return lax.scan(one, (start, 0.0), seen)[0][1]


def factored(A):
    """Return the factors of LU in one matrix, a column at a time."""
    n = len(A)

    def column(k, A):
        below = jnp.arange(n) > k
        factor = jnp.where(below, A[:, k] / A[k, k], 0.0)
        right = jnp.where(below, A[k], 0.0)
        return A.at[:, k].set(jnp.where(below, factor, A[:, k])) - jnp.outer(factor, right)

    return lax.fori_loop(0, n, column, A)


def lu(A, weights):
    return jnp.sum(weights * factored(A))


def log_determinant(A):
    return jnp.sum(jnp.log(jnp.abs(jnp.diag(factored(A)))))


def cholesky(A):
    n = len(A)

    def column(L, j):
        s = A[:, j] - L @ L[j]
        below = jnp.arange(n) >= j
        new = jnp.where(below, s / jnp.sqrt(s[j]), 0.0)
        return L.at[:, j].set(new), 0.5 * jnp.log(s[j])

    return jnp.sum(lax.scan(column, jnp.zeros((n, n)), jnp.arange(n))[1])


def levinson(r):
    n = len(r) - 1
    places = jnp.arange(n + 1)

    def step(state, m):
        a, error = state
        k = -jnp.sum(jnp.where(places < m, a * r[jnp.abs(m - places)], 0.0)) / error
        turned = jnp.where((places >= 1) & (places <= m), a[jnp.abs(m - places)], 0.0)
        return (a + k * turned, error * (1.0 - k * k)), None

    first = jnp.zeros(n + 1).at[0].set(1.0), r[0]
    return lax.scan(step, first, jnp.arange(1, n + 1))[0][1]


def tridiagonal(lower, diagonal, upper, right):
    def down(carry, row):
        a, b, c, r = row
        pivot = b - a * carry[0]
        new = c / pivot, (r - a * carry[1]) / pivot
        return new, new

    def up(x, row):
        new = row[1] - row[0] * x
        return new, new

    zero = jnp.zeros(())
    c, d = lax.scan(down, (zero, zero), (lower.at[0].set(0.0), diagonal, upper, right))[1]
    return jnp.sum(lax.scan(up, zero, (c.at[-1].set(0.0), d), reverse=True)[1] ** 2)


def monte_carlo(spot, volatility, draws):
    steps = jnp.exp(-0.005 * volatility * volatility + 0.1 * volatility * draws)
    means = jnp.mean(spot * jnp.cumprod(steps, axis=1), axis=1)
    return jnp.mean(jnp.maximum(means - 1.0, 0.0))


def lstm(W, b, inputs, targets):
    def step(state, given):
        (h, c), (x, y) = state, given
        f, g, o, z = W @ jnp.append(h, x) + b
        c = c * jax.nn.sigmoid(f) + jnp.tanh(z) * jax.nn.sigmoid(g)
        h = jnp.tanh(c) * jax.nn.sigmoid(o)
        return (h, c), (h[0] - y) ** 2

    zero = jnp.zeros(b.shape[1])
    return jnp.sum(lax.scan(step, (zero, zero), (inputs, targets))[1])


def mixture_loop(weights, means, factors, points):
    size = means.shape[1]
    column, row = jnp.triu_indices(size, 1)
    lower = jnp.zeros((len(means), size, size)).at[:, row, column].set(factors[:, size:])
    centred = points[:, None] - means
    projected = jnp.exp(factors[:, :size]) * centred + jnp.einsum("jba,ija->ijb", lower, centred)
    logs = weights + jnp.sum(factors[:, :size], axis=1) - 0.5 * jnp.sum(projected**2, axis=2)
    normed = jax.scipy.special.logsumexp(logs, axis=1)
    return jnp.sum(normed) - len(points) * jax.scipy.special.logsumexp(weights)


def energy(step, start, steps):
    """Return the sum of the squares of the first array of a state after some steps."""
    return jnp.sum(repeated(step, start, steps)[0] ** 2)


def heat_1d(u, k, steps):
    def step(u, v):
        return v.at[1:-1].set(u[1:-1] + k * (u[2:] - 2.0 * u[1:-1] + u[:-2])), u

    return energy(step, (u, u), steps)


def heat_2d(u, k, steps):
    def step(u):
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return (u.at[1:-1, 1:-1].add(k * (around - 4.0 * u[1:-1, 1:-1])),)

    return energy(step, (u,), steps)


def heat_3d(u, k, steps):
    def step(u):
        c = u[1:-1, 1:-1, 1:-1]
        around = (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1]
                  + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2])
        return (u.at[1:-1, 1:-1, 1:-1].add(k * (around - 6.0 * c)),)

    return energy(step, (u,), steps)


def wave(u, speed, steps):
    def step(u, old):
        inner = 2.0 * u[1:-1] - old[1:-1] + speed**2 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        return jnp.pad(inner, 1), u

    return energy(step, (u, u), steps)


def burgers(u, k, steps):
    def step(u):
        left, right = jnp.roll(u, 1), jnp.roll(u, -1)
        slope = jnp.where(u > 0.0, u - left, right - u)
        return (u - 0.1 * u * slope + k * (right - 2.0 * u + left),)

    return energy(step, (u,), steps)


def around(x):
    """Return the sum of the four neighbours of each cell on a torus."""
    return jnp.roll(x, 1, 0) + jnp.roll(x, -1, 0) + jnp.roll(x, 1, 1) + jnp.roll(x, -1, 1)


def reaction(u, v, steps):
    def step(u, v):
        uvv = u * v * v
        return (u + 0.16 * (around(u) - 4.0 * u) - uvv + 0.06 * (1.0 - u),
                v + 0.08 * (around(v) - 4.0 * v) + uvv - 0.122 * v)

    u, v = repeated(step, (u, v), steps)
    return jnp.sum(u * u + v * v)


def shallow_water(h, q, steps):
    def mean(x):
        return 0.5 * (jnp.roll(x, 1) + jnp.roll(x, -1))

    def change(x):
        return 0.05 * (jnp.roll(x, -1) - jnp.roll(x, 1))

    def step(h, q):
        flux = q * q / h + 4.9 * h * h
        return mean(h) - change(q), mean(q) - change(flux)

    h, q = repeated(step, (h, q), steps)
    return jnp.sum(h * h + q * q)


def oscillators(x, v, steps):
    h = 0.05

    def force(x):
        return -x - 0.2 * x**3 + 0.5 * (jnp.roll(x, 1) - 2.0 * x + jnp.roll(x, -1))

    def step(x, v):
        k1, l1 = v, force(x)
        k2, l2 = v + 0.5 * h * l1, force(x + 0.5 * h * k1)
        k3, l3 = v + 0.5 * h * l2, force(x + 0.5 * h * k2)
        k4, l4 = v + h * l3, force(x + h * k3)
        return (x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4),
                v + h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4))

    x, v = repeated(step, (x, v), steps)
    return jnp.sum(x * x + v * v)


def oscillator_step(x):
    inner = x[1:-1] + 0.1 * (x[2:] - 2.0 * x[1:-1] + x[:-2]) - 0.1 * x[1:-1] ** 3
    return jnp.pad(inner, 1)


def five_points(u, n):
    u = u.reshape(n, n)
    inner = u[1:-1, 1:-1]
    out = (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * inner
           + jnp.exp(inner) / n**2)
    return jnp.zeros((n, n)).at[1:-1, 1:-1].set(out).ravel()


def elements(u, corners, area):
    at = u[corners]
    gx, gy = at[:, 1] - at[:, 0], at[:, 2] - at[:, 0]
    k = (1.0 + gx * gx + gy * gy) * area
    parts = jnp.stack([-(gx + gy) * k, gx * k, gy * k], axis=1)
    return jnp.zeros(u.shape[0]).at[corners].add(parts)


def chained_loop(x):
    return ((1.0 - x[:-1]) ** 2 + 100.0 * (x[1:] - x[:-1] ** 2) ** 2).sum()
