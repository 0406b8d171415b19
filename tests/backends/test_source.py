"""What the emitter prints, to the letter."""

import ast
import sys
import textwrap

import numpy as np
import pytest

from adcompiler.backends.python.printer.source import (
    emit_expression,
    emit_source,
)
from adcompiler.errors import InternalError
from tests.together import each

NAN = float("nan")
INF = float("inf")


def expression(text):
    return ast.parse(text, mode="eval").body


def block(text):
    return textwrap.dedent(text).lstrip("\n")


def printed(text):
    return emit_source(ast.parse(block(text)))


# Each of these is already in the form the emitter prints.
EXPRESSIONS = """
a + b + c
a + (b + c)
a - (b - c)
a * b + c * d
(a + b) * (c - d)
a / b / c
a / (b * c)
a // b % c @ d
-a * b
-(a * b)
-a**b
(-a) ** b
(-2.0) ** x
a**-b
a**b**c
(a**b) ** c
a ** (b + c)
a.b**2
f(a) ** 2
2 ** -x[0].n
--a
not a
not not a
-(not a)
not a == b
(not a) == b
~a | b
a | b ^ c & d << e + f
(a | b) & c
a << (b << c)
a < b < c
(a < b) < c
a < (b < c)
a in b and c is not d
a and b or c and d
a and (b or c)
a and (b and c)
(a or b) or c
a if b else c
(a if b else c) if d else e
a if (b if c else d) else e
a if b else c if d else e
lambda: 0
lambda x, /, y=1, *z, k, **w: x + y
lambda x: lambda y: x
(lambda x: x)(1)
a or (lambda: b)
(a, b)
(a,)
()
[*a, b]
[*(a or b)]
{*a, b}
{a: b, **c}
{**(a or b)}
{}
f(a, *b, c=d, **e)
f(a if b else c)
f(x for x in y)
f((x for x in y), z)
f(a := 1)
f(k=(a := 1))
[a := 1, b]
x[i, j]
x[1:2, :]
x[:, ::2, ..., None]
x[i + 1 :]
x[: n - 1]
x[a.n : b : 2]
x[:-1]
x[::-1]
x[(i, j), k]
x[i,]
x[()]
x[*a]
x[*a, b]
x[i := 1]
x[a if b else c]
[i for i in x if a if b]
[(i, j) for i, j in x]
{i: j for i, j in x.items()}
{i for i in (lambda: x)()}
[i for i in (a if b else c)]
[i for (i,) in x]
(await_ for await_ in x)
(1).real
1.5.real
1j.imag
True.real
(-1).real
(a + b).c
(a, b)[0]
"text".join(a)
"it's"
'say "hi"'
"both ' and \\""
"tab\\t, newline\\n, null\\x00, é, \\ud800"
"back\\\\slash"
u"kind"
b"bytes \\xff"
b'a "quoted" one'
1e309
-1e309
1e+16
1j
1e309j
1.0 - 2j
...
None
f"{x}"
f"{x!r:>{w}.{p}} {{literal}}"
f"{x['key']}"
f"{ {1: 2}}"
f"{(lambda: 0)}"
f"{(x := 1)}"
f"{(a if b else c)}"
f"{x:%H:%M}"
f"{x:\\x7b}"
f"{f'{x}'}"
f"it's {x}"
f'say "{x}"'
f"a\\n{x}"
f""
""".strip().splitlines()


@each("text", EXPRESSIONS)
def test_expression_is_printed_as_written(text):
    assert emit_expression(expression(text)) == text


@pytest.mark.parametrize(("written", "expected"), [
    ("((a + b))", "a + b"),
    ("(a * b) + c", "a * b + c"),
    ("x[(i, j)]", "x[i, j]"),
    ("(not (a == b))", "not a == b"),
    ("a ** (-b)", "a**-b"),
    ("-(a ** b)", "-a**b"),
    ("((yield))", "(yield)"),
    ("(a for a in b)", "(a for a in b)"),
    ("f'{x=}'", 'f"x={x!r}"'),
    ("'a' 'b'", '"ab"'),
    ("0x10", "16"),
    ("1_000", "1000"),
    ("f((x for x in y))", "f(x for x in y)"),
    ("lambda: (yield)", "lambda: (yield)"),
])
def test_expression_in_house_style(written, expected):
    assert emit_expression(expression(written)) == expected


@pytest.mark.parametrize(("value", "expected"), [
    (-2.0, "-2.0"),
    (-0.0, "-0.0"),
    (-7, "-7"),
    (NAN, 'float("nan")'),
    (INF, "1e309"),
    (-INF, "-1e309"),
    (2j, "2j"),
    (1 + 2j, "1.0 + 2j"),
    (-1 - 2j, "-1.0 - 2j"),
    (complex(0.0, -2.0), "complex(0.0, -2.0)"),
    (complex(-0.0, 2.0), "complex(-0.0, 2.0)"),
    (complex(1.0, -0.0), "complex(1.0, -0.0)"),
    (complex(NAN, 1.0), 'complex(float("nan"), 1.0)'),
    (complex(INF, -INF), "1e309 - 1e309j"),
    ((1, -2.0, (NAN,)), '(1, -2.0, (float("nan"),))'),
    (True, "True"),
])
def test_constants_without_a_literal(value, expected):
    text = emit_expression(ast.Constant(value))
    assert text == expected
    assert repr(eval(text)) == repr(value)


def test_constant_of_huge_integer():
    value = 10**5000
    assert eval(emit_expression(ast.Constant(-value))) == -value


@pytest.mark.parametrize(("node", "expected"), [
    (ast.BinOp(ast.Constant(-2.0), ast.Pow(), ast.Name("x")), "(-2.0) ** x"),
    (ast.BinOp(ast.Name("x"), ast.Pow(), ast.Constant(-2.0)), "x**-2.0"),
    (ast.BinOp(ast.Constant(1 + 2j), ast.Mult(), ast.Name("x")), "(1.0 + 2j) * x"),
    (ast.Attribute(ast.Constant(-1), "real"), "(-1).real"),
    (ast.Set([]), "{*()}"),
    (ast.Slice(ast.Name("a"), None, None), "a:"),
    (ast.Tuple([ast.Slice(), ast.Name("i")]), ":, i"),
    (ast.Starred(ast.Name("a")), "*a"),
])
def test_trees_only_a_compiler_makes(node, expected):
    assert emit_expression(node) == expected


@pytest.mark.parametrize("value", [np.float64(1.0), np.int64(1), frozenset(), object()])
def test_constant_of_another_type_is_refused(value):
    with pytest.raises(InternalError, match="no literal for a constant of type"):
        emit_expression(ast.Constant(value))


STATEMENTS = [
    "x = a, b",
    "(p,) = residuals",
    "a, *b = c = d, e",
    "x[i, j] += 1.0",
    "x: int = 1",
    "(x): int",
    "x.y: float",
    "x: tuple = (a, b)",
    "del a, (b, c), d[0]",
    "assert a, b",
    "raise A from b",
    "import a.b as c, d",
    "from . import a",
    "from ..a import b as c, d",
    "from a import *",
    "(x := 1)",
    "x = (y := 1)",
    "a, b",
    "if x := f():\n    pass",
]


@pytest.mark.parametrize("text", STATEMENTS)
def test_statement_is_printed_as_written(text):
    assert emit_source(ast.parse(text)) == text + "\n"


WHOLE = '''
"""Module docstring.

With two paragraphs.
"""

from __future__ import annotations
import numpy as np

limit = 3


@decorate
@other(1)
class A(B, metaclass=M):
    """Doc."""

    x: int = 1

    def method(self, a: int = 1, /, *args: int, key=None, **kwargs) -> "A":
        global g
        g = 1
        return a, self

    async def other(self):
        nonlocal_ = [i async for i in self]
        async with a as b, c:
            await b
        async for i in c:
            yield i
        else:
            return
        x = yield
        y = yield a, b
        z = await f() + 1


def f(x):
    r"""Raw \\alpha."""
    if x := g():
        pass
    elif y:
        while a and b:
            break
        else:
            continue_()
    else:
        for i, (j, k) in a:
            continue
        for i in (a, b):
            pass

    def inner():
        return lambda: x

    with open(a) as b:
        pass
    with (a, b) as c:
        pass
    with ((a, b)):
        pass
    try:
        pass
    except (A, B) as e:
        raise
    except C:
        raise D() from e
    except:
        pass
    else:
        pass
    finally:
        pass
    try:
        pass
    except* A:
        pass
    match a, b:
        case [1, -2.0, "a", None, x, *rest]:
            pass
        case {"k": v, 1: A.b, **rest}:
            pass
        case A(1, b=2) | (B() as c):
            pass
        case 1 | 2 as d if d > 1:
            pass
        case 1 + 2j | _:
            pass


x = 1
'''.lstrip()


def test_whole_module():
    assert emit_source(ast.parse(WHOLE)) == WHOLE


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695")
def test_type_parameters():
    text = block("""
        type A[T: (int, str), *Ts, **P] = dict[T, P]


        def f[T: int](x: T) -> T:
            return x


        class C[T](B):
            pass
    """)
    assert emit_source(ast.parse(text)) == text


@pytest.mark.skipif(sys.version_info < (3, 13), reason="PEP 696")
def test_type_parameter_defaults():
    text = "type A[T = int, *Ts = *tuple[int], **P = [int]] = T\n"
    assert emit_source(ast.parse(text)) == text


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 701")
def test_fstring_that_needs_the_newer_grammar():
    text = "f\"{'\\n'.join(x)}\"\n"
    assert ast.dump(ast.parse(printed(text))) == ast.dump(ast.parse(text))


def test_fstring_keeps_to_the_older_grammar_when_it_can():
    assert printed("""f'''{a["x"]} {b['y']}'''""") == "f\"{a['x']} {b['y']}\"\n"
    assert printed('''f"""{f'{a["x"]}'}"""''') == """f"{f\'\'\'{a['x']}\'\'\'}"\n"""


@pytest.mark.parametrize("text", [
    "ends in a quote\"", 'has """ inside', "back\\slash", "back\\slash and \"\"\"", "ends in \\",
    "q\"\"\"\"\"", "\\\"", "tab\tand\r\nreturn \x00", "é \ud800", "", "two\n\n    lines\n    ",
])
def test_docstrings(text):
    tree = ast.Module([ast.Expr(ast.Constant(text))], [])
    printed = emit_source(tree)
    assert ast.get_docstring(ast.parse(printed), clean=False) == text
    assert printed.lstrip("r").startswith('"""')
