"""Emits a module: imports, then the functions of a product."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from inspect import Parameter
from typing import Any

from adcompiler.analyses.purity import Purity
from adcompiler.backends.python.free_names import settle
from adcompiler.backends.python.lower import FunctionLowering
from adcompiler.backends.python.printer.layout import Comment
from adcompiler.backends.python.printer.source import emit_source
from adcompiler.backends.python.references import References
from adcompiler.errors import InternalError
from adcompiler.frontend.sources.places import lines_below
from adcompiler.ir.nodes import Origin
from adcompiler.products.product import Product
from adcompiler.typed.unit import Unit


def emit_module(
    product: Product, unit: Unit, parameters: Sequence[Parameter] = ()
) -> tuple[str, dict[str, Any]]:
    """Return the text of a module with the functions of ``product``, and its bound values.

    ``parameters``, if given, are those of the user's function: the first function takes the same.
    """
    tree, bound, _ = module_tree(product, unit, parameters)
    return emit_source(tree), bound


def emit_with_origins(
    product: Product, unit: Unit
) -> tuple[str, dict[str, Any], dict[int, Origin]]:
    """As ``emit_module``, of text that is compiled again, where each write is followed.

    The third result tells what the lines of the text are emitted for.
    """
    tree, bound, _ = module_tree(product, unit, (), is_read_again=True)
    text = emit_source(tree)
    return text, bound, lines_below(text, list(origins_in(tree)))


def origins_in(node: ast.AST) -> Iterator[Origin]:
    """Yield the origins that the comments of a tree tell, in the order of its text."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Comment) and child.origin is not None:
            yield child.origin
        yield from origins_in(child)


def module_tree(
    product: Product, unit: Unit, parameters: Sequence[Parameter], is_read_again: bool = False
) -> tuple[ast.Module, dict[str, Any], list[FunctionLowering]]:
    """Return the tree of a module with the functions of ``product``, and its bound values.

    The third result is what lowered each function.
    """
    references = References(unit)
    purity = Purity(unit.type, unit.definition)
    lowerings = [
        FunctionLowering(
            f, unit, references, purity, f is product.functions[0], not is_read_again)
        for f in product.functions
    ]
    for lowering in lowerings:
        references.taken |= {lowering.function.name, *lowering.names.names.values()}
    body: list[ast.stmt] = [
        lowering.lower(product.docs.get(lowering.function.name, "")) for lowering in lowerings
    ]
    if parameters:
        assert isinstance(body[0], ast.FunctionDef)
        own = body[0].args.args
        names = [arg.arg for arg in own[: len(own) - product.tangents]]
        if not {p.name for p in parameters} <= set(names):
            raise InternalError(f"the parameters of {body[0].name} are named {', '.join(names)}")
        body[0].args = user_arguments(parameters, references)
        add_tangents(body[0].args, own[len(own) - product.tangents :])
    tree = ast.Module([*settle(references.imports(), body), *body], [])
    return tree, dict(references.bound), lowerings


def user_arguments(parameters: Sequence[Parameter], references: References) -> ast.arguments:
    """Return a parameter list like that of the user's function, with defaults that can be written.

    Where a default cannot be written, it and those before it are left out.
    """
    arguments = ast.arguments([], [], None, [], [], None, [])
    for p in parameters:
        arg = ast.arg(p.name)
        default = None if p.default is p.empty else references.importable(p.default)
        if p.kind is p.VAR_POSITIONAL:
            arguments.vararg = arg
        elif p.kind is p.VAR_KEYWORD:
            arguments.kwarg = arg
        elif p.kind is p.KEYWORD_ONLY:
            arguments.kwonlyargs.append(arg)
            arguments.kw_defaults.append(default)
        else:
            (arguments.posonlyargs if p.kind is p.POSITIONAL_ONLY else arguments.args).append(arg)
            arguments.defaults = [] if default is None else [*arguments.defaults, default]
    return arguments


def add_tangents(arguments: ast.arguments, tangents: list[ast.arg]) -> None:
    """Add the parameters for tangents: by position, or by name where that could be mistaken."""
    if arguments.vararg or arguments.kwonlyargs or arguments.defaults:
        arguments.kwonlyargs += tangents
        arguments.kw_defaults += [None] * len(tangents)
    else:
        arguments.args += tangents
