"""Sparse derivatives beside asdex (on JAX), CasADi and SciPy's differences of grouped columns.

Patterns, colorings and evaluations of the Jacobian of a Brusselator on an N x N grid and of the
Hessian of the chained Rosenbrock function, on source with array operations; those of source with
loops over elements for comparison. How all times grow with the number of nonzeros, for these and
for Jacobians with a band and with a full row and column. What is not installed is left out.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize._numdiff import approx_derivative, group_columns
from timing import Growth, Measurement, growth, measure

from adcompiler import hessian_sparsity, jacobian_sparsity, sparse_hessian, sparse_jacobian
from adcompiler.sparsity.coloring.coloring import color

Array = npt.NDArray[np.float64]
GRIDS = (6, 25, 100)
CHAINS = (10, 1000, 100_000)
SIZES = (10_000, 100_000)
ROUNDS = 10
LINEAR = 1.25
"""The power of the number of nonzeros as which our own times may grow, noise included."""


def brusselator_on(np: Any) -> Callable[[Any, int], Any]:
    """Return the rates of change on an n x n grid, written for a module like NumPy."""

    def brusselator(u: Any, n: int) -> Any:
        x, y = u[: n * n].reshape(n, n), u[n * n :].reshape(n, n)
        around_x = np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1)
        around_y = np.roll(y, 1, 0) + np.roll(y, -1, 0) + np.roll(y, 1, 1) + np.roll(y, -1, 1)
        dx = 1.0 + x * x * y - 4.4 * x + 10.0 * (around_x - 4.0 * x)
        dy = 3.4 * x - x * x * y + 10.0 * (around_y - 4.0 * y)
        return np.concatenate([dx.ravel(), dy.ravel()])

    return brusselator


def brusselator(u: Array, n: int) -> Array:
    """Return the rates of change on an n x n grid."""
    x, y = u[: n * n].reshape(n, n), u[n * n :].reshape(n, n)
    around_x = np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1)
    around_y = np.roll(y, 1, 0) + np.roll(y, -1, 0) + np.roll(y, 1, 1) + np.roll(y, -1, 1)
    dx = 1.0 + x * x * y - 4.4 * x + 10.0 * (around_x - 4.0 * x)
    dy = 3.4 * x - x * x * y + 10.0 * (around_y - 4.0 * y)
    return np.concatenate([dx.ravel(), dy.ravel()])


def brusselator_loop(u: Array, n: int) -> Array:
    """Return the rates of change, element by element."""
    m = n * n
    out = np.zeros(2 * m)
    for i in range(n):
        for j in range(n):
            k = i * n + j
            x, y = u[k], u[m + k]
            lx, ly = -4.0 * x, -4.0 * y
            for q in ((i + 1) % n * n + j, (i - 1) % n * n + j, i * n + (j + 1) % n,
                      i * n + (j - 1) % n):
                lx += u[q]
                ly += u[m + q]
            out[k] = 1.0 + x * x * y - 4.4 * x + 10.0 * lx
            out[m + k] = 3.4 * x - x * x * y + 10.0 * ly
    return out


def rosenbrock(x: Array) -> float:
    """Return the chained Rosenbrock function."""
    return ((1.0 - x[:-1]) ** 2 + 100.0 * (x[1:] - x[:-1] ** 2) ** 2).sum()


def rosenbrock_loop(x: Array) -> float:
    """Return the chained Rosenbrock function, term by term."""
    total = 0.0
    for i in range(len(x) - 1):
        total += (1.0 - x[i]) ** 2 + 100.0 * (x[i + 1] - x[i] ** 2) ** 2
    return total


def band(x: Array) -> Array:
    """Return a vector whose Jacobian has four diagonals."""
    return x[2:-2] ** 2 + x[:-4] * x[4:] + 3.0 * x[1:-3] ** 2


def arrow(x: Array) -> Array:
    """Return a vector whose Jacobian has a full row, a full column and a diagonal."""
    return np.concatenate([[np.sum(x * x)], x[1:] * x[0]])


def installed(name: str) -> Any:
    """Return a module, None if it is not installed."""
    if importlib.util.find_spec(name) is None:
        print(f"{name} is not installed: left out")
        return None
    return importlib.import_module(name)


class Asdex:
    """The same with asdex: patterns from jaxprs, evaluation compiled by XLA."""

    def __init__(self, asdex: Any) -> None:
        self.asdex = asdex
        self.jax = importlib.import_module("jax")
        self.jax.config.update("jax_enable_x64", True)
        self.brusselator = brusselator_on(importlib.import_module("jax.numpy"))

    def jacobian(self, u: Array, n: int) -> dict[str, Callable[[], Any]]:
        """Return how to find pattern and coloring, and to evaluate, the Jacobian."""
        def function(v: Any) -> Any:
            return self.brusselator(v, n)

        sparsity = self.asdex.jacobian_sparsity(function, u)
        coloring = self.asdex.jacobian_coloring_from_sparsity(sparsity)
        value = self.jax.jit(self.asdex.jacobian_from_coloring(function, coloring))
        given = self.jax.numpy.asarray(u)
        return {
            "pattern": lambda: self.asdex.jacobian_sparsity(function, u),
            "coloring": lambda: self.asdex.jacobian_coloring_from_sparsity(sparsity),
            "evaluation": lambda: value(given).data.block_until_ready(),
        }

    def hessian(self, x: Array) -> dict[str, Callable[[], Any]]:
        """Return how to find pattern and coloring, and to evaluate, the Hessian."""
        sparsity = self.asdex.hessian_sparsity(rosenbrock, x)
        coloring = self.asdex.hessian_coloring_from_sparsity(sparsity)
        value = self.jax.jit(self.asdex.hessian_from_coloring(rosenbrock, coloring))
        given = self.jax.numpy.asarray(x)
        return {
            "pattern": lambda: self.asdex.hessian_sparsity(rosenbrock, x),
            "coloring": lambda: self.asdex.hessian_coloring_from_sparsity(sparsity),
            "evaluation": lambda: value(given).data.block_until_ready(),
        }


class Casadi:
    """The same with CasADi: matrix expressions, evaluated by its virtual machine."""

    def __init__(self, casadi: Any) -> None:
        self.ca = casadi

    def function(self, n: int) -> tuple[Any, Any]:
        """Return the unknowns and the rates of change as expressions of scalars."""
        u = self.ca.SX.sym("u", 2 * n * n)
        x = self.ca.reshape(u[: n * n], n, n)
        y = self.ca.reshape(u[n * n :], n, n)

        def around(z: Any) -> Any:
            vertical, horizontal = self.ca.vertcat, self.ca.horzcat
            return (vertical(z[-1, :], z[:-1, :]) + vertical(z[1:, :], z[0, :])
                    + horizontal(z[:, -1], z[:, :-1]) + horizontal(z[:, 1:], z[:, 0]))

        dx = 1.0 + x * x * y - 4.4 * x + 10.0 * (around(x) - 4.0 * x)
        dy = 3.4 * x - x * x * y + 10.0 * (around(y) - 4.0 * y)
        return u, self.ca.vertcat(self.ca.vec(dx), self.ca.vec(dy))

    def jacobian(self, u: Array, n: int) -> dict[str, Callable[[], Any]]:
        """Return how to find the pattern, and to evaluate, the Jacobian."""
        def pattern() -> Any:
            symbols, rates = self.function(n)
            return self.ca.jacobian_sparsity(rates, symbols)

        symbols, rates = self.function(n)
        value = self.ca.Function("J", [symbols], [self.ca.jacobian(rates, symbols)])
        return {"pattern": pattern, "evaluation": lambda: value(u)}

    def objective(self, n: int) -> tuple[Any, Any]:
        """Return the unknowns and the chained Rosenbrock function of scalars."""
        x = self.ca.SX.sym("x", n)
        return x, self.ca.sum1((1.0 - x[:-1]) ** 2 + 100.0 * (x[1:] - x[:-1] ** 2) ** 2)

    def hessian(self, x: Array) -> dict[str, Callable[[], Any]]:
        """Return how to find the pattern, and to evaluate, the Hessian."""
        def pattern() -> Any:
            symbols, value = self.objective(x.size)
            return self.ca.jacobian_sparsity(self.ca.gradient(value, symbols), symbols)

        symbols, value = self.objective(x.size)
        function = self.ca.Function("H", [symbols], [self.ca.hessian(value, symbols)[0]])
        return {"pattern": pattern, "evaluation": lambda: function(x)}


def of_jacobian(function: Any, u: Array, *others: Any) -> dict[str, Callable[[], Any]]:
    """Return how adcompiler finds pattern and coloring, and evaluates, a Jacobian."""
    jacobian = sparse_jacobian(function)
    pattern = jacobian.structure(u, *others).pattern
    return {
        "pattern": lambda: jacobian_sparsity(function, u, *others),
        "coloring": lambda: jacobian.colored(pattern),
        "evaluation": lambda: jacobian(u, *others),
    }


def of_hessian(function: Any, x: Array) -> dict[str, Callable[[], Any]]:
    """Return how adcompiler finds pattern and coloring, and evaluates, a Hessian."""
    hessian = sparse_hessian(function)
    pattern = hessian.structure(x).pattern
    return {
        "pattern": lambda: hessian_sparsity(function, x),
        "coloring": lambda: color(pattern, "star"),
        "evaluation": lambda: hessian(x),
    }


def differences(u: Array, n: int) -> dict[str, Callable[[], Any]]:
    """Return how SciPy groups columns and takes differences."""
    pattern = jacobian_sparsity(brusselator, u, n)
    groups = group_columns(pattern)
    return {
        "coloring": lambda: group_columns(pattern),
        "evaluation": lambda: approx_derivative(
            brusselator, u, method="2-point", sparsity=(pattern, groups), args=(n,)),
    }


def compared(
    case: str, contenders: dict[str, dict[str, Callable[[], Any]]], bars: dict[str, Any]
) -> list[Measurement]:
    """Measure each stage of all contenders that have it."""
    found = []
    for stage in ("pattern", "coloring", "evaluation"):
        functions = {name: stages[stage] for name, stages in contenders.items() if stage in stages}
        for function in functions.values():
            function()
        seconds = measure(functions, (), ROUNDS)
        found.append(Measurement(f"{case}: {stage}", seconds, bars.get(stage, {})))
    return found


def growths(name: str, nonzeros: Sequence[int], found: Sequence[Measurement]) -> list[Growth]:
    """Return how the times of each stage grow with the number of nonzeros."""
    return [
        growth(f"{name}: {stage}, growth", nonzeros, [
            m.seconds for m in found if m.case.endswith(stage)
        ], {"adcompiler": LINEAR})
        for stage in ("pattern", "coloring", "evaluation")
    ]


def own_sizes(rng: Any) -> list[Measurement | Growth]:
    """Return our own times for a band and an arrow."""
    found: list[Measurement | Growth] = []
    for function in (band, arrow):
        times: list[Measurement] = []
        nonzeros = []
        for n in SIZES:
            x = rng.uniform(0.5, 1.5, n)
            nonzeros.append(jacobian_sparsity(function, x).nnz)
            times += compared(f"{function.__name__}, {n}", {"adcompiler": of_jacobian(function, x)},
                              {})
        found += [*times, *growths(function.__name__, nonzeros, times)]
    return found


def main() -> list[Measurement | Growth]:
    """Return the timings."""
    rng = np.random.default_rng(0)
    asdex, casadi = installed("asdex"), installed("casadi")
    peers: dict[str, Any] = {}
    if asdex is not None:
        peers["asdex"] = Asdex(asdex)
    if casadi is not None:
        peers["casadi"] = Casadi(casadi)
    times: list[Measurement] = []
    nonzeros = []
    evaluation = {"adcompiler / asdex": ("<", 1.0), "adcompiler / casadi": ("<", 2.0)}
    for n in GRIDS:
        u = rng.uniform(0.5, 1.5, 2 * n * n)
        nonzeros.append(12 * n * n)
        contenders = {"adcompiler": of_jacobian(brusselator, u, n)}
        contenders |= {name: peer.jacobian(u, n) for name, peer in peers.items()}
        contenders["differences"] = differences(u, n)
        if n <= 25:
            contenders["adcompiler, loops"] = of_jacobian(brusselator_loop, u, n)
        bars = {"evaluation": evaluation} if n == GRIDS[-1] else {}
        if n == GRIDS[-1]:
            bars["pattern"] = dict.fromkeys(("adcompiler / asdex", "adcompiler / casadi"),
                                            ("<", 1.0))
        times += compared(f"Brusselator, {n} x {n}", contenders, bars)
    found: list[Measurement | Growth] = [*times, *growths("Brusselator", nonzeros, times)]
    times, nonzeros = [], []
    for n in CHAINS:
        x = rng.normal(size=n)
        nonzeros.append(3 * n - 2)
        contenders = {"adcompiler": of_hessian(rosenbrock, x)}
        contenders |= {name: peer.hessian(x) for name, peer in peers.items()}
        if n <= 1000:
            contenders["adcompiler, loops"] = of_hessian(rosenbrock_loop, x)
        bars = {"evaluation": evaluation} if n == CHAINS[-1] else {}
        if n == CHAINS[-1]:
            bars["pattern"] = {"adcompiler / asdex": ("<", 0.1)}
        times += compared(f"chained Rosenbrock, {n}", contenders, bars)
    return [*found, *times, *growths("chained Rosenbrock", nonzeros, times), *own_sizes(rng)]
