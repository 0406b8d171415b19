"""The sessions in the pages about other libraries, where these are installed."""

from __future__ import annotations

import doctest
import importlib
import re
import sys
from pathlib import Path

import pytest

from tests.docs.test_code_blocks import Runner, blocks

DOCS = Path(__file__).resolve().parents[2] / "docs"
SESSION = re.compile(r"^```text\n(>>> .*?)^```", re.MULTILINE | re.DOTALL)


IMPORTED = re.compile(r"^>>> (?:import|from) (.*?)(?: import .*)?$", re.MULTILINE)
SESSIONS = [
    (page, session) for page in ("interop.md", "tasks/layer.md")
    for session in SESSION.findall((DOCS / page).read_text(encoding="utf-8"))
]


def libraries(session: str) -> list[str]:
    """Return the packages that a session imports."""
    named = ", ".join(IMPORTED.findall(session)).split(", ")
    return list(dict.fromkeys(one.split()[0].partition(".")[0] for one in named))


def test_every_library_has_a_session() -> None:
    found = {one for _, session in SESSIONS for one in libraries(session)}
    assert found >= {
        "torch", "jax", "pandas", "lmfit", "statsmodels", "pymc", "emcee", "blackjax", "numpyro"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("page", "session"), SESSIONS, ids=["-".join(libraries(session)) for _, session in SESSIONS])
def test_sessions(
    page: str, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for library in libraries(session):
        pytest.importorskip(library)
    runner = Runner("page_with_sessions", tmp_path)
    monkeypatch.setitem(sys.modules, runner.module.__name__, runner.module)
    for block in blocks((DOCS / page).read_text(encoding="utf-8")):
        if block.language == "python":
            runner.run(block)
    test = doctest.DocTestParser().get_doctest(session, vars(runner.module), page, page, 0)
    printed: list[str] = []
    doctest.DocTestRunner().run(test, out=printed.append)
    assert not printed, "".join(printed)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [
    "jax", "lmfit", "pymc", "statsmodels", "tables", "torch",
])
def test_examples_of_docstrings(name: str) -> None:
    library = {"pymc": "pytensor", "tables": "pandas"}.get(name, name)
    pytest.importorskip(library)
    found = doctest.testmod(importlib.import_module(f"adcompiler.interop.{name}"))
    assert found.attempted >= 4 and not found.failed
