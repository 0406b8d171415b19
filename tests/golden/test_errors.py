"""Messages of refusals, kept as files to be read: ``errors/*.txt``.

Each file holds a program and, below a line ``=== NameOfTheError``, the whole message that it
raises; files that the program imports stand between, each below a line ``=== name.py``. Paths are
written without their directory. To write the messages anew after a change of wording, and read the
difference: ``python tests/golden/test_errors.py``.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import pickle
import re
import runpy
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from scipy.special import wrightomega

from adcompiler import ADError, MissingRuleError, UnsupportedError, grad, non_differentiable
from adcompiler.errors import LocatedError
from adcompiler.frontend import rejected
from adcompiler.rulekit import REGISTRY
from tests.together import each

HERE = Path(__file__).resolve().parent
GOLDEN = sorted((HERE / "errors").glob("*.txt"))
LIMITATIONS = HERE.parents[1] / "docs" / "limitations.md"


@dataclass(frozen=True)
class Golden:
    """A program, the modules that it imports, and the error that it raises."""

    name: str
    program: str
    modules: dict[str, str]
    error: str
    message: str


def read(path: Path) -> Golden:
    """Return what a golden file holds."""
    program, *rest = re.split(r"^=== (.*)\n", path.read_text(encoding="utf-8"), flags=re.M)
    parts = dict(zip(rest[::2], rest[1::2], strict=True))
    *modules, error = parts
    return Golden(
        path.stem, program, {name: parts[name] for name in modules}, error, parts[error].strip()
    )


@contextmanager
def calls_in(directory: Path) -> Iterator[list[str]]:
    """Record the names of the functions of files in ``directory`` that run meanwhile."""
    ran: list[str] = []

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        here = event == "call" and code.co_filename.startswith(str(directory))
        if here and code.co_flags & inspect.CO_NEWLOCALS and code.co_name != "__init__":
            ran.append(code.co_name)

    sys.setprofile(profile)
    try:
        yield ran
    finally:
        sys.setprofile(None)


def raised(golden: Golden, directory: Path) -> tuple[BaseException | None, list[str]]:
    """Run a program in ``directory``; return what it raises and which of its functions ran."""
    for name, text in golden.modules.items():
        (directory / name).write_text(text, encoding="utf-8")
    file = directory / f"{golden.name}.py"
    file.write_text(golden.program, encoding="utf-8")
    loaded = set(sys.modules)
    sys.path.insert(0, str(directory))
    try:
        with calls_in(directory) as ran:
            runpy.run_path(str(file), run_name=golden.name)
    except Exception as error:
        return error, ran
    finally:
        sys.path.remove(str(directory))
        for name in set(sys.modules) - loaded:
            if getattr(sys.modules[name], "__file__", "") and name + ".py" in golden.modules:
                del sys.modules[name]
    return None, ran


def shown(error: BaseException, directory: Path) -> str:
    """Return the message of an error as golden files hold it."""
    return str(error).replace(f"{directory}/", "").strip()


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_the_message_is_the_one_in_the_file(path: Path, tmp_path: Path) -> None:
    golden = read(path)
    error, ran = raised(golden, tmp_path)
    assert error is not None, "no error"
    assert shown(error, tmp_path) == golden.message
    assert type(error).__name__ == golden.error
    if isinstance(error, ADError):
        assert ran == [], "the program ran before it was refused"


@each("path", GOLDEN, ids=lambda path: path.stem)
def test_findings_have_all_their_parts(path: Path, tmp_path: Path) -> None:
    golden = read(path)
    error, _ = raised(golden, tmp_path)
    if not isinstance(error, LocatedError):
        return
    sections = LIMITATIONS.read_text(encoding="utf-8")
    for finding in error.findings:
        source = Path(finding.file).read_text(encoding="utf-8").splitlines()
        assert source[finding.line - 1] == finding.text.rstrip()
        assert finding.text[finding.column : finding.column + finding.width].strip()
        assert not finding.text[finding.column].isspace()
        assert finding.problem
        assert finding.hint
        assert f'<a id="{finding.anchor}"></a>' in sections
    files = [finding.file for finding in error.findings]
    for file in set(files):
        places = [finding.place for finding in error.findings if finding.file == file]
        assert places == sorted(places)


def test_every_form_that_the_parser_rejects_has_a_golden_file() -> None:
    messages = "\n".join(read(path).message for path in GOLDEN)
    found = [
        *rejected.STATEMENTS.values(), *rejected.EXPRESSIONS.values(),
        rejected.ATTRIBUTE_DELETION,
        rejected.GENERATOR_AGAIN, rejected.GLOBAL_DELETION,
        rejected.REBOUND_GENERATOR._replace(problem="generator expression"),
    ]  # fmt: skip
    unreachable = {"async for is not supported", "async with is not supported"}  # inside async def
    for rejection in found:
        if rejection.problem not in unreachable:
            assert rejection.problem in messages


def test_nothing_runs_before_all_findings_are_reported(forgets: list[Any]) -> None:
    turns: list[int] = []

    def turn() -> None:
        turns.append(1)

    non_differentiable(turn, pure=False)
    forgets.append(turn)

    def counted(x: float) -> float:
        turn()
        with contextlib.suppress(*(OverflowError,)):
            y = x * x
        items = [y]
        items[::2] = []
        return y

    with pytest.raises(UnsupportedError) as caught:
        grad(counted)(2.0)
    assert [finding.anchor for finding in caught.value.findings] == ["with", "in-place-containers"]
    assert turns == []


def test_an_error_survives_pickling() -> None:
    def deleting(x: float) -> float:
        items = [x]
        items[::2] = []
        return x

    with pytest.raises(UnsupportedError) as caught:
        grad(deleting)(1.0)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.findings == caught.value.findings


# -- the lines that a missing rule's message shows ------------------------------------------------


def lines_to_write(error: MissingRuleError) -> str:
    """Return the Python that the message of a missing rule says to write."""
    (finding,) = error.findings
    return "\n".join(row.removeprefix(" " * 6) for row in finding.hint.splitlines()[1:]) + "\n"


def write(text: str, derivative: str, directory: Path, **names: Any) -> None:
    """Run the lines that a message shows, with ``...`` replaced by the derivative."""
    assert text.count("...") == 1
    file = directory / "written.py"
    file.write_text(text.replace("...", derivative), encoding="utf-8")
    runpy.run_path(str(file), init_globals=names)


@pytest.fixture
def forgets() -> Iterator[list[Any]]:
    """Give a list of functions whose rules are forgotten after the test."""
    functions: list[Any] = []
    yield functions
    for function in functions:
        REGISTRY.remove(function)


@pytest.fixture
def forgotten() -> Iterator[Any]:
    """Give a ufunc whose rule is forgotten during the test."""
    rule = REGISTRY.find(wrightomega)
    assert rule is not None
    REGISTRY.remove(wrightomega)
    yield wrightomega
    REGISTRY.remove(wrightomega)
    REGISTRY.add(rule)


def test_the_lines_for_an_elementwise_function_work_when_completed(
    tmp_path: Path, forgotten: Any
) -> None:
    def program(x: float) -> float:
        return 2.0 * wrightomega(x)

    with pytest.raises(MissingRuleError) as caught:
        grad(program)(0.3)
    derivative = "scipy.special.wrightomega(x) / (1.0 + scipy.special.wrightomega(x))"
    write(lines_to_write(caught.value), derivative, tmp_path)
    difference = (program(0.3 + 1e-6) - program(0.3 - 1e-6)) / 2e-6
    assert grad(program)(0.3) == pytest.approx(difference, rel=1e-9)


@each("path", GOLDEN, ids=lambda path: path.stem)
def test_the_lines_to_write_are_python(path: Path, tmp_path: Path) -> None:
    error, _ = raised(read(path), tmp_path)
    for finding in getattr(error, "findings", ()):
        rows = finding.hint.splitlines()[1:]
        ast.parse("\n".join(row.removeprefix(" " * 6) for row in rows))


def rewrite() -> None:
    """Write the messages of all golden files anew."""
    for path in GOLDEN:
        text = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name).resolve()
            error, ran = raised(read(path), directory)
            assert error is not None, f"{path.stem}: no error"
            if ran:
                print(f"{path.stem}: these functions ran: {ran}")
            head = re.split(r"^=== [A-Z]\w*\n", text, flags=re.M)[0].rstrip("\n")
            message = f"=== {type(error).__name__}\n{shown(error, directory)}\n"
            path.write_text(f"{head}\n\n{message}", encoding="utf-8")


if __name__ == "__main__":
    rewrite()
