"""``scipy.fftpack`` by ``scipy.fft``, which does the same; spectra of real numbers are packed here.

The inverse cosine and sine transforms are not scaled: they are the transforms of the other type.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
import scipy.fftpack

from adcompiler.rulekit import facts

INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
"""The type of the inverse of a cosine or sine transform."""


def fft(x: Any, n: Any = None, axis: int = -1, overwrite_x: bool = False) -> Any:
    """``scipy.fftpack.fft``."""
    return scipy.fft.fft(x, n, axis)


def ifft(x: Any, n: Any = None, axis: int = -1, overwrite_x: bool = False) -> Any:
    """``scipy.fftpack.ifft``."""
    return scipy.fft.ifft(x, n, axis)


def fft2(x: Any, shape: Any = None, axes: Any = (-2, -1), overwrite_x: bool = False) -> Any:
    """``scipy.fftpack.fft2``."""
    return scipy.fft.fftn(x, shape, axes)


def ifft2(x: Any, shape: Any = None, axes: Any = (-2, -1), overwrite_x: bool = False) -> Any:
    """``scipy.fftpack.ifft2``."""
    return scipy.fft.ifftn(x, shape, axes)


def fftn(x: Any, shape: Any = None, axes: Any = None, overwrite_x: bool = False) -> Any:
    """``scipy.fftpack.fftn``."""
    return scipy.fft.fftn(x, shape, axes)


def ifftn(x: Any, shape: Any = None, axes: Any = None, overwrite_x: bool = False) -> Any:
    """``scipy.fftpack.ifftn``."""
    return scipy.fft.ifftn(x, shape, axes)


def rfft(x: Any, n: Any = None, axis: int = -1, overwrite_x: bool = False) -> Any:
    """``scipy.fftpack.rfft``: the first real part, then real and imaginary parts in turns."""
    spectrum = np.moveaxis(scipy.fft.rfft(x, n, axis), axis, -1)
    count = np.shape(x)[axis] if n is None else n
    parts = np.stack([np.real(spectrum), np.imag(spectrum)], axis=-1)
    flat = np.reshape(parts, (*parts.shape[:-2], 2 * parts.shape[-2]))
    packed = np.concatenate([flat[..., :1], flat[..., 2 : count + 1]], axis=-1)
    return np.moveaxis(packed, -1, axis)


def irfft(x: Any, n: Any = None, axis: int = -1, overwrite_x: bool = False) -> Any:
    """``scipy.fftpack.irfft`` of what ``rfft`` gives, cut off or filled up with zeros."""
    packed = np.moveaxis(np.asarray(x), axis, -1)
    count = packed.shape[-1] if n is None else n
    packed = packed[..., :count]
    before = packed.shape[:-1]
    # an imaginary part of 0 for the first element, and behind an even number for the last one
    missing = 2 * (count // 2) + 1 - packed.shape[-1]
    parts = np.concatenate([
        packed[..., :1], np.zeros((*before, 1), packed.dtype), packed[..., 1:],
        np.zeros((*before, missing), packed.dtype)], axis=-1)
    spectrum = parts[..., ::2] + 1j * parts[..., 1::2]
    return np.moveaxis(scipy.fft.irfft(spectrum, count), -1, axis)


def dct(
    x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None,
    overwrite_x: bool = False,
) -> Any:
    """``scipy.fftpack.dct``."""
    return scipy.fft.dct(x, type, n, axis, norm)


def idct(
    x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None,
    overwrite_x: bool = False,
) -> Any:
    """``scipy.fftpack.idct``."""
    return scipy.fft.dct(x, INVERSE[type], n, axis, norm)


def dst(
    x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None,
    overwrite_x: bool = False,
) -> Any:
    """``scipy.fftpack.dst``."""
    return scipy.fft.dst(x, type, n, axis, norm)


def idst(
    x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None,
    overwrite_x: bool = False,
) -> Any:
    """``scipy.fftpack.idst``."""
    return scipy.fft.dst(x, INVERSE[type], n, axis, norm)


def dctn(
    x: Any, type: int = 2, shape: Any = None, axes: Any = None, norm: Any = None,
    overwrite_x: bool = False,
) -> Any:
    """``scipy.fftpack.dctn``."""
    return scipy.fft.dctn(x, type, shape, axes, norm)


def idctn(
    x: Any, type: int = 2, shape: Any = None, axes: Any = None, norm: Any = None,
    overwrite_x: bool = False,
) -> Any:
    """``scipy.fftpack.idctn``."""
    return scipy.fft.dctn(x, INVERSE[type], shape, axes, norm)


def dstn(
    x: Any, type: int = 2, shape: Any = None, axes: Any = None, norm: Any = None,
    overwrite_x: bool = False,
) -> Any:
    """``scipy.fftpack.dstn``."""
    return scipy.fft.dstn(x, type, shape, axes, norm)


def idstn(
    x: Any, type: int = 2, shape: Any = None, axes: Any = None, norm: Any = None,
    overwrite_x: bool = False,
) -> Any:
    """``scipy.fftpack.idstn``."""
    return scipy.fft.dstn(x, INVERSE[type], shape, axes, norm)


for _own in (fft, ifft, fft2, ifft2, fftn, ifftn, rfft, irfft, dct, idct, dst, idst, dctn, idctn,
             dstn, idstn):
    facts(getattr(scipy.fftpack, _own.__name__), written_as=_own)
