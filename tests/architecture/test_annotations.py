"""Parameters say what they take: the share of ``Any`` and ``object`` in a package only falls."""

from __future__ import annotations

import ast
import re
from collections import Counter

from tests.architecture.test_sizes import ROOT, files

AT_MOST: dict[str, int] = {
    "__init__": 1, "analyses": 13, "api": 111, "backends": 185, "batching": 24, "cache": 32,
    "cli": 21, "compile": 23, "derive": 27, "dispatch": 116, "errors": 2, "frontend": 12,
    "interop": 72, "ir": 18, "ops": 51, "optimise": 29, "parallel": 26, "plot": 7,
    "prelude": 41, "products": 5, "record": 245, "rulekit": 85, "smooth": 5, "sparsity": 162,
    "infer": 89, "support": 16, "testing": 14, "typed": 28, "viewer": 23,
}
"""How many annotated parameters of a package are ``Any``, hold it, or are ``object``."""


def takes_anything(annotation: ast.expr) -> bool:
    """Say whether an annotation holds ``Any``, what a function returns apart, or is ``object``."""
    text = re.sub(r"Callable\[(\.\.\.|\w+), Any\]", "Callable", ast.unparse(annotation))
    names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    return "Any" in names or text == "object"


def parameters(text: str) -> list[ast.expr]:
    """Return the annotations of all parameters of the functions in a text."""
    return [
        arg.annotation for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if arg.annotation is not None
    ]


def counted() -> tuple[Counter[str], Counter[str]]:
    """Return how many parameters of each package take anything, and how many there are."""
    anything: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for file in files():
        package = file.split("/")[1].removesuffix(".py")
        if not file.startswith("adcompiler/") or package == "runtime":
            continue
        for annotation in parameters((ROOT / file).read_text(encoding="utf-8")):
            total[package] += 1
            anything[package] += takes_anything(annotation)
    return anything, total


def test_no_package_takes_more_of_anything() -> None:
    anything, _ = counted()
    assert {name: n for name, n in anything.items() if n > AT_MOST.get(name, 0)} == {}


def test_the_counts_are_those_of_today() -> None:
    anything, _ = counted()
    slack = {name: n - anything[name] for name, n in AT_MOST.items() if n - anything[name] > 20}
    assert slack == {}, "lower the numbers in AT_MOST"


def test_what_takes_anything() -> None:
    annotations = parameters("def f(a: Any, b: list[Any], c: object, d: int, e, g: float): ...")
    assert list(map(takes_anything, annotations)) == [True, True, True, False, False]
    functions = parameters("def f(a: Callable[..., Any], b: Callable[P, Any]): ...")
    assert not any(map(takes_anything, functions))
