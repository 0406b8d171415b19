"""``explain`` tells what a gradient holds when its sweep starts, as tracemalloc measures it."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adcompiler as ad
from adcompiler.api import fallback
from adcompiler.errors import LargeGradientWarning
from benchmarks.programs import arrays, stencils
from tests.corpus import evolution, networks, particles, sequences

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)


def n_body(positions: Any, velocities: Any, masses: Any, steps: int) -> Any:
    return np.sum(particles.n_body_leapfrog(positions.copy(), velocities.copy(), masses, steps))


def heat_with_losses(temperatures: Any, source: float, steps: int) -> Any:
    return np.sum(evolution.heat_2d_cooling(temperatures.copy(), source, steps) ** 2)


def spread(n: int) -> np.ndarray:
    a = RNG.normal(size=(n, n))
    return a @ a.T / n + np.eye(n)


HIDDEN = 64
LSTM = (RNG.normal(size=(4 * HIDDEN, HIDDEN + 8)) / 9, RNG.normal(size=4 * HIDDEN),
        RNG.normal(size=(60, 8)), RNG.normal(size=HIDDEN))
KALMAN = (RNG.normal(size=(20, 20)) / 5, RNG.normal(size=(10, 20)), spread(20), spread(10),
          RNG.normal(size=(60, 10)))
PROGRAMS = [
    (arrays.mlp, arrays.network(RNG, 64), (0, 1, 2, 3, 4, 5)),
    (arrays.mixture, arrays.gaussians(RNG, 2000), (0, 1, 2)),
    (arrays.attention, arrays.heads(RNG, 300), (0, 1, 2)),
    (arrays.convolution, (RNG.normal(size=(200, 200)), RNG.normal(size=(3, 3))), (0, 1)),
    (stencils.heat_2d, (RNG.normal(size=(60, 60)), 0.1, 50), (0, 1)),
    (heat_with_losses, (RNG.normal(size=(200, 200)), 0.1, 20), (0, 1)),
    (networks.lstm_states, LSTM, (0, 1)),
    (n_body, (RNG.normal(size=(12, 3)), RNG.normal(size=(12, 3)), RNG.random(12), 200), (0, 1)),
    (sequences.kalman_log_likelihood, KALMAN, (0, 2, 3)),
]


@pytest.mark.parametrize(("function", "args", "argnums"), PROGRAMS, ids=lambda one: getattr(
    one, "__name__", ""))
def test_it_is_what_tracemalloc_measures(
    function: Any, args: tuple[Any, ...], argnums: tuple[int, ...]
) -> None:
    derivative = ad.grad(function, argnums)
    told = derivative.explain(*args)
    measured = derivative.profile(*args).timeline.at_sweep
    assert told.held == pytest.approx(measured, rel=0.1)
    assert told.held_unknown == ""
    assert f"held        {told.held} bytes when the sweep starts" in str(told)


def test_of_an_lstm_in_lists_of_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import from_autograd

    gates = {name: RNG.normal(size=(3, 5)) for name in ("forget", "ingate", "outgate", "change")}
    args = ({**gates, "predict": RNG.normal(size=3)}, RNG.normal(size=300))
    derivative = ad.grad(from_autograd.lstm)
    measured = derivative.profile(*args).timeline.at_sweep
    assert derivative.explain(*args).held == pytest.approx(measured, rel=0.1)
    sys.modules.pop("from_autograd")


def steps(x: Any, n: int) -> Any:
    for _ in range(n):
        x = np.sin(x)
    return np.sum(x)


def steps_of_others(x: Any, y: Any, n: int) -> Any:
    for _ in range(n):
        x = x * y[1:-1]
    return np.sum(x) + np.sum(y.T)


def branches(x: Any, flag: bool) -> Any:
    if flag:
        return np.sum(np.exp(x) * x)
    return np.sum(x)


def until(x: Any) -> Any:
    while np.sum(x) > 0.1:
        x = np.sin(x) * x
    return np.sum(x)


def cut(x: Any, k: int) -> Any:
    total = 0.0
    for _ in range(3):
        part = np.exp(x[1:k])
        total = total + np.sum(part * np.exp(x[-3:k:2]).sum())
    return total


def test_nothing_is_run() -> None:
    told = ad.grad(steps).explain(np.ones(1000), 10**9)
    assert told.held is not None
    assert told.held == pytest.approx(10**9 * (8000 + 112 + 9), rel=0.01)


def test_arguments_and_views_of_them_do_not_count() -> None:
    x, y = np.ones(1000), np.ones(1002)
    told = ad.grad(steps_of_others, (0, 1)).explain(x, y, 10)
    assert told.held is not None
    assert 10 * 8000 < told.held < 11.5 * 8000


@pytest.mark.parametrize("k", [0, 2, 700, 999, 2000, -5])
def test_parts_of_arrays_are_as_long_as_python_cuts_them(k: int) -> None:
    x = np.linspace(0.0, 1.0, 1000)
    derivative = ad.grad(cut)
    told, measured = derivative.explain(x, k), derivative.profile(x, k).timeline.at_sweep
    assert told.held == pytest.approx(measured, rel=0.1, abs=8000)


def picked(x: Any) -> Any:
    y = x * 1.0
    y[[0, 1]] = y[[0, 1]] ** 3.0
    return np.sum(y) + np.sum(np.exp(y[[0, 1, 2], 1]))


def test_subscripts_by_lists_are_no_slices() -> None:
    x = np.ones((4, 3))
    assert ad.grad(picked)(x).shape == (4, 3)
    held = ad.grad(picked).explain(x).held
    assert held is None or held > 96


LENGTH = 20


def steps_of_the_module(x: Any) -> Any:
    for _ in range(LENGTH):
        x = np.sin(x)
    return np.sum(x)


def test_variables_of_modules_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    derivative = ad.grad(steps_of_the_module)
    x = np.ones(1000)
    first = derivative.explain(x)
    assert f"{__name__}.LENGTH" in first.memory
    assert first.tape_bytes == 21 * 8000
    monkeypatch.setattr(sys.modules[__name__], "LENGTH", 40)
    second = derivative.explain(x)
    assert second.tape_bytes == 41 * 8000
    assert first.held is not None and second.held is not None
    assert second.held - first.held == pytest.approx(20 * 8121, rel=0.01)


@pytest.mark.parametrize(("function", "args", "reason"), [
    (branches, (np.ones(3), True), "which branch is taken"),
    (until, (np.ones(3),), "how often a loop runs that a condition ends"),
])
def test_what_is_not_known_is_told(function: Any, args: tuple[Any, ...], reason: str) -> None:
    told = ad.grad(function).explain(*args)
    assert told.held is None
    assert told.held_unknown.startswith(reason)
    assert f"held        not known: {reason}" in str(told)


def test_other_derivatives_say_nothing_of_it() -> None:
    for derivative in (
        ad.jacobian(np.sin), ad.compiled(steps, backend="python"), ad.hessian(steps),
    ):
        args = (np.ones(3),) if derivative.primal is np.sin else (np.ones(3), 2)
        told = derivative.explain(*args)
        assert told.held is None
        assert "held" not in str(told)


# -- the warning -----------------------------------------------------------------------------------


def test_a_gradient_too_large_for_what_is_free_warns_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "free_bytes", lambda: 100_000)
    derivative = ad.grad(steps)
    assert derivative.explain(np.ones(1000), 20).held is not None
    with pytest.warns(LargeGradientWarning, match=r"checkpoint_loop\(step, state, n\)") as caught:
        derivative(np.ones(1000), 20)
    (one,) = caught
    assert one.filename == __file__
    assert "the gradient of steps will hold 0.000162 GB" in str(one.message)
    assert "0.0001 GB are free" in str(one.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        derivative(np.ones(1000), 20)


def test_others_do_not_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ad.grad(steps)(np.ones(1000), 20)
        monkeypatch.setattr(fallback, "free_bytes", lambda: 1000)
        ad.grad(until)(np.ones(3) * 0.1)
        ad.jacobian(np.sin)(np.ones(1000))


def test_with_checkpoints_there_is_nothing_to_warn_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "free_bytes", lambda: 400_000)

    def in_little(x: Any, n: int) -> Any:
        return np.sum(ad.checkpoint_loop(np.sin, x, n))

    x = np.linspace(0.0, 1.0, 1000)
    with pytest.warns(LargeGradientWarning):
        wanted = ad.grad(steps)(x, 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.allclose(ad.grad(in_little)(x, 100), wanted)


def in_blocks(x: Any) -> Any:
    u = ad.checkpoint_loop(lambda u: u + 0.01 * x * np.sin(u), x * 1.0, 200, every=10)
    return np.sum(u**2)


def test_states_of_checkpoints_are_no_views_of_the_first() -> None:
    derivative, x = ad.value_and_grad(in_blocks), np.ones(1000)
    told = derivative.explain(x)
    measured = derivative.profile(x).timeline.at_sweep
    assert told.held is None or told.held == pytest.approx(measured, rel=0.1)
    assert measured > 20 * x.nbytes


SCALE = 0.5


def scaled(u: Any, x: Any) -> Any:
    flow = x[:-1] * (u[1:] - u[:-1]) / SCALE
    u = u.copy()
    u[1:-1] += SCALE * (flow[1:] - flow[:-1]) / SCALE
    u += SCALE * 0.5 * u * (1 - u)
    u[0] = u[1]
    u[-1] = u[-2]
    return u


def in_blocks_reading_outside(x: Any) -> Any:
    return np.sum(ad.checkpoint_loop(lambda u: scaled(u, x), x * 1.0, 20, every=5))


def test_what_only_the_gradient_takes_is_explained() -> None:
    derivative, x = ad.value_and_grad(in_blocks_reading_outside), np.ones(4)
    assert derivative(x)[0] == in_blocks_reading_outside(x)
    told = derivative.explain(x)
    assert told.residuals == () and "its pullback is refused" in told.unknown
    assert "residuals   not known: its pullback is refused" in str(told)
