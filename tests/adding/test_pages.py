"""Each page of ``docs/adding`` is followed: its toy works, and touches as few files as it says.

A path in backquotes, alone on its line, names the file that the block below it stands in. A block
for a file that is there already runs in the module's names, as an addition to it; one for a new
file is a module of its own. The last one is the test, which must fail before the rest is there.
"""

from __future__ import annotations

import importlib
import re
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adcompiler.compile.backends import BACKENDS
from adcompiler.compile.modes import MODES
from adcompiler.frontend.forms import FORMS
from adcompiler.optimise.passes import PASSES
from adcompiler.rulekit import REGISTRY
from tests.docs.test_code_blocks import ADDING, ROOT, blocks

FILE = re.compile(r"^`([\w/]+\.py)`$")
LIMITS = {"rule": 1, "pass": 2, "mode": 2, "backend": 2, "syntax-form": 2}
"""How many files each addition touches beside its test."""

WAVES = "import math\ndef tone(x, k):\n    return numpy.sin(k * x)\n"


@pytest.fixture(autouse=True)
def tables() -> Iterator[None]:
    """Take the toys out of the tables again."""
    kept: list[dict[Any, Any]] = [MODES, BACKENDS, FORMS]  # type: ignore[list-item]
    before = [dict(table) for table in kept]
    passes = list(PASSES)
    yield
    PASSES[:] = passes
    for table, rows in zip(kept, before, strict=True):
        table.clear()
        table.update(rows)


@pytest.fixture(autouse=True)
def waves(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the library that has no rules, and no source."""
    library = types.ModuleType("waves")
    vars(library)["numpy"] = importlib.import_module("numpy")
    exec(WAVES, vars(library))
    monkeypatch.setitem(sys.modules, "waves", library)
    yield
    REGISTRY.remove(vars(library)["tone"])


class Followed:
    """The files of one page, as they are added in a directory."""

    def __init__(self, page: Path, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        text = page.read_text(encoding="utf-8")
        lines = text.splitlines()
        self.directory = directory
        self.monkeypatch = monkeypatch
        self.files: list[tuple[str, str]] = []
        for block in blocks(text):
            name = FILE.match(lines[block.line - 4])
            assert name is not None, f"line {block.line}: of which file is this?"
            self.files.append((name[1], block.text))

    def add(self, name: str, text: str) -> dict[str, Any]:
        """Run one file of the page; return its names."""
        dotted = name.removesuffix(".py").replace("/", ".")
        module = types.ModuleType(dotted)
        if (ROOT / name).exists():
            vars(module).update(vars(importlib.import_module(dotted)))
        else:
            self.monkeypatch.setitem(sys.modules, dotted, module)
        file = self.directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        exec(compile(text, str(file), "exec"), vars(module))
        return vars(module)

    def tests(self) -> list[Callable[..., None]]:
        """Return the tests of the page's last file, made anew."""
        names = self.add(*self.files[-1])
        return [value for name, value in names.items() if name.startswith("test_")]

    def run(self, test: Callable[..., None], cache: str) -> None:
        """Run a test with a cache of its own."""
        self.monkeypatch.setenv("ADCOMPILER_CACHE_DIR", str(self.directory / cache))
        if test.__code__.co_argcount:
            test(self.monkeypatch)
        else:
            test()


def test_there_is_a_page_for_each_addition() -> None:
    assert {page.stem for page in ADDING.glob("*.md")} == set(LIMITS)


@pytest.mark.parametrize("name", LIMITS)
def test_the_toy_works(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Followed(ADDING / f"{name}.md", tmp_path, monkeypatch)
    before = page.tests()
    assert before
    for test in before:
        with pytest.raises((Exception, pytest.fail.Exception)):
            page.run(test, "before")
    for file, text in page.files[:-1]:
        page.add(file, text)
    for test in page.tests():
        page.run(test, "after")


@pytest.mark.parametrize("name", LIMITS)
def test_it_touches_few_files(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Followed(ADDING / f"{name}.md", tmp_path, monkeypatch)
    *files, test = [file for file, _ in page.files]
    assert len(set(files)) <= LIMITS[name]
    assert test.startswith("tests/")
    assert all(file.startswith(("adcompiler/", "rules/")) for file in files)
