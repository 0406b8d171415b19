"""Any module of the rules may be the first one that a process imports.

Code from the cache and dumped modules import the ones that they call.
"""

import os
import subprocess
import sys
from pathlib import Path

import adcompiler_rules
import pytest

ROOT = Path(adcompiler_rules.__file__).parent
MODULES = sorted(
    ".".join(("adcompiler_rules", *path.relative_to(ROOT).with_suffix("").parts))
    for path in ROOT.rglob("*.py") if path.name != "__init__.py")
CHILDREN = """
import importlib, os, sys, traceback
import numpy, scipy.special, scipy.linalg, scipy.sparse, scipy.stats, scipy.optimize
import scipy.integrate, scipy.interpolate, scipy.signal, scipy.ndimage
for name in sys.argv[1:]:
    if not os.fork():
        try:
            importlib.import_module(name)
        except BaseException:
            print(name, traceback.format_exc().splitlines()[-1], file=sys.stderr)
        os._exit(0)
    os.wait()
"""
EVENT = """
import sys
import numpy as np
from scipy.integrate import solve_ivp
from adcompiler import grad
def event(k):
    s = solve_ivp(lambda t, y: [-k * y[0]], (0, 5.0), [1.0], events=lambda t, y: y[0] - 0.5,
                  rtol=1e-9, atol=1e-12)
    return s.t_events[0][0]
def value(k):
    return solve_ivp(lambda t, y: [-k * y[0]], (0, 2.0), [1.0], rtol=1e-9, atol=1e-12).y[0, -1]
print(grad(event)(1.25), grad(value, fallback="refuse")(1.25))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each import is one of a child process")
def test_each_may_be_the_first():
    quiet = ["-W", "ignore::DeprecationWarning"]  # of forks beside the threads of BLAS
    found = subprocess.run(
        [sys.executable, *quiet, "-c", CHILDREN, *MODULES],
        capture_output=True, text=True, check=True)
    assert found.stderr == ""


def test_rules_that_kept_code_imports_leave_others_to_be_loaded(tmp_path):
    path = tmp_path / "event.py"
    path.write_text(EVENT)
    space = {**os.environ, "ADCOMPILER_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):  # compiled, then from the cache
        found = subprocess.run(
            [sys.executable, str(path)], capture_output=True, text=True, check=True, env=space)
        event, value = map(float, found.stdout.split())
        assert abs(event + 0.6931471805599453 / 1.25**2) < 1e-6
        assert abs(value + 2.0 * 2.718281828459045**-2.5) < 1e-6
        assert found.stderr == ""
