"""Checks derivatives of functions of one number that change what they reach, in all modes."""

import numpy as np

from adcompiler import ADError, InternalError, grad, hessian, jvp, linearize, value_and_grad, vjp
from tests.state import World, check_state

STEP = 1e-6


def value_at(f, x, args):
    """Return the value of a function that is run on what it reaches as that is now."""
    world = World((f, None), args)
    try:
        return float(f(x, *args))
    finally:
        world.restore()


def of_vjp(f):
    def both(x, *args):
        value, pullback = vjp(f, x, *args)
        first, second = (np.atleast_1d(np.asarray(first_of(pullback(1.0)))) for _ in range(2))
        np.testing.assert_array_equal(first, second)
        return value, first[0]

    return both


def first_of(cotangents):
    return cotangents[0] if isinstance(cotangents, tuple) else cotangents


def of_jvp(f):
    return lambda x, *args: jvp(f, (x, *args), (1.0, *[None] * len(args)))


def of_linearize(f):
    def both(x, *args):
        value, push = linearize(f, x, *args, argnums=0)
        return value, push(1.0)

    return both


MODES = (
    ("grad", lambda f: lambda x, *args: (None, grad(f)(x, *args)), True),
    ("value_and_grad", value_and_grad, True), ("vjp", of_vjp, False), ("jvp", of_jvp, False),
    ("linearize", of_linearize, False),
)


def check_modes(f, x=0.7, args=(), hessians=False, watched=None):
    """Check value, derivative and the state left, in each mode; the Hessian may be refused.

    ``watched`` are other names of objects that the function reaches.
    """
    up, down = (value_at(f, x + step, args) for step in (STEP, -STEP))
    slope, value = (up - down) / (2 * STEP), value_at(f, x, args)
    for name, made, leaves_args in MODES:
        found, derivative = check_state(f, made(f), (x, *args), leaves_args, watched)
        shown = f"{f.__name__}, {name}"
        np.testing.assert_allclose(derivative, slope, rtol=1e-6, atol=1e-7, err_msg=shown)
        if found is not None:
            np.testing.assert_allclose(found, value, err_msg=shown)
    h = 1e-4
    curve = (value_at(f, x + h, args) - 2 * value + value_at(f, x - h, args)) / h**2
    try:
        second = check_state(f, hessian(f), (x, *args), True, watched)
    except ADError as error:
        assert not isinstance(error, InternalError) and not hessians, f.__name__
    else:
        np.testing.assert_allclose(second, curve, rtol=1e-4, atol=1e-5, err_msg=f.__name__)


def check_refused(f, x=0.7, args=(), match="", modes=()):
    """Check that each mode, or each of ``modes``, refuses a function and leaves all as it was."""
    for name, made, _ in MODES:
        if modes and name not in modes:
            continue
        world = World((f, None), (x, *args))
        before = world.picture()
        try:
            made(f)(x, *args)
        except ADError as error:
            assert not isinstance(error, InternalError), (f.__name__, name, error)
            assert match in str(error), (f.__name__, name, error)
        else:
            raise AssertionError(f"{f.__name__}, {name}: not refused")
        after = world.picture()
        assert before.keys() == after.keys(), f.__name__
