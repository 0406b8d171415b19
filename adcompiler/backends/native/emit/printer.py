"""Prints the loop IR as Python, which LLVM IR is made of, and which also runs as it is."""

from __future__ import annotations

from collections.abc import Iterator

from adcompiler.backends.native.helpers import TEXTS, with_called
from adcompiler.backends.native.loops import (
    ARRAYS, BOOL, CARRIED, FLOAT, INT, Apply, Assign, Binary, Bind, Body, Break, Choose, Element,
    Ends, Expr, Extent, Flat, For, Forever, Leave, LoopFunction, Make, Name, Note, Number, Output,
    Part, Place, Reserve, Row, Spread, Store, Turn, Unary, Use, View, When, children, rows_of,
)
from adcompiler.backends.native.passes.reuse import with_arrays_reused
from adcompiler.backends.native.reading import exprs_of

DTYPES = {
    **{dtype: f"np.{dtype}" for dtype in (*ARRAYS, *CARRIED)}, BOOL: "np.bool_",
}
BUILTIN = ("float", "int")
LEVELS = {
    "or": 1, "and": 2, "not": 3, "<": 4, "<=": 4, ">": 4, ">=": 4, "==": 4, "!=": 4,
    "|": 5, "+": 6, "-": 6, "*": 7, "/": 7, "//": 7, "%": 7,
}
UNARY, ATOM = 8, 9
BITS = """
from adcompiler.runtime.native import bits_of, inlined, of_bits
"""
STACK = """
from adcompiler.runtime.native import stack_address
"""
OF_CALLED = "Compute one call of a function that calls itself; return False first to give up."
CONDITIONAL = 0


def helpers_of(function: LoopFunction | None) -> list[str]:
    """Return the names of the helpers that loops call, in the order of their definitions."""
    rows = [row for one in all_of(function) for row in rows_of(one.body)]
    called = {row.helper for row in rows if isinstance(row, Use)}
    called |= {"block_bounds"} if any(isinstance(row, Spread) for row in rows) else set()
    called |= {one for row in rows for expr in exprs_of(row) for one in applied(expr)}
    called |= {"reserved"} if any(isinstance(row, Reserve) for row in rows) else set()
    return with_called(called & TEXTS.keys())


def all_of(function: LoopFunction | None) -> list[LoopFunction]:
    """Return a function, and those that call themselves which it calls."""
    return [] if function is None else [*function.called, function]


def applied(expr: Expr) -> set[str]:
    """Return the helpers that an expression calls for single numbers."""
    found = {expr.function} & TEXTS.keys() if isinstance(expr, Apply) else set()
    return found.union(*map(applied, children(expr)))


def printed(function: LoopFunction, doc: str, printed_before: LoopFunction | None = None) -> str:
    """Return the text of a function of loops, and of the helpers that it calls."""
    there = helpers_of(printed_before)
    function = with_arrays_reused(function)
    wanted = helpers_of(function)
    helpers = "".join(f"\n{TEXTS[name]}" for name in wanted if name not in there)
    if any("bits_of" in TEXTS[name] for name in wanted) and not any(
        "bits_of" in TEXTS[name] for name in there
    ):
        helpers = BITS + helpers
    if function.called and not (printed_before and printed_before.called):
        helpers = STACK + helpers
    texts = [defined(with_arrays_reused(one), OF_CALLED) for one in function.called]
    return helpers + "".join(map(blocks, spread_in(function))) + "".join(texts) + (
        defined(function, doc))


def defined(function: LoopFunction, doc: str) -> str:
    """Return the definition of a function of loops."""
    names = ", ".join(parameter.name for parameter in function.parameters)
    given_up = ", ".join(["False", *map(nothing, function.outputs)])
    lines = [*unset(function.outputs), *body(function.body, 1, given_up)]
    ends = ", ".join(["True", *(result(output) for output in function.outputs)])
    head = ["", "", "@compiled", f"def {function.name}({names}):", f'    """{doc}"""']
    return "\n".join([*head, *lines, f"    return {ends}", ""])


def spread_in(function: LoopFunction | None) -> list[Spread]:
    """Return the loops of a function that are spread over threads."""
    rows = [] if function is None else rows_of(function.body)
    return [row for row in rows if isinstance(row, Spread)]


def blocks(row: Spread) -> str:
    """Return the text of the functions of a block of iterations, and of all blocks."""
    function, name = row.function, row.function.name
    given = "".join(f", {parameter}" for parameter in function.parameters)
    zeros = ", ".join(["False", *(nothing(Output("", dtype)) for _, dtype in function.sums)])
    sums = ", ".join(["True", *(sum_ for sum_, _ in function.sums)])
    lines = "\n".join(body(function.body, 1, zeros))
    parts = "".join(f", {part}" for _, part in row.parts)
    taken = {*function.parameters, row.ended, *row.terms, *(part for _, part in row.parts)}
    bounds, count, block = (free_of(one, taken) for one in ("bounds", "count", "block"))
    own = {buffer: f"{part}[{block}]" for buffer, part in row.parts}
    results = ", ".join(f"{one}[{block}]" for one in (row.ended, *row.terms))
    filled = ", ".join([bounds, count, row.ended, *row.terms])
    passed = "".join(f", {own.get(parameter, parameter)}" for parameter in function.parameters)
    shared = "".join(f", {one}" for one in function.parameters if one not in own)
    return f'''

@compiled
def {name}({function.first}, {function.last}{given}):
    """Run the loop of {function.place} from `{function.first}` to before `{function.last}`."""
{lines}
    return {sums}


@in_parallel
def {name}s({filled}{parts}{shared}):
    """Run `{count}` blocks of iterations, of about one size, each in some thread."""
    for {block} in prange({count}):
        {results} = {name}(
            {bounds}[{block}, 0], {bounds}[{block}, 1]{passed})
'''


def free_of(name: str, taken: set[str]) -> str:
    """Return a name that is not taken."""
    while name in taken:
        name += "_"
    return name


def unset(outputs: tuple[Output, ...]) -> Iterator[str]:
    """Yield the lines that make what loops that give up return in place of arrays."""
    kinds = {(output.ndim, output.dtype) for output in outputs if output.ndim is not None}
    for ndim, dtype in sorted(kinds):
        shape = "0" if ndim == 1 else f"({', '.join('0' * ndim)})"
        rest = "" if dtype == FLOAT else f", {DTYPES[dtype]}"
        yield f"    {no_array(ndim, dtype)} = np.empty({shape}{rest})"


def no_array(ndim: int, dtype: str) -> str:
    """Return the name of an array that stands for none."""
    return f"no_{dtype}_{ndim}d"


def nothing(output: Output) -> str:
    """Return what is returned in place of an output by loops that give up."""
    if output.ndim is not None:
        return no_array(output.ndim, output.dtype)
    return {INT: "0", BOOL: "False"}.get(output.dtype, "0.0")


def result(output: Output) -> str:
    """Return the text of an output."""
    return output.value if isinstance(output.value, str) else expression(output.value)


def body(block: Body, depth: int, given_up: str) -> Iterator[str]:
    """Yield the lines of statements."""
    if is_idle(block):
        yield "    " * depth + "pass"
        return
    for row in block.rows:
        yield from statement(row, depth, given_up)


def is_idle(block: Body) -> bool:
    """Say whether statements do nothing."""
    return all(
        isinstance(row, Note)
        or (isinstance(row, When) and is_idle(row.then) and is_idle(row.orelse))
        for row in block.rows
    )


def statement(row: Row, depth: int, given_up: str) -> Iterator[str]:
    """Yield the lines of a statement."""
    pad = "    " * depth
    match row:
        case Note(text):
            yield f"{pad}# {text}"
        case Assign(name, value):
            yield f"{pad}{name} = {expression(value)}"
        case Bind(name, buffer):
            yield f"{pad}{name} = {buffer}"
        case Make():
            yield pad + make(row)
        case Store(buffer, indices, value, adds):
            place = f"{buffer}[{', '.join(map(expression, indices))}]"
            yield f"{pad}{place} {'+=' if adds else '='} {expression(value)}"
        case Part(name, buffer, places):
            yield f"{pad}{name} = {buffer}[{', '.join(map(subscript, places))}]"
        case View(name, buffer, start, shape):
            yield from view(name, argument(buffer), start, shape, pad)
        case Use(name, helper, args):
            yield f"{pad}{name} = {helper}({', '.join(map(argument, args))})"
        case Turn(name, buffer, axes):
            turned = f"{buffer}.T" if axes == (1, 0) else f"np.transpose({buffer}, {axes})"
            yield f"{pad}{name} = {turned}"
        case Reserve(buffer, size, ahead):
            ahead = Number(0) if ahead is None else ahead
            yield f"{pad}if {buffer}.size < {expression(size)}:"
            yield f"{pad}    {buffer} = reserved({buffer}, {expression(size)}, {expression(ahead)})"
        case Leave(None):
            yield f"{pad}return {given_up}"
        case Leave(test):
            assert test is not None
            yield f"{pad}if {expression(test)}:"
            yield f"{pad}    return {given_up}"
        case Break(Number(True)):
            yield f"{pad}break"
        case Break(test):
            yield f"{pad}if {expression(test)}:"
            yield f"{pad}    break"
        case When():
            yield from branch(row, depth, given_up)
        case For():
            yield pad + head(row)
            yield from body(row.body, depth + 1, given_up)
        case Forever(inner):
            yield f"{pad}while True:"
            yield from body(inner, depth + 1, given_up)
        case Spread(function, start, stop):
            own = dict(row.parts)
            bounds = f"block_bounds({expression(start)}, {expression(stop)}, {row.blocks})"
            given = [bounds, row.blocks, row.ended, *row.terms,
                     *own.values(), *(one for one in function.parameters if one not in own)]
            yield f"{pad}{function.name}s({', '.join(given)})"


def argument(arg: Expr | Flat | str) -> str:
    """Return the text of an argument of a helper."""
    if isinstance(arg, Flat):
        return f"{arg.buffer}.ravel()"
    return arg if isinstance(arg, str) else expression(arg)


def subscript(where: Place) -> str:
    """Return the text of a subscript of one axis."""
    if where is None:
        return "None"
    if not isinstance(where, Ends):
        return expression(where)
    lower, upper, step = (
        "" if end is None else expression(end) for end in (where.lower, where.upper, where.step)
    )
    return f"{lower}:{upper}" + (f":{step}" if step else "")


def view(name: str, buffer: str, start: Expr, shape: tuple[Expr, ...], pad: str) -> Iterator[str]:
    """Yield the line that takes an array out of a flat buffer."""
    size = shape[0]
    for length in shape[1:]:
        size = Binary("*", size, length)
    size = Binary("+", start, size) if start != Number(0) else size
    part = f"{buffer}[{expression(start)} : {expression(size)}]"
    lengths = ", ".join(map(expression, shape))
    yield f"{pad}{name} = {part}" + (f".reshape(({lengths}))" if len(shape) > 1 else "")


def branch(row: When, depth: int, given_up: str) -> Iterator[str]:
    """Yield the lines of a branch; an arm without statements is left out."""
    pad = "    " * depth
    test, then, orelse = row.test, row.then, row.orelse
    if is_idle(then) and is_idle(orelse):
        return
    if is_idle(then):
        test, then, orelse = Unary("not", test), orelse, then
    yield f"{pad}if {expression(test)}:"
    yield from body(then, depth + 1, given_up)
    if not is_idle(orelse):
        yield f"{pad}else:"
        yield from body(orelse, depth + 1, given_up)


def make(row: Make) -> str:
    """Return the statement that makes a buffer."""
    lengths = [expression(length) for length in row.shape]
    shape = lengths[0] if len(lengths) == 1 else f"({', '.join(lengths)})"
    dtype = "" if row.dtype == FLOAT else f", {DTYPES[row.dtype]}"
    if row.fill is None:
        return f"{row.name} = np.empty({shape}{dtype})"
    if row.fill == Number(0.0) and number(row.fill.value)[1] == ATOM:
        return f"{row.name} = np.zeros({shape}{dtype})"
    return f"{row.name} = np.full({shape}, {expression(row.fill)}{dtype})"


def head(row: For) -> str:
    """Return the first line of a loop."""
    start, stop = expression(row.start), expression(row.stop)
    if row.down:
        first = before(row.stop)
        last = before(row.start)
        return f"for {row.name} in range({first}, {last}, -1):"
    return f"for {row.name} in range({stop if start == '0' else f'{start}, {stop}'}):"


def before(expr: Expr) -> str:
    """Return the text of an integer less one."""
    if isinstance(expr, Number):
        return str(int(expr.value) - 1)
    return expression(Binary("-", expr, Number(1)))


def expression(expr: Expr, level: int = CONDITIONAL) -> str:
    """Return the text of an expression, in parentheses if it binds less than ``level``."""
    text, mine = plain(expr)
    return f"({text})" if mine < level else text


def plain(expr: Expr) -> tuple[str, int]:
    """Return the text of an expression, and how closely it binds."""
    match expr:
        case Name(name):
            return name, ATOM
        case Number(value):
            return number(value)
        case Binary(sign, left, right):
            mine = LEVELS[sign]
            strict = mine == LEVELS["<"]
            return (f"{expression(left, mine + strict)} {sign} {expression(right, mine + 1)}", mine)
        case Unary("not", operand):
            return f"not {expression(operand, LEVELS['not'])}", LEVELS["not"]
        case Unary(sign, operand):
            return f"{sign}{expression(operand, UNARY)}", UNARY
        case Apply(function, args):
            plain_name = function in BUILTIN or "." in function or function in TEXTS
            called = function if plain_name else f"math.{function}"
            return f"{called}({', '.join(map(expression, args))})", ATOM
        case Choose(test, then, orelse):
            return (f"{expression(then, 1)} if {expression(test, 1)} else {expression(orelse, 1)}",
                    CONDITIONAL)
        case Element(buffer, indices):
            return f"{buffer}[{', '.join(map(expression, indices))}]", ATOM
        case Extent(buffer, axis):
            return f"{buffer}.shape[{axis}]", ATOM
    raise AssertionError(expr)


def number(value: float | int | bool) -> tuple[str, int]:
    """Return the text of a literal, and how closely it binds."""
    if isinstance(value, float):
        if value != value:
            return "math.nan", ATOM
        if value in (float("inf"), float("-inf")):
            return ("math.inf", ATOM) if value > 0 else ("-math.inf", UNARY)
    text = repr(value)
    return text, UNARY if text.startswith("-") else ATOM
