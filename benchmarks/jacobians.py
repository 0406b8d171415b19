"""Whole Jacobians and Hessians: array code and loops, against autograd's and JAX's.

JAX runs compiled, in 64-bit numbers, and is waited for; compiling is not timed, neither JAX's nor
adcompiler's. Of loops JAX and autograd get the code as it is: they unroll it. Each result is
checked against that of adcompiler before it is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import peers
from arrays import Array
from timing import Measurement, measure

from adcompiler import batched_jvp, grad, hessian, jacobian

ROUNDS = 4


def layer(xp: Any) -> Callable[..., Array]:
    """Return a map of arrays in the functions of ``xp``: two layers of tanh units."""

    def of_arrays(x: Array, A: Array, B: Array) -> Array:
        return xp.tanh(B @ xp.tanh(A @ x)) * x

    return of_arrays


def coupled(x: Array) -> Array:
    """Return a chain of 100 oscillators after one step, number by number."""
    y = np.zeros(100)
    for i in range(1, 99):
        y[i] = x[i] + 0.1 * (x[i + 1] - 2.0 * x[i] + x[i - 1]) - 0.1 * x[i] ** 3
    return y


def coupled_functional(xp: Any) -> Callable[[Array], Array]:
    """Return the same for libraries that know no assignment to elements."""

    def of_elements(x: Array) -> Array:
        y = [0.0]
        for i in range(1, 99):
            y.append(x[i] + 0.1 * (x[i + 1] - 2.0 * x[i] + x[i - 1]) - 0.1 * x[i] ** 3)
        return xp.stack([*y[1:]])

    return of_elements


def rosenbrock(xp: Any) -> Callable[[Array], Any]:
    """Return Rosenbrock's function in slices."""

    def of_arrays(x: Array) -> Any:
        return xp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    return of_arrays


def rosenbrock_loop(x: Array) -> float:
    """Return Rosenbrock's function of 200 variables, number by number."""
    total = 0.0
    for i in range(199):
        total = total + 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def polar(xp: Any) -> Callable[[Array], Array]:
    """Return a function of observations ``(n, 3)``: spherical to Cartesian coordinates."""

    def of_arrays(p: Array) -> Array:
        r, t, u = p[:, 0], p[:, 1], p[:, 2]
        return xp.stack(
            [r * xp.sin(t) * xp.cos(u), r * xp.sin(t) * xp.sin(u), r * xp.cos(t)], axis=1
        )

    return of_arrays


def by_observation(p: Array) -> Array:
    """Return the Jacobians of ``polar`` for each observation: one sweep of three seeds."""
    tangents = np.zeros((3, *p.shape))
    for j in range(3):
        tangents[j, :, j] = 1.0
    return np.moveaxis(batched_jvp(POLAR, (p,), (tangents,))[1], 0, -1)


POLAR = polar(np)
LOOP, LOOP_FORWARD = jacobian(coupled), jacobian(coupled, mode="forward")
BARS = {
    ("Jacobian 100 x 100, arrays", "JAX"): ("<", 3.0),
    ("Hessian 200 x 200, arrays", "JAX"): ("<", 3.0),
    ("Jacobians of 10000 observations", "JAX"): ("<", 2.0),
}
"""Where the bar is not 1."""


def compare(
    case: str, contenders: dict[str, Callable[..., Any]], arguments: Sequence[Any],
    bars: dict[str, tuple[str, float]],
) -> Measurement:
    """Check that all contenders agree with the first, then time them."""
    wanted = next(iter(contenders.values()))(*arguments)
    for name, function in contenders.items():
        found = np.asarray(function(*arguments))
        assert np.allclose(found, wanted, rtol=1e-9, atol=1e-9), (case, name)
    return Measurement(case, measure(contenders, arguments, ROUNDS), bars)


def jitted(jax: dict[str, Any] | None, derivative: str, function: Callable[..., Any]) -> Any:
    """Return a compiled derivative by JAX that waits for its result."""
    assert jax is not None
    run = jax["jit"](jax[derivative](function))
    return lambda *args: run(*args).block_until_ready()


def main() -> list[Measurement]:
    """Return the timings."""
    rng = np.random.default_rng(0)
    autograd, jax = peers.autograd(), peers.jax()
    A, B = (rng.normal(size=(100, 100)) / 10.0 for _ in range(2))
    x, long, points = rng.normal(size=100), rng.normal(size=200), rng.normal(size=(10_000, 3))
    cases: list[tuple[str, dict[str, Callable[..., Any]], Any, Sequence[Any]]] = [
        ("Jacobian 100 x 100, arrays", {
            "adcompiler": jacobian(layer(np)),
            "adcompiler, forward": jacobian(layer(np), mode="forward"),
        }, ("jacobian", layer), (x, A, B)),
        ("Jacobian 100 x 100, loop", {
            "adcompiler": lambda x: LOOP(x)[1:-1],
            "adcompiler, forward": lambda x: LOOP_FORWARD(x)[1:-1],
        }, ("jacobian", coupled_functional), (x,)),
        ("Hessian 200 x 200, arrays", {
            "adcompiler": hessian(rosenbrock(np)), "gradient": grad(rosenbrock(np)),
        }, ("hessian", rosenbrock), (long,)),
        ("Hessian 200 x 200, loop", {
            "adcompiler": hessian(rosenbrock_loop), "gradient": grad(rosenbrock_loop),
        }, ("hessian", lambda _: rosenbrock_loop), (long,)),
        ("Jacobians of 10000 observations", {"adcompiler": by_observation}, None, (points,)),
    ]
    found = []
    for case, contenders, others, arguments in cases:
        bars: dict[str, tuple[str, float]] = {}
        gradient = contenders.pop("gradient", None)
        if others is not None:
            derivative, made = others
            if autograd is not None:
                contenders["autograd"] = autograd[derivative](made(autograd["numpy"]))
            if jax is not None:
                contenders["JAX"] = jitted(jax, derivative, made(jax["numpy"]))
        elif jax is not None:
            each = jax["vmap"](jax["jacfwd"](lambda p: polar(jax["numpy"])(p[None])[0]))
            run = jax["jit"](each)
            contenders["JAX"] = lambda p, run=run: run(p).block_until_ready()
        for name in ("autograd", "JAX"):
            bars[f"adcompiler / {name}"] = BARS.get((case, name), ("<", 1.0))
        measured = compare(case, contenders, arguments, bars)
        if gradient is not None:
            measured.seconds["gradient"] = measure({"g": gradient}, arguments, ROUNDS)["g"]
            bars["adcompiler / gradient"] = ("<", 100.0)
        found.append(measured)
    return found


