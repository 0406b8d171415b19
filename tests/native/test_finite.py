"""Machine code says of results that they are finite; what it does not know, Python looks at."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from adcompiler import grad
from adcompiler.dispatch.finite import SHORT, is_finite
from adcompiler.runtime.machine.llvm import engine
from adcompiler.runtime.native import finite_test

pytestmark = pytest.mark.usefixtures("llvm_only")


@pytest.fixture
def llvm_only() -> None:
    pytest.importorskip("llvmlite")
    if engine().has_storage is False:
        engine().add_storage()


ARRAY = np.arange(24.0).reshape(2, 3, 4)
NESTED: Any = 1.0
for _ in range(40):
    NESTED = (NESTED,)


@pytest.mark.parametrize("value", [
    1.0, -0.0, np.float64(2.0), 5e-324, 1.7976931348623157e308, ARRAY, ARRAY.T, np.zeros(0),
    np.zeros((2, 0)), np.array(1.5), (), (1.0, (ARRAY, np.zeros(3))), np.full(3, 1e300),
    np.arange(1.0, 18.0),
])
def test_what_is_finite_is_known(value: Any) -> None:
    assert finite_test()(value) is True
    assert is_finite(value)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, np.float64("nan")])
@pytest.mark.parametrize("at", [0, 7, 16])
def test_what_is_not_is_never_called_so(bad: float, at: int) -> None:
    x = np.arange(17.0)
    x[at] = bad
    turned = np.zeros((4, 17))
    turned[2, at] = bad
    for value in (bad, x, (1.0, x), (x, 1.0), (1.0, (2.0, (bad,))), turned, turned.T,
                  np.array(bad), turned[:, at]):
        assert finite_test()(value) is False
        assert not is_finite(value)


@pytest.mark.parametrize("value", [
    ARRAY[:, ::2], ARRAY.astype(">f8"), ARRAY.astype(np.float32), np.arange(3), [1.0], 3, NESTED,
    {"a": 1.0}, ARRAY.view(np.recarray), np.array([None]), None, True,
])
def test_what_is_unknown_is_left_to_python(value: Any) -> None:
    assert finite_test()(value) is False


@pytest.mark.parametrize("size", [SHORT, SHORT + 1, 3 * SHORT + 5])
def test_parts_of_long_arrays_are_all_looked_at(size: int) -> None:
    x = np.ones(size)
    assert is_finite(x) and is_finite(np.full((2, size), 1e200))
    for at in (0, SHORT - 1, size - 1):
        x[at] = np.nan
        assert not is_finite(x) and not is_finite(np.stack([x, x]).T)
        x[at] = 1.0


def roots(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += math.sqrt(x[i]) + 0.0 * math.sqrt(x[i + 1 - len(x)])
    return total


def test_a_gradient_that_is_not_finite_is_computed_again() -> None:
    gradient = grad(roots, backend="native")
    assert np.array_equal(gradient(np.array([4.0, 1.0])), [0.25, 0.5])
    assert np.array_equal(gradient(np.array([4.0, 0.0, 1.0])), [0.25, np.inf, 0.5])
    assert np.array_equal(gradient(np.array([4.0, 1.0])), [0.25, 0.5])


def test_large_derivatives_do_not_warn() -> None:
    def curve(x: Any) -> Any:
        return np.sum(1e300 * x / (1.0 + x))

    x = np.zeros(3)
    for backend in ("python", "native"):  # the suite makes errors of warnings
        assert np.array_equal(grad(curve, backend=backend)(x), np.full(3, 1e300))


def test_where_llvm_cannot_be_loaded_python_answers_and_looks() -> None:
    text = (
        "import sys\nsys.modules['llvmlite.binding'] = None\n"
        "import numpy as np\nfrom adcompiler import grad\n"
        "from tests.native.test_finite import roots\n"
        "gradient = grad(roots, backend='auto')\n"
        "for _ in range(2):\n    print(gradient(np.array([4.0, 16.0])).tolist())\n")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", text], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["[0.25, 0.125]"] * 2, done.stderr
