"""Print plain `ast` trees as readable Python: few parentheses, wrapped lines, checked meaning.

Stock `astunparse.Unparser` walks the tree and writes text. `Output` keeps its walk
(`dispatch`, `fill`, `enter`, `leave`) and takes tokens from parts with one method per kind of
node, which `layout.wrap` turns into lines once a statement is complete. Whatever is printed is
parsed again and compared with the tree that was meant (`round_trip`): a difference is an
`InternalError`, never a wrong file.
"""

from __future__ import annotations

import ast
import re
import sys
from typing import Any

from adcompiler.backends.python.printer.definitions import Definitions
from adcompiler.backends.python.printer.displays import Displays
from adcompiler.backends.python.printer.expressions import Expressions
from adcompiler.backends.python.printer.fstrings import Texts
from adcompiler.backends.python.printer.layout import WIDTH, BlankLine, Comment
from adcompiler.backends.python.printer.literals import docstring
from adcompiler.backends.python.printer.operands import Output
from adcompiler.backends.python.printer.patterns import Patterns
from adcompiler.backends.python.printer.round_trip import check_round_trip
from adcompiler.backends.python.printer.statements import Statements
from adcompiler.errors import InternalError

__all__ = [
    "BlankLine",
    "Comment",
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
    out = Output(width)
    blocks = Blocks(out)
    out.parts = (
        blocks, Statements(out), Definitions(out, blocks.block), Patterns(out, blocks.block),
        Texts(out), Expressions(out), Displays(out),
    )
    try:
        return out.text(tree)
    except RecursionError as error:
        raise InternalError("the tree is nested too deeply to be printed") from error


class Blocks:
    """Writes modules, and the statements that hold others."""

    def __init__(self, out: Output) -> None:
        self.out = out

    # -- modules and blocks ------------------------------------------------------------------------
    def _Module(self, t: ast.Module) -> None:
        self._statements(t)

    def _Expression(self, t: ast.Expression) -> None:
        self.out.test(t.body)

    def block(self, owner: ast.AST, body: list[ast.stmt]) -> None:
        self.out.enter()
        self._statements(owner, body)
        self.out.leave()

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
                self.out.dispatch(statement)
            previous, asked = statement, 0
        trivial = all(isinstance(statement, Comment | BlankLine) for statement in body)
        if trivial and not isinstance(owner, ast.Module):
            self.out.fill("pass")

    def _gap(
        self, owner: ast.AST, previous: ast.stmt, following: ast.stmt, leads: bool, asked: int
    ) -> int:
        """Return the number of blank lines between two statements of one body."""
        most = 1 if self.out._indent else 2
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
        self.out.end_line()
        self.out.lines += [""] * count

    def _docstring(self, statement: Any) -> None:
        prefix = "u" if statement.value.kind == "u" else ""
        self.out.raw_line(docstring(statement.value.value, prefix))

    def _Comment(self, t: Comment) -> None:
        for line in t.text.replace("\0", "\\0").splitlines() or [""]:
            text = line.encode("utf-8", "backslashreplace").decode("utf-8")
            self.out.end_line()
            if len(self.out.lines) < 2:
                text = _ENCODING.sub("coding ", text)
            self.out.raw_line(f"# {text}".rstrip())

    # -- compound statements -----------------------------------------------------------------------
    def _If(self, t: ast.If) -> None:
        keyword = "if "
        while True:
            self.out.fill(keyword)
            self.out.soft(t.test, self.out.named)
            self.block(t, t.body)
            comments = [part for part in t.orelse if isinstance(part, Comment)]
            if len(comments) + 1 != len(t.orelse) or not isinstance(last := t.orelse[-1], ast.If):
                break
            for comment in comments:
                self._Comment(comment)
            keyword, t = "elif ", last
        self._clause("else", t, t.orelse)

    def _clause(self, keyword: str, owner: ast.AST, body: list[ast.stmt]) -> None:
        if body:
            self.out.fill(keyword)
            self.block(owner, body)

    def _While(self, t: ast.While) -> None:
        self.out.fill("while ")
        self.out.soft(t.test, self.out.named)
        self.block(t, t.body)
        self._clause("else", t, t.orelse)

    def _For(self, t: ast.For | ast.AsyncFor, keyword: str = "for ") -> None:
        self.out.fill(keyword)
        self.out.target(t.target)
        self.out.write(" in ")
        self.out.soft(t.iter, self.out.test)
        self.block(t, t.body)
        self._clause("else", t, t.orelse)

    def _AsyncFor(self, t: ast.AsyncFor) -> None:
        self._For(t, "async for ")

    def _With(self, t: ast.With | ast.AsyncWith, keyword: str = "with ") -> None:
        self.out.fill(keyword)
        first = t.items[0]
        bare_tuple = isinstance(first.context_expr, ast.Tuple) and not first.optional_vars
        if len(t.items) == 1 and bare_tuple:  # `with (a, b):` would be two managers
            self.out.bracketed("(", [first.context_expr], self.out.dispatch)
        else:
            self.out.soft(t.items, self.out.listed)
        self.block(t, t.body)

    def _AsyncWith(self, t: ast.AsyncWith) -> None:
        self._With(t, "async with ")

    def _withitem(self, t: ast.withitem) -> None:
        self.out.test(t.context_expr)
        if t.optional_vars:
            self.out.write(" as ")
            self.out.atom(t.optional_vars)

    def _Try(self, t: Any, group_handlers: bool = False) -> None:
        self.out.fill("try")
        self.block(t, t.body)
        for handler in t.handlers:
            self._handler(handler, "except*" if group_handlers else "except")
        self._clause("else", t, t.orelse)
        self._clause("finally", t, t.finalbody)

    def _TryStar(self, t: ast.FunctionDef) -> None:
        self._Try(t, group_handlers=True)

    def _handler(self, t: ast.ExceptHandler, keyword: str) -> None:
        self.out.fill(keyword)
        if t.type:
            self.out.write(" ")
            self.out.soft(t.type, self.out.test)
        if t.name:
            self.out.write(" as " + t.name)
        self.block(t, t.body)


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
