"""Reductions, scans and functions of shape of numbers and 0-d arrays, under every operator.

NumPy takes axes of what has none, and gives scans of numbers an axis. Each call is made of a Python
number, of an array without axes, and of a number inside of a function of an array, and each of its
derivatives is compared with differences, or refused before it runs.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import adcompiler as ad
from tests.lanes import one_in

PARTS = 120
"""How many parts the calls are cut into, of which the first is in the first lane."""

WITH_AXES = ["np.sum", "np.mean", "np.prod", "np.max", "np.min", "np.ptp", "np.std", "np.var", "np.cumsum", "np.cumprod", "np.nansum", "np.nanmean", "np.nanprod", "np.nanmax", "np.nanmin", "np.nanstd", "np.nanvar", "np.nancumsum", "np.nancumprod", "np.median", "np.nanmedian", "np.average", "np.add.reduce", "np.multiply.reduce", "np.maximum.reduce", "np.minimum.reduce", "np.logaddexp.reduce", "np.logaddexp2.reduce", "np.fmax.reduce", "np.fmin.reduce", "np.hypot.reduce", "np.add.accumulate", "np.multiply.accumulate", "np.maximum.accumulate", "np.cumulative_sum", "np.cumulative_prod", "np.linalg.norm", "scipy.special.logsumexp", "scipy.special.softmax", "scipy.special.log_softmax", "np.sort", "np.flip", "np.squeeze", "scipy.stats.gmean", "scipy.stats.zscore"]  # noqa: E501
METHODS = ["sum", "mean", "prod", "max", "min", "std", "var", "cumsum", "cumprod", "squeeze"]
AXES = ("", "axis=None", "axis=-1", "axis=0", "axis=()", "-1", "0")
KEPT = ("keepdims=True", "axis=-1, keepdims=True", "axis=0, keepdims=True")
SHAPES = """
    np.quantile(z, 0.3, axis=-1); np.percentile(z, 30.0, axis=0); np.repeat(z, 3);
    np.repeat(z, 3, axis=0); np.repeat(z, 3, axis=-1); z.repeat(3); np.tile(z, (2, 2)); np.ravel(z);
    z.ravel(); z.flatten(); np.reshape(z, -1); np.reshape(z, [1, 1]); z.reshape(1, 1);
    z.reshape([1, 1]); z.reshape((1, 1)); np.ones(4).reshape([2, 2]) * z; np.atleast_1d(z);
    np.atleast_2d(z); np.atleast_3d(z); np.expand_dims(z, 0); np.expand_dims(z, -1);
    np.expand_dims(z, (0, 1)); np.roll(z, 1); np.transpose(z); np.take(z, 0); np.take(z, [0, 0]);
    np.dot(z, z); np.outer(z, z); np.inner(z, z); np.vdot(z, z); np.tensordot(z, z, 0);
    np.kron(z, z); np.broadcast_to(z, (2,)); np.stack([z, 2 * z], axis=-1); np.hstack([z, z]);
    np.vstack([z, z]); np.column_stack([z, z]); np.append(z, z); np.concatenate([z, z], axis=None);
    np.sum([z, z], axis=0); np.sum([z, z], axis=-1); np.max([z, 2 * z], axis=-1); np.full(2, z);
    np.linspace(0.0, z, 3); np.linspace(0.0, z, 3, axis=-1); np.einsum("->", z);
    np.einsum(",->", z, z); np.clip(z, 0.0, 9.0); np.trapezoid([z, 2 * z], axis=-1); np.unique(z);
    np.real(z); np.copy(z); np.interp(z, [0.0, 1.0, 9.0], [0.0, 2.0, 3.0]); np.convolve(z, z);
    np.polyval([1.0, 2.0, 3.0], z); np.gradient(np.array([z, 2 * z, z * z])); np.pad(z, 0);
    np.pad(np.atleast_1d(z), 1); np.add.outer(z, z); np.ndim(z) * z;
    scipy.special.logsumexp([z, 1.0], axis=-1); scipy.special.softmax([z, 1.0], axis=-1)
"""
POINTS = {"number": 0.7, "array": np.array(0.7), "inside": np.array([0.7, 0.9, 1.1])}


def calls() -> Iterator[str]:
    """Yield the calls, of ``z``."""
    for name in WITH_AXES:
        yield from (f"{name}(z, {axis})" if axis else f"{name}(z)" for axis in (*AXES, *KEPT))
    for name, axis in itertools.product(METHODS, (*AXES, *KEPT)):
        yield f"z.{name}({axis})"
    yield from (call.strip() for call in SHAPES.split(";"))


def module_of(chosen: list[str], directory: Path) -> ModuleType:
    """Return a module of functions of a number, and others of an array, that make the calls."""
    lines = ["import numpy as np", "import scipy.special", "import scipy.stats"]
    for k, call in enumerate(chosen):
        lines += [
            f"def of_number_{k}(x):", "    z = x * x + 0.5", f"    return {call}",
            f"def of_array_{k}(x):", "    z = x[0] * x[1] * x[1] + 0.5",
            f"    return ({call}) * x[2]",
        ]
    file = directory / "reductions_of_numbers.py"
    file.write_text("\n".join(lines) + "\n")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = sys.modules[file.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def differences(f: Callable[[Any], Any], x: np.ndarray, h: float = 1e-3) -> np.ndarray:
    """Return the Jacobian by central differences, extrapolated twice, of shape (value, x)."""
    def along(k: int, h: float) -> np.ndarray:
        step = (np.eye(x.size)[k] * h).reshape(x.shape)
        return (np.asarray(f(x + step), float) - np.asarray(f(x - step), float)) / (2 * h)

    columns = []
    for k in range(x.size):
        a, b, c = along(k, h), along(k, h / 2), along(k, h / 4)
        columns.append((16 * (4 * c - b) - (4 * b - a)) / 45)
    return np.stack(columns, -1).reshape(columns[0].shape + x.shape)


def derivatives(f: Any, x: Any, value: Any) -> dict[str, tuple[Callable[[], Any], Any]]:
    """Return thunks that compute derivatives by each operator, with what they have to give."""
    at, make = np.asarray(x, float), float if isinstance(x, float) else np.array
    first = differences(lambda y: f(make(y)), at)
    second = differences(lambda y: differences(lambda u: f(make(u)), y), at)
    w = np.cos(np.arange(np.size(value)) + 1.0).reshape(np.shape(value))
    v = np.cos(np.arange(at.size) + 2.0).reshape(at.shape)
    seed, tangent = (float(a) if isinstance(b, float) else a for a, b in ((w, value), (v, x)))
    pulled, pushed = np.tensordot(w, first, w.ndim), np.tensordot(first, v, v.ndim)
    curved = np.tensordot(second, v, v.ndim)
    series = np.stack([v, 0 * v])
    found: dict[str, tuple[Callable[[], Any], Any]] = {
        "vjp": (lambda: ad.vjp(f, x)[1](seed)[0], pulled),
        "jvp": (lambda: ad.jvp(f, (x,), (tangent,))[1], pushed),
        "jacrev": (lambda: ad.jacrev(f)(x), first),
        "jacfwd": (lambda: ad.jacfwd(f)(x), first),
        "jacobian of jacobian": (lambda: ad.jacobian(ad.jacobian(f))(x), second),
        "batched_vjp": (lambda: ad.batched_vjp(f, x)[1](np.stack([w, 2 * w]))[0],
                        np.stack([pulled, 2 * pulled])),
        "batched_jvp": (lambda: ad.batched_jvp(f, (x,), (np.stack([v, 2 * v]),))[1],
                        np.stack([pushed, 2 * pushed])),
        "taylor": (lambda: ad.taylor(f, (x,), (series,))[1],
                   np.stack([pushed, np.tensordot(curved, v, v.ndim) / 2])),
    }
    if np.ndim(value) == 0:
        found["hessian"] = lambda: ad.hessian(f)(x), second
        found["hessian adj_adj"] = lambda: ad.hessian(f, mode="adj_adj")(x), second
        found["hvp"] = lambda: ad.hvp(f, x, tangent), curved
    if np.ndim(value) == 0 and at.ndim:
        found["sparse_hessian"] = lambda: ad.sparse_hessian(f)(x).toarray(), second
    if np.ndim(value) == at.ndim == 1:
        found["sparse_jacobian"] = lambda: ad.sparse_jacobian(f)(x).toarray(), first
    return found


def problems(f: Any, x: Any) -> Iterator[str]:
    """Yield what is wrong with derivatives; nothing of a call that NumPy does not take, or of nan.
    """
    try:
        value = f(x)
    except Exception:
        return
    if np.asarray(value).dtype.kind != "f" or not np.all(np.isfinite(value)):
        return
    for name, (thunk, wanted) in derivatives(f, x, value).items():
        try:
            found = np.asarray(thunk(), float)
        except ad.InternalError as error:
            yield f"{name}: {error}"
        except ad.ADError:
            continue
        except Exception as error:
            yield f"{name}: {type(error).__name__}: {error}"
        else:
            if found.shape != np.shape(wanted) or not np.allclose(found, wanted, 1e-5, 1e-6):
                yield f"{name}: {found.tolist()}, not {np.asarray(wanted).tolist()}"


@pytest.mark.parametrize("part", one_in(PARTS, range(PARTS)))
def test_numbers_and_arrays_without_axes(part: int, tmp_path: Path) -> None:
    chosen = list(calls())[part::PARTS]
    module = module_of(chosen, tmp_path)
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for (k, call), (kind, x) in itertools.product(enumerate(chosen), POINTS.items()):
            f = getattr(module, f"of_{'array' if kind == 'inside' else 'number'}_{k}")
            wrong += [f"{call} ({kind}): {problem}" for problem in problems(f, x)]
    assert not wrong, "\n".join(wrong)
