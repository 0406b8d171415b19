"""What is loaded with the package: not what only some programs, or only compiling, need."""

from __future__ import annotations

import os
import posixpath
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from adcompiler.ops.packages import Point, points_in_directories

UNNEEDED = {
    "numpy.random", "numpy.ma", "scipy", "numba", "gast", "astunparse", "importlib.metadata",
    "email", "html", "sysconfig", "tempfile", "zipfile", "shutil", "socket", "platformdirs",
    "adcompiler.ir.nodes", "adcompiler.compile.pipeline", "adcompiler.rulekit",
}


def test_what_the_import_loads() -> None:
    code = (
        "import sys, numpy\n"
        "before = set(sys.modules)\n"
        "import adcompiler\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert not UNNEEDED.intersection(run.stdout.split())


def test_what_code_from_the_cache_loads(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("def f(x):\n    return x * x\n")
    code = (
        "import sys, numpy\n"
        "before = set(sys.modules)\n"
        "import adcompiler, model\n"
        "assert adcompiler.grad(model.f)(3.0) == 6.0\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300,
            cwd=tmp_path, env={**os.environ, "ADCOMPILER_CACHE_DIR": str(tmp_path / "kept")})
    assert not UNNEEDED.intersection(run.stdout.split())


@pytest.mark.parametrize("group", ["adcompiler.rules", "console_scripts", "pytest11", "nothing"])
def test_entry_points_are_those_that_python_finds(group: str) -> None:
    found = points_in_directories(group)
    assert found is not None
    pairs = {(one.name, one.value) for one in entry_points(group=group)}
    assert {(one.name, one.value) for one in found} == pairs
    for one in found:
        (other, *_) = entry_points(group=group, name=one.name)
        assert one.module == other.module or one.value != other.value


def test_entry_points_name_parts_of_modules() -> None:
    assert Point("join", "posixpath : join [extra]").load() is posixpath.join
    assert Point("path", "os.path").load() is posixpath


def test_constants_of_modules_that_are_loaded_later() -> None:
    code = (
        "import logging, random, numpy as np\n"
        "from adcompiler.ir.types import is_constant_class\n"
        "classes = np.random.Generator, np.random.RandomState, np.random.PCG64, random.Random\n"
        "assert all(map(is_constant_class, (*classes, logging.Logger)))\n"
        "assert not is_constant_class(np.ndarray)\n"
        "from adcompiler.typed.values import type_of\n"
        "from adcompiler.ir.types import Static\n"
        "assert isinstance(type_of(np.random.default_rng), Static)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
