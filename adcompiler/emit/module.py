"""Emits a module: imports, then the functions of a product."""

from __future__ import annotations

import ast
from typing import Any

from adcompiler.analyses.purity import Purity
from adcompiler.emit.lower import FunctionLowering
from adcompiler.emit.references import References
from adcompiler.emit.source import emit_source
from adcompiler.products import Product
from adcompiler.transforms.unit import Unit


def emit_module(product: Product, unit: Unit) -> tuple[str, dict[str, Any]]:
    """Return the text of a module with the functions of ``product``, and its bound values."""
    references = References(unit)
    purity = Purity(unit.type, unit.definition)
    body: list[ast.stmt] = []
    for function in product.functions:
        lowering = FunctionLowering(function, unit, references, purity)
        body.append(lowering.lower(product.docs.get(function.name, "")))
    module = ast.Module([*references.imports(), *body], [])
    return emit_source(ast.fix_missing_locations(module)), dict(references.bound)
