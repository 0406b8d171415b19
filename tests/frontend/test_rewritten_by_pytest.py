"""Functions whose asserts pytest rewrote: their text is proved by rewriting it again."""

from __future__ import annotations

import ast
import linecache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from _pytest.assertion.rewrite import rewrite_asserts

from adcompiler import grad
from adcompiler.errors import SourceNotFoundError

TEXT = '''
def f(x):
    assert x > 0.0, "positive"
    y = {expression}
    assert y is not None and isinstance(y, float), (y, "text")

    def inner(v):
        assert v == v
        return v * 1.0
    return inner(y)


class Model:
    def __double(self, x):
        assert (z := x) > 0
        return z * 2.0

    def run(self, x):
        assert x in (x, 1), f"{{x}}"
        assert all(a > 0 for a in [x])
        return self.__double(x)
'''


def imported(path: Path, text: str, config: Any) -> ModuleType:
    """Return the module of a text that pytest has imported."""
    path.write_text(text)
    linecache.clearcache()
    tree = ast.parse(text)
    rewrite_asserts(tree, text.encode(), str(path), config)
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(tree, str(path), "exec", dont_inherit=True), module.__dict__)
    return module


def test_another_text_is_not_taken(tmp_path: Path, pytestconfig: Any) -> None:
    for number, (old, new) in enumerate({
        "x * 2.0": "x * 3.0", "x * 3.0": "x / 3.0", "x + 4.0 * x": "x - 4.0 * x",
        "x if x > 1.0 else 2 * x": "x if x < 1.0 else 2 * x", "x * x": "x * -x",
    }.items()):
        path = tmp_path / f"rewritten_{number}.py"
        module = imported(path, TEXT.format(expression=old), pytestconfig)
        assert "@pytest_ar" in module.f.__code__.co_names
        slope = grad(module.f)(2.0)
        assert abs(slope - (module.f(2.001) - module.f(1.999)) / 0.002) < 1e-6, old
        assert grad(module.Model().run)(2.0) == 2.0
        stale = imported(path, TEXT.format(expression=old), pytestconfig).f
        path.write_text(TEXT.format(expression=new))
        linecache.clearcache()
        with pytest.raises(SourceNotFoundError, match="has changed since it was imported"):
            grad(stale)(2.0)
