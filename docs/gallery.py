"""The examples as pages of the site, with what they print and draw, for Sphinx-Gallery.

The scripts are plain Python, whose first line says what they are about. A page wants a title:
copies are made that have one. An example that draws is given the name of a file for that.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
WORK = ROOT / "build" / "examples"
"""Where copies and pictures are made."""

SHOWN_ONLY = {
    "demo", "forward_diff_zero", "reverse_diff_zero", "scipy_solvers", "sharded_training",
}
"""Examples that are not run: they tell of the machine or its times, or change the rules for all."""
DRAWING = {
    "brusselator", "bundle_adjustment", "cart", "chained_objective", "heat_adjoint", "likelihood",
}
"""Examples that draw into the file that they are given."""
HEAD = """Examples
========

Programs to read, and to run from a checkout: ``python examples/cart.py``.
"""
THUMBNAIL = WORK / "pictures" / "thumbnail.png"
"""The picture of examples that draw nothing."""
FIRST = re.compile(r'\A"""(.+)\n')


def prepared() -> str:
    """Make the copies that Sphinx-Gallery reads, and return their directory."""
    shutil.rmtree(WORK, ignore_errors=True)
    (WORK / "pictures").mkdir(parents=True)
    (WORK / "scripts").mkdir()
    draw_thumbnail()
    (WORK / "scripts" / "README.rst").write_text(HEAD, encoding="utf-8")
    for path in sorted(EXAMPLES.glob("*.py")):
        text = titled(path.read_text(encoding="utf-8"))
        (WORK / "scripts" / path.name).write_text(text, encoding="utf-8")
    return str(WORK / "scripts")


def draw_thumbnail() -> None:
    """Draw the sign of a derivative."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.0, 2.8))
    figure.text(0.5, 0.48, r"$\partial$", size=96, color="steelblue", ha="center", va="center")
    figure.savefig(THUMBNAIL, dpi=100)


def titled(text: str) -> str:
    """Return the text of a script with a title: its first line up to a colon, without the period.
    """
    found = FIRST.match(text)
    assert found is not None, text[:80]
    line = found[1].removesuffix('"""')
    title, colon, rest = line.partition(":")
    if not colon:
        title, rest = line, ""
    title = title.strip().rstrip(".")
    rest = f"{rest.strip()[:1].upper()}{rest.strip()[1:]}\n" if rest.strip() else ""
    end = '"""\n' if found[1].endswith('"""') else ""
    return f'"""{title}\n{"=" * len(title)}\n\n{rest}{end}{text[found.end():]}'


def run_pattern() -> str:
    """Return the pattern of the names of scripts that are run."""
    names = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem not in SHOWN_ONLY)
    return rf"[/\\]({'|'.join(names)})\.py$"


def arguments(_: Any, script: dict[str, Any]) -> list[str]:
    """Return the arguments that a script is run with."""
    name = Path(script["src_file"]).stem
    return [str(picture_of(name))] if name in DRAWING else []


def drawn(_: Any, variables: dict[str, Any], gallery: dict[str, Any]) -> str:
    """Return the text that shows the picture which a script has drawn; "" if there is none."""
    from sphinx_gallery.scrapers import figure_rst

    picture = picture_of(Path(variables["src_file"]).stem)
    if not picture.is_file():
        return ""
    target = Path(next(variables["image_path_iterator"]))
    shutil.move(picture, target)
    return str(figure_rst([str(target)], gallery["src_dir"]))


def picture_of(name: str) -> Path:
    """Return the file that a script draws into."""
    return WORK / "pictures" / f"{name}.png"
