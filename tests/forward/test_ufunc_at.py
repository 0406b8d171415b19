"""Second derivatives through ``at`` of ufuncs, with every kind of index, against differences.

``ADCOMPILER_ALL_AT=1`` takes each ufunc by itself and every mode.
"""

import os

import numpy as np
import pytest
from adcompiler import UnsupportedError, grad, hessian, jvp, vjp
from adcompiler.runtime import add_at

from tests.lanes import one_in
from tests.properties.values import load

INDICES = {
    "int": ("1", None), "negative": ("[-1, -1, 0]", 3), "list": ("[0, 2, 0]", 3),
    "array": ("np.array([0, 2, 0])", 3), "slice": ("slice(0, 2)", 2),
    "mask": ("np.array([True, False, True])", 2), "bools": ("[True, False, True]", 2),
    "ellipsis": ("...", 3), "pairs": ("([0, 1, 0], [1, 0, 1])", 3),
    "row": ("(0, [1, 1])", 2), "columns": ("(slice(None), [1, 1])", 2),
}
UFUNCS = ("multiply", "divide", "maximum", "minimum", "add", "subtract")
GROUPS = [(u,) for u in UFUNCS] if os.environ.get("ADCOMPILER_ALL_AT") else [
    ("multiply", "maximum", "subtract"), ("divide", "minimum", "add")]
MODES = (None, "fwd_adj", "adj_fwd", "adj_adj", "fwd_fwd") if len(GROUPS) > 2 else (None,)

x = np.array([1.3, 0.7, 1.9])


def program(ufuncs, kind):
    """Return a function that applies ufuncs to elements that may occur several times."""
    index, count = INDICES[kind]
    start = "np.outer(x, x) + 1.0" if kind in ("pairs", "row", "columns") else "x * x + 1.0"
    values = {None: "x[2] * x[0]", 3: "np.sin(x) * x[1]", 2: "x[:2] * x[1]"}[count]
    rows = [f"    y = {start}"]
    rows += [f"    np.{u}.at(y, {index}, {values} + {0.1 * i})" for i, u in enumerate(ufuncs)]
    return load("\n".join(["import numpy as np", "def f(x):", *rows, "    return np.sum(y ** 3)"]))


def differences(f, h=1e-3):
    steps = np.eye(3) * h
    return np.array([[(
        f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b)) / (4 * h * h) for b in steps
    ] for a in steps])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", one_in(2, INDICES))
@pytest.mark.parametrize("ufuncs", GROUPS, ids="+".join)
def test_second_derivatives(ufuncs, kind, mode):
    f = program(ufuncs, kind)
    wanted = differences(f)
    try:
        found = hessian(f, mode=mode)(x)
    except UnsupportedError:
        assert mode in ("adj_fwd", "fwd_fwd")
        return
    assert found == pytest.approx(wanted, rel=1e-3, abs=1e-3)


def test_elements_that_are_added_to():
    def added(x):
        return add_at(np.zeros(2), np.array([0, 0]), x * x).sum()

    def kept(x):
        y = x * 1.0
        z = add_at(y * y, [0, 0, 1], x)
        return z @ z

    v = np.array([1.3, 0.7])
    assert grad(added)(v) == pytest.approx(2.0 * v)
    assert jvp(added, (v,), (v,))[1] == pytest.approx(2.0 * v @ v)
    assert hessian(added)(v) == pytest.approx(2.0 * np.eye(2))
    z = np.array([x[0]**2 + x[0] + x[1], x[1]**2 + x[2], x[2]**2])
    wanted = 2.0 * np.array([
        z[0] * (2 * x[0] + 1.0), z[1] * 2 * x[1] + z[0], z[2] * 2 * x[2] + z[1]])
    assert grad(kept)(x) == pytest.approx(wanted)
    assert jvp(kept, (x,), (np.ones(3),))[1] == pytest.approx(wanted.sum())
    value, pullback = vjp(kept, x)
    assert pullback(2.0)[0] == pytest.approx(2.0 * wanted)
    assert value == pytest.approx(z @ z)


def test_a_write_of_which_nothing_is_known_is_refused():
    def tabled(x):
        table = {"a": x * x}
        return add_at(table, "a", x)["a"]

    with pytest.raises(UnsupportedError, match="what `add_at` writes is not known"):
        grad(tabled)(2.0)
    with pytest.raises(UnsupportedError, match="what `add_at` writes is not known"):
        jvp(tabled, (2.0,), (1.0,))
