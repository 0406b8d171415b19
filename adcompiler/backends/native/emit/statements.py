"""Statements of the text of loops as LLVM IR."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from adcompiler.backends.native.emit.arrays import Array
from adcompiler.backends.native.emit.calls import Calls
from adcompiler.backends.native.emit.expressions import Expressions
from adcompiler.backends.native.emit.functions import DONE, RAISED, Frame, Value
from adcompiler.backends.native.emit.types import HELD, NotEmitted, dotted, gives_up
from adcompiler.backends.native.loops import INT

OF_WHILE, OF_FLAT, OF_NESTS = 256, 65536, (16, 4)
"""After how many iterations loops ask for signals: a `while`, a loop that holds no other, one that
holds a loop, or loops that hold loops. That costs about 5 ns."""


class Statements:
    """Writes the statements of one function."""

    def __init__(self, frame: Frame) -> None:
        self.frame, self.code = frame, frame.code
        self.expressions = Expressions(frame)
        self.calls = Calls(self.expressions)
        self.loops: list[tuple[str, str]] = []

    def body(self, rows: Sequence[ast.stmt]) -> None:
        """Write statements."""
        for row in rows:
            self.statement(row)
            if isinstance(row, (ast.Return, ast.Break, ast.Continue)):
                break

    def statement(self, row: ast.stmt) -> None:
        """Write one statement."""
        frame, code, expressions = self.frame, self.code, self.expressions
        match row:
            case ast.Pass() | ast.Expr(ast.Constant()):
                return
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
                found = [self.referred(expressions.of(value)) for value in values]
                for target, value in zip(targets, found, strict=True):
                    if not isinstance(target, ast.Name):
                        self.store(target, value)
                    else:
                        frame.bind(target.id, value)
            case ast.Assign([ast.Name(name)], value):
                frame.bind(name, expressions.of(value))
            case ast.Assign([ast.Tuple(targets)], value):
                items = expressions.of(value)
                for target, item in zip(targets, items, strict=True):  # type: ignore[arg-type]
                    self.store(target, item)
            case ast.Assign([target], value):
                self.store(target, expressions.of(value))
            case ast.AugAssign(ast.Name(name), op, value):
                frame.bind(name, expressions.operator(op, frame.get(name), expressions.of(value)))
            case ast.AugAssign(ast.Subscript() as target, op, value):
                self.add(target, op, value)
            case ast.Expr(ast.Call(ast.Name(name), args)) if frame.program.is_in_threads(name):
                self.calls.in_threads(name, args)
            case ast.Expr(ast.Call(ast.Name(name), args)):
                self.calls.of_text(name, args)
            case ast.Expr(ast.Call() as call):
                expressions.array(call)
            case ast.If():
                self.branch(row)
                return
            case ast.While(test, body):
                self.forever(test, body)
                return
            case ast.For(ast.Name(name), ast.Call() as call, body):
                self.loop(name, call, body)
                return
            case ast.Return():
                self.end(row)
            case ast.Break():
                code.jump(self.loops[-1][1])
            case ast.Continue():
                code.jump(self.loops[-1][0])
            case _:
                raise NotEmitted(type(row).__name__)
        if frame.waiting:
            frame.end_statement()

    def referred(self, value: Value) -> Value:
        """Return a value that has a reference of its own to its storage, if that is counted."""
        if not isinstance(value, Array) or value.owned or value.block == "null":
            return value
        self.code.do(f"call void @retain(ptr {value.block})")
        return Array(value.dtype, value.data, value.shape, value.strides, value.block, True)

    def store(self, target: ast.expr, value: object) -> None:
        """Write an assignment to an element."""
        if not isinstance(target, ast.Subscript):
            raise NotEmitted("an assignment to an attribute")
        dtype, place = self.expressions.place(target)
        self.frame.arrays.write(dtype, place, self.frame.converted(value, dtype))  # type: ignore[arg-type]

    def add(self, target: ast.Subscript, op: ast.operator, node: ast.expr) -> None:
        """Write an operator on an element in its place; Python reads that first."""
        arrays, expressions = self.frame.arrays, self.expressions
        dtype, place = expressions.place(target)
        before = arrays.read(dtype, place)
        after = expressions.operator(op, before, expressions.of(node))
        arrays.write(dtype, place, self.frame.converted(after, dtype))

    def end(self, row: ast.Return) -> None:
        """Write what is returned."""
        frame, result = self.frame, self.frame.inference.result
        if gives_up(row):
            self.code.jump("gave_up")
            return
        assert row.value is not None and result is not None
        if isinstance(result, tuple):
            assert isinstance(row.value, ast.Tuple)
            values = tuple(self.expressions.of(one) for one in row.value.elts[1:])
            frame.results(result[1:], values)
        else:
            frame.results(result, self.expressions.of(row.value))
        self.code.jump("exit")

    def branch(self, row: ast.If) -> None:
        """Write a branch; one that only gives up is rare."""
        test = self.expressions.truth(row.test)
        self.frame.end_statement()
        if not row.orelse and len(row.body) == 1 and (
            isinstance(row.body[0], ast.Return) and gives_up(row.body[0])
        ):
            self.frame.give_up_if(test)
            return
        self.expressions.branches(
            test, lambda: self.body(row.body), lambda: self.body(row.orelse))

    def forever(self, test: ast.expr, body: Sequence[ast.stmt]) -> None:
        """Write a loop that goes on while a test holds."""
        code = self.code
        head, inner, done = (code.fresh(one) for one in ("while", "body", "done"))
        times = code.slot("i64", "times", "0")
        code.start(head)
        if self.frame.is_outermost:
            more = code.op(f"add i64 {code.load('i64', times)}, 1")
            code.store("i64", more, times)
            self.ask_for_signals(f"and i64 {more}, {OF_WHILE - 1}")
        holds = self.expressions.truth(test)
        self.frame.end_statement()
        code.branch(holds, inner, done)
        code.start(inner)
        self.inside(body, head, done)
        if code.is_open:
            code.jump(head)
        code.start(done)

    def inside(self, body: Sequence[ast.stmt], again: str, done: str) -> None:
        """Write what is inside a loop."""
        self.loops.append((again, done))
        self.body(body)
        self.loops.pop()

    def loop(self, name: str, call: ast.Call, body: Sequence[ast.stmt]) -> None:
        """Write a loop over a range; the name has its last value behind it, as in Python."""
        code, frame, expressions = self.code, self.frame, self.expressions
        if dotted(call.func) == "prange":
            self.blocks(name, expressions.integer(call.args[0]), body)
            return
        if dotted(call.func) != "range":
            raise NotEmitted("a loop over what is no range")
        args = [expressions.integer(arg) for arg in call.args]
        frame.end_statement()
        start, stop, step = (
            ("0", args[0], "1") if len(args) == 1 else (*args, "1") if len(args) == 2 else args)
        if not step.lstrip("-").isdigit():
            if not frame.signs.is_positive(call.args[2]):
                raise NotEmitted("a range with a step of which the sign is not known")
            frame.give_up_if(code.op(f"icmp eq i64 {step}, 0"))
        counter = code.slot("i64", f"{name}.at", "0")
        variable = frame.variables[name]
        if variable.dtype != INT:
            raise NotEmitted("the variable of a loop is a float elsewhere")
        head, inner, more, done = (code.fresh(one) for one in ("for", "body", "next", "done"))
        code.store("i64", start, counter)
        sign, end, over = "sgt" if step.startswith("-") else "slt", stop, done
        asks = frame.is_outermost and not self.loops
        depth = depth_of(body)
        if asks and not depth and step in ("1", "-1"):
            block, over = code.fresh("block"), code.fresh("block_done")
            code.start(block)
            last = code.op(f"add i64 {code.load('i64', counter)}, {int(step) * OF_FLAT}")
            nearer = "smin" if step == "1" else "smax"
            end = code.op(f"call i64 @llvm.{nearer}.i64(i64 {last}, i64 {stop})")
        code.start(head)
        at = code.load("i64", counter)
        code.branch(code.op(f"icmp {sign} i64 {at}, {end}"), inner, over)
        code.start(inner)
        if asks and depth:
            self.ask_for_signals(f"and i64 {at}, {OF_NESTS[min(depth, 2) - 1] - 1}")
        code.store(HELD[INT], at, variable.name)
        self.inside(body, more, done)
        code.start(more)
        # of another step than 1 the next number may not fit into 64 bits
        safe = "nsw " if step in ("1", "-1") else ""
        code.store("i64", code.op(f"add {safe}i64 {code.load('i64', counter)}, {step}"), counter)
        code.jump(head)
        if end != stop:
            code.start(over)
            some = code.fresh("some_left")
            code.branch(code.op(f"icmp {sign} i64 {code.load('i64', counter)}, {stop}"), some, done)
            code.start(some)
            self.ask_for_signals("")
            code.jump(block)
        code.start(done)

    def ask_for_signals(self, test: str) -> None:
        """Let Python handle signals where an integer is zero; end where that raises."""
        code = self.code
        ask, going_on = code.fresh("ask"), code.fresh("going_on")
        if test:
            code.branch(code.op(f"icmp eq i64 {code.op(test)}, 0"), ask, going_on, rare=True)
            code.start(ask)
        raised = code.op("call i32 @PyErr_CheckSignals()")
        raised = code.op(f"icmp ne i32 {raised}, 0")
        self.frame.pass_on(code.op(f"select i1 {raised}, i32 {RAISED}, i32 {DONE}"))
        code.start(going_on)

    def blocks(self, name: str, count: str, body: Sequence[ast.stmt]) -> None:
        """Write a loop over those of the blocks of a job that no other thread has taken."""
        code, variable = self.code, self.frame.variables[name]
        again, inner, done = (code.fresh(one) for one in ("take", "body", "done"))
        code.start(again)
        at = code.op("atomicrmw add ptr %job, i64 1 seq_cst")
        code.branch(code.op(f"icmp slt i64 {at}, {count}"), inner, done)
        code.start(inner)
        code.store(HELD[INT], at, variable.name)
        self.inside(body, again, done)
        code.jump(again)
        code.start(done)


def depth_of(body: Sequence[ast.stmt]) -> int:
    """Return how many loops stand inside of one another in statements."""
    return max((
        depth_of(getattr(one, field, ())) + (
            field == "body" and isinstance(one, (ast.For, ast.While)))
        for one in body for field in ("body", "orelse")), default=0)
