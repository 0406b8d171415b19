"""One function of loops as LLVM IR: its variables, its end, what is released there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from adcompiler.backends.native.emit.arrays import Array, Arrays, Num
from adcompiler.backends.native.emit.code import Code
from adcompiler.backends.native.emit.storage import Signs, Storage
from adcompiler.backends.native.emit.types import HELD, ArrayType, Inference, NotEmitted, Type
from adcompiler.backends.native.loops import BOOL, FLOAT, INT, SINGLE
from adcompiler.support.structs import dataclass

DONE, GAVE_UP, RAISED = 0, 1, 3
"""What functions return: the results are there; Python computes them; an exception is set."""
MANY = 24
"""Up to so many blocks of storage are released one by one where a function ends."""
Value = Num | Array | tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Slots:
    """The variables of an array; ``block`` is empty if references to its storage do not count."""

    type: ArrayType
    data: str
    shape: tuple[str, ...]
    strides: tuple[str, ...]
    block: str


def width(type_: Type) -> int:
    """Return how many words of results a value takes."""
    if isinstance(type_, tuple):
        return sum(map(width, type_))
    if isinstance(type_, ArrayType):
        return 2 + type_.ndim * (1 if type_.in_order else 2)
    return 1


def parameters(type_: Type, name: str, attributes: str = "") -> list[str]:
    """Return the LLVM parameters for a value: those of an array are its data and lengths."""
    if isinstance(type_, ArrayType):
        lengths = [f"i64 %{name}.n{axis}" for axis in range(type_.ndim)]
        strides = [] if type_.in_order else [f"i64 %{name}.s{axis}" for axis in range(type_.ndim)]
        return [f"ptr {attributes}%{name}.data", *lengths, *strides]
    if isinstance(type_, tuple):
        raise NotEmitted("a tuple is an argument")
    return [f"{HELD[type_]} %{name}"]


def worker(symbol: str, types: Sequence[Type]) -> str:
    """Return the text of what takes blocks of iterations of a job in some thread.

    ``symbol`` is the function of these, its arguments stand in the context of the job.
    """
    code, given = Code(), list[str]()
    for word in (one for at, type_ in enumerate(types) for one in parameters(type_, f"x{at}")):
        kind = word.split()[0]
        place = code.op(f"getelementptr i64, ptr %context, i64 {len(given)}")
        given.append(f"{kind} {code.load(kind, place)}")
    code.do(f"call i32 {symbol}({', '.join([*given, 'ptr %job', 'ptr null'])})")
    head = f"define internal void {worker_of(symbol)}(ptr %job, ptr %context) nounwind {{"
    return "\n".join([head, *code.lines, "  ret void", "}", ""])


def worker_of(symbol: str) -> str:
    """Return the symbol of the worker for a function."""
    return f'{symbol[:-1]}.worker"'


def passed(value: Value) -> list[str]:
    """Return the LLVM arguments for a value."""
    if isinstance(value, Array):
        return [f"ptr {value.data}", *(f"i64 {one}" for one in value.shape + (value.strides or ()))]
    assert isinstance(value, Num)
    return [f"{HELD[value.dtype]} {value.name}"]


def type_of(value: Value) -> Type:
    """Return the type of a value."""
    if isinstance(value, Num):
        return value.dtype
    return value.type if isinstance(value, Array) else tuple(map(type_of, value))


class Text(Protocol):
    """The functions of a module's text."""

    @property
    def hosts(self) -> Collection[str]:
        """The names of those that Python runs."""

    def symbol(self, name: str, types: tuple[Type, ...]) -> tuple[str, Type | None]:
        """Return what LLVM calls a function that is given these types, and what it returns."""

    def writes(self, name: str) -> bool:
        """Say whether a function may write into arrays that it is given."""

    def is_in_threads(self, name: str) -> bool:
        """Say whether a function runs blocks of iterations in threads."""


class Frame:
    """The variables of a function, and how it ends.

    ``is_outermost`` tells that Python calls it: it hands on arrays of its arguments as they are.
    """

    def __init__(self, program: Text, inference: Inference, is_outermost: bool = False) -> None:
        self.program, self.inference, self.is_outermost = program, inference, is_outermost
        self.code = Code()
        self.arrays = Arrays(self.code, self)
        self.storage = Storage(inference, list(program.hosts), program.writes)
        self.signs = Signs(inference)
        self.variables: dict[str, Any] = {}
        self.released: list[str] = []
        self.waiting: list[str] = []
        self.status = self.code.slot("i32", "status", str(DONE))
        for name, type_ in inference.names.items():
            self.variables[name] = self.declared(name, type_)

    # -- variables -------------------------------------------------------------------------------

    def declared(self, name: str, type_: Type) -> Any:
        """Return the variables of a name."""
        code = self.code
        if isinstance(type_, tuple):
            return tuple(self.declared(name, one) for one in type_)
        if isinstance(type_, ArrayType):
            shape = tuple(code.slot("i64", f"{name}.n", "0") for _ in range(type_.ndim))
            strides = () if type_.in_order else tuple(
                code.slot("i64", f"{name}.s", "0") for _ in range(type_.ndim))
            block = ""
            if name in self.storage.counted:
                block = code.slot("ptr", f"{name}.block", "null")
                self.released.append(block)
            return Slots(type_, code.slot("ptr", name, "null"), shape, strides, block)
        return Num(type_, code.slot(HELD[type_], name, "zeroinitializer"))

    def get(self, name: str) -> Value:
        """Return what a name stands for."""
        if name not in self.variables:
            raise NotEmitted(f"the name {name}")
        return self.loaded(self.variables[name])

    def loaded(self, slots: Any) -> Value:
        """Return the value of variables."""
        code = self.code
        if isinstance(slots, tuple):
            return tuple(map(self.loaded, slots))
        if isinstance(slots, Num):
            return Num(slots.dtype, code.load(HELD[slots.dtype], slots.name))
        shape = tuple(code.load("i64", one) for one in slots.shape)
        strides = tuple(code.load("i64", one) for one in slots.strides) or None
        block = code.load("ptr", slots.block) if slots.block else "null"
        return Array(slots.type.dtype, code.load("ptr", slots.data), shape, strides, block)

    def bind(self, name: str, value: Value) -> None:
        """Let a name stand for a value."""
        self.assign(self.variables[name], value)

    def assign(self, slots: Any, value: Value) -> None:
        """Let variables hold a value, and count references to its storage."""
        code = self.code
        if isinstance(slots, tuple):
            assert isinstance(value, tuple)
            for one, part in zip(slots, value, strict=True):
                self.assign(one, part)
            return
        if isinstance(slots, Num):
            code.store(HELD[slots.dtype], self.converted(value, slots.dtype), slots.name)
            return
        assert isinstance(value, Array)
        strides = self.arrays.strides(value) if slots.strides else ()
        if slots.block:
            if not value.owned and value.block != "null":
                code.do(f"call void @retain(ptr {value.block})")
            old = code.load("ptr", slots.block)
            code.store("ptr", value.block, slots.block)
            code.do(f"call void @release(ptr {old})")
        elif value.owned:
            self.owned(value)
        code.store("ptr", value.data, slots.data)
        for place, one in zip((*slots.shape, *slots.strides), (*value.shape, *strides),
                              strict=True):
            code.store("i64", one, place)

    def owned(self, value: Array) -> str:
        """Release the storage of an array at the end of the function."""
        slot = self.code.slot("ptr", "own", "null")
        self.code.store("ptr", value.block, slot)
        self.released.append(slot)
        return slot

    def kept(self, value: Array) -> Array:
        """Return an array whose storage is kept until the statement ends."""
        if not value.owned:
            return value
        self.waiting.append(self.owned(value))
        return Array(value.dtype, value.data, value.shape, value.strides, value.block)

    def end_statement(self) -> None:
        """Release what was made for one statement only."""
        for slot in self.waiting:
            old = self.code.load("ptr", slot)
            self.code.store("ptr", "null", slot)
            self.code.do(f"call void @release(ptr {old})")
        self.waiting.clear()

    def converted(self, value: Value, dtype: str) -> str:
        """Return a number as one of a type that holds it."""
        assert isinstance(value, Num)
        dtype = FLOAT if dtype == SINGLE else dtype
        if value.dtype == dtype:
            return value.name
        if dtype == FLOAT and value.dtype in (INT, BOOL):
            sign = "ui" if value.dtype == BOOL else "si"
            return self.code.op(f"{sign}tofp {HELD[value.dtype]} {value.name} to double")
        if dtype == INT and value.dtype == BOOL:
            return self.code.op(f"zext i1 {value.name} to i64")
        raise NotEmitted(f"a {value.dtype} where a {dtype} is expected")

    # -- the end ---------------------------------------------------------------------------------

    def give_up_if(self, test: str) -> None:
        """Leave the rest to Python where a test holds."""
        rest = self.code.fresh("rest")
        self.code.branch(test, "gave_up", rest, rare=True)
        self.code.start(rest)

    def pass_on(self, status: str) -> None:
        """End with the status of a function that was called, unless that did what it has to."""
        code = self.code
        failed, rest = code.fresh("failed"), code.fresh("rest")
        code.branch(code.op(f"icmp ne i32 {status}, {DONE}"), failed, rest, rare=True)
        code.start(failed)
        code.store("i32", status, self.status)
        code.jump("exit")
        code.start(rest)

    @contextmanager
    def counted(self, count: str) -> Iterator[str]:
        """Write a loop over positions from zero on."""
        code = self.code
        counter = code.slot("i64", "at", "0")
        head, body, done = (code.fresh(one) for one in ("head", "body", "done"))
        code.store("i64", "0", counter)
        code.start(head)
        at = code.load("i64", counter)
        code.branch(code.op(f"icmp slt i64 {at}, {count}"), body, done)
        code.start(body)
        yield at
        code.store("i64", code.op(f"add nsw i64 {at}, 1"), counter)
        code.jump(head)
        code.start(done)

    def results(self, type_: Type, value: Value, at: int = 0) -> int:
        """Hand over what is returned, word by word."""
        code = self.code
        if isinstance(type_, tuple):
            assert isinstance(value, tuple)
            for one, part in zip(type_, value, strict=True):
                at = self.results(one, part, at)
            return at
        if isinstance(type_, str):
            words = [f"{HELD[type_]} {self.converted(value, type_)}"]
        else:
            assert isinstance(value, Array)
            value = self.lasting(value)
            strides = () if type_.in_order else self.arrays.strides(value)
            words = [f"ptr {value.data}", f"ptr {value.block}", *(
                f"i64 {one}" for one in (*value.shape, *strides))]
        for word in words:
            code.do(f"store {word}, ptr {code.op(f'getelementptr i64, ptr %results, i64 {at}')}")
            at += 1
        return at

    def lasting(self, value: Array) -> Array:
        """Return an array with a reference of its own: a copy of what a parameter refers to."""
        code, arrays = self.code, self.arrays
        if value.owned:
            return value
        if self.is_outermost:
            code.do(f"call void @retain(ptr {value.block})")
            return value
        if value.block == "null":
            return arrays.copy(value)
        places = [code.slot("ptr", "result"), code.slot("ptr", "result_block"), *(
            code.slot("i64", "result_stride") for _ in value.strides or ())]

        def put(one: Array) -> None:
            strides = arrays.strides(one) if value.strides else ()
            for place, word in zip(places, (one.data, one.block, *strides), strict=True):
                code.store("ptr" if word in (one.data, one.block) else "i64", word, place)

        given, made, done = (code.fresh(one) for one in ("given", "made", "lasting"))
        code.branch(code.op(f"icmp eq ptr {value.block}, null"), given, made)
        code.start(given)
        put(arrays.copy(value))
        code.jump(done)
        code.start(made)
        code.do(f"call void @retain(ptr {value.block})")
        put(value)
        code.start(done)
        data, block = (code.load("ptr", place) for place in places[:2])
        strides = tuple(code.load("i64", place) for place in places[2:]) or None
        return Array(value.dtype, data, value.shape, strides, block, True)

    def answer(self, type_: Type, place: str, at: int = 0) -> tuple[Value, int]:
        """Return what a function that was called handed over."""
        code = self.code
        if isinstance(type_, tuple):
            items = []
            for one in type_:
                item, at = self.answer(one, place, at)
                items.append(item)
            return tuple(items), at

        def word(kind: str) -> str:
            nonlocal at
            at += 1
            return code.load(kind, code.op(f"getelementptr i64, ptr {place}, i64 {at - 1}"))

        if isinstance(type_, str):
            return Num(type_, word(HELD[type_])), at
        assert isinstance(type_, ArrayType)
        data, block = word("ptr"), word("ptr")
        shape = tuple(word("i64") for _ in range(type_.ndim))
        strides = None if type_.in_order else tuple(word("i64") for _ in range(type_.ndim))
        return Array(type_.dtype, data, shape, strides, block, True), at

    def finished(self, symbol: str, given: Sequence[str], attributes: str) -> str:
        """Return the text of the function."""
        code = self.code
        if code.is_open:
            code.jump("exit")
        code.start("gave_up")
        code.store("i32", str(GAVE_UP), self.status)
        code.start("exit")
        if len(self.released) > MANY:
            self.release_in_a_row()
        else:
            for slot in self.released:
                code.do(f"call void @release(ptr {code.load('ptr', slot)})")
        code.do(f"ret i32 {code.load('i32', self.status)}")
        head = f"define internal i32 {symbol}({', '.join([*given, 'ptr noalias %results'])})"
        return "\n".join([
            f"{head} {attributes} {{", "entry:", *code.slots, "  br label %start", "start:",
            *code.lines, "}", ""])

    def release_in_a_row(self) -> None:
        """Release what is in many variables by a loop, for which these lie in memory in a row.

        Else each of them has a value at each place where the function ends: LLVM would take most of
        its time for these.
        """
        code, count = self.code, len(self.released)
        rows = {f"  {slot} = alloca ptr": f"  {slot} = getelementptr ptr, ptr %owners, i64 {at}"
                for at, slot in enumerate(self.released)}
        code.slots[:] = [f"  %owners = alloca [{count} x ptr]", *(
            rows.get(line, line) for line in code.slots)]
        with self.counted(str(count)) as at:
            slot = code.op(f"getelementptr ptr, ptr %owners, i64 {at}")
            code.do(f"call void @release(ptr {code.load('ptr', slot)})")

    def parameter(self, name: str, type_: Type, has_block: bool) -> Value:
        """Return the value of a parameter; calls in Python are handed its storage, not a copy."""
        if isinstance(type_, ArrayType):
            axes = range(type_.ndim)
            return Array(
                type_.dtype, f"%{name}.data", tuple(f"%{name}.n{axis}" for axis in axes),
                None if type_.in_order else tuple(f"%{name}.s{axis}" for axis in axes),
                f"%{name}.block" if has_block else "null")
        assert isinstance(type_, str)
        return Num(type_, f"%{name}")
