"""What ``explain`` reports of an emitted derivative."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from adcompiler.compile.modes import MODES
from adcompiler.runtime import StretchedError
from adcompiler.runtime.checkpoints import size_in_bytes
from adcompiler.structs import dataclass

if TYPE_CHECKING:
    from adcompiler.dispatch import Compiled, Specialisations


@dataclass(frozen=True)
class Explanation:
    """How a derivative works at given arguments.

    ``residuals`` names what the augmented primal saves, ``tape_bytes`` is their size in bytes, 8 a
    number, as native code keeps them (a float in a list of Python's takes 32). ``rules`` lists the
    functions whose rules are used, ``changed`` those of them whose primal is computed by another
    algorithm, with the reason, ``kinks`` those with points where no derivative exists, with what is
    returned there. ``ops`` is the number of operators and calls that the emitted code is
    written with; ``backend`` tells what runs it, and why that is Python.
    """

    residuals: tuple[str, ...]
    tape_bytes: int
    rules: tuple[str, ...]
    changed: tuple[str, ...]
    kinks: tuple[str, ...]
    source: str
    ops: int
    backend: str = "Python"

    def __str__(self) -> str:
        rows = [
            f"residuals   {', '.join(self.residuals) or 'none'} ({self.tape_bytes} bytes)",
            f"operations  {self.ops} in the source",
            f"rules       {', '.join(self.rules) or 'none'}",
        ]
        rows += [f"changed     {text}" for text in self.changed]
        rows += [f"kink        {text}" for text in self.kinks]
        rows += [f"backend     {self.backend}"] if self.backend != "Python" else []
        return "\n".join(rows)


def explain(compiled: Compiled, s: Specialisations, values: tuple[Any, ...]) -> Explanation:
    """Return the explanation of compiled code, with residuals measured at ``values``."""
    residuals, saved = saved_by(s, values) if MODES[s.options.mode].is_reverse else ((), ())
    report = compiled.report
    return Explanation(
        residuals, size_in_bytes(saved), tuple(report["rules"]),
        tuple(report["changed"]), tuple(report["kinks"]), compiled.text,
        operations(compiled.text),
        backend_of(report) if compiled.tier is None else compiled.tier.said,
    )


def saved_by(s: Specialisations, values: tuple[Any, ...]) -> tuple[tuple[str, ...], Any]:
    """Return the names of what the augmented primal saves, and what that is at ``values``."""
    from adcompiler.dispatch import Options, Specialisations

    pair = Specialisations(s.function, Options("vjp", s.options.argnums))
    split, _ = pair.find(values)
    cells = [cell.cell_contents for cell in pair.cells(split)]
    given = (*values, *cells)
    try:
        _, residuals = split.entry(*given)
    except StretchedError:
        split = pair.compile(split.types, False)
        _, residuals = split.entry(*given)
    return tuple(split.report["residuals"]), residuals


def backend_of(report: dict[str, list[str]]) -> str:
    """Return what runs a derivative, with the reason if it stays in Python."""
    match report.get("native", []):
        case [_, said]:
            return said
    return "Python"


def operations(text: str) -> int:
    """Return the number of operators and calls in the text of a module."""
    kinds = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call)
    return sum(isinstance(node, kinds) for node in ast.walk(ast.parse(text)))
