"""Functions typed at a prompt, given to ``python -c`` or standard input, or made of a text."""

import importlib.util
import linecache
import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import adcompiler as ad
from adcompiler.errors import SourceNotFoundError
from adcompiler.frontend.sources import typed_in

PROGRAM = """\
from adcompiler import grad
import numpy as np

@grad
def slope(x):
    y = x * x
    for _ in range(2):
        y = y * x
    return y

f = lambda x: np.sin(x) * x
if True:
    def inner(x):
        return x ** 5
print(slope(2.0), grad(f)(0.0), grad(inner)(1.0))
"""
PRINTED = "32.0 0.0 5.0"


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_the_text_of_a_command():
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM], env=environment(), text=True,
        capture_output=True, check=True)
    assert found.stdout.strip() == PRINTED


def test_a_file_that_is_standard_input(tmp_path):
    path = tmp_path / "given.py"
    path.write_text(PROGRAM)
    with path.open() as given:
        found = subprocess.run(
            [sys.executable, "-"], stdin=given, env=environment(), text=True, capture_output=True,
            check=True)
    assert found.stdout.strip() == PRINTED


def test_a_pipe_is_refused_with_what_works():
    found = subprocess.run(
        [sys.executable, "-"], input=PROGRAM, env=environment(), text=True, capture_output=True)
    assert found.returncode == 1
    last = found.stderr.strip().splitlines()[-1]
    assert "no source text for `__main__.slope`: <stdin> cannot be read" in last
    assert "adcompiler.compile_text(text)" in last and "python -i file.py" in last


@pytest.mark.skipif(
    not hasattr(os, "openpty") or importlib.util.find_spec("readline") is None,
    reason="there is no terminal to type at, or no history of it")
def test_what_is_typed_at_a_prompt():
    lines = [
        "from adcompiler import grad", "@grad", "def slope(x):", "    y = x * x",
        "    return y * x", "", "other = lambda x: x ** 4",
        "def slope2(x): return x * 7.0", "", "print('it is', slope(2.0), grad(other)(1.0), "
        "grad(slope2)(1.0))", "exit()",
    ]
    master, slave = os.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-q"], stdin=slave, stdout=slave, stderr=slave, close_fds=True,
            env={**environment(), "PYTHON_BASIC_REPL": "1", "TERM": "dumb", "HOME": "/nonexistent"})
        os.close(slave)
        said, end = b"", time.monotonic() + 60
        for line in lines:
            os.write(master, f"{line}\n".encode())
            time.sleep(0.05)
        while process.poll() is None and time.monotonic() < end:
            try:
                said += os.read(master, 4096)
            except OSError:  # the terminal is closed
                break
        process.wait(10)
    finally:
        os.close(master)
    assert b"it is 12.0 4.0 7.0" in said, said.decode()


def typed(statement):
    """Return the names that a statement at a prompt defines."""
    names = {}
    exec(compile(statement, "<console>", "single"), names)
    return names


def test_the_history_is_read_from_each_place(monkeypatch):
    older = "def twice(x):\n    return x * 2.0\n"
    newer = "def twice(x):\n    return x * 2.5\n"
    history = [*older.splitlines(), "twice(1.0)", *newer.splitlines(), "5", "if True:",
               "    def deep(x):", "        return x * x", "deep"]

    class Readline:
        get_current_history_length = staticmethod(lambda: len(history))
        get_history_item = staticmethod(lambda i: history[i - 1])

    monkeypatch.setitem(sys.modules, "readline", Readline)
    made = [typed(text)["twice"] for text in (older, newer)]
    assert [ad.grad(function)(1.0) for function in made] == [2.0, 2.5]
    deep = typed("if True:\n    def deep(x):\n        return x * x\n")["deep"]
    assert ad.grad(deep)(3.0) == 6.0
    unseen = typed("def twice(x):\n    return x * 3.0\n")["twice"]
    with pytest.raises(SourceNotFoundError, match="<console> cannot be read"):
        ad.grad(unseen)(1.0)


@pytest.mark.parametrize(("arguments", "texts"), [
    (["python", "-c", "a"], ["a"]), (["python", "-Wignore", "-c", "a", "b"], ["a"]),
    (["python", "-ca"], ["a"]), (["python", "-Ic", "a"], ["a"]), (["python", "file.py"], []),
    (["python", "-c"], []),
])
def test_commands_are_found_among_the_arguments(monkeypatch, arguments, texts):
    monkeypatch.setattr(sys, "orig_argv", arguments)
    assert set(texts) <= set(typed_in.commands())


def test_functions_of_texts():
    text = textwrap.dedent("""
        import numpy as np

        def helper(x):
            return scale * np.sin(x)

        def loss(x):
            return np.sum(helper(x) ** 2)

        other = lambda x: x ** 3
    """)
    loss = ad.compile_text(text, "loss", names={"scale": 2.0})
    x = np.array([0.3, 0.5])
    np.testing.assert_allclose(ad.grad(loss)(x), 8.0 * np.sin(x) * np.cos(x), rtol=1e-14)
    assert "helper" in ad.grad(loss).source_for(x)
    assert ad.grad(ad.compile_text(text, names={"scale": 2.0}))(2.0) == 12.0
    one, two = (ad.compile_text(f"def f(x): return x * {k}.0") for k in (2, 3))
    assert (ad.grad(one)(1.0), ad.grad(two)(1.0)) == (2.0, 3.0)


def test_texts_that_define_no_function():
    with pytest.raises(ValueError, match=r"the text defines no function$"):
        ad.compile_text("x = 1")
    with pytest.raises(ValueError, match="the text defines no function g; it defines f"):
        ad.compile_text("def f(x): return x", "g")
    with pytest.raises(SyntaxError):
        ad.compile_text("def f(x: return x")


@pytest.mark.parametrize("file", ["<string>", "<made>", "generated.py"])
def test_text_that_is_executed_is_refused_with_what_works(file):
    names = {}
    exec(compile("def f(x):\n    return x ** 3\n", file, "exec"), names)
    with pytest.raises(SourceNotFoundError, match=r"compile_text\(text\)"):
        ad.grad(names["f"])(1.0)


def test_text_that_linecache_knows_is_read(monkeypatch):
    text = "def f(x):\n    return x ** 3\n"
    lines = text.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, "<mine>", (len(text), None, lines, "<mine>"))
    names = {}
    exec(compile(text, "<mine>", "exec"), names)
    assert ad.grad(names["f"])(2.0) == 12.0
