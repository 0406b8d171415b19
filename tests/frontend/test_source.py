"""Every kind of function is found, exactly, or refused with a reason and a remedy."""

from __future__ import annotations

import ast
import doctest
import functools
import importlib
import importlib.util
import linecache
import os
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import gast
import pytest

from adcompiler.errors import SourceNotFoundError
from adcompiler.frontend.sources.source import parse_function, read_source

Load = Callable[..., ModuleType]


def register(name: str, text: str) -> dict[str, Any]:
    """Run the text under a pseudo file name known to linecache, as notebooks do."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, name, "exec", dont_inherit=True), namespace)
    return namespace


# --- defs -------------------------------------------------------------------------------------

DEFS = {
    "plain": "def f(x):\n    return x + 1\n",
    "one line": "def f(x): return x; y = 2\n",
    "comment after body": "def f(x):\n    return x\n    # trailing\n# outside\nz = 1\n",
    "comment in column 0": "def f(x):\n# odd\n    y = x\n# odd\n    return y\n",
    "decorated": "def d(g): return g\n@d\n@(\n    d\n)\ndef f(x):\n    return x\n",
    "header over lines": "def f(\n    x,\n    y=(1,\n2),\n):  # here\n    return x\n",
    "docstring only": 'def f(x):\n    """A\nlong\n  one."""\n\ndef g(): pass\n',
    "string in column 0": "def f(x):\n    s = '''\ndef no():\n    pass\n'''\n    return s\ny = 1\n",
    "string in column 0 last": "def f(x):\n    return '''\ndef no():\n    pass\n'''\ny = 1\n",
    "bracket closes in column 0": "def f(x):\n    return (\nx +\n1\n)\ny = 1\n",
    "continued line": "def f(x):\n    return x + \\\n1\ny = 1\n",
    "dead code": "def f(x):\n    return x\n    if x:\n        print('''\ndead''')\ny = 1\n",
    "dead branch": "def f(x):\n    if True:\n        return x\n    else:\n        return (\n1)\n",
    "pass at the end": "def f(x):\n    x += 1\n    pass\n    pass\ny = 1\n",
    "nested defs": "def f(x):\n    def g(y=lambda: 1):\n        return x\n    return g\ny = 1\n",
    "comprehension": "def f(x):\n    return [i * x for i in range(3) if i]\n",
    "loop at the end": "def f(x):\n    for i in x:\n        if i:\n            break\n",
    "try": "def f(x):\n    try:\n        return 1 / x\n    except OSError:\n        pass\n",
    "class inside": "def f(x):\n    class C:\n        y = 1\n        def m(s): x\n    return C\n",
    "defaults": "def f(x, g=lambda x: x, *a, k: int = 1, j, **b) -> 'f':\n    return x, a, k\n",
    "generator": "def f(x):\n    yield x\n    yield from x\n",
    "coroutine": "async def f(x):\n    async for y in x:\n        await y\n",
    "imported names": "import os\nfrom math import pi\ndef f(x):\n    os.stat(pi.hex(x.y()))\n",
    "variable named as an import": "import math\ndef f(math):\n    return math.sin(1)\n",
    "annotations": "from __future__ import annotations\ndef f(x: A):\n    def g(z: B): z\n",
    "constants": "def f(x):\n    return (1, 1.0, True, -0.0, 1e400 - 1e400, x in {1, 2}, ...)\n",
    "no newline at the end": "def f(x):\n    return x",
    "not ASCII": "def f(θ):\n    λ = 'é' * θ; μ = λ\n    return μ\n",
}


@pytest.mark.parametrize("text", DEFS.values(), ids=DEFS)
def test_def(load: Load, text: str) -> None:
    """The text is that of the def node of the whole file, decorators included."""
    node = next(
        each
        for each in ast.parse(text).body
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name == "f"
    )
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    expected = text.splitlines(keepends=True)[first - 1 : node.end_lineno]
    source = read_source(load(text).f)
    assert source.text.rstrip("\n") == "".join(expected).rstrip("\n")
    assert source.first_line == first
    assert source.indent == 0
    assert source.name == "f"
    assert source.snippet == source.text


@pytest.mark.parametrize("text", DEFS.values(), ids=DEFS)
def test_positions_are_those_of_the_file(load: Load, text: str) -> None:
    """Each name of the tree, looked up in the file at its position, is there."""
    assert_names_stand_in(text, parse_function(load(text).f).node)


def assert_names_stand_in(text: str, tree: gast.AST) -> None:
    lines = text.split("\n")
    names = [
        each
        for each in gast.walk(tree)
        if isinstance(each, gast.Name) and not isinstance(each.ctx, gast.Param)
    ]
    for name in names:
        assert lines[name.lineno - 1][name.col_offset : name.end_col_offset] == name.id


def test_nested_def_is_dedented(load: Load) -> None:
    text = """
        def outer(a):
            if a:
                def inner(x):
                    '''Docstring
                over lines.'''
                    return a * x

                return inner
    """
    module = load(text)
    source = read_source(module.outer(2))
    assert source.text.startswith(
        "def inner(x):\n    '''Docstring\nover lines.'''\n    return a * x"
    )
    assert (source.first_line, source.indent) == (4, 8)
    node = parse_function(module.outer(2)).node
    assert (node.lineno, node.col_offset, node.end_lineno) == (4, 8, 7)
    assert_names_stand_in(textwrap.dedent(text), node)


@pytest.mark.parametrize(
    "body",
    ["s = '''\n  kept\n'''\n        return s", "return (x +\n1)", "return f'''{x}\n  {x}'''"],
    ids=["string", "shallow line", "f-string"],
)
def test_text_that_dedenting_would_change_is_kept(load: Load, body: str) -> None:
    text = f"def outer():\n    def inner(x):\n        {body}\n    return inner\n"
    module = load(text)
    source = read_source(module.outer())
    assert source.indent == 0
    assert source.text.startswith("    def inner(x):\n")
    node = parse_function(module.outer()).node
    assert (node.lineno, node.col_offset) == (2, 4)
    if "f'" not in body:  # before 3.12 names in f-strings have no positions
        assert_names_stand_in(text, node)


def test_methods(load: Load) -> None:
    """Private names are mangled, `super()` needs a cell: both depend on the class around."""
    module = load("""
        import math
        class Base:
            def m(self): return 1
        class _Model(Base):
            def m(self):
                return super().m() + self.__secret(math.pi)
            def own(self):
                return super().m(), _Model
            def __secret(self, x):
                return [self.__secret for _ in range(2)]
            @staticmethod
            def s(x): return x
            @property
            def p(self): return self.__dict__
        def local():
            class _Model(Base):
                def m(self): return super().m(), _Model, self.__a
            return _Model
    """)
    model = module._Model
    assert read_source(model.m).text.endswith("return super().m() + self.__secret(math.pi)\n")
    assert read_source(model.own).text.endswith("return super().m(), _Model\n")
    assert read_source(model().m).text == read_source(model.m).text
    assert read_source(model._Model__secret).name == "__secret"
    assert read_source(model.s).text == "@staticmethod\ndef s(x): return x\n"
    assert read_source(model.p.fget).text == "@property\ndef p(self): return self.__dict__\n"
    assert "_Model, self.__a" in read_source(module.local().m).text


def test_super_mentioned_by_the_module(load: Load) -> None:
    module = load("""
        base = super
        class C:
            def m(self): return super().m()
    """)
    assert read_source(module.C.m).text == "def m(self): return super().m()\n"


def test_decorator_that_wraps_is_not_unwrapped(load: Load) -> None:
    module = load("""
        import functools
        def d(g):
            @functools.wraps(g)
            def wrapper(*args):
                return g(*args)
            return wrapper
        @d
        def f(x):
            return x
    """)
    assert read_source(module.f).name == "wrapper"
    assert parse_function(module.f.__wrapped__).node.decorator_list[0].id == "d"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 came with Python 3.12")
def test_type_parameters(load: Load) -> None:
    module = load("""
        def f[T: int](x: T) -> T:
            y: list[T] = [x]
            return T, y
    """)
    assert read_source(module.f).text.startswith("def f[T: int](x: T) -> T:\n")


def test_function_with_asserts_that_pytest_rewrote() -> None:
    def f(x: float) -> float:
        assert x > 0, f"positive, not {x}"
        return x * 2

    assert read_source(f).text.endswith("return x * 2\n")


def test_function_that_is_hot_and_traced(load: Load) -> None:
    """The interpreter specialises the bytecode of hot code and instruments that of traced code."""
    module = load("""
        def f(x):
            total = 0.0
            for i in range(10):
                total += x * i
            return total
    """)
    for _ in range(1000):
        module.f(1.0)
    previous = sys.gettrace()
    seen: list[str] = []

    def trace(frame: FrameType, event: str, _: object) -> Any:
        seen.append(event)
        return trace

    sys.settrace(trace)
    try:
        module.f(1.0)
        source = read_source(module.f)
    finally:
        sys.settrace(previous)
    assert "line" in seen
    assert source.text.endswith("return total\n")


def test_warnings_of_the_compiler_are_not_repeated(load: Load) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = load("def f(x):\n    return x is 1, '\\d'\n")
    assert parse_function(module.f).node.name == "f"


def test_only_the_lines_of_the_function_are_parsed(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    filler = "".join(f"def filler_{i}(x):\n    return x + {i}\n" for i in range(500))
    module = load(filler + "def f(x):\n    return x\ng = lambda x: -x\n" + filler)
    parsed = []
    parse = ast.parse

    def recording(text: str, *args: Any, **options: Any) -> Any:
        parsed.append(len(text.strip()))
        return parse(text, *args, **options)

    monkeypatch.setattr(ast, "parse", recording)
    assert read_source(module.f).snippet == "def f(x):\n    return x\n"
    assert read_source(module.g).snippet == "lambda x: -x"
    assert max(parsed) < 50


# --- lambdas ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fs = [lambda x: x]", ["lambda x: x"]),
        ("fs = lambda x: x, lambda x: x * 2", ["lambda x: x", "lambda x: x * 2"]),
        ("fs = (lambda x: x), (lambda x:  x)", ["lambda x: x", "lambda x:  x"]),
        ("fs = [\n    lambda x: x,\n    lambda x: -x,\n]", ["lambda x: x", "lambda x: -x"]),
        (
            "fs = {\n    'a': lambda x: x,\n    'b': lambda x: -x,\n}.values()",
            ["lambda x: x", "lambda x: -x"],
        ),
        ("fs = max(\n  [1]) and [(lambda x: (x +\n 1\n))]", ["lambda x: (x +\n 1\n)"]),
        ("fs = [lambda x: lambda: x]; fs += [fs[0](1)]", ["lambda x: lambda: x", "lambda: x"]),
        ("fs = [lambda x, n=n: x * n for n in (1, 2)]", ["lambda x, n=n: x * n"] * 2),
        ("fs = lambda x, n=1: x, lambda x, n=2: x", ["lambda x, n=1: x", "lambda x, n=2: x"]),
        ("fs = [lambda x: x + i for i in (1, 2)]", ["lambda x: x + i"] * 2),
        ("def f(g=lambda x: x): return g\nfs = [f()]", ["lambda x: x"]),
        ("@lambda g: g\ndef f(x): pass\nfs = []", []),
        ("for g in [lambda x: x, lambda: 0]:\n    fs = [g]", ["lambda: 0"]),
        ("fs = []\nif fs: pass\nelse: fs = [lambda x: x]", ["lambda x: x"]),
        ("import math\nfs = [lambda x: math.sin(x)]", ["lambda x: math.sin(x)"]),
        ("class C:\n    f = lambda self: self.__x\nfs = [C.f]", ["lambda self: self.__x"]),
        ("fs = [lambda x: 1 if True else x]", ["lambda x: 1 if True else x"]),
        ("é = 'é'; fs = [lambda θ: θ, lambda θ: -θ]", ["lambda θ: θ", "lambda θ: -θ"]),
        ("fs = [lambda: (yield)]", ["lambda: (yield)"]),
        ("fs = [lambda x: '''\n a\n''' + x]", ["lambda x: '''\n a\n''' + x"]),
        ("if True:\n  if True:\n    fs = [lambda x: (x +\n        x)]", ["lambda x: (x +\n    x)"]),
        ("if True:\n    fs = [lambda x: (x +\n  x)]", ["lambda x: (x +\n  x)"]),
    ],
)  # fmt: skip
def test_lambda(load: Load, text: str, expected: list[str]) -> None:
    functions = list(load(text).fs)
    assert [read_source(function).snippet for function in functions] == expected
    for function in functions:
        node = parse_function(function).node
        assert isinstance(node, gast.Lambda)
        line = text.split("\n")[node.lineno - 1]
        assert line[node.col_offset :].startswith("lambda")
        assert_names_stand_in(text, node)


def test_lambda_text_is_its_lines(load: Load) -> None:
    source = read_source(load("if True:\n    f = [0, lambda x: x][1]  # why\n").f)
    assert source.text == "f = [0, lambda x: x][1]  # why\n"
    assert (source.first_line, source.indent, source.name) == (2, 4, "<lambda>")


def test_ambiguous_lambdas_without_column_positions(tmp_path: Path) -> None:
    """Same code and same text is one function; same code and another text is refused."""
    (tmp_path / "user.py").write_text(
        "from adcompiler.frontend.sources.source import read_source\n"
        "same = lambda x: x + 1, lambda x: x + 1\n"
        "apart = lambda x: x * 6, lambda x: x * (2 * 3)\n"
        "print(read_source(same[1]).snippet)\n"
        "read_source(apart[1])\n"
    )
    done = run("-X", "no_debug_ranges", str(tmp_path / "user.py"))
    assert done.stdout == "lambda x: x + 1\n"
    assert "several lambdas at" in done.stderr
    assert "user.py:3 compile to the same code" in done.stderr


# --- no source --------------------------------------------------------------------------------


def test_exec_without_lines() -> None:
    namespace: dict[str, Any] = {"__name__": "made_up"}
    exec("def f(x): return x", namespace)
    with pytest.raises(SourceNotFoundError) as caught:
        read_source(namespace["f"])
    assert str(caught.value) == (
        "no source text for `made_up.f`: <string> cannot be read. What to do: define it in a file "
        "(`python -i file.py` gives a prompt that has it) or a notebook, make it of a text by "
        "`adcompiler.compile_text(text)`, or register a rule for it with `@rrule(f)`."
    )


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (len, "no source text for `builtins.len`: it is a builtin_function_or_method"),
        (str.upper, "it is a method_descriptor, not a function written in Python"),
        (
            functools.partial(len),
            r"`functools.partial\(<built-in function len>\)`: it is a partial",
        ),
        (dict, "no source text for `builtins.dict`: it is a type"),
    ],
)
def test_not_a_python_function(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(SourceNotFoundError, match=message):
        read_source(function)


# --- notebooks, REPL, doctest -----------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["<ipython-input-3-0f1e2d>", "/tmp/ipykernel_123/456.py", "<python-input-0>"]
)
def test_pseudo_files(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linecache, "cache", dict(linecache.cache))
    text = "import math\ndef f(x):\n    return math.sin(x)\ng = lambda x: f(x), lambda x: x\n"
    namespace = register(name, text)
    assert read_source(namespace["f"]).text == "def f(x):\n    return math.sin(x)\n"
    assert read_source(namespace["f"]).file == name
    assert read_source(namespace["g"][1]).snippet == "lambda x: x"


def test_lines_filed_under_the_code_object(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.13.1 and later keep what is typed at the prompt by code object."""
    text = "def f(x):\n    return x\n"
    namespace: dict[str, Any] = {}
    exec(compile(text, "<python-input-1>", "exec"), namespace)
    code = namespace["f"].__code__
    lines = text.splitlines(keepends=True)
    monkeypatch.setattr(
        linecache, "_getlines_from_code", lambda c: lines if c is code else [], raising=False
    )
    assert read_source(namespace["f"]).text == text


def test_doctest() -> None:
    found: list[str] = []
    example = ">>> def f(x):\n...     return x + 1\n>>> found.append(read_source(f).text)\n"
    test = doctest.DocTestParser().get_doctest(
        example, {"found": found, "read_source": read_source}, "example", None, None
    )
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
    assert found == ["def f(x):\n    return x + 1\n"]


# --- start-up time ----------------------------------------------------------------------------


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parents[2]
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=root,
        env={"PYTHONPATH": f"{root}:{root / 'rules'}"},
    )


def test_reading_does_not_import_the_parser(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(
        "import sys\n"
        "from adcompiler.frontend.sources.source import read_source\n"
        "def f(x): return x\n"
        "read_source(f)\n"
        "print(sorted({'gast', 'astunparse'} & set(sys.modules)))\n"
    )
    done = run(str(tmp_path / "user.py"))
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_an_edit_of_the_same_size_in_the_same_second_is_seen(tmp_path, monkeypatch):
    path = tmp_path / "edited_at_once.py"
    path.write_text("def f(x):\n    return 2.0 * x\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    module = importlib.import_module("edited_at_once")
    second = path.stat().st_mtime_ns // 10**9 * 10**9
    cached = importlib.util.cache_from_source(str(path))
    os.utime(path, ns=(second + 10, second + 10))
    os.utime(cached, ns=(second + 20, second + 20))
    path.write_text("def f(x):\n    return 9.0 * x\n", encoding="utf-8")
    os.utime(path, ns=(second + 30, second + 30))
    del sys.modules["edited_at_once"]
    linecache.checkcache()
    module = importlib.import_module("edited_at_once")
    assert module.f(1.0) == 2.0  # Python trusts the time in whole seconds
    with pytest.raises(SourceNotFoundError):
        read_source(module.f)
