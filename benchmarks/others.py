"""What is measured beside derivatives of programs, by ``--only NAME``: a table for each name.

A table maps a case to contenders' figures: seconds, unless a name says otherwise.
"""

from __future__ import annotations

import collections
import math
import os
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import adcompiler as ad
from benchmarks import recorded
from benchmarks.program import agree
from benchmarks.programs import arrays, matrices, scalars, sparse
from benchmarks.timing import measure

Table = dict[str, dict[str, float]]
ROUNDS = 15


def compared(calls: dict[str, Callable[[], Any]], same: bool = True) -> dict[str, float]:
    """Return the times of calls, which give the same if they are to."""
    first, *rest = [call() for call in calls.values()]
    assert not same or all(agree(other, first) for other in rest), list(calls)
    return measure(calls, ROUNDS)


def dispatch() -> Table:
    """Return what a warm gradient costs beside the emitted function itself, on three floats."""
    gradient, args = ad.grad(scalars.product, argnums=(0, 1, 2)), (1.5, 2.5, 3.5)
    return {"grad(f)(x, y, z)": compared({
        "through the wrapper": partial(gradient, *args),
        "called directly": partial(gradient.compiled_for(*args), *args),
    })}


def checkpoints(steps: int = 10_000) -> Table:
    """Return time and memory of ten thousand steps, with the whole tape and with checkpoints."""

    def heat(u: Any, rate: float) -> Any:
        return u + rate * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1)) - 1e-4 * u**3

    def whole(u: Any, rate: float) -> Any:
        for _ in range(steps):
            u = heat(u, rate)
        return np.sum(u * u)

    def every(u: Any, rate: float) -> Any:
        return np.sum(ad.checkpoint_loop(lambda u: heat(u, rate), u, steps, every=100) ** 2)

    def slots(u: Any, rate: float) -> Any:
        return np.sum(ad.checkpoint_loop(lambda u: heat(u, rate), u, steps, slots=40) ** 2)

    def limit(u: Any, rate: float) -> Any:
        return np.sum(
            ad.checkpoint_loop(lambda u: heat(u, rate), u, steps, memory_limit=128_000) ** 2)

    args = np.cos(np.linspace(0.0, 6.0, 400)) + 1.0, 0.2
    calls = {name: partial(ad.grad(form), *args) for name, form in (
        ("whole tape", whole), ("every=100", every), ("slots=40", slots),
        ("memory_limit=128 kB", limit))}
    seconds = compared(calls)
    return {f"{steps} steps of heat": seconds,
            f"{steps} steps of heat, bytes": {name: traced(call) for name, call in calls.items()}}


def traced(call: Callable[[], Any]) -> float:
    """Return the highest memory in use during a call that Python and NumPy know of, in bytes."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def second_order() -> Table:
    """Return what products with Hessians cost beside gradients."""
    rng = np.random.default_rng(0)
    found: Table = {}

    def network(parameters: tuple[Any, ...], X: Any, Y: Any) -> Any:
        W1, b1, W2, b2, W3, b3 = parameters
        h1 = np.tanh(X @ W1 + b1)
        h2 = np.tanh(h1 @ W2 + b2)
        return np.mean((h2 @ W3 + b3 - Y) ** 2)

    *parameters, X, Y = arrays.network(rng, 64)
    for function, args in (
        (matrices.logistic_hessian, matrices.classified(rng, 20)),
        (matrices.rosenbrock_hessian, (rng.normal(size=100_000),)),
        (network, (tuple(parameters), X, Y)),
    ):
        x, *rest = args
        v = tuple(rng.normal(size=part.shape) for part in x) if isinstance(x, tuple) else (
            rng.normal(size=x.shape))
        calls = {"hvp": partial(ad.hvp, function, x, v, *rest),
                 "vhp": partial(ad.vhp, function, x, v, *rest)}
        assert agree(calls["hvp"](), calls["vhp"]())
        calls["gradient"] = partial(ad.grad(function), x, *rest)
        found[function.__name__] = compared(calls, same=False)
    return found


def taylor() -> Table:
    """Return what derivatives of high order cost, by series and by nested forward mode."""
    from adcompiler.api.taylor import nested

    def formula(x: float) -> float:
        return math.exp(math.sin(x)) * x / (1.0 + x * x) + math.sqrt(1.0 + x)

    def pendulum(x: float) -> float:
        angle, speed = x, 0.0
        for _ in range(20):
            speed = speed - 0.1 * math.sin(angle)
            angle = angle + 0.1 * speed
        return angle

    def waves(x: float) -> Any:
        k = np.linspace(0.0, 1.0, 1000)
        return np.sum(np.exp(-k * x) * np.sin(k * x) / (1.0 + x))

    found: Table = {}
    for function in (formula, pendulum, waves):
        for order in (2, 4, 6, 8):
            forward = [nested(function, k) for k in range(order + 1)]
            found[f"{function.__name__}, order {order}"] = compared({
                "jet": partial(ad.jet(function, order), 0.7),
                "nested": lambda forward=forward: tuple(d(0.7) for d in forward),
            })
    return found


def sparsity() -> Table:
    """Return the time of patterns and colorings, ours and asdex's, and how ours grows."""
    from adcompiler.sparsity.coloring.coloring import color

    found: Table = {}
    for program in sparse.PROGRAMS:
        kind = program.derivative.removeprefix("sparse ")
        times: dict[str, list[float]] = collections.defaultdict(list)
        nonzeros = []
        for size in program.sizes:
            args = program.at(size)
            pattern = getattr(ad, f"{kind}_sparsity")(program.function, *args)
            derivative = getattr(ad, f"sparse_{kind}")(program.function)
            colored = partial(derivative.colored, pattern) if kind == "jacobian" else partial(
                color, pattern, "star")
            nonzeros.append(pattern.nnz)
            for stage, calls in (
                ("pattern", {"adcompiler": partial(
                    getattr(ad, f"{kind}_sparsity"), program.function, *args)}
                 | asdex_pattern(program, kind, args)),
                ("coloring", {"adcompiler": colored}),
            ):
                row = compared(calls, same=False)
                found[f"{program.name}, {size}: {stage}"] = row
                times[stage].append(row["adcompiler"])
        for stage, seconds in times.items():
            found[f"{program.name}: {stage}, power of the nonzeros"] = {"adcompiler": math.log(
                seconds[-1] / seconds[-2]) / math.log(nonzeros[-1] / nonzeros[-2])}
    return found


def asdex_pattern(program: Any, kind: str, args: Any) -> dict[str, Callable[[], Any]]:
    """Return how asdex finds a pattern, if it is installed and the program is for it."""
    try:
        import asdex
        import jax.numpy as jnp
    except ImportError:
        return {}
    from benchmarks.engines import for_peer

    function = for_peer(program, jnp, "benchmarks.peers.jax_forms")
    if function is None:
        return {}
    return {"asdex": lambda: getattr(asdex, f"{kind}_sparsity")(
        lambda x: function(x, *args[1:]), args[0])}


def growth() -> Table:
    """Return as which power of the trip count the time of gradients grows, and seconds a step."""
    found: Table = {}
    for backend, counts in (("python", (10**4, 10**5, 10**6)), ("native", (10**5, 10**6, 10**7))):
        gradient = ad.grad(scalars.logistic_map, argnums=(0, 1), backend=backend)
        seconds = [measure({"": partial(gradient, 0.3, 3.2, n)}, 3)[""] for n in counts]
        found[f"logistic_map, {backend}, {counts[-1]:.0e} steps"] = {
            "power of the steps": math.log10(seconds[2] / seconds[1]),
            "a step": seconds[2] / counts[2],
        }
    return found


def reach() -> Table:
    """Return why programs of the test corpus have no native loops, the most frequent first."""
    from tests.corpus.test_corpus import PROGRAMS

    kept = os.environ.get("ADCOMPILER_NATIVE")
    os.environ["ADCOMPILER_NATIVE"] = "plain"
    counts: collections.Counter[str] = collections.Counter()
    for program in PROGRAMS:
        native = ad.value_and_grad(program.function, argnums=program.argnums, backend="native")
        try:
            native.compiled_for(*program.samples(np.random.default_rng(0)))
            counts["native loops"] += 1
        except ad.UnsupportedError as error:
            counts[error.findings[0].problem.partition("nothing for this: ")[2]] += 1
        except ad.ADError as error:
            counts[type(error).__name__] += 1
    if kept is None:
        del os.environ["ADCOMPILER_NATIVE"]
    return {reason: {"programs": count} for reason, count in counts.most_common()}


TABLES: dict[str, Callable[[], Table]] = {
    table.__name__: table
    for table in (dispatch, checkpoints, second_order, taylor, sparsity, growth, reach)
} | {"recorded": recorded.table}
"""The tables, by what ``--only`` calls them."""
