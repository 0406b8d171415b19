"""Every Python block of the README and of docs/ runs, and shows what it says.

The blocks of a document share one namespace and run in order. A block is written to a file whose
lines carry the document's own numbers, so that its functions have source and a traceback points
into the document. A comment on the line before a block says what is special about it:

- ``<!-- raises: UnsupportedError -->``: the block must raise this error.
- ``<!-- prints -->`` before a ``text`` block: exactly what the Python block before it printed.
- ``<!-- emitted: EXPRESSION -->``: the functions shown are, comments and layout aside, those of
  the emitted source that the expression gives in the document's namespace.

To write what is printed and emitted anew, and read the difference:
``python -m tests.docs.test_code_blocks``.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import os
import re
import sys
import tempfile
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from adcompiler import errors
from tests.together import each

ROOT = Path(__file__).resolve().parents[2]
ADDING = ROOT / "docs" / "adding"
"""Pages whose blocks are files of the compiler: ``tests/adding`` follows these."""

ALL = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
DOCUMENTS = [document for document in ALL if document.parent != ADDING]
FENCE = re.compile(r"^```(\w*)\s*$")
SITE = ("<!-- site: from here -->", "<!-- site: to here -->")
"""What of the README is on the first page of the site, too."""
COMMENT = re.compile(r"^<!--\s*(raises|prints|emitted)\s*(?::\s*(.*?))?\s*-->$")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, 1-based first line, text, and the comment before it."""

    language: str
    line: int
    text: str
    kind: str = ""
    detail: str = ""


def blocks(markdown: str) -> list[Block]:
    """Return the fenced blocks of a document, in order."""
    found = []
    lines = markdown.splitlines()
    position, kind, detail = 0, "", ""
    while position < len(lines):
        line = lines[position]
        if comment := COMMENT.match(line):
            kind, detail = comment[1], comment[2] or ""
        elif fence := FENCE.match(line):
            end = lines.index("```", position + 1)
            text = "\n".join(lines[position + 1 : end]) + "\n"
            found.append(Block(fence[1], position + 2, text, kind, detail))
            position, kind, detail = end, "", ""
        elif line.strip():
            kind, detail = "", ""
        position += 1
    return found


def error_class(name: str) -> type[BaseException]:
    """Return the error that a ``raises`` comment names: one of adcompiler's or a built-in."""
    found: type[BaseException] = getattr(errors, name, None) or getattr(builtins, name)
    return found


def functions(text: str) -> dict[str, str]:
    """Return the module-level functions of ``text`` by name, comments and docstrings aside."""
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            if ast.get_docstring(node) is not None:
                del node.body[0]
            found[node.name] = ast.unparse(node)
    return found


class Runner:
    """Runs the blocks of one document in one namespace, each from a file of its own."""

    def __init__(self, name: str, directory: Path) -> None:
        self.module = types.ModuleType(name)
        self.directory = directory
        self.printed = ""

    def run(self, block: Block) -> None:
        """Run one block, or check what it shows."""
        if block.kind == "emitted":
            emitted = functions(eval(block.detail, self.module.__dict__))
            for name, text in functions(block.text).items():
                assert text == emitted.get(name), f"line {block.line}: this is not what is emitted"
        elif block.language == "text" and block.kind == "prints":
            assert block.text == self.printed, f"line {block.line}: this is not what was printed"
        elif block.language == "python" and block.kind == "raises":
            with pytest.raises(error_class(block.detail)):
                self.execute(block)
        elif block.language == "python":
            self.execute(block)

    def present(self, block: Block) -> str | None:
        """Return what a block that shows something has to show; None for other blocks."""
        if block.language == "text" and block.kind == "prints":
            return self.printed
        if block.kind != "emitted":
            return None
        emitted = eval(block.detail, self.module.__dict__)
        rows = emitted.splitlines()
        wanted = [
            "\n".join(rows[node.lineno - 1 : node.end_lineno])
            for node in ast.parse(emitted).body if isinstance(node, ast.FunctionDef)
            if node.name in functions(block.text)
        ]  # fmt: skip
        name = next(iter(functions(block.text))).split("_")[0]
        return with_own_lines("\n\n\n".join(wanted), f"{name}.py") + "\n"

    def execute(self, block: Block) -> None:
        """Execute a Python block, keeping what it prints."""
        file = self.directory / f"{self.module.__name__}_{block.line}.py"
        text = "\n" * (block.line - 1) + block.text
        file.write_text(text, encoding="utf-8")
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(text, str(file), "exec"), self.module.__dict__)
        self.printed = output.getvalue()


def with_own_lines(text: str, name: str) -> str:
    """Return emitted text with the lines of the block that the function stands in, from 1."""
    return re.sub(
        r"\b\w+_(\d+)\.py:(\d+)", lambda m: f"{name}:{int(m[2]) - int(m[1]) + 1}", text
    )


RECORDING = frozenset({"cli.md", "recorder.md"})
"""Pages that tell what is recorded, as it is for users."""


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_block_runs(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Runner(document.stem.lower().replace("-", "_"), tmp_path)
    monkeypatch.setitem(sys.modules, runner.module.__name__, runner.module)
    monkeypatch.chdir(tmp_path)
    record = {"ADCOMPILER_RECORD": "1"} if document.name in RECORDING else {}
    with mock.patch.dict(os.environ, record):  # of which pages set some
        for block in blocks(document.read_text(encoding="utf-8")):
            runner.run(block)


@each("document", ALL, ids=lambda path: path.name)
def test_every_comment_is_one_that_is_known(document: Path) -> None:
    for line in document.read_text(encoding="utf-8").splitlines():
        if line.startswith("<!--"):
            assert COMMENT.match(line) or line in SITE, f"{document.name}: {line}"


@each("document", ALL, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        if path.startswith(("http:", "https:")):
            continue
        file = document.parent / path if path else document
        assert file.exists(), f"{document.name} links to {target}"
        assert not anchor or anchor in anchors(file), f"{document.name} links to {target}"


def test_every_section_that_an_error_names_exists() -> None:
    there = anchors(ROOT / "docs" / "limitations.md")
    for file in (ROOT / "adcompiler").rglob("*.py"):
        assert named_anchors(file.read_text(encoding="utf-8")) - there == set(), file.name


def named_anchors(text: str) -> set[str]:
    """Return the anchors in source ``text``: ``anchor="..."`` or the last of a ``Rejection``."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.keyword(arg="anchor", value=ast.Constant(value=str(anchor))):
                found.add(anchor)
            case ast.Call(
                func=ast.Name(id="Rejection"), args=[_, _, ast.Constant(value=str(anchor))]
            ):
                found.add(anchor)
    return found - {""}


def anchors(file: Path) -> set[str]:
    """Return the places of a document that a link can name: headings and explicit anchors."""
    text = file.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, flags=re.M)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([\w-]+)"></a>', text))


def run_all(markdown: str, tmp_path: Path) -> dict[str, Any]:
    """Run the blocks of ``markdown`` and return the namespace they leave."""
    runner = Runner("sample", tmp_path)
    for block in blocks(markdown):
        runner.run(block)
    return vars(runner.module)


def test_blocks_share_a_namespace_and_keep_their_lines(tmp_path: Path) -> None:
    text = "```python\nx = 1\n```\nthen\n```python\ndef f(): return x + 1\ny = f()\n```\n"
    namespace = run_all(text, tmp_path)
    assert namespace["y"] == 2
    assert namespace["f"].__code__.co_firstlineno == 6


@pytest.mark.parametrize(
    "markdown",
    [
        "<!-- raises: UnsupportedError -->\n```python\nx = 1\n```\n",
        "```python\nprint(1)\n```\n<!-- prints -->\n```text\n2\n```\n",
        "```python\ns = 'def f(x): return x'\n```\n"
        "<!-- emitted: s -->\n```python\ndef f(x): return 2 * x\n```\n",
    ],
)
def test_a_document_that_says_something_else_fails(markdown: str, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        run_all(markdown, tmp_path)


def test_a_document_that_is_right_passes(tmp_path: Path) -> None:
    run_all(
        "<!-- raises: ZeroDivisionError -->\n```python\n1 / 0\n```\n"
        "```python\nprint('a')\ns = 'def f(x): return x  # why'\n```\n"
        "<!-- prints -->\n```text\na\n```\n"
        "<!-- emitted: s -->\n```python\ndef f(x):\n    return x\n```\n",
        tmp_path,
    )


def rewrite(document: Path, directory: Path) -> None:
    """Write anew what the blocks of a document show."""
    runner = Runner(document.stem.lower().replace("-", "_"), directory)
    sys.modules[runner.module.__name__] = runner.module
    rows = document.read_text(encoding="utf-8").splitlines()
    moved = 0
    for block in blocks("\n".join(rows)):
        present = runner.present(block)
        if present is None:
            runner.run(block)
            continue
        first = block.line - 1 + moved
        new = present.rstrip("\n").splitlines()
        old = len(block.text.splitlines()) if block.text.strip() else 0
        rows[first : first + old] = new
        moved += len(new) - old
    document.write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        os.environ["ADCOMPILER_CACHE_DIR"] = name
        os.chdir(name)
        for each in DOCUMENTS:
            rewrite(each, Path(name))
