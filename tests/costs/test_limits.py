"""Programs that grow in some way are compiled, or refused with the construct that is too much.

The long ones are of the slow lane: ``ADCOMPILER_LIMITS=1``.
"""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adcompiler import grad
from adcompiler.errors import TooLargeError
from tests.lanes import one_in

slow = pytest.mark.skipif("ADCOMPILER_LIMITS" not in os.environ, reason="ADCOMPILER_LIMITS=1")


def made(text: str, monkeypatch: pytest.MonkeyPatch, directory: Path) -> Any:
    """Return the function ``f`` of a module with this text."""
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "off")
    name = f"limits_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    (directory / f"{name}.py").write_text(f"import math\n{text}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(directory))
    return __import__(name).f


def early_returns(count: int) -> str:
    rows = [
        f"    if x > {100 - i}.0:\n        return x * {i}.0\n    x = x * 1.1" for i in range(count)
    ]
    return "\n".join(["def f(x):", *rows, "    return x"])


def attempts(count: int) -> str:
    rows = [
        f"    try:\n        x = math.sqrt(x - {i}.0) + x\n    except ValueError:\n"
        f"        x = x * {i + 1}.5" for i in range(count)
    ]
    return "\n".join(["def f(x):", *rows, "    return x"])


def helpers(count: int, calls: str) -> str:
    """Return a chain of functions, each of which calls the one before it, maybe in two places."""
    rows = ["def h0(x):\n    return x * 1.01"]
    rows += [f"def h{i + 1}(x):\n    {calls.format(f'h{i}')}" for i in range(count)]
    return "\n".join([*rows, f"def f(x):\n    return h{count}(x)"])


ONCE = "y = {0}(x)\n    return math.sin(y) + x"
TWICE = "return {0}(x) + {0}(x * 0.5)"
IN_ARMS = "if x > 5.0:\n        return {0}(x) * 2.0\n    y = {0}(x)\n    return math.sin(y) + x"


def slope(f: Any, x: float) -> float:
    """Return a difference quotient of second order."""
    return (f(x + 1e-6) - f(x - 1e-6)) / 2e-6


@pytest.mark.parametrize("text", one_in(2, [
    early_returns(30), attempts(20), helpers(300, ONCE), helpers(14, TWICE), helpers(16, IN_ARMS),
]), ids=["30 early returns", "20 try", "300 helpers", "14 that call twice", "16 that call in arms"])
def test_long_programs_are_compiled(
    text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ADCOMPILER_BUDGET", "60000,120")
    f = made(text, monkeypatch, tmp_path)
    assert grad(f)(0.3) == pytest.approx(slope(f, 0.3), rel=1e-6)


def test_calls_in_two_places_do_not_double_the_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What each function leads to is counted: 16 functions would be opened 65,000 times."""
    from adcompiler.support.budget import Budget

    counts = []
    real = Budget.spend

    def spend(self: Budget, *rest: Any) -> None:
        real(self, *rest)
        counts.append(1)

    monkeypatch.setattr(Budget, "spend", spend)
    totals = []
    for count in (16, 24):
        counts.clear()
        grad(made(helpers(count, TWICE), monkeypatch, tmp_path))(0.3)
        totals.append(len(counts))
    assert totals[0] < 10_000
    assert totals[1] < 1.5 * totals[0]


def refused(text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return the one finding by which a program is refused."""
    with pytest.raises(TooLargeError) as caught:
        grad(made(text, monkeypatch, tmp_path))(0.3)
    (finding,) = caught.value.findings
    assert finding.anchor == "budget"
    return finding


def test_values_that_double(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = "".join("    t = (t, t)\n" for _ in range(40))
    finding = refused(f"def f(x):\n    t = (x,)\n{rows}    return x * x\n", monkeypatch, tmp_path)
    assert "holds more than 50,000 others" in finding.problem
    assert (finding.line, finding.text.strip()) == (3 + 15, "t = (t, t)")


def test_more_exits_of_a_loop_than_branches_nest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = "".join(
        f"        if x > {100 + i}.0:\n            break\n        if x < -1.0:\n"
        "            continue\n        x = x * 1.1\n" for i in range(60))
    text = f"def f(x):\n    while True:\n{rows}    return x\n"
    finding = refused(text, monkeypatch, tmp_path)
    assert finding.problem.startswith("120 statements leave this loop")
    assert (finding.line, finding.text.strip()) == (3, "while True:")


def test_a_chain_that_takes_too_long_names_a_call(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ADCOMPILER_BUDGET", "200")
    finding = refused(helpers(300, ONCE), monkeypatch, tmp_path)
    assert finding.text.strip().startswith(("y = h", "return h"))


STRAIGHT = """
import importlib, resource, sys
n = int(sys.argv[1])
rows = "".join(f"    y{i + 1} = math.sin(y{i}) * x + y{i // 2}\\n" for i in range(n))
open("straight.py", "w").write(f"import math\\ndef f(x):\\n    y0 = x\\n{rows}    return y{n}\\n")
sys.path.insert(0, "")
from adcompiler import grad
import straight
print(grad(straight.f)(0.3).hex(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@slow
@pytest.mark.skipif(sys.platform != "linux", reason="it measures memory as Linux does")
def test_five_thousand_lines_take_less_than_a_gigabyte(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STRAIGHT, "5000"], capture_output=True, text=True, cwd=tmp_path,
        env=os.environ | {"ADCOMPILER_VERIFY": "", "ADCOMPILER_BUDGET": "inf"}, timeout=300)
    assert done.returncode == 0, done.stderr
    number, megabytes = done.stdout.split()
    ys, slopes = [0.3], [1.0]
    for i in range(5000):
        ys.append(math.sin(ys[i]) * 0.3 + ys[i // 2])
        slopes.append(math.cos(ys[i]) * 0.3 * slopes[i] + math.sin(ys[i]) + slopes[i // 2])
    assert float.fromhex(number) == pytest.approx(slopes[-1], rel=1e-9)
    assert int(megabytes) < 1000


@slow
@pytest.mark.parametrize("text", [
    early_returns(90), attempts(300), helpers(60, TWICE),
], ids=["90 early returns", "300 try", "60 that call twice"])
def test_longer_programs(text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    f = made(text, monkeypatch, tmp_path)
    if "h60" not in text:
        assert grad(f)(0.3) == pytest.approx(slope(f, 0.3), rel=1e-6)
    else:  # which itself would take 2**60 calls
        from adcompiler import source

        assert "h59" in source(f, 0.3)
