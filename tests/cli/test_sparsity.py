"""``adcompiler sparsity`` shows patterns as numbers, text and pictures."""

from __future__ import annotations

from pathlib import Path

import pytest

from adcompiler.cli import main

MODEL = """
import numpy as np

from adcompiler import grad


def heat(u, k=1.0):
    du = np.zeros_like(u)
    du[1:-1] = k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return du


def scaled(y, x, n):
    for i in range(n):
        y[i] = x[i] * x[0]


@grad
def energy(x):
    return np.sum(x[1:] * x[:-1] ** 2)


def ratio(x):
    return x[0] / x[1]


def positive(x):
    return x[x > 0]
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "sparsity_model.py"
    path.write_text(MODEL)
    return str(path)


@pytest.mark.parametrize(("rest", "expected"), [
    (["heat", "--args", "u: float64[4]"],
     "Jacobian of heat: 4 x 4, 6 nonzeros (37.500%)\n....\nxxx.\n.xxx\n....\n"),
    (["scaled", "--args", "y: float64[3], x: float64[2], n: 2"],
     "Jacobian of scaled: 3 x 2, 3 nonzeros (50.000%)\nx.\nxx\n..\n"),
    (["energy", "--args", "x: float64[3]", "--hessian"],
     "Hessian of energy: 3 x 3, 6 nonzeros (66.667%)\nxx.\nxxx\n.x.\n"),
    (["ratio", "--args", "x: array([0.0, 2.0])", "--local"],
     "Jacobian of ratio: 1 x 2, 1 nonzeros (50.000%)\nx.\n"),
    (["heat", "--args", "u: float64[4], k: float", "--argnums", "k"],
     "Jacobian of heat: 4 x 1, 2 nonzeros (50.000%)\n.\nx\nx\n.\n"),
])
def test_patterns_as_text(model, rest, expected, capsys) -> None:
    assert main(["sparsity", f"{model}:{rest[0]}", *rest[1:]]) == 0
    assert capsys.readouterr().out == expected


def test_large_patterns_are_not_drawn_as_text(model, capsys) -> None:
    assert main(["sparsity", f"{model}:heat", "--args", "u: float64[1000]"]) == 0
    assert capsys.readouterr().out == "Jacobian of heat: 1000 x 1000, 2994 nonzeros (0.299%)\n"


def test_pictures(model, tmp_path, capsys) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "heat.png"
    arguments = ["--args", "u: float64[20]", "--plot", str(picture)]
    assert main(["sparsity", f"{model}:heat", *arguments]) == 0
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert capsys.readouterr().out.endswith(f"drawn into {picture}\n")


@pytest.mark.parametrize(("rest", "code", "message"), [
    (["heat", "--args", "u: 3x"], 2, "is not of the form"),
    (["heat", "--args", "'u': 3"], 2, "stands a parameter's name"),
    (["heat", "--args", "u: float64[2] + 1"], 2, "describes no argument"),
    (["heat", "--args", "u: float23[2]"], 2, "describes no argument"),
    (["positive", "--args", "x: float64[2]"], 1, "sparsity_model.py:27:1: the shape of the result"),
    (["heat"], 2, 'heat needs u: write e.g. --args "u: float64[10]"'),
    (["scaled", "--args", "n: 2"], 2, "scaled needs y, x"),
    (["heat", "--args", "u: float64[:]"], 2, "write the extents, e.g. float64[10]"),
    (["heat", "--args", "u: float64[4], kk: 1.0"], 2, "has no parameter kk: did you mean k?"),
    (["heat", "--args", "u: float64[4]", "--local"], 2, "write values of u"),
])
def test_errors(model, rest, code, message, capsys) -> None:
    assert main(["sparsity", f"{model}:{rest[0]}", *rest[1:]]) == code
    assert message in capsys.readouterr().err


def test_a_function_has_to_be_named(model, capsys) -> None:
    assert main(["sparsity", "numpy"]) == 2
    assert "name a function" in capsys.readouterr().err
