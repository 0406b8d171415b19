"""Programs that ``test_engines.py`` starts as processes: derivatives by the workers of an engine.

    mpiexec -n 3 python -m mpi4py.futures -m tests.parallel.engines mpi
    python -m tests.parallel.engines ray

They print what ``results`` gives, by which it is compared with one process to the last digit.
"""

from __future__ import annotations

import sys
from concurrent.futures import Executor, Future
from typing import Any

import numpy as np

from adcompiler import parallel
from tests.parallel import programs

RNG = np.random.default_rng(0)
X = RNG.normal(size=(96, 3))
Y = np.where(RNG.random(96) < 0.5, -1.0, 1.0)
W = np.array([0.3, -0.2, 0.7])
U = RNG.normal(size=20)


def results(executor: Executor) -> str:
    """Return a line of numbers in hexadecimal: a gradient of a sum, a Jacobian, an expectation."""
    value, gradient = parallel.value_and_grad(programs.loss, executor, sharded=(1, 2))(
        W, parallel.shards(X, 12), parallel.shards(Y, 12))
    rows = parallel.jacobian(programs.field, executor)(U)
    estimate = parallel.monte_carlo(
        programs.payoff, programs.normals, executor, paths=5_000, seed=3, batch=600)(100.0, 0.2)
    numbers = [value, *gradient, *rows.ravel(), estimate.value, estimate.gradient]
    return " ".join(float(number).hex() for number in numbers)


class RayExecutor(Executor):
    """What docs/parallel.md shows."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return the future of what a worker computes."""
        import ray

        future: Future[Any] = ray.remote(fn).remote(*args, **kwargs).future()
        return future


def main(engine: str) -> None:
    """Print the results of an engine."""
    if engine == "mpi":
        from mpi4py.futures import MPIPoolExecutor

        with MPIPoolExecutor() as pool:
            print(results(pool))
    else:
        import ray

        ray.init(
            num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
        print(results(RayExecutor()))
        ray.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
