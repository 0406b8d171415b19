"""Refusals of calls of which nothing is known; what they advise is done here, and compiles."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib
import queue
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.cluster import vq as clusters
from scipy.cluster._vq import vq
from scipy.optimize import linear_sum_assignment

from adcompiler import MissingRuleError, external, facts, grad, hessian, jvp, rrule
from adcompiler.rulekit import REGISTRY
from tests.infer.refusals import cause_of, refused


@pytest.fixture
def forgets() -> Iterator[list[Any]]:
    """Give a list of functions of which all that is registered is forgotten after the test."""
    functions: list[Any] = []
    yield functions
    for function in functions:
        REGISTRY.remove(function)


# -- rules -----------------------------------------------------------------------------------------


LIBRARY = ctypes.CDLL(ctypes.util.find_library("m"))
LIBRARY.cbrt.restype = ctypes.c_double
LIBRARY.cbrt.argtypes = [ctypes.c_double]


def root(x: float) -> Any:
    return LIBRARY.cbrt(x)


def middle(x: float) -> Any:
    return root(x) + 1.0


def through_library(x: float) -> Any:
    return middle(x) * x


def test_a_method_of_an_object_of_a_known_class(forgets: list[Any]) -> None:
    error = refused(through_library, 8.0)
    (finding,) = error.findings
    assert finding.problem == (
        "`.cbrt()` of a CDLL has no rule, and no Python source that could be compiled")
    assert [caller.rpartition(": ")[2] for caller in finding.callers] == [
        "return root(x) + 1.0", "return middle(x) * x"]
    assert "call `adcompiler.external(LIBRARY.cbrt, vjp=...)` in its place" in finding.hint
    cube_root = external(LIBRARY.cbrt, vjp=lambda y_bar, x: y_bar / (3.0 * LIBRARY.cbrt(x) ** 2))
    assert_allclose(grad(lambda x: (cube_root(x) + 1.0) * x)(8.0), 3.0 + 2.0 / 3.0, rtol=1e-12)
    forgets.append(root)

    @rrule(root)
    def root_rule(x: Any) -> Any:
        y = LIBRARY.cbrt(x)

        def root_pullback(dy: Any) -> Any:
            return dy / (3.0 * y**2)

        return y, root_pullback

    assert_allclose(grad(through_library)(8.0), 3.0 + 2.0 / 3.0, rtol=1e-12)
    assert_allclose(jvp(through_library, (8.0,), (1.0,))[1], 3.0 + 2.0 / 3.0, rtol=1e-12)


def function_of(module: str, name: str) -> Any:
    loaded = importlib.import_module(module)
    return getattr(loaded, name)


def by_name(x: float, module: str) -> Any:
    return function_of(module, "sin")(x)


def by_module(x: float, module: Any) -> Any:
    return getattr(module, "sin")(x)  # noqa: B009


def test_a_function_that_is_looked_up_when_the_code_runs() -> None:
    problem, text, hint = cause_of(by_name, 0.5, "math")
    assert problem == "nothing is known of what importlib.import_module() returns"
    assert text == "loaded = importlib.import_module(module)"
    assert hint.startswith("make it outside of the function and pass it as an argument")
    assert_allclose(grad(by_module)(0.5, np), np.cos(0.5), rtol=1e-12)


def test_a_function_without_text_gets_no_lines_of_a_rule(forgets: list[Any]) -> None:
    namespace: dict[str, Any] = {}
    exec("def square(x):\n    return x * x", namespace)

    def squared(x: float) -> Any:
        return namespace["square"](x)

    (finding,) = refused(squared, 3.0).findings
    assert finding.hint.startswith("define it in a file")
    assert finding.hint.endswith("or register a rule for it with `@rrule(f)`")
    forgets.append(namespace["square"])

    @rrule(namespace["square"])
    def square_rule(x: Any) -> Any:
        def square_pullback(dy: Any) -> Any:
            return 2.0 * x * dy

        return x * x, square_pullback

    assert grad(squared)(3.0) == 6.0


# -- functions that may write ----------------------------------------------------------------------


def distances(x: Any, centres: Any) -> Any:
    _, found = vq(x, centres)
    return np.sum(found**2)


def assigned(x: Any) -> Any:
    rows, columns = linear_sum_assignment(np.outer(x, x))
    return x[rows] @ x[columns]


def test_what_is_said_not_to_write_still_needs_a_rule(forgets: list[Any]) -> None:
    x, centres = np.ones((3, 2)), np.zeros((2, 2))
    (finding,) = refused(distances, x, centres).findings
    assert finding.hint.endswith(
        "say so: adcompiler.facts(scipy.cluster._vq.vq, writes=())")
    forgets.append(vq)
    facts(vq, writes=())
    with pytest.raises(MissingRuleError, match=r"vq\(\) has no rule"):
        grad(distances)(x, centres)


def to_nearest(x: Any, centres: Any) -> Any:
    return clusters.vq(x, centres)


def distances_by_library(x: Any, centres: Any) -> Any:
    _, found = to_nearest(x, centres)
    return np.sum(found**2)


def test_a_rule_may_be_that_of_the_function_that_is_called(forgets: list[Any]) -> None:
    x, centres = np.array([[1.0, 2.0], [3.0, 4.5]]), np.array([[0.0, 1.0], [4.0, 4.0]])
    (finding,) = refused(distances_by_library, x, centres).findings
    assert finding.problem.startswith("vq() has no rule")
    assert finding.callers[-1].endswith(": _, found = to_nearest(x, centres)")
    assert finding.callers[0].endswith(": return clusters.vq(x, centres)")
    assert finding.hint.endswith("; or register a rule for what `clusters.vq(x, centres)` calls")
    forgets.append(clusters.vq)

    @rrule(clusters.vq, wrt=("obs",))
    def vq_rule(obs: Any, code_book: Any) -> Any:
        codes, found = clusters.vq(obs, code_book)

        def vq_pullback(dy: Any) -> Any:
            _, d_found = dy
            return (d_found / found)[:, None] * (obs - code_book[codes])

        return (codes, found), vq_pullback

    assert_allclose(
        grad(distances_by_library)(x, centres), 2.0 * (x - np.array([[0.0, 1.0], [4.0, 4.0]])))


def test_what_does_not_write_and_gives_only_positions_needs_no_rule(forgets: list[Any]) -> None:
    x = np.array([0.5, 2.0, 1.0])
    (finding,) = refused(assigned, x).findings
    assert "adcompiler.facts(scipy.optimize.linear_sum_assignment, writes=())" in finding.hint
    forgets.append(linear_sum_assignment)
    facts(linear_sum_assignment, writes=())
    _, columns = linear_sum_assignment(np.outer(x, x))
    expected = x[columns]
    expected[columns] += x
    assert_allclose(grad(assigned)(x), expected)


DOCUMENT = ElementTree.fromstring("<model><rate value='1.5'/></model>")


def rate() -> float:
    found: Any = DOCUMENT.find("rate")
    return float(found.get("value"))


def test_a_method_of_a_library_that_may_write(forgets: list[Any]) -> None:
    def scaled(x: float) -> Any:
        return rate() * x

    (finding,) = refused(scaled, 3.0).findings
    assert finding.problem.startswith("xml.etree.ElementTree.Element.find(), called at line ")
    assert "adcompiler.facts(xml.etree.ElementTree.Element.find, writes=())" in finding.hint
    forgets.append(ElementTree.Element.find)
    facts(ElementTree.Element.find, writes=())
    assert grad(scaled)(3.0) == 1.5


def with_set(x: float, names: Any) -> Any:
    names.add("rate")
    return x * len(names)


def with_list(x: float, names: Any) -> Any:
    names.append("rate")
    return x * len(names)


def test_methods_that_do_write_are_not_said_to_be_harmless() -> None:
    (finding,) = refused(with_set, 3.0, {"scale"}).findings
    assert finding.problem.startswith("set.add(), called at line ")
    assert "facts(" not in finding.hint
    assert finding.hint.startswith("use a list, a dict or an array, changes of which are followed")
    assert grad(with_list)(3.0, ["scale"]) == 2.0


def put_and_got(x: float, waiting: Any) -> Any:
    waiting.put(x)
    return waiting.get() * x


def test_a_queue_that_is_an_argument_is_refused_with_a_place() -> None:
    for waiting in (queue.Queue(), queue.LifoQueue(), queue.PriorityQueue()):
        (finding,) = refused(put_and_got, 3.0, waiting).findings
        assert finding.problem == (
            "put() has no rule, and may write into the array or container that it gets")
        assert finding.text.strip() == "waiting.put(x)"


SOURCE = """
void cubes(double *x, double *y) { for (int i = 0; i < 3; i++) y[i] = x[i] * x[i] * x[i]; }
"""


def test_a_c_function_that_fills_an_array(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no compiler of C")
    (tmp_path / "cubes.c").write_text(SOURCE)
    built = str(tmp_path / "cubes.so")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", built, tmp_path / "cubes.c"], check=True)
    library = ctypes.CDLL(built)
    doubles = np.ctypeslib.ndpointer(float)
    library.cubes.argtypes, library.cubes.restype = [doubles, doubles], None

    def program(x: Any) -> Any:
        y = np.empty(3)
        library.cubes(x, y)
        return np.sum(y * x)

    x = np.array([1.0, -2.0, 0.5])
    (finding,) = refused(program, x).findings
    assert finding.problem == (
        "library.cubes() has no rule, and may write into the array or container that it gets")
    assert "call `adcompiler.external(library.cubes, vjp=..., fills=True)` in its place" in (
        finding.hint)
    cubes = external(library.cubes, vjp=lambda y_bar, x: 3.0 * y_bar * x * x, fills=True)

    def by_external(x: Any) -> Any:
        y = np.empty(3)
        cubes(x, y)
        return np.sum(y * x)

    assert_allclose(grad(by_external)(x), 4.0 * x**3, rtol=1e-14)
    assert_allclose(hessian(by_external)(x), np.diag(12.0 * x**2), rtol=1e-14)
