"""``adcompiler dump --check`` finds modules that are not what their command writes now."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from adcompiler.cli import main

TEXT = "import math\n\n\ndef swing(x: float, n: int) -> float:\n    return n * math.sin(x)\n"
COMMANDS = [
    [],
    ["--mode", "value_and_grad", "--standalone"],
    ["--args", "x: float64[:], n: int", "--argnums", "0,", "--static"],
    ["--native", "c"],
]


NUMBERS = itertools.count()


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"swing_{next(NUMBERS)}.py"  # a module of that name stays loaded
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize("command", COMMANDS, ids=[" ".join(one[:2]) for one in COMMANDS])
def test_what_was_just_written_is_not_stale(
    model: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = "model_ad.c" if "c" in command else "model_ad.py"
    assert main(["dump", f"{model.name}:swing", *command, "-o", file]) == 0
    written = Path(file).read_text()
    beside = Path("model_ad.py")
    beside.write_text(beside.read_text() + "\n" if file == "model_ad.c" else written)
    kept = beside.read_text()
    assert main(["dump", "--check", file]) == 0
    assert beside.read_text() == kept
    assert "is what the command writes now" in capsys.readouterr().out
    assert Path(file).read_text() == written


def test_a_changed_function_makes_it_stale(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dump", f"{model.name}:swing", *COMMANDS[2], "-o", "model_ad.py"]) == 0
    model.write_text(TEXT.replace("sin", "cos"))
    capsys.readouterr()
    assert main(["dump", "--check", "model_ad.py"]) == 1
    told = capsys.readouterr()
    assert "\n+" in told.out
    assert "math.sin" in told.out
    assert told.err.endswith("-o model_ad.py\n")
    command = f"adcompiler dump {model.name}:swing --argnums 0, --args"
    assert f"is stale; write it anew: {command}" in told.err


def test_what_cannot_be_checked_is_a_wrong_command_line(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, said in (
        (["--check", model.name], "does not say by which command it was written"),
        (["--check", "none.py"], "cannot be read"),
        ([model.name, "--check", model.name], "stands alone"),
        ([], "name a module or a file"),
    ):
        assert main(["dump", *words]) == 2
        assert said in capsys.readouterr().err
