"""A model trained on data in parts, by one process and by two, with the time that each step takes.

The data lies in a file that is mapped into memory: a worker reads the rows of its part and nothing
else. Each step of gradient descent asks for the loss and its gradient, summed over the parts.

    python examples/sharded_training.py [FILE]

draws losses and times into FILE, by default one in a temporary directory. The curve for more
processes is a model: what one process takes, parted, and what does not part, by Amdahl's law.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import numpy.typing as npt

from adcompiler import parallel, value_and_grad

Array = npt.NDArray[np.float64]
FEATURES = 40


def loss(w: Array, rows: Array) -> float:
    """Return the negative log-likelihood of a logistic regression with features and their products.

    The last column of ``rows`` holds the labels, -1 or 1.
    """
    X, signs = rows[:, :-1], rows[:, -1]
    score = X @ w[:FEATURES] + np.sum((X @ w[FEATURES:].reshape(FEATURES, 8)) ** 2, axis=1) / 8.0
    return np.sum(np.logaddexp(0.0, -signs * score))


def written(file: str, count: int) -> Any:
    """Write data into a file and return it as an array that is mapped into memory."""
    rng = np.random.default_rng(0)
    data = np.memmap(file, np.float64, "w+", shape=(count, FEATURES + 1))
    truth = rng.normal(size=FEATURES)
    for start in range(0, count, 10_000):
        X = rng.normal(size=(min(10_000, count - start), FEATURES))
        data[start : start + len(X), :-1] = X
        noise = rng.logistic(size=len(X))
        data[start : start + len(X), -1] = np.where(X @ truth + noise > 0.0, 1.0, -1.0)
    data.flush()
    return np.memmap(file, np.float64, "r", shape=data.shape)


def trained(pool: Executor, parts: list[Any], count: int, steps: int) -> dict[str, Any]:
    """Return weights and losses of gradient descent with momentum, and seconds for each step."""
    derivative = parallel.value_and_grad(loss, pool)
    w = 0.01 * np.random.default_rng(1).normal(size=9 * FEATURES)
    speed = np.zeros_like(w)
    losses, seconds = [], []
    derivative(w, parts)  # starts the workers, which compile, or find what one of them compiled
    for _ in range(steps):
        start = time.perf_counter()
        value, gradient = derivative(w, parts)
        seconds.append(time.perf_counter() - start)
        losses.append(float(value) / count)
        speed = 0.9 * speed - 0.2 * gradient / count
        w = w + speed
    return {"w": w, "losses": losses, "seconds": float(np.median(seconds))}


def main(path: str | None = None, count: int = 100_000, steps: int = 25) -> dict[str, Any]:
    """Train with one process and with two, compare them, and draw into ``path``."""
    # Workers share the cores: linear algebra is not to start threads in each of them.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as directory:
        data = written(os.path.join(directory, "data"), count)
        parts = parallel.shards(data, 16)
        runs = {}
        for workers in (1, 2):
            with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
                runs[workers] = trained(pool, parts, count, steps)
        one = value_and_grad(loss)
        start = time.perf_counter()
        whole = one(runs[1]["w"], np.asarray(data))
        alone = time.perf_counter() - start
        del data
    same = np.array_equal(runs[1]["w"], runs[2]["w"])
    for workers, run in runs.items():
        print(f"{workers} process{'es' * (workers > 1):2}  {1e3 * run['seconds']:7.1f} ms a step   "
              f"loss {run['losses'][0]:.4f} -> {run['losses'][-1]:.4f}")
    print(f"the weights of both are {'the same to the last digit' if same else 'DIFFERENT'}")
    print(f"in this process, all rows at once: {1e3 * alone:.1f} ms")
    path = path or os.path.join(tempfile.gettempdir(), "sharded_training.png")
    draw(runs, path)
    print(f"drawn into {path}")
    return {"runs": runs, "same": same, "whole": whole, "path": path}


def draw(runs: dict[int, dict[str, Any]], path: str) -> None:
    """Draw the losses, and the times with the model for more processes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for workers, run in runs.items():
        style = {"lw": 4.0, "alpha": 0.4} if workers == 1 else {"lw": 1.5, "ls": "--"}
        left.plot(run["losses"], label=f"{workers} process{'es' * (workers > 1)}", **style)
    same = np.array_equal(runs[1]["losses"], runs[2]["losses"])
    left.set(xlabel="step", ylabel="loss per row",
             title=f"training: {'the same to the last digit' if same else 'not the same'}")
    left.legend()
    first, second = (1e3 * runs[workers]["seconds"] for workers in (1, 2))
    # first = apart + rest, second = apart + rest / 2
    apart = min(max(2.0 * second - first, 0.0), first)
    workers = np.arange(1, 17)
    right.plot(workers, apart + (first - apart) / workers, color="C1", label=(
        f"model: {apart:.1f} ms + {first - apart:.1f} ms / processes"))
    right.plot(workers, first / workers, color="0.6", ls=":", label="if all of it parted")
    right.plot([1, 2], [first, second], "o", color="C0", label="measured")
    right.set(xlabel="processes", ylabel="milliseconds", title="time of a step", xscale="log",
              ylim=(0.0, 1.4 * max(first, second)),
              xticks=[1, 2, 4, 8, 16], xticklabels=["1", "2", "4", "8", "16"])
    right.minorticks_off()
    right.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:2])
