"""Functions that autoreload compiles by themselves are found in their files, if they are there."""

from __future__ import annotations

import ast
import importlib.util
import linecache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from adcompiler import SourceNotFoundError, grad
from adcompiler.frontend.sources.source import read_source

TEXT = """
import functools


def keep(f):
    return f


@keep
def f(x):
    # twice
    return (
        2.0 * x
    )


class A:
    def same(self, x):
        return x


class B:
    def same(self, x):
        return x
"""


@pytest.fixture
def module(tmp_path: Path) -> ModuleType:
    file = tmp_path / "reloaded_module.py"
    file.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("reloaded_module", file)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    linecache.checkcache(str(file))
    return found


def alone(module: ModuleType, name: str, filename: str) -> Any:
    """Return a function of a module compiled from its tree alone, as autoreload does."""
    (node,) = (one for one in ast.walk(ast.parse(TEXT)) if getattr(one, "name", "") == name)
    assert isinstance(node, ast.FunctionDef)
    node.decorator_list = []
    namespace: dict[str, Any] = {}
    exec(compile(ast.unparse(node), filename, "exec"), vars(module), namespace)
    return namespace[name]


def test_code_without_its_lines_is_found_on_them(module: ModuleType) -> None:
    module.f.__code__ = alone(module, "f", str(module.__file__)).__code__
    assert module.f.__code__.co_firstlineno == 1
    assert read_source(module.f).first_line == TEXT.splitlines().index("@keep") + 1
    assert grad(module.f)(3.0) == 2.0


def test_code_of_no_file_is_found_in_that_of_its_module(module: ModuleType) -> None:
    function = alone(module, "f", "<string>")
    source = read_source(function)
    assert source.file == module.__file__ and "# twice" in source.text
    assert grad(function)(3.0) == 2.0


def test_other_code_is_not_taken_for_that_of_the_file(module: ModuleType) -> None:
    namespace: dict[str, Any] = {}
    for filename in (str(module.__file__), "<string>"):
        exec(compile("def f(x): return 3.0 * x", filename, "exec"), vars(module), namespace)
        with pytest.raises(SourceNotFoundError):
            grad(namespace["f"])(3.0)


def test_of_several_texts_none_is_taken(module: ModuleType) -> None:
    namespace: dict[str, Any] = {}
    text = "def same(self, x):\n    return x"
    exec(compile(text, str(module.__file__), "exec"), vars(module), namespace)
    with pytest.raises(SourceNotFoundError):
        read_source(namespace["same"])
