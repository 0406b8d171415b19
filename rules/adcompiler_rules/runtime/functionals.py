"""Loops with checkpoints, and what is known of the calls that rules for such functions write."""

import math

from adcompiler.rulekit import (
    copied, frule, function_of, implied, non_differentiable, passive, replacement, rrule, steady,
    typed,
)
from adcompiler.runtime.checkpoints import (
    checkpoint_loop, following, recomputed, revolve_forward, revolve_pullback,
)
from adcompiler.runtime.functionals import chosen, closed, halves, hessian_product, symmetric

non_differentiable(closed, halves, passive, revolve_forward, revolve_pullback)


@rrule(symmetric, wrt="*args")
def symmetric_rule(value, primal, active, wanted, single, *args):
    def pullback(dy):
        return hessian_product(primal, active, wanted, (dy,) if single else dy, args)

    return value, pullback


@frule(symmetric)
def symmetric_forward(primals, tangents):
    value, primal, _, wanted, single, *args = primals
    slopes = hessian_product(primal, wanted, None, tangents[5:], args)
    return value, chosen(slopes, wanted[0] if single else wanted)


@replacement(checkpoint_loop)
def checkpoint_loop_(
    step, state, n, *, every=None, slots=None, memory_limit=None, indexed=False
):
    def f(state, i):
        state = copied(state)  # it may be written into, and the step runs again
        return following(step(state, i) if indexed else step(state))

    if slots is not None or memory_limit is not None:
        return revolved(f, state, n, slots, memory_limit)
    length = math.isqrt(max(n - 1, 0)) + 1 if every is None else every
    return in_blocks(f, state, n, length)


def in_blocks(step, state, n, every):
    for start in range(0, n, every):
        state = recomputed(block, step, state, start, min(start + every, n))
    return state


def block(step, state, start, stop):
    for i in range(start, stop):
        state = step(state, i)
    return state


def revolved(step, state, n, slots, memory_limit):
    state = steady(step, state, 0)
    run = function_of(step, (state, 0), ())
    found = revolve_forward(run, state, n, slots, memory_limit)
    final = typed(found[0], state)
    return implied(
        revolve_pullback, step, (state, 0), (), final, operands=(state, n, found[1], found[2]),
        active=(True, False),
    )
