"""``%%adsource`` in a shell: what it shows, and what it says of lines that make no sense."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("IPython")

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from adcompiler import load_ipython_extension
from adcompiler.viewer.page import View

CELL = "def half(x, k=2.0):\n    return x * x / k\n"

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def shell() -> Iterator[Any]:
    found = InteractiveShell.instance()
    load_ipython_extension(found)
    yield found
    InteractiveShell.clear_instance()


def shown(shell: Any, line: str, cell: str = CELL) -> Any:
    return shell.run_cell_magic("adsource", line, cell)


def test_it_runs_the_cell_and_shows_the_code_of_the_call(shell: Any) -> None:
    text = shown(shell, "half(3.0)")
    assert "def half_grad(x, k):" in text
    assert shell.user_ns["half"](3.0) == 4.5


def test_options_choose_the_mode_and_the_arguments(shell: Any) -> None:
    forward = shown(shell, "--mode forward --argnums k half(3.0)")
    assert "def half_pushforward(x, k, k_dot):" in forward
    assert "x_bar, k_bar" in shown(shell, "--argnums 0,1 half(3.0, k=4.0)")
    assert isinstance(shown(shell, "--view half( 3.0 )"), View)


def test_of_a_line_alone_the_code_of_a_call_is_shown(shell: Any) -> None:
    shell.run_cell(CELL)
    text = shell.run_line_magic("adsource", "half(3.0)")
    assert "def half_grad(x, k):" in text
    assert '<span style="' in text._repr_html_()
    with pytest.raises(UsageError, match="is no call"):
        shell.run_line_magic("adsource", "")


def test_derivatives_are_shown_as_they_are(shell: Any) -> None:
    cell = CELL + "\nfrom adcompiler import value_and_grad\nboth = value_and_grad(half, 'k')\n"
    assert "def half_value_and_grad(x, k):" in shown(shell, "both(3.0)", cell)


@pytest.mark.parametrize(("line", "message"), [
    ("", "is no call"), ("half", "is no call"), ("half(", "is no call"),
    ("half(*[1.0])", "is no call"),
    ("--mode sideways half(1.0)", "invalid choice"), ("--argnums , half(1.0)", "argnums"),
])
def test_lines_that_make_no_sense_are_told(shell: Any, line: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        shown(shell, line)


def test_exceptions_of_the_cell_are_the_cells(shell: Any) -> None:
    with pytest.raises(ZeroDivisionError):
        shown(shell, "half(1.0)", CELL + "1 / 0\n")
