"""Stencils and discretised differential equations, by slices and by loops."""

import numpy as np

from tests.sparsity.programs import CROSS_2, CROSS_3, around, band, jacobian

RNG = np.random.default_rng(1)
N = 7
X = RNG.normal(size=N)
GRID = RNG.normal(size=(4, 5))
CUBE = RNG.normal(size=(3, 4, 3))


def inner(shape, rows):
    """Return the rows of the inner places of a grid, none for those on the boundary."""
    places = np.ndindex(*shape)
    return [
        row if all(0 < i < e - 1 for i, e in zip(place, shape, strict=True)) else set()
        for place, row in zip(places, rows, strict=True)
    ]


@jacobian(X, rows=lambda: [{i, i + 1} for i in range(N - 1)])
def forward_differences(x):
    return (x[1:] - x[:-1]) / 0.1


@jacobian(X, rows=lambda: [{i, i + 2} for i in range(N - 2)])
def central_differences(x):
    return (x[2:] - x[:-2]) / 0.2


@jacobian(X, rows=lambda: band(N, 1, 1))
def laplacian_with_boundary(x):
    y = np.empty_like(x)
    y[0] = -2.0 * x[0] + x[1]
    y[-1] = x[-2] - 2.0 * x[-1]
    y[1:-1] = x[:-2] - 2.0 * x[1:-1] + x[2:]
    return y


@jacobian(X, rows=lambda: [set(), *({i - 1, i, i + 1} for i in range(1, N - 1)), set()])
def laplacian_by_loop(x):
    y = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        y[i] = x[i - 1] - 2.0 * x[i] + x[i + 1]
    return y


@jacobian(X, rows=lambda: around((N,), [(-1,), (0,), (1,)]))
def periodic_by_roll(u):
    return np.roll(u, 1) - 2.0 * u + np.roll(u, -1)


@jacobian(X, rows=lambda: around((N,), [(0,), (1,), (3,)]))
def periodic_by_index(v):
    n = v.shape[0]
    return v[(np.arange(n) + 1) % n] * v + v[(np.arange(n) + 3) % n]


@jacobian(X, rows=lambda: around((N,), [(-1,), (0,)]))
def periodic_upwind_loop(u):
    n = len(u)
    du = [0.0] * n
    for i in range(n):
        du[i] = -(u[i] ** 2 - u[(i - 1) % n] ** 2) / 0.2
    return np.array(du)


@jacobian(X, rows=lambda: [set(), *({i - 1, i, i + 1} for i in range(1, N - 1)), set()])
def upwind_by_sign(u):
    """The side that a flow comes from depends on its sign: both may count."""
    du = np.zeros_like(u)
    for i in range(1, len(u) - 1):
        if u[i] > 0.0:
            du[i] = -u[i] * (u[i] - u[i - 1])
        else:
            du[i] = -u[i] * (u[i + 1] - u[i])
    return du


@jacobian(X, 0.7, rows=lambda: [{0}, *({i - 1, i} for i in range(1, N))])
def advection(u, speed):
    """The direction is a constant: the other branch is never taken."""
    flux = np.zeros(len(u) + 1)
    if speed > 0.0:
        flux[1:] = speed * u
    else:
        flux[:-1] = speed * u
    return -(flux[1:] - flux[:-1])


@jacobian(X, rows=lambda: [set(), *({i - 1, i, i + 1} for i in range(1, N - 1)), set()])
def burgers(u):
    du = np.zeros_like(u)
    du[1:-1] = -u[1:-1] * (u[2:] - u[:-2]) / 0.2 + 0.01 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return du


@jacobian(X, rows=lambda: band(N, 1, 1, N)[1:-1])
def nonlinear_diffusion(u):
    k = 1.0 + u**2
    flux = 0.5 * (k[1:] + k[:-1]) * (u[1:] - u[:-1])
    return flux[1:] - flux[:-1]


@jacobian(X, rows=lambda: band(N, 2, 2)[2:-2])
def biharmonic(w):
    return np.diff(w, 4)


@jacobian(X, rows=lambda: band(N, 2, 2))
def median_of_neighbours(x):
    padded = np.pad(x, 2)
    windows = np.stack([padded[k : k + len(x)] for k in range(5)])
    return np.median(windows, axis=0)


@jacobian(X, rows=lambda: band(N, 1, 1))
def padded_with_edges(x):
    p = np.pad(x, 1, mode="edge")
    return p[:-2] + p[1:-1] * p[2:]


@jacobian(X, rows=lambda: band(N, 1, 1))
def smoothed_by_convolution(x):
    return np.convolve(x, np.array([0.25, 0.5, 0.25]), mode="same")


@jacobian(X, rows=lambda: [{0, 1}, *({i - 1, i + 1} for i in range(1, N - 1)), {N - 2, N - 1}],
          exact=False)
def gradient_along_a_line(x):
    """The inner rows do not depend on their own place, which is taken to count."""
    return np.gradient(x)


@jacobian((np.arange(5.0) - 0.4) ** 2, rows=lambda: [
    {0, 1, 2}, {0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {2, 3, 4}], exact=False)
def rising_slopes(x):
    """At the first place the slope is negative, which only the parabola shows."""
    return np.maximum(np.gradient(x, edge_order=2), 0.0)


@jacobian(X, rows=lambda: band(N, 3, 0))
def moving_average(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        start = max(i - 3, 0)
        y[i] = sum(x[start : i + 1]) / (i + 1 - start)
    return y


@jacobian(X, rows=lambda: band(N, 3, 3))
def three_explicit_steps(u):
    """Each step widens the band by one."""
    for _ in range(3):
        new = u.copy()
        new[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        new[0] = u[0] + 0.1 * (u[1] - u[0])
        new[-1] = u[-1] + 0.1 * (u[-2] - u[-1])
        u = new
    return u


@jacobian(GRID, rows=lambda: inner((4, 5), around((4, 5), CROSS_2)))
def five_points_by_slices(u):
    r = np.zeros_like(u)
    r[1:-1, 1:-1] = (
        u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
    )
    return r


@jacobian(GRID, rows=lambda: around((4, 5), CROSS_2, periodic=False))
def five_points_by_loops(u):
    m, n = u.shape
    r = np.zeros((m, n))
    for i in range(m):
        for j in range(n):
            total = -4.0 * u[i, j]
            for a, b in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
                if 0 <= a < m and 0 <= b < n:
                    total += u[a, b]
            r[i, j] = total
    return r


@jacobian(GRID, rows=lambda: around((4, 5), CROSS_2))
def five_points_periodic(u):
    total = -4.0 * u
    for axis in (0, 1):
        for shift in (1, -1):
            total = total + np.roll(u, shift, axis)
    return total


@jacobian(GRID, rows=lambda: around((4, 5), list(np.ndindex(2, 2)), periodic=False)[:15])
def cell_corners(u):
    """The last column has no right neighbour: cells are made on a grid that is padded."""
    p = np.pad(u, ((0, 0), (0, 1)))
    return (p[:-1, :-1] + p[1:, :-1] + p[:-1, 1:] + p[1:, 1:])[:3]


@jacobian(GRID, rows=lambda: inner((4, 5), around((4, 5), [
    (i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)])))
def nine_points(u):
    r = np.zeros_like(u)
    for di in (-1, 0, 1):
        for dj in (-1, 0, 1):
            r[1:-1, 1:-1] += u[1 + di : 3 + di, 1 + dj : 4 + dj] ** 2
    return r


@jacobian(CUBE, rows=lambda: inner((3, 4, 3), around((3, 4, 3), CROSS_3)))
def seven_points_by_slices(u):
    r = np.zeros_like(u)
    c = u[1:-1, 1:-1, 1:-1]
    r[1:-1, 1:-1, 1:-1] = (
        u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
        + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2] - 6.0 * c
    )
    return r


@jacobian(CUBE, rows=lambda: around((3, 4, 3), CROSS_3))
def seven_points_periodic_loops(u):
    a, b, c = u.shape
    r = np.empty(u.shape)
    for i in range(a):
        for j in range(b):
            for k in range(c):
                r[i, j, k] = (
                    u[(i + 1) % a, j, k] + u[i - 1, j, k] + u[i, (j + 1) % b, k] + u[i, j - 1, k]
                    + u[i, j, (k + 1) % c] + u[i, j, k - 1] - 6.0 * u[i, j, k] ** 3
                )
    return r


def brusselator_rows(shape, steps):
    """Return the rows for two fields: neighbours of the same one, the same place of the other."""
    size = int(np.prod(shape))
    near = around(shape, steps)
    first = [row | {i + size} for i, row in enumerate(near)]
    second = [{j + size for j in row} | {i} for i, row in enumerate(near)]
    return first + second


@jacobian(RNG.normal(size=(2, 6)),
          rows=lambda: brusselator_rows((6,), [(-1,), (0,), (1,)]))
def brusselator_line(w):
    u, v = w
    reaction = u**2 * v
    du = 1.0 + reaction - 4.4 * u + np.roll(u, 1) + np.roll(u, -1) - 2.0 * u
    dv = 3.4 * u - reaction + np.roll(v, 1) + np.roll(v, -1) - 2.0 * v
    return np.stack([du, dv])


@jacobian(RNG.normal(size=(2, 4, 3)), rows=lambda: brusselator_rows((4, 3), CROSS_2))
def brusselator_plane(w):
    def laplacian(a):
        return (np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1)
                - 4.0 * a)

    u, v = w[0], w[1]
    du = 1.0 + u**2 * v - 4.4 * u + 10.0 * laplacian(u)
    dv = 3.4 * u - u**2 * v + 10.0 * laplacian(v)
    return np.concatenate([du.ravel(), dv.ravel()])


@jacobian(np.zeros((2, 4, 3)), RNG.normal(size=(2, 4, 3)), argnums=1,
          rows=lambda: brusselator_rows((4, 3), CROSS_2))
def brusselator_in_place(dw, w):
    m, n = w.shape[1:]
    for i in range(m):
        for j in range(n):
            up, down, right, left = (i + 1) % m, (i - 1) % m, (j + 1) % n, (j - 1) % n
            reaction = w[0, i, j] ** 2 * w[1, i, j]
            for s in range(2):
                dw[s, i, j] = (
                    w[s, up, j] + w[s, down, j] + w[s, i, right] + w[s, i, left] - 4.0 * w[s, i, j]
                )
            dw[0, i, j] += 1.0 + reaction - 4.4 * w[0, i, j]
            dw[1, i, j] += 3.4 * w[0, i, j] - reaction


@jacobian(RNG.normal(size=8), rows=lambda: around((8,), [(-2,), (-1,), (0,), (1,)]))
def lorenz_96(x):
    return (np.roll(x, -1) - np.roll(x, 2)) * np.roll(x, 1) - x + 8.0


@jacobian(RNG.normal(size=(2, 5)), rows=lambda: (
    [{i + 5} for i in range(5)] + band(5, 1, 1)))
def chain_of_springs(state):
    q, p = state
    left = np.concatenate([[0.0], q[:-1]])
    right = np.append(q[1:], 0.0)
    return np.array([p, (right - q) ** 3 - (q - left) ** 3])


@jacobian(RNG.normal(size=6), rows=lambda: [{0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 4, 5},
                                           {4, 5}])
def finite_elements(u):
    """Nodal forces of a bar, assembled from elements that know their nodes."""
    nodes = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
    force = np.zeros(6)
    for e in range(5):
        a, b = nodes[e]
        stretch = u[b] - u[a]
        force[a] -= stretch * (1.0 + stretch**2)
        force[b] += stretch * (1.0 + stretch**2)
    return force


@jacobian(RNG.normal(size=6), rows=lambda: [{0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 4, 5},
                                           {4, 5}])
def finite_elements_scattered(u):
    left, right = np.arange(5), np.arange(1, 6)
    stretch = u[right] - u[left]
    force = np.zeros(6)
    np.add.at(force, left, -stretch)
    np.add.at(force, right, stretch * stretch)
    return force
