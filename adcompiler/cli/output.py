"""Printing: plain text, or coloured where rich is installed and somebody looks."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def show_source(text: str) -> None:
    """Print Python source."""
    if sys.stdout.isatty():
        try:
            from rich.console import Console
            from rich.syntax import Syntax
        except ImportError:
            pass
        else:
            Console().print(Syntax(text, "python", background_color="default"))
            return
    sys.stdout.write(text)


def show_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under a head line, columns aligned."""
    if sys.stdout.isatty():
        try:
            from rich.console import Console
            from rich.table import Table
        except ImportError:
            pass
        else:
            table = Table(*head, box=None, pad_edge=False)
            for row in rows:
                table.add_row(*row)
            Console().print(table)
            return
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        cells = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())
