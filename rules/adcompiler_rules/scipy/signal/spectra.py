"""Spectra of signals, and what else of ``scipy.signal`` is compiled as Python that is written here.

The methods are those of SciPy, by way of transforms that have rules. Windows that are given by name
are constant; others are arrays, which may be differentiated.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import fft, ndimage, signal

from adcompiler.rulekit import facts, non_differentiable
from adcompiler.rulekit.problems import UncoveredError
from adcompiler_rules.kernels.scipy_signal import named_window, resampling_plan

non_differentiable(named_window, resampling_plan)


def window_of(window: Any, nperseg: Any, length: Any) -> Any:
    """Return a window as an array; no longer than the signal, if it is given by its name."""
    if isinstance(window, (str, tuple)):
        size = 256 if nperseg is None else nperseg
        return named_window(window, min(size, length))
    window = np.asarray(window) * 1.0
    if nperseg is not None and nperseg != len(window):
        raise ValueError("value specified for nperseg is different from length of window")
    if len(window) > length:
        raise ValueError("window is longer than input signal")
    return window


def in_precision(values: Any, x: Any) -> Any:
    """Return results in single precision, where the signal is."""
    if x.dtype != np.float32 and x.dtype != np.complex64:
        return values
    return values.astype(np.complex64 if np.iscomplexobj(values) else np.float32)


def segments(x: Any, size: int, step: int) -> Any:
    """Return the segments of the last axis, one in each row."""
    starts = np.arange(0, np.shape(x)[-1] - size + 1, step)
    return x[..., np.expand_dims(starts, -1) + np.arange(size)]


def detrended(x: Any, detrend: Any) -> Any:
    """Return segments without their mean or their linear trend."""
    if detrend is None or detrend is False:
        return x
    if detrend == "constant":
        return x - np.mean(x, axis=-1, keepdims=True)
    if detrend == "linear":
        return signal.detrend(x, type="linear")
    raise UncoveredError("spectra have a derivative for detrend= constant, linear and False")


def transformed(x: Any, window: Any, step: int, nfft: int, detrend: Any, onesided: bool) -> Any:
    """Return the transforms of segments, along the last axis."""
    rows = detrended(segments(x, len(window), step), detrend) * window
    return fft.rfft(rows, nfft) if onesided else fft.fft(rows, nfft)


def scale_of(window: Any, fs: Any, scaling: str) -> Any:
    """Return the factor of a power spectrum."""
    if scaling == "density":
        return 1.0 / (fs * np.sum(window * window))
    if scaling == "spectrum":
        return 1.0 / np.sum(window) ** 2
    raise ValueError("scaling is neither density nor spectrum")


def frequencies(nfft: int, fs: Any, onesided: bool) -> Any:
    """Return the frequencies of a transform."""
    return (np.arange(nfft // 2 + 1) if onesided else np.fft.fftfreq(nfft, 1.0 / nfft)) * fs / nfft


def step_of(size: int, noverlap: Any) -> int:
    """Return how far segments are apart."""
    overlap = size // 2 if noverlap is None else int(noverlap)
    if overlap >= size:
        raise ValueError("noverlap must be less than nperseg.")
    return size - overlap


def length_of(nfft: Any, size: int) -> int:
    """Return the length of the transforms."""
    if nfft is None:
        return size
    if nfft < size:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    return int(nfft)


def doubled(power: Any, nfft: int) -> Any:
    """Return a one-sided power spectrum: with the power of the other side, where there is one."""
    factors = np.full(nfft // 2 + 1, 2.0)
    factors[0] = 1.0
    if nfft % 2 == 0:
        factors[-1] = 1.0
    return power * factors


def own_power(
    x: Any, fs: Any, window: Any, noverlap: Any, nfft: Any, detrend: Any, onesided: bool,
    scaling: str,
) -> Any:
    """Return frequencies, and the power of each segment of the last axis: the last axis but one."""
    size = length_of(nfft, len(window))
    rows = transformed(x, window, step_of(len(window), noverlap), size, detrend, onesided)
    power = (np.real(rows) ** 2 + np.imag(rows) ** 2) * scale_of(window, fs, scaling)
    return frequencies(size, fs, onesided), doubled(power, size) if onesided else power


def averaged(power: Any, average: str) -> Any:
    """Return the average over segments, which lie along the last axis but one."""
    if average == "mean":
        return np.mean(power, axis=-2)
    if average != "median" or np.iscomplexobj(power):
        raise UncoveredError("spectra have a derivative for average= mean, and median of real ones")
    doubles = 2.0 * np.arange(1.0, (np.shape(power)[-2] - 1) // 2 + 1)
    bias = 1.0 + np.sum(1.0 / (doubles + 1.0) - 1.0 / doubles)
    return np.median(power, axis=-2) / bias


def welch(
    x: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = None, noverlap: Any = None,
    nfft: Any = None, detrend: Any = "constant", return_onesided: bool = True,
    scaling: str = "density", axis: int = -1, average: str = "mean",
) -> Any:
    """``welch``."""
    x = np.moveaxis(np.asarray(x) * 1.0, axis, -1)
    onesided = return_onesided and not np.iscomplexobj(x)
    window = window_of(window, nperseg, np.shape(x)[-1])
    f, power = own_power(x, fs, window, noverlap, nfft, detrend, onesided, scaling)
    return f, np.moveaxis(in_precision(averaged(power, average), x), -1, axis)


def periodogram(
    x: Any, fs: Any = 1.0, window: Any = "boxcar", nfft: Any = None, detrend: Any = "constant",
    return_onesided: bool = True, scaling: str = "density", axis: int = -1,
) -> Any:
    """``periodogram``."""
    x = np.moveaxis(np.asarray(x) * 1.0, axis, -1)
    onesided = return_onesided and not np.iscomplexobj(x)
    if nfft is not None and nfft < np.shape(x)[-1]:
        x = x[..., : int(nfft)]
    length = np.shape(x)[-1]
    window = window_of("boxcar" if window is None else window, length, length)
    f, power = own_power(x, fs, window, 0, nfft, detrend, onesided, scaling)
    return f, np.moveaxis(in_precision(power[..., 0, :], x), -1, axis)


def csd(
    x: Any, y: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = None,
    noverlap: Any = None, nfft: Any = None, detrend: Any = "constant",
    return_onesided: bool = True, scaling: str = "density", axis: int = -1, average: str = "mean",
) -> Any:
    """``csd``."""
    if np.ndim(x) != np.ndim(y):
        raise UncoveredError("csd() has a derivative for signals with as many axes")
    single = in_precision(np.ones(1), np.asarray(x)) * in_precision(np.ones(1), np.asarray(y))
    x = np.moveaxis(np.asarray(x) * 1.0, axis, -1)
    y = np.moveaxis(np.asarray(y) * 1.0, axis, -1)
    onesided = return_onesided and not np.iscomplexobj(x) and not np.iscomplexobj(y)
    length = max(np.shape(x)[-1], np.shape(y)[-1])
    x, y = lengthened(x, length), lengthened(y, length)
    window = window_of(window, nperseg, length)
    size, step = length_of(nfft, len(window)), step_of(len(window), noverlap)
    first = transformed(x, window, step, size, detrend, onesided)
    second = transformed(y, window, step, size, detrend, onesided)
    power = np.conj(first) * second * scale_of(window, fs, scaling)
    power = averaged(doubled(power, size) if onesided else power, average)
    power = in_precision(power, single)
    return frequencies(size, fs, onesided), np.moveaxis(power, -1, axis)


def lengthened(x: Any, length: int) -> Any:
    """Return a signal with zeros behind it along its last axis, so that it has a length."""
    missing = length - np.shape(x)[-1]
    if missing == 0:
        return x
    return np.concatenate((x, np.zeros((*np.shape(x)[:-1], missing), x.dtype)), -1)


def coherence(
    x: Any, y: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = None,
    noverlap: Any = None, nfft: Any = None, detrend: Any = "constant", axis: int = -1,
) -> Any:
    """``coherence``."""
    f, across = csd(x, y, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)
    first = welch(x, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)[1]
    second = welch(y, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)[1]
    return f, (np.real(across) ** 2 + np.imag(across) ** 2) / first / second


def spectrogram(
    x: Any, fs: Any = 1.0, window: Any = ("tukey", 0.25), nperseg: Any = None,
    noverlap: Any = None, nfft: Any = None, detrend: Any = "constant",
    return_onesided: bool = True, scaling: str = "density", axis: int = -1, mode: str = "psd",
) -> Any:
    """``spectrogram``, of which the phase has no derivative."""
    if axis != -1:
        raise UncoveredError("spectrogram() has a derivative along the last axis")
    x = np.asarray(x) * 1.0
    onesided = return_onesided and not np.iscomplexobj(x)
    window = window_of(window, nperseg, np.shape(x)[-1])
    overlap = len(window) // 8 if noverlap is None else noverlap
    size, step = length_of(nfft, len(window)), step_of(len(window), overlap)
    half = len(window) / 2.0
    times = np.arange(half, np.shape(x)[-1] - half + 1, step) / fs
    f = frequencies(size, fs, onesided)
    if mode == "psd":
        power = own_power(x, fs, window, overlap, nfft, detrend, onesided, scaling)[1]
        return f, times, in_precision(np.swapaxes(power, -1, -2), x)
    rows = transformed(x, window, step, size, detrend, onesided)
    rows = np.swapaxes(rows, -1, -2) * np.sqrt(scale_of(window, fs, scaling))
    rows = in_precision(rows, x)
    if mode == "complex":
        return f, times, rows
    if mode == "magnitude":
        return f, times, np.abs(rows)
    raise UncoveredError("spectrogram() has a derivative for mode= psd, complex and magnitude")


def stft(
    x: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = 256, noverlap: Any = None,
    nfft: Any = None, detrend: Any = False, return_onesided: bool = True, boundary: Any = "zeros",
    padded: bool = True, axis: int = -1, scaling: str = "spectrum",
) -> Any:
    """``stft``."""
    if axis != -1 or (boundary is not None and boundary != "zeros"):
        raise UncoveredError("stft() has a derivative along the last axis, for boundary='zeros'")
    x = np.asarray(x) * 1.0
    onesided = return_onesided and not np.iscomplexobj(x)
    window = window_of(window, nperseg, np.shape(x)[-1])
    size, step = length_of(nfft, len(window)), step_of(len(window), noverlap)
    start = 0.0
    if boundary is not None:
        ends = np.zeros((*np.shape(x)[:-1], len(window) // 2), x.dtype)
        x = np.concatenate((ends, x, ends), -1)
        start = len(window) / 2.0
    if padded:
        length = np.shape(x)[-1]
        x = lengthened(x, length + (-(length - len(window)) % step) % len(window))
    half = len(window) / 2.0
    times = (np.arange(half, np.shape(x)[-1] - half + 1, step) - start) / fs
    scale = np.sqrt(scale_of(window, fs, "density" if scaling == "psd" else scaling))
    rows = transformed(x, window, step, size, detrend, onesided) * scale
    return frequencies(size, fs, onesided), times, in_precision(np.swapaxes(rows, -1, -2), x)


def istft(
    Zxx: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = None, noverlap: Any = None,
    nfft: Any = None, input_onesided: bool = True, boundary: bool = True, time_axis: int = -1,
    freq_axis: int = -2, scaling: str = "spectrum",
) -> Any:
    """``istft``."""
    if time_axis != -1 or freq_axis != -2:
        raise UncoveredError("istft() has a derivative for time_axis=-1 and freq_axis=-2")
    Z = np.swapaxes(np.asarray(Zxx) + 0j, -1, -2)
    bins = np.shape(Z)[-1]
    usual = 2 * (bins - 1) if input_onesided else bins
    size = usual if nperseg is None else int(nperseg)
    step = step_of(size, noverlap)
    if nfft is None:
        length = size if input_onesided and size == usual + 1 else usual
    else:
        length = length_of(nfft, size)
    window = named_window(window, size) if isinstance(window, (str, tuple)) else np.asarray(window)
    rows = (fft.irfft(Z, length) if input_onesided else fft.ifft(Z, length))[..., :size]
    if scaling == "spectrum":
        rows = rows * np.sum(window)
    elif scaling == "psd":
        rows = rows * np.sqrt(fs * np.sum(window**2))
    else:
        raise ValueError("scaling is neither spectrum nor psd")
    x = added_up(rows * window, step)
    weight = added_up(np.broadcast_to(window**2, (np.shape(rows)[-2], size)), step)
    if boundary:
        x = x[..., size // 2 : -(size // 2)]
        weight = weight[size // 2 : -(size // 2)]
    x = x / np.where(weight > 1e-10, weight, 1.0)
    return np.arange(np.shape(x)[0]) / fs, in_precision(x, Z)


def added_up(rows: Any, step: int) -> Any:
    """Return the sum of segments that start some steps apart."""
    count, size = np.shape(rows)[-2], np.shape(rows)[-1]
    total = np.zeros((*np.shape(rows)[:-2], size + (count - 1) * step), rows.dtype)
    for i in range(count):
        total[..., i * step : i * step + size] += rows[..., i, :]
    return total


# --- other sampling -------------------------------------------------------------------------------


def resample(
    x: Any, num: int, t: Any = None, axis: int = 0, window: Any = None, domain: str = "time"
) -> Any:
    """``resample`` without a window."""
    if window is not None or domain != "time":
        raise UncoveredError("resample() has a derivative without window=, for domain='time'")
    x = np.moveaxis(np.asarray(x) * 1.0, axis, -1)
    if np.iscomplexobj(x):
        raise UncoveredError("resample() has a derivative for real signals")
    length = np.shape(x)[-1]
    common = min(num, length)
    rows = fft.rfft(x)[..., : common // 2 + 1]
    factors = np.full(common // 2 + 1, num / length)
    if common % 2 == 0 and num != length:
        factors[-1] = factors[-1] * (2.0 if num < length else 0.5)
    y = np.moveaxis(in_precision(fft.irfft(rows * factors, num), x), -1, axis)
    if t is None:
        return y
    return y, t[0] + (t[1] - t[0]) * length / num * np.arange(num)


def resample_poly(
    x: Any, up: int, down: int, axis: int = 0, window: Any = ("kaiser", 5.0),
    padtype: str = "constant", cval: Any = None,
) -> Any:
    """``resample_poly`` with zeros beyond the ends."""
    if padtype != "constant" or cval is not None:
        raise UncoveredError(
            "resample_poly() has a derivative for padtype='constant', without cval="
        )
    x = np.moveaxis(np.asarray(x) * 1.0, axis, -1)
    common = math.gcd(up, down)
    up, down = up // common, down // common
    if up == 1 and down == 1:
        return np.moveaxis(x, -1, axis)
    if isinstance(window, (str, tuple)):
        h = signal.firwin(20 * max(up, down) + 1, 1.0 / max(up, down), window=window)
    else:
        h = np.asarray(window) * 1.0
    before, behind, first, count = resampling_plan(np.shape(x)[-1], up, down, (len(h) - 1) // 2)
    if len(h) % 2 == 0:
        raise UncoveredError("resample_poly() has a derivative for an odd number of taps")
    h = np.concatenate((np.zeros(before), h * up, np.zeros(behind)))
    y = signal.upfirdn(h, x, up, down)[..., first : first + count]
    return np.moveaxis(in_precision(y, x), -1, axis)


def deconvolve(signal_: Any, divisor: Any) -> Any:
    """``deconvolve``."""
    numerator, denominator = np.asarray(signal_) * 1.0, np.asarray(divisor) * 1.0
    count = len(numerator) - len(denominator) + 1
    if count <= 0:
        return np.zeros(0), numerator
    impulse = np.zeros(count)
    impulse[0] = 1.0
    quotient = signal.lfilter(numerator, denominator, impulse)
    return quotient, numerator - np.convolve(denominator, quotient)


def medfilt(volume: Any, kernel_size: Any = None) -> Any:
    """``medfilt``: zero beyond the ends."""
    return ndimage.median_filter(volume, 3 if kernel_size is None else kernel_size, mode="constant")


def medfilt2d(input: Any, kernel_size: Any = 3) -> Any:
    """``medfilt2d``: zero beyond the ends."""
    return ndimage.median_filter(input, kernel_size, mode="constant")


def freqz(
    b: Any, a: Any = 1, worN: Any = 512, whole: bool = False, plot: Any = None,
    fs: Any = 2.0 * np.pi, include_nyquist: bool = False,
) -> Any:
    """``freqz`` of one row of coefficients each."""
    if plot is not None:
        raise UncoveredError("freqz() has a derivative without plot=")
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    if np.ndim(b) != 1 or np.ndim(a) != 1:
        raise UncoveredError("freqz() has a derivative for one row of coefficients")
    if worN is None:
        worN = 512
    if isinstance(worN, int):
        end = 2.0 * np.pi if whole else np.pi
        w = np.linspace(0.0, end, worN, endpoint=include_nyquist and not whole)
    else:
        w = np.atleast_1d(worN) * 2.0 * np.pi / fs
    w = w * 1.0
    response = polynomial_on_circle(b, w) / polynomial_on_circle(a, w)
    return w * fs / (2.0 * np.pi), response


def polynomial_on_circle(c: Any, w: Any) -> Any:
    """Return a polynomial in the inverse of points on the unit circle."""
    return np.exp(-1j * np.outer(w, np.arange(len(c)))) @ c


for _written in (
    welch, periodogram, csd, coherence, spectrogram, stft, istft, resample, resample_poly,
    deconvolve, medfilt, medfilt2d, freqz,
):
    facts(getattr(signal, _written.__name__), written_as=_written)
