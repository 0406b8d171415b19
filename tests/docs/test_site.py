"""The site: each page is in one table of contents, and the reference has each public name."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType

import adcompiler
from tests.docs.test_code_blocks import ROOT

DOCS = ROOT / "docs"


def configuration() -> ModuleType:
    """Return what Sphinx is configured by."""
    spec = importlib.util.spec_from_file_location("site_configuration", DOCS / "conf.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CONF = configuration()


def test_each_page_is_in_one_table_of_contents() -> None:
    lines = CONF.contents().splitlines()
    listed = [line for line in lines if line and not line.startswith(":")]
    pages = {str(path.relative_to(DOCS).with_suffix("")) for path in DOCS.rglob("*.md")}
    assert sorted(listed) == sorted(pages - {"index"} | {"examples/index"})


def test_the_reference_has_each_public_name_once_with_an_example() -> None:
    text = (DOCS / "reference.md").read_text(encoding="utf-8")
    entries = re.split(r"^### `adcompiler\.(\w+)`$", text, flags=re.M)[1:]
    names, bodies = entries[::2], entries[1::2]
    assert sorted(names) == sorted(adcompiler.__all__)
    for name, body in zip(names, bodies, strict=True):
        assert "```python" in body.split("\n## ")[0], name
        assert re.search(rf"\b{name}\b", body), name


def as_site(page: str, text: str) -> str:
    source = [text]
    CONF.as_site(None, page, source)
    return source[0]


def test_sections_that_errors_name_are_anchors_of_the_site() -> None:
    shown = as_site("limitations", '<a id="aliases"></a>\n## Names\n')
    assert shown == "(aliases)=\n## Names\n"


def test_docstrings_stand_below_their_headings() -> None:
    shown = as_site("reference", "### `adcompiler.grad`\n\ntext\n### `adcompiler.ADError`\n")
    assert ".. autofunction:: adcompiler.grad" in shown
    assert ".. autoexception:: adcompiler.ADError" in shown


def test_links_to_files_that_are_no_pages_are_text() -> None:
    assert as_site("interop", "see [`run`](../examples/run.py)") == "see `run`"
    assert as_site("interop", "see [rules](rules.md)") == "see [rules](rules.md)"
