"""Code that makes or takes instances is kept, and is built anew when the class changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lanes import one_in

SHAPES = '''
from dataclasses import dataclass, field

@dataclass
class Base:
    x: float
    gain = 2.0

    def norm2(self):
        return self.x * self.x

@dataclass
class Point(Base):
    y: float = 3.0
    k: list = field(default_factory=lambda: [1.0])

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    @property
    def double(self):
        return 2.0 * self.x

    def norm2(self):
        return super().norm2() + self.y
'''
MODEL = '''
from adcompiler import grad
from shapes import Point

@grad
def f(p, t):
    q = p + Point(t) + Point(t, k=[t])
    return q.norm2() * q.double * p.gain + Point(t).k[0] * p.y
'''
PROGRAM = '''
import sys
from model import f
from shapes import Point
bar = f(Point(1.0), 2.0)
print(bar.x, bar.y, bar.k)
print("adcompiler.compile.pipeline" in sys.modules)
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "shapes.py").write_text(SHAPES, encoding="utf-8")
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    return tmp_path


def test_unchanged_classes_compile_once(python: Callable[[str], str], project: Path) -> None:
    # d/dp of (q.x**2 + q.y) * 2 q.x * 2 + k p.y at q = (5, 9)
    wanted = "336.0 21.0 [0.0]"
    assert python(PROGRAM).splitlines() == [wanted, "True"]
    assert python(PROGRAM).splitlines() == [wanted, "False"]


@pytest.mark.parametrize(("old", "new", "wanted"), one_in(2, [
    ("y: float = 3.0", "y: float = 4.0", "348.0 21.0 [0.0]"),
    ("lambda: [1.0]", "lambda: [5.0]", "336.0 25.0 [0.0]"),
    ("gain = 2.0", "gain = 3.0", "504.0 31.0 [0.0]"),
    ("2.0 * self.x", "4.0 * self.x", "672.0 41.0 [0.0]"),
    ("return self.x * self.x", "return self.x", "76.0 21.0 [0.0]"),
    ("+ other.y)", "- other.y)", "288.0 21.0 [0.0]"),
]), ids=["default", "factory", "class data", "property", "method of the base", "operator"])
def test_a_changed_class_gives_the_new_gradient(
    python: Callable[[str], str], project: Path, old: str, new: str, wanted: str
) -> None:
    python(PROGRAM)
    (project / "shapes.py").write_text(SHAPES.replace(old, new), encoding="utf-8")
    assert python(PROGRAM).splitlines()[0] == wanted
    assert python(PROGRAM).splitlines() == [wanted, "False"]
