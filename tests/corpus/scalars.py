"""Functions of one number: series, continued fractions, quadrature, extrapolation."""

import math

import numpy as np

from tests.corpus.program import Program


def horner(coefficients, x):
    value = 0.0
    for c in reversed(coefficients):
        value = value * x + c
    return value


def horner_with_derivative(coefficients, x):
    p, dp = coefficients[-1], 0.0
    for c in coefficients[-2::-1]:
        dp = dp * x + p
        p = p * x + c
    return p, dp


def clenshaw(coefficients, x):
    b1 = b2 = 0.0
    for c in coefficients[:0:-1]:
        b1, b2 = 2.0 * x * b1 - b2 + c, b1
    return x * b1 - b2 + coefficients[0]


def legendre_table(x, n=6):
    P = np.empty(n + 1)
    P[0], P[1] = 1.0, x
    for k in range(1, n):
        P[k + 1] = ((2 * k + 1) * x * P[k] - k * P[k - 1]) / (k + 1)
    return P


def continued_fraction_tan(x, depth=8):
    value = 0.0
    for k in range(depth, 0, -1):
        value = x * x / (2 * k + 1 - value)
    return x / (1.0 - value)


def incomplete_gamma_lentz(a, x):
    """The upper incomplete gamma function, by the modified Lentz method."""
    tiny = 1e-300
    b = x + 1.0 - a
    c = 1.0 / tiny
    d = 1.0 / b
    h = d
    for i in range(1, 200):
        an = -i * (i - a)
        b += 2.0
        d = an * d + b
        if abs(d) < tiny:
            d = tiny
        c = b + an / c
        if abs(c) < tiny:
            c = tiny
        d = 1.0 / d
        delta = d * c
        h *= delta
        if abs(delta - 1.0) < 1e-15:
            break
    return math.exp(-x + a * math.log(x)) * h


def incomplete_gamma_series(a, x):
    term = 1.0 / a
    total = term
    n = a
    while abs(term) > 1e-16 * abs(total):
        n += 1.0
        term *= x / n
        total += term
    return total * math.exp(-x + a * math.log(x) - math.lgamma(a))


def elliptic_by_agm(k):
    """The complete elliptic integral of the first kind."""
    a, b = 1.0, math.sqrt(1.0 - k * k)
    while abs(a - b) > 1e-15:
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return math.pi / (2.0 * a)


LANCZOS = (
    0.99999999999980993,
    676.5203681218851,
    -1259.1392167224028,
    771.32342877765313,
    -176.61502916214059,
    12.507343278686905,
    -0.13857109526572012,
    9.9843695780195716e-6,
    1.5056327351493116e-7,
)


def gamma_lanczos(x):
    if x < 0.5:
        return math.pi / (math.sin(math.pi * x) * gamma_lanczos(1.0 - x))
    x -= 1.0
    total = LANCZOS[0]
    for i, c in enumerate(LANCZOS[1:], start=1):
        total += c / (x + i)
    t = x + 7.5
    return math.sqrt(2.0 * math.pi) * t ** (x + 0.5) * math.exp(-t) * total


def digamma_asymptotic(x):
    result = 0.0
    while x < 7.0:
        result -= 1.0 / x
        x += 1.0
    inverse = 1.0 / (x * x)
    tail = inverse * (1.0 / 12.0 - inverse * (1.0 / 120.0 - inverse / 252.0))
    return result + math.log(x) - 0.5 / x - tail


def bessel_j_series(x, order):
    term = (x / 2.0) ** order / math.gamma(order + 1.0)
    total = term
    k = 0
    while abs(term) > 1e-17:
        k += 1
        term *= -((x / 2.0) ** 2) / (k * (k + order))
        total += term
    return total


def erf_series(x):
    term = total = x
    n = 0
    while abs(term) > 1e-17:
        n += 1
        term *= -x * x / n
        total += term / (2 * n + 1)
    return 2.0 / math.sqrt(math.pi) * total


def zeta_euler_maclaurin(s, n=8):
    total = 0.0
    for k in range(1, n):
        total += k**-s
    total += n ** (1.0 - s) / (s - 1.0) + 0.5 * n**-s
    return total + s * n ** (-s - 1.0) / 12.0


def pade_exponential(x):
    """A diagonal approximant with halving and squaring."""
    squarings = 0
    while abs(x) > 0.5:
        x /= 2.0
        squarings += 1
    p = 1.0 + x / 2.0 + x**2 / 10.0 + x**3 / 120.0
    q = 1.0 - x / 2.0 + x**2 / 10.0 - x**3 / 120.0
    result = p / q
    for _ in range(squarings):
        result *= result
    return result


def romberg(a, b, k, levels=5):
    R = np.zeros((levels, levels))
    h = b - a

    def f(x):
        return math.cos(k * x) / (1.0 + x)

    R[0, 0] = 0.5 * h * (f(a) + f(b))
    for i in range(1, levels):
        h /= 2
        total = 0.0
        for j in range(1, 2**i, 2):
            total += f(a + j * h)
        R[i, 0] = 0.5 * R[i - 1, 0] + h * total
        for m in range(1, i + 1):
            R[i, m] = R[i, m - 1] + (R[i, m - 1] - R[i - 1, m - 1]) / (4**m - 1)
    return R[levels - 1, levels - 1]


def gauss_legendre(a, b, rate, n=5):
    nodes, weights = np.polynomial.legendre.leggauss(n)
    half, middle = 0.5 * (b - a), 0.5 * (a + b)
    total = 0.0
    for x, w in zip(nodes, weights):
        t = middle + half * x
        total += w * math.exp(-rate * t) * math.sin(t)
    return half * total


def composite_simpson(values, h):
    n = len(values) - 1
    if n % 2:
        raise ValueError("an even number of intervals is needed")
    total = values[0] + values[-1]
    for i in range(1, n):
        total += (4 if i % 2 else 2) * values[i]
    return total * h / 3


def richardson_derivative(x, a, levels=4):
    """A derivative by extrapolated differences, as a table of lists."""

    def f(t):
        return math.sin(a * t) * math.exp(t)

    h = 0.4
    D = []
    for i in range(levels):
        row = [(f(x + h) - f(x - h)) / (2.0 * h)]
        for j in range(i):
            row.append(row[j] + (row[j] - D[i - 1][j]) / (4.0 ** (j + 1) - 1.0))
        D.append(row)
        h /= 2.0
    return D[-1][-1]


def tanh_sinh(c, h=0.25):
    total = 0.0
    for k in range(-12, 13):
        t = k * h
        u = 0.5 * math.pi * math.sinh(t)
        x = math.tanh(u)
        w = 0.5 * math.pi * math.cosh(t) / math.cosh(u) ** 2
        total += w / (1.0 + c * x * x)
    return h * total


def monte_carlo_volume(radius, sharpness, n=40, seed=1):
    rng = np.random.default_rng(seed)
    total = 0.0
    for _ in range(n):
        x, y, z = rng.uniform(-1.0, 1.0, size=3)
        total += 1.0 / (1.0 + math.exp(sharpness * (math.sqrt(x * x + y * y + z * z) - radius)))
    return 8.0 * total / n


def halton_integral(a, n=30):
    def radical_inverse(i, base):
        f, r = 1.0, 0.0
        while i > 0:
            f /= base
            r += f * (i % base)
            i //= base
        return r

    total = 0.0
    for i in range(1, n + 1):
        x, y = radical_inverse(i, 2), radical_inverse(i, 3)
        total += math.exp(-a * (x * x + x * y))
    return total / n


def wynn_epsilon(x, n=7):
    """Acceleration of the series of log(1 + x)."""
    partial, sums = 0.0, []
    for k in range(1, n + 1):
        partial += (-1) ** (k + 1) * x**k / k
        sums.append(partial)
    previous, current = [0.0] * (n + 1), sums
    while len(current) > 1:
        following = [
            previous[i + 1] + 1.0 / (current[i + 1] - current[i]) for i in range(len(current) - 1)
        ]
        previous, current = current, following
    return current[0]


def lambert_w(x):
    w = math.log1p(x)
    for _ in range(10):
        e = math.exp(w)
        f = w * e - x
        step = f / (e * (w + 1.0) - (w + 2.0) * f / (2.0 * w + 2.0))
        w -= step
        if abs(step) < 1e-15:
            break
    return w


def cubic_roots_cardano(b, c, d):
    """The largest root of x^3 + b x^2 + c x + d."""
    p = c - b * b / 3.0
    q = 2.0 * b**3 / 27.0 - b * c / 3.0 + d
    discriminant = (q / 2.0) ** 2 + (p / 3.0) ** 3
    if discriminant > 0:
        u = -q / 2.0 + math.sqrt(discriminant)
        v = -q / 2.0 - math.sqrt(discriminant)
        root = math.copysign(abs(u) ** (1 / 3), u) + math.copysign(abs(v) ** (1 / 3), v)
    else:
        r = math.sqrt(-p / 3.0)
        angle = math.acos(max(-1.0, min(1.0, -q / (2.0 * r**3))))
        root = 2.0 * r * math.cos(angle / 3.0)
    return root - b / 3.0


def logistic_map(r, x, n=8):
    total = 0.0
    for _ in range(n):
        x = r * x * (1.0 - x)
        total += math.log(abs(r * (1.0 - 2.0 * x)))
    return total / n


def antoine_mixture(temperature, fractions):
    """Vapour pressure of a mixture, by Raoult's law."""
    constants = {"water": (8.07, 1730.6, 233.4), "ethanol": (8.20, 1642.9, 230.3)}
    pressure = 0.0
    for name, x in fractions.items():
        a, b, c = constants[name]
        pressure += x * 10.0 ** (a - b / (c + temperature))
    return pressure / 760.0


def mandelbrot_potential(re, im, steps=8):
    z = 0j
    c = complex(re, im)
    n = 0
    for n in range(steps):
        z = z * z + c
        if abs(z) > 20.0:
            break
    return math.log(math.log(abs(z))) - n * math.log(2.0)


PROGRAMS = (
    Program(horner, lambda rng: (rng.normal(size=5), 0.7), argnums=(0, 1)),
    Program(horner_with_derivative, lambda rng: (rng.normal(size=5).tolist(), 0.7), argnums=(0, 1)),
    Program(clenshaw, lambda rng: (rng.normal(size=5), 0.3), argnums=(0, 1)),
    Program(legendre_table, lambda rng: (2.0 * rng.random() - 1.0,), argnums=0),
    Program(continued_fraction_tan, lambda rng: (rng.random(),), argnums=0),
    Program(incomplete_gamma_lentz, lambda rng: (1.5, 3.0 + rng.random()), argnums=(0, 1)),
    Program(incomplete_gamma_series, lambda rng: (2.5, 1.0 + rng.random()), argnums=(0, 1)),
    Program(elliptic_by_agm, lambda rng: (0.3 + 0.5 * rng.random(),), argnums=0),
    Program(gamma_lanczos, lambda rng: (0.2 + 2.0 * rng.random(),), argnums=0),
    Program(digamma_asymptotic, lambda rng: (1.5 + rng.random(),), argnums=0),
    Program(bessel_j_series, lambda rng: (1.0 + rng.random(), 1.5), argnums=0),
    Program(erf_series, lambda rng: (0.5 + rng.random(),), argnums=0),
    Program(zeta_euler_maclaurin, lambda rng: (2.0 + rng.random(),), argnums=0),
    Program(pade_exponential, lambda rng: (1.2 + 0.5 * rng.random(),), argnums=0),
    Program(romberg, lambda rng: (0.2, 1.7, 1.0 + rng.random()), argnums=(0, 1, 2)),
    Program(gauss_legendre, lambda rng: (0.0, 2.0, 0.5 + rng.random()), argnums=(0, 1, 2)),
    Program(composite_simpson, lambda rng: (rng.normal(size=7), 0.2), argnums=(0, 1)),
    Program(richardson_derivative, lambda rng: (rng.normal(), 1.3), argnums=(0, 1)),
    Program(tanh_sinh, lambda rng: (0.5 + rng.random(),), argnums=0),
    Program(monte_carlo_volume, lambda rng: (0.8, 4.0 + rng.random()), argnums=(0, 1)),
    Program(halton_integral, lambda rng: (0.5 + rng.random(),), argnums=0),
    Program(wynn_epsilon, lambda rng: (0.5 + 0.4 * rng.random(),), argnums=0),
    Program(lambert_w, lambda rng: (0.5 + 3.0 * rng.random(),), argnums=0),
    Program(
        cubic_roots_cardano,
        lambda rng: (-2.0 + 4.0 * rng.random(), -1.0, 0.3),
        argnums=(0, 1, 2),
    ),
    Program(logistic_map, lambda rng: (3.2, 0.3 + 0.1 * rng.random()), argnums=(0, 1), step=1e-5),
    Program(
        antoine_mixture,
        lambda rng: (60.0 + 10.0 * rng.random(), {"water": 0.4, "ethanol": 0.6}),
        argnums=(0, 1),
    ),
    Program(mandelbrot_potential, lambda rng: (0.5, 0.6 + 0.05 * rng.random()), argnums=(0, 1)),
)
