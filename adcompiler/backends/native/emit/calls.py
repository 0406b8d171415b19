"""Calls in the text of loops as LLVM IR: functions of numbers, of NumPy, and of the text itself."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from adcompiler.backends.native.emit.arrays import Array, Num
from adcompiler.backends.native.emit.expressions import Expressions
from adcompiler.backends.native.emit.functions import (
    DONE, GAVE_UP, Value, passed, type_of, width, worker_of,
)
from adcompiler.backends.native.emit.types import OF_BITS, SHIFTS, ArrayType, NotEmitted, dotted
from adcompiler.backends.native.loops import BOOL, FLOAT, INT, SINGLE

INTRINSICS = {
    "math.exp": "exp", "math.log": "log", "math.log2": "log2", "math.log10": "log10",
    "math.sin": "sin", "math.cos": "cos", "math.sqrt": "sqrt", "math.fabs": "fabs",
    "np.floor": "floor", "np.ceil": "ceil", "np.trunc": "trunc", "np.rint": "rint",
}
"""Functions of one number that LLVM knows: it computes those of literals itself."""
INTRINSICS_OF_TWO = {"math.pow": "pow", "math.copysign": "copysign"}
LIBRARY = {
    **{f"math.{name}": name for name in (
        "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "expm1",
        "log1p", "erf", "erfc", "lgamma", "hypot", "atan2",
    )},
    "math.gamma": "tgamma", "math.fmod": "fmod", "np.hypot": "hypot",
}
"""Functions of the C library."""
ROUNDED = {"math.floor": "floor", "math.ceil": "ceil", "math.trunc": "trunc"}
DECLARED = "\n".join([
    *(f"declare double @llvm.{name}.f64(double)" for name in sorted(set(INTRINSICS.values()))),
    *(f"declare double @llvm.{name}.f64(double, double)" for name in INTRINSICS_OF_TWO.values()),
    *(f"declare double @{name}(double{', double' * (name in ('hypot', 'atan2', 'fmod'))}) "
      "nounwind willreturn memory(none)" for name in dict.fromkeys(LIBRARY.values())),
    *(f"declare i64 @llvm.{name}.i64(i64, i64)" for name in ("smin", "smax")),
    "declare i64 @llvm.abs.i64(i64, i1)",
    "declare { i64, i1 } @llvm.umul.with.overflow.i64(i64, i64)",
    "declare i64 @llvm.fptosi.sat.i64.f64(double)",
    "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
    "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
    "declare i32 @adcompiler_in_threads(ptr, ptr, i64) nounwind",
    "declare i1 @adcompiler_dot(ptr, ptr, ptr, i64, i64, i64, i1, i1) nounwind", "",
])


class Calls:
    """Writes the calls of one function."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions, self.frame = expressions, expressions.frame
        self.code, self.arrays = self.frame.code, self.frame.arrays
        expressions.call = self.call

    def call(self, node: ast.Call) -> Value:
        """Return what a call gives."""
        name, args = dotted(node.func), node.args
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("ravel", "reshape") and not (
            name.startswith(("np.", "math."))
        ):
            return self.arranged(node.func, args)
        if name in INTRINSICS or name in INTRINSICS_OF_TWO:
            called = INTRINSICS.get(name) or INTRINSICS_OF_TWO[name]
            return self.real(f"@llvm.{called}.f64", args)
        if name in LIBRARY:
            return self.real(f"@{LIBRARY[name]}", args)
        if name in ("float", "int", "abs", "min", "max", "bits_of", "of_bits"):
            return getattr(self, f"call_{name}")(args)  # type: ignore[no-any-return]
        if name.startswith("math."):
            return self.of_math(name, args)
        if name.startswith("np."):
            return self.of_numpy(name.removeprefix("np."), args)
        if name == "stack_address":
            place = self.code.slot("i64", "here")
            return Num(INT, self.code.op(f"ptrtoint ptr {place} to i64"))
        return self.of_text(name, args)

    # -- numbers ---------------------------------------------------------------------------------

    def real(self, symbol: str, args: Sequence[ast.expr]) -> Num:
        """Return what a function makes of floats."""
        given = ", ".join(f"double {self.expressions.number(arg, FLOAT)}" for arg in args)
        return Num(FLOAT, self.code.op(f"call double {symbol}({given})"))

    def of_math(self, name: str, args: Sequence[ast.expr]) -> Num:
        """Return what another function of ``math`` gives."""
        if name in ROUNDED:
            found = self.real(f"@llvm.{ROUNDED[name]}.f64", args)
            return self.whole(found)
        value = self.expressions.number(args[0], FLOAT)
        if name == "math.isnan":
            return Num(BOOL, self.code.op(f"fcmp uno double {value}, 0.0"))
        if name in ("math.isfinite", "math.isinf"):
            size = self.code.op(f"call double @llvm.fabs.f64(double {value})")
            sign = "one" if name == "math.isfinite" else "oeq"
            return Num(BOOL, self.code.op(f"fcmp {sign} double {size}, 0x7FF0000000000000"))
        raise NotEmitted(f"`{name}`")

    def whole(self, value: Num) -> Num:
        """Return a float as an integer: the nearest there is, if it is too large."""
        return Num(INT, self.code.op(f"call i64 @llvm.fptosi.sat.i64.f64(double {value.name})"))

    def call_float(self, args: Sequence[ast.expr]) -> Num:
        """Return ``float(x)``."""
        return Num(FLOAT, self.expressions.number(args[0], FLOAT))

    def call_int(self, args: Sequence[ast.expr]) -> Num:
        """Return ``int(x)``."""
        value = self.expressions.of(args[0])
        if isinstance(value, Num) and value.dtype == FLOAT:
            return self.whole(value)
        return Num(INT, self.frame.converted(value, INT))

    def call_abs(self, args: Sequence[ast.expr]) -> Num:
        """Return ``abs(x)``."""
        value = self.expressions.of(args[0])
        if isinstance(value, Num) and value.dtype == FLOAT:
            return Num(FLOAT, self.code.op(f"call double @llvm.fabs.f64(double {value.name})"))
        whole = self.frame.converted(value, INT)
        return Num(INT, self.code.op(f"call i64 @llvm.abs.i64(i64 {whole}, i1 false)"))

    def call_min(self, args: Sequence[ast.expr], how: str = "smin") -> Num:
        """Return the least of integers."""
        found, *rest = (self.expressions.integer(arg) for arg in args)
        for one in rest:
            found = self.code.op(f"call i64 @llvm.{how}.i64(i64 {found}, i64 {one})")
        return Num(INT, found)

    def call_max(self, args: Sequence[ast.expr]) -> Num:
        """Return the greatest of integers."""
        return self.call_min(args, "smax")

    def call_bits_of(self, args: Sequence[ast.expr]) -> Num:
        """Return the bits of a float."""
        value = self.expressions.number(args[0], FLOAT)
        return Num(INT, self.code.op(f"bitcast double {value} to i64"))

    def call_of_bits(self, args: Sequence[ast.expr]) -> Num:
        """Return the float that has such bits."""
        value = self.expressions.integer(args[0])
        return Num(FLOAT, self.code.op(f"bitcast i64 {value} to double"))

    # -- arrays ----------------------------------------------------------------------------------

    def lengths(self, node: ast.expr) -> list[str]:
        """Return the lengths of the axes of an array that is made."""
        nodes = node.elts if isinstance(node, ast.Tuple) else [node]
        return [self.expressions.integer(one) for one in nodes]

    def of_numpy(self, name: str, args: Sequence[ast.expr]) -> Value:
        """Return what a function of NumPy gives."""
        code, arrays, expressions = self.code, self.arrays, self.expressions
        if name in OF_BITS or name in SHIFTS:
            a, b = map(expressions.integer, args)
            if name in SHIFTS:
                b = code.op(f"and i64 {b}, 63")
            return Num(INT, code.op(f"{OF_BITS.get(name) or SHIFTS[name]} i64 {a}, {b}"))
        if name in ("empty", "zeros", "full"):
            return self.made(name, args)
        if name == SINGLE:
            short = code.op(f"fptrunc double {expressions.number(args[0], FLOAT)} to float")
            return Num(FLOAT, code.op(f"fpext float {short} to double"))
        if name == "arange":
            new = arrays.make(INT, self.lengths(args[0]))
            with self.frame.counted(new.shape[0]) as at:
                arrays.write(INT, arrays.place(new, [at]), at)
            return new
        if name == "dot":
            return self.dot(args)
        of = expressions.array(args[0])
        if name == "transpose" and isinstance(args[1], ast.Tuple):
            return arrays.turned(of, [int(ast.literal_eval(axis)) for axis in args[1].elts])
        if name == "ascontiguousarray":
            return of if of.strides is None else arrays.copy(of)
        raise NotEmitted(f"`np.{name}`")

    def made(self, name: str, args: Sequence[ast.expr]) -> Array:
        """Return a new array."""
        rest = args[2:] if name == "full" else args[1:]
        dtype = self.frame.inference.dtype(rest[0]) if rest else FLOAT
        assert dtype is not None
        if name == "full":
            value = self.expressions.number(args[1], dtype)
        new = self.arrays.make(dtype, self.lengths(args[0]))
        if name == "zeros":
            self.arrays.clear(new)
        elif name == "full":
            self.arrays.fill(new, value)
        return new

    def arranged(self, func: ast.Attribute, args: Sequence[ast.expr]) -> Array:
        """Return the elements of an array in a row, or in other axes."""
        row = self.arrays.in_a_row(self.expressions.array(func.value))
        if func.attr == "ravel":
            return row
        shape = tuple(self.lengths(args[0]))
        size = self.arrays.product(shape)
        self.frame.give_up_if(self.code.op(f"icmp ne i64 {size}, {row.shape[0]}"))
        return Array(row.dtype, row.data, shape, None, row.block)

    def dot(self, args: Sequence[ast.expr]) -> Array:
        """Return a product of matrices in C order, or turned from there, as BLAS computes it."""
        operands, turned = [], []
        for arg in args[:2]:
            is_turned = isinstance(arg, ast.Attribute)
            found = self.expressions.array(arg.value if is_turned else arg)  # type: ignore[attr-defined]
            if found.strides is not None or (found.dtype, len(found.shape)) != (FLOAT, 2):
                raise NotEmitted("a product of arrays that are no matrices in C order")
            operands.append(found)
            turned.append(is_turned)
        a, b = operands
        rows, inner = a.shape[::-1] if turned[0] else a.shape
        columns = b.shape[0] if turned[1] else b.shape[1]
        out = self.expressions.array(args[2]) if len(args) > 2 else self.arrays.make(
            FLOAT, (rows, columns))
        if out.strides is not None:
            raise NotEmitted("a product into an array that is not in C order")
        flags = ", ".join(f"i1 {'true' if one else 'false'}" for one in turned)
        came = self.code.op(
            f"call i1 @adcompiler_dot(ptr {out.data}, ptr {a.data}, ptr {b.data}, "
            f"i64 {rows}, i64 {inner}, i64 {columns}, {flags})")
        self.frame.give_up_if(self.code.op(f"xor i1 {came}, true"))
        return out

    # -- functions of the text -------------------------------------------------------------------

    def of_text(self, name: str, args: Sequence[ast.expr]) -> Value:
        """Return what a function of the text gives."""
        values = [self.expressions.array(arg) if isinstance(self.frame.inference.of(arg), ArrayType)
                  else self.expressions.of(arg) for arg in args]
        types = tuple(map(type_of, values))
        program, code = self.frame.program, self.code
        symbol, result = program.symbol(name, types)
        words = max(width(result), 1) if result is not None else 1
        place = code.slot(f"[{words} x i64]", "results")
        is_tried = isinstance(result, tuple)
        rest = result[1:] if isinstance(result, tuple) else result
        if is_tried:
            code.store(f"[{words} x i64]", "zeroinitializer", place)
        given = [one for value in values for one in passed(value)]
        if name in program.hosts:
            given += [f"ptr {value.block}" for value in values if isinstance(value, Array)]
        status = code.op(f"call i32 {symbol}({', '.join([*given, f'ptr {place}'])})")
        if not is_tried:
            self.frame.pass_on(status)
            return () if result is None else self.frame.answer(result, place)[0]
        wrong = code.op(f"icmp ugt i32 {status}, {GAVE_UP}")
        self.frame.pass_on(code.op(f"select i1 {wrong}, i32 {status}, i32 {DONE}"))
        items, _ = self.frame.answer(rest, place)  # type: ignore[arg-type]
        assert isinstance(items, tuple)
        return Num(BOOL, code.op(f"icmp eq i32 {status}, {DONE}")), *items

    def in_threads(self, name: str, args: Sequence[ast.expr]) -> None:
        """Run the blocks of a function, of which the second argument is the number, in threads."""
        values = [self.expressions.of(arg) for arg in args]
        values = [self.frame.kept(one) if isinstance(one, Array) else one for one in values]
        symbol, _ = self.frame.program.symbol(name, tuple(map(type_of, values)))
        words = [one for value in values for one in passed(value)]
        code = self.code
        context = code.slot(f"[{len(words)} x i64]", "context")
        for at, word in enumerate(words):
            code.do(f"store {word}, ptr {code.op(f'getelementptr i64, ptr {context}, i64 {at}')}")
        self.frame.pass_on(code.op(
            f"call i32 @adcompiler_in_threads(ptr {worker_of(symbol)}, ptr {context}, "
            f"i64 {self.expressions.integer(args[1])})"))
