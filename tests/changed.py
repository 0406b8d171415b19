"""Runs the tests of what differs from main: ``python -m tests.changed``, or ``make test-changed``.

These are, of the first lane: tests that were changed, and those that import a changed module of the
tests; for a module of the compiler those that import it themselves, those of the folders that its
package has, and golden files and architecture in any case; for a page those of the documentation.
It is a first answer, not a proof: almost every test compiles, and so reaches every stage.
"""

from __future__ import annotations

import argparse
import ast
import functools
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ALWAYS = ("tests/architecture", "tests/golden")
FOLDERS = {
    "adcompiler/analyses": ("tests/ir_cases", "tests/ops"),
    "adcompiler/api": ("tests/api", "tests/operators"),
    "adcompiler/backends/native": ("tests/native",),
    "adcompiler/backends": ("tests/backends",),
    "adcompiler/batching": ("tests/infer", "tests/operators"),
    "adcompiler/cache": ("tests/cache",),
    "adcompiler/cli": ("tests/cli",),
    "adcompiler/compile": ("tests/api", "tests/infer"),
    "adcompiler/derive": ("tests/language", "tests/forward"),
    "adcompiler/dispatch": ("tests/api", "tests/cache"),
    "adcompiler/frontend": ("tests/frontend", "tests/language"),
    "adcompiler/interop": ("tests/interop",),
    "adcompiler/ir": ("tests/ir", "tests/ir_cases"),
    "adcompiler/ops": ("tests/ops",),
    "adcompiler/optimise": ("tests/optimise", "tests/ir_cases"),
    "adcompiler/parallel": ("tests/parallel",),
    "adcompiler/prelude": ("tests/prelude", "tests/language", "tests/infer"),
    "adcompiler/products": ("tests/api", "tests/operators"),
    "adcompiler/record": ("tests/record",),
    "adcompiler/rulekit": ("tests/rulekit", "tests/rules"),
    "adcompiler/runtime": ("tests/rules", "tests/language"),
    "adcompiler/sparsity": ("tests/sparsity",),
    "adcompiler/infer": ("tests/infer", "tests/language"),
    "adcompiler/support": ("tests/test_structs.py", "tests/costs"),
    "adcompiler/tracers.py": ("tests/sparsity",),
    "adcompiler/typed": ("tests/infer", "tests/ir_cases"),
    "adcompiler/viewer": ("tests/viewer",),
    "benchmarks": ("tests/suite",),
    "docs": ("tests/docs",),
    "examples": ("tests/examples", "tests/docs"),
    "pyproject.toml": ("tests/packaging",),
    "README.md": ("tests/docs",),
    "rules": ("tests/rules", "tests/ops"),
}
"""Where the tests are of a package, a file or a folder; the longest name decides."""


def main(arguments: list[str] | None = None) -> int:
    """Run the tests of what differs, and return how that ended."""
    parser = argparse.ArgumentParser(prog="python -m tests.changed", description=__doc__)
    parser.add_argument("--base", default="main", help="what the tree is compared with")
    parser.add_argument("--list", action="store_true", help="print the tests, run none")
    options, others = parser.parse_known_args(arguments)
    tests = chosen(differing(options.base))
    print("\n".join(tests), flush=True)
    if options.list:
        return 0
    command = [sys.executable, "-m", "pytest", "--lane=first", *others, *tests]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def differing(base: str) -> list[str]:
    """Return the files that differ from where the tree left ``base``, those not added too."""

    def git(*arguments: str) -> list[str]:
        run = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
        return run.stdout.split("\n")[:-1]

    (root,) = git("merge-base", base, "HEAD")
    return [*git("diff", "--name-only", root), *git("ls-files", "--others", "--exclude-standard")]


def chosen(files: Iterable[str]) -> list[str]:
    """Return the files and folders of tests for files that differ, each once."""
    files = list(files)
    importers = imports_of_tests()
    found: set[str] = set(ALWAYS)
    for file in files:
        found.update(folders_of(file))
        if file.endswith(".py"):
            found.update(tests_that_import(module_of(file), importers))
        if file.startswith("tests/") and is_test(file):
            found.add(file)
        elif file.startswith("tests/"):
            found.add("/".join(file.split("/")[:2]) if file.count("/") > 1 else ALWAYS[0])
    there = {one for one in found if (ROOT / one).exists()}
    return sorted(
        one for one in there if not any(f"{other}/" in f"{one}/"[:-1] for other in there))


def folders_of(file: str) -> tuple[str, ...]:
    """Return the folders with the tests of a file."""
    fitting = [name for name in FOLDERS if file == name or file.startswith(f"{name}/")]
    return FOLDERS[max(fitting, key=len)] if fitting else ()


def module_of(file: str) -> str:
    """Return the dotted name of the module that a file is."""
    name = file.removesuffix(".py").removeprefix("rules/").replace("/", ".")
    return name.removesuffix(".__init__")


def is_test(file: str) -> bool:
    """Say whether pytest collects a file."""
    return Path(file).name.startswith("test_") and file.endswith(".py")


@functools.cache
def imports_of_tests() -> dict[str, set[str]]:
    """Return which files of the tests import a module, or a name that may be one."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if "golden" in path.parts:
            continue
        file = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [name.name for name in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
            for name in names:
                found.setdefault(name, set()).add(file)
    return found


def tests_that_import(module: str, importers: dict[str, set[str]]) -> set[str]:
    """Return the files with tests that import a module, or one of the tests that does."""
    found: set[str] = set()
    waiting, seen = [module], {module}
    while waiting:
        for file in importers.get(waiting.pop(), ()):
            if is_test(file):
                found.add(file)
            if (name := module_of(file)) not in seen:
                seen.add(name)
                waiting.append(name)
    return found


if __name__ == "__main__":
    sys.exit(main())
