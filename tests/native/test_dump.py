"""``adcompiler dump --native numba``: loops as a module that stands alone."""

from __future__ import annotations

import importlib.util
import re
import sys
import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler import value_and_grad
from adcompiler.backends.native.alone import standing_alone
from adcompiler.cli import main
from adcompiler.cli.dump import DumpOptions, requests_for
from adcompiler.compile.pipeline import Request, compile_request
from adcompiler.typed.values import type_of
from tests.native import array_programs
from tests.native.programs import PROGRAMS

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


def dumped(
    model: Path, function: str, monkeypatch: pytest.MonkeyPatch, types_: str = ""
) -> types.ModuleType:
    """Return the module that is written for a function; its loops run as Python."""
    out = model.with_name(f"{function}_alone.py")
    given = [f"{model}:{function}", "--mode", "value_and_grad", "--native", "numba"]
    assert main(["dump", *given, "--args", types_, "-o", str(out)]) == 0
    assert "import adcompiler" not in out.read_text()
    assert "from adcompiler" not in out.read_text()
    plain: Any = types.ModuleType("numba")
    plain.njit = lambda **options: np.errstate(all="ignore")
    monkeypatch.setitem(sys.modules, "numba", plain)
    return imported(out)


def test_a_function_of_arrays(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = dumped(model, "energy", monkeypatch, "x: float64[:]").energy_value_and_grad
    x = np.linspace(1.0, 2.0, 5)
    value, gradient = alone(x, 2, 3)
    expected, other = value_and_grad(imported(model).energy)(x, 2.0, 3)
    assert value == expected
    assert np.array_equal(gradient, other)
    with pytest.raises(ArithmeticError, match="what only Python does"):
        alone(np.array([0.0, 1.0]), 2.0, 3)
    with pytest.raises(TypeError):
        alone(x, 2.0, 3.5)
    with pytest.raises(TypeError):
        alone(x * 1j, 2.0, 3)


def test_a_function_of_lists(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = dumped(model, "of_lists", monkeypatch).of_lists_value_and_grad
    assert alone([1.0, 2.0], 0.5) == (1.5, [0.5, 0.5])


def test_what_has_no_loops_is_refused(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of = ["dump", "--native", "numba"]
    assert main([*of, f"{model}:solves", "--args", "A: float64[:, :]"]) == 1
    assert "the native backend has nothing for this" in capsys.readouterr().err
    assert main([*of, str(model)]) == 2
    assert main([*of, f"{model}:energy", "--mode", "vjp"]) == 1


def loops_in(text: str) -> str:
    """Return the functions of loops of a module, without what stands around them."""
    return "".join(re.findall(r"^@(?:compiled|inlined)\n(def .*?)(?=^\S|\Z)", text, re.S | re.M))


ALL = {**PROGRAMS, **array_programs.PROGRAMS}


def test_loops_are_those_that_the_jit_compiles() -> None:
    for program in [one for one in ALL if one is not array_programs.relax][::4]:
        types_ = tuple(map(type_of, ALL[program]))
        jit = compile_request(Request(
            program, types_, (0,), "value_and_grad", backend="native", careful=True))
        wanted = requests_for(program, DumpOptions(mode="value_and_grad", native="numba"))[0]
        dumped = compile_request(replace(wanted, types=types_))
        text = standing_alone(dumped.product, dumped.unit)
        assert loops_in(text) == loops_in(jit.text) != "", program.__name__


SOFT = """
import numpy as np

def soft(x) -> float:
    return np.sum(np.exp(x) * np.tanh(x))
"""


def test_functions_of_arrays_stand_alone(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    path = tmp_path / "model_of_soft.py"
    path.write_text(SOFT)
    out = tmp_path / "soft_alone.py"
    assert main(["dump", f"{path}:soft", "--mode", "value_and_grad", "--native", "numba",
                 "--args", "x: float64[:]", "-o", str(out)]) == 0
    assert "adcompiler." not in out.read_text()
    x = np.linspace(-2.0, 3.0, 7)
    value, gradient = imported(out).soft_value_and_grad(x)
    expected, other = value_and_grad(imported(path).soft, backend="native")(x)
    assert value == expected
    assert np.array_equal(gradient, other)
