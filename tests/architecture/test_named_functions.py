"""The compiler asks what is known of a function, and compares it with none that it names."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from tests.architecture.named_functions import decisions, is_pythons, modules

REASONS = {
    "products/kept_bytes.py": (3, "copies of containers, and the checks that emitted code makes"),
    "backends/native/emit/calls.py": (19, "what the text of loops calls, each an instruction"),
    "backends/native/emit/expressions.py": (3, "what the text of loops calls, each an instruction"),
    "backends/native/ops/complexes.py": (5, "CPython computes these in steps of its own"),
    "record/library/array_functions.py": (11, "hooks of functions that make or repeat arrays"),
    "record/library/arrays.py": (1, "an operator of its own hook"),
    "record/library/methods.py": (1, "a method in place that adds"),
    "record/second.py": (22, "second derivatives of what slopes are written for"),
    "record/slopes.py": (40, "slopes written by hand, as compiled ones take longer to call"),
    "record/library/special.py": (3, "hooks for calls that are made very often"),
    "sparsity/interpreter/generic.py": (2, "what is true of generic numbers may be asked of them"),
    "infer/calls/random_draws.py": (1, "the class of what makes generators of random numbers"),
    "infer/calls/vectorize.py": (6, "calls that are given functions are written as loops"),
    "infer/folds/concatenators.py": (1, "vectors that are crossed differ in type"),
    "infer/folds/extremes.py": (4, "items that are found are chosen, so that they may be any"),
    "infer/folds/inspection.py": (11, "questions about types are answered when compiling"),
    "infer/folds/splitting.py": (6, "what is a view of an array is written as one"),
    "infer/folds/option.py": (2, "calls that some options make calls of others"),
}
"""The modules that name functions of libraries, how many, and why no fact can say it.

They register how a call is evaluated, as rules are registered: each is code for one function.
"""

PYTHONS = {
    "analyses": 3, "backends/native": 20, "backends/python": 3, "derive": 5, "ir": 1,
    "optimise": 5, "prelude": 3, "products": 4, "record": 20, "sparsity": 10, "infer": 65,
}
"""How many of Python's own operators and builtin functions each stage decides about.

These are the language that is compiled, as ``len`` and ``+`` are; a number only shrinks.
"""


@functools.cache
def found() -> dict[str, list[str]]:
    """Return the functions that modules decide about by their names."""
    return {
        module: [name for _, name in decisions(file.read_text(encoding="utf-8"))]
        for module, file in modules().items()
    }


def test_no_function_of_a_library_is_decided_about_by_its_name() -> None:
    counts = {
        module: sum(not is_pythons(name) for name in names) for module, names in found().items()
    }
    assert {module: count for module, count in counts.items() if count} == {
        module: count for module, (count, _) in REASONS.items()}


def test_no_stage_decides_about_more_of_pythons_functions() -> None:
    counts: dict[str, int] = {}
    for module, names in found().items():
        parts = Path(module).parts
        stage = "/".join(parts[:2]) if parts[0] == "backends" else parts[0]
        counts[stage] = counts.get(stage, 0) + sum(map(is_pythons, names))
    assert {stage: count for stage, count in counts.items() if count} == PYTHONS


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import numpy as np\nTABLE = {np.sum, np.max}", ["numpy.max", "numpy.sum"]),
        ("import numpy as np\nTABLE = {np.sum: 1}", ["numpy.sum"]),
        ("import operator\ndef f(g):\n    return g is operator.add", ["operator.add"]),
        ("import math\ndef f(g):\n    return g in (math.sin, len)", ["len", "math.sin"]),
        ("from math import sin\ndef f(g):\n    return g == sin", ["math.sin"]),
        ("import numpy as np\ndef f(g):\n    match g:\n        case np.sum:\n            return 1",
         ["numpy.sum"]),
        ("import numpy as np\n@folds(np.ndim)\ndef f(g):\n    return 1", ["numpy.ndim"]),
        ("NAMES = frozenset({'numpy.linalg.solve'})", ["numpy.linalg.solve"]),
        ("MODULES = ('numpy.linalg', 'numpy.fft')", []),
        ("import numpy as np\ny = np.sum(np.ones(3))", []),
        ("import numpy as np\nx = s.let(Call(Const(np.sum), (a,)))", []),
        ("import numpy as np\nTYPES = (np.ndarray, float)", []),
    ],
)
def test_what_counts_as_a_decision(text: str, names: list[str]) -> None:
    assert [name for _, name in decisions(text)] == names


def test_what_is_pythons_own() -> None:
    assert all(map(is_pythons, ("len", "operator.add", "functools.reduce", "itertools.chain")))
    assert not any(map(is_pythons, ("math.sin", "numpy.sum", "statistics.mean", "random.shuffle")))
