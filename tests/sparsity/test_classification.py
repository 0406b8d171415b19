"""Classifications: declared, derived, asked for, written out as code; ids of the specification."""

import itertools
import math
import operator

import numpy as np
import pytest
import scipy.special.cython_special

from adcompiler import (
    Global, Local, UnsupportedError, classify, hessian_sparsity, jacobian_sparsity, tracers,
)
from adcompiler.ops.classify import DECLARED, LOCAL, letters_of
from adcompiler.sparsity.interpreter.machine import classifications_of
from adcompiler.sparsity.tracing.tracer_sets import SET_KINDS
from adcompiler.sparsity.tracing.tracers import OVERLOADS, Space
from tests.sparsity import classified
from tests.sparsity.check import both_ways, pairs, rows
from tests.sparsity.classified import relu, scaled, sincos, softplus


@pytest.fixture(autouse=True)
def _forget():
    tables = DECLARED, LOCAL, OVERLOADS
    kept = [dict(table) for table in tables]
    yield
    for table, before in zip(tables, kept, strict=True):
        table.clear()
        table.update(before)


EVERYWHERE, HERE = Global(tracers=True), Local(tracers=True)


# --- A6-A8: classes -------------------------------------------------------------------------------


def test_a6_one_to_one():
    classify(relu, "1-1", der1_zero=False, der2_zero=True)
    for function, expected in (
        (relu, (False, True)), (np.sin, (False, False)), (np.ceil, (True, True)),
        (math.ceil, (True, True)), (abs, (False, True)),
    ):
        found = tracers.is_der1_zero_global(function), tracers.is_der2_zero_global(function)
        assert found == expected


@pytest.mark.parametrize(("function", "letters"), [
    (operator.mul, "ffc"), (operator.truediv, "fsc"), (operator.add, "ffz"), (np.copysign, "fzz"),
    (operator.lt, "zzz"), (operator.pow, "ssc"), (np.power, "ssc"), (np.hypot, "ssc"),
    (np.maximum, "ffz"), (np.floor_divide, "zzz"),
])
def test_a7_two_to_one(function, letters):
    assert [letters_of(one) for one in classifications_of(function, 2)] == [letters]
    first = [p(function) for p in (
        tracers.is_der1_arg1_zero_global, tracers.is_der1_arg2_zero_global)]
    second = [p(function) for p in (
        tracers.is_der2_arg1_zero_global, tracers.is_der2_arg2_zero_global)]
    assert first == [letter == "z" for letter in letters[:2]]
    assert second == [letter != "s" for letter in letters[:2]]
    assert tracers.is_der_cross_zero_global(function) == (letters[2] == "z")


def test_a7_there_are_13_classes_and_9_with_two_results():
    accepted = {kind: [] for kind in ("1-1", "2-1", "1-2")}
    for kind, length in (("1-1", 1), ("2-1", 3), ("1-2", 2)):
        for letters in map("".join, itertools.product("sfzc", repeat=length)):
            try:
                classify(scaled, kind, letters)
            except ValueError:
                continue
            accepted[kind].append(letters)
            found = [letters_of(one) for one in classifications_of(scaled, 2)]
            assert found == (list(letters) if kind == "1-2" else [letters])
    assert accepted["1-1"] == ["s", "f", "z"]
    assert sorted(accepted["2-1"]) == sorted(
        ["ssc", "ssz", "sfc", "sfz", "szz", "fsc", "fsz", "ffc", "ffz", "fzz", "zsz", "zfz", "zzz"])
    assert len(accepted["1-2"]) == 9


def test_a7_by_keywords():
    classify(scaled, "2-1", der1_zero=(False, True), der2_zero=(True, True))
    assert letters_of(DECLARED[scaled][0]) == "fzz"
    classify(scaled, "2-1", der2_zero=True)
    assert letters_of(DECLARED[scaled][0]) == "ffc"
    classify(scaled, "2-1", der2_zero=(False, True), cross_zero=True)
    assert letters_of(DECLARED[scaled][0]) == "sfz"


@pytest.mark.parametrize(("arguments", "message"), [
    (("3-1",), "'3-1' is not one of 1-1, 2-1, 1-2"), (("1-1", "q"), "'q' stand for no class"),
    (("2-1", "zsc"), "'zsc' stand for no class"), (("1-2", "ssc"), "'ssc' stand for no class"),
])
def test_a7_contradictions(arguments, message):
    with pytest.raises(ValueError, match=message):
        classify(scaled, *arguments)
    with pytest.raises(ValueError, match="der2_zero is true as well"):
        classify(scaled, "1-1", der1_zero=True)
    with pytest.raises(ValueError, match="not one bool for each of 2"):
        classify(scaled, "2-1", der1_zero=(True, False, False))


def test_a8_one_to_two():
    for function, letters in ((math.modf, "fz"), (np.frexp, "fz")):
        assert "".join(letters_of(one) for one in classifications_of(function, 1)) == letters
        assert tracers.is_der1_out2_zero_global(function)
        assert not tracers.is_der1_out1_zero_global(function)
        assert tracers.is_der2_out1_zero_global(function)
    classify(sincos, "1-2", "ss")
    assert not tracers.is_der2_out2_zero_global(sincos)
    for detector in (EVERYWHERE, HERE):
        found = jacobian_sparsity(lambda x: sincos(x[0]), np.ones(1), detector=detector)
        assert rows(found) == [{0}, {0}]
    curved = hessian_sparsity(lambda x: sincos(x[0])[1] + x[1], np.ones(2), detector=EVERYWHERE)
    assert pairs(curved) == {(0, 0)}


# --- A9: refinements at a point -------------------------------------------------------------------


@pytest.mark.parametrize("generated", [False, True])
@pytest.mark.parametrize(("x", "expected"), [(-1.0, set()), (1.0, {0}), (0.0, {0})])
def test_a9_local(x, expected, generated):
    classify(relu, "1-1", der2_zero=True)
    assert tracers.is_der1_zero_local(relu, x) is False

    @tracers.is_der1_zero_local.register(relu)
    def negative(x):
        return x < 0

    assert tracers.is_der1_zero_local(relu, x) == (x < 0)
    assert tracers.is_der2_zero_local(relu, x) is True
    assert tracers.is_der1_zero_local(relu, np.array([-1.0, 2.0])).tolist() == [True, False]
    if generated:
        exec(tracers.generate_code_1_to_1(classified, relu), {})
        assert len(OVERLOADS[relu]) == 4
    point = np.array([x])
    found = jacobian_sparsity(lambda x: relu(x[0]), point, detector=HERE)
    assert rows(found) == [expected]
    assert rows(jacobian_sparsity(lambda x: relu(x[0]), point, detector=EVERYWHERE)) == [{0}]
    for detector in (EVERYWHERE, HERE):
        curved = hessian_sparsity(lambda x: relu(x[0]), point, detector=detector)
        assert curved.nnz == 0


def test_a9_second_derivatives():
    @tracers.is_der_cross_zero_local.register(scipy.special.xlogy)
    def large(x, y):
        return np.asarray(y) > 100.0

    @tracers.is_der2_arg2_zero_local.register(scipy.special.xlogy)
    def also_large(x, y):
        return np.asarray(y) > 100.0

    def total(v):
        return np.sum(scipy.special.xlogy(v[:2], v[2:]))

    point = np.array([1.0, 1.0, 2.0, 200.0])
    expected = both_ways([(0, 2), (2, 2)])
    assert pairs(hessian_sparsity(total, point, mode="local")) == expected
    assert pairs(hessian_sparsity(total, point, detector=HERE)) == expected
    assert len(pairs(hessian_sparsity(total, point))) == 6


@pytest.mark.parametrize(("predicate", "function", "values", "expected"), [
    (tracers.is_der2_zero_local, np.sin, (0.0,), True),
    (tracers.is_der2_zero_local, math.sin, (0.0,), True),
    (tracers.is_der2_zero_local, np.sin, (1.0,), False),
    (tracers.is_der2_zero_local, np.cos, (0.0,), False),
    (tracers.is_der2_zero_local, np.tanh, (np.array([0.0, 1.0]),), [True, False]),
    (tracers.is_der2_arg2_zero_local, operator.truediv, (0.0, 2.0), True),
    (tracers.is_der2_arg2_zero_local, operator.truediv, (1.0, 2.0), False),
    (tracers.is_der_cross_zero_local, operator.truediv, (0.0, 2.0), False),
    (tracers.is_der2_arg1_zero_local, operator.pow, (0.0, 3.0), True),
    (tracers.is_der2_arg1_zero_local, operator.pow, (0.0, 2.0), False),
    (tracers.is_der2_arg1_zero_local, operator.pow, (2.0, 1.0), True),
    (tracers.is_der_cross_zero_local, operator.mul, (0.0, 0.0), False),
    (tracers.is_der_cross_zero_local, operator.add, (0.0, 0.0), True),
    (tracers.is_der2_arg1_zero_local, np.hypot, (0.0, 2.0), False),
])
def test_a9_second_derivatives_follow_from_rules(predicate, function, values, expected):
    found = predicate(function, *values)
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == expected


def test_a9_local_hessians():
    def total(x):
        return np.sum(np.sin(x)) + np.sum(x**3) + np.tanh(x[0]) / x[1]

    point = np.array([0.0, 1.0, 2.0])
    assert pairs(hessian_sparsity(total, point, mode="local")) == {
        (0, 1), (1, 0), (1, 1), (2, 2)}


def test_a13_predicates_need_values():
    space = Space(SET_KINDS["set"](1))
    with pytest.raises(tracers.MissingPrimalError, match="is_der1_zero_local needs"):
        tracers.is_der1_zero_local(np.sin, tracers.GradientTracer(space, frozenset({0})))


def test_what_is_not_classified_is_refused():
    with pytest.raises(TypeError, match=r"relu is not classified"):
        tracers.is_der1_zero_global(relu)
    with pytest.raises(TypeError, match="functions of 1 numbers with 1 results"):
        tracers.is_der1_zero_global(np.add)
    with pytest.raises(TypeError, match="is_der1_zero_local takes a function and 1 values, not 2"):
        tracers.is_der1_zero_local(np.sin, 1.0, 2.0)


# --- A10: generated code --------------------------------------------------------------------------


RELU = '''\
import adcompiler.tracers
import tests.sparsity.classified


@adcompiler.tracers.overload(tests.sparsity.classified.relu, adcompiler.tracers.GradientTracer)
def relu_gradient_tracer(t):
    return adcompiler.tracers.gradient_tracer_1_to_1(t, False)


@adcompiler.tracers.overload(tests.sparsity.classified.relu, adcompiler.tracers.GradientTracer, dual=True)
def relu_gradient_dual(d):
    x, t = adcompiler.tracers.primal(d), adcompiler.tracers.tracer(d)
    p_out = tests.sparsity.classified.relu(x)
    is_der1_zero = adcompiler.tracers.is_der1_zero_local(tests.sparsity.classified.relu, x)
    t_out = adcompiler.tracers.gradient_tracer_1_to_1(t, is_der1_zero)
    return adcompiler.tracers.Dual(p_out, t_out)


@adcompiler.tracers.overload(tests.sparsity.classified.relu, adcompiler.tracers.HessianTracer)
def relu_hessian_tracer(t):
    return adcompiler.tracers.hessian_tracer_1_to_1(t, False, True)


@adcompiler.tracers.overload(tests.sparsity.classified.relu, adcompiler.tracers.HessianTracer, dual=True)
def relu_hessian_dual(d):
    x, t = adcompiler.tracers.primal(d), adcompiler.tracers.tracer(d)
    p_out = tests.sparsity.classified.relu(x)
    is_der1_zero = adcompiler.tracers.is_der1_zero_local(tests.sparsity.classified.relu, x)
    is_der2_zero = adcompiler.tracers.is_der2_zero_local(tests.sparsity.classified.relu, x)
    t_out = adcompiler.tracers.hessian_tracer_1_to_1(t, is_der1_zero, is_der2_zero)
    return adcompiler.tracers.Dual(p_out, t_out)
'''  # noqa: E501


def test_a10_text():
    classify(relu, "1-1", der2_zero=True)
    assert tracers.generate_code_1_to_1("tests.sparsity.classified", relu) == RELU
    assert tracers.generate_code_1_to_1(classified, [relu]) == RELU


def test_a10_several_functions():
    classify(relu, "1-1", "f")
    classify(softplus, "1-1", "s")
    namespace = {}
    exec(tracers.generate_code_1_to_1(classified, [relu, softplus]), namespace)
    assert {f"{f}_{o}_{k}" for f in ("relu", "softplus") for o in ("gradient", "hessian")
            for k in ("tracer", "dual")} <= set(namespace)
    found = hessian_sparsity(
        lambda x: softplus(x[0]) + relu(x[1]), np.ones(2), detector=EVERYWHERE)
    assert pairs(found) == {(0, 0)}


def test_a10_two_to_one():
    classify(scaled, "2-1", "ffc")
    exec(tracers.generate_code_2_to_1(classified, scaled), {})
    for detector in (EVERYWHERE, HERE):
        found = hessian_sparsity(
            lambda x: scaled(x[0], x[1]) + scaled(2.0, x[2]) + scaled(x[3], 3), np.ones(4),
            detector=detector)
        assert pairs(found) == both_ways([(0, 1)])


def test_a10_typed():
    classify(scaled, "2-1", "fzz")
    text = tracers.generate_code_2_to_1_typed(classified, scaled, np.float64)
    assert "import numpy\n" in text and "other=numpy.float64" in text
    exec(text, {})
    classify(scaled, "2-1", "ffc")
    second = [
        rows(jacobian_sparsity(lambda x, c=c: scaled(c, x[0]), np.ones(1), detector=EVERYWHERE))
        for c in (np.float64(2.0), 2)
    ]
    assert second == [[set()], [{0}]]  # only the first was declared constant in its second argument


def test_a10_one_to_two():
    classify(sincos, "1-2", "fz")  # to see that the generated text is what counts
    exec(tracers.generate_code_1_to_2(classified, sincos), {})
    classify(sincos, "1-2", "ss")
    found = jacobian_sparsity(lambda x: sincos(x[0]), np.ones(1), detector=EVERYWHERE)
    assert rows(found) == [{0}, set()]


def test_a10_wrong_module():
    with pytest.raises(ValueError, match="sin of the module math is not this function"):
        tracers.generate_code_1_to_1("math", np.sin)


# --- A11: the tables of the libraries ------------------------------------------------------------


@pytest.mark.parametrize(("function", "count", "letters"), [
    (scipy.special.gammaln, 1, "s"), (scipy.special.expit, 1, "s"), (scipy.special.beta, 2, "ssc"),
    (scipy.special.xlogy, 2, "fsc"), (scipy.special.logit, 1, "s"), (np.deg2rad, 1, "f"),
    (scipy.special.jv, 2, "ssc"), (np.fabs, 1, "f"), (np.logaddexp, 2, "ssc"),
])
def test_a11_libraries(function, count, letters):
    assert [letters_of(one) for one in classifications_of(function, count)] == [letters]


@pytest.mark.parametrize("detector", [None, EVERYWHERE, HERE])
def test_compiled_code_that_is_classified_needs_no_rule(detector):
    erf = scipy.special.cython_special.erf

    def scaled_erf(x):
        return erf(x[0]) * x[1]

    with pytest.raises((UnsupportedError, TypeError)):
        jacobian_sparsity(scaled_erf, np.ones(2), detector=detector)
    classify(erf, "1-1", "s")
    assert rows(jacobian_sparsity(scaled_erf, np.ones(2), detector=detector)) == [{0, 1}]
    curved = hessian_sparsity(scaled_erf, np.ones(2), detector=detector)
    assert pairs(curved) == both_ways([(0, 0), (0, 1)])
