"""Other derivatives than gradients: loops give what Python gives, at each of many seeds too."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

from adcompiler import derivative, hessian, hvp, jacfwd, jacobian, jacrev, jvp, vjp
from adcompiler.api.emitted import EmittedDerivative
from adcompiler.dispatch import Options
from adcompiler.dispatch.trees import map_tree, unit_batches
from adcompiler.errors import UnsupportedError
from tests.corpus.test_corpus import PROGRAMS
from tests.lanes import one_in
from tests.native.programs import rosenbrock
from tests.native.test_arrays_agree import close
from tests.native.test_backends_agree import outcome

pytestmark = pytest.mark.usefixtures("plain_loops")


def chained(x, n):
    y = x.copy()
    for i in range(n):
        for j in range(1, len(y)):
            y[j] = math.sin(y[j - 1]) * y[j] + i / x[0]
    return y


def both(x, s):
    total = s
    for i in range(len(x)):
        total = total * s + math.cos(i * s)
    return total, [total * s, s], x * s


X = np.linspace(0.2, 1.0, 5)


def test_pushforwards_and_pullbacks() -> None:
    d = np.arange(5.0)
    assert close(jvp(chained, (X, 3), (d, None), backend="native"), jvp(chained, (X, 3), (d, None)))
    value, pullback = vjp(chained, X, 3, argnums=0, backend="native")
    expected, other = vjp(chained, X, 3, argnums=0)
    assert np.array_equal(value, expected)
    kept = X.copy()
    for seed in (d, np.ones(5), np.ones(5, int), 2.0 * d):
        assert np.array_equal(pullback(seed), other(seed))
    assert np.array_equal(X, kept)


def test_a_pullback_is_that_of_the_arguments_as_they_were() -> None:
    x = X.copy()
    _, pullback = vjp(chained, x, 3, argnums=0, backend="native")
    x[:] = 7.0
    assert np.array_equal(pullback(np.ones(5)), vjp(chained, X, 3, argnums=0)[1](np.ones(5)))


def test_tuples_and_lists_as_results() -> None:
    value, pullback = vjp(both, X, 0.5, backend="native")
    expected, other = vjp(both, X, 0.5)
    assert close(value, expected)
    seed = (1.0, [2.0, 3.0], np.ones(5))
    assert close(pullback(seed), other(seed))
    along = (np.ones(5), 2.0)
    assert close(jvp(both, (X, 0.5), along, backend="native"), jvp(both, (X, 0.5), along))


@pytest.mark.parametrize("make", [jacobian, jacfwd, jacrev], ids=lambda make: make.__name__)
def test_jacobians(make: Any) -> None:
    assert close(make(chained, backend="native")(X, 3), make(chained)(X, 3))
    assert make(chained, backend="native")(X[:0], 0).shape == (0, 0)


def test_second_derivatives() -> None:
    for mode in ("fwd_adj", "adj_adj"):
        got = hessian(rosenbrock, mode=mode, backend="native")(X)
        assert close(got, hessian(rosenbrock, mode=mode)(X))
    assert close(hvp(rosenbrock, X, X, backend="native"), hvp(rosenbrock, X, X))


def test_derivative_of_a_number() -> None:
    def power(x):
        y = 1.0
        for i in range(5):
            y = y * x + math.cos(i * x)
        return y

    assert derivative(power, backend="native")(0.7) == derivative(power)(0.7)


@pytest.mark.parametrize("x", [np.zeros(3), np.array([np.inf, 1.0]), np.ones(0)])
def test_what_goes_wrong_goes_wrong_as_in_python(x: Any) -> None:
    def native(x: Any) -> Any:
        return vjp(chained, x, 2, argnums=0, backend="native")[1](np.ones(len(x)))

    def python(x: Any) -> Any:
        return vjp(chained, x, 2, argnums=0)[1](np.ones(len(x)))

    got, expected = outcome(native, x), outcome(python, x)
    assert close(got, expected) if isinstance(expected, np.ndarray) else got == expected


def seeds_for(value: Any, batched: bool) -> Any:
    """Return one seed of a value, or some."""
    if batched:
        return next(iter(unit_batches(value, 4)))
    rng = np.random.default_rng(1)
    return map_tree(lambda leaf: rng.standard_normal(np.shape(leaf)) if np.ndim(leaf) else
                    float(rng.standard_normal()), value)


def given_by(program: Any, mode: str, batched: bool, backend: str) -> Any:
    """Return what a derivative of a program of the corpus gives for some seeds."""
    argnums = program.argnums if isinstance(program.argnums, tuple) else (program.argnums,)
    args = program.samples(np.random.default_rng(0))
    options = Options(mode, argnums, batched=batched, backend=backend)
    made = EmittedDerivative(program.function, options)
    if mode == "vjp":
        value, pullback = made(*args)
        return value, pullback(seeds_for(value, batched))
    values = made.differentiated(*copy.deepcopy(args))
    return made(*args)(*seeds_for(values, batched))


@pytest.mark.parametrize("mode", one_in(2, ["forward", "vjp"]))
@pytest.mark.parametrize("batched", one_in(2, [False, True]))
def test_programs_of_the_corpus(mode: str, batched: bool) -> None:
    ran = 0
    for program in PROGRAMS[3 if batched else 0 :: 16]:
        try:
            got = given_by(program, mode, batched, "native")
        except UnsupportedError as error:
            assert {finding.anchor for finding in error.findings} == {"native"}
            continue
        assert close(got, given_by(program, mode, batched, "python")), program.function.__name__
        ran += 1
    assert ran >= 6
