"""What the commands say to what they cannot do: a code, one reason on stderr, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from adcompiler.cli import main

FILES = {
    "sound.py": """
import numpy as np

from adcompiler import grad


@grad
def cube(x: float, k: float = 2.0):
    return k * x**3


def steps(x):
    return x[1:] ** 2 - x[:-1]


def energy(x):
    return np.sum(np.sin(x[1:] * x[:-1]))


NUMBER = 3
""",
    "faulty.py": """
import numpy as np


def fails(x: float):
    if x > 0:
        raise LookupError("nothing there")
    return x


def shuffled(x):
    np.random.shuffle(x)
    return x[0]


def lonely():
    return 1.0
""",
    "unfinished.py": "def broken(x:",
    "leaving.py": "import sys\nsys.exit(3)",
    "empty.py": "",
    "notes.txt": "x = 1",
}
COMMANDS = ("dump", "check", "bench", "view", "sparsity")
ENERGY = ["sound.py:energy", "--args", "x: float64[4]"]
TYPED = ["sound.py:energy", "--args", "x: float64[:]"]
HUGE = "x: float64[100000000000]"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in FILES:
        monkeypatch.delitem(__import__("sys").modules, name.partition(".")[0], raising=False)


def refused(
    arguments: list[str], code: int, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check a command that cannot be done: code and reason; nothing on stdout, no traceback."""
    try:
        found = main(arguments)
    except SystemExit as ended:  # argparse's own
        found = ended.code
    said = capsys.readouterr()
    assert found == code, said.err
    assert reason in said.err and "Traceback" not in said.err
    assert said.out == ""
    if code == 2:
        assert said.err.startswith(("adcompiler: error: ", "usage: "))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("target", "code", "reason"), [
    ("missing.py:f", 2, "there is no file missing.py"),
    ("missing_module:f", 2, "there is no module missing_module"),
    ("sound.py:missing", 2, "sound has no function missing"),
    ("sound.py:NUMBER", 2, "is not a function"),
    ("empty.py", 2, "name "),
    ("notes.txt:x", 2, "is no Python file"),
    ("folder:f", 2, "has no function f"),
    (":f", 2, "there is no module :f"),
    ("", 2, "name a"),
    ("unfinished.py:broken", 1, "cannot be imported: SyntaxError"),
    ("leaving.py:f", 1, "leaving cannot be imported: SystemExit: 3"),
])
def test_targets(
    command: str, target: str, code: int, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    refused([command, target], code, reason, capsys)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("given", "reason"), [
    ("x", ""), ("x: nope", ""), ("x: float64[", ""), ("x: float64[-1]", ""),
    ("x: float65[3]", ""), ("y: float64[3]", ""), ("x: array([1, [2]])", ""),
    ("1: 2", ""), ("x: __import__('os')", ""), (HUGE, ""),
])
def test_arguments(
    command: str, given: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    refused([command, "sound.py:energy", "--args", given], 2, reason, capsys)


@pytest.mark.parametrize("command", ["dump", "bench", "view", "sparsity"])
@pytest.mark.parametrize(("argnums", "reason"), [
    ("5", "energy has no argument 5"), ("nope", "no parameter 'nope'"), ("", "names no argument"),
    ("0,0", "names an argument twice"), ("1.5", "no parameter '1'"), ("x.y", "part"),
])
def test_argnums(
    command: str, argnums: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ENERGY if command == "sparsity" else TYPED
    refused([command, *given, "--argnums", argnums], 2, reason, capsys)


@pytest.mark.parametrize(("command", "path"), [
    (command, path) for path in ("missing/x.c", "/", "folder", "", "a\0b.c", "x" * 300 + ".c")
    for command in (
        ["dump", "sound.py:cube", "-o"], ["dump", "sound.py:cube", "--native", "c", "-o"],
        ["view", "sound.py:cube", "-o"], ["sparsity", *ENERGY, "--plot"],
        ["dump", "sound.py:steps", "--mode", "sparse-jacobian", "--args", "x: float64[4]", "-o"],
    ) if path or "c" not in command  # beside no file there is no module to write
])
def test_files_that_cannot_be_written(
    command: list[str], path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "--plot" in command:
        pytest.importorskip("matplotlib")
    refused([*command, path], 2, "", capsys)


@pytest.mark.parametrize(("arguments", "reason"), [
    (["check", "sound.py:cube", "--order", "0"], "--order is 1, 2, ..."),
    (["check", "sound.py:cube", "--rtol", "-1"], "--rtol is a number"),
    (["check", "sound.py:cube", "--rtol", "nan"], "--rtol is a number"),
    (["check", "sound.py:cube", "--seed", "-1"], "a seed is 0, 1, 2"),
    (["check-classification", "numpy.sin", "--seed", "-1"], "a seed is 0, 1, 2"),
    (["bench", "sound.py:cube", "--seconds", "nan"], "--seconds is a number"),
    (["bench", "faulty.py:lonely"], "lonely has no argument"),
    (["check", "faulty.py:lonely"], "lonely has no argument"),
    (["sparsity", "faulty.py:lonely", "--args", "x: 1.0"], "no parameter x, but none"),
    (["dump", "sound.py:cube", "--mode", "sparse-hessian"], "cube needs x"),
    (["sparsity", *ENERGY, "--plot", "picture.none"], "picture.none"),
])
def test_options(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    refused(arguments, 2, reason, capsys)


@pytest.mark.parametrize("arguments", [
    ["check", "faulty.py:fails", "--args", "x: 1.0"],
    ["bench", "faulty.py:fails", "--args", "x: 1.0"],
    ["view", "faulty.py:fails", "--args", "x: 1.0"],
])
def test_what_the_function_raises_is_its_own(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    refused(arguments, 1, "fails: LookupError: nothing there\n", capsys)


@pytest.mark.parametrize("arguments", [
    ["dump", "faulty.py:shuffled"], ["check", "faulty.py:shuffled", "--args", "x: float64[:]"],
    ["bench", "faulty.py:shuffled", "--args", "x: float64[:]"], ["view", "faulty.py:shuffled"],
    ["sparsity", "faulty.py:shuffled", "--args", "x: float64[3]"],
    ["dump", "faulty.py:shuffled", "--mode", "sparse-jacobian", "--args", "x: float64[3]"],
])
def test_refusals_name_the_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    refused(arguments, 1, "faulty.py:12:5: shuffle() writes", capsys)
