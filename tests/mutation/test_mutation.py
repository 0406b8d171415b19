"""The mutation lane: what is mutated, which tests are chosen, and what is read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.mutation.places import Places
from tests.mutation.reached import Reached, first_bits, pack
from tests.mutation.trying import in_order, slices, spread

SOURCE = '''"""Words with 1 and 2."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    LIMIT = 3
Row = dict[str, 4]
@decorated(5)
def f(x: "int | 6") -> "float | 7":
    """Words."""
    assert x > 8
    if x > 9:
        raise ValueError(10, x)
    for a, b in zip(x, x, strict=True):
        note(f"{a + 11}", a + 12, b=13)
    return x
class C:
    def __repr__(self):
        return "C" * 14
'''


def test_words_and_lines_for_type_checkers_are_left_out() -> None:
    places = Places.of(SOURCE)
    numbers = {str(k): next((i + 1, line.index(str(k))) for i, line in enumerate(places.lines)
                            if str(k) in line) for k in range(3, 15)}
    assert [k for k, at in numbers.items() if places.mutable(at)] == ["9", "12", "13"]
    assert places.mutable((11, 8)), "a raised error may be left out"
    assert not places.mutable((12, 28)), "strict= is an assertion"


def test_the_lines_of_a_statement_are_its_own() -> None:
    places = Places.of(
        "def f(x):\n    if (x\n            and y):\n        g(x,\n          y)\n    z\nw\n")
    assert [list(places.statement((line, 0))) for line in (1, 2, 3, 4, 5, 6)] == [
        [1], [2, 3], [2, 3], [4, 5], [4, 5], [6]]
    assert list(places.function(3)) == [1, 2, 3, 4, 5, 6]
    assert list(places.function(7)) == [7]


def test_tests_of_all_files_take_turns_and_those_on_ir_come_first() -> None:
    tests = ["tests/a.py::1", "tests/a.py::2", "tests/ir_cases/t.py::1", "tests/b.py::1",
             "tests/sparsity/t.py::1"]
    assert spread(tests[:4:3] + tests[1:2]) == ["tests/a.py::1", "tests/b.py::1", "tests/a.py::2"]
    assert in_order(tests, "adcompiler/sparsity/x.py") == [
        "tests/ir_cases/t.py::1", "tests/sparsity/t.py::1", "tests/a.py::1", "tests/b.py::1",
        "tests/a.py::2"]


def test_slices_keep_to_the_budget() -> None:
    seconds = {"a": 15.0, "b": 10.0, "c": 90.0, "d": 1.0}
    assert slices(list("abcd"), seconds, 30.0) == (["a"], ["b", "d"])
    assert slices(list("abcd"), seconds, 200.0) == (["a"], ["b", "c", "d"])


def written(file: Path, texts: dict[str, str], ran: dict[str, tuple[str, list[int]]]) -> None:
    """Write what a process writes: tests with the lines that they ran."""
    bits = first_bits(texts)
    rows: list[object] = [pack(json.dumps(texts).encode())]
    for test, (path, lines) in ran.items():
        number = sum(1 << bits[path] + line for line in lines)
        rows.append({"test": test, "seconds": float(len(lines)),
                     "lines": pack(number.to_bytes(8, "little"))})
    file.write_text("\n".join(map(json.dumps, rows)))


def test_a_map_follows_lines_that_have_moved(tmp_path: Path) -> None:
    texts = {"p.py": "a\nb\nc", "q.py": "d\ne"}
    written(tmp_path / "1.jsonl", texts, {
        "slow": ("p.py", [1, 2]), "fast": ("p.py", [2]), "other": ("q.py", [1])})
    reached = Reached.read(tmp_path)
    assert reached.tests("p.py", texts["p.py"], [2]) == ["fast", "slow"]
    assert reached.tests("p.py", texts["p.py"], [2], [1, 2]) == ["slow", "fast"]
    assert reached.tests("p.py", "new\na\nb\nc", [3]) == ["fast", "slow"]
    assert reached.tests("p.py", "new\na\nb\nc", [1]) == []
    assert reached.tests("q.py", texts["q.py"], [1, 2]) == ["other"]


def test_operators_give_what_they_say() -> None:
    operators = pytest.importorskip("tests.mutation.operators", exc_type=ImportError)
    for operator in (kind for kinds in operators.KINDS.values() for kind in kinds):
        for example in operator.examples() if isinstance(operator, operators.Own) else ():
            assert operators.mutate_code(
                example.pre_mutation_code, operator, 0) == example.post_mutation_code


def test_sites_of_a_module_and_their_replacements() -> None:
    operators = pytest.importorskip("tests.mutation.operators", exc_type=ImportError)
    source = "def f(x, y):\n    if x < 1 and y not in x:\n        g(x, y)\n    return False\n"
    found = {(kind, m.apply(source).splitlines()[m.at[0] - 1].strip())
             for kind, mutations in operators.sites(source) for m in mutations}
    assert found == {
        ("comparison", "if x <= 1 and y not in x:"), ("comparison", "if x >= 1 and y not in x:"),
        ("comparison", "if x < 1 and y in x:"), ("and, or", "if x < 1 or y not in x:"),
        ("not", "if not x < 1 and y not in x:"), ("number", "if x < 2 and y not in x:"),
        ("number", "if x < 0 and y not in x:"), ("arguments", "g( y,x)"), ("statement", "pass"),
        ("truth", "return True"),
    }
