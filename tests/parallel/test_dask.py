"""Derivatives on a Dask cluster of two processes, one of which is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler import parallel, value_and_grad
from tests.parallel import programs
from tests.parallel.test_parallel import AtOnce

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(96, 3))
Y = np.where(RNG.random(96) < 0.5, -1.0, 1.0)
W = np.array([0.3, -0.2, 0.7])


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def pids(client: Any) -> set[int]:
    return set(client.run(os.getpid).values())


def test_gradients_of_sums_on_a_cluster(client: Any) -> None:
    args = (W, parallel.shards(X, 12), parallel.shards(Y, 12))
    here = parallel.value_and_grad(programs.loss, AtOnce(), sharded=(1, 2))(*args)
    there = parallel.value_and_grad(programs.loss, client.get_executor(), sharded=(1, 2))(*args)
    assert there[0] == here[0]
    np.testing.assert_array_equal(there[1], here[1])


def test_a_worker_that_is_killed_changes_no_digit(client: Any, tmp_path: Path) -> None:
    before = pids(client)
    parts = [np.full(1000, float(k)) for k in range(10)]
    flag = tmp_path / "flag"
    there = parallel.value_and_grad(programs.killing, client.get_executor())(0.5, parts, str(flag))
    assert flag.exists()  # by which a worker has noted that it kills itself
    here = parallel.value_and_grad(programs.killing, AtOnce())(0.5, parts, str(flag))
    assert (float(there[0]).hex(), float(there[1]).hex()) == (
        float(here[0]).hex(), float(here[1]).hex())
    client.wait_for_workers(2, timeout=60)
    assert len(pids(client) - before) == 1


def test_chunks_of_a_dask_array(client: Any) -> None:
    data = da.from_array(X, chunks=(20, 3)) * 2.0
    labels = da.from_array(Y, chunks=20)
    derivative = parallel.value_and_grad(programs.loss, client.get_executor(), sharded=(1, 2))
    value, gradient = derivative(W, parallel.shards(data), parallel.shards(labels))
    rows = [slice(start, start + 20) for start in range(0, 96, 20)]
    one = value_and_grad(programs.loss)
    wanted = parallel.tree_sum(one(W, 2.0 * X[part], Y[part]) for part in rows)
    assert value == wanted[0]
    np.testing.assert_array_equal(gradient, wanted[1])


def test_a_chunk_travels_without_the_others() -> None:
    data = da.from_array(RNG.normal(size=(100, 1000)), chunks=(1, 1000))
    import cloudpickle

    (first, *_) = parallel.shards(data)
    assert len(cloudpickle.dumps(first)) < 50_000  # of 800,000 bytes in all
    np.testing.assert_array_equal(first.load(), data[:1].compute())


@pytest.mark.parametrize(("chunks", "count", "said"), [
    ((20, 3), 5, "its own chunks"), ((20, 1), None, "whole rows"),
])
def test_dask_arrays_in_other_parts(chunks: Any, count: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parallel.shards(da.from_array(X, chunks=chunks), count)


def test_all_else_on_a_cluster(client: Any) -> None:
    pool = client.get_executor()
    u = RNG.normal(size=20)
    np.testing.assert_array_equal(
        parallel.jacobian(programs.field, pool)(u), parallel.jacobian(programs.field, AtOnce())(u))
    there, here = (
        parallel.sparse_jacobian(programs.field, one)(u).toarray() for one in (pool, AtOnce()))
    np.testing.assert_array_equal(there, here)
    there, here = (
        parallel.monte_carlo(
            programs.payoff, programs.normals, one, paths=5_000, seed=3, batch=600)(100.0, 0.2)
        for one in (pool, AtOnce()))
    assert there == here
    starts = [np.array([float(k)]) for k in range(4)]
    there, here = (
        parallel.multi_start(programs.wavy, starts, one, args=(0.1,)) for one in (pool, AtOnce()))
    assert [one.fun for one in there.results] == [one.fun for one in here.results]


def test_functions_of_a_script_travel_too(tmp_path: Path) -> None:
    """What ``__main__`` defines is sent as text of its code, and compiled where it arrives."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True\n"


SCRIPT = """
import numpy as np
from adcompiler import parallel, value_and_grad
from distributed import Client, LocalCluster

SCALE = 3.0

def loss(w, X):
    return SCALE * np.sum(np.tanh(X @ w) ** 2)

if __name__ == "__main__":
    X, w = np.linspace(-1.0, 1.0, 60).reshape(20, 3), np.array([0.5, -1.0, 2.0])
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None,
                      silence_logs=50) as cluster, Client(cluster) as client:
        derivative = parallel.value_and_grad(loss, client.get_executor())
        value, gradient = derivative(w, parallel.shards(X, 4))
    one = value_and_grad(loss)
    wanted = parallel.tree_sum(one(w, part) for part in parallel.shards(X, 4))
    print(value == wanted[0] and np.array_equal(gradient, wanted[1]))
"""

LIMITED = """
import resource, sys
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from adcompiler import grad, parallel
from tests.parallel.programs import of_structure

ROWS = {rows}
data = np.memmap(sys.argv[1], np.float64, "r", shape=(ROWS, 1000))
p = dict(w=np.full(1000, 0.001), b=[0.5], scale=2.0)
with ThreadPoolExecutor(1) as pool:
    derivative = parallel.value_and_grad(of_structure, pool, ahead=2)
    derivative(p, parallel.shards(data[:10], 2))
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    used = 1024 * int(status["VmData"].split()[0])
    resource.setrlimit(resource.RLIMIT_DATA, (used + {limit}, used + {limit}))
    try:
        np.array(data)
    except MemoryError:
        print("too large")
    value, gradient = derivative(p, parallel.shards(data, 40))
print(float(value).hex(), float(gradient["b"][0]).hex())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it limits memory as Linux does")
def test_a_file_larger_than_the_memory(tmp_path: Path) -> None:
    rows, limit = 16_000, 64 << 20
    file = tmp_path / "data"
    with open(file, "wb") as written:
        written.truncate(rows * 8000)  # 128 MB of zeros, which take no room
        written.write(np.linspace(-1.0, 1.0, 1000).tobytes())
    done = subprocess.run(
        [sys.executable, "-c", LIMITED.format(rows=rows, limit=limit), str(file)],
        capture_output=True, text=True, timeout=120, cwd=Path(__file__).resolve().parents[2],
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    said, numbers = done.stdout.splitlines()
    assert said == "too large"
    value, slope = map(float.fromhex, numbers.split())
    first = np.tanh(np.linspace(-1.0, 1.0, 1000).sum() * 0.001 + 0.5)
    np.testing.assert_allclose(value, 2.0 * (first + (rows - 1) * np.tanh(0.5)), rtol=1e-12)
    np.testing.assert_allclose(
        slope, 2.0 * (1.0 - first**2 + (rows - 1) * (1.0 - np.tanh(0.5) ** 2)), rtol=1e-12)
