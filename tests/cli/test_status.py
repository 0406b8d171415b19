"""``adcompiler status`` and ``adcompiler.testing.assert_compiled``: what calls will run."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from adcompiler import (
    derivative, grad, hessian, jacobian, sparse_jacobian, value_and_grad,
)
from adcompiler.cli import main
from adcompiler.errors import RecordedWarning
from adcompiler.testing import assert_compiled

MODEL = '''
    from typing import Annotated

    import numpy as np

    from adcompiler import grad, hessian, jacobian, sparse_jacobian, value_and_grad

    Vector = Annotated[np.ndarray, "float64[:]"]


    @grad
    def anything(x):
        return np.sum(x**2)


    @value_and_grad
    def typed(x: float, n: int = 3, kind="a"):
        return x**n if kind == "a" else np.__dict__[kind](x)


    @grad
    def by_name(x: Vector, name: str = "sin"):
        return np.sum(np.__dict__[name](x))


    @grad
    def unknown(x, name):
        return np.sum(np.__dict__[name](x))


    @grad(backend="record")
    def as_asked(x: float):
        return x * x


    @grad(fallback="refuse")
    def strict(x: float, name="sin"):
        return np.__dict__[name](x)


    @hessian
    def curved(x: Vector, name: str = "sin"):
        return np.sum(np.__dict__[name](x))


    @jacobian
    def rows(x: Vector):
        return x**3


    @sparse_jacobian
    def entries(x: Vector):
        return x**3


    class Model:
        def __init__(self):
            self.w = 2.0

        @grad(argnums=1)
        def loss(self, x: float):
            return self.w * x
'''
ROWS = [
    ("anything", "grad", "compiled", "for x: ?"),
    ("typed", "value_and_grad", "compiled", ""),
    ("by_name", "grad", "recorded", "judged.py:23: which function is called here depends on data"),
    ("unknown", "grad", "not yet", "types are known at the first call; add annotations or --args; "
     "without: judged.py:28: which function is called here depends on data"),
    ("as_asked", "grad", "recorded", 'backend="record" asks for it'),
    ("strict", "grad", "refused", "judged.py:38: which function is called here depends on data"),
    ("curved", "hessian", "recorded",
     "judged.py:43: which function is called here depends on data"),
    ("rows", "jacobian", "compiled", ""),
    ("entries", "sparse_jacobian", "compiled", ""),
    ("Model.loss", "grad", "compiled", "for self: ?, x: float"),
]


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stand in a directory with a module, as users do: what is refused may be recorded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("ADCOMPILER_RECORD", "1")
    Path("judged.py").write_text(dedent(MODEL), encoding="utf-8")
    sys.modules.pop("judged", None)
    yield
    sys.modules.pop("judged", None)


def test_status_lists_what_each_decorated_function_runs(
    judged: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the table says it, no warning besides
        assert main(["status", "judged.py", "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    assert [tuple(row.values()) for row in rows] == ROWS
    assert list(rows[0]) == ["function", "operator", "answer", "why"]

    assert main(["status", "judged.py:typed"]) == 0  # as text
    assert capsys.readouterr().out.splitlines() == [
        "function  operator        answer    why", "typed     value_and_grad  compiled"]

    for target, given, code, words in (  # types and values decide
        ("typed", "x: 0.5, kind: 'sin'", 1, "recorded  judged.py:18: "),
        ("unknown", "x: float64[:], name: str", 1, "recorded  judged.py:28: "),
        ("entries", "x: array([1.0, 2.0])", 0, "compiled"),
        ("by_name", "y: 1.0", 2, ""),
    ):
        assert main(["status", f"judged.py:{target}", "--args", given]) == code, target
        assert words in capsys.readouterr().out
    monkeypatch.setenv("ADCOMPILER_RECORD", "0")
    assert main(["status", "judged.py:by_name"]) == 1
    assert "by_name   grad      refused  judged.py:23: " in capsys.readouterr().out
    assert main(["status", "json"]) == 2
    assert "json has no decorated function" in capsys.readouterr().err


def chosen(x, name):
    return np.sum(np.__dict__[name](x))


def plain(x, n=2):
    return np.sum(x**n)


def test_derivatives_that_are_recorded_fail_the_assertion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_RECORD", "1")
    x = np.array([0.3, 0.4])
    line = chosen.__code__.co_firstlineno + 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", RecordedWarning)
        for made in (plain, grad(plain), value_and_grad(plain), hessian(plain), jacobian(plain),
                     sparse_jacobian(lambda x: x**3)):
            assert_compiled(made, x)
        assert_compiled(plain, x, n=3)
        assert_compiled(derivative(lambda x: x * x), 2.0)
        assert_compiled(grad(lambda x=1.0: x * x))
        for made in (chosen, grad(chosen), hessian(chosen), jacobian(chosen)):
            with pytest.raises(AssertionError, match=(
                "^the derivative of chosen is recorded: "
                f"test_status.py:{line}: which function is called here depends on data$")):
                assert_compiled(made, x, "sin")
    with pytest.raises(AssertionError, match='is recorded: backend="record" asks for it'):
        assert_compiled(grad(plain, backend="record"), x)
    with pytest.raises(AssertionError, match=f"chosen is refused: test_status.py:{line}: "):
        assert_compiled(grad(chosen, fallback="refuse"), x, "sin")
    monkeypatch.setenv("ADCOMPILER_RECORD", "0")
    with pytest.raises(AssertionError, match="chosen is refused"):
        assert_compiled(grad(chosen), x, "sin")
