"""Sparse derivatives in CasADi's expressions of scalars, by the names of programs."""

from __future__ import annotations

import casadi as ca


def grid(u, n):
    """Return the rates of change of the Brusselator; CasADi's matrices go by columns."""
    x, y = ca.reshape(u[: n * n], n, n), ca.reshape(u[n * n :], n, n)

    def around(z):
        return (ca.vertcat(z[-1, :], z[:-1, :]) + ca.vertcat(z[1:, :], z[0, :])
                + ca.horzcat(z[:, -1], z[:, :-1]) + ca.horzcat(z[:, 1:], z[:, 0]))

    dx = 1.0 + x * x * y - 4.4 * x + 10.0 * (around(x) - 4.0 * x)
    dy = 3.4 * x - x * x * y + 10.0 * (around(y) - 4.0 * y)
    return ca.vertcat(ca.vec(dx), ca.vec(dy))


def brusselator(u, n):
    x = ca.SX.sym("u", 2 * n * n)
    return ca.Function("J", [x], [ca.jacobian(grid(x, n), x)])


def chained(x):
    v = ca.SX.sym("x", x.size)
    value = ca.sum1((1.0 - v[:-1]) ** 2 + 100.0 * (v[1:] - v[:-1] ** 2) ** 2)
    return ca.Function("H", [v], [ca.hessian(value, v)[0]])


def band(x):
    v = ca.SX.sym("x", x.size)
    values = v[2:-2] ** 2 + v[:-4] * v[4:] + 3.0 * v[1:-3] ** 2
    return ca.Function("J", [v], [ca.jacobian(values, v)])


def five_points(u, n):
    v = ca.SX.sym("u", n * n)
    z = ca.reshape(v, n, n)
    inner = z[1:-1, 1:-1]
    values = ca.SX.zeros(n, n)
    values[1:-1, 1:-1] = (z[2:, 1:-1] + z[:-2, 1:-1] + z[1:-1, 2:] + z[1:-1, :-2] - 4.0 * inner
                          + ca.exp(inner) / n**2)
    return ca.Function("J", [v], [ca.jacobian(ca.vec(values), v)])


def surface(z, n):
    v = ca.SX.sym("z", n * n)
    u = ca.reshape(v, n, n)
    a, b = (u[1:, 1:] - u[:-1, :-1]) * n, (u[1:, :-1] - u[:-1, 1:]) * n
    value = ca.sum1(ca.vec(ca.sqrt(1.0 + 0.5 * (a * a + b * b)))) / n**2
    return ca.Function("H", [v], [ca.hessian(value, v)[0]])


brusselator_loop, chained_loop = brusselator, chained
