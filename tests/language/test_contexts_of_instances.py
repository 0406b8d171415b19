"""Context managers of the program's own whose methods compute what is differentiated."""

import math

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, hessian, jvp
from tests.lanes import one_in
from tests.language.modes import agrees_in_every_mode, differences

pytestmark = pytest.mark.records
V = np.array([0.7, 1.3, 0.4, 1.9])


class Tape:
    def __init__(self, x):
        self.x = x
        self.log = []

    def __enter__(self):
        self.x = self.x * 2.0
        return self

    def __exit__(self, kind, error, traceback):
        self.x = self.x**2
        return False

    def add(self, v):
        self.x = self.x + v * self.x
        self.log.append(v)


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def __enter__(self):
        return self.factor * self.factor

    def __exit__(self, *exception):
        pass


class Noted(Scaled):
    def __init__(self, factor, swallow=False):
        super().__init__(factor)
        self.swallow = swallow

    def __exit__(self, kind, error, traceback):
        print("left", kind.__name__ if kind else None)
        return self.swallow


def value_of_the_context(v):
    with Scaled(v[0]) as c, Scaled(v[1]) as d:
        y = c * v[2] + d * c
    return y * c


def itself(v):
    with Tape(v[0]) as c:
        c.add(v[1])
        y = c.x * v[2]
    return y * c.x


def one_made_before(v):
    tape = Tape(v[0])
    with tape as u:
        u.add(v[1])
        u.add(v[2])
    with tape:
        tape.add(v[3])
    return tape.x * u.x + sum(u.log)


def in_a_loop(v):
    tape = Tape(v[0])
    for x in v:
        with tape as u:
            u.add(0.1 * x)
            if x > 1.5:
                break
            tape.x = tape.x * 0.5
    return tape.x * 0.1


def left_by_return(v):
    tape = Tape(v[0])

    def run():
        with tape:
            for x in v:
                if x > 1.0:
                    return x * tape.x
        return 0.0

    return run() + tape.x


def caught_around_it(v):
    tape = Tape(v[0])
    total = 0.0
    for x in v:
        try:
            with Scaled(x) as square:
                y = math.log(x - 0.5) * square
        except ValueError:
            y = x * tape.x
        total = total + y
    return total


@pytest.mark.parametrize("function", one_in(2, [
    value_of_the_context, itself, one_made_before, in_a_loop, left_by_return, caught_around_it,
]), ids=lambda function: function.__name__)
def test_derivatives_go_through_the_methods_of_contexts(function):
    wanted = differences(function, V)
    np.testing.assert_allclose(grad(function)(V), wanted, rtol=1e-7, atol=1e-8)
    direction = np.array([0.5, -1.0, 0.25, 2.0])
    np.testing.assert_allclose(jvp(function, (V,), (direction,))[1], wanted @ direction, rtol=1e-7)
    np.testing.assert_allclose(
        hessian(function)(V), differences(grad(function), V), rtol=1e-5, atol=1e-6)


def test_recordings():
    agrees_in_every_mode(value_of_the_context, V, (), pattern=False)


def noted(x):
    with Noted(x) as square:
        y = math.log(x) * square
    return y


def test_what_is_left_by_an_exception_is_left_as_in_python(capsys):
    assert abs(grad(noted)(2.0) - (4.0 * math.log(2.0) + 2.0)) < 1e-12
    assert capsys.readouterr().out == "left None\n"
    with pytest.raises(ValueError, match="math domain error"):
        grad(noted)(-1.0)
    assert capsys.readouterr().out == "left ValueError\n"


def test_a_context_that_swallows():
    def swallows(x):
        y = x
        with Noted(x, swallow=True) as square:
            y = math.log(x) * square
        return y

    assert abs(grad(swallows)(2.0) - (4.0 * math.log(2.0) + 2.0)) < 1e-12
    assert grad(swallows)(-1.0) == 1.0


LEFT = []


class Noting(Tape):
    def __exit__(self, kind, error, traceback):
        LEFT.append(kind)
        self.x = self.x**2


def noting(v):
    tape = Noting(v[0])
    with tape:
        y = v[1] * v[2]
    return tape.x * y


def test_what_methods_compute_beside_writes_outside_is_never_lost(monkeypatch):
    np.testing.assert_allclose(grad(noting)(V), differences(noting, V), rtol=1e-7)
    monkeypatch.setenv("ADCOMPILER_RECORD", "0")
    with pytest.raises(UnsupportedError, match="the methods of this context"):
        grad(lambda v: noting(v) * 1.0)(V)


class Counted:
    def __init__(self, number):
        self.number = number

    def __enter__(self):
        self.number += 1

    def __exit__(self, *exception):
        self.number *= 2


class Quiet:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        LEFT.append(self.name)


def test_contexts_that_only_read_their_instance_are_compiled(monkeypatch):
    def quiet(x):
        with Quiet("inner") as context:
            y = x * x
        return y * len(context.name)

    monkeypatch.setenv("ADCOMPILER_RECORD", "0")
    assert grad(quiet)(1.5) == 15.0


class CountedByMethods(Counted):
    def __enter__(self):
        self.moved()

    def moved(self):
        self.number += 1


class CountedByFunctions(Counted):
    def __enter__(self):
        setattr(self, "number", self.number + 1)  # noqa: B010


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("kind", [Counted, CountedByMethods, CountedByFunctions])
def test_integers_that_methods_change(kind, given):
    def power(x, counted):
        counted = counted if given else kind(1)
        with counted:
            y = x**counted.number
        return y * counted.number

    assert power(0.7, kind(1)) == 4.0 * 0.7**2
    assert grad(power)(0.7, kind(1)) == 8.0 * 0.7


def exit_writes_what_is_read_behind_a_handler(v):
    tape = Tape(v[0])
    try:
        with tape:
            math.log(-v[1])
    except ValueError:
        pass
    return tape.x


def test_what_a_context_writes_when_it_raises_is_never_lost():
    wanted = differences(exit_writes_what_is_read_behind_a_handler, V)
    found = grad(exit_writes_what_is_read_behind_a_handler)(V)
    np.testing.assert_allclose(found, wanted, rtol=1e-7)
