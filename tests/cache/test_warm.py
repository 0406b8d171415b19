"""With a warm cache a second process neither parses nor emits, and gets the same gradient."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path


Python = Callable[[str], str]

MODEL = """
import math
import numpy as np
from adcompiler import grad, value_and_grad, vjp

SCALE = 3.0

class Model:
    def __init__(self, w):
        self.w = w
    def loss(self, x):
        return np.sum((x * self.w) ** 2)

def activation(x):
    return 1.0 / (1.0 + np.exp(-x))

def loss(w, X, y):
    p = activation(X @ w)
    return -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p)) * SCALE

def root(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x

def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)

def make(data, function):
    def closed(x):
        return np.sum(function(x * data))
    return closed
"""
CALLS = {
    "loss": "grad(loss)(np.ones(2), np.eye(2), np.array([0.0, 1.0])).tolist()",
    "while": "value_and_grad(root)(2.0)",
    "recursion": "grad(power)(2.0, 3)",
    "ufunc": "grad(np.sin)(0.0)",
    "lambda": "grad(lambda x: x * x * SCALE)(2.0)",
    "closure": "grad(make(np.arange(2.0), np.cos))(np.ones(2)).tolist()",
    "method": "grad(Model(2.0).loss)(np.ones(2)).tolist()",
    "vjp": "vjp(activation, np.zeros(2))[1](np.ones(2))[0].tolist()",
    "function argument": "grad(lambda x, f: f(x), argnums=0)(0.5, math.sin)",
    "rosen": "grad(__import__('scipy.optimize').optimize.rosen)(np.ones(3)).tolist()",
}
PARSERS = (
    "gast", "astunparse", "adcompiler.frontend.parser", "adcompiler.backends.python",
    "adcompiler.compile.pipeline",
)


def program(call: str) -> str:
    """Return a program that makes one call and tells which parsers it imported."""
    return (
        "import sys\nfrom model import *\nimport prog\nprint(prog.call())\n"
        f"print([name for name in {PARSERS!r} if name in sys.modules])\n"
    )


def test_the_second_process_does_not_parse(tmp_path: Path, python: Python) -> None:
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    text = "from model import *\n\n\nCALLS = {\n" + "".join(
        f"    {name!r}: lambda: {call},\n" for name, call in CALLS.items()
    ) + "}\n"
    (tmp_path / "prog.py").write_text(text, encoding="utf-8")
    made = (
        "import sys\nimport prog\nfor name, call in prog.CALLS.items():\n"
        f"    print(name, call(), [one for one in {PARSERS!r} if one in sys.modules])\n"
    )
    cold = python(made).splitlines()
    assert len(cold) == len(CALLS)
    assert all("adcompiler.frontend.parser" in line for line in cold)
    warm = python(made).splitlines()
    assert warm == [re.sub(r"\['gast'.*", "[]", line) for line in cold]


def test_rules_of_python_and_numpy_import_no_part_of_scipy(python: Python, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "import math\nimport sys\nimport numpy as np\nfrom adcompiler import grad\n"
        "def f(x):\n    return math.sin(2.0) * np.sum(np.tanh(x) ** 2)\n"
        "def g(x):\n    return math.lgamma(x)\n"
        "def parts():\n    return [m for m in sys.modules if m.startswith('scipy.special')]\n",
        encoding="utf-8",
    )
    for _ in range(2):  # compiled, and kept
        values = python("from model import *\nprint(grad(f)(np.zeros(2)), parts())")
        assert values == "[0. 0.] []\n"
    assert python("from model import *\nprint(round(grad(g)(2.0), 9))") == "0.422784335\n"


def test_unchanged_entries_do_not_pile_up(tmp_path: Path, python: Python) -> None:
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    text = "from model import *\n\ndef call():\n    return grad(make(1.0, np.sin))(1.0)\n"
    (tmp_path / "prog.py").write_text(text, encoding="utf-8")
    for _ in range(3):
        python(program(""))
    assert len(list((tmp_path / "cache").rglob("*.py"))) == 1


def test_several_processes_at_once(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    command = [sys.executable, "-W", "error", "-c", "from model import *; print(grad(root)(2.0))"]
    environment = os.environ | {
        "ADCOMPILER_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path),
    }
    running = [
        subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    done = [process.communicate(timeout=120) for process in running]
    assert [errors for _, errors in done] == [""] * 3
    assert {output for output, _ in done} == {"0.35355339059327373\n"}
    assert len(list((tmp_path / "cache").rglob("*.py"))) == 1
    assert not list((tmp_path / "cache").rglob("*.tmp"))


def test_functions_of_main_are_kept_by_their_file(tmp_path: Path) -> None:
    def run(text: str) -> str:
        file = tmp_path / "script.py"
        file.write_text(textwrap.dedent(text), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-W", "error", str(file)], cwd=tmp_path, capture_output=True,
            env=os.environ | {"ADCOMPILER_CACHE_DIR": str(tmp_path / "cache")}, timeout=120,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    script = """
        import sys
        from adcompiler import grad

        K = 2.0

        def f(x):
            return K * x * x

        print(grad(f)(3.0), "gast" in sys.modules)
    """
    assert run(script) == "12.0 True"
    assert run(script) == "12.0 False"
    assert run(script.replace("K = 2.0", "K = 4.0")) == "24.0 False"
    assert run(script.replace("K * x * x", "K * x")) == "2.0 True"


NOTEBOOK = """
import linecache, sys, types
import __main__

def cell(text, number):
    file = f"/tmp/ipykernel_1/{number}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), __main__.__dict__)

cell("from adcompiler import grad\\ndef helper(x):\\n    return x * x\\n", 1)
cell("def f(x):\\n    return helper(x) * 2.0\\ng = grad(f)\\nprint(g(3.0))\\n", 2)
cell("def helper(x):\\n    return x * x * x\\n", 3)
cell("print(g(3.0), grad(f)(3.0))\\n", 4)
cell("def f(x):\\n    return helper(x)\\nprint(grad(f)(3.0), g(3.0))\\n", 5)
"""


def test_cells_of_a_notebook(python: Python) -> None:
    for _ in range(2):
        assert python(NOTEBOOK).splitlines() == ["12.0", "54.0 54.0", "27.0 54.0"]


def test_a_cache_that_is_off(tmp_path: Path, python: Python) -> None:
    printed = python(
        "import os\nos.environ['ADCOMPILER_CACHE_DIR'] = 'off'\n"
        "from adcompiler import grad\nimport numpy as np\n"
        "g = grad(np.sin)\nprint(g(0.0), g.module_path)"
    )
    assert re.sub(r"\s+", " ", printed).strip() == "1.0 None"
    assert not (tmp_path / "cache").exists()
