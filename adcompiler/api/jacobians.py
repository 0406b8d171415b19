"""Jacobians, by columns in forward mode or by rows in reverse mode, many of them in a sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adcompiler.api.argnums import Asked, stated
from adcompiler.api.composed import ComposedDerivative, Part, parts_of
from adcompiler.api.derivative import Derivative, P
from adcompiler.api.keywords import suggesting
from adcompiler.dispatch.trees import (
    MAX_UNITS, check_real, children, is_leaf, leaves, map_tree, seeds_at_once, size_of,
    unit_batches, units,
)
from adcompiler.dispatch.written import Written
from adcompiler.errors import RunsAgainError, TooLongError, UnsupportedError, not_one_of
from adcompiler.runtime import as_gradient, own, seed
from adcompiler.runtime.progress import counted, watching
from adcompiler.typed.derivatives import MAKERS, Wanted
from adcompiler.typed.options import Argnums

MODES = ("auto", "forward", "reverse")
UNSHARED = frozenset({np.ndarray, float, int, bool, str, complex, np.float64})
"""Classes of arguments of which code that does not write into them keeps nothing but arrays."""
REVERSE_COST = 2
"""What one cotangent costs, in tangents, where loops run for each seed."""
Leaf = np.ndarray | float
"""What stands in a tree of numbers."""


def is_real_array(value: Any) -> bool:
    """Say whether a value is an array of floats, and not empty."""
    return type(value) is np.ndarray and value.dtype.kind == "f" and value.size > 0


def fits_one_sweep(count: int, size: int) -> bool:
    """Say whether so many seeds, of results or arguments of a size, go into one sweep."""
    return count <= MAX_UNITS and count <= seeds_at_once(max(count, size))


def apart(found: np.ndarray, *others: Any) -> np.ndarray:
    """Return an array that may be written into: a copy where derivatives are seeds or arguments."""
    for other in others:
        if isinstance(other, np.ndarray) and np.may_share_memory(found, other):
            return found.copy()
    return found


class Jacobian(ComposedDerivative[P, Any]):
    """A function's Jacobian; see ``jacobian``.

    ``pushed_at`` is for how many numbers in the arguments forward mode was right last time: it is
    tried first there, as how many the result has is known only once it is computed.
    """

    def __init__(
        self, function: Callable[..., Any], argnums: Asked, mode: str, holomorphic: bool,
        out: Any, backend: str, progress: bool = False,
    ) -> None:
        written = () if out is None else (("out", True),)
        options = Wanted("jacobian", stated(function, argnums), False, (
            ("mode", mode), ("holomorphic", holomorphic), *written,
        ))
        parts = parts_of("jacobian", function, options.several, backend)
        super().__init__(function, options, jacobian, {
            "argnums": options.argnums, "mode": mode, "holomorphic": holomorphic, "out": out,
            "backend": backend, "progress": progress,
        }, parts)
        self.pushed, self.pulled = parts["pushed"], parts["pulled"]
        self.ran = self.pushed if mode == "forward" else self.pulled
        self.mode, self.holomorphic, self.out = mode, holomorphic, out
        self.several = not options.single
        self.pushed_at: int | None = None
        self.progress = progress
        self.is_native = backend == "native"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Return the Jacobian at the arguments."""
        if self.pushed_at is not None and not kwargs:
            found = self.of_array(args)
            if found is not None:
                return found
        with watching(self.progress, self):
            return self.with_value(*args, **kwargs)[1]

    def of_array(self, args: tuple[Any, ...]) -> Any:
        """Return the Jacobian in an array, by one sweep of code that keeps off its arguments.

        None where that is not what is asked for, or if forward mode was not the one to take for as
        many numbers last time.
        """
        x = self.plain(args)
        if x is None or x.size != self.pushed_at or x.size > MAX_UNITS or (
            not UNSHARED.issuperset(map(type, args))
        ):
            return None
        push = self.pushed(*args)
        if push.writes:
            return None
        seeds = units(x, self.is_native)
        value, along = push.of_fitting(seeds)
        self.ran = self.pushed
        if not is_real_array(value):
            check_real(value, "the result", False)
            return self.assembled(value, (x,), [along], by_rows=False)
        if self.mode == "auto" and x.size > 1 and self.pulls(value.size, x.size):
            self.pushed_at = None
        if value.ndim == x.ndim == 1:
            return apart(along.T, seeds, *args)
        columns = along.transpose(*range(1, along.ndim), 0)
        return apart(columns.reshape((*value.shape, *x.shape)), seeds, *args)

    def with_value(self, *args: P.args, **kwargs: P.kwargs) -> tuple[Any, Any]:
        """Return the function's value and the Jacobian at the arguments."""
        call = Written(args, kwargs)
        x = self.plain(args)
        values = self.pushed.differentiated(*args, **kwargs) if x is None else (x,)
        count = self.real_size(values[0] if len(values) == 1 else values, "an argument")
        pulled = None
        if self.may_pull(count) and count != self.pushed_at:
            pulled = self.try_to_pull(call)
        if pulled is not None:
            value, pullback = pulled
            size = size_of(value)
            if self.pulls(size, count) or self.draws:
                check_real(value, "the result", self.holomorphic)
                self.ran = self.pulled
                if x is not None and is_real_array(value) and fits_one_sweep(size, count):
                    seeds = units(value, self.is_native)
                    (rows,) = pullback(seeds)
                    return value, apart(rows.reshape((*value.shape, *x.shape)), seeds)
                at_once = seeds_at_once(max(size, count))
                batches = [pullback(cotangents) for cotangents in counted(
                    unit_batches(value, at_once, self.is_native), "sweeps", -(-size // at_once))]
                return value, self.assembled(value, values, batches, by_rows=True)
        try:
            return self.by_columns(call, x, values, count)
        except RunsAgainError:
            once: Jacobian[...] = self.like(mode="reverse", backend="python", progress=False)
            return once.with_value(*args, **kwargs)

    @property
    def draws(self) -> bool:
        """Whether the function, as it was pulled back last, draws random numbers: it runs once."""
        latest = self.pulled.specialisations.latest
        return latest is not None and bool(latest.report.get("draws"))

    def by_columns(
        self, call: Written, x: np.ndarray | None, values: tuple[Any, ...], count: int
    ) -> tuple[Any, Any]:
        """Return the function's value and the Jacobian in forward mode."""
        self.ran = self.pushed
        if x is not None and fits_one_sweep(count, count):
            given: Iterator[Any] = iter([(units(x, self.is_native),)])
        else:
            given = unit_batches(values, seeds_at_once(count), self.is_native)
        batches: list[Any] = []
        value: Any = None
        sweeps = -(-count // seeds_at_once(count)) if count else 0
        for tangents in counted(given, "sweeps", sweeps):
            value, along = call.own().given_to(self.pushed)(*tangents)
            batches.append(along)
        pulls = self.pulls(self.real_size(value, "the result"), count) and self.may_pull(count)
        self.pushed_at = None if pulls else count
        if x is not None and is_real_array(value) and len(batches) == 1:
            columns = batches[0].transpose(*range(1, batches[0].ndim), 0)
            return value, apart(columns.reshape((*value.shape, *x.shape)), tangents[0])
        return value, self.assembled(value, values, batches, by_rows=False)

    def real_size(self, value: Any, what: str) -> int:
        """Return how many numbers a value holds; TypeError unless they are as was said."""
        if is_real_array(value) and not self.holomorphic:
            size: int = value.size
            return size
        check_real(value, what, self.holomorphic)
        return size_of(value)

    def plain(self, args: tuple[Any, ...]) -> Any:
        """Return what is differentiated if that is an array of floats given by position, or None.

        Its Jacobian needs no walk through parts of arguments.
        """
        i = self.options.argnums
        if type(i) is not int or not 0 <= i < len(args) or self.holomorphic or (
            self.out is not None
        ):
            return None
        return args[i] if is_real_array(args[i]) else None

    def may_pull(self, count: int) -> bool:
        """Say whether reverse mode may be the one to take for so many numbers in arguments."""
        return self.mode == "reverse" or (self.mode == "auto" and count > 1) or count == 0

    def pulls(self, size: int, count: int) -> bool:
        """Say whether it is, for so many numbers in the result."""
        fewer = (REVERSE_COST if self.is_native else 1) * size <= count
        return self.mode == "reverse" or (self.mode == "auto" and fewer) or count == 0

    def called(self, call: Written) -> Part:
        count = size_of(call.given_to(self.pushed.differentiated))
        if self.may_pull(count):
            pulled = self.try_to_pull(call)
            if pulled is not None and self.pulls(size_of(pulled[0]), count):
                return self.pulled
        return self.pushed

    def try_to_pull(self, call: Written) -> Any:
        """Return the value and the pullback; None if there are no loops for that, but maybe others.
        """
        try:
            return call.own().given_to(self.pulled)
        except TooLongError:
            raise
        except UnsupportedError:
            if self.mode == "reverse" or not self.is_native:
                raise
            return None

    def assembled(
        self, value: Any, values: tuple[Any, ...], parts: Sequence[Any], by_rows: bool
    ) -> Any:
        """Return the Jacobian of batches of its columns, or rows."""
        return assembled(
            value, values, parts, self.several, self.out, self.holomorphic, by_rows)


@suggesting
def jacobian(
    function: Callable[P, Any], argnums: Asked = 0, *, mode: str = "auto",
    holomorphic: bool = False, out: Any = None, backend: str = "python", progress: bool = False,
) -> Derivative[P, Any]:
    """Return a function that computes the Jacobian of ``function``.

    Parameters:
        function (callable): A function of arrays, which may return any structure.
        argnums (int, str or tuple): As for ``grad``.
        mode (str): ``"forward"`` (a tangent for each number in the arguments), ``"reverse"`` (a
            cotangent for each number in the result) or ``"auto"``, which takes the mode with fewer.
            One sweep takes many of them: see ``batched_vjp`` and ``batched_jvp``.
        holomorphic (bool): The function is holomorphic, so that complex numbers have one
            derivative.
        out: What the Jacobian is written into, of its structure and shapes, and returned.
        backend (str): That of ``grad``: native loops compute all rows or columns in one call.
        progress (bool): A terminal shows how many sweeps are done.

    Returns:
        Derivative: A function of the same arguments, which stay as they are. For an array argument
        and an array result the Jacobian is an array of the shape of the result followed by that of
        the argument. Where the result or the argument is a tuple, list, dict or instance, it has
        the structure of the result, with, in each place, the structure of the argument; a tuple
        ``argnums`` gives a tuple there.

    Raises:
        UnsupportedError, MissingRuleError: At the first call, for code that cannot be
            differentiated.
        TypeError: For complex numbers without ``holomorphic``.
        ValueError: For an unknown mode.

    Example:
        >>> import numpy as np
        >>> from adcompiler import jacobian
        >>> jacobian(lambda x: x[1:] * x[:-1])(np.array([1.0, 2.0, 3.0]))
        array([[2., 1., 0.],
               [0., 3., 2.]])
    """
    if mode not in MODES:
        raise ValueError(not_one_of("mode", mode, MODES))
    return Jacobian(function, argnums, mode, holomorphic, out, backend, progress)


@suggesting
def jacfwd(
    function: Callable[P, Any], argnums: Asked = 0, *, holomorphic: bool = False,
    backend: str = "python",
) -> Derivative[P, Any]:
    """Return the Jacobian of ``function`` in forward mode.

    Parameters:
        function, argnums, holomorphic, backend: As for ``jacobian``.

    Returns:
        Derivative: As ``jacobian`` with ``mode="forward"``.

    Raises:
        UnsupportedError, MissingRuleError, TypeError: As ``jacobian``.

    Example:
        >>> import numpy as np
        >>> from adcompiler import jacfwd
        >>> jacfwd(np.cumsum)(np.ones(2))
        array([[1., 0.],
               [1., 1.]])
    """
    return jacobian(function, argnums, mode="forward", holomorphic=holomorphic, backend=backend)


@suggesting
def jacrev(
    function: Callable[P, Any], argnums: Asked = 0, *, holomorphic: bool = False,
    backend: str = "python",
) -> Derivative[P, Any]:
    """Return the Jacobian of ``function`` in reverse mode.

    Parameters:
        function, argnums, holomorphic, backend: As for ``jacobian``.

    Returns:
        Derivative: As ``jacobian`` with ``mode="reverse"``.

    Raises:
        UnsupportedError, MissingRuleError, TypeError: As ``jacobian``.

    Example:
        >>> import numpy as np
        >>> from adcompiler import jacrev
        >>> jacrev(np.cumsum)(np.ones(2))
        array([[1., 0.],
               [1., 1.]])
    """
    return jacobian(function, argnums, mode="reverse", holomorphic=holomorphic, backend=backend)


class ForwardGradient(ComposedDerivative[P, Any]):
    """A gradient by forward mode; see ``fmad``."""

    def __init__(self, function: Callable[..., Any], argnums: Argnums) -> None:
        options = Wanted("fmad", argnums)
        parts = parts_of("fmad", function, options.several)
        super().__init__(function, options, fmad, {"argnums": argnums}, parts)
        self.pushed = parts["pushed"]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Return the gradient at the arguments."""
        values = self.pushed.differentiated(*args, **kwargs)
        check_real(values, "an argument", False)
        slopes: list[float] = []
        for tangents in unit_batches(values, seeds_at_once(size_of(values))):
            value, slope = self.pushed(*own(args), **own(kwargs))(*tangents)
            seed(value, getattr(self.primal, "__name__", "the function"))
            slopes += np.asarray(slope).ravel().tolist()
        rest = iter(slopes)
        found = tuple(as_gradient(filled(value, rest), value) for value in values)
        return found[0] if self.options.single else found


@suggesting
def fmad(function: Callable[P, Any], argnums: Asked = 0) -> Derivative[P, Any]:
    """Return the gradient of ``function``, as ``grad`` does, but in forward mode.

    It pushes a tangent for each number in the arguments, many of them in a sweep, and keeps nothing
    of what the function computes.

    Parameters:
        function (callable): A function that returns a real number.
        argnums (int, str or tuple): As for ``grad``.

    Returns:
        Derivative: A function of the same arguments, which returns what ``grad(function)`` does.

    Raises:
        UnsupportedError, MissingRuleError: At the first call, for code that cannot be
            differentiated.
        TypeError: If the result is not one real number.

    Example:
        >>> import numpy as np
        >>> from adcompiler import fmad
        >>> fmad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
        array([2., 4.])
    """
    return ForwardGradient(function, stated(function, argnums))


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
    """Return the Jacobian of batches of its columns, or rows, as a tree of trees."""
    results, inputs = list(leaves(value)), list(leaves(arguments))
    flat = [list(beside(arguments if by_rows else value, part)) for part in parts]
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


def beside(tree: Any, part: Any) -> Iterator[Any]:
    """Iterate over what stands in derivatives for each leaf of a tree; None for one of no part."""
    if is_leaf(tree):
        yield part
        return
    inner = children(part)
    for key, child in children(tree).items():
        yield from beside(child, inner.get(key))


def inner_tree(arguments: tuple[Any, ...], blocks: Iterator[Leaf], several: bool) -> Any:
    """Return the next blocks in the structure of the arguments."""
    tree = map_tree(lambda _: next(blocks), arguments)
    return tree if several else tree[0]


def block_of(
    parts: list[list[np.ndarray | None]], results: list[Leaf], inputs: list[Leaf], i: int, j: int,
    by_rows: bool,
) -> Any:
    """Return the derivatives of one leaf of the result by one leaf of the arguments."""
    shape = (*np.shape(results[i]), *np.shape(inputs[j]))
    across = results if by_rows else inputs
    position = i if by_rows else j
    start = size_of(across[:position])
    stop = start + int(np.size(across[position]))
    column = [part[j if by_rows else i] for part in parts]
    known = [batch for batch in column if batch is not None]
    chosen = between(known, start, stop) if len(known) == len(column) else []
    if not chosen:
        return np.zeros(shape)
    whole = chosen[0] if len(chosen) == 1 else np.concatenate(chosen)
    if by_rows:
        return whole.reshape(shape)
    return np.moveaxis(whole, 0, -1).reshape(shape)


def between(batches: list[np.ndarray], start: int, stop: int) -> list[np.ndarray]:
    """Return the rows from ``start`` to ``stop`` of arrays that follow each other."""
    chosen = []
    for batch in batches:
        if start < min(len(batch), stop):
            chosen.append(batch[max(start, 0) : stop])
        start, stop = start - len(batch), stop - len(batch)
    return [rows for rows in chosen if len(rows)]


def fill(buffer: Leaf, block: np.ndarray) -> None:
    """Write a block of the Jacobian into the buffer for it."""
    if not isinstance(buffer, np.ndarray) or buffer.shape != block.shape:
        raise ValueError(
            f"out has an array of shape {np.shape(buffer)} where the Jacobian has {block.shape}"
        )
    buffer[...] = block


MAKERS.update({jacobian: "jacobian", jacfwd: "jacfwd", jacrev: "jacrev", fmad: "fmad"})

__all__ = ["fmad", "jacfwd", "jacobian", "jacrev"]
