"""``adcompiler check`` and ``adcompiler bench``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from adcompiler.cli import main, trials
from adcompiler.cli.trials import least_time, seconds
from adcompiler.errors import ADError

MODEL = '''
    from typing import Annotated, NamedTuple

    import numpy as np

    from adcompiler import grad, rrule


    class Layer(NamedTuple):
        w: Annotated[np.ndarray, "float64[:, :]"]
        b: float


    @grad
    def loss(layers: tuple[Layer, Layer], n: int, scale: float = 2.0, *, shift: float = 0.5):
        h = np.ones(3)
        for layer in layers:
            h = np.tanh(layer.w @ h * 0.1 + layer.b) * scale**n + shift
        return np.sum(h)


    def wrong(x):
        return x * x


    @rrule(wrong)
    def wrong_rule(x):
        def wrong_pullback(dy):
            return 3.0 * x * dy

        return x * x, wrong_pullback


    def doubled(x):
        return wrong(x) * 2.0


    def either(z: complex, p: tuple[float, int], flag: bool):
        return abs(z) * p[0] ** p[1] if flag else 0.0


    def plain(x, /, y):
        return np.sum(x) * y


    def refused(x: float):
        return eval("x") * x
'''


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Work in a directory with a model."""
    (tmp_path / "tried.py").write_text(dedent(MODEL), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("tried", None)


def rows(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Return what was written as JSON."""
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_decorated_functions_are_checked_at_numbers_of_their_types(
    capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "tried.py", "--json"]) == 0
    first = rows(capsys)
    assert [(row["function"], row["mode"]) for row in first] == [
        ("loss", "forward"), ("loss", "reverse")]
    assert main(["check", "tried.py:either", "--order", "2", "--json"]) == 0
    second = rows(capsys)
    assert [row["mode"] for row in second] == [
        "forward", "forward of forward", "reverse of forward",
        "reverse", "forward of reverse", "reverse of reverse"]
    assert max(row["error"] for row in first + second) < 1e-8
    assert all(row["derivative"] != 0.0 for row in first + second)


@pytest.mark.parametrize(("target", "given"), [
    ("either", ""), ("either", "z: 1j, p: (2.0, 3), flag: True"),
    ("plain", "x: array([0.5, 1.5]), y: 2.0"), ("plain", "x: float64[:], y: float"),
    ("plain", "x: float64[4], y: 2.0"),
])
def test_arguments(target: str, given: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"tried.py:{target}", "--args", given]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["function", "mode", "derivative", "differences", "error"]
    assert [line.split()[:2] for line in lines] == [[target, "forward"], [target, "reverse"]]
    assert all(float(line.split()[-1]) < 1e-8 for line in lines)


def test_wrong_and_refused_derivatives(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "tried.py:doubled", "--args", "x: 1.5"]) == 1
    out, err = capsys.readouterr()
    assert err == "not right: doubled\n" and "reverse" in out
    assert float(out.splitlines()[-1].split()[2]) == pytest.approx(
        1.5 * float(out.splitlines()[-1].split()[3]), rel=1e-6)
    assert main(["check", "tried.py:refused"]) == 1
    assert "eval() sees variables by name" in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "message"), [
    (["check", "tried.py:plain"], "the type of x is not known: add e.g."),
    (["check", "tried.py:plain", "--args", "x: 1.0"], "plain needs y"),
    (["check", "tried.py:plain", "--args", "x: 1.0, u: 2.0"], "no parameter u"),
    (["check", "tried.py:either", "--order", "0"], "--order is 1, 2, ..."),
    (["check", "tried.py:nothing"], "has no function nothing"),
    (["bench", "tried.py:plain", "--args", "x: float64[:, "], "is no type"),
])
def test_command_lines_that_make_no_sense(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_times(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("llvmlite")
    before = os.environ.get("ADCOMPILER_CACHE_DIR")
    target = ["bench", "tried.py:plain", "--args", "x: float64[1000], y: 2.0", "--seconds", "0.01"]
    assert main([*target, "--json"]) == 0
    found = rows(capsys)
    assert [row["backend"] for row in found] == ["python", "native"]
    for row in found:
        assert set(row) == {
            "function", "backend", "cold", "warm", "primal", "derivative", "ratio"}
        assert row["ratio"] == row["derivative"] / row["primal"] > 0.0
        assert row["cold"] > row["warm"] > row["derivative"] > 0.0
    assert os.environ.get("ADCOMPILER_CACHE_DIR") == before
    assert main([*target, "--mode", "grad", "--argnums", "y", "--backend", "python"]) == 0
    head, line = capsys.readouterr().out.splitlines()
    assert head.split() == [
        "function", "backend", "cold", "warm", "function", "itself", "grad", "ratio"]
    assert line.startswith("plain ")


def test_what_one_backend_refuses_is_timed_by_the_other(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> Any:
        raise ADError("no loops for this\nat all")

    true = trials.first_calls
    monkeypatch.setattr(
        trials, "first_calls", lambda f, options, args: (
            refused if options.backend == "native" else true)(f, options, args))
    target = ["bench", "tried.py:plain", "--args", "x: float64[10], y: 2.0", "--seconds", "0.01"]
    assert main([*target, "--json"]) == 0
    out, err = capsys.readouterr()
    assert [row["backend"] for row in json.loads(out)] == ["python"]
    assert err == "plain: native: no loops for this\n"
    assert main([*target, "--backend", "native"]) == 1


def test_the_least_time_is_that_of_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, costs = [0.0], iter([5e-4, 3e-4, 3e-4, *[4e-4] * 100])
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])

    def work(factor: float) -> None:
        clock[0] += factor * next(costs)

    assert least_time(work, (2.0,), 0.02) == pytest.approx(6e-4)  # rounds of 1, 1, 1, ... calls
    assert clock[0] >= 0.02
    assert [seconds(x) for x in (2.5, 0.0031, 4.2e-5, 7e-9)] == ["2.5 s", "3.1 ms", "42 us", "7 ns"]


def test_completion() -> None:
    pytest.importorskip("argcomplete")
    line = "adcompiler ch"
    done = subprocess.run(
        [sys.executable, "-m", "adcompiler"], check=False, capture_output=True, text=True,
        env={**os.environ, "_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)),
             "_ARGCOMPLETE_STDOUT_FILENAME": "words", "_ARGCOMPLETE_IFS": "\n"})
    assert Path("words").read_text(encoding="utf-8").split() == ["check", "check-classification"], (
        done.stderr)


def test_patterns_and_rules_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sparsity", "tried.py:doubled", "--args", "x: float64[3]", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["shape"], found["nonzeros"], found["indices"]) == ([3, 3], 9, [0, 1, 2] * 3)
    assert main(["rules", "--json"]) == 0
    sin = next(row for row in rows(capsys) if row["function"] == "numpy.sin")
    assert sin["kind"] == "elementwise"
    assert main(["rules", "numpy.sin", "--json"]) == 2
