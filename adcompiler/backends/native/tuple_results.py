"""The native form of a split pair: loops for the value, and loops for value and sweep together.

Nothing of what loops save leaves them: a pullback computes the value again, of copies of the
arguments and of what is read outside of the function, which costs less than taking tapes apart and
putting them together.
"""

from __future__ import annotations

from dataclasses import replace

from adcompiler.analyses.purity import Purity
from adcompiler.backends.native.emit.printer import printed
from adcompiler.backends.native.lower.host_calls import Island, text_of
from adcompiler.backends.native.lower.outside import given_outside
from adcompiler.backends.native.product import (
    HEAD, called, check_names, leaves, lowered, rest_of_head,
)
from adcompiler.backends.native.seeds import IMPORTED, SEEDS_HEAD
from adcompiler.backends.native.inner_seed_loops import SeedsTogether
from adcompiler.backends.native.values import Declined
from adcompiler.optimise.dead_code import dead_code
from adcompiler.products.product import Product
from adcompiler.typed.unit import Unit


def with_native_pair(
    text: str, product: Product, unit: Unit, each: bool = False
) -> tuple[str, str]:
    """Return the text of a pair's module with its loops, and the name of the first that calls them.

    The other one has the name of the pullback with the same end; with ``each`` it takes cotangents
    of many seeds, and computes the value once for all of them. Raises Declined.
    """
    if product.effects != "written" or len(product.functions[1].params) != 2:
        raise Declined("it has effects", product.functions[0].origin)
    outside = given_outside(product.functions, unit, text, is_first=True)
    augmented, pullback, *others = outside.functions
    purity = Purity(unit.type, unit.definition)
    value = replace(augmented, body=dead_code(
        replace(augmented.body, yields=augmented.body.yields[:1]), purity))
    base = augmented.name.removesuffix("_augmented")
    islands: list[Island] = []
    first = lowered([value, *others], unit, f"{base}_value_loops", islands=islands)
    functions, name = [augmented, *others], f"{base}_pullback_loops"
    second = SeedsTogether(functions, unit, 1, pullback).lowered(name) if each else lowered(
        functions, unit, name, pullback, islands)
    names = [param.var.name for param in augmented.params]
    seed = pullback.params[1].var.name
    residuals = pullback.params[0].var.name
    check_names([*names, seed, residuals, "value", "saved", "given", *(IMPORTED if each else ())], {
        augmented.name, pullback.name, first.name, second.name, outside.reader, outside.again,
    }, augmented)
    listed, own = ", ".join(names), ", ".join(outside.without(names))
    one = "," if len(names) == 1 else ""
    kept = f"Arguments(own(({listed}{one})))"
    again_of = f"*own(({listed}{one}))" if first.given_back else listed
    pulled = f"pulled_each({pullback.name}, " if each else f"{pullback.name}("
    again_by = outside.again or augmented.name
    again = [f"value, saved = {again_by}({again_of})", f"return {pulled}saved, {seed})"]
    added = text_of(unit, [first, second], islands, text) + rest_of_head(first, second)
    added += printed(first, f"Compute the value of `{base}`, or return False first.")
    what = "cotangents of it, counted by the last axes," if each else "a cotangent of it"
    added += printed(second, f"Compute the value and pull {what} back, or return False.",
                     printed_before=first)
    added += f'''

def {augmented.name}_native({own}):
    """Return what `{augmented.name}` returns, computed by compiled loops if they can."""
{outside.line}    if {leaves(first, names)}:
        return {augmented.name}({own})
{called(first, names, [f"return {augmented.name}({own})"], kept)}


def {pullback.name}_native({residuals}, {seed}):
    """Return what `{pullback.name}` returns, computed by compiled loops if they can."""
    if not isinstance({residuals}, Arguments):
        return {pulled}{residuals}, {seed})
    {listed}{one} = {residuals}.values
    if {leaves(second, [*names, seed], [seed])}:
        {again[0]}
        {again[1]}
{called(second, [*names, seed], again)}
'''
    seeds = SEEDS_HEAD if each else ""
    head = f"{HEAD}{seeds}from adcompiler.runtime.adjoints.indexing import own\n"
    return f"{text.rstrip()}\n\n\n{outside.text}{head}{added}", f"{augmented.name}_native"
