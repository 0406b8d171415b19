"""The tests of what differs from another commit are found by imports and by folders."""

from __future__ import annotations

from tests import changed


def test_tests_of_a_package_and_those_that_import_a_module() -> None:
    found = changed.chosen(["adcompiler/sparsity/coloring.py"])
    assert {"tests/architecture", "tests/golden", "tests/sparsity"} <= set(found)
    assert not any(one.startswith("tests/native") for one in found)
    assert changed.folders_of("adcompiler/backends/native/lower/host_calls.py") == ("tests/native",)
    assert changed.folders_of("adcompiler/backends/python/lower.py") == ("tests/backends",)


def test_tests_of_a_module_of_the_tests() -> None:
    found = changed.chosen(["tests/language/check.py", "tests/api/test_taylor.py"])
    assert {"tests/api/test_taylor.py", "tests/forward/test_language.py"} <= set(found)
    assert changed.chosen([]) == sorted(changed.ALWAYS)


def test_each_folder_that_is_named_is_there() -> None:
    named = [*changed.FOLDERS, *(one for folders in changed.FOLDERS.values() for one in folders)]
    assert [one for one in named if not (changed.ROOT / one).exists()] == []


def test_each_package_of_the_compiler_has_tests() -> None:
    packages = [path.parent for path in (changed.ROOT / "adcompiler").glob("*/__init__.py")]
    names = [f"{path.relative_to(changed.ROOT).as_posix()}/x.py" for path in packages]
    assert [name for name in names if not changed.folders_of(name)] == []
