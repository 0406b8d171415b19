"""What is too large to be compiled is kept on disk: later processes do not try it again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adcompiler import grad
from adcompiler.errors import TooLongError

LARGE = '''
def step(x):
    y = x * x
    y = y * x + {constant}
    y = y * x + 2.0
    y = y * x + 3.0
    return y * x


def f(x):
    return step(x) + step(2.0 * x)
'''
PROGRAM = '''
import json, os, warnings

os.environ.update(ADCOMPILER_BUDGET="{budget}", ADCOMPILER_RECORD="1", ADCOMPILER_VERIFY="")
warnings.simplefilter("ignore")

from adcompiler import ADError, grad, hessian, hvp
from adcompiler.support.budget import Budget
from adcompiler.record.running import Recorded
from kept_large import f

spent, recorded = [], []
spend, init = Budget.spend, Recorded.__init__
Budget.spend = lambda *args: (spent.append(1), spend(*args))[1]
Recorded.__init__ = lambda *args, **kwargs: (recorded.append(1), init(*args, **kwargs))[1]
try:
    found = float({call})
except ADError as error:
    found = str(error)
print(json.dumps([found, len(spent), len(recorded)]))
'''


def test_what_is_too_large_is_not_tried_by_other_processes(
    python: Callable[[str], str], tmp_path: Path
) -> None:

    def run(call: str, budget: str = "15") -> Any:
        return json.loads(python(PROGRAM.format(call=call, budget=budget)))

    (tmp_path / "kept_large.py").write_text(LARGE.format(constant=1.0), encoding="utf-8")
    for call, wanted in (
        ("grad(f)(1.0)", 446.0), ("hessian(f)(1.0)", 2024.0), ("hvp(f, 1.0, 2.0)", 4048.0),
    ):
        found, spent, recorded = run(call)
        assert (found, recorded) == (wanted, 1) and spent > 15, call
        assert run(call) == [wanted, 0, 1], call  # the second process
    assert run("grad(f)(1.0) + grad(f)(1)") == [2 * 446.0, 0, 2]  # of the same types
    refused = "grad(f, fallback='refuse')(1.0)"
    said, spent, recorded = run(refused)
    assert "kept_large.py:11:22: the function is too large to compile: 16 statements" in said
    assert (spent, recorded) == (0, 0)

    found, spent, recorded = run("grad(f)(1.0)", budget="1000")  # more is allowed: it is tried
    assert (found, recorded) == (446.0, 0) and spent > 15
    (tmp_path / "kept_large.py").write_text(LARGE.format(constant=4.0), encoding="utf-8")
    found, spent, recorded = run("grad(f)(1.0)")  # what is called has changed: it is tried again
    assert (found, recorded) == (527.0, 1) and spent > 15


def test_time_decides_nothing_but_that_a_compile_ends(
    python: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compile that takes too long is refused loudly: not recorded, and not kept."""
    monkeypatch.setenv("ADCOMPILER_RECORD", "1")
    monkeypatch.setenv("ADCOMPILER_BUDGET", "inf,1e-9")
    with pytest.raises(TooLongError, match="seconds went into it"):
        grad(lambda x: sum([x * k for k in range(1, 9)]) * x)(1.0)
    (tmp_path / "kept_large.py").write_text(LARGE.format(constant=1.0), encoding="utf-8")
    said, _, recorded = json.loads(python(PROGRAM.format(
        call="grad(f)(1.0)", budget="inf,1e-9")))
    assert "seconds went into it" in said and recorded == 0
    again = json.loads(python(PROGRAM.format(call="grad(f)(1.0)", budget="inf")))
    assert again[0] == 446.0 and again[2] == 0
