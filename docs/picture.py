"""Draws the function of the README beside its derivative code, lines linked by color.

``python docs/picture.py`` writes ``docs/_static/first.svg`` from the first program of the README.
"""

from __future__ import annotations

import importlib.util
import re
import tempfile
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "_static" / "first.svg"
COLORS = ("#2f6fdd", "#c2571a", "#2b8a3e", "#8a3ffc", "#b0185f")
"""Of lines of the user's that derivative code comes from, in their order."""
WIDTH, LINE, TOP, LEFT = 7.25, 18, 58, 24
"""Of a character, of a line, and of what is above and beside the text, in pixels."""
SPACE = 70
"""Between the two texts."""
COMMENT = re.compile(r"\s*# (?:reverse of )?\w+\.py:(\d+)")
STYLE = (
    "text { font: 12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; "
    "fill: #1f2328; white-space: pre } "
    ".title { font: bold 13px system-ui, sans-serif } .quiet { fill: #8b949e }"
)


def first_program(readme: str) -> str:
    """Return the first Python block of a page."""
    found = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert found is not None
    return found[1]


def derivative_of(program: str, folder: Path) -> Any:
    """Return the derivative that a program, in a file of its own, defines as ``heat``."""
    path = folder / "heat.py"
    path.write_text(program, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("heat", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.heat


def shown(text: str) -> list[str]:
    """Return the lines of a function without its decorator, or of derivative code without imports.
    """
    lines = text.strip("\n").split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("def "))
    return lines[start:]


def drawn(program: str, derivative: str) -> str:
    """Return the picture of a program beside its derivative code, as SVG."""
    source = program.split("\n")
    first = next(i for i, line in enumerate(source) if line.startswith("def ")) + 1
    end = next(i for i in range(first, len(source)) if not source[i].strip())
    left, right = source[first - 1 : end], shown(derivative)
    origins: list[int | None] = []
    for line in right:
        told = COMMENT.match(line)
        indented = line.startswith("    ") and '"""' not in line
        origins.append(int(told[1]) if told else origins[-1] if indented and origins else None)
    colors = dict(zip(
        sorted({one for one in origins if one is not None}), COLORS, strict=False))
    wide = max(map(len, left)) * WIDTH
    start = LEFT + wide + SPACE
    height = TOP + LINE * max(len(left), len(right)) + 14
    width = start + max(map(len, right)) * WIDTH + LEFT
    rows = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        f'width="{width:.0f}" height="{height}" role="img" aria-label="a function beside the code '
        'of its gradient">',
        f"<style>{STYLE}</style>",
        f'<rect width="{width:.0f}" height="{height}" rx="8" fill="#ffffff" stroke="#d0d7de"/>',
        f'<text class="title" x="{LEFT}" y="30">your function</text>',
        f'<text class="title" x="{start:.0f}" y="30">the file that adcompiler writes</text>',
    ]
    middle = {}
    for i, line in enumerate(left):
        y = TOP + LINE * i
        color = colors.get(first + i)
        if color:
            middle[first + i] = y - 4
            rows.append(bar(LEFT + wide + 8, y, color))
        rows.append(text_at(LEFT, y, line))
    for i, (line, origin) in enumerate(zip(right, origins, strict=True)):
        y = TOP + LINE * i
        color = colors.get(origin) if origin is not None and line.strip() else None
        if color and origin is not None:
            rows.append(bar(start - 12, y, color))
            if COMMENT.match(line) and origin in middle:
                a, b = LEFT + wide + 12, start - 14
                rows.append(
                    f'<path d="M {a:.0f} {middle[origin]} C {a + 26:.0f} {middle[origin]} '
                    f'{b - 26:.0f} {y - 4} {b:.0f} {y - 4}" fill="none" stroke="{color}" '
                    'stroke-opacity="0.55"/>')
        rows.append(text_at(start, y, line, "#" in line))
    return "\n".join([*rows, "</svg>", ""])


def bar(x: float, y: int, color: str) -> str:
    """Return a bar beside a line."""
    return f'<rect x="{x:.0f}" y="{y - 13}" width="3" height="{LINE}" fill="{color}"/>'


def text_at(x: float, y: int, line: str, quiet: bool = False) -> str:
    """Return a line of text."""
    kind = ' class="quiet"' if quiet else ""
    return f'<text{kind} x="{x:.0f}" y="{y}" xml:space="preserve">{escape(line)}</text>'


def picture() -> str:
    """Return the picture of the README's first program as it is now."""
    program = first_program((ROOT / "README.md").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        return drawn(program, str(derivative_of(program, Path(folder)).source))


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
