"""``adcompiler dump --static`` writes what ``dump`` does, and runs nothing of the file."""

from __future__ import annotations

import colorsys
import sys
import textwrap
from pathlib import Path

import pytest

from adcompiler.cli import main

MODEL = """
    import colorsys
    import math
    import numpy as np
    from adcompiler import grad, value_and_grad
    from pathlib import Path
    import neighbour

    Path("ran").write_text("this file was run")
    FACE = 100.0
    LARGE: int = 3
    OTHER = math.pi
    TWICE = 1.0
    if FACE:
        TWICE = 2.0
    np_of_two = np
    colorsys.ONE_THIRD = 0.25

    def helper(x, n: int = 2):
        return x if n == 0 else x * helper(x, n - 1)

    def opaque(function):
        return neighbour.made_of(function)

    @grad(argnums="rate")
    def price(rate: float, years: float = 10.0):
        return FACE * np.exp(-rate * years) + helper(rate, LARGE)

    @value_and_grad
    def both(x: float):
        return np.sin(x) * x

    def of_unsettled(x: float):
        return x * OTHER

    def of_twice(x: float):
        return x * TWICE

    def of_written_module(x: float):
        return x * colorsys.ONE_THIRD

    def of_neighbour(x: float):
        return neighbour.twice(x)

    @opaque
    def decorated(x: float):
        return x

    def with_default(x: float, by=FACE):
        return x * by
"""

NEIGHBOUR = """
    from pathlib import Path

    Path("ran").write_text("this file was run")

    def made_of(function):
        return function

    def twice(x):
        return x + x
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    path = tmp_path / "bonds.py"
    path.write_text(textwrap.dedent(MODEL), encoding="utf-8")
    (tmp_path / "neighbour.py").write_text(textwrap.dedent(NEIGHBOUR), encoding="utf-8")
    monkeypatch.setattr(colorsys, "ONE_THIRD", colorsys.ONE_THIRD)
    return path


@pytest.mark.parametrize("function", ["", ":price", ":helper", ":both"])
@pytest.mark.parametrize("options", [
    [], ["--mode", "vjp"], ["--mode", "forward"], ["--stage", "parse"],
], ids=" ".join)
def test_the_text_is_that_of_a_dump_that_imports(
    model: Path, function: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dump", "--static", f"{model}{function}", *options]) == 0
    static = capsys.readouterr().out
    assert not Path("ran").exists()
    assert "bonds" not in sys.modules
    assert main(["dump", f"{model}{function}", *options]) == 0
    assert capsys.readouterr().out == static
    assert Path("ran").exists()


@pytest.mark.parametrize(("function", "code", "said"), [
    ("of_unsettled", 1, "name `OTHER` is not defined"),
    ("of_twice", 1, "name `TWICE` is not defined"),
    ("of_written_module", 1, "name `colorsys` is not defined"),
    ("of_neighbour", 1, "name `neighbour` is not defined"),
    ("decorated", 2, "has no function decorated that its text alone settles"),
    ("with_default", 2, "has no function with_default that its text alone settles"),
    ("no_such", 2, "has no function no_such that its text alone settles"),
])
def test_what_only_running_tells_is_refused(
    model: Path, function: str, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dump", "--static", f"{model}:{function}"]) == code
    assert said in capsys.readouterr().err
    assert not Path("ran").exists()


@pytest.mark.parametrize(("line", "code", "said"), [
    ("from neighbour import *", 1, "binds *, in a way that only running it tells"),
    ("sum = max", 1, "binds sum, in a way that only running it tells"),
    ("for abs in ():\n    pass", 1, "binds abs, in a way"),
    ("def f(x):\n    global pow\n    pow = x\n", 1, "binds pow, in a way"),
    ("try:\n    1\nexcept E as int:\n    pass", 1, "binds int, in a way"),
    ("def (:", 1, "cannot be read: invalid syntax"),
])
def test_files_whose_text_does_not_say_what_names_mean(
    tmp_path: Path, line: str, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bonds.py"
    path.write_text(f"{line}\ndef g(x: float):\n    return x * x\n", encoding="utf-8")
    assert main(["dump", "--static", f"{path}:g"]) == code
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", ["numpy.py", "math.py", "adcompiler.py"])
def test_files_that_are_called_like_a_library(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_text("def g(x: float):\n    return x * x\n", encoding="utf-8")
    assert main(["dump", "--static", f"{path}:g"]) == 2
    assert "has the name of a library's module" in capsys.readouterr().err


def test_a_library_is_not_taken_from_beside_the_file(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    beside = model.with_name("colorsys.py")
    beside.write_text("from pathlib import Path\nPath('ran').write_text('')\n", encoding="utf-8")
    model.write_text("import colorsys\ndef g(x: float):\n    return x * x\n", encoding="utf-8")
    before = sys.path[:]
    assert main(["dump", "--static", f"{model}:g"]) == 0
    assert not Path("ran").exists()
    assert sys.path == before


def test_sparse_modes_run_the_function(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dump", "--static", f"{model}:price", "--mode", "sparse-jacobian"]) == 2
    assert "not with --static" in capsys.readouterr().err
