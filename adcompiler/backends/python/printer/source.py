"""Print plain `ast` trees as readable Python: few parentheses, wrapped lines, checked meaning.

Stock `astunparse.Unparser` walks the tree and writes text. `SourceEmitter` keeps its walk (one
method per node, `dispatch`, `fill`, `enter`, `leave`) and writes tokens, which `layout.wrap` turns
into lines once a statement is complete. Whatever is printed is parsed again and compared with
the tree that was meant (`round_trip`): a difference is an `InternalError`, never a wrong file.
"""

from __future__ import annotations

import ast
import io
import re
import sys
from typing import Any

from adcompiler.backends.python.printer.expressions import (
    BRACKETS,
    COMMA,
    PARAMETERS,
    PLAIN_COMMA,
    SPACE,
)
from adcompiler.backends.python.printer.fstrings import TextEmitter
from adcompiler.backends.python.printer.layout import WIDTH, BlankLine, Comment, Level
from adcompiler.backends.python.printer.literals import docstring
from adcompiler.backends.python.printer.round_trip import check_round_trip
from adcompiler.errors import InternalError

__all__ = [
    "BlankLine",
    "Comment",
    "SourceEmitter",
    "check_round_trip",
    "emit_expression",
    "emit_source",
]

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
SCOPES = (ast.Module, *DEFINITIONS)

_ENCODING = re.compile(r"coding(?=[:=])")  # PEP 263 would take this in a comment for an order


def emit_source(tree: ast.AST) -> str:
    """Return the source text of a module, a statement or an expression, ending in a newline.

    Raises InternalError if the tree holds what Python source cannot express.
    """
    module: ast.AST = tree
    if isinstance(tree, ast.stmt):
        module = ast.Module([tree], [])
    elif isinstance(tree, ast.expr | ast.Expression):
        value = tree.body if isinstance(tree, ast.Expression) else tree
        module = ast.Module([ast.Expr(value)], [])
    text = _printed(module, WIDTH)
    check_round_trip(module, text)
    return text


def emit_expression(node: ast.expr) -> str:
    """Return an expression on one line, in parentheses if it is a bare tuple, yield or walrus.

    Slices, and tuples of them, come as they stand between the brackets of a subscript.
    """
    if isinstance(node, ast.Starred):
        return emit_expression(ast.Tuple([node, ast.Slice()], ast.Load()))[: -len(", :")]
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    if any(isinstance(part, ast.Slice) for part in parts):
        text = emit_expression(ast.Subscript(ast.Name("_", ast.Load()), node, ast.Load()))
        return text[2:-1]
    expression = ast.Expression(node)
    text = _printed(expression, sys.maxsize).rstrip("\n")
    check_round_trip(expression, text, mode="eval")
    return text


def _printed(tree: ast.AST, width: int) -> str:
    buffer = io.StringIO()
    try:
        SourceEmitter(tree, buffer, width)
    except RecursionError as error:
        raise InternalError("the tree is nested too deeply to be printed") from error
    return buffer.getvalue()


class SourceEmitter(TextEmitter):
    """Writes the source of a whole tree; see `ExpressionEmitter` for the arguments."""

    # -- modules and blocks ------------------------------------------------------------------------
    def _Module(self, t: ast.Module) -> None:
        self._statements(t)

    def _Expression(self, t: ast.Expression) -> None:
        self._test(t.body)

    def _block(self, owner: ast.AST, body: list[ast.stmt]) -> None:
        self.enter()
        self._statements(owner, body)
        self.leave()

    def _statements(self, owner: Any, body: list[ast.stmt] | None = None) -> None:
        """Print a body with the blank lines that its definitions ask for."""
        body = owner.body if body is None else body
        leads = _leads_to_definition(body)
        documentation = _docstring_of(owner)
        previous: ast.stmt | None = None
        asked = 0
        for position, statement in enumerate(body):
            if isinstance(statement, BlankLine):
                asked += 1
                continue
            if previous is not None:
                self._blank_lines(self._gap(owner, previous, statement, leads[position], asked))
            if statement is documentation:
                self._docstring(statement)
            else:
                self.dispatch(statement)
            previous, asked = statement, 0
        trivial = all(isinstance(statement, Comment | BlankLine) for statement in body)
        if trivial and not isinstance(owner, ast.Module):
            self.fill("pass")

    def _gap(
        self, owner: ast.AST, previous: ast.stmt, following: ast.stmt, leads: bool, asked: int
    ) -> int:
        """Return the number of blank lines between two statements of one body."""
        most = 1 if self._indent else 2
        top = isinstance(owner, ast.Module)
        if isinstance(previous, Comment) and not asked:
            return 0
        if isinstance(previous, DEFINITIONS) or leads:
            return most
        if top and isinstance(previous, IMPORTS) and not isinstance(following, IMPORTS):
            return min(max(asked, 1), most)
        if isinstance(owner, ast.Module | ast.ClassDef) and previous is _docstring_of(owner):
            return min(max(asked, 1), most)
        return min(asked, most)

    def _blank_lines(self, count: int) -> None:
        self._end_line()
        self._lines += [""] * count

    def _docstring(self, statement: Any) -> None:
        prefix = "u" if statement.value.kind == "u" else ""
        self._raw_line(docstring(statement.value.value, prefix))

    def _Comment(self, t: Comment) -> None:
        for line in t.text.replace("\0", "\\0").splitlines() or [""]:
            text = line.encode("utf-8", "backslashreplace").decode("utf-8")
            self._end_line()
            if len(self._lines) < 2:
                text = _ENCODING.sub("coding ", text)
            self._raw_line(f"# {text}".rstrip())

    # -- simple statements -------------------------------------------------------------------------
    def _Expr(self, t: ast.Expr) -> None:
        self.fill()
        self._soft(t.value, self._value)

    def _Import(self, t: ast.Import) -> None:
        self.fill("import ")
        self._separated(t.names, self.dispatch, PLAIN_COMMA)

    def _ImportFrom(self, t: ast.ImportFrom) -> None:
        self.fill("from " + "." * (t.level or 0) + (t.module or "") + " import ")
        if t.names[0].name == "*":
            self.write("*")
        else:
            self._soft(t.names, lambda names: self._separated(names, self.dispatch, COMMA))

    def _Assign(self, t: ast.Assign) -> None:
        self.fill()
        for target in t.targets:
            self._soft(target, self._tuple_or_test)
            self.write(" = ")
        self._soft(t.value, self._value)

    def _AugAssign(self, t: ast.AugAssign) -> None:
        self.fill()
        self._atom(t.target)
        self.write(f" {self.binop[type(t.op).__name__]}= ")
        self._soft(t.value, self._yield_or_test)

    def _AnnAssign(self, t: ast.AnnAssign) -> None:
        self.fill()
        if isinstance(t.target, ast.Name) and not t.simple:
            self._bracketed("(", [t.target], self.dispatch)
        else:
            self._atom(t.target)
        self.write(": ")
        self._test(t.annotation)
        if t.value:
            self.write(" = ")
            self._soft(t.value, self._yield_or_test)

    def _yield_or_test(self, node: ast.expr) -> None:
        if isinstance(node, ast.Tuple):
            self._test(node)
        else:
            self._value(node)

    def _TypeAlias(self, t: Any) -> None:
        self.fill("type ")
        self.dispatch(t.name)
        self._type_parameters(t)
        self.write(" = ")
        self._soft(t.value, self._test)

    def _Return(self, t: ast.Return) -> None:
        self.fill("return")
        if t.value:
            self.write(" ")
            self._soft(t.value, self._tuple_or_test)

    def _Delete(self, t: ast.Delete) -> None:
        self.fill("del ")
        self._separated(t.targets, self._atom, PLAIN_COMMA)

    def _Assert(self, t: ast.Assert) -> None:
        self.fill("assert ")
        self._soft(t.test, self._test)
        if t.msg:
            self.write(", ")
            self._soft(t.msg, self._test)

    def _Raise(self, t: ast.Raise) -> None:
        self.fill("raise")
        if t.exc:
            self.write(" ")
            self._soft(t.exc, self._test)
        if t.cause:
            self.write(" from ")
            self._soft(t.cause, self._test)

    # -- compound statements -----------------------------------------------------------------------
    def _If(self, t: ast.If) -> None:
        keyword = "if "
        while True:
            self.fill(keyword)
            self._soft(t.test, self._named)
            self._block(t, t.body)
            if len(t.orelse) != 1 or not isinstance(t.orelse[0], ast.If):
                break
            keyword, t = "elif ", t.orelse[0]
        self._clause("else", t, t.orelse)

    def _clause(self, keyword: str, owner: ast.AST, body: list[ast.stmt]) -> None:
        if body:
            self.fill(keyword)
            self._block(owner, body)

    def _While(self, t: ast.While) -> None:
        self.fill("while ")
        self._soft(t.test, self._named)
        self._block(t, t.body)
        self._clause("else", t, t.orelse)

    def _For(self, t: ast.For | ast.AsyncFor, keyword: str = "for ") -> None:
        self.fill(keyword)
        self._target(t.target)
        self.write(" in ")
        self._soft(t.iter, self._test)
        self._block(t, t.body)
        self._clause("else", t, t.orelse)

    def _AsyncFor(self, t: ast.AsyncFor) -> None:
        self._For(t, "async for ")

    def _With(self, t: ast.With | ast.AsyncWith, keyword: str = "with ") -> None:
        self.fill(keyword)
        first = t.items[0]
        bare_tuple = isinstance(first.context_expr, ast.Tuple) and not first.optional_vars
        if len(t.items) == 1 and bare_tuple:  # `with (a, b):` would be two managers
            self._bracketed("(", [first.context_expr], self.dispatch)
        else:
            self._soft(t.items, lambda items: self._separated(items, self.dispatch, COMMA))
        self._block(t, t.body)

    def _AsyncWith(self, t: ast.AsyncWith) -> None:
        self._With(t, "async with ")

    def _withitem(self, t: ast.withitem) -> None:
        self._test(t.context_expr)
        if t.optional_vars:
            self.write(" as ")
            self._atom(t.optional_vars)

    def _Try(self, t: Any, group_handlers: bool = False) -> None:
        self.fill("try")
        self._block(t, t.body)
        for handler in t.handlers:
            self._handler(handler, "except*" if group_handlers else "except")
        self._clause("else", t, t.orelse)
        self._clause("finally", t, t.finalbody)

    def _TryStar(self, t: Any) -> None:
        self._Try(t, group_handlers=True)

    def _handler(self, t: ast.ExceptHandler, keyword: str) -> None:
        self.fill(keyword)
        if t.type:
            self.write(" ")
            self._soft(t.type, self._test)
        if t.name:
            self.write(" as " + t.name)
        self._block(t, t.body)

    # -- definitions -------------------------------------------------------------------------------
    def _decorators(self, t: Any) -> None:
        for decorator in t.decorator_list:
            self.fill("@")
            self._named(decorator)

    def _ClassDef(self, t: ast.ClassDef) -> None:
        self._decorators(t)
        self.fill("class " + t.name)
        self._type_parameters(t)
        arguments = [*t.bases, *t.keywords]
        if arguments:
            self._bracketed("(", arguments, self._argument)
        self._block(t, t.body)

    def _FunctionDef(self, t: Any, keyword: str = "def ") -> None:
        self._decorators(t)
        self.fill(keyword + t.name)
        self._type_parameters(t)
        self.write(PARAMETERS)
        self._arguments(t.args)
        self.write(BRACKETS["("][1])
        if t.returns:
            self.write(" -> ")
            self._test(t.returns)
        self._block(t, t.body)

    def _AsyncFunctionDef(self, t: ast.AsyncFunctionDef) -> None:
        self._FunctionDef(t, "async def ")

    def _type_parameters(self, t: Any) -> None:
        if getattr(t, "type_params", None):
            self._bracketed("[", t.type_params, self.dispatch)

    def _TypeVar(self, t: Any, stars: str = "") -> None:
        self.write(stars + t.name)
        if getattr(t, "bound", None):
            self.write(": ")
            self._test(t.bound)
        if getattr(t, "default_value", None):
            self.write(" = ")
            self._test(t.default_value)

    def _TypeVarTuple(self, t: Any) -> None:
        self._TypeVar(t, "*")

    def _ParamSpec(self, t: Any) -> None:
        self._TypeVar(t, "**")

    def _arguments(self, t: ast.arguments, comma: str = COMMA) -> None:
        positional = [*t.posonlyargs, *t.args]
        defaults = [None] * (len(positional) - len(t.defaults)) + t.defaults
        parts: list[tuple[str, ast.arg | None, ast.expr | None]] = [
            ("", arg, default) for arg, default in zip(positional, defaults, strict=True)
        ]
        if t.posonlyargs:
            parts.insert(len(t.posonlyargs), ("/", None, None))
        if t.vararg or t.kwonlyargs:
            parts.append(("*", t.vararg, None))
        parts += [("", arg, d) for arg, d in zip(t.kwonlyargs, t.kw_defaults, strict=True)]
        if t.kwarg:
            parts.append(("**", t.kwarg, None))
        self._separated(parts, self._parameter, comma)

    def _parameter(self, part: tuple[str, ast.arg | None, ast.expr | None]) -> None:
        stars, arg, default = part
        self.write(stars)
        if arg is not None:
            self.dispatch(arg)
        if default is not None:
            self.write(" = " if arg is not None and arg.annotation else "=")
            self._test(default)

    def _arg(self, t: ast.arg) -> None:
        self.write(t.arg)
        if t.annotation:
            self.write(": ")
            self._test(t.annotation)

    # -- match -------------------------------------------------------------------------------------
    def _Match(self, t: ast.Match) -> None:
        self.fill("match ")
        self._soft(t.subject, self._subject)
        self.enter()
        for case in t.cases:
            self.dispatch(case)
        self.leave()

    def _subject(self, node: ast.expr) -> None:
        if isinstance(node, ast.Tuple):
            self._tuple_or_test(node)
        else:
            self._named(node)

    def _match_case(self, t: ast.match_case) -> None:
        self.fill("case ")
        self._soft(t.pattern, self.dispatch)
        if t.guard:
            self.write(" if ")
            self._soft(t.guard, self._named)
        self._block(t, t.body)

    def _MatchValue(self, t: ast.MatchValue) -> None:
        self._test(t.value)

    def _MatchSingleton(self, t: ast.MatchSingleton) -> None:
        self.write(repr(t.value))

    def _MatchSequence(self, t: ast.MatchSequence) -> None:
        self._displayed("[", t.patterns, self.dispatch)

    def _MatchStar(self, t: ast.MatchStar) -> None:
        self.write("*" + (t.name or "_"))

    def _MatchMapping(self, t: ast.MatchMapping) -> None:
        items: list[Any] = [*zip(t.keys, t.patterns, strict=True)]
        self._displayed("{", items + [t.rest] * (t.rest is not None), self._mapping_item)

    def _mapping_item(self, item: tuple[ast.expr, ast.pattern] | str) -> None:
        if isinstance(item, str):
            self.write("**" + item)
        else:
            self._test(item[0])
            self.write(": ")
            self.dispatch(item[1])

    def _MatchClass(self, t: ast.MatchClass) -> None:
        self._atom(t.cls)
        named = zip(t.kwd_attrs, t.kwd_patterns, strict=True)
        items = [("", pattern) for pattern in t.patterns]
        items += [(f"{name}=", pattern) for name, pattern in named]
        self._bracketed("(", items, self._class_item)

    def _class_item(self, item: tuple[str, ast.pattern]) -> None:
        self.write(item[0])
        self.dispatch(item[1])

    def _MatchAs(self, t: ast.MatchAs) -> None:
        if t.pattern:
            self._closed_pattern(t.pattern, ast.MatchAs)
            self.write(" as ")
        self.write(t.name or "_")

    def _MatchOr(self, t: ast.MatchOr) -> None:
        for position, pattern in enumerate(t.patterns):
            if position:
                self.write(SPACE[Level.BIT_OR])
                self.write("| ")
            self._closed_pattern(pattern, ast.MatchAs, ast.MatchOr)

    def _closed_pattern(self, pattern: ast.pattern, *open_kinds: type[ast.pattern]) -> None:
        """Print a pattern, in parentheses if it is one of `open_kinds` and not just a name."""
        is_name = isinstance(pattern, ast.MatchAs) and pattern.pattern is None
        if isinstance(pattern, open_kinds) and not is_name:
            self._bracketed("(", [pattern], self.dispatch)
        else:
            self.dispatch(pattern)


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and type(statement.value.value) is str
    )


def _docstring_of(owner: Any) -> ast.stmt | None:
    """Return the statement that is the docstring of a module, class or function."""
    if not isinstance(owner, SCOPES):
        return None
    for statement in owner.body:
        if not isinstance(statement, Comment | BlankLine):
            return statement if _is_text(statement) else None
    return None


def _leads_to_definition(body: list[ast.stmt]) -> list[bool]:
    """Return for each statement whether it is a definition or a comment right above one."""
    leads = [False] * len(body)
    following = False
    for position in reversed(range(len(body))):
        statement = body[position]
        kept = following and isinstance(statement, Comment)
        following = kept or isinstance(statement, DEFINITIONS)
        leads[position] = following
    return leads
