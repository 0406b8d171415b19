"""Calls of external functions: a copy of the object keeps what its adjoint needs.

The adjoint of a call is linear in the cotangent, and its own adjoint is the tangent of the call.
"""

from dataclasses import replace

from adcompiler.rulekit import REGISTRY, alias, call, non_differentiable, rrule
from adcompiler.runtime import project
from adcompiler.runtime.external import (
    ExternalFunction, call_external, external, external_adjoint, external_call, external_tangent,
    external_value,
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
