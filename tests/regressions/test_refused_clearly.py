"""What cannot be is said in one line: rules of wrong shape, patterns inside, what holds itself."""

from __future__ import annotations

import numpy as np
import pytest

import adcompiler
from adcompiler import UnsupportedError, grad, jacfwd, jvp, vjp
from adcompiler.ops.registry import REGISTRY


def summed(x):
    return np.sum(x)


def doubled(x):
    return 2.0 * x


def tripled(x):
    return 3.0 * x


RULES = {
    summed: lambda primals, tangents: (np.sum(primals[0]), tangents[0]),
    doubled: lambda primals, tangents: (2.0 * primals[0], np.sum(tangents[0])),
    tripled: lambda primals, tangents: (3.0 * primals[0], 3.0 * tangents[0]),
}


@pytest.fixture
def forward_rules():
    for function, rule in RULES.items():
        adcompiler.frule(function)(rule)
    yield
    for function in RULES:
        REGISTRY.remove(function)


@pytest.mark.usefixtures("forward_rules")
def test_the_shape_of_the_tangent_of_a_forward_rule_is_checked():
    for f in (summed, doubled):
        with pytest.raises(ValueError, match=f"the forward rule of {f.__name__} gives a tangent"):
            jvp(f, (np.ones(3),), (np.ones(3),))
        with pytest.raises(ValueError, match="gives a tangent of shape"):
            jacfwd(f)(np.ones(3))
    assert np.array_equal(jvp(tripled, (np.ones(2),), (np.ones(2),))[1], [3.0, 3.0])
    assert np.array_equal(jacfwd(tripled)(np.ones(2)), 3.0 * np.eye(2))


def totalled(x):
    return np.sum(x * x)


def row(dy):
    return np.ones((1, 3)) * dy


def column(dy):
    return np.ones((3, 1)) * dy


def longer(dy):
    return np.ones(5) * dy


def number(dy):
    return 2.0 * dy


@pytest.mark.parametrize("pullback", [row, column, longer, number])
def test_the_shape_of_a_cotangent_is_checked_in_forward_mode_too(pullback):
    adcompiler.rrule(totalled)(lambda x: (np.sum(x * x), pullback))
    x = np.ones(3)
    try:
        for call in (
            lambda: grad(lambda x: totalled(x) * 2.0)(x), lambda: vjp(totalled, x)[1](1.0),
            lambda: jvp(totalled, (x,), (x,)), lambda: jacfwd(lambda x: totalled(x) * 2.0)(x),
            lambda: adcompiler.linearize(totalled, x)[1](x),
        ):
            with pytest.raises(adcompiler.ADError, match="gives a cotangent of shape"):
                call()
    finally:
        REGISTRY.remove(totalled)


def with_jacobian_pattern(x):
    pattern = adcompiler.jacobian_sparsity(lambda v: v * v, x)
    return np.sum(x * pattern.nnz)


def with_hessian_pattern(x):
    pattern = adcompiler.hessian_sparsity(lambda v: np.sum(v * v), x)
    return np.sum(x * pattern.nnz)


@pytest.mark.parametrize("f", [with_jacobian_pattern, with_hessian_pattern])
def test_patterns_are_detected_outside_of_what_is_differentiated(f):
    with pytest.raises(UnsupportedError, match="inside of a function that is compiled"):
        grad(f)(np.ones(3))


def test_a_container_that_contains_itself_is_refused():
    items = [1.0]
    items.append(items)
    table = {"a": 1.0}
    table["itself"] = table
    for value in (items, table, (items, 2), [1, items], {"b": [table]}):
        with pytest.raises(TypeError, match="which contains itself"):
            grad(lambda v, x: x, argnums=(0, 1))(value, 2.0)
        with pytest.raises(TypeError, match="which contains itself"):
            vjp(lambda v, x: x, value, 2.0)
        assert grad(lambda v, x: x * x, argnums=1)(value, 2.0) == 4.0


def test_the_line_that_is_told_is_the_users():
    def f(x):
        return np.sum(x.view(np.int64).view(float))

    with pytest.raises(UnsupportedError) as found:
        grad(f)(np.ones(3))
    (finding,) = found.value.findings
    assert finding.file == __file__
    assert "x.view(np.int64)" in finding.text


def test_a_view_of_a_view_lies_as_what_it_is_of():
    x = np.array([1.0 + 2.0j, 3.0 - 1.0j])
    _, pullback = vjp(lambda z: np.sum(z.view(float).view(complex).real), x)
    np.testing.assert_array_equal(pullback(1.0)[0], [1.0, 1.0])
