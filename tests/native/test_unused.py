"""Loops compute nothing that nobody reads, and copy nothing that is made to be returned."""

from __future__ import annotations

import numpy as np
import pytest

from adcompiler import hessian, jacfwd, sparse_hessian
from adcompiler.backends.native.passes.copies import without_last_copies
from adcompiler.backends.native.loops import (
    FLOAT, Assign, Binary, Bind, Body, Element, Extent, For, Leave, Make, Name, Number, Output,
    Part, Store, Use, When,
)
from adcompiler.backends.native.passes.unused import Needed, without_unused
from tests.native.test_arrays_agree import close

pytestmark = pytest.mark.usefixtures("plain_loops")

ZERO, N = Number(0), Extent("x", 0)
AT, J = Name("i"), Name("j")


def filling(buffer, value, place="i", stop=N):
    return For(place, ZERO, stop, Body([Store(buffer, (Name(place),), value)]))


def kept(rows, *outputs, visible=("x",)):
    given = [Output(one, FLOAT, 1) for one in outputs]
    body = Body(rows)
    return without_unused(body, Needed(body, visible, given)).rows


def copied(rows, *outputs, visible=("x",)):
    found, given = without_last_copies(
        Body(rows), visible, [Output(one, FLOAT, 1) for one in outputs])
    return found.rows, [one.value for one in given]


def test_what_nobody_reads_is_left_out() -> None:
    y, z = Make("y", (N,), FLOAT), Make("z", (N,), FLOAT)
    rows = [y, z, filling("y", Element("x", (AT,))), filling("z", Element("y", (AT,)))]
    assert kept(rows, "y") == [rows[0], rows[2]]
    assert kept(rows, "z") == rows
    assert kept(rows) == []


def test_tests_stay_with_what_they_read() -> None:
    y = [Make("y", (N,), FLOAT), filling("y", Element("x", (AT,)))]
    sums = [Assign("s", Element("y", (ZERO,))), Leave(Binary("<", Name("s"), ZERO))]
    assert kept([*y, *sums]) == [*y, *sums]
    assert kept([*y, Leave(Binary("<", Extent("y", 0), Number(3)))]) == [
        y[0], Leave(Binary("<", Extent("y", 0), Number(3)))]
    branch = When(Binary("<", Element("x", (ZERO,)), ZERO), Body([Assign("t", ZERO)]), Body([]))
    assert kept([branch]) == []
    inside = For("j", ZERO, N, Body([Leave(Binary("<", Element("x", (J,)), ZERO))]))
    assert kept([inside]) == [inside]


def test_lengths_alone_need_no_numbers() -> None:
    made = Make("y", (N,), FLOAT, Number(0.0))
    z = [Make("z", (Extent("y", 0),), FLOAT), filling("z", Number(1.0), stop=Extent("y", 0))]
    assert kept([made, filling("y", Element("x", (AT,))), *z], "z") == [
        Make("y", (N,), FLOAT), *z]


def test_other_names_of_storage_are_followed() -> None:
    rows = [
        Make("y", (N,), FLOAT, Number(0.0)), Part("p", "y", (None,)), Bind("q", "p"),
        filling("q", Element("x", (AT,))),
    ]
    assert kept(rows, "y") == rows
    assert kept(rows, "q") == rows
    assert kept([*rows, Make("z", (N,), FLOAT)], "z") == [Make("z", (N,), FLOAT)]


def test_arguments_may_be_written_into() -> None:
    rows = [Part("p", "x", (None,)), filling("p", Number(1.0))]
    assert kept(rows) == rows


def test_helpers_need_all_that_they_are_given() -> None:
    rows = [
        Make("y", (N,), FLOAT), filling("y", Element("x", (AT,))),
        Use("s", "total_sum", ("y",)), Assign("t", Binary("*", Name("s"), Number(2.0))),
    ]
    given = [Output(Name("t"), FLOAT)]
    body = Body(rows)
    assert without_unused(body, Needed(body, ["x"], given)).rows == rows
    assert kept(rows) == []


MADE = [Make("y", (N,), FLOAT), filling("y", Element("x", (AT,)))]
COPY = [Make("z", (N,), FLOAT), filling("z", Element("y", (AT,)))]


def test_a_copy_at_the_end_is_what_it_copies() -> None:
    assert copied([*MADE, *COPY], "z") == ([*MADE, Bind("z", "y")], ["y"])


@pytest.mark.parametrize(("rows", "outputs"), [
    ([*MADE, *COPY], ["z", "y"]),
    ([*MADE, *COPY, filling("y", Number(1.0))], ["z"]),
    ([*MADE, Bind("w", "y"), *COPY, filling("w", Number(1.0))], ["z"]),
    ([*MADE, Part("w", "y", (None,)), *COPY], ["z", "w"]),
    ([*MADE, Make("z", (N,), FLOAT), filling("z", Element("x", (AT,)))], ["z"]),
    ([*MADE, Make("z", (Number(3),), FLOAT), filling("z", Element("y", (AT,)), stop=Number(3))],
     ["z"]),
    ([*MADE, Make("z", (N,), FLOAT), filling("z", Element("y", (ZERO,)))], ["z"]),
    ([*MADE, Make("z", (N,), FLOAT, Number(0.0)),
      For("i", ZERO, N, Body([Store("z", (AT,), Element("y", (AT,)), True)]))], ["z"]),
    ([*MADE, Make("y", (N,), FLOAT), *COPY], ["z"]),
    ([For("k", ZERO, Number(2), Body(MADE)), *COPY], ["z"]),
    ([*MADE, *COPY, *COPY], ["z"]),
], ids=range(11))
def test_other_copies_stay(rows, outputs) -> None:
    assert copied(rows, *outputs) == (rows, outputs)


def test_two_copies_of_one_array_stay_apart() -> None:
    other = [Make("w", (N,), FLOAT), filling("w", Element("y", (AT,)))]
    rows, outputs = copied([*MADE, *COPY, *other], "z", "w")
    assert (rows, outputs) == ([*MADE, *COPY, Bind("w", "y")], ["z", "y"])


def energy(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def in_slices(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


X = np.linspace(0.3, 1.2, 9)


@pytest.mark.parametrize("program", [energy, in_slices], ids=["loop", "slices"])
def test_second_derivatives_come_without_the_gradient(program) -> None:
    native = hessian(program, backend="native")
    assert close(native(X), hessian(program)(X))
    loops = native.source_for(X).partition("_loops_together(")[2]
    assert "x_bar_dot[" in loops or "part" in loops
    assert "x_bar[" not in loops.replace("x_bar[:-1]", "").replace("x_bar[1:]", "")
    assert loops.count("np.empty((x.shape[0], x_dot.shape[1]))") == 0  # nothing is copied
    assert "return True, x_bar_dot" in loops


def test_what_raises_raises_without_the_value() -> None:
    def inverse(x):
        total = 0.0
        for i in range(len(x)):
            total += 1.0 / x[i]
        return total

    at = np.array([1.0, 0.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    found = []
    for backend in ("python", "native"):
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError) as raised:
            hessian(inverse, backend=backend)(at)
        found.append(str(raised.value))
        sparse = sparse_hessian(inverse, backend=backend)
        assert np.allclose(sparse(X).toarray(), np.diag(2.0 / X**3))
    assert found[0] == found[1]


def test_results_of_one_call_are_not_those_of_the_next() -> None:
    for make in (jacfwd, hessian):
        program = energy if make is hessian else np.sin
        native = make(lambda x, f=program: f(x), backend="native")
        first = native(X)
        expected = first.copy()
        native(2.0 * X)[...] = np.nan
        assert np.array_equal(first, expected)
        assert np.array_equal(native(X), expected)
