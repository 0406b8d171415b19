"""Calls in Python from within loops, as LLVM IR: boxes arguments, calls, unboxes results.

What is called returns a tuple: whether the call gave what is expected, then numbers and arrays in
C order (``runtime.native.answer_of``). A pointer to it stands in a variable that is set when the
code is loaded.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from adcompiler.backends.native.emit.code import Code
from adcompiler.backends.native.emit.entry import NUMBERS, TYPE_NUMBERS
from adcompiler.backends.native.emit.functions import GAVE_UP, RAISED, parameters
from adcompiler.backends.native.emit.types import SIZES, ArrayType, NotEmitted, Type
from adcompiler.backends.native.loops import BOOL, FLOAT, INT, SINGLE
from adcompiler.runtime.native import kind_of
from adcompiler.support.structs import dataclass

HOST_DECLARED = '''
declare ptr @adcompiler_view(ptr, ptr, i32, ptr, ptr, i32, i64)
'''


@dataclass(frozen=True, slots=True)
class Host:
    """A call in Python: the function that makes it, and the forms of what it gives."""

    name: str
    called: str
    forms: str
    nested: bool

    @property
    def returns(self) -> Type:
        """The type of what a call gives, whether it did so first."""
        return (BOOL, *map(form_type, self.forms.split("; ")))


def form_type(form: str) -> Type:
    """Return the type that a form tells."""
    dtype, ndim = kind_of(form)
    if ndim is None:
        return FLOAT if dtype == SINGLE else dtype
    return ArrayType(dtype, ndim)


def read_host(node: ast.FunctionDef) -> Host | None:
    """Return what a function calls in Python, None if it computes itself."""
    match [row for row in node.body if not isinstance(row, ast.Expr)]:
        case [ast.Return(ast.Call(ast.Name("answer_of"), args=[
            ast.Name(called), ast.Constant(str() as forms), ast.Constant(bool() as nested), *_,
        ]))]:
            return Host(node.name, called, forms, nested)
    return None


def slot_of(number: int) -> str:
    """Return the variable that points to what is called."""
    return f"adcompiler_host_{number}"


def host_function(host: Host, symbol: str, types: Sequence[Type], number: int) -> str:
    """Return the text of the function that makes a call."""
    code, given, boxes = Code(), list[str](), list[str]()
    blocks = []
    args = code.slot(f"[{len(types) + 1} x ptr]", "args", "zeroinitializer")
    for i, type_ in enumerate(types):
        name = f"x{i}"
        given += parameters(type_, name)
        box = boxed(code, name, type_)
        boxes.append(box)
        place = code.op(f"getelementptr ptr, ptr {args}, i64 {i}")
        code.store("ptr", box, place)
        blocks += [f"ptr %{name}.block"] if isinstance(type_, ArrayType) else []
    # a box that could not be made is an error that Python raises
    missing = "false"
    for box in boxes:
        missing = code.op(f"or i1 {missing}, {code.op(f'icmp eq ptr {box}, null')}")
    code.branch(missing, "failed", "ready", rare=True)
    code.start("ready")
    called = code.load("ptr", f"@{slot_of(number)}")
    found = code.op(f"call ptr @PyObject_Vectorcall(ptr {called}, ptr {args}, "
                    f"i64 {len(types)}, ptr null)")
    for box in boxes:
        code.do(f"call void @Py_DecRef(ptr {box})")
    code.branch(code.op(f"icmp eq ptr {found}, null"), "raised", "came", rare=True)
    code.start("came")
    done = code.op("load ptr, ptr " + item(code, found, 0))
    code.branch(code.op(f"icmp eq ptr {done}, @_Py_TrueStruct"), "gave", "gave_nothing")
    code.start("gave")
    at = 0
    for i, form in enumerate(host.forms.split("; "), 1):
        at = unboxed(code, code.load("ptr", item(code, found, i)), form_type(form), at)
    code.do(f"call void @Py_DecRef(ptr {found})")
    code.do("ret i32 0")
    code.is_open = False
    code.start("gave_nothing")
    code.do(f"call void @Py_DecRef(ptr {found})")
    code.do(f"ret i32 {GAVE_UP}")
    code.is_open = False
    code.start("failed")
    for box in boxes:
        code.do(f"call void @Py_DecRef(ptr {box})")
    code.jump("raised")
    code.start("raised")
    code.do(f"ret i32 {RAISED}")
    head = f"define internal i32 {symbol}({', '.join([*given, *blocks, 'ptr %results'])})"
    return "\n".join([
        f"@{slot_of(number)} = global ptr null", f"{head} noinline nounwind {{", "entry:",
        *code.slots, "  br label %start", "start:", *code.lines, "}", ""])


def item(code: Code, of: str, position: int) -> str:
    """Return a pointer to an item of a tuple."""
    return code.op(f"getelementptr i8, ptr {of}, i64 {24 + 8 * position}")


def boxed(code: Code, name: str, type_: Type) -> str:
    """Return a number or an array as an object."""
    if isinstance(type_, tuple):
        raise NotEmitted("a tuple is given to a call in Python")
    if isinstance(type_, str):
        made = code.op(NUMBERS[type_].format(f"%{name}"))
        if type_ == BOOL:
            code.do(f"call void @Py_IncRef(ptr {made})")
        return made
    places = []
    strides = strides_of(code, name, type_)
    for words, hint in (([f"%{name}.n{axis}" for axis in range(type_.ndim)], "lengths"),
                        (strides, "strides")):
        place = code.slot(f"[{type_.ndim} x i64]", hint)
        for axis, word in enumerate(words):
            code.store("i64", word, code.op(f"getelementptr i64, ptr {place}, i64 {axis}"))
        places.append(place)
    return code.op(
        f"call ptr @adcompiler_view(ptr %{name}.block, ptr %{name}.data, i32 {type_.ndim}, "
        f"ptr {places[0]}, ptr {places[1]}, i32 {TYPE_NUMBERS[type_.dtype]}, "
        f"i64 {SIZES[type_.dtype]})")


def strides_of(code: Code, name: str, type_: ArrayType) -> list[str]:
    """Return the strides of a parameter in bytes."""
    size, found = SIZES[type_.dtype], list[str]()
    if not type_.in_order:
        return [code.op(f"mul i64 %{name}.s{axis}, {size}") for axis in range(type_.ndim)]
    stride = str(size)
    for axis in range(type_.ndim)[::-1]:
        found.insert(0, stride)
        stride = code.op(f"mul i64 {stride}, %{name}.n{axis}")
    return found


def unboxed(code: Code, value: str, type_: Type, at: int) -> int:
    """Hand over a number or an array that an object holds; the array is kept as long as needed."""

    def put(word: str) -> None:
        nonlocal at
        code.do(f"store {word}, ptr {code.op(f'getelementptr i64, ptr %results, i64 {at}')}")
        at += 1

    if type_ == FLOAT:
        put("double " + code.op(f"call double @PyFloat_AsDouble(ptr {value})"))
    elif type_ == INT:
        put("i64 " + code.op(f"call i64 @PyLong_AsLongLong(ptr {value})"))
    elif type_ == BOOL:
        put("i1 " + code.op(f"icmp eq ptr {value}, @_Py_TrueStruct"))
    else:
        assert isinstance(type_, ArrayType)
        data = code.op(f"load ptr, ptr {code.op(f'getelementptr i8, ptr {value}, i64 16')}")
        lengths = code.op(f"load ptr, ptr {code.op(f'getelementptr i8, ptr {value}, i64 32')}")
        put(f"ptr {data}")
        put("ptr " + code.op(f"call ptr @adcompiler_hold(ptr {value})"))
        for axis in range(type_.ndim):
            place = code.op(f"getelementptr i64, ptr {lengths}, i64 {axis}")
            put(f"i64 {code.load('i64', place)}")
    return at
