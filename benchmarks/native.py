"""Times gradients of loops over elements: native loops, emitted Python, hand-lowered numba, JAX.

``python benchmarks/native.py [program ...]`` prints a table: the native time, then how many times
as long the others take. What is not installed is left out. All run in turns in one process, one
thread; the least of several rounds counts. Values are compared before they are timed.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from adcompiler import grad
from tests.native import programs as p

ROUNDS, SECONDS = 7, 0.02
RNG = np.random.default_rng(0)
N = 24
PROGRAMS: dict[Callable[..., Any], tuple[Any, ...]] = {
    p.rosenbrock: (RNG.normal(size=1000),),
    p.seidel: (RNG.normal(size=(N, N)), 10),
    p.n_body: (RNG.normal(size=(30, 3)), RNG.uniform(1.0, 2.0, 30)),
    p.soft_dtw: (RNG.normal(size=40), RNG.normal(size=50)),
    p.edit_distance: (RNG.normal(size=40), RNG.normal(size=50)),
    p.log_determinant: (RNG.normal(size=(N, N)) + N * np.eye(N),),
    p.tridiagonal: (RNG.uniform(size=500), 4.0 + RNG.uniform(size=500), RNG.uniform(size=500),
                    RNG.normal(size=500)),
}


def by_hand() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Return adjoints written by hand for numba."""
    import numba

    @numba.njit(error_model="numpy")
    def rosenbrock(x: Any) -> Any:
        x_bar = np.zeros_like(x)
        for i in range(x.size - 1):
            d = x[i + 1] - x[i] * x[i]
            x_bar[i + 1] += 200.0 * d
            x_bar[i] -= 400.0 * d * x[i] + 2.0 * (1.0 - x[i])
        return x_bar

    @numba.njit(error_model="numpy")
    def seidel(a: Any, steps: int) -> Any:
        u = a.copy()
        n = u.shape[0]
        for _ in range(steps):
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        bar = 2.0 * u
        for _ in range(steps):
            for i in range(n - 2, 0, -1):
                for j in range(n - 2, 0, -1):
                    g = 0.25 * bar[i, j]
                    bar[i, j] = 0.0
                    bar[i - 1, j] += g
                    bar[i + 1, j] += g
                    bar[i, j - 1] += g
                    bar[i, j + 1] += g
        return bar

    @numba.njit(error_model="numpy")
    def n_body(places: Any, masses: Any) -> Any:
        bar = np.zeros_like(places)
        for i in range(masses.size):
            for j in range(i):
                square = 0.0
                for k in range(3):
                    square += (places[i, k] - places[j, k]) ** 2
                g = masses[i] * masses[j] / (square * np.sqrt(square))
                for k in range(3):
                    d = g * (places[i, k] - places[j, k])
                    bar[i, k] += d
                    bar[j, k] -= d
        return bar

    return {p.rosenbrock: rosenbrock, p.seidel: seidel, p.n_body: n_body}


def in_jax() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Return gradients by JAX, written with its own loops."""
    import jax
    from jax import lax
    from jax import numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def rosenbrock(x: Any) -> Any:
        def step(total: Any, i: Any) -> Any:
            return total + 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2, None

        return lax.scan(step, 0.0, jnp.arange(x.shape[0] - 1))[0]

    def seidel(a: Any, steps: int) -> Any:
        n = a.shape[0]
        inside = jnp.arange(1, n - 1)
        i, j = (part.ravel() for part in jnp.meshgrid(inside, inside, indexing="ij"))

        def cell(u: Any, at: Any) -> Any:
            i, j = at
            mean = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
            return u.at[i, j].set(mean), None

        def sweep(u: Any, _: Any) -> Any:
            return lax.scan(cell, u, (i, j))[0], None

        u = lax.scan(sweep, a, None, length=steps)[0]
        return jnp.sum(u * u)

    def tridiagonal(lower: Any, diagonal: Any, upper: Any, right: Any) -> Any:
        def down(carry: Any, row: Any) -> Any:
            a, b, c, r = row
            pivot = b - a * carry[0]
            new = c / pivot, (r - a * carry[1]) / pivot
            return new, new

        def up(x: Any, row: Any) -> Any:
            new = row[1] - row[0] * x
            return new, new

        first = jnp.zeros(()), jnp.zeros(())
        rows = lower.at[0].set(0.0), diagonal, upper, right
        c, d = lax.scan(down, first, rows)[1]
        return jnp.sum(lax.scan(up, jnp.zeros(()), (c.at[-1].set(0.0), d), reverse=True)[1] ** 2)

    return {
        p.rosenbrock: jax.jit(jax.grad(rosenbrock)),
        p.seidel: jax.jit(jax.grad(seidel), static_argnums=1),
        p.tridiagonal: jax.jit(jax.grad(tridiagonal)),
    }


def peers(make: Callable[[], dict[Any, Any]]) -> dict[Any, Any]:
    """Return what a peer has, nothing where it is not installed."""
    try:
        return make()
    except ImportError:
        return {}


def finished(call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Return what a call gives, once it is there."""
    return np.asarray(call(*args))


def least(calls: list[Callable[[], Any]]) -> list[float]:
    """Return the least time of each call, in seconds, taken in turns."""
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for i, call in enumerate(calls):
            count, spent = 0, 0.0
            start = time.perf_counter()
            while spent < SECONDS:
                call()
                count += 1
                spent = time.perf_counter() - start
            best[i] = min(best[i], spent / count)
    return best


def main(wanted: list[str]) -> None:
    """Print the table."""
    engines = {"Python": None, "by hand": peers(by_hand), "JAX": peers(in_jax)}
    print("| program | first call | native | " + " | ".join(engines) + " |")
    print("|---" * (len(engines) + 3) + "|")
    for program, args in PROGRAMS.items():
        if wanted and program.__name__ not in wanted:
            continue
        native, python = grad(program, backend="native"), grad(program)
        start = time.perf_counter()
        expected = native(*args)
        first = time.perf_counter() - start
        calls: list[Callable[[], Any]] = [functools.partial(native, *args)]
        columns = []
        for engine, table in engines.items():
            call = python if table is None else table.get(program)
            columns.append(len(calls) if call is not None else None)
            if call is None:
                continue
            given = args
            if engine == "JAX":
                from jax import numpy as jnp

                given = tuple(jnp.asarray(a) if isinstance(a, np.ndarray) else a for a in args)
            assert np.allclose(call(*given), expected, rtol=1e-9, atol=1e-9), (engine, program)
            calls.append(functools.partial(finished, call, given))
        times = least(calls)
        ratios = ["" if i is None else f"{times[i] / times[0]:.1f}x" for i in columns]
        print(f"| {program.__name__} | {first:.1f} s | {times[0] * 1e6:.0f} us | "
              + " | ".join(ratios) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
