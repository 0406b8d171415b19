"""What no seed decides runs once, in front of the loop over seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import jacfwd, sparse_hessian
from adcompiler.api.emitted import EmittedDerivative
from adcompiler.backends.native.loops import (
    FLOAT, Assign, Binary, Bind, Body, Element, Extent, For, Leave, Make, Name, Note, Number, Part,
    Reserve, Store,
)
from adcompiler.backends.native.passes.seed_axis import SeedAxis
from adcompiler.backends.native.passes.loop_invariants import in_front
from adcompiler.backends.native.writer import Writer
from adcompiler.dispatch import Options
from tests.native.test_arrays_agree import close

pytestmark = pytest.mark.usefixtures("plain_loops")

ZERO, N = Number(0), Extent("x", 0)
AT, SEED = Name("i"), Name("seed")


def parted(*rows: Any) -> tuple[list[Any], list[Any]]:
    axis = SeedAxis(Writer(), Number(3), ["seed", "x_dot"], ())
    axis.find(Body(list(rows)))
    return in_front(axis, rows)


def filling(buffer: str, value: Any) -> For:
    return For("i", ZERO, N, Body([Store(buffer, (AT,), value)]))


def test_what_no_seed_decides_goes_in_front() -> None:
    y = [Make("y", (N,), FLOAT), filling("y", Element("x", (AT,)))]
    of_seed = Part("x_dot_of_seed", "x_dot", (SEED,))
    k = (Name("k"),)
    z = [Make("z", (N,), FLOAT), For("k", ZERO, N, Body([Store("z", k, Binary(
        "*", Element("y", k), Element("x_dot_of_seed", k)))]))]
    test = Leave(Binary("<", Element("y", (ZERO,)), ZERO))
    assert parted(of_seed, *y, *z, test) == ([*y, test], [of_seed, *z])


def test_comments_go_with_what_they_are_of() -> None:
    a, b = Note("a"), Note("b")
    one, two = Assign("s", Number(1.0)), Assign("t", Element("x_dot", (SEED, ZERO)))
    assert parted(a, two, b, one) == ([b, one], [a, two])
    assert parted(two, a) == ([], [two, a])


def test_what_is_read_before_it_changes_stays() -> None:
    first, then = Assign("s", Number(1.0)), Assign("s", Number(2.0))
    reads = Assign("t", Binary("*", Name("s"), Element("x_dot", (SEED, ZERO))))
    assert parted(first, reads, then) == ([], [first, reads, then])
    assert parted(first, then, reads) == ([first, then], [reads])
    after = Assign("u", Name("s"))
    assert parted(first, after, reads, then) == ([], [first, after, reads, then])


def test_other_names_of_storage_are_followed() -> None:
    made, other = Make("y", (N,), FLOAT, Number(0.0)), Bind("z", "y")
    reads = Assign("t", Binary("*", Element("y", (ZERO,)), Element("x_dot", (SEED, ZERO))))
    write = Store("z", (ZERO,), Number(1.0))
    assert parted(made, other, reads, write) == ([], [made, other, reads, write])
    assert parted(made, other, write, reads) == ([made, other, write], [reads])


def test_what_holds_both_stays() -> None:
    both = For("i", ZERO, N, Body([
        Assign("s", Element("x", (AT,))), Store("y", (AT,), Name("s")),
        Store("z", (AT,), Binary("*", Name("s"), Element("x_dot", (SEED, AT)))),
    ]))
    rows = [Make("y", (N,), FLOAT), Make("z", (N,), FLOAT), both]
    last = Assign("t", Element("y", (ZERO,)))
    assert parted(*rows, last) == ([], [*rows, last])
    assert parted(Reserve("tape", Number(3))) == ([], [Reserve("tape", Number(3))])


X = np.linspace(0.3, 1.2, 5)


def slices(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def changed(x):
    y = np.sin(x)
    z = y * x
    y[1:] = 2.0
    return y * z * x


def branched(x):
    y, s = x * x, 1.0
    if x[0] > 0.1:
        s = x[1] * 3.0
        y = y * s
    return y + s * x


def carried(x):
    y, s = np.zeros(len(x)), 0.0
    for i in range(len(x)):
        s = s + np.exp(x[i])
        y[i] = s * x[i - 1]
    n = 0
    while n < 3:
        y[n] = y[n] * n
        n = n + 1
    return y


@pytest.mark.parametrize("seeds", [1, 2])
@pytest.mark.parametrize("program", [changed, branched, carried])
def test_derivatives_along_few_seeds_are_the_same(program: Any, seeds: int) -> None:
    given = np.random.default_rng(0).normal(size=(seeds, 5))
    found, expected = (EmittedDerivative(
        program, Options("forward", (0,), batched=True, backend=backend))(X)(given)
        for backend in ("native", "python"))
    assert close(found[0], expected[0]) and close(found[1], expected[1])
    assert close(expected[1], given @ jacfwd(program)(X).T)


def test_a_hessian_along_few_colors_computes_the_rest_once() -> None:
    native = sparse_hessian(slices, backend="native")
    assert np.allclose(native(X).toarray(), sparse_hessian(slices)(X).toarray(), rtol=1e-14)
    loops = native.fixed.source_for(X).partition("_loops(x, x_dot):")[2].partition("@compiled")[0]
    before, _, behind = loops.partition("for seed in range(x_dot.shape[0]):")
    assert "square = " in before
    assert "square = " not in behind
