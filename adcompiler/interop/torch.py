"""NumPy functions as functions of PyTorch tensors, with derivatives of every order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from adcompiler.errors import ArgumentsError
from adcompiler.interop.calls import Call, Place, Result, call_of, check_some, is_same
from adcompiler.interop.wrapped import Wrapped

if TYPE_CHECKING:
    from torch.autograd.function import FunctionCtx


def wrap(function: Callable[..., Any], *, backend: str = "python") -> Layer:
    """Return ``function``, written for NumPy, as a function of tensors.

    Tensors in arguments, also those in tuples, dicts and dataclasses, are given to it as arrays of
    their dtype (as numbers where they have no axes), everything else as it is. Numbers and arrays
    in its result become tensors on the device of the first argument. It takes part in ``backward``
    and ``torch.autograd.grad``, also with ``create_graph=True``, and in ``torch.func``: ``grad``,
    ``vjp``, ``jvp``, ``jacrev``, ``jacfwd``, ``hessian``; ``vmap`` calls it once for each example.
    ``torch.compile`` leaves it as it is, and compiles what is around it.

    Parameters:
        function (callable): A function of NumPy, with source that can be read.
        backend (str): That of ``adcompiler.grad``: ``"native"`` computes values and first
            derivatives by machine loops, or refuses; ``"auto"`` where there are such loops.

    Returns:
        Layer: A callable of positional arguments. It is pickled by its name, or with the function.

    Raises:
        ADError: At the first call that needs a derivative, for what the compiler refuses.
        TypeError: If no argument is a tensor, or NumPy has no array for one: of dtype bfloat16, as
            under ``torch.autocast``, give ``x.float()``.

    Example:
        >>> import numpy as np, torch
        >>> from adcompiler.interop.torch import wrap
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> wrap(lambda x: np.sum(x**3))(x).backward()
        >>> x.grad
        tensor([ 3., 12.])
    """
    return Layer(function, backend=backend)


class Layer(Wrapped):
    """A function of tensors; see ``wrap``."""

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def __call__(self, *args: Any) -> Any:
        """Return the results as tensors."""
        call, tensors = call_of(self.function, args, is_tensor, is_smooth, **self.options)
        check_some(call, self.function, args, "tensor")
        run = Run(call)
        found = evaluated(run, tensors)
        return run.result.structured(found)


def is_tensor(value: Place) -> bool:
    """Say whether a part of an argument is a tensor."""
    return isinstance(value, torch.Tensor)


def is_smooth(value: torch.Tensor) -> bool:
    """Say whether a tensor has derivatives."""
    return bool(value.is_floating_point() or value.is_complex())


def as_arrays(tensors: Sequence[torch.Tensor]) -> list[Any]:
    """Return tensors as arrays."""
    return [as_array(tensor.detach().resolve_conj().resolve_neg().cpu()) for tensor in tensors]


def as_array(tensor: torch.Tensor) -> Any:
    """Return a tensor on the CPU as an array; ArgumentsError for those that NumPy has none for."""
    try:
        return tensor.numpy()
    except (TypeError, RuntimeError) as error:
        raise ArgumentsError(
            f"NumPy has no array for a tensor of dtype {tensor.dtype} and layout {tensor.layout}; "
            "give tensor.to(torch.float32), or tensor.to_dense()") from error


class Run:
    """One evaluation of a call: the structure of its result, and the pullback there if it is kept.
    """

    result: Result

    def __init__(self, call: Call) -> None:
        self.call = call
        self.pullback: Callable[[Sequence[Any]], list[Any]] | None = None


def evaluated(run: Run, tensors: Sequence[torch.Tensor]) -> tuple[Any, ...]:
    """Return the results of a call, as tensors that know their derivatives."""
    found: tuple[Any, ...] = Evaluation.apply(run, *tensors)
    return found


class Evaluation(torch.autograd.Function):  # type: ignore[misc]
    """The evaluation of a call, and the calls that are its derivatives."""

    @staticmethod
    def forward(run: Run, *tensors: Any) -> tuple[Any, ...]:
        """Return the results."""
        arrays = as_arrays(tensors)
        if any(tensor.requires_grad for tensor in tensors) and any(run.call.smooth):
            values, run.result, run.pullback = run.call.value_and_pullback(arrays)
        else:
            values, run.result = run.call.value(arrays)
        device = tensors[0].device
        return tuple(torch.from_numpy(value.copy()).to(device) for value in values)

    @staticmethod
    def setup_context(
        ctx: FunctionCtx, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]
    ) -> None:
        """Save what derivatives are taken at."""
        ctx.run, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        ctx.floats = [is_smooth(value) for value in output]
        ctx.mark_non_differentiable(*(value for value in output if not is_smooth(value)))
        ctx.shapes = [(value.shape, value.dtype, value.device) for value in output]

    @staticmethod
    def backward(ctx: FunctionCtx, *cotangents: Any) -> tuple[Any, ...]:
        """Return the cotangents of the tensors."""
        tensors, call = ctx.saved_tensors, ctx.run.call
        if not any(call.smooth):
            return (None,) * (len(tensors) + 1)
        given = [c for c, on in zip(cotangents, ctx.floats, strict=True) if on]
        if ctx.run.pullback is not None and not torch.is_grad_enabled():
            found = [torch.as_tensor(one) for one in ctx.run.pullback(as_arrays(given))]
        else:
            found = list(evaluated(Run(call.pull(ctx.run.result)), [*tensors, *given]))
        rest = iter(found)
        like = zip(tensors, call.smooth, strict=True)
        return None, *(next(rest).to(tensor) if on else None for tensor, on in like)

    @staticmethod
    def jvp(ctx: FunctionCtx, *tangents: Any) -> tuple[Any, ...]:
        """Return the tangents of the results."""
        tensors, call = ctx.saved_tensors, ctx.run.call
        given = [
            torch.zeros_like(tensor) if d is None else d
            for tensor, d, on in zip(tensors, tangents[1:], call.smooth, strict=True) if on]
        found = evaluated(Run(call.push), [*tensors, *given])
        return tuple(d if on else None for d, on in zip(found, ctx.floats, strict=True))

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], run: Run, *tensors: Any
    ) -> tuple[Any, Any]:
        """Return the results for each example, along a new first axis."""
        if not info.batch_size:
            raise ArgumentsError(
                "vmap over no examples: what the results are like is known by calling the function")
        each: list[Any] = []
        for i in range(info.batch_size):
            chosen = [
                tensor if axis is None else tensor.select(axis, i)
                for tensor, axis in zip(tensors, in_dims[1:], strict=True)]
            one = Run(run.call)
            each.append(evaluated(one, chosen))
            if i and not is_same(one.result.tree, run.result.tree):
                raise ArgumentsError(
                    "vmap: the structure of the result is another one for another example; it "
                    "must not depend on values")
            run.result = one.result
        stacked = tuple(map(torch.stack, zip(*each, strict=True)))
        return stacked, (0,) * len(stacked)


__all__ = ["wrap"]
