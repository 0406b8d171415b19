"""Patterns found by operator overloading; the ids are those of the specification."""

import math
import pickle

import adcompiler
import numpy as np
import pytest

from adcompiler import (
    Global, Local, MissingPrimalError, SourceNotFoundError, hessian_sparsity, jacobian_sparsity,
    stop_gradient,
)
from adcompiler.sparsity.tracing.tracer_arrays import TracerArray
from adcompiler.tracers import (
    Dual, GradientTracer, HessianTracer, hessian_buffer, hessian_eltype, jacobian_buffer,
    jacobian_eltype,
)
from adcompiler.sparsity.tracing.tracers import OVERLOADS
from tests.sparsity import classified
from tests.sparsity.check import both_ways, missing, pairs, rows
from tests.sparsity.programs import PROGRAMS
from tests.sparsity.test_programs import dense_derivative

trapezoid = getattr(np, "trapezoid", None) or np.trapz  # NumPy 1 has the other name
EVERYWHERE = [Global(kind, tracers=True) for kind in ("bitset", "set", "packed")]
HERE = [Local(kind, tracers=True) for kind in ("bitset", "set", "packed")]
everywhere = pytest.mark.parametrize("everywhere", EVERYWHERE, ids=lambda d: d.pattern)
here = pytest.mark.parametrize("here", HERE, ids=lambda d: d.pattern)


def three_rows(x):
    return np.array([x[0] ** 2, 2 * x[0] * x[1] ** 2, np.sin(x[2])])


def larger(x):
    return x[0] if x[0] > x[1] else x[1]


def foo(x):
    return x[0] + x[1] * x[2] + 1 / x[3]


def without_source(text):
    namespace = {"np": np, "math": math}
    exec(text, namespace)
    return namespace["f"]


@everywhere
def test_a1_jacobian(everywhere):
    found = jacobian_sparsity(three_rows, np.ones(3), detector=everywhere)
    assert found.dtype == bool and rows(found) == [{0}, {0, 1}, {2}]
    found = jacobian_sparsity(np.diff, np.ones(4), detector=everywhere)
    assert rows(found) == [{0, 1}, {1, 2}, {2, 3}]


@everywhere
@pytest.mark.parametrize(("function", "n", "expected"), [
    (foo, 4, both_ways([(1, 2), (3, 3)])),
    (lambda x: np.sum(np.diff(x) ** 3), 4,
     {(i, j) for i in range(4) for j in range(4) if abs(i - j) < 2}),
    (lambda x: (x[0] * x[1]) * (x[2] * x[3]), 4,
     {(i, j) for i in range(4) for j in range(4) if i != j}),
    (lambda x: foo(x) + x[1] ** x[4], 5, both_ways([(1, 1), (1, 2), (1, 4), (3, 3), (4, 4)])),
])
def test_a2_hessian(everywhere, function, n, expected):
    assert pairs(hessian_sparsity(function, np.ones(n), detector=everywhere)) == expected


@here
@pytest.mark.parametrize(("function", "point", "expected"), [
    (lambda x: x[0] * x[1], (1, 1), {0, 1}), (lambda x: x[0] * x[1], (0, 1), {0}),
    (lambda x: x[0] * x[1], (1, 0), {1}), (lambda x: x[0] * x[1], (0, 0), set()),
    (lambda x: x[0] / x[1], (0, 0), {0}), (lambda x: max(x[0], x[1]), (1, 1), {0, 1}),
    (lambda x: max(x), (1, 1), {0, 1}), (lambda x: np.max(x), (3, 3), {0, 1}),
    (lambda x: max(x[0], x[1]), (1, 2), {1}), (larger, (1, 2), {1}), (larger, (2, 1), {0}),
])
def test_a3_local_jacobian(here, function, point, expected):
    assert rows(jacobian_sparsity(function, np.array(point, float), detector=here)) == [expected]


@here
@pytest.mark.parametrize(("point", "expected"), [
    ((1, 3, 5, 1, 2), [(1, 2), (1, 4), (3, 3)]), ((4, 3, 5, 1, 2), [(0, 1), (1, 2), (3, 3)]),
])
def test_a4_local_hessian(here, point, expected):
    found = hessian_sparsity(
        lambda x: foo(x) + x[1] * max(x[0], x[4]), np.array(point, float), detector=here)
    assert pairs(found) == both_ways(expected)


def differences_into(y, x):
    for i in range(len(x) - 1):
        y[i] = x[i + 1] - x[i]


@pytest.mark.parametrize("detector", [*EVERYWHERE, *HERE])
def test_a5_in_place(detector):
    y = np.full(5, 7.0)
    found = jacobian_sparsity(differences_into, y, np.arange(5.0), detector=detector)
    assert rows(found) == [{0, 1}, {1, 2}, {2, 3}, {3, 4}, set()]
    assert np.array_equal(y, np.full(5, 7.0))
    listed = jacobian_sparsity(differences_into, [0.0, 7.0], [1.0, 2.0], detector=detector)
    assert rows(listed) == [{0, 1}, set()]


def test_a12_zero_factors():
    x = np.array([2.0])
    for function in (lambda x: 0 * x[0], lambda x: x[0] * 0):
        assert rows(jacobian_sparsity(function, x, detector=EVERYWHERE[0])) == [{0}]
    assert rows(jacobian_sparsity(lambda x: x[0] * 0, x, detector=HERE[0])) == [set()]


@pytest.mark.parametrize("function", [
    larger, lambda x: float(x[0]), lambda x: int(x[0]), lambda x: [1.0, 2.0][x[0]],
    lambda x: complex(x[0]), lambda x: sorted(x),
])
def test_a13_what_needs_a_value_is_refused(function):
    with pytest.raises(MissingPrimalError, match="needs the value of a tracer"):
        jacobian_sparsity(function, np.ones(2), detector=EVERYWHERE[0])
    assert issubclass(MissingPrimalError, TypeError)


def test_a13_values_given_to_compiled_code_are_refused_at_a_point_too():
    for function in (lambda x: float(x[0]), lambda x: complex(x[0])):
        with pytest.raises(MissingPrimalError):
            jacobian_sparsity(function, np.ones(2), detector=HERE[0])


def test_a13_errors_that_are_caught_are_raised_again():
    def catching(x):
        try:
            return x[0] if x[0] > 0.0 else x[1]
        except TypeError:
            return 0.0

    with pytest.raises(MissingPrimalError, match="a branch"):
        jacobian_sparsity(catching, np.ones(2), detector=EVERYWHERE[0])


def test_a13_errors_cross_processes():
    error = pickle.loads(pickle.dumps(MissingPrimalError("a branch")))
    assert str(error).startswith("a branch needs") and "limitations.md#tracers" in str(error)


@pytest.mark.parametrize(("function", "expected"), [
    (lambda x: np.where(x[1] < x[2], x[0] + x[1], x[2] * x[3]), {0, 1, 2, 3}),
    (lambda x: np.where(x[1] < x[2], x[0] + x[1], 1.0), {0, 1}),
])
def test_a14_choices(function, expected):
    assert rows(jacobian_sparsity(function, np.ones(4), detector=EVERYWHERE[0])) == [expected]


SQUARE = np.array([[2.0, 0.5], [0.5, 3.0]])


@pytest.mark.parametrize("detector", [EVERYWHERE[0], HERE[0]])
@pytest.mark.parametrize("function", [
    np.linalg.det, lambda a: np.linalg.slogdet(a)[1], np.linalg.inv, np.linalg.pinv,
    np.linalg.norm, lambda a: np.linalg.matrix_power(a, 3), np.linalg.eigvalsh,
    lambda a: np.linalg.solve(a, np.ones(2)), np.linalg.cholesky,
])
def test_a15_linear_algebra(function, detector):
    assert jacobian_sparsity(function, SQUARE, detector=detector).toarray().all()


def test_a15_products():
    x, point = np.ones(5), np.array([0.0, 1.0, 0.0, 1.0, 0.0])
    found = jacobian_sparsity(lambda x: np.dot(x[0:2], x[3:5]), x, detector=EVERYWHERE[0])
    assert rows(found) == [{0, 1, 3, 4}]
    found = jacobian_sparsity(lambda x: np.dot(x[0:2], x[3:5]), point, detector=HERE[0])
    assert rows(found) == [{0, 4}]
    found = jacobian_sparsity(
        lambda a: np.linalg.matrix_power(a, 0), np.eye(2), detector=EVERYWHERE[0])
    assert rows(found) == [set()] * 4
    matrix = np.array([[1.0, 0.0], [2.0, 3.0]])
    for product in (lambda x: matrix @ x, lambda x: np.einsum("ij,j->i", matrix, x)):
        assert rows(jacobian_sparsity(product, np.ones(2), detector=HERE[0])) == [{0}, {0, 1}]
    assert hessian_sparsity(lambda x: np.linalg.norm(x, 1), x, detector=EVERYWHERE[0]).nnz == 0
    assert hessian_sparsity(np.linalg.norm, x, detector=EVERYWHERE[0]).nnz == 25


@pytest.mark.parametrize(("function", "expected"), [
    (lambda x: np.round(x[0]), set()), (lambda x: round(x[0]), set()),
    (lambda x: math.floor(x[0]), set()), (lambda x: np.zeros_like(x)[0], set()),
    (lambda x: np.ones_like(x)[1], set()), (lambda x: x.astype(np.float32)[1], {1}),
    (lambda x: x.astype(int)[1], set()), (lambda x: np.clip(x, 0.0, x[0])[1], {0, 1}),
    (lambda x: np.clip(x[0], x[1], 2.0), {0, 1}), (lambda x: np.random.random() * x[1], {1}),
    (lambda x: divmod(x[0], x[1]), [set(), {0, 1}]), (lambda x: math.hypot(x[0], x[1]), {0, 1}),
    (lambda x: np.sort(x), [{0, 1}, {0, 1}]), (lambda x: math.fsum(x), {0, 1}),
    (lambda x: math.prod([x[0], 2]), {0}),
    (lambda x: np.clip(x[1], 0.0, 1.0), {1}), (lambda x: x[0] // 2, set()),
    (lambda x: np.modf(x), [{0}, {1}, set(), set()]),
    (lambda x: np.float64(2.0) * x[1] + np.ones(1) * x[0], {0, 1}), (lambda x: x.sum(), {0, 1}),
    (lambda x: x.mean() ** 2, {0, 1}), (lambda x: np.cumsum(x), [{0}, {0, 1}]),
    (lambda x: x.max(), {0, 1}), (lambda x: np.prod(x, keepdims=True), {0, 1}),
    (lambda x: np.concatenate([x[1:], np.zeros(1)]), [{1}, set()]),
    (lambda x: np.outer(x, x)[0], [{0}, {0, 1}]), (lambda x: np.arctan2(x[0], x)[1], {0, 1}),
    (lambda x: np.array([np.sin(x), x[::-1]]), [{0}, {1}, {1}, {0}]),
    (lambda x: np.asarray([1.0, x[1]]) * 2.0, [set(), {1}]), (lambda x: trapezoid(x), {0, 1}),
    (lambda x: sum(v * v for v in x), {0, 1}), (lambda x: {"a": x[1], "b": [3, x[0]]},
                                                [{1}, set(), {0}]),
    (lambda x: np.real(x) * 2.0, [{0}, {1}]), (lambda x: np.imag(x[::-1] * 1j), [{1}, {0}]),
    (lambda x: np.real(x[0]) + np.imag(x[1]), {0, 1}),
    (lambda x: np.floor(x) * x[0] + np.zeros_like(x), [{0}, {0}]),
])
def test_a16_functions(function, expected):
    found = jacobian_sparsity(function, np.array([0.5, 1.5]), detector=EVERYWHERE[0])
    assert rows(found) == (expected if isinstance(expected, list) else [expected])


def test_a16_clip():
    def bounded(x):
        return np.clip(x[0], x[1], x[2])

    found = jacobian_sparsity(bounded, np.array([0.5, 0.6, 1.0]), detector=HERE[0])
    assert rows(found) == [{1}]
    curved = hessian_sparsity(lambda x: x[2] * bounded(x), np.ones(3), detector=EVERYWHERE[0])
    assert pairs(curved) == both_ways([(2, 0), (2, 1), (2, 2)])


def dead_end(x):
    z = x[0] * x[1]  # noqa: F841 (nobody reads it: that is the point)
    return x[2] * x[3]


@pytest.mark.parametrize("tracers", [True, None])
@pytest.mark.parametrize("pattern", ["bitset", "set", "packed"])
def test_a17_representations(pattern, tracers):
    alone = Global(pattern, tracers=tracers)
    assert pairs(hessian_sparsity(dead_end, np.ones(4), detector=alone)) == both_ways([(2, 3)])
    shared = Global(pattern, shared=True, tracers=tracers)
    assert pairs(hessian_sparsity(dead_end, np.ones(4), detector=shared)) == both_ways(
        [(0, 1), (2, 3)])


@everywhere
def test_a17_more_columns_than_fit_into_a_word(everywhere):
    found = hessian_sparsity(
        lambda x: np.sum(x[1:] * x[:-1]), np.ones(70), detector=everywhere)
    assert pairs(found) == both_ways([(i, i + 1) for i in range(69)])


def test_a17_unknown_representation():
    with pytest.raises(ValueError, match="'tree' is not one of set, bitset, packed"):
        Global("tree")


def test_a18_buffers():
    x = np.ones((2, 3))
    made = jacobian_buffer(x, Global())
    assert made.shape == (2, 3) and made.dtype == object
    assert hessian_buffer(x, Local()).shape == (2, 3)
    assert jacobian_eltype(x, Global()) is GradientTracer
    assert hessian_eltype(x, Global()) is HessianTracer
    assert jacobian_eltype(x, Local()) is Dual and hessian_eltype(x, Local()) is Dual

    def into_buffer(x):
        made[...] = 0.0
        made[1] = x[0] * 2.0
        return made

    expected = [set()] * 3 + [{0}, {1}, {2}]
    assert rows(jacobian_sparsity(into_buffer, x, detector=EVERYWHERE[0])) == expected


def test_a20_stopped():
    for detector in (EVERYWHERE[0], HERE[0]):
        found = jacobian_sparsity(
            lambda x: x[0] * stop_gradient(x[1]), np.ones(2), detector=detector)
        assert rows(found) == [{0}]


def test_functions_written_with_their_module_know_of_tracers():
    def stopped(x):
        return x[0] * adcompiler.stop_gradient(x[1])

    def helped(x):
        return classified.told(x[0]) + classified.helper(x[1])

    @adcompiler.tracers.overload(classified.told, adcompiler.tracers.GradientTracer)
    def of_told(t):
        return adcompiler.tracers.gradient_tracer_1_to_1(t, True)

    try:
        assert rows(jacobian_sparsity(stopped, np.ones(2), detector=EVERYWHERE[0])) == [{0}]
        assert rows(jacobian_sparsity(helped, np.ones(2), detector=EVERYWHERE[0])) == [{1}]
    finally:
        del OVERLOADS[classified.told]


SPELLINGS = """
import math
import adcompiler
from adcompiler import stop_gradient as stopped
from tests.sparsity import classified
from tests.sparsity.classified import told
TABLE = {"told": (told, [stopped])}

def default(x, f=told, *, stop=stopped):
    return f(x[0]) + stop(x[1]) + x[2]

def of_table(x):
    f, (stop,) = TABLE["told"]
    return f(x[0]) + stop(x[1]) + x[2]

def imported(x):
    from adcompiler import stop_gradient
    import tests.sparsity.classified as other
    return other.told(x[0]) + stop_gradient(x[1:])[0] + x[2]

def looked_up(x):
    return getattr(classified, "told")(x[0]) + list(map(stopped, x))[1] + x[2]

def given(x, f, stop):
    return f(x[0]) + stop(x[1]) + x[2]

def of_math(x, exp=math.exp):
    from math import log as logarithm
    return exp(x[2]) + logarithm(x[2])
"""


@pytest.mark.parametrize("detector", [EVERYWHERE[0], HERE[0]])
def test_a10_a20_every_spelling_is_met(detector):
    @adcompiler.tracers.overload(classified.told, adcompiler.tracers.GradientTracer)
    def of_told(t):
        return adcompiler.tracers.gradient_tracer_1_to_1(t, True)

    @adcompiler.tracers.overload(classified.told, adcompiler.tracers.GradientTracer, dual=True)
    def of_told_here(d):
        blank = adcompiler.tracers.gradient_tracer_1_to_1(adcompiler.tracers.tracer(d), True)
        return adcompiler.tracers.Dual(adcompiler.tracers.primal(d), blank)

    names = {}
    exec(SPELLINGS, names)
    held = names["TABLE"]
    try:
        for name in ("default", "of_table", "imported", "looked_up", "of_math", "given"):
            more = (classified.told, stop_gradient) if name == "given" else ()
            found = jacobian_sparsity(names[name], np.ones(3), *more, detector=detector)
            assert rows(found) == [{2}], name
    finally:
        del OVERLOADS[classified.told]
    assert names["TABLE"] is held and held["told"] == (classified.told, [stop_gradient])


def test_tracers_show_what_they_depend_on():
    shown = []

    def noted(x):
        shown.extend((repr(x[1]), repr(x[0] * x[2]), str([x[0] + x[1]])))
        return x[0]

    jacobian_sparsity(noted, np.ones(3), detector=EVERYWHERE[0])
    hessian_sparsity(noted, np.ones(3), detector=EVERYWHERE[0])
    jacobian_sparsity(noted, np.ones(3), detector=HERE[0])
    assert shown[:3] == [
        "GradientTracer([1])", "GradientTracer([0, 2])", "[GradientTracer([0, 1])]"]
    assert shown[3:6] == [
        "HessianTracer([1], [])", "HessianTracer([0, 2], [(0, 2)])", "[HessianTracer([0, 1], [])]"]
    assert shown[6].startswith("Dual(") and "1.0" in shown[6] and shown[6].endswith(
        ", GradientTracer([1]))")


def test_views_of_tracers_see_what_is_written():
    def written(x):
        y = np.zeros(3)
        view = y[1:]
        y[1] = x[0]
        view[1] = x[1]
        return y + view[0]

    found = jacobian_sparsity(written, np.ones(2), detector=EVERYWHERE[0])
    assert rows(found) == [{0}, {0}, {0, 1}]


HELPED = """
def helper(v):
    return math.sin(v) if v is not None else 0.0

def f(x):
    y = np.zeros(3)
    y[0] = helper(x[0]) * max(x[1], 0.0)
    y[2] = np.exp(x[2])
    return y
"""


def test_code_without_source_runs_on_tracers():
    f = without_source(HELPED)
    with pytest.raises(SourceNotFoundError):
        jacobian_sparsity(f, np.ones(3))
    with pytest.raises(SourceNotFoundError):
        jacobian_sparsity(f, np.ones(3), detector=Global(tracers=False))
    assert rows(jacobian_sparsity(f, np.ones(3), detector=Global())) == [{0, 1}, set(), {2}]
    point = np.array([1.0, -1.0, 2.0])
    assert rows(jacobian_sparsity(f, point, detector=Local())) == [set(), set(), {2}]
    g = without_source("def f(x):\n    return math.exp(x[0]) * x[1] + x[2] ** 2")
    expected = both_ways([(0, 0), (0, 1), (2, 2)])
    assert pairs(hessian_sparsity(g, np.ones(3), detector=Global())) == expected


def test_arguments_of_every_kind():
    both = jacobian_sparsity(
        lambda p: {"a": p["w"] * 2, "b": p["c"][0]}, {"w": np.ones(2), "c": (1.0, 2)},
        detector=EVERYWHERE[0])
    assert both.shape == (3, 4) and rows(both) == [{0}, {1}, {2}]
    two = jacobian_sparsity(
        lambda x, k, y: x * k + y, np.ones(2), 3.0, 1.0, argnums=(2, 0), detector=EVERYWHERE[0])
    assert rows(two) == [{0, 1}, {0, 2}]
    assert rows(jacobian_sparsity(lambda x: x**2, 3.0, detector=EVERYWHERE[0])) == [{0}]
    empty = jacobian_sparsity(lambda x: x * 2.0, np.ones((0, 2)), detector=EVERYWHERE[0])
    assert empty.shape == (0, 0)
    with pytest.raises(TypeError, match="scalar"):
        hessian_sparsity(lambda x: x, np.ones(2), detector=EVERYWHERE[0])


def test_tracers_are_no_keys():
    array = np.array([1.0]).view(TracerArray)
    assert array.shape == (1,)
    with pytest.raises(TypeError, match="unhashable"):
        jacobian_sparsity(lambda x: {x[0]: 1.0}[x[0]], np.ones(1), detector=HERE[0])


def traced(program, detector):
    """Return the pattern of a program, None if tracers cannot go through it."""
    try:
        if program.second:
            return hessian_sparsity(program.function, *program.args, detector=detector)
        return jacobian_sparsity(
            program.function, *program.args, argnums=program.argnums, detector=detector)
    except (MissingPrimalError, TypeError):
        return None


def test_a12_nothing_is_missing_in_programs():
    seen = exact = 0
    for program in PROGRAMS[::2]:
        found = [traced(program, detector) for detector in (EVERYWHERE[0], HERE[0])]
        if found == [None, None]:
            continue
        dense = dense_derivative(program, program.args)
        for pattern in found:
            assert pattern is None or missing(pattern, dense) == [], program
        seen += found[0] is not None
        exact += found[0] is not None and rows(found[0]) == list(program.rows())
    assert seen >= 0.8 * len(PROGRAMS[::2]) and exact >= 0.8 * seen
