"""Spectra of signals and what else of ``scipy.signal`` is compiled as Python written for it."""

import numpy as np
import pytest
from scipy import signal

from adcompiler import grad, vjp
from adcompiler.errors import UncoveredError
from tests.lanes import one_in
from tests.rules.agreement import agrees

RNG = np.random.default_rng(2)
WAVE = np.sin(np.arange(40.0) ** 1.2) + 0.3 * RNG.normal(size=40)
OTHER = np.cos(0.7 * np.arange(40.0)) + 0.2 * RNG.normal(size=40)
ROWS = RNG.normal(size=(2, 21))


def real(z):
    return np.concatenate((np.real(z), np.imag(z)))


PROGRAMS = {
    "welch": lambda x: signal.welch(x, nperseg=8)[1],
    "welch of options": lambda x: signal.welch(
        x, 2.0, "hamming", 9, 3, 12, "linear", True, "spectrum", average="median")[1],
    "frequencies": lambda x: signal.welch(x, 3.0, nperseg=9)[0] * x[0],
    "longer window": lambda x: signal.welch(x[:12], nperseg=12, nfft=15, detrend=False)[1],
    "both sides": lambda x: signal.welch(x, nperseg=8, return_onesided=False)[1],
    "complex": lambda x: signal.welch(x[:20] + 1j * x[20:], nperseg=8, return_onesided=False)[1],
    "periodogram": lambda x: signal.periodogram(x, 10.0)[1],
    "short periodogram": lambda x: signal.periodogram(x, nfft=15, window="hann")[1],
    "long periodogram": lambda x: signal.periodogram(x[:9], nfft=16, scaling="spectrum")[1],
    "csd": lambda x: real(signal.csd(x, OTHER[:30], nperseg=8)[1]),
    "csd of both": lambda x: real(signal.csd(OTHER * x, x, nperseg=10, noverlap=2)[1]),
    "coherence": lambda x: signal.coherence(x, OTHER, nperseg=8)[1],
    "spectrogram": lambda x: signal.spectrogram(x, nperseg=8)[2],
    "its size": lambda x: signal.spectrogram(x, nperseg=8, mode="magnitude")[2],
    "its values": lambda x: real(signal.spectrogram(x, 5.0, nperseg=8, mode="complex")[2]),
    "times": lambda x: signal.spectrogram(x, 3.0, nperseg=8)[1] * x[1],
    "stft": lambda x: real(signal.stft(x, nperseg=8)[2]),
    "stft as it is": lambda x: real(signal.stft(
        x, 2.0, nperseg=9, boundary=None, padded=False, detrend="constant")[2]),
    "times of stft": lambda x: signal.stft(x, 2.0, nperseg=9)[1] * x[1],
    "istft": lambda x: signal.istft(np.reshape(x, (5, 8)) + 1j, nperseg=8)[1],
    "there and back": lambda x: signal.istft(signal.stft(x, nperseg=8)[2] ** 2, nperseg=8)[1],
    "resample": lambda x: signal.resample(x, 30),
    "resample odd": lambda x: signal.resample(x[:9], 14),
    "resample even": lambda x: signal.resample(x[:10], 15),
    "resample times": lambda x: signal.resample(x[:10], 5, t=np.arange(10.0))[1] * x[0],
    "resample_poly": lambda x: signal.resample_poly(x, 3, 2),
    "fewer": lambda x: signal.resample_poly(x, 2, 4, window="hamming"),
    "taps": lambda x: signal.resample_poly(OTHER, 3, 2, window=x[:7]),
    "as many": lambda x: signal.resample_poly(x, 2, 2),
    "decimate": lambda x: signal.decimate(x, 2, ftype="fir"),
    "deconvolve": lambda x: np.concatenate(signal.deconvolve(x[:12], x[12:15])),
    "medfilt": lambda x: signal.medfilt(x, 5),
    "medfilt2d": lambda x: signal.medfilt2d(np.reshape(x, (5, 8)), (3, 5)),
    "freqz": lambda x: real(signal.freqz(x[:5], np.array([1.0, 0.3]), 16)[1]),
    "freqz at places": lambda x: real(signal.freqz(
        [1.0, 0.5], x[3:6] + 2.0, np.array([0.3, 1.1]), fs=4.0)[1]),
    "whole circle": lambda x: np.abs(signal.freqz(x[:5], worN=9, whole=True)[1]),
    "window": lambda x: signal.welch(OTHER, window=np.exp(0.1 * x[:8]))[1],
}
TABLES = {
    "columns of welch": lambda x: signal.welch(x.T, nperseg=8, axis=0)[1],
    "rows of periodogram": lambda x: signal.periodogram(x)[1],
    "rows of stft": lambda x: np.abs(signal.stft(x, nperseg=8)[2]) ** 2,
    "rows of spectrogram": lambda x: signal.spectrogram(x, nperseg=8)[2],
    "rows of istft": lambda x: signal.istft(np.stack((x, x * x)), nperseg=2)[1],
    "rows of csd": lambda x: real(signal.csd(x, x[::-1], nperseg=8)[1]),
    "rows of resample": lambda x: signal.resample(x, 12, axis=1),
    "columns of resample_poly": lambda x: signal.resample_poly(x.T, 2, 3),
}


@pytest.mark.parametrize(("f", "x"), one_in(3, [
    *(pytest.param(f, WAVE, id=name) for name, f in PROGRAMS.items()),
    *(pytest.param(f, ROWS, id=name) for name, f in TABLES.items()),
]))
def test_values_and_derivatives(f, x):
    found, wanted = vjp(f, x)[0], f(x)
    assert np.shape(found) == np.shape(wanted)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    weights = np.cos(np.arange(np.size(wanted))).reshape(np.shape(wanted))
    agrees(lambda x: np.sum(f(x) * weights), x, order=1, h=1e-6, tol=2e-6)


@pytest.mark.parametrize("name", one_in(3, ["welch", "coherence", "istft", "freqz", "resample"]))
def test_second_derivatives(name):
    f = PROGRAMS[name]
    agrees(lambda x: np.sum(np.sin(f(x))), WAVE)


@pytest.mark.parametrize("f", [
    lambda x: signal.welch(x, nperseg=8, detrend=lambda d: 2.0 * d)[1],
    lambda x: signal.spectrogram(x, nperseg=8, mode="phase")[2],
    lambda x: signal.stft(x, nperseg=8, boundary="even")[2],
    lambda x: signal.resample(x, 30, window="hamming"),
    lambda x: signal.resample_poly(x, 3, 2, padtype="mean"),
])
def test_what_is_not_known(f):
    with pytest.raises(UncoveredError):
        grad(lambda x: np.sum(np.abs(f(x))))(WAVE)


@pytest.mark.parametrize("name", [
    "welch", "csd of both", "coherence", "spectrogram", "stft", "resample", "resample_poly",
    "periodogram", "istft", "medfilt",
])
def test_single_precision(name):
    f, wave = PROGRAMS[name], WAVE.astype(np.float32)
    if name == "csd of both":
        def f(x):
            return real(signal.csd(x, x * x, nperseg=10)[1])
    if name == "istft":
        def f(x):
            return signal.istft(np.reshape(x, (5, 8)) * np.complex64(1.0 + 0.5j), nperseg=8)[1]
    found, pull = vjp(f, wave)
    assert found.dtype == f(wave).dtype
    np.testing.assert_allclose(found, f(wave), rtol=1e-4, atol=1e-4)
    g = pull(np.ones_like(found))[0]
    assert g.dtype == np.float32
    np.testing.assert_allclose(g, grad(lambda x: np.sum(f(x)))(WAVE), rtol=1e-3, atol=1e-3)
