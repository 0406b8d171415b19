"""Notebooks run from the first cell to the last, and show what they are about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

NOTEBOOKS = Path(__file__).resolve().parents[2] / "examples" / "notebooks"


def executed(name: str, directory: Path) -> list[Any]:
    """Return the code cells of a notebook, with outputs; a cell that raises is an error."""
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(directory)}})
    client.execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(cell: Any, kind: str = "text/plain") -> str:
    """Return what a cell shows: its value, or what it printed."""
    found = ""
    for output in cell.outputs:
        if output.output_type == "stream" and kind == "text/plain":
            found += output.text
        elif output.output_type in ("execute_result", "display_data"):
            found += output.data.get(kind, "")
    return found


@pytest.mark.filterwarnings("ignore")
def test_functions_in_cells_are_differentiated_and_redefined(tmp_path: Path) -> None:
    cells = executed("cells", tmp_path)
    assert shown(cells[1]) == "array([2., 4.])"
    assert "np.random.shuffle(x)" in shown(cells[5]) and "^" in shown(cells[5])
    assert shown(cells[6]) == "[3.0, 6.0]"


@pytest.mark.filterwarnings("ignore")
def test_derivatives_follow_modules_that_are_reloaded(tmp_path: Path) -> None:
    cells = executed("modules", tmp_path)
    assert "def f_grad(x):" in shown(cells[4])


@pytest.mark.filterwarnings("ignore")
def test_the_magic_and_the_viewer_show_the_code(tmp_path: Path) -> None:
    cells = executed("looking_inside", tmp_path)
    assert "def smooth_grad(x, weight):" in shown(cells[1])
    assert '<div class="highlight"><pre' in shown(cells[1], "text/html")
    assert "weight_dot" in shown(cells[2])
    page = shown(cells[3], "text/html")
    assert page.startswith("<iframe srcdoc=") and "Saved for the sweep" in page
    assert shown(cells[4], "text/html").startswith("<iframe srcdoc=")
    assert shown(cells[5]).startswith("def smooth_grad") or "import" in shown(cells[5])


def test_all_notebooks_are_run_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    names = [path.stem for path in NOTEBOOKS.glob("*.ipynb")]
    assert len(names) == 3
    assert all(f'executed("{name}"' in text for name in names)
