"""What Python calls: takes objects apart, runs the loops, makes objects of what they give.

It has the signature of ``METH_FASTCALL``. Where an argument is not of the type that the loops were
written for, it calls ``self`` with the same arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adcompiler.backends.native.emit.code import Code
from adcompiler.backends.native.emit.functions import DONE, GAVE_UP, width
from adcompiler.backends.native.emit.types import HELD, SIZES, ArrayType, NotEmitted, Type
from adcompiler.backends.native.loops import BOOL, FLOAT, INT

ENTRY_DECLARED = '''
@PyFloat_Type = external global i8
@PyLong_Type = external global i8
@_Py_TrueStruct = external global i8
@_Py_FalseStruct = external global i8
@adcompiler_type_of_arrays = external global i8
@adcompiler_type_of_floats = external global i8
@adcompiler_type_of_integers = external global i8
@adcompiler_gave_up = external global ptr
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare double @PyFloat_AsDouble(ptr)
declare ptr @PyFloat_FromDouble(double)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyBool_FromLong(i64)
declare ptr @PyTuple_New(i64)
declare i32 @PyErr_CheckSignals() nounwind memory(inaccessiblemem: readwrite)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @adcompiler_hold(ptr)
declare ptr @adcompiler_result(ptr, ptr, i32, ptr, ptr, i32, i64)
'''
NUMBERS = {
    FLOAT: "call ptr @PyFloat_FromDouble(double {})", INT: "call ptr @PyLong_FromLongLong(i64 {})",
    BOOL: "select i1 {}, ptr @_Py_TrueStruct, ptr @_Py_FalseStruct",
}
"""How a number becomes an object."""
TYPE_NUMBERS = {dtype: np.dtype(dtype).num for dtype in SIZES}
"""What NumPy calls dtypes in C."""
DATA, AXES, LENGTHS, STRIDES, DESCRIPTION, FLAGS = 16, 24, 32, 40, 56, 64
"""Where the fields of an array stand, in bytes from its beginning."""
BYTE_ORDER, TYPE_NUMBER = 26, 28
"""Where the fields of a dtype stand."""
TYPE, VALUE, ITEMS = 8, 16, 24
"""Where an object has its type, a number its value, a tuple its items."""
IN_ORDER, ALIGNED = 1, 256


class Entry:
    """Writes the entry of one function."""

    def __init__(self) -> None:
        self.code = Code()
        self.passed: list[list[str]] = []
        self.taken: list[tuple[list[str], str]] = []
        self.arrays: list[tuple[ArrayType, str, list[str]]] = []

    def field(self, of: str, offset: int, kind: str) -> str:
        """Return a field of an object."""
        return self.code.load(kind, self.code.op(f"getelementptr i8, ptr {of}, i64 {offset}"))

    def need(self, test: str) -> None:
        """Let another function look at the arguments unless a test holds."""
        rest = self.code.fresh("rest")
        self.code.branch(self.code.op(f"xor i1 {test}, true"), "others", rest, rare=True)
        self.code.start(rest)

    def take(self, at: int, type_: Type) -> None:
        """Take an argument apart."""
        value = self.code.load("ptr", self.code.op(f"getelementptr ptr, ptr %args, i64 {at}"))
        if isinstance(type_, ArrayType):
            self.take_array(value, type_)
        elif type_ == BOOL:
            self.take_truth(value)
        elif isinstance(type_, str):
            self.take_number(value, type_)
        else:
            raise NotEmitted("a tuple is an argument")

    def take_truth(self, value: str) -> None:
        """Take a truth value."""
        true = self.code.op(f"icmp eq ptr {value}, @_Py_TrueStruct")
        false = self.code.op(f"icmp eq ptr {value}, @_Py_FalseStruct")
        self.need(self.code.op(f"or i1 {true}, {false}"))
        self.passed.append([f"i1 {true}"])

    def take_number(self, value: str, dtype: str) -> None:
        """Take a number of Python's, or of NumPy's."""
        code = self.code
        is_float = dtype == FLOAT
        found = code.slot(HELD[dtype], "number")
        kind = self.field(value, TYPE, "ptr")
        python, numpy, other, done = (
            code.fresh(one) for one in ("of_python", "of_numpy", "other", "taken"))
        own = "@PyFloat_Type" if is_float else "@PyLong_Type"
        code.branch(code.op(f"icmp eq ptr {kind}, {own}"), python, other)
        code.start(other)
        theirs = f"@adcompiler_type_of_{'floats' if is_float else 'integers'}"
        self.need(code.op(f"icmp eq ptr {kind}, {theirs}"))
        code.start(numpy)
        code.store(HELD[dtype], self.field(value, VALUE, HELD[dtype]), found)
        code.jump(done)
        code.start(python)
        if is_float:
            code.store("double", self.field(value, VALUE, "double"), found)
        else:
            over = code.slot("i32", "over")
            whole = code.op(f"call i64 @PyLong_AsLongLongAndOverflow(ptr {value}, ptr {over})")
            self.need(code.op(f"icmp eq i32 {code.load('i32', over)}, 0"))
            code.store("i64", whole, found)
        code.start(done)
        self.passed.append([f"{HELD[dtype]} {code.load(HELD[dtype], found)}"])

    def take_array(self, value: str, type_: ArrayType) -> None:
        """Take an array apart: of the very dtype, aligned, in C order if the loops want that."""
        code = self.code
        kind = self.field(value, TYPE, "ptr")
        self.need(code.op(f"icmp eq ptr {kind}, @adcompiler_type_of_arrays"))
        self.need(code.op(f"icmp eq i32 {self.field(value, AXES, 'i32')}, {type_.ndim}"))
        description = self.field(value, DESCRIPTION, "ptr")
        number = self.field(description, TYPE_NUMBER, "i32")
        self.need(code.op(f"icmp eq i32 {number}, {TYPE_NUMBERS[type_.dtype]}"))
        order = self.field(description, BYTE_ORDER, "i8")
        native = code.op(f"icmp eq i8 {order}, {ord('=')}")
        self.need(code.op(f"or i1 {native}, {code.op(f'icmp eq i8 {order}, 124')}"))  # or |
        wanted = ALIGNED | (IN_ORDER if type_.in_order else 0)
        flags = code.op(f"and i32 {self.field(value, FLAGS, 'i32')}, {wanted}")
        self.need(code.op(f"icmp eq i32 {flags}, {wanted}"))
        words = [f"ptr {self.field(value, DATA, 'ptr')}"]
        lengths = self.field(value, LENGTHS, "ptr")
        words += [f"i64 {self.field(lengths, 8 * axis, 'i64')}" for axis in range(type_.ndim)]
        if not type_.in_order:
            strides, size = self.field(value, STRIDES, "ptr"), SIZES[type_.dtype]
            for axis in range(type_.ndim):
                step = self.field(strides, 8 * axis, "i64")
                rest = code.op(f"srem i64 {step}, {size}")
                self.need(code.op(f"icmp eq i64 {rest}, 0"))
                words.append(f"i64 {code.op(f'sdiv exact i64 {step}, {size}')}")
        self.passed.append(words)
        self.taken.append((words, value))
        self.arrays.append((type_, value, list(words)))

    def hold(self) -> list[str]:
        """Return blocks for the storage of arguments, which calls in Python may be handed."""
        blocks = []
        for words, value in self.taken:
            blocks.append(self.code.op(f"call ptr @adcompiler_hold(ptr {value})"))
            words.append(f"ptr {blocks[-1]}")
        return blocks

    def give(self, into: str, at: int, type_: Type, words: str, word: int) -> int:
        """Put a result into a tuple, as an object; return which word comes next."""
        code = self.code

        def next_word(kind: str) -> str:
            nonlocal word
            word += 1
            return code.load(kind, code.op(f"getelementptr i64, ptr {words}, i64 {word - 1}"))

        if isinstance(type_, str):
            made = code.op(NUMBERS[type_].format(next_word(HELD[type_])))
            if type_ == BOOL:
                code.do(f"call void @Py_IncRef(ptr {made})")
        elif isinstance(type_, ArrayType):
            data, block = next_word("ptr"), next_word("ptr")
            size = SIZES[type_.dtype]
            lengths = [next_word("i64") for _ in range(type_.ndim)]
            strides = [] if type_.in_order else [next_word("i64") for _ in range(type_.ndim)]
            steps = [code.op(f"mul i64 {stride}, {size}") for stride in strides]
            made = code.slot("ptr", "made")
            done = code.fresh("handed_over")
            self.hand_back(type_, block, [
                f"ptr {data}", *(f"i64 {one}" for one in (*lengths, *strides))], made, done)
            code.store("ptr", self.array(type_, block, data, lengths, steps), made)
            code.start(done)
            made = code.load("ptr", made)
        else:
            raise NotEmitted("a tuple is a result")
        code.store("ptr", made, code.op(f"getelementptr i8, ptr {into}, i64 {ITEMS + 8 * at}"))
        rest = code.fresh("rest")
        code.branch(code.op(f"icmp eq ptr {made}, null"), "failed", rest, rare=True)
        code.start(rest)
        return word

    def hand_back(
        self, type_: ArrayType, block: str, words: Sequence[str], made: str, done: str
    ) -> None:
        """Hand over an argument itself, where a result is nothing else."""
        code = self.code
        for mine, value, passed in self.arrays:
            if mine != type_:
                continue
            same = "true"
            for word, other in zip(words, passed, strict=True):
                fits = code.op(f"icmp eq {word}, {other.split()[1]}")
                same = code.op(f"and i1 {same}, {fits}")
            found, other = code.fresh("argument"), code.fresh("no_argument")
            code.branch(same, found, other)
            code.start(found)
            code.do(f"call void @release(ptr {block})")
            code.do(f"call void @Py_IncRef(ptr {value})")
            code.store("ptr", value, made)
            code.jump(done)
            code.start(other)

    def array(
        self, type_: ArrayType, block: str, data: str, lengths: Sequence[str], steps: Sequence[str]
    ) -> str:
        """Return an array that refers to storage of the loops."""
        code = self.code
        places = []
        for values, hint in ((lengths, "lengths"), (steps, "steps")):
            if not values:
                places.append("null")
                continue
            places.append(code.slot(f"[{type_.ndim} x i64]", hint))
            for axis, one in enumerate(values):
                place = code.op(f"getelementptr i64, ptr {places[-1]}, i64 {axis}")
                code.store("i64", one, place)
        return code.op(
            f"call ptr @adcompiler_result(ptr {block}, ptr {data}, i32 {type_.ndim}, "
            f"ptr {places[0]}, ptr {places[1]}, i32 {TYPE_NUMBERS[type_.dtype]}, "
            f"i64 {SIZES[type_.dtype]})")


def entry(
    name: str, symbol: str, types: Sequence[Type], result: tuple[Type, ...], has_hosts: bool
) -> str:
    """Return the text of what Python calls; ``has_hosts`` tells that loops may call Python."""
    made = Entry()
    code = made.code
    made.need(code.op(f"icmp eq i64 %count, {len(types)}"))
    for at, type_ in enumerate(types):
        made.take(at, type_)
    words = max(width(result[1:]), 1)
    place = code.slot(f"[{words} x i64]", "results")
    blocks = made.hold() if has_hosts else []
    passed = [word for words in made.passed for word in words]
    status = code.op(f"call i32 {symbol}({', '.join([*passed, f'ptr {place}'])})")
    for block in blocks:
        code.do(f"call void @release(ptr {block})")
    code.branch(code.op(f"icmp eq i32 {status}, {DONE}"), "done", "not_done")
    code.start("not_done")
    code.branch(code.op(f"icmp eq i32 {status}, {GAVE_UP}"), "gave_up", "raised")
    code.start("gave_up")
    nothing = code.load("ptr", "@adcompiler_gave_up")
    nothing = made.field(nothing, ITEMS + 8 * len(result), "ptr")
    code.do(f"call void @Py_IncRef(ptr {nothing})")
    code.do(f"ret ptr {nothing}")
    code.is_open = False
    code.start("done")
    items = code.op(f"call ptr @PyTuple_New(i64 {len(result)})")
    code.branch(code.op(f"icmp eq ptr {items}, null"), "raised", "made", rare=True)
    code.start("made")
    code.do("call void @Py_IncRef(ptr @_Py_TrueStruct)")
    code.store("ptr", "@_Py_TrueStruct", code.op(f"getelementptr i8, ptr {items}, i64 {ITEMS}"))
    word = 0
    for at, type_ in enumerate(result[1:], 1):
        word = made.give(items, at, type_, place, word)
    code.do(f"ret ptr {items}")
    code.is_open = False
    code.start("failed")
    code.do(f"call void @Py_DecRef(ptr {items})")
    code.jump("raised")
    code.start("raised")
    code.do("ret ptr null")
    code.is_open = False
    code.start("others")
    other = code.op("call ptr @PyObject_Vectorcall(ptr %self, ptr %args, i64 %count, ptr null)")
    code.do(f"ret ptr {other}")
    head = f"define ptr @adcompiler_entry_{name}(ptr %self, ptr %args, i64 %count) nounwind {{"
    return "\n".join([head, "entry:", *code.slots, "  br label %start", "start:",
                      *code.lines, "}", ""])
