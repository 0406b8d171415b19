"""Each extra brings what is imported here; what is imported is a dependency, or in an extra."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
OF_USERS = ("native", "cli", "plot", "notebook", "dask", "torch", "jax", "pymc", "examples")
"""What users install; the others are for working on this."""
MODULES = {"scikit-learn": "sklearn", "ipython": "IPython"}
"""Modules that are not named as their distributions are."""
CALLED_BY_USERS = {"distributed": "docs/parallel.md"}
"""Distributions that users import, to hand something over, with the page that says so."""


def named(requirement: str) -> str:
    """Return the distribution that a requirement is about."""
    return re.split(r"[\[<>=~! ]", requirement)[0]


def imported(folder: str) -> set[str]:
    """Return the root modules that the files of a folder import."""
    found = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("extra", OF_USERS)
def test_what_an_extra_installs_is_imported(extra: str) -> None:
    used = imported("examples") if extra == "examples" else imported("adcompiler")
    for distribution in map(named, EXTRAS[extra]):
        if distribution in CALLED_BY_USERS:
            page = (ROOT / CALLED_BY_USERS[distribution]).read_text(encoding="utf-8")
            assert f".{distribution}" in page and f"adcompiler[{extra}]" in page
        else:
            assert MODULES.get(distribution, distribution) in used


def test_what_is_imported_can_be_installed() -> None:
    known = {
        MODULES.get(name, name) for extra in OF_USERS for name in map(named, EXTRAS[extra])
    } | {MODULES.get(name, name) for name in map(named, PROJECT["dependencies"])}
    own = {"adcompiler", "adcompiler_rules", "_typeshed"}
    used = imported("adcompiler") | imported("rules/adcompiler_rules")
    standard = sys.stdlib_module_names | {"annotationlib"}  # which Python 3.14 has
    assert used - known - own - standard == set()


def test_all_extras_are_known() -> None:
    of_developers = {"test", "docs", "mutation", "coverage", "lint", "bench"}
    assert set(EXTRAS) == {*OF_USERS, *of_developers}
