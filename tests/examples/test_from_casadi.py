"""The page for those who come from CasADi: its problem written for CasADi has the same numbers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.docs.test_code_blocks import ROOT, Runner, blocks

ca = pytest.importorskip("casadi")


def of_casadi(n: int, h: float) -> tuple[Any, Any, Any]:
    """Return variables, effort and gaps as expressions of CasADi."""
    z = ca.SX.sym("z", 2 * (n + 1) + n)
    states = ca.reshape(z[: 2 * (n + 1)], 2, n + 1)
    forces = z[2 * (n + 1) :]

    def pendulum(state: Any, force: Any) -> Any:
        return ca.vertcat(state[1], force - ca.sin(state[0]))

    gaps = [states[:, 0] - ca.DM([1.0, 0.0])]
    for k in range(n):
        s, f = states[:, k], forces[k]
        k1 = pendulum(s, f)
        k2 = pendulum(s + 0.5 * h * k1, f)
        k3 = pendulum(s + 0.5 * h * k2, f)
        k4 = pendulum(s + h * k3, f)
        gaps.append(s + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4) - states[:, k + 1])
    return z, h * ca.sumsqr(forces), ca.vertcat(*gaps, states[:, n])


def test_the_problem_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = Runner("from_casadi", tmp_path)
    monkeypatch.setitem(sys.modules, "from_casadi", runner.module)
    for block in blocks((ROOT / "docs/migration/from-casadi.md").read_text(encoding="utf-8")):
        runner.run(block)
    page = vars(runner.module)
    z, effort, gaps = of_casadi(page["N"], page["h"])
    v = ca.SX.sym("v", gaps.size1())
    wanted = ca.Function("f", [z, v], [
        ca.gradient(effort, z), gaps, ca.jacobian(gaps, z),
        ca.tril(ca.hessian(effort + ca.dot(v, gaps), z)[0])])
    at = np.cos(np.arange(z.size1()) + 1.0)
    weights = np.sin(np.arange(gaps.size1()) + 0.5)
    problem = page["problem"]
    ours = (
        problem.gradient(at), problem.constraints(at), problem.jacobian(at),
        problem.hessian(at, weights))
    for one, other in zip(ours, wanted(at, weights), strict=True):
        dense = one if isinstance(one, np.ndarray) else one.toarray()
        np.testing.assert_allclose(
            dense.reshape(other.shape), np.array(other), rtol=1e-12, atol=1e-13)
    assert problem.jacobian(at).nnz == wanted(at, weights)[2].nnz()
    assert problem.hessian(at, weights).nnz == wanted(at, weights)[3].nnz()
