"""Random elementwise programs on operands that are stretched against one another.

One specialisation serves all shapes of a number of axes: code that expects equal shapes must
notice when they are not, whatever came before.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.lanes import one_in

from adcompiler import vjp

SHAPES: dict[int, list[tuple[int, ...]]] = {
    0: [()],
    1: [(3,), (1,)],
    2: [(2, 3), (1, 3), (2, 1), (1, 1)],
}
UNARY = ("np.sin({})", "np.tanh({})", "{} * {}", "-{}", "0.5 * {}", "np.exp(-{} * {})")
BINARY = ("{} + {}", "{} - {}", "{} * {}", "{} / (2.0 + np.cos({}))", "np.hypot({}, 1.5 + {})")
REDUCED = (
    "{} - np.sum({}, axis=-1, keepdims=True)", "{} * np.mean({}, axis=0)",
    "{} / np.sqrt(1.0 + np.sum({} ** 2, axis=-1, keepdims=True))",
    "np.expand_dims(np.sum({0} * {1}, axis=-1), -1) + {0}",
)


def program(rng: Random) -> tuple[str, list[int]]:
    """Return the source of a function of three arrays, and their numbers of axes."""
    ndims = [rng.choice((1, 2, 2)) for _ in range(3)]
    names = ["a", "b", "c"]
    axes = dict(zip(names, ndims, strict=True))
    rows = []
    for step in range(rng.randint(2, 6)):
        target = f"t{step}" if rng.random() < 0.8 else rng.choice(names)
        kind = rng.random()
        if kind < 0.3:
            x = rng.choice(names)
            text, ndim = rng.choice(UNARY).replace("{}", x), axes[x]
        elif kind < 0.5:
            x = rng.choice(names)
            text, ndim = rng.choice(REDUCED).replace("{0}", x).replace("{1}", x).replace(
                "{}", x), axes[x]
        else:
            x, y = rng.choice(names), rng.choice(names)
            form = rng.choice(BINARY)
            text, ndim = form.format(x, y), max(axes[x], axes[y])
        rows.append(f"    {target} = {text}")
        axes[target] = ndim
        if target not in names:
            names.append(target)
    total = " + ".join(f"np.sum({n} * {n})" for n in rng.sample(names, 2))
    rows.append(f"    return {total} + np.sum(np.sin({names[-1]}))")
    return "\n".join(["import numpy as np\n\n", "def f(a, b, c):", *rows, ""]), ndims


def load(path: Path, text: str) -> Any:
    """Return the function ``f`` of a module with this text."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


@pytest.mark.parametrize("seed", one_in(4, range(60)))
def test_stretched_operands(seed: int, tmp_path: Path) -> None:
    rng, draws = Random(seed), np.random.default_rng(seed)
    text, ndims = program(rng)
    f = load(tmp_path / f"stretched_{seed}.py", text)
    for _ in range(5):
        arrays = [draws.uniform(0.3, 1.2, size=rng.choice(SHAPES[n])) for n in ndims]
        value, pullback = vjp(f, *arrays)
        assert value == f(*arrays)
        bars = pullback(1.0)
        assert [bar.shape for bar in bars] == [x.shape for x in arrays], text
        directions = [draws.normal(size=x.shape) for x in arrays]

        def along(t: float, arrays: Any = arrays, directions: Any = directions) -> float:
            return float(f(*(x + t * d for x, d in zip(arrays, directions, strict=True))))

        coarse, fine = ((along(h) - along(-h)) / (2 * h) for h in (4e-4, 2e-4))
        got = sum(float(np.sum(b * d)) for b, d in zip(bars, directions, strict=True))
        assert got == pytest.approx((4 * fine - coarse) / 3, rel=1e-6, abs=1e-6), text
