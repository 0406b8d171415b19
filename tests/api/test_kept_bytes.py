"""``explain`` foretells the bytes that a gradient keeps, from shapes and integers alone."""

import numpy as np
import pytest

import adcompiler as ad
from adcompiler.dispatch import Options, Specialisations
from adcompiler.dispatch.explain import kept_for
from adcompiler.errors import ADError
from adcompiler.runtime.kept_bytes import size_in_bytes, size_told
from tests.corpus.test_corpus import PROGRAMS
from tests.language.test_no_shapes_in_loops import CASES


def measured(function, args, argnums):
    """Return the bytes that a run of the augmented primal keeps."""
    pair = Specialisations(function, Options("vjp", argnums))
    values = pair.values(pair.target.bound(args, {}))
    split, _ = pair.find(values)
    _, residuals = split.entry(*values, *(cell.cell_contents for cell in pair.cells(split)))
    return size_in_bytes(residuals)


@pytest.mark.parametrize(("function", "args", "argnums"), CASES, ids=lambda c: getattr(
    c, "__name__", ""))
def test_what_is_told_is_what_a_run_keeps(function, args, argnums):
    said = ad.grad(function, argnums).explain(*args)
    assert said.memory and not said.unknown
    assert said.tape_bytes == measured(function, args, argnums)
    assert f"memory      {said.memory} bytes" in str(said)


def layers(x, w, steps):
    h = np.zeros_like(x)
    for _ in range(steps):
        h = np.tanh(w @ h + x)
    return np.sum(h)


def test_nothing_is_run_and_the_formula_has_the_names_of_the_arguments():
    x, w = np.ones(50), np.eye(50)
    said = ad.grad(layers, (0, 1)).explain(x, w, 10**12)
    assert said.memory == "8*w.shape[1]*x.shape[0] + 16*steps*x.shape[0] + 16*x.shape[0]"
    assert said.tape_bytes == 8 * 50 * 50 + 16 * 10**12 * 50 + 16 * 50


def triangle(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            total = total + np.sin(x[i] * x[j])
    return total


def every_second(x, n):
    total = 0.0
    for i in range(0, n, 2):
        total = total + x[i // 2] ** 3
    return total


def helper(v, k):
    for _ in range(k):
        v = np.sin(v)
    return v


def with_helper(x, k):
    return np.sum(helper(x, k)) + np.sum(helper(x[1:], 2 * k))


def blocks(p, n):
    A = np.outer(p["a"], p["b"])
    for _ in range(n):
        A = np.exp(A / 2.0)
    return np.sum(A)


@pytest.mark.parametrize(("function", "args"), [
    (triangle, (np.linspace(0.1, 0.9, 7),)), (every_second, (np.arange(9.0), 7)),
    (with_helper, (np.arange(5.0), 3)), (blocks, ({"a": np.ones(2), "b": np.ones(3)}, 4)),
], ids=lambda c: getattr(c, "__name__", ""))
def test_counts_are_expressions(function, args):
    said = ad.grad(function).explain(*args)
    assert said.memory
    assert said.tape_bytes == measured(function, args, (0,))


def until_small(x):
    while x > 0.1:
        x = x * np.cos(x)
    return x


def filtered(x):
    return np.sum(np.sin(x[x > 0.0]))


@pytest.mark.parametrize(("function", "x", "said"), [
    (until_small, 0.9, "how often a loop runs that a condition ends"),
    (filtered, np.array([1.0, -1.0, 2.0]), "the shape of"),
])
def test_what_only_a_run_shows_is_measured_and_told(function, x, said):
    found = ad.grad(function).explain(x)
    assert not found.memory
    assert found.unknown.startswith(said)
    assert found.tape_bytes == measured(function, (x,), (0,))
    assert f"measured in a run, which alone shows {said}" in str(found)


def added(x, y):
    for _ in range(3):
        x = np.sin(x * y)
    return np.sum(x)


def test_the_formula_is_for_arrays_that_are_not_stretched():
    one = ad.grad(added, (0, 1))
    assert one.explain(np.ones(4), np.ones(4)).memory
    said = one.explain(np.ones(4), np.ones(1))
    assert said.unknown == "the shapes of arrays that are stretched"
    assert said.tape_bytes > 3 * 4 * 8


def test_texts_of_sizes_are_told_for_what_they_hold_for():
    given = {"x": np.ones((2, 3)), "n": 4}
    assert size_told("8*n*x.shape[1] + 8", ["x.shape[0] == 2"], given) == 104
    assert size_told("8*n", ["x.shape[0] == 3"], given) is None
    assert size_told("8*n*y.shape[0]", [], given) is None
    assert size_told("size_in_bytes(x) + len(range(n))", [], given) == 52


def test_no_formula_of_the_corpus_is_wrong():
    foretold = 0
    for program in PROGRAMS[::12]:
        case = next(program.cases())
        pair = Specialisations(program.function, Options("vjp", program.positions))
        try:
            kept = kept_for(pair, pair.values(pair.target.bound(case.args, {})))
        except ADError:
            continue
        if kept.formula:
            foretold += 1
            case = next(program.cases())
            assert kept.size == measured(program.function, case.args, program.positions), program
    assert foretold > 15
