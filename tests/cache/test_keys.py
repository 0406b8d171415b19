"""What emitted code relies on: a change of it recompiles, a change of something else does not."""

from __future__ import annotations

import functools
import textwrap
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

from adcompiler.cache.keys import (
    code_digest, digest, fingerprint, resolve, spelled, storable, type_text, unspelled,
)
from adcompiler.frontend.scope import MISSING
from adcompiler.ir import types as t
from tests.lanes import one_in

RULES = """
    import numpy as np
    from adcompiler.rulekit import rrule

    SCALE = 2.0

    def half(x):
        return 0.5 * x

    def f(x):
        return np.asarray(x) * 2.0

    def g(x):
        return np.asarray(x) * 3.0

    @rrule(f)
    def f_rule(x):
        def f_pullback(dy):
            return half(dy) * 2.0 * SCALE
        return f(x), f_pullback

    @rrule(g)
    def g_rule(x):
        def g_pullback(dy):
            return 3.0 * dy
        return g(x), g_pullback
"""
HELPERS = """
    import numpy as np

    K = 2.0

    def helper(x, factor=3.0):
        return factor * x * x

    def unused(x):
        return x
"""
MODEL = """
    import helpers
    import lib
    import numpy as np
    from adcompiler import grad
    from helpers import helper

    def loss(x):
        return helper(x) * helpers.K + lib.f(x)

    def make(data, function):
        def captured(x):
            return np.sum(function(x * data))
        return captured

    gradient = grad(loss)
    closed = grad(make(np.ones(2), np.sin))
"""
PROGRAM = """
    import sys
    import model
    print(float(model.gradient(1.0)), {after})
    print(*sorted(name for name in sys.modules if name == "adcompiler.compile.pipeline"))
"""


class Project:
    """Modules on disk, and a program that runs in processes of its own with one cache."""

    def __init__(self, directory: Path, python: object) -> None:
        self.directory = directory
        self.python = python
        for name, text in (("lib", RULES), ("helpers", HELPERS), ("model", MODEL)):
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        """Write a module."""
        (self.directory / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")

    def change(self, name: str, old: str, new: str) -> None:
        """Replace a part of a module's text."""
        path = self.directory / f"{name}.py"
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), encoding="utf-8")

    def run(self, after: str = "''") -> tuple[str, bool]:
        """Return what the program printed, and whether it compiled anything."""
        printed = self.python(textwrap.dedent(PROGRAM.format(after=after)))  # type: ignore[operator]
        value, pipeline = printed.split("\n")[:2]
        return value.strip(), bool(pipeline)


@pytest.fixture
def project(tmp_path: Path, python: object) -> Project:
    return Project(tmp_path, python)


def test_nothing_changes_nothing_is_compiled(project: Project) -> None:
    assert project.run() == ("14.0", True)
    assert project.run() == ("14.0", False)


@pytest.mark.parametrize(
    ("module", "old", "new", "value"),
    one_in(2, [
        ("model", "helper(x) * helpers.K", "helper(x) * helpers.K * 2.0", "26.0"),
        ("helpers", "return factor * x * x", "return factor * x * x * x", "20.0"),
        ("helpers", "factor=3.0", "factor=4.0", "18.0"),
        ("helpers", "K = 2.0", "K = np.float64(2.0)", "14.0"),
        ("lib", "half(dy) * 2.0", "half(dy) * 4.0", "16.0"),
        ("lib", "return 0.5 * x", "return 1.0 * x", "16.0"),
        ("lib", "SCALE = 2.0", "SCALE = 3.0", "15.0"),
        ("model", "    return helper(x)", "    # a comment\n    return helper(x)", "14.0"),
    ]),
    ids=[
        "text", "helper", "default of a helper", "type of a global", "rule", "helper of the rule",
        "constant of the rule", "comment, which moves lines",
    ],
)
def test_a_change_recompiles(
    project: Project, module: str, old: str, new: str, value: str
) -> None:
    assert project.run() == ("14.0", True)
    project.change(module, old, new)
    assert project.run() == (value, True)
    assert project.run() == (value, False)


@pytest.mark.parametrize(
    ("module", "old", "new", "value"),
    [
        ("lib", "return 3.0 * dy", "return 4.0 * dy", "14.0"),
        ("helpers", "def unused(x):\n    return x", "def unused(x):\n    return 2 * x", "14.0"),
        ("helpers", "K = 2.0", "K = 5.0", "32.0"),
    ],
    ids=["unrelated rule", "unrelated function", "value of a global"],
)
def test_a_change_of_something_else_does_not(
    project: Project, module: str, old: str, new: str, value: str
) -> None:
    assert project.run() == ("14.0", True)
    project.change(module, old, new)
    assert project.run() == (value, False)


def test_a_captured_function_is_part_of_the_key(project: Project) -> None:
    after = "model.closed(np.zeros(2)).tolist()".replace("np", "model.np")
    assert project.run(after) == ("14.0 [1.0, 1.0]", True)
    assert project.run(after) == ("14.0 [1.0, 1.0]", False)
    project.change("model", "np.sin)", "np.cos)")
    assert project.run(after) == ("14.0 [-0.0, -0.0]", True)


def test_captured_data_is_not(project: Project) -> None:
    after = "model.closed(model.np.zeros(2)).tolist()"
    assert project.run(after) == ("14.0 [1.0, 1.0]", True)
    project.change("model", "np.ones(2)", "2.0 * np.ones(2)")
    # The lines of `make` stay; only the array in its cell is another one.
    assert project.run(after) == ("14.0 [2.0, 2.0]", False)


def test_another_numpy_recompiles(project: Project) -> None:
    assert project.run() == ("14.0", True)
    project.change("helpers", "import numpy as np", "import numpy as np\nnp.__version__ = '9.9'")
    assert project.run() == ("14.0", True)


def test_a_rule_registered_since_then_is_used(project: Project) -> None:
    assert project.run() == ("14.0", True)
    project.change("lib", "SCALE = 2.0", (
        "SCALE = 2.0\nimport helpers\n"
        "@rrule(helpers.helper)\ndef helper_rule(x):\n"
        "    def helper_pullback(dy):\n        return 100.0 * dy\n"
        "    return helpers.helper(x), helper_pullback\n"
    ))
    assert project.run() == ("202.0", True)


# --- fingerprints -----------------------------------------------------------------------------


Point = namedtuple("Point", "x y")
Pair = namedtuple("Pair", "x y")


def square(x: float) -> float:
    return x * x


def cube(x: float) -> float:
    return x * x * x


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Point(1.0, 2.0), Pair(1.0, 2.0)),
        (Point(1.0, 2.0), (1.0, 2.0)),
        ((square,), (cube,)),
        ({"f": square}, {"f": cube}),
        (functools.partial(square), functools.partial(cube)),
        (functools.partial(pow, 2), functools.partial(pow, 3)),
        (np.dtype("f4"), np.dtype("f8")),
        (1.0, np.float64(1.0)),
        (np.ones(2), np.ones((2, 2))),
        (np.sin, np.cos),
        (square, np.sin),
    ],
)
def test_what_code_may_tell_apart_has_different_fingerprints(one: object, other: object) -> None:
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1.0, 2.0),
        (np.ones(2), np.zeros(5)),
        (functools.partial(pow, 2), functools.partial(pow, 2)),
        ((square, 1.0), (square, 2.0)),
        ([1.0], [2.0, 3.0]),
    ],
)
def test_what_code_cannot_tell_apart_has_one_fingerprint(one: object, other: object) -> None:
    assert fingerprint(one) == fingerprint(other)
    assert "0x" not in fingerprint(one)


def test_constants_in_sets_have_one_order() -> None:
    code = compile("x in {'a', 'b', 'c', 'd', 'e', 'f'}", "f", "eval")
    consts = tuple(c for c in code.co_consts if isinstance(c, frozenset))
    turned = frozenset(sorted(consts[0], reverse=True))
    other = code.replace(co_consts=tuple(turned if c in consts else c for c in code.co_consts))
    assert code_digest(code) == code_digest(other)


@pytest.mark.parametrize("pair", [("0.0", "-0.0"), ("1", "1.0"), ("True", "1"), ("(1,)", "(1.0,)")])
def test_constants_that_are_equal_but_differ_are_told_apart(pair: tuple[str, str]) -> None:
    one, other = (compile(f"x + {text}", "f", "eval") for text in pair)
    assert code_digest(one) != code_digest(other)


def test_digests_tell_parts_apart() -> None:
    assert digest("ab", "c") != digest("a", "bc")


def test_types_are_spelled_with_full_class_names() -> None:
    assert type_text(t.Tuple((t.FLOAT,), Point)).endswith("test_keys.Point('x', 'y')(float)")
    assert type_text(t.Static(None)) == "NoneType None"


# --- paths ------------------------------------------------------------------------------------


def test_paths_lead_to_values() -> None:
    assert resolve(test_paths_lead_to_values, [("free", "np"), ("attr", "sin")], {}) is np.sin
    assert resolve(square, [("argument", "f"), ("attr", "real")], {"f": 3.0}) == 3.0
    assert resolve(square, [("live", Point), ("attr", "_fields")], {}) == ("x", "y")
    assert resolve(square, [("import", "math:sin")], {}) is unspelled("math:sin")
    assert resolve(square, [("free", "nowhere")], {}) is MISSING
    assert resolve(square, [("argument", "missing")], {}) is MISSING
    assert resolve(square, [("unheard of", "x")], {}) is MISSING


@functools.cache
def kept(x):
    return x * 2


def test_paths_are_stored_without_live_objects() -> None:
    assert storable([("live", np.linalg.norm), ("attr", "x")]) == [
        ["import", "numpy.linalg:norm"], ["attr", "x"],
    ]
    assert storable([("live", lambda x: x)]) is None
    behind = storable([("live", kept.__wrapped__), ("attr", "x")])
    assert behind == [["import", f"{__name__}:kept"], ["attr", "__wrapped__"], ["attr", "x"]]
    assert resolve(None, map(tuple, behind[:2]), {}) is kept.__wrapped__


@pytest.mark.parametrize("value", [np.sin, np.ndarray.sum, len, np, dict.items])
def test_spelling_is_undone(value: object) -> None:
    text = spelled(value)
    assert text is not None
    assert unspelled(text) is value
