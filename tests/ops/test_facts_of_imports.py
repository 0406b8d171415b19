"""Facts are the same whichever modules are imported first, and what no fact tells is unsafe."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from adcompiler import ADError, grad, rrule, value_and_grad
from adcompiler.ops.registry import REGISTRY

FACTS = """
import importlib, sys
modules = "numpy numpy.fft numpy.linalg numpy.random scipy.special scipy.fft scipy.ndimage".split()
first, later = (modules, []) if sys.argv[1] == "before" else ([], modules)
for name in first:
    importlib.import_module(name)
from adcompiler.ops.registry import REGISTRY
REGISTRY.load_all()
for name in modules:
    module = importlib.import_module(name)
    for key, function in sorted(vars(module).items()):
        if callable(function) and not key.startswith("_"):
            known = REGISTRY.facts(function)
            print(name, key, known.pure, known.output, known.writes, known.shares, known.total)
"""


def facts_of(order: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", FACTS, order], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_facts_do_not_depend_on_the_order_of_imports() -> None:
    before, later = facts_of("before"), facts_of("later")
    assert len(before) > 500
    out = ("out", 4) if "out" in inspect.signature(np.fft.fft).parameters else None  # NumPy 2
    assert any(f"numpy.fft fft True {out}" in line for line in later)
    assert before == later


TRANSFORM = """
import numpy as np
from adcompiler import value_and_grad
def f(a):
    c = np.zeros((2, 3), complex)
    np.fft.fft(a, out=c)
    return np.sum((c * a).real)
"""


def test_output_of_a_module_that_numpy_imports_late(tmp_path: Any) -> None:
    """The first derivative of a process: nothing has asked for `numpy.fft` before."""
    file = tmp_path / "transform.py"
    file.write_text(TRANSFORM + """
a = np.arange(6.0).reshape(2, 3)
if "out" in __import__("inspect").signature(np.fft.ifft).parameters:
    value, gradient = value_and_grad(f)(a)
    assert value == f(a) != 0.0
    c = np.fft.fft(a)
    assert np.allclose(gradient, (c + np.fft.fft(a)).real)
print("right")
""")
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert done.stdout == "right\n", done.stderr


def doubled(x: Any, out: Any = None) -> Any:
    return np.multiply(x, 2.0, out=out)


def test_a_rule_says_nothing_about_a_parameter_that_may_be_written_into() -> None:
    @rrule(doubled)
    def doubled_rule(x: Any, out: Any = None) -> Any:
        return 2.0 * x, lambda dy: (2.0 * dy, None)

    def f(x: Any) -> Any:
        y = np.zeros(2)
        doubled(x, y)
        return np.sum(y * x)

    try:
        assert REGISTRY.facts(doubled).pure is None
        with pytest.raises(ADError):
            value_and_grad(f)(np.ones(2))
    finally:
        REGISTRY.remove(doubled)
    assert grad(f)(np.array([1.0, 3.0])) == pytest.approx([4.0, 12.0])
