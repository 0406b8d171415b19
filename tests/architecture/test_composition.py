"""Classes are put together of parts: what one has by its bases counts as its own."""

from __future__ import annotations

import ast

from tests.architecture.test_sizes import ROOT, files

LIMIT = 40


def classes() -> dict[str, tuple[list[str], set[str]]]:
    """Return the bases and the methods of each class of the compiler, by its full name.

    Names with two underscores at both ends do not count: Python calls them.
    """
    found = {}
    for file in files():
        if not file.startswith("adcompiler/"):
            continue
        module = file.removeprefix("adcompiler/").removesuffix(".py").replace("/", ".")
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        homes = {
            name.asname or name.name: f"{node.module}.{name.name}".removeprefix("adcompiler.")
            for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names
        }
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                methods = {
                    one.name for one in node.body if isinstance(one, ast.FunctionDef)
                    and not (one.name.startswith("__") and one.name.endswith("__"))
                }
                bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
                found[f"{module}.{node.name}"] = (
                    [homes.get(base, f"{module}.{base}") for base in bases], methods)
    return found


def methods_of(name: str, known: dict[str, tuple[list[str], set[str]]]) -> set[str]:
    """Return the names of the methods that a class has, its own and those of its bases."""
    bases, methods = known.get(name, ([], set()))
    return methods.union(*(methods_of(base, known) for base in bases))


def test_a_class_has_few_methods_by_its_bases_too() -> None:
    known = classes()
    assert {
        name: count for name in known if (count := len(methods_of(name, known))) > LIMIT
    } == {}


def test_methods_of_bases_are_counted() -> None:
    known = {"a.A": ([], {"f", "g"}), "b.B": (["a.A"], {"g", "h"}), "c.C": (["b.B"], set[str]())}
    assert methods_of("c.C", known) == {"f", "g", "h"}


