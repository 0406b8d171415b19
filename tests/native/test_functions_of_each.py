"""Functions of whole arrays in machine loops: computed in steps that vectors of numbers take."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import grad
from adcompiler.backends.native.helpers import TEXTS
from adcompiler.runtime.native import bit_casts, bits_of, compiled, inlined, of_bits
from tests.native.test_backends_agree import outcome, same
from tests.native.test_fusing import loops_of

RNG = np.random.default_rng(3)
SPREAD = np.concatenate([scale * RNG.normal(size=300) for scale in (1e-300, 1e-8, 0.1, 1.0, 20.0)])
POINTS = {
    "exp": np.concatenate([SPREAD, np.linspace(-760.0, 712.0, 700), [0.0, -0.0, -1e300, 709.78]]),
    "tanh": np.concatenate([SPREAD, np.linspace(-25.0, 25.0, 700), [0.0, -0.0, 1e300, -np.inf]]),
    "log": np.concatenate([np.abs(SPREAD), 1.0 + SPREAD[300:900], 10.0 ** np.linspace(
        -323, 308, 700), [1.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308]]),
}
WORST = {"exp": 1, "tanh": 2, "log": 1}
EXACT = {"exp": np.exp, "tanh": np.tanh, "log": np.log}


def made(name: str, loops: bool) -> Callable[..., Any]:
    """Return a helper as a function of arrays, in Python or compiled."""
    space: dict[str, Any] = {"math": math, "inlined": lambda function: function}
    space["bits_of"], space["of_bits"] = bits_of, of_bits
    if loops:
        space["inlined"] = inlined
        space["bits_of"], space["of_bits"] = bit_casts()
    exec(TEXTS[f"{name}_of_each"], space)
    one = space[f"{name}_of_each"]
    return lambda x: np.array([one(float(item)) for item in x])


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("name", POINTS)
def test_few_units_in_the_last_place_are_wrong(name: str, loops: bool) -> None:
    x = POINTS[name]
    with np.errstate(all="ignore"):
        found, wanted = made(name, loops)(x), EXACT[name](x)
    finite = np.isfinite(wanted)
    units = np.abs(found[finite] - wanted[finite]) / np.spacing(np.abs(wanted[finite]))
    assert np.max(units) <= WORST[name]
    assert np.array_equal(np.signbit(found), np.signbit(wanted))
    assert not np.isfinite(found[~finite]).any()


@pytest.mark.parametrize("loops", [False, True])
def test_what_is_not_finite_is_left_to_python(loops: bool) -> None:
    with np.errstate(all="ignore"):
        assert not np.isfinite(made("log", loops)([0.0, -0.0, -1.0, np.inf, np.nan, -5e-324])).any()
        assert not np.isfinite(made("exp", loops)([709.79, 1e300, np.inf, np.nan])).any()
        assert np.isnan(made("tanh", loops)([np.nan])).all()
        assert np.array_equal(made("tanh", loops)([np.inf, -np.inf]), [1.0, -1.0])
        assert np.array_equal(made("exp", loops)([-np.inf, -800.0]), [0.0, 0.0])


def test_bits_are_those_of_a_float() -> None:
    assert bits_of(1.0) == 1023 << 52
    assert bits_of(-0.0) == -(2**63)
    assert of_bits(bits_of(-2.5)) == -2.5
    assert of_bits((7 << 64) + bits_of(0.1)) == 0.1


def activated(x, y):
    p = 1.0 / (1.0 + np.exp(-x))
    return np.sum(np.log(p) * y + np.tanh(x * y) * p)


@pytest.mark.usefixtures("plain_loops")
@pytest.mark.parametrize("x", [SPREAD[600:630], SPREAD[:0], np.array([-800.0, 1.0]),
                               np.array([np.nan, 0.1]), np.array([-np.inf, np.inf])])
def test_gradients_agree(x: Any) -> None:
    y = np.linspace(0.5, 1.5, x.size)
    wanted = outcome(grad(activated, (0, 1)), x, y)
    found = outcome(grad(activated, (0, 1), backend="native"), x, y)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14, atol=1e-300)


@pytest.mark.usefixtures("plain_loops")
def test_functions_of_single_numbers_are_those_of_the_library() -> None:
    def swing(x, n):
        for _ in range(n):
            x = x + 0.1 * np.tanh(x) - 0.1 * np.exp(-x)
        return x

    assert "_of_each(" not in loops_of(swing, 0.5, 3)
    assert "tanh_of_each(" in loops_of(activated, np.ones(3), np.ones(3))
    assert same(grad(swing, backend="native")(0.5, 4), grad(swing)(0.5, 4))


def test_loops_contain_them_however_large_they_are() -> None:
    text = grad(activated, (0, 1), backend="native").source_for(np.ones(3), np.ones(3))
    for name in ("exp", "log", "tanh"):
        assert f"@inlined\ndef {name}_of_each(x):" in text


@pytest.mark.usefixtures("by_numba")
def test_what_is_inlined_is_not_called() -> None:

    def cubed(x: float) -> float:
        return x * x * x

    def swept(x: Any) -> Any:
        for i in range(x.size):
            x[i] = one(x[i])
        return x

    one, x = inlined(cubed), np.arange(5.0)
    loops = compiled(swept)
    assert np.array_equal(loops(x), [0.0, 1.0, 8.0, 27.0, 64.0])
    (text,) = loops.inspect_llvm().values()
    heads = {part.partition("{")[0]: part for part in text.split("\ndefine ")[1:]}
    (body,) = (part for head, part in heads.items()
               if "swept" in head and "cpython" not in head and "cfunc" not in head)
    assert "fmul" in body
    assert "cubed" not in body
