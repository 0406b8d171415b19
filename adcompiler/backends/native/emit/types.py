"""The machine types of what the text of loops computes: of names, of expressions, of results."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from adcompiler.backends.native.loops import BOOL, CARRIED, FLOAT, INT, SINGLE
from adcompiler.support.structs import dataclass

STORED = {
    FLOAT: "double", INT: "i64", BOOL: "i8",
    "int32": "i32", "float32": "float", "complex64": "<2 x float>", "complex128": "<2 x double>",
}
"""The type of an element in memory, by dtype."""
HELD = {**STORED, BOOL: "i1", SINGLE: "double"}
"""The type of a number in a register, by dtype: short floats are held as long ones."""
SIZES = {FLOAT: 8, INT: 8, BOOL: 1, "int32": 4, "float32": 4, "complex64": 8, "complex128": 16}
DTYPES = {
    "bool_": BOOL, **{name: name for name in (FLOAT, INT, SINGLE, *CARRIED)},
}
"""Dtypes by what NumPy calls them."""
OF_BITS = {"bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor"}
SHIFTS = {"left_shift": "shl", "right_shift": "ashr"}
WHOLE_RESULT = ("floor", "ceil", "trunc")


class NotEmitted(Exception):
    """There is no LLVM IR for something in the text."""


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array; ``in_order`` tells that it lies in C order, without gaps."""

    dtype: str
    ndim: int
    in_order: bool = True


Type = str | ArrayType | tuple[Any, ...]
"""A number is told by its dtype, a tuple by the types of its items."""
Returns = Callable[[str, tuple[Type, ...]], Type | None]
"""Tells what a function of the text returns; None if that is not known yet."""


def merged(a: Type | None, b: Type | None) -> Type | None:
    """Return the type of what is one or the other."""
    if a is None or b is None or a == b:
        return b if a is None else a
    if isinstance(a, ArrayType) and isinstance(b, ArrayType) and (a.dtype, a.ndim) == (
        b.dtype, b.ndim
    ):
        return ArrayType(a.dtype, a.ndim, False)
    if {a, b} == {INT, FLOAT}:
        return FLOAT
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(merged(*pair) for pair in zip(a, b, strict=True))
    raise NotEmitted(f"a name stands for {a} and for {b}")


def part_type(of: ArrayType, places: Sequence[ast.expr]) -> Type:
    """Return the type of what a subscript takes out of an array."""
    axes = [None if is_none(place) else place for place in places]
    taken = sum(place is not None for place in axes)
    kept = of.ndim - sum(
        place is not None and not isinstance(place, ast.Slice) for place in axes
    ) + axes.count(None)
    if taken > of.ndim:
        raise NotEmitted("a subscript has too many axes")
    if not kept:
        return FLOAT if of.dtype == SINGLE else of.dtype
    rest = list(axes)
    while rest and rest[0] is not None and not isinstance(rest[0], ast.Slice):
        rest.pop(0)
    if rest and isinstance(rest[0], ast.Slice) and rest[0].step is None:
        rest.pop(0)
    return ArrayType(of.dtype, kept, of.in_order and all(map(is_whole, rest)))


def is_none(node: ast.AST | None) -> bool:
    """Say whether a node is the constant None."""
    return isinstance(node, ast.Constant) and node.value is None


def is_whole(place: ast.expr | None) -> bool:
    """Say whether a place is ``:``."""
    return isinstance(place, ast.Slice) and not (place.lower or place.upper or place.step)


def places_of(node: ast.Subscript) -> list[ast.expr]:
    """Return what a subscript has for each axis."""
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def dotted(node: ast.expr) -> str:
    """Return the text of a name with dots, empty for other expressions."""
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(value, attr):
            before = dotted(value)
            return before and f"{before}.{attr}"
    return ""


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield every statement of a body."""
    for one in body:
        yield one
        for field in ("body", "orelse"):
            yield from statements(getattr(one, field, ()))


def gives_up(node: ast.Return) -> bool:
    """Say whether a ``return`` leaves the rest to Python."""
    return isinstance(node.value, ast.Tuple) and bool(node.value.elts) and (
        isinstance(first := node.value.elts[0], ast.Constant) and first.value is False)


class Inference:
    """The types of the names of one function, of given types of parameters."""

    def __init__(self, node: ast.FunctionDef, given: Sequence[Type], returns: Returns) -> None:
        self.node, self.returns = node, returns
        params = [one.arg for one in node.args.args]
        if len(params) != len(given):
            raise NotEmitted(f"`{node.name}` takes another number of arguments")
        self.names: dict[str, Type] = dict(zip(params, given, strict=True))
        self.result: Type | None = None
        self.rows = list(statements(node.body))
        before: Any = None
        while before != (self.names, self.result):
            before = dict(self.names), self.result
            for row in self.rows:
                self.read(row)

    def read(self, row: ast.stmt) -> None:
        """Enter what a statement assigns to, or returns."""
        match row:
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
                for target, value in zip(targets, values, strict=True):
                    self.bind(target, self.of(value))
            case ast.Assign([target], value):
                self.bind(target, self.of(value))
            case ast.AugAssign(ast.Name(name) as target, op, value):
                self.bind(target, self.of(ast.BinOp(ast.Name(name), op, value)))
            case ast.For(ast.Name() as target):
                self.bind(target, INT)
            case ast.Return(value) if value is not None and not gives_up(row):
                self.result = merged(self.result, self.of(value))

    def bind(self, target: ast.expr, found: Type | None) -> None:
        """Enter the type of a target."""
        if isinstance(target, ast.Name) and found is not None:
            known = merged(self.names.get(target.id), found)
            assert known is not None
            self.names[target.id] = known

    # -- expressions -----------------------------------------------------------------------------

    def of(self, node: ast.expr) -> Type | None:
        """Return the type of an expression; None if it is not known yet."""
        match node:
            case ast.Constant(value):
                if not isinstance(value, (bool, int, float)):
                    raise NotEmitted(f"the constant {value!r}")
                return BOOL if isinstance(value, bool) else (
                    INT if isinstance(value, int) else FLOAT)
            case ast.Name(name):
                return self.names.get(name)
            case ast.BinOp(left, op, right):
                return self.of_operator(op, self.of(left), self.of(right))
            case ast.UnaryOp(ast.Not()) | ast.Compare() | ast.BoolOp():
                return BOOL
            case ast.UnaryOp(_, operand):
                found = self.of(operand)
                return INT if found == BOOL else found
            case ast.IfExp(_, then, orelse):
                return merged(self.of(then), self.of(orelse))
            case ast.Tuple(items):
                parts = tuple(self.of(item) for item in items)
                return None if None in parts else parts
            case ast.Attribute():
                return self.of_attribute(node)
            case ast.Subscript(ast.Attribute(attr="shape")):
                return INT
            case ast.Subscript(value):
                return self.of_subscript(node, self.of(value))
            case ast.Call():
                return self.of_call(node)
        raise NotEmitted(type(node).__name__)

    def of_operator(self, op: ast.operator, a: Type | None, b: Type | None) -> Type | None:
        """Return the type of what an operator makes of numbers."""
        if a is None or b is None:
            return None
        if not (isinstance(a, str) and isinstance(b, str)):
            raise NotEmitted("an operator on arrays")
        if isinstance(op, ast.Div):
            return FLOAT
        if a == b == BOOL and isinstance(op, (ast.BitOr, ast.BitAnd, ast.BitXor)):
            return BOOL
        return FLOAT if FLOAT in (a, b) else INT

    def of_attribute(self, node: ast.Attribute) -> Type | None:
        """Return the type of an attribute."""
        if dotted(node) in ("math.inf", "math.nan"):
            return FLOAT
        of = self.of(node.value)
        if node.attr == "size":
            return INT
        if node.attr == "T" and isinstance(of, ArrayType):
            return ArrayType(of.dtype, of.ndim, of.ndim == 1 and of.in_order)
        if of is None:
            return None
        raise NotEmitted(f"the attribute {node.attr}")

    def of_subscript(self, node: ast.Subscript, of: Type | None) -> Type | None:
        """Return the type of an element, a part, or an item of a tuple."""
        if of is None:
            return None
        if isinstance(of, ArrayType):
            return part_type(of, places_of(node))
        if isinstance(of, tuple) and isinstance(node.slice, ast.Constant):
            position: Any = node.slice.value
            found: Type = of[position]
            return found
        raise NotEmitted("a subscript of a number")

    def of_call(self, node: ast.Call) -> Type | None:
        """Return the type of what a call gives."""
        if node.keywords:
            raise NotEmitted("a call with keywords")
        match node.func:
            case ast.Name(name):
                return self.of_named(name, node.args)
            case ast.Attribute(ast.Name("math"), name):
                return BOOL if name.startswith("is") else INT if name in WHOLE_RESULT else FLOAT
            case ast.Attribute(ast.Name("np"), name):
                return self.of_numpy(name, node.args)
            case ast.Attribute(value, "ravel" | "reshape" as name):
                of = self.of(value)
                if of is None:
                    return None
                assert isinstance(of, ArrayType)
                shape = node.args[0] if node.args else None
                return ArrayType(of.dtype, len(shape.elts) if isinstance(shape, ast.Tuple) else 1)
        raise NotEmitted(f"a call of {ast.unparse(node.func)}")

    def of_named(self, name: str, args: Sequence[ast.expr]) -> Type | None:
        """Return the type of what a function without dots gives."""
        if name in ("float", "of_bits"):
            return FLOAT
        if name in ("int", "bits_of", "stack_address"):
            return INT
        given = tuple(self.of(arg) for arg in args)
        if None in given or name in ("range", "prange"):
            return None
        if name in ("min", "max"):
            found: Type | None = None
            for one in given:
                found = merged(found, one)
            return found
        if name == "abs":
            return given[0]
        return self.returns(name, given)  # type: ignore[arg-type]

    def of_numpy(self, name: str, args: Sequence[ast.expr]) -> Type | None:
        """Return the type of what a function of NumPy gives."""
        if name in OF_BITS or name in SHIFTS:
            return INT
        if name == "arange":
            return ArrayType(INT, 1)
        if name in ("empty", "zeros", "full"):
            ndim = len(args[0].elts) if isinstance(args[0], ast.Tuple) else 1
            rest = args[2:] if name == "full" else args[1:]
            dtype = self.dtype(rest[0]) if rest else FLOAT
            return dtype and ArrayType(dtype, ndim)
        if name in ("transpose", "ascontiguousarray", "dot"):
            of = self.of(args[0])
            if of is None:
                return None
            assert isinstance(of, ArrayType)
            return ArrayType(of.dtype, of.ndim, name != "transpose")
        return FLOAT

    def dtype(self, node: ast.expr) -> str | None:
        """Return the dtype that an expression stands for."""
        match node:
            case ast.Attribute(ast.Name("np"), name) if name in DTYPES:
                return DTYPES[name]
            case ast.Attribute(value, "dtype"):
                of = self.of(value)
                return of.dtype if isinstance(of, ArrayType) else None
        raise NotEmitted(f"the dtype {ast.unparse(node)}")
