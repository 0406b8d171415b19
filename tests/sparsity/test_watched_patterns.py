"""A second process finds patterns on disk, and loads nothing that would find them itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", str(tmp_path / "cache"))


MODEL = """
import numpy as np
from helper import step

WIDTH = 2


def flow(u):
    return step(u) ** WIDTH


class Mesh:
    def __init__(self, ends):
        self.ends = ends

    def residual(self, u):
        return u[self.ends[:, 1]] * u[self.ends[:, 0]]


mesh = Mesh(np.array([[0, 1], [1, 2], [2, 0]]))
"""
HELPER = """
def step(u):
    return u[1:] - u[:-1]
"""
CALLS = """
import sys
import numpy as np
import adcompiler
from adcompiler import lagrangian, sparse_hessian, sparse_jacobian
from model import *

u = np.linspace(1.0, 2.0, 6)
print(sparse_jacobian(flow)(u).toarray().tolist())
print(sparse_jacobian(mesh.residual)(u).toarray().tolist())
print(sparse_hessian(lambda u: np.sum(u[:-1] ** 2 * u[1:]))(u).toarray().tolist())
print(lagrangian(lambda u: np.sum(u**4), flow).hessian(u, np.ones(5)).toarray().tolist())
print([name for name in (
    "adcompiler.api.sparse.patterns", "adcompiler.frontend.parser", "adcompiler.compile.pipeline",
    "adcompiler.sparsity.interpreter.machine") if name in sys.modules], file=sys.stderr)
"""


def run(path: Path) -> tuple[str, str]:
    """Return the matrices that a process computes, and what it loaded to find patterns."""
    done = started(path)
    out, errors = done.communicate(timeout=120)
    assert done.returncode == 0, errors
    return out, errors


def started(path: Path) -> subprocess.Popen[str]:
    """Return a process that computes matrices, of a program in a file."""
    places = os.pathsep.join(filter(None, [str(path), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, "-W", "error", str(path / "calls.py")], cwd=path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": places, "PYTHONDONTWRITEBYTECODE": "1"})


def written(path: Path, model: str = MODEL, helper: str = HELPER) -> None:
    """Write the modules of a program."""
    for name, text in (("model", model), ("helper", helper), ("calls", CALLS)):
        (path / f"{name}.py").write_text(text, encoding="utf-8")


def test_another_process_loads_nothing_that_finds_patterns(tmp_path: Path) -> None:
    written(tmp_path)
    first, loaded = run(tmp_path)
    assert "adcompiler.api.sparse.patterns" in loaded
    assert run(tmp_path) == (first, "[]\n")


@pytest.mark.parametrize("model, helper", [
    (MODEL.replace("[2, 0]", "[2, 1]"), HELPER),
    (MODEL.replace("u[self.ends[:, 1]]", "u[self.ends[:, 1] + 1]"), HELPER),
    (MODEL, HELPER.replace("u[1:] - u[:-1]", "u[1:] * u[-1]"))])
def test_a_changed_text_has_another_pattern(tmp_path: Path, model: str, helper: str) -> None:
    written(tmp_path)
    before, _ = run(tmp_path)
    written(tmp_path, model, helper)
    after, loaded = run(tmp_path)
    assert "adcompiler.api.sparse.patterns" in loaded
    assert after != before
    shutil.rmtree(tmp_path / "cache")
    assert run(tmp_path)[0] == after


def test_several_processes_at_once(tmp_path: Path) -> None:
    written(tmp_path)
    done = [process.communicate(timeout=240) for process in [started(tmp_path) for _ in range(3)]]
    assert len({out for out, _ in done}) == 1
    assert done[0][0].count("[[") == 4
    assert run(tmp_path) == (done[0][0], "[]\n")
    assert not list((tmp_path / "cache").rglob("*.tmp"))
