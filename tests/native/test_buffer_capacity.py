"""How long tapes are when they are made."""

from __future__ import annotations

import numpy as np
import pytest

from adcompiler import grad
from adcompiler.backends.native.loops import (
    FLOAT, Assign, Binary, Body, For, Make, Name, Number, Reserve, Store,
)
from adcompiler.backends.native.passes.buffer_capacity import ROOM, with_room, with_rooms_ahead
from tests.native.test_lazy_arrays import loops_of

pytestmark = pytest.mark.usefixtures("plain_loops")


TOP, ONE = Name("top"), Number(1)
OPENING = Body([Assign("top", Number(0)), Make("tape", (Number(0),), FLOAT)])
RESERVE = Reserve("tape", Binary("+", TOP, Name("n")))
FILL = For("i", Number(0), Name("n"), Body([
    Store("tape", (TOP,), Number(1.0)), Assign("top", Binary("+", TOP, ONE))]))


def test_a_tape_that_one_loop_fills_is_made_in_front_of_it() -> None:
    made, rows = with_room(OPENING, Body([RESERVE, FILL]))
    assert made == [OPENING.rows[0]]
    assert rows == [Make("tape", (Name("n"),), FLOAT), FILL]


def test_a_tape_that_grows_has_room_at_first() -> None:
    inside = For("j", Number(0), Name("n"), Body([RESERVE, FILL]))
    made, rows = with_room(OPENING, Body([inside]))
    assert made == [OPENING.rows[0], Make("tape", (ROOM,), FLOAT)]
    assert rows == [inside]


def test_a_tape_with_something_on_it_is_not_made_anew() -> None:
    made, rows = with_room(OPENING, Body([Assign("top", ONE), RESERVE, FILL]))
    assert made[1:] == [Make("tape", (ROOM,), FLOAT)]
    assert rows[1] == RESERVE


def powers(x, n):
    total = 0.0
    for i in range(n):
        y = x
        for _ in range(i):
            y = y * x + 0.1 * y
        total += y
    return total


@pytest.mark.parametrize("n", [0, 1, 3, 40])
def test_loops_inside_of_loops_keep_what_they_need(n: int) -> None:
    assert "np.empty(64)" in loops_of(powers, 0.5, n)
    assert grad(powers, backend="native")(0.5, n) == grad(powers)(0.5, n)
    assert np.isfinite(grad(powers, backend="native")(0.5, n))


def test_a_tape_that_grows_has_room_for_the_iterations_to_come() -> None:
    inner = For("j", Number(0), Name("m"), Body([RESERVE, FILL]))
    outer = For("i", Number(0), Name("k"), Body([inner]), down=True)
    (row, *_) = with_rooms_ahead(Body([outer])).rows[0].body.rows[0].body.rows
    times = Binary("*", Binary("*", Name("n"), Binary("-", Name("i"), Number(0))),
                   Binary("-", Name("m"), Name("j")))
    assert row == Reserve("tape", RESERVE.size, times)
    assert with_rooms_ahead(Body([RESERVE])).rows == [RESERVE]


def test_rows_of_a_loop_are_kept_without_growing_tapes_again_and_again() -> None:
    def steps(u, n):
        for _ in range(n):
            v = np.zeros_like(u)
            for i in range(len(u)):
                v[i] = u[i] * u[i] * 0.5
            u = v
        return np.sum(u)

    found = grad(steps, backend="native").compiled_for(np.ones(50), 40).__globals__
    grown, run = [], found["reserved"]
    found["reserved"] = lambda tape, size, ahead: grown.append(size) or run(tape, size, ahead)
    assert np.allclose(found["steps_grad_native"](np.ones(50), 3), grad(steps)(np.ones(50), 3))
    grown.clear()
    found["steps_grad_native"](np.ones(50), 40)
    assert len(grown) <= 2
