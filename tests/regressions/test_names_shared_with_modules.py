"""Functions and classes that share their name with a module, and compiled ones beside them."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from adcompiler import grad, value_and_grad
from adcompiler.cli import main

FILES = {
    "__init__.py": "from shared_names.calc import calc\nfrom shared_names.Name import Name\n",
    "calc.py": """
        THRESHOLD = 2.0

        def calc(x):
            return x * x * THRESHOLD if x > THRESHOLD else x
        """,
    "Name.py": """
        SCALE = 2.0

        class Name:
            FACTOR = 4.0

            def __init__(self, a):
                self.a = a

            def area(self, x):
                return self.a * x * x * SCALE

            @staticmethod
            def square(x):
                return x * x * SCALE

            @classmethod
            def scaled(cls, x):
                return x * cls.FACTOR
        """,
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "shared_names").mkdir()
    for name, text in FILES.items():
        (tmp_path / "shared_names" / name).write_text(textwrap.dedent(text), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("shared_names")]:
        monkeypatch.delitem(sys.modules, name)
    return __import__("shared_names")


def test_functions_with_the_name_of_their_module(package: Any) -> None:
    calc = package.calc
    assert value_and_grad(calc)(3.0) == (18.0, 12.0)
    assert grad(lambda x: calc(x) * x)(3.0) == 54.0
    assert grad(lambda x: package.calc(x) * x)(1.0) == 2.0


def test_classes_with_the_name_of_their_module(package: Any) -> None:
    name = package.Name
    made = name(2.0)
    assert grad(made.area)(3.0) == 24.0
    assert grad(lambda x, n: n.area(x) * x)(3.0, made) == 108.0
    assert grad(lambda x: name(x).area(x))(3.0) == 54.0
    assert grad(lambda x: name.square(x) + name.scaled(x) + package.Name.square(x))(3.0) == 28.0
    assert [grad(name.square)(3.0), grad(name.scaled)(3.0)] == [12.0, 4.0]


@pytest.mark.parametrize("target", ["shared_names.calc:calc", "shared_names.Name:Name.square"])
def test_dumped_modules_import_the_module(
    target: str, package: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["dump", target]) == 0
    (tmp_path / "dumped_shared.py").write_text(capsys.readouterr().out, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "dumped_shared", raising=False)
    dumped = __import__("dumped_shared")
    (derivative,) = (v for k, v in vars(dumped).items() if k.endswith("_grad"))
    assert derivative(3.0) == 12.0


def test_files_are_dumped_by_their_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "statistics.py"  # the standard library has one of that name
    file.write_text("def mean(x):\n    return x * x * x\n", encoding="utf-8")
    assert main(["dump", f"{file}:mean"]) == 0
    (tmp_path / "dumped_mean.py").write_text(capsys.readouterr().out, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "dumped_mean", raising=False)
    assert __import__("dumped_mean").mean_grad(2.0) == 12.0


def test_functions_compiled_by_numba() -> None:
    numba = pytest.importorskip("numba")
    following = numba.njit(lambda n: n + 1)
    assert value_and_grad(lambda x, n: x * x * following(n))(1.5, 2) == (6.75, 9.0)
    assert grad(lambda x: following(x) * x)(1.5) == 4.0
