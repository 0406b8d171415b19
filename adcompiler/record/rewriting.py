"""Rewrites the text of a function so that each operation is a call of a hook.

Control flow stays Python's: loops, ``try``, generators, classes and comprehensions stand as they
are. ``a + b`` becomes ``add(a, b)``, ``f(x)`` becomes ``call(f, x)``, and so on. A hook is written
as a constant text, ``"\\0adc:add"``, which is replaced by the function where the code is loaded, so
that no module is changed and the code can be kept on disk.
"""

from __future__ import annotations

import ast
import types
from typing import Any

import gast

from adcompiler.frontend.sources.same_code import class_around, scope_of
from adcompiler.support.budget import quiet

from adcompiler.record.rewriting_expressions import (
    BINARY, Expressions, Names, at, bare, call, constant, hook, literal, load, pattern,
    store,
)


def rewritten_code(node: Function, live: types.CodeType) -> types.CodeType:
    """Return the code of a function's tree, rewritten, in a scope like that of the ``live`` code.

    Raises UnsupportedError for forms that are not followed.
    """
    rewriter = Rewriter(Names(live.co_filename, class_around(live)))
    made = rewriter.function(node)
    tree = gast.gast_to_ast(made)
    wrapper, place, depth = scope_of(live)
    ast.fix_missing_locations(wrapper)
    if isinstance(tree, ast.Lambda):
        tree = ast.copy_location(ast.Expr(tree), tree)
    place.append(tree)
    ast.fix_missing_locations(wrapper)
    code: types.CodeType
    with quiet():  # a text is called, and what the file itself warns of
        code = compile(wrapper, live.co_filename, "exec", live.co_flags & FUTURE, dont_inherit=True)
    for _ in range(depth + 1):
        code = next(const for const in code.co_consts if hasattr(const, "co_code"))
    return code


Function = gast.FunctionDef | gast.AsyncFunctionDef | gast.Lambda
FUTURE = 0x1000000 | 0x800000  # annotations, generator_stop


class Rewriter(Expressions):
    """Rewrites one function."""

    in_class = False

    def function(self, node: Function) -> Any:
        """Return the function itself, without what runs outside of it."""
        empty = gast.arguments(
            args=[bare(a) for a in node.args.args],
            posonlyargs=[bare(a) for a in node.args.posonlyargs],
            vararg=bare(node.args.vararg),
            kwonlyargs=[bare(a) for a in node.args.kwonlyargs],
            kw_defaults=[None for _ in node.args.kwonlyargs], kwarg=bare(node.args.kwarg),
            defaults=[],
        )
        if isinstance(node, gast.Lambda):
            return at(gast.Lambda(empty, self.visit(node.body)), node)
        if isinstance(node, gast.AsyncFunctionDef):
            self.names.refuse(node, "a coroutine")
        made = gast.FunctionDef(node.name, empty, self.body(node.body), [], None, None, [])
        return at(made, node)
    # -- statements ----------------------------------------------------------------------------

    def visit_Assign(self, node: gast.Assign) -> Any:
        value = self.visit(node.value)
        if len(node.targets) == 1:
            return self.assigned(node.targets[0], value)
        name = self.names.temporary()
        rows = [gast.Assign([store(name)], value, None)]
        for target in node.targets:
            rows += self.assigned(target, load(name))
        return [*rows, gast.Delete([gast.Name(name, gast.Del(), None, None)])]

    def assigned(self, target: gast.expr, value: gast.expr) -> list[Any]:
        """Return statements that assign a value to a target."""
        if isinstance(target, gast.Name):
            return [gast.Assign([target], value, None)]
        if isinstance(target, gast.Attribute):
            name = constant(self.names.mangled(target.attr))
            return [gast.Expr(call("set_attribute", value, self.visit(target.value), name))]
        if isinstance(target, gast.Subscript):
            return [gast.Expr(call(
                "setitem", value, self.visit(target.value), self.index(target.slice)))]
        rows: list[gast.stmt] = []
        made = call("unpack", value, literal(pattern(target)))
        plain = self.split(target, rows)
        return [gast.Assign([plain], made, None), *rows]

    def split(self, target: gast.expr, rows: list[gast.stmt]) -> Any:
        """Return a target of names alone; ``rows`` get the assignments to what is none.

        And to the names that come after: ``items[i], i = 1.0, 2`` means the ``i`` from before.
        """
        if isinstance(target, (gast.Tuple, gast.List)):
            return gast.Tuple([self.split(item, rows) for item in target.elts], gast.Store())
        if isinstance(target, gast.Starred):
            return gast.Starred(self.split(target.value, rows), gast.Store())
        if isinstance(target, gast.Name) and not rows:
            return target
        name = self.names.temporary()
        rows += self.assigned(target, load(name))
        return store(name)

    def visit_AnnAssign(self, node: gast.AnnAssign) -> Any:
        if node.value is None:
            return node if isinstance(node.target, gast.Name) else gast.Pass()
        if self.in_class:  # dataclasses and the like read the annotation
            return gast.AnnAssign(node.target, node.annotation, self.visit(node.value), node.simple)
        return self.assigned(node.target, self.visit(node.value))

    def visit_AugAssign(self, node: gast.AugAssign) -> Any:
        name, target = "i" + BINARY[type(node.op)].rstrip("_"), node.target
        value = self.visit(node.value)
        if isinstance(target, gast.Name):
            return [gast.Assign([store(target.id)], call(name, load(target.id), value), None)]
        obj = self.names.temporary()
        rows: list[gast.stmt] = [gast.Assign([store(obj)], self.visit(target.value), None)]
        temporaries = [obj]
        if isinstance(target, gast.Attribute):
            attr = constant(self.names.mangled(target.attr))
            made = call(name, call("attribute", load(obj), attr), value)
            rows.append(gast.Expr(call("set_attribute", made, load(obj), attr)))
        else:
            key = self.names.temporary()
            temporaries.append(key)
            rows.append(gast.Assign([store(key)], self.index(target.slice), None))
            made = call(name, call("getitem", load(obj), load(key)), value)
            rows.append(gast.Expr(call("setitem_again", made, load(obj), load(key))))
        return [*rows, gast.Delete([gast.Name(n, gast.Del(), None, None) for n in temporaries])]

    def visit_Delete(self, node: gast.Delete) -> Any:
        rows: list[gast.stmt] = []
        for target in node.targets:
            if isinstance(target, gast.Subscript):
                rows.append(gast.Expr(call(
                    "delitem", self.visit(target.value), self.index(target.slice))))
            elif isinstance(target, gast.Attribute):
                name = constant(self.names.mangled(target.attr))
                rows.append(gast.Expr(call("del_attribute", self.visit(target.value), name)))
            else:
                rows.append(gast.Delete([target]))
        return rows

    def visit_For(self, node: gast.For) -> Any:
        rows: list[gast.stmt] = []
        over = self.iterated(node.target, node.iter)
        target = self.split(node.target, rows)
        return gast.For(
            target, over, [*rows, *self.body(node.body)], self.body(node.orelse), None)

    def visit_With(self, node: gast.With) -> Any:
        body = self.body(node.body)
        for item in reversed(node.items):  # a target is assigned before the next one is entered
            rows: list[gast.stmt] = []
            target = item.optional_vars and self.split(item.optional_vars, rows)
            one = gast.withitem(call("managed", self.visit(item.context_expr)), target)
            body = [gast.With([one], [*rows, *body], None)]
        return body[0]

    def visit_Match(self, node: gast.Match) -> Any:
        cases = [gast.match_case(
            case.pattern, case.guard and self.truth(case.guard), self.body(case.body),
        ) for case in node.cases]
        names: list[str] = []
        by_position = compares = False
        for case in node.cases:
            for part in gast.walk(case.pattern):
                compares = compares or isinstance(part, gast.MatchValue)
                if isinstance(part, gast.MatchClass):
                    names += part.kwd_attrs
                    by_position = by_position or bool(part.patterns)
        subject = call(
            "matched", self.visit(node.subject), literal(tuple(dict.fromkeys(names))),
            constant(by_position), constant(compares))
        return gast.Match(subject, cases)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        outer, self.in_class = self.in_class, False
        body = self.body(node.body)
        self.in_class = outer
        made = gast.FunctionDef(
            node.name, self.arguments(node.args), body, [], node.returns, node.type_comment,
            node.type_params)
        return [made, *self.decorated(node)]

    def decorated(
        self, node: gast.AsyncFunctionDef | gast.ClassDef | gast.FunctionDef
    ) -> list[Any]:
        """Return what applies decorators to what a statement has defined."""
        if not node.decorator_list:
            return []
        made = load(node.name)
        for decorator in reversed(node.decorator_list):
            made = gast.Call(hook("call"), [self.visit(decorator), made], [])
        return [gast.Assign([store(node.name)], made, None)]

    def visit_AsyncFunctionDef(self, node: gast.AsyncFunctionDef) -> Any:
        """Return a coroutine that is refused where it runs; defined it may be."""
        body: list[Any] = [gast.Expr(call("coroutine", constant(node.name)))]
        if any(isinstance(part, gast.Yield) for part in gast.walk(node)):
            body.append(gast.Expr(gast.Yield(None)))
        made = gast.AsyncFunctionDef(
            node.name, self.arguments(node.args), body, [],
            node.returns, node.type_comment, node.type_params)
        return [made, *self.decorated(node)]

    def visit_AsyncFor(self, node: gast.AsyncFor | gast.AsyncWith) -> Any:
        self.names.refuse(node, "a coroutine")

    visit_AsyncWith = visit_AsyncFor

    def visit_ClassDef(self, node: gast.ClassDef) -> Any:
        outer, self.names.cls, self.in_class = (self.names.cls, self.in_class), node.name, True
        body = self.body(node.body)
        self.names.cls, self.in_class = outer
        made = gast.ClassDef(
            node.name, [self.visit(base) for base in node.bases],
            [gast.keyword(k.arg, self.visit(k.value)) for k in node.keywords], body, [],
            node.type_params)
        told = gast.Expr(call("made_class", load(node.name)))
        return [made, told, *self.decorated(node)]
