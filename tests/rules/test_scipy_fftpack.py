"""Transforms of ``scipy.fftpack``: the numbers of SciPy, and their derivatives."""

import numpy as np
import pytest
import scipy.fftpack as fftpack
from adcompiler import hvp, jvp, vjp

from adcompiler_rules import scipy_fftpack
from tests.properties.values import load

X = np.sin(np.arange(24.0)).reshape(4, 6)
REAL = ("rfft", "irfft", "dct", "idct", "dst", "idst")
CASES = [
    *[(name, {}) for name in ("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", *REAL)],
    *[(name, {}) for name in ("dctn", "idctn", "dstn", "idstn")],
    *[(name, {"n": n, "axis": axis}) for name in ("fft", "ifft", "rfft", "irfft") for n, axis in (
        (5, 0), (3, 1), (8, -1), (1, 1), (2, 0))],
    *[(name, {"type": kind, "norm": norm})
      for name in ("dct", "idct", "dst", "idst", "dctn", "idstn")
      for kind, norm in ((1, None), (3, "ortho"), (4, None))],
    ("fft2", {"shape": (3, 8)}), ("ifftn", {"shape": (2, 5), "axes": (1, 0)}),
    ("dctn", {"shape": (3,), "axes": (0,)}), ("idct", {"n": 4, "axis": 0}),
]


@pytest.mark.parametrize("name, options", CASES, ids=str)
def test_transforms(name, options):
    transform = getattr(fftpack, name)
    wanted = transform(X, **options)
    own = getattr(scipy_fftpack, name)(X, **options)
    assert own.dtype == wanted.dtype and own == pytest.approx(wanted, rel=1e-14, abs=1e-14)

    given = "".join(f", {key}={value!r}" for key, value in options.items())
    f = load(f"import scipy.fftpack\ndef f(x):\n    return scipy.fftpack.{name}(x{given})\n")
    v = np.cos(np.arange(24.0)).reshape(4, 6)
    value, along = jvp(f, (X,), (v,))
    assert value == pytest.approx(wanted, rel=1e-14, abs=1e-14)
    assert along == pytest.approx(transform(v, **options), rel=1e-12, abs=1e-12)
    y_bar = np.cos(np.arange(wanted.size) + 0.5).reshape(wanted.shape)
    if np.iscomplexobj(wanted):
        y_bar = y_bar + 1j * np.sin(np.arange(wanted.size)).reshape(wanted.shape)
    (x_bar,) = vjp(f, X)[1](y_bar)
    assert np.sum(x_bar * v) == pytest.approx(np.sum(np.real(np.conj(y_bar) * along)), rel=1e-11)


@pytest.mark.parametrize("name", REAL)
def test_second_derivatives(name):
    transform = getattr(fftpack, name)
    v = np.cos(np.arange(24.0)).reshape(4, 6)
    found = hvp(lambda x: np.sum(transform(x) ** 2), X, v)
    (wanted,) = vjp(lambda x: transform(x), X)[1](2.0 * transform(v))
    assert found == pytest.approx(wanted, rel=1e-11, abs=1e-11)
