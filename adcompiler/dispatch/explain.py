"""What ``explain`` reports of an emitted derivative."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from adcompiler.compile.modes import MODES
from adcompiler.errors import ADError
from adcompiler.runtime import StretchedError
from adcompiler.runtime.kept_bytes import size_in_bytes, size_told
from adcompiler.support.structs import dataclass

if TYPE_CHECKING:
    from adcompiler.dispatch import Compiled, Specialisations


@dataclass(frozen=True)
class Explanation:
    """How a derivative works at given arguments.

    ``residuals`` names what the augmented primal saves, ``tape_bytes`` is their size in bytes, 8 a
    number, as native code keeps them (a float in a list of Python's takes 32). It follows from the
    shapes and integers among the arguments by the formula ``memory``, and nothing is run; where
    that is empty ``unknown`` tells what only a run shows, and it was measured in one; without any
    residuals it tells why the pullback is refused that would keep some. ``rules``
    lists the functions whose rules are used, ``changed`` those of them whose primal is computed by
    another algorithm, with the reason, ``kinks`` those with points where no derivative exists, with
    what is returned there. ``ops`` is the number of operators and calls that the emitted code is
    written with, ``sizes`` the bytes of each residual; ``backend`` tells what runs it, and why
    that is Python. ``coloring`` of a sparse derivative tells the size of the pattern, the colors,
    and how many of these it needs at least. ``held`` are the bytes that a gradient of these
    arguments holds when its sweep starts, beside them, as CPython counts: variables, tapes and all;
    it follows from shapes and integers, without a run. It is None where they do not tell it:
    ``held_unknown`` says why. Notebooks show a table; ``plot()`` draws the residuals.
    """

    residuals: tuple[str, ...]
    tape_bytes: int
    rules: tuple[str, ...]
    changed: tuple[str, ...]
    kinks: tuple[str, ...]
    source: str
    ops: int
    backend: str = "Python"
    memory: str = ""
    unknown: str = ""
    coloring: str = ""
    sizes: tuple[int, ...] = ()
    held: int | None = None
    held_unknown: str = ""

    def rows(self) -> list[tuple[str, str]]:
        """Return what there is to tell: names and texts."""
        rows = [
            ("residuals", f"{', '.join(self.residuals) or 'none'} ({self.tape_bytes} bytes)"),
            ("operations", f"{self.ops} in the source"),
            ("rules", ", ".join(self.rules) or "none"),
        ]
        if self.memory and self.memory != str(self.tape_bytes):
            rows.insert(1, ("memory", f"{self.memory} bytes"))
        if self.unknown and self.residuals:
            rows.insert(1, ("memory", f"measured in a run, which alone shows {self.unknown}"))
        elif self.unknown:
            rows[:1] = [("residuals", f"not known: {self.unknown}")]
        if self.held is not None:
            rows.insert(1, ("held", f"{self.held} bytes when the sweep starts"))
        elif self.held_unknown:
            rows.insert(1, ("held", f"not known: {self.held_unknown}"))
        rows += [("changed", text) for text in self.changed]
        rows += [("kink", text) for text in self.kinks]
        rows += [("backend", self.backend)] if self.backend != "Python" else []
        rows += [("coloring", self.coloring)] if self.coloring else []
        return rows

    def __str__(self) -> str:
        return "\n".join(f"{name:<11} {text}" for name, text in self.rows())

    def _repr_html_(self) -> str:
        from adcompiler.plot import html_table

        return html_table("", ("", ""), self.rows())

    def plot(self, ax: Any = None) -> Any:
        """Draw the bytes of each residual, the largest on top, and return matplotlib's axes."""
        from adcompiler.plot import bars

        named = sorted(zip(self.sizes, self.residuals, strict=False), key=lambda one: -one[0])
        return bars([name for _, name in named], [size for size, _ in named], ax)


def explain(compiled: Compiled, s: Specialisations, values: tuple[Any, ...]) -> Explanation:
    """Return the explanation of compiled code, with the size of its residuals at ``values``."""
    kept = kept_for(s, values) if MODES[s.options.mode].is_reverse else Kept((), 0)
    report = compiled.report
    return Explanation(
        kept.names, kept.size, tuple(report["rules"]), tuple(report["changed"]),
        tuple(report["kinks"]), compiled.text, operations(compiled.text),
        backend_of(report), kept.formula, kept.unknown, "", kept.sizes,
        *held_for(compiled, s, values),
    )


def held_for(
    compiled: Compiled, s: Specialisations, values: tuple[Any, ...]
) -> tuple[int | None, str]:
    """Return the bytes that a gradient holds when its sweep starts, or why they are not known."""
    formula, *checks = compiled.report.get("held") or [""]
    if not formula:
        return None, checks[0] if checks else ""
    given = dict(zip((p.name for p in s.parameters), values, strict=True))
    given.update(zip(
        compiled.captured, [cell.cell_contents for cell in s.cells(compiled)], strict=True))
    size = size_told(formula, checks, given)
    return size, "" if size is not None else "the shapes of arrays that are stretched"


@dataclass(frozen=True)
class Kept:
    """What an augmented primal keeps: names, bytes, the formula of these, or why there is none.

    ``sizes`` are those of each.
    """

    names: tuple[str, ...]
    size: int
    formula: str = ""
    unknown: str = ""
    sizes: tuple[int, ...] = ()


def kept_for(s: Specialisations, values: tuple[Any, ...]) -> Kept:
    """Return what the augmented primal keeps for arguments; it is run if it does not say that."""
    from adcompiler.dispatch import Options, Specialisations

    pair = Specialisations(s.function, Options("vjp", s.options.argnums))
    try:
        split, _ = pair.find(values)
    except ADError as refused:  # a gradient may run where its parts, one by one, may not
        reason, _, _ = str(refused).partition("\n")
        return Kept((), 0, "", f"its pullback is refused ({reason})")
    cells = [cell.cell_contents for cell in pair.cells(split)]
    names = tuple(split.report["residuals"])
    formula, *checks = split.report["bytes"] or ["0"]
    if formula:
        given = dict(zip((p.name for p in pair.parameters), values, strict=True))
        given.update(zip(split.captured, cells, strict=True))
        size = size_told(formula, checks, given)
        if size is not None:
            each = tuple(size_told(one, (), given) or 0 for one in split.report["sizes"])
            return Kept(names, size, formula, sizes=each)
        checks = ["the shapes of arrays that are stretched"]
    try:
        _, residuals = split.entry(*values, *cells)
    except StretchedError:
        split = pair.compile(split.types, False)
        _, residuals = split.entry(*values, *cells)
    sizes = tuple(map(size_in_bytes, residuals))
    return Kept(names, sum(sizes), "", checks[0], sizes)


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
