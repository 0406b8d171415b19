"""Loops over the rows of arrays that run one behind the other, with sums along axes: bits stay."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler import grad, value_and_grad
from tests.lanes import one_in
from tests.native.test_backends_agree import outcome, same
from tests.native.test_loop_fusion import imported

pytestmark = pytest.mark.usefixtures("plain_loops")
RNG = np.random.default_rng(23)


def normalised(x, y):
    mean = np.mean(x, axis=1, keepdims=True)
    above = x - mean
    variance = np.mean(above * above, axis=1, keepdims=True)
    return np.sum(np.sqrt((above / np.sqrt(variance + 0.1) * y[0]) ** 2 + 0.5))


def distances(x, y):
    d = x[:, None, :] - y[None, :, :]
    return np.sum(np.sqrt(np.sum(d * d, axis=2) + 0.1))


def along_all(x, y):
    z = x[:, :, None] * y[:, None, :]
    a = np.sum(z * z, axis=0)
    b = np.sum(z, axis=1)
    return np.sum(a * a) + np.sum(np.sqrt(b * b + 1.0)) + np.sum(z)


def above_extremes(x, y):
    top = np.max(x * y, axis=1)
    low = np.min(x - y, axis=1, keepdims=True)
    z = (x * y - top[:, None]) / (1.0 + low * low)
    return np.sum(z * np.sum(z, axis=1, keepdims=True))


def written_between(x, y):
    z = x * y
    s = np.sum(z, axis=1)
    z[1:] = z[:-1] + s[1:, None]
    t = np.sum(z, axis=1)
    z[0] = 0.5 * t[0]
    return np.sum(z * t[:, None] * s[::-1, None])


def parts_that_are_written(x, y):
    z = x * y
    w = z[:, :1]
    s = np.sum(z * z, axis=1, keepdims=True)
    w += s
    u = z - np.sum(z, axis=1)[:, None]
    return np.sum(u * w)


def divided(x, y):
    z = x / np.sum(x, axis=1, keepdims=True)
    return np.sum(z * z / y)


def in_a_loop(x, y):
    for _ in range(3):
        x = x * y - np.sum(x * x, axis=1, keepdims=True) * 0.01
        y = y + 0.1 * np.sum(x, axis=0)
    return np.sum(x * y)


def last_value(x, y):
    s = np.sum(x * y, axis=1)
    total = 0.0 * np.sum(s)
    for i in range(len(s)):
        total = total + s[i] * x[i, 0]
        x = x * 0.5
    return total


PROGRAMS = [normalised, distances, along_all, above_extremes, written_between,
            parts_that_are_written, divided, in_a_loop, last_value]
SHAPES = [(3, 4), (5, 1), (1, 6), (1, 1), (150, 1), (4, 9), (2, 140), (0, 3), (3, 0)]


def of_one_nan(value: Any) -> Any:
    """Return what a call gave with one kind of what is no number."""
    if isinstance(value, tuple):
        return tuple(map(of_one_nan, value))
    return np.where(np.isnan(value), np.nan, value) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("function", PROGRAMS)
def test_bits_are_those_of_python(function: Any) -> None:
    plain = value_and_grad(function, (0, 1))
    native = value_and_grad(function, (0, 1), backend="native")
    for shape in SHAPES:
        x, y = RNG.normal(size=(2, *shape))
        odd = x.copy()
        odd[-1:, -1:] = np.inf
        none = x.copy()
        none[:1, :1] = np.nan
        wide = RNG.normal(size=(2 * shape[0], shape[1]))[::2]
        fixed = y.copy()
        fixed.flags.writeable = False
        for a, b in [(x, y), (x, x), (odd, y), (none, y), (0.0 * x, y), (-0.0 * x, y),
                     (wide, y[::-1]), (x, fixed)]:
            assert same(of_one_nan(outcome(native, a, b)), of_one_nan(outcome(plain, a, b))), shape


@pytest.mark.parametrize("function", [normalised, distances, above_extremes, divided])
def test_arrays_in_the_order_of_fortran(function: Any) -> None:
    x, y = RNG.normal(size=(2, 5, 4))
    for a, b in [(np.asfortranarray(x), y), (x.T, y.T)]:
        wanted = outcome(grad(function, (0, 1)), a, b)
        found = outcome(grad(function, (0, 1), backend="native"), a, b)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def loops_of(function: Any) -> str:
    text = grad(function, (0, 1), backend="native").source_for(np.ones((3, 4)), np.ones((3, 4)))
    return text[text.rindex(f"def {function.__name__}_grad_loops"):]


def test_all_that_is_computed_of_a_row_is_one_loop_without_arrays() -> None:
    for function, rows in ((normalised, "x.shape[0]"), (distances, "x.shape[0]")):
        text = loops_of(function)
        assert text.count(f"in range({rows})") == 1, function
        made = re.findall(r"(\w+) = np.(?:empty|zeros)\(\((.*)\)\)", text)
        whole = [name for name, shape in made if shape.startswith(rows)]
        assert whole in (["x_bar_3"], ["x_bar_2"], ["x_bar"]), function


def test_what_is_read_behind_is_kept() -> None:
    text = loops_of(along_all)
    assert "sums_along" not in text
    assert re.search(r"z = np.empty\(\(x.shape\[0\], x.shape\[1\], y.shape\[1\]\)\)", text)


def random_program(seed: int) -> str:
    """Return a program of arrays of two and three axes, of sums along these, and of writes."""
    r = random.Random(seed)

    def term() -> str:
        return r.choice([
            "a", "b", "a", "b", "x", "y", "s[:, None]", "k[:, None]", "c", "c[None, :]", "0.5",
            "np.sqrt(a * a + 1.0)", "a / (1.0 + b * b)", "d", "t[:, 0, :]", "a[::-1]",
        ])

    def value() -> str:
        return f"{term()} {r.choice('+-*')} {term()} {r.choice('+-')} 0.3 * {term()}"

    lines = ["import numpy as np", "", "", "def program(x, y):",
             "    a, b, d = 0.5 * x, x * y, y + 1.0",
             "    s, k = np.sum(b, axis=1), np.max(x, axis=1)",
             "    c = np.sum(x, axis=0)", "    t = x[:, None, :] * y[None, :, :]"]
    for _ in range(r.randrange(4, 11)):
        name = r.choice("abd")
        lines.append("    " + r.choice([
            f"{name} = {value()} + 0.0 * x", f"{name} = {value()} + 0.0 * x",
            f"s = np.sum({value()} + x, axis=1)", f"k = np.max({value()} + x, axis=1)",
            f"s = np.mean({value()} + x, axis=1)", f"c = np.sum({value()} + x, axis=0)",
            f"{name} = {name} - np.sum({value()} + x, axis=1, keepdims=True)",
            f"{name}[1:] = 0.1 * {r.choice('abd')}[:-1] + s[1:, None]",
            f"{name}[:, 0] = k", f"{name}[0] = c", f"{name} += 0.2 * ({value()})",
            "t = a[:, None, :] - b[None, :, :]", "t = t * t + s[:, None, None]",
            "c = c + np.sum(t * t, axis=(0, 1))", "s = s + np.sum(t, axis=(1, 2))",
            "a = a + np.sum(t, axis=1)", "k = np.sum(t[:, :, 0], axis=1)",
            f"e = {name}\n    e[:, :1] *= 0.5\n    {name} = e + {r.choice('abd')}",
        ]))
    lines.append("    return np.sum(a * b) + np.sum(s * k) + np.sum(c) + np.sum(d * d) + np.sum(t)")
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("seed", one_in(3, range(12)))
def test_bits_of_random_programs(seed: int, tmp_path: Path) -> None:
    module = imported(random_program(seed), f"random_rows_{seed}", tmp_path)
    plain = value_and_grad(module.program, (0, 1))
    native = value_and_grad(module.program, (0, 1), backend="native")
    for shape in ((3, 4), (1, 1), (4, 1), (1, 9), (2, 10)):
        x, y = 0.3 * RNG.normal(size=(2, *shape))
        assert same(outcome(native, x, y), outcome(plain, x, y)), shape
