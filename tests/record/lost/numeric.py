"""Kinds of numbers that meet: complex, float32, whole numbers, truths, scalars of NumPy."""

from __future__ import annotations

import cmath
import math
import operator

import numpy as np
import scipy.special

from tests.record.lost import Program


def power_that_turns_complex(x):
    z = (x - 2.0) ** 0.5
    return z.imag + abs(z) * z.real + ((-x) ** 1.5).imag


def complex_of_floats(x, y):
    z = complex(x, y) * complex(y)
    w = z.conjugate() + cmath.exp(z) + 1j ** x
    return w.real * w.imag + abs(z) + cmath.phase(z) + z.imag.real


def polar_and_rect(x):
    r, phi = cmath.polar(complex(x, 2.0 * x * x))
    return r * phi + cmath.rect(x, r).real


def real_part_of_real_numbers(x):
    y = x * 3.0
    return y.real * x + y.imag + np.real(y) + np.float64(x).real + np.imag(x)


def complex_arrays(a):
    z = np.exp(1j * a)
    z[0] = a[1]
    w = np.fft.fft(z)
    return np.sum(np.abs(w) ** 2) + np.angle(z[2]) + z.view(float)[1] + np.sum(z.real * z.imag)


def single_precision(x):
    y = np.float32(x) * np.float32(2.0)
    return float(y * y) + x * float(np.float32(3.0))


def single_precision_arrays(a):
    y = a.astype(np.float32)
    y *= 2.0
    z = np.zeros(3)
    z[:] = y * y
    return float(np.sum(z)) + float(np.sum(y, dtype=float))


def whole_numbers_and_truths(x):
    total = 0
    for k in range(4):
        total += k * x * True
        total += (x > 0.1 * k) * x
    return total + (not x) + int(True) * x + x.__bool__() * x


def divmod_and_remainders(x):
    whole, rest = divmod(x * 10.0, 3.0)
    return rest * whole + math.fmod(-x * 5.0, 2.0) + math.remainder(x * 7.0, 2.0) + -x % 0.4 + (
        x * 5.0 // 2.0)


def remainders_by_the_argument(x):
    return 10.0 % x + math.fmod(10.0, x) + np.mod(7.0, x) + divmod(5.0, x)[1]


def three_arguments_of_pow(x):
    return pow(x, 3) * pow(2, 3, 5) + pow(2.0, x) + x ** -1 + 0.0 ** (x + 1.0) + (-2.0) ** 2 * x


def chained_comparison(x):
    y = 0.0
    if 0.0 < (y := x * x) < 1.0 != x:
        y *= 2.0
    return y if not y > 5.0 <= x else 0.0


def scalar_of_three_kinds(x):
    p = np.float64(x)
    q = math.exp(p) + np.exp(x)
    r = p.clip(0.0, 0.5 + x) + p.round(1) + np.maximum(p, 0.2).item()
    return q * r * p.sum() + np.asarray(p).reshape(1)[0] + p.astype(float) + p.squeeze()


def products_of_lists(a):
    rows = [[a[0], 2.0], [a[1], a[2]]]
    return (np.array(rows) @ [1.0, 2.0]).sum() + np.dot(rows, rows)[1, 0] + np.inner(
        rows[0], rows[1]) + np.sum(rows) + np.linalg.norm(rows)


def functions_by_name(x):
    total = 0.0
    for name in ("sin", "exp", "tanh"):
        total += getattr(math, name)(x) * getattr(np, name)(x)
    return total + getattr(operator, "mul")(x, x) + getattr(x, "__add__")(x)


def special_functions(x):
    return scipy.special.erf(x) + scipy.special.gammaln(x) + math.gamma(x) + math.lgamma(x) + (
        scipy.special.expit(x)) + math.erf(x) + math.expm1(x) + math.cbrt(x) + math.exp2(x)


def distances(x, y):
    return math.dist([x, y], [1.0, x * y]) + math.hypot(x, y, 1.0) + math.atan2(x, y) + math.fsum(
        [x, y, x * y]) + math.prod([x, y], start=x)


def extremes(a):
    low, high = min(a), max(a)
    at = int(np.argmax(a))
    top = sorted(a, reverse=True)[:2]
    return low * high + a[at] * at + top[1] * 2.0 + np.ptp(a) + np.median(a) + np.max(
        a, initial=a[0] * 5.0)


def infinities(x):
    y = min(x, math.inf)
    z = max(-math.inf, x * x)
    with np.errstate(divide="ignore"):
        w = np.where(np.array([True, False]), x, np.log(0.0))[0]
    return y * z + w + (x if not math.isnan(x) else 0.0)


def integer_division_of_arrays(a):
    return np.sum(a * 7.0 // 2.0 * a) + np.sum(np.divmod(a * 7.0, 2.0)[1]) + np.sum(
        np.modf(a * 3.0)[0]) + np.sum(np.floor(a * 9.0) * a) + np.frexp(a)[0].sum()


def signs_and_steps(a):
    return np.sum(np.sign(a) * a) + np.sum(np.heaviside(a - 0.4, 0.5) * a) + np.sum(
        np.copysign(a, -1.0)) + np.sum(np.abs(-a)) + np.rint(a * 9.3) @ a + np.trunc(a * 9.3) @ a


def truth_of_arrays(a):
    y = a if np.any(a > 0.6) else -a
    if (a[0] < a[1]).all() and not np.allclose(a, 0.0):
        y = y * y
    return np.sum(y) * bool(a[:1]) + np.count_nonzero(a > 0.4) * a[0] + len(a) * a[1] + a.size * a[2]


def whole_number_arrays_times_floats(x):
    n = np.arange(4)
    y = n * x
    n = n + (y > 1.0)
    return np.sum(y[n[n < 4]]) + n @ y + np.bincount([0, 1, 1], weights=[x, x * x, 1.0]) @ [1.0, 2.0]


def exponent_of_the_argument(x):
    return x ** x + 2 ** x + x ** 2 + x ** 0 + np.power(x, 3) + np.float_power(2, x) + (x ** 2) ** 0.5


A = np.array([0.3, 0.5, 0.7])
PROGRAMS = [
    Program("float ** float that is complex", power_that_turns_complex, (0.7,)),
    Program("complex of floats", complex_of_floats, (0.7, 0.4)),
    Program("polar and rect", polar_and_rect, (0.7,)),
    Program("real and imag of floats", real_part_of_real_numbers, (0.7,),
            lambda x: 6.0 * x + 4.0),
    Program("arrays of complex", complex_arrays, (A,)),
    Program("float32", single_precision, (0.7,), lambda x: 8.0 * x + 3.0, step=0.05,
            tolerance=1e-4),
    Program("arrays of float32", single_precision_arrays, (A,), lambda a: 8.0 * a + 2.0,
            step=0.05, tolerance=1e-4),
    Program("whole numbers and truths", whole_numbers_and_truths, (0.75,), 12.0),
    Program("divmod, fmod, remainder", divmod_and_remainders, (0.7,)),
    Program("remainders by the argument", remainders_by_the_argument, (0.72,), -41.0),
    Program("pow", three_arguments_of_pow, (0.7,),
            lambda x: 9.0 * x * x + math.log(2.0) * 2.0 ** x - x ** -2 + 4.0),
    Program("a chained comparison", chained_comparison, (0.7,), lambda x: 4.0 * x),
    Program("scalars of three kinds", scalar_of_three_kinds, (0.72,)),
    Program("products of lists", products_of_lists, (A,)),
    Program("functions by name", functions_by_name, (0.7,)),
    Program("special functions", special_functions, (0.7,)),
    Program("distances", distances, (0.7, 0.4)),
    Program("extremes", extremes, (A,)),
    Program("infinities", infinities, (0.7,), lambda x: 3.0 * x * x + 2.0),
    Program("whole parts of arrays", integer_division_of_arrays, (A + 0.01,)),
    Program("signs and steps", signs_and_steps, (A + 0.01,)),
    Program("truth of arrays", truth_of_arrays, (A,), lambda a: 2.0 * a + [2.0, 3.0, 3.0]),
    Program("whole numbers times floats", whole_number_arrays_times_floats, (0.7,)),
    Program("exponents", exponent_of_the_argument, (0.7,)),
]
