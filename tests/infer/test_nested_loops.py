"""How often the bodies of nested loops are specialised: a count that grows with depth, no power."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from adcompiler.compile.pipeline import Request, stages
from adcompiler.ir import types as t
from adcompiler.infer.loops import Loops

ARRAY = t.Array("float64", 1)
BODIES = {
    "reads": "s = s + x[0] * y[1]",
    "writes": "z[0] = z[0] * x[1] + 1.0; s = s + z[1]",
    "appends": "l.append(x[0] * s); s = s + l[-1]",
}


def nested(path: Path, body: str, depth: int) -> Any:
    """Return a function with so many loops inside of one another around ``body``."""
    lines = ["import numpy as np", "def f(x, y, n):", "    s = 0.0", "    z = np.zeros(3)"]
    lines.append("    l = [1.0]")
    lines += [f"{'    ' * (k + 1)}for i{k} in range(n):" for k in range(depth)]
    lines += [f"{'    ' * (depth + 1)}{line.strip()}" for line in body.split(";")]
    path.write_text("\n".join([*lines, "    return s + np.sum(z)"]) + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("depth", [1, 3, 5])
def test_iterations_that_are_specialised(
    kind: str, depth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = []
    iterated = Loops.iterated

    def counting(self: Loops, *args: Any) -> Any:
        counted.append(self)
        return iterated(self, *args)

    monkeypatch.setattr(Loops, "iterated", counting)
    function = nested(tmp_path / f"nested_{kind}_{depth}.py", BODIES[kind], depth)
    for name, unit, _ in stages(Request(function, (ARRAY, ARRAY, t.INT), (0,))):
        assert not unit.findings
        if name == "types":
            break
    assert len(counted) <= depth * (depth + 3)
