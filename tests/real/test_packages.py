"""The functions of packages that are tried by hand: the command, and some of them if installed."""

from __future__ import annotations

import importlib.metadata
import json
import re
from pathlib import Path

import pytest

from tests.lanes import one_in
from tests.real.packages.__main__ import GROUPS, main, summary, table
from tests.real.packages.cases import Outcome, case, judge

REQUIRED = Path(__file__).parent / "requirements.txt"
EASY = [(package, one) for package, cases in GROUPS.items() for one in cases[:1]]


@pytest.mark.parametrize(("package", "one"), one_in(4, EASY))
def test_a_function_of_each_package(package: str, one: object) -> None:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{package} is not installed")
    found = judge(package, one)  # type: ignore[arg-type]
    assert found.result in ("right", "refused"), found.text


def test_there_are_many_and_each_package_is_required() -> None:
    assert len(GROUPS) >= 50 and sum(map(len, GROUPS.values())) >= 400
    lines = [line for line in REQUIRED.read_text().splitlines() if not line.startswith("#")]
    names = {re.sub(r"[-_.]+", "-", line.partition("==")[0]).lower() for line in lines}
    assert {re.sub(r"[-_.]+", "-", name).lower() for name in GROUPS} == names


@pytest.mark.parametrize(("target", "arguments", "result"), [
    ("math:hypot", (3.0, 4.0), "right"), ("scipy.special:mathieu_a", (2, 0.3), "refused"),
    ("math:sqrt", (-1.0,), "broken"), ("numpy:floor", (0.0,), "wrong"),
])
def test_what_comes_of_a_function(
    target: str, arguments: tuple[object, ...], result: str
) -> None:
    assert judge("python", case(target, *arguments)).result == result


def test_the_command_writes_a_log_and_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    one = Outcome("numpy", "numpy.sum", "refused", 0.25, "a.py:1:2: not | known\n  more")
    log.write_text(json.dumps(vars(one)) + "\n")
    monkeypatch.setattr("sys.argv", ["packages", "--log", str(log), "--table"])
    main()
    printed = capsys.readouterr()
    version = importlib.metadata.version("numpy")
    assert f"| numpy {version} | 0 of 1 | `sum`: refused, not \\| known |" in printed.out
    assert "1 functions of 1 packages: 0 right, 1 refused" in printed.err
    assert len(list(table([one]))) == 3 and "0.25 s median" in summary([one])
