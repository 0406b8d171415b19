"""Calls of external functions: a copy of the object keeps what its adjoint needs.

The adjoint of a call is linear in the cotangent, and its own adjoint is the tangent of the call.
"""

from dataclasses import replace

import numpy as np

from adcompiler.rulekit import REGISTRY, alias, call, frule, non_differentiable, rrule
from adcompiler.runtime import project, zeros_like
from adcompiler.runtime.checking import check_shape
from adcompiler.runtime.external import (
    ExternalFunction, call_external, external, external_adjoint, external_by_jac,
    external_by_vjp, external_call, external_of_three_by_vjp, external_of_two_by_vjp,
    external_tangent, external_value,
)


non_differentiable(external_call, pure=False)
alias(ExternalFunction.__call__, call_external)


def _scaled():
    return external(lambda a, b: a * b, vjp=lambda y_bar, a, b: ((y_bar * b).sum(), y_bar * a))


def _calls(rng):
    return [call(_scaled(), 1.5, rng.normal(size=3)), call(_scaled(), 2.0, rng.normal(size=2))]


@rrule(call_external, wrt=("x",), domain=_calls)
def call_external_rule(function, *x):
    token = external_call(function, x)
    y = external_value(token, x)

    def call_external_pullback(dy):
        return external_adjoint(token, dy, x)

    return y, call_external_pullback


def call_external_forward(primals, tangents):
    x = primals[1:]
    token = external_call(primals[0], x)
    return external_value(token, x), external_tangent(token, x, tangents[1:])


_RULE = REGISTRY.find(call_external)
assert _RULE is not None
REGISTRY.add(replace(_RULE, forward=call_external_forward))


def _value_calls(rng):
    constant = external(lambda x: 2.5, vjp=lambda y_bar, x: 0.0 * x)  # a call has only one value
    x = (rng.normal(size=3),)
    return [call(external_call(constant, x), x)]


@rrule(external_value, wrt=("x",), domain=_value_calls)
def external_value_rule(token, x):
    def external_value_pullback(dy):
        return external_adjoint(token, dy, x)

    return external_value(token, x), external_value_pullback


def _adjoint_calls(rng):
    x = (1.5, rng.normal(size=3))
    return [call(external_call(_scaled(), x), rng.normal(size=3), x)]


@rrule(
    external_adjoint, wrt=("y_bar",), templates=("token", "x"), linear=(1,), domain=_adjoint_calls
)
def external_adjoint_rule(token, y_bar, x):
    def external_adjoint_pullback(dx):
        return project(external_tangent(token, x, dx), y_bar)

    return external_adjoint(token, y_bar, x), external_adjoint_pullback


def _tangent_calls(rng):
    x = (1.5, rng.normal(size=3))
    return [call(external_call(_scaled(), x), x, (rng.normal(), rng.normal(size=3)))]


@rrule(
    external_tangent, wrt=("x_dot",), templates=("token", "x"), linear=(2,), domain=_tangent_calls
)
def external_tangent_rule(token, x, x_dot):
    def external_tangent_pullback(dy):
        return external_adjoint(token, dy, x_dot)

    return external_tangent(token, x, x_dot), external_tangent_pullback


# -- derivatives that are compiled, for second ones ------------------------------------------------

DERIVATIVE = "the derivative of an external function"


def _pull_one(y_bar, x):
    return y_bar * 2.0 * x


def _calls_of_one(derivative):
    def calls(rng):
        squared = external(lambda x: x * x, vjp=_pull_one)
        return [call(squared, derivative, (), x) for x in (rng.normal(size=3), 1.5)]

    return calls


def _calls_of_three(rng):
    product = external(lambda a, b, c: a * b * c, vjp=_pull_three)
    return [call(product, _pull_three, (), 1.5, 2.0, 0.5)]


def _pull_three(y_bar, a, b, c):
    return y_bar * b * c, y_bar * a * c, y_bar * a * b


def _pull(y_bar, a, b):
    return np.sum(y_bar * b), y_bar * a


def _jac(a, b):
    return b, a * np.eye(len(b))


def _compiled_calls(derivative):
    def calls(rng):
        return [call(_scaled(), derivative, (), 1.5, rng.normal(size=3))]

    return calls


@rrule(external_by_vjp, wrt=("filled", "x"), domain=_calls_of_one(_pull_one))
def external_by_vjp_rule(function, pull, filled, x):
    def external_by_vjp_pullback(dy):
        dx = pull(dy, x)
        check_shape(dx, np.shape(x), DERIVATIVE)
        return None, project(dx, x)

    return external_by_vjp(function, pull, filled, x), external_by_vjp_pullback


@rrule(external_of_two_by_vjp, wrt=("filled", "a", "b"), domain=_compiled_calls(_pull))
def external_of_two_by_vjp_rule(function, pull, filled, a, b):
    def external_of_two_by_vjp_pullback(dy):
        da, db = pull(dy, a, b)
        check_shape(da, np.shape(a), DERIVATIVE)
        check_shape(db, np.shape(b), DERIVATIVE)
        return None, project(da, a), project(db, b)

    return external_of_two_by_vjp(function, pull, filled, a, b), external_of_two_by_vjp_pullback


@rrule(external_of_three_by_vjp, wrt=("filled", "a", "b", "c"), domain=_calls_of_three)
def external_of_three_by_vjp_rule(function, pull, filled, a, b, c):
    def external_of_three_by_vjp_pullback(dy):
        da, db, dc = pull(dy, a, b, c)
        check_shape(da, np.shape(a), DERIVATIVE)
        check_shape(db, np.shape(b), DERIVATIVE)
        check_shape(dc, np.shape(c), DERIVATIVE)
        return None, project(da, a), project(db, b), project(dc, c)

    y = external_of_three_by_vjp(function, pull, filled, a, b, c)
    return y, external_of_three_by_vjp_pullback


@rrule(external_by_jac, wrt=("filled", "x"), domain=_compiled_calls(_jac))
def external_by_jac_rule(function, jac, filled, *x):
    def external_by_jac_pullback(dy):
        rows = zip(rows_of(jac, x), x, strict=True)
        return None, tuple(contracted_with(dy, row, value) for row, value in rows)

    return external_by_jac(function, jac, filled, *x), external_by_jac_pullback


@frule(external_by_jac)
def external_by_jac_forward(primals, tangents):
    function, jac, filled, *x = primals
    y = external_by_jac(function, jac, filled, *x)
    dots = given_tangents(x, tangents[3:])
    y_dot = sum(along_row(row, dot, y) for row, dot in zip(rows_of(jac, x), dots, strict=True))
    return y, project(y_dot, y)


def rows_of(jac, x):
    """Return the Jacobians in all arguments as a tuple."""
    rows = jac(*x)
    return (rows,) if len(x) == 1 else rows


def contracted_with(dy, row, value):
    """Return what the conjugate transpose of a Jacobian makes of a cotangent."""
    if row is None:
        return None
    flat = np.reshape(np.conj(row), (np.size(dy), np.size(value)))
    return project(np.reshape(np.reshape(dy, np.size(dy)) @ flat, np.shape(value)), value)


def along_row(row, dot, y):
    """Return what a Jacobian makes of a tangent."""
    if row is None:
        return 0.0
    flat = np.reshape(row, (np.size(y), np.size(dot)))
    return np.reshape(flat @ np.reshape(dot, np.size(dot)), np.shape(y))


def given_tangents(x, tangents):
    """Return tangents with zeros where there is none."""
    return tuple(
        zeros_like(value) if dot is None else dot for value, dot in zip(x, tangents, strict=True))
