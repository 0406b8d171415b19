"""Functions of whole arrays in machine loops: computed in steps that vectors of numbers take."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from adcompiler import compiled, grad, value_and_grad
from adcompiler.backends.native.emit.llvm import llvm_ir
from adcompiler.backends.native.helpers import TEXTS
from adcompiler.backends.native.ops.scalars import C_FUNCTIONS, TWO
from adcompiler.runtime.machine.loops import Loops, Source
from adcompiler.runtime.native import bits_of, of_bits
from tests.native.test_backends_agree import outcome, same
from tests.native.test_lazy_arrays import loops_of

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
    if loops:
        pytest.importorskip("llvmlite")
        run = in_machine_code(TEXTS[f"{name}_of_each"] + f"""
@compiled
def f(x):
    found = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        found[i] = {name}_of_each(x[i])
    return True, found
""")
        return lambda x: run(np.array(x, float))[1]
    space: dict[str, Any] = {"math": math, "inlined": lambda function: function}
    space["bits_of"], space["of_bits"] = bits_of, of_bits
    exec(TEXTS[f"{name}_of_each"], space)
    one = space[f"{name}_of_each"]
    return lambda x: np.array([one(float(item)) for item in x])


def in_machine_code(text: str) -> Any:
    """Return the function ``f`` of a text of loops, compiled."""
    loops = Loops(FunctionType((lambda: None).__code__, {}, "f"))
    loops.source = Source(text, llvm_ir)
    return loops


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


@pytest.mark.usefixtures("machine_code")
def test_there_is_machine_code_for_every_function_of_the_library() -> None:
    x = 0.37
    for name in sorted(set(C_FUNCTIONS.values())):
        args = "y, x" if name in TWO else "1.0 + x" if name == "acosh" else "x"
        run = in_machine_code(f"@compiled\ndef f(x, y):\n    return True, math.{name}({args})\n")
        done, found = run(x, 1.2)
        wanted = getattr(math, name)(*eval(f"({args},)", {"x": x, "y": 1.2}))
        assert done
        assert abs(found - wanted) <= 4.0 * math.ulp(wanted), name


@pytest.mark.usefixtures("machine_code")
def test_the_gamma_function() -> None:
    def total(x):
        found = 0.0
        for i in range(len(x)):
            found += math.gamma(x[i])
        return found

    x = np.array([0.5, 3.0, -1.5])
    got, expected = (outcome(value_and_grad(total, backend=one), x) for one in ("native", "python"))
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-14)
    np.testing.assert_allclose(got[1], expected[1], rtol=1e-14)
    for bad in (-2.0, 0.0, 200.0):
        x[1] = bad
        assert outcome(compiled(total), x) == outcome(total, x)


@pytest.mark.usefixtures("machine_code")
def test_what_is_inlined_is_not_called() -> None:
    text = (
        "@inlined\ndef cubed(x):\n    return x * x * x\n\n\n"
        "@compiled\ndef swept(x):\n    for i in range(x.size):\n        x[i] = cubed(x[i])\n"
        "    return True, x\n")
    found = llvm_ir(text, "swept", (("float64", 1, True),)).text
    (head,) = (line for line in found.split("\n") if line.startswith("define") and "cubed" in line)
    assert "alwaysinline" in head
