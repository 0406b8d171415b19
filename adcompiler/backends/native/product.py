"""The native form of a product: the text of its loops, and of the function that calls them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adcompiler.backends.native.emit.printer import printed, spread_in
from adcompiler.backends.native.loops import (
    FLOAT, INT, KINDS, SHORT, SINGLE, Apply, Binary, Body, ComplexForm, Expr, Form, HeldForms,
    KeyedForm, ListForm, LoopFunction, Number, Output, View,
)
from adcompiler.backends.native.lower.host_calls import Island, text_of
from adcompiler.backends.native.lower.lowering import Lowering
from adcompiler.backends.native.lower.outside import Outside, given_outside
from adcompiler.backends.native.lower.parameters import is_exact, limits, parameters_of
from adcompiler.backends.native.lower.recursion import LIMITS, Recursion
from adcompiler.backends.native.ops.held import apart
from adcompiler.backends.native.ops.lists import as_rows, item_form
from adcompiler.backends.native.ops.singles import dtype_of
from adcompiler.backends.native.passes.parallel import spread
from adcompiler.backends.native.passes.buffer_capacity import with_room, with_rooms_ahead
from adcompiler.backends.native.passes.table import WHOLE, improved
from adcompiler.backends.native.values import (
    Again, Buffer, Complex, Declined, Kept, Keyed, Known, Num, Rows, Several, Slot,
)
from adcompiler.backends.native.writer import as_double
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Function, Let, Pack, Var, unstar
from adcompiler.ir.visit import used
from adcompiler.products.product import Product
from adcompiler.typed.unit import Unit


CLASSES = {
    "float64": ("float", "np.float64"), "int64": ("int", "np.int64"), "bool": ("bool", "np.bool_"),
    SINGLE: ("np.float32", "np.float32"),
}
"""What numbers of a machine type are called in Python, and in NumPy."""
IMPORTED = (
    "Arguments", "are_floats", "compiled", "errors", "errors_now", "may_overlap", "refusals",
)
IN_PYTHON = ("answer_of",)
"""What modules with calls in Python have beside that."""
IN_THREADS = ("in_parallel", "prange")
"""What modules with loops in threads have beside that."""
LIMITING = ("recursion_limit", "stack_room")
"""What modules with functions that call themselves have beside that."""
WRITING = "put_back"
"""What modules have beside that of which the loops write into arguments."""
IN_ROWS = "in_rows"
"""What modules have beside that of which a result is a list of lists."""
HEAD = f"""import math

import numpy as np

from adcompiler.runtime.native import (
    {', '.join(IMPORTED)},
)
"""


def with_native(text: str, product: Product, unit: Unit) -> tuple[str, str]:
    """Return the text of a product's module with its loops, and the name of what calls them.

    That function takes what the product's takes, and stands last. Raises Declined.
    """
    if product.effects != "written":
        raise Declined("it has effects", product.functions[0].origin)
    outside = given_outside(product.functions, unit, text, product.tangents)
    function = outside.functions[0]
    islands: list[Island] = []
    loops = lowered(outside.functions, unit, islands=islands)
    names = [param.var.name for param in function.params]
    check_names(names, {function.name, loops.name, outside.reader}, function)
    added = text_of(unit, [loops], islands, text) + rest_of_head(loops)
    added += printed(loops, f"Compute `{function.name}`; return False first where Python has to.")
    added += caller(
        function.name, loops, names, names[len(names) - product.tangents :], outside)
    return f"{text.rstrip()}\n\n\n{outside.text}{HEAD}{added}", f"{function.name}_native"


def check_names(names: Sequence[str], taken: set[str], function: Function) -> None:
    """Refuse names of arguments that the text of the loops uses itself."""
    taken = {*taken, "done", "np", "float", "int", "bool", "list", "zip", *IMPORTED, *IN_PYTHON,
             *IN_THREADS, *LIMITING, WRITING, IN_ROWS}
    if len(set(names)) < len(names) or taken & set(names):
        raise Declined("an argument has a name that the loops need", function.origin)


def lowered(
    functions: Sequence[Function], unit: Unit, name: str = "", sweep: Function | None = None,
    islands: list[Island] | None = None, of_each: bool = True,
) -> LoopFunction:
    """Return the loops of the first function, which may call the others. Raises Declined.

    With a ``sweep`` they go on with that one, which takes the last of what the first one yields,
    and a parameter more. The calls that they make in Python are added to ``islands``; without that
    list they make none. ``of_each`` lets them compute functions of whole arrays in steps of their
    own.
    """
    short = set[Var]()
    while True:
        try:
            return lowered_with(short, functions, unit, name, sweep, islands, of_each)
        except Again as again:
            short.add(again.var)


def lowered_with(
    short: set[Var], functions: Sequence[Function], unit: Unit, name: str, sweep: Function | None,
    islands: list[Island] | None, of_each: bool,
) -> LoopFunction:
    """Return the same, where it is known which numbers that begin as zero are ``short`` floats."""
    function = functions[0]
    name = name or f"{function.name}_loops"
    low = Lowering(
        unit, functions if sweep is None else [*functions, sweep], "" if islands is None else name)
    low.arrays.of_each, low.short = of_each, short
    low.recursion = recursion = Recursion(name)
    params = list(function.params)
    read: set[Var] = set().union(*(used(one.body) for one in functions))  # called ones too
    if sweep is not None:
        read |= {*used(sweep.body)}
        params += sweep.params[1:]
    low.given_back = []
    parameters = [
        given for position, param in enumerate(params) if param.var in read
        for given in parameters_of(low, param.var, position, unit.type(param.var))
    ]
    low.w.body.rows += limits(parameters)
    rows, opening = low.w.body, low.tapes.opening
    low.block(function.body)
    if function.body.diverges:
        raise Declined("it always raises", function.origin)
    yields = function.body.yields
    if sweep is not None:
        low.values[sweep.params[0].var] = low.value(yields[-1])
        low.block(sweep.body)
        yields = sweep.body.yields
    outputs: list[Output] = []
    try:
        forms = tuple(
            returned(low, atom, low.read(atom), unit.type(atom), outputs)
            for atom in yields
        )
        back = () if sweep else given_back(low, function, outputs)
    except Declined as declined:
        declined.origin = declined.origin or function.origin
        raise
    if islands is not None and low.islands is not None:
        islands += low.islands.worth_it(rows)
    called = recursion.finished(low)
    parameters += recursion.given
    made, filled = with_room(opening, rows)
    rows.rows[:] = with_rooms_ahead(Body(made + filled)).rows
    form = forms[0] if len(forms) == 1 else forms
    loops = LoopFunction(
        name, tuple(parameters), rows, tuple(outputs), form, tuple(low.told_apart), back, called)
    if unit.settings.options.parallel and not low.tapes.heaps:
        loops = in_threads(loops, low)
    return improved(low.w, loops, WHOLE, of_each)


def in_threads(loops: LoopFunction, low: Lowering) -> LoopFunction:
    """Return loops with those spread over threads that are independent, as ``explain`` tells."""
    found, said = spread(low.w, loops)
    low.unit.said += [text for text in said if text not in low.unit.said]
    return found


def rest_of_head(*loops: LoopFunction) -> str:
    """Return what is written in front of loops that run in threads, or write into arguments.

    So is what those need that call functions which call themselves.
    """
    head = f"from adcompiler.runtime.native import {WRITING}\n" if any(
        one.given_back for one in loops) else ""
    if any(has_rows(one.form) for one in loops):
        head += f"from adcompiler.runtime.native import {IN_ROWS}\n"
    if any(one.called for one in loops):
        head += f"from adcompiler.runtime.native import {', '.join(LIMITING)}\n"
    if not any(map(spread_in, loops)):
        return head
    return f"{head}from adcompiler.runtime.native import in_parallel, prange\n"


def returned(
    low: Lowering, atom: Atom | None, value: Any, type_: t.Type,
    outputs: list[Output]
) -> Form:
    """Return the form of a result, its numbers and arrays appended to ``outputs``."""
    if isinstance(value, Several):
        match low.makers.get(atom) if isinstance(atom, Var) else None:
            case (Let(rhs=Pack("tuple", atoms)), _):
                inner: list[tuple[Atom | None, t.Type]] = [
                    (one, low.unit.type(one)) for one in map(unstar, atoms)
                ]
            case _:
                inner = [(None, one) for one in items_of(type_, len(value.items))]
        return tuple(
            returned(low, one, item, item_type, outputs)
            for item, (one, item_type) in zip(value.items, inner, strict=True)
        )
    if isinstance(value, (Rows, Kept)):
        return returned_list(low, value, type_, outputs)
    if isinstance(value, Keyed):
        return returned_parts(low, value, outputs)
    if isinstance(value, Complex):
        if not isinstance(type_, t.Scalar) or not type_.exact:
            raise Declined(f"a result is a {type_}")
        outputs += [Output(part.expr, FLOAT) for part in (value.re, value.im)]
        return ComplexForm(len(outputs) - 2, len(outputs) - 1, type_.dtype is not None)
    outputs.append(output(low, value, type_))
    return len(outputs) - 1


def given_back(
    low: Lowering, function: Function, outputs: list[Output]
) -> tuple[tuple[int, Form], ...]:
    """Return the positions of arguments that are written into, and the forms of what they become.

    Loops write into copies; arguments take the content of these when nothing can go wrong any more.
    """
    places = {param.var: position for position, param in enumerate(function.params)}
    found: list[tuple[int, Form]] = []
    for target, final, value in low.given_back or ():
        if target not in places:
            raise Declined("what is no argument is written into")
        found.append((
            places[target],
            returned(low, final, value, low.unit.type(target), outputs)))
    return tuple(found)


def returned_parts(low: Lowering, value: Keyed, outputs: list[Output]) -> KeyedForm:
    """Return the form of a dict that is made, or of a gradient of a dict or an instance."""
    if not value.made or value.cls or (value.is_record and value.position is None):
        raise Declined("a result is an instance, or a dict that is an argument")
    return keyed_form(low, value, outputs, value.position)


def keyed_form(low: Lowering, value: Keyed, outputs: list[Output], of: int | None) -> KeyedForm:
    """Return the form of a dict or an instance that was made."""
    parts: list[tuple[Any, Form]] = []
    for key, part in value.parts.items():
        if isinstance(part, Declined):
            raise part
        if not isinstance(key, (str, int, float)):
            raise Declined("a result is a dict with keys that are neither texts nor numbers")
        if isinstance(part, Keyed) and part.made and not part.cls:
            parts.append((key, keyed_form(low, part, outputs, None)))
        elif isinstance(part, Known) and part.value is None:
            parts.append((key, None))
        else:
            parts.append((key, returned(low, None, part, value.types[key], outputs)))
    return KeyedForm(tuple(parts), value.is_record, of)


def returned_list(
    low: Lowering, value: Rows | Kept, type_: t.Type, outputs: list[Output]
) -> ListForm:
    """Return the form of a list that is returned."""
    if not isinstance(type_, t.List) or not is_exact(type_.item):
        raise Declined(f"a result is a {type_}")
    rows = as_rows(low, value, item_form(type_.item))

    def form(layout: Any, item: t.Type, length: Expr) -> Form:
        if isinstance(item, t.Tuple):
            return tuple(form(*pair, length) for pair in zip(layout.items, item.items, strict=True))
        if isinstance(item, t.List):
            counts, inner = apart(low, layout, length)
            outputs.append(Output(counts, INT, 1))
            return HeldForms(len(outputs) - 1, form(inner.layout, item.item, inner.length))
        if not isinstance(layout, Slot):
            raise Declined("a result is a list of arrays")
        part = low.w.fresh(layout.buffer)
        low.w.write(View(part, layout.buffer, Number(0), (length,)))
        outputs.append(Output(part, layout.dtype, 1, getattr(item, "dtype", None) is not None))
        return len(outputs) - 1

    return ListForm(form(rows.layout, type_.item, rows.length))


def items_of(type_: t.Type, count: int) -> list[t.Type]:
    """Return the types of a tuple's items."""
    if isinstance(type_, t.Tuple) and type_.cls is tuple and len(type_.items) == count:
        return list(type_.items)
    raise Declined("what it returns is not known to be a tuple")


def has_list(form: Form) -> bool:
    """Say whether a list, a dict or an instance is in a form."""
    return isinstance(form, (ListForm, KeyedForm)) or (
        isinstance(form, tuple) and any(map(has_list, form)))


def has_gradient(form: Form) -> bool:
    """Say whether the gradient of a dict or an instance is in a form."""
    return isinstance(form, KeyedForm) or (
        isinstance(form, tuple) and any(map(has_gradient, form)))


def has_rows(form: Form) -> bool:
    """Say whether a list of lists is in a form."""
    if isinstance(form, KeyedForm):
        return any(has_rows(one) for _, one in form.parts)
    if isinstance(form, ListForm):
        return has_rows(form.item)
    return isinstance(form, HeldForms) or (isinstance(form, tuple) and any(map(has_rows, form)))


def output(low: Lowering, value: Buffer | Num, type_: t.Type) -> Output:
    """Return what is returned of one result."""
    match value:
        case Num(expr, dtype) if isinstance(type_, t.Scalar):
            if dtype in SHORT or dtype_of(type_) in SHORT:
                return short_output(low, value, type_)
            if KINDS.get(type_.kind) != dtype:
                if dtype != "int64" or type_.kind != "float":
                    raise Declined("a result is a number of another kind than is known")
                expr, dtype = low.w.as_float(value).expr, FLOAT
            if type_.dtype not in (None, dtype):
                raise Declined(f"a result is a {type_}")
            return Output(expr, dtype, None, type_.dtype is not None)
        case Buffer(_, dtype) if isinstance(type_, t.Array) and type_.dtype == dtype:
            return Output(low.arrays.own(value).name, dtype, value.ndim)
    raise Declined("a result is neither a number nor an array")


def short_output(low: Lowering, value: Num, type_: t.Scalar) -> Output:
    """Return what is returned of a short float, or of what would be one had loops run.

    Where that is no short float, Python returns a number of its own.
    """
    if not {dtype for _, dtype in type_.classes} <= {None, SINGLE}:
        raise Declined(f"a result is a {type_}")
    expr = low.w.named("result", as_double(low.w, value).expr)
    if value.dtype != SINGLE:
        short = Apply("float", (Apply("np.float32", (expr,)),))
        low.w.leave_if(Binary("!=", expr, short))
    return Output(expr, SINGLE, None, True)


def caller(
    name: str, loops: LoopFunction, names: list[str], seeds: Sequence[str], outside: Outside
) -> str:
    """Return the text of the function that calls the loops, or Python's product."""
    all_names = ", ".join(outside.without(names))
    return f'''

def {name}_native({all_names}):
    """Return what `{name}` returns, computed by compiled loops if they come to their end."""
{outside.line}    if {leaves(loops, names, seeds)}:
        return {name}({all_names})
{called(loops, names, [f"return {name}({all_names})"])}
'''


def called(loops: LoopFunction, names: list[str], otherwise: list[str], rest: str = "") -> str:
    """Return the lines that call the loops and return what they give, and the rest.

    The rest is computed before arguments are written into.
    """
    lines, values = tried(loops, names)
    lines += ["if not done:", *(f"    {line}" for line in otherwise)]
    back = giving_back(loops, names)
    if back and rest:
        lines.append(f"given = {rest}")
        rest = "given"
    lines += [*back, f"return {values}{', ' if rest else ''}{rest}"]
    return "\n".join(f"    {line}" for line in lines)


def called_first(loops: LoopFunction, names: list[str], test: str) -> str:
    """Return the lines that call loops where a test holds; others follow for where they give up."""
    lines, values = tried(loops, names)
    lines += ["if done:", f"    return {values}"]
    return "\n".join([f"    if {test}:", *(f"        {line}" for line in lines), ""])


def tried(loops: LoopFunction, names: list[str]) -> tuple[list[str], str]:
    """Return the lines that call the loops, and the text of what is returned then."""
    results, values = outputs_of(loops, names)
    given = ", ".join(p.part.replace("{}", names[p.position]) for p in loops.parameters)
    return [
        "try:", f"    done, {', '.join(results)} = {loops.name}({given})",
        "except refusals():  # Python tells what is wrong", "    done = False",
    ], values


def giving_back(loops: LoopFunction, names: list[str]) -> list[str]:
    """Return the lines that write into arguments what loops made of them."""
    values, listed = texts_of(loops, names_of(loops, names))
    return [f"put_back({names[place]}, {written(form, values, listed, names)})"
            for place, form in loops.given_back]


def outputs_of(loops: LoopFunction, names: list[str]) -> tuple[list[str], str]:
    """Return names for the outputs of loops, and the text of what is returned of them."""
    results = names_of(loops, names)
    values, listed = texts_of(loops, results)
    return results, written(loops.form, values, listed, names)


def names_of(loops: LoopFunction, names: list[str]) -> list[str]:
    """Return names for the outputs of loops beside those of arguments."""
    taken = {*names, "done", "given"}
    results = []
    for i, _ in enumerate(loops.outputs):
        result = f"result_{i}" if len(loops.outputs) > 1 else "result"
        while result in taken:
            result += "_"
        results.append(result)
    return results


def texts_of(loops: LoopFunction, results: list[str]) -> tuple[list[str], list[str]]:
    """Return the texts of the outputs of loops, as they are returned and as items of lists."""
    values = [value_of(*pair) for pair in zip(loops.outputs, results, strict=True)]
    listed = [result if output.numpy else f"{result}.tolist()"
              for output, result in zip(loops.outputs, results, strict=True)]
    return values, listed


def leaves(loops: LoopFunction, names: list[str], seeds: Sequence[str] = ()) -> str:
    """Return the text of a test of whether a call is for Python; ``seeds`` have to be floats."""
    tests = ["errors_now() is not errors.known and errors.need_python()"]
    if seeds:
        tests.append(f"not are_floats({', '.join(seeds)})")
    for parameter in loops.parameters:
        if parameter.ndim is None and parameter.dtype == INT and parameter.part not in LIMITS:
            part = parameter.part.replace("{}", names[parameter.position])
            tests.append(f"not -(2**63) <= {part} < 2**63")
    for places, written_ in loops.apart:
        first = ", ".join(names[i] for i in written_)
        rest = ", ".join(names[i] for i in places if i not in written_)
        tests.append(f"may_overlap([{first}], [{rest}])")
    return " or ".join(tests)


def value_of(output: Output, result: str) -> str:
    """Return the text of a number or an array that is returned, in its class."""
    result = output.part.format(result)
    return result if output.ndim else f"{CLASSES[output.dtype][output.numpy]}({result})"


def written(form: Form, values: list[str], listed: list[str], names: list[str]) -> str:
    """Return the text of what is returned; items of lists are taken from ``listed``.

    Gradients of dicts and instances, the arguments ``names``, are what Python makes of their parts.
    """
    if form is None or isinstance(form, int):
        return "None" if form is None else values[form]
    if isinstance(form, ListForm):
        return f"list({written_items(form.item, listed)})"
    if isinstance(form, KeyedForm):
        parts = [(key, written(one, values, listed, names)) for key, one in form.parts]
        made = f"record({', '.join(f'{key}={one}' for key, one in parts)})" if form.is_record else (
            f"{{{', '.join(f'{key!r}: {one}' for key, one in parts)}}}")
        return made if form.of is None else f"as_gradient({made}, {names[form.of]})"
    if isinstance(form, ComplexForm):
        made = f"complex({values[form.re]}, {values[form.im]})"
        return f"np.complex128({made})" if form.numpy else made
    assert isinstance(form, tuple)
    items = [written(one, values, listed, names) for one in form]
    return f"({', '.join(items)}{',' * (len(items) == 1)})"


def written_items(form: Form, listed: list[str]) -> str:
    """Return the text of something that runs over the items of a list."""
    if isinstance(form, int):
        return listed[form]
    if isinstance(form, HeldForms):
        return f"in_rows({written_items(form.item, listed)}, {listed[form.lengths]})"
    assert isinstance(form, tuple)
    return f"zip({', '.join(written_items(one, listed) for one in form)})"
