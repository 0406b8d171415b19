"""Code in the cache is used without loading rules, unless a process registered some."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Python = Callable[[str], str]
MODEL = """
import math
import numpy as np
from math import sin
from adcompiler import grad

def bent(x):
    return np.tanh(x)

def f(x):
    return np.sum(bent(x) * sin(1.0) * x)

def loaded():
    from adcompiler.ops.registry import REGISTRY
    return REGISTRY.loading.has_loaded
"""
RUN = "from model import *\nvalue = grad(f)(np.ones(2))[0]\n"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Write the model, and return its file."""
    path = tmp_path / "model.py"
    path.write_text(MODEL, encoding="utf-8")
    return path


def test_rules_are_not_loaded(model: Path, python: Python) -> None:
    shown = "print(loaded(), round(float(value), 6))"
    assert python(RUN + shown) == "True 0.994256\n"
    assert python(RUN + shown) == "False 0.994256\n"


def test_a_rule_of_the_process_counts(model: Path, python: Python, tmp_path: Path) -> None:
    python(RUN)
    (tmp_path / "own.py").write_text("""
import numpy as np
from adcompiler import rrule

@rrule(np.tanh)
def tanh(x):
    def pullback(dy):
        return dy * 100.0
    return np.tanh(x), pullback
""")
    assert python("import own\n" + RUN + "print(round(float(value), 3))") == "84.788\n"
    assert python(RUN + "print(loaded(), round(float(value), 6))") == "False 0.994256\n"


def test_a_name_that_means_another_function_counts(model: Path, python: Python) -> None:
    python(RUN)
    other = "import model\nfrom math import cos\nmodel.sin = cos\n" + RUN
    assert python(other + "print(round(float(value), 6))") == "0.638404\n"


def test_another_package_of_rules_counts(model: Path, python: Python, tmp_path: Path) -> None:
    python(RUN)
    package = tmp_path / "more_rules-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: more-rules\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[adcompiler.rules]\nmodel = more_rules\n")
    rules = tmp_path / "more_rules.py"
    text = """
import numpy as np
from adcompiler import rrule
from model import bent

@rrule(bent)
def tanh(x):
    def pullback(dy):
        return dy * FACTOR
    return np.tanh(x), pullback
"""
    rules.write_text(text.replace("FACTOR", "100.0"))
    shown = "print(loaded(), round(float(value), 3))"
    assert python(RUN + shown) == "True 84.788\n"
    assert python(RUN + shown) == "False 84.788\n"
    rules.write_text(text.replace("FACTOR", "10.0"))
    assert python(RUN + shown) == "True 9.056\n"


def test_a_helper_of_rules_that_was_replaced_counts(model: Path, python: Python) -> None:
    patched = """
import numpy as np
from adcompiler.cache.rules_fingerprint import as_loaded
from adcompiler.ops.registry import REGISTRY
REGISTRY.find(np.tanh)
import adcompiler_rules.numpy.elementwise.ufuncs as rules
rules.new = 1.0
print(as_loaded({("adcompiler_rules.numpy.elementwise.ufuncs", "new"): 1.0}),
      as_loaded({("adcompiler_rules.numpy.elementwise.ufuncs", "np"): np}))
"""
    assert python(patched) == "False True\n"
