"""Signals and images: filters, transforms, oscillators, resampling."""

import cmath
import math

import numpy as np

from tests.corpus.program import Program


def fir_filter(x, taps):
    y = np.zeros(len(x))
    for n in range(len(x)):
        for k in range(min(len(taps), n + 1)):
            y[n] += taps[k] * x[n - k]
    return y


def biquad_energy(x, b, a):
    """Direct form II transposed, with two state variables."""
    z1 = z2 = 0.0
    energy = 0.0
    for sample in x:
        out = b[0] * sample + z1
        z1 = b[1] * sample - a[0] * out + z2
        z2 = b[2] * sample - a[1] * out
        energy += out * out
    return energy


def iir_cascade(x, sections):
    """Sections in series, each filtering the signal in place."""
    y = x.copy()
    for b0, b1, a1 in sections:
        previous_in = previous_out = 0.0
        for n in range(len(y)):
            current = y[n]
            y[n] = b0 * current + b1 * previous_in - a1 * previous_out
            previous_in, previous_out = current, y[n]
    return y


def recursive_fft_power(x):
    """Radix-2 transform by recursion, and the power in each frequency."""

    def fft(values):
        n = len(values)
        if n == 1:
            return values
        even, odd = fft(values[0::2]), fft(values[1::2])
        twiddle = [cmath.exp(-2j * math.pi * k / n) * odd[k] for k in range(n // 2)]
        return [even[k] + twiddle[k] for k in range(n // 2)] + [
            even[k] - twiddle[k] for k in range(n // 2)
        ]

    spectrum = fft([complex(v) for v in x])
    return [abs(c) ** 2 / len(x) for c in spectrum]


def iterative_fft_centroid(x):
    """Butterflies in an array that is overwritten, after bit reversal."""
    n = len(x)
    a = np.zeros(n, dtype=complex)
    bits = n.bit_length() - 1
    for i in range(n):
        a[int(f"{i:0{bits}b}"[::-1], 2)] = x[i]
    size = 2
    while size <= n:
        w = np.exp(-2j * np.pi * np.arange(size // 2) / size)
        for start in range(0, n, size):
            upper = a[start : start + size // 2].copy()
            lower = w * a[start + size // 2 : start + size]
            a[start : start + size // 2] = upper + lower
            a[start + size // 2 : start + size] = upper - lower
        size *= 2
    power = np.abs(a[: n // 2]) ** 2
    return np.sum(np.arange(n // 2) * power) / np.sum(power)


def goertzel_power(samples, frequency):
    coefficient = 2.0 * math.cos(2.0 * math.pi * frequency)
    s_prev = s_prev2 = 0.0
    for x in samples:
        s = x + coefficient * s_prev - s_prev2
        s_prev2 = s_prev
        s_prev = s
    return s_prev2**2 + s_prev**2 - coefficient * s_prev * s_prev2


def haar_wavelet(x, threshold):
    """Soft thresholding of the details of every level."""
    approx = x.copy()
    details = []
    while len(approx) > 1:
        even, odd = approx[::2], approx[1::2]
        details.append((even - odd) / np.sqrt(2.0))
        approx = (even + odd) / np.sqrt(2.0)
    while details:
        d = details.pop()
        d = np.sign(d) * np.maximum(np.abs(d) - threshold, 0.0)
        merged = np.empty(2 * len(approx))
        merged[::2] = (approx + d) / np.sqrt(2.0)
        merged[1::2] = (approx - d) / np.sqrt(2.0)
        approx = merged
    return approx


def lms_filter(x, desired, mu, order=3):
    """Adaptive filter: normalised least mean squares over a delay line."""
    w = np.zeros(order)
    line = np.zeros(order)
    errors = []
    for sample, target in zip(x, desired):
        line[1:] = line[:-1].copy()
        line[0] = sample
        error = target - w @ line
        w += mu * error * line / (1e-3 + line @ line)
        errors.append(error)
    return np.mean(np.square(errors))


def rls_filter(X, y, forgetting):
    n = X.shape[1]
    w = np.zeros(n)
    P = 10.0 * np.eye(n)
    for x, target in zip(X, y):
        k = P @ x / (forgetting + x @ P @ x)
        w += k * (target - x @ w)
        P -= np.outer(k, x @ P)
        P /= forgetting
    return w


def gaussian_blur(image, sigma):
    """A separable filter, with reflected borders by index arithmetic."""
    h, w = image.shape
    offsets = np.arange(-2, 3)
    kernel = np.exp(-0.5 * (offsets / sigma) ** 2)
    kernel /= kernel.sum()
    rows = np.zeros_like(image)
    for k, offset in enumerate(offsets):
        for j in range(w):
            source = min(max(j + offset, 0), w - 1)
            rows[:, j] += kernel[k] * image[:, source]
    out = np.zeros_like(image)
    for k, offset in enumerate(offsets):
        for i in range(h):
            source = min(max(i + offset, 0), h - 1)
            out[i] += kernel[k] * rows[source]
    return out


def sobel_magnitude(image):
    h, w = image.shape
    magnitude = np.zeros((h - 2, w - 2))
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            gx = image[i - 1, j + 1] + 2 * image[i, j + 1] + image[i + 1, j + 1]
            gx -= image[i - 1, j - 1] + 2 * image[i, j - 1] + image[i + 1, j - 1]
            gy = image[i + 1, j - 1] + 2 * image[i + 1, j] + image[i + 1, j + 1]
            gy -= image[i - 1, j - 1] + 2 * image[i - 1, j] + image[i - 1, j + 1]
            magnitude[i - 1, j - 1] = np.sqrt(gx**2 + gy**2)
    return magnitude.mean()


def total_variation_denoise(noisy, weight, rate, steps=5):
    u = noisy.copy()
    for _ in range(steps):
        grad = u - noisy
        d = np.diff(u)
        flux = d / np.sqrt(d**2 + 0.01)
        grad[:-1] -= weight * flux
        grad[1:] += weight * flux
        u -= rate * grad
    return 0.5 * np.sum((u - noisy) ** 2) + weight * np.sum(np.sqrt(np.diff(u) ** 2 + 0.01))


def integral_image_box(image, top, left, bottom, right):
    h, w = image.shape
    table = np.zeros((h + 1, w + 1))
    for i in range(h):
        row = 0.0
        for j in range(w):
            row += image[i, j]
            table[i + 1, j + 1] = table[i, j + 1] + row
    box = table[bottom, right] - table[top, right] - table[bottom, left] + table[top, left]
    return box**2 / table[h, w]


def karplus_strong(noise, damping, length=20):
    """A plucked string: a delay line as a Python list, from which the oldest sample is taken."""
    line = list(noise)
    samples = []
    for _ in range(length):
        first = line.pop(0)
        line.append(damping * 0.5 * (first + line[0]))
        samples.append(first)
    return sum(s * s for s in samples[-5:])


def dct_compression(block, quality):
    n = block.shape[0]
    C = np.zeros((n, n))
    for k in range(n):
        scale = np.sqrt((1 if k == 0 else 2) / n)
        for i in range(n):
            C[k, i] = scale * np.cos(np.pi * (2 * i + 1) * k / (2 * n))
    coefficients = C @ block @ C.T
    for u in range(n):
        for v in range(n):
            coefficients[u, v] /= 1.0 + quality * (u + v)
    restored = C.T @ coefficients @ C
    return np.sum((restored - block) ** 2)


def levinson_prediction(x, order=2):
    """Linear prediction from the autocorrelation of a signal."""
    n = len(x)
    r = [float(np.dot(x[: n - k], x[k:])) for k in range(order + 1)]
    a = [1.0]
    error = r[0]
    for m in range(1, order + 1):
        acc = 0.0
        for i in range(m):
            acc += a[i] * r[m - i]
        reflection = -acc / error
        extended = a + [0.0]
        a = [c + reflection * d for c, d in zip(extended, reversed(extended))]
        error *= 1.0 - reflection**2
    return error + sum(a)


PROGRAMS = (
    Program(fir_filter, lambda rng: (rng.normal(size=7), rng.normal(size=3)), argnums=(0, 1)),
    Program(
        biquad_energy,
        lambda rng: (rng.normal(size=8), rng.normal(size=3), np.array([-0.4, 0.2])),
        argnums=(0, 1, 2),
    ),
    Program(
        iir_cascade,
        lambda rng: (rng.normal(size=6), [(0.9, 0.2, -0.3), (1.1, -0.4, 0.25)]),
        argnums=(0, 1),
    ),
    Program(
        recursive_fft_power,
        lambda rng: (rng.normal(size=8).tolist(),),
        argnums=0,
    ),
    Program(iterative_fft_centroid, lambda rng: (rng.normal(size=8),), argnums=0),
    Program(goertzel_power, lambda rng: (rng.normal(size=9), 0.13), argnums=(0, 1)),
    Program(haar_wavelet, lambda rng: (rng.normal(size=8), 0.25), argnums=(0, 1), step=1e-4),
    Program(
        lms_filter,
        lambda rng: (rng.normal(size=8), rng.normal(size=8), 0.4),
        argnums=(0, 1, 2),
    ),
    Program(
        rls_filter,
        lambda rng: (rng.normal(size=(5, 2)), rng.normal(size=5), 0.95),
        argnums=(0, 1, 2),
    ),
    Program(gaussian_blur, lambda rng: (rng.normal(size=(4, 5)), 1.1), argnums=(0, 1)),
    Program(sobel_magnitude, lambda rng: (rng.normal(size=(4, 5)),), argnums=0),
    Program(
        total_variation_denoise,
        lambda rng: (rng.normal(size=7), 0.2, 0.1),
        argnums=(0, 1, 2),
    ),
    Program(integral_image_box, lambda rng: (rng.uniform(0.5, 1.5, (4, 4)), 1, 0, 3, 3), argnums=0),
    Program(karplus_strong, lambda rng: (rng.normal(size=6), 0.97), argnums=(0, 1)),
    Program(dct_compression, lambda rng: (rng.normal(size=(4, 4)), 0.3), argnums=(0, 1)),
    Program(levinson_prediction, lambda rng: (rng.normal(size=9),), argnums=0),
)
