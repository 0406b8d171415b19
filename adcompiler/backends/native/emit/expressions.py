"""Expressions of the text of loops as LLVM IR."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from adcompiler.backends.native.emit.arrays import Array, Num
from adcompiler.backends.native.emit.code import float_text
from adcompiler.backends.native.emit.functions import Frame, Value, type_of
from adcompiler.backends.native.emit.types import (
    HELD, NotEmitted, dotted, is_none, merged, part_type, places_of,
)
from adcompiler.backends.native.loops import BOOL, FLOAT, INT

COMPARED = {
    ast.Lt: ("slt", "olt"), ast.LtE: ("sle", "ole"), ast.Gt: ("sgt", "ogt"),
    ast.GtE: ("sge", "oge"), ast.Eq: ("eq", "oeq"), ast.NotEq: ("ne", "une"),
}
OPERATORS = {
    ast.Add: ("add", "fadd"), ast.Sub: ("sub", "fsub"), ast.Mult: ("mul", "fmul"),
    ast.BitOr: ("or", ""), ast.BitAnd: ("and", ""), ast.BitXor: ("xor", ""),
    ast.LShift: ("shl", ""), ast.RShift: ("ashr", ""),
}
CHEAP = ("float", "int", "abs", "math.fabs", "math.isfinite", "math.copysign", "np.float32")


class Expressions:
    """Writes expressions of one function; ``call`` writes calls."""

    call: Callable[[ast.Call], Value]

    def __init__(self, frame: Frame) -> None:
        self.frame, self.code, self.arrays = frame, frame.code, frame.arrays

    def of(self, node: ast.expr) -> Value:
        """Return the value of an expression."""
        match node:
            case ast.Constant(value):
                return self.constant(value)
            case ast.Name(name):
                return self.frame.get(name)
            case ast.BinOp(left, op, right):
                return self.operator(op, self.of(left), self.of(right))
            case ast.UnaryOp(op, operand):
                return self.unary(op, operand)
            case ast.Compare():
                return self.comparison(node)
            case ast.BoolOp(op, values):
                return self.both(isinstance(op, ast.And), values)
            case ast.IfExp(test, then, orelse):
                return self.choice(test, then, orelse)
            case ast.Tuple(items):
                return tuple(map(self.of, items))
            case ast.Attribute():
                return self.attribute(node)
            case ast.Subscript():
                return self.subscript(node)
            case ast.Call():
                return self.call(node)
        raise NotEmitted(type(node).__name__)

    def constant(self, value: object) -> Num:
        """Return the value of a literal."""
        if isinstance(value, bool):
            return Num(BOOL, "true" if value else "false")
        if isinstance(value, int):
            if not -(2**63) <= value < 2**63:
                raise NotEmitted("an integer of more than 64 bits")
            return Num(INT, str(value))
        assert isinstance(value, float)
        return Num(FLOAT, float_text(value))

    def number(self, node: ast.expr, dtype: str) -> str:
        """Return the name of a number of a type."""
        return self.frame.converted(self.of(node), dtype)

    def integer(self, node: ast.expr) -> str:
        """Return the name of an integer."""
        return self.number(node, INT)

    def array(self, node: ast.expr) -> Array:
        """Return an array that lasts until the statement ends."""
        found = self.of(node)
        if not isinstance(found, Array):
            raise NotEmitted("a number where an array is expected")
        return self.frame.kept(found)

    def truth(self, node: ast.expr) -> str:
        """Return whether the value of an expression is true."""
        return self.true(self.of(node))

    def true(self, value: Value) -> str:
        """Return whether a number is true."""
        assert isinstance(value, Num)
        if value.dtype == BOOL:
            return value.name
        zero = "fcmp une double {}, 0.0" if value.dtype == FLOAT else "icmp ne i64 {}, 0"
        return self.code.op(zero.format(value.name))

    # -- operators -------------------------------------------------------------------------------

    def operator(self, op: ast.operator, a: Value, b: Value) -> Num:
        """Return what an operator makes of two numbers."""
        frame, code = self.frame, self.code
        if not (isinstance(a, Num) and isinstance(b, Num)):
            raise NotEmitted("an operator on arrays")
        if isinstance(op, ast.Div):
            one, other = frame.converted(a, FLOAT), frame.converted(b, FLOAT)
            return Num(FLOAT, code.op(f"fdiv double {one}, {other}"))
        is_float = FLOAT in (a.dtype, b.dtype)
        if isinstance(op, (ast.FloorDiv, ast.Mod)) and not is_float:
            return Num(INT, self.floored(
                isinstance(op, ast.Mod), *(frame.converted(one, INT) for one in (a, b))))
        whole, real = OPERATORS.get(type(op), ("", ""))
        if is_float:
            one, other = frame.converted(a, FLOAT), frame.converted(b, FLOAT)
            if not real:
                raise NotEmitted("an operator on floats")
            return Num(FLOAT, code.op(f"{real} double {one}, {other}"))
        if a.dtype == b.dtype == BOOL and whole in ("or", "and", "xor"):
            return Num(BOOL, code.op(f"{whole} i1 {a.name}, {b.name}"))
        one, other = frame.converted(a, INT), frame.converted(b, INT)
        if whole in ("shl", "ashr"):
            other = code.op(f"and i64 {other}, 63")
        if not whole:
            raise NotEmitted("an operator on integers")
        return Num(INT, code.op(f"{whole} i64 {one}, {other}"))

    def floored(self, is_rest: bool, a: str, b: str) -> str:
        """Return a quotient or remainder of integers, towards minus infinity; of zero it is 0."""
        code = self.code
        if b.lstrip("-").isdigit() and int(b) > 0:
            by, unsafe = b, ""
        else:
            small = code.op(f"add i64 {b}, 1")
            unsafe = code.op(f"icmp ult i64 {small}, 2")  # 0, or -1 by which processors may trap
            by = code.op(f"select i1 {unsafe}, i64 1, i64 {b}")
        quotient = code.op(f"sdiv i64 {a}, {by}")
        rest = code.op(f"srem i64 {a}, {by}")
        other_side = code.op(f"icmp slt i64 {code.op(f'xor i64 {rest}, {by}')}, 0")
        some = code.op(f"icmp ne i64 {rest}, 0")
        moved = code.op(f"and i1 {some}, {other_side}")
        if is_rest:
            more = code.op(f"add i64 {rest}, {by}")
            found = code.op(f"select i1 {moved}, i64 {more}, i64 {rest}")
            return code.op(f"select i1 {unsafe}, i64 0, i64 {found}") if unsafe else found
        less = code.op(f"sub i64 {quotient}, 1")
        found = code.op(f"select i1 {moved}, i64 {less}, i64 {quotient}")
        if not unsafe:
            return found
        negated = code.op(f"mul i64 {a}, {b}")  # by 0 or by -1
        return code.op(f"select i1 {unsafe}, i64 {negated}, i64 {found}")

    def unary(self, op: ast.unaryop, operand: ast.expr) -> Num:
        """Return what an operator makes of one number."""
        if isinstance(op, ast.Not):
            return Num(BOOL, self.code.op(f"xor i1 {self.truth(operand)}, true"))
        if isinstance(op, ast.USub) and isinstance(operand, ast.Constant):
            return self.constant(-operand.value)  # type: ignore[operator]
        value = self.of(operand)
        if not isinstance(value, Num) or not isinstance(op, ast.USub):
            raise NotEmitted("an operator on one value")
        if value.dtype == FLOAT:
            return Num(FLOAT, self.code.op(f"fneg double {value.name}"))
        return Num(INT, self.code.op(f"sub i64 0, {self.frame.converted(value, INT)}"))

    def comparison(self, node: ast.Compare) -> Num:
        """Return whether comparisons hold, all of them."""
        values = [self.of(one) for one in (node.left, *node.comparators)]
        found = ""
        for op, a, b in zip(node.ops, values[:-1], values[1:], strict=True):
            one = self.compared(op, a, b)
            found = self.code.op(f"and i1 {found}, {one}") if found else one
        return Num(BOOL, found)

    def compared(self, op: ast.cmpop, a: Value, b: Value) -> str:
        """Return whether one comparison holds."""
        if type(op) not in COMPARED or not (isinstance(a, Num) and isinstance(b, Num)):
            raise NotEmitted("a comparison")
        whole, real = COMPARED[type(op)]
        dtype = FLOAT if FLOAT in (a.dtype, b.dtype) else INT
        if a.dtype == b.dtype == BOOL and whole in ("eq", "ne"):
            dtype = BOOL
        one, other = self.frame.converted(a, dtype), self.frame.converted(b, dtype)
        how = f"fcmp {real}" if dtype == FLOAT else f"icmp {whole}"
        return self.code.op(f"{how} {HELD[dtype]} {one}, {other}")

    # -- branches --------------------------------------------------------------------------------

    def is_plain(self, node: ast.expr) -> bool:
        """Say whether an expression may be computed where Python would not: it only computes."""
        for one in ast.walk(node):
            if isinstance(one, ast.Call) and dotted(one.func) not in CHEAP:
                return False
            if isinstance(one, ast.Subscript) and not (
                isinstance(one.value, ast.Attribute) and one.value.attr == "shape"
            ):
                return False
            if isinstance(one, (ast.FloorDiv, ast.Mod)):
                return False
        return True

    def both(self, is_and: bool, nodes: Sequence[ast.expr]) -> Num:
        """Return whether all of several tests hold, or one; later ones are made only if need be."""
        code, found = self.code, self.truth(nodes[0])
        for node in nodes[1:]:
            if self.is_plain(node):
                other = self.truth(node)
                arms = f"i1 {other}, i1 false" if is_and else f"i1 true, i1 {other}"
                found = code.op(f"select i1 {found}, {arms}")
                continue
            place = code.slot("i1", "both")
            code.store("i1", found, place)
            more, done = code.fresh("more"), code.fresh("both_done")
            code.branch(found, *((more, done) if is_and else (done, more)))
            code.start(more)
            code.store("i1", self.truth(node), place)
            code.start(done)
            found = code.load("i1", place)
        return Num(BOOL, found)

    def choice(self, test: ast.expr, then: ast.expr, orelse: ast.expr) -> Value:
        """Return one value or the other."""
        code = self.code
        of = self.frame.inference.of
        dtype = merged(of(then), of(orelse))
        if not isinstance(dtype, str):
            raise NotEmitted("a choice between arrays")
        kind, holds = HELD[dtype], self.truth(test)
        if self.is_plain(then) and self.is_plain(orelse):
            a, b = self.number(then, dtype), self.number(orelse, dtype)
            return Num(dtype, code.op(f"select i1 {holds}, {kind} {a}, {kind} {b}"))
        place = code.slot(kind, "choice")
        self.branches(holds, *(
            lambda node=node: code.store(kind, self.number(node, dtype), place)
            for node in (then, orelse)))
        return Num(dtype, code.load(kind, place))

    def branches(self, test: str, then: Callable[[], None], orelse: Callable[[], None]) -> None:
        """Write two branches, of which one is taken."""
        code = self.code
        one, other, done = (code.fresh(label) for label in ("then", "else", "end"))
        code.branch(test, one, other)
        for label, write in ((one, then), (other, orelse)):
            code.start(label)
            write()
            if code.is_open:
                code.jump(done)
        code.start(done)

    # -- arrays ----------------------------------------------------------------------------------

    def attribute(self, node: ast.Attribute) -> Value:
        """Return the value of an attribute."""
        if (name := dotted(node)) in ("math.inf", "math.nan"):
            return Num(FLOAT, float_text(float(name.removeprefix("math."))))
        of = self.of(node.value)
        if isinstance(of, Array) and node.attr == "size":
            return Num(INT, self.arrays.size(of))
        if isinstance(of, Array) and node.attr == "T":
            of = self.frame.kept(of)
            return of if len(of.shape) == 1 else self.arrays.turned(
                of, range(len(of.shape))[::-1])
        raise NotEmitted(f"the attribute {node.attr}")

    def subscript(self, node: ast.Subscript) -> Value:
        """Return an element or a part of an array, a length, or an item of a tuple."""
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            axis = node.slice
            assert isinstance(axis, ast.Constant) and isinstance(axis.value, int)
            return Num(INT, self.array(node.value.value).shape[axis.value])
        of = self.of(node.value)
        if isinstance(of, tuple):
            assert isinstance(node.slice, ast.Constant)
            position: Any = node.slice.value
            item: Value = of[position]
            return item
        if not isinstance(of, Array):
            raise NotEmitted("a subscript of a number")
        of = self.frame.kept(of)
        places = places_of(node)
        if isinstance(part_type(of.type, places), str):
            return self.arrays.read(of.dtype, self.arrays.place(of, self.positions(of, places)))
        return self.part(of, places)

    def place(self, node: ast.Subscript) -> tuple[str, str]:
        """Return the dtype of an element that is stored, and a pointer to it."""
        of = self.array(node.value)
        places = places_of(node)
        if len(places) != len(of.shape) or any(
            isinstance(one, ast.Slice) or is_none(one) for one in places
        ):
            raise NotEmitted("an assignment to a part of an array")
        return of.dtype, self.arrays.place(of, self.positions(of, places))

    def positions(self, of: Array, places: Sequence[ast.expr]) -> list[str]:
        """Return the positions that subscripts stand for: from zero on."""
        return [self.position(length, place)
                for length, place in zip(of.shape, places, strict=True)]

    def position(self, length: str, place: ast.expr) -> str:
        """Return a position on an axis; negative ones are counted from its end."""
        code, at = self.code, self.integer(place)
        if self.frame.signs.is_positive(place):
            return at
        if isinstance(place, ast.UnaryOp) and isinstance(place.operand, ast.Constant):
            return code.op(f"add i64 {length}, {at}")
        below = code.op(f"icmp slt i64 {at}, 0")
        moved = code.op(f"add i64 {at}, {length}")
        return code.op(f"select i1 {below}, i64 {moved}, i64 {at}")

    def part(self, of: Array, places: Sequence[ast.expr]) -> Array:
        """Return a part of an array that shares its storage."""
        code, arrays = self.code, self.arrays
        result = part_type(of.type, places)
        strides = arrays.strides(of)
        shape: list[str] = []
        steps: list[str] = []
        data, axis = of, 0
        for place in places:
            if is_none(place):
                shape.append("1")
                steps.append("0")
                continue
            length, stride = of.shape[axis], strides[axis]
            axis += 1
            if isinstance(place, ast.Slice):
                ends = (place.lower, place.upper, place.step)
                lower, upper, step = (
                    None if one is None else self.integer(one) for one in ends)
                signs = (self.is_positive(place.lower), self.is_positive(place.upper))
                first, length = arrays.sliced(length, lower, upper, step, signs)
                shape.append(length)
                steps.append(stride if step is None else code.op(f"mul i64 {stride}, {step}"))
            else:
                first = self.position(length, place)
            if first != "0":
                moved = arrays.offset(data, code.op(f"mul i64 {first}, {stride}"))
                data = Array(of.dtype, moved, of.shape, None, of.block)
        shape += of.shape[axis:]
        steps += strides[axis:]
        in_order = type_of(Array(of.dtype, "", tuple(shape))) == result
        return Array(of.dtype, data.data, tuple(shape), None if in_order else tuple(steps),
                     of.block)

    def is_positive(self, node: ast.expr | None) -> bool:
        """Say whether the end of a slice is known not to be negative."""
        return node is not None and self.frame.signs.is_positive(node)
