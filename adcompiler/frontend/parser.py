"""Lowers a parsed function to the IR: one ``parse_<Node>`` per node type.

Variables are renamed so that each is defined once; ``break``, ``continue`` and early ``return``
become the structure of regions: what follows a branch that leaves moves into the other branch, and
where both may go on, a code says how the branch ended.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.names import assigned_names, assigned_after, can_fall_through, leaves
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Attribute, Block, Call, Closure, Const, Do, Format, Free, Function, If, Item,
    Let, Loop, Origin, Pack, Param, Raise, Rhs, Slice, Star, Statement, Unsupported, Var,
)
from adcompiler.runtime import append, check_bound, dict_of, unpack

CONTINUES, NORMAL, BREAKS, RETURNS, RAISES = -1, 0, 1, 2, 3

BINARY = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
    "FloorDiv": operator.floordiv, "Mod": operator.mod, "Pow": operator.pow,
    "MatMult": operator.matmul, "BitAnd": operator.and_, "BitOr": operator.or_,
    "BitXor": operator.xor, "LShift": operator.lshift, "RShift": operator.rshift,
}
IN_PLACE = {
    "Add": operator.iadd, "Sub": operator.isub, "Mult": operator.imul, "Div": operator.itruediv,
    "FloorDiv": operator.ifloordiv, "Mod": operator.imod, "Pow": operator.ipow,
    "MatMult": operator.imatmul, "BitAnd": operator.iand, "BitOr": operator.ior,
    "BitXor": operator.ixor, "LShift": operator.ilshift, "RShift": operator.irshift,
}
UNARY = {
    "USub": operator.neg, "UAdd": operator.pos, "Not": operator.not_, "Invert": operator.invert,
}
COMPARE = {
    "Eq": operator.eq, "NotEq": operator.ne, "Lt": operator.lt, "LtE": operator.le,
    "Gt": operator.gt, "GtE": operator.ge, "Is": operator.is_, "IsNot": operator.is_not,
}
CONSUMERS = frozenset(
    "sum min max any all list tuple set frozenset dict sorted join fsum prod array asarray".split()
)


@dataclass(frozen=True, slots=True)
class End:
    """How a block of statements ends: ``code`` tells (an atom), ``may`` lists what it can be."""

    code: Atom = Const(NORMAL)
    value: Atom = UNDEF
    may: frozenset[int] = frozenset({NORMAL})


def parse(node: Any, file: str, lines: Mapping[int, str]) -> Function:
    """Lower ``node`` (a gast FunctionDef or Lambda with file positions) to a Function.

    ``lines`` maps line numbers of ``file`` to their text. Forms outside the language become
    ``Unsupported`` statements.
    """
    return _FunctionParser(node, file, lines, None).function()


class _FunctionParser:
    def __init__(
        self, node: Any, file: str, lines: Mapping[int, str], parent: _FunctionParser | None
    ) -> None:
        self.node = node
        self.file = file
        self.lines = lines
        self.parent = parent
        self.locals = assigned_names(node)
        self.env: dict[str, Atom] = {}
        self.statements: list[Statement] = []
        self.unsure: set[Atom] = {UNDEF}
        self.checked: frozenset[Atom] = frozenset()
        self.captures: dict[str, Var] = {}
        self.itself: Var | None = None
        self.origin = self.locate(node)

    # -- functions -----------------------------------------------------------------------------

    def function(self) -> Function:
        node = self.node
        name = getattr(node, "name", "lambda_")
        params = self.parameters(node.args)
        if isinstance(node, gast.Lambda):
            value = self.expression(node.body)
            doc = ""
        else:
            doc = gast.get_docstring(node) or ""
            if isinstance(node, gast.AsyncFunctionDef):
                self.reject(node, rejected.STATEMENTS["AsyncFunctionDef"])
            end = self.sequence(node.body, tail=False)
            value = self.returned(end)
        diverges = not isinstance(node, gast.Lambda) and end.may == {RAISES}
        body = Block(tuple(self.statements), (value,), diverges)
        return Function(
            name, params, body, self.locate(node), tuple(self.captures.values()), self.itself, doc,
            self.annotations(node),
        )

    def returned(self, end: End) -> Atom:
        if NORMAL not in end.may:
            return end.value
        if end.value is UNDEF:
            return NONE
        fell = self.let(Call(Const(operator.eq), (end.code, Const(NORMAL))), "fell_through")
        result = Var("value", True)
        self.statements.append(
            If(fell, Block((), (NONE,)), Block((), (end.value,)), (result,), self.origin)
        )
        return result

    def parameters(self, args: Any) -> tuple[Param, ...]:
        positional = [*args.posonlyargs, *args.args]
        first_default = len(positional) - len(args.defaults)
        params = []
        for index, name in enumerate(positional):
            kind = 0 if index < len(args.posonlyargs) else 1
            params.append(self.parameter(name, kind, index >= first_default))
        if args.vararg is not None:
            params.append(self.parameter(args.vararg, 2, False))
        for name, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            params.append(self.parameter(name, 3, default is not None))
        if args.kwarg is not None:
            params.append(self.parameter(args.kwarg, 4, False))
        return tuple(params)

    def parameter(self, name: Any, kind: int, has_default: bool) -> Param:
        var = Var(name.id)
        self.env[name.id] = var
        return Param(var, kind, has_default)

    @staticmethod
    def annotations(node: Any) -> dict[str, str]:
        args = node.args
        names = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        return {
            name.id: gast.unparse(name.annotation).strip()
            for name in names if name.annotation is not None
        }

    def nested(self, node: Any, name: str | None) -> Atom:
        """Lower a nested function and return the closure made of it."""
        child = _FunctionParser(node, self.file, self.lines, self)
        function = child.function()
        captures = []
        for captured in child.captures:
            if captured in assigned_after(self.node, node):
                self.reject(node, rejected.REBOUND_CAPTURE, name=captured)
            captures.append(self.load(captured))
        defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
        return self.let(
            Closure(function, tuple(captures), tuple(map(self.expression, defaults))),
            name or "function",
        )

    # -- plumbing ------------------------------------------------------------------------------

    def locate(self, node: Any) -> Origin:
        line = getattr(node, "lineno", None)
        if line is None:
            return self.origin
        text = self.lines.get(line, "")
        end = node.end_col_offset if node.end_lineno == line else len(text)
        return Origin(self.file, line, node.col_offset, text, width=max(1, end - node.col_offset))

    def let(self, rhs: Rhs, name: str, temporary: bool = True) -> Var:
        var = Var(name, temporary)
        self.statements.append(Let(var, rhs, self.origin))
        return var

    def reject(self, node: Any, why: rejected.Rejection, **names: str) -> Atom:
        finding = self.locate(node).finding(
            why.problem.format(**names), why.hint.format(**names), why.anchor
        )
        self.statements.append(Unsupported(finding))
        return UNDEF

    def load(self, name: str) -> Atom:
        if name in self.locals:
            atom = self.env.get(name, UNDEF)
            if self.is_unsure(atom):
                self.statements.append(
                    Do(Call(Const(check_bound), (atom, Const(name))), self.origin)
                )
                self.checked |= {atom}
            return atom
        if name in self.captures:
            return self.captures[name]
        if self.parent is not None:
            if name == getattr(self.node, "name", None) and name in self.parent.locals:
                self.itself = self.itself or Var(name)
                return self.itself
            if self.parent.binds(name):
                return self.captures.setdefault(name, Var(name))
        return self.let(Free(name), name)

    def is_unsure(self, atom: Atom) -> bool:
        """Say whether a variable may have no value yet, as far as has been checked."""
        return atom in self.unsure and atom not in self.checked

    def binds(self, name: str) -> bool:
        """Say whether this function or one around it has ``name`` as a local variable."""
        return name in self.locals or (self.parent is not None and self.parent.binds(name))

    def bind(self, name: str, value: Atom) -> Atom:
        """Assign ``value`` to the local ``name``; a temporary just made takes over the name."""
        if isinstance(value, Var) and value.temporary and self.statements:
            named = Var(name)
            renamed = _rename_target(self.statements[-1], value, named)
            if renamed is not self.statements[-1]:
                self.statements[-1] = renamed
                value = named
        self.env[name] = value
        return value

    def region(self, lower: Callable[[], Any]) -> tuple[tuple[Statement, ...], dict[str, Atom], Any]:
        """Lower into a block of its own: return its statements, variables, and what was lowered."""
        statements, env, origin = self.statements, self.env, self.origin
        checked = self.checked
        self.statements, self.env = [], dict(env)
        try:
            result = lower()
            return tuple(self.statements), self.env, result
        finally:
            self.statements, self.env, self.origin = statements, env, origin
            self.checked = checked

    # -- sequences and branches ----------------------------------------------------------------

    def sequence(self, steps: Sequence[Any], tail: bool) -> End:
        """Lower ``steps`` in order; ``tail`` says that the end of a loop's body follows."""
        for position, step in enumerate(steps):
            rest = steps[position + 1 :]
            self.origin = self.locate(step)
            match step:
                case gast.Return():
                    value = NONE if step.value is None else self.expression(step.value)
                    return End(Const(RETURNS), value, frozenset({RETURNS}))
                case gast.Break():
                    return End(Const(BREAKS), UNDEF, frozenset({BREAKS}))
                case gast.Continue():
                    code = NORMAL if tail and not rest else CONTINUES
                    return End(Const(code), UNDEF, frozenset({code}))
                case gast.Raise():
                    exception = self.optional(step.exc)
                    cause = self.optional(step.cause)
                    self.statements.append(Raise(exception, cause, self.origin))
                    return End(Const(RAISES), UNDEF, frozenset({RAISES}))
                case gast.If() if leaves(step):
                    condition = self.expression(step.test)
                    return self.branch(condition, step.body, step.orelse, rest, tail)
                case gast.For() | gast.While():
                    end = self.loop(step)
                    if end.may != {NORMAL}:
                        return self.guarded(end, rest, tail)
                case _:
                    self.statement(step)
        return End()

    def branch(
        self, condition: Atom, then: Sequence[Any], orelse: Sequence[Any],
        rest: Sequence[Any], tail: bool,
    ) -> End:
        """Lower a branch that may leave the block, and what follows it."""
        then_falls, else_falls = can_fall_through(then), can_fall_through(orelse)
        if then_falls and else_falls and rest:
            end = self.arms(
                condition, lambda: self.sequence(then, False), lambda: self.sequence(orelse, False)
            )
            return self.guarded(end, rest, tail)
        after_then = [*then, *rest] if then_falls else then
        after_else = [*orelse, *rest] if else_falls else orelse
        return self.arms(
            condition,
            lambda: self.sequence(after_then, tail), lambda: self.sequence(after_else, tail),
        )

    def guarded(self, end: End, rest: Sequence[Any], tail: bool) -> End:
        """Lower ``rest`` to run only if what ended in ``end`` fell through."""
        if NORMAL not in end.may or not rest:
            return end
        if end.may <= {NORMAL, RAISES}:
            return self.sequence(rest, tail)
        fell = self.let(Call(Const(operator.eq), (end.code, Const(NORMAL))), "goes_on")
        left = End(end.code, end.value, end.may - {NORMAL})
        return self.arms(fell, lambda: self.sequence(rest, tail), lambda: left)

    def arms(
        self, condition: Atom, then: Callable[[], End], orelse: Callable[[], End]
    ) -> End:
        """Lower both arms of a branch and merge their variables, codes and values."""
        origin = self.origin
        then_statements, then_env, then_end = self.region(then)
        else_statements, else_env, else_end = self.region(orelse)
        live_then = not then_end.may <= {RETURNS, RAISES}
        live_else = not else_end.may <= {RETURNS, RAISES}
        names: list[str] = []
        pairs: list[tuple[Atom, Atom]] = []
        results: list[Var] = []
        for name in dict.fromkeys((*then_env, *else_env)):
            a, b = then_env.get(name, UNDEF), else_env.get(name, UNDEF)
            before = self.env.get(name, UNDEF)
            changed = (live_then and a is not before) or (live_else and b is not before)
            if changed:
                names.append(name)
                pairs.append((a if live_then else UNDEF, b if live_else else UNDEF))
                results.append(Var(name))
                if (live_then and self.is_unsure(a)) or (live_else and self.is_unsure(b)):
                    self.unsure.add(results[-1])
        may = (then_end.may | else_end.may) - {RAISES} or frozenset({RAISES})
        value: Atom = UNDEF
        if then_end.value is not UNDEF or else_end.value is not UNDEF:
            pairs.append((then_end.value, else_end.value))
            value = Var("value", True)
            results.append(value)
        code: Atom = Const(next(iter(may)))
        if len(may) > 1:
            pairs.append((then_end.code, else_end.code))
            code = Var("exit", True)
            results.append(code)
        self.statements.append(If(
            condition,
            Block(then_statements, tuple(a for a, _ in pairs), then_end.may == {RAISES}),
            Block(else_statements, tuple(b for _, b in pairs), else_end.may == {RAISES}),
            tuple(results), origin,
        ))
        self.env.update(zip(names, results, strict=False))
        return End(code, value, may)

    # -- loops ---------------------------------------------------------------------------------

    def loop(self, node: Any) -> End:
        """Lower a loop and its ``else``; the end tells whether it returned."""
        if isinstance(node, gast.While) and any(
            isinstance(n, gast.NamedExpr) for n in gast.walk(node.test)
        ):
            if any(isinstance(n, (gast.Break, gast.Continue)) for e in node.orelse
                   for n in gast.walk(e)):
                self.reject(node, rejected.LEAVING_ELSE)
                return End()
            return self.loop(_with_test_inside(node))
        names = [n for n in assigned_names(node) if n in self.locals]
        iterable = self.expression(node.iter) if isinstance(node, gast.For) else None
        origin = self.origin
        inits = tuple(self.env.get(name, UNDEF) for name in names)
        params = tuple(Var(name) for name in names)
        self_env = self.env
        self.unsure.update(p for p, i in zip(params, inits, strict=True) if self.is_unsure(i))
        self.env = {**self.env, **dict(zip(names, params, strict=True))}
        item = Var(_target_name(node), True) if iterable is not None else None
        condition = None
        if iterable is None:
            statements, _, test = self.region(lambda: self.expression(node.test))
            condition = Block(statements, (test,))

        def body() -> End:
            if item is not None:
                self.assign(node.target, item)
            return self.sequence(node.body, True)

        statements, env, end = self.region(body)
        self.env = self_env
        results = tuple(Var(name) for name in names)
        yields = tuple(env.get(name, UNDEF) for name in names)
        sure_to_run = runs(node)
        for result, init, following in zip(results, inits, yields, strict=True):
            if self.is_unsure(following) or (self.is_unsure(init) and not sure_to_run):
                self.unsure.add(result)
        stops = bool(end.may & {BREAKS, RETURNS})
        returns = RETURNS in end.may
        exit_needed = returns or (BREAKS in end.may and bool(node.orelse))
        exit_code: Atom = Const(NORMAL)
        value: Atom = UNDEF
        if exit_needed:
            exit_code = Var("exit", True)
            params += (Var("exit", True),)
            inits += (Const(NORMAL),)
            yields += (end.code,)
            results += (exit_code,)
        if returns:
            value = Var("value", True)
            params += (Var("value", True),)
            inits += (UNDEF,)
            yields += (end.value,)
            results += (value,)
        if stops:
            stop, more = self.stop_test(end)
            statements += more
            yields += (stop,)
        self.statements.append(Loop(
            (item,) if item is not None else (), (iterable,) if iterable is not None else (),
            condition, params, inits, Block(statements, yields, end.may == {RAISES}), results,
            origin, stops=stops,
        ))
        self.env.update(zip(names, results, strict=False))
        endless = condition is not None and _is_true(condition.yields[0])
        return self.after_loop(node, end, exit_code, value, endless)

    def after_loop(self, node: Any, end: End, code: Atom, value: Atom, endless: bool) -> End:
        if endless and not end.may & {BREAKS, RETURNS}:
            return End(Const(RAISES), UNDEF, frozenset({RAISES}))
        may = frozenset({NORMAL} | (end.may & {RETURNS}))
        if node.orelse and not endless:
            if BREAKS in end.may or RETURNS in end.may:
                left = End(code, value, end.may & {BREAKS, RETURNS})
                done = self.let(Call(Const(operator.eq), (code, Const(NORMAL))), "finished")
                end = self.arms(done, lambda: self.sequence(node.orelse, False), lambda: left)
                return self.broken_is_normal(end)
            return self.sequence(node.orelse, False)
        if RETURNS not in may:
            return End()
        if BREAKS not in end.may and endless:
            return End(Const(RETURNS), value, frozenset({RETURNS}))
        return self.broken_is_normal(End(code, value, end.may - {CONTINUES} | {NORMAL}))

    def broken_is_normal(self, end: End) -> End:
        """Return ``end`` as seen after the loop: having left it by ``break`` is to go on."""
        if BREAKS not in end.may:
            return end
        may = end.may - {BREAKS} | {NORMAL}
        if may == {NORMAL}:
            return End(Const(NORMAL), UNDEF, may)
        broke = self.let(Call(Const(operator.eq), (end.code, Const(BREAKS))), "broke")
        code = Var("exit", True)
        self.statements.append(If(
            broke, Block((), (Const(NORMAL),)), Block((), (end.code,)), (code,), self.origin
        ))
        return End(code, end.value, may)

    def stop_test(self, end: End) -> tuple[Atom, tuple[Statement, ...]]:
        if not isinstance(end.code, Var):
            return Const(True), ()
        if CONTINUES not in end.may:
            return end.code, ()
        stop = Var("stop", True)
        test = Call(Const(operator.gt), (end.code, Const(NORMAL)))
        return stop, (Let(stop, test, self.origin),)

    # -- simple statements ---------------------------------------------------------------------

    def statement(self, node: Any) -> None:
        kind = type(node).__name__
        method = getattr(self, f"parse_{kind}", None)
        if method is not None:
            method(node)
        elif kind in rejected.STATEMENTS:
            self.reject(node, rejected.STATEMENTS[kind])
            for name in assigned_names(node):
                self.env[name] = UNDEF
        else:
            self.reject(node, rejected.OTHER_SYNTAX, name=kind)

    def parse_Pass(self, node: Any) -> None:
        """``pass`` does nothing."""

    def parse_Expr(self, node: Any) -> None:
        if isinstance(node.value, gast.Constant):
            return
        value = self.expression(node.value)
        last = self.statements[-1] if self.statements else None
        if isinstance(last, Let) and last.target is value:
            self.statements[-1] = Do(last.rhs, last.origin)

    def parse_Assign(self, node: Any) -> None:
        value = self.expression(node.value)
        for target in node.targets:
            value = self.assign(target, value)

    def parse_AnnAssign(self, node: Any) -> None:
        if node.value is not None:
            self.assign(node.target, self.expression(node.value))

    def parse_AugAssign(self, node: Any) -> None:
        if not isinstance(node.target, gast.Name):
            self.expression(node.value)
            self.assign(node.target, UNDEF)
            return
        old = self.load(node.target.id)
        value = self.expression(node.value)
        function = IN_PLACE[type(node.op).__name__]
        self.bind(node.target.id, self.let(Call(Const(function), (old, value)), node.target.id))

    def parse_If(self, node: Any) -> None:
        condition = self.expression(node.test)
        self.arms(
            condition,
            lambda: self.sequence(node.body, False), lambda: self.sequence(node.orelse, False),
        )

    def parse_Assert(self, node: Any) -> None:
        condition = self.expression(node.test)

        def fail() -> End:
            args = () if node.msg is None else (self.expression(node.msg),)
            error = self.let(Call(Const(AssertionError), args), "error")
            self.statements.append(Raise(error, NONE, self.origin))
            return End(Const(RAISES), UNDEF, frozenset({RAISES}))

        self.arms(condition, End, fail)

    def parse_FunctionDef(self, node: Any) -> None:
        value = self.nested(node, node.name)
        for decorator in reversed(node.decorator_list):
            value = self.let(Call(self.expression(decorator), (value,)), node.name)
        self.bind(node.name, value)

    def parse_Import(self, node: Any) -> None:
        for name in node.names:
            top = name.name if name.asname else name.name.partition(".")[0]
            module = self.let(Call(Const(_import_module), (Const(name.name), Const(top))), top)
            self.bind(name.asname or top, module)

    def parse_ImportFrom(self, node: Any) -> None:
        if node.level:
            self.reject(node, rejected.RELATIVE_IMPORT)
            return
        for name in node.names:
            module = self.let(
                Call(Const(_import_module), (Const(node.module), Const(node.module))), "module"
            )
            found = self.let(Attribute(module, name.name), name.name)
            self.bind(name.asname or name.name, found)

    # -- targets -------------------------------------------------------------------------------

    def assign(self, target: Any, value: Atom) -> Atom:
        """Assign ``value`` to a target; return the atom that now holds it."""
        match target:
            case gast.Name():
                return self.bind(target.id, value)
            case gast.Tuple() | gast.List():
                self.unpack(target.elts, value)
            case gast.Attribute():
                self.expression(target.value)
                self.reject(target, rejected.ATTRIBUTE_WRITE)
            case _:
                self.reject(target, rejected.ITEM_WRITE)
        return value

    def unpack(self, targets: Sequence[Any], value: Atom) -> None:
        starred = [i for i, t in enumerate(targets) if isinstance(t, gast.Starred)]
        star = starred[0] if starred else -1
        parts = self.let(
            Call(Const(unpack), (value, Const(len(targets)), Const(star))), "parts"
        )
        for position, target in enumerate(targets):
            inner = target.value if isinstance(target, gast.Starred) else target
            part = self.let(Item(parts, Const(position)), _target_name(inner, "part"))
            self.assign(inner, part)

    # -- expressions ---------------------------------------------------------------------------

    def expression(self, node: Any) -> Atom:
        outer, self.origin = self.origin, self.locate(node)
        try:
            kind = type(node).__name__
            method = getattr(self, f"parse_{kind}", None)
            if method is not None:
                result: Atom = method(node)
                return result
            why = rejected.EXPRESSIONS.get(kind, rejected.OTHER_SYNTAX)
            return self.reject(node, why, name=kind)
        finally:
            self.origin = outer

    def optional(self, node: Any) -> Atom:
        return NONE if node is None else self.expression(node)

    def parse_Constant(self, node: Any) -> Atom:
        return Const(node.value)

    def parse_Name(self, node: Any) -> Atom:
        return self.load(node.id)

    def parse_NamedExpr(self, node: Any) -> Atom:
        self.assign(node.target, self.expression(node.value))
        return self.load(node.target.id)

    def parse_BinOp(self, node: Any) -> Atom:
        left, right = self.expression(node.left), self.expression(node.right)
        function = BINARY[type(node.op).__name__]
        return self.let(Call(Const(function), (left, right)), OPERATOR_NAMES[function])

    def parse_UnaryOp(self, node: Any) -> Atom:
        operand = self.expression(node.operand)
        function = UNARY[type(node.op).__name__]
        if isinstance(operand, Const) and isinstance(operand.value, (int, float, complex)):
            return Const(function(operand.value))
        return self.let(Call(Const(function), (operand,)), OPERATOR_NAMES[function])

    def parse_BoolOp(self, node: Any) -> Atom:
        is_and = isinstance(node.op, gast.And)

        def chain(nodes: Sequence[Any]) -> Atom:
            first = self.expression(nodes[0])
            if len(nodes) == 1:
                return first
            more = lambda: chain(nodes[1:])  # noqa: E731
            keep = lambda: first  # noqa: E731
            return self.choose(first, more if is_and else keep, keep if is_and else more)

        return chain(node.values)

    def parse_Compare(self, node: Any) -> Atom:
        def chain(left: Atom, index: int) -> Atom:
            right = self.expression(node.comparators[index])
            result = self.compare(type(node.ops[index]).__name__, left, right)
            if index + 1 == len(node.ops):
                return result
            return self.choose(result, lambda: chain(right, index + 1), lambda: result)

        return chain(self.expression(node.left), 0)

    def compare(self, kind: str, left: Atom, right: Atom) -> Atom:
        if kind in COMPARE:
            return self.let(Call(Const(COMPARE[kind]), (left, right)), "test")
        contained = self.let(Call(Const(operator.contains), (right, left)), "test")
        if kind == "In":
            return contained
        return self.let(Call(Const(operator.not_), (contained,)), "test")

    def parse_IfExp(self, node: Any) -> Atom:
        condition = self.expression(node.test)
        return self.choose(
            condition, lambda: self.expression(node.body), lambda: self.expression(node.orelse)
        )

    def choose(
        self, condition: Atom, then: Callable[[], Atom], orelse: Callable[[], Atom]
    ) -> Atom:
        """Lower a conditional expression: only the arm that is chosen is evaluated."""

        def arm(lower: Callable[[], Atom]) -> Callable[[], End]:
            def run() -> End:
                return End(value=lower())
            return run

        return self.arms(condition, arm(then), arm(orelse)).value

    def parse_Call(self, node: Any) -> Atom:
        function = self.expression(node.func)
        name = getattr(node.func, "attr", getattr(node.func, "id", "value"))
        args: list[Atom | Star] = []
        for arg in node.args:
            if isinstance(arg, gast.GeneratorExp) and name in CONSUMERS:
                args.append(self.comprehension(arg.generators, [arg.elt])[0])
            else:
                args.append(self.element(arg))
        kwargs = tuple((k.arg, self.expression(k.value)) for k in node.keywords)
        return self.let(Call(function, tuple(args), kwargs), name)

    def element(self, node: Any) -> Atom | Star:
        if isinstance(node, gast.Starred):
            return Star(self.expression(node.value))
        return self.expression(node)

    def parse_Attribute(self, node: Any) -> Atom:
        return self.let(Attribute(self.expression(node.value), node.attr), node.attr)

    def parse_Subscript(self, node: Any) -> Atom:
        obj = self.expression(node.value)
        return self.let(Item(obj, self.expression(node.slice)), "item")

    def parse_Slice(self, node: Any) -> Atom:
        parts = (self.optional(node.lower), self.optional(node.upper), self.optional(node.step))
        return self.let(Slice(*parts), "slice_")

    def parse_Tuple(self, node: Any) -> Atom:
        return self.let(Pack("tuple", tuple(map(self.element, node.elts))), "pair")

    def parse_List(self, node: Any) -> Atom:
        return self.let(Pack("list", tuple(map(self.element, node.elts))), "items")

    def parse_Set(self, node: Any) -> Atom:
        return self.let(Pack("set", tuple(map(self.element, node.elts))), "items")

    def parse_Dict(self, node: Any) -> Atom:
        keys, items = [], []
        for key, value in zip(node.keys, node.values, strict=True):
            keys.append(None if key is None else self.expression(key))
            items.append(self.expression(value))
        return self.let(Pack("dict", tuple(items), tuple(keys)), "table")

    def parse_Lambda(self, node: Any) -> Atom:
        return self.nested(node, None)

    def parse_JoinedStr(self, node: Any) -> Atom:
        parts: list[str | tuple[Atom, int, Atom]] = []
        for value in node.values:
            if isinstance(value, gast.Constant):
                parts.append(value.value)
            else:
                spec = self.optional(value.format_spec)
                parts.append((self.expression(value.value), value.conversion, spec))
        return self.let(Format(tuple(parts)), "text")

    # -- comprehensions ------------------------------------------------------------------------

    def parse_ListComp(self, node: Any) -> Atom:
        return self.comprehension(node.generators, [node.elt])[0]

    def parse_SetComp(self, node: Any) -> Atom:
        items = self.comprehension(node.generators, [node.elt])[0]
        return self.let(Call(Const(set), (items,)), "items")

    def parse_DictComp(self, node: Any) -> Atom:
        keys, values = self.comprehension(node.generators, [node.key, node.value])
        return self.let(Call(Const(dict_of), (keys, values)), "table")

    def comprehension(self, generators: Sequence[Any], elements: Sequence[Any]) -> list[Atom]:
        """Lower a comprehension to loops; return one list for each of ``elements``."""
        env = dict(self.env)
        added = {n for g in generators for n in assigned_names(g.target)} - set(self.locals)
        kept = walrus_names([*generators, *elements])
        self.locals = {**self.locals, **dict.fromkeys(added)}
        try:
            if len(generators) == 1 and not generators[0].ifs and not kept:
                return self.collected(generators[0], elements)
            outs: list[Atom] = [self.let(Pack("list", ()), "items") for _ in elements]
            grown = self.appended(list(generators), elements, outs, kept)
            env.update((name, self.env[name]) for name in kept)
            return grown
        finally:
            self.locals = {n: None for n in self.locals if n not in added}
            self.env = env

    def collected(self, generator: Any, elements: Sequence[Any]) -> list[Atom]:
        iterable = self.expression(generator.iter)
        item = Var(_target_name(generator), True)

        def body() -> tuple[Atom, ...]:
            self.assign(generator.target, item)
            return tuple(self.expression(element) for element in elements)

        statements, _, yields = self.region(body)
        collects = tuple(Var("items", True) for _ in elements)
        self.statements.append(Loop(
            (item,), (iterable,), None, (), (), Block(statements, yields), (), self.origin, collects
        ))
        return list(collects)

    def appended(
        self, generators: list[Any], elements: Sequence[Any], outs: list[Atom], kept: list[str]
    ) -> list[Atom]:
        """Lower nested or filtered generators: lists that grow are carried through the loops.

        ``kept`` names the variables that ``:=`` binds inside; they are carried too.
        """
        if not generators:
            return [
                self.let(Call(Const(append), (out, self.expression(element))), "items")
                for out, element in zip(outs, elements, strict=True)
            ]
        generator = generators[0]
        iterable = self.expression(generator.iter)
        item = Var(_target_name(generator), True)
        params = tuple(Var("items", True) for _ in outs)
        bound = tuple(Var(name) for name in kept)
        inits = (*outs, *(self.env.get(name, UNDEF) for name in kept))
        self.unsure.update(
            v for v, init in zip(bound, inits[len(outs) :], strict=True) if self.is_unsure(init)
        )

        def current(lists: Sequence[Atom]) -> tuple[Atom, ...]:
            return (*lists, *(self.env.get(name, UNDEF) for name in kept))

        def filtered(tests: list[Any]) -> list[Atom]:
            if not tests:
                return self.appended(generators[1:], elements, list(params), kept)
            condition = self.expression(tests[0])
            otherwise = current(params)
            statements, _, grown = self.region(lambda: current(filtered(tests[1:])))
            return self.carried(kept, lambda results: If(
                condition, Block(statements, grown), Block((), otherwise), results, self.origin
            ), [(a, b) for a, b in zip(grown, otherwise, strict=True)])

        def body() -> tuple[Atom, ...]:
            self.env.update(zip(kept, bound, strict=True))
            self.assign(generator.target, item)
            return current(filtered(list(generator.ifs)))

        statements, _, grown = self.region(body)
        return self.carried(kept, lambda results: Loop(
            (item,), (iterable,), None, (*params, *bound), inits, Block(statements, grown),
            results, self.origin,
        ), [(a, b) for a, b in zip(grown, inits, strict=True)])

    def carried(
        self, kept: list[str], make: Callable[[tuple[Var, ...]], Statement],
        sources: list[tuple[Atom, Atom]],
    ) -> list[Atom]:
        """Write the statement that carries lists and ``kept`` variables; return the lists."""
        count = len(sources) - len(kept)
        lists = [Var("items", True) for _ in range(count)]
        bound = [Var(name) for name in kept]
        for var, pair in zip(bound, sources[count:], strict=True):
            if any(map(self.is_unsure, pair)):
                self.unsure.add(var)
        self.statements.append(make((*lists, *bound)))
        self.env.update(zip(kept, bound, strict=True))
        return list(lists)


def walrus_names(nodes: Sequence[Any]) -> list[str]:
    """Return the names that ``:=`` binds in expressions."""
    return list(dict.fromkeys(
        child.target.id for node in nodes for child in gast.walk(node)
        if isinstance(child, gast.NamedExpr)
    ))


OPERATOR_NAMES: dict[Any, str] = {
    operator.add: "total", operator.sub: "difference", operator.mul: "product",
    operator.truediv: "quotient", operator.floordiv: "quotient", operator.mod: "remainder",
    operator.pow: "power", operator.matmul: "product", operator.and_: "bits",
    operator.or_: "bits", operator.xor: "bits", operator.lshift: "bits", operator.rshift: "bits",
    operator.neg: "negative", operator.pos: "positive", operator.not_: "negation",
    operator.invert: "bits",
}


def _import_module(name: str, top: str) -> Any:
    """Return the module that ``import name`` binds (``top``: the dotted name it is bound to)."""
    import importlib

    importlib.import_module(name)
    return importlib.import_module(top)


def runs(loop: Any) -> bool:
    """Say whether the text of a loop shows that its body runs at least once."""
    if isinstance(loop, gast.While):
        return isinstance(loop.test, gast.Constant) and bool(loop.test.value)
    match loop.iter:
        case gast.Tuple(elts=elts) | gast.List(elts=elts):
            return any(not isinstance(e, gast.Starred) for e in elts)
        case gast.Call(func=gast.Name(id="range"), args=[gast.Constant(value=int(count))]):
            return bool(count > 0)
    return False


def _is_true(atom: Atom) -> bool:
    return isinstance(atom, Const) and bool(atom.value)


def _target_name(node: Any, default: str = "item") -> str:
    target = getattr(node, "target", node)
    return target.id if isinstance(target, gast.Name) else default


def _with_test_inside(node: Any) -> Any:
    """Return ``while test: body`` as ``while True: if not test: break; body``."""
    stop = gast.copy_location(gast.Break(), node)
    leave = gast.If(gast.UnaryOp(gast.Not(), node.test), [*node.orelse, stop], [])
    leave = gast.fix_missing_locations(gast.copy_location(leave, node))
    true = gast.copy_location(gast.Constant(True, None), node)
    return gast.copy_location(gast.While(true, [leave, *node.body], []), node)


def _rename_target(statement: Statement, old: Var, new: Var) -> Statement:
    """Return ``statement`` defining ``new`` where it defined ``old``; itself if it does not."""

    def renamed(targets: tuple[Var, ...]) -> tuple[Var, ...]:
        return tuple(new if target is old else target for target in targets)

    match statement:
        case Let(target, rhs, origin) if target is old:
            return Let(new, rhs, origin)
        case If(results=results) if old in results:
            return replace(statement, results=renamed(results))
        case Loop(collects=collects) if old in collects:
            return replace(statement, collects=renamed(collects))
    return statement
