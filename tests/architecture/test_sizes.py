"""Files, functions and classes stay small enough to be read at once."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMITS = {
    "lines of file": 500, "lines of function": 60, "methods of class": 25, "files of folder": 30,
}
PARTED_LATER: dict[str, int] = {}


def measured(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield the name, what is counted and the count of a file, its functions and classes.

    The file itself has no name; what is inside a class or function has its dotted name. Docstrings
    of functions do not count: they are read without the code.
    """
    yield "", "lines of file", text.count("\n")

    def inside(node: ast.AST, path: str) -> Iterator[tuple[str, str, int]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                continue  # no function is defined in there
            if not isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield from inside(child, path)
                continue
            name = f"{path}.{child.name}".lstrip(".")
            if isinstance(child, ast.ClassDef):
                methods = [one for one in child.body if isinstance(one, ast.FunctionDef)]
                yield name, "methods of class", len(methods)
            else:
                assert child.end_lineno is not None
                first = child.body[0]
                told = ast.get_docstring(child) is not None and first.end_lineno is not None
                documentation = first.end_lineno - first.lineno + 1 if told else 0
                lines = child.end_lineno - child.lineno + 1 - documentation
                yield name, "lines of function", lines
            yield from inside(child, name)

    yield from inside(ast.parse(text), "")


def too_large(file: str, text: str) -> dict[str, int]:
    """Return what of a file is over its limit, by name."""
    return {
        f"{file} {name}".strip(): count
        for name, what, count in measured(text) if count > LIMITS[what]
    }


def files() -> list[str]:
    """Return every file that is shipped."""
    return [
        file.relative_to(ROOT).as_posix()
        for base in ("adcompiler", "rules/adcompiler_rules")
        for file in sorted((ROOT / base).rglob("*.py"))
    ]


def files_of_tests() -> list[str]:
    """Return every file of the tests."""
    return [file.relative_to(ROOT).as_posix() for file in sorted((ROOT / "tests").rglob("*.py"))]


def test_nothing_is_larger_than_its_limit() -> None:
    found: dict[str, int] = {}
    for file in files():
        found |= too_large(file, (ROOT / file).read_text(encoding="utf-8"))
    assert found == {}


def test_files_of_tests_are_no_longer() -> None:
    lengths = {
        file: (ROOT / file).read_text(encoding="utf-8").count("\n") for file in files_of_tests()
    }
    assert {f: n for f, n in lengths.items() if n > LIMITS["lines of file"]} == {}


def test_a_folder_holds_few_files() -> None:
    counts = Counter(Path(file).parent.as_posix() for file in files())
    assert {f: n for f, n in counts.items() if n > LIMITS["files of folder"]} == PARTED_LATER


def test_each_limit_is_one() -> None:
    lines = "        pass\n" * 60
    methods = "".join(f"    def f{i}(self): ...\n" for i in range(26))
    text = f"def long():\n{lines}class Large:\n{methods}class Small:\n    def f(self):\n{lines}"
    assert too_large("a.py", text) == {"a.py long": 61, "a.py Large": 26, "a.py Small.f": 61}
    documented = 'def long():\n        """One.\n\n        Two.\n        """\n' + lines
    assert too_large("a.py", documented) == {"a.py long": 61}
    assert too_large("a.py", "\n" * 501) == {"a.py": 501}
    assert too_large("a.py", "\n" * 500) == {}
