"""Random loops that write into arrays, and go on with rows of them, against differences.

``ADCOMPILER_ROWS=2000`` tries as many programs.
"""

from __future__ import annotations

import os
import random
from collections import Counter

import numpy as np
import pytest

from adcompiler import ADError, InternalError, jvp, value_and_grad
from tests.properties.values import load

COUNT = int(os.environ.get("ADCOMPILER_ROWS", "120"))
X = np.array([0.47, -0.71, 0.33])
V = np.array([0.3, -0.2, 0.9])
LOOPS = (
    "for t in range(n):", "for t in range(1, n):", "for t in range(n - 1, -1, -1):",
    "for t in range(n + 1):", "while t < n:",
)


def formula(draw: random.Random, values: list[str]) -> str:
    """Return an expression of rows."""
    a, b = draw.choice(values), draw.choice(values)
    return draw.choice([
        f"np.sin({a})", f"np.tanh({a}) * {b}", f"{a} * 0.5 + {b}", f"{a} + np.sum({b}) * 0.1",
        f"np.cos({a} - {b})", f"{a}.copy()", f"{a}[::-1] * {b}"])


def program(seed: int) -> str:
    """Return the text of a program: arrays, rows of them that go on, and what else reads both."""
    draw = random.Random(seed)
    arrays = draw.choice([["h"], ["h", "c"]])
    lines, values, results = ["t = 0"], ["x"], [f"np.sum({a} ** 2)" for a in arrays]
    for a in arrays:
        made = draw.choice(["np.zeros((n + 1, 3))", "np.ones((n + 1, 3))"])
        lines.append(f"{a} = {made if draw.random() < 0.8 else 'np.outer(np.arange(n + 1.0), x)'}")
        if draw.random() < 0.6:
            lines.append(f"{a}[:] = {draw.choice(['0.0', 'x', 'x * 2.0'])}")
        lines.append(f"r{a} = {draw.choice(['x', f'{a}[0]', 'x * 0.5', 'np.ones(3)'])}")
        values.append(f"r{a}")
        if draw.random() < 0.15:
            lines.append(f"top_{a} = {a}[{draw.choice(['0', '1', '-1'])}]")
            results.append(f"np.sum(top_{a} * 1.5)")
            values += [f"top_{a}"] if draw.random() < 0.5 else []
        if draw.random() < 0.1:
            lines.append(f"whole_{a} = {a}")
            results.append(f"np.sum(whole_{a} * 0.3)")
        results += [f"np.sum(r{a} * x)"] if draw.random() < 0.7 else []
    body: list[str] = []
    loop = draw.choice(LOOPS)
    for a in draw.sample(arrays, len(arrays)):
        place = draw.choice(["t", "t", "t", "n - t", "t % 2", "0", "-1"])
        store = f"{a}[{place}] {draw.choice(['=', '=', '=', '+='])} {formula(draw, values)}"
        test = f"if np.sum({draw.choice(values)}) > {draw.choice([-9.0, 0.0, 3.0])}:"
        body.append(store if draw.random() < 0.88 else f"{test}\n            {store}")
        row = f"r{a} = {a}[{place}]"
        body += [draw.choice([
            row, row, row, f"{row} * 0.9", f"r{a} = {a}[{draw.choice(['0', 't - 1', '-1'])}]",
            f"if t % 2 == 0:\n            {row}", f"{row}[::-1]", f"{row}\n        r{a} *= 1.1",
            f"{a}[t] = {a}[t] + r{a} * 0.1"])] if draw.random() < 0.9 else []
    if draw.random() < 0.15:
        term = f"{draw.choice(values)} * 0.01"
        body.append(f"for k in range(2):\n            h[k] = h[k] * 1.01 + {term}")
    if draw.random() < 0.1:
        body.append(f"if np.sum({draw.choice(values)}) > 50.0:\n            break")
    body += ["t += 1"] if loop.startswith("while") else []
    lines += [loop, *(f"    {one}" for one in body)]
    lines += ["h[0] = x * 3.0"] if draw.random() < 0.1 else []
    text = "\n    ".join([*lines, f"return {' + '.join(results)}"])
    return f"import numpy as np\n\n\ndef f(x, n=4):\n    {text}\n"


def outcome(seed: int) -> str:
    """Return what came of a program: right, refused or left out; raise if it is wrong."""
    text = program(seed)
    f = load(text)
    try:
        wanted = f(X.copy())
    except Exception:
        return "left out"
    if not np.isfinite(wanted) or abs(wanted) > 1e4:
        return "left out"
    slope = np.array([(f(X + d) - f(X - d)) / 2e-6 for d in 1e-6 * np.eye(3)])
    try:
        value, found = value_and_grad(f)(X.copy())
        along = jvp(f, (X.copy(),), (V,))[1]
    except ADError as error:
        assert not isinstance(error, InternalError), text
        return "refused"
    near = {"rtol": 1e-4, "atol": 1e-5 * (1.0 + abs(wanted))}
    assert value == wanted, text
    assert np.allclose(found, slope, **near), f"{text}\n{found} for {slope}"
    assert np.allclose(along, slope @ V, **near), f"{text}\n{along} for {slope @ V}"
    return "right"


@pytest.mark.parametrize("start", range(0, COUNT, 40))
def test_random_rows(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_RECORD", "0")
    tally = Counter(outcome(seed) for seed in range(start, min(start + 40, COUNT)))
    assert tally["right"] > 15, tally
