"""A module that computes derivatives while it is imported: none of its parts is waited for."""

import os
import sys
from subprocess import run

TEXT = """
from adcompiler import grad, jvp


class Square:
    def __init__(self, a):
        self.a = a

    def value(self):
        return self.a * self.a


def f(x):
    square = Square(x)
    total = 0.0
    for _ in range(2):
        total = total + square.value()
        square = Square(total)
    import {name}
    from {name} import Square as other
    return total * {name}.FACTOR + other(x).a


def listed(x):
    squares = [Square(x)]
    return squares[0].a * x


FACTOR = 2.0
print(grad(f)(1.5), jvp(f, (1.5,), (1.0,))[1], grad(listed)(1.5), grad(grad(f))(1.5))
"""


def test_a_module_that_is_being_imported(tmp_path):
    (tmp_path / "deriving.py").write_text(TEXT.format(name="deriving"), encoding="utf-8")
    settings = {**os.environ, "ADCOMPILER_CACHE_DIR": str(tmp_path / "cache")}
    found = []
    for _ in range(2):  # compiled, then from the cache
        ended = run(
            [sys.executable, "-c", "import deriving"], cwd=tmp_path, capture_output=True, text=True,
            timeout=120, check=False, env=settings,
        )
        assert ended.returncode == 0, ended.stderr
        found.append([float(word) for word in ended.stdout.split()])
    x = 1.5  # 2 (x^2 + x^4) + x
    first, second = 2.0 * (2.0 * x + 4.0 * x**3) + 1.0, 2.0 * (2.0 + 12.0 * x**2)
    assert found == [[first, first, 2.0 * x, second]] * 2
