"""Complex numbers in native loops: the bits that Python and NumPy give, or Python."""

from __future__ import annotations

import cmath
import math
import random
from typing import Any

import numpy as np
import pytest

from adcompiler import compiled, value_and_grad
from adcompiler.errors import UnsupportedError
from tests.native.test_backends_agree import outcome, same, watched

X, Y = 0.37, -0.83


def escaping(x, y, n):
    c, z = complex(x, y), 0j
    for _ in range(n):
        z = z * z + c
        if abs(z) > 4.0:
            break
    return abs(z)


def rational(x, y):
    z, total = complex(x, y), 0.0
    for k in range(5):
        w = z**2 / (1.0 + k * z) - 2.5
        total += w.real * w.imag + (w.conjugate() * z).real
        z = z * 0.5 + w
    return total


def of_cmath(x, y):
    total = 0.0
    for k in range(4):
        z = complex(x * k + 0.1, y)
        total += cmath.exp(z).real * cmath.log(z).imag + abs(cmath.sqrt(z)) + cmath.phase(z)
        total += cmath.sqrt(-z).imag + cmath.log(z * 0.9 / abs(z)).real
    return total


def powers(x, y):
    total = 0.0
    z = complex(x, y)
    for _ in range(3):
        total += (z**3).real - (z**5).imag + (2 * z**7).real
        z = -z / 1.5 + 0.25j
    return total


def numpys(x, y):
    total, z = 0.0, np.complex128(complex(x, y))
    for _ in range(4):
        z = z / (np.conj(z) + 1.5) - np.float64(0.5) / z
        total = total + np.real(z) * np.imag(z) + abs(z)
    return total


def by_tests(x, y, n):
    z, found = complex(x, y), 0.0
    for k in range(n):
        w = z * z if k % 2 else z + 1j
        if w == z or z != z.conjugate():
            found += w.imag
        z = w * 0.75
    return found + (z.real if z else 1.0)


def begins_real(x, y, n):
    z = 1.5 * x
    for _ in range(n):
        z = z * 0.5 * complex(x, y)
    return abs(z)


def summed(x, y, n):
    total = 0.0
    for k in range(n):
        total = total + complex(x, y * k) * 2.0
    return abs(total) + total.real


PROGRAMS: dict[Any, tuple[Any, ...]] = {
    escaping: (X, Y, 6), rational: (X, Y), of_cmath: (X, Y), powers: (X, Y), numpys: (X, Y),
    by_tests: (X, Y, 5), summed: (X, Y, 4), begins_real: (X, Y, 3),
}
named = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)


@pytest.mark.parametrize("how", ["plain", "llvm"])
@named
def test_value_and_gradient_are_the_same(
    program: Any, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setenv("ADCOMPILER_NATIVE", how)
    args = PROGRAMS[program]
    native = value_and_grad(program, argnums=(0, 1), backend="native")
    came = watched(native, *args)
    value, slopes = got = native(*args)
    assert same(got, value_and_grad(program, argnums=(0, 1))(*args))
    assert came == [True]
    assert value == program(*args)
    for i, slope in enumerate(slopes):
        ahead, behind = (program(*(
            arg + by if i == at else arg for at, arg in enumerate(args))) for by in (1e-6, -1e-6))
        assert (ahead - behind) / 2e-6 == pytest.approx(slope, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(("program", "args"), [
    (escaping, (X, Y, 0)), (escaping, (1e200, 1e200, 5)), (escaping, (math.inf, 0.0, 3)),
    (escaping, (math.nan, 0.0, 3)), (rational, (0.0, 0.0)), (rational, (-1.0, 0.0)),
    (of_cmath, (0.0, 0.0)), (of_cmath, (800.0, 1.0)), (of_cmath, (-0.2, -0.0)),
    (of_cmath, (1e-310, 0.0)), (powers, (1e80, 1e80)), (numpys, (0.0, 0.0)), (summed, (X, Y, 0)),
    (begins_real, (X, Y, 0)), (begins_real, (1e308, 1.0, 3)),
    (by_tests, (0.0, 0.0, 3)), (by_tests, (0.0, -0.0, 0)), (escaping, (-0.0, 0.0, 2)),
])
def test_other_arguments_and_what_goes_wrong(
    program: Any, args: Any, machine_code: None
) -> None:
    expected = outcome(value_and_grad(program, argnums=(0, 1)), *args)
    assert same(outcome(value_and_grad(program, argnums=(0, 1), backend="native"), *args), expected)


def divided(a, b, n):
    total = 0.0
    for _ in range(n):
        total += (a / b).real - (a / b).imag * 2.0 + (a * b).imag
    return total


def test_quotients_and_products_have_the_same_bits(machine_code: None) -> None:
    run = compiled(divided)
    number = random.Random(3)

    def some() -> complex:
        return complex(*(number.choice((0.0, -0.0, 1.0, number.gauss(0.0, 1.0) * 10.0 ** number.
                                        randint(-200, 200))) for _ in range(2)))

    for _ in range(300):
        a, b = some(), some()
        for one, other in ((a, b), (np.complex128(a), np.complex128(b)), (a, np.complex128(b))):
            wanted = outcome(divided, one, other, 2)
            assert same(outcome(run, one, other, 2), wanted), (one, other)


def test_a_number_of_python_s_divides_by_one_of_numpy_s_in_python_s_steps(
    machine_code: None
) -> None:
    def chain(x, d):
        z, total = complex(x[0], x[1]), 0.0
        for k in range(len(d)):
            q = z / d[k]
            total += q.real * q.imag
            z = q * 0.5 + complex(d[k], 0.7)
        return total

    x, d = np.array([X, Y]), np.random.default_rng(0).normal(size=500)
    assert same(compiled(chain)(x, d), chain(x, d))
    expected = value_and_grad(chain, (0, 1))(x, d)
    assert same(value_and_grad(chain, (0, 1), backend="native")(x, d), expected)


def mixed(x, y, n):
    z = np.float64(1.5)
    for _ in range(n):
        z = z * complex(x, y) / 3.0
    return abs(z)


def returned(x, y, n):
    z = complex(x, y)
    for _ in range(n):
        z = z * z
    return z


def of_numpys_exp(x, y, n):
    z, total = complex(x, y), 0.0
    for _ in range(n):
        total += np.exp(z).real
    return total


def of_numpys_size(x, y, n):
    z, total = complex(x, y), 0.0
    for _ in range(n):
        total += np.abs(z)
    return total


@pytest.mark.parametrize("program", [mixed, of_numpys_exp, of_numpys_size])
def test_what_has_no_loops(program: Any) -> None:
    with pytest.raises(UnsupportedError) as caught:
        value_and_grad(program, backend="native")(X, Y, 3)
    assert {one.anchor for one in caught.value.findings} == {"native"}


def test_complex_arguments_and_results(machine_code: None) -> None:
    run = compiled(returned)
    for x in (X, np.float64(X)):
        for n in (0, 3):
            assert same(run(x, Y, n), returned(x, Y, n))
