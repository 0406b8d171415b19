"""Wrappers that `exec` made of a text which nobody kept are read off their code."""

from __future__ import annotations

from typing import Any

import pytest

from adcompiler import grad
from adcompiler.errors import SourceNotFoundError
from adcompiler.frontend.sources.source import read_source

TEXTS: tuple[str, ...] = (
    "def f(a, b=1.0, *, c=2.0, **rest):\n    return inner(a, b, c=c, **rest)\n",
    "def f(self, a, *args, **rest):\n    return self.inner(a, *args, **rest)\n",
    "def f(a, *, b):\n    a = module.inner(a)\n    a = inner(a, 'x')\n    return inner(a, b=b)\n",
    "def f(*args):\n    inner(*args)\n",
    "def f(a, /, b):\n    return (a, inner(b), a.b)\n",
    "f = lambda a, b, c: inner(a, (b, c))\n",
)
COMPUTES = "f = lambda x, y: x * inner(y) + 2.0\n"
OTHERS = (
    "def f(a):\n    if a:\n        return 1\n    return inner(a)\n",
    "def f(a):\n    yield inner(a)\n",
    "def f(a):\n    a += 1\n    return a\n",
)


def made(text: str) -> Any:
    space: dict[str, Any] = {"__name__": "made", "inner": lambda *args, **rest: args[0] * 3.0}
    exec(compile(text, "<a text that is gone>", "exec"), space)
    return space["f"]


def test_what_is_read_off_compiles_to_the_same_code() -> None:
    for text in TEXTS:
        function = made(text)
        found = read_source(function)
        again: dict[str, Any] = {}
        exec(f"g = {found.snippet}" if function.__name__ == "<lambda>" else found.text, again)
        other = again.get("g") or again["f"]
        assert other.__code__.co_code == function.__code__.co_code, text
        assert other.__code__.co_varnames == function.__code__.co_varnames


def test_code_that_does_more_is_not_read() -> None:
    for text in (*OTHERS, COMPUTES, "f = lambda x: x\n"):
        with pytest.raises(SourceNotFoundError):
            read_source(made(text))


def test_code_that_is_said_to_stand_elsewhere() -> None:
    """As of wrappers whose makers give them the line of what they wrap."""
    wrapper, line = made(TEXTS[0]), made.__code__.co_firstlineno
    wrapper.__code__ = wrapper.__code__.replace(co_filename=__file__, co_firstlineno=line)
    assert "inner(a, b, c=c, **rest)" in read_source(wrapper).text


def test_derivatives_through_wrappers() -> None:
    assert grad(made(TEXTS[0]))(0.7) == 3.0
    recorded = grad(made(COMPUTES), argnums=(0, 1), backend="record")
    assert recorded(0.7, 2.0) == (6.0, pytest.approx(2.1))
