"""Native loops as a module of their own, which needs numba and NumPy but not this package."""

from __future__ import annotations

from adcompiler.backends.native.loops import INT, LoopFunction
from adcompiler.backends.native.printer import DTYPES, printed
from adcompiler.backends.native.product import (
    CLASSES, check_names, has_gradient, lowered, outputs_of,
)
from adcompiler.backends.native.values import Declined
from adcompiler.products.product import Product
from adcompiler.typed.unit import Unit

HEAD = '''import math
import operator

import numba
import numpy as np

compiled = numba.njit(error_model="numpy", cache=True)
'''


STACK = '''
import sys

from numba.core import cgutils
from numba.extending import intrinsic

in_memory = numba.njit(error_model="numpy")
recursion_limit = sys.getrecursionlimit


def stack_room():
    """Return how many bytes of the stack calls inside of one another may take."""
    return 2**18


@intrinsic
def stack_address(context):
    """Return where variables of the function that calls it stand."""

    def written(context, builder, signature, args):
        kind = context.get_value_type(numba.int64)
        return builder.ptrtoint(cgutils.alloca_once(builder, kind), kind)

    return numba.int64(), written
'''
"""What functions that call themselves need."""

BITS = '''
from numba.extending import intrinsic

inlined = numba.njit(error_model="numpy", cache=True, forceinline=True)


def cast(result, given):
    """Return a function of a number that takes its bits for those of another machine type."""

    def typed(context, x):
        return result(given), written

    def written(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(result))

    return intrinsic(typed)


bits_of = cast(numba.int64, numba.float64)
of_bits = cast(numba.float64, numba.int64)
'''
"""What functions of the bits of numbers need."""


def standing_alone(product: Product, unit: Unit) -> str:
    """Return the text of a module of loops, and of the function that calls them.

    Where Python would take over, that function raises. Raises Declined.
    """
    function = product.functions[0]
    loops, names = lowered_alone(
        product, unit, {"numba", "sys", "cgutils", "intrinsic", "inlined", "cast"}, of_each=True)
    body = printed(loops, f"Compute `{function.name}`; return False first where Python has to.",
                   stack=STACK, bits=BITS)
    return f"{HEAD}{body}{caller(function.name, loops, names, product.docs[function.name])}"


def lowered_alone(
    product: Product, unit: Unit, taken: set[str], of_each: bool = False
) -> tuple[LoopFunction, list[str]]:
    """Return the loops of a product without effects, and the names of what they are called with.

    Arguments may not have names that are ``taken``; with ``of_each`` functions of whole arrays are
    computed as under the JIT. Raises Declined.
    """
    function = product.functions[0]
    if product.effects != "written":
        raise Declined("it has effects", function.origin)
    loops = lowered(product.functions, unit, f"{function.name}_loops", of_each=of_each)
    if has_gradient(loops.form):
        raise Declined("a result is the gradient of a dict or an instance", function.origin)
    if loops.apart or loops.given_back:
        raise Declined("arguments are written into", function.origin)
    names = [param.var.name for param in function.params]
    check_names(names, {function.name, loops.name, "operator", *taken}, function)
    return loops, names


def caller(name: str, loops: LoopFunction, names: list[str], doc: str) -> str:
    """Return the text of the function that calls the loops."""
    results, values = outputs_of(loops, names)
    given = ", ".join(
        converted(p.part.replace("{}", names[p.position]), p.dtype, p.ndim)
        for p in loops.parameters
    )
    lines = [
        f"done, {', '.join(results)} = {loops.name}({given})", "if not done:",
        '    raise ArithmeticError("the loops came to what only Python does, such as raising "',
        '                          "for an index out of bounds or a division by zero")',
        f"return {values}",
    ]
    text = "\n".join(f"    {line}" for line in lines)
    return f'\n\ndef {name}({", ".join(names)}):\n    """{doc}"""\n{text}\n'


def converted(text: str, dtype: str, ndim: int | None) -> str:
    """Return the text of an argument as the loops take it."""
    if ndim is None:
        return f"{'operator.index' if dtype == INT else CLASSES[dtype][0]}({text})"
    if text.startswith("np.array("):
        return text
    return f'np.asarray({text}).astype({DTYPES[dtype]}, casting="safe", copy=False)'
