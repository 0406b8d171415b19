"""The package's dataclasses do as the standard ones do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import itertools
import pickle
import re
import weakref
from dataclasses import field
from pathlib import Path
from typing import Any

import pytest

from adcompiler.support import structs
from adcompiler.support.structs import dataclass as ours

PACKAGE = Path(structs.__file__).parent
OPTIONS = [
    {"frozen": frozen, "slots": slots, "eq": eq}
    for frozen, slots, eq in itertools.product([False, True], repeat=3)
]
NAN = float("nan")


def classes(options: dict[str, bool]) -> list[Any]:
    """Return one class made by our decorator and by Python's."""
    made = []
    for decorator in (ours, dataclasses.dataclass):
        class Base:
            first: Any
            second: int = 2

        class Record(decorator(**options)(Base)):  # type: ignore[misc]
            items: list[int] = field(default_factory=list)
            unseen: int = field(default=0, repr=False, compare=False)
            late: int = field(init=False, repr=False, compare=False)

            def __post_init__(self) -> None:
                object.__setattr__(self, "late", self.second + 1)

        Record.__qualname__ = "Record"
        made.append(decorator(**options)(Record))
    return made


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_instances_are_those_of_pythons_decorator(options: dict[str, bool]) -> None:
    our, their = classes(options)
    assert our.__match_args__ == their.__match_args__
    assert list(inspect.signature(our).parameters) == list(inspect.signature(their).parameters)
    for args in [(1,), (1, 5), ((1, 2), 3, [4]), (NAN, 2, [], 9)]:
        mine, other = our(*args), their(*args)
        assert repr(mine) == repr(other)
        assert dataclasses.astuple(mine)[1:] == dataclasses.astuple(other)[1:]
        assert mine.late == mine.second + 1
        assert (mine == our(*args)) == (other == their(*args))
        assert mine != other and mine != args
        assert (copy.copy(mine) == mine) == (copy.copy(other) == other)
        changed = dataclasses.replace(mine, second=8)
        assert (changed.first, changed.second, changed.late) == (mine.first, 8, 9)
    assert our(1) is not our(1) and our(1).items is not our(1).items
    assert (our(1) == our(1, unseen=3)) == options["eq"]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_they_change_and_are_hashed_as_pythons(options: dict[str, bool]) -> None:
    for cls in classes(options):
        one = cls(1, 2, items=())
        if options["frozen"]:
            with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field"):
                one.first = 3
            with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field"):
                del one.second
        else:
            one.first = 3
            assert one.first == 3
        if options["eq"] and not options["frozen"]:
            with pytest.raises(TypeError, match="unhashable"):
                hash(one)
        else:
            assert (hash(one) == hash(cls(1, 2, items=()))) == options["eq"]
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'first'"):
            cls()
        with pytest.raises(TypeError, match="unexpected keyword argument 'third'"):
            cls(1, third=3)


@ours(frozen=True, slots=True, weakref_slot=True)
class Single:
    value: Any


@ours(frozen=True)
class Empty:
    """Has no fields."""


@ours(slots=True)
class Own:
    value: int

    def __repr__(self) -> str:
        return "own"

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 7


@pytest.mark.parametrize("one", [Single(NAN), Single((1, "a")), Empty(), Own(3)], ids=repr)
def test_copies_are_equal(one: Any) -> None:
    assert copy.copy(one) == one and hash(copy.copy(one)) == hash(one)
    if not isinstance(one, Single) or one.value is not NAN:
        assert pickle.loads(pickle.dumps(one)) == one
        assert copy.deepcopy(one) == one
    assert one == one


def test_a_single_value_is_compared_as_the_item_of_a_tuple_is() -> None:
    assert Single(NAN) == Single(NAN)
    assert hash(Single(3)) == hash((3,))
    assert Single(3) != Single(4)


def test_methods_of_the_class_are_kept() -> None:
    assert repr(Own(1)) == "own" and Own(1) == Own(2) and hash(Own(1)) == 7


def test_there_are_weak_references_where_these_are_asked_for() -> None:
    one = Single(1)
    assert weakref.ref(one)() is one


def test_what_contains_itself_has_a_repr() -> None:
    inner: list[Any] = []
    one = Single(inner)
    inner.append(one)
    assert repr(one) == "Single(value=[...])"


def test_the_class_without_a_docstring_has_its_name() -> None:
    assert Single.__doc__ == "Single"
    assert Empty.__doc__ == "Has no fields."


KEPT = {"structs.py", "errors.py", "frontend/sources/source.py"}
"""What makes them, what is written into files that stand alone, and what compares in order."""


def test_the_compilers_classes_are_made_so() -> None:
    standard = re.compile(r"^from dataclasses import .*\bdataclass\b", re.M)
    files = {file.relative_to(PACKAGE).as_posix(): file for file in PACKAGE.rglob("*.py")}
    assert [
        where for where, file in files.items()
        if where not in KEPT and not where.startswith("runtime/")
        and standard.search(file.read_text(encoding="utf-8"))
    ] == []
