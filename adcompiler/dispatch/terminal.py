"""The line that tells what takes long, drawn by rich where that is installed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from adcompiler.runtime.progress import Progress, drawers

WIDTH = 24
"""Of the bar, in characters."""


def line_of_rich() -> Callable[[Progress], None] | None:
    """Return what writes the line by rich, None where that is not installed."""
    try:
        from rich.console import Console
        from rich.progress_bar import ProgressBar
        from rich.table import Table
    except ImportError:
        return None
    console = Console(file=sys.stderr)

    def draw(work: Progress) -> None:
        row = Table.grid(padding=(0, 1))
        cells: list[Any] = ["[bold]adcompiler[/]"]
        if work.share is not None:
            cells += [ProgressBar(1.0, work.share, width=WIDTH), f"{100 * work.share:3.0f} %"]
        cells.append(f"[dim]{work.elapsed}[/]")
        for width in (len("adcompiler"), *(() if work.share is None else (WIDTH, 5)),
                      len(work.elapsed)):
            row.add_column(no_wrap=True, min_width=width)
        row.add_column(no_wrap=True, overflow="ellipsis")
        row.add_row(*cells, escaped(work.told))
        with console.capture() as written:
            console.print(row)
        line, *_ = written.get().splitlines() or [""]
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    return draw


def escaped(text: str) -> str:
    """Return a text in which rich finds no markup."""
    return text.replace("[", r"\[")


drawers.append(line_of_rich)
