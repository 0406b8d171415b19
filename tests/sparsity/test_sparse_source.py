"""The text of a sparse derivative is a module that computes the same matrix."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from adcompiler import ADError, sparse_hessian, sparse_jacobian
from adcompiler.cli import main
from tests.sparsity.test_sparse_derivatives import (
    arrow, brusselator, brusselator_loop, rosenbrock, rosenbrock_loop,
)

rng = np.random.default_rng(3)


def function_of(text):
    """Return the sparse derivative that a module defines."""
    namespace = {}
    exec(compile(text, "<module>", "exec"), namespace)
    (found,) = (v for name, v in namespace.items() if "_sparse_" in name)
    return found


def check(derivative, *args):
    text = derivative.source_for(*args)
    found, wanted = function_of(text)(*args), derivative(*args)
    assert np.array_equal(found.indptr, wanted.indptr)
    assert np.array_equal(found.indices, wanted.indices)
    assert np.array_equal(found.data, wanted.data)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    return text


@pytest.mark.parametrize("kind", ["column", "row", "bidirectional"])
@pytest.mark.parametrize("function", [brusselator, brusselator_loop])
def test_jacobians(function, kind):
    check(sparse_jacobian(function, kind=kind), rng.uniform(0.5, 1.5, 32), 4)


@pytest.mark.parametrize("kind", ["star", "acyclic", "column"])
@pytest.mark.parametrize("function", [rosenbrock, rosenbrock_loop])
@pytest.mark.parametrize("n", [1, 2, 70])
def test_hessians(function, kind, n):
    check(sparse_hessian(function, kind=kind), rng.normal(size=n))


def test_both_directions():
    text = check(sparse_jacobian(arrow), rng.normal(size=40))
    assert "arrow_along" in text
    assert "arrow_pullback" in text


def scaled(data, rows, *, power=2):
    return {"a": data["x"] * rows, "b": [data["y"] ** power]}


def two(x, y):
    return np.sin(x[:, 0]) * y


@pytest.mark.parametrize("kind", ["column", "row"])
def test_containers_and_parameters_with_the_names_of_variables(kind):
    check(sparse_jacobian(scaled, (0, 1), kind=kind), {"x": np.ones(3), "y": 2.0}, 3.0)
    check(sparse_jacobian(scaled, kind=kind), {"x": np.ones(3), "y": 2.0}, 3.0)
    check(sparse_jacobian(two, (0, 1), kind=kind), np.ones((2, 3)), np.arange(2.0))


def test_single_precision_no_nonzeros_and_numbers():
    x = np.ones(3, np.float32)
    check(sparse_jacobian(lambda x: x * x), x)
    check(sparse_jacobian(np.sign), x)
    check(sparse_jacobian(lambda t: np.array([t, t * t])), 3.0)
    check(sparse_hessian(lambda x: np.sum(x)), x)


def test_other_shapes_are_refused_by_the_module():
    found = function_of(sparse_jacobian(np.diff).source_for(np.ones(4)))
    with pytest.raises(ValueError, match="another shape"):
        found(np.ones(5))


def test_what_no_import_reaches_is_refused():
    weights = {"w": np.ones(3)}
    with pytest.raises(ADError, match="no import reaches"):
        sparse_jacobian(lambda x: x * weights["w"]).source_for(np.ones(3))
    with pytest.raises(ADError, match="no import reaches"):
        sparse_hessian(lambda x: np.sum(x * x * weights["w"])).source_for(np.ones(3))


def times(k, w):
    def inner(x):
        return k * w * x**2 * x[0]

    return inner


def summed(k, w):
    def value(x):
        k_captured = times(k, w)(x)
        return np.sum(k_captured * x)

    return value


def nested(k, w):
    seeds = times(k, w)

    def columns(x):
        return seeds(x) * k

    return columns


def test_numbers_and_arrays_that_functions_captured_are_written():
    x = np.linspace(1.0, 2.0, 5)
    for k, w in (
        (2.0, np.arange(5.0)), (3, np.ones(5, np.float32)), (True, np.linspace(0.0, 1.0, 9)[::2]),
        (np.float64(0.1), np.arange(5)), (-0.0, np.float64(1.0)), (1e100, np.array(2.0)),
    ):
        for kind in ("column", "row"):
            check(sparse_jacobian(times(k, w), kind=kind), x)
        check(sparse_jacobian(nested(k, w)), x)
        for kind in ("star", "acyclic"):
            check(sparse_hessian(summed(k, w), kind=kind), x)
    text = check(sparse_jacobian(times(2.0, np.arange(5.0))), x)
    assert "k_captured = 2.0" in text
    many = np.linspace(-1.0, 1.0, 300)
    many[7] = np.inf
    check(sparse_jacobian(lambda x: np.where(np.isfinite(many), many, 0.0) * x), np.ones(300))


MODEL = """
import numpy as np

SCALE = 3.0


def steps(x, h=0.5):
    return SCALE * (x[1:] - x[:-1]) ** 2 / h


def energy(x, h=0.5):
    return np.sum(steps(x, h))
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "chain_model.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("chain_model", "written"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(("mode", "name", "make"), [
    ("sparse-jacobian", "steps", sparse_jacobian), ("sparse-hessian", "energy", sparse_hessian),
])
@pytest.mark.parametrize("n", [5, 200])
def test_a22_dump_writes_a_module_that_computes_the_same_matrix(model, mode, name, make, n):
    code = main(["dump", f"chain_model.py:{name}", "--mode", mode, "--args", f"x: float64[{n}]",
                 "-o", "written.py"])
    assert code == 0
    importlib.invalidate_caches()
    written = importlib.import_module("written")
    function = getattr(importlib.import_module("chain_model"), name)
    x = rng.normal(size=n)
    found = getattr(written, f"{name}_{mode.replace('-', '_')}")(x, h=0.25)
    assert np.array_equal(found.toarray(), make(function)(x, h=0.25).toarray())


@pytest.mark.parametrize("arguments", [
    ["chain_model.py"], ["chain_model.py:steps", "--has-aux"],
    ["chain_model.py:steps", "--args", "y: float64[3]"], ["chain_model.py:steps"],
])
def test_wrong_command_lines(model, arguments, capsys):
    assert main(["dump", *arguments, "--mode", "sparse-jacobian"]) == 2
    assert capsys.readouterr().err.startswith("adcompiler: error:")
