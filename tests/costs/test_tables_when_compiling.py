"""Tables of a whole function are not walked through, nor copied, once for each of its regions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from adcompiler.analyses.purity import Purity
from adcompiler.backends.python import fusion
from adcompiler.backends.python.lifetimes import symmetric
from adcompiler.compile.pipeline import Request, stages
from adcompiler.frontend.rewriting import inlined_generators
from adcompiler.ir import types as t
from adcompiler.ir.visit import count_uses
from adcompiler.optimise import common_subexpressions

NUMBERS = itertools.count()
HEADS = {"loops": "for i in range(n):", "branches": "if n > {k}:"}


class Walked(dict[Any, Any]):
    """A table that counts how often all of it is looked at."""

    walks = 0

    def __iter__(self) -> Iterator[Any]:
        self.walks += 1
        return super().__iter__()

    def keys(self) -> Any:
        self.walks += 1
        return super().keys()

    def items(self) -> Any:
        self.walks += 1
        return super().items()


def request(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, head: str, n: int) -> Request:
    """Return the request for the gradient of a function of ``n`` regions."""
    lines = ["def f(x, n):", "    s = x"]
    for k in range(n):
        lines += [f"    {head.format(k=k)}", "        s = s * x + 0.5", "    s = s * s"]
    name = f"tables_{next(NUMBERS)}"
    (tmp_path / f"{name}.py").write_text("\n".join([*lines, "    return s"]), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return Request(__import__(name).f, (t.FLOAT, t.INT), wrt=(0,))


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_uses_are_walked_through_as_often_for_more_regions(
    head: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def walks(n: int) -> int:
        tables: list[Walked] = []

        def counted(block: Any) -> Walked:
            tables.append(Walked(count_uses(block)))
            return tables[-1]

        monkeypatch.setattr(fusion, "count_uses", counted)
        *_, (_, _, emitted) = stages(request(tmp_path, monkeypatch, head, n))
        assert emitted.text.count(head[:3]) >= n  # type: ignore[union-attr]
        return sum(table.walks for table in tables)

    assert walks(12) == walks(3)


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_what_is_known_is_not_copied_for_the_inside_of_a_region(
    head: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = {name: (unit, found) for name, unit, found in stages(
        request(tmp_path, monkeypatch, head, 6))}
    unit, functions = results["reverse"]
    known = Walked()
    block = functions[0].body  # type: ignore[index]
    purity = Purity(unit.type, unit.definition)
    once = common_subexpressions._Common(purity, set(), set())
    assert once.block(block, known, {}) is not block
    assert known.walks == 0
    outside = {v for s in block.statements for v in getattr(s, "results", ())} | {
        s.target for s in block.statements if hasattr(s, "target")}
    assert known
    assert all(var in outside for made in known.values() for var in made)


def test_loops_over_ranges_are_not_copied_to_look_for_generators(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(node: Any, memo: Any = None) -> Any:
        raise AssertionError("a copy is made")

    monkeypatch.setattr(inlined_generators, "copy", SimpleNamespace(deepcopy=refused))
    *_, (_, _, emitted) = stages(request(tmp_path, monkeypatch, HEADS["loops"], 3))
    assert emitted.text.count("for ") >= 6  # type: ignore[union-attr]


@pytest.mark.parametrize("n", [0, 1, 8, 9, 70, 600])
def test_rows_made_symmetric_have_their_columns(n: int) -> None:
    rows = [sum(1 << j for j in range(n) if (i * 7 + j * 13) % 11 == 0) for i in range(n)]
    made = symmetric(rows)
    assert len(made) == n
    for i in range(n):
        for j in range(n):
            assert made[i] >> j & 1 == (rows[i] >> j & 1 or rows[j] >> i & 1)
