"""The command line as a whole, ``rules`` and ``cache``."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import adcompiler
from adcompiler import grad
from adcompiler.cli import main
from adcompiler.cli.rules import function_named


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, wanted in (
        (["--version"], f"adcompiler {adcompiler.__version__}\n"), (["--help"], "exit codes: 0"),
        (["dump", "--help"], "MODULE_OR_FILE[:FUNCTION]"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
        assert wanted in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [[], ["nonsense"], ["dump", "m", "--stage", "x"], ["cache"], ["cache", "burn"],
     ["dump", "m", "--mode", "sideways"], ["rules", "a", "b"]],
)
def test_usage_errors_exit_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("usage: adcompiler")


def test_a_reader_that_leaves_early_is_no_error() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "adcompiler", "rules", "numpy.sin"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 0


# --- rules ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table() -> str:
    """All rules, as a process of its own lists them: other tests register some that are theirs."""
    command = [sys.executable, "-m", "adcompiler", "rules"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_table_has_every_kind_of_entry(table: str) -> None:
    rows = table.splitlines()
    assert re.split(r"\s{2,}", rows[0]) == [
        "function", "kind", "wrt", "reverse", "forward", "second order", "classification", "kink",
    ]
    found = {tuple(re.split(r"\s{2,}", row)[:2]) for row in rows[1:]}
    assert {
        ("numpy.sin", "elementwise"), ("operator.matmul", "bilinear"), ("math.exp", "elementwise"),
        ("numpy.floor", "not differentiable"), ("numpy.ndarray.sum", "alias of numpy.sum"),
    } <= found
    assert not any("0x" in row for row in rows)
    entries = {row.split()[0]: re.split(r"\s{2,}", row)[1:] for row in rows[1:-1]}
    assert entries["numpy.sin"][2:6] == ["partials", "partials", "from its text", "s"]
    assert entries["numpy.divide"][2:6] == ["partials", "partials", "from its text", "fsc"]
    assert entries["numpy.cumsum"][2:5] == ["pullback", "the function itself", "from its text"]
    assert entries["numpy.linalg.det"][2:5] == ["pullback", "transposed", "from its text"]
    counts = re.fullmatch(
        r"(\d+) rules, (\d+) aliases, (\d+) functions without a derivative", rows[-1])
    assert counts is not None
    assert sum(map(int, counts.groups())) == len(rows) - 2


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("numpy.sin", ["numpy.sin", "kind         elementwise", "wrt          x", "np.cos",
                       "reverse      partials", "second order from its text", "vanishing    s"]),
        ("np.abs", ["numpy.absolute", "kink "]),
        ("numpy:sum", ["signature    (", "def "]),
        ("abs", ["abs", "elementwise"]),
        ("operator.mul", ["wrt          x, y", "types "]),
        ("numpy.ndarray.sum", ["alias of     numpy.sum", "wrt "]),
        ("numpy.floor", ["declaration  its results carry no derivative"]),
        ("numpy.linalg.norm", ["numpy.linalg.norm", "kink "]),
    ],
)
def test_one_rule(name: str, wanted: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", name]) == 0
    output = capsys.readouterr().out
    for text in wanted:
        assert text in output


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("numpy.sinn", "no rule covers numpy.sinn; did you mean numpy.sin"),
        ("no_such_module.f", "no rule covers no_such_module.f; see `adcompiler rules`"),
        ("numpy.lookfor", "no rule covers numpy.lookfor"),
    ],
)
def test_no_rule_exits_with_1(
    name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rules", name]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(message)


def test_every_name_in_the_table_can_be_looked_up(table: str) -> None:
    names = {row.split()[0] for row in table.splitlines()[1:-1]}
    assert [name for name in sorted(names) if function_named(name) is None] == []


def test_rules_of_a_module_of_ones_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rules_of_ones_own.py").write_text(
        "from adcompiler import scalar_rule\n"
        "def cube(x):\n    return x**3\n"
        "scalar_rule(cube, lambda x: 3.0 * x**2)\n", encoding="utf-8",
    )
    assert main(["rules", "--load", str(tmp_path / "rules_of_ones_own.py"),
                 "rules_of_ones_own.cube"]) == 0
    assert "rules_of_ones_own.cube" in capsys.readouterr().out


# --- cache ------------------------------------------------------------------------------------


def test_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", str(tmp_path))
    assert grad(lambda x: x * x)(3.0) == 6.0
    assert main(["cache", "info"]) == 0
    lines = capsys.readouterr().out.splitlines()
    fields = dict(line.split(maxsplit=1) for line in lines)
    assert list(fields) == ["path", "entries", "bytes"]
    assert Path(fields["path"]).parent == tmp_path
    assert fields["entries"] == "1"
    assert int(fields["bytes"]) > 100
    assert main(["cache", "path"]) == 0
    assert capsys.readouterr().out == f"{fields['path']}\n"
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr().out == "removed 1 entries\n"
    assert not list(tmp_path.rglob("*.py"))


def test_a_cache_that_is_off(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "off")
    assert main(["cache", "path"]) == 0
    assert capsys.readouterr().out == "off\n"
