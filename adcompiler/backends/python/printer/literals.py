"""Constants as source text: which have a literal, how strings are quoted, where they may break."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence

from adcompiler.backends.python.printer.layout import Break, Level
from adcompiler.errors import InternalError

QUOTES = ('"', "'", '"""', "'''")
INFINITY = "1e309"  # overflows to inf, and needs no name that a module might have rebound
LONG_TEXT = 50  # a text shorter than this is never taken apart
LONG_INTEGER = 10_000  # bits; Python refuses to convert longer ones to or from decimal

_CHUNK = re.compile(r"[^ \n]*[ \n]|[^ \n]+")
_CHUNK_OF_BYTES = re.compile(rb"[^ \n]*[ \n]|[^ \n]+")
_SPECIAL = re.compile(r'[^\n\t\x20-\x7e]|\\|"""|"\Z')


def canonical(node: ast.Constant) -> ast.expr:
    """Return the expression a constant prints as: itself, unless Python has no such literal.

    A negative number is a unary minus on a literal, a tuple is a display, nan is
    ``float("nan")``, and a complex number is a sum or, where a sum would lose the sign of a zero
    or meet nan, a call of ``complex``. Subclasses (NumPy scalars, enum members) are refused:
    printed as a literal they would come back as another type.
    """
    value: object = node.value
    kind = type(value)
    if isinstance(value, float) and kind is float and math.isnan(value):
        return _call("float", ast.Constant("nan"))
    if isinstance(value, float | int) and kind in (int, float) and _negative(value):
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    if isinstance(value, complex) and kind is complex:
        return _canonical_complex(node, value)
    if isinstance(value, tuple) and kind is tuple:
        return ast.Tuple([ast.Constant(item) for item in value], ast.Load())
    if kind in (int, float, str, bytes, bool, type(None), type(...)):
        return node
    raise InternalError(f"no literal for a constant of type {kind.__name__}: {value!r}")


def _negative(value: float) -> bool:
    """Whether `value` has a minus sign, be it zero."""
    return value < 0 or (value == 0 and math.copysign(1.0, value) < 0.0)


def _canonical_complex(node: ast.Constant, value: complex) -> ast.expr:
    real, imag = value.real, value.imag
    if math.isnan(real) or math.isnan(imag) or (imag == 0.0 and _negative(imag)):
        return _call("complex", ast.Constant(real), ast.Constant(imag))
    if real == 0.0 and not _negative(real) and imag >= 0.0:
        return node
    if real == 0.0 or imag == 0.0:
        return _call("complex", ast.Constant(real), ast.Constant(imag))
    operator = ast.Add() if imag > 0.0 else ast.Sub()
    return ast.BinOp(ast.Constant(real), operator, ast.Constant(complex(0.0, abs(imag))))


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


def number(value: object) -> str:
    """Return the literal of a canonical constant that is not text."""
    if value is ...:
        return "..."
    if isinstance(value, int) and value.bit_length() > LONG_INTEGER:
        return hex(value)
    return repr(value).replace("inf", INFINITY)


def escaped(value: str | bytes, quote: str) -> str:
    """Return what stands between quotes for `value`; only the character of `quote` is escaped."""
    # A double quote in front makes repr choose single quotes and escape those inside.
    body = repr('"' + value)[2:-1] if isinstance(value, str) else repr(b'"' + value)[3:-1]
    if quote[0] == "'":
        return body
    return body.replace("\\'", "'").replace('"', '\\"')


def preferred_quote(value: str | bytes) -> str:
    """Return the quote for `value`: double, unless single quotes save escapes."""
    if isinstance(value, str):
        return "'" if value.count('"') > value.count("'") else '"'
    return "'" if value.count(b'"') > value.count(b"'") else '"'


def chunks(value: str | bytes) -> Sequence[str | bytes]:
    """Return the pieces of a text between which a line may break."""
    return _CHUNK.findall(value) if isinstance(value, str) else _CHUNK_OF_BYTES.findall(value)


def break_after(chunk: str | bytes, prefix: str, quote: str) -> Break:
    """Return the break between one chunk and the next: the literal ends and starts anew."""
    newline = "\n" if isinstance(chunk, str) else b"\n"
    level = Level.TEXT_LINE if chunk[-1:] == newline else Level.TEXT_WORD
    return Break("", level, end=quote, start=prefix + quote)


def text_tokens(value: str | bytes, prefix: str) -> list[str]:
    """Return the tokens of a string or bytes literal."""
    quote = preferred_quote(value)
    tokens = [prefix + quote]
    pieces = chunks(value) if len(value) > LONG_TEXT else [value]
    for chunk in pieces[:-1]:
        tokens += [escaped(chunk, quote), break_after(chunk, prefix, quote)]
    tokens += [escaped(chunk, quote) for chunk in pieces[-1:]]
    return [*tokens, quote]


def verbatim(value: str | bytes, quote: str) -> str | None:
    """Return `value` as it may stand between quotes without any backslash, or None."""
    if isinstance(value, bytes):
        if not value.isascii():
            return None
        value = value.decode("ascii")
    if re.search(r"[\\\r\0\ud800-\udfff]", value) or quote in value or value.endswith(quote[0]):
        return None
    return None if "\n" in value and len(quote) == 1 else value


def docstring(value: str, prefix: str = "") -> str:
    """Return a docstring in triple quotes, raw if it has backslashes and nothing forbids that."""
    special = set(_SPECIAL.findall(value))
    raw = "\\" in special and not prefix and not value.endswith("\\")
    if raw and all(found[0] != '"' and found.isprintable() for found in special):
        return f'r"""{value}"""'
    return f'{prefix}"""{_SPECIAL.sub(_escape_special, value)}"""'


def _escape_special(match: re.Match[str]) -> str:
    found = match.group()
    if found[0] == '"':
        return found.replace('"', '\\"')
    return found if found != "\\" and found.isprintable() else repr(found)[1:-1]
