"""The sessions in the pages about other libraries, where these are installed."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

import pytest

from tests.docs.test_code_blocks import Runner, blocks

DOCS = Path(__file__).resolve().parents[2] / "docs"
SESSION = re.compile(r"^```text\n(>>> .*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("page", "library"),
    [
        ("interop.md", "torch"), ("interop.md", "jax"), ("interop.md", "pandas"),
        ("tasks/layer.md", "torch"),
    ],
)
def test_sessions(
    page: str, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(library)
    text = (DOCS / page).read_text(encoding="utf-8")
    runner = Runner("page_with_sessions", tmp_path)
    monkeypatch.setitem(sys.modules, runner.module.__name__, runner.module)
    for block in blocks(text):
        if block.language == "python":
            runner.run(block)
    (session,) = (one for one in SESSION.findall(text) if library in one)
    test = doctest.DocTestParser().get_doctest(session, vars(runner.module), library, page, 0)
    printed: list[str] = []
    doctest.DocTestRunner().run(test, out=printed.append)
    assert not printed, "".join(printed)
