"""Transfer of products of arrays, and of linear maps with constant matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from adcompiler.sparsity.dependences.index_sets import Array, count
from adcompiler.sparsity.dependences.values import (
    Dependent, Operand, Value, combined, dtype_of, is_float, moved, primal,
    shape_of, unite,
)
from adcompiler.sparsity.interpreter.fullness import bounded
from adcompiler.sparsity.interpreter.run import Run
from adcompiler.sparsity.interpreter.table import transfer, transfer_of
from adcompiler.sparsity.transfers.elementwise import as_numbers, binary, dense
from adcompiler.sparsity.transfers.indexing import get_item
from adcompiler.sparsity.transfers.movement import rows_of
from adcompiler.sparsity.transfers.reductions import total

TERMS = 8
"""Terms of a product that take about as much memory as an entry, before zeros are left out."""

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def contraction(
    run: Run, function: Callable[..., Any], call: tuple[Sequence[Value], Mapping[str, Value]],
    subscripts: tuple[str, ...], operands: tuple[Operand, ...], output: str,
) -> Any:
    """Return the sum of products of operands over the letters that ``output`` does not have.

    Only products of which no factor is known to be zero count.
    """
    extents: dict[str, int] = {}
    for letters, operand in zip(subscripts, operands, strict=True):
        for letter, extent in zip(letters, shape_of(operand), strict=True):
            extents[letter] = extent if extents.get(letter, 1) == 1 else extents[letter]
    order = "".join(dict.fromkeys((*output, *"".join(subscripts))))
    full = tuple(extents[letter] for letter in order)
    bounded(count(full) // TERMS)
    keep = np.ones(full, bool)
    for letters, operand in zip(subscripts, operands, strict=True):
        if not isinstance(operand, Dependent):
            keep = keep & aligned(np.asarray(operand) != 0, letters, order, extents)
        elif operand.zeros is not None:
            keep = keep & aligned(~operand.zeros, letters, order, extents)
    terms = np.flatnonzero(keep)
    bounded(len(terms))
    shape = tuple(extents[letter] for letter in output)
    targets = terms // (count(full) // max(count(shape), 1)) if count(full) else terms
    value = run.value(function, *call)
    parts = []
    for k, (letters, operand) in enumerate(zip(subscripts, operands, strict=True)):
        if isinstance(operand, Dependent) and operand.is_active:
            operand.shared = True
            ids = np.arange(count(operand.shape or ())).reshape(operand.shape or ())
            positions = aligned(ids, letters, order, extents).ravel()[terms]
            flows = np.ones(len(terms), bool)
            for j, (others, factor) in enumerate(zip(subscripts, operands, strict=True)):
                if run.local and j != k:
                    factor = aligned(np.asarray(primal(factor)), others, order, extents)
                    flows &= factor.ravel()[terms] != 0
            parts.append((operand, positions, flows))
    dtype = np.result_type(*(np.dtype(dtype_of(o)) for o in operands))
    if not parts or not is_float(dtype):
        return run.made(shape, dtype, value=value)
    first, second = (
        unite([
            combined(moved(getattr(o, which), np.ravel), targets[flows], p[flows], shape)
            for o, p, flows in parts
        ], shape) for which in ("first", "second")
    )
    if run.second and len(parts) > 1:
        terms_of = [
            combined(moved(o.first, np.ravel), np.arange(len(terms)), p, (len(terms),))
            for o, p, _ in parts
        ]
        pairs = [(a, b) for i, a in enumerate(terms_of) for b in terms_of[i + 1 :]]
        products = run.note((len(terms),), [], pairs)
        products = combined(products, targets, np.arange(len(terms)), shape)
        second = unite([second, products], shape)
    made = run.made(shape, dtype, first, second, value)
    if isinstance(made, Dependent) and len(terms) < count(full):
        made.zeros = np.bincount(targets, minlength=count(shape)).reshape(shape) == 0
    return made


def aligned(array: Array, letters: str, order: str, extents: dict[str, int]) -> Any:
    """Return an array with its axes in the places that letters have in ``order``, stretched."""
    array = np.asarray(array)
    for letter in set(letters):
        while letters.count(letter) > 1:
            i = letters.index(letter)
            j = letters.index(letter, i + 1)
            array = np.moveaxis(np.diagonal(array, axis1=i, axis2=j), -1, i)
            letters = letters[:j] + letters[j + 1 :]
    places = sorted(range(len(letters)), key=lambda k: order.index(letters[k]))
    array = array.transpose(places)
    index = tuple(slice(None) if letter in letters else None for letter in order)
    return np.broadcast_to(array[index], tuple(extents[letter] for letter in order))


@transfer("matmul")
def matrix_product(
    run: Run, function: Callable[..., Any], a: Dependent, b: Dependent, **kwargs: Any
) -> Any:
    """``a @ b``, stacks of matrices broadcast."""
    for matrix, method, given in ((a, "__matmul__", (a, b)), (b, "__rmatmul__", (b, a))):
        if issparse(matrix):
            return run.call(getattr(type(matrix), method), given, {})
    a, b = as_numbers(run, (a, b))
    if unknown(a, b):
        return dense(run, function, a, b)
    left, right = len(shape_of(a)), len(shape_of(b))
    inner_a = "k" if left == 1 else "ik"
    inner_b = "k" if right == 1 else "kj"
    stack = "ABCDEFGH"
    stack_a, stack_b = (stack[8 - max(n - 2, 0):] for n in (left, right))
    longer = max(stack_a, stack_b, key=len)
    output = longer + ("i" if left > 1 else "") + ("j" if right > 1 else "")
    return contraction(
        run, function, ((a, b), {}), (stack_a + inner_a, stack_b + inner_b), (a, b), output
    )


def unknown(*operands: Any) -> bool:
    """Say whether the shape of an operand depends on the inputs."""
    return any(isinstance(o, Dependent) and o.shape is None for o in operands)


@transfer("dot")
def dot(
    run: Run, function: Callable[..., Any], a: Dependent, b: Dependent, out: Array | None = None,
) -> Any:
    """``np.dot``: the last axis of a with the last but one of b."""
    a, b = as_numbers(run, (a, b))
    if unknown(a, b):
        return dense(run, function, a, b)
    left, right = len(shape_of(a)), len(shape_of(b))
    if not left or not right:
        return binary(run, "*", a, b)
    inner_a = LETTERS[: left - 1] + "z"
    rest = LETTERS[left - 1 : left + right - 2]
    inner_b = "z" if right == 1 else rest[:-1] + "z" + rest[-1:]
    return contraction(
        run, function, ((a, b), {}), (inner_a, inner_b), (a, b), inner_a[:-1] + rest
    )


@transfer("inner")
def inner(run: Run, function: Callable[..., Any], a: Dependent, b: Dependent | Array) -> Any:
    """``np.inner``: over the last axes of both."""
    a, b = as_numbers(run, (a, b))
    if unknown(a, b):
        return dense(run, function, a, b)
    left, right = len(shape_of(a)), len(shape_of(b))
    if not left or not right:
        return binary(run, "*", a, b)
    first, rest = LETTERS[: left - 1], LETTERS[left - 1 : left + right - 2]
    return contraction(
        run, function, ((a, b), {}), (first + "z", rest + "z"), (a, b), first + rest
    )


@transfer("vdot")
def flat_dot(run: Run, function: Callable[..., Any], a: Dependent, b: Dependent | Array) -> Any:
    """``np.vdot``: of the arrays made flat."""
    a, b = (run.call(np.ravel, (x,), {}) for x in as_numbers(run, (a, b)))
    return inner(run, function, a, b)


@transfer("outer")
def outer(
    run: Run, function: Callable[..., Any], a: Dependent, b: Dependent | Array,
    out: Array | None = None,
) -> Any:
    """``np.outer``."""
    a, b = (run.call(np.ravel, (x,), {}) for x in as_numbers(run, (a, b)))
    if unknown(a, b):
        return dense(run, function, a, b)
    return contraction(run, function, ((a, b), {}), ("a", "b"), (a, b), "ab")


@transfer("vecdot")
def vector_dots(
    run: Run, function: Callable[..., Any], a: Dependent, b: Dependent | Array, axis: int = -1
) -> Any:
    """``np.vecdot``."""
    return total(run, np.sum, binary(run, "*", a, b), axis=axis)


@transfer("tensordot")
def tensor_dot(
    run: Run, function: Callable[..., Any], a: Dependent, b: Dependent | Array, axes: Any = 2
) -> Any:
    """``np.tensordot``."""
    a, b = as_numbers(run, (a, b))
    if unknown(a, b):
        return dense(run, function, a, b, axes)
    left, right = len(shape_of(a)), len(shape_of(b))
    if isinstance(axes, (int, np.integer)):
        pairs = [(left - axes + k, k) for k in range(axes)]
    else:
        first, last = (x if isinstance(x, (list, tuple)) else (x,) for x in axes)
        pairs = [(i % left, j % right) for i, j in zip(first, last, strict=True)]
    letters_a = list(LETTERS[:left])
    letters_b = list(LETTERS[left : left + right])
    for i, j in pairs:
        letters_b[j] = letters_a[i]
    inner_letters = {letters_a[i] for i, _ in pairs}
    output = "".join(c for c in (*letters_a, *letters_b) if c not in inner_letters)
    return contraction(
        run, function, ((a, b, axes), {}), ("".join(letters_a), "".join(letters_b)), (a, b), output
    )


@transfer("einsum")
def einsum(run: Run, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``np.einsum`` with subscripts written as text."""
    text, *operands = args
    operands = list(as_numbers(run, tuple(operands)))
    named = {k: v for k, v in kwargs.items() if k != "optimize"}
    if not isinstance(text, str) or named or unknown(*operands):
        return dense(run, function, text, *operands, **kwargs)
    text = text.replace(" ", "")
    left, arrow, output = text.partition("->")
    subscripts = left.split(",")
    if "..." in text:
        spare = [c for c in reversed(LETTERS) if c not in text]
        most = 0
        for k, (letters, operand) in enumerate(zip(subscripts, operands, strict=True)):
            if "..." in letters:
                extra = len(shape_of(operand)) - len(letters) + 3
                most = max(most, extra)
                subscripts[k] = letters.replace("...", "".join(spare[:extra][::-1]))
        every = "".join(spare[:most][::-1])
        output = output.replace("...", every) if arrow else every
    if not arrow:
        joined = "".join(subscripts)
        output = (output if "..." in text else "") + "".join(sorted(
            c for c in set(joined) if joined.count(c) == 1 and c not in output))
    return contraction(
        run, function, (args, kwargs), tuple(subscripts), tuple(operands), output
    )


@transfer("multi_dot")
def chain(
    run: Run, function: Callable[..., Any], arrays: tuple[Value, ...], out: Array | None = None,
) -> Any:
    """``np.linalg.multi_dot``."""
    found = arrays[0]
    for array in arrays[1:]:
        found = run.call(np.dot, (found, array), {})
    return found


@transfer("matrix_power")
def matrix_power(run: Run, function: Callable[..., Any], a: Dependent, n: int) -> Any:
    """Powers of matrices: of exponent 0 constant, 1 the matrix itself."""
    if n == 1:
        return run.call(np.copy, (a,), {})
    if n == 0 and a.shape is not None:
        return np.broadcast_to(np.eye(a.shape[-1]), a.shape).copy()
    if n in (2, 3):
        found = binary(run, "@", a, a)
        return found if n == 2 else binary(run, "@", found, a)
    return dense(run, function, a, n)


@transfer("kron")
def kronecker(run: Run, function: Callable[..., Any], a: Dependent, b: Dependent | Array) -> Any:
    """``np.kron``, by an outer product whose axes are put together."""
    a, b = as_numbers(run, (a, b))
    if unknown(a, b):
        return dense(run, function, a, b)
    ndim = max(len(shape_of(a)), len(shape_of(b)))
    shapes = [(1,) * (ndim - len(shape_of(x))) + shape_of(x) for x in (a, b)]
    wide = tuple(e for extent in shapes[0] for e in (extent, 1))
    tall = tuple(e for extent in shapes[1] for e in (1, extent))
    left, right = run.call(np.reshape, (a, wide), {}), run.call(np.reshape, (b, tall), {})
    found = binary(run, "*", left, right)
    return run.call(np.reshape, (found, tuple(m * n for m, n in zip(*shapes, strict=True))), {})


@transfer("convolve", "correlate")
def convolution(
    run: Run, function: Callable[..., Any], a: Dependent, v: int, mode: str | None = None
) -> Any:
    """``np.convolve`` and ``np.correlate`` of vectors, as sums of products."""
    a, v = as_numbers(run, (a, v))
    turned = transfer_of(function) == "correlate"
    if mode is None:
        mode = "valid" if turned else "full"
    if unknown(a, v) or mode not in ("full", "same", "valid"):
        return dense(run, function, a, v, mode)
    n, m = (count(shape_of(x)) for x in (a, v))
    a, v = run.call(np.reshape, (a, (n,)), {}), run.call(np.reshape, (v, (m,)), {})
    value = run.value(function, (a, v, mode), {})
    if turned:
        v = run.call(np.flip, (v,), {})
    i, j = (x.ravel() for x in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
    length, start = n + m - 1, 0
    if mode == "same":
        length, start = max(n, m), (min(n, m) - 1) // 2
        if turned and n < m:  # NumPy computes this from the other end
            start = n // 2
    elif mode == "valid":
        length, start = max(n, m) - min(n, m) + 1, min(n, m) - 1
    targets = i + j - start
    inside = (targets >= 0) & (targets < length)
    i, j, targets = i[inside], j[inside], targets[inside]
    terms = binary(run, "*", get_item(run, a, i), get_item(run, v, j))
    if not isinstance(terms, Dependent):
        return value
    nonzero = np.ones(len(i), bool)
    for array, index in ((a, i), (v, j)):
        if not isinstance(array, Dependent):
            nonzero &= np.asarray(array)[index] != 0
    kept = np.flatnonzero(nonzero)
    first, second = (
        combined(r, targets[kept], kept, (length,)) for r in (terms.first, terms.second)
    )
    return run.made((length,), terms.dtype, first, second, value)


@transfer("cross")
def cross(
    run: Run, function: Callable[..., Any], a: Dependent, b: Array, *rest: Any, **kwargs: Any
) -> Any:
    """Cross products of vectors of three components along the last axis."""
    a, b = as_numbers(run, (a, b))
    if rest or kwargs or unknown(a, b) or not shape_of(a)[-1:] == shape_of(b)[-1:] == (3,):
        return dense(run, function, a, b, *rest, **kwargs)
    ahead, behind = (..., np.array([1, 2, 0])), (..., np.array([2, 0, 1]))
    left = binary(run, "*", get_item(run, a, ahead), get_item(run, b, behind))
    right = binary(run, "*", get_item(run, a, behind), get_item(run, b, ahead))
    return binary(run, "-", left, right)


@transfer("polyval")
def polynomial(run: Run, function: Callable[..., Any], p: Any, x: Dependent) -> Any:
    """``np.polyval``, by Horner's rule."""
    rows = rows_of(run, p) if isinstance(p, Dependent) else list(p)
    if not rows:
        return np.zeros(shape_of(x))
    found = run.call(np.broadcast_to, (rows[0], shape_of(x)), {})
    for row in rows[1:]:
        found = binary(run, "+", binary(run, "*", found, x), row)
    return found


