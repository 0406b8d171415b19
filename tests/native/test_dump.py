"""``adcompiler dump --native llvm``: the text that LLVM compiles."""

from __future__ import annotations

import importlib.util
import types
from pathlib import Path

import numpy as np
import pytest

from adcompiler import value_and_grad
from adcompiler.cli import main
from adcompiler.runtime.machine.llvm import engine

MODEL = """
import numpy as np

def energy(x, k: float, n: int) -> float:
    total = 0.0
    for _ in range(n):
        for i in range(1, len(x)):
            total += k * (x[i] - x[i - 1]) ** 2 / x[0]
    return total

def walk(x, n: int) -> float:
    total = 0.0
    for _ in range(n):
        for i in range(1, len(x)):
            total += x[i] * x[i] * x[i - 1]
    return total

def of_lists(v: list[float], s: float) -> float:
    out = []
    for a in v:
        out.append(a * s)
    return sum(out)

def solves(A) -> float:
    return np.linalg.solve(A, np.ones(2))[0]
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Write the model and return its file."""
    path = tmp_path / "model_of_loops.py"
    path.write_text(MODEL)
    return path


def imported(path: Path) -> types.ModuleType:
    """Import a module from a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_has_no_loops_is_refused(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of = ["dump", "--native", "llvm"]
    assert main([*of, f"{model}:solves", "--args", "A: float64[:, :]"]) == 1
    assert "the native backend has nothing for this" in capsys.readouterr().err
    assert main([*of, str(model)]) == 2
    assert main([*of, f"{model}:energy", "--mode", "vjp"]) == 1


def test_the_ir_is_what_llvm_compiles(tmp_path: Path) -> None:
    pytest.importorskip("llvmlite")
    path, out = tmp_path / "model_of_soft.py", tmp_path / "soft.ll"
    path.write_text(SOFT)
    assert main(["dump", f"{path}:soft", "--mode", "value_and_grad", "--native", "llvm",
                 "--args", "x: float64[:]", "-o", str(out)]) == 0
    text, symbol = out.read_text(), "adcompiler_entry_soft_value_and_grad_loops"
    first, second, *_ = text.splitlines()
    assert first.startswith("; Written by: adcompiler dump ")
    assert second.startswith("; Derivatives of functions in model_of_soft, written by adcompiler")
    assert f"define ptr @{symbol}(" in text
    engine().add_storage()
    run = engine().function(engine().compiled(text), symbol, "soft", None, [])
    x = np.linspace(-2.0, 3.0, 7)
    done, value, gradient = run(x)
    expected, other = value_and_grad(imported(path).soft, backend="native")(x)
    assert done and value == expected
    assert np.array_equal(gradient, other)


SOFT = """
import numpy as np

def soft(x) -> float:
    return np.sum(np.exp(x) * np.tanh(x))
"""
