"""``python -m tests.evaluation`` says where a gradient goes wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evaluation.__main__ import main

TEXT = """
import numpy as np
from adcompiler import scalar_rule


def cube(x):
    return x**3


def total(x, w):
    s = 0.0
    for v in x:
        s += np.sin(v) * w
    return s


def wrong(x):
    return cube(x) * 2.0


scalar_rule(cube, lambda x: 2.0 * x**2)
"""


def test_right_and_wrong_gradients(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "hunted.py"
    file.write_text(TEXT)
    assert main([f"{file}:total", "np.ones(3), 2.0"]) == 0
    assert capsys.readouterr().out == (
        "the IR of each stage: agrees\nthe recorder: agrees\ndifferences: agrees\n")
    assert main([f"{file}:wrong", "1.5"]) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[:2] == ["the IR of each stage: agrees", "the recorder: agrees"]
    assert told[2].startswith("differences: ")
    assert "agrees" not in told[2]
