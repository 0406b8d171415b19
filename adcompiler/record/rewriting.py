"""Rewrites the text of a function so that each operation is a call of a hook.

Control flow stays Python's: loops, ``try``, generators, classes and comprehensions stand as they
are. ``a + b`` becomes ``add(a, b)``, ``f(x)`` becomes ``call(f, x)``, and so on. A hook is written
as a constant text, ``"\\0adc:add"``, which is replaced by the function where the code is loaded, so
that no module is changed and the code can be kept on disk.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from typing import Any

import gast

from adcompiler.errors import Finding, UnsupportedError
from adcompiler.frontend.same_code import class_around, scope_of

MARK = "\0adc:"
"""Starts the constants that stand for hooks."""
BINARY = {
    gast.Add: "add", gast.Sub: "sub", gast.Mult: "mul", gast.Div: "truediv",
    gast.FloorDiv: "floordiv", gast.Mod: "mod", gast.Pow: "pow", gast.MatMult: "matmul",
    gast.BitAnd: "and_", gast.BitOr: "or_", gast.BitXor: "xor", gast.LShift: "lshift",
    gast.RShift: "rshift",
}
UNARY = {gast.USub: "neg", gast.UAdd: "pos", gast.Invert: "invert"}
COMPARED = {
    gast.Eq: "eq", gast.NotEq: "ne", gast.Lt: "lt", gast.LtE: "le", gast.Gt: "gt", gast.GtE: "ge",
    gast.In: "contains", gast.NotIn: "lacks",
}
BARE = frozenset({"super", "locals", "globals", "vars", "dir", "__import__"})
"""Functions that look at the frame of their caller: calls by these names stay as they are."""


def rewritten_code(node: Any, live: Any) -> Any:
    """Return the code of a function's tree, rewritten, in a scope like that of the ``live`` code.

    Raises UnsupportedError for forms that are not followed.
    """
    rewriter = Rewriter(live.co_filename, class_around(live))
    made = rewriter.function(node)
    tree = gast.gast_to_ast(made)
    wrapper, place, depth = scope_of(live)
    ast.fix_missing_locations(wrapper)
    if isinstance(tree, ast.Lambda):
        tree = ast.copy_location(ast.Expr(tree), tree)
    place.append(tree)
    ast.fix_missing_locations(wrapper)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a text is called, and what the file itself warns of
        code = compile(wrapper, live.co_filename, "exec", live.co_flags & FUTURE, dont_inherit=True)
    for _ in range(depth + 1):
        code = next(const for const in code.co_consts if hasattr(const, "co_code"))
    return code


FUTURE = 0x1000000 | 0x800000  # annotations, generator_stop


def hook(name: str) -> Any:
    """Return the constant that stands for a hook."""
    return gast.Constant(MARK + name, None)


def call(name: str, *args: Any) -> Any:
    """Return a call of a hook."""
    return gast.Call(hook(name), list(args), [])


def constant(value: Any) -> Any:
    """Return a constant."""
    return gast.Constant(value, None)


def load(name: str) -> Any:
    """Return a variable that is read."""
    return gast.Name(name, gast.Load(), None, None)


def store(name: str) -> Any:
    """Return a variable that is assigned."""
    return gast.Name(name, gast.Store(), None, None)


class Rewriter(gast.NodeTransformer):  # type: ignore[misc]
    """Rewrites one function; ``cls`` is the class whose private names it spells."""

    def __init__(self, file: str, cls: str) -> None:
        self.file, self.cls = file, cls
        self.count = 0

    def function(self, node: Any) -> Any:
        """Return the function itself, without what runs outside of it."""
        empty = gast.arguments(
            args=[self.bare(a) for a in node.args.args],
            posonlyargs=[self.bare(a) for a in node.args.posonlyargs],
            vararg=self.bare(node.args.vararg),
            kwonlyargs=[self.bare(a) for a in node.args.kwonlyargs],
            kw_defaults=[None for _ in node.args.kwonlyargs], kwarg=self.bare(node.args.kwarg),
            defaults=[],
        )
        if isinstance(node, gast.Lambda):
            return at(gast.Lambda(empty, self.visit(node.body)), node)
        if isinstance(node, gast.AsyncFunctionDef):
            self.refuse(node, "a coroutine")
        made = gast.FunctionDef(node.name, empty, self.body(node.body), [], None, None, [])
        return at(made, node)

    def bare(self, arg: Any) -> Any:
        """Return a parameter without its annotation."""
        return None if arg is None else gast.Name(arg.id, gast.Param(), None, None)

    def body(self, statements: Sequence[Any]) -> list[Any]:
        """Return statements rewritten."""
        out: list[Any] = []
        for statement in statements:
            made = self.visit(statement)
            rows = made if isinstance(made, list) else [made]
            out += [at(row, statement) for row in rows]
        return out

    def refuse(self, node: Any, what: str) -> None:
        """Raise UnsupportedError for a form."""
        raise UnsupportedError([Finding(
            self.file, node.lineno, node.col_offset, "", f"{what} is not recorded",
            "write it without", "recording")])

    def temporary(self) -> str:
        """Return the name of a new variable."""
        self.count += 1
        return f"__adc_{self.count}__"

    def mangled(self, name: str) -> str:
        """Return how a class spells a private name."""
        if name.startswith("__") and not name.endswith("__") and self.cls:
            own = self.cls.lstrip("_")
            return f"_{own}{name}" if own else name
        return name

    # -- expressions ---------------------------------------------------------------------------

    def visit_BinOp(self, node: Any) -> Any:
        return at(call(BINARY[type(node.op)], self.visit(node.left), self.visit(node.right)), node)

    def visit_UnaryOp(self, node: Any) -> Any:
        operand = node.operand
        if isinstance(node.op, gast.Not):
            return at(gast.UnaryOp(node.op, self.truth(operand)), node)
        if isinstance(operand, gast.Constant):
            return node
        return at(call(UNARY[type(node.op)], self.visit(operand)), node)

    def truth(self, node: Any) -> Any:
        """Return what is tested, by a hook where that may run code of a class."""
        made = self.visit(node)
        if isinstance(node, (gast.Compare, gast.Constant)) or (
            isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not)
        ):
            return made
        return at(call("truth", made), node)

    def visit_BoolOp(self, node: Any) -> Any:
        made = self.visit(node.values[-1])
        for value in reversed(node.values[:-1]):
            if isinstance(value, gast.Name):
                tested, again = self.truth(value), load(value.id)
            else:
                name = self.temporary()
                tested = call("truth", gast.NamedExpr(store(name), self.visit(value)))
                again = load(name)
            arms = (made, again) if isinstance(node.op, gast.And) else (again, made)
            made = gast.IfExp(tested, *arms)
        return at(made, node)

    def visit_Compare(self, node: Any) -> Any:
        left, tests = self.visit(node.left), []
        for i, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            made = again = self.visit(right)
            if i + 1 < len(node.ops) and not isinstance(right, gast.Constant):
                name = self.temporary()
                made, again = gast.NamedExpr(store(name), made), load(name)
            if isinstance(op, (gast.Is, gast.IsNot)):
                tests.append(gast.Compare(left, [op], [made]))
            else:
                tests.append(call(COMPARED[type(op)], left, made))
            left = again
        if len(tests) == 1:
            return at(tests[0], node)
        return at(gast.BoolOp(gast.And(), tests), node)

    def visit_IfExp(self, node: Any) -> Any:
        return at(gast.IfExp(
            self.truth(node.test), self.visit(node.body), self.visit(node.orelse)), node)

    def visit_Call(self, node: Any) -> Any:
        func = node.func
        args = [self.visit(arg) for arg in node.args]
        keywords = [gast.keyword(k.arg, self.visit(k.value) if k.arg else call(
            "mapping", self.visit(k.value))) for k in node.keywords]
        if isinstance(func, gast.Name) and func.id in BARE:
            return at(gast.Call(func, args, keywords), node)
        made = gast.Call(hook("call"), [self.visit(func), *args], keywords)
        return at(made, node)

    def visit_Attribute(self, node: Any) -> Any:
        name = self.mangled(node.attr)
        return at(call("attribute", self.visit(node.value), constant(name)), node)

    def visit_Subscript(self, node: Any) -> Any:
        return at(call("getitem", self.visit(node.value), self.index(node.slice)), node)

    def index(self, node: Any) -> Any:
        """Return a subscript as a value."""
        if isinstance(node, gast.Slice):
            parts = [constant(None) if part is None else self.visit(part)
                     for part in (node.lower, node.upper, node.step)]
            return at(call("slice", *parts), node)
        if isinstance(node, gast.Tuple):
            return at(gast.Tuple([self.index(item) for item in node.elts], gast.Load()), node)
        return self.visit(node)

    def visit_Starred(self, node: Any) -> Any:
        if isinstance(node.ctx, gast.Store):
            return node
        return at(gast.Starred(call("iterate", self.visit(node.value)), node.ctx), node)

    def visit_Dict(self, node: Any) -> Any:
        keys = [None if key is None else self.visit(key) for key in node.keys]
        values = [
            self.visit(value) if key is not None else call("mapping", self.visit(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return at(gast.Dict(keys, values), node)

    def visit_JoinedStr(self, node: Any) -> Any:
        return at(gast.JoinedStr([self.visit(value) for value in node.values]), node)

    def visit_FormattedValue(self, node: Any) -> Any:
        spec = None if node.format_spec is None else self.visit(node.format_spec)
        value = call("shown", self.visit(node.value), constant(node.conversion))
        return at(gast.FormattedValue(value, node.conversion, spec), node)

    def visit_NamedExpr(self, node: Any) -> Any:
        return at(gast.NamedExpr(node.target, self.visit(node.value)), node)

    def visit_YieldFrom(self, node: Any) -> Any:
        return at(gast.YieldFrom(call("iterate", self.visit(node.value))), node)

    def visit_Await(self, node: Any) -> Any:
        self.refuse(node, "await")

    def visit_Lambda(self, node: Any) -> Any:
        return at(gast.Lambda(self.arguments(node.args), self.visit(node.body)), node)

    def arguments(self, args: Any) -> Any:
        """Return parameters of a function inside, with defaults rewritten."""
        return gast.arguments(
            args=args.args, posonlyargs=args.posonlyargs, vararg=args.vararg,
            kwonlyargs=args.kwonlyargs,
            kw_defaults=[d and self.visit(d) for d in args.kw_defaults], kwarg=args.kwarg,
            defaults=[self.visit(d) for d in args.defaults])

    def visit_ListComp(self, node: Any) -> Any:
        return self.comprehension(node, "elt")

    visit_SetComp = visit_GeneratorExp = visit_ListComp

    def visit_DictComp(self, node: Any) -> Any:
        return self.comprehension(node, "key", "value")

    def comprehension(self, node: Any, *fields: str) -> Any:
        """Return a comprehension that runs over what the hook gives."""
        generators = []
        for each in node.generators:
            if each.is_async:
                self.refuse(node, "an asynchronous comprehension")
            if not self.is_plain(each.target):
                self.refuse(node, "a comprehension that assigns to an item or attribute")
            generators.append(gast.comprehension(
                each.target, self.iterated(each.target, each.iter),
                [self.truth(test) for test in each.ifs], 0))
        made = type(node)(*(self.visit(getattr(node, field)) for field in fields), generators)
        return at(made, node)

    def iterated(self, target: Any, over: Any) -> Any:
        """Return what a loop runs over, with items unpacked as its target wants."""
        wanted = self.pattern(target)
        if wanted is None:
            return call("iterate", self.visit(over))
        return call("unpacked", self.visit(over), literal(wanted))

    def pattern(self, target: Any) -> Any:
        """Return how a target unpacks: None for one name, a tuple for several."""
        if isinstance(target, (gast.Tuple, gast.List)):
            return tuple(self.pattern(item) for item in target.elts)
        return "*" if isinstance(target, gast.Starred) else None

    def is_plain(self, target: Any) -> bool:
        """Say whether a target consists of names alone."""
        if isinstance(target, (gast.Tuple, gast.List)):
            return all(map(self.is_plain, target.elts))
        if isinstance(target, gast.Starred):
            return self.is_plain(target.value)
        return isinstance(target, gast.Name)

    # -- statements ----------------------------------------------------------------------------

    def visit_Assign(self, node: Any) -> Any:
        value = self.visit(node.value)
        if len(node.targets) == 1:
            return self.assigned(node.targets[0], value)
        name = self.temporary()
        rows = [gast.Assign([store(name)], value, None)]
        for target in node.targets:
            rows += self.assigned(target, load(name))
        return [*rows, gast.Delete([gast.Name(name, gast.Del(), None, None)])]

    def assigned(self, target: Any, value: Any) -> list[Any]:
        """Return statements that assign a value to a target."""
        if isinstance(target, gast.Name):
            return [gast.Assign([target], value, None)]
        if isinstance(target, gast.Attribute):
            name = constant(self.mangled(target.attr))
            return [gast.Expr(call("set_attribute", value, self.visit(target.value), name))]
        if isinstance(target, gast.Subscript):
            return [gast.Expr(call(
                "setitem", value, self.visit(target.value), self.index(target.slice)))]
        rows: list[Any] = []
        made = call("unpack", value, literal(self.pattern(target)))
        plain = self.split(target, rows)
        return [gast.Assign([plain], made, None), *rows]

    def split(self, target: Any, rows: list[Any]) -> Any:
        """Return a target of names alone; ``rows`` get the assignments to what is none."""
        if isinstance(target, (gast.Tuple, gast.List)):
            return gast.Tuple([self.split(item, rows) for item in target.elts], gast.Store())
        if isinstance(target, gast.Starred):
            return gast.Starred(self.split(target.value, rows), gast.Store())
        if isinstance(target, gast.Name):
            return target
        name = self.temporary()
        rows += self.assigned(target, load(name))
        return store(name)

    def visit_AnnAssign(self, node: Any) -> Any:
        if node.value is None:
            return node if isinstance(node.target, gast.Name) else gast.Pass()
        if self.in_class:  # dataclasses and the like read the annotation
            return gast.AnnAssign(node.target, node.annotation, self.visit(node.value), node.simple)
        return self.assigned(node.target, self.visit(node.value))

    in_class = False

    def visit_AugAssign(self, node: Any) -> Any:
        name, target = "i" + BINARY[type(node.op)].rstrip("_"), node.target
        value = self.visit(node.value)
        if isinstance(target, gast.Name):
            return [gast.Assign([store(target.id)], call(name, load(target.id), value), None)]
        obj = self.temporary()
        rows = [gast.Assign([store(obj)], self.visit(target.value), None)]
        temporaries = [obj]
        if isinstance(target, gast.Attribute):
            attr = constant(self.mangled(target.attr))
            made = call(name, call("attribute", load(obj), attr), value)
            rows.append(gast.Expr(call("set_attribute", made, load(obj), attr)))
        else:
            key = self.temporary()
            temporaries.append(key)
            rows.append(gast.Assign([store(key)], self.index(target.slice), None))
            made = call(name, call("getitem", load(obj), load(key)), value)
            rows.append(gast.Expr(call("setitem_again", made, load(obj), load(key))))
        return [*rows, gast.Delete([gast.Name(n, gast.Del(), None, None) for n in temporaries])]

    def visit_Delete(self, node: Any) -> Any:
        rows = []
        for target in node.targets:
            if isinstance(target, gast.Subscript):
                rows.append(gast.Expr(call(
                    "delitem", self.visit(target.value), self.index(target.slice))))
            elif isinstance(target, gast.Attribute):
                name = constant(self.mangled(target.attr))
                rows.append(gast.Expr(call("del_attribute", self.visit(target.value), name)))
            else:
                rows.append(gast.Delete([target]))
        return rows

    def visit_For(self, node: Any) -> Any:
        rows: list[Any] = []
        over = self.iterated(node.target, node.iter)
        target = self.split(node.target, rows)
        return gast.For(
            target, over, [*(at(row, node) for row in rows), *self.body(node.body)],
            self.body(node.orelse), None)

    def visit_While(self, node: Any) -> Any:
        return gast.While(self.truth(node.test), self.body(node.body), self.body(node.orelse))

    def visit_If(self, node: Any) -> Any:
        return gast.If(self.truth(node.test), self.body(node.body), self.body(node.orelse))

    def visit_Assert(self, node: Any) -> Any:
        return gast.Assert(self.truth(node.test), node.msg and self.visit(node.msg))

    def visit_With(self, node: Any) -> Any:
        rows: list[Any] = []
        items = [gast.withitem(
            call("managed", self.visit(item.context_expr)),
            item.optional_vars and self.split(item.optional_vars, rows)) for item in node.items]
        return gast.With(
            items, [*(at(row, node) for row in rows), *self.body(node.body)], None)

    def visit_Try(self, node: Any) -> Any:
        return type(node)(
            self.body(node.body), [self.handler(h) for h in node.handlers],
            self.body(node.orelse), self.body(node.finalbody))

    visit_TryStar = visit_Try

    def handler(self, node: Any) -> Any:
        """Return a handler of exceptions, rewritten."""
        return at(gast.ExceptHandler(
            node.type and self.visit(node.type), node.name, self.body(node.body)), node)

    def visit_Match(self, node: Any) -> Any:
        cases = [gast.match_case(
            case.pattern, case.guard and self.truth(case.guard), self.body(case.body),
        ) for case in node.cases]
        return gast.Match(call("matched", self.visit(node.subject)), cases)

    def visit_FunctionDef(self, node: Any) -> Any:
        outer, self.in_class = self.in_class, False
        body = self.body(node.body)
        self.in_class = outer
        made = gast.FunctionDef(
            node.name, self.arguments(node.args), body, [], node.returns, node.type_comment,
            node.type_params)
        return [made, *self.decorated(node)]

    def decorated(self, node: Any) -> list[Any]:
        """Return what applies decorators to what a statement has defined."""
        if not node.decorator_list:
            return []
        made = load(node.name)
        for decorator in reversed(node.decorator_list):
            made = gast.Call(hook("call"), [self.visit(decorator), made], [])
        return [gast.Assign([store(node.name)], made, None)]

    def visit_AsyncFunctionDef(self, node: Any) -> Any:
        self.refuse(node, "a coroutine")

    visit_AsyncFor = visit_AsyncWith = visit_AsyncFunctionDef

    def visit_ClassDef(self, node: Any) -> Any:
        outer, self.cls, self.in_class = (self.cls, self.in_class), node.name, True
        body = self.body(node.body)
        self.cls, self.in_class = outer
        made = gast.ClassDef(
            node.name, [self.visit(base) for base in node.bases],
            [gast.keyword(k.arg, self.visit(k.value)) for k in node.keywords], body, [],
            node.type_params)
        return [made, *self.decorated(node)]


def literal(value: Any) -> Any:
    """Return a constant, or a tuple of such."""
    if isinstance(value, tuple):
        return gast.Tuple([literal(item) for item in value], gast.Load())
    return constant(value)


def at(node: Any, where: Any) -> Any:
    """Return a node placed where another one stands, and all in it that has no place."""
    place = {name: getattr(where, name, None) for name in (
        "lineno", "col_offset", "end_lineno", "end_col_offset")}
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if getattr(each, "lineno", None) is None:
            for name, value in place.items():
                setattr(each, name, value)
            waiting += gast.iter_child_nodes(each)
    return node
