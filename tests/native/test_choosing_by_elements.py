"""Along many seeds and in pullbacks ``"auto"`` takes native loops where loops go by elements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler import (
    hessian, jacobian, jvp, lagrangian, sparse_hessian, sparse_jacobian, value_and_sparse_jacobian,
    vjp,
)
from adcompiler.analyses.elements import goes_by_elements
from adcompiler.compile import backends
from adcompiler.compile.pipeline import Request, stages
from adcompiler.runtime.machine import llvm
from adcompiler.runtime.machine.llvm import Engine
from adcompiler.typed.values import type_of

pytestmark = pytest.mark.usefixtures("machine_code")
WHOLE = "stays in Python: its loops compute with whole arrays, as NumPy does"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", str(tmp_path))


def stencil(u):
    out = np.zeros(len(u))
    for i in range(1, len(u) - 1):
        out[i] = u[i - 1] - 2.0 * u[i] * u[i] + np.sin(u[i + 1])
    return out


def assembled(u, ends):
    out = np.zeros_like(u)
    for a, b in ends:
        flow = (1.0 + u[a] ** 2) * (u[b] - u[a])
        out[a] += flow
        out[b] -= flow
    return out


def chained(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def roots(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = np.sqrt(x[i]) * x[i - 1]
    return out


def stepped(u):
    for _ in range(4):
        u = u + 0.1 * (np.roll(u, 1) - u**2)
    return u


def keyed(u):
    seen = {}
    out = np.zeros(len(u))
    for i in range(len(u)):
        seen[str(i)] = u[i] ** 2
        out[i] = seen[str(i)]
    return out


U = np.linspace(0.5, 1.5, 12)
ENDS = np.array([[0, 3], [3, 5], [5, 11], [2, 7]])


def same(a: Any, b: Any) -> bool:
    a, b = (one.toarray() if hasattr(one, "toarray") else one for one in (a, b))
    return bool(a.tobytes() == b.tobytes())


@pytest.mark.parametrize("make, function, args", [
    (sparse_jacobian, stencil, (U,)), (sparse_jacobian, assembled, (U, ENDS)),
    (sparse_hessian, chained, (U,)), (jacobian, stencil, (U,)), (hessian, chained, (U,)),
    (sparse_jacobian, roots, (U,)), (jacobian, roots, (np.linspace(0.0, 1.0, 6),)),
    (sparse_jacobian, roots, (np.linspace(0.0, 1.0, 6),)),
], ids=lambda one: getattr(one, "__name__", ""))
def test_loops_over_elements_are_native(make: Any, function: Any, args: Any) -> None:
    auto, native, python = (
        make(function, backend=backend) for backend in ("auto", "native", "python"))
    with np.errstate(all="ignore"):  # of roots of 0
        found, expected, bits = auto(*args), python(*args), native(*args)
    assert auto.explain(*args).backend == "native loops"
    assert python.explain(*args).backend == "Python"
    assert same(found, bits)
    found, expected = (
        one.toarray() if hasattr(one, "toarray") else one for one in (found, expected))
    assert np.allclose(found, expected, rtol=1e-13, atol=1e-15, equal_nan=True)


def test_columns_have_the_bits_of_derivatives_one_by_one() -> None:
    dense = jacobian(stencil, backend="auto")(U)
    for i, direction in enumerate(np.eye(12)):
        assert same(dense[:, i].copy(), jvp(stencil, (U,), (direction,))[1])


def test_pullbacks_are_native_and_have_the_same_bits() -> None:
    for function, args in ((stencil, (U,)), (assembled, (U, ENDS)), (roots, (U,))):
        value, pull = vjp(function, *args, argnums=0, backend="auto")
        expected, pull_in_python = vjp(function, *args, argnums=0)
        assert same(value, expected)
        assert "_loops" in str(pull.source)
        assert same(pull(np.cos(U)), pull_in_python(np.cos(U)))


def test_loops_over_whole_arrays_stay_in_python_with_its_bits() -> None:
    for make in (sparse_jacobian, jacobian):
        auto, python = make(stepped, backend="auto"), make(stepped)
        assert same(auto(U), python(U))
        assert auto.explain(U).backend == WHOLE
    value, pull = vjp(stepped, U, backend="auto")
    assert same(value, stepped(U))
    assert same(pull(U)[0], vjp(stepped, U)[1](U)[0])
    assert "_loops" not in str(pull.source)


def test_what_there_are_no_loops_for_stays_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    auto = sparse_jacobian(keyed, backend="auto")
    assert same(auto(U), sparse_jacobian(keyed)(U))
    assert auto.explain(U).backend.startswith("stays in Python: ")
    monkeypatch.setattr(backends, "LONGEST", 10)
    auto = sparse_jacobian(stencil, backend="auto")
    assert same(auto(U), sparse_jacobian(stencil)(U))
    assert auto.explain(U).backend.startswith("stays in Python: LLVM would take over a second")


def test_without_a_compiler_it_is_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "has_compiler", lambda: False)
    auto = sparse_jacobian(stencil, backend="auto")
    assert same(auto(U), sparse_jacobian(stencil)(U))
    assert auto.explain(U).backend == (
        "stays in Python: llvmlite is not installed, or not to be used")


def test_what_llvm_does_not_compile_runs_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(self: Any, text: str) -> Any:
        raise AssertionError("not this")

    llvm.engine().add_storage()
    monkeypatch.setattr(Engine, "compiled", compiled)
    for make, function in (
        (sparse_jacobian, stencil), (sparse_hessian, chained), (jacobian, stencil)
    ):
        auto = make(function, backend="auto")
        for _ in range(2):
            found, expected = auto(U), make(function)(U)
            assert np.allclose(*(one.toarray() if hasattr(one, "toarray") else one
                                 for one in (found, expected)), rtol=1e-13, atol=1e-15)
    value, pull = vjp(stencil, U, backend="auto")
    assert same(value, stencil(U))
    assert same(pull(U)[0], vjp(stencil, U)[1](U)[0])


def test_what_else_takes_the_choice() -> None:
    problem, plain = (lagrangian(chained, roots, backend=one) for one in ("auto", "python"))
    assert np.allclose(
        problem.hessian(U, U).toarray(), plain.hessian(U, U).toarray(), rtol=1e-13)
    assert np.allclose(problem.jacobian(U).toarray(), plain.jacobian(U).toarray(), rtol=1e-13)
    value, found = value_and_sparse_jacobian(roots, backend="auto")(U)
    assert same(value, roots(U))
    assert np.allclose(found.toarray(), sparse_jacobian(roots)(U).toarray(), rtol=1e-13)


def raising(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 1.0:
            raise ValueError(f"too large: {x[i]}")
        out[i] = x[i] ** 2
    return out


def test_an_exception_is_that_of_python() -> None:
    for make in (sparse_jacobian, jacobian):
        derivative = make(raising, backend="auto")
        assert np.allclose(derivative(U - 0.5).diagonal(), 2.0 * U - 1.0)
        with pytest.raises(ValueError, match=r"too large: 1\.0"):
            derivative(U)
    with pytest.raises(ValueError, match=r"too large: 1\.0"):
        vjp(raising, U, backend="auto")


# -- what goes by elements -------------------------------------------------------------------------


def while_loop(u):
    i, total = 0, 0.0
    while i < len(u):
        total += u[i] ** 2
        i += 1
    return total


def over_numbers(u):
    total = 0.0
    for one in u:
        total += one**2
    return total


def over_rows(rows):
    return sum([np.sum(row**2) for row in rows])


def over_pairs(u):
    total = 0.0
    for i, one in enumerate(u):
        total += i * one
    return total


def histories(u, states):
    for k in range(len(states) - 1):
        states[k + 1] = states[k] * u
    return states


def blocks(u):
    total = 0.0
    for i in range(len(u) // 3):
        part = u[3 * i : 3 * i + 3]
        total += np.sum(part**3)
    return total


def gathers(u, cells):
    total = 0.0
    for e in range(len(cells)):
        total += np.sum(u[cells[e]] ** 3)
    return total


def layers(x, weights):
    for w in weights:
        x = np.tanh(w @ x)
    return x


def shrinking(u):
    total = 0.0
    for k in range(1, 3):
        total += np.sum((u[k:] - u[:-k]) ** 4)
    return total


def boundary(u):
    for _ in range(3):
        u = u * u[0]
    return u


def whole(u):
    return np.sum(u[1:] * u[:-1])


SQUARE = np.eye(12)
BY_ELEMENTS = {
    stencil: (U,), assembled: (U, ENDS), while_loop: (U,), over_numbers: (U,),
    over_rows: (SQUARE,), over_pairs: (U,), histories: (U, SQUARE), blocks: (U,),
    gathers: (U, ENDS),
}
BY_ARRAYS = {
    stepped: (U,), layers: (U, [SQUARE, SQUARE]), shrinking: (U,), boundary: (U,), whole: (U,),
}


@pytest.mark.parametrize("function", [*BY_ELEMENTS, *BY_ARRAYS], ids=lambda one: one.__name__)
def test_what_loops_go_by(function: Any) -> None:
    args = {**BY_ELEMENTS, **BY_ARRAYS}[function]
    found = {name: (unit, result) for name, unit, result in stages(
        Request(function, tuple(map(type_of, args)), wrt=(0,)))}
    unit, typed = found["types"]
    assert goes_by_elements(typed, unit.type) == (function in BY_ELEMENTS)
