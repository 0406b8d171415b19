"""Every mode of the command line works on a module that knows nothing of adcompiler.

Each runs in a process of its own, forked before anything but the command line is imported: what
one mode needs must not be there because another one, or the module itself, imported it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PLAIN = """
import numpy as np


def plain(x):
    return np.sum(np.sin(x) * x)


def rows(x):
    return np.sin(x) * x[::-1]
"""
RUNS = """
import os
import sys
from adcompiler.cli import main

file, out = sys.argv[1:]
VECTORS = ("jacobian", "sparse-jacobian", "pattern", "vjp", "forward", "linearize", "taylor")
SHAPED = ("sparse-jacobian", "sparse-hessian", "pattern")
MODES = (
    "grad", "value_and_grad", "primal", "vjp", "forward", "taylor", "linearize", "jacobian",
    "hessian", "hvp", "reverse", "sparse-jacobian", "sparse-hessian", "pattern",
)
runs = [
    ["dump", f"{file}:{'rows' if mode in VECTORS else 'plain'}", "--mode", mode,
     "-o", f"{out}/{mode}.py", "--args", f"x: float64[{'3' if mode in SHAPED else ':'}]"]
    for mode in MODES
] + [
    ["view", f"{file}:plain", "--mode", mode, "-o", f"{out}/{mode}.html"]
    for mode in ("grad", "hessian", "hvp", "jacobian")
]
for run in runs:
    child = os.fork()
    if not child:
        os._exit(main(run))
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        print("failed:", *run)
"""


def test_every_mode_runs_alone(tmp_path: Path) -> None:
    file = tmp_path / "plain.py"
    file.write_text(PLAIN, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", RUNS, str(file), str(tmp_path)], capture_output=True, text=True,
        check=True)
    assert done.stdout == "", done.stdout + done.stderr
    for mode in ("grad", "hessian", "hvp", "jacobian", "sparse-jacobian"):
        text = (tmp_path / f"{mode}.py").read_text(encoding="utf-8")
        assert "def " in text, mode
        compile(text, mode, "exec")
