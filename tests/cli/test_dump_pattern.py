"""``adcompiler dump --mode pattern``: the IR that a pattern is computed by."""

from __future__ import annotations

from pathlib import Path

import pytest

from adcompiler.cli import main

MODEL = """
import numpy as np


def steps(x, n=2):
    y = x * x
    for i in range(n):
        y[1:] = y[1:] + np.sin(y[:-1])
    return y
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "stepping.py"
    path.write_text(MODEL)
    return str(path)


def test_the_code_stands_beside_the_lines_it_comes_from(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dump", f"{model}:steps", "--mode", "pattern", "--args", "x: float64[4]"]) == 0
    text = capsys.readouterr().out
    lines = [line.strip() for line in text.splitlines()]
    assert lines[0].startswith("# pattern of steps, written by adcompiler")
    assert lines[2] == "def steps(x.0: followed, n.1):"
    place = lines.index("# stepping.py:6  y = x * x")
    assert lines[place + 1] == "y.2: followed = <mul>(x.0, x.0)"
    assert lines[place + 3] == "range.3 = <range>(n.1)"
    place = lines.index("# stepping.py:8  y[1:] = y[1:] + np.sin(y[:-1])")
    assert lines[place - 1] == "for i.6 in range.3"
    assert lines[place + 1] == "item.7: followed = y.5[slice(1, None, None)]"


def test_what_it_needs_and_does_not_take(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dump", f"{model}:steps", "--mode", "pattern"]) == 2
    assert "steps needs x" in capsys.readouterr().err
    assert main(["dump", f"{model}:steps", "--mode", "pattern", "--stage", "types"]) == 2
    assert main(["dump", "--static", f"{model}:steps", "--mode", "pattern"]) == 2
