"""The sessions in docs/interop.md, where the libraries are installed."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "interop.md").read_text(encoding="utf-8")
SESSIONS = re.findall(r"^```text\n(>>> .*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", ["torch", "jax"])
def test_sessions(library: str) -> None:
    pytest.importorskip(library)
    (text,) = (one for one in SESSIONS if f"interop.{library}" in one)
    test = doctest.DocTestParser().get_doctest(text, {}, library, "docs/interop.md", 0)
    printed: list[str] = []
    doctest.DocTestRunner().run(test, out=printed.append)
    assert not printed, "".join(printed)
