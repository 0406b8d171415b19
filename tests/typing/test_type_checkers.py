"""What type checkers know of derivatives: the signature of the function that is differentiated."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PROGRAM = Path(__file__).with_name("program.py")
LINES = PROGRAM.read_text().splitlines()
WRONG = {i for i, line in enumerate(LINES, 1) if line.endswith("# wrong")}


def run(*command: str) -> str:
    """Return what a command prints."""
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, timeout=300)
    assert done.stdout, done.stderr
    return done.stdout


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_refuses_calls_that_the_function_refuses(tmp_path: Path) -> None:
    printed = run(
        "mypy", "--strict", "--config-file=", "--output=json", f"--cache-dir={tmp_path}",
        str(PROGRAM))
    found = [json.loads(line) for line in printed.splitlines()]
    errors = {one["line"] for one in found if one["severity"] == "error"}
    assert errors == WRONG, printed


@pytest.mark.skipif(importlib.util.find_spec("pyright") is None, reason="pyright is not installed")
def test_pyright_refuses_calls_that_the_function_refuses() -> None:
    printed = run("pyright", "--outputjson", "--pythonpath", sys.executable, str(PROGRAM))
    found = json.loads(printed)["generalDiagnostics"]
    errors = {one["range"]["start"]["line"] + 1 for one in found if one["severity"] == "error"}
    assert errors == WRONG, printed


def test_the_program_runs() -> None:
    text = "\n".join(line if i not in WRONG else "" for i, line in enumerate(LINES, 1))
    namespace: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, str(PROGRAM), "exec"), namespace)
    assert namespace["value"].tolist() == [2.0, 2.0]
    assert namespace["S"](np.ones(2), 3.0).toarray().tolist() == [[3.0, 0.0], [0.0, 3.0]]
