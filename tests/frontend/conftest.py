"""What tests of the frontend share."""

from __future__ import annotations

import importlib.util
import itertools
import linecache
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

Load = Callable[..., ModuleType]


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Load]:
    """Return a function that writes a module, imports it and returns it."""
    counter = itertools.count()

    def write_and_import(text: str, path: Path | None = None) -> ModuleType:
        path = path or tmp_path / f"user_module_{next(counter)}.py"
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        code = compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True)
        exec(code, module.__dict__)
        return module

    yield write_and_import
    for file in [file for file in linecache.cache if str(file).startswith(str(tmp_path))]:
        del linecache.cache[file]
