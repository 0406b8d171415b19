"""Text of emitted code that is shown as code."""

from __future__ import annotations

from contextlib import suppress
from typing import Any


class SourceText(str):
    """The text of an emitted module: a string that consoles and notebooks show as code."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show it in IPython, whose own printing of strings quotes them."""
        printer.text(str(self))

    def _repr_html_(self) -> str:
        """Show it in a notebook, highlighted where Pygments is installed, as it is with IPython."""
        import html

        with suppress(ImportError):
            from pygments import highlight
            from pygments.formatters import HtmlFormatter
            from pygments.lexers import PythonLexer

            formatter = HtmlFormatter(noclasses=True, nobackground=True)
            found: str = highlight(str(self), PythonLexer(), formatter)
            return found
        return f"<pre><code>{html.escape(str(self))}</code></pre>"


__all__ = ["SourceText"]
