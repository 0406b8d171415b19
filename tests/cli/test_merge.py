"""Several modules become one: nothing twice, no name for two things."""

from __future__ import annotations

import pytest

from adcompiler.backends.python.printer.merge import merge, renamed
from adcompiler.errors import InternalError

HELPER = "def h_augmented(x):\n    # a.py:1  return x\n    return x, (x,)"
ONE = f"import numpy as np\n\n\ndef f_grad(x):\n    return h_augmented(np.sin(x))\n\n\n{HELPER}\n"
TWO = f"import math\n\n\ndef g_grad(x):\n    return h_augmented(math.sin(x))\n\n\n{HELPER}\n"


def test_imports_are_united_and_equal_functions_shared() -> None:
    assert merge([ONE, TWO]) == (
        "import math\nimport numpy as np\n\n\n"
        "def f_grad(x):\n    return h_augmented(np.sin(x))\n\n\n"
        f"{HELPER}\n\n\n"
        "def g_grad(x):\n    return h_augmented(math.sin(x))\n"
    )


def test_different_functions_of_one_name_are_numbered() -> None:
    other = TWO.replace("return x, (x,)", "return x, (x, x)").replace("g_grad", "f_grad")
    text = merge([ONE, other, ONE])
    assert text.count("def ") == 4
    assert "def f_grad_2(x):\n    return h_augmented_2(math.sin(x))" in text
    assert "def h_augmented_2(x):\n    # a.py:1  return x\n    return x, (x, x)" in text


def test_a_function_is_not_shared_if_what_it_calls_differs() -> None:
    other = ONE.replace("return x, (x,)", "return x, (x, x)")
    text = merge([ONE, other])
    assert "def f_grad_2(x):\n    return h_augmented_2(np.sin(x))" in text


def test_runtime_imports_are_united() -> None:
    body = "from adcompiler.runtime import {0}\n\n\ndef {0}_f():\n    return {0}()\n"
    texts = [body.format(name) for name in "ba"]
    assert merge(texts).startswith("from adcompiler.runtime import a, b\n\n\n")
    long = [f"from adcompiler.runtime import {'n' * 40}{n}\n" for n in "abc"]
    assert merge(long).startswith("from adcompiler.runtime import (\n    nnn")


def test_a_function_does_not_take_the_name_of_an_import() -> None:
    text = merge(["import f_grad\n\n\ndef f_grad(x):\n    return f_grad.K\n"])
    assert "def f_grad_2(x):" in text


def test_renaming_leaves_attributes_strings_and_comments_alone() -> None:
    text = "def f(x):\n    # f of x\n    return x.f('f')  + f(x)"
    assert renamed(text, {"f": "g"}) == "def g(x):\n    # f of x\n    return x.f('f')  + g(x)"


def test_renaming_that_would_change_the_code_is_refused() -> None:
    with pytest.raises(InternalError, match="renaming f changed the code"):
        renamed("def f(x):\n    return x(f=1)", {"f": "g"})
