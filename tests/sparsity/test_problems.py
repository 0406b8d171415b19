"""Sparse derivatives of problems as they are written in practice: discretisations, networks, fits.

Each is checked against differences at three points, and the size of its pattern against what these
have; where a number of colors is given, it is the smallest one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

from adcompiler import sparse_hessian, sparse_jacobian
from adcompiler.support.structs import dataclass

LEFT, RIGHT = np.arange(7), np.arange(1, 8)
BARS = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [0, 2], [1, 3], [2, 4]])
NEAR = np.array([[0, 1], [1, 2], [2, 3], [0, 3]])
LINES = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]])
DESIGN = np.where(np.arange(40).reshape(10, 4) % 3 == 0, 1.5, 0.0)
SEEN = np.array([[0, 0], [0, 1], [1, 1], [1, 2], [2, 0]])
DERIVATIVE = np.array([[-3.0, 4.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -4.0, 3.0]])
RATES = np.array([0.04, 3.0, 1.5])


# --- boundary value problems and control ----------------------------------------------------------


def trapezoidal_collocation(z):
    x, u = z[:6], z[6:]
    f = -(x**2) + u
    return x[1:] - x[:-1] - 0.05 * (f[1:] + f[:-1])


def hermite_simpson(z):
    x, v, u = z.reshape(3, 5)
    f, g = v, -np.sin(x) + u
    xm = (x[1:] + x[:-1]) / 2 + (f[:-1] - f[1:]) / 8
    vm = (v[1:] + v[:-1]) / 2 + (g[:-1] - g[1:]) / 8
    um = (u[1:] + u[:-1]) / 2
    gm = -np.sin(xm) + um
    return np.concatenate([
        x[1:] - x[:-1] - (f[1:] + 4 * vm + f[:-1]) / 6,
        v[1:] - v[:-1] - (g[1:] + 4 * gm + g[:-1]) / 6])


def orthogonal_collocation(z):
    parts = z.reshape(4, 3)
    slopes = parts @ DERIVATIVE.T
    joints = parts[1:, 0] - parts[:-1, -1]
    return np.concatenate([(slopes + parts**2)[:, 1:].ravel(), joints])


def multiple_shooting(z):
    defects = []
    for k in range(3):
        x, v = z[2 * k], z[2 * k + 1]
        for _ in range(4):
            x, v = x + 0.1 * v, v - 0.1 * np.sin(x)
        defects.append(z[2 * k + 2] - x)
        defects.append(z[2 * k + 3] - v)
    return np.array(defects)


def bratu(u):
    inner = u[1:-1]
    return np.concatenate([[u[0]], u[2:] - 2 * inner + u[:-2] + 0.1 * np.exp(inner), [u[-1]]])


def bratu_by_loops(u):
    n = 4
    r = np.zeros((n, n))
    U = u.reshape(n, n)
    for i in range(n):
        for j in range(n):
            r[i, j] = 4 * U[i, j] - 0.1 * np.exp(U[i, j])
            if i > 0:
                r[i, j] -= U[i - 1, j]
            if i < n - 1:
                r[i, j] -= U[i + 1, j]
            if j > 0:
                r[i, j] -= U[i, j - 1]
            if j < n - 1:
                r[i, j] -= U[i, j + 1]
    return r.ravel()


# --- evolution equations --------------------------------------------------------------------------


def burgers(u):
    flux = 0.5 * u**2
    return -(np.roll(flux, -1) - np.roll(flux, 1)) + 0.1 * (np.roll(u, -1) - 2 * u + np.roll(u, 1))


def upwind_by_sign(u):
    back, ahead = u - np.roll(u, 1), np.roll(u, -1) - u
    return -np.where(u > 0, u * back, u * ahead)


def minmod_limiter(u):
    a, b = u - np.roll(u, 1), np.roll(u, -1) - u
    slope = np.where(a * b > 0, np.sign(a) * np.minimum(np.abs(a), np.abs(b)), 0.0)
    face = u + 0.5 * slope
    return face - np.roll(face, 1)


def van_leer_limiter(u):
    a, b = u[1:-1] - u[:-2], u[2:] - u[1:-1]
    r = a / (b + 2.0)
    return u[1:-1] + 0.5 * (r + np.abs(r)) / (1 + np.abs(r)) * b


def kuramoto_sivashinsky(u):
    d1 = np.roll(u, -1) - np.roll(u, 1)
    d2 = np.roll(u, -1) - 2 * u + np.roll(u, 1)
    d4 = np.roll(d2, -1) - 2 * d2 + np.roll(d2, 1)
    return -u * d1 - d2 - d4


def heat_2d(u):
    U = np.pad(u.reshape(5, 5), 1)
    conductivity = 1 + U**2
    d = conductivity * U
    return (d[2:, 1:-1] + d[:-2, 1:-1] + d[1:-1, 2:] + d[1:-1, :-2] - 4 * d[1:-1, 1:-1]).ravel()


def nine_points(u):
    U = np.pad(u.reshape(5, 5), 1)
    total = sum(U[i : i + 5, j : j + 5] ** 2 for i in range(3) for j in range(3))
    return total.ravel()


def brusselator(z):
    u, v = z[::2], z[1::2]
    du = 1 + u**2 * v - 4 * u
    dv = 3 * u - u**2 * v
    du[1:-1] += u[2:] - 2 * u[1:-1] + u[:-2]
    dv[1:-1] += v[2:] - 2 * v[1:-1] + v[:-2]
    return np.stack([du, dv], 1).ravel()


def adi_half_step(u):
    U = u.reshape(4, 4)
    return (U + 0.1 * np.diff(np.pad(U, ((1, 1), (0, 0))), 2, axis=0) * U).ravel()


def robertson_in_cells(z):
    a, b, c = z.reshape(3, 5)
    r1, r2, r3 = RATES[0] * a, RATES[1] * b * c, RATES[2] * b**2
    return np.concatenate([-r1 + r2, r1 - r2 - r3, r3])


def stirred_tanks(z):
    c, T = z[:5], z[5:]
    rate = c * np.exp(-1 / T)
    before = np.concatenate([[1.0], c[:-1]])
    heat = np.concatenate([[2.0], T[:-1]])
    return np.concatenate([before - c - rate, heat - T + rate])


def heat_exchanger(z):
    hot, cold = z[:5], z[5:]
    passed = 0.2 * (hot - cold) * np.abs(hot) ** 0.5
    return np.concatenate([
        np.diff(hot, prepend=2.0) + passed, np.diff(cold, append=0.5) + passed])


def chain_of_springs(z):
    x, v = z[:6], z[6:]
    stretch = np.diff(x, prepend=0.0, append=7.0) - 1.0
    force = stretch + 0.1 * stretch**3
    return np.concatenate([v, force[1:] - force[:-1]])


def finite_volumes_by_faces(u):
    flux = (u[LEFT] + u[RIGHT]) * (u[LEFT] - u[RIGHT])
    r = np.zeros(8)
    np.add.at(r, LEFT, flux)
    np.add.at(r, RIGHT, -flux)
    return r


# --- elements and networks ------------------------------------------------------------------------


def elements_by_triplets(u):
    k = 1 + 0.5 * (u[LEFT] + u[RIGHT]) ** 2
    rows = np.concatenate([LEFT, LEFT, RIGHT, RIGHT])
    columns = np.concatenate([LEFT, RIGHT, LEFT, RIGHT])
    return sp.csr_matrix((np.concatenate([k, -k, -k, k]), (rows, columns)), shape=(8, 8)) @ u


def elements_one_by_one(u):
    K = sp.lil_matrix((8, 8))
    for e in range(7):
        k = 1 + u[e] * u[e + 1]
        K[e, e] += k
        K[e, e + 1] -= k
        K[e + 1, e] -= k
        K[e + 1, e + 1] += k
    return K.tocsr() @ u


def solved_diagonal(u):
    places = np.arange(8)
    K = sp.csc_matrix((2 + u**2, (places, places)), shape=(8, 8))
    return spsolve(K, np.ones(8))


def truss(z):
    p = z.reshape(5, 2)
    d = p[BARS[:, 1]] - p[BARS[:, 0]]
    length = np.sqrt(np.sum(d**2, axis=1))
    pull = ((length - 1) / length)[:, None] * d
    force = np.zeros((5, 2))
    np.add.at(force, BARS[:, 0], pull)
    np.add.at(force, BARS[:, 1], -pull)
    return force.ravel()


def power_flow(z):
    angle, size = z[:5], z[5:]
    i, j = LINES.T
    moved = size[i] * size[j] * np.sin(angle[i] - angle[j])
    loss = size[i] * size[j] * np.cos(angle[i] - angle[j])
    P, Q = np.zeros(5), 2 * size**2
    np.add.at(P, i, moved)
    np.add.at(P, j, -moved)
    np.add.at(Q, i, -loss)
    np.add.at(Q, j, -loss)
    return np.concatenate([P, Q])


def bundle_adjustment(z):
    cameras, points = z[:9].reshape(3, 3), z[9:].reshape(3, 3)
    p = points[SEEN[:, 1]] + 0.1 * cameras[SEEN[:, 0]]
    return (cameras[SEEN[:, 0], 2:] * p[:, :2] / (p[:, 2:] + 3)).ravel()


def pipes(h):
    i, j = LINES.T
    flow = np.sign(h[i] - h[j]) * np.sqrt(np.abs(h[i] - h[j]) + 0.1)
    return np.bincount(i, flow, 5) - np.bincount(j, flow, 5)


# --- systems and objectives of collections --------------------------------------------------------


def broyden_tridiagonal(x):
    y = np.pad(x, 1)
    return (3 - 2 * x) * x - y[:-2] - 2 * y[2:] + 1


def broyden_banded(x):
    r = []
    for i in range(10):
        near = [x[j] * (1 + x[j]) for j in range(max(0, i - 3), min(10, i + 2)) if j != i]
        r.append(x[i] * (2 + 5 * x[i] ** 2) + 1 - sum(near))
    return np.array(r)


def powell_singular_residuals(x):
    a, b, c, d = x.reshape(-1, 4).T
    return np.stack([a + 10 * b, c - d, (b - 2 * c) ** 2, (a - d) ** 2], 1).ravel()


def chained_rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_in_pairs(x):
    return np.sum(100 * (x[1::2] - x[::2] ** 2) ** 2 + (1 - x[::2]) ** 2)


def arrowhead(x):
    return np.sum((x[:-1] ** 2 + x[-1] ** 2) ** 2 - 4 * x[:-1] + 3)


def woods(x):
    a, b, c, d = x.reshape(-1, 4).T
    return np.sum(
        100 * (b - a**2) ** 2 + (1 - a) ** 2 + 90 * (d - c**2) ** 2 + (1 - c) ** 2
        + 10 * (b + d - 2) ** 2 + 0.1 * (b - d) ** 2)


def dixon(x):
    total = (x[0] - 1) ** 2
    for i in range(1, len(x)):
        total += i * (2 * x[i] ** 2 - x[i - 1]) ** 2
    return total


def powell_singular(x):
    return np.sum(powell_singular_residuals(x) ** 2)


def engval(x):
    return np.sum((x[:-1] ** 2 + x[1:] ** 2) ** 2) + np.sum(3 - 4 * x[:-1])


def broyden_objective(x):
    return np.sum(broyden_tridiagonal(x) ** 2)


def minimal_surface(x):
    X = np.pad(x.reshape(3, 4), 1, constant_values=1.0)
    a, b = X[1:, 1:] - X[:-1, :-1], X[1:, :-1] - X[:-1, 1:]
    return np.sum(np.sqrt(1 + 0.5 * (a**2 + b**2)))


def lennard_jones(z):
    p = z.reshape(4, 3)
    r = np.sum((p[NEAR[:, 0]] - p[NEAR[:, 1]]) ** 2, axis=1)
    return np.sum(1 / r**3 - 1 / r)


def sparse_logistic(w):
    return np.sum(np.log1p(np.exp(-DESIGN @ w)))


def spring_energy(x):
    return np.sum((np.sqrt((x[1:] - x[:-1]) ** 2 + 1) - 1) ** 2)


def tension(u):
    return np.sum(np.sqrt(1 + (u[1:] - u[:-1]) ** 2)) + np.sum(np.cos(u))


@dataclass(frozen=True)
class Problem:
    """A function, the number of its variables, and the fewest colors; 0 if none is claimed.

    The pattern has at most a tenth more entries than the derivatives show, at three points; at more
    of both signs where there are ``branches``, which a pattern holds for all of.
    """

    f: Any
    size: int
    colors: int = 0
    branches: bool = False
    second: bool = False


JACOBIANS = [
    Problem(trapezoidal_collocation, 12, 4), Problem(hermite_simpson, 15),
    Problem(orthogonal_collocation, 12, 3), Problem(multiple_shooting, 8, 4),
    Problem(bratu, 9, 3), Problem(bratu_by_loops, 16, 5), Problem(burgers, 9, 3),
    Problem(upwind_by_sign, 9, 3, branches=True), Problem(minmod_limiter, 12, 4, branches=True),
    Problem(van_leer_limiter, 10, 3), Problem(kuramoto_sivashinsky, 10, 5),
    Problem(heat_2d, 25, 5), Problem(nine_points, 25, 9), Problem(brusselator, 12, 4),
    Problem(adi_half_step, 16, 3), Problem(robertson_in_cells, 15, 3),
    Problem(stirred_tanks, 10, 4), Problem(heat_exchanger, 10, 3),
    Problem(chain_of_springs, 12, 3), Problem(finite_volumes_by_faces, 8, 3),
    Problem(elements_by_triplets, 8, 3), Problem(elements_one_by_one, 8, 3),
    Problem(solved_diagonal, 8, 1), Problem(truss, 10), Problem(power_flow, 10),
    Problem(bundle_adjustment, 18), Problem(pipes, 5),
    Problem(broyden_tridiagonal, 10, 3), Problem(broyden_banded, 10, 5),
    Problem(powell_singular_residuals, 8, 2),
]
HESSIANS = [Problem(f, size, colors, second=True) for f, size, colors in (
    (chained_rosenbrock, 9, 3), (rosenbrock_in_pairs, 8, 2), (arrowhead, 8, 2), (woods, 8, 3),
    (dixon, 8, 3), (powell_singular, 8, 3), (engval, 9, 3), (broyden_objective, 9, 5),
    (minimal_surface, 12, 0), (lennard_jones, 12, 0), (sparse_logistic, 4, 0),
    (spring_energy, 9, 3), (tension, 9, 3))]
ENOUGH = 40


def by_differences(f: Any, x: Any, second: bool) -> Any:
    """Return the dense Jacobian, or Hessian, by central differences."""
    h = 2e-4 if second else 1e-6
    steps = h * np.eye(x.size)
    if not second:
        return np.stack([(f(x + d) - f(x - d)) / (2 * h) for d in steps], -1)
    return np.array([
        [(f(x + d + e) - f(x + d - e) - f(x - d + e) + f(x - d - e)) / (4 * h * h) for e in steps]
        for d in steps])


def check(problem: Problem) -> None:
    """Compare a sparse derivative with differences at points, and count what it takes."""
    derive = sparse_hessian if problem.second else sparse_jacobian
    derivative = derive(problem.f)
    rng = np.random.default_rng(1)
    tolerance = 2e-3 if problem.second else 1e-6
    seen: Any = False
    for _ in range(20 if problem.branches else 3):
        x = rng.uniform(-1.5 if problem.branches else 0.5, 1.5, problem.size)
        dense = by_differences(problem.f, x, problem.second)
        found = derivative(x)
        assert found.shape == dense.shape
        assert np.allclose(found.toarray(), dense, rtol=1e-4, atol=tolerance), problem.f.__name__
        seen = seen | (np.abs(dense) > tolerance)
    structure = derivative.structure(x)
    pattern = structure.pattern.toarray()
    assert np.all(pattern | ~seen), problem.f.__name__
    assert pattern.sum() <= 1.1 * seen.sum(), (problem.f.__name__, pattern.sum(), seen.sum())
    if problem.colors:
        assert structure.coloring.count == problem.colors, (
            problem.f.__name__, structure.coloring.count)


def test_there_are_enough_problems() -> None:
    names = {problem.f.__name__ for problem in (*JACOBIANS, *HESSIANS)}
    assert len(names) == len(JACOBIANS) + len(HESSIANS) >= ENOUGH


@pytest.mark.parametrize("start", range(0, len(JACOBIANS), 10))
def test_jacobians(start: int) -> None:
    for problem in JACOBIANS[start : start + 10]:
        check(problem)


def test_hessians() -> None:
    for problem in HESSIANS:
        check(problem)
