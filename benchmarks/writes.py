"""Gradients of code that writes into arrays, against adjoints written by hand.

The adjoints by hand are what someone would write who knows which values the derivative reads:
numbers that are overwritten are saved one by one, and the cotangent of an array that is written is
an array walked through backwards. None of the peers can differentiate this code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from checks import assert_gradients
from timing import Measurement, measure

from adcompiler import grad

Array = npt.NDArray[np.float64]
BARS = {"adcompiler / hand-written": ("<", 1.15)}


def lu(A: Array, weights: Array) -> float:
    """Return a weighted sum of the factors of LU, made in place; shapes (n, n), (n, n)."""
    A = A.copy()
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    return np.sum(weights * A)


def lu_by_hand(A: Array, weights: Array) -> Array:
    """Return the derivative of ``lu`` with respect to ``A``."""
    A = A.copy()
    n = A.shape[0]
    tape = []
    for i in range(n):
        for j in range(i):
            tape.append(A[i, j])
            A[i, j] -= A[i, :j] @ A[:j, j]
            tape.append(A[i, j])
            A[i, j] /= A[j, j]
        for j in range(i, n):
            tape.append(A[i, j])
            A[i, j] -= A[i, :i] @ A[:i, j]
    A_bar = weights.copy()
    position = len(tape)
    for i in range(n - 1, -1, -1):
        for j in range(n - 1, i - 1, -1):
            position -= 1
            A[i, j] = tape[position]
            s_bar = -A_bar[i, j]
            A_bar[i, :i] += s_bar * A[:i, j]
            A_bar[:i, j] += s_bar * A[i, :i]
        for j in range(i - 1, -1, -1):
            position -= 1
            q_bar = A_bar[i, j] / A[j, j]
            A_bar[j, j] -= q_bar * A[i, j]
            A_bar[i, j] = q_bar
            position -= 1
            A[i, j] = tape[position]
            s_bar = -q_bar
            A_bar[i, :j] += s_bar * A[:j, j]
            A_bar[:j, j] += s_bar * A[i, :j]
    return A_bar


def heat(u0: Array, k: float, steps: int) -> float:
    """Return the energy after steps of the heat equation in two buffers; shapes (n,), (), ()."""
    u = u0.copy()
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = u[1:-1] + k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u, v = v, u
    return np.sum(u * u)


def heat_by_hand(u0: Array, k: float, steps: int) -> tuple[Array, float]:
    """Return the derivatives of ``heat`` with respect to ``u0`` and ``k``."""
    u = u0.copy()
    v = u.copy()
    tape = []
    for _ in range(steps):
        lap = u[2:] - 2.0 * u[1:-1] + u[:-2]
        tape.append(lap)
        v[1:-1] = u[1:-1] + k * lap
        u, v = v, u
    u_bar = 2.0 * u
    v_bar = np.zeros_like(v)
    k_bar = 0.0
    for lap in reversed(tape):
        u_bar, v_bar = v_bar, u_bar
        w_bar = v_bar[1:-1].copy()
        v_bar[1:-1] = 0.0
        k_bar = k_bar + float(np.sum(w_bar * lap))
        l_bar = k * w_bar
        u_bar[1:-1] += w_bar - 2.0 * l_bar
        u_bar[2:] += l_bar
        u_bar[:-2] += l_bar
    return u_bar + v_bar, k_bar


def gauss_seidel(u: Array, f: Array, sweeps: int) -> float:
    """Return the energy after relaxation point by point; shapes (m, n), (m, n), ()."""
    u = u.copy()
    rows, columns = u.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + f[i, j])
    return np.sum(u * u)


def gauss_seidel_by_hand(u: Array, f: Array, sweeps: int) -> tuple[Array, Array]:
    """Return the derivatives of ``gauss_seidel`` with respect to ``u`` and ``f``."""
    u = u.copy()
    rows, columns = u.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + f[i, j])
    u_bar = 2.0 * u
    f_bar = np.zeros_like(f)
    for _ in range(sweeps):
        for i in range(rows - 2, 0, -1):
            for j in range(columns - 2, 0, -1):
                g = 0.25 * u_bar[i, j]
                u_bar[i, j] = 0.0
                f_bar[i, j] += g
                u_bar[i, j + 1] += g
                u_bar[i, j - 1] += g
                u_bar[i + 1, j] += g
                u_bar[i - 1, j] += g
    return u_bar, f_bar


def thomas(lower: Array, diagonal: Array, upper: Array, right: Array) -> float:
    """Return the squared norm of the solution of a tridiagonal system; shapes (n,) each."""
    n = len(diagonal)
    c = np.zeros(n)
    d = np.zeros(n)
    c[0] = upper[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    for i in range(1, n):
        denominator = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / denominator
        d[i] = (right[i] - lower[i] * d[i - 1]) / denominator
    x = np.zeros(n)
    x[-1] = d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return np.sum(x * x)


def thomas_by_hand(
    lower: Array, diagonal: Array, upper: Array, right: Array
) -> tuple[Array, Array, Array, Array]:
    """Return the derivatives of ``thomas`` with respect to its arguments."""
    n = len(diagonal)
    c = np.zeros(n)
    d = np.zeros(n)
    c[0] = upper[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    tape = []
    for i in range(1, n):
        denominator = diagonal[i] - lower[i] * c[i - 1]
        tape.append(denominator)
        c[i] = upper[i] / denominator
        d[i] = (right[i] - lower[i] * d[i - 1]) / denominator
    x = np.zeros(n)
    x[-1] = d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]

    x_bar = 2.0 * x
    c_bar = np.zeros(n)
    d_bar = np.zeros(n)
    for i in range(n - 1):
        g = x_bar[i]
        d_bar[i] = g
        c_bar[i] = -g * x[i + 1]
        x_bar[i + 1] -= g * c[i]
    d_bar[-1] = x_bar[-1]
    lower_bar = np.zeros(n)
    diagonal_bar = np.zeros(n)
    upper_bar = np.zeros(n)
    right_bar = np.zeros(n)
    for i in range(n - 1, 0, -1):
        denominator = tape[i - 1]
        r_bar = d_bar[i] / denominator
        q_bar = c_bar[i] / denominator
        denominator_bar = -r_bar * d[i] - q_bar * c[i]
        right_bar[i] = r_bar
        upper_bar[i] = q_bar
        diagonal_bar[i] = denominator_bar
        lower_bar[i] = -r_bar * d[i - 1] - denominator_bar * c[i - 1]
        d_bar[i - 1] -= r_bar * lower[i]
        c_bar[i - 1] -= denominator_bar * lower[i]
    right_bar[0] = d_bar[0] / diagonal[0]
    upper_bar[0] = c_bar[0] / diagonal[0]
    diagonal_bar[0] = -right_bar[0] * d[0] - upper_bar[0] * c[0]
    return lower_bar, diagonal_bar, upper_bar, right_bar


def compare(
    case: str,
    primal: Callable[..., Any],
    by_hand: Callable[..., Any],
    arguments: Sequence[Any],
    argnums: int | tuple[int, ...],
) -> Measurement:
    """Check the contenders' gradients with respect to ``argnums``, then time them."""
    contenders: dict[str, Callable[..., Any]] = {
        "adcompiler": grad(primal, argnums=argnums), "hand-written": by_hand,
    }
    checked = contenders
    if isinstance(argnums, int):
        checked = {name: tupled(function) for name, function in contenders.items()}
        argnums = (argnums,)
    assert_gradients(primal, checked, arguments, argnums)
    return Measurement(case, measure(contenders, arguments), BARS)


def tupled(function: Callable[..., Any]) -> Callable[..., tuple[Any]]:
    """Return a function that gives a gradient as a tuple of one."""
    return lambda *arguments: (function(*arguments),)


def main() -> list[Measurement]:
    """Return the timings."""
    rng = np.random.default_rng(0)
    n = 40
    matrix = rng.normal(size=(n, n)) + 2.0 * n * np.eye(n)
    bands = [rng.normal(size=500) for _ in range(4)]
    bands[1] += 6.0
    grid = (20, 20)
    return [
        compare("LU in place, 40 x 40", lu, lu_by_hand, (matrix, rng.normal(size=(n, n))), 0),
        compare(
            "heat equation, 1000 points, 200 steps",
            heat,
            heat_by_hand,
            (rng.normal(size=1000), 0.2, 200),
            (0, 1),
        ),
        compare(
            "Gauss-Seidel, 20 x 20, 5 sweeps",
            gauss_seidel,
            gauss_seidel_by_hand,
            (rng.normal(size=grid), rng.normal(size=grid), 5),
            (0, 1),
        ),
        compare("Thomas solver, 500 unknowns", thomas, thomas_by_hand, tuple(bands), (0, 1, 2, 3)),
    ]
