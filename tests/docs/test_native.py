"""The page about native loops: what it says runs where, and which functions have loops.

``python -m tests.docs.test_native`` writes the list of functions anew.
"""

from __future__ import annotations

import re
import textwrap
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special

from adcompiler import compiled, grad
from adcompiler.backends.native.ops.array_constructors import FUNCTIONS
from adcompiler.backends.native.ops.scalars import TABLE
from adcompiler.errors import UnsupportedError

PAGE = Path(__file__).parents[2] / "docs" / "native.md"
MARK = "Functions of NumPy with loops are:\n\n"
UNNAMED = {"cube", "int_floor", "int_ceil", "erf", "erfc", "gamma", "lgamma"}
"""Words for what NumPy has no function of that name for."""
NATIVE, CALLED, REFUSED = "native", "called in Python", "not native"


def functions() -> str:
    """Return the names of NumPy's functions with loops, as the page lists them."""
    words = {key for key in (*TABLE, *FUNCTIONS) if isinstance(key, str)} - UNNAMED
    names = ", ".join(f"`{word}`" for word in sorted(words))
    return "\n".join(textwrap.wrap(names, 150))


def listed() -> tuple[str, str, str]:
    """Return the page up to the list of functions, the list, and the rest."""
    before, mark, rest = PAGE.read_text(encoding="utf-8").partition(MARK)
    found, end, after = rest.partition("\n\n")
    return before + mark, found, end + after


def test_functions_that_are_listed_are_those_with_loops() -> None:
    assert listed()[1] == functions(), "run python -m tests.docs.test_native"


@dataclass
class Point:
    x: float
    y: float


X, A, K = np.linspace(0.2, 1.0, 4), np.arange(1.0, 10.0).reshape(3, 3), np.array([2, 0, 2])
FACTOR = 0.5


def loops(x):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, reversed(x), strict=True)):
        while total < i:
            total += a * b
        if total > 9.0:
            return total
    return total


def of_numbers(x, k):
    total = 0.0
    for i in range(len(k)):
        total += x[k[i]] if k[i] > 0 else -x[i]
    return total


def short(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total


def parts(A):
    B = A.copy()
    for i in range(len(A)):
        B[i, ::2] = A[::2, i] * 2.0
        B[i] += A[:, None][i, 0]
    return np.sum(B * B)


def chosen(x, k):
    total = 0.0
    for i in range(2):
        total += np.sum(x[k] * x[[0, i, 1]]) + np.sum(x[x > 0.5])
    return total


def operators(x, n):
    total = 0.0
    for i in range(n):
        total += max(x, 0.5) * abs(x) ** 3 / 2**i + float(i & 1) * int(x) + i // 2 % 3
    return total


def library(x):
    total = 0.0
    for i in range(len(x)):
        total += np.sin(x[i]) + np.sum(np.exp(x) * x[i])
    return total


def reductions(A):
    total = 0.0
    for i in range(2):
        total += np.sum(A.mean(axis=0)) * i + A.max() - np.sum(np.std(A, axis=1))
    return total


def products(A, x):
    for _ in range(3):
        x = A @ x / np.sum(x)
    return np.sum(x)


def exchanged(x, n):
    u, v = x.copy(), np.zeros(len(x))
    for _ in range(n):
        for i in range(1, len(x)):
            v[i] = u[i - 1] * 0.5
        u, v = v, u
    return np.sum(u)


def structures(p, pair):
    total = 0.0
    for _ in range(3):
        total += p["a"] * pair[0].x
    made = {"total": total, "y": pair[1]}
    return made["total"] * made["y"]


def of_lists(x):
    values = [v * 2.0 for v in x]
    for i in range(3):
        values.append(values[i] * values[-1])
    return sum(sorted(values)[1:]) + values.pop()


def arrays_in_lists(x, n):
    kept = []
    for i in range(n):
        kept.append(x * i)
    return np.stack(kept)


def nested(x):
    total = 0.0
    for i in range(3):
        total += np.sum(np.array([[x, 2.0], [i, x * x]]))
    return total


def caught(x, n):
    total = 0.0
    for i in range(n):
        try:
            total += x / i
        except ZeroDivisionError:
            total += x
    return total


def outside(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * FACTOR
    return total


def power(x, n):
    return x if n <= 1 else x * power(x, n - 1)


def powers(x, n):
    total = 0.0
    for _ in range(n):
        total += power(x, n)
    return total


def written(x):
    for i in range(1, len(x)):
        x[i] = x[i - 1] * x[i]
    return np.sum(x)


def by_mode(x, mode):
    total = 0.0
    for i in range(len(x)):
        total += x[i] if mode == "fast" else x[i] * x[i]
    return total


def solved(A, x):
    total = 0.0
    for i in range(3):
        total += np.sum(np.linalg.solve(A + np.eye(3) * (i + 9.0), x)) + scipy.special.j0(x[0])
    return total


def short_products(A, x):
    total = np.float32(0.0)
    for _ in range(3):
        total = total + (A @ x)[0] * np.std(x)
    return total


def transformed(x):
    total = 0.0
    for i in range(3):
        total += np.sum(np.fft.irfft(np.fft.rfft(x) * 1.0, 4)) * i if i < 9 else 0.0
    return total


def complex_numbers(x, n):
    z = 0j
    for _ in range(n):
        z = z * z + x
    return abs(z)


def complex_sizes(x, n):
    total = 0.0
    for i in range(n):
        total += np.abs(complex(x, i))
    return total


def written_rows(x, rows):
    for i in range(len(rows)):
        rows[i][0] = rows[i][1] * x
    return rows[0][0] * x


def arrays_as_arguments(arrays):
    total = 0.0
    for one in arrays:
        total += one[0] * one[1]
    return total


def lists_of_lists(x, n):
    rows = [[x, 1.0], [2.0, x]]
    for i in range(n):
        rows[i][0] = rows[i][1] * x
    return rows[0][0] + rows[1][0]


def short_lists(x):
    values = [v * v for v in x]
    for i in range(len(values)):
        values[i] = values[i] * values[0]
    return values[1]


def instances(x, n):
    total = 0.0
    for _ in range(n):
        total += x
    return Point(total, x)


def largest(values):
    return values[0] if len(values) < 2 else max(values[0], largest(values[1:]))


def recursive_lists(x, n):
    total = 0.0
    for i in range(n):
        total += largest([x, total, i * 1.0])
    return total


def random_numbers(x, n):
    rng = np.random.default_rng(0)
    for _ in range(n):
        x = x * rng.normal()
    return x


def unknown(x, n):
    for i in range(n):
        x = x * zlib.adler32(bytes([i]))
    return x


SHORT = X.astype(np.float32)
EXAMPLES: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    "`for` over ranges": (grad, loops, (X,)),
    "numbers, and arrays of": (grad, of_numbers, (X, K)),
    "arrays and numbers of": (grad, short, (SHORT,)),
    "elements, rows, slices": (grad, parts, (A,)),
    "subscripts that are": (grad, chosen, (X, K)),
    "operators, comparisons": (grad, operators, (1.5, 4)),
    "functions of `math`": (grad, library, (X,)),
    "sums, means, extremes": (grad, reductions, (A,)),
    "products of vectors": (grad, products, (A, X[:3])),
    "arrays that iterations": (grad, exchanged, (X, 3)),
    "tuples; dicts with": (grad, structures, ({"a": 0.5}, (Point(1.0, 2.0), 2.0))),
    "lists of numbers and": (grad, of_lists, ([0.5, 1.5, 1.0],)),
    "lists of such lists": (grad, lists_of_lists, (0.5, 2)),
    "lists of arrays of one": (compiled, arrays_in_lists, (X, 3)),
    "`np.array` of numbers": (grad, nested, (0.5,)),
    "`try` with": (grad, caught, (0.5, 3)),
    "variables of modules": (grad, outside, (X,)),
    "functions that call": (grad, powers, (0.5, 3)),
    "arguments that are": (grad, written, (X,)),
    "texts": (grad, by_mode, (X, "fast")),
    "other functions of": (grad, solved, (A, X[:3])),
    "products of matrices, `var`": (
        compiled, short_products, (A.astype(np.float32), SHORT[:3])),
    "arrays of int32": (compiled, transformed, (X,)),
    "[complex numbers]": (grad, complex_numbers, (0.1, 3)),
    "elements of complex": (grad, complex_sizes, (0.1, 3)),
    "arguments that hold": (grad, written_rows, (0.5, [[1.0, 2.0], [3.0, 4.0]])),
    "lists of arrays that are": (grad, arrays_as_arguments, ([X, X],)),
    "lists of float32": (grad, short_lists, (SHORT,)),
    "instances that": (compiled, instances, (0.5, 3)),
    "recursive functions that": (grad, recursive_lists, (0.5, 3)),
    "random numbers": (grad, random_numbers, (0.5, 3)),
    "functions about which": (grad, unknown, (0.5, 3)),
}
"""An example for each row, by how it begins: what is compiled of which function, and arguments."""


def rows() -> dict[str, str]:
    """Return the rows of the table: where each of them says that something runs."""
    text = PAGE.read_text(encoding="utf-8").partition("| in the function | runs |")[2]
    return dict(re.findall(r"^\| (.*) \| (.*) \|$", text.partition("\n\n")[0], re.MULTILINE))


def test_each_row_has_an_example() -> None:
    begin = {row: [key for key in EXAMPLES if row.startswith(key)] for row in rows()}
    assert sorted(key for keys in begin.values() for key in keys) == sorted(EXAMPLES)
    assert all(begin.values()) and set(rows().values()) == {NATIVE, CALLED, REFUSED}


@pytest.mark.parametrize("row", rows())
def test_examples_run_where_the_page_says(row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
    key = next(key for key in EXAMPLES if row.startswith(key))
    operator, function, args = EXAMPLES[key]
    options = {} if operator is compiled else {"backend": "native"}
    native: Any = operator(function, **options)
    try:
        with np.errstate(all="ignore"):
            native.compiled_for(*args)
    except UnsupportedError as error:
        assert rows()[row] == REFUSED, error
        return
    said = native.explain(*args).backend
    assert rows()[row] == (CALLED if "calls in Python" in said else NATIVE)
    assert said.startswith("native loops")


def main() -> None:
    """Write the list of functions."""
    before, _, after = listed()
    PAGE.write_text(before + functions() + after, encoding="utf-8")


if __name__ == "__main__":
    main()
