"""MPI and Ray compute what one process computes, to the last digit; skipped where they are not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.parallel.engines import results
from tests.parallel.test_parallel import AtOnce

ROOT = Path(__file__).parents[2]
MPIEXEC = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")


def run(engine: str, *launcher: str) -> str:
    """Return the last line that the program of an engine prints."""
    ended = subprocess.run(
        [*launcher, "-m", "tests.parallel.engines", engine], cwd=ROOT, capture_output=True,
        text=True, check=False, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()[-1]


@pytest.mark.skipif(find_spec("mpi4py") is None or MPIEXEC is None, reason="mpi4py, mpiexec")
def test_ranks_of_an_mpi_job() -> None:
    assert MPIEXEC is not None
    found = run("mpi", MPIEXEC, "-n", "3", sys.executable, "-m", "mpi4py.futures")
    assert found == results(AtOnce())


@pytest.mark.skipif(find_spec("ray") is None, reason="ray")
def test_tasks_of_ray() -> None:
    assert run("ray", sys.executable) == results(AtOnce())
