"""The native form of a split pair: loops for the value, and loops for value and sweep together.

Nothing of what loops save leaves them: a pullback computes the value again, of copies of the
arguments, which costs less than taking tapes apart and putting them together.
"""

from __future__ import annotations

from dataclasses import replace

from adcompiler.analyses.purity import Purity
from adcompiler.backends.native.printer import printed
from adcompiler.backends.native.product import (
    HEAD, called, check_names, leaves, lowered, parallel_head,
)
from adcompiler.backends.native.values import Declined
from adcompiler.optimise.dead_code import dead_code
from adcompiler.products.product import Product
from adcompiler.typed.unit import Unit


def with_native_pair(text: str, product: Product, unit: Unit) -> tuple[str, str]:
    """Return the text of a pair's module with its loops, and the name of the first that calls them.

    The other one has the name of the pullback with the same end. Raises Declined.
    """
    augmented, pullback, *others = product.functions
    if product.effects != "written" or len(pullback.params) != 2:
        raise Declined("it has effects", augmented.origin)
    purity = Purity(unit.type, unit.definition)
    value = replace(augmented, body=dead_code(
        replace(augmented.body, yields=augmented.body.yields[:1]), purity))
    base = augmented.name.removesuffix("_augmented")
    first = lowered([value, *others], unit, f"{base}_value_loops")
    second = lowered([augmented, *others], unit, f"{base}_pullback_loops", pullback)
    names = [param.var.name for param in augmented.params]
    seed = pullback.params[1].var.name
    residuals = pullback.params[0].var.name
    check_names([*names, seed, residuals, "value", "saved"], {
        augmented.name, pullback.name, first.name, second.name,
    }, augmented)
    listed = ", ".join(names)
    one = "," if len(names) == 1 else ""
    kept = f"Arguments(own(({listed}{one})))"
    again = [f"value, saved = {augmented.name}({listed})", f"return {pullback.name}(saved, {seed})"]
    added = parallel_head(first, second)
    added += printed(first, f"Compute the value of `{base}`, or return False first.")
    added += printed(second, "Compute the value and pull a cotangent of it back, or return False.",
                     printed_before=first)
    added += f'''

def {augmented.name}_native({listed}):
    """Return what `{augmented.name}` returns, computed by compiled loops if they can."""
    if {leaves(first, names)}:
        return {augmented.name}({listed})
{called(first, names, [f"return {augmented.name}({listed})"], f", {kept}")}


def {pullback.name}_native({residuals}, {seed}):
    """Return what `{pullback.name}` returns, computed by compiled loops if they can."""
    if not isinstance({residuals}, Arguments):
        return {pullback.name}({residuals}, {seed})
    {listed}{one} = {residuals}.values
    if {leaves(second, [*names, seed], [seed])}:
        {again[0]}
        {again[1]}
{called(second, [*names, seed], again)}
'''
    head = f"{HEAD}from adcompiler.runtime.indexing import own\n"
    return f"{text.rstrip()}\n\n\n{head}{added}", f"{augmented.name}_native"
