"""Transforms, filters and running sums."""

import math

import numpy as np

from tests.corpus.program import Program

# -- Fourier --------------------------------------------------------------------------------------


def bit_reverse(re, im):
    """Reorder two arrays in place by exchanges."""
    n = len(re)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            re[i], re[j] = re[j], re[i]
            im[i], im[j] = im[j], im[i]


def fft_in_place(re, im):
    """Transform by butterflies of radix two."""
    n = len(re)
    bit_reverse(re, im)
    size = 2
    while size <= n:
        half = size // 2
        angle = -2.0 * math.pi / size
        for start in range(0, n, size):
            for k in range(half):
                wr, wi = math.cos(angle * k), math.sin(angle * k)
                a, b = start + k, start + k + half
                tr = wr * re[b] - wi * im[b]
                ti = wr * im[b] + wi * re[b]
                re[b] = re[a] - tr
                im[b] = im[a] - ti
                re[a] += tr
                im[a] += ti
        size *= 2


def power_spectrum(signal):
    """Return the squared moduli of the Fourier coefficients."""
    re = signal.copy()
    im = np.zeros_like(signal)
    fft_in_place(re, im)
    return re**2 + im**2


def fft_slices(x):
    """Return real and imaginary parts as the rows of an array, with one slice per butterfly."""
    n = x.size
    bits = int(math.log2(n))
    order = np.zeros(n, dtype=int)
    for i in range(n):
        for b in range(bits):
            order[i] |= ((i >> b) & 1) << (bits - 1 - b)
    z = np.zeros((2, n))
    z[0] = x[order]
    half = 1
    while half < n:
        w = np.pi * np.arange(half) / half
        c, s = np.cos(w), -np.sin(w)
        for start in range(0, n, 2 * half):
            top = z[:, start : start + half]
            bottom = z[:, start + half : start + 2 * half]
            t = np.empty_like(top)
            t[0] = c * bottom[0] - s * bottom[1]
            t[1] = c * bottom[1] + s * bottom[0]
            bottom[...] = top - t
            top += t
        half *= 2
    return z


def recursive_fft(re, im):
    n = len(re)
    if n == 1:
        return re.copy(), im.copy()
    even_re, even_im = recursive_fft(re[::2], im[::2])
    odd_re, odd_im = recursive_fft(re[1::2], im[1::2])
    out_re, out_im = np.empty(n), np.empty(n)
    for k in range(n // 2):
        c, s = math.cos(2.0 * math.pi * k / n), -math.sin(2.0 * math.pi * k / n)
        tr = c * odd_re[k] - s * odd_im[k]
        ti = s * odd_re[k] + c * odd_im[k]
        out_re[k], out_im[k] = even_re[k] + tr, even_im[k] + ti
        out_re[k + n // 2], out_im[k + n // 2] = even_re[k] - tr, even_im[k] - ti
    return out_re, out_im


def spectral_energy(re, im):
    """Return a weighted sum of the spectrum of a complex signal, transformed by recursion."""
    a, b = recursive_fft(re, im)
    total = 0.0
    for k in range(len(a)):
        total += (a[k] ** 2 + b[k] ** 2) / (1.0 + k)
    return total


def discrete_cosine(x):
    """Return the cosine transform by its definition."""
    n = len(x)
    X = [0.0] * n
    for k in range(n):
        for i in range(n):
            X[k] += x[i] * math.cos(math.pi / n * (i + 0.5) * k)
        X[k] *= math.sqrt((1.0 if k == 0 else 2.0) / n)
    return np.array(X)


def goertzel(x, frequency):
    """Return the power at a frequency, in which it can be differentiated."""
    coefficient = 2.0 * math.cos(2.0 * math.pi * frequency)
    s_old, s_older = 0.0, 0.0
    for sample in x:
        s = sample + coefficient * s_old - s_older
        s_older, s_old = s_old, s
    return s_old**2 + s_older**2 - coefficient * s_old * s_older


def walsh_hadamard(x):
    """Transform in place."""
    h = 1
    while h < len(x):
        for i in range(0, len(x), 2 * h):
            for j in range(i, i + h):
                x[j], x[j + h] = x[j] + x[j + h], x[j] - x[j + h]
        h *= 2
    return x


# -- wavelets -------------------------------------------------------------------------------------


def haar_in_place(x):
    """Replace averages and differences of pairs, with a stride that doubles."""
    stride = 1
    while stride < len(x):
        for i in range(0, len(x) - stride, 2 * stride):
            average = (x[i] + x[i + stride]) / math.sqrt(2.0)
            x[i + stride] = (x[i] - x[i + stride]) / math.sqrt(2.0)
            x[i] = average
        stride *= 2
    return x


def daubechies_levels(x, levels):
    """Return the wavelet coefficients of Daubechies' four taps."""
    r3 = math.sqrt(3.0)
    h = np.array([1.0 + r3, 3.0 + r3, 3.0 - r3, 1.0 - r3]) / (4.0 * math.sqrt(2.0))
    g = h[::-1].copy()
    g[1::2] *= -1.0
    out = x.copy()
    n = len(x)
    for _ in range(levels):
        work = np.zeros(n)
        half = n // 2
        for i in range(half):
            for k in range(4):
                j = (2 * i + k) % n
                work[i] += h[k] * out[j]
                work[half + i] += g[k] * out[j]
        out[:n] = work
        n = half
    return out


def lifting_scheme(x, shrinkage):
    """Return a signal with its details shrunk: lifting forwards, a soft threshold, and back."""
    even, odd = x[::2].copy(), x[1::2].copy()
    odd[:-1] -= 0.5 * (even[:-1] + even[1:])
    odd[-1] -= even[-1]
    even[1:] += 0.25 * (odd[:-1] + odd[1:])
    odd[:] = odd**3 / (odd**2 + shrinkage)
    even[1:] -= 0.25 * (odd[:-1] + odd[1:])
    odd[-1] += even[-1]
    odd[:-1] += 0.5 * (even[:-1] + even[1:])
    out = np.empty_like(x)
    out[::2] = even
    out[1::2] = odd
    return out


def haar_image(image):
    """Transform rows, then columns, one level, and return how large the details are."""
    A = image.copy()
    for line in A:
        low = 0.5 * (line[::2] + line[1::2])
        high = 0.5 * (line[::2] - line[1::2])
        line[: len(low)] = low
        line[len(low) :] = high
    for line in A.T:
        low = 0.5 * (line[::2] + line[1::2])
        high = 0.5 * (line[::2] - line[1::2])
        line[: len(low)] = low
        line[len(low) :] = high
    A[: len(A) // 2, : len(A) // 2] = 0.0
    return np.sum(A**2)


# -- filters --------------------------------------------------------------------------------------


def biquad(x, b, a):
    """Filter in direct form II, with two state variables."""
    y = np.empty_like(x)
    z1, z2 = 0.0, 0.0
    for n in range(len(x)):
        y[n] = b[0] * x[n] + z1
        z1 = b[1] * x[n] - a[0] * y[n] + z2
        z2 = b[2] * x[n] - a[1] * y[n]
    return y


def biquad_cascade(x, sections):
    """Filter in place by several sections, one row of coefficients each, and return the energy."""
    y = x.copy()
    state = np.zeros((len(sections), 2))
    for n in range(len(y)):
        for k, (b0, b1, b2, a1, a2) in enumerate(sections):
            w = y[n] - a1 * state[k, 0] - a2 * state[k, 1]
            y[n] = b0 * w + b1 * state[k, 0] + b2 * state[k, 1]
            state[k, 1] = state[k, 0]
            state[k, 0] = w
    return np.sum(y**2)


def difference_equation(x, b, a):
    """Return the output of a general recursive filter."""
    y = np.zeros(len(x))
    for n in range(len(x)):
        for k in range(len(b)):
            if n - k >= 0:
                y[n] += b[k] * x[n - k]
        for k in range(1, len(a)):
            if n - k >= 0:
                y[n] -= a[k] * y[n - k]
        y[n] /= a[0]
    return y


def exponential_smoothing(x, alpha):
    """Return the squared errors of one-step forecasts."""
    level = x[0]
    errors = []
    for value in x[1:]:
        errors.append(value - level)
        level += alpha * (value - level)
    return sum([e * e for e in errors])


def zero_phase_filter(x, alpha):
    """Smooth forwards, and backwards through a reversed view."""
    y = x.copy()
    for line in (y, y[::-1]):
        for i in range(1, len(line)):
            line[i] = alpha * line[i] + (1.0 - alpha) * line[i - 1]
    return y


def delay_line(x, feedback, delay):
    """Return an echo; the delay line is a list used as a ring."""
    ring = [0.0] * delay
    out = []
    position = 0
    for sample in x:
        echoed = sample + feedback * ring[position]
        ring[position] = echoed
        position = (position + 1) % delay
        out.append(echoed)
    return np.array(out)


def lattice_filter(x, reflections):
    """Filter by a lattice, whose backward errors are shifted through an array."""
    order = len(reflections)
    b = np.zeros(order + 1)
    energy = 0.0
    for sample in x:
        f = sample
        new_b = np.zeros(order + 1)
        new_b[0] = sample
        for m in range(order):
            f_next = f + reflections[m] * b[m]
            new_b[m + 1] = b[m] + reflections[m] * f
            f = f_next
        b = new_b
        energy += f * f
    return energy


def adaptive_filter(x, desired, rate, taps):
    """Return the errors of the LMS algorithm, which updates its weights in place."""
    w = np.zeros(taps)
    errors = np.zeros(len(x))
    for n in range(taps, len(x)):
        window = x[n - taps : n][::-1]
        errors[n] = desired[n] - w @ window
        w += rate * errors[n] * window
    return errors


def bilateral(x, sigma):
    """Smooth a signal with weights that depend on its values."""
    n = len(x)
    y = np.zeros(n)
    for i in range(n):
        total = 0.0
        for j in range(max(0, i - 2), min(n, i + 3)):
            weight = np.exp(-0.5 * (i - j) ** 2) * np.exp(-(((x[i] - x[j]) / sigma) ** 2))
            y[i] += weight * x[j]
            total += weight
        y[i] /= total
    return y


def median_of_three(x, passes):
    """Return a smoothed signal, by medians of neighbours; boundary values stay."""
    for _ in range(passes):
        old = x.copy()
        for i in range(1, len(x) - 1):
            a, b, c = old[i - 1], old[i], old[i + 1]
            x[i] = max(min(a, b), min(max(a, b), c))
    return np.sum(x**2)


def separable_blur(image, weights):
    """Blur along rows, then along columns, through padded copies."""
    out = image.copy()
    for axis in range(2):
        padded = np.pad(out, ((1, 1), (1, 1)), mode="edge")
        out[:] = weights[1] * padded[1:-1, 1:-1]
        if axis == 0:
            out += weights[0] * padded[:-2, 1:-1] + weights[2] * padded[2:, 1:-1]
        else:
            out += weights[0] * padded[1:-1, :-2] + weights[2] * padded[1:-1, 2:]
    return out


def total_variation_flow(image, rate, steps):
    """Denoise by gradient steps on smoothed total variation; return what is left of it."""
    u = image.copy()
    for _ in range(steps):
        dx = np.zeros_like(u)
        dy = np.zeros_like(u)
        dx[:, :-1] = u[:, 1:] - u[:, :-1]
        dy[:-1, :] = u[1:, :] - u[:-1, :]
        norm = np.sqrt(dx**2 + dy**2 + 0.5)
        dx /= norm
        dy /= norm
        divergence = dx + dy
        divergence[:, 1:] -= dx[:, :-1]
        divergence[1:, :] -= dy[:-1, :]
        u += rate * (divergence - 0.5 * (u - image))
    return np.sum(norm) + 0.25 * np.sum((u - image) ** 2)


# -- running sums and products --------------------------------------------------------------------


def prefix_sums(x):
    """Return running sums made in place, as seen by a nonlinear function."""
    for i in range(1, len(x)):
        x[i] += x[i - 1]
    return np.sum(np.sin(x))


def parallel_scan(x):
    """Return running sums by Blelloch's sweeps, up and down a tree within one array."""
    a = x.copy()
    n = len(a)
    d = 1
    while d < n:
        a[2 * d - 1 :: 2 * d] += a[d - 1 :: 2 * d]
        d *= 2
    a[n - 1] = 0.0
    while d > 1:
        d //= 2
        left = a[d - 1 :: 2 * d].copy()
        a[d - 1 :: 2 * d] = a[2 * d - 1 :: 2 * d]
        a[2 * d - 1 :: 2 * d] += left
    return a


def running_products(x):
    """Return the products of all elements but one, by products from the left and the right."""
    n = len(x)
    out = np.ones(n)
    left = 1.0
    for i in range(n):
        out[i] *= left
        left *= x[i]
    right = 1.0
    for i in reversed(range(n)):
        out[i] *= right
        right *= x[i]
    return out


def linear_recurrence(decay, drive):
    """Return the states h = a h + b of all times."""
    h = np.zeros_like(drive)
    h[0] = drive[0]
    for t in range(1, len(drive)):
        h[t] = decay[t] * h[t - 1] + drive[t]
    return h


def integral_image(image, size):
    """Return the variance in all windows, from two summed-area tables."""
    rows, columns = image.shape
    S = np.zeros((rows + 1, columns + 1))
    S2 = np.zeros((rows + 1, columns + 1))
    for i in range(rows):
        for j in range(columns):
            S[i + 1, j + 1] = image[i, j] + S[i, j + 1] + S[i + 1, j] - S[i, j]
            S2[i + 1, j + 1] = image[i, j] ** 2 + S2[i, j + 1] + S2[i + 1, j] - S2[i, j]
    area = size * size
    mean = (S[size:, size:] - S[:-size, size:] - S[size:, :-size] + S[:-size, :-size]) / area
    square = (S2[size:, size:] - S2[:-size, size:] - S2[size:, :-size] + S2[:-size, :-size]) / area
    return square - mean**2


def moving_window(x, width):
    """Return moving averages with a sum that is updated as the window slides."""
    window_sum = 0.0
    for i in range(width):
        window_sum += x[i]
    averages = [window_sum / width]
    for i in range(width, len(x)):
        window_sum += x[i] - x[i - width]
        averages.append(window_sum / width)
    return np.array(averages)


def normal(*sizes):
    return lambda rng: tuple(rng.normal(size=size) for size in sizes)


def sections(rng):
    rows = 0.3 * rng.normal(size=(3, 5))
    rows[:, 0] += 1.0
    return rows


PROGRAMS = (
    Program(power_spectrum, normal(16)),
    Program(fft_slices, normal(16)),
    Program(spectral_energy, normal(8, 8), (0, 1)),
    Program(discrete_cosine, normal(8)),
    Program(goertzel, lambda rng: (rng.normal(size=12), 0.17), (0, 1)),
    Program(walsh_hadamard, normal(8)),
    Program(haar_in_place, normal(16)),
    Program(daubechies_levels, lambda rng: (rng.normal(size=16), 2)),
    Program(lifting_scheme, lambda rng: (rng.normal(size=10), 0.5), (0, 1)),
    Program(haar_image, normal((4, 6))),
    Program(
        biquad,
        lambda rng: (rng.normal(size=12), rng.normal(size=3), 0.3 * rng.normal(size=2)),
        (0, 1, 2),
    ),
    Program(biquad_cascade, lambda rng: (rng.normal(size=10), sections(rng)), (0, 1)),
    Program(
        difference_equation,
        lambda rng: (rng.normal(size=9), rng.normal(size=3), np.array([1.5, 0.4, -0.3])),
        (0, 1, 2),
    ),
    Program(exponential_smoothing, lambda rng: (rng.normal(size=10), 0.3), (0, 1)),
    Program(zero_phase_filter, lambda rng: (rng.normal(size=9), 0.4), (0, 1)),
    Program(delay_line, lambda rng: (rng.normal(size=11), 0.6, 3), (0, 1)),
    Program(lattice_filter, lambda rng: (rng.normal(size=9), 0.4 * rng.normal(size=3)), (0, 1)),
    Program(
        adaptive_filter, lambda rng: (rng.normal(size=12), rng.normal(size=12), 0.1, 3), (0, 1, 2)
    ),
    Program(bilateral, lambda rng: (rng.normal(size=9), 0.8), (0, 1)),
    Program(median_of_three, lambda rng: (rng.normal(size=9), 2), step=1e-4),
    Program(separable_blur, normal((5, 6), 3), (0, 1)),
    Program(total_variation_flow, lambda rng: (rng.normal(size=(5, 5)), 0.05, 4), (0, 1)),
    Program(prefix_sums, normal(9)),
    Program(parallel_scan, normal(8)),
    Program(running_products, normal(7)),
    Program(linear_recurrence, normal(8, 8), (0, 1)),
    Program(integral_image, lambda rng: (rng.normal(size=(5, 6)), 2)),
    Program(moving_window, lambda rng: (rng.normal(size=10), 3)),
)
