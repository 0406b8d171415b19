"""Printing: plain text, or coloured where rich is installed and somebody looks."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any


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


def show_json(value: Any) -> None:
    """Print a value as JSON; numbers that are not finite are texts."""
    print(json.dumps(plain(value), indent=2))


def plain(value: Any) -> Any:
    """Return a value of JSON's types."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and value - value != 0.0:
        return str(value)
    return value


__all__ = ["show_json", "show_source", "show_table"]
