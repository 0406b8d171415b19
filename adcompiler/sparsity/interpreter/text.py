"""The text of a pattern program: names of variables and constants, and lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from adcompiler.analyses.purity import Purity
from adcompiler.ir.nodes import Atom, Const, Origin, Star, Var
from adcompiler.sparsity.interpreter.generic import Origins
from adcompiler.support.structs import dataclass


@dataclass(eq=False)
class Text:
    """Lines of text.

    ``machine`` is the name of what does the operations: the run, or the lanes of a loop.
    """

    tainted: frozenset[Var]
    detached: frozenset[Var]
    purity: Purity
    sources: Origins
    machine: str = "R"
    rows: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    names: dict[Any, str] = field(default_factory=dict)
    origins: dict[int, Origin] = field(default_factory=dict)
    depth: int = 1
    count: int = 0

    def atom(self, atom: Atom | Star) -> str:
        if isinstance(atom, Star):
            return f"*{self.machine}.items({self.atom(atom.atom)})"
        if isinstance(atom, Var):
            return self.names.setdefault(atom, f"v{len(self.names)}")
        value = atom.value
        if value is None or type(value) in (bool, int, str):
            return repr(value)
        return self.constant(value)

    def owner(self, atom: Atom | Star) -> str:
        """Return the name of a constant of which no more is done than to read what it holds."""
        return self.constant(atom.value, "o") if isinstance(atom, Const) else self.atom(atom)

    def constant(self, value: Any, stem: str = "k") -> str:
        key = (stem, id(value))
        if key not in self.names:
            self.names[key] = f"{stem}{len(self.names)}"
            self.values[self.names[key]] = value
        return self.names[key]

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def targets(self, variables: Sequence[Atom]) -> str:
        return ", ".join(map(self.atom, variables))

    def display(self, atoms: tuple[Atom, ...]) -> str:
        inner = "".join(f"{self.atom(atom)}, " for atom in atoms)
        return f"({inner})"

    def line(self, text: str, origin: Origin | None = None) -> None:
        self.rows.append("    " * self.depth + text)
        if origin is not None:
            self.origins[len(self.rows)] = origin

    @contextmanager
    def indented(self) -> Iterator[None]:
        self.depth += 1
        yield
        self.depth -= 1

    def is_tainted(self, *atoms: Any) -> bool:
        return any(
            (a.atom if isinstance(a, Star) else a) in self.tainted for a in atoms
            if isinstance(a, (Var, Star))
        )
