"""``adcompiler dump --standalone``: files that need neither adcompiler nor the user's module."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from adcompiler import grad, value_and_grad, vjp
from adcompiler.cli import main

MODEL = '''
    import dataclasses
    import math
    from typing import Annotated

    import numpy as np
    from scipy import linalg

    from adcompiler import grad, no_grad, value_and_grad

    FACE = 100.0
    TABLE = np.array([1.0, 2.0, 3.0])
    LIMITS = {"low": 0.5, "high": (1.0, float("inf"))}
    start = 7


    @dataclasses.dataclass
    class Layer:
        w: Annotated[np.ndarray, "float64[:]"]
        b: float


    def rounds(n):
        """Say how often."""
        return start + int(n)


    @grad
    def price(rate: float, years: float = 10.0):
        return FACE * math.exp(-rate * years) + LIMITS["low"] * rate


    @grad
    def weighed(x):
        y = np.sort(x * TABLE)
        total = 0.0
        for i in range(len(y)):
            if y[i] > LIMITS["high"][0]:
                total += y[i] ** 2
        return total


    @value_and_grad
    def layers(p: list[Layer]):
        h = 1.0
        for layer in p:
            h = np.tanh(layer.w @ layer.w * h + layer.b)
        return h


    @grad
    def solved(a):
        return np.sum(linalg.solve(a @ a.T + np.eye(2), a)) + np.median(a) + np.prod(a)


    def repeated(x, n):
        with no_grad():
            k = rounds(n)
        for _ in range(k):
            x = np.sin(x)
        return x


    def chosen(x, f=len):
        return x * f([x, x])
'''
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "price": (0.05,),
    "weighed": (np.array([0.3, 2.0, 0.9]),),
    "solved": (np.array([[1.0, 2.0], [0.5, 0.7]]),),
}


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a module, imported from the directory at hand."""
    (tmp_path / "standing.py").write_text(dedent(MODEL), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("standing", None)
    yield importlib.import_module("standing")
    sys.modules.pop("standing", None)


def alone(file: str, *rows: str) -> list[float]:
    """Run rows after the import of a file where neither adcompiler nor the model is."""
    script = "\n".join((
        "import sys", "sys.modules['adcompiler'] = sys.modules['standing'] = None",
        "import math", "import numpy as np", f"import {file}", *rows,
        "assert not any(k.startswith('adcompiler') and v for k, v in sys.modules.items())",
    ))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.getcwd()}, check=False)
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split()]


def test_a_module_needs_nothing_else(model: Any) -> None:
    assert main(["dump", "standing.py", "--standalone", "-o", "lone.py"]) == 0
    text = Path("lone.py").read_text(encoding="utf-8")
    imports = {line.split()[1] for line in text.splitlines() if line.startswith(("import", "from"))}
    assert not {name for name in imports if name.startswith(("adcompiler", "standing"))}
    assert "\nFACE = 100.0\n" in text and 'np.array([1.0, 2.0, 3.0], "float64")' in text
    for name, args in ARGUMENTS.items():
        given = ", ".join(f"np.{arg!r}" if hasattr(arg, "shape") else repr(arg) for arg in args)
        found = alone("lone", f"print(*np.ravel(lone.{name}_grad({given})))")
        assert np.array_equal(found, np.ravel(getattr(model, name)(*args))), name
    p = [model.Layer(np.array([0.1, 0.2]), 0.3), model.Layer(np.array([0.4, 0.5]), 0.6)]
    value, bars = model.layers(p)
    found = alone(
        "lone", "from types import SimpleNamespace as L",
        "v, g = lone.layers_value_and_grad("
        "[L(w=np.array([0.1, 0.2]), b=0.3), L(w=np.array([0.4, 0.5]), b=0.6)])",
        "print(v, *g[0].w, g[0].b, *g[1].w, g[1].b)")
    assert found == [value, *bars[0].w, bars[0].b, *bars[1].w, bars[1].b]


def test_functions_of_the_module_come_along(model: Any) -> None:
    target = ["dump", "standing.py:repeated", "--standalone", "--args", "x: float, n: int"]
    assert main([*target, "--mode", "vjp", "-o", "pair.py"]) == 0
    found = alone("pair", "v, r = pair.repeated_augmented(0.5, 2)",
                  "print(v, pair.repeated_pullback(r, 1.0))")
    value, pullback = vjp(model.repeated, 0.5, 2, argnums=(0,))
    assert found == [value, pullback(1.0)[0]]


def test_names_that_are_taken(model: Any) -> None:
    Path("twice.py").write_text(dedent('''
        import numpy as np

        project = 3.0
        add = np.array([1.0, 2.0])

        def zeros_like(x):
            return int(np.round(x))

        def f(x, y):
            total = 0.0
            for xi in x:
                total = total + xi * project * add[zeros_like(0.4)]
            return total * y
    '''), encoding="utf-8")
    assert main(["dump", "twice.py:f", "--standalone", "-o", "lone.py"]) == 0
    twice = importlib.import_module("twice")
    found = alone("lone", "print(*lone.f_grad([1.0, 2.0], 2.0), *lone.f_grad(np.ones(2), 0.5))")
    assert found == [6.0, 6.0, 1.5, 1.5]
    assert grad(twice.f)([1.0, 2.0], 2.0) == [6.0, 6.0]


def test_functions_of_scipy(model: Any) -> None:
    assert main(["dump", "scipy.optimize:rosen", "--standalone", "-o", "rosen.py"]) == 0
    from scipy.optimize import rosen, rosen_der

    x = np.array([1.3, 0.7, 0.8])
    found = alone("rosen", "print(*rosen.rosen_grad(np.array([1.3, 0.7, 0.8])))")
    assert np.array_equal(found, grad(rosen)(x))
    assert np.allclose(found, rosen_der(x), rtol=1e-13)


@pytest.mark.parametrize(("body", "message"), [
    ("import gast\n\n\ndef f(x):\n    return x * len(gast.dump(gast.parse('x')))", "needs gast"),
    ("STATE = object()\n\n\ndef f(x):\n    return x * bool(STATE)", ""),
    ("n = 0\n\n\ndef f(x):\n    global n\n    n = n + 1\n    return x * n", "writes"),
])
def test_what_cannot_stand_alone_says_so(
    body: str, message: str, model: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("needy.py").write_text(body + "\n", encoding="utf-8")
    sys.modules.pop("needy", None)
    code = main(["dump", "needy.py:f", "--args", "x: float", "--standalone", "-o", "lone.py"])
    said = capsys.readouterr().err
    assert (code, bool(message)) in ((1, True), (0, False)), said
    assert message in said and (code == 0) == Path("lone.py").exists()


def test_two_functions_share_what_they_need(model: Any) -> None:
    main(["dump", "standing.py", "--standalone", "-o", "lone.py"])
    text = Path("lone.py").read_text(encoding="utf-8")
    defined = [line for line in text.splitlines() if line.startswith(("def ", "class "))]
    assert len(defined) == len(set(defined))
    assert value_and_grad(lambda x: x * x)(2.0) == (4.0, 4.0)


# --- what dump is told of types, and what it tells --------------------------------------------


def heads(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the lines that say what functions were written for."""
    return [line[2:] for line in capsys.readouterr().out.splitlines() if line.startswith("# ")][1:2]


TYPED = '''
    from typing import Annotated, NamedTuple

    import numpy as np
    from numpy.typing import NDArray


    class Model(NamedTuple):
        w: Annotated[np.ndarray, "float64[:, :]"]
        b: float

        def energy(self, x: Annotated[NDArray[np.float64], "rows", "float64[:]"]):
            return np.sum(self.w @ x) + self.b


    def loss(p, x: float):
        return p["w"] @ p["w"] * x + p["b"]
'''


@pytest.mark.parametrize(("arguments", "wanted"), [
    (["typed.py:Model.energy", "--argnums", "x", "--args", "self: Model"],
     "energy_grad: for self: (float64[:, :], float), x: float64[:]"),
    (["typed.py:loss", "--args", 'p: {"w": float64[:], "b": float}'],
     "loss_grad: for p: {'w': float64[:], 'b': float}, x: float"),
    (["typed.py:loss", "--args", "p: ?"], "loss_grad: for p: ?, x: float"),
])
def test_types_of_arguments(
    arguments: list[str], wanted: str, model: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("typed.py").write_text(dedent(TYPED), encoding="utf-8")
    assert main(["dump", *arguments]) == 0
    assert heads(capsys) == [wanted]


@pytest.mark.parametrize(("given", "message"), [
    ("x: flaot", "did you mean 'float'?"), ("x: float64[", "is no type"),
    ("p: {w: float}", 'write `"key": type`'), ("y: float", "there are p, x"),
    ("p: Modl", "did you mean 'Model'?"),
])
def test_types_that_are_none(
    given: str, message: str, model: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("typed.py").write_text(dedent(TYPED), encoding="utf-8")
    assert main(["dump", "typed.py:loss", "--args", given]) == 2
    assert message in capsys.readouterr().err


def test_functions_that_do_not_compile_are_left_out_and_named(
    model: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("partly.py").write_text(dedent('''
        from adcompiler import grad


        @grad
        def good(x: float):
            return x * x


        @grad
        def bad(x: float):
            return eval("x") * x
    '''), encoding="utf-8")
    said = "partly.py:12: eval() sees variables by name, which compiled code does not keep"
    for more, code, answer in (((), 1, "refused"), (("--skip-refused",), 0, "recorded")):
        monkeypatch.setenv("ADCOMPILER_RECORD", str(int(answer == "recorded")))
        assert main(["dump", "partly.py", *more]) == code
        out, err = capsys.readouterr()
        assert "def good_grad(x):" in out and "bad_grad" not in out
        assert out.splitlines()[2] == f"# bad is left out, as it is {answer}: {said}"
        assert err.startswith("bad is left out:\n") and "partly.py:12:12: eval() sees" in err
    assert main(["dump", "partly.py:bad", "-o", "bad_alone.py"]) == 1
    assert not Path("bad_alone.py").exists()


def test_a_file_elsewhere_says_what_it_imports(
    model: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("sub").mkdir()
    Path("sub/bond.py").write_text(
        "RATE = [0.5]\n\n\ndef price(x: float):\n    return RATE[0] * x\n", encoding="utf-8")
    assert main(["dump", "sub/bond.py:price", "-o", "elsewhere.py"]) == 0
    told = capsys.readouterr().err
    assert told.startswith("elsewhere.py imports bond, which is found from sub: have that on")
    assert main(["dump", "sub/bond.py:price", "-o", "sub/beside.py"]) == 0
    assert main(["dump", "sub/bond.py:price", "-o", "elsewhere.py", "--standalone"]) == 0
    assert capsys.readouterr().err == ""
    assert alone("elsewhere", "print(elsewhere.price_grad(3.0))") == [0.5]
