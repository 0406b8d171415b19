"""What a gradient copies grows with the data as the function does, whatever region a write is in.

Counted are the bytes that the emitted code asks NumPy and the runtime for, not seconds.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import grad, source

REGIONS = {
    "loop": "s = s + x[i] * x[0]",
    "branch": "if x[i] > 0:\n            s = s + x[i] * x[0]",
    "two branches": (
        "if x[i] > 0:\n            s = s + x[i] * x[0]\n"
        "        if x[i] > 0.5:\n            s = s - x[i] * x[1]"
    ),
    "branches in a branch": (
        "if x[i] < 0:\n            s = s + x[i]\n        elif x[i] < 0.3:\n"
        "            s = s * 1.01 + x[i] * x[0]\n        else:\n            s = s - x[i]"
    ),
    "continue": "if x[i] < 0:\n            continue\n        s = s + x[i] * x[0]",
    "early return": "if x[i] > 5:\n            return s\n        s = s + x[i] * x[0]",
    "while": (
        "j = 0\n        while j < 2:\n            s = s + x[i] * x[j]\n            j += 1"
    ),
    "with": "with np.errstate(all='ignore'):\n            s = s + x[i] * x[0]",
    "try": (
        "try:\n            s = s + x[i] * x[0] / x[1]\n"
        "        except ZeroDivisionError:\n            s = s + x[i]"
    ),
    "comprehension": "s = s + sum([x[i] * x[j] for j in range(2)])",
    "nested function": "def g(j):\n            return x[j] * x[0]\n        s = s + g(i)",
    "write in a branch": "if x[i] > 0:\n            a[i] = a[i - 1] * x[i] + x[i - 1]",
    "write in a with": "with np.errstate(all='ignore'):\n            a[i] = a[i - 1] * x[i]",
    "write in a try": (
        "try:\n            a[i] = x[i] * x[0]\n        except IndexError:\n            pass"
    ),
    "slice in a branch": "if x[i] > 0:\n            a[i:i + 1] = x[i] * x[i - 1]",
    "list in a branch": "if x[i] > 0:\n            items[i] = items[i - 1] * x[i]",
    "append in a branch": "if x[i] > 0:\n            items.append(x[i] * x[0])",
    "dict in a branch": "if x[i] > 0:\n            table[i] = x[i] * x[0]",
    "lists of a list in a branch": "if x[i] > 0:\n            rows[i][0] = x[i] * x[0]",
}
TEXT = """
def f(x):
    n = len(x)
    s = 0.0
    a = np.zeros(n)
    items = [1.0] * n
    table = {{}}
    rows = [[1.0, 2.0] for _ in range(n)]
    for i in range(n):
        {body}
    return s + np.sum(a) + sum(items) + sum(table.values()) + sum([row[0] for row in rows])
"""
RECURSION = """
def total(y, n):
    if n == 0:
        return y
    return 0.5 * y * total(y, n - 1)


def f(x):
    return total(x[0], len(x))
"""


def function_of(text: str, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Any:
    """Import a program as a module of its own, so that its source is found."""
    path = tmp_path / f"{name}.py"
    path.write_text("import numpy as np\n" + text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = __import__(name)
    return module.f


def size(value: Any) -> int:
    """Return the bytes that a value takes, of containers those of their items too."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (list, tuple)):
        return 8 + sum(map(size, value))
    if isinstance(value, dict):
        return 8 + sum(map(size, value.values()))
    return 8


class Counter:
    """Counts the bytes of what functions return, unless it is one of their arguments."""

    def __init__(self) -> None:
        self.bytes = 0

    def counting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            if not any(result is arg for arg in args):
                self.bytes += size(result)
            return result

        return call

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        return self.counting(found) if callable(found) and not isinstance(found, type) else found


def bytes_asked_for(text: str, x: Any) -> int:
    """Run an emitted gradient, and count what it makes."""
    counter = Counter()
    space: dict[str, Any] = {}
    exec(compile(text, "<emitted>", "exec"), space)
    entry = next(v for k, v in space.items() if k.startswith("f_") and callable(v))
    for name, value in list(space.items()):
        if isinstance(value, types.FunctionType) and value.__module__ != entry.__module__:
            space[name] = counter.counting(value)
        elif value is np:
            space[name] = counter
    entry(x)
    return counter.bytes


@pytest.mark.parametrize("kind", [np.array, list], ids=["array", "list"])
@pytest.mark.parametrize("region", [*REGIONS, "recursion"])
def test_bytes_double_with_the_data(
    region: str, kind: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    text = RECURSION if region == "recursion" else TEXT.format(body=REGIONS[region])
    name = f"grows_{region.replace(' ', '_')}_{kind.__name__}"
    function = function_of(text, name, monkeypatch, tmp_path)
    sizes = (40, 80) if region == "recursion" else (200, 400)
    points = [kind(np.linspace(-0.9, 1.0, n).tolist()) for n in sizes]
    emitted = source(function, points[0], mode="grad")
    less, more = (bytes_asked_for(emitted, point) for point in points)
    assert more <= 2.2 * less + 200

    x = np.linspace(-0.9, 1.0, 7)
    got = grad(function)(kind(x.tolist()))
    steps = 1e-6 * np.eye(7)
    wanted = [(function(x + h) - function(x - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(np.asarray(got, float), wanted, rtol=1e-6, atol=1e-7)
