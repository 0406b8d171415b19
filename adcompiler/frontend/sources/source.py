"""Finds the source text of a live function, and proves that it is the text that runs.

A gradient of the wrong text is a wrong gradient: the file may have changed since it was imported,
two lambdas may share a line. So a candidate text counts only if, compiled alone in the scope of
the function, it gives the function's own bytecode, names and constants; or, failing that, if the
function comes from a ``.pyc`` file that Python made of the file as it is now.

``read_source`` touches only the lines of the function, however long the file is; the one
exception is a lambda whose own lines do not parse alone (an argument on a line of a longer call),
for which the file is parsed once. It never imports gast: a warm cache needs texts, not trees.
"""

from __future__ import annotations

import ast
import functools
import linecache
import tokenize
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any

from adcompiler.errors import InternalError, SourceNotFoundError
from adcompiler.frontend.sources.bytecode_file import is_from_present_file
from adcompiler.frontend.sources.forwarders import written
from adcompiler.frontend.sources.reloaded import find_in_module, find_moved
from adcompiler.frontend.sources.same_code import compiles_to, has_signature_of
from adcompiler.frontend.sources.typed_in import COMMAND, LAMBDA, REMEDY, find_given, remedy_for
from adcompiler.ops.made_texts import kept_lines
from adcompiler.support.budget import quiet

if TYPE_CHECKING:
    import gast

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Proof = Callable[[Function], bool]



@dataclass(frozen=True, slots=True)
class SourceText:
    """The lines that hold a function, dedented, and where they stand in the user's file.

    ``first_line`` is the 1-based line of the file where ``text`` starts (the first decorator's),
    ``indent`` the number of columns dedenting removed. A text whose dedenting would change its
    meaning (a string over several lines is not all docstring) is kept as written, with indent 0.
    ``span`` delimits the function inside ``text``: all of it for a def; for a lambda, which may
    share its lines with others, only the lambda.
    """

    file: str
    first_line: int
    text: str
    indent: int
    name: str
    span: tuple[int, int]

    @property
    def snippet(self) -> str:
        """The text of the function alone: what identifies it, so what a cache key hashes."""
        return self.text[self.span[0] : self.span[1]]


@dataclass(frozen=True, slots=True)
class ParsedFunction:
    """A function's tree. Lines and columns are the file's; columns count characters, not bytes."""

    source: SourceText
    node: gast.FunctionDef | gast.AsyncFunctionDef | gast.Lambda


@dataclass(frozen=True, slots=True, order=True)
class Extent:
    """Where a node stands: 1-based lines of the file, 0-based columns in UTF-8 bytes."""

    line: int
    column: int
    end_line: int
    end_column: int

    def has_body(self, other: Extent) -> bool:
        """Whether the other extent lies inside this one, after its first word, `lambda`."""
        return (self.line, self.column) < (other.line, other.column) and (
            (other.end_line, other.end_column) <= (self.end_line, self.end_column)
        )


UNPICKLED = "<dynamic-code>"
"""The file of a function that cloudpickle took along; that of its module is in its globals."""


def read_source(function: Callable[..., Any]) -> SourceText:
    """Return the text of the function, checked against the code that runs.

    Raises SourceNotFoundError when there is no text (a builtin, a C function, ``exec`` of a
    string), when the text is no longer the one that was imported, or when several different
    lambdas could be the one asked for.
    """
    code = _code_of(function)
    module = getattr(function, "__globals__", {})
    if code.co_filename == UNPICKLED and module.get("__file__"):
        code = code.replace(co_filename=str(module["__file__"]))
    lines = _lines_of(code, module)
    compiles = functools.partial(compiles_to, live=code, module=module)
    if not lines:
        find = functools.partial(_find, proves=compiles)
        found = find_in_module(code, module, find) or find_given(code, find) or (
            written(code, compiles, SourceText))
        if found is None:
            raise without_text(function, code)
        return found
    found = _find(code, lines, compiles)
    if found is None:
        # A module that was edited and reloaded leaves its old lines in linecache.
        linecache.checkcache(code.co_filename)
        lines, find = _lines_of(code, module), functools.partial(_find, proves=compiles)
        found = find(code, lines) or find_moved(code, lines, find)
    alike = found or _find(code, lines, functools.partial(has_signature_of, live=code))
    if found is None and is_from_present_file(code, module):
        found = alike
    found = found or find_given(code, functools.partial(_find, proves=compiles))
    found = found or (None if alike else written(code, compiles, SourceText))
    if found is None:
        if code.co_filename == COMMAND:
            raise without_text(function, code)
        raise SourceNotFoundError(
            f"the source of {_described(function)} has changed since it was imported: the text at "
            f"{code.co_filename}:{code.co_firstlineno} does not compile to the code that runs. "
            "What to do: reload the module or restart Python. If the file did not change, an "
            f"import hook rewrites it: {REMEDY} that is imported without the hook."
        )
    return found


def without_text(function: Callable[..., Any], code: CodeType) -> SourceNotFoundError:
    """Return the error for a function of which no text is kept."""
    return SourceNotFoundError(
        f"no source text for {_described(function)}: {code.co_filename} cannot be read. "
        f"What to do: {remedy_for(code.co_filename)}."
    )


def parse_function(function: Callable[..., Any]) -> ParsedFunction:
    """Return the function's tree with the line and column numbers of the user's file."""
    source = read_source(function)
    return ParsedFunction(source, parsed(source))


# -- where the text comes from ---------------------------------------------------------------------


def _code_of(function: Callable[..., Any]) -> CodeType:
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        raise SourceNotFoundError(
            f"no source text for {_described(function)}: it is a {type(function).__name__}, not a "
            f"function written in Python. What to do: {REMEDY}."
        )
    return code


def _described(function: Callable[..., Any]) -> str:
    name = getattr(function, "__qualname__", None)
    module = getattr(function, "__module__", None)
    return f"`{module}.{name}`" if module and name else f"`{name or repr(function)}`"


def _lines_of(code: CodeType, module: dict[str, Any]) -> list[str]:
    # Looked up on the module at each call: doctest replaces linecache.getlines while it runs.
    lines = linecache.getlines(code.co_filename, module)
    if not lines and code.co_filename.startswith("<frozen "):  # a part of Python
        lines = linecache.getlines(str(module.get("__file__", "")))
    if not lines:
        # Newer REPLs (3.13.1 on) file what was typed under the code object, not the file name.
        by_code = getattr(linecache, "_getlines_from_code", None)
        lines = by_code(code) if by_code else []
    return lines or kept_lines(code.co_filename)


def _find(code: CodeType, lines: list[str], proves: Proof) -> SourceText | None:
    if code.co_firstlineno > len(lines):
        return None
    with quiet(SyntaxWarning, DeprecationWarning):
        # The user was warned of `x is 1` or "\d" when the file was imported.
        find = _find_lambda if code.co_name == LAMBDA else _find_def
        return find(code, lines, proves)


# ---------------------------------------------------------------------------------------------
# Defs: the block that starts at the first decorator
# ---------------------------------------------------------------------------------------------


def _find_def(code: CodeType, lines: list[str], proves: Proof) -> SourceText | None:
    first = code.co_firstlineno - 1
    for end_of_block in (_dedented_line, _tokenised_end):
        node = _parsed_def("".join(lines[first : end_of_block(code, lines)]), code)
        if node is not None:
            text = "".join(lines[first : node.end_lineno])
            return _def_source(code, text, node) if proves(node) else None
    return None


def _dedented_line(code: CodeType, lines: list[str]) -> int:
    """Guess the end of the block: the first dedented line after the last line that has code.

    The guess cuts a string or a bracket that closes in column 0, which then does not parse.
    """
    indent = _prefix(lines[code.co_firstlineno - 1])
    last = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
    for number in range(last, len(lines)):
        line = lines[number]
        body = line.strip()
        if body and not body.startswith("#") and len(_prefix(line)) <= len(indent):
            return number
    return len(lines)


def _tokenised_end(code: CodeType, lines: list[str]) -> int:
    """Return the end of the block, read token by token: slower, and never misled."""
    first = code.co_firstlineno - 1
    rest = iter(lines[first:])
    depth, in_def, past_header, end = 0, False, False, first
    try:
        for token in tokenize.generate_tokens(lambda: next(rest, "")):
            if token.type in (tokenize.NL, tokenize.COMMENT):
                continue
            if past_header and depth == 0 and token.type != tokenize.INDENT:
                break  # `def f(x): return x`, or the line after the block
            if token.type == tokenize.INDENT:
                depth += in_def  # the first line of a nested def is itself indented
            elif token.type == tokenize.DEDENT:
                depth -= 1
            elif token.type == tokenize.NEWLINE:
                end, past_header = first + token.start[0], in_def
            elif token.string == "def":
                in_def = True
    except (tokenize.TokenError, SyntaxError):
        pass  # the text ends, or dedents to a column that only the lines above would explain
    return end


def _parsed_def(text: str, code: CodeType) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the def that the text is, with the file's lines, or None if it is no such def."""
    above = code.co_firstlineno - 1
    try:
        if _prefix(text):
            [block] = ast.parse("\n" * (above - 1) + "if 1:\n" + text).body
            node = block.body[0] if isinstance(block, ast.If) else block
        else:
            node = ast.parse("\n" * above + text).body[0]
    except (SyntaxError, ValueError, IndexError):
        return None
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name != code.co_name:
        return None
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return node if first == code.co_firstlineno else None


def _def_source(code: CodeType, text: str, node: ast.AST) -> SourceText:
    prefix = _prefix(text)
    dedented = _dedented(text, prefix, code.co_firstlineno, node)
    if dedented is None:
        prefix, dedented = "", text
    return SourceText(
        file=code.co_filename,
        first_line=code.co_firstlineno,
        text=dedented,
        indent=len(prefix),
        name=code.co_name,
        span=(0, len(dedented)),
    )


# ---------------------------------------------------------------------------------------------
# Lambdas: an expression somewhere on its line
# ---------------------------------------------------------------------------------------------


def _find_lambda(code: CodeType, lines: list[str], proves: Proof) -> SourceText | None:
    matches = _matching_lambdas(code, lines, proves, _extents_on_own_lines(code, lines))
    matches = matches or _matching_lambdas(code, lines, proves, _extents_in_file("".join(lines)))
    if not matches:
        return None
    extent, node = max(matches, key=lambda match: match[0])  # the innermost
    if _code_extent(code) is None and any(ast.dump(each) != ast.dump(node) for _, each in matches):
        raise SourceNotFoundError(
            f"several lambdas at {code.co_filename}:{extent.line} compile to the same code and "
            "differ in text; Python runs without column positions (-X no_debug_ranges). "
            "What to do: put each lambda on a line of its own, or use `def`."
        )
    return _lambda_source(code, lines, extent)


def _matching_lambdas(
    code: CodeType,
    lines: list[str],
    proves: Proof,
    extents: tuple[Extent, ...],
) -> list[tuple[Extent, ast.Lambda]]:
    """Return the proven lambdas that start on the code's line and surround its positions.

    Two lambdas of one line with the same body differ in their positions; a lambda inside another
    differs from it in its code.
    """
    positions = _code_extent(code)
    matches = []
    for extent in extents:
        around = positions is None or extent.has_body(positions)
        if around and extent.line == code.co_firstlineno:
            above = "\n" * (extent.line - 1)
            node = ast.parse(f"{above}({_segment(lines, extent)})", mode="eval").body
            if isinstance(node, ast.Lambda) and proves(node):
                matches.append((extent, node))
    return matches


def _extents_on_own_lines(code: CodeType, lines: list[str]) -> tuple[Extent, ...]:
    first = code.co_firstlineno
    positions = _code_extent(code)
    last = positions.end_line if positions else first
    text = "".join(lines[first - 1 : last])
    prefix = _prefix(text)
    # `if 1:` keeps the columns; a line that is an entry of a longer display does not parse.
    shift, text = (first - 2, "if 1:\n" + text) if prefix else (first - 1, text)
    return tuple(
        Extent(found.line + shift, found.column, found.end_line + shift, found.end_column)
        for found in _extents_in(text)
    )


@functools.lru_cache(maxsize=8)
def _extents_in_file(text: str) -> tuple[Extent, ...]:
    return _extents_in(text)


def _extents_in(text: str) -> tuple[Extent, ...]:
    """Return where the lambdas of the text stand; nothing when it does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return ()
    return tuple(
        Extent(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda)
        and node.end_lineno is not None
        and node.end_col_offset is not None
    )


def _code_extent(code: CodeType) -> Extent | None:
    """Return the span of the code's instructions, or None when Python kept no columns."""
    starts, ends = [], []
    for line, end_line, column, end_column in code.co_positions():
        # The prologue (RESUME, MAKE_CELL) has an empty position at the start of the line.
        if line and end_line and column is not None and end_column and column != end_column:
            starts.append((line, column))
            ends.append((end_line, end_column))
    return Extent(*min(starts), *max(ends)) if starts else None


def _lambda_source(code: CodeType, lines: list[str], extent: Extent) -> SourceText:
    text = "".join(lines[extent.line - 1 : extent.end_line])
    segment = _segment(lines, extent)
    prefix = _prefix(text)
    start = len(_characters(lines[extent.line - 1], extent.column))
    dedented = _dedented(text, prefix, 1, ast.parse(f"({segment})"))
    if dedented is None:
        prefix, dedented = "", text
    start -= len(prefix)
    last = _characters(lines[extent.end_line - 1], extent.end_column)
    tail = len(lines[extent.end_line - 1]) - len(last)
    return SourceText(
        file=code.co_filename,
        first_line=extent.line,
        text=dedented,
        indent=len(prefix),
        name=code.co_name,
        span=(start, len(dedented) - tail),
    )


def _segment(lines: list[str], extent: Extent) -> str:
    chosen = lines[extent.line - 1 : extent.end_line]
    chosen[-1] = _characters(chosen[-1], extent.end_column)
    chosen[0] = chosen[0][len(_characters(lines[extent.line - 1], extent.column)) :]
    return "".join(chosen)


# ---------------------------------------------------------------------------------------------
# Text: indentation, columns
# ---------------------------------------------------------------------------------------------


def _prefix(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t\f"))] if line[:1] in " \t\f" else ""


def _dedented(text: str, prefix: str, first_line: int, node: ast.AST) -> str | None:
    """Return the text without the prefix, or None where a string over several lines forbids it."""
    if not prefix:
        return text
    exempt: set[int] = set()
    if '"""' in text or "'''" in text or "\\\n" in text:
        for string in _long_strings(node):
            if not isinstance(string, ast.Expr):
                return None
            exempt.update(range(string.lineno + 1, (string.end_lineno or 0) + 1))
    rows = text.splitlines(keepends=True)
    for index, row in enumerate(rows):
        if row.startswith(prefix):
            rows[index] = row[len(prefix) :]
        elif not row.strip() or first_line + index in exempt:
            rows[index] = row.lstrip(" \t")
        else:
            return None
    return "".join(rows)


def _long_strings(node: ast.AST) -> list[ast.Expr | ast.expr]:
    """Return the strings over several lines; of a docstring, laid out freely, its statement."""
    found: list[ast.Expr | ast.expr] = []
    docstrings = set()
    for each in ast.walk(node):  # a statement comes before its expression
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
            docstrings.add(each.value)
            found.append(each)
        elif each not in docstrings and _is_text(each):
            assert isinstance(each, ast.expr)
            if each.end_lineno != each.lineno:
                found.append(each)
    return found


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _characters(line: str, column: int) -> str:
    """Return the start of the line up to a column that counts UTF-8 bytes."""
    return line[:column] if line.isascii() else line.encode()[:column].decode()


# ---------------------------------------------------------------------------------------------
# Trees
# ---------------------------------------------------------------------------------------------


def parsed(source: SourceText) -> gast.FunctionDef | gast.AsyncFunctionDef | gast.Lambda:
    # gast is imported here, not above: a process whose derivatives are all in the cache on disk
    # reads texts to compute their keys, and should not wait for a parser it never uses.
    import gast

    with quiet(SyntaxWarning, DeprecationWarning):
        node: Any
        if source.name == LAMBDA:
            text = f"({source.snippet})"
            start = source.indent + source.span[0] - 1
            node = gast.parse(text).body[0]
            node = node.value
            _relocate(node, text, source.first_line - 1, start, source.indent)
        elif _prefix(source.text):
            text = "if 1:\n" + source.text
            node = gast.parse(text).body[0]
            node = node.body[0]
            _relocate(node, text, source.first_line - 2, 0, 0)
        else:
            node = gast.parse(source.text).body[0]
            _relocate(node, source.text, source.first_line - 1, source.indent, source.indent)
    if not isinstance(node, gast.FunctionDef | gast.AsyncFunctionDef | gast.Lambda):
        raise InternalError(f"{source.file}:{source.first_line}: the text found is no function")
    return node


def _relocate(
    node: gast.AST, text: str, line_shift: int, first_column_shift: int, column_shift: int
) -> None:
    """Give the tree the lines and columns of the file, columns in characters."""
    from adcompiler.frontend.rewriting.walking import walk

    rows = [] if text.isascii() else text.split("\n")
    for each in walk(node):
        for line_field, column_field in (
            ("lineno", "col_offset"),
            ("end_lineno", "end_col_offset"),
        ):
            line, column = getattr(each, line_field, None), getattr(each, column_field, None)
            if line is None or column is None:
                continue
            if rows:
                column = len(_characters(rows[line - 1], column))
            shift = first_column_shift if line == 1 else column_shift
            setattr(each, line_field, line + line_shift)
            setattr(each, column_field, column + shift)
