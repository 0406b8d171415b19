"""NumPy functions as functions of JAX arrays, with derivatives of every order.

A wrapped function is a primitive of JAX, of which the rules for derivatives bind the primitive
again: for the pushforward, which is linear in tangents, and for its transpose, the pullback.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from adcompiler.errors import ArgumentsError
from adcompiler.interop.calls import (
    KEPT_CALLS, Call, Result, call_of, check_some, flat, is_same,
)
from adcompiler.interop.wrapped import Wrapped

evaluation = Primitive("adcompiler")
"""The evaluation of a call; its parameter ``run`` tells of which, and what the results are."""
evaluation.multiple_results = True


class Run:
    """A call for operands of certain shapes and dtypes, and what its results are like.

    ``transposed``, of a call whose results are linear in the last operands, is the map back.
    """

    def __init__(
        self, call: Call, result: Result, operands: tuple[jax.Array, ...],
        avals: tuple[jax.ShapeDtypeStruct, ...],
        transposed: Callable[..., list[Any]] | None = None,
    ) -> None:
        self.call = call
        self.result = result
        self.operands = operands
        self.avals = avals
        self.transposed = transposed

    @property
    def smooth(self) -> tuple[Any, ...]:
        """What those operands are like that are differentiated."""
        return tuple(chosen(self.operands, self.call.smooth))

    @functools.cached_property
    def push(self) -> Run:
        """The pushforward; results that are no floats have a float for their tangent."""
        result = replace(self.result, floats=(True,) * len(self.avals))
        avals = tuple(
            aval if on else jax.ShapeDtypeStruct(aval.shape, jax.dtypes.canonicalize_dtype(float))
            for aval, on in zip(self.avals, self.result.floats, strict=True))
        return Run(self.call.push, result, (*self.operands, *self.smooth), avals, self.pulled)

    @functools.cached_property
    def pull(self) -> Run:
        """The pullback, which takes cotangents of the results that are floats."""
        count = len(self.smooth)
        result = Result(
            (None,) * count, tuple((i,) for i in range(count)), (True,) * count)
        floats = tuple(chosen(self.avals, self.result.floats))
        return Run(
            self.call.pull(self.result), result, (*self.operands, *floats), self.smooth,
            self.pushed)

    def pulled(self, operands: Sequence[jax.Array], cotangents: Sequence[jax.Array]) -> list[Any]:
        """Return cotangents of the smooth operands."""
        given = chosen(cotangents, self.result.floats)
        return bound(self.pull, [*operands, *given])

    def pushed(self, operands: Sequence[jax.Array], tangents: Sequence[jax.Array]) -> list[Any]:
        """Return the tangents of the results that are floats."""
        return list(chosen(bound(self.push, [*operands, *tangents]), self.result.floats))


def bound(run: Run, operands: Sequence[jax.Array]) -> list[Any]:
    """Return what JAX makes of an evaluation."""
    found: list[Any] = evaluation.bind(*operands, run=run)
    return found


def chosen(values: Sequence[Any], which: Sequence[bool]) -> Iterator[Any]:
    """Yield some of the values."""
    return compress(values, which)


def wrap(
    function: Callable[..., Any], *, like: Any = None, backend: str = "python"
) -> Callback:
    """Return ``function``, written for NumPy, as a function of JAX arrays.

    Arrays of JAX in arguments, also those in tuples, dicts and dataclasses, are given to it as
    arrays of NumPy (as numbers where they have no axes), everything else as it is. Numbers and
    arrays in its result become arrays of JAX. It works under ``jit``, ``grad``, ``vjp``, ``jvp``,
    ``jacrev``, ``jacfwd``, ``hessian``, ``scan`` and, calling it once for each example, ``vmap``.

    JAX has to know the structure, shapes and dtypes of results before it runs anything; they must
    not depend on values. It runs on the CPU, by ``jax.pure_callback`` under ``jit``.

    Parameters:
        function (callable): A function of NumPy, with source that can be read.
        like: A result, which says what results are like. By default the function is called with
            arrays of ones.
        backend (str): That of ``adcompiler.grad``: ``"native"`` computes values and first
            derivatives by machine loops, or refuses; ``"auto"`` where there are such loops.

    Returns:
        Callback: A callable of positional arguments. It is pickled by its name, or with the
        function.

    Raises:
        ADError: At the first call that needs a derivative, for what the compiler refuses.
        TypeError: If no argument is an array of JAX, or NumPy has no numbers of its dtype.

    Example:
        >>> import jax, jax.numpy as jnp, numpy as np
        >>> from adcompiler.interop.jax import wrap
        >>> cubes = wrap(lambda x: np.sum(x**3))
        >>> jax.jit(jax.grad(cubes))(jnp.array([1.0, 2.0])).tolist()
        [3.0, 12.0]
    """
    return Callback(function, like=like, backend=backend)


class Callback(Wrapped):
    """A function of arrays of JAX; see ``wrap``."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        super().__init__(function, **options)
        self.runs: dict[Any, Run] = {}

    def __call__(self, *args: Any) -> Any:
        """Return the results as arrays of JAX."""
        call, operands = call_of(
            self.function, args, is_array, is_smooth, self.options["backend"])
        check_some(call, self.function, args, "array of JAX")
        for one in operands:
            if getattr(one.dtype, "kind", "V") not in "biufc":
                raise ArgumentsError(
                    f"NumPy has no numbers of dtype {one.dtype}; give x.astype(jnp.float32)")
        key = call, tuple((one.shape, one.dtype) for one in operands)
        runs = self.runs
        if key not in runs:
            if len(runs) >= KEPT_CALLS:
                del runs[next(iter(runs))]
            like = self.options["like"]
            ones = [np.ones(one.shape, one.dtype) for one in operands]
            values, result = flat(like) if like is not None else call.value(ones)
            runs[key] = Run(
                call, result, tuple(map(aval_of, operands)), tuple(map(aval_of, values)))
        return runs[key].result.structured(bound(runs[key], operands))


def is_array(value: Any) -> bool:
    """Say whether a part of an argument is an array of JAX, or stands for one."""
    return isinstance(value, jax.Array)


def is_smooth(value: jax.Array) -> bool:
    """Say whether an array has derivatives."""
    return bool(jnp.issubdtype(value.dtype, jnp.inexact))


def aval_of(value: jax.Array | np.ndarray) -> Any:
    """Return what a result is like, in the dtypes that JAX has."""
    return jax.ShapeDtypeStruct(value.shape, jax.dtypes.canonicalize_dtype(value.dtype))


def values_of(run: Run, *operands: Any) -> list[np.ndarray]:
    """Return the results as arrays of NumPy, of the shapes and dtypes that were said."""
    values, result = run.call.value([np.asarray(one) for one in operands])
    if run.transposed is None and not is_same(result.tree, run.result.tree):
        raise ValueError(
            "a result has another structure than before: under JAX it must not depend on values; "
            "give wrap(f, like=...) if ones are special")
    for value, aval in zip(values, run.avals, strict=True):
        if not np.can_cast(value.dtype, aval.dtype, "same_kind"):
            raise ValueError(
                f"a result has dtype {value.dtype}, but it had {aval.dtype} before: under JAX it "
                "must not depend on values; give wrap(f, like=...) if ones are special")
        if value.shape != aval.shape:
            raise ValueError(
                f"a result has shape {value.shape}, but it had shape {aval.shape} before: under "
                "JAX it must not depend on values; give wrap(f, like=...) if ones are special")
    return [value.astype(aval.dtype) for value, aval in zip(values, run.avals, strict=True)]


@evaluation.def_impl  # type: ignore[untyped-decorator]
def evaluate(*operands: Any, run: Run) -> list[Any]:
    """Return the results."""
    return [jnp.asarray(value) for value in values_of(run, *operands)]


@evaluation.def_abstract_eval  # type: ignore[untyped-decorator]
def describe(*operands: Any, run: Run) -> list[Any]:
    """Return what the results are like."""
    return [jax.core.ShapedArray(aval.shape, aval.dtype) for aval in run.avals]


def call_back(*operands: Any, run: Run) -> Any:
    """Return the results, computed by a callback from compiled code."""
    return jax.pure_callback(
        functools.partial(values_of, run), list(run.avals), *operands, vmap_method="sequential")


def push_forward(
    primals: Sequence[jax.Array], tangents: Sequence[jax.Array], *, run: Run
) -> tuple[list[Any], list[Any]]:
    """Return the results and their tangents."""
    values = bound(run, primals)
    given = [ad.instantiate_zeros(d) for d in chosen(tangents, run.call.smooth)]
    if not given:
        return values, [no_tangent(value) for value in values]
    along = bound(run.push, [*primals, *given])
    places = zip(values, along, run.result.floats, strict=True)
    return values, [d if on else no_tangent(value) for value, d, on in places]


def no_tangent(value: jax.Array) -> Any:
    """Return the tangent of a result that is no float."""
    if is_smooth(value):
        return ad.Zero(jax.core.ShapedArray(value.shape, value.dtype))
    return ad.Zero(jax.core.ShapedArray(value.shape, jax.dtypes.float0))


def pull_back(cotangents: Sequence[jax.Array], *operands: Any, run: Run) -> list[Any]:
    """Return the cotangents of the operands that the results are linear in.

    A cotangent of a complex number is the conjugate of what it is here.
    """
    assert run.transposed is not None
    count = run.call.linear
    first, last = operands[: len(operands) - count], operands[len(operands) - count :]
    given = [jnp.conj(ad.instantiate_zeros(c)) for c in cotangents]
    found = [jnp.conj(c) for c in run.transposed(first, given)]
    none: list[Any] = [None] * len(first)
    return none + [
        c if ad.is_undefined_primal(one) else None for c, one in zip(found, last, strict=True)]


def call_for_each(
    operands: Sequence[jax.Array], axes: Sequence[int | None], *, run: Run
) -> tuple[list[Any], list[int]]:
    """Return the results for each example, along a new first axis."""
    batched = [axis is not None for axis in axes]
    moved = [
        jnp.moveaxis(one, axis, 0) if on else one
        for one, axis, on in zip(operands, axes, batched, strict=True)]

    def one_example(examples: Sequence[jax.Array]) -> list[Any]:
        rest = iter(examples)
        return bound(run, [next(rest) if on else one
                           for one, on in zip(moved, batched, strict=True)])

    found = jax.lax.map(one_example, list(chosen(moved, batched)))
    return found, [0] * len(found)


ad.primitive_jvps[evaluation] = push_forward
ad.primitive_transposes[evaluation] = pull_back
batching.primitive_batchers[evaluation] = call_for_each
mlir.register_lowering(evaluation, mlir.lower_fun(call_back, multiple_results=True))

__all__ = ["wrap"]
