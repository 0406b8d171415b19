"""What the adjoints of discrete Fourier transforms need beside the transforms. All is pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

COVERED_WITH = "numpy"
"""The module whose rules come with those of these functions."""


def opposite(norm: str | None) -> Any:
    """Return the normalisation of the transform in the other direction that is the adjoint.

    ``"backward"`` (also None) divides the inverse transform by ``n``, ``"forward"`` the other one.
    """
    return {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, "ortho")


def transformed_axes(
    shape: tuple[int, ...], s: Sequence[int] | None, axes: Sequence[int] | int | None
) -> tuple[int, ...]:
    """Return the axes that an n-dimensional transform of an array of ``shape`` goes over.

    Raises NotImplementedError if one of them is transformed twice.
    """
    if axes is None:
        count = len(shape) if s is None else np.size(s)
        return tuple(range(-count, 0))
    chosen = (axes,) if isinstance(axes, int) else tuple(axes)
    if len({axis % len(shape) for axis in chosen}) < len(chosen):
        raise NotImplementedError(
            f"a Fourier transform twice over one axis (axes={chosen}) has no derivative rule; "
            "call it twice"
        )
    return chosen


def extents(shape: tuple[int, ...], s: Any, axes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the numbers of points over which a real transform goes along ``axes``."""
    wanted = (None,) * len(axes) if s is None else np.atleast_1d(np.asarray(s, object))
    return tuple(
        shape[axis] if n is None or n == -1 else int(n)
        for n, axis in zip(wanted, axes, strict=True)
    )


def fitted(g: Any, shape: tuple[int, ...]) -> Any:
    """Return ``g`` cut off, or continued with zeros, at the ends of its axes to have ``shape``."""
    if g.shape == shape:
        return g
    result = np.zeros(shape, g.dtype)
    common = tuple(slice(min(m, n)) for m, n in zip(g.shape, shape, strict=True))
    result[common] = g[common]
    return result


def inner_scaled(g: Any, n: int, axis: int, factor: float) -> Any:
    """Return half of a spectrum of ``n`` points with the frequencies scaled that stand for two.

    Of the frequencies along ``axis``, zero and, for an even ``n``, the last one have no negative.
    """
    scaled = np.array(g)
    along = np.moveaxis(scaled, axis, -1)
    along[..., 1 : (n + 1) // 2] *= factor
    return scaled


def trigonometric_dual(type: int) -> int:
    """Return the type of the cosine or sine transform that is the transpose of one of ``type``."""
    return {2: 3, 3: 2}.get(type, type)


def cosine_ends(type: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the factors of the first and last element before and after the transposed DCT.

    An orthogonalised transform is the transpose of one of the dual type; the others have elements
    at the ends that are larger or smaller by the root of 2.
    """
    root = float(np.sqrt(2.0))
    before = {1: (root, root), 2: (root, 1.0)}.get(type, (1.0, 1.0))
    after = {1: (1.0 / root, 1.0 / root), 3: (1.0 / root, 1.0)}.get(type, (1.0, 1.0))
    return before, after


def sine_ends(type: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the factors of the first and last element before and after the transposed DST."""
    root = float(np.sqrt(2.0))
    before = (1.0, root) if type == 2 else (1.0, 1.0)
    after = (1.0, 1.0 / root) if type == 3 else (1.0, 1.0)
    return before, after


def ends_scaled(g: Any, axes: tuple[int, ...], factors: tuple[float, float]) -> Any:
    """Return ``g`` with its first and its last elements along each of ``axes`` scaled."""
    if factors == (1.0, 1.0):
        return g
    scaled = np.array(g)
    for axis in axes:
        along = np.moveaxis(scaled, axis, 0)
        along[:1] *= factors[0]
        along[-1:] *= factors[1]
    return scaled
