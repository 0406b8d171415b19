"""Imports run one way: each stage of the compiler knows only the stages before it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ORDER = (
    "errors", "support", "plot", "runtime", "smooth", "ir", "ops", "prelude",
    "rulekit", "typed", "frontend", "analyses", "optimise", "infer", "derive", "batching",
    "products", "backends", "cache", "sparsity", "tracers", "compile", "dispatch", "record",
    "viewer", "api", "interop", "parallel", "testing", "cli",
)  # fmt: skip
RULES_MAY_IMPORT = ("adcompiler.rulekit", "adcompiler.runtime", "adcompiler_rules")
RUNTIME_MAY_IMPORT = ("adcompiler.errors", "adcompiler.runtime", "numpy")
FOR_SCIPY = ("adcompiler.runtime.sparse.", "adcompiler_rules.kernels.scipy_")
KERNELS = ("adcompiler_rules.kernels",)
"""What emitted code calls where it calls SciPy: the other modules know NumPy only."""

FOR_LLVM = "adcompiler.runtime.machine.llvm"
"""What emitted loops are compiled by, where llvmlite is installed."""


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield ``(line, dotted name)`` of every import, those inside functions included.

    ``from a import b`` yields ``a.b``; relative imports start with a dot, star imports end in one.
    ``import_module("a.b")`` and ``__import__("a.b")`` count when their argument is a literal.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                yield from ((node.lineno, name.name) for name in node.names)
            case ast.ImportFrom():
                module = "." * node.level + (node.module or "")
                yield from ((node.lineno, f"{module}.{name.name}") for name in node.names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node.lineno, name


def within(name: str, packages: tuple[str, ...]) -> bool:
    """Say whether the dotted ``name`` is one of ``packages`` or lies inside one."""
    return any(name == package or name.startswith(package + ".") for package in packages)


def stage(name: str) -> str:
    """Return the stage a dotted name belongs to; the package's own front page is the last one."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ORDER else "__init__"


def rank(name: str) -> int:
    """Return the position of a dotted name's stage in the order."""
    return (*ORDER, "__init__").index(stage(name))


def complaints(module: str, text: str) -> list[str]:
    """Return what is wrong with the imports of the module ``module`` with source ``text``."""
    found = []
    for line, name in imports(ast.parse(text)):
        root = name.partition(".")[0]
        if name.startswith("."):
            problem = "is relative"
        elif name.endswith("*"):
            problem = "is a star import"
        elif within(module, ("adcompiler_rules",)) and not within(module, KERNELS):
            allowed = root != "adcompiler" or within(name, RULES_MAY_IMPORT)
            problem = "" if allowed else "is not open to rules"
        elif root == "adcompiler_rules" and not within(module, KERNELS):
            problem = "knows the rules, which arrive by entry points"
        elif within(module, ("adcompiler.runtime", *KERNELS)):
            allowed = root in sys.stdlib_module_names or within(name, (
                *RUNTIME_MAY_IMPORT, *(KERNELS if within(module, KERNELS) else ())))
            allowed = allowed or (root == "scipy" and module.startswith(FOR_SCIPY))
            allowed = allowed or (root == "llvmlite" and module == FOR_LLVM)
            problem = "" if allowed else "is neither NumPy nor the standard library"
        elif root == "adcompiler" and rank(name) > rank(module):
            problem = f"runs against the order: {stage(module)} comes before {stage(name)}"
        else:
            problem = ""
        if problem:
            found.append(f"{module}:{line}: the import of {name} {problem}")
    return found


def modules() -> dict[str, Path]:
    """Return the dotted name and file of every module that is shipped."""
    found = {}
    for base, package in ((ROOT, "adcompiler"), (ROOT / "rules", "adcompiler_rules")):
        for file in sorted((base / package).rglob("*.py")):
            parts = file.relative_to(base).with_suffix("").parts
            found[".".join(part for part in parts if part != "__init__")] = file
    return found


def test_imports_run_one_way() -> None:
    assert [
        complaint for module, file in modules().items()
        for complaint in complaints(module, file.read_text(encoding="utf-8"))
    ] == []


def test_every_module_of_the_compiler_has_a_place_in_the_order() -> None:
    names = {name.split(".")[1] for name in modules() if name.startswith("adcompiler.")}
    assert names - {*ORDER, "__main__"} == set()


@pytest.mark.parametrize(
    ("module", "text", "complaint"),
    [
        ("adcompiler.ir.nodes", "import adcompiler.api.grad", "ir comes before api"),
        ("adcompiler.ir.nodes", "from adcompiler import compile", "ir comes before compile"),
        ("adcompiler.ir.nodes", "import adcompiler", "ir comes before __init__"),
        ("adcompiler.ir", "def f():\n    from adcompiler.cli import main", "ir:2: "),
        ("adcompiler.errors", "from adcompiler.runtime import add", "errors comes before runtime"),
        ("adcompiler.backends", "import_module('adcompiler.cache')", "backends comes before cache"),
        ("adcompiler.ir.nodes", "from . import types", "is relative"),
        ("adcompiler.ir.nodes", "from adcompiler.errors import *", "is a star import"),
        ("adcompiler.api.grad", "import adcompiler_rules.operators", "arrive by entry points"),
        ("adcompiler.runtime.tapes", "import scipy.special", "neither NumPy nor the standard"),
        ("adcompiler.runtime.sparse.linalg", "import adcompiler.support", "neither NumPy nor"),
        ("adcompiler.runtime.tapes", "import adcompiler_rules.kernels", "knows the rules"),
        ("adcompiler_rules.kernels.a", "import adcompiler.rulekit", "neither NumPy nor"),
        ("adcompiler_rules.kernels.a", "import adcompiler_rules.b", "neither NumPy nor"),
        ("adcompiler.runtime.tapes", "import adcompiler.support", "neither NumPy nor the standard"),
        ("adcompiler_rules.operators", "from adcompiler.ir import nodes", "not open to rules"),
        ("adcompiler_rules.operators", "from adcompiler import rrule", "not open to rules"),
    ],
)
def test_a_violation_is_found(module: str, text: str, complaint: str) -> None:
    (found,) = complaints(module, text)
    assert complaint in found


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("adcompiler.backends.lower", "from adcompiler.backends.layout import x\nimport ast"),
        ("adcompiler.cli", "import adcompiler.errors, adcompiler.api.grad, rich"),
        ("adcompiler", "from adcompiler.api.grad import grad"),
        ("adcompiler.runtime.tapes", "import numpy as np\nfrom numpy.lib import x\nimport math"),
        ("adcompiler.runtime.sparse.linalg", "from scipy.linalg import lu_factor"),
        (
            "adcompiler_rules.operators",
            "import numpy, scipy.special\nfrom adcompiler.rulekit import rrule\n"
            "from adcompiler import runtime\nfrom adcompiler_rules.shapes import helper",
        ),
    ],
)
def test_what_the_order_allows_is_not_reported(module: str, text: str) -> None:
    assert complaints(module, text) == []


def circles(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules from which one gets back to them by way of what they import."""
    found = []
    for start in graph:
        seen: set[str] = set()
        waiting = list(graph[start])
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += graph.get(name, ())
        if start in seen:
            found.append(start)
    return found


def imported_when_loaded(file: Path, known: set[str]) -> set[str]:
    """Return the modules that a file imports when it is imported itself."""
    found = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for _, name in imports(node):
                found.add(name if name in known else name.rpartition(".")[0])
    return found & known


def test_modules_import_one_another_in_no_circle() -> None:
    known = modules()
    assert circles({n: imported_when_loaded(file, set(known)) for n, file in known.items()}) == []


def test_a_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == ["b", "c"]


def test_what_emitted_modules_import_loads_no_compiler() -> None:
    program = (
        "import sys, adcompiler.runtime; print(*(m for m in sys.modules "
        "if m.startswith(('adcompiler.', 'gast', 'scipy', 'adcompiler_rules'))))")
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert len(loaded) > 5
    assert {name for name in loaded if not within(name, ("adcompiler.runtime",))} <= {
        "adcompiler.errors"}


def test_public_names_are_where_the_front_page_says() -> None:
    import adcompiler

    for name in adcompiler.__all__:
        assert hasattr(adcompiler, name) and name in dir(adcompiler)
    with pytest.raises(AttributeError, match="no attribute 'gradient'"):
        _ = adcompiler.gradient  # type: ignore[attr-defined]
