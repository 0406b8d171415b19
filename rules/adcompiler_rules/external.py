"""Calls of external functions: a copy of the object keeps what its adjoint needs."""

from adcompiler.rulekit import alias, call, non_differentiable, rrule
from adcompiler.runtime.external import (
    ExternalFunction, call_external, external, external_adjoint, external_forward,
)

non_differentiable(external_forward, pure=False)
non_differentiable(external_adjoint)
alias(ExternalFunction.__call__, call_external)


def _calls(rng):
    scaled = external(lambda a, b: a * b, vjp=lambda y_bar, a, b: ((y_bar * b).sum(), y_bar * a))
    return [call(scaled, 1.5, rng.normal(size=3)), call(scaled, rng.normal(), rng.normal(size=2))]


@rrule(call_external, wrt=("x",), domain=_calls)
def call_external_rule(function, *x):
    y, token = external_forward(function, x)

    def call_external_pullback(dy):
        return external_adjoint(token, dy, x)

    return y, call_external_pullback
