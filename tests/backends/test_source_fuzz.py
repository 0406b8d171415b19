"""Properties of the emitter on random trees and on real files; `ast.unparse` is the oracle."""

import ast
import asyncio
import dataclasses
import fractions
import functools
import random
import statistics
import string
import sysconfig
import typing
import warnings
from pathlib import Path

import pytest
import scipy.optimize
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from adcompiler.backends.python.printer.source import emit_expression, emit_source
from tests.lanes import one_in

LOAD, STORE = ast.Load(), ast.Store()
MODULES = [statistics, random, fractions, dataclasses, ast, typing, functools, string]
FILES = [Path(module.__file__) for module in MODULES]
FILES += sorted(Path(asyncio.__file__).parent.glob("*.py"))
FILES += sorted(Path(scipy.optimize.__file__).parent.glob("*.py"))
FILES += [Path(sysconfig.get_path("stdlib")) / name for name in ("argparse.py", "inspect.py")]

# Hypothesis complains about the size of the strategies' own reprs, which nobody prints.
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

names = st.sampled_from(["a", "b", "x_bar", "np"]).map(lambda name: ast.Name(name, LOAD))
numbers = (st.integers(0, 99) | st.floats(0, 1e30)).map(ast.Constant)
texts = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(
    ["'", '"', "\"'", "{}", "\\", "\n", '"""', "long text with several words in it, and more " * 3]
)
strings = (texts | st.binary(max_size=4)).map(ast.Constant)
constants = numbers | strings | st.sampled_from([None, True, ..., 2j]).map(ast.Constant)

BINARY = [ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.FloorDiv, ast.Mod]
BINARY += [ast.LShift, ast.BitOr, ast.BitXor, ast.BitAnd]
UNARY = [ast.USub, ast.UAdd, ast.Invert, ast.Not]
COMPARE = [ast.Eq, ast.Lt, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn]


def made(*kinds):
    return st.sampled_from(kinds).map(lambda kind: kind())


def arithmetic(inner):
    return st.one_of(
        st.builds(ast.BinOp, inner, made(*BINARY), inner),
        st.builds(ast.UnaryOp, made(*UNARY), inner),
        st.builds(lambda a, op, b: ast.Compare(a, [op], [b]), inner, made(*COMPARE), inner),
        st.builds(ast.BoolOp, made(ast.And, ast.Or), st.lists(inner, min_size=2, max_size=3)),
        st.builds(ast.IfExp, inner, inner, inner),
    )


def named(inner):
    return st.builds(lambda value: ast.NamedExpr(ast.Name("w", STORE), value), inner)


def slices(inner):
    maybe = st.none() | inner
    return st.builds(ast.Slice, maybe, maybe, maybe) | inner


def comprehensions(inner):
    return st.builds(
        lambda target, of, ifs: [ast.comprehension(target, of, ifs, 0)],
        st.sampled_from(["i", "i, j", "(i,)", "i, *j"]).map(target),
        inner,
        st.lists(inner, max_size=2),
    )


def target(text):
    return ast.parse(f"for {text} in x: pass").body[0].target


def fields(inner):
    spec = st.none() | st.builds(
        lambda value: ast.JoinedStr([ast.Constant(">"), ast.FormattedValue(value, -1)]), inner
    )
    return st.builds(ast.FormattedValue, inner, st.sampled_from([-1, 114, 115]), spec)


def fstrings(inner):
    part = fields(inner) | texts.filter(bool).map(ast.Constant)
    return st.lists(part, max_size=4).map(ast.JoinedStr)


def general(inner):
    starred = st.builds(ast.Starred, inner, st.just(LOAD))
    many = st.lists(inner | starred, max_size=3)
    keywords = st.lists(
        st.builds(ast.keyword, st.sampled_from(["k", None]), inner), max_size=2,
        unique_by=lambda keyword: keyword.arg,
    )
    arguments = st.sampled_from(["", "x", "x, /, y=1", "*x, k", "*, k=2, **w"]).map(
        lambda text: ast.parse(f"lambda {text}: 0").body[0].value.args
    )
    index = slices(inner) | st.builds(
        ast.Tuple, st.lists(slices(inner) | starred, max_size=3), st.just(LOAD)
    )
    return st.one_of(
        arithmetic(inner),
        st.builds(ast.Call, inner, many, keywords),
        st.builds(ast.Attribute, inner, st.sampled_from(["T", "shape"]), st.just(LOAD)),
        st.builds(ast.Subscript, inner, index, st.just(LOAD)),
        st.builds(ast.Tuple, many, st.just(LOAD)),
        st.builds(ast.List, many, st.just(LOAD)),
        st.builds(ast.Set, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda k, v: ast.Dict([k, None], [v, k]), inner, inner),
        st.builds(ast.ListComp, inner, comprehensions(inner)),
        st.builds(ast.GeneratorExp, inner, comprehensions(inner)),
        st.builds(ast.DictComp, inner, inner, comprehensions(inner)),
        st.builds(ast.Lambda, arguments, inner),
        st.builds(ast.Yield, st.none() | inner),
        st.builds(ast.Await, inner),
        named(inner),
    )


simple = st.recursive(names | numbers, arithmetic, max_leaves=12)
expressions = st.recursive(names | constants, general, max_leaves=15)
with_fstrings = st.recursive(
    names | numbers | strings, lambda inner: general(inner) | fstrings(inner), max_leaves=10
)


def statements(inner):
    body = st.lists(inner, min_size=1, max_size=3)
    rest = st.just([]) | body
    definition = st.sampled_from(["x", "x: int = 1, *y", "a, /, *, k=2, **w"]).map(
        lambda text: ast.parse(f"def f({text}): pass").body[0].args
    )
    item = st.builds(
        ast.withitem, expressions, st.sampled_from([None, ast.Name("w", STORE), target("i, j")])
    )
    return st.one_of(
        st.builds(ast.If, expressions, body, rest),
        st.builds(ast.While, expressions, body, rest),
        st.builds(lambda e, b, r: ast.For(target("i, j"), e, b, r), expressions, body, rest),
        st.builds(ast.With, st.lists(item, min_size=1, max_size=2), body),
        st.builds(
            lambda args, body, how: ast.FunctionDef("f", args, body, how, None),
            definition, body, st.lists(expressions, max_size=1),
        ),
        st.builds(
            lambda bases, body: ast.ClassDef("A", bases, [], body, []),
            st.lists(expressions, max_size=2), body,
        ),
        st.builds(
            lambda b, t, h, r, f: ast.Try(b, [ast.ExceptHandler(t, "e", h)], r, f),
            body, expressions, body, rest, rest,
        ),
    )


targets = st.sampled_from(["a", "a, b", "(a,)", "[a, b]", "a[i, 1:]", "a.b", "*a, b"]).map(
    lambda text: ast.parse(f"{text} = x").body[0].targets[0]
)
leaves = st.one_of(
    st.builds(ast.Expr, expressions),
    st.builds(ast.Assign, st.lists(targets, min_size=1, max_size=2), expressions),
    st.builds(lambda e: ast.AugAssign(ast.Name("a", STORE), ast.Add(), e), expressions),
    st.builds(lambda e: ast.AnnAssign(ast.Name("a", STORE), e, e, 0), expressions),
    st.builds(ast.Return, st.none() | expressions),
    st.builds(ast.Assert, expressions, st.none() | expressions),
    st.builds(ast.Raise, expressions, st.none() | expressions),
)
modules = st.lists(st.recursive(leaves, statements, max_leaves=4), max_size=3).map(
    lambda body: ast.Module(body, [])
)


def filled(tree):
    return ast.fix_missing_locations(tree)


def oracle(tree):
    """Return the dump of what `ast.unparse` makes of `tree`; skip where it fails itself."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.dump(ast.parse(ast.unparse(filled(tree))))
    except (SyntaxError, ValueError):
        assume(False)


@relaxed
@given(expressions)
def test_expression_means_what_unparse_means(tree):
    assert ast.dump(ast.parse(emit_expression(tree))) == oracle(ast.Expression(tree))


@settings(relaxed, max_examples=30)
@given(modules)
def test_module_means_what_unparse_means(tree):
    check_module(tree)


@pytest.mark.thorough
@settings(relaxed, max_examples=300)
@given(modules)
def test_more_modules_mean_what_unparse_means(tree):
    check_module(tree)


def check_module(tree):
    text = emit_source(tree)
    again = ast.parse(text)
    assert emit_source(again) == text
    # `ast.unparse` prints `with (a, b):` for a tuple as context, which is two contexts
    items = [node.items for node in ast.walk(tree) if isinstance(node, ast.With)]
    assume(not any(isinstance(i[0].context_expr, ast.Tuple) for i in items))
    assert ast.dump(again) == oracle(tree)


@relaxed
@given(with_fstrings)
def test_fstrings(tree):
    expected = oracle(ast.Expression(tree))
    assert ast.dump(ast.parse(emit_expression(tree))) == expected


@relaxed
@given(simple)
def test_fewest_parentheses(tree):
    text = emit_expression(tree)
    meant = ast.dump(ast.parse(text))
    assert len(text) <= len(ast.unparse(filled(tree)))
    for opening in (place for place, character in enumerate(text) if character == "("):
        closing = matching(text, opening)
        without = text[:opening] + text[opening + 1 : closing] + text[closing + 1 :]
        assert parsed(without) != meant


def matching(text, opening):
    depth = 0
    for place in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
    raise AssertionError(text)


def parsed(text):
    try:
        return ast.dump(ast.parse(text))
    except SyntaxError:
        return None


@relaxed
@given(st.recursive(names | numbers, arithmetic, max_leaves=60))
def test_lines_stay_within_the_width(tree):
    text = emit_source(ast.Assign([ast.Name("result", STORE)], tree))
    for line in text.splitlines():
        assert len(line) <= 100 or len(line) - len(line.lstrip()) > 60


@pytest.mark.parametrize(
    "path", one_in(3, FILES), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_real_files(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    text = emit_source(tree)
    assert ast.dump(ast.parse(text)) == ast.dump(tree)
    assert emit_source(ast.parse(text)) == text
