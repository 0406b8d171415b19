"""``adcompiler dump`` writes modules that import and run by themselves."""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

from adcompiler.cli import main

MODEL = """
    import math
    import numpy as np
    from adcompiler import grad, value_and_grad
    from adcompiler import vjp  # noqa: F401

    RATE = 0.5
    print("a module may print")

    def helper(x, n):
        return x if n == 0 else x * helper(x, n - 1)

    @grad
    def power(x: float, n: int = 2) -> float:
        return helper(x, n) * RATE

    @value_and_grad(argnums=("w", "b"))
    def loss(w, b, *, scale: float = 2.0):
        return np.sum(np.tanh(w * b)) * scale

    slope = grad(power.primal, argnums="x")
    by_n = value_and_grad(lambda x, n: helper(x, 3) * n)

    def plain(x, options=None, f=np.sin):
        return np.sum(f(x)) if options is None else 0.0 * np.sum(x)

    def make(k):
        def scaled(x):
            return k * x
        return scaled

    closed = make(2.0)

    class Model:
        @staticmethod
        def energy(x):
            return np.sum(x * x)

    def broken(x):
        global RATE
        RATE = x
        return RATE

    not_callable = 3
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "dumped_model.py").write_text(textwrap.dedent(MODEL), encoding="utf-8")
    return tmp_path


@contextlib.contextmanager
def at(directory: Path) -> Iterator[None]:
    """Work in a directory, from which modules are imported that are forgotten afterwards."""
    before = sys.modules.copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        patch.syspath_prepend(directory)
        patch.setenv("ADCOMPILER_CACHE_DIR", str(directory / "cache"))
        yield
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if name not in before and file.startswith(str(directory)):
            del sys.modules[name]


def command(directory: Path, *arguments: str, code: int = 0) -> tuple[str, str]:
    """Run the command in a directory; return what it prints on stdout and stderr."""
    output, errors = io.StringIO(), io.StringIO()
    with at(directory), redirect_stdout(output), redirect_stderr(errors):
        assert main(arguments) == code, errors.getvalue()
    return output.getvalue(), errors.getvalue()


def run(directory: Path, module: str, expression: str) -> str:
    """Import a dumped module and return the text of an expression."""
    importlib.invalidate_caches()
    with at(directory):
        return str(eval(expression, {"np": np, "m": importlib.import_module(module)}))


def in_a_process(directory: Path, *arguments: str) -> tuple[str, str]:
    """Run Python in a directory; return what it prints on stdout and stderr."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments], cwd=directory, text=True,
        capture_output=True, timeout=120,
        env=os.environ | {"ADCOMPILER_CACHE_DIR": str(directory / "cache")},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def functions(text: str) -> list[str]:
    """Return the names of the functions in a module's text."""
    return [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]


def test_every_decorated_function_of_a_module(directory: Path) -> None:
    text, errors = in_a_process(directory, "-m", "adcompiler", "dump", "dumped_model")
    printed, *told = errors.splitlines()
    assert printed == "a module may print"
    assert [line.partition(" of any type")[0] for line in told] == [
        "loss: the code takes w, b", "by_n: the code takes x, n"]
    assert command(directory, "dump", "dumped_model") == (text, errors)
    names = functions(text)
    assert {"power_grad", "loss_value_and_grad"} <= set(names)
    assert len(names) == len(set(names))
    (directory / "out.py").write_text(text, encoding="utf-8")
    asked = "import out; print(out.power_grad(3.0))"
    assert in_a_process(directory, "-c", asked)[0].splitlines()[-1] == "13.5"
    assert run(directory, "out", "(m.power_grad(3.0), m.power_grad(x=3.0, n=1))") == "(13.5, 3.0)"
    bars = "m.loss_value_and_grad(0.0, 1.0, scale=3.0)[1]"
    found = run(directory, "out", f"np.ravel({bars}).tolist()")
    assert found == "[3.0, 0.0]"
    (by_n,) = (name for name in names if name.startswith("lambda"))
    assert run(directory, "out", f"m.{by_n}(2.0, 3.0)") == "(48.0, 96.0)"


def test_a_file_is_imported_under_the_name_that_others_use(directory: Path) -> None:
    package = directory / "outer" / "inner"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "deep.py").write_text(
        "from outer.inner import constants\n"
        "from adcompiler import grad\n"
        "@grad\ndef f(x: float): return constants.K * x\n", encoding="utf-8",
    )
    (package / "constants.py").write_text("K = 4.0\n", encoding="utf-8")
    command(directory, "dump", "outer/inner/deep.py", "-o", "out.py")
    assert "import outer.inner.constants" in (directory / "out.py").read_text(encoding="utf-8")
    assert run(directory, "out", "m.f_grad(1.0)") == "4.0"


def test_rosen_as_shipped(directory: Path) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    _, errors = command(directory, "dump", "scipy.optimize:rosen", "-o", "rosen_ad.py")
    assert "rosen: assumed x: float64[:]" in errors
    x = np.linspace(-1.0, 2.0, 7)
    found = run(directory, "rosen_ad", f"m.rosen_grad(np.array({x.tolist()})).tolist()")
    assert np.allclose(ast.literal_eval(found), optimize.rosen_der(x), rtol=1e-12)
    _, errors = command(
        directory, "dump", "scipy.optimize:rosen", "--args", "x: float64[:]", "-o", "rosen_ad.py"
    )
    assert errors == ""
    text = (directory / "rosen_ad.py").read_text(encoding="utf-8")
    assert functions(text) == ["rosen_grad"]
    assert {line for line in text.splitlines() if "import" in line} == {"import numpy as np"}
    assert not any(word in text for word in ("torch", "modules", "try", "if "))
    assert "# rosen_grad: for x: float64[:]\n" in text


@pytest.mark.parametrize(
    ("options", "expression", "wanted"),
    [
        ([], "m.plain_grad(np.zeros(2)).tolist()", "[1.0, 1.0]"),
        ([], "m.plain_grad(np.zeros(2), options=1).tolist()", "[0.0, 0.0]"),
        (["--args", "options: None, x: float"], "m.plain_grad(0.0)", "1.0"),
        (["--args", "options: None"],
         "list(__import__('inspect').signature(m.plain_grad).parameters)", "['x']"),
        (["--argnums", "0,"], "m.plain_grad(0.0)[0]", "1.0"),
        (["--mode", "reverse", "--args", "x: float32[:]"],
         "m.plain_grad(np.zeros(1, np.float32)).dtype", "float32"),
        (["--mode", "value_and_grad"], "m.plain_value_and_grad(0.0)[1]", "1.0"),
        (["--mode", "vjp", "--args", "x: float64[:]"],
         "m.plain_pullback(m.plain_augmented(np.zeros(1))[1], 2.0).tolist()", "[2.0]"),
        (["--mode", "forward", "--args", "x: float64[:]"],
         "float(m.plain_pushforward(np.zeros(1), x_dot=np.array([3.0]))[1])", "3.0"),
        (["--mode", "taylor", "--args", "x: float64[:]"],
         "m.plain_taylor(np.zeros(1), x_dot=np.array([[3.0], [0.5]]))[1].tolist()", "[3.0, 0.5]"),
    ],
)
def test_options(directory: Path, options: list[str], expression: str, wanted: str) -> None:
    command(directory, "dump", "dumped_model.py:plain", *options, "-o", "out.py")
    assert run(directory, "out", expression) == wanted


def test_options_of_the_command_override_the_decorator(directory: Path) -> None:
    text, _ = command(directory, "dump", "dumped_model:power", "--mode", "value_and_grad")
    assert "power_value_and_grad" in functions(text)
    text, _ = command(directory, "dump", "dumped_model:loss", "--argnums", "b")
    (directory / "out.py").write_text(text, encoding="utf-8")
    assert run(directory, "out", "m.loss_value_and_grad(1.0, 0.0)[1]") == "2.0"


def test_a_method(directory: Path) -> None:
    command(directory, "dump", "dumped_model:Model.energy", "-o", "out.py")
    assert run(directory, "out", "m.energy_grad(np.ones(2)).tolist()") == "[2.0, 2.0]"


@pytest.mark.parametrize("stage", ["parse", "types", "reverse", "optimise"])
def test_stages_print_the_intermediate_code(directory: Path, stage: str) -> None:
    text, _ = command(directory, "dump", "dumped_model:power", "--stage", stage)
    head = text.splitlines()[0]
    assert head == {
        "parse": "def power(x.0, n.1):", "types": "def power(x.0: float, n.1: int):",
    }.get(stage, "def power_grad(x.0: float, n.1: int):")
    assert "yield" in text
    assert ("float" in text) == (stage != "parse")


def test_extents_are_printed_with_types(directory: Path) -> None:
    (directory / "windows.py").write_text(textwrap.dedent("""
        import numpy as np

        def windows(x, w):
            out = np.zeros(len(x) - len(w) + 1)
            for i in range(len(out)):
                out[i] = np.sum(x[i : i + len(w)] * w)
            return out
    """), encoding="utf-8")
    text, _ = command(directory, "dump", "windows.py:windows", "--stage", "types", "--args",
                      "x: float64[:], w: float64[:]")
    lines = [line.strip() for line in text.splitlines()]
    assert lines[0] == "def windows(x.0: float64[:], w.1: float64[:]):"
    (out,) = [line for line in lines if "<zeros>" in line]
    assert ": float64[max(x.shape[0] - w.shape[0] + 1, 0)] = <zeros>(" in out
    (part,) = [line for line in lines if "= x.0[" in line]
    assert ": float64[w.shape[0]] = x.0[" in part


def test_an_early_stage_does_not_run_later_ones(directory: Path) -> None:
    text, errors = command(directory, "dump", "dumped_model:broken", "--stage", "parse")
    assert text.startswith("def broken(x.0):")
    assert "global" not in errors


# --- what is refused --------------------------------------------------------------------------


def test_refused_code_exits_with_1_and_says_where(directory: Path) -> None:
    output, errors = command(
        directory, "dump", "dumped_model.py:broken", "-o", "out.py", code=1
    )
    assert output == ""
    line = textwrap.dedent(MODEL).splitlines().index("    RATE = x") + 1
    assert f"dumped_model.py:{line}:" in errors
    assert "global" in errors
    assert "Traceback" not in errors
    assert not (directory / "out.py").exists()


def test_what_no_import_reaches_is_refused(directory: Path) -> None:
    _, errors = command(directory, "dump", "dumped_model:closed", "--args", "x: float", code=1)
    assert "dumped_model.closed cannot be written as a module" in errors
    assert "`k` is a variable of the function around it" in errors


def test_a_module_that_fails_is_refused(directory: Path) -> None:
    (directory / "failing.py").write_text("1 / 0\n", encoding="utf-8")
    _, errors = command(directory, "dump", "failing", code=1)
    assert errors == "failing cannot be imported: ZeroDivisionError: division by zero\n"
    (directory / "lacking.py").write_text("import no_such_module_anywhere\n", encoding="utf-8")
    _, errors = command(directory, "dump", "lacking", code=1)
    assert "No module named 'no_such_module_anywhere'" in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.py"], "there is no file nowhere.py"),
        (["no_such_module_anywhere"], "there is no module no_such_module_anywhere"),
        (["dumped_model:nothing"], "dumped_model has no function nothing"),
        (["dumped_model:not_callable"], "dumped_model is not a function: not_callable"),
        (["math"], "math has no @grad or @value_and_grad function at its top level"),
        (["dumped_model:plain", "--args", "y: float"], "no function has a parameter y"),
        (["dumped_model:plain", "--args", "x: flaot"], "'flaot' is no type"),
        (["dumped_model:plain", "--args", "x"], "'x' is no type"),
        (["dumped_model:plain", "--args", ", ".join(["float"] * 9)], "write `name: type`"),
        (["dumped_model:plain", "--argnums", "z"], "no parameter 'z'"),
        (["dumped_model:plain", "--argnums", "9"], "no argument 9"),
        (["dumped_model:plain", "--argnums", ","], "names no argument"),
        ([""], "name a module or a file"),
        (["dumped_model:plain", "--args", "x: float", "-o", "none/out.py"],
         "cannot write none/out.py: No such file"),
        (["dumped_model:plain", "--has-aux", "--mode", "forward"],
         "has_aux is not for the mode forward, but for grad and value_and_grad"),
    ],
)
def test_wrong_command_lines_exit_with_2(
    directory: Path, arguments: list[str], message: str
) -> None:
    output, errors = command(directory, "dump", *arguments, code=2)
    assert output == ""
    assert "adcompiler: error:" in errors
    assert message in errors
    assert "Traceback" not in errors


WITH_TRY = """import math


def f(x):
    try:
        y = math.sqrt(x)
    except ValueError:
        y = 0.0
    return y * x
"""


def test_a_linearization_that_has_no_two_parts_is_refused(tmp_path, capsys):
    file = tmp_path / "with_try.py"
    file.write_text(WITH_TRY)
    for args in ([], ["--args", "x: float"]):
        assert main(["dump", f"{file}:f", "--mode", "linearize", *args]) == 1
        said = capsys.readouterr().err
        assert "with_try.py:4" in said and "--mode forward" in said


ANNOTATED = '''\
from typing import Annotated, Any
import numpy as np
import numpy.typing as npt
from adcompiler import grad

@grad
def single(x: npt.NDArray[np.float32]): return np.sum(x)

@grad
def both(x: np.ndarray, w: npt.NDArray[np.float64], n: int): return np.sum(x * w) * n

@grad
def matrix(x: np.ndarray[tuple[int, int], np.dtype[Any]]): return np.sum(x)

@grad
def bare(x): return np.sum(x)

@grad
def known(x: Annotated[npt.NDArray[np.float32], "float32[:]"]): return np.sum(x)
'''


def test_what_annotations_of_arrays_leave_open_is_told(
    directory: Path,
) -> None:
    (directory / "annotated.py").write_text(ANNOTATED, encoding="utf-8")
    text, told = command(directory, "dump", "annotated")
    end = 'for one type add --args "x: {0}" or the annotation Annotated[np.ndarray, "{0}"]'
    axes = "the number of axes of"
    missing = {
        "single": (f"x#annotations leave open {axes} x; ", "float32[:]"),
        "both": (f"x, w#annotations leave open the dtype and {axes} x, {axes} w; ", "float64[:]"),
        "matrix": ("x#annotations leave open the dtype of x; ", "float64[:, :]"),
        "bare": ("x#", "float64[:]"),
    }
    runtime = " of any type, which costs calls of the runtime; "
    assert told.splitlines() == [
        f"{name}: the code takes {what.replace('#', runtime)}{end.format(type_)}"
        for name, (what, type_) in missing.items()]
    assert "# known_grad: for x: float32[:]" in text
