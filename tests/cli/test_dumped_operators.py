"""Modules of Jacobians, Hessians and their products: they give what the operators give."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler import hessian, hvp, jacobian, source
from adcompiler.cli import main
from adcompiler.compile.modes import ALIASES, MODES, ROWS
from adcompiler.dispatch import Options
from adcompiler.dispatch.options import check_options

SOURCE = '''
import math
import numpy as np


def vector(x, n=2):
    return np.array([x[0] * x[1] ** n, math.sin(x[0]), x[1]])


def looped(x, a=1.5):
    y = 0.0
    for i in range(len(x)):
        y = y + a * x[i] ** 3 * x[0]
    return y


def number(x: float, k: float):
    return math.sin(x) * k * x


def writes(x):
    x[0] = 2.0 * x[1]
    return np.sum(x ** 3)


def starred(*args, k=2.0):
    return args[0] * args[1] ** 2 * k


def recursive(x, n: int = 3):
    return x if n <= 0 else recursive(x * x, n - 1) * x


def several(x, y, *, scale=2.0):
    return np.exp(x) * y * scale + np.outer(x, y)


def pair(x):
    return {"sum": np.sum(x), "rest": (x * x, 3.0 * x[0])}
'''
X, Y = np.array([0.5, -1.25, 2.0]), np.array([1.5, 0.75, -0.5])
TWO = np.array([0.5, -1.25])


@pytest.fixture
def module(tmp_path: Path) -> Any:
    """Return a module of functions, in a file that can be dumped."""
    return loaded(tmp_path / "functions_of_operators.py", SOURCE)


def loaded(path: Path, text: str) -> Any:
    """Return a module with this text."""
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def dumped(module: Any, name: str, mode: str, *options: str) -> Callable[..., Any]:
    """Return the function that ``adcompiler dump`` writes."""
    file = Path(module.__file__)
    out = file.with_name(f"{name}_{mode}.py")
    command = ["dump", f"{file}:{name}", "--mode", mode, "-o", str(out), *options]
    assert main(command) == 0
    found: Callable[..., Any] = getattr(
        loaded(out, out.read_text(encoding="utf-8")), f"{name}_{mode}")
    return found


def check(found: Any, wanted: Any) -> None:
    """Assert that two trees are equal."""
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        found, wanted = list(found.values()), list(wanted.values())
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            check(one, other)
        return
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "types", "args", "argnums"),
    [
        ("vector", "x: float64[:]", (TWO,), 0),
        ("looped", "x: float64[:]", (X,), 0),
        ("looped", "x: float64[:], a: float", (X, 2.5), (0, 1)),
        ("number", "", (0.7, 1.5), 0),
        ("number", "", (0.7, 1.5), (1, 0)),
        ("writes", "x: float64[:]", (X,), 0),
        ("starred", "args: (float, float)", (0.5, 1.5), 1),
        ("recursive", "x: float", (1.25,), 0),
        ("several", "x: float64[:], y: float64[:]", (X, Y), (0, 1)),
        ("several", "x: float64[:], y: float64[:]", (X, Y), 1),
        ("pair", "x: float64[:]", (X,), 0),
    ],
)
def test_jacobians(module: Any, name: str, types: str, args: Any, argnums: Any) -> None:
    function = getattr(module, name)
    given = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
    wanted = jacobian(function, argnums)(*args)
    shown = ",".join(map(str, argnums)) if isinstance(argnums, tuple) else str(argnums)
    found = dumped(module, name, "jacobian", "--argnums", shown, "--args", types)(*given)
    check(found, wanted)
    for one, other in zip(given, args, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("name", "types", "args", "argnums"),
    [
        ("looped", "x: float64[:]", (X,), 0),
        ("looped", "x: float64[:], a: float", (X, 2.5), (0, 1)),
        ("number", "", (0.7, 1.5), (0, 1)),
        ("recursive", "x: float", (1.25,), 0),
    ],
)
def test_hessians(module: Any, name: str, types: str, args: Any, argnums: Any) -> None:
    shown = ",".join(map(str, argnums)) if isinstance(argnums, tuple) else str(argnums)
    found = dumped(module, name, "hessian", "--argnums", shown, "--args", types)(*args)
    check(found, hessian(getattr(module, name), argnums)(*args))


def test_products_of_hessians_are_given_a_tangent(module: Any) -> None:
    found = dumped(module, "looped", "hvp", "--args", "x: float64[:]")
    check(found(X, 2.5, x_dot=Y), hvp(module.looped, X, Y, 2.5))
    found = dumped(module, "number", "hvp")
    check(found(0.7, 1.5, 2.0), hvp(module.number, 0.7, 2.0, 1.5))


def test_what_cannot_be_is_refused(module: Any, capsys: pytest.CaptureFixture[str]) -> None:
    target = f"{module.__file__}:number"
    assert main(["dump", target, "--mode", "jacobian", "--has-aux"]) == 2
    assert "has_aux is not for the mode jacobian" in capsys.readouterr().err
    assert main(["dump", target, "--mode", "hvp", "--argnums", "1"]) == 1
    assert "hvp is with respect to the first argument" in capsys.readouterr().err
    assert main(["dump", f"{module.__file__}:pair", "--mode", "hessian", "--args",
                 "x: float64[:]"]) == 1
    assert "grad needs a scalar result, but pair returns" in capsys.readouterr().err


def test_stages_show_the_derivative_as_a_function(
    module: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    target = f"{module.__file__}:number"
    assert main(["dump", target, "--mode", "jacobian", "--stage", "optimise"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("def number_jacobian(x.0: float, k.1: float):")
    assert "<cos>" in shown and "jacobian(" not in shown.split("\n", 1)[1]


def test_source_writes_them_too(module: Any) -> None:
    text = source(module.number, mode="jacobian")
    assert "def number_jacobian(x, k):" in text
    space: dict[str, Any] = {}
    exec(text, space)
    slope = 1.5 * (math.sin(0.7) + 0.7 * math.cos(0.7))
    assert math.isclose(space["number_jacobian"](0.7, 1.5), slope, rel_tol=1e-14)


def test_a_mode_is_one_row() -> None:
    assert [mode.name for mode in ROWS] == list(MODES)
    assert set(ALIASES.values()) <= set(MODES)
    for mode in ROWS:
        assert mode.doc and (mode.seeds in ("", "cotangents", "tangents", "coefficients"))
        assert len(mode.halves) in (0, 2) and (mode.seeds or not mode.halves)
        check_options(Options(mode.name, 0))
    with pytest.raises(ValueError, match="mode 'sideways' is not one of grad, value_and_grad"):
        check_options(Options("sideways", 0))


DECORATED = '''
import numpy as np
from adcompiler import grad, hessian, jacobian, sparse_jacobian


@jacobian
def cubes(x: "float64[:]"):
    return x**3


@hessian
def energy(x: "float64[:]"):
    return np.sum(x[1:] * x[:-1] ** 2)


@sparse_jacobian
def sparse(x: "float64[:]"):
    return x**3


@grad
def fourth(x: float):
    return x**4
'''


def test_all_derivatives_of_a_module_are_dumped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "decorated.py").write_text(DECORATED)
    assert main(["dump", str(tmp_path / "decorated.py")]) == 0
    namespace: dict[str, Any] = {}
    exec(capsys.readouterr().out, namespace)
    assert np.array_equal(namespace["cubes_jacobian"](X), np.diag(3 * X**2))
    assert np.array_equal(namespace["fourth_grad"](2.0), 32.0)
    assert namespace["energy_hessian"](X).tolist() == [
        [2 * X[1], 2 * X[0], 0.0], [2 * X[0], 2 * X[2], 2 * X[1]], [0.0, 2 * X[1], 0.0]]
    assert "sparse" not in namespace


def test_a_sparse_derivative_names_what_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "decorated_too.py").write_text(DECORATED)
    target = f"{tmp_path / 'decorated_too.py'}:sparse"
    assert main(["dump", target]) != 0
    assert "its method source_for(*args) writes its module" in capsys.readouterr().err
    assert main(["dump", target, "--mode", "jacobian"]) == 0
    assert "def sparse_jacobian(x):" in capsys.readouterr().out
