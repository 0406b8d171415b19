"""Adjoints of products of arrays that no single NumPy expression gives for all their shapes.

Every function is pure, ``g`` is the cotangent of the product, and operands are conjugated where
they multiply it. Results have the shape of the operand, its precision is left to the caller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from adcompiler.runtime.adjoints.broadcasting import unbroadcast
from adcompiler.runtime.adjoints.shaping import like

COVERED_WITH = "numpy"
"""The module whose rules come with those of these functions."""


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


# --- tensordot, kron, chains of matrices ----------------------------------------------------------


def tensordot_adjoint_left(g: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    """Return the cotangent of ``a`` for ``np.tensordot(a, b, axes)``."""
    a_axes, b_axes = _contracted(axes, np.ndim(a), np.ndim(b))
    a_free, b_free = _others(a_axes, np.ndim(a)), _others(b_axes, np.ndim(b))
    product = np.tensordot(g, np.conj(b), (range(len(a_free), np.ndim(g)), b_free))
    in_order_of_b = [a_axes[b_axes.index(axis)] for axis in sorted(b_axes)]
    return np.moveaxis(product, range(product.ndim), a_free + in_order_of_b)


def tensordot_adjoint_right(g: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    """Return the cotangent of ``b`` for ``np.tensordot(a, b, axes)``."""
    a_axes, b_axes = _contracted(axes, np.ndim(a), np.ndim(b))
    a_free, b_free = _others(a_axes, np.ndim(a)), _others(b_axes, np.ndim(b))
    product = np.tensordot(np.conj(a), g, (a_free, range(len(a_free))))
    in_order_of_a = [b_axes[a_axes.index(axis)] for axis in sorted(a_axes)]
    return np.moveaxis(product, range(product.ndim), in_order_of_a + b_free)


def _contracted(axes: Any, a_ndim: int, b_ndim: int) -> tuple[list[int], list[int]]:
    """Return the contracted axes of both operands, counted from the start."""
    if isinstance(axes, (int, np.integer)):
        return list(range(a_ndim - int(axes), a_ndim)), list(range(int(axes)))
    a_axes, b_axes = (np.reshape(np.asarray(part, int), -1) for part in axes)
    return [int(i) % a_ndim for i in a_axes], [int(i) % b_ndim for i in b_axes]


def _others(axes: Sequence[int], ndim: int) -> list[int]:
    return [axis for axis in range(ndim) if axis not in axes]


def kron_adjoint_left(g: Any, a: Any, b: Any) -> Any:
    """Return the cotangent of ``a`` for ``np.kron(a, b)``."""
    blocks = _kron_blocks(g, np.shape(a), np.shape(b))
    return np.reshape(np.tensordot(blocks, np.conj(np.ravel(b)), 1), np.shape(a))


def kron_adjoint_right(g: Any, a: Any, b: Any) -> Any:
    """Return the cotangent of ``b`` for ``np.kron(a, b)``."""
    blocks = _kron_blocks(g, np.shape(a), np.shape(b))
    return np.reshape(np.tensordot(np.conj(np.ravel(a)), blocks, 1), np.shape(b))


def _kron_blocks(g: Any, a_shape: tuple[int, ...], b_shape: tuple[int, ...]) -> Any:
    """Return ``g`` as a matrix: a row for each element of ``a``, a column for each of ``b``."""
    ndim = max(len(a_shape), len(b_shape))
    a_sizes = (1,) * (ndim - len(a_shape)) + a_shape
    b_sizes = (1,) * (ndim - len(b_shape)) + b_shape
    blocks = np.reshape(g, [n for pair in zip(a_sizes, b_sizes, strict=True) for n in pair])
    by_operand = (*range(0, 2 * ndim, 2), *range(1, 2 * ndim, 2))
    return blocks.transpose(by_operand).reshape(math.prod(a_shape), math.prod(b_shape))


def multi_dot_adjoint(g: Any, arrays: Any) -> Any:
    """Return the cotangents of ``arrays``, a list or tuple, for ``np.linalg.multi_dot(arrays)``.

    Each is a product of matrices again, whose cheapest order NumPy finds.
    """
    matrices = [np.asarray(x) for x in arrays]
    if matrices[0].ndim == 1:
        matrices[0] = matrices[0][np.newaxis, :]
    if matrices[-1].ndim == 1:
        matrices[-1] = matrices[-1][:, np.newaxis]
    g = np.reshape(g, (matrices[0].shape[0], matrices[-1].shape[1]))
    adjoints = [np.conj(matrix.T) for matrix in matrices]
    cotangents = [
        np.linalg.multi_dot([*adjoints[:k][::-1], g, *adjoints[k + 1 :][::-1]])
        for k in range(len(matrices))
    ]
    items = (
        like(np.reshape(bar, np.shape(x)), x) for bar, x in zip(cotangents, arrays, strict=True)
    )
    return tuple(items) if isinstance(arrays, tuple) else list(items)


def cross_adjoint_left(g: Any, a: Any, b: Any, axes: tuple[int, int, int]) -> Any:
    """Return the cotangent of ``a`` for ``np.cross(a, b, *axes)``, which is ``b x g``.

    Vectors of length two stand for three components, the last one zero; of two such vectors the
    product is its third component alone.
    """
    a, b = np.moveaxis(a, axes[0], -1), np.moveaxis(np.conj(b), axes[1], -1)
    if a.shape[-1] == b.shape[-1] == 2:
        g = np.stack([np.zeros_like(g), np.zeros_like(g), g], -1)
    else:
        g = np.moveaxis(g, axes[2], -1)
    product = np.cross(_in_space(b), g)[..., : a.shape[-1]]
    return np.moveaxis(unbroadcast(product, a.shape), -1, axes[0])


def cross_adjoint_right(g: Any, a: Any, b: Any, axes: tuple[int, int, int]) -> Any:
    """Return the cotangent of ``b`` for ``np.cross(a, b, *axes)``, which is ``g x a``."""
    return -cross_adjoint_left(g, b, a, (axes[1], axes[0], axes[2]))


def _in_space(vectors: Any) -> Any:
    """Return vectors of length two with a third component, zero."""
    if vectors.shape[-1] == 3:
        return vectors
    return np.concatenate([vectors, np.zeros_like(vectors[..., :1])], -1)


# --- einsum ---------------------------------------------------------------------------------------


def einsum_adjoint(
    g: Any, subscripts: str, operands: Sequence[Any], position: int, optimize: Any = False
) -> Any:
    """Return the cotangent of ``operands[position]`` for ``np.einsum(subscripts, *operands)``.

    It is the einsum of ``g`` and the other operands, with the operand's labels as output. Labels
    that only the operand has were summed away: the cotangent is constant along them. A label it
    has twice took a diagonal: the cotangent is zero elsewhere. Axes of size one that broadcast
    are summed.
    """
    inputs, output = explicit_labels(subscripts, [np.ndim(x) for x in operands])
    labels, shape = inputs[position], np.shape(operands[position])
    others = [i for i in range(len(operands)) if i != position]
    wanted = "".join(dict.fromkeys(labels))
    terms = ",".join([output, *(inputs[i] for i in others)])
    known = "".join(label for label in wanted if label in terms)
    if not isinstance(optimize, (bool, str)):
        optimize = True
    product = np.einsum(
        f"{terms}->{known}", g, *(np.conj(operands[i]) for i in others), optimize=optimize
    )
    sizes = dict(zip(labels, shape, strict=True))
    product = np.reshape(product, [
        product.shape[known.index(label)] if label in known else 1 for label in wanted
    ])
    own_shape = tuple(sizes[label] for label in wanted)
    bar = unbroadcast(product, own_shape)
    if len(wanted) == len(labels):
        return bar
    x_bar = np.zeros(shape, bar.dtype)
    np.einsum(f"{labels}->{wanted}", x_bar)[...] = bar
    return x_bar


def einsum_adjoints(
    g: Any, subscripts: str, operands: Sequence[Any], optimize: Any = False
) -> tuple[Any, ...]:
    """Return the cotangents of all operands for ``np.einsum(subscripts, *operands)``."""
    return tuple(
        like(einsum_adjoint(g, subscripts, operands, i, optimize), x)
        for i, x in enumerate(operands)
    )


def einsum_lists_adjoints(g: Any, arguments: Sequence[Any], optimize: Any = False) -> Any:
    """Return the cotangents for ``np.einsum(x, [0, 1], y, [1], ..., [0])``; None for the lists."""
    subscripts, operands = from_lists(arguments)
    return between_lists(einsum_adjoints(g, subscripts, operands, optimize), arguments)


def from_lists(arguments: Sequence[Any]) -> tuple[str, tuple[Any, ...]]:
    """Return the subscripts and the operands of ``np.einsum(x, [0, 1], y, [1], ..., [0])``."""
    operands = tuple(arguments[: len(arguments) // 2 * 2 : 2])
    subscripts = ",".join(_as_letters(labels) for labels in arguments[1::2])
    if len(arguments) % 2:
        subscripts += "->" + _as_letters(arguments[-1])
    return subscripts, operands


def between_lists(cotangents: Sequence[Any], arguments: Sequence[Any]) -> tuple[Any, ...]:
    """Return a cotangent for each of ``arguments``: None for the lists after the operands."""
    flat = tuple(item for bar in cotangents for item in (bar, None))
    return flat + (None,) * (len(arguments) % 2)


def _as_letters(labels: Sequence[Any]) -> str:
    return "".join("..." if label is Ellipsis else LETTERS[label] for label in labels)


def explicit_labels(subscripts: str, ndims: Sequence[int]) -> tuple[list[str], str]:
    """Return the labels of each operand and of the output, ellipses spelt out as letters.

    An implicit output has the ellipsis, then the labels that occur once, in alphabetical order.
    """
    left, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    spare = [letter for letter in LETTERS if letter not in subscripts]
    widths = [
        ndim - len(term) + 3 if "..." in term else 0
        for term, ndim in zip(terms, ndims, strict=True)
    ]
    broadcast = "".join(spare[: max(widths, default=0)])
    inputs = [
        term.replace("...", broadcast[len(broadcast) - width :])
        for term, width in zip(terms, widths, strict=True)
    ]
    if not arrow:
        letters = left.replace(".", "").replace(",", "")
        output = "..." + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return inputs, output.replace("...", broadcast)
