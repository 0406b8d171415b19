"""Files that change after they were imported, and bytecode that others made of them."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import marshal
import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from adcompiler.errors import SourceNotFoundError
from adcompiler.frontend.sources.source import read_source

Load = Callable[..., ModuleType]


# --- files that change ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "edited",
    [
        "def f(x):\n    return x * 3.0\n",
        "def f(x):\n    return x / 2.0\n",
        "def f(x):\n    return x * 2\n",
        "def f(y):\n    return y * 2.0\n",
        "def f(x, y):\n    return x * 2.0\n",
        "def g(x):\n    return x * 2.0\n",
        "def f(x):\n    return (x * 2.0\n",
        "# nothing here\n",
    ],
    ids=["constant", "operator", "type", "name", "argument", "renamed", "broken", "empty"],
)
def test_changed_file(load: Load, tmp_path: Path, edited: str) -> None:
    module = load("def f(x):\n    return x * 2.0\n", tmp_path / "edited.py")
    (tmp_path / "edited.py").write_text(edited)
    with pytest.raises(SourceNotFoundError, match="has changed since it was imported"):
        read_source(module.f)


def test_a_function_that_has_moved_is_found_where_it_is(load: Load, tmp_path: Path) -> None:
    module = load("def f(x):\n    return x * 2.0\n", tmp_path / "edited.py")
    (tmp_path / "edited.py").write_text("\n# above\ndef f(x):\n    return x * 2.0\n")
    source = read_source(module.f)
    assert (source.first_line, source.text) == (3, "def f(x):\n    return x * 2.0\n")


def test_changed_indentation_is_seen(load: Load, tmp_path: Path) -> None:
    """The same instructions with another jump target."""
    module = load("def f(x):\n    if x:\n        x = 1\n        x = 2\n", tmp_path / "edited.py")
    (tmp_path / "edited.py").write_text("def f(x):\n    if x:\n        x = 1\n    x = 2\n")
    with pytest.raises(SourceNotFoundError, match="has changed"):
        read_source(module.f)


def test_changed_lambda(load: Load, tmp_path: Path) -> None:
    module = load("f = lambda x: x * 2.0\n", tmp_path / "edited.py")
    (tmp_path / "edited.py").write_text("f = lambda x: x * 3.0\n")
    with pytest.raises(SourceNotFoundError, match=r"edited\.py:1 does not compile"):
        read_source(module.f)


def test_reloaded_module(load: Load, tmp_path: Path) -> None:
    """Old lines in linecache do not hide the text of the new function, nor serve the old one."""
    path = tmp_path / "edited.py"
    old = load("def f(x):\n    return x * 2.0\n", path).f
    assert "2.0" in read_source(old).text
    new = load("def f(x):\n    return x * 300.0\n", path).f
    assert "2.0" in read_source(old).text  # linecache still has the text that old compiled from
    assert "300.0" in read_source(new).text
    with pytest.raises(SourceNotFoundError, match="has changed"):
        read_source(old)


def import_from_other_bytecode(
    directory: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> ModuleType:
    """Import a module whose .pyc file another compiler made of the file: its code differs."""
    path = directory / "compiled_elsewhere.py"
    path.write_text(text)
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body.insert(0, ast.parse("unused = 0").body[0])
        elif isinstance(node, ast.Lambda):
            choice = ast.IfExp(ast.Name("x", ast.Load()), node.body, node.body)
            node.body = ast.fix_missing_locations(ast.copy_location(choice, node.body))
    status = path.stat()
    header = importlib.util.MAGIC_NUMBER + struct.pack(
        "<III", 0, int(status.st_mtime), status.st_size
    )
    cached = Path(importlib.util.cache_from_source(path))
    cached.parent.mkdir(exist_ok=True)
    cached.write_bytes(header + marshal.dumps(compile(tree, str(path), "exec", dont_inherit=True)))
    monkeypatch.syspath_prepend(directory)
    monkeypatch.delitem(sys.modules, path.stem, raising=False)
    module = importlib.import_module(path.stem)
    monkeypatch.delitem(sys.modules, path.stem)
    return module


FROM_ELSEWHERE = (
    "def f(x, *a, k):\n    return x\n"
    "class C:\n    def m(self): return self\n"
    "g = lambda x: x, lambda x: -x, lambda x: lambda x: 2 * x\n"
)


def test_bytecode_of_another_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A .pyc file of another patch release of Python: same file, other code."""
    module = import_from_other_bytecode(tmp_path, FROM_ELSEWHERE, monkeypatch)
    assert "unused" in module.f.__code__.co_varnames
    assert read_source(module.f).snippet == "def f(x, *a, k):\n    return x\n"
    assert read_source(module.C.m).snippet == "def m(self): return self\n"
    assert [read_source(each).snippet for each in (*module.g, module.g[2](0))] == [
        "lambda x: x",
        "lambda x: -x",
        "lambda x: lambda x: 2 * x",
        "lambda x: 2 * x",
    ]


@pytest.mark.parametrize("touch", ["edit", "time", "bytecode gone", "bytecode cut", "other magic"])
def test_bytecode_of_another_compiler_proves_nothing_of_a_changed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, touch: str
) -> None:
    module = import_from_other_bytecode(tmp_path, FROM_ELSEWHERE, monkeypatch)
    path = tmp_path / "compiled_elsewhere.py"
    cached = Path(module.__spec__.cached or "")  # type: ignore[union-attr]
    if touch == "edit":
        path.write_text(FROM_ELSEWHERE.replace("return x", "return 2 * x"))
    elif touch == "time":
        os.utime(path, (0, 0))
    elif touch == "bytecode gone":
        cached.unlink()
    else:
        content = cached.read_bytes()
        cached.write_bytes(content[:30] if touch == "bytecode cut" else b"nope" + content[4:])
    for function in (module.f, module.g[0]):
        with pytest.raises(SourceNotFoundError, match="has changed since it was imported"):
            read_source(function)
