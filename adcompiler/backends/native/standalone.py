"""Native loops without the module around them: their LLVM IR, and what a C file is made of."""

from __future__ import annotations

from adcompiler.backends.native.emit.printer import DTYPES, printed
from adcompiler.backends.native.emit.program import Program
from adcompiler.backends.native.emit.types import ArrayType, NotEmitted
from adcompiler.backends.native.loops import INT, LoopFunction
from adcompiler.backends.native.product import (
    CLASSES, check_names, has_gradient, has_rows, lowered, outputs_of,
)
from adcompiler.backends.native.values import Declined
from adcompiler.products.product import Product
from adcompiler.typed.unit import Unit


def in_llvm(product: Product, unit: Unit) -> str:
    """Return the LLVM IR of a product's loops. Raises Declined."""
    function = product.functions[0]
    loops, _ = lowered_alone(product, unit, set(), of_each=True)
    text = printed(loops, f"Compute `{function.name}`; return False first where Python has to.")
    types = [one.dtype if one.ndim is None else ArrayType(one.dtype, one.ndim)
             for one in loops.parameters]
    try:
        return Program(text).emitted(loops.name, types).text
    except NotEmitted as error:
        raise Declined(f"LLVM does not compile it ({error})", function.origin) from None


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
    if has_rows(loops.form):
        raise Declined("a result is a list of lists", function.origin)
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
