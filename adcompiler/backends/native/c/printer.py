"""Prints the loop IR as C99."""

from __future__ import annotations

from collections.abc import Iterator

from adcompiler.backends.native.c.runtime import HELPERS, ITEMS, NAMES
from adcompiler.backends.native.c.types import Types
from adcompiler.backends.native.emit.printer import is_idle
from adcompiler.backends.native.loops import (
    BOOL, INT, Apply, Assign, Binary, Bind, Body, Break, Choose, Element, Ends, Expr, Extent,
    Flat, For, Forever, Leave, LoopFunction, Make, Name, Note, Number, Part, Reserve, Row, Store,
    Turn, Unary, Use, View, When, children, rows_of,
)
from adcompiler.backends.native.ops.scalars import C_FUNCTIONS
from adcompiler.backends.native.values import Declined

SIGNS = {"and": "&&", "or": "||"}
LEVELS = {
    "or": 1, "and": 2, "|": 3, "==": 4, "!=": 4, "<": 5, "<=": 5, ">": 5, ">=": 5, "+": 6, "-": 6,
    "*": 7, "/": 7,
}
WHOLE = {"//": "floor_quotient", "%": "floor_remainder"}
UNARY, ATOM = 8, 9
FUNCTIONS = {"gamma": "tgamma", "float": "(double)", "int": "(int64_t)"}
WORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while bool true false floats ints bools leave done main free malloc
    memset memcpy block_sum total_sum y0 y1 yn j0 j1 jn gamma signgam NAN INFINITY AXES LENGTHS
    isfinite fabs floor ceil rint trunc tgamma pow errno NULL HUGE_VAL HUGE_VALF HUGE_VALL RAND_MAX
    EXIT_SUCCESS EXIT_FAILURE MB_CUR_MAX
"""
PREFIXES = ("_", "FP_", "INT", "UINT", "PTRDIFF_", "SIZE_", "WCHAR_", "WINT_", "MATH_", "AT")
RESERVED = frozenset([*WORDS.split(), *HELPERS, *WHOLE.values(), *C_FUNCTIONS.values()])
"""Names that C, its library or the text of arrays has already."""


class CPrinter:
    """Prints one function of loops."""

    def __init__(self, function: LoopFunction) -> None:
        self.function = function
        self.types = Types(function)
        self.ends: list[str] = []
        used = {*self.types.numbers, *self.types.arrays}
        self.renamed = {
            name: f"{name}_" if name in RESERVED or name.startswith(PREFIXES) else name
            for name in used
        }
        if len(set(self.renamed.values())) < len(used) or not all(map(str.isascii, used)):
            raise Declined("a variable has a name that C has already")

    def text(self) -> str:
        """Return the definition of the function.

        It returns whether it came to its end, and puts what it gives where pointers lead.
        """
        given = {parameter.name for parameter in self.function.parameters}
        body = [*self.body(self.function.body, 1), *self.outputs()]
        lines = [f"bool {self.function.name}({', '.join(self.parameters())})", "{"]
        numbers, arrays = self.types.numbers, self.types.arrays
        for dtype, item in ITEMS.items():
            mine = [n for n, kind in (numbers | arrays).items() if kind == dtype and n not in given]
            names = [self.name(n) for n in mine if n in numbers] + self.ends * (dtype == INT)
            lines += declared("bool" if dtype == BOOL else item, [f"{name} = 0" for name in names])
            names = [self.name(n) for n in mine if n in arrays]
            lines += declared(NAMES[dtype], [f"{name} = {{0}}" for name in names])
        lines += ["    bool done = false;", "", *body, "    done = true;", "leave:"]
        lines += [f"    release_{self.kind(name)}(&{self.name(name)});" for name in arrays]
        return "\n".join([*lines, "    return done;", "}", ""])

    def parameters(self) -> Iterator[str]:
        """Yield the declarations of parameters: what is given, and where results go."""
        for one in self.function.parameters:
            kind = (ITEMS if one.ndim is None else NAMES)[one.dtype]
            yield f"{kind} {self.name(one.name)}"
        for i, output in enumerate(self.function.outputs):
            kind = (ITEMS if output.ndim is None else NAMES)[output.dtype]
            yield f"{kind} *result_{i}"

    def outputs(self) -> Iterator[str]:
        """Yield the lines that hand the results over."""
        for i, output in enumerate(self.function.outputs):
            if isinstance(output.value, str):
                kind = NAMES[output.dtype]
                yield f"    bind_{kind}(result_{i}, {self.name(output.value)});"
            else:
                yield f"    *result_{i} = {self.expr(output.value)};"

    def name(self, name: str) -> str:
        """Return the name that a variable has in C."""
        return self.renamed[name]

    def kind(self, name: str) -> str:
        """Return the type of an array."""
        return NAMES[self.types.arrays[name]]

    # -- statements ----------------------------------------------------------------------------

    def body(self, block: Body, depth: int) -> Iterator[str]:
        """Yield the lines of statements."""
        for row in block.rows:
            yield from self.statement(row, depth)

    def statement(self, row: Row, depth: int) -> Iterator[str]:
        """Yield the lines of a statement."""
        pad = "    " * depth
        match row:
            case Note(text):
                yield f"{pad}/* {text.replace('*/', '* /')} */"
            case Assign(name, value):
                yield f"{pad}{self.name(name)} = {self.expr(value)};"
            case Store(buffer, indices, value, adds):
                place = self.expr(Element(buffer, indices))
                yield f"{pad}{place} {'+=' if adds else '='} {self.expr(value)};"
            case Leave(None):
                yield f"{pad}goto leave;"
            case Leave(test):
                assert test is not None
                yield from (f"{pad}if ({self.expr(test)})", f"{pad}    goto leave;")
            case Break(Number(True)):
                yield f"{pad}break;"
            case Break(test):
                yield from (f"{pad}if ({self.expr(test)})", f"{pad}    break;")
            case When():
                yield from self.branch(row, depth)
            case For():
                yield from self.loop(row, depth)
            case Forever(inner):
                yield f"{pad}for (;;) {{"
                yield from self.body(inner, depth + 1)
                yield f"{pad}}}"
            case _:
                yield from (f"{pad}{line}" for line in self.arrays(row))

    def branch(self, row: When, depth: int) -> Iterator[str]:
        """Yield the lines of a branch; an arm without statements is left out."""
        pad = "    " * depth
        test, then, orelse = row.test, row.then, row.orelse
        if is_idle(then) and is_idle(orelse):
            return
        if is_idle(then):
            test, then, orelse = Unary("not", test), orelse, then
        yield f"{pad}if ({self.expr(test)}) {{"
        yield from self.body(then, depth + 1)
        if not is_idle(orelse):
            yield f"{pad}}} else {{"
            yield from self.body(orelse, depth + 1)
        yield f"{pad}}}"

    def loop(self, row: For, depth: int) -> Iterator[str]:
        """Yield the lines of a loop; its ends are those from before it."""
        pad, name = "    " * depth, self.name(row.name)
        changed = bound_in(row.body)
        start, stop = (
            self.kept(name, end, changed) if reads(end, changed) else (None, self.expr(end))
            for end in (row.start, row.stop))
        yield from (f"{pad}{line}" for line, _ in (start, stop) if line)
        if row.down:
            first = self.expr(Binary("-", row.stop, Number(1))) if not stop[0] else f"{stop[1]} - 1"
            yield f"{pad}for ({name} = {first}; {name} >= {start[1]}; {name}--) {{"
        else:
            yield f"{pad}for ({name} = {start[1]}; {name} < {stop[1]}; {name}++) {{"
        yield from self.body(row.body, depth + 1)
        yield f"{pad}}}"

    def kept(self, name: str, end: Expr, changed: set[str]) -> tuple[str, str]:
        """Return the line that keeps an end that the loop changes, and the name of it."""
        self.ends.append(f"{name}_end_{len(self.ends)}")
        return f"{self.ends[-1]} = {self.expr(end)};", self.ends[-1]

    def arrays(self, row: Row) -> Iterator[str]:
        """Yield the lines of a statement about whole arrays."""
        match row:
            case Make(name, shape, _, fill):
                yield f"if (!make_{self.kind(name)}(&{self.name(name)}, {self.lengths(shape)}))"
                yield "    goto leave;"
                if fill is not None:
                    yield f"fill_{self.kind(name)}({self.name(name)}, {self.expr(fill)});"
            case Reserve(buffer, size):
                yield f"if (!reserve_{self.kind(buffer)}(&{self.name(buffer)}, {self.expr(size)}))"
                yield "    goto leave;"
            case Bind(name, buffer):
                yield f"bind_{self.kind(name)}(&{self.name(name)}, {self.name(buffer)});"
            case Turn(name, buffer, axes):
                yield f"bind_{self.kind(name)}(&{self.name(name)}, {self.name(buffer)});"
                order = ", ".join(map(str, axes))
                yield f"turn_{self.kind(name)}(&{self.name(name)}, LENGTHS({order}));"
            case Part():
                yield from self.part(row)
            case View(name, Flat(buffer), start, shape):
                yield from self.flattened(name, buffer)
                yield self.view(name, name, start, shape)
            case View(name, str() as buffer, start, shape):
                yield self.view(name, buffer, start, shape)
            case Use():
                yield from self.used(row)
            case _:
                raise AssertionError(row)

    def part(self, row: Part) -> Iterator[str]:
        """Yield the lines that take a part of an array, axis by axis."""
        kind, name = self.kind(row.name), self.name(row.name)
        yield f"bind_{kind}(&{name}, {self.name(row.buffer)});"
        axis = 0
        for place in row.places:
            match place:
                case None:
                    yield f"widen_{kind}(&{name}, {axis});"
                case Ends(None, None, None):
                    pass
                case Ends(lower, upper, step):
                    ends = ", ".join(
                        "false, 0" if end is None else f"true, {self.expr(end)}"
                        for end in (lower, upper))
                    by = "1" if step is None else self.expr(step)
                    yield f"slice_{kind}(&{name}, {axis}, {ends}, {by});"
                case _:
                    yield f"pick_{kind}(&{name}, {axis}, {self.expr(place)});"
                    continue
            axis += 1

    def flattened(self, name: str, buffer: str) -> Iterator[str]:
        """Yield the lines that let a name stand for the items of an array in a row."""
        yield f"if (!flatten_{self.kind(name)}(&{self.name(name)}, {self.name(buffer)}))"
        yield "    goto leave;"

    def view(self, name: str, buffer: str, start: Expr, shape: tuple[Expr, ...]) -> str:
        """Return the line that takes an array out of a flat one."""
        return (f"view_{self.kind(name)}(&{self.name(name)}, {self.name(buffer)}, "
                f"{self.expr(start)}, {self.lengths(shape)});")

    def used(self, row: Use) -> Iterator[str]:
        """Yield the lines of a call of a helper; arrays are handed over in a row."""
        first = row.args[0]
        of = first.buffer if isinstance(first, Flat) else str(first)
        given = [self.name(of)]
        for arg in row.args[1:]:
            given.append(self.name(arg) if isinstance(arg, str) else self.expr(arg))  # type: ignore[arg-type]
        kind = self.kind(of)
        if isinstance(first, Flat):
            given[0] = "row"
            yield from ("{", f"    {kind} row = {{0}};",
                        f"    if (!flatten_{kind}(&row, {self.name(of)}))", "        goto leave;")
        pad = "    " * isinstance(first, Flat)
        if row.name in self.types.numbers:
            yield f"{pad}{self.name(row.name)} = {row.helper}({', '.join(given)});"
        else:
            made = ", ".join([f"&{self.name(row.name)}", *given])
            yield f"{pad}if (!{row.helper}({made}))"
            yield f"{pad}    goto leave;"
        if isinstance(first, Flat):
            yield from (f"    release_{kind}(&row);", "}")

    def lengths(self, shape: tuple[Expr, ...]) -> str:
        """Return the arguments for the lengths of axes."""
        return f"{len(shape)}, LENGTHS({', '.join(map(self.expr, shape))})"

    # -- expressions ---------------------------------------------------------------------------

    def expr(self, expr: Expr, level: int = 0) -> str:
        """Return the text of an expression, in parentheses if it binds less than ``level``."""
        text, mine = self.plain(expr)
        return f"({text})" if mine < level else text

    def plain(self, expr: Expr) -> tuple[str, int]:
        """Return the text of an expression, and how closely it binds."""
        match expr:
            case Name(name):
                return self.name(name), ATOM
            case Number(value):
                return number(value)
            case Binary(sign, left, right) if sign in WHOLE:
                return f"{WHOLE[sign]}({self.expr(left)}, {self.expr(right)})", ATOM
            case Binary(sign, left, right):
                mine = LEVELS[sign]
                inner = mine if mine >= LEVELS["+"] else LEVELS["+"]
                text = f"{self.expr(left, inner)} {SIGNS.get(sign, sign)} "
                return text + self.expr(right, max(inner, mine + 1)), mine
            case Unary("not", operand):
                return f"!{self.expr(operand, UNARY)}", UNARY
            case Unary(sign, operand):
                return f"{sign}{self.expr(operand, ATOM)}", UNARY
            case Apply("float" | "int" as function, (arg,)):
                return f"{FUNCTIONS[function]}{self.expr(arg, UNARY)}", UNARY
            case Apply("np.bitwise_and" | "np.bitwise_or" | "np.bitwise_xor" | "np.left_shift"
                       | "np.right_shift"):
                raise Declined("an operator on the bits of integers")
            case Apply(function, args):
                called = FUNCTIONS.get(function, function.removeprefix("np."))
                return f"{called}({', '.join(map(self.expr, args))})", ATOM
            case Choose(test, then, orelse):
                return f"{self.expr(test, 1)} ? {self.expr(then, 1)} : {self.expr(orelse)}", 0
            case Element(buffer, indices):
                at = ", ".join([self.name(buffer), *map(self.expr, indices)])
                if len(indices) > 3:
                    raise Declined("an array of more than three axes")
                return f"AT{len(indices)}({at})", ATOM
            case Extent(buffer, axis):
                return f"{self.name(buffer)}.shape[{axis}]", ATOM
        raise AssertionError(expr)


def bound_in(body: Body) -> set[str]:
    """Return the names of numbers and arrays that a body assigns to."""
    return {row.name for row in rows_of(body)
            if isinstance(row, (Assign, Bind, Make, Part, Turn, View, Use, For))} | {
        row.buffer for row in rows_of(body) if isinstance(row, Reserve)}


def reads(expr: Expr, names: set[str]) -> bool:
    """Say whether an expression reads one of these numbers, or the length of such an array."""
    match expr:
        case Name(name) | Extent(name) | Element(name):
            return name in names
    return any(reads(inner, names) for inner in children(expr))


def number(value: float | int | bool) -> tuple[str, int]:
    """Return the text of a literal, and how closely it binds."""
    if isinstance(value, bool):
        return ("true" if value else "false"), ATOM
    if value != value:
        return "NAN", ATOM
    if value in (float("inf"), float("-inf")):
        return ("INFINITY", ATOM) if value > 0 else ("-INFINITY", UNARY)
    text = repr(value)
    if isinstance(value, int) and abs(value) >= 2**31:
        text = f"INT64_C({text})"
    return text, UNARY if text.startswith("-") else ATOM


def declared(kind: str, names: list[str]) -> list[str]:
    """Return the lines that declare names of one type."""
    if not names:
        return []
    lines, line = [], f"    {kind} {names[0]}"
    for name in names[1:]:
        if len(line) + len(name) > 96:
            lines.append(f"{line},")
            line = f"        {name}"
        else:
            line += f", {name}"
    return [*lines, f"{line};"]
