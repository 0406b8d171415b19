"""How the printer lays out source: long statements, comments, blank lines, the round trip."""

import ast
import sys
import textwrap

import pytest

from adcompiler.backends.python.printer.source import (
    BlankLine, Comment, check_round_trip, emit_expression, emit_source,
)
from adcompiler.errors import InternalError

def expression(text):
    return ast.parse(text, mode="eval").body
def block(text):
    return textwrap.dedent(text).lstrip("\n")
def printed(text):
    return emit_source(ast.parse(block(text)))


# -- wrapping ------------------------------------------------------------------------------------
A, B, C, D = ("a" * 40, "b" * 40, "c" * 40, "d" * 10)
WRAPPED = [
    f"x = {A} + {B} * {C} - {D}",
    f"x = (\n    {A}\n    + {B} * {C}\n    - {D}\n)",

    f"x = np.sum({A} + {B}, axis=({C}))",
    f"x = np.sum(\n    {A} + {B},\n    axis={C},\n)",

    f"x = f({A}, {B}, {D})",
    f"x = f(\n    {A}, {B}, {D}\n)",

    f"x[{A}] = [{B}, {C}]",
    f"x[{A}] = [\n    {B},\n    {C},\n]",

    f"x = {A}, {B}, {C}",
    f"x = (\n    {A},\n    {B},\n    {C},\n)",

    f"if {A} and {B} or {C}:\n    pass",
    f"if (\n    {A} and {B}\n    or {C}\n):\n    pass",

    f"x = 2.0 * np.dot({A}, {B}, {D})",
    f"x = 2.0 * np.dot(\n    {A}, {B}, {D}\n)",

    f"x = {A} if {B} else {C}",
    f"x = (\n    {A}\n    if {B}\n    else {C}\n)",

    f"x = [{A} for {B} in {C}]",
    f"x = [\n    {A}\n    for {B} in {C}\n]",

    f"def f({A}, {B}, {D}) -> int:\n    pass",
    f"def f(\n    {A}, {B}, {D}\n) -> int:\n    pass",

    f"def f({A}, *, {B}=1, **{C}):\n    pass",
    f"def f(\n    {A},\n    *,\n    {B}=1,\n    **{C},\n):\n    pass",

    f"from {D} import {A}, {B}, {D}",
    f"from {D} import (\n    {A},\n    {B},\n    {D},\n)",

    f"with {A} as {D}, {B} as {C}:\n    pass",
    f"with (\n    {A} as {D},\n    {B} as {C},\n):\n    pass",

    f"x = f'{A} {B} {{x}} {C}'",
    f'x = (\n    f"{A} {B} {{x}} "\n    f"{C}"\n)',

    f"x = '{A}\\n{B}\\n{C}'",
    f'x = (\n    "{A}\\n"\n    "{B}\\n"\n    "{C}"\n)',

    f"x = {A * 3}",
    f"x = {A * 3}",
]
PAIRS = list(zip(WRAPPED[::2], WRAPPED[1::2], strict=True))


@pytest.mark.parametrize(("written", "expected"), PAIRS)
def test_long_statements_are_wrapped(written, expected):
    assert emit_source(ast.parse(written)) == expected + "\n"
    assert printed(expected) == expected + "\n"


def test_expression_stays_on_one_line():
    text = f"f({A}, {B}, {C})"
    assert emit_expression(expression(text)) == text


def test_deep_sum_and_deep_indentation():
    total = " + ".join(["alpha", "b"] * 400)
    text = emit_source(ast.parse(f"x = {total}"))
    assert text.count("\n") == 802
    assert all(len(line) <= 100 for line in text.splitlines())
    nested = "\n".join(f"{'    ' * i}if a:" for i in range(40))
    assert emit_source(ast.parse(f"{nested}\n{'    ' * 40}x = f(a, b)")).endswith("x = f(a, b)\n")


# -- comments and blank lines --------------------------------------------------------------------
def test_comments_and_blank_lines():
    tree = ast.parse(block("""
        import numpy as np
        def f(x):
            y = x
            if y:
                pass
            return y
        def g(): pass
    """))
    f = tree.body[1]
    f.body[1].body = [Comment("nothing to do")]
    f.body[2:2] = [BlankLine(), BlankLine(), Comment("reverse of f.py:1\nsecond line")]
    f.body.insert(0, Comment("f.py:1  y = x"))
    tree.body.insert(2, Comment("-- pair"))
    tree.body.insert(0, Comment(""))
    assert emit_source(tree) == block("""
        #
        import numpy as np


        def f(x):
            # f.py:1  y = x
            y = x
            if y:
                # nothing to do
                pass

            # reverse of f.py:1
            # second line
            return y


        # -- pair
        def g():
            pass
    """)


def test_comment_keeps_docstring_first_and_cannot_leave_its_line():
    docstring = ast.Expr(ast.Constant("Doc."))
    tree = ast.Module([Comment("a\rimport b\x0c\0"), docstring, ast.Pass()], [])
    assert emit_source(tree) == '# a\n# import b\n# \\0\n"""Doc."""\n\npass\n'


def test_comment_does_not_declare_an_encoding():
    text = emit_source(ast.Module([Comment("open(name, encoding=latin)"), ast.Pass()], []))
    assert compile(text.encode(), "emitted", "exec")


def test_else_of_comments_only_gets_pass():
    tree = ast.If(ast.Name("a"), [ast.Pass()], [Comment("otherwise")])
    assert emit_source(tree) == "if a:\n    pass\nelse:\n    # otherwise\n    pass\n"


# -- the round trip ------------------------------------------------------------------------------
def test_what_cannot_be_expressed_is_an_internal_error():
    with pytest.raises(InternalError, match=r"(?s)should\n  meant: Name\(id='a \+ b'.*line 1: x"):
        emit_source(ast.Assign([ast.Name("x")], ast.Name("a + b")))
    with pytest.raises(InternalError, match="does not parse"):
        emit_source(ast.Assign([ast.Name("x")], ast.Name("class")))
    with pytest.raises(InternalError, match="cannot print Load"):
        emit_source(ast.Expr(ast.Load()))
    with pytest.raises(InternalError, match="cannot print str"):
        emit_source(ast.Expr("x"))


@pytest.mark.parametrize(("meant", "text"), [
    ("a + b", "a - b"), ("a", "a\nb"), ("x = 1", "x = 1.0"), ("x = 0.0", "x = 0"), ("a", "b"),
    ("def f(a): pass", "def f(a=1): pass"), ("f'{x}'", "f'{x!r}'"), ("x = True", "x = 1"),
])
def test_check_round_trip_finds(meant, text):
    with pytest.raises(InternalError, match="does not mean"):
        check_round_trip(ast.parse(meant), text)
    check_round_trip(ast.parse(meant), meant)


def test_twice_the_lines_take_twice_the_calls():
    def calls(count):
        tree = ast.parse("\n".join(
            f"v{i} = np.sin(a[{i}, 1:]) * (b - 2.0 * c)" for i in range(count)))
        made = 0

        def counting(frame, event, argument):
            nonlocal made
            made += event == "call"

        before = sys.getprofile()
        sys.setprofile(counting)
        try:
            emit_source(tree)
        finally:
            sys.setprofile(before)
        return made

    assert 10_000 < calls(1000) <= 2.05 * calls(500)
