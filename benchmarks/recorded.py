"""What recording costs: ``python -m benchmarks --only recorded``.

Programs are recorded as a whole, ``backend="record"``, beside autograd, which runs the same text
with its own ``np``, and beside the program itself. ``python -m benchmarks.recorded PROGRAM ENGINE``
prints the seconds of a processor that the first call takes in a new process.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import adcompiler as ad
from benchmarks.program import agree
from benchmarks.timing import measure

ROUNDS = 15


class Kalman:
    """A Kalman filter of two states and one measurement, with the likelihood of what it saw."""

    def __init__(self, q: Any, r: Any) -> None:
        self.F, self.H = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]])
        self.Q, self.R = q * np.eye(2), r * np.eye(1)
        self.x, self.P = np.zeros(2), np.eye(2)
        self.likelihood: Any = 0.0

    def predict(self) -> None:
        """Move on by a step of time."""
        self.x = np.dot(self.F, self.x)
        self.P = np.dot(np.dot(self.F, self.P), self.F.T) + self.Q

    def update(self, z: Any) -> None:
        """Take a measurement in."""
        y = z - np.dot(self.H, self.x)
        S = np.dot(np.dot(self.H, self.P), self.H.T) + self.R
        K = np.dot(np.dot(self.P, self.H.T), np.linalg.inv(S))
        self.x = self.x + np.dot(K, y)
        self.P = self.P - np.dot(K, np.dot(self.H, self.P))
        log_det = np.log(np.linalg.det(S))
        self.likelihood = self.likelihood - 0.5 * (np.dot(y, np.linalg.solve(S, y)) + log_det)


def kalman(q, r, measurements):
    """Return the likelihood of measurements."""
    tracker = Kalman(q, r)
    for i in range(len(measurements)):
        tracker.predict()
        tracker.update(measurements[i])
    return tracker.likelihood


def scalars(x, steps):
    """Return a number after steps of two operations each."""
    s = x
    for _ in range(steps):
        s = s * 0.999 + x
    return s


def elements(x, steps):
    """Return the sum of an array of one element after steps of two operations each."""
    for _ in range(steps):
        x = np.sin(x) * 1.01
    return np.sum(x)


def mlp(W1, b1, W2, b2, X, Y):
    """Return the mean squared error of a network with a hidden layer of tanh units."""
    error = np.dot(np.tanh(np.dot(X, W1) + b1), W2) + b2 - Y
    return np.mean(error * error)


def arguments(name: str) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """Return what a program is differentiated with respect to, and its arguments."""
    normal = np.random.default_rng(0).normal
    return {
        "kalman": ((0, 1), (0.1, 0.2, normal(size=(50, 1)))),
        "scalars": ((0,), (0.5, 500)),
        "elements": ((0,), (np.array([0.5]), 200)),
        "mlp": ((0, 1, 2, 3), (
            normal(size=(8, 16)), np.zeros(16), normal(size=(16, 2)), np.zeros(2),
            normal(size=(32, 8)), normal(size=(32, 2)))),
    }[name]


PROGRAMS: dict[str, Callable[..., Any]] = {
    "kalman": kalman, "scalars": scalars, "elements": elements, "mlp": mlp}
SHOWN = {"kalman": "a Kalman filter in a class, 50 steps", "scalars": "1,000 operations of numbers",
         "elements": "400 operations of arrays of one element", "mlp": "a step of a network"}


def made_by(engine: str, name: str) -> Callable[..., Any]:
    """Return the gradient of a program by an engine, or the program itself."""
    function, (wrt, _) = PROGRAMS[name], arguments(name)
    if engine == "autograd":
        import autograd
        import autograd.numpy

        space = {**globals(), "np": autograd.numpy}
        space["Kalman"] = type("Kalman", (), {
            key: types.FunctionType(method.__code__, space, key)
            for key, method in vars(Kalman).items() if isinstance(method, types.FunctionType)})
        return autograd.grad(types.FunctionType(function.__code__, space), wrt)
    return function if engine == "primal" else ad.grad(function, wrt, backend="record")


def table() -> dict[str, dict[str, float]]:
    """Return the seconds of the first call and of later ones; results are the same."""
    engines = ["recorded", *(["autograd"] if importlib.util.find_spec("autograd") else [])]
    found = {}
    for name in PROGRAMS:
        _, args = arguments(name)
        calls = {engine: partial(made_by(engine, name), *args) for engine in engines}
        results = [call() for call in calls.values()]
        assert all(agree(result, results[0]) for result in results), name
        calls["primal"] = partial(PROGRAMS[name], *args)
        found[SHOWN[name]] = measure(calls, ROUNDS)
        with tempfile.TemporaryDirectory() as cache:
            first_call(name, "recorded", cache)
            found[f"{SHOWN[name]}, first call"] = {
                engine: first_call(name, engine, cache) for engine in engines}
    return found


def first_call(name: str, engine: str, cache: str) -> float:
    """Return the seconds of a processor that a first call takes in a new process."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.recorded", name, engine], capture_output=True,
        env={**os.environ, "ADCOMPILER_CACHE_DIR": cache}, text=True, check=True)
    return float(done.stdout.strip().splitlines()[-1])


def main(name: str, engine: str) -> None:
    """Print how long the first call takes; what it imports is imported before."""
    import scipy.linalg  # noqa: F401 - NumPy's own rules do not need it, SciPy's do

    derivative, (_, args) = made_by(engine, name), arguments(name)
    start = time.process_time()
    derivative(*args)
    print(time.process_time() - start)


if __name__ == "__main__":
    main(*sys.argv[1:])
