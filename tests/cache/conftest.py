"""A Python process of its own, with modules and a cache under the test's directory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def python(tmp_path: Path) -> Callable[[str], str]:
    """Return a function that runs a program and returns what it prints."""

    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))

    def run(program: str) -> str:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            cwd=tmp_path, capture_output=True, text=True, timeout=120,
            env=os.environ | {
                "ADCOMPILER_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": path,
                "PYTHONDONTWRITEBYTECODE": "1",
            },
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
