"""The tables of docs/features.md: each answer about adcompiler is that of a program here."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import optimize
from scipy.integrate import solve_ivp
from scipy.special import digamma, gammaln

from adcompiler import (
    ADError, batched_vjp, checkpoint_loop, external, frule, grad, hessian, implicit,
    jacobian_sparsity, jet, jvp, nth_derivative, rrule, sparse_hessian, sparse_jacobian, taylor,
    vjp, vmap,
)
from adcompiler.errors import ArgumentsError
from tests.docs.test_code_blocks import ROOT

X = np.array([0.5, -1.2, 2.0])

Program = Callable[[Path], None]
FEATURES: dict[str, tuple[str, Program]] = {}
"""Our cell of each row, and the program that it comes from, by the title of the row."""


def feature(title: str, cell: str) -> Callable[[Program], Program]:
    """Say which row of the tables a program is for, and what our cell says."""

    def register(program: Program) -> Program:
        FEATURES[title] = cell, program
        return program

    return register


def near(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)


# --- what may be differentiated -------------------------------------------------------------------


@feature("what is differentiated", "Python with NumPy and SciPy, as it is")
def plain_code(_: Path) -> None:
    from scipy.optimize import rosen, rosen_der

    near(grad(rosen)(X), rosen_der(X))
    near(grad(lambda x: np.sum(gammaln(x * x)))(X), 2.0 * X * digamma(X * X))


@feature("loops and branches that values decide", "yes")
def control_flow(_: Path) -> None:
    def doubled(x: float) -> float:
        y = x
        for i in range(10):
            if y > 5.0:
                break
            y = y * x if i % 2 else y * 2.0
        return y

    assert grad(doubled)(1.5) == 12.0
    assert grad(doubled)(6.0) == 1.0


@feature("reverse mode of `while` loops", "yes")
def while_loop(_: Path) -> None:
    def root(a: float) -> float:
        x = a
        while abs(x * x - a) > 1e-14:
            x = 0.5 * (x + a / x)
        return x

    near(grad(root)(2.0), 0.5 / np.sqrt(2.0))


@feature("`x[i] = ...`, `+=`, views", "yes")
def writes(_: Path) -> None:
    def written(x: np.ndarray) -> float:
        y = np.zeros(4)
        y[1:] = x
        middle = y[1:3]
        middle *= x[:2]
        y[0] += y[1] * x[2]
        return np.sum(y)

    near(grad(written)(X), [2 * 0.5 * 2.0 + 1.0, -2.4, 1.25])


@dataclass
class Spring:
    stiffness: float
    rest: float

    def energy(self, x: np.ndarray) -> float:
        return 0.5 * self.stiffness * np.sum((x - self.rest) ** 2)


@feature("tuples, dicts and instances as arguments", "yes, any class written in Python")
def structures(_: Path) -> None:
    slope = grad(lambda spring, x: spring.energy(x))(Spring(3.0, 1.0), X)
    near((slope.stiffness, slope.rest), (3.045, 5.1))
    near(grad(lambda p: p["a"] * p["b"][0])({"a": 2.0, "b": (3.0,)})["b"][0], 2.0)


@feature("complex numbers", "yes")
def complex_numbers(_: Path) -> None:
    near(grad(lambda x: np.sum(np.abs(np.fft.fft(x * 1j)) ** 2))(X), 6.0 * X)


@feature("rules of one's own", "yes: `rrule`, `frule`, `external`")
def own_rules(_: Path) -> None:
    def opaque(x: float) -> float:
        return float(str(x)) ** 2

    @rrule(opaque)
    def opaque_rule(x: float) -> Any:
        return opaque(x), lambda dy: dy * 2.0 * x

    @frule(opaque)
    def opaque_tangent(primals: Any, tangents: Any) -> Any:
        return opaque(primals[0]), 2.0 * primals[0] * tangents[0]

    assert grad(lambda x: opaque(3.0 * x))(1.0) == 18.0
    assert jvp(opaque, (3.0,), (1.0,)) == (9.0, 6.0)
    length = external(np.linalg.norm, jac=lambda x: x / np.linalg.norm(x))
    near(grad(lambda x: length(x) ** 2)(X), 2.0 * X)


# --- derivatives ----------------------------------------------------------------------------------


@feature("forward and reverse mode", "yes")
def modes(_: Path) -> None:
    value, pullback = vjp(np.sin, X)
    near(pullback(X)[0], X * np.cos(X))
    near(jvp(np.sin, (X,), (X,))[1], X * np.cos(X))
    near(value, np.sin(X))


@feature("derivatives of derivatives", "yes, to any order")
def orders(_: Path) -> None:
    near(hessian(lambda x: np.sum(x**3))(X), np.diag(6.0 * X))
    near(grad(grad(grad(lambda x: x**5)))(2.0), 240.0)
    near(nth_derivative(np.exp, 6)(0.5), np.exp(0.5))


@feature("Taylor coefficients of one run", "yes: `taylor`, `jet`")
def series(_: Path) -> None:
    value, terms = taylor(np.exp, (0.0,), ([1.0, 0.0, 0.0],))
    near([value, *terms], [1.0, 1.0, 1.0 / 2.0, 1.0 / 6.0])
    near(jet(np.exp, 3)(0.0), [1.0, 1.0, 1.0, 1.0])


@feature("many examples or directions at once", "yes: `vmap`, `batched_vjp`")
def many_at_once(_: Path) -> None:
    near(vmap(grad(lambda w, x: (w @ x) ** 2), (None, 0))(X, np.eye(3)), np.diag(2.0 * X))
    _, pull = batched_vjp(np.cumsum, X)
    near(pull(np.eye(3))[0], np.tril(np.ones((3, 3))))


@feature("sparse Jacobians and Hessians by coloring", "yes, through control flow")
def sparse(_: Path) -> None:
    def differences(x: np.ndarray) -> np.ndarray:
        y = np.zeros(len(x) - 1)
        for i in range(len(y)):
            y[i] = x[i + 1] ** 2 if x[i] > 0.0 else x[i] * x[i + 1]
        return y

    x = np.linspace(-1.0, 1.0, 50)
    assert sparse_jacobian(differences).colors(x).count == 2
    near(sparse_jacobian(differences)(x) @ x, jvp(differences, (x,), (x,))[1])
    assert jacobian_sparsity(differences, x).nnz == 98
    assert sparse_hessian(lambda x: np.sum(differences(x)))(x).nnz <= 50 + 2 * 49


@feature("roots, minima, fixed points", "yes: SciPy's solvers, `@implicit`")
def solutions(_: Path) -> None:
    found = grad(lambda a: optimize.brentq(lambda x: x**3 - a, 0.0, 3.0))(8.0)
    near(found, 1.0 / 12.0)

    @implicit(lambda y, a: y * y - a)
    def square_root(a: float) -> float:
        y = a
        for _ in range(60):
            y = 0.5 * (y + a / y)
        return y

    near(grad(square_root)(4.0), 0.25)


@feature("differential equations", "yes: `solve_ivp`, with events")
def trajectories(_: Path) -> None:
    def landing(speed: float) -> float:
        def fall(t: float, s: np.ndarray) -> Any:
            return [s[1], -9.81]

        def ground(t: float, s: np.ndarray) -> float:
            return s[0]

        ground.terminal, ground.direction = True, -1.0  # type: ignore[attr-defined]
        found = solve_ivp(fall, (0.0, 10.0), [0.0, speed], events=ground, rtol=1e-10, atol=1e-12)
        return found.t_events[0][0]

    near(grad(landing)(5.0), 2.0 / 9.81)


@feature("random draws with parameters", "yes, of continuous distributions")
def draws(_: Path) -> None:
    def mean(scale: float, rng: np.random.Generator) -> float:
        return np.mean(rng.normal(1.0, scale, 100))

    drawn = np.random.default_rng(3).normal(0.0, 1.0, 100)
    near(grad(mean)(2.0, np.random.default_rng(3)), np.mean(drawn))
    with pytest.raises(ADError):
        grad(lambda rate, rng: np.mean(rng.poisson(rate, 9)))(2.0, np.random.default_rng(3))


@feature("computing again instead of keeping", "yes, by binomial schedules")
def less_memory(_: Path) -> None:
    def step(x: np.ndarray) -> np.ndarray:
        return x + 0.01 * np.sin(x)

    def all_steps(x: np.ndarray) -> float:
        for _ in range(40):
            x = step(x)
        return np.sum(x)

    near(grad(lambda x: np.sum(checkpoint_loop(step, x, 40, slots=4)))(X), grad(all_steps)(X))


# --- what comes out, and where it runs ------------------------------------------------------------


@feature("the derivative is source code to read", "yes: Python")
def source_code(_: Path) -> None:
    text = grad(lambda x: np.sum(np.sin(x) ** 2)).source_for(X)
    names: dict[str, Any] = {}
    exec(text, names)
    derivative = next(f for name, f in names.items() if name.endswith("_grad"))
    near(derivative(X), np.sin(2.0 * X))


@feature("runs where the tool is not installed", "yes: `dump --standalone`")
def shipped(folder: Path) -> None:
    (folder / "model.py").write_text(
        "import numpy as np\n\n\ndef loss(x):\n    y = x.copy()\n    y[1:] *= x[:-1]\n"
        "    return np.sum(y)\n")
    command = [
        sys.executable, "-m", "adcompiler", "dump", "model.py:loss", "--args", "x: float64[:]",
        "--standalone", "-o", "alone.py",
    ]
    path = os.pathsep.join((str(ROOT), str(ROOT / "rules"), *sys.path))
    subprocess.run(command, cwd=folder, check=True, env={**os.environ, "PYTHONPATH": path})
    assert not re.search(r"^\s*(import|from) adcompiler", (folder / "alone.py").read_text(), re.M)
    names: dict[str, Any] = {}
    exec((folder / "alone.py").read_text(), names)
    near(names["loss_grad"](X), [1.0 + X[1], X[0] + X[2], X[1]])


@feature("machine code for the CPU", "yes: `backend=\"native\"`")
def machine_code(_: Path) -> None:
    pytest.importorskip("llvmlite")

    def chained(x: np.ndarray) -> float:
        total = 0.0
        for i in range(len(x) - 1):
            total += x[i] * x[i + 1] ** 2
        return total

    derivative = grad(chained, backend="native")
    near(derivative(X), [X[1] ** 2, 2 * X[0] * X[1] + X[2] ** 2, 2 * X[1] * X[2]])


@feature("threads", "yes: `parallel=True`, loops that are proved independent")
def threads(_: Path) -> None:
    pytest.importorskip("llvmlite")

    def separate(x: np.ndarray) -> float:
        total = 0.0
        for i in range(len(x)):
            total += np.sin(x[i]) ** 2
        return total

    x = np.linspace(0.0, 1.0, 5000)
    near(grad(separate, backend="native", parallel=True)(x), np.sin(2.0 * x))


class OnDevice:
    """Arrays that NumPy hands its functions on to, as those on a GPU."""

    shape, ndim, size, dtype = (2,), 1, 2, np.dtype(float)

    def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("a function ran")

    __array__ = __array_function__ = __mul__ = __array_ufunc__


@feature("GPUs and TPUs", "no: such arrays are refused")
def devices(_: Path) -> None:
    with pytest.raises(ArgumentsError, match="derivatives go through NumPy's arrays"):
        grad(lambda x: np.sum(x * x))(OnDevice())


@feature("messages of MPI within a function", "no: what leaves the process is refused")
def messages(_: Path) -> None:
    def sent(x: np.ndarray) -> float:
        return np.sum(pickle.loads(pickle.dumps(x)))

    for backend in ("python", "record"):
        with pytest.raises(ADError):
            grad(sent, backend=backend)(X)


# --- the page -------------------------------------------------------------------------------------


@pytest.mark.parametrize("title", FEATURES)
def test_our_answers_are_those_of_programs(title: str, tmp_path: Path) -> None:
    FEATURES[title][1](tmp_path)


PEERS = ("JAX", "PyTorch", "autograd", "CasADi", "Enzyme", "Tapenade")


def test_the_tables_have_a_row_for_each_program() -> None:
    text = (ROOT / "docs" / "features.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    heads = [row for row in rows if row[1:2] == ["adcompiler"]]
    assert heads and all(tuple(head[2:]) == PEERS for head in heads)
    shown = {row[0]: row[1] for row in rows if row not in heads and not set(row[0]) <= set("-")}
    assert shown == {title: cell for title, (cell, _) in FEATURES.items()}
    assert all(len(row) == 2 + len(PEERS) and all(row) for row in rows if row not in heads)
