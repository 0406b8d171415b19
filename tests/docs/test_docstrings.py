"""The docstrings of public names: each has its sections, and an example that runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from typing import Any

import pytest

import adcompiler
from adcompiler.support.signatures import signature
from tests.together import each

SECTIONS = ("Parameters", "Attributes", "Returns", "Raises", "Example")
HEADING = re.compile(rf"^({'|'.join(SECTIONS)}):$", re.MULTILINE)
BRIDGES = ("ipopt", "lmfit", "scipy", "statsmodels", "tables", "vectors")
"""Modules of ``interop`` that import no library which may be missing."""


def public() -> dict[str, Any]:
    """Return the public names of the package, and of its bridges, with what they are."""
    found = {name: getattr(adcompiler, name) for name in adcompiler.__all__}
    for bridge in BRIDGES:
        module = importlib.import_module(f"adcompiler.interop.{bridge}")
        names = [name for name in module.__all__ if name != "IpoptProblem"]
        found |= {f"interop.{bridge}.{name}": getattr(module, name) for name in names}
    return found


PUBLIC = public()
NAMES = sorted(name for name, value in PUBLIC.items() if value is not None)
NEVER_RAISE = {
    "PullbackMemory", "apply_frule", "apply_rrule", "augmented_primal", "clear_new_rule_hooks",
    "no_grad", "opt_out", "preprocess", "project_to", "refresh_rules", "sensitivity",
    "stop_gradient", "unionise",
}
"""Functions that refuse nothing, and those that only build on what others register."""


def sections(text: str) -> dict[str, str]:
    """Return the sections of a docstring by heading; what stands before them under ""."""
    first, *rest = HEADING.split(text)
    return {"": first, **dict(zip(rest[::2], rest[1::2], strict=True))}


def described(text: str) -> list[str]:
    """Return the names that a section of parameters describes."""
    entries = re.findall(r"^    (\w[\w, ]*?)(?: \([^)]*\))?:(?:\s|$)", text, re.MULTILINE)
    return [name for entry in entries for name in entry.split(", ")]


@each("name", NAMES)
def test_sections(name: str) -> None:
    value = PUBLIC[name]
    found = sections(inspect.getdoc(value) or "")
    order = [heading for heading in found if heading]
    assert order == [heading for heading in SECTIONS if heading in found], name
    assert re.match(r"[A-Z][^\n]*[.:]\n", found[""]), f"{name}: the first line is a sentence"
    assert "Example" in found, name
    if isinstance(value, type):
        return
    takes = signature(value)
    assert sorted(described(found.get("Parameters", ""))) == sorted(takes.parameters), name
    assert ("Returns" in found) == (takes.return_annotation not in (None, "None")), name
    assert ("Raises" in found) == (name not in NEVER_RAISE), name


def test_classes_describe_what_makes_them() -> None:
    for name in ("Global", "Local", "Signature"):
        found = sections(inspect.getdoc(PUBLIC[name]) or "")
        assert described(found["Parameters"]) == list(signature(PUBLIC[name]).parameters)


@pytest.mark.parametrize("name", NAMES)
def test_examples(name: str) -> None:
    """Each imports what it uses, and shows what it computes."""
    for library in ("lmfit", "statsmodels", "pandas"):
        if name.startswith(f"interop.{'tables' if library == 'pandas' else library}."):
            pytest.importorskip(library)
    text = inspect.getdoc(PUBLIC[name]) or ""
    test = doctest.DocTestParser().get_doctest(text, {}, f"adcompiler.{name}", None, 0)
    assert test.examples and test.examples[0].source.startswith(("import ", "from "))
    assert name.rpartition(".")[2] in "".join(one.source for one in test.examples)
    printed: list[str] = []
    doctest.DocTestRunner().run(test, out=printed.append)
    assert not printed, "".join(printed)
