"""What a page shows of a derivative, gathered: the emitted code and what is known of it."""

from __future__ import annotations

import ast
from dataclasses import field
from typing import Any

from adcompiler.backends.python.listing import Listing, listing
from adcompiler.compile.modes import MODES
from adcompiler.compile.pipeline import Emitted, Request, compile_request
from adcompiler.dispatch import Compiled, Specialisations
from adcompiler.dispatch.explain import backend_of, operations
from adcompiler.runtime import StretchedError
from adcompiler.support.structs import dataclass
from adcompiler.viewer.saved import (
    Saved, Where, all_described, described, held_for_sweep, names_of_residuals, values_at,
)
from adcompiler.viewer.sources import Block, Files, Notes, Place, blocks, notes


@dataclass(frozen=True)
class Part:
    """Lines of the emitted module that are shown together, from ``first`` to before ``end``."""

    title: str
    phase: str
    first: int
    end: int


@dataclass
class Listed:
    """All that a page shows of emitted code.

    ``arguments`` are names and types; ``values`` describes them where they are known, and
    ``saved`` what is held for the sweep there (None: nothing was measured). ``holders`` are the
    functions of the module in which saved values have their names; ``reads`` are the places where
    a sweep in the same function reads them.
    """

    title: str
    listing: Listing
    report: dict[str, list[str]]
    backend: str
    arguments: list[tuple[str, str]]
    files: Files
    blocks: list[Block]
    notes: Notes
    has_sweep: bool = True
    holders: tuple[str, ...] = ()
    values: list[Saved] = field(default_factory=list)
    saved: list[Saved] | None = None
    reads: frozenset[Where] | None = None

    @property
    def operations(self) -> int:
        """The number of operators and calls in the code."""
        return operations(self.listing.text)

    def is_reverse(self, line: int) -> bool:
        """Say whether a line of the emitted text is of the sweep."""
        told = self.listing.origins.get(line)
        return bool(told) and told is not None and told[0].reverse

    def places(self, line: int) -> list[Place]:
        """Return where the statements start that a line of the emitted text is for."""
        found: dict[Place, None] = {}
        for origin in self.listing.origins.get(line, ()):
            for one in (origin, origin.via):
                if one is not None:
                    found[self.files.start((one.file, one.line))] = None
        return list(found)

    def parts(self) -> list[Part]:
        """Return the parts of the emitted text: functions, and the sweeps that they end in."""
        lines = self.listing.text.splitlines()
        functions = [
            node for node in ast.parse(self.listing.text).body if isinstance(node, ast.FunctionDef)]
        found: list[Part] = []
        start = 1
        for number, function in enumerate(functions):
            follows = functions[number + 1].lineno if number + 1 < len(functions) else None
            end = follows or len(lines) + 1
            while follows and not lines[end - 2].strip():
                end -= 1
            body = function.body[1:] if ast.get_docstring(function) else function.body
            sweep = next((one.lineno for one in body if self.is_reverse(one.lineno)), None)
            name = "" if len(functions) == 1 else f" · {function.name}"
            if not self.has_sweep:
                found.append(Part("Derivative" + name, "", start, end))
            elif sweep is None:
                found.append(Part("Forward pass" + name, "primal", start, end))
            elif not body or sweep == body[0].lineno:
                found.append(Part("Reverse sweep" + name, "reverse", start, end))
            else:
                split = above_comments(lines, sweep)
                found.append(Part("Forward pass" + name, "primal", start, split))
                found.append(Part("Reverse sweep" + name, "reverse", split, end))
            start = end
        return found


def above_comments(lines: list[str], line: int) -> int:
    """Return the first line of the comments and empty lines above a line, or itself."""
    while line > 1 and (lines[line - 2].lstrip().startswith("#") or not lines[line - 2].strip()):
        line -= 1
    return line


def listed(
    s: Specialisations, compiled: Compiled, title: str, values: tuple[Any, ...] | None = None,
    equal_shapes: bool = True,
) -> Listed:
    """Return what there is to show of compiled code; with ``values`` it is run, and measured.

    Raises what the user's function raises there.
    """
    found = listed_request(s.request(compiled.types, equal_shapes), title)
    found.backend = backend_of(compiled.report)
    if values is not None:
        try:
            found.saved = measured(found, s, compiled, values)
        except StretchedError:
            if not equal_shapes:
                raise
            return listed(s, s.compile(compiled.types, False), title, values, False)
        found.values = [
            described(name, value) for (name, _), value in zip(found.arguments, values, strict=True)
        ]
    return found


def listed_request(request: Request, title: str) -> Listed:
    """Return what there is to show of what is compiled for a request; nothing is run."""
    return listed_emitted(compile_request(request), request, title)


def listed_emitted(emitted: Emitted, request: Request, title: str) -> Listed:
    """Return what there is to show of what was compiled for a request."""
    lines = listing(emitted.product, emitted.unit, request.parameters)
    files = Files()
    places = [one for places in lines.origins.values() for one in places]
    callers = [one.via for one in places if one.via is not None]
    names = [p.var.name for p in emitted.typed[0].params]
    arguments = [(name, str(type_)) for name, type_ in zip(names, request.types, strict=False)]
    return Listed(
        title, lines, emitted.report, backend_of(emitted.report), arguments, files,
        blocks(files, [emitted.typed[0].origin, *callers, *places]),
        notes(emitted.typed, emitted.unit, files), request.mode.is_reverse,
        holders(emitted, request),
    )


def holders(emitted: Emitted, request: Request) -> tuple[str, ...]:
    """Return the functions in which what is saved has its names."""
    halves = bool(request.mode.halves)
    return tuple(one.name for one in emitted.product.functions[: 2 if halves else 1])


def measured(
    found: Listed, s: Specialisations, compiled: Compiled, values: tuple[Any, ...]
) -> list[Saved] | None:
    """Return what the code holds for its sweep at ``values``; None if there is no sweep."""
    mode = MODES[s.options.mode]
    text = found.listing.text
    args = (*values, *(cell.cell_contents for cell in s.cells(compiled)))
    if not (compiled.text.startswith(text) and found.holders and found.has_sweep):
        return None
    if mode.halves:
        _, residuals = compiled.entry(*args)
        names = names_of_residuals(text, found.holders[1]) or compiled.report["residuals"]
        return all_described(zip(names, residuals, strict=False), values)
    function = next(
        node for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == found.holders[0])
    held = held_for_sweep(function, found.is_reverse)
    if mode.seeds or mode.operator or len(function.args.args) != len(args):
        return None
    found.reads = frozenset(place for places in held.values() for place in places)
    taken: list[Saved] = []
    values_at(
        compiled.entry, args, lambda line: found.is_reverse(line + function.lineno),
        lambda variables: taken.extend(all_described(
            ((name, variables[name]) for name in held if name in variables), values)),
    )
    return taken


__all__ = ["Listed", "Part", "listed", "listed_emitted"]
