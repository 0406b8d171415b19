"""Jacobians, column by column in forward mode or row by row in reverse mode."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adcompiler.api import Argnums, Derivative
from adcompiler.dispatch import Options
from adcompiler.dispatch.trees import check_real, leaves, map_tree, units
from adcompiler.runtime import as_gradient, own, seed

MODES = ("auto", "forward", "reverse")


def jacobian(
    function: Callable[..., Any], argnums: Argnums = 0, *, mode: str = "auto",
    holomorphic: bool = False, out: Any = None,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``function``.

    For an array argument and an array result it is an array of the shape of the result followed by
    that of the argument. Where the result or the argument is a tuple, list, dict or instance, the
    Jacobian has the structure of the result, with, in each place, the structure of the argument; a
    tuple ``argnums`` gives a tuple there.

    ``mode`` is ``"forward"`` (one pushforward for each number in the arguments), ``"reverse"`` (one
    pullback for each number in the result) or ``"auto"``, which takes the mode with fewer.
    ``out`` is what the Jacobian is written into, of its structure and shapes, and returned.
    Complex numbers need ``holomorphic=True``, and TypeError is raised otherwise. Arguments stay as
    they are.
    """
    if mode not in MODES:
        raise ValueError(f"mode {mode!r} is not one of {', '.join(MODES)}")
    several = isinstance(argnums, (tuple, list))
    wanted = tuple(argnums) if isinstance(argnums, (tuple, list)) else (argnums,)
    pushed = Derivative(function, Options("forward", wanted))
    pulled = Derivative(function, Options("vjp", wanted))

    @functools.wraps(function)
    def jacobian_at(*args: Any, **kwargs: Any) -> Any:
        values = pushed.differentiated(*args, **kwargs)
        check_real(values, "an argument", holomorphic)
        count = sum(int(np.size(leaf)) for leaf in leaves(values))
        value, pullback = None, None
        if mode == "reverse" or (mode == "auto" and count > 1) or count == 0:
            value, pullback = pulled(*own(args), **own(kwargs))
            check_real(value, "the result", holomorphic)
            size = sum(int(np.size(leaf)) for leaf in leaves(value))
            if mode == "reverse" or (mode == "auto" and size < count) or count == 0:
                rows = [pullback(cotangent) for cotangent in units(value)]
                return assembled(value, values, rows, several, out, holomorphic, by_rows=True)
        columns = []
        for tangents in units(values):
            value, column = pushed(*own(args), **own(kwargs))(*tangents)
            columns.append(column)
        check_real(value, "the result", holomorphic)
        return assembled(value, values, columns, several, out, holomorphic, by_rows=False)

    return jacobian_at


def jacfwd(
    function: Callable[..., Any], argnums: Argnums = 0, *, holomorphic: bool = False
) -> Callable[..., Any]:
    """Return the Jacobian of ``function`` in forward mode: see ``jacobian``."""
    return jacobian(function, argnums, mode="forward", holomorphic=holomorphic)


def jacrev(
    function: Callable[..., Any], argnums: Argnums = 0, *, holomorphic: bool = False
) -> Callable[..., Any]:
    """Return the Jacobian of ``function`` in reverse mode: see ``jacobian``."""
    return jacobian(function, argnums, mode="reverse", holomorphic=holomorphic)


def fmad(function: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Return the gradient of ``function``, as ``grad`` does, but in forward mode.

    It takes one pushforward for each number in the arguments, and no memory for what the function
    computes. Raises TypeError if the result is not one real number.
    """
    several = isinstance(argnums, (tuple, list))
    wanted = tuple(argnums) if isinstance(argnums, (tuple, list)) else (argnums,)
    pushed = Derivative(function, Options("forward", wanted))

    @functools.wraps(function)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        values = pushed.differentiated(*args, **kwargs)
        check_real(values, "an argument", False)
        slopes = []
        for tangents in units(values):
            value, slope = pushed(*own(args), **own(kwargs))(*tangents)
            seed(value, getattr(function, "__name__", "the function"))
            slopes.append(np.asarray(slope).item())
        rest = iter(slopes)
        found = tuple(as_gradient(filled(value, rest), value) for value in values)
        return found if several else found[0]

    return gradient


def filled(tree: Any, numbers: Iterator[float]) -> Any:
    """Return a tree of the form of ``tree`` made of the next numbers."""

    def leaf(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return next(numbers)
        return np.array([next(numbers) for _ in range(value.size)]).reshape(value.shape)

    return map_tree(leaf, tree)


def assembled(
    value: Any, arguments: tuple[Any, ...], parts: Sequence[Any], several: bool, out: Any,
    holomorphic: bool, by_rows: bool,
) -> Any:
    """Return the Jacobian of its columns, or rows, as a tree of trees."""
    results, inputs = list(leaves(value)), list(leaves(arguments))
    flat = [list(leaves(part)) for part in parts]
    buffers = None if out is None else list(leaves(out))
    if buffers is not None and len(buffers) != len(results) * len(inputs):
        raise ValueError(
            f"out holds {len(buffers)} arrays, but the Jacobian has {len(results) * len(inputs)}"
        )
    blocks = []
    for i, result in enumerate(results):
        for j, given in enumerate(inputs):
            block = block_of(flat, results, inputs, i, j, by_rows)
            block = np.conj(block) if by_rows and holomorphic else block
            if buffers is not None:
                fill(buffers[i * len(inputs) + j], block)
                block = buffers[i * len(inputs) + j]
            elif np.ndim(result) == 0 and np.ndim(given) == 0:
                block = block[()]
            blocks.append(block)
    if out is not None:
        return out
    rows = iter(blocks)
    found = map_tree(lambda _: inner_tree(arguments, rows, several), value)
    return found


def inner_tree(arguments: tuple[Any, ...], blocks: Any, several: bool) -> Any:
    """Return the next blocks in the structure of the arguments."""
    tree = map_tree(lambda _: next(blocks), arguments)
    return tree if several else tree[0]


def block_of(
    parts: list[list[Any]], results: list[Any], inputs: list[Any], i: int, j: int, by_rows: bool
) -> Any:
    """Return the derivatives of one leaf of the result by one leaf of the arguments."""
    shape = (*np.shape(results[i]), *np.shape(inputs[j]))
    across = results if by_rows else inputs
    position = i if by_rows else j
    start = sum(int(np.size(leaf)) for leaf in across[:position])
    stop = start + int(np.size(across[position]))
    chosen = [part[j if by_rows else i] for part in parts[start:stop]]
    if not chosen:
        return np.zeros(shape)
    stacked = np.stack([np.asarray(part) for part in chosen])
    if by_rows:
        return stacked.reshape(shape)
    return np.moveaxis(stacked, 0, -1).reshape(shape)


def fill(buffer: Any, block: Any) -> None:
    """Write a block of the Jacobian into the buffer for it."""
    if not isinstance(buffer, np.ndarray) or buffer.shape != block.shape:
        raise ValueError(
            f"out has an array of shape {np.shape(buffer)} where the Jacobian has {block.shape}"
        )
    buffer[...] = block


__all__ = ["fmad", "jacfwd", "jacobian", "jacrev"]
