"""Rewrites expressions: operators, calls, items and attributes become calls of hooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from adcompiler.errors import Finding, UnsupportedError

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


Constant = str | bytes | bool | int | float | complex | None
Pattern = tuple["Pattern | str | None", ...]
"""How a target unpacks: None for one name, a star for what is left, a pattern for several."""


def hook(name: str) -> Any:
    """Return the constant that stands for a hook."""
    return gast.Constant(MARK + name, None)


def call(name: str, *args: Any) -> Any:
    """Return a call of a hook."""
    return gast.Call(hook(name), list(args), [])


def constant(value: Constant) -> Any:
    """Return a constant."""
    return gast.Constant(value, None)


def load(name: str) -> Any:
    """Return a variable that is read."""
    return gast.Name(name, gast.Load(), None, None)


def store(name: str) -> Any:
    """Return a variable that is assigned."""
    return gast.Name(name, gast.Store(), None, None)


def bare(arg: gast.Name | None) -> Any:
    """Return a parameter without its annotation."""
    return None if arg is None else gast.Name(arg.id, gast.Param(), None, None)


def pattern(target: gast.expr) -> Pattern | str | None:
    """Return how a target unpacks: None for one name, a tuple for several."""
    if isinstance(target, (gast.Tuple, gast.List)):
        return tuple(map(pattern, target.elts))
    return "*" if isinstance(target, gast.Starred) else None


def is_plain(target: gast.expr) -> bool:
    """Say whether a target consists of names alone."""
    if isinstance(target, (gast.Tuple, gast.List)):
        return all(map(is_plain, target.elts))
    if isinstance(target, gast.Starred):
        return is_plain(target.value)
    return isinstance(target, gast.Name)


class Names:
    """The names in a function of ``file``; ``cls`` is the class whose private names it spells."""

    def __init__(self, file: str, cls: str) -> None:
        self.file, self.cls = file, cls
        self.count = 0

    def refuse(self, node: gast.expr | gast.stmt, what: str) -> None:
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


class Tools(gast.NodeTransformer):
    """Rewrites what stands where, with the names of a function."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def visit(self, node: gast.AST) -> Any:
        """Return a node rewritten, or several: placed where it stands."""
        made = super().visit(node)
        if made is not node:
            for row in made if isinstance(made, list) else [made]:
                at(row, node)
        return made

    def body(self, statements: Sequence[gast.stmt]) -> list[Any]:
        """Return statements rewritten."""
        out: list[Any] = []
        for statement in statements:
            made = self.visit(statement)
            out += made if isinstance(made, list) else [made]
        return out


class Expressions(Tools):
    """Rewrites expressions."""

    # -- expressions ---------------------------------------------------------------------------

    def visit_BinOp(self, node: gast.BinOp) -> Any:
        return call(BINARY[type(node.op)], self.visit(node.left), self.visit(node.right))

    def visit_UnaryOp(self, node: gast.UnaryOp) -> Any:
        operand = node.operand
        if isinstance(node.op, gast.Not):
            return gast.UnaryOp(node.op, self.truth(operand))
        if isinstance(operand, gast.Constant):
            return node
        return call(UNARY[type(node.op)], self.visit(operand))

    def truth(self, node: gast.expr) -> Any:
        """Return what is tested, by a hook where that may run code of a class."""
        made = self.visit(node)
        if isinstance(node, (gast.Compare, gast.Constant)) or (
            isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not)
        ):
            return made
        return at(call("truth", made), node)

    def visit_BoolOp(self, node: gast.BoolOp) -> Any:
        made = self.visit(node.values[-1])
        for value in reversed(node.values[:-1]):
            if isinstance(value, gast.Name):
                tested, again = self.truth(value), load(value.id)
            else:
                name = self.names.temporary()
                tested = call("truth", gast.NamedExpr(store(name), self.visit(value)))
                again = load(name)
            arms = (made, again) if isinstance(node.op, gast.And) else (again, made)
            made = gast.IfExp(tested, *arms)
        return made

    def visit_Compare(self, node: gast.Compare) -> Any:
        left, tests = self.visit(node.left), []
        for i, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            made = again = self.visit(right)
            if i + 1 < len(node.ops) and not isinstance(right, gast.Constant):
                name = self.names.temporary()
                made, again = gast.NamedExpr(store(name), made), load(name)
            if isinstance(op, (gast.Is, gast.IsNot)):
                tests.append(gast.Compare(left, [op], [made]))
            else:
                tests.append(call(COMPARED[type(op)], left, made))
            left = again
        return tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)

    def tested(self, node: gast.IfExp | gast.While | gast.If | gast.Assert) -> Any:
        """Return what has a test, rewritten."""
        test = self.truth(node.test)
        node.test = constant(None)
        self.generic_visit(node)
        node.test = test
        return node

    visit_IfExp = visit_While = visit_If = visit_Assert = tested

    def visit_Call(self, node: gast.Call) -> Any:
        func = node.func
        args = [self.visit(arg) for arg in node.args]
        keywords = [gast.keyword(k.arg, self.visit(k.value) if k.arg else call(
            "mapping", self.visit(k.value))) for k in node.keywords]
        if isinstance(func, gast.Name) and func.id in BARE and not (
            args and func.id in ("dir", "vars")
        ):
            return gast.Call(func, args, keywords)
        return gast.Call(hook("call"), [self.visit(func), *args], keywords)

    def visit_Attribute(self, node: gast.Attribute) -> Any:
        return call("attribute", self.visit(node.value), constant(self.names.mangled(node.attr)))

    def visit_Subscript(self, node: gast.Subscript) -> Any:
        return call("getitem", self.visit(node.value), self.index(node.slice))

    def index(self, node: gast.AST) -> Any:
        """Return a subscript as a value."""
        if isinstance(node, gast.Slice):
            parts = [constant(None) if part is None else self.visit(part)
                     for part in (node.lower, node.upper, node.step)]
            return at(call("slice", *parts), node)
        if isinstance(node, gast.Tuple):
            return at(gast.Tuple([self.index(item) for item in node.elts], gast.Load()), node)
        return self.visit(node)

    def visit_Starred(self, node: gast.Starred) -> Any:
        if isinstance(node.ctx, gast.Store):
            return node
        return gast.Starred(call("spread", self.visit(node.value)), node.ctx)

    def visit_Dict(self, node: gast.Dict) -> Any:
        keys = [None if key is None else self.hashed(key) for key in node.keys]
        values = [
            self.visit(value) if key is not None else call("mapping", self.visit(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return gast.Dict(keys, values)

    def visit_Set(self, node: gast.Set) -> Any:
        return gast.Set([
            self.visit(e) if isinstance(e, gast.Starred) else self.hashed(e) for e in node.elts])

    def hashed(self, node: gast.expr) -> Any:
        """Return a key, by a hook where that may run code of a class."""
        made = self.visit(node)
        return made if isinstance(node, gast.Constant) else at(call("hashed", made), node)

    def visit_FormattedValue(self, node: gast.FormattedValue) -> Any:
        spec = constant("") if node.format_spec is None else self.visit(node.format_spec)
        value = call("formatted", self.visit(node.value), constant(node.conversion), spec)
        return gast.FormattedValue(value, -1, None)

    def visit_YieldFrom(self, node: gast.YieldFrom) -> Any:
        return gast.YieldFrom(call("iterate", self.visit(node.value)))

    def visit_Await(self, node: gast.Await) -> Any:
        self.names.refuse(node, "await")

    def visit_Lambda(self, node: gast.Lambda) -> Any:
        return gast.Lambda(self.arguments(node.args), self.visit(node.body))

    def arguments(self, args: gast.arguments) -> Any:
        """Return parameters of a function inside, with defaults rewritten."""
        return gast.arguments(
            args=args.args, posonlyargs=args.posonlyargs, vararg=args.vararg,
            kwonlyargs=args.kwonlyargs,
            kw_defaults=[d and self.visit(d) for d in args.kw_defaults], kwarg=args.kwarg,
            defaults=[self.visit(d) for d in args.defaults])

    def visit_ListComp(self, node: gast.ListComp | gast.SetComp | gast.GeneratorExp) -> Any:
        return self.comprehension(node, "elt")

    visit_SetComp = visit_GeneratorExp = visit_ListComp

    def visit_DictComp(self, node: gast.DictComp) -> Any:
        return self.comprehension(node, "key", "value")

    def comprehension(
        self, node: gast.ListComp | gast.SetComp | gast.GeneratorExp | gast.DictComp, *fields: str
    ) -> Any:
        """Return a comprehension that runs over what the hook gives."""
        generators = []
        for each in node.generators:
            if each.is_async:
                self.names.refuse(node, "an asynchronous comprehension")
            if not is_plain(each.target):
                self.names.refuse(node, "a comprehension that assigns to an item or attribute")
            generators.append(gast.comprehension(
                each.target, self.iterated(each.target, each.iter),
                [self.truth(test) for test in each.ifs], 0))
        return type(node)(*(self.visit(getattr(node, field)) for field in fields), generators)

    def iterated(self, target: gast.expr, over: gast.expr) -> Any:
        """Return what a loop runs over, with items unpacked as its target wants."""
        wanted = pattern(target)
        if wanted is None:
            return call("iterate", self.visit(over))
        return call("unpacked", self.visit(over), literal(wanted))


def literal(value: Constant | Pattern) -> Any:
    """Return a constant, or a tuple of such."""
    if isinstance(value, tuple):
        return gast.Tuple([literal(item) for item in value], gast.Load())
    return constant(value)


def at(node: gast.AST, where: gast.AST) -> Any:
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
