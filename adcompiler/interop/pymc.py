"""NumPy functions as operations of PyTensor, which models of PyMC are made of, with gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op

from adcompiler.errors import ADError, ArgumentsError
from adcompiler.interop.calls import Call, Place, Result, call_of, check_some, flat
from adcompiler.interop.wrapped import Wrapped


def wrap(function: Callable[..., Any], *, returns: Any = 0.0, backend: str = "python") -> Operation:
    """Return ``function``, written for NumPy, as a function of tensors of PyTensor.

    Variables of PyTensor in arguments, also those in tuples, dicts and dataclasses, are given to it
    as arrays (as numbers where they have no axes), everything else as it is; those of PyMC are
    such. Gradients of its results, of any order, are operations again.

    Parameters:
        function (callable): A function of NumPy, with source that can be read.
        returns: An example of its result: a number, an array, or a container of these. Structure,
            dtypes and numbers of axes count, shapes do not: ``np.empty(0)`` for a vector.
        backend (str): That of ``adcompiler.grad``: ``"native"`` computes values and first
            derivatives by machine loops, or refuses; ``"auto"`` where there are such loops.

    Returns:
        Operation: A callable of positional arguments. It is pickled by its name, or with the
        function.

    Raises:
        ADError: When a gradient is computed first, for what the compiler refuses.
        TypeError: If no argument is a variable, or a result is not as ``returns`` says.

    Example:
        >>> import numpy as np, pytensor, pytensor.tensor as pt
        >>> from adcompiler.interop.pymc import wrap
        >>> x = pt.dvector("x")
        >>> y = wrap(lambda x: np.sum(x**3))(x)
        >>> pytensor.function([x], pytensor.grad(y, x), mode="FAST_COMPILE")([1.0, 2.0]).tolist()
        [3.0, 12.0]
    """
    return Operation(function, returns=returns, backend=backend)


class Operation(Wrapped):
    """A function of variables of PyTensor; see ``wrap``."""

    def __call__(self, *args: Any) -> Any:
        """Return the results as variables of PyTensor."""
        call, operands = call_of(
            self.function, args, is_variable, is_smooth, self.options["backend"])
        check_some(call, self.function, args, "variable of PyTensor")
        values, result = flat(self.options["returns"])
        types = tuple(pt.TensorType(value.dtype.name, (None,) * value.ndim) for value in values)
        return result.structured(Evaluation(call, result, types)(*operands, return_list=True))


def is_variable(value: Place) -> bool:
    """Say whether a part of an argument is a variable of PyTensor."""
    return isinstance(value, Variable)


def is_smooth(variable: Any) -> bool:
    """Say whether a variable has derivatives."""
    return np.dtype(variable.dtype).kind in "fc"


class Evaluation(Op):  # type: ignore[misc]
    """The evaluation of a call, whose results have certain types."""

    __props__ = ("call", "types")

    def __init__(self, call: Call, result: Result, types: tuple[Any, ...]) -> None:
        self.call = call
        self.result = result
        self.types = types

    def __str__(self) -> str:
        return f"adcompiler({getattr(self.call.root, '__name__', self.call.root)})"

    def make_node(self, *inputs: Any) -> Apply:
        """Return the application to some variables."""
        return Apply(self, list(map(pt.as_tensor_variable, inputs)), [one() for one in self.types])

    def perform(self, node: Apply, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Compute the results; ArgumentsError where they are not of the types that were said."""
        try:
            values, _ = self.call.value(inputs)
        except ADError as error:  # PyTensor makes another one of its class, from a text
            raise ADError(str(error)) from error
        if len(values) != len(self.types):
            raise ArgumentsError(
                f"the result holds {len(values)} arrays, not the {len(self.types)} of `returns`")
        for value, type_, storage in zip(values, self.types, outputs, strict=True):
            if value.ndim != type_.ndim or not np.can_cast(value.dtype, type_.dtype, "same_kind"):
                raise ArgumentsError(
                    f"a result has dtype {value.dtype} and {value.ndim} axes, not {type_.dtype} "
                    f"and {type_.ndim}; wrap(f, returns=...) takes an example")
            storage[0] = np.asarray(value, dtype=type_.dtype)

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> list[Any]:
        """Return the cotangents of the inputs, as variables."""
        given = [
            pt.zeros_like(value) if isinstance(bar.type, DisconnectedType) else bar
            for value, bar, on in zip(outputs, output_grads, self.result.floats, strict=True)
            if on]
        smooth = [one for one, on in zip(inputs, self.call.smooth, strict=True) if on]
        paths = tuple((i,) for i in range(len(smooth)))
        result = Result((None,) * len(smooth), paths, (True,) * len(smooth))
        pulled = Evaluation(self.call.pull(self.result), result, tuple(
            pt.TensorType(one.dtype, (None,) * one.ndim) for one in smooth))
        found = iter(pulled(*inputs, *given, return_list=True) if smooth and given else ())
        return [
            next(found, disconnected_type()) if on else disconnected_type()
            for on in self.call.smooth]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Say which results depend on which inputs, for derivatives."""
        return [[on and one for one in self.result.floats] for on in self.call.smooth]


__all__ = ["wrap"]
