"""Each function that the examples differentiate, by the compiler and by a recording."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adcompiler
from adcompiler import grad
from tests.record.opinions import opinions

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
OPERATORS = {"fit_jacobian", "pointwise_jacobian", "value_and_jacobian", *(
    name for name in adcompiler.__all__ if name.islower() and any(
        part in name for part in ("grad", "vjp", "jvp", "hvp", "hessian", "jacobian")))}


def differentiated() -> Iterator[tuple[str, str]]:
    """Iterate over modules and functions of them that are decorated, or given to an operator."""
    for file in sorted(EXAMPLES.glob("*.py")):
        module = importlib.import_module(file.stem)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(
                name_of(getattr(decorator, "func", decorator)) in OPERATORS
                for decorator in node.decorator_list
            ):
                yield file.stem, node.name
            elif isinstance(node, ast.Call) and name_of(node.func) in OPERATORS and node.args:
                given = node.args[0]
                if isinstance(given, ast.Lambda):
                    yield file.stem, ast.unparse(given)
                elif isinstance(given, ast.Name) and callable(getattr(module, given.id, None)):
                    yield file.stem, given.id


def name_of(node: ast.expr) -> str:
    """Return the last name of what is called."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def arguments() -> dict[tuple[str, str], tuple[tuple[Any, ...], tuple[int, ...]]]:
    """Return small arguments of each function, and which of them are differentiated."""
    rng = np.random.default_rng(0)

    def drawn(*shape: int) -> np.ndarray:
        return rng.normal(size=shape)

    camera, point = np.divmod(np.arange(6), 3)
    labels = np.where(drawn(9) > 0.0, 1.0, -1.0)
    counts = rng.poisson(2.0, 9).astype(float)
    table: dict[str, Any] = {
        "black_scholes.call_price": (100.0, 105.0, 0.2, 0.03, 0.75),
        "brusselator.rates": (0.0, drawn(32), 4, 1.0, 3.0, 0.02),
        "bundle_adjustment.residuals": (drawn(23), 2, camera, point, drawn(12)),
        "cart.effort": (drawn(18),),
        "cart.defects": (drawn(18),),
        "cart.lambda z, weights: defects(z) @ weights": (drawn(18), drawn(14)),
        "chained_objective.energy": (drawn(7), 0.02),
        "demo.loss": (drawn(4), 0.3, drawn(9, 4), (labels + 1.0) / 2.0),
        "demo.rosen": (drawn(5),),
        "external_ctypes.loss": (np.array([0.5, 1.0, 2.0, 8.0]),),
        "external_lowlevel.area": (0.2, 1.1),
        "heat_adjoint.misfit": (0.2 + 0.01 * drawn(7), 12, drawn(8)),
        "likelihood.loss": (drawn(4), drawn(9, 3), counts),
        "likelihood.log_densities": (drawn(4), drawn(9, 3), counts),
        "logistic_regression.objective": (drawn(5), drawn(9, 4), labels, 1.0),
        "newton.root": (2.0, 1e-14),
        "rnn.loss": (
            drawn(4, 4), drawn(4, 2), drawn(4), drawn(4), [drawn(2), drawn(2)], [0.1, 0.2]),
        "scipy_solvers.peaks": (np.linspace(0.0, 9.0, 8), 2.0, 3.0, 0.5, 1.0, 7.0, 1.5),
        "scipy_solvers.broyden": (drawn(6),),
        "scipy_solvers.chained": (drawn(6),),
        "scipy_solvers.distances": (drawn(6),),
        "scipy_solvers.lambda x, v: distances(x) @ v": (drawn(6), drawn(5)),
        "scipy_solvers.robertson": (0.0, np.abs(drawn(3))),
        "scipy_solvers.bratu": (drawn(3), drawn(2, 3)),
        "scipy_solvers.ends": (drawn(2), drawn(2)),
        "sharded_training.loss": (0.1 * drawn(360), drawn(3, 41)),
    }
    positions: dict[str, tuple[int, ...]] = {
        "black_scholes.call_price": (0, 2, 3, 4), "brusselator.rates": (1,), "demo.loss": (0, 1),
        "external_lowlevel.area": (0, 1), "rnn.loss": (0, 1, 2, 3),
        "scipy_solvers.peaks": (1, 2, 3, 4, 5, 6), "scipy_solvers.robertson": (1,),
        "scipy_solvers.bratu": (1,), "scipy_solvers.ends": (0, 1),
    }
    cases = importlib.import_module("from_autograd").CASES
    table.update({f"from_autograd.{f.__name__}": args for f, args in cases.items()})
    return {tuple(name.split(".", 1)): (args, positions.get(name, (0,)))  # type: ignore[misc]
            for name, args in table.items()}


def function_of(module: str, name: str) -> Any:
    """Return a function of an example, also one that it writes in a call."""
    space = vars(importlib.import_module(module))
    if name in space:
        return getattr(space[name], "primal", space[name])
    inner = space["defects" if module == "cart" else "distances"]
    return lambda x, weights: inner(x) @ weights


def test_examples_by_both_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    table = arguments()
    assert set(differentiated()) <= set(table)
    for (module, name), (args, argnums) in table.items():
        function = function_of(module, name)
        found = opinions(function, args, argnums)
        if name == "misfit":  # the compiler reverses its checkpoints, and pushes nothing forward
            assert found == "recorded"
            engines = [grad(function, backend=engine)(*args) for engine in ("record", "python")]
            np.testing.assert_allclose(*engines, rtol=1e-12)
        else:
            assert found == "same", f"{module}.{name}: {found}"
