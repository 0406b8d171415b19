"""What the lines of an emitted module stand for, and what the types of its variables are."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from inspect import Parameter

from adcompiler.backends.python.lower import FunctionLowering
from adcompiler.backends.python.module import module_tree, origins_in
from adcompiler.backends.python.printer.round_trip import block, comparable
from adcompiler.backends.python.printer.source import emit_source
from adcompiler.frontend.sources.places import lines_below
from adcompiler.ir.nodes import Origin
from adcompiler.products.product import Product
from adcompiler.support.structs import dataclass
from adcompiler.typed.unit import Unit


@dataclass(frozen=True)
class Listing:
    """The text of an emitted module, and for each of its lines, from 1, the places it is for.

    The first place is the one that the comment above tells, the others are those of expressions
    that became part of the line. ``types`` has, by function, those of each name.
    """

    text: str
    origins: dict[int, tuple[Origin, ...]]
    types: dict[str, dict[str, tuple[str, ...]]]


def listing(product: Product, unit: Unit, parameters: Sequence[Parameter] = ()) -> Listing:
    """Return the module that ``emit_module`` writes, with what is known of its lines."""
    tree, _, lowerings = module_tree(product, unit, parameters)
    text = emit_source(tree)
    told = lines_below(text, list(origins_in(tree)))
    comments = {number for number, line in enumerate(text.splitlines(), 1)
                if line.lstrip().startswith("#")}
    places = defaultdict(list, {line: [origin] for line, origin in told.items()})
    of_nodes = {id(node): origin for one in lowerings for node, origin in one.expr.origins}
    for meant, found in pairs(tree, ast.parse(text)):
        origin = of_nodes.get(id(meant))
        line = getattr(found, "lineno", 0)
        if origin is not None and line not in comments:
            places[line].append(origin)
    return Listing(
        text, {line: tuple(dict.fromkeys(them)) for line, them in sorted(places.items())},
        {one.function.name: types_of(one, unit) for one in lowerings},
    )


def types_of(lowering: FunctionLowering, unit: Unit) -> dict[str, tuple[str, ...]]:
    """Return the types that the variables of each name are of, in a function."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for var in lowering.names.order:
        if not lowering.fusion.is_fused(var):
            found[lowering.names[var]][str(unit.type(var))] = None
    return {name: tuple(types) for name, types in found.items()}


def pairs(meant: ast.AST, found: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield the nodes of a tree, each with that of its text, parsed, where both have it."""
    waiting = [(meant, found)]
    while waiting:
        one, other = waiting.pop()
        yield one, other
        one, other = comparable(one), comparable(other)
        if type(one) is not type(other):
            continue
        for field in one._fields:
            mine, its = getattr(one, field, None), getattr(other, field, None)
            if isinstance(mine, list) and isinstance(its, list):
                if field in ("body", "orelse", "finalbody"):
                    mine = block(one, field, mine)
                waiting += [
                    (a, b) for a, b in zip(mine, its, strict=False)
                    if isinstance(a, ast.AST) and isinstance(b, ast.AST)
                ]
            elif isinstance(mine, ast.AST) and isinstance(its, ast.AST):
                waiting.append((mine, its))
