"""The benchmark suite is whole: its tables, and what its reports make of figures."""

from __future__ import annotations

import ast
import importlib
import shutil
from pathlib import Path

import numpy as np
import pytest

from benchmarks import report
from benchmarks.engines import ENGINES
from benchmarks.program import CLASSES, agree, differs_from_differences
from benchmarks.programs import loops, scalars
from benchmarks.timing import measure

PROGRAMS = {
    family: importlib.import_module(f"benchmarks.programs.{family}").PROGRAMS for family in CLASSES
}
NAMES = [program.name for programs in PROGRAMS.values() for program in programs]


def test_there_are_programs_of_every_class_each_once() -> None:
    assert len(NAMES) >= 40
    assert len(set(NAMES)) == len(NAMES)
    assert all(len(programs) >= 6 for programs in PROGRAMS.values())
    assert all(len(program.sizes) in (1, 3) for ps in PROGRAMS.values() for program in ps)


@pytest.mark.parametrize("peer", sorted(
    path.stem for path in Path(report.__file__).parent.glob("peers/*_[afm]*.py")))
def test_what_peers_are_given_has_names_of_programs(peer: str) -> None:
    tree = ast.parse((Path(report.__file__).parent / "peers" / f"{peer}.py").read_text())
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    helpers = {"repeated", "summed", "table", "factored", "energy", "around", "grid", "assembled",
               "crosses", "three_diagonals", "library", "calls"}
    assert defined - helpers <= set(NAMES)
    assert len(defined - helpers) >= 3


def test_wrong_gradients_are_found() -> None:
    program = next(p for p in loops.PROGRAMS if p.name == "rosenbrock")
    args = program.at(4)
    x = args[0]
    right = np.zeros(4)
    for i in range(3):
        right[i + 1] += 200.0 * (x[i + 1] - x[i] ** 2)
        right[i] -= 400.0 * x[i] * (x[i + 1] - x[i] ** 2) + 2.0 * (1.0 - x[i])
    assert differs_from_differences(program, args, right) == ""
    assert differs_from_differences(program, args, right * 1.001) != ""
    assert agree((right,), [right]) and not agree(right, right * 1.001)


def test_each_call_is_timed() -> None:
    counts = [0, 0]

    def call(i: int) -> None:
        counts[i] += 1

    found = measure({"a": lambda: call(0), "b": lambda: call(1)}, 2)
    assert list(found) == ["a", "b"] and min(counts) > 2 and min(found.values()) > 0.0


def test_ratios_means_and_the_worst() -> None:
    def row(name: str, **seconds: float) -> dict[str, object]:
        return {"class": "scalars", "program": name, "size": 1, "seconds": seconds, "bytes": {}}

    rows = [row("one", python=2.0, native=1.0, JAX=4.0), row("two", python=1.0, JAX=9.0)]
    found = {what: (mean, least) for _, what, mean, least, _, _ in report.summary(rows)}
    assert found["native against JAX"] == ("4.00", "4.00")
    assert found["Python against JAX"] == ("4.24", "2.00")
    assert found["the better against JAX"] == ("6.00", "4.00")
    assert report.worst(rows) == [("4.00", "one", "1", "JAX"), ("9.00", "two", "1", "JAX")]


def test_values_of_programs_are_what_their_formulas_say() -> None:
    assert scalars.newton_root(9.0) == pytest.approx(3.0)
    assert scalars.continued_fraction(0.7, 20) == pytest.approx(np.tan(0.7))
    A = loops.definite(np.random.default_rng(0), 5)[0]
    assert loops.cholesky(A) == pytest.approx(0.5 * np.linalg.slogdet(A)[1])
    assert loops.log_determinant(A) == pytest.approx(np.linalg.slogdet(A)[1])


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a compiler of C++")
def test_derivatives_by_hand_in_cpp_are_those_of_the_programs() -> None:
    checked = set()
    for programs in PROGRAMS.values():
        for program in programs:
            args = program.at(program.sizes[0])
            made = ENGINES["C++ by hand"].ready(program, args)
            if made is not None:
                ours = ENGINES["python"].ready(program, args)
                assert ours is not None
                assert agree(made[0](*made[1]), ours[0](*ours[1])), program.name
                checked.add(program.name)
    assert checked == {"bundle_adjustment", "bundle_adjustment_loop", "hand", "lstm",
                       "mixture_loop"}
