"""The magics ``%adsource`` and ``%%adsource``: the derivative code of a call, after a cell.

``%load_ext adcompiler`` makes it known to IPython, which the extra ``notebook`` installs.
"""

from __future__ import annotations

import argparse
import ast
from typing import Any

from adcompiler.api.argnums import argnums_in
from adcompiler.api.emitted import as_asked
from adcompiler.compile.modes import ALIASES, MODES


def load(shell: Any) -> None:
    """Make ``%adsource`` and ``%%adsource`` known to an IPython shell."""

    def adsource(line: str, cell: str = "") -> Any:
        return shown(shell, line, cell)

    adsource.__doc__ = HELP
    shell.register_magic_function(adsource, "line_cell", "adsource")


HELP = """Run the cell, if any, then show the derivative code of a call: %adsource [OPTIONS] CALL

CALL is of a function or of a derivative, e.g. `loss(w, X)`. Options: --mode, by default grad;
--argnums; --view shows the page with the function beside the code, for which that runs once.
"""


class _Options(argparse.ArgumentParser):
    """Options of a magic: what is wrong with them is an exception, not the end of the process."""

    def error(self, message: str) -> Any:
        """Raise UsageError."""
        from IPython.core.error import UsageError

        raise UsageError(f"%%adsource: {message}")


def shown(shell: Any, line: str, cell: str) -> Any:
    """Run a cell in a shell, and return the code, or the page, of the call on the line."""
    parser = _Options(prog="%%adsource", add_help=False)
    parser.add_argument("--mode", choices=(*MODES, *ALIASES))
    parser.add_argument("--argnums", type=argnums_in)
    parser.add_argument("--view", action="store_true")
    options, rest = parser.parse_known_args(line.split(" "))
    call = called(parser, " ".join(rest).strip())
    if cell:
        shell.run_cell(cell).raise_error()
    function = evaluated(shell, call.func)
    args = [evaluated(shell, argument) for argument in call.args]
    kwargs = {one.arg: evaluated(shell, one.value) for one in call.keywords if one.arg}
    derivative = as_asked(function, options.mode, options.argnums)
    return (derivative.view if options.view else derivative.source_for)(*args, **kwargs)


def called(parser: _Options, text: str) -> ast.Call:
    """Return the call that a text is."""
    try:
        found = ast.parse(text, mode="eval").body
    except SyntaxError:
        found = None
    if not isinstance(found, ast.Call) or any(
        isinstance(one, ast.Starred) for one in found.args
    ) or any(one.arg is None for one in found.keywords):
        parser.error(f"{text!r} is no call of a function; write e.g. %%adsource f(x, 2.0)")
    assert isinstance(found, ast.Call)
    return found


def evaluated(shell: Any, node: ast.expr) -> Any:
    """Return the value of an expression in the namespace of a shell."""
    return shell.ev(ast.unparse(node))
