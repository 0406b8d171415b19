"""Loops as C99, compiled by the C compiler that there is: the same values and gradients."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler import value_and_grad
from adcompiler.backends.native.c.module import BUILD, c_alone
from adcompiler.backends.native.c.printer import number
from adcompiler.cli import main
from adcompiler.compile.pipeline import Emitted, Request, compile_request, stages
from adcompiler.errors import Declined
from adcompiler.typed.options import Options
from adcompiler.typed.values import type_of
from tests.lanes import one_in
from tests.native import array_programs, test_try_regions, test_kept_ranges
from tests.native.programs import PROGRAMS
from tests.native.test_dump import MODEL, imported

COMPILER = shutil.which("cc")
needs_compiler = pytest.mark.skipif(
    COMPILER is None or os.name != "posix", reason="no C compiler is installed")
ALL = {**PROGRAMS, **array_programs.PROGRAMS}
COUNT = itertools.count()


def built(c: str, stub: str, folder: Path) -> Any:
    """Compile a C file and return the module that calls it."""
    stem = f"loops_{next(COUNT)}"
    (folder / f"{stem}.c").write_text(c)
    (folder / f"{stem}.py").write_text(stub)
    command = BUILD.format(stem).split()
    command[1:1] = ["-Wall", "-Wno-unused-but-set-variable", "-Wno-unused-label", "-Werror"]
    subprocess.run([*command[:-1], "-lm"], cwd=folder, check=True)
    return imported(folder / f"{stem}.py")


def c_of(program: Any, args: tuple[Any, ...]) -> tuple[str, str]:
    """Return the C of a gradient, and the module that calls it."""
    request = Request(
        program, tuple(map(type_of, args)), (0,),
        Options("value_and_grad", 0, backend="native"))
    *_, (_, _, emitted) = stages(request)
    assert isinstance(emitted, Emitted)
    return c_alone(emitted.product, emitted.unit)


def close(a: Any, b: Any) -> bool:
    """Say whether two results are the same but for the last bits of functions and long sums."""
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(close, a, b))
    return type(a) is type(b) and np.allclose(a, b, rtol=1e-12, atol=1e-13, equal_nan=True)


@needs_compiler
@pytest.mark.parametrize("program", one_in(4, ALL), ids=lambda program: program.__name__)
def test_the_same_as_python(program: Any, tmp_path: Path) -> None:
    args = ALL[program]
    try:
        c, stub = c_of(program, args)
    except Declined as declined:
        assert declined.problem == "arguments are written into"
        pytest.skip(declined.problem)
    function = getattr(built(c, stub, tmp_path), f"{program.__name__}_value_and_grad")
    copies = [np.copy(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    with np.errstate(all="ignore"):
        expected = value_and_grad(program)(*copies)
    assert close(function(*args), expected)


@needs_compiler
def test_the_command_writes_a_file_and_what_calls_it(tmp_path: Path) -> None:
    model = tmp_path / "model_in_c.py"
    model.write_text(MODEL)
    out = tmp_path / "energy.c"
    assert main(["dump", f"{model}:energy", "--mode", "value_and_grad", "--native", "c",
                 "--args", "x: float64[:]", "-o", str(out)]) == 0
    subprocess.run(BUILD.format("energy").split(), cwd=tmp_path, check=True)
    by_name = "import numpy, energy; print(energy.energy_value_and_grad(numpy.ones(3), 2, 3)[0])"
    alone = subprocess.run(
        [sys.executable, "-c", by_name], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert float(alone.stdout) == imported(model).energy(np.ones(3), 2.0, 3)
    function = imported(out.with_suffix(".py")).energy_value_and_grad
    x = np.linspace(1.0, 2.0, 10)
    value, gradient = function(x[::2], 2, 3)
    expected, other = value_and_grad(imported(model).energy)(x[::2], 2.0, 3)
    assert value == expected
    assert np.array_equal(gradient, other)
    with pytest.raises(ArithmeticError, match="what only Python does"):
        function(np.array([0.0, 1.0]), 2.0, 3)
    with pytest.raises(TypeError):
        function(x, 2.0, 3.5)


def test_the_command_writes_the_loops_of_the_jit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model_as_the_jit.py"
    model.write_text(MODEL)
    command = ["dump", "--native", "c", "--mode", "value_and_grad", f"{model}:walk"]
    assert main([*command, "--args", "x: float64[:]"]) == 0
    request = Request(
        imported(model).walk, (type_of(np.ones(2)), type_of(2)), (0,),
        Options("value_and_grad", 0, backend="native", careful=True))
    emitted = compile_request(request)
    text, _ = c_alone(emitted.product, emitted.unit)
    start = text.index("bool walk_value_and_grad_loops(")
    assert text[start:] in capsys.readouterr().out
    assert "tape" not in text[start:]  # elements of `x` are read again


def test_the_module_beside_the_file_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model_beside.py"
    model.write_text(MODEL)
    out = tmp_path / "energy.py"
    assert main(["dump", f"{model}:energy", "--native", "c", "--args", "x: float64[:]",
                 "-o", str(out)]) == 2
    assert "name a .c file" in capsys.readouterr().err
    assert not out.exists()


def test_on_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "model_on_output.py"
    model.write_text(MODEL)
    assert main(["dump", f"{model}:energy", "--native", "c", "--args", "x: float64[:]"]) == 0
    text = capsys.readouterr().out
    assert "bool energy_grad_loops(floats x, double k, int64_t n, floats *result_0)" in text
    assert "/* model_on_output.py:8  total += k * (x[i] - x[i - 1]) ** 2 / x[0] */" in text


@pytest.mark.parametrize(("value", "text"), [
    (0.1, "0.1"), (1e300, "1e+300"), (float("inf"), "INFINITY"), (float("nan"), "NAN"), (-2, "-2"),
    (True, "true"), (2**40, "INT64_C(1099511627776)"),
])
def test_literals(value: Any, text: str) -> None:
    assert number(value)[0] == text


@needs_compiler
@pytest.mark.parametrize(("program", "args"), [
    (test_try_regions.breaks_inner_loops, (np.linspace(0.5, 2.0, 6), 5.0)),
    (test_try_regions.logs, (2.5, 5)), (test_try_regions.overflows, (1.5, 4)),
    (test_try_regions.nested, (np.array([1.1, 2.0, 0.5]), 3)),
    (test_try_regions.writes_before, (np.linspace(0.5, 2.0, 6), 5)),
    (test_kept_ranges.butterflies, (np.linspace(0.1, 1.0, 8),)),
    (test_kept_ranges.shrinking, (np.linspace(0.1, 1.0, 8),)),
], ids=lambda one: getattr(one, "__name__", ""))
def test_handlers_and_kept_ranges(program: Any, args: tuple[Any, ...], tmp_path: Path) -> None:
    function = getattr(built(*c_of(program, args), tmp_path), f"{program.__name__}_value_and_grad")
    assert close(function(*args), value_and_grad(program)(*args))
