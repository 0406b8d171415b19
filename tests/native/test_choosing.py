"""Which backend runs a function, and what is said of one that is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import BuiltinFunctionType

import numpy as np
import pytest
import scipy.special

from adcompiler import grad, value_and_grad
from adcompiler.compile import backends
from adcompiler.errors import UnsupportedError
from tests.lanes import one_in
from tests.native.programs import PROGRAMS, rosenbrock


def with_gamma(x):
    return scipy.special.gamma(x)


def test_a_form_without_loops_is_refused_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
    with pytest.raises(UnsupportedError) as raised:
        grad(with_gamma, backend="native")(2.5)
    assert "scipy.special.gamma(x)" in str(raised.value)
    assert "the native backend has nothing for this" in str(raised.value)
    assert "limitations.md#native" in str(raised.value)


def test_auto_keeps_it_in_python_and_tells_why() -> None:
    derivative = grad(with_gamma, backend="auto")
    assert derivative(2.5) == grad(with_gamma)(2.5)
    assert derivative.explain(2.5).backend.startswith("stays in Python: ")


def test_python_is_what_runs_unless_asked() -> None:
    assert grad(rosenbrock).explain(np.ones(3)).backend == "Python"
    assert "_loops" not in grad(rosenbrock).source_for(np.ones(3))


def test_native_without_a_compiler_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.delenv("ADCOMPILER_NATIVE", raising=False)
    with pytest.raises(UnsupportedError, match="needs llvmlite"):
        grad(rosenbrock, backend="native")(np.ones(3))


def named_badly(done, np):
    total = 0.0
    for i in range(len(done)):
        total += done[i] * np
    return total


def test_names_that_the_loops_need_are_left_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
    with pytest.raises(UnsupportedError, match="has a name that the loops need"):
        grad(named_badly, backend="native")(np.ones(3), 2.0)


def test_unknown_backends_are_refused() -> None:
    with pytest.raises(ValueError, match="backend 'fast' is not one of"):
        grad(rosenbrock, backend="fast")


def test_other_types_go_to_code_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
    derivative = grad(rosenbrock, backend="auto")
    for x in (np.ones(3), np.ones(3, np.float32), [1.0, 2.0, 3.0]):
        got, expected = derivative(x), grad(rosenbrock)(x)
        assert type(got) is type(expected)
        assert np.array_equal(got, expected)


@pytest.mark.parametrize(
    "program", one_in(4, list(PROGRAMS)[:4]), ids=lambda program: program.__name__
)
@pytest.mark.usefixtures("machine_code")
def test_compiled_loops_give_what_python_gives(program, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", str(tmp_path))
    args = PROGRAMS[program]
    native = value_and_grad(program, backend="native")
    value, gradient = native(*args)
    expected_value, expected = value_and_grad(program)(*args)
    assert value == expected_value
    assert np.array_equal(gradient, expected)
    assert native.explain(*args).backend == "native loops"
    found = native.compiled_for(*args).__globals__[f"{program.__name__}_value_and_grad_loops"]
    assert isinstance(found, BuiltinFunctionType)
    assert found(*args)[0]
    assert list(tmp_path.rglob("*.o"))


@pytest.mark.usefixtures("machine_code")
def test_auto_is_native_where_there_are_loops_and_python_elsewhere(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "off")
    x = np.linspace(0.0, 1.0, 5)
    for _ in range(2):
        derivative = grad(rosenbrock, backend="auto")
        assert derivative.explain(x).backend == "native loops"
        assert np.array_equal(derivative(x), grad(rosenbrock)(x))
    assert grad(of_whole_arrays, backend="auto").explain(x).backend == (
        "stays in Python: it has no loops that Python's interpreter would run")
    monkeypatch.setattr(backends, "LONGEST", 10)
    told = grad(rosenbrock, backend="auto").explain(x).backend
    assert told.startswith("stays in Python: LLVM would take over a second for its ")
    assert grad(rosenbrock, backend="native").explain(x).backend == "native loops"


def of_whole_arrays(x):
    return np.sum(np.exp(x) * x)


AGAIN = """
import sys
import numpy as np
from adcompiler import grad
from tests.native.programs import rosenbrock
native = grad(rosenbrock, backend="native")
x = np.linspace(0.0, 1.0, 5)
assert np.array_equal(native(x), grad(rosenbrock)(x))
print("adcompiler.backends.native.emit.llvm" not in sys.modules)
"""


@pytest.mark.usefixtures("machine_code")
def test_another_process_finds_the_machine_code(tmp_path) -> None:
    root = Path(__file__).resolve().parents[2]
    path = f"{root}{os.pathsep}{root / 'rules'}"
    environment = {**os.environ, "ADCOMPILER_CACHE_DIR": str(tmp_path), "PYTHONPATH": path}
    found = [
        subprocess.run([sys.executable, "-c", AGAIN], env=environment, cwd=root, check=True,
                       capture_output=True, text=True).stdout.strip()
        for _ in range(2)
    ]
    assert found == ["False", "True"]
