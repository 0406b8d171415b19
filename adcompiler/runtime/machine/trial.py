"""Whether machine code runs on this platform: another process tries it first, but on Linux.

How objects are linked, and how functions are called, is that of the platform; what goes wrong there
may end a process.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys

VARIABLE = "ADCOMPILER_TRIAL"
TRIAL = '''
import types
import numpy as np
from adcompiler.backends.native.emit.llvm import llvm_ir
from adcompiler.runtime.machine.loops import Loops, Source
text = """
@compiled
def f(x, n):
    y = np.empty(n)
    for i in range(n):
        y[i] = math.exp(x[i])
    return True, math.tanh(x[0]), y
"""
f = Loops(types.FunctionType((lambda: None).__code__, {}, "f"))
f.source = Source(text, llvm_ir)
x = np.linspace(0.0, 1.0, 10_000)
done, number, array = f(x, x.size)
assert done and np.isclose(number, np.tanh(x[0])) and np.allclose(array, np.exp(x))
'''


@functools.cache
def trial() -> str:
    """Return what goes wrong with machine code here; empty if nothing does."""
    if sys.platform == "linux" or VARIABLE in os.environ:
        return ""
    environment = {**os.environ, VARIABLE: "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        ended = subprocess.run(
            [sys.executable, "-c", TRIAL], env=environment, capture_output=True, text=True,
            timeout=60.0)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{type(error).__name__}: {error}"
    said = ended.stderr.strip().splitlines()
    return said[-1] if ended.returncode and said else f"exit code {ended.returncode}" if (
        ended.returncode) else ""


def try_out() -> None:
    """Raise ImportError where machine code does not run."""
    if reason := trial():
        raise ImportError(f"machine code does not run on this platform: {reason}")
