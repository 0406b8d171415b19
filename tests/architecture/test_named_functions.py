"""The compiler asks what is known of a function, and compares it with none that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.named_functions import decisions, modules

LEFT = {
    "analyses/repeats.py": 2,
    "analyses/storage.py": 1,
    "backends/python/lower_expressions.py": 1,
    "backends/python/references.py": 3,
    "backends/python/tapes.py": 1,
    "backends/python/unbound.py": 1,
    "cli/check_classification.py": 1,
    "derive/disguises.py": 1,
    "derive/region_checks.py": 4,
    "frontend/replacements.py": 3,
    "ir/agreement.py": 1,
    "optimise/algebra.py": 7,
    "optimise/spreads.py": 3,
    "optimise/tapes.py": 1,
    "products/finish.py": 4,
    "sparsity/interpreter/lanes/lane_numbers.py": 2,
    "sparsity/interpreter/lanes/operations.py": 3,
    "sparsity/interpreter/program.py": 2,
    "sparsity/interpreter/run.py": 1,
    "sparsity/tracing/detectors.py": 9,
    "sparsity/tracing/tracer_arrays.py": 7,
    "specialise/calls/constructors.py": 1,
    "specialise/calls/dispatch.py": 2,
    "specialise/calls/operator_methods.py": 22,
    "specialise/calls/random_draws.py": 1,
    "specialise/folds/extremes.py": 3,
    "specialise/folds/in_place.py": 2,
    "specialise/folds/iterator.py": 5,
    "specialise/folds/power.py": 2,
    "specialise/folds/sequence.py": 1,
    "specialise/folds/table.py": 6,
    "specialise/iterables.py": 1,
    "specialise/result_types.py": 3,
    "specialise/storage/aliases.py": 3,
    "specialise/storage/operators_in_place.py": 3,
    "specialise/storage/stores.py": 3,
    "specialise/unrolling.py": 3,
}
"""How many library functions each module still decides about by themselves: these only shrink.

What has a number here belongs into ``adcompiler.ops.facts``. A number that is too large fails, too.
"""

OWN_TABLES = ("backends/native/",)
"""Where a backend says what it has code for."""


def found_in(file: Path) -> int:
    """Return how many library functions a module decides about."""
    return len(decisions(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", modules())
def test_no_further_function_is_decided_about_by_its_name(name: str) -> None:
    if not name.startswith(OWN_TABLES):
        assert found_in(modules()[name]) == LEFT.get(name, 0)


def test_modules_that_decide_about_functions_are_there() -> None:
    assert set(LEFT) <= set(modules())


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
        ("NAMES = frozenset({'numpy.linalg.solve'})", ["numpy.linalg.solve"]),
        ("import numpy as np\ny = np.sum(np.ones(3))", []),
        ("import numpy as np\nx = s.let(Call(Const(np.sum), (a,)))", []),
        ("import numpy as np\nTYPES = (np.ndarray, float)", []),
    ],
)
def test_what_counts_as_a_decision(text: str, names: list[str]) -> None:
    assert [name for _, name in decisions(text)] == names
