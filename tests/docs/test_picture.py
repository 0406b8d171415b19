"""The picture of the README is that of its first program, as it is compiled now."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def picture_module() -> Any:
    spec = importlib.util.spec_from_file_location("picture", ROOT / "docs" / "picture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_is_that_of_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    module = picture_module()
    assert module.PICTURE.read_text(encoding="utf-8") == module.picture(), (
        "write it anew: python docs/picture.py")


def test_lines_are_linked_to_those_that_they_come_from() -> None:
    program = "def f(x):\n    y = x * x\n    return y\n\n"
    derivative = "import a\n\n\ndef f_grad(x):\n    # f.py:2  y = x * x\n    return 2 * x\n"
    drawn = picture_module().drawn(program, derivative)
    assert drawn.count("<path ") == 1
    assert drawn.count('width="3"') == 3  # one line of the program, two of the derivative
    assert "import a" not in drawn
